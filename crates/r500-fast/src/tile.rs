//! Batches of pixels: their positions in the picture and the order of their chunks.
//!
//! A batch is a rectangle of chunks. A chunk is four by four pixels: four quads, row by row; in a quad top left, top right,
//! bottom left, bottom right, as in the reference engine.

use r500_exec::PixelRect;
use r500_lanes::{Chunk, LANES};
use r500_simd::chunk::SIDE as CHUNK;

/// Rows of pixels in a batch.
pub(super) const ROWS: u32 = 16;

/// Maximum number of columns of chunks in a batch.
pub(super) const COLUMNS: usize = 16;

/// Maximum number of chunks in a batch.
pub(super) const CHUNKS: usize = COLUMNS * (ROWS / CHUNK) as usize;

/// Number of chunks in a batch of vertices. It is odd, so that the slots of a vertex lie in different sets of the cache.
const VERTEX_CHUNKS: u32 = 9;

/// Returns the number of chunks in a batch with these columns of chunks; of vertices, which have results in place of colours, another.
pub(super) fn batch_chunks(columns: u32, has_results: bool) -> u32 {
    if has_results { VERTEX_CHUNKS } else { columns * (ROWS / 4) }
}

/// The position of a batch.
pub(super) struct Tile<'a> {
    /// The column of its lower left pixel, a multiple of 4.
    pub(super) x: u32,
    /// The row of its lower left pixel.
    pub(super) y: u32,
    /// Columns of chunks: a power of two, at most [`COLUMNS`].
    pub(super) columns: u32,
    pub(super) order: ChunkOrder,
    pub(super) centers: &'a PixelCenters,
}

/// The order of the chunks of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkOrder {
    /// Z-order in squares of chunks, because neighbouring chunks mostly take the same branches. Squares are side by side, or stacked if a
    /// batch is narrower than high.
    Squares,
    /// Row by row: stores to the same cache line are close in time, even if rows are not aligned to lines.
    Rows,
}

/// The centres of pixels, as fractions of the picture, in lane order.
#[derive(Debug)]
pub(super) struct PixelCenters {
    /// For each column of chunks, the pixels of the lower quads; the upper ones have the same.
    u: Vec<[f32; 8]>,
    /// For each row of chunks.
    v: Vec<Chunk>,
}

impl PixelCenters {
    /// Returns the centres of a picture's pixels, and of those of batches beyond its edges.
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

    /// Returns the centres of the columns and rows of chunks of a batch.
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

/// The order of chunks in batches of one width.
struct ChunkTable {
    /// Column and row of each chunk.
    positions: [[u8; 2]; CHUNKS],
    /// The index of the chunk at each row and column.
    numbers: [[u8; COLUMNS]; (ROWS / CHUNK) as usize],
}

impl ChunkTable {
    const fn new(columns: u32, order: ChunkOrder) -> Self {
        let rows = ROWS / CHUNK;
        let square = if columns < rows { columns } else { rows };
        let mut table =
            Self { positions: [[0; 2]; CHUNKS], numbers: [[0; COLUMNS]; (ROWS / CHUNK) as usize] };
        let mut i = 0;
        while i < columns * rows {
            let [column, row] = match order {
                ChunkOrder::Rows => [i % columns, i / columns],
                ChunkOrder::Squares => {
                    let (block, place) = (i / (square * square), i % (square * square));
                    let column = place & 1 | place >> 1 & 2;
                    let row = place >> 1 & 1 | place >> 2 & 2;
                    let (right, up) = if square == rows { (block, 0) } else { (0, block) };
                    [right * square + column, up * square + row]
                }
            };
            table.positions[i as usize] = [column as u8, row as u8];
            table.numbers[row as usize][column as usize] = i as u8;
            i += 1;
        }
        table
    }

