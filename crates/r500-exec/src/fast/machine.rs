//! Runs steps over one batch of pixels after another.

use r500_isa::values::TexOp;

use super::canvas::{Canvas, Easel};
use super::code::{Arg, Code, Color, FetchStep, Step};
use super::lanes::{Chunk, LANES};
use super::memory::{Memory, Run};
use super::native::{self, Batch, Budget, Cells};
use super::ramps::Ramp;
use super::tile::Tile;
use crate::frame::Band;
use crate::texture::BatchFetch;
use crate::{Counters, Draw, RunError};
use r500_simd::{Simd, SimdLevel, SimdTask};

/// What one thread works with: memory, counters.
pub(super) struct Machine<'a> {
    pub(super) draw: &'a Draw<'a>,
    pub(super) code: &'a Code,
    pub(super) simd: Simd,
    pub(super) memory: Memory,
    /// Mask of the pixels that are covered still.
    pub(super) covered: Vec<Chunk>,
    /// Pixels covered at the start, and when all is done, pixels killed, of each chunk.
    pub(super) killed: Vec<u32>,
    /// Whether all of the batch is covered and nothing can change that.
    pub(super) whole: bool,
    /// Whether `covered` says so of every pixel.
    pub(super) all_covered: bool,
    /// Whether the batch's colours are in the picture already.
    pub(super) painted: bool,
    pub(super) easel: Easel,
    /// Chunks whose pixels might do otherwise as a group.
    pub(super) dubious: Vec<bool>,
    /// Whether there may be any.
    pub(super) doubts: bool,
    pub(super) counters: Counters,
    /// Instructions executed in this batch.
    budget: Budget<'a>,
    passes: Vec<u32>,
    /// What machine code fetches from, by unit.
    cells: Vec<Cells<'a>>,
    /// Inputs that machine code computes.
    pub(super) ramps: Vec<Ramp>,
    /// Zeros, constant coordinates, and texels of a fetch.
    scratch: Vec<Chunk>,
}

/// The large part of a machine's memory, which bands hand on to each other.
pub(super) struct Desk {
    memory: Memory,
    scratch: Vec<Chunk>,
    easel: Easel,
}

impl Desk {
    pub(super) fn new(code: &Code, chunks: usize) -> Self {
        let mut memory = Memory::new(code.slots, chunks);
        for &(slot, x) in &code.constants {
            memory.get_mut(slot).fill([x; LANES]);
        }
        Self { memory, scratch: vec![[0.0; LANES]; 17 * chunks], easel: Easel::default() }
    }
}

/// Whether a chunk of a mask has a pixel.
#[inline(always)]
fn any(mask: &Chunk) -> bool {
    mask.iter().fold(0, |any, lane| any | lane.to_bits()) != 0
}

impl<'a> Machine<'a> {
    pub(super) fn new(draw: &'a Draw<'a>, code: &'a Code, simd: Simd, desk: Desk) -> Self {
        let Desk { memory, scratch, easel } = desk;
        let chunks = memory.chunks;
        Self {
            draw,
            code,
            simd,
            memory,
            covered: vec![[0.0; LANES]; chunks],
            killed: vec![0; chunks],
            whole: false,
            all_covered: false,
            painted: false,
            easel,
            dubious: vec![false; chunks],
            doubts: false,
            counters: Counters::default(),
            budget: Budget::new(draw, [0, 0]),
            passes: vec![0; code.counters as usize],
            cells: code.cells(draw.bindings),
            ramps: vec![Ramp::ZERO; code.ramps.len()],
            scratch,
        }
    }

    /// What is counted, and the memory for another machine of the same code.
    pub(super) fn finish(self) -> (Counters, Desk) {
        let Self { counters, memory, scratch, easel, .. } = self;
        (counters, Desk { memory, scratch, easel })
    }

