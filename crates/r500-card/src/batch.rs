//! Batches: sixteen quads, whose pixels are lanes of vectors.

use crate::quad::{Quad, QuadList};

/// Number of quads in a batch.
pub(crate) const QUADS: usize = 16;
/// Number of lanes: pixels of a batch, quad by quad.
pub(crate) const LANES: usize = 4 * QUADS;
/// Limit of the rows of a batch.
pub(crate) const ROWS: usize = 2 * QUADS;
/// A value for each lane.
pub(crate) type Lane<T> = [T; LANES];

/// The pixels of a batch: each pixel of a target once at most, so that their order does not matter.
pub(crate) struct Batch {
    /// Number of quads.
    len: usize,
    /// The index of the first quad among all; the others follow it.
    first: usize,
    /// The place of each quad, y in the upper half, and the pixels that it covers.
    places: [u32; QUADS],
    masks: [u32; QUADS],
    /// Whether there are eight pairs of quads, each side by side, the first in a column that is a multiple of 4.
    squares: bool,
    /// The lane of the first pixel of each row, and whether it has four pixels.
    rows: [(usize, bool); ROWS],
    row_count: usize,
}

/// The rows of eight pairs of quads side by side.
const SQUARES: [(usize, bool); ROWS] = {
    let mut rows = [(0, true); ROWS];
    let mut n = 0;
    while n < QUADS {
        rows[n].0 = 8 * (n / 2) + 2 * (n % 2);
        n += 1;
    }
    rows
};

impl Batch {
    pub(crate) const EMPTY: Self = Self {
        len: 0,
        first: 0,
        places: [0; QUADS],
        masks: [0; QUADS],
        squares: false,
        rows: [(0, false); ROWS],
        row_count: 0,
    };

    /// Takes quads from `first` on, at least one, up to the first that has a pixel of another one. Returns the number of quads taken.
    #[inline(always)]
    pub(crate) fn take(&mut self, quads: &QuadList, first: usize) -> usize {
        self.first = first;
        self.masks = [0; QUADS];
        let quads = &quads[first..];
        match quads.first_chunk::<QUADS>() {
            // Quads are in the order of primitives, and a primitive has each pixel once.
            Some(quads) if quads[0].0 == quads[QUADS - 1].0 => {
                for (n, (_, quad)) in quads.iter().enumerate() {
                    (self.places[n], self.masks[n]) = place_and_mask(*quad);
                }
                self.len = QUADS;
            }
            _ => self.take_some(&quads[..quads.len().min(QUADS)]),
        }
        self.divide();
        self.len
    }

    #[inline(always)]
    fn take_some(&mut self, quads: &QuadList) {
        self.len = 0;
        let Some((first, _)) = quads.first() else { return };
        for (primitive, quad) in quads {
            let (place, mask) = place_and_mask(*quad);
            if primitive != first {
                let mut shared = 0;
                for (other, taken) in self.places.iter().zip(&self.masks) {
                    shared |= if *other == place { *taken } else { 0 };
                }
                if shared & mask != 0 {
                    return;
                }
            }
            (self.places[self.len], self.masks[self.len]) = (place, mask);
            self.len += 1;
        }
    }

    /// Divides the pixels into rows: of two, or of four pixels that begin in a column that is a multiple of 4. These follow one another in
    /// every layout.
    #[inline(always)]
    fn divide(&mut self) {
        let mut squares = self.len == QUADS;
        for pair in self.places.as_chunks::<2>().0 {
            squares &= pair[0] & 2 == 0 && pair[1] == pair[0] + 2;
        }
        self.squares = squares;
        if squares {
            self.row_count = QUADS;
            return;
        }
        let mut n = 0;
        self.row_count = 0;
        while n < self.len {
            let place = self.places[n];
            let next = self.places[..self.len].get(n + 1);
            let is_four = place & 2 == 0 && next == Some(&(place + 2));
            for row in 0..2 {
                self.rows[self.row_count] = (4 * n + 2 * row, is_four);
                self.row_count += 1;
            }
            n += if is_four { 2 } else { 1 };
        }
    }

    /// Returns whether the batch is full and has rows of four pixels only.
    #[inline(always)]
    pub(crate) fn is_squares(&self) -> bool {
        self.squares
    }

    /// Returns the lane of the first pixel of each row, and whether it has four pixels, the others in the next lane and four lanes after these. The
    /// second row of each two is below the first.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[(usize, bool)] {
        let rows = if self.squares { &SQUARES } else { &self.rows };
        &rows[..self.row_count]
    }

    /// Returns the first pixel of the quad of a lane.
    #[inline(always)]
    pub(crate) fn place(&self, lane: usize) -> [u32; 2] {
        let place = self.places[lane / 4 % QUADS];
        [place & 0xffff, place >> 16]
    }

    /// Returns the number of quads.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the index of the first quad among all.
    #[inline(always)]
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns which lanes are covered.
    #[inline(always)]
    pub(crate) fn covered(&self) -> Lane<bool> {
        let mut covered = [false; LANES];
        for (lanes, mask) in covered.as_chunks_mut::<4>().0.iter_mut().zip(self.masks) {
            *lanes = [1, 2, 4, 8].map(|bit| mask & bit != 0);
        }
        covered
    }
}

/// Returns the place of a quad, y in the upper half, and the pixels that it covers.
#[inline(always)]
fn place_and_mask(Quad { x, y, masks }: Quad) -> (u32, u32) {
    let bit = |corner: usize| u32::from(masks[corner] != 0) << corner;
    (u32::from(y) << 16 | u32::from(x), bit(0) | bit(1) | bit(2) | bit(3))
}
