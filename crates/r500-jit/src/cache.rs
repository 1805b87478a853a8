//! Code cache: compiled units by content, evicting the least recently used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r500_exec::RunError;
use r500_exec::output::color::PixelEncoding;
use r500_fast::codegen::{Batch, CompileUnit, Compiler, Kernel};

use crate::cache_key::CacheKey;
use crate::target::{Backend, CompiledKernel};
use crate::{CacheUse, Effort};

/// The code cache.
#[derive(Debug)]
pub(crate) struct Cache {
    backend: Backend,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<CacheKey, Entry>,
    /// Total size, in bytes.
    size: usize,
    /// Number of look-ups, the clock of the eviction.
    now: u64,
    counts: CacheUse,
    /// The error of the system when it refused executable memory.
    forbidden: Option<String>,
}

#[derive(Debug)]
struct Entry {
    /// `None`: the unit has no code.
    kernel: Option<Arc<CompiledKernel>>,
    size: usize,
    used: u64,
}

/// Capacity: bytes of code and keys.
const MOST: usize = 64 << 20;

impl Cache {
    pub(crate) fn new(backend: Backend) -> Self {
        Self { backend, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the hit and miss counts.
    pub(crate) fn counts(&self) -> CacheUse {
        self.inner().counts
    }

    /// Returns the number of machine instructions that the emulator has executed.
    #[cfg(all(feature = "emulator", x86_code))]
    pub(crate) fn emulated_instructions(&self) -> u64 {
        self.backend.emulated_instructions()
    }

    /// Returns whether code can store a pixel encoding. `discards`: whether some pixels must keep their contents.
    pub(crate) fn supports_encoding(&self, encoding: &PixelEncoding, discards: bool) -> bool {
        self.backend.supports_encoding(encoding, discards)
    }

    /// Returns the error of the system when it refused executable memory.
    pub(crate) fn forbidden(&self) -> Option<String> {
        self.inner().forbidden.clone()
    }

    /// Returns the code of a unit; compiles it if it is not in the cache.
    fn get(&self, unit: &CompileUnit<'_>, effort: Effort) -> Option<Arc<CompiledKernel>> {
        let content = CacheKey::of_unit(unit, effort);
        if let Some(found) = self.inner().find(&content) {
            return found;
        }
        // Two threads may compile the same unit: that is harmless, and waiting would take longer.
        let kernel = self.backend.make(unit, effort);
        let mut inner = self.inner();
        inner.counts.misses += 1;
        let kernel = kernel.unwrap_or_else(|error| {
            inner.forbidden = Some(error.to_string());
            None
        });
        let kernel = kernel.map(Arc::new);
        inner.insert(content, kernel.clone());
        kernel
    }

    /// Returns the code of a unit, if the unit is in the cache.
    fn find(&self, unit: &CompileUnit<'_>, effort: Effort) -> Option<Option<Arc<CompiledKernel>>> {
        let found = self.inner().find(&CacheKey::of_unit(unit, effort));
        if found.is_some() {
            self.inner().counts.hits += 1;
        }
        found
    }
}

impl Inner {
    fn find(&mut self, content: &CacheKey) -> Option<Option<Arc<CompiledKernel>>> {
        self.now += 1;
        let now = self.now;
        let entry = self.entries.get_mut(content)?;
        entry.used = now;
        Some(entry.kernel.clone())
    }

    fn insert(&mut self, content: CacheKey, kernel: Option<Arc<CompiledKernel>>) {
        let size = content.len() + kernel.as_ref().map_or(0, |kernel| kernel.size());
        let entry = Entry { kernel, size, used: self.now };
        self.size += size;
        if let Some(old) = self.entries.insert(content, entry) {
            self.size -= old.size;
        }
        while self.size > MOST && self.entries.len() > 1 {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { break };
            self.size -= self.entries.remove(&key).map_or(0, |entry| entry.size);
        }
    }
}

/// Compiles units that are not in the cache.
pub(crate) struct CompileOnMiss<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) effort: Effort,
}

impl Compiler for CompileOnMiss<'_> {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        Some(self.cache.get(unit, self.effort)?)
    }
}

/// Returns cached code only, optimised code first.
pub(crate) struct LookupOnly<'a> {
    cache: &'a Cache,
    missing: AtomicBool,
    quick: AtomicBool,
}

impl<'a> LookupOnly<'a> {
    pub(crate) fn new(cache: &'a Cache) -> Self {
        Self { cache, missing: AtomicBool::new(false), quick: AtomicBool::new(false) }
    }

    /// Returns the lowest effort of all units; `None` if units are missing.
    pub(crate) fn effort(&self) -> Option<Effort> {
        match (self.missing.load(Ordering::Relaxed), self.quick.load(Ordering::Relaxed)) {
            (true, _) => None,
            (false, true) => Some(Effort::Quick),
            (false, false) => Some(Effort::Full),
        }
    }
}

impl Compiler for LookupOnly<'_> {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        if let Some(found) = self.cache.find(unit, Effort::Full) {
            return Some(found?);
        }
        if let Some(found) = self.cache.find(unit, Effort::Quick) {
            self.quick.store(true, Ordering::Relaxed);
            return Some(found?);
        }
        self.missing.store(true, Ordering::Relaxed);
        Some(Arc::new(Placeholder))
    }
}

/// Stands for a missing unit; code with such a kernel is not run.
struct Placeholder;

impl Kernel for Placeholder {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        Ok(())
    }
}
