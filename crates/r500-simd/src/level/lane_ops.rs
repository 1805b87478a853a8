//! Permutations and mask tests of chunks, with the instructions of a level.
//!
//! The compiler would emit gathers and single-lane moves for plain loops.

#![allow(
    unsafe_code,
    reason = "intrinsics that load and store arrays, for a level that the processor has"
)]

use super::Portable;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Sse2};
use crate::Chunk;
use crate::chunk::LANES_BY_ROW;

/// Half a chunk: the lanes of two adjacent quads.
pub type HalfChunk = [f32; 8];

/// The pixels of a chunk by rows, of four channels each.
pub type PixelRows = [[[f32; 4]; 4]; 4];

/// The rows of two adjacent quads, indexed by the bits of their lanes.
static ROWS_OF: [[[bool; 4]; 2]; 256] = {
    let mut table = [[[false; 4]; 2]; 256];
    let mut bits = 0;
    while bits < table.len() {
        let mut pixel = 0;
        while pixel < 8 {
            let (row, column) = (pixel / 4, pixel % 4);
            table[bits][row][column] = bits >> LANES_BY_ROW[row][column] & 1 != 0;
            pixel += 1;
        }
        bits += 1;
    }
    table
};

/// Returns the bits of a chunk's lanes in row order, each row from the left.
#[must_use]
#[inline(always)]
pub fn bits_by_row(bits: u16) -> [[bool; 4]; 4] {
    let [lower, upper] = bits.to_le_bytes();
    let ([a, b], [c, d]) = (ROWS_OF[usize::from(lower)], ROWS_OF[usize::from(upper)]);
    [a, b, c, d]
}

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

    /// Prefetches the cache line of a value for writing, if the processor can.
    #[inline(always)]
    fn prefetch_to_write<T>(self, _: &T) {}

    /// Returns whether a mask has a lane; all bits of a lane are equal.
    #[inline(always)]
    fn any_lane(self, mask: &Chunk) -> bool {
        // A loop: iterator adapters are not always inlined.
        let mut any = 0;
        for lane in mask {
            any |= lane.to_bits();
        }
        any != 0
    }

    /// Returns the bits of the lanes of four horizontally adjacent chunks in row order, each row from the left.
    #[inline(always)]
    fn bits_by_row_of_four(self, bits: [u16; 4]) -> [[bool; 16]; 4] {
        let mut rows = [[false; 16]; 4];
        for (i, bits) in bits.into_iter().enumerate() {
            for (row, bits) in rows.iter_mut().zip(bits_by_row(bits)) {
                row.as_chunks_mut::<4>().0[i] = bits;
            }
        }
        rows
    }

    /// Returns the transpose of four rows.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "both indices of both arrays")]
    fn transpose(self, rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
        let mut columns = [[0.0; 4]; 4];
        for row in 0..4 {
            for column in 0..4 {
                columns[column][row] = rows[row][column];
            }
        }
        columns
    }

    /// Returns the pixels of a chunk in row order, lowest row first, each row from the left, with the four channels of a pixel together.
    #[inline(always)]
    fn pixel_rows(self, [r, g, b, a]: [&Chunk; 4]) -> PixelRows {
        let [r, g, b, a] = [r.as_chunks().0, g.as_chunks().0, b.as_chunks().0, a.as_chunks().0];
        let mut rows = [[[0.0; 4]; 4]; 4];
        for quad in 0..4 {
            let pixels = self.transpose([&r[quad], &g[quad], &b[quad], &a[quad]]);
            let (row, column) = (quad / 2 * 2, quad % 2 * 2);
            rows[row][column] = pixels[0];
            rows[row][column + 1] = pixels[1];
            rows[row + 1][column] = pixels[2];
            rows[row + 1][column + 1] = pixels[3];
        }
        rows
    }

    /// Returns the channels of the pixels of two adjacent quads, in lane order, from the four channels of each pixel.
    #[inline(always)]
    fn pixel_channels(self, [a, b, c, d, e, f, g, h]: [&[f32; 4]; 8]) -> [HalfChunk; 4] {
        let quads = [self.transpose([a, b, c, d]), self.transpose([e, f, g, h])];
        let mut channels = [[0.0; 8]; 4];
        for channel in 0..4 {
            let (lower, upper) = channels[channel].split_at_mut(4);
            lower.copy_from_slice(&quads[0][channel]);
            upper.copy_from_slice(&quads[1][channel]);
        }
        channels
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

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn transpose(self, rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
        sse2::transpose(rows)
    }
}

