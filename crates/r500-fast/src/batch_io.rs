//! Initialisation of a batch's coverage and inputs, and stores of its outputs.

use r500_program::InputData;

use super::arg::Arg;
use super::band_target::BandTarget;
use super::bytecode::ColorSource;
use super::chunk_stores::{
    CoverageBits, clear_colors, covered_channels, masked, store_color, store_colors,
    store_coverage, store_coverages, store_depth,
};
use super::interp::{Interpreter, Scratch};
use super::interpolants::LinearInterpolant;
use super::reg_file::RegFile;
use super::tile::{CHUNKS, COLUMNS, Tile};
use r500_exec::{Band, PixelRect};
use r500_lanes::{Chunk, LANES};
use r500_simd::chunk::{LANES_BY_ROW, SIDE as CHUNK, lane_xy};
use r500_simd::level::Portable;
use r500_simd::{SimdLevel, SimdTask, inhibit_outer_vectorization};

/// Marks the covered pixels of chunks that intersect a part of the picture, and counts them. Returns false if there are none.
pub(super) fn init_coverage(
    tile: &Tile<'_>,
    interp: &mut Interpreter<'_>,
    block: PixelRect,
) -> bool {
    interp.colors_stored = false;
    let bindings = interp.draw.bindings;
    let [width, height] = bindings.size();
    if tile.inside(block) && bindings.covers_all() {
        if !interp.fully_covered {
            if !interp.all_covered {
                interp.scratch.covered.fill(ALL);
            }
            interp.scratch.killed.fill(if interp.code.discards { LANES as u32 } else { 0 });
        }
        // Without discards, the coverage stays valid for the next batch.
        interp.fully_covered = !interp.code.discards;
        interp.all_covered = interp.fully_covered;
        return true;
    }
    interp.fully_covered = false;
    interp.all_covered = false;
    let mut any = false;
    let memory = interp.scratch.covered.iter_mut().zip(&mut interp.scratch.killed);
    for ((x, y), (covered, count)) in tile.chunks().zip(memory) {
        let meets = x < block.x + block.width
            && x + CHUNK > block.x
            && y < block.y + block.height
            && y + CHUNK > block.y;
        let full = bindings.covers_all() && x + CHUNK <= width && y + CHUNK <= height;
        *covered = if meets && full { ALL } else { [0.0; LANES] };
        if meets && !full {
            for (lanes, y) in LANES_BY_ROW.iter().zip(y..) {
                let mask = bindings.coverage_row(y);
                for (lane, x) in lanes.iter().zip(x..) {
                    let covers = match mask {
                        Some(mask) => mask.get(x as usize).copied().unwrap_or_default(),
                        None => x < width && y < height,
                    };
                    covered[*lane] = f32::from_bits(if covers { !0 } else { 0 });
                }
            }
        }
        *count = CoverageBits::of(Portable, covered).count();
        any |= *count != 0;
    }
    any
}

/// The full mask.
pub(super) const ALL: Chunk = [f32::from_bits(!0); LANES];

/// Loads the inputs of a batch into their slots, and the interpolants of machine code, without flushing denormals.
pub(super) struct LoadInputs<'m, 'a, 't> {
    pub(super) tile: &'t Tile<'t>,
    pub(super) interp: &'m mut Interpreter<'a>,
}

