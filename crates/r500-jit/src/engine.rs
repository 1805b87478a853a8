//! The engine.

use r500_exec::{Draw, DrawKey, Engine, Fallback, PreparedDraw};
use r500_fast::{Fast, Simd};

use crate::settings::{CacheUse, Settings, Unavailable};
use crate::tiering::TieredCompiler;

/// The jit engine.
#[derive(Debug)]
pub struct Jit {
    simd: Simd,
    compiler: Result<TieredCompiler, Unavailable>,
}

impl Jit {
    /// Returns the engine for the best vector instructions of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Simd::detect(), Settings::default())
    }

    /// Returns the engine for a level of vector instructions. The fast engine draws where this machine lacks
    /// them, or where there is no back end.
    #[must_use]
    pub fn with(simd: Simd, settings: Settings) -> Self {
        let available = Fast::with(simd).simd();
        let compiled = if settings.is_emulated() { simd } else { available };
        Self { simd: available, compiler: TieredCompiler::new(available, compiled, settings) }
    }

    /// Returns the level of vector instructions in use.
    #[must_use]
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Returns the reason why the engine does not compile, if it does not.
    #[must_use]
    pub fn unavailable(&self) -> Option<Unavailable> {
        self.compiler.as_ref().err().copied()
    }

    /// Returns the hit and miss counts of the code cache.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        self.compiler.as_ref().map(TieredCompiler::cache_use).unwrap_or_default()
    }

    /// Returns the number of machine instructions that the emulator has executed ([`Execution::Emulated`](crate::Execution)).
    #[cfg(all(feature = "emulator", x86_code))]
    #[must_use]
    pub fn emulated_instructions(&self) -> u64 {
        self.compiler.as_ref().map(TieredCompiler::emulated_instructions).unwrap_or_default()
    }
}

impl Default for Jit {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn prepare(&self, draw: Draw<'_>) -> Box<dyn PreparedDraw> {
        let fast = || Fast::with(self.simd).prepare(draw);
        match &self.compiler {
            Err(reason) => Box::new(Fallback {
                prepared: fast(),
                key: DrawKey::of(&draw),
                reason: reason.to_string(),
            }),
            // The fast engine reports why the program has no function.
            Ok(compiler) => compiler.prepare(&draw).unwrap_or_else(|_| fast()),
        }
    }
}
