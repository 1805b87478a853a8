//! Batches: sixteen quads, whose pixels are lanes of vectors.

use crate::quad::{Quad, QuadList};

/// Number of quads in a batch.
pub(crate) const QUADS: usize = 16;
/// Number of lanes: pixels of a batch, quad by quad.
pub(crate) const LANES: usize = 4 * QUADS;
/// A value for each lane.
pub(crate) type Lane<T> = [T; LANES];

/// The pixels of a batch: each pixel of a target once at most, so that their order does not matter. One sample a pixel.
pub(crate) struct Batch {
    /// Number of quads.
    len: usize,
    /// The index of the first quad among all; the others follow it.
    first: usize,
    /// The place of each quad, y in the upper half. Those after the last are the first.
    places: [u32; QUADS],
    /// The pixels that each quad covers, a byte each: 1 or 0.
    masks: [u32; QUADS],
}

impl Batch {
    pub(crate) const EMPTY: Self = Self { len: 0, first: 0, places: [0; QUADS], masks: [0; QUADS] };

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
        let [first, ..] = self.places;
        self.places[self.len..].fill(first);
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

    /// Returns the columns and the rows of the quads' first pixels. Those after the last quad are the first one's.
    #[inline(always)]
    pub(crate) fn corners(&self) -> [[u32; QUADS]; 2] {
        [self.places.map(|place| place & 0xffff), self.places.map(|place| place >> 16)]
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
            *lanes = mask.to_ne_bytes().map(|covered| covered != 0);
        }
        covered
    }
}

/// Returns the place of a quad, y in the upper half, and the pixels that it covers.
#[inline(always)]
fn place_and_mask(Quad { x, y, masks }: Quad) -> (u32, u32) {
    debug_assert!(masks.iter().all(|mask| *mask <= 1), "a pixel has one sample");
    (u32::from(y) << 16 | u32::from(x), u32::from_ne_bytes(masks))
}
