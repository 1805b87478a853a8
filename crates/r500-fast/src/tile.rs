//! Batches of pixels: their place in the picture, loading of inputs, storing of outputs.
//!
//! A batch is a rectangle of chunks. A chunk is four by four pixels: four quads, row by row; in a quad top left, top right,
//! bottom left, bottom right, as in the reference engine.

use r500_program::InputData;

use super::bytecode::{Arg, ColorSource};
use super::chunk_stores::{self, ChunkStores, CoverageBits};
use super::interp::Interpreter;
use super::interpolants::{self, LinearInterpolant};
use super::lanes::{Chunk, LANES};
use super::reg_file::RegFile;
use r500_exec::Band;
use r500_exec::PixelRect;
use r500_simd::chunk::{SIDE as CHUNK, lane_xy};
use r500_simd::{SimdLevel, SimdTask};

/// Rows of pixels in a batch.
pub(super) const ROWS: u32 = 16;

/// Columns of chunks in a batch at most.
pub(super) const COLUMNS: usize = 16;

/// Chunks in a batch at most.
const CHUNKS: usize = COLUMNS * (ROWS / CHUNK) as usize;

/// Where a batch lies.
pub(super) struct Tile<'a> {
    /// Column of its lower left pixel, a multiple of 4.
    pub(super) x: u32,
    /// Row of it.
    pub(super) y: u32,
    /// Columns of chunks.
    pub(super) columns: u32,
    pub(super) centers: &'a PixelCenters,
}

/// Where the centers of pixels lie, as fractions of the picture, in the order of a chunk's pixels.
#[derive(Debug)]
pub(super) struct PixelCenters {
    /// Of each column of chunks: of the pixels of their lower quads; the upper ones have the same.
    u: Vec<[f32; 8]>,
    /// Of each row of chunks.
    v: Vec<Chunk>,
}

impl PixelCenters {
    /// Of the pixels of a picture and those that batches at its borders have beyond it.
    pub(super) fn new([width, height]: [u32; 2]) -> Self {
        let fours = |size: u32| {
            let centre = move |pixel| r500_numerics::centre(pixel, size);
            (0..size.saturating_add(64) / CHUNK)
                .map(move |four| [0, 1, 2, 3].map(|pixel| centre(four * CHUNK + pixel)))
        };
        let u = fours(width).map(|[a, b, c, d]| [a, b, a, b, c, d, c, d]);
        let v = fours(height).map(|[a, b, c, d]| [a, a, b, b, a, a, b, b, c, c, d, d, c, c, d, d]);
        Self { u: u.collect(), v: v.collect() }
    }

    /// Of the columns and rows of chunks of a batch.
    pub(super) fn of(
        &self,
        tile: &Tile<'_>,
    ) -> (&[[f32; 8]; COLUMNS], &[Chunk; (ROWS / CHUNK) as usize]) {
        let first = |x: u32| (x / CHUNK) as usize;
        let u = self.u.get(first(tile.x)..).and_then(<[_]>::first_chunk);
        let v = self.v.get(first(tile.y)..).and_then(<[_]>::first_chunk);
        (u.unwrap_or(&[[0.0; 8]; COLUMNS]), v.unwrap_or(&[[0.0; LANES]; _]))
    }
}

/// Column and row of each chunk of a batch of so many columns.
///
/// In squares of squares, as neighbouring chunks mostly take the same branches. Squares are side by side, or, if a batch is
/// narrower than high, one above the other.
const fn chunk_positions<const N: usize>(columns: u32) -> [[u8; 2]; N] {
    let rows = ROWS / CHUNK;
    let square = if columns < rows { columns } else { rows };
    let mut positions = [[0; 2]; N];
    let mut i = 0;
    while i < N as u32 {
        let (block, place) = (i / (square * square), i % (square * square));
        let (column, row) = (place & 1 | place >> 1 & 2, place >> 1 & 1 | place >> 2 & 2);
        let (right, up) = if square == rows { (block, 0) } else { (0, block) };
        positions[i as usize] = [(right * square + column) as u8, (up * square + row) as u8];
        i += 1;
    }
    positions
}

/// Of one column, of two, and of sixteen, which begin with those of four and eight.
const ONE: [[u8; 2]; 4] = chunk_positions(1);
const TWO: [[u8; 2]; 8] = chunk_positions(2);
const MANY: [[u8; 2]; CHUNKS] = chunk_positions(COLUMNS as u32);

/// The numbers of chunks by row and column.
const fn rows(positions: &[[u8; 2]]) -> [[u8; 16]; 4] {
    let mut rows = [[0; 16]; 4];
    let mut i = 0;
    while i < positions.len() {
        let [column, row] = positions[i];
        rows[row as usize][column as usize] = i as u8;
        i += 1;
    }
    rows
}

const ONE_ROWS: [[u8; 16]; 4] = rows(&ONE);
const TWO_ROWS: [[u8; 16]; 4] = rows(&TWO);
const MANY_ROWS: [[u8; 16]; 4] = rows(&MANY);

