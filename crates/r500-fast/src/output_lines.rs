//! Prefetches of the memory that a batch's colours are stored to, spread over its ops.
//!
//! Pictures are larger than the processor's nearer caches. A batch's stores come all at once, after the ops, and would wait for
//! each cache line; fetched while the ops compute, most lines are there by then.

use r500_exec::{Band, Pixel};
use r500_simd::SimdLevel;
use r500_simd::chunk::SIDE;

use super::bytecode::{Bytecode, ColorSource};
use super::tile::{ROWS, Tile};

/// The rows of a batch's colours, those that are not prefetched yet.
pub(super) struct OutputLines<'b> {
    /// From the next row's first pixel on, target by target; empty where nothing is stored.
    planes: [&'b [Pixel]; 4],
    /// The target that is prefetched.
    target: usize,
    /// Rows left of it.
    rows: u32,
    /// Pixels from a row to the next.
    pitch: usize,
    /// Pixels of a row.
    width: usize,
    /// How many rows are prefetched for an op.
    step: u32,
}

impl<'b> OutputLines<'b> {
    /// Of nothing.
    pub(super) const NONE: Self =
        Self { planes: [&[]; 4], target: 4, rows: 0, pitch: 0, width: 0, step: 0 };

    /// Of a batch that lies in a band.
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

    /// Prefetches some rows, at each op.
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
