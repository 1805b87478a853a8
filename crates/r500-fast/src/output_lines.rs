//! Prefetching of the memory that a batch's colours are stored to, interleaved with its ops.
//!
//! Pictures exceed the first cache levels. A batch stores its outputs in a burst after the ops, and each store would miss the cache;
//! prefetched during the ops, most lines arrive in time.

use r500_exec::{Band, Pixel};
use r500_simd::SimdLevel;
use r500_simd::chunk::SIDE;

use super::bytecode::{Bytecode, ColorSource};
use super::tile::{ROWS, Tile};

/// The rows of a batch's colours that remain to be prefetched.
pub(super) struct OutputLines<'b> {
    /// The pixels of each target from the next row on; empty for targets that are not stored.
    planes: [&'b [Pixel]; 4],
    /// The target being prefetched.
    target: usize,
    /// Its remaining rows.
    rows: u32,
    /// Pixels between rows.
    pitch: usize,
    /// Pixels per row.
    width: usize,
    /// Rows to prefetch per op.
    step: u32,
}

impl<'b> OutputLines<'b> {
    /// Nothing to prefetch.
    pub(super) const NONE: Self =
        Self { planes: [&[]; 4], target: 4, rows: 0, pitch: 0, width: 0, step: 0 };

    /// Returns the rows of a batch inside a band.
    pub(super) fn of(code: &Bytecode, band: &'b Band<'_>, tile: &Tile<'_>) -> Self {
        let rect = band.rect();
        let Some(first) = rect.index(tile.x, tile.y) else { return Self::NONE };
        let mut planes: [&[Pixel]; 4] = [&[]; 4];
        let (mut target, mut count) = (4, 0);
        for (i, color) in code.colors.iter().enumerate().rev() {
            if let (Some(ColorSource::Slots(_)), Some(plane)) = (color, band.color(i)) {
                planes[i] = plane.get(first..).unwrap_or_default();
                (target, count) = (i, count + ROWS);
            }
        }
        let (pitch, width) = (rect.width as usize, (tile.columns * SIDE) as usize);
        // Most ops are kernels.
        let step = count.div_ceil(code.ops.len().max(1) as u32);
        Self { planes, target, rows: ROWS, pitch, width, step }
    }

    /// Prefetches the rows of one op.
    #[inline(always)]
    pub(super) fn step<L: SimdLevel>(&mut self, level: L) {
        for _ in 0..self.step {
            let Some(plane) = self.planes.get_mut(self.target) else { return };
            let row = plane.get(..self.width).unwrap_or_default();
            for pixels in row.as_chunks::<{ SIDE as usize }>().0 {
                level.prefetch_to_write(pixels);
            }
            *plane = plane.get(self.pitch..).unwrap_or_default();
            self.rows -= 1;
            if self.rows == 0 {
                self.rows = ROWS;
                self.target += 1;
            }
        }
    }
}
