//! Runs steps over one batch of pixels after another.

use std::ops::Range;

use super::code::{Arg, Code, FetchStep, Step};
use super::kernels;
use super::lanes::{Chunk, LANES};
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
    /// Pixels covered at the start, and when all is done, pixels killed, of each chunk.
    pub(super) killed: Vec<u32>,
    /// Chunks whose pixels might do otherwise as a group.
    pub(super) dubious: Vec<bool>,
    pub(super) counters: Counters,
    /// Instructions executed in this batch.
    spent: u64,
    passes: Vec<u32>,
    regions: Regions,
    scratch: Vec<Chunk>,
}

/// Which chunks execute: runs of neighbours, for each open region.
struct Regions {
    runs: Vec<Run>,
    /// Where the runs of each open region begin, the innermost last.
    starts: Vec<usize>,
}

/// Chunks from one to before another.
type Run = (usize, usize);

impl Regions {
    fn new(chunks: usize) -> Self {
        Self { runs: vec![(0, chunks)], starts: vec![0] }
    }

    fn reset(&mut self, chunks: usize) {
        self.runs.clear();
        self.runs.push((0, chunks));
        self.starts.clear();
        self.starts.push(0);
    }

    /// Where the runs of the innermost region are.
    #[inline(always)]
    fn current(&self) -> Range<usize> {
        self.starts.last().copied().unwrap_or(0)..self.runs.len()
    }

    /// Opens a region for the chunks of the innermost one that `wants` says; false if there is none.
    #[inline(always)]
    fn enter(&mut self, mut wants: impl FnMut(usize) -> bool) -> bool {
        let current = self.current();
        let start = self.runs.len();
        for at in current {
            let (first, end) = self.runs[at];
            let mut from = None;
            for chunk in first..end {
                match (wants(chunk), from) {
                    (true, None) => from = Some(chunk),
                    (false, Some(first)) => {
                        self.runs.push((first, chunk));
                        from = None;
                    }
                    _ => {}
                }
            }
            if let Some(first) = from {
                self.runs.push((first, end));
            }
        }
        let any = self.runs.len() > start;
        if any {
            self.starts.push(start);
        }
        any
    }

    /// Closes the innermost region.
    #[inline(always)]
    fn leave(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.runs.truncate(start);
        }
    }

    /// Goes on in the innermost region with the chunks that `wants` says; false if there is none.
    #[inline(always)]
    fn narrow(&mut self, wants: impl FnMut(usize) -> bool) -> bool {
        let current = self.current();
        let (start, count) = (current.start, current.len());
        let any = self.enter(wants);
        if any {
            self.starts.pop();
            self.runs.drain(start..start + count);
        }
        any
    }
}

/// Whether a chunk of a mask has a pixel.
#[inline(always)]
fn any(mask: &Chunk) -> bool {
    mask.iter().fold(0, |any, lane| any | lane.to_bits()) != 0
}

/// The slots, one after the other.
pub(super) struct Slots {
    memory: Vec<Chunk>,
    /// Chunks in a slot.
    chunks: usize,
}

