//! The bytecode interpreter: runs ops over one batch after another.

use r500_isa::TEXTURE_UNITS;
use r500_isa::values::TexOp;

use super::arg::Arg;
use super::band_target::BandTarget;
use super::bytecode::{Bytecode, ColorSource, FetchOp, Op};
use super::codegen::{self, Batch, TexelView};
use super::fuel::Fuel;
use super::interpolants::Interpolants;
use super::output_lines::OutputLines;
use super::reg_file::{AlignedChunks, RegFile};
use super::render_targets::{ColorTargets, Staging};
use super::tile::Tile;
use r500_exec::Band;
use r500_exec::{Counters, Draw, RunError};
use r500_lanes::{Chunk, LANES};
use r500_simd::{Simd, SimdLevel, SimdTask};
use r500_texture::batch::BatchFetch;

/// The state of one thread: registers, coverage, counters.
pub(super) struct Interpreter<'a> {
    pub(super) draw: &'a Draw<'a>,
    pub(super) code: &'a Bytecode,
    pub(super) simd: Simd,
    pub(super) scratch: Scratch,
    /// Whether all lanes are covered and no op discards any.
    pub(super) fully_covered: bool,
    /// Whether `covered` has every lane.
    pub(super) all_covered: bool,
    /// Whether the batch's colours are already in the picture.
    pub(super) colors_stored: bool,
    /// Whether the full band is covered and its coverage is stored.
    pub(super) coverage_stored: bool,
    /// Whether there may be chunks with a group hazard.
    pub(super) any_replay: bool,
    pub(super) counters: Counters,
    /// Instructions executed in this batch.
    fuel: Fuel<'a>,
    /// The texels that machine code fetches from, by texture unit.
    texels: [TexelView<'a>; TEXTURE_UNITS],
}

/// The allocations of an interpreter, reused by later bands.
pub(super) struct Scratch {
    pub(super) memory: RegFile,
    /// The mask of covered lanes.
    pub(super) covered: AlignedChunks,
    /// The same for adjacent batches that are drawn at once and discard pixels; all lanes are set between two draws.
    pub(super) row_covered: Option<AlignedChunks>,
    /// For each chunk, the number of lanes that were covered at the start, then of those that were discarded.
    pub(super) killed: Vec<u32>,
    /// The chunks with a group hazard.
    pub(super) needs_replay: Vec<bool>,
    /// The mask at the start, and depth at the end, of a batch of quads.
    pub(super) started: Vec<Chunk>,
    pub(super) depths: Vec<Chunk>,
    pub(super) staging: Staging,
    trips_left: Vec<u32>,
    /// Inputs that machine code interpolates.
    pub(super) interpolants: Interpolants,
    /// Buffers for coordinates of fetches: zeros, constants.
    fetch_buffers: Vec<Chunk>,
}

impl Scratch {
    pub(super) fn new(code: &Bytecode, chunks: usize) -> Self {
        let mut memory = RegFile::new(code.slots, chunks);
        for &(slot, x) in &code.constants {
            memory.get_mut(slot).fill([x; LANES]);
        }
        Self {
            memory,
            fetch_buffers: vec![[0.0; LANES]; 13 * chunks],
            staging: Staging::default(),
            covered: AlignedChunks::new(chunks),
            row_covered: None,
            killed: vec![0; chunks],
            needs_replay: vec![false; chunks],
            started: Vec::new(),
            depths: Vec::new(),
            trips_left: vec![0; code.counters as usize],
            interpolants: Interpolants::new(code.interpolants.len()),
        }
    }
}

impl Scratch {
    /// Restricts execution to chunks where a mask has a lane. Returns false if there are none.
    #[inline(always)]
    pub(super) fn push_exec<L: SimdLevel>(&mut self, level: L, mask: Arg) -> bool {
        let mut exec = std::mem::take(&mut self.memory.exec);
        let any = match mask {
            Arg::Slot(slot) => {
                let mask = self.memory.get(slot);
                exec.push(|chunk| any_lane_of(level, mask, chunk))
            }
            Arg::Const(bits) => bits.to_bits() != 0 && exec.push(|_| true),
        };
        self.memory.exec = exec;
        any
    }

