//! Background compilation.

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

/// The compilation thread and its queue.
#[derive(Debug)]
pub(crate) struct Worker {
    simd: Simd,
    cache: Arc<Cache>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Channel to the thread, if it runs. The thread ends when the channel is dropped.
    sender: Option<Sender<Arc<Task>>>,
    /// Pending compilations, shared by the draws of a function.
    tasks: HashMap<CacheKey, Weak<Task>>,
}

/// A function that is being compiled.
#[derive(Debug)]
pub(crate) struct Task {
    function: Arc<BoundFunction>,
    /// 0: no code yet; 1: quick code; 2: optimised code.
    done: AtomicU8,
}

impl Task {
    fn compile(&self, simd: Simd, cache: &Cache, effort: Effort) {
        self.function.compile(simd, &CompileOnMiss { cache, effort });
        self.done.store(effort as u8 + 1, Ordering::Release);
    }

    /// Returns the effort of the code that is in the cache so far.
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

    /// Starts compilation of a function; compiles on this thread if no thread can be started.
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

/// Compiles tasks from the channel: quick code for all of them before optimised code for any.
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
        // No draw waits for the task any more; its quick code stays in the cache.
        if effort == Effort::Full && Arc::strong_count(&task) == 1 {
            continue;
        }
        task.compile(simd, cache, effort);
        if effort == Effort::Quick {
            later.push_back(task);
        }
    }
}
