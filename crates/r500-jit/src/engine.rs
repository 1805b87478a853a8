//! The engine.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use r500_exec::{
    Draw, DrawKey, Engine, Fallback, FallbackQuads, PreparedDraw, PreparedQuads, ProgramUse,
};
use r500_fast::{Fast, Simd};
use r500_lift::LiftError;

use crate::settings::{CacheUse, Settings, Unavailable};
use crate::target::Backend;
use crate::tiering::TieredCompiler;

/// The jit engine.
///
/// It may be used in a child after `fork`, which gets a compiler of its own: the compilation thread of the parent does not
/// exist there.
#[derive(Debug)]
pub struct Jit {
    simd: Simd,
    /// Draws what this engine cannot.
    fast: Fast,
    compiler: Result<TieredCompiler, Unavailable>,
    /// Level of vector instructions of the machine code.
    compiled: Simd,
    settings: Settings,
    /// The compiler of a child process.
    child: Mutex<Option<Arc<TieredCompiler>>>,
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
        let fast = Fast::with(simd);
        let available = fast.simd();
        let compiled = if settings.is_emulated() { simd } else { available };
        let compiler = TieredCompiler::new(available, compiled, settings);
        Self { simd: available, fast, compiler, compiled, settings, child: Mutex::default() }
    }

    /// Returns whether there is machine code for a level of vector instructions, or for that which draws instead of it on this machine.
    pub(crate) fn compiles(simd: Simd) -> bool {
        Backend::new(Fast::with(simd).simd(), Settings::default()).is_ok()
    }

    /// Returns the compiler; `None` if there is no machine code, or this is the child of a `fork`.
    pub(crate) fn compiler(&self) -> Option<&TieredCompiler> {
        self.compiler.as_ref().ok().filter(|compiler| compiler.is_of_this_process())
    }

    /// Returns the engine for what is not compiled.
    pub(crate) fn fast(&self) -> &Fast {
        &self.fast
    }

    /// Prepares a draw with the compiler of this process; `None` if there is none, or it cannot.
    fn with_compiler<T>(
        &self,
        prepare: impl Fn(&TieredCompiler) -> Result<T, LiftError>,
    ) -> Option<T> {
        let compiler = self.compiler.as_ref().ok()?;
        if compiler.is_of_this_process() {
            return prepare(compiler).ok();
        }
        prepare(&*self.child_compiler()?).ok()
    }

    /// Returns the compiler of a child process; `None` if it cannot be had without waiting.
    fn child_compiler(&self) -> Option<Arc<TieredCompiler>> {
        // A thread that does not exist in this process may hold the lock for ever.
        let mut child = match self.child.try_lock() {
            Ok(child) => child,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(compiler) = &*child
            && compiler.is_of_this_process()
        {
            return Some(Arc::clone(compiler));
        }
        let compiler = TieredCompiler::new(self.simd, self.compiled, self.settings).ok()?;
        let compiler = Arc::new(compiler);
        // That of a parent is not dropped: it would signal a thread that does not exist.
        std::mem::forget(child.replace(Arc::clone(&compiler)));
        Some(compiler)
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
        let fast = || self.fast.prepare(draw);
        match &self.compiler {
            Err(reason) => Box::new(Fallback {
                prepared: fast(),
                key: DrawKey::of(&draw),
                reason: reason.to_string(),
            }),
            // The fast engine reports why the program has no function.
            Ok(_) => self.with_compiler(|compiler| compiler.prepare(&draw)).unwrap_or_else(fast),
        }
    }

    fn prepare_quads(&self, draw: Draw<'_>) -> Box<dyn PreparedQuads> {
        let fast = || self.fast.prepare_quads(draw);
        match &self.compiler {
            Err(reason) => Box::new(FallbackQuads { prepared: fast(), reason: reason.to_string() }),
            Ok(_) => {
                self.with_compiler(|compiler| compiler.prepare_quads(&draw)).unwrap_or_else(fast)
            }
        }
    }

    fn program_use(&self) -> Option<ProgramUse> {
        let own = self.compiler.as_ref().map(TieredCompiler::program_use).unwrap_or_default();
        Some(own + self.fast.program_use()?)
    }
}
