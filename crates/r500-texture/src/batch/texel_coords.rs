//! Texel coordinates: from S, T, R, Q to texels of level 0, as [`coordinates`](crate::coordinates) for a chunk.

use r500_isa::values::{CoordType, TexOp};

use super::address_mode::TOO_FAR;
use super::batch_fetch::BatchFetch;
use super::compiled_sampler::CompiledSampler;
use r500_simd::{Chunk, LANES};

/// The texel coordinates of a chunk.
#[derive(Clone, Copy)]
pub(super) struct TexelCoords {
    /// u, v, w in texels of level 0, possibly NaN; w of a 2D texture is not set.
    pub(super) uvw: [Chunk; 3],
    /// The face of a cube, else 0.
    pub(super) face: Chunk,
    /// S, T, R, divided by Q for PROJ, without denormals.
    pub(super) str: [Chunk; 3],
}

impl TexelCoords {
    pub(super) const NEW: Self =
        Self { uvw: [[0.0; LANES]; 3], face: [0.0; LANES], str: [[0.0; LANES]; 3] };
}

impl CompiledSampler {
    /// Computes texel coordinates; returns the quads (the first in bit 0) that need the slow path.
    #[inline(always)]
    pub(super) fn texel_coords(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &mut TexelCoords,
    ) -> u8 {
        let axes = if self.kind == CoordType::D2 { 2 } else { 3 };
        let TexelCoords { str, .. } = coords;
        let mut slow = [0_u32; LANES];
        // No denormals after this: scales are at least 1, and a cube's coordinates are sums with 1.
        for axis in 0..axes {
            let (given, str) = (&fetch.strq[axis][k], &mut str[axis]);
            for lane in 0..LANES {
                str[lane] = flush_to_plus(given[lane]);
            }
        }
        if fetch.op == TexOp::PROJ {
            let q = &fetch.strq[3][k];
            for str in &mut str[..axes] {
                for lane in 0..LANES {
                    str[lane] = quotient(str[lane], q[lane], &mut slow[lane]);
                }
            }
        }
        let scale = if fetch.unscaled { [1.0; 3] } else { self.scale };
        for axis in 0..axes {
            let (str, uvw) = (&coords.str[axis], &mut coords.uvw[axis]);
            for lane in 0..LANES {
                uvw[lane] = str[lane] * scale[axis];
            }
        }
        if self.kind == CoordType::CUBE {
            self.faces(coords);
        }
        let wrapped = if self.kind == CoordType::D3 { 3 } else { 2 };
        for axis in 0..wrapped {
            if self.address_modes[axis].repeats() {
                let x = &coords.uvw[axis];
                for lane in 0..LANES {
                    slow[lane] |= u32::from((x[lane].abs() >= TOO_FAR) | x[lane].is_nan());
                }
            }
        }
        quads_with(&slow)
    }
}

/// Divides a coordinate by Q; sets all bits of `slow` if the quotient needs the slow path.
#[inline(always)]
pub(super) fn quotient(x: f32, q: f32, slow: &mut u32) -> f32 {
    let q = if q.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(q) } else { q };
    let quotient = x / q;
    // Tininess is decided with an unbounded exponent: a quotient just below the smallest normal number may have
    // been rounded up to it.
    *slow |= if quotient.abs() == f32::MIN_POSITIVE { !0 } else { 0 };
    flush_to_plus(quotient)
}

/// Flushes a denormal to +0. Its sign has no effect on coordinates.
#[inline(always)]
pub(super) fn flush_to_plus(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

/// Returns the quads with a lane set; rarely any.
#[inline(always)]
pub(super) fn quads_with(lanes: &[u32; LANES]) -> u8 {
    let mut any = 0;
    for lane in 0..LANES {
        any |= lanes[lane];
    }
    if any == 0 { 0 } else { quads_of(lanes) }
}

#[cold]
fn quads_of(lanes: &[u32; LANES]) -> u8 {
    (0..4).fold(0, |quads, quad| {
        let any = lanes[4 * quad..4 * quad + 4].iter().any(|&lane| lane != 0);
        quads | u8::from(any) << quad
    })
}
