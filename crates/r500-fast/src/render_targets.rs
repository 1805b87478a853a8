//! Render targets as machine code stores to them, and the offsets of a batch's pixels in them.

use super::chunk_stores::ChunkStores;
use super::interpolants::LinearInterpolant;
use super::tile::Tile;
use r500_exec::{Band, Pixel};
use r500_simd::chunk::SIDE as CHUNK;

/// Planes of pixels, and where the pixels of a batch lie in them.
#[derive(Debug)]
pub struct ColorTargets<'p> {
    /// By target, each from the first pixel of the batch on; empty where there is none.
    pub planes: [&'p mut [Pixel]; 4],
    /// Where its chunks lie.
    pub offsets: &'p BatchOffsets,
}

impl ColorTargets<'_> {
    /// Without planes.
    #[must_use]
    pub fn none() -> Self {
        ColorTargets { planes: Default::default(), offsets: BatchOffsets::NONE }
    }

    /// The same for a while.
    pub fn reborrow(&mut self) -> ColorTargets<'_> {
        let planes = self.planes.each_mut().map(|plane| &mut **plane);
        ColorTargets { planes, offsets: self.offsets }
    }
}

/// Where the chunks of a batch lie.
#[derive(Clone, Debug, Default)]
pub struct BatchOffsets {
    chunks: Vec<[PixelOffsets; 2]>,
    pixels: usize,
}

/// Where half a chunk lies, two neighbouring quads: bytes from the first pixel of the batch to the left pixel
/// of either row, of which there are four.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelOffsets {
    /// Of the row of the first two pixels of the quads, and of that of the others.
    pub rows: [u32; 2],
    /// Bytes from the beginning of a [`LinearInterpolant`] to the numbers of its pixels: along and across.
    pub interpolants: [u32; 2],
}

impl BatchOffsets {
    /// No chunk anywhere.
    pub const NONE: &'static Self = &Self { chunks: Vec::new(), pixels: 0 };

    /// Of chunks whose lower left pixels are that many columns and rows from the first pixel, in planes of
    /// that width; `None` if one is too far away.
    pub fn in_rows(chunks: impl Iterator<Item = [u32; 2]>, width: u32) -> Option<Self> {
        Self::new(chunks.map(|[x, y]| {
            let row = |row: u32| y.checked_add(row)?.checked_mul(width)?.checked_add(x);
            ([x, y], [0, 1, 2, 3].map(row))
        }))
    }

    /// Of such chunks too, in a plane where their pixels lie one after the other, row by row.
    pub fn contiguous(chunks: impl Iterator<Item = [u32; 2]>) -> Option<Self> {
        let row = |chunk: u32, row: u32| chunk.checked_mul(16)?.checked_add(4 * row);
        let rows = |chunk: u32| [0, 1, 2, 3].map(|number| row(chunk, number));
        Self::new((0..).zip(chunks).map(|(number, chunk)| (chunk, rows(number))))
    }

    /// Of chunks, and of the left pixels of their rows.
    fn new(chunks: impl Iterator<Item = ([u32; 2], [Option<u32>; 4])>) -> Option<Self> {
        let mut pixels = 0;
        let mut row = |first: Option<u32>| {
            let first = first?;
            pixels = pixels.max(first as usize + 4);
            first.checked_mul(size_of::<Pixel>() as u32)
        };
        let chunks = chunks
            .map(|(chunk, rows)| {
                let [a, b, c, d] = rows.map(&mut row);
                let [first, other] = LinearInterpolant::offsets(chunk.map(|at| at / CHUNK))?;
                let first = PixelOffsets { rows: [a?, b?], interpolants: first };
                Some([first, PixelOffsets { rows: [c?, d?], interpolants: other }])
            })
            .collect::<Option<_>>()?;
        Some(Self { chunks, pixels })
    }

    /// Of each chunk its halves.
    #[must_use]
    pub fn chunks(&self) -> &[[PixelOffsets; 2]] {
        &self.chunks
    }

    /// Pixels that a plane must have from the first one on: all that these offsets tell of are among them.
    #[must_use]
    pub fn pixels(&self) -> usize {
        self.pixels
    }
}

