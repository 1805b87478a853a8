//! Runs steps over one batch of pixels after another.

use std::ops::Range;

use super::code::{Arg, Code, FetchStep, Step};
use super::kernels;
use super::lanes::{Chunk, LANES, choose};
use super::simd::{Job, Level, Simd};
use super::tile::Tile;
use crate::ir::Code as Op;
use crate::texture::BatchFetch;
use crate::{Counters, Draw, RunError};

/// The memory of one thread: slots, counters.
pub(super) struct Machine<'a> {
    pub(super) draw: &'a Draw<'a>,
    pub(super) code: &'a Code,
    pub(super) simd: Simd,
    pub(super) slots: Slots,
    /// Mask of the pixels that are covered still.
    pub(super) covered: Vec<Chunk>,
    pub(super) counters: Counters,
    /// Instructions executed in this batch.
    spent: u64,
    passes: Vec<u32>,
    scratch: Vec<Chunk>,
}

/// The slots, one after the other.
pub(super) struct Slots {
    memory: Vec<Chunk>,
    /// Chunks in a slot.
    chunks: usize,
}

/// All slots but one.
struct Others<'a> {
    below: &'a [Chunk],
    above: &'a [Chunk],
    dst: usize,
    chunks: usize,
}

impl Slots {
    fn span(&self, slot: u32) -> Range<usize> {
        let start = slot as usize * self.chunks;
        start..start + self.chunks
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &[Chunk] {
        &self.memory[self.span(slot)]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut [Chunk] {
        let span = self.span(slot);
        &mut self.memory[span]
    }

    /// A slot to write and the others to read.
    #[inline(always)]
    fn split(&mut self, dst: u32) -> (&mut [Chunk], Others<'_>) {
        let (dst, chunks) = (dst as usize, self.chunks);
        let (below, rest) = self.memory.split_at_mut(dst * chunks);
        let (slot, above) = rest.split_at_mut(chunks);
        (slot, Others { below, above, dst, chunks })
    }

    fn copy(&mut self, dst: u32, from: Arg) {
        let (dst, others) = self.split(dst);
        match from {
            Arg::Slot(from) => dst.copy_from_slice(others.get(from)),
            Arg::Const(x) => dst.as_flattened_mut().fill(x),
        }
    }

    /// One chunk of an argument.
    #[inline(always)]
    pub(super) fn chunk(&self, arg: Arg, i: usize) -> Chunk {
        match arg {
            Arg::Slot(slot) => self.get(slot)[i],
            Arg::Const(x) => [x; LANES],
        }
    }
}

/// Slots to read, and memory for constants that a kernel does not take as such.
pub(super) struct Spare<'a> {
    memory: &'a mut [Chunk],
    others: Others<'a>,
}

impl<'a> Spare<'a> {
    /// A slot.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &[Chunk] {
        self.others.get(slot)
    }

    /// Arguments as slots.
    #[inline(always)]
    pub(super) fn slots<const N: usize>(&mut self, args: [Arg; N]) -> [&[Chunk]; N] {
        let chunks = self.others.chunks;
        let mut memory = self.memory.chunks_exact_mut(chunks);
        let others = &self.others;
        args.map(|arg| -> &[Chunk] {
            match (arg, memory.next()) {
                (Arg::Slot(slot), _) => others.get(slot),
                (Arg::Const(x), Some(spare)) => {
                    spare.fill([x; LANES]);
                    spare
                }
                (Arg::Const(_), None) => &[],
            }
        })
    }
}

impl Others<'_> {
    #[inline(always)]
    fn get(&self, slot: u32) -> &[Chunk] {
        let slot = slot as usize;
        let (memory, at) =
            if slot < self.dst { (self.below, slot) } else { (self.above, slot - self.dst - 1) };
        &memory[at * self.chunks..(at + 1) * self.chunks]
    }
}

impl<'a> Machine<'a> {
    pub(super) fn new(draw: &'a Draw<'a>, code: &'a Code, simd: Simd, chunks: usize) -> Self {
        let slots = Slots { memory: vec![[0.0; LANES]; code.slots as usize * chunks], chunks };
        Self {
            draw,
            code,
            simd,
            slots,
            covered: vec![[0.0; LANES]; chunks],
            counters: Counters::default(),
            spent: 0,
            passes: vec![0; code.counters as usize],
            scratch: vec![[0.0; LANES]; 16 * chunks],
        }
    }

