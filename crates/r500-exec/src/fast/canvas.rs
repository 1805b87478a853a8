//! Where machine code puts the colours of pixels, and where it finds their inputs.

use super::code::Color;
use super::ramps::Ramp;
use super::tile::Tile;
use crate::frame::{Band, CHUNK, Pixel};

/// Planes of pixels, and where the pixels of a batch lie in them.
#[derive(Debug)]
pub struct Canvas<'p> {
    /// By target, each from the first pixel of the batch on; empty where there is none.
    pub planes: [&'p mut [Pixel]; 4],
    /// Where its chunks lie.
    pub places: &'p Places,
}

impl Canvas<'_> {
    /// Without planes.
    #[must_use]
    pub fn none() -> Self {
        Canvas { planes: Default::default(), places: Places::NONE }
    }

    /// The same for a while.
    pub fn again(&mut self) -> Canvas<'_> {
        let planes = self.planes.each_mut().map(|plane| &mut **plane);
        Canvas { planes, places: self.places }
    }
}

/// Where the chunks of a batch lie.
#[derive(Clone, Debug, Default)]
pub struct Places {
    chunks: Vec<[Place; 2]>,
    pixels: usize,
}

/// Where half a chunk lies, two quads beside each other: bytes from the first pixel of the batch to the left pixel
/// of either row, of which there are four.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Of the row of the first two pixels of the quads, and of that of the others.
    pub rows: [u32; 2],
    /// Bytes from the beginning of a [`Ramp`] to the numbers of its pixels: along and across.
    pub ramps: [u32; 2],
}

impl Places {
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
    pub fn one_by_one(chunks: impl Iterator<Item = [u32; 2]>) -> Option<Self> {
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
                let [first, other] = Ramp::offsets(chunk.map(|at| at / CHUNK))?;
                let first = Place { rows: [a?, b?], ramps: first };
                Some([first, Place { rows: [c?, d?], ramps: other }])
            })
            .collect::<Option<_>>()?;
        Some(Self { chunks, pixels })
    }

    /// Of each chunk its halves.
    #[must_use]
    pub fn chunks(&self) -> &[[Place; 2]] {
        &self.chunks
    }

    /// Pixels that a plane must have from the first one on: all that these places tell of are among them.
    #[must_use]
    pub fn pixels(&self) -> usize {
        self.pixels
    }
}

/// Canvases of one batch after the other.
#[derive(Default)]
pub(super) struct Easel {
    /// By target: pixels of a batch whose colours do not go to the picture as they are, chunk by chunk.
    pub(super) aside: [Vec<Pixel>; 4],
    one_by_one: Option<Places>,
    /// With the width of the band.
    in_rows: Option<(u32, Places)>,
}

impl Easel {
    /// Whether there are places for a tile in rows of that width.
    pub(super) fn reaches(&mut self, tile: &Tile<'_>, width: u32) -> bool {
        if self.in_rows.as_ref().is_none_or(|(known, _)| *known != width) {
            self.in_rows = Places::in_rows(tile.corners(), width).map(|places| (width, places));
        }
        self.in_rows.is_some()
    }

    /// The canvas of a tile that lies in a band, which it [`reaches`](Self::reaches).
    pub(super) fn over<'c>(&'c self, tile: &Tile<'_>, band: &'c mut Band<'_>) -> Canvas<'c> {
        let places = self.in_rows.as_ref().map_or(Places::NONE, |(_, places)| places);
        Canvas { planes: band.planes([tile.x, tile.y]), places }
    }

    /// A canvas for the chunks of a tile beside the picture.
    pub(super) fn aside(&mut self, tile: &Tile<'_>, colors: &[Option<Color>; 4]) -> Canvas<'_> {
        if self.one_by_one.is_none() {
            self.one_by_one = Places::one_by_one(tile.corners());
        }
        let Some(places) = &self.one_by_one else { return Canvas::none() };
        for (plane, color) in self.aside.iter_mut().zip(colors) {
            let pixels = if let Some(Color::Canvas { .. }) = color { places.pixels() } else { 0 };
            plane.resize(pixels, [0.0; 4]);
        }
        Canvas { planes: self.aside.each_mut().map(Vec::as_mut_slice), places }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn chunks_lie_in_rows_of_four() {
        // Pixels of 16 bytes, ten to a row; a chunk at (4, 4) begins 44 pixels from the first.
        let places = Places::in_rows([[0, 0], [4, 4]].into_iter(), 10).unwrap();
        let rows =
            |chunk: usize| places.chunks()[chunk].map(|place| place.rows.map(|row| row / 16));
        assert_eq!(rows(0), [[0, 10], [20, 30]]);
        assert_eq!(rows(1), [[44, 54], [64, 74]]);
        assert_eq!(places.pixels(), 78);
        assert_eq!(size_of::<[Place; 2]>(), 64);
    }

    #[test]
    fn chunks_lie_one_by_one() {
        let places = Places::one_by_one([[4, 4], [0, 8]].into_iter()).unwrap();
        assert_eq!(places.chunks()[1].map(|place| place.rows[0] / 16), [16, 24]);
        assert_eq!(places.chunks()[1].map(|place| place.rows[1] / 16), [20, 28]);
        assert_eq!(places.pixels(), 32);
        // Columns of 32 bytes, rows of 64 behind 16 of those, in halves.
        assert_eq!(places.chunks()[0].map(|place| place.ramps), [[32, 576], [32, 608]]);
        assert_eq!(places.chunks()[1].map(|place| place.ramps), [[0, 640], [0, 672]]);
    }

    #[test]
    fn what_is_too_far_away_has_no_place() {
        assert!(Places::in_rows([[0, 12]].into_iter(), 1 << 28).is_none());
        assert!(Places::in_rows([[0, 12]].into_iter(), 1 << 25).is_none());
        assert!(Places::in_rows([[0, 12]].into_iter(), 1 << 20).is_some());
        assert!(Places::in_rows([[0, 16]].into_iter(), 100).is_none());
        assert!(Places::in_rows([[64, 0]].into_iter(), 100).is_none());
    }
}