/// The targets of one batch after the other, and staging buffers.
#[derive(Default)]
pub(super) struct Staging {
    /// By target: pixels of a batch whose colours do not go to the picture as they are, chunk by chunk.
    pub(super) staged: [Vec<Pixel>; 4],
    contiguous: Option<BatchOffsets>,
    /// With the width of the band.
    in_rows: Option<(u32, BatchOffsets)>,
}

impl Staging {
    /// Whether there are offsets for a tile in rows of that width.
    pub(super) fn has_offsets_in_rows(&mut self, tile: &Tile<'_>, width: u32) -> bool {
        if self.in_rows.as_ref().is_none_or(|(known, _)| *known != width) {
            self.in_rows =
                BatchOffsets::in_rows(tile.chunk_origins(), width).map(|offsets| (width, offsets));
        }
        self.in_rows.is_some()
    }

    /// The targets of a tile that lies in a band, which it [`has_offsets_in_rows`](Self::has_offsets_in_rows).
    pub(super) fn in_place<'c>(
        &'c self,
        tile: &Tile<'_>,
        band: &'c mut Band<'_>,
    ) -> ColorTargets<'c> {
        let offsets = self.in_rows.as_ref().map_or(BatchOffsets::NONE, |(_, offsets)| offsets);
        ColorTargets { planes: band.colors_from([tile.x, tile.y]), offsets }
    }

    /// Staging buffers for the chunks of a tile.
    pub(super) fn staged(&mut self, tile: &Tile<'_>, stored: [bool; 4]) -> ColorTargets<'_> {
        if self.contiguous.is_none() {
            self.contiguous = BatchOffsets::contiguous(tile.chunk_origins());
        }
        let Some(offsets) = &self.contiguous else { return ColorTargets::none() };
        for (plane, stored) in self.staged.iter_mut().zip(stored) {
            plane.resize(if stored { offsets.pixels() } else { 0 }, [0.0; 4]);
        }
        ColorTargets { planes: self.staged.each_mut().map(Vec::as_mut_slice), offsets }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn chunks_lie_in_rows_of_four() {
        // Pixels of 16 bytes, ten to a row; a chunk at (4, 4) begins 44 pixels from the first.
        let offsets = BatchOffsets::in_rows([[0, 0], [4, 4]].into_iter(), 10).unwrap();
        let rows =
            |chunk: usize| offsets.chunks()[chunk].map(|offset| offset.rows.map(|row| row / 16));
        assert_eq!(rows(0), [[0, 10], [20, 30]]);
        assert_eq!(rows(1), [[44, 54], [64, 74]]);
        assert_eq!(offsets.pixels(), 78);
        assert_eq!(size_of::<[PixelOffsets; 2]>(), 64);
    }

    #[test]
    fn chunks_lie_one_by_one() {
        let offsets = BatchOffsets::contiguous([[4, 4], [0, 8]].into_iter()).unwrap();
        assert_eq!(offsets.chunks()[1].map(|offset| offset.rows[0] / 16), [16, 24]);
        assert_eq!(offsets.chunks()[1].map(|offset| offset.rows[1] / 16), [20, 28]);
        assert_eq!(offsets.pixels(), 32);
        // Columns of 32 bytes, rows of 64 after 16 of those, in halves.
        assert_eq!(offsets.chunks()[0].map(|offset| offset.interpolants), [[32, 576], [32, 608]]);
        assert_eq!(offsets.chunks()[1].map(|offset| offset.interpolants), [[0, 640], [0, 672]]);
    }

    #[test]
    fn what_is_too_far_away_has_no_place() {
        assert!(BatchOffsets::in_rows([[0, 12]].into_iter(), 1 << 28).is_none());
        assert!(BatchOffsets::in_rows([[0, 12]].into_iter(), 1 << 25).is_none());
        assert!(BatchOffsets::in_rows([[0, 12]].into_iter(), 1 << 20).is_some());
        assert!(BatchOffsets::in_rows([[0, 16]].into_iter(), 100).is_none());
        assert!(BatchOffsets::in_rows([[64, 0]].into_iter(), 100).is_none());
    }
}