    /// Runs the program over a tile.
    pub(super) fn run(&mut self, tile: &Tile<'_>) -> Result<(), RunError> {
        self.spent = 0;
        self.simd.run_plain(super::tile::Deliver { tile, machine: self });
        let simd = self.simd;
        let result = simd.run(Steps { machine: self, tile });
        self.counters.instructions += self.spent;
        result
    }

    #[cold]
    #[inline(never)]
    fn out_of_budget(&self, address: u32, tile: &Tile<'_>) -> RunError {
        let limit = self.draw.options.limits.instructions;
        RunError::Instructions { address, pixel: [tile.x, tile.y], limit }
    }

    #[inline(always)]
    fn spend(&mut self, instructions: u32, address: u32, tile: &Tile<'_>) -> Result<(), RunError> {
        // As often as the reference engine looks at the clock.
        if self.spent / 1024 != (self.spent + u64::from(instructions)) / 1024 || self.spent == 0 {
            self.draw.check()?;
        }
        self.spent += u64::from(instructions);
        if self.spent > self.draw.options.limits.instructions {
            return Err(self.out_of_budget(address, tile));
        }
        Ok(())
    }

    #[inline(always)]
    fn any(&self, mask: Arg) -> bool {
        match mask {
            Arg::Slot(slot) => choose::any(self.slots.get(slot)),
            Arg::Const(bits) => bits.to_bits() != 0,
        }
    }

    /// Pixels of the mask lose their coverage; false if none is left.
    #[inline(always)]
    fn kill(&mut self, mask: Arg) -> bool {
        let mut left = 0;
        let mut killed = 0;
        for (i, covered) in self.covered.iter_mut().enumerate() {
            let mask = self.slots.chunk(mask, i);
            for (covered, mask) in covered.iter_mut().zip(mask) {
                let (was, mask) = (covered.to_bits(), mask.to_bits());
                killed += (was & mask) >> 31;
                left |= was & !mask;
                *covered = f32::from_bits(was & !mask);
            }
        }
        self.counters.killed += u64::from(killed);
        left != 0
    }

    #[inline(always)]
    fn stat(&mut self, channel: u8, mask: Arg) {
        let count = match mask {
            Arg::Slot(slot) => choose::count_both(self.slots.get(slot), &self.covered),
            Arg::Const(bits) if bits.to_bits() == 0 => 0,
            Arg::Const(_) => choose::count(&self.covered),
        };
        if let Some(stat) = self.counters.stat.get_mut(usize::from(channel)) {
            *stat += u64::from(count);
        }
    }

    #[inline(never)]
    fn fetch(&mut self, fetch: &FetchStep) {
        let simd = self.simd;
        simd.run_plain(Fetch { machine: self, fetch });
    }

    /// One operation.
    #[inline(always)]
    fn op<L: Level>(&mut self, level: L, code: Op, dst: u32, args: [Arg; 3]) {
        let (dst, others) = self.slots.split(dst);
        let spare = Spare { memory: &mut self.scratch, others };
        kernels::op(level, code, dst, args, spare);
    }

    #[inline(always)]
    fn blend(&mut self, dst: u32, mask: Arg, from: Arg) {
        let (dst, others) = self.slots.split(dst);
        let blend = |dst: &mut f32, mask: f32, from: f32| {
            let mask = mask.to_bits();
            *dst = f32::from_bits(from.to_bits() & mask | dst.to_bits() & !mask);
        };
        let dst = dst.as_flattened_mut();
        match (mask, from) {
            (Arg::Slot(mask), Arg::Slot(from)) => {
                let (mask, from) =
                    (others.get(mask).as_flattened(), others.get(from).as_flattened());
                for ((dst, mask), from) in dst.iter_mut().zip(mask).zip(from) {
                    blend(dst, *mask, *from);
                }
            }
            (Arg::Slot(mask), Arg::Const(from)) => {
                for (dst, mask) in dst.iter_mut().zip(others.get(mask).as_flattened()) {
                    blend(dst, *mask, from);
                }
            }
            (Arg::Const(mask), Arg::Slot(from)) => {
                for (dst, from) in dst.iter_mut().zip(others.get(from).as_flattened()) {
                    blend(dst, mask, *from);
                }
            }
            (Arg::Const(mask), Arg::Const(from)) => {
                dst.iter_mut().for_each(|dst| blend(dst, mask, from));
            }
        }
    }
}