/// Prefetches a cache line for writing.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_to_write<T>(at: &T) {
    use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
    let at = core::ptr::from_ref(at).cast();
    // SAFETY: a prefetch has no effect on the program's state.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(at) };
}

#[cfg(target_arch = "x86_64")]
impl LaneOps for Sse2 {
    #[inline(always)]
    fn prefetch_to_write<T>(self, at: &T) {
        prefetch_to_write(at);
    }

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

    #[inline(always)]
    fn any_lane(self, mask: &Chunk) -> bool {
        self.sign_bits(mask) != 0
    }

    #[inline(always)]
    fn transpose(self, rows: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
        sse2::transpose(rows)
    }
}

#[cfg(target_arch = "x86_64")]
impl LaneOps for Avx2 {
    #[inline(always)]
    fn prefetch_to_write<T>(self, at: &T) {
        prefetch_to_write(at);
    }

    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        // SAFETY: a value of the level is the proof that the processor has its instructions.
        unsafe { avx2::sign_bits(chunk) }
    }

    #[inline(always)]
    fn any_lane(self, mask: &Chunk) -> bool {
        self.sign_bits(mask) != 0
    }

    #[inline(always)]
    fn bits_by_row_of_four(self, bits: [u16; 4]) -> [[bool; 16]; 4] {
        // SAFETY: as above.
        unsafe { avx2::bits_by_row_of_four(bits) }
    }

    #[inline(always)]
    fn pixel_rows(self, channels: [&Chunk; 4]) -> PixelRows {
        // SAFETY: as above.
        unsafe { avx2::pixel_rows(channels) }
    }

    #[inline(always)]
    fn pixel_channels(self, pixels: [&[f32; 4]; 8]) -> [HalfChunk; 4] {
        // SAFETY: as above.
        unsafe { avx2::pixel_channels(pixels) }
    }
}

#[cfg(target_arch = "x86_64")]
impl LaneOps for Avx512 {
    #[inline(always)]
    fn prefetch_to_write<T>(self, at: &T) {
        prefetch_to_write(at);
    }

    #[inline(always)]
    fn sign_bits(self, chunk: &Chunk) -> u16 {
        // SAFETY: a value of the level is the proof that the processor has its instructions, AVX2 among them.
        unsafe { avx2::sign_bits(chunk) }
    }

    #[inline(always)]
    fn any_lane(self, mask: &Chunk) -> bool {
        self.sign_bits(mask) != 0
    }

    #[inline(always)]
    fn bits_by_row_of_four(self, bits: [u16; 4]) -> [[bool; 16]; 4] {
        // SAFETY: as above.
        unsafe { avx2::bits_by_row_of_four(bits) }
    }

    #[inline(always)]
    fn pixel_rows(self, channels: [&Chunk; 4]) -> PixelRows {
        // SAFETY: as above.
        unsafe { avx512::pixel_rows(channels) }
    }