impl Tile<'_> {
    /// Column and row in the batch of each chunk.
    #[inline(always)]
    fn chunk_positions(&self) -> &'static [[u8; 2]] {
        match self.columns {
            1 => &ONE,
            2 => &TWO,
            columns => &MANY[..(columns * (ROWS / CHUNK)) as usize],
        }
    }

    /// The lower left pixels of its chunks.
    #[inline(always)]
    pub(super) fn chunks(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (x, y) = (self.x, self.y);
        let positions = self.chunk_positions().iter();
        positions
            .map(move |&[column, row]| (x + u32::from(column) * CHUNK, y + u32::from(row) * CHUNK))
    }

    /// Columns and rows from its lower left pixel to those of its chunks.
    pub(super) fn chunk_origins(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        self.chunk_positions().iter().map(|place| place.map(|at| u32::from(at) * CHUNK))
    }

    /// Whether all of it lies in a block.
    pub(super) fn inside(&self, block: PixelRect) -> bool {
        self.x >= block.x
            && self.x + self.columns * CHUNK <= block.x + block.width
            && self.y >= block.y
            && self.y + ROWS <= block.y + block.height
    }

    /// The numbers of its chunks, row by row.
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = &'static [u8]> + use<> {
        let (rows, columns) = match self.columns {
            1 => (&ONE_ROWS, 1),
            2 => (&TWO_ROWS, 2),
            columns => (&MANY_ROWS, columns as usize),
        };
        rows.iter().map(move |row| &row[..columns])
    }

    /// Where the columns of its chunks begin.
    #[inline(always)]
    fn columns(&self) -> impl Iterator<Item = u32> + use<> {
        let x = self.x;
        (0..self.columns).map(move |column| x + column * CHUNK)
    }

    /// Marks the covered pixels of chunks that a band has pixels of, and counts them; false if there
    /// is none.
    pub(super) fn init_coverage(&self, interp: &mut Interpreter<'_>, band: &Band<'_>) -> bool {
        interp.colors_stored = false;
        let bindings = interp.draw.bindings;
        let block = band.rect();
        let [width, height] = bindings.size();
        if self.inside(block) && bindings.covers_all() {
            if !interp.fully_covered {
                if !interp.all_covered {
                    interp.covered.fill(ALL);
                }
                interp.killed.fill(if interp.code.discards { LANES as u32 } else { 0 });
            }
            // Without discards, coverage stays as it is from batch to batch.
            interp.fully_covered = !interp.code.discards;
            interp.all_covered = interp.fully_covered;
            return true;
        }
        interp.fully_covered = false;
        interp.all_covered = false;
        let mut any = false;
        let memory = interp.covered.iter_mut().zip(&mut interp.killed);
        for ((x, y), (covered, count)) in self.chunks().zip(memory) {
            let meets = x < block.x + block.width
                && x + CHUNK > block.x
                && y < block.y + block.height
                && y + CHUNK > block.y;
            let whole = bindings.covers_all() && x + CHUNK <= width && y + CHUNK <= height;
            *covered = if meets && whole { ALL } else { [0.0; LANES] };
            if meets && !whole {
                for (lane, covered) in covered.iter_mut().enumerate() {
                    let (dx, dy) = lane_xy(lane);
                    let covers = bindings.covers(x + dx, y + dy);
                    *covered = f32::from_bits(if covers { !0 } else { 0 });
                }
            }
            *count = CoverageBits::of(covered).count();
            any |= *count != 0;
        }
        any
    }
}

