//! Batches: sixteen quads, whose pixels are lanes of vectors.

use crate::sc::Quad;

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
    /// The index of each quad among all.
    numbers: [usize; QUADS],
    /// The place of each quad, y in the upper half, and the pixels that it covers.
    places: [u32; QUADS],
    masks: [u32; QUADS],
    /// The primitive of all quads, if it is one.
    primitive: Option<u32>,
    rows: [Row; ROWS],
    row_count: usize,
}

/// Pixels of one or two neighbouring quads in a row: two, or four that begin in a column that is a multiple of 4. They follow one another in
/// every layout.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// The first pixel.
    pub(crate) at: [u32; 2],
    pub(crate) is_four: bool,
    /// Which of the pixels are covered.
    pub(crate) covered: [bool; 4],
    /// The lane of the first pixel.
    lane: usize,
}

impl Row {
    /// Returns the lanes of the first pixels of the pairs.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> [usize; 2] {
        // The bounds are known here, so that uses need no check.
        let first = self.lane.min(LANES - 6);
        [if self.is_four { first } else { self.lane.min(LANES - 2) }, first + 4]
    }
}

impl Batch {
    pub(crate) const EMPTY: Self = Self {
        len: 0,
        numbers: [0; QUADS],
        places: [0; QUADS],
        masks: [0; QUADS],
        primitive: None,
        rows: [Row { at: [0; 2], is_four: false, covered: [false; 4], lane: 0 }; ROWS],
        row_count: 0,
    };

    /// Adds a quad. Returns false if the batch is full or has a pixel of it already.
    #[inline(always)]
    pub(crate) fn add(&mut self, number: usize, primitive: u32, quad: Quad) -> bool {
        let bit = |corner: usize| u32::from(quad.masks[corner] != 0) << corner;
        let mask = bit(0) | bit(1) | bit(2) | bit(3);
        let place = u32::from(quad.y) << 16 | u32::from(quad.x);
        // A primitive has each pixel once.
        if self.len == 0 {
            self.primitive = Some(primitive);
        } else if self.primitive != Some(primitive) {
            self.primitive = None;
            let mut shared = 0;
            for (other, taken) in self.places.iter().zip(&self.masks) {
                shared |= if *other == place { *taken } else { 0 };
            }
            if shared & mask != 0 {
                return false;
            }
        }
        if self.len == QUADS {
            return false;
        }
        self.numbers[self.len] = number;
        self.places[self.len] = place;
        self.masks[self.len] = mask;
        self.len += 1;
        true
    }

    /// Empties the batch.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.masks = [0; QUADS];
    }

    /// Divides the pixels into rows. Called after the last quad was added.
    #[inline(always)]
    pub(crate) fn finish(&mut self) {
        let mut n = 0;
        self.row_count = 0;
        while n < self.len {
            let place = self.places[n];
            let [x, y] = [place & 0xffff, place >> 16];
            let next = self.places.get(n + 1).filter(|_| n + 1 < self.len);
            let is_four = x & 2 == 0 && next == Some(&(place + 2));
            let [mask, other] = [self.masks[n], if is_four { self.masks[n + 1] } else { 0 }];
            for row in 0..2 {
                let (mask, other) = (mask >> (2 * row), other >> (2 * row));
                let covered = [mask & 1, mask & 2, other & 1, other & 2].map(|bit| bit != 0);
                self.rows[self.row_count] =
                    Row { at: [x, y + row], is_four, covered, lane: 4 * n + 2 * row as usize };
                self.row_count += 1;
            }
            n += if is_four { 2 } else { 1 };
        }
    }

    /// Returns the rows.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows[..self.row_count]
    }

    /// Returns the index of each quad among all.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> &[usize] {
        &self.numbers[..self.len]
    }

    /// Returns the pixels that each quad covers.
    #[inline(always)]
    pub(crate) fn masks(&self) -> &[u32] {
        &self.masks[..self.len]
    }
}
