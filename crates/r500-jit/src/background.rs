//! Compiles on a thread of its own.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use r500_fast::Simd;

use crate::Effort;
use crate::bound_function::BoundFunction;
use crate::cache::{Cache, CompileOnMiss};
use crate::cache_key::CacheKey;

/// Functions to compile, and the thread that does.
#[derive(Debug)]
pub(crate) struct Worker {
    simd: Simd,
    cache: Arc<Cache>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// To the thread, if there is one. It ends when this goes.
    sender: Option<Sender<Arc<Task>>>,
    /// What is on its way, so that drawings of the same function wait for the same.
    tasks: HashMap<CacheKey, Weak<Task>>,
}

/// A function that is being compiled.
#[derive(Debug)]
pub(crate) struct Task {
    function: Arc<BoundFunction>,
    /// 0, and 1 when there is quick code, 2 when it is as good as it gets.
    done: AtomicU8,
}

impl Task {
    fn compile(&self, simd: Simd, cache: &Cache, effort: Effort) {
        self.function.compile(simd, &CompileOnMiss { cache, effort });
        self.done.store(effort as u8 + 1, Ordering::Release);
    }

    /// How well the code is made that is in the cache by now.
    pub(crate) fn done(&self) -> Option<Effort> {
        match self.done.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Effort::Quick),
            _ => Some(Effort::Full),
        }
    }
}

impl Worker {
    pub(crate) fn new(simd: Simd, cache: Arc<Cache>) -> Self {
        Self { simd, cache, inner: Mutex::default() }
    }

    /// Has a function compiled: here and now if there can be no thread.
    pub(crate) fn compile(&self, function: &Arc<BoundFunction>) -> Arc<Task> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Inner { sender, tasks } = &mut *inner;
        let mut content = CacheKey::of_function(&function.function);
        function.resources.hash(&mut content);
        if let Some(task) = tasks.get(&content).and_then(Weak::upgrade) {
            return task;
        }
        if sender.is_none() {
            let (to, from) = channel();
            let (simd, cache) = (self.simd, Arc::clone(&self.cache));
            let thread = std::thread::Builder::new().name("r500 jit".to_owned());
            if thread.spawn(move || run(&from, simd, &cache)).is_ok() {
                *sender = Some(to);
            }
        }
        let task = Arc::new(Task { function: Arc::clone(function), done: AtomicU8::new(0) });
        let sent = sender.as_ref().is_some_and(|to| to.send(Arc::clone(&task)).is_ok());
        if !sent {
            task.compile(self.simd, &self.cache, Effort::Full);
        }
        tasks.retain(|_, task| task.strong_count() > 0);
        tasks.insert(content, Arc::downgrade(&task));
        task
    }
}

/// Compiles what comes: all of it quickly before any of it well.
fn run(tasks: &Receiver<Arc<Task>>, simd: Simd, cache: &Cache) {
    let mut later: VecDeque<Arc<Task>> = VecDeque::new();
    loop {
        let next = if later.is_empty() { tasks.recv().ok() } else { tasks.try_recv().ok() };
        let (task, effort) = match (next, later.pop_front()) {
            (Some(task), waiting) => {
                later.extend(waiting);
                (task, Effort::Quick)
            }
            (None, Some(task)) => (task, Effort::Full),
            (None, None) => return,
        };
        // No draw uses it any more; quick code stays in the cache.
        if effort == Effort::Full && Arc::strong_count(&task) == 1 {
            continue;
        }
        task.compile(simd, cache, effort);
        if effort == Effort::Quick {
            later.push_back(task);
        }
    }
}
