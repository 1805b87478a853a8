//! Function multiversioning: one source, compiled for each instruction-set level, selected at run time.
//!
//! A [`SimdTask`] is generic in a [`SimdLevel`]; [`Simd::run`] enters the version of the requested level. All
//! functions that a task calls must be `#[inline(always)]`, so that they become part of the function that is
//! compiled with the level's instructions.
//!
//! No level enables fused multiply-add: the compiler does not fuse on its own, and no code here asks for it.

#![allow(unsafe_code, reason = "functions compiled for a processor are called after detection")]

pub mod lane_ops;
pub mod shared_memory;

use lane_ops::LaneOps;
use shared_memory::SharedMemory;

#[cfg(target_arch = "x86_64")]
use crate::flush::HwFlush;
use crate::flush::{Flush, SoftFlush};
use crate::fp_env;
#[cfg(not(any(target_arch = "aarch64", target_family = "wasm")))]
use crate::rounding::MagicRound;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
use crate::rounding::NativeRound;
use crate::rounding::Rint;

/// An instruction-set level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Simd {
    /// AVX-512 (F, DQ, BW, VL): sixteen lanes.
    Avx512,
    /// AVX2, and POPCNT, which comes with it: eight lanes.
    Avx2,
    /// SSE2, which every x86-64 has: four lanes.
    Sse2,
    /// The target's baseline, denormals handled in software: NEON on AArch64, SIMD128 in WebAssembly if enabled.
    /// Available on x86-64, too, so that this path can be tested.
    Portable,
}

impl Simd {
    /// All levels, widest first.
    const ALL: [Self; 4] = [Self::Avx512, Self::Avx2, Self::Sse2, Self::Portable];

    /// Returns the best level of this machine.
    #[must_use]
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self::Portable)
    }

    /// Returns the levels of this machine, best first; [`Portable`](Self::Portable) is always the last.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|simd| simd.is_available())
    }

    /// Returns whether this machine has the instructions of the level.
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
                    && Self::Avx2.is_available()
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"),
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => true,
            Self::Portable => true,
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Returns `avx512`, `avx2` or `sse2`; the portable level is `scalar` on x86-64 and `portable` elsewhere.
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

    /// Returns the level of a [`name`](Self::name), available or not; accepts both names of the portable level.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if matches!(name, "scalar" | "portable") {
            return Some(Self::Portable);
        }
        Self::ALL.into_iter().find(|simd| simd.name() == name)
    }

    /// Runs a task at this level, with denormals flushed by the level's method. Uses the portable level if this
    /// one is not available.
    pub fn run<J: SimdTask>(self, job: J) -> J::Output {
        match self {
            Self::Portable => portable(job),
            _ if !self.is_available() => portable(job),
            _ => fp_env::flushing(|| self.enter(job)),
        }
    }

    /// Runs a task at this level in IEEE arithmetic, without flushing; also within [`run`](Self::run).
    pub fn run_plain<J: SimdTask>(self, job: J) -> J::Output {
        fp_env::plain(|| self.enter(job))
    }

    /// Runs a task at this level in the current floating-point environment.
    fn enter<J: SimdTask>(self, job: J) -> J::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the guard detected the instructions.
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

/// A task that is compiled for every level.
pub trait SimdTask {
    /// The result.
    type Output;

    /// Runs the task at a level. Implementations must be `#[inline(always)]`.
    fn run<L: SimdLevel>(self, level: L) -> Self::Output;
}

/// The properties of a level other than its instructions. A value proves that the processor supports them: only [`Simd::run`] creates one,
/// after detection.
pub trait SimdLevel: LaneOps + SharedMemory {
    /// How denormals are flushed.
    type Flush: Flush;
    /// How to round to an integer.
    type Rint: Rint;
    /// Whether fused kernels of two operations are worth their code size.
    const FUSES: bool;
    /// Whether [`f32::mul_add`] is an instruction.
    const MUL_ADD: bool;

    /// Returns a function compiled for this level.
    fn entry<M, C: ?Sized, R: SimdFn<M, C>>(self) -> Dispatched<M, C>;
}