/// The steps of a program over a tile.
struct Steps<'m, 'a, 't> {
    machine: &'m mut Machine<'a>,
    tile: &'t Tile<'t>,
}

impl Job for Steps<'_, '_, '_> {
    type Output = Result<(), RunError>;

    #[inline(always)]
    fn run<L: Level>(self, level: L) -> Result<(), RunError> {
        let Self { machine, tile } = self;
        let code = machine.code;
        let mut at = 0;
        while let Some(step) = code.steps.get(at) {
            at += 1;
            match step {
                Step::Op { code, dst, args } => machine.op(level, *code, *dst, *args),
                Step::Copy { dst, from } => {
                    machine.slots.copy(*dst, *from);
                }
                Step::Blend { dst, mask, from } => machine.blend(*dst, *mask, *from),
                Step::Fetch(fetch) => machine.fetch(fetch),
                Step::Kill(mask) => {
                    if !machine.kill(*mask) {
                        break;
                    }
                }
                Step::Stat { channel, mask } => machine.stat(*channel, *mask),
                Step::Spend { instructions, address } => {
                    machine.spend(*instructions, *address, tile)?;
                }
                Step::SkipUnless { mask, to } => {
                    if !machine.any(*mask) {
                        at = *to as usize;
                    }
                }
                Step::Begin { counter, passes } => machine.passes[*counter as usize] = *passes,
                Step::Again { counter, mask, to } => {
                    let left = &mut machine.passes[*counter as usize];
                    *left -= 1;
                    if *left != 0 && mask.is_none_or(|mask| machine.any(mask)) {
                        at = *to as usize;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A texture fetch.
struct Fetch<'m, 'a> {
    machine: &'m mut Machine<'a>,
    fetch: &'m FetchStep,
}

impl Job for Fetch<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let Self { machine, fetch } = self;
        let Some(sampler) = machine.draw.bindings.sampler(usize::from(fetch.unit)) else { return };
        let Machine { slots, scratch, .. } = machine;
        let chunks = slots.chunks;
        // Texels go to memory of their own: any slot may be a coordinate.
        let (constants, texels) = scratch.split_at_mut(12 * chunks);
        let mut constants = constants.chunks_exact_mut(chunks);
        let mut filled: Vec<(u32, &[Chunk])> = Vec::new();
        let mut source = |arg: Arg| -> &[Chunk] {
            let x = match arg {
                Arg::Slot(slot) => return slots.get(slot),
                Arg::Const(x) => x.to_bits(),
            };
            if let Some((_, chunks)) = filled.iter().find(|(bits, _)| *bits == x) {
                return chunks;
            }
            let Some(memory) = constants.next() else { return &[] };
            memory.fill([f32::from_bits(x); LANES]);
            filled.push((x, memory));
            memory
        };
        let strq = fetch.strq.map(&mut source);
        let dx = fetch.dx.map(&mut source);
        let dy = fetch.dy.map(&mut source);
        let active = match fetch.active {
            Arg::Slot(slot) => Some(slots.get(slot)),
            Arg::Const(_) => None,
        };
        let wanted = (0..4u8).filter(|i| fetch.texel[usize::from(*i)].is_some());
        let batch = BatchFetch {
            op: fetch.op,
            unscaled: fetch.unscaled,
            strq,
            dx,
            dy,
            active,
            wanted: wanted.fold(0, |mask, i| mask | 1 << i),
        };
        let mut texels = texels.chunks_exact_mut(chunks);
        let mut out = [0, 1, 2, 3].map(|_| texels.next().unwrap_or(&mut []));
        sampler.fetch_batch(&batch, out.each_mut().map(|out| &mut **out));
        for (slot, texel) in fetch.texel.iter().zip(out) {
            if let Some(slot) = slot {
                slots.get_mut(*slot).copy_from_slice(texel);
            }
        }
    }
}
