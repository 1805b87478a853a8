//! One source, one machine code per kind of processor.
//!
//! What is written once, generic in a [`SimdLevel`], is compiled for each level, and [`Simd::run`]
//! enters the one asked for. A [`SimdTask`] is such a thing; everything below it must be
//! `#[inline(always)]`, so that it becomes part of the function that has the level's instructions.
//!
//! No level has fused multiply-add: the compiler never fuses by itself, and nothing here asks.

#![allow(unsafe_code, reason = "functions compiled for a processor are called after detection")]

use crate::flush::{Flush, HwFlush, SoftFlush};
use crate::fp_env;
use crate::rounding::{MagicRound, NativeRound, Rint};

/// Vector instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Simd {
    /// AVX-512 (F, DQ, BW, VL): sixteen lanes.
    Avx512,
    /// AVX2: eight lanes.
    Avx2,
    /// SSE2, which every x86-64 has: four lanes.
    Sse2,
    /// What the compiler takes for granted, denormals handled in software: NEON on AArch64,
    /// SIMD128 in WebAssembly if built with it. On x86-64 it is there so that this path can be tried.
    Portable,
}

impl Simd {
    /// From the widest down.
    const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Sse2, Self::Portable];

    /// The best level of this machine.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// The levels of this machine, from the best down; [`Portable`](Self::Portable) is always one.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|simd| simd.is_available())
    }

    /// Whether this machine has these instructions.
    #[must_use]
    #[inline]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => true,
            Self::Portable => true,
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// `avx512`, `avx2`, `sse2`; the portable one is `scalar` on x86-64 and `portable` elsewhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Sse2 => "sse2",
            Self::Portable if cfg!(target_arch = "x86_64") => "scalar",
            Self::Portable => "portable",
        }
    }

    /// The level of a [`name`](Self::name), on this machine or not; both names of the portable one
    /// are known everywhere.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if matches!(name, "scalar" | "portable") {
            return Some(Self::Portable);
        }
        Self::ALL.into_iter().find(|simd| simd.name() == name)
    }

    /// Runs a job with these instructions, denormals flushed as the level does it. A level that this
    /// machine does not have is taken for the portable one.
    pub fn run<J: SimdTask>(self, job: J) -> J::Output {
        match self {
            Self::Portable => portable(job),
            _ if !self.is_available() => portable(job),
            _ => fp_env::flushing(|| self.enter(job)),
        }
    }

    /// Runs a job with these instructions in plain arithmetic: for what must not flush, also inside
    /// of [`run`](Self::run).
    pub fn run_plain<J: SimdTask>(self, job: J) -> J::Output {
        fp_env::plain(|| self.enter(job))
    }

    /// Runs a job as it is compiled for the level, in the environment that is set.
    fn enter<J: SimdTask>(self, job: J) -> J::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has these instructions: it has just been asked.
            Self::Avx512 if self.is_available() => unsafe { avx512(job) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Self::Avx2 if self.is_available() => unsafe { avx2(job) },
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => sse2(job),
            _ => portable(job),
        }
    }
}

/// Something to be compiled for every level.
pub trait SimdTask {
    /// What comes of it.
    type Output;

    /// Does it, compiled for a level. To be marked `#[inline(always)]`.
    fn run<L: SimdLevel>(self, level: L) -> Self::Output;
}

/// What differs between the levels but their instructions. A value of it is there only where the
/// processor has them: [`Simd::run`] makes it after asking.
pub trait SimdLevel: Copy {
    /// Who flushes denormals.
    type Flush: Flush;
    /// How to round to an integer.
    type Rint: Rint;

    /// A routine compiled for this level, as a function of its own.
    fn entry<M, C, R: SimdFn<M, C>>(self) -> Dispatched<M, C>;
}

/// A function that is chosen beforehand and called often.
pub trait SimdFn<M, C> {
    /// Does what `call` says in `memory`. To be marked `#[inline(always)]`.
    fn run<L: SimdLevel>(memory: &mut M, call: &C);
}

/// A [`SimdFn`] compiled for a level that this machine has.
pub struct Dispatched<M, C>(unsafe fn(&mut M, &C));

impl<M, C> Dispatched<M, C> {
    /// Calls the routine.
    #[inline(always)]
    pub fn call(self, memory: &mut M, call: &C) {
        // SAFETY: what makes the function unsafe to call is that the processor must have its
        // instructions. Entries are made by `SimdLevel::entry` only, which takes a value of the level, and
        // there is one only where the processor has them.
        unsafe { (self.0)(memory, call) }
    }
}