    #[inline(always)]
    fn pixel_channels(self, pixels: [&[f32; 4]; 8]) -> [HalfChunk; 4] {
        // SAFETY: as above.
        unsafe { avx2::pixel_channels(pixels) }
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use core::arch::x86_64::{
        __m128, _mm_loadu_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_storeu_ps, _mm_unpackhi_ps,
        _mm_unpacklo_ps,
    };

    #[inline(always)]
    pub(super) fn transpose([a, b, c, d]: [&[f32; 4]; 4]) -> [[f32; 4]; 4] {
        let mut columns = [[0.0; 4]; 4];
        // SAFETY: every x86-64 processor has these instructions; each array has the four floats that one loads or stores, from
        // or to any address.
        unsafe {
            let load = |row: &[f32; 4]| -> __m128 { _mm_loadu_ps(row.as_ptr()) };
            let (a, b, c, d) = (load(a), load(b), load(c), load(d));
            let (lower, upper) = (_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
            let (lower_right, upper_right) = (_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
            _mm_storeu_ps(columns[0].as_mut_ptr(), _mm_movelh_ps(lower, lower_right));
            _mm_storeu_ps(columns[1].as_mut_ptr(), _mm_movehl_ps(lower_right, lower));
            _mm_storeu_ps(columns[2].as_mut_ptr(), _mm_movelh_ps(upper, upper_right));
            _mm_storeu_ps(columns[3].as_mut_ptr(), _mm_movehl_ps(upper_right, upper));
        }
        columns
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use core::arch::x86_64::{
        __m256, _mm_and_si128, _mm_loadu_ps, _mm_min_epu8, _mm_set1_epi8, _mm_set1_epi32,
        _mm_setr_epi8, _mm_setr_epi16, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_castpd_ps,
        _mm256_castps_pd, _mm256_loadu_ps, _mm256_movemask_ps, _mm256_permute2f128_ps,
        _mm256_set_m128, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps,
        _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };

    use super::{HalfChunk, PixelRows};
    use crate::Chunk;
    use crate::chunk::LANES_BY_ROW;

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(chunk: &Chunk, half: usize) -> __m256 {
        let half: &HalfChunk = &chunk.as_chunks().0[half];
        // SAFETY: the array has the eight floats that the instruction loads, from any address.
        unsafe { _mm256_loadu_ps(half.as_ptr()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn sign_bits(chunk: &Chunk) -> u16 {
        let lower = _mm256_movemask_ps(load(chunk, 0));
        let upper = _mm256_movemask_ps(load(chunk, 1));
        (lower | upper << 8) as u16
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn bits_by_row_of_four([a, b, c, d]: [u16; 4]) -> [[bool; 16]; 4] {
        // For each pixel of a row, the byte with the bits of the lower two rows, and that of the upper two.
        let bits = _mm_setr_epi16(
            a as i16, b as i16, c as i16, d as i16, a as i16, b as i16, c as i16, d as i16,
        );
        let lower =
            _mm_shuffle_epi8(bits, _mm_setr_epi8(0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6));
        let upper =
            _mm_shuffle_epi8(bits, _mm_setr_epi8(1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7));
        let bits_of = |row: usize| {
            let of_pixel = |column: usize| 1 << (LANES_BY_ROW[row][column] % 8) << (8 * column);
            _mm_set1_epi32((0..4).map(of_pixel).fold(0_u32, |all, bit| all | bit) as i32)
        };
        let mut rows = [[false; 16]; 4];
        for (row, bytes) in [lower, lower, upper, upper].into_iter().enumerate() {
            let ones = _mm_min_epu8(_mm_and_si128(bytes, bits_of(row)), _mm_set1_epi8(1));
            // SAFETY: the array has the sixteen bytes that the instruction stores, to any address, and each of them is 0 or 1.
            unsafe { _mm_storeu_si128(rows[row].as_mut_ptr().cast(), ones) };
        }
        rows
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn pixel_rows([r, g, b, a]: [&Chunk; 4]) -> PixelRows {
        let mut rows = [[[0.0; 4]; 4]; 4];
        for (half, rows) in rows.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (r, g, b, a) = (load(r, half), load(g, half), load(b, half), load(a, half));
            // Each quad is in 128 bits: two channels of its upper pixels, then of the others.
            let pairs = [
                (_mm256_unpacklo_ps(r, g), _mm256_unpacklo_ps(b, a)),
                (_mm256_unpackhi_ps(r, g), _mm256_unpackhi_ps(b, a)),
            ];
            for ((rg, ba), row) in pairs.into_iter().zip(rows) {
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
        }
        rows
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn pixel_channels(pixels: [&[f32; 4]; 8]) -> [HalfChunk; 4] {
        // The same pixel of both quads, in 128 bits each.
        let pair = |pixel: usize| {
            // SAFETY: each array has the four floats that the instruction loads, from any address.
            unsafe {
                _mm256_set_m128(
                    _mm_loadu_ps(pixels[pixel + 4].as_ptr()),
                    _mm_loadu_ps(pixels[pixel].as_ptr()),
                )
            }
        };
        let (a, b, c, d) = (pair(0), pair(1), pair(2), pair(3));
        // For each quad, two channels of the upper pixels, and of the lower ones.
        let halves = [
            (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d)),
            (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d)),
        ];
        let mut channels = [[0.0; 8]; 4];
        for ((upper, lower), pair) in halves.into_iter().zip(channels.as_chunks_mut::<2>().0) {
            let (upper, lower) = (_mm256_castps_pd(upper), _mm256_castps_pd(lower));
            // SAFETY: each array has the eight floats that the instruction stores, to any address.
            unsafe {
                let first = _mm256_castpd_ps(_mm256_unpacklo_pd(upper, lower));
                _mm256_storeu_ps(pair[0].as_mut_ptr(), first);
                let second = _mm256_castpd_ps(_mm256_unpackhi_pd(upper, lower));
                _mm256_storeu_ps(pair[1].as_mut_ptr(), second);
            }
        }
        channels
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use core::arch::x86_64::{
        __m512, _mm512_castpd_ps, _mm512_castps_pd, _mm512_loadu_ps, _mm512_permutex2var_pd,
        _mm512_setr_epi64, _mm512_storeu_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps,
        _mm512_unpacklo_pd, _mm512_unpacklo_ps,
    };

    use super::PixelRows;
    use crate::Chunk;

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(chunk: &Chunk) -> __m512 {
        // SAFETY: the array has the sixteen floats that the instruction loads, from any address.
        unsafe { _mm512_loadu_ps(chunk.as_ptr()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(super) fn pixel_rows([r, g, b, a]: [&Chunk; 4]) -> PixelRows {
        let (r, g, b, a) = (load(r), load(g), load(b), load(a));
        // Each quad is in 128 bits: two channels of its upper pixels, then of the others.
        let pairs = [
            (_mm512_unpacklo_ps(r, g), _mm512_unpacklo_ps(b, a)),
            (_mm512_unpackhi_ps(r, g), _mm512_unpackhi_ps(b, a)),
        ];
        // Rows of the lower two quads, and of the upper two, alternate between left and right pixels.
        let lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        let mut rows = [[[0.0; 4]; 4]; 4];
        for (i, (rg, ba)) in pairs.into_iter().enumerate() {
            let (rg, ba) = (_mm512_castps_pd(rg), _mm512_castps_pd(ba));
            let (left, right) = (_mm512_unpacklo_pd(rg, ba), _mm512_unpackhi_pd(rg, ba));
            for (row, order) in [(i, lower), (i + 2, upper)] {
                let pixels = _mm512_castpd_ps(_mm512_permutex2var_pd(left, order, right));
                // SAFETY: the row has the sixteen floats that the instruction stores, to any address.
                unsafe { _mm512_storeu_ps(rows[row].as_flattened_mut().as_mut_ptr(), pixels) };
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{LANES_BY_ROW, lane_xy};
    use crate::{Simd, SimdLevel, SimdTask};

    struct Signs(Chunk);

    impl SimdTask for Signs {
        type Output = u16;

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> u16 {
            level.sign_bits(&self.0)
        }
    }

    struct Rows([Chunk; 4]);

    impl SimdTask for Rows {
        type Output = PixelRows;

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> Self::Output {
            level.pixel_rows(self.0.each_ref())
        }
    }

    struct Channels([[f32; 4]; 8]);

    impl SimdTask for Channels {
        type Output = [HalfChunk; 4];

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> Self::Output {
            level.pixel_channels(self.0.each_ref())
        }
    }

    #[test]
    fn channels_have_the_lanes_of_their_pixels_at_every_level() {
        let pixels = std::array::from_fn(|lane| [0, 1, 2, 3].map(|c| (10 * lane + c) as f32));
        for simd in Simd::available() {
            let channels = simd.run_plain(Channels(pixels));
            for (c, channel) in channels.iter().enumerate() {
                assert_eq!(*channel, pixels.map(|pixel| pixel[c]), "{simd:?}");
            }
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

    struct BitRows([u16; 4]);

    impl SimdTask for BitRows {
        type Output = [[bool; 16]; 4];

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> Self::Output {
            level.bits_by_row_of_four(self.0)
        }
    }

    #[test]
    fn each_bit_has_its_pixel_at_every_level() {
        for simd in Simd::available() {
            for (chunk, lane) in (0..4).flat_map(|chunk| (0..16).map(move |lane| (chunk, lane))) {
                let mut expected = [[false; 16]; 4];
                let (x, y) = lane_xy(lane);
                expected[y as usize][4 * chunk + x as usize] = true;
                let mut bits = [0; 4];
                bits[chunk] = 1 << lane;
                assert_eq!(simd.run_plain(BitRows(bits)), expected, "{simd:?} {chunk} {lane}");
                let others = simd.run_plain(BitRows(bits.map(|bits: u16| !bits)));
                assert_eq!(others, expected.map(|row| row.map(|bit| !bit)), "{simd:?}");
            }
        }
    }

    struct AnyLane(Chunk);

    impl SimdTask for AnyLane {
        type Output = bool;

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> bool {
            level.any_lane(&self.0)
        }
    }

    #[test]
    fn masks_have_a_lane_or_none_at_every_level() {
        for simd in Simd::available() {
            assert!(!simd.run_plain(AnyLane([0.0; 16])), "{simd:?}");
            for lane in 0..16 {
                let mut mask = [0.0; 16];
                mask[lane] = f32::from_bits(!0);
                assert!(simd.run_plain(AnyLane(mask)), "{simd:?} {lane}");
            }
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