/// A run of all slots but one.
struct Others<'a> {
    below: &'a [Chunk],
    above: &'a [Chunk],
    dst: usize,
    /// Chunks in a slot.
    chunks: usize,
    run: Run,
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

    /// A run of a slot to write and of the others to read.
    #[inline(always)]
    fn split(&mut self, dst: u32, run: Run) -> (&mut [Chunk], Others<'_>) {
        let (dst, chunks) = (dst as usize, self.chunks);
        let (below, rest) = self.memory.split_at_mut(dst * chunks);
        let (slot, above) = rest.split_at_mut(chunks);
        (&mut slot[run.0..run.1], Others { below, above, dst, chunks, run })
    }

    fn copy(&mut self, dst: u32, from: Arg, run: Run) {
        let (dst, others) = self.split(dst, run);
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
        let chunks = self.others.run.1 - self.others.run.0;
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
        &memory[at * self.chunks + self.run.0..at * self.chunks + self.run.1]
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
            killed: vec![0; chunks],
            dubious: vec![false; chunks],
            regions: Regions::new(chunks),
            counters: Counters::default(),
            spent: 0,
            passes: vec![0; code.counters as usize],
            scratch: vec![[0.0; LANES]; 16 * chunks],
        }
    }

    /// Runs the program over a tile.
    pub(super) fn run(&mut self, tile: &Tile<'_>) -> Result<(), RunError> {
        self.spent = 0;
        self.regions.reset(self.slots.chunks);
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

    /// Pixels of the mask lose their coverage; false if none is left.
    #[inline(always)]
    fn kill(&mut self, mask: Arg) -> bool {
        for at in self.regions.current() {
            let (first, end) = self.regions.runs[at];
            for chunk in first..end {
                let mask = self.slots.chunk(mask, chunk);
                for (covered, mask) in self.covered[chunk].iter_mut().zip(mask) {
                    *covered = f32::from_bits(covered.to_bits() & !mask.to_bits());
                }
            }
        }
        self.covered.iter().any(any)
    }

    #[inline(always)]
    fn watch(&mut self, mask: Arg) {
        for at in self.regions.current() {
            let (first, end) = self.regions.runs[at];
            for chunk in first..end {
                let mask = self.slots.chunk(mask, chunk);
                let covered = self.covered[chunk];
                let both: Chunk = std::array::from_fn(|lane| {
                    f32::from_bits(mask[lane].to_bits() & covered[lane].to_bits())
                });
                // Where nothing is covered, nothing shows.
                self.dubious[chunk] |= any(&mask) && !any(&both) && any(&covered);
            }
        }
    }

    #[inline(always)]
    fn stat(&mut self, channel: u8, mask: Arg) {
        let mut count = 0;
        for at in self.regions.current() {
            let (first, end) = self.regions.runs[at];
            for chunk in first..end {
                let mask = self.slots.chunk(mask, chunk);
                for (covered, mask) in self.covered[chunk].iter().zip(mask) {
                    count += (covered.to_bits() & mask.to_bits()) >> 31;
                }
            }
        }
        if let Some(stat) = self.counters.stat.get_mut(usize::from(channel)) {
            *stat += u64::from(count);
        }
    }

    #[inline(never)]
    fn fetch(&mut self, fetch: &FetchStep) {
        let simd = self.simd;
        for at in self.regions.current() {
            let run = self.regions.runs[at];
            simd.run_plain(Fetch { machine: self, fetch, run });
        }
    }

    /// One operation.
    #[inline(always)]
    fn op<L: Level>(&mut self, level: L, code: Op, dst: u32, args: [Arg; 3]) {
        for at in self.regions.current() {
            let (dst, others) = self.slots.split(dst, self.regions.runs[at]);
            let spare = Spare { memory: &mut self.scratch, others };
            kernels::op(level, code, dst, args, spare);
        }
    }

    #[inline(always)]
    fn copy(&mut self, dst: u32, from: Arg) {
        for at in self.regions.current() {
            self.slots.copy(dst, from, self.regions.runs[at]);
        }
    }

    #[inline(always)]
    fn blend<L: Level>(&mut self, level: L, dst: u32, mask: Arg, from: Arg) {
        for at in self.regions.current() {
            let (dst, others) = self.slots.split(dst, self.regions.runs[at]);
            let mut spare = Spare { memory: &mut self.scratch, others };
            let [mask, from] = spare.slots([mask, from]);
            level.call(Blend { dst, mask, from });
        }
    }

    /// Whether a chunk of a mask has a pixel.
    #[inline(always)]
    fn wants(slots: &Slots, mask: Arg, chunk: usize) -> bool {
        match mask {
            Arg::Slot(slot) => any(&slots.get(slot)[chunk]),
            Arg::Const(bits) => bits.to_bits() != 0,
        }
    }
}

/// `dst = mask ? from : dst`.
struct Blend<'a> {
    dst: &'a mut [Chunk],
    mask: &'a [Chunk],
    from: &'a [Chunk],
}

impl Job for Blend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        for ((dst, mask), from) in self.dst.iter_mut().zip(self.mask).zip(self.from) {
            let old = *dst;
            *dst = std::array::from_fn(|lane| {
                let mask = mask[lane].to_bits();
                f32::from_bits(from[lane].to_bits() & mask | old[lane].to_bits() & !mask)
            });
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
                    machine.copy(*dst, *from);
                }
                Step::Blend { dst, mask, from } => machine.blend(level, *dst, *mask, *from),
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
                Step::Watch(mask) => machine.watch(*mask),
                Step::Enter { mask, to } => {
                    let slots = &machine.slots;
                    let wants = |chunk| Machine::wants(slots, *mask, chunk);
                    if !machine.regions.enter(wants) {
                        at = *to as usize;
                    }
                }
                Step::Leave => machine.regions.leave(),
                Step::Begin { counter, passes } => {
                    machine.passes[*counter as usize] = *passes;
                    machine.regions.enter(|_| true);
                }
                Step::Again { counter, mask, to } => {
                    let left = &mut machine.passes[*counter as usize];
                    *left -= 1;
                    let slots = &machine.slots;
                    let wants = |chunk| mask.is_none_or(|mask| Machine::wants(slots, mask, chunk));
                    if *left != 0 && (mask.is_none() || machine.regions.narrow(wants)) {
                        at = *to as usize;
                    } else {
                        machine.regions.leave();
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
    run: Run,
}

impl Job for Fetch<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let Self { machine, fetch, run: (first, end) } = self;
        let Some(sampler) = machine.draw.bindings.sampler(usize::from(fetch.unit)) else { return };
        let Machine { slots, scratch, .. } = machine;
        let chunks = end - first;
        // Texels go to memory of their own: any slot may be a coordinate.
        let (constants, texels) = scratch.split_at_mut(12 * chunks);
        let mut constants = constants.chunks_exact_mut(chunks);
        let mut filled: Vec<(u32, &[Chunk])> = Vec::new();
        let mut source = |arg: Arg| -> &[Chunk] {
            let x = match arg {
                Arg::Slot(slot) => return &slots.get(slot)[first..end],
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
            Arg::Slot(slot) => Some(&slots.get(slot)[first..end]),
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
                slots.get_mut(*slot)[first..end].copy_from_slice(texel);
            }
        }
    }
}
