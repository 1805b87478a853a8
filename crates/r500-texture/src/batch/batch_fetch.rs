//! The operands of a texture instruction for a batch of chunks.

use r500_isa::values::TexOp;
use r500_simd::Chunk;

use crate::readings::TexReadings;

/// A texture instruction as a batch of pixels issues it.
pub struct BatchFetch<'a> {
    /// As in [`QuadFetch`](crate::QuadFetch).
    pub op: TexOp,
    /// As in [`QuadFetch`](crate::QuadFetch).
    pub unscaled: bool,
    /// S, T, R, Q, swizzled, all of the same length.
    pub strq: [&'a [Chunk]; 4],
    /// Gradients to the right. Only DXDY reads them; for other instructions they may be empty.
    pub dx: [&'a [Chunk]; 4],
    /// Gradients downward, likewise.
    pub dy: [&'a [Chunk]; 4],
    /// Mask of the lanes to fetch, all bits or none; all lanes if not given. Quads without an active lane are
    /// skipped.
    pub active: Option<&'a [Chunk]>,
    /// The channels to fetch: red in bit 0.
    pub wanted: u8,
    /// The chunks to fetch, ascending: each range from one chunk to before another.
    pub ranges: &'a [(usize, usize)],
    /// The readings of the texture unit.
    pub readings: &'a TexReadings,
}

impl BatchFetch<'_> {
    /// Returns the quads of chunk `k` with an active lane: the first in bit 0.
    #[inline(always)]
    pub(super) fn live_quads(&self, k: usize) -> u8 {
        let Some(active) = self.active else {
            return 0b1111;
        };
        let mask = &active[k];
        let mut live = 0;
        for quad in 0..4 {
            let mut any = 0;
            for lane in 4 * quad..4 * quad + 4 {
                any |= mask[lane].to_bits();
            }
            live |= u8::from(any != 0) << quad;
        }
        live
    }
}