    /// Restricts execution to the lanes that continue. Returns whether the loop runs another iteration.
    #[inline(always)]
    pub(super) fn loop_back<L: SimdLevel>(
        &mut self,
        level: L,
        counter: u32,
        mask: Option<Arg>,
    ) -> bool {
        let trips = &mut self.trips_left[counter as usize];
        *trips -= 1;
        if *trips == 0 {
            return false;
        }
        let mut exec = std::mem::take(&mut self.memory.exec);
        let any = match mask {
            Some(Arg::Slot(slot)) => {
                let mask = self.memory.get(slot);
                exec.restrict(|chunk| any_lane_of(level, mask, chunk))
            }
            Some(Arg::Const(bits)) => bits.to_bits() != 0,
            None => true,
        };
        self.memory.exec = exec;
        any
    }

    /// Begins a loop of `max_trips` iterations.
    #[inline(always)]
    pub(super) fn loop_begin(&mut self, counter: u32, max_trips: u32) {
        self.trips_left[counter as usize] = max_trips;
        self.memory.exec.push(|_| true);
    }

    /// Sets the slots of uniforms, which are the first constants.
    pub(super) fn set_uniforms(&mut self, code: &Bytecode) {
        for &(slot, x) in &code.constants[..code.uniforms] {
            self.memory.get_mut(slot).fill([x; LANES]);
        }
    }
}

impl<'a> Interpreter<'a> {
    pub(super) fn new(
        draw: &'a Draw<'a>,
        code: &'a Bytecode,
        simd: Simd,
        mut scratch: Scratch,
    ) -> Self {
        // An error may have left flags set.
        scratch.needs_replay.fill(false);
        Self {
            draw,
            code,
            simd,
            scratch,
            fully_covered: false,
            all_covered: false,
            colors_stored: false,
            coverage_stored: false,
            any_replay: false,
            counters: Counters::default(),
            fuel: Fuel::new(draw, [0, 0]),
            texels: code.texels(draw),
        }
    }

    /// Returns the counters, and the allocations for another interpreter of the same code.
    pub(super) fn finish(self) -> (Counters, Scratch) {
        (self.counters, self.scratch)
    }

    /// Starts a tile: all chunks execute, with the limits of the draw.
    pub(super) fn begin(&mut self, tile: &Tile<'_>) {
        self.fuel = Fuel::new(self.draw, [tile.x, tile.y]);
        self.scratch.memory.exec.reset(self.scratch.memory.chunks);
    }

    /// Starts a batch of quads: the first chunks execute, with the limits of the draw.
    pub(super) fn begin_groups(&mut self, groups: usize) {
        self.fuel = Fuel::new(self.draw, [0, 0]);
        self.scratch.memory.exec.reset(groups);
    }

    /// Runs the program over a tile of a band whose inputs are loaded.
    pub(super) fn run(&mut self, tile: &Tile<'_>, band: &mut Band<'_>) -> Result<(), RunError> {
        let mut staging = std::mem::take(&mut self.scratch.staging);
        let over = self.stores_in_place(tile, band)
            && staging.has_offsets_in_rows(tile, band.rect().width);
        let (targets, lines) = match self.code.stores_colors() && over {
            true => (band.targets(&staging, tile), OutputLines::NONE),
            // Machine code reads the offsets even if it stores nothing.
            false => {
                let stored = |color| matches!(color, Some(ColorSource::Stored { .. }));
                let targets = staging.staged(tile, self.code.colors.map(stored));
                (targets, OutputLines::of(self.code, band, tile))
            }
        };
        let result = self.run_with(targets, lines);
        self.colors_stored &= over;
        self.scratch.staging = staging;
        result
    }

    /// Runs the program over a tile whose inputs are loaded, with targets for the colours that machine code stores.
    pub(super) fn run_with(
        &mut self,
        targets: ColorTargets<'_>,
        lines: OutputLines<'_>,
    ) -> Result<(), RunError> {
        let simd = self.simd;
        let result = simd.run(Program { interp: self, targets, lines });
        self.counters.instructions += self.fuel.spent;
        result
    }

