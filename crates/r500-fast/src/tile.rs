//! Batches of pixels: their place in the picture, loading of inputs, storing of outputs.
//!
//! A batch is a rectangle of chunks. A chunk is four by four pixels: four quads, row by row; in a quad top left, top right,
//! bottom left, bottom right, as in the reference engine.

use super::lanes::{Chunk, LANES};
use r500_exec::PixelRect;
use r500_simd::chunk::SIDE as CHUNK;

/// Rows of pixels in a batch.
pub(super) const ROWS: u32 = 16;

/// Columns of chunks in a batch at most.
pub(super) const COLUMNS: usize = 16;

/// Chunks in a batch at most.
pub(super) const CHUNKS: usize = COLUMNS * (ROWS / CHUNK) as usize;

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
    pub(super) fn chunk_positions(&self) -> &'static [[u8; 2]] {
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
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static [u8]> + use<> {
        let (rows, columns) = match self.columns {
            1 => (&ONE_ROWS, 1),
            2 => (&TWO_ROWS, 2),
            columns => (&MANY_ROWS, columns as usize),
        };
        rows.iter().map(move |row| &row[..columns])
    }

    /// Where the columns of its chunks begin.
    #[inline(always)]
    pub(super) fn columns(&self) -> impl Iterator<Item = u32> + use<> {
        let x = self.x;
        (0..self.columns).map(move |column| x + column * CHUNK)
    }
}

/// The maximum size of a batch's slots in bytes, so that they stay in the processor's second-level cache. Larger batches
/// amortise dispatch, above all where few lanes are left in a loop, and that is worth more than the first-level cache
/// (measured, see the guide).
const BATCH_BYTES: usize = 96 << 10;

/// The number of columns of chunks in a batch with so many slots: a power of two, so that chunks lie in squares.
pub(super) fn batch_width(slots: u32) -> u32 {
    let column = (ROWS / 4) as usize * size_of::<Chunk>() * slots.max(1) as usize;
    let columns = u32::try_from(BATCH_BYTES / column).unwrap_or(1).clamp(1, 16);
    1 << columns.ilog2()
}