    /// Returns the tables for one, two, four, eight and sixteen columns.
    const fn of_all_widths(order: ChunkOrder) -> [Self; 5] {
        [
            Self::new(1, order),
            Self::new(2, order),
            Self::new(4, order),
            Self::new(8, order),
            Self::new(16, order),
        ]
    }
}

static SQUARES: [ChunkTable; 5] = ChunkTable::of_all_widths(ChunkOrder::Squares);
static IN_ROWS: [ChunkTable; 5] = ChunkTable::of_all_widths(ChunkOrder::Rows);

impl Tile<'_> {
    fn table(&self) -> &'static ChunkTable {
        let tables = match self.order {
            ChunkOrder::Squares => &SQUARES,
            ChunkOrder::Rows => &IN_ROWS,
        };
        &tables[self.columns.ilog2() as usize]
    }

    /// Returns the column and row of each chunk in the batch.
    #[inline(always)]
    pub(super) fn chunk_positions(&self) -> &'static [[u8; 2]] {
        &self.table().positions[..(self.columns * (ROWS / CHUNK)) as usize]
    }

    /// Iterates over the lower left pixels of its chunks.
    #[inline(always)]
    pub(super) fn chunks(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (x, y) = (self.x, self.y);
        let positions = self.chunk_positions().iter();
        positions
            .map(move |&[column, row]| (x + u32::from(column) * CHUNK, y + u32::from(row) * CHUNK))
    }

    /// Iterates over the columns and rows of its chunks' lower left pixels, relative to its own.
    pub(super) fn chunk_origins(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        self.chunk_positions().iter().map(|place| place.map(|at| u32::from(at) * CHUNK))
    }

    /// Returns whether it is inside a rectangle.
    pub(super) fn inside(&self, block: PixelRect) -> bool {
        self.x >= block.x
            && self.x + self.columns * CHUNK <= block.x + block.width
            && self.y >= block.y
            && self.y + ROWS <= block.y + block.height
    }

    /// Iterates over the rows of chunks, as chunk indices.
    #[inline(always)]
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static [u8]> + use<> {
        let columns = self.columns as usize;
        self.table().numbers.iter().map(move |row| &row[..columns])
    }

    /// Iterates over the first pixel columns of its columns of chunks.
    #[inline(always)]
    pub(super) fn columns(&self) -> impl Iterator<Item = u32> + use<> {
        let x = self.x;
        (0..self.columns).map(move |column| x + column * CHUNK)
    }
}

/// The maximum size of a batch's slots in bytes, so that they stay in the second-level cache. Larger batches amortise dispatch, especially
/// in loops with few remaining lanes, which is worth more than the first-level cache (measured, see the guide).
const BATCH_BYTES: usize = 192 << 10;

/// Returns the number of columns of chunks in a batch, given its slots: a power of two, so that chunks form squares.
pub(super) fn batch_width(slots: u32) -> u32 {
    let column = (ROWS / 4) as usize * size_of::<Chunk>() * slots.max(1) as usize;
    let columns = u32::try_from(BATCH_BYTES / column).unwrap_or(1).clamp(1, 16);
    1 << columns.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_each_chunk_once_and_knows_its_number() {
        for order in [ChunkOrder::Squares, ChunkOrder::Rows] {
            for columns in [1, 2, 4, 8, 16] {
                let centers = PixelCenters::new([64, 16]);
                let tile = Tile { x: 8, y: 16, columns, order, centers: &centers };
                let mut places: Vec<_> = tile.chunks().collect();
                for (row, numbers) in (0..).zip(tile.rows()) {
                    for (column, &number) in (0..).zip(numbers) {
                        let place = (8 + 4 * column, 16 + 4 * row);
                        assert_eq!(places[usize::from(number)], place, "{order:?} {columns}");
                    }
                }
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), columns as usize * 4, "{order:?} {columns}");
            }
        }
    }

    #[test]
    fn orders_are_those_of_rows_and_of_squares() {
        let centers = PixelCenters::new([64, 16]);
        let first = |order, columns| {
            let tile = Tile { x: 0, y: 0, columns, order, centers: &centers };
            tile.chunk_positions().iter().take(6).copied().collect::<Vec<_>>()
        };
        let row = [[0, 0], [1, 0], [2, 0], [3, 0]];
        assert_eq!(first(ChunkOrder::Rows, 16), [&row[..], &[[4, 0], [5, 0]]].concat());
        assert_eq!(first(ChunkOrder::Rows, 4), [&row[..], &[[0, 1], [1, 1]]].concat());
        let square = [[0, 0], [1, 0], [0, 1], [1, 1]];
        assert_eq!(first(ChunkOrder::Squares, 16), [&square[..], &[[2, 0], [3, 0]]].concat());
        assert_eq!(first(ChunkOrder::Squares, 2), [&square[..], &[[0, 2], [1, 2]]].concat());
    }
}