/// A function that is selected once for a level and called often.
pub trait SimdFn<M, C: ?Sized> {
    /// Executes `call` on `memory`. Implementations must be `#[inline(always)]`.
    fn run<L: SimdLevel>(memory: &mut M, call: &C);
}

/// A [`SimdFn`] compiled for a level that this machine has.
pub struct Dispatched<M, C: ?Sized>(unsafe fn(&mut M, &C));

impl<M, C: ?Sized> Dispatched<M, C> {
    /// Calls the function.
    #[inline(always)]
    pub fn call(self, memory: &mut M, call: &C) {
        // SAFETY: the function requires that the processor has its instructions. Only `SimdLevel::entry`
        // creates a `Dispatched`, from a value of the level, which exists only if the processor has them.
        unsafe { (self.0)(memory, call) }
    }

    /// Returns whether both are the same machine code.
    #[must_use]
    pub fn is_same(self, other: Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl<M, C: ?Sized> Clone for Dispatched<M, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, C: ?Sized> Copy for Dispatched<M, C> {}

impl<M, C: ?Sized> std::fmt::Debug for Dispatched<M, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dispatched")
    }
}

/// Defines the levels of x86-64: a type, and the functions that are compiled with its instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_levels {
    ($($(#[$features:meta])? $level:ident: $rint:ty, $fuses:literal, $mul_add:literal, $task:ident, $entry:ident;)*) => {$(
        #[doc = concat!("[`Simd::", stringify!($level), "`].")]
        #[derive(Clone, Copy)]
        pub struct $level(());

        impl SimdLevel for $level {
            type Flush = HwFlush;
            type Rint = $rint;
            const FUSES: bool = $fuses;
            const MUL_ADD: bool = $mul_add;

            fn entry<M, C: ?Sized, R: SimdFn<M, C>>(self) -> Dispatched<M, C> {
                Dispatched($entry::<M, C, R>)
            }
        }

        $(#[$features])?
        #[inline(never)]
        fn $task<J: SimdTask>(job: J) -> J::Output {
            job.run($level(()))
        }

        $(#[$features])?
        fn $entry<M, C: ?Sized, R: SimdFn<M, C>>(memory: &mut M, call: &C) {
            R::run::<$level>(memory, call);
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
x86_levels! {
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,popcnt")]
    Avx512: NativeRound, true, true, avx512, avx512_entry;
    #[target_feature(enable = "avx2,popcnt")]
    // A virtual machine may have AVX2 without it.
    Avx2: NativeRound, true, false, avx2, avx2_entry;
    Sse2: MagicRound, false, false, sse2, sse2_entry;
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
    const FUSES: bool = false;
    const MUL_ADD: bool = cfg!(target_arch = "aarch64");

    fn entry<M, C: ?Sized, R: SimdFn<M, C>>(self) -> Dispatched<M, C> {
        Dispatched(portable_entry::<M, C, R>)
    }
}

fn portable_entry<M, C: ?Sized, R: SimdFn<M, C>>(memory: &mut M, call: &C) {
    R::run::<Portable>(memory, call);
}

#[inline(never)]
fn portable<J: SimdTask>(job: J) -> J::Output {
    job.run(Portable)
}

/// Inhibits vectorisation across iterations of a loop over chunks, whose body is already vector code. Without it, with AVX-512, the
/// compiler gathers one lane of several chunks into each vector.
#[inline(always)]
pub fn inhibit_outer_vectorization() {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    // SAFETY: the block contains no instruction.
    unsafe {
        core::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
    // Without a stable `asm!`: no instruction either, but the compiler assumes that all memory is touched.
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
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
            (L::Flush::IN_HARDWARE, std::hint::black_box(f32::MIN_POSITIVE) * 0.5)
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "the environment needs assembly")]
    fn every_level_runs_in_its_environment() {
        for simd in Simd::ALL {
            let (in_hardware, half) = simd.run(Flushes);
            assert_eq!(in_hardware, simd.is_available() && simd != Simd::Portable);
            assert_eq!(half == 0.0, in_hardware, "{simd:?}");
        }
    }
}
