//! Several dwords at a time of memory that other threads access, too, with the instructions of a level.
//!
//! Rust has atomic accesses of one dword, and none of eight; accesses of two sizes to the same memory must not race. An instruction that
//! accesses several dwords is one of the ways in which a processor may execute as many relaxed accesses of one dword, and assembly may do
//! what they may do. So these functions are what their defaults say, faster.

#![allow(unsafe_code, reason = "assembly that loads and stores through the pointers of references")]

use std::sync::atomic::{AtomicU32, Ordering};

use super::Portable;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Sse2};

/// Relaxed accesses of several dwords, each of which is atomic, in any order.
pub trait SharedMemory: Copy {
    /// Loads four pairs.
    #[inline(always)]
    fn load_pairs(self, pairs: [&[AtomicU32; 2]; 4]) -> [u32; 8] {
        let mut dwords = [0; 8];
        for (to, from) in dwords.iter_mut().zip(pairs.into_iter().flatten()) {
            *to = from.load(Ordering::Relaxed);
        }
        dwords
    }

    /// Stores two pairs.
    #[inline(always)]
    fn store_pairs(self, pairs: [&[AtomicU32; 2]; 2], dwords: [u32; 4]) {
        for (to, dword) in pairs.into_iter().flatten().zip(dwords) {
            to.store(dword, Ordering::Relaxed);
        }
    }

    /// Stores a dword in eight.
    #[inline(always)]
    fn store_in_all(self, to: &[AtomicU32; 8], dword: u32) {
        for to in to {
            to.store(dword, Ordering::Relaxed);
        }
    }
}

impl SharedMemory for Portable {}

#[cfg(target_arch = "x86_64")]
impl SharedMemory for Sse2 {}

/// The accesses of a level that has AVX2. Miri executes no assembly.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! with_avx2 {
    ($($level:ty),*) => {$(
        impl SharedMemory for $level {
            #[inline(always)]
            fn load_pairs(self, pairs: [&[AtomicU32; 2]; 4]) -> [u32; 8] {
                // SAFETY: a value of the level is the proof that the processor has AVX2.
                unsafe { avx2::load_pairs(pairs) }
            }

            #[inline(always)]
            fn store_pairs(self, pairs: [&[AtomicU32; 2]; 2], dwords: [u32; 4]) {
                // SAFETY: as above.
                unsafe { avx2::store_pairs(pairs, dwords) }
            }

            #[inline(always)]
            fn store_in_all(self, to: &[AtomicU32; 8], dword: u32) {
                // SAFETY: as above.
                unsafe { avx2::store_in_all(to, dword) }
            }
        }
    )*};
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
with_avx2!(Avx2, Avx512);

#[cfg(all(target_arch = "x86_64", miri))]
impl SharedMemory for Avx2 {}

#[cfg(all(target_arch = "x86_64", miri))]
impl SharedMemory for Avx512 {}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2 {
    use core::arch::asm;
    use core::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_set1_epi32, _mm256_storeu_si256,
    };
    use std::sync::atomic::AtomicU32;

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn load_pairs([a, b, c, d]: [&[AtomicU32; 2]; 4]) -> [u32; 8] {
        let lower: __m256i;
        // SAFETY: loads the eight bytes of each reference, which is what relaxed loads of its two dwords do (see the module).
        unsafe {
            asm!(
                "vmovq {lower:x}, qword ptr [{a}]",
                "vmovhps {lower:x}, {lower:x}, qword ptr [{b}]",
                "vmovq {upper:x}, qword ptr [{c}]",
                "vmovhps {upper:x}, {upper:x}, qword ptr [{d}]",
                "vinserti128 {lower:y}, {lower:y}, {upper:x}, 1",
                a = in(reg) a.as_ptr(),
                b = in(reg) b.as_ptr(),
                c = in(reg) c.as_ptr(),
                d = in(reg) d.as_ptr(),
                lower = out(ymm_reg) lower,
                upper = out(ymm_reg) _,
                options(nostack, preserves_flags, readonly),
            );
        }
        let mut dwords = [0; 8];
        // SAFETY: the array has the eight dwords that the instruction stores, to any address.
        unsafe { _mm256_storeu_si256(dwords.as_mut_ptr().cast(), lower) };
        dwords
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn store_pairs([a, b]: [&[AtomicU32; 2]; 2], dwords: [u32; 4]) {
        // SAFETY: the array has the four dwords that the instruction loads, from any address.
        let dwords: __m128i = unsafe { _mm_loadu_si128(dwords.as_ptr().cast()) };
        // SAFETY: stores the eight bytes of each reference, which is what relaxed stores of its two dwords do (see the module).
        unsafe {
            asm!(
                "vmovq qword ptr [{a}], {dwords}",
                "vmovhps qword ptr [{b}], {dwords}",
                a = in(reg) a.as_ptr(),
                b = in(reg) b.as_ptr(),
                dwords = in(xmm_reg) dwords,
                options(nostack, preserves_flags),
            );
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn store_in_all(to: &[AtomicU32; 8], dword: u32) {
        let dwords = _mm256_set1_epi32(dword.cast_signed());
        // SAFETY: stores the 32 bytes of the reference, which is what relaxed stores of its dwords do (see the module).
        unsafe {
            asm!(
                "vmovdqu ymmword ptr [{to}], {dwords}",
                to = in(reg) to.as_ptr(),
                dwords = in(ymm_reg) dwords,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Simd, SimdLevel, SimdTask};

    /// Loads four pairs of the first memory, stores two in the second, and fills the third.
    struct Access<'a> {
        from: &'a [AtomicU32; 11],
        to: &'a [AtomicU32; 7],
        filled: &'a [AtomicU32; 10],
    }

    fn pair(words: &[AtomicU32], at: usize) -> &[AtomicU32; 2] {
        words[at..].first_chunk().unwrap()
    }

    impl SimdTask for Access<'_> {
        type Output = [u32; 8];

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> [u32; 8] {
            level.store_pairs([pair(self.to, 4), pair(self.to, 1)], [1, 2, 3, u32::MAX]);
            level.store_in_all(self.filled[1..].first_chunk().unwrap(), 7);
            level.load_pairs([9, 0, 3, 6].map(|at| pair(self.from, at)))
        }
    }

    #[test]
    fn every_level_accesses_the_same_dwords() {
        for simd in Simd::available() {
            let from = std::array::from_fn(|n| AtomicU32::new(n as u32 + (1 << 31)));
            let to = [const { AtomicU32::new(0) }; 7];
            let filled = [const { AtomicU32::new(0) }; 10];
            let loaded = simd.run_plain(Access { from: &from, to: &to, filled: &filled });
            assert_eq!(loaded.map(|n| n - (1 << 31)), [9, 10, 0, 1, 3, 4, 6, 7], "{simd:?}");
            assert_eq!(to.map(AtomicU32::into_inner), [0, 3, u32::MAX, 0, 1, 2, 0], "{simd:?}");
            assert_eq!(
                filled.map(AtomicU32::into_inner),
                [0, 7, 7, 7, 7, 7, 7, 7, 7, 0],
                "{simd:?}"
            );
        }
    }
}