impl SimdTask for LoadInputs<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        let Self { tile, interp } = self;
        let bindings = interp.draw.bindings;
        interp.scratch.interpolants.fill(&interp.code.interpolants, bindings, tile);
        let mut interpolant = LinearInterpolant::ZERO;
        for &(input, channel, slot) in &interp.code.inputs {
            let Some(input) = bindings.inputs().get(usize::from(input)) else { continue };
            let channel = usize::from(channel);
            let slot = interp.scratch.memory.get_mut(slot);
            match &input.data {
                InputData::Planes(components) => {
                    interpolant.fill(components[channel].plane, tile);
                    let LinearInterpolant { x_terms, y_terms } = &interpolant;
                    for (order, y_terms) in tile.rows().zip(y_terms) {
                        for (&chunk, x_terms) in order.iter().zip(x_terms) {
                            inhibit_outer_vectorization();
                            slot[usize::from(chunk)] =
                                std::array::from_fn(|i| x_terms[i & 7] + y_terms[i]);
                        }
                    }
                }
                InputData::Values { width, values } => {
                    for ((x, y), chunk) in tile.chunks().zip(slot) {
                        let (width, first) =
                            (*width as usize, y as usize * *width as usize + x as usize);
                        let last = first + (CHUNK as usize - 1) * width + CHUNK as usize;
                        if x as usize + CHUNK as usize <= width && last <= values.len() {
                            for (row, lanes) in LANES_BY_ROW.iter().enumerate() {
                                let pixels = &values[first + row * width..][..CHUNK as usize];
                                for (lane, pixel) in lanes.iter().zip(pixels) {
                                    chunk[*lane] = pixel[channel];
                                }
                            }
                            continue;
                        }
                        for (lane, value) in chunk.iter_mut().enumerate() {
                            let (dx, dy) = lane_xy(lane);
                            *value = bindings.input(input, x + dx, y + dy)[channel];
                        }
                    }
                }
            }
        }
    }
}

/// Stores the outputs of a batch to the picture.
pub(super) struct StoreOutputs<'m, 'a, 't, 'b, 'c> {
    pub(super) tile: &'t Tile<'t>,
    pub(super) interp: &'m mut Interpreter<'a>,
    pub(super) band: &'b mut Band<'c>,
}

impl SimdTask for StoreOutputs<'_, '_, '_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) {
        let Self { tile, interp, band } = self;
        if interp.colors_stored && !interp.fully_covered && interp.code.depth.is_none() {
            return store_coverage_only(level, tile, interp, band);
        }
        // The chunks that are fully covered, and those with a covered lane.
        let (mut full, mut some) = if interp.fully_covered { (!0, !0) } else { (0_u64, 0_u64) };
        let counted = if interp.fully_covered { 0 } else { interp.scratch.covered.len() };
        let mut coverages = [CoverageBits::default(); CHUNKS];
        let chunks = interp.scratch.covered[..counted].iter().zip(&mut interp.scratch.killed);
        for (i, ((mask, killed), covered)) in chunks.zip(&mut coverages).enumerate() {
            *covered = CoverageBits::of(level, mask);
            full |= u64::from(covered.is_full()) << i;
            let count = covered.count();
            some |= u64::from(count != 0) << i;
            *killed -= count;
            interp.counters.killed += u64::from(*killed);
        }
        let inside = tile.inside(band.rect());
        let slots = &interp.scratch.memory;
        let mut constants = [[[0.0; LANES]; 4]; 4];
        for (row, order) in tile.rows().enumerate() {
            let y = tile.y + row as u32 * CHUNK;
            let all = inside && order.iter().all(|&i| full >> i & 1 != 0);
            let none = inside && order.iter().all(|&i| some >> i & 1 == 0);
            let chunks = order.iter().map(|i| usize::from(*i));
            for (target, color) in interp.code.colors.iter().enumerate() {
                match *color {
                    _ if none => {}
                    None => {}
                    Some(ColorSource::Slots(channels)) => {
                        let [r, g, b, a] = &mut constants[target];
                        let channel =
                            |channel: usize, fill| Source::new(channels[channel], slots, fill);
                        let (r, g) = (channel(0, r), channel(1, g));
                        let (b, a) = (channel(2, b), channel(3, a));
                        let color = |i| [r.chunk(i), g.chunk(i), b.chunk(i), a.chunk(i)];
                        let covered: &[Chunk] = &interp.scratch.covered;
                        if inside {
                            let (at, covered) = ([tile.x, y], (!all).then_some(covered));
                            store_colors(level, band, target, at, order, color, covered);
                        } else {
                            for (x, i) in tile.columns().zip(chunks.clone()) {
                                let channels = covered_channels(color(i), &covered[i]);
                                let pixel = |lane: usize| channels.map(|channel| channel[lane]);
                                store_color(band, target, [x, y], pixel);
                            }
                        }
                    }
                    Some(ColorSource::Stored { .. }) if interp.colors_stored => {}
                    Some(ColorSource::Stored { .. }) => {
                        let plane = &interp.scratch.staging.staged[target];
                        let pixels = |i: usize| {
                            let chunk = plane.get(i * LANES..).unwrap_or_default();
                            move |lane: usize| {
                                let (column, row) = lane_xy(lane);
                                let pixel = (row * CHUNK + column) as usize;
                                chunk.get(pixel).copied().unwrap_or_default()
                            }
                        };
                        for (x, i) in tile.columns().zip(chunks.clone()) {
                            let pixels = masked(pixels(i), &interp.scratch.covered[i]);
                            store_color(band, target, [x, y], pixels);
                        }
                    }
                }
            }
            let (at, width) = ([tile.x, y], tile.columns * CHUNK);
            if none && !interp.colors_stored {
                clear_colors(band, at, width);
            }
            if interp.coverage_stored {
                // The band has stored it.
            } else if inside {
                let mut row = [CoverageBits::default(); COLUMNS];
                for (covered, &i) in row.iter_mut().zip(order) {
                    *covered = coverages[usize::from(i) % CHUNKS];
                }
                store_coverages(level, band, at, &row[..order.len()]);
            } else {
                for (x, &i) in tile.columns().zip(order) {
                    store_coverage(band, [x, y], &interp.scratch.covered[usize::from(i)]);
                }
            }
            if let Some((depth, written)) = interp.code.depth {
                for (x, &i) in tile.columns().zip(order) {
                    let i = usize::from(i);
                    let depth = slots.chunk(depth, i).map(r500_numerics::canonical_nan);
                    let written = slots.chunk(written, i);
                    store_depth(band, [x, y], &interp.scratch.covered[i], &written, &depth);
                }
            }
        }
    }
}