    /// Runs the program over a tile of a band.
    pub(super) fn run(&mut self, tile: &Tile<'_>, band: &mut Band<'_>) -> Result<(), RunError> {
        self.budget = Budget::new(self.draw, [tile.x, tile.y]);
        self.memory.regions.reset(self.memory.chunks);
        self.simd.run_plain(super::tile::Deliver { tile, machine: self });
        let mut easel = std::mem::take(&mut self.easel);
        let over = self.paints_over(tile, band) && easel.reaches(tile, band.rect().width);
        let canvas = match self.code.paints() && over {
            true => easel.over(tile, band),
            // There may be nothing to paint, but places are asked for too.
            false => easel.aside(tile, &self.code.colors),
        };
        let simd = self.simd;
        let result = simd.run(Steps { machine: self, canvas });
        self.painted &= over;
        self.easel = easel;
        self.counters.instructions += self.budget.spent;
        result
    }

    /// Whether the colours of a tile can go to the picture as they are: all of it is there, and pixels that
    /// are not covered get what nothing was drawn to.
    fn paints_over(&self, tile: &Tile<'_>, band: &Band<'_>) -> bool {
        let clears = |color: &Color| matches!(color, Color::Canvas { covered: true });
        let clears = self.code.colors.iter().flatten().all(clears);
        tile.inside(band.rect()) && (clears || self.draw.bindings.covers_all())
    }

    /// Runs machine code over the chunks that execute; false if no pixel is left.
    fn native(&mut self, step: &native::Step, canvas: &mut Canvas<'_>) -> Result<bool, RunError> {
        let Self { memory, covered, cells, ramps, budget, .. } = self;
        memory.each_native_run(|slots, run| {
            let canvas = canvas.again();
            step.kernel.run(&mut Batch { slots, covered, cells, ramps, budget, canvas }, run)
        })?;
        Ok(!step.kills || covered.iter().any(any))
    }

    /// Pixels of the mask lose their coverage; false if none is left.
    #[inline(always)]
    fn kill(&mut self, mask: Arg) -> bool {
        let Self { memory, covered, .. } = self;
        memory.each_chunk(|chunk| {
            let mask = memory.chunk(mask, chunk);
            for (covered, mask) in covered[chunk].iter_mut().zip(mask) {
                *covered = f32::from_bits(covered.to_bits() & !mask.to_bits());
            }
        });
        covered.iter().any(any)
    }

    #[inline(always)]
    fn watch(&mut self, mask: Arg) {
        self.doubts = true;
        let Self { memory, covered, dubious, .. } = self;
        memory.each_chunk(|chunk| {
            let (mask, covered) = (memory.chunk(mask, chunk), covered[chunk]);
            let both: Chunk = std::array::from_fn(|lane| {
                f32::from_bits(mask[lane].to_bits() & covered[lane].to_bits())
            });
            // Where nothing is covered, nothing shows.
            dubious[chunk] |= any(&mask) && !any(&both) && any(&covered);
        });
    }

    #[inline(always)]
    fn stat(&mut self, channel: u8, mask: Arg) {
        let Self { memory, covered, counters, .. } = self;
        let mut count = 0;
        memory.each_chunk(|chunk| {
            for (covered, mask) in covered[chunk].iter().zip(memory.chunk(mask, chunk)) {
                count += (covered.to_bits() & mask.to_bits()) >> 31;
            }
        });
        if let Some(stat) = counters.stat.get_mut(usize::from(channel)) {
            *stat += u64::from(count);
        }
    }

    /// Opens a region where a mask has pixels; false if there are none.
    #[inline(always)]
    fn enter(&mut self, mask: Arg) -> bool {
        let mut regions = std::mem::take(&mut self.memory.regions);
        let any = match mask {
            Arg::Slot(slot) => {
                let mask = self.memory.get(slot);
                regions.enter(|chunk| wants(mask, chunk))
            }
            Arg::Const(bits) => bits.to_bits() != 0 && regions.enter(|_| true),
        };
        self.memory.regions = regions;
        any
    }

    /// Whether a loop makes another pass.
    #[inline(always)]
    fn again(&mut self, counter: u32, mask: Option<Arg>) -> bool {
        let left = &mut self.passes[counter as usize];
        *left -= 1;
        if *left == 0 {
            return false;
        }
        let mut regions = std::mem::take(&mut self.memory.regions);
        let any = match mask {
            Some(Arg::Slot(slot)) => {
                let mask = self.memory.get(slot);
                regions.narrow(|chunk| wants(mask, chunk))
            }
            Some(Arg::Const(bits)) => bits.to_bits() != 0,
            None => true,
        };
        self.memory.regions = regions;
        any
    }

