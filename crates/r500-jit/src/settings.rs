//! Settings and statistics of the jit engine.

/// Settings of the jit engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// When the engine compiles.
    pub when: When,
    /// Which program constants are folded into code.
    pub constants: Constants,
    /// How many groups of pixels machine code interleaves.
    pub groups: Groups,
    /// Whether compiled code is listed in `/tmp/perf-PID.map`, for profilers.
    pub perf_map: bool,
    /// Where compiled code runs.
    #[cfg(feature = "emulator")]
    pub execution: Execution,
}

/// Where compiled code runs.
#[cfg(feature = "emulator")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Execution {
    /// The processor.
    #[default]
    Native,
    /// An emulator that checks each memory access and the calling convention, for tests: code for instructions that the processor lacks
    /// runs too. It panics on a violation, with the machine instruction and the address of the R500 instruction that it comes from.
    Emulated,
}

impl Settings {
    /// Returns whether compiled code runs in the emulator.
    pub(crate) fn is_emulated(self) -> bool {
        #[cfg(feature = "emulator")]
        return self.execution == Execution::Emulated;
        #[cfg(not(feature = "emulator"))]
        false
    }
}

/// When code is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// On a background thread (between bands, where there are no threads), while the fast engine draws: first with [`Effort::Quick`], then
    /// with [`Effort::Full`]. Only programs that draw enough to pay for it.
    #[default]
    Background,
    /// Before the first picture.
    Before(Effort),
}

/// Which program constants are folded into code. The code then holds for these values only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Constants that have not changed between the draws of a program.
    #[default]
    Specialized,
    /// None: code holds for all values of all constants.
    Symbolic,
}

/// How many groups of pixels machine code interleaves, except in WebAssembly. (A group is a vector of pixels.) The results are the same
/// bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Groups {
    /// One, two or four, whichever is fastest. After as many pixels as a picture of 256x256 has, another form of the code is compiled, both
    /// forms draw some batches, and their times are compared; within the noise, the form that an estimate chose stays. Code that is
    /// compiled [quickly](Effort::Quick) is not compared; on AArch64 the estimate decides. The other form also omits the zero rule where
    /// only the sign of a zero depends on it, and recomputes groups with such a zero.
    #[default]
    Contest,
    /// One.
    One,
    /// Two, without the zero rule where that is faster.
    Two,
    /// Four on x86-64, where four groups count the same instructions together as one by one; two elsewhere.
    Four,
}

/// Optimisation level of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effort {
    /// Fast compilation.
    Quick,
    /// Fast code.
    Full,
}

/// Hit and miss counts of the code cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Units whose code was in the cache.
    pub hits: u64,
    /// Units that were compiled.
    pub misses: u64,
}

/// Why there is no machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// There are back ends for x86-64, for AArch64, and for WebAssembly with the feature `wasm-host`.
    #[error("there is no machine code for this architecture")]
    Architecture,
    /// The AArch64 back end supports Linux: executable memory on other systems is not tried.
    #[error("machine code for AArch64 takes Linux")]
    System,
    /// Listings of machine code are available on x86-64.
    #[error("machine code is listed on x86-64 only")]
    Listing,
    /// The x86-64 back end needs AVX2 or AVX-512.
    #[error("machine code takes AVX2 or AVX-512")]
    Level,
}
