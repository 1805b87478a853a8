//! Permutations and mask tests of chunks, by the instructions of a level.
//!
//! The compiler makes gathers and single-lane moves of their plain loops.

#![allow(
    unsafe_code,
    reason = "intrinsics that load and store arrays, for a level that the processor has"
)]

use super::Portable;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Sse2};
use crate::Chunk;

/// Half a chunk: the lanes of two neighbouring quads.
pub type HalfChunk = [f32; 8];

/// Permutations and mask tests of chunks.
pub trait LaneOps: Copy {
    /// Returns the sign bit of each lane, lane 0 lowest.
    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        let mut bits = 0;
        for (lane, x) in chunk.iter().enumerate() {
            bits |= (x.to_bits() >> 31) << lane;
        }
        bits as u16
    }

    /// Returns the pixels of two neighbouring quads by row, from the lower one on, each row from the left, from their channels: the
    /// four channels of a pixel together.
    #[inline(always)]
    fn pixel_rows(self, channels: [&HalfChunk; 4]) -> [[[f32; 4]; 4]; 2] {
        [[0, 1, 4, 5], [2, 3, 6, 7]]
            .map(|row| row.map(|lane| channels.map(|channel| channel[lane])))
    }
}

impl LaneOps for Portable {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        use core::arch::wasm32::{f32x4, u32x4_bitmask};
        let mut bits = 0;
        for (quad, &[a, b, c, d]) in chunk.as_chunks::<4>().0.iter().enumerate() {
            bits |= u16::from(u32x4_bitmask(f32x4(a, b, c, d))) << (4 * quad);
        }
        bits
    }
}

#[cfg(target_arch = "x86_64")]
impl LaneOps for Sse2 {
    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        use core::arch::x86_64::{_mm_movemask_ps, _mm_setr_ps};
        let mut bits = 0;
        for (quad, &[a, b, c, d]) in chunk.as_chunks::<4>().0.iter().enumerate() {
            // SAFETY: every x86-64 processor has these instructions.
            bits |= unsafe { _mm_movemask_ps(_mm_setr_ps(a, b, c, d)) } << (4 * quad);
        }
        bits as u16
    }
}

#[cfg(target_arch = "x86_64")]
impl LaneOps for Avx2 {
    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        // SAFETY: a value of the level is the proof that the processor has its instructions.
        unsafe { avx2::sign_bits(chunk) }
    }

    #[inline(always)]
    fn pixel_rows(self, channels: [&HalfChunk; 4]) -> [[[f32; 4]; 4]; 2] {
        // SAFETY: as above.
        unsafe { avx2::pixel_rows(channels) }
    }
}

#[cfg(target_arch = "x86_64")]
impl LaneOps for Avx512 {
    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        // SAFETY: a value of the level is the proof that the processor has its instructions, AVX2 among them.
        unsafe { avx2::sign_bits(chunk) }
    }

    #[inline(always)]
    fn pixel_rows(self, channels: [&HalfChunk; 4]) -> [[[f32; 4]; 4]; 2] {
        // SAFETY: as above.
        unsafe { avx2::pixel_rows(channels) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use core::arch::x86_64::{
        __m256, _mm256_castpd_ps, _mm256_castps_pd, _mm256_loadu_ps, _mm256_movemask_ps,
        _mm256_permute2f128_ps, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps,
        _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };

    use super::HalfChunk;
    use crate::Chunk;

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(half: &HalfChunk) -> __m256 {
        // SAFETY: the array has the eight floats that the instruction loads, from any address.
        unsafe { _mm256_loadu_ps(half.as_ptr()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn sign_bits(chunk: &Chunk) -> u16 {
        let (halves, _) = chunk.as_chunks::<8>();
        let lower = _mm256_movemask_ps(load(&halves[0]));
        let upper = _mm256_movemask_ps(load(&halves[1]));
        (lower | upper << 8) as u16
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn pixel_rows([r, g, b, a]: [&HalfChunk; 4]) -> [[[f32; 4]; 4]; 2] {
        let (r, g, b, a) = (load(r), load(g), load(b), load(a));
        // Of each quad, in its 128 bits: two channels of the upper pixels of the quad, then of the others.
        let rows = [
            (_mm256_unpacklo_ps(r, g), _mm256_unpacklo_ps(b, a)),
            (_mm256_unpackhi_ps(r, g), _mm256_unpackhi_ps(b, a)),
        ];
        let mut pixels = [[[0.0; 4]; 4]; 2];
        for ((rg, ba), row) in rows.into_iter().zip(&mut pixels) {
            let (rg, ba) = (_mm256_castps_pd(rg), _mm256_castps_pd(ba));
            let left = _mm256_castpd_ps(_mm256_unpacklo_pd(rg, ba));
            let right = _mm256_castpd_ps(_mm256_unpackhi_pd(rg, ba));
            let (halves, _) = row.as_flattened_mut().as_chunks_mut::<8>();
            // SAFETY: each array has the eight floats that the instruction stores, to any address.
            unsafe {
                _mm256_storeu_ps(
                    halves[0].as_mut_ptr(),
                    _mm256_permute2f128_ps::<0x20>(left, right),
                );
                _mm256_storeu_ps(
                    halves[1].as_mut_ptr(),
                    _mm256_permute2f128_ps::<0x31>(left, right),
                );
            }
        }
        pixels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::LANES_BY_ROW;
    use crate::{Simd, SimdLevel, SimdTask};

    struct Signs(Chunk);

    impl SimdTask for Signs {
        type Output = u16;

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> u16 {
            level.sign_bits(&self.0)
        }
    }

    struct Rows([HalfChunk; 4]);

    impl SimdTask for Rows {
        type Output = [[[f32; 4]; 4]; 2];

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> Self::Output {
            level.pixel_rows(self.0.each_ref())
        }
    }

    #[test]
    fn each_sign_bit_has_its_lane_at_every_level() {
        for simd in Simd::available() {
            for lane in 0..16 {
                let mut chunk = [1.0; 16];
                chunk[lane] = -0.0;
                assert_eq!(simd.run_plain(Signs(chunk)), 1 << lane, "{simd:?}");
            }
            assert_eq!(simd.run_plain(Signs([f32::from_bits(!0); 16])), u16::MAX);
        }
    }

    #[test]
    fn pixels_have_the_channels_of_their_lanes_at_every_level() {
        let value = |channel: usize, lane: usize| (10 * lane + channel) as f32;
        let channels =
            std::array::from_fn(|channel| std::array::from_fn(|lane| value(channel, lane)));
        for simd in Simd::available() {
            let rows = simd.run_plain(Rows(channels));
            for (row, lanes) in rows.iter().zip(LANES_BY_ROW) {
                for (pixel, lane) in row.iter().zip(lanes) {
                    assert_eq!(
                        *pixel,
                        [0, 1, 2, 3].map(|channel| value(channel, lane)),
                        "{simd:?}"
                    );
                }
            }
        }
    }
}
