//! Settings of the engine, and what it reports.

/// How an engine goes about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// When it compiles.
    pub when: When,
    /// Which program constants are folded into code.
    pub constants: Constants,
    /// How many groups of pixels code works on at a time.
    pub groups: Groups,
    /// Whether it tells profilers what it made, in `/tmp/perf-PID.map`.
    pub perf_map: bool,
    /// What runs compiled code.
    #[cfg(feature = "emulator")]
    pub execution: Execution,
}

/// What runs compiled code.
#[cfg(feature = "emulator")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Execution {
    /// The processor.
    #[default]
    Native,
    /// An emulator that checks each memory access and the calling convention, for tests: code for
    /// instructions that the processor does not have runs too. It panics where code does what it must not,
    /// with the machine instruction and the address of the R500 instruction that it comes from.
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
    /// On a thread of its own (where there are none, between bands), while the fast engine draws: first
    /// quickly, then as well as can be. Only what is drawn so much that it pays.
    #[default]
    Background,
    /// Before the first picture.
    Before(Effort),
}

/// Which program constants are folded into code, which then holds for their values alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// Those that have not changed from draw to draw of a program.
    #[default]
    Specialized,
    /// None: code holds for all values of all constants.
    Symbolic,
}

/// How many groups of pixels machine code works on at a time, but in WebAssembly. (A group is a vector of pixels.) The bits are
/// the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Groups {
    /// One, two or four, whichever is fastest. After as many pixels as a picture of 256x256 has, another form of the code is compiled, too,
    /// both draw some batches, and their times are compared; within the noise, the form stays that an estimate chose. Code that is
    /// compiled [quickly](Effort::Quick) is not compared; on AArch64 the estimate decides. The other form also does without the zero rule
    /// where only the sign of a zero depends on it, and computes groups with such a zero again.
    #[default]
    Contest,
    /// One.
    One,
    /// Two, without the zero rule where that pays.
    Two,
    /// Four on x86-64, where these count the same instructions together as one by one; two elsewhere.
    Four,
}

/// How long code may take to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effort {
    /// Good code soon.
    Quick,
    /// The best code.
    Full,
}

/// How often compiled code was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// Units of drawings that were there.
    pub hits: u64,
    /// Units that were compiled.
    pub misses: u64,
}

/// Why there is no machine code here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// It is made for x86-64, for AArch64, and for WebAssembly with the feature `wasm-host`.
    #[error("there is no machine code for this architecture")]
    Architecture,
    /// For AArch64 it is made on Linux: other systems have rules of their own for executable memory, which were not tried.
    #[error("machine code for AArch64 takes Linux")]
    System,
    /// Machine code is listed on x86-64.
    #[error("machine code is listed on x86-64 only")]
    Listing,
    /// It is made of AVX2 or AVX-512 instructions.
    #[error("machine code takes AVX2 or AVX-512")]
    Level,
}