    /// Returns whether machine code can store the colours of a tile to the picture: the tile is inside the band, and uncovered pixels are
    /// set to zero, as in an empty picture.
    fn stores_in_place(&self, tile: &Tile<'_>, band: &Band<'_>) -> bool {
        let clears = |color: &ColorSource| matches!(color, ColorSource::Stored { covered: true });
        let clears = self.code.colors.iter().flatten().all(clears);
        tile.inside(band.rect()) && (clears || self.draw.bindings.covers_all())
    }

    /// Returns the state of the batch, for a kernel.
    pub(super) fn batch<'b, 'd>(
        &'b mut self,
        fuel: &'b mut Fuel<'d>,
        targets: ColorTargets<'b>,
    ) -> Batch<'b, 'd> {
        let Self { scratch: Scratch { memory, covered, interpolants, .. }, texels, .. } = self;
        let interpolants = interpolants.all();
        Batch { slots: memory.all_mut(), covered, texels, interpolants, fuel, targets }
    }

    /// Runs machine code over the executing chunks. Returns false if no lane is covered any more.
    fn call_kernel<L: SimdLevel>(
        &mut self,
        level: L,
        op: &codegen::KernelCall,
        targets: &mut ColorTargets<'_>,
    ) -> Result<bool, RunError> {
        let Self { scratch, texels, fuel, .. } = self;
        let Scratch { memory, covered, interpolants, .. } = scratch;
        let interpolants = interpolants.all();
        memory.try_each_range(|slots, run| {
            let targets = targets.reborrow();
            op.kernel.run(&mut Batch { slots, covered, texels, interpolants, fuel, targets }, run)
        })?;
        Ok(!op.discards || covered.iter().any(|covered| level.any_lane(covered)))
    }

    /// Removes the coverage of the mask's lanes. Returns false if no lane is covered any more.
    #[inline(always)]
    fn discard<L: SimdLevel>(&mut self, level: L, mask: Arg) -> bool {
        let Scratch { memory, covered, .. } = &mut self.scratch;
        memory.each_chunk(|chunk| {
            let mask = memory.chunk(mask, chunk);
            for (covered, mask) in covered[chunk].iter_mut().zip(mask) {
                *covered = f32::from_bits(covered.to_bits() & !mask.to_bits());
            }
        });
        covered.iter().any(|covered| level.any_lane(covered))
    }

    #[inline(always)]
    fn group_hazard<L: SimdLevel>(&mut self, level: L, mask: Arg) {
        self.any_replay = true;
        let Scratch { memory, covered, needs_replay, .. } = &mut self.scratch;
        memory.each_chunk(|chunk| {
            let (mask, covered) = (memory.chunk(mask, chunk), covered[chunk]);
            let both: Chunk = std::array::from_fn(|lane| {
                f32::from_bits(mask[lane].to_bits() & covered[lane].to_bits())
            });
            // A chunk without covered lanes has no observable result.
            needs_replay[chunk] |=
                level.any_lane(&mask) && !level.any_lane(&both) && level.any_lane(&covered);
        });
    }

    #[inline(always)]
    fn stat(&mut self, channel: u8, mask: Arg) {
        let Self { scratch: Scratch { memory, covered, .. }, counters, .. } = self;
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

    #[inline(never)]
    fn fetch(&mut self, fetch: &FetchOp) {
        // Texels are vectors of four numbers. With AVX-512 the compiler loads four texels as one vector, immediately after it has stored
        // them one by one, and gathers lanes of quads: a bilinear fetch takes up to a quarter longer than with AVX2.
        let simd = match self.simd {
            Simd::Avx512 => Simd::Avx2,
            simd => simd,
        };
        simd.run_plain(Fetch { interp: self, fetch });
    }
}

/// Returns whether a mask has a lane in a chunk.
#[inline(always)]
fn any_lane_of<L: SimdLevel>(level: L, memory: &[Chunk], chunk: usize) -> bool {
    memory.get(chunk).is_some_and(|mask| level.any_lane(mask))
}

/// The ops of a program over a tile.
struct Program<'m, 'a, 'c> {
    interp: &'m mut Interpreter<'a>,
    targets: ColorTargets<'c>,
    lines: OutputLines<'c>,
}