/// The mask that has every pixel.
const ALL: Chunk = [f32::from_bits(!0); LANES];

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
        for (channel, interpolant) in interp.code.interpolants.iter().zip(&mut interp.interpolants)
        {
            if let Some(plane) = interpolants::plane(bindings, *channel) {
                interpolant.fill(plane, tile);
            }
        }
        let mut interpolant = LinearInterpolant::ZERO;
        for &(input, channel, slot) in &interp.code.inputs {
            let Some(input) = bindings.inputs().get(usize::from(input)) else { continue };
            let channel = usize::from(channel);
            let slot = interp.memory.get_mut(slot);
            match &input.data {
                InputData::Planes(components) => {
                    interpolant.fill(components[channel].plane, tile);
                    let LinearInterpolant { x_terms, y_terms } = &interpolant;
                    for (&[column, row], chunk) in tile.chunk_positions().iter().zip(slot) {
                        let x_terms = &x_terms[usize::from(column) % COLUMNS];
                        let y_terms = &y_terms[usize::from(row) % y_terms.len()];
                        *chunk = std::array::from_fn(|i| x_terms[i & 7] + y_terms[i]);
                    }
                }
                InputData::Values { .. } => {
                    for ((x, y), chunk) in tile.chunks().zip(slot) {
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

/// Stores the outputs of a batch in the picture.
pub(super) struct StoreOutputs<'m, 'a, 't, 'b, 'c> {
    pub(super) tile: &'t Tile<'t>,
    pub(super) interp: &'m mut Interpreter<'a>,
    pub(super) band: &'b mut Band<'c>,
}

impl SimdTask for StoreOutputs<'_, '_, '_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        let Self { tile, interp, band } = self;
        if interp.colors_stored && !interp.fully_covered && interp.code.depth.is_none() {
            return store_coverage_only(tile, interp, band);
        }
        // Which chunks are covered whole, and which at all.
        let (mut whole, mut some) = if interp.fully_covered { (!0, !0) } else { (0_u64, 0_u64) };
        let counted = if interp.fully_covered { 0 } else { interp.covered.len() };
        let mut coverages = [CoverageBits::default(); CHUNKS];
        let chunks = interp.covered[..counted].iter().zip(&mut interp.killed);
        for (i, ((mask, killed), covered)) in chunks.zip(&mut coverages).enumerate() {
            *covered = CoverageBits::of(mask);
            whole |= u64::from(covered.is_full()) << i;
            let count = covered.count();
            some |= u64::from(count != 0) << i;
            *killed -= count;
            interp.counters.killed += u64::from(*killed);
        }
        let inside = tile.inside(band.rect());
        let slots = &interp.memory;
        let mut constants = [[[0.0; LANES]; 4]; 4];
        for (row, order) in tile.rows().enumerate() {
            let y = tile.y + row as u32 * CHUNK;
            let all = inside && order.iter().all(|&i| whole >> i & 1 != 0);
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
                        let color = [channel(0, r), channel(1, g), channel(2, b), channel(3, a)];
                        let pixels =
                            |i| chunk_stores::frame_colors(color.map(|channel| channel.chunk(i)));
                        if all {
                            band.store_colors(target, [tile.x, y], chunks.clone().map(pixels));
                        } else {
                            store_covered(
                                tile,
                                band,
                                target,
                                y,
                                chunks.clone(),
                                &interp.covered,
                                pixels,
                            );
                        }
                    }
                    Some(ColorSource::Stored { .. }) if interp.colors_stored => {}
                    Some(ColorSource::Stored { .. }) => {
                        let plane = &interp.staging.staged[target];
                        let pixels = |i: usize| {
                            let chunk = plane.get(i * LANES..).unwrap_or_default();
                            move |lane: usize| {
                                let (column, row) = lane_xy(lane);
                                let pixel = (row * CHUNK + column) as usize;
                                chunk.get(pixel).copied().unwrap_or_default()
                            }
                        };
                        store_covered(
                            tile,
                            band,
                            target,
                            y,
                            chunks.clone(),
                            &interp.covered,
                            pixels,
                        );
                    }
                }
            }
            let (at, width) = ([tile.x, y], tile.columns * CHUNK);
            if none && !interp.colors_stored {
                band.clear_colors(at, width);
            }
            if none || all {
                band.fill_coverage(at, width, all);
            } else if inside {
                band.store_coverages(at, order.iter().map(|&i| coverages[usize::from(i) % CHUNKS]));
            } else {
                for (x, &i) in tile.columns().zip(order) {
                    band.store_coverage([x, y], &interp.covered[usize::from(i)]);
                }
            }
            if let Some((depth, written)) = interp.code.depth {
                for (x, &i) in tile.columns().zip(order) {
                    let i = usize::from(i);
                    let depth = slots.chunk(depth, i).map(r500_numerics::canonical_nan);
                    let written = slots.chunk(written, i);
                    band.store_depth([x, y], &interp.covered[i], &written, &depth);
                }
            }
        }
    }
}

/// Stores the coverage of a batch that lies in the band, and resets it for the next one.
#[inline(always)]
fn store_coverage_only(tile: &Tile<'_>, interp: &mut Interpreter<'_>, band: &mut Band<'_>) {
    let Interpreter { covered, killed, .. } = interp;
    let mut sum = 0;
    for (row, order) in tile.rows().enumerate() {
        let y = tile.y + row as u32 * CHUNK;
        let coverages = order.iter().map(|&i| {
            let (mask, killed) = (&mut covered[usize::from(i)], &mut killed[usize::from(i)]);
            let covered = CoverageBits::of(mask);
            *mask = ALL;
            *killed -= covered.count();
            sum += *killed;
            covered
        });
        band.store_coverages([tile.x, y], coverages);
    }
    interp.counters.killed += u64::from(sum);
    interp.all_covered = true;
}

/// Stores the covered pixels of a row of chunks that lie in the band.
#[inline(always)]
fn store_covered<F: Fn(usize) -> [f32; 4]>(
    tile: &Tile<'_>,
    band: &mut Band<'_>,
    target: usize,
    y: u32,
    chunks: impl ExactSizeIterator<Item = usize> + Clone,
    covered: &[Chunk],
    pixels: impl Fn(usize) -> F,
) {
    let pixels = |i| chunk_stores::masked(pixels(i), &covered[i]);
    if tile.inside(band.rect()) {
        band.store_colors(target, [tile.x, y], chunks.map(pixels));
    } else {
        for (x, i) in tile.columns().zip(chunks) {
            band.store_color(target, [x, y], pixels(i));
        }
    }
}

/// Where a channel of a colour comes from: a slot, or the same chunk again and again.
#[derive(Clone, Copy)]
struct Source<'a> {
    chunks: &'a [Chunk],
    /// What counts of a chunk's number.
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