    #[inline(never)]
    fn fetch(&mut self, fetch: &FetchStep) {
        let simd = self.simd;
        for at in self.memory.regions.current() {
            let run = self.memory.regions.runs[at];
            simd.run_plain(Fetch { machine: self, fetch, run });
        }
    }
}

/// Whether a chunk of a mask has a pixel.
#[inline(always)]
fn wants(memory: &[Chunk], chunk: usize) -> bool {
    memory.get(chunk).is_some_and(any)
}

/// The steps of a program over a tile.
struct Steps<'m, 'a, 'c> {
    machine: &'m mut Machine<'a>,
    canvas: Canvas<'c>,
}

impl SimdTask for Steps<'_, '_, '_> {
    type Output = Result<(), RunError>;

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) -> Result<(), RunError> {
        let Self { machine, mut canvas } = self;
        let code = machine.code;
        let mut at = 0;
        while let Some(step) = code.steps.get(at) {
            at += 1;
            match step {
                Step::Loop(entry, call) => entry.call(&mut machine.memory, call),
                Step::Fetch(fetch) => machine.fetch(fetch),
                Step::Kill(mask) => {
                    if !machine.kill(*mask) {
                        return Ok(());
                    }
                }
                Step::Stat { channel, mask } => machine.stat(*channel, *mask),
                Step::Spend { instructions, address } => {
                    machine.budget.spend(u64::from(*instructions), *address)?;
                }
                Step::Native(step) => {
                    if !machine.native(step, &mut canvas)? {
                        return Ok(());
                    }
                }
                Step::Watch(mask) => machine.watch(*mask),
                Step::Enter { mask, to } => {
                    if !machine.enter(*mask) {
                        at = *to as usize;
                    }
                }
                Step::Leave => machine.memory.regions.leave(),
                Step::Begin { counter, passes } => {
                    machine.passes[*counter as usize] = *passes;
                    machine.memory.regions.enter(|_| true);
                }
                Step::Again { counter, mask, to } => {
                    if machine.again(*counter, *mask) {
                        at = *to as usize;
                    } else {
                        machine.memory.regions.leave();
                    }
                }
            }
        }
        machine.painted = code.paints();
        Ok(())
    }
}

/// A texture fetch.
struct Fetch<'m, 'a> {
    machine: &'m mut Machine<'a>,
    fetch: &'m FetchStep,
    run: Run,
}

impl SimdTask for Fetch<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        let Self { machine, fetch, run: (first, end) } = self;
        let Some(sampler) = machine.draw.bindings.sampler(usize::from(fetch.unit)) else { return };
        let Machine { memory: slots, scratch, .. } = machine;
        let chunks = end - first;
        // Texels go to memory of their own: any slot may be a coordinate. So do constants, behind the
        // zeros that most of them are.
        let (zeros, rest) = scratch.split_at_mut(slots.chunks);
        let (constants, texels) = rest.split_at_mut(12 * chunks);
        let mut constants = constants.chunks_exact_mut(chunks);
        let zeros = &zeros[..chunks];
        let mut source = |arg: Arg| -> &[Chunk] {
            let memory = match arg {
                Arg::Slot(slot) => return &slots.get(slot)[first..end],
                Arg::Const(x) if x.to_bits() == 0 => return zeros,
                Arg::Const(x) => constants.next().map(|memory| (memory, x)),
            };
            let Some((memory, x)) = memory else { return zeros };
            memory.fill([x; LANES]);
            memory
        };
        let mut four = |[a, b, c, d]: [Arg; 4]| [source(a), source(b), source(c), source(d)];
        let strq = four(fetch.strq);
        let (dx, dy) = match fetch.op {
            TexOp::DXDY => (four(fetch.dx), four(fetch.dy)),
            _ => ([zeros; 4], [zeros; 4]),
        };
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
        let mut next = || texels.next().unwrap_or(&mut []);
        let [a, b, c, d] = [next(), next(), next(), next()];
        sampler.fetch_batch(&batch, [&mut *a, &mut *b, &mut *c, &mut *d]);
        for (slot, texel) in fetch.texel.iter().zip([a, b, c, d]) {
            if let Some(slot) = slot {
                slots.get_mut(*slot)[first..end].copy_from_slice(texel);
            }
        }
    }
}