impl<M, C> Clone for Dispatched<M, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, C> Copy for Dispatched<M, C> {}

impl<M, C> std::fmt::Debug for Dispatched<M, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dispatched")
    }
}

/// [`Simd::Avx512`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl SimdLevel for Avx512 {
    type Flush = HwFlush;
    type Rint = NativeRound;

    fn entry<M, C, R: SimdFn<M, C>>(self) -> Dispatched<M, C> {
        Dispatched(avx512_entry::<M, C, R>)
    }
}

/// [`Simd::Avx2`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl SimdLevel for Avx2 {
    type Flush = HwFlush;
    type Rint = NativeRound;

    fn entry<M, C, R: SimdFn<M, C>>(self) -> Dispatched<M, C> {
        Dispatched(avx2_entry::<M, C, R>)
    }
}

/// [`Simd::Sse2`].
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Sse2(());

#[cfg(target_arch = "x86_64")]
impl SimdLevel for Sse2 {
    type Flush = HwFlush;
    type Rint = MagicRound;

    fn entry<M, C, R: SimdFn<M, C>>(self) -> Dispatched<M, C> {
        Dispatched(sse2_entry::<M, C, R>)
    }
}

/// [`Simd::Portable`].
#[derive(Clone, Copy)]
pub struct Portable;

impl SimdLevel for Portable {
    type Flush = SoftFlush;
    #[cfg(any(target_arch = "aarch64", target_family = "wasm"))]
    type Rint = NativeRound;
    #[cfg(not(any(target_arch = "aarch64", target_family = "wasm")))]
    type Rint = MagicRound;

    fn entry<M, C, R: SimdFn<M, C>>(self) -> Dispatched<M, C> {
        Dispatched(portable_entry::<M, C, R>)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2")]
#[inline(never)]
fn avx512<J: SimdTask>(job: J) -> J::Output {
    job.run(Avx512(()))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn avx2<J: SimdTask>(job: J) -> J::Output {
    job.run(Avx2(()))
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn sse2<J: SimdTask>(job: J) -> J::Output {
    job.run(Sse2(()))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2")]
fn avx512_entry<M, C, R: SimdFn<M, C>>(memory: &mut M, call: &C) {
    R::run::<Avx512>(memory, call);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2_entry<M, C, R: SimdFn<M, C>>(memory: &mut M, call: &C) {
    R::run::<Avx2>(memory, call);
}

#[cfg(target_arch = "x86_64")]
fn sse2_entry<M, C, R: SimdFn<M, C>>(memory: &mut M, call: &C) {
    R::run::<Sse2>(memory, call);
}

fn portable_entry<M, C, R: SimdFn<M, C>>(memory: &mut M, call: &C) {
    R::run::<Portable>(memory, call);
}

#[inline(never)]
fn portable<J: SimdTask>(job: J) -> J::Output {
    job.run(Portable)
}

/// To be called in a loop over chunks, whose body is vector code already: keeps the compiler from
/// doing several chunks at once, one lane of each to a vector. (With AVX-512, whose gathers it thinks
/// cheap, it does.)
#[inline(always)]
pub fn inhibit_outer_vectorization() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: there is no instruction in it.
    unsafe {
        core::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
    // Where there is no stable `asm!`: no instruction either, but all memory is taken to be touched.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    core::hint::black_box(());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_lead_back() {
        for simd in Simd::ALL {
            assert_eq!(Simd::from_name(simd.name()), Some(simd));
        }
        assert_eq!(Simd::from_name("scalar"), Simd::from_name("portable"));
        assert_eq!(Simd::from_name("auto"), None);
    }

    #[test]
    fn the_best_comes_first_and_the_portable_one_last() {
        let levels: Vec<_> = Simd::available().collect();
        assert_eq!(levels.first(), Some(&Simd::detect()));
        assert_eq!(levels.last(), Some(&Simd::Portable));
    }

    struct Flushes;

    impl SimdTask for Flushes {
        type Output = (bool, f32);

        #[inline(always)]
        fn run<L: SimdLevel>(self, _: L) -> (bool, f32) {
            (L::Flush::BY_PROCESSOR, std::hint::black_box(f32::MIN_POSITIVE) * 0.5)
        }
    }

    #[test]
    fn every_level_runs_in_its_environment() {
        for simd in Simd::ALL {
            let (by_processor, half) = simd.run(Flushes);
            assert_eq!(by_processor, simd.is_available() && simd != Simd::Portable);
            assert_eq!(half == 0.0, by_processor, "{simd:?}");
        }
    }
}
