//! Compiled segments by content.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r500_exec::RunError;
use r500_fast::codegen::{Batch, Capabilities, CompileUnit, Compiler, Kernel};

use crate::content::Content;
use crate::target::{Machine, Maker};
use crate::{CacheUse, Effort};

/// Segments that were compiled, those that were used last.
#[derive(Debug)]
pub(crate) struct Cache {
    maker: Maker,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Content, Entry>,
    /// Bytes that they take.
    size: usize,
    /// Counts questions.
    now: u64,
    counts: CacheUse,
    /// What the system said when it gave no executable memory.
    forbidden: Option<String>,
}

#[derive(Debug)]
struct Entry {
    /// `None`: there is no code for it.
    machine: Option<Arc<Machine>>,
    size: usize,
    used: u64,
}

/// Bytes of code and content that are kept.
const MOST: usize = 64 << 20;

impl Cache {
    pub(crate) fn new(maker: Maker) -> Self {
        Self { maker, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often something was found.
    pub(crate) fn counts(&self) -> CacheUse {
        self.inner().counts
    }

    /// What the system said when it gave no executable memory.
    pub(crate) fn forbidden(&self) -> Option<String> {
        self.inner().forbidden.clone()
    }

    /// The code of a segment: made now if it is not there.
    fn get(&self, unit: &CompileUnit<'_>, effort: Effort) -> Option<Arc<Machine>> {
        let content = Content::of_segment(unit, effort);
        if let Some(found) = self.inner().find(&content) {
            return found;
        }
        // Two threads may compile the same; it does no harm, and waiting would.
        let machine = self.maker.make(unit, effort);
        let mut inner = self.inner();
        inner.counts.misses += 1;
        let machine = machine.unwrap_or_else(|error| {
            inner.forbidden = Some(error.to_string());
            None
        });
        let machine = machine.map(Arc::new);
        inner.insert(content, machine.clone());
        machine
    }

    /// The code of a segment, if it is known.
    fn find(&self, unit: &CompileUnit<'_>, effort: Effort) -> Option<Option<Arc<Machine>>> {
        let found = self.inner().find(&Content::of_segment(unit, effort));
        if found.is_some() {
            self.inner().counts.hits += 1;
        }
        found
    }
}

impl Inner {
    fn find(&mut self, content: &Content) -> Option<Option<Arc<Machine>>> {
        self.now += 1;
        let now = self.now;
        let entry = self.entries.get_mut(content)?;
        entry.used = now;
        Some(entry.machine.clone())
    }

    fn insert(&mut self, content: Content, machine: Option<Arc<Machine>>) {
        let size = content.len() + machine.as_ref().map_or(0, |machine| machine.size());
        let entry = Entry { machine, size, used: self.now };
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

/// Compiles what the cache does not have.
pub(crate) struct Filling<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) effort: Effort,
}

impl Compiler for Filling<'_> {
    fn capabilities(&self) -> Capabilities {
        Maker::ABILITIES
    }

    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        Some(self.cache.get(unit, self.effort)?)
    }
}

/// Takes what the cache has, the better code first.
pub(crate) struct Finding<'a> {
    cache: &'a Cache,
    missing: AtomicBool,
    quick: AtomicBool,
}

impl<'a> Finding<'a> {
    pub(crate) fn new(cache: &'a Cache) -> Self {
        Self { cache, missing: AtomicBool::new(false), quick: AtomicBool::new(false) }
    }

    /// The effort that all segments have at least; `None` if some are not there.
    pub(crate) fn effort(&self) -> Option<Effort> {
        match (self.missing.load(Ordering::Relaxed), self.quick.load(Ordering::Relaxed)) {
            (true, _) => None,
            (false, true) => Some(Effort::Quick),
            (false, false) => Some(Effort::Full),
        }
    }
}

impl Compiler for Finding<'_> {
    fn capabilities(&self) -> Capabilities {
        Maker::ABILITIES
    }

    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        if let Some(found) = self.cache.find(unit, Effort::Full) {
            return Some(found?);
        }
        if let Some(found) = self.cache.find(unit, Effort::Quick) {
            self.quick.store(true, Ordering::Relaxed);
            return Some(found?);
        }
        self.missing.store(true, Ordering::Relaxed);
        Some(Arc::new(Missing))
    }
}

/// Stands where code is missing; what has it is not run.
struct Missing;

impl Kernel for Missing {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        Ok(())
    }
}