impl SimdTask for Program<'_, '_, '_> {
    type Output = Result<(), RunError>;

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> Result<(), RunError> {
        let Self { interp, mut targets, mut lines } = self;
        let code = interp.code;
        let mut at = 0;
        while let Some(op) = code.ops.get(at) {
            at += 1;
            match op {
                Op::Lanes(kernel, [first, end]) => {
                    let calls = &code.calls[*first as usize..*end as usize];
                    kernel.call(&mut interp.scratch.memory, calls);
                    lines.step(level);
                }
                Op::Fetch(fetch) => interp.fetch(fetch),
                Op::LoadConstant(load) => interp.scratch.memory.load_constants(load),
                Op::Discard(mask) => {
                    if !interp.discard(level, *mask) {
                        return Ok(());
                    }
                }
                Op::Stat { channel, mask } => interp.stat(*channel, *mask),
                Op::ConsumeFuel { instructions, address } => {
                    interp.fuel.consume(u64::from(*instructions), *address)?;
                }
                Op::Kernel(op) => {
                    if !interp.call_kernel(level, op, &mut targets)? {
                        return Ok(());
                    }
                }
                Op::GroupHazard(mask) => interp.group_hazard(level, *mask),
                Op::PushExec { mask, to } => {
                    if !interp.scratch.push_exec(level, *mask) {
                        at = *to as usize;
                    }
                }
                Op::PopExec => interp.scratch.memory.exec.pop(),
                Op::LoopBegin { counter, max_trips } => {
                    interp.scratch.loop_begin(*counter, *max_trips);
                }
                Op::LoopBack { counter, mask, to } => {
                    if interp.scratch.loop_back(level, *counter, *mask) {
                        at = *to as usize;
                    } else {
                        interp.scratch.memory.exec.pop();
                    }
                }
            }
        }
        interp.colors_stored = code.stores_colors();
        Ok(())
    }
}

/// A texture fetch.
struct Fetch<'m, 'a> {
    interp: &'m mut Interpreter<'a>,
    fetch: &'m FetchOp,
}

impl SimdTask for Fetch<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) {
        let Self { interp, fetch } = self;
        let Some(sampler) = interp.draw.bindings.sampler(usize::from(fetch.unit)) else { return };
        let Scratch { memory, fetch_buffers, .. } = &mut interp.scratch;
        let chunks = memory.chunks;
        let (texel, slots, ranges) = memory.split_four(fetch.texel, fetch.ascending);
        // Non-zero constant coordinates have buffers after the zeros.
        let (zeros, constants) = fetch_buffers.split_at_mut(chunks);
        let mut constants = constants.chunks_exact_mut(chunks);
        let zeros = &*zeros;
        let mut source = |arg: Arg| -> &[Chunk] {
            let memory = match arg {
                Arg::Slot(slot) => return slots.get(slot),
                Arg::Const(x) if x.to_bits() == 0 => return zeros,
                Arg::Const(x) => constants.next().map(|memory| (memory, x)),
            };
            let Some((memory, x)) = memory else { return zeros };
            ranges.iter().for_each(|&(first, end)| memory[first..end].fill([x; LANES]));
            memory
        };
        let mut four = |[a, b, c, d]: [Arg; 4]| [source(a), source(b), source(c), source(d)];
        let strq = four(fetch.strq);
        let (dx, dy) = match fetch.op {
            TexOp::DXDY => (four(fetch.dx), four(fetch.dy)),
            _ => ([zeros; 4], [zeros; 4]),
        };
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
            ranges,
            readings: &interp.draw.options.readings.texture(),
        };
        sampler.fetch_batch(level, &batch, texel);
    }
}