/// Stores the coverage of a batch inside the band, and resets it for the next one.
#[inline(always)]
fn store_coverage_only<L: SimdLevel>(
    level: L,
    tile: &Tile<'_>,
    interp: &mut Interpreter<'_>,
    band: &mut Band<'_>,
) {
    let Scratch { covered, killed, .. } = &mut interp.scratch;
    let started: u32 = killed.iter().sum();
    if interp.any_replay {
        // Replays subtract the counts of single chunks, which are counted here.
        for (mask, killed) in covered.iter().zip(killed) {
            *killed -= CoverageBits::of(level, mask).count();
        }
    }
    let covered = take_coverage(level, tile, covered, band);
    interp.counters.killed += u64::from(started - covered);
    interp.all_covered = true;
}

/// Stores the coverage of a batch inside the band, and resets it to all lanes. Returns the number of covered lanes.
#[inline(always)]
pub(super) fn take_coverage<L: SimdLevel>(
    level: L,
    tile: &Tile<'_>,
    covered: &mut [Chunk],
    band: &mut impl BandTarget,
) -> u32 {
    let mut sum = 0;
    for (row, order) in tile.rows().enumerate() {
        let mut bits = [CoverageBits::default(); COLUMNS];
        for (bits, &chunk) in bits.iter_mut().zip(order) {
            inhibit_outer_vectorization();
            let mask = &mut covered[usize::from(chunk)];
            *bits = CoverageBits::of(level, mask);
            sum += bits.count();
            *mask = ALL;
        }
        let at = [tile.x, tile.y + row as u32 * CHUNK];
        band.store_coverages(level, at, &bits[..order.len()]);
    }
    sum
}

/// Source of a channel of a colour: a slot, or one chunk for all indices.
#[derive(Clone, Copy)]
struct Source<'a> {
    chunks: &'a [Chunk],
    /// Mask of the chunk index.
    mask: usize,
}

impl<'a> Source<'a> {
    #[inline(always)]
    fn new(arg: Arg, memory: &'a RegFile, constant: &'a mut Chunk) -> Self {
        match arg {
            Arg::Slot(slot) => Self { chunks: memory.get(slot), mask: !0 },
            Arg::Const(x) => {
                *constant = [x; LANES];
                Self { chunks: std::slice::from_ref(constant), mask: 0 }
            }
        }
    }

    #[inline(always)]
    fn chunk(self, i: usize) -> &'a Chunk {
        &self.chunks[i & self.mask]
    }
}
