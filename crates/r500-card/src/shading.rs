//! Shading and output of quads: on several threads, in the order of primitives for each pixel.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope};

use r500_exec::{Engine, RunInfo, fan_out, task_count};

use crate::limits::{Budget, CardError};
use crate::output::{Output, Written};
use crate::quad::{Quad, QuadList};
use crate::rs::{Rs, Work};
use crate::sc::Samples;
use crate::su::Primitive;
use crate::us::{Fragment, Fragments, PICTURE, Painter, Pictures, Shaded, groups, ran_together};

/// Primitives and quads before they are shaded.
#[derive(Debug, Default)]
pub(crate) struct QuadMemory {
    pub(crate) primitives: Vec<Primitive>,
    pub(crate) quads: Vec<(u32, Quad)>,
    /// Quads by the thread that shades them.
    pub(crate) shares: Vec<Vec<(u32, Quad)>>,
}

impl QuadMemory {
    /// Number of quads that are shaded at a time.
    pub(crate) const QUADS: usize = 1 << 16;
    /// Limit of their primitives: they fit into a cache.
    pub(crate) const PRIMITIVES: usize = 1 << 11;

    pub(crate) fn clear(&mut self) {
        self.primitives.clear();
        self.quads.clear();
    }
}

/// The blocks from the rasteriser to the surfaces.
pub(crate) struct Shading<'e> {
    pub(crate) engine: &'e dyn Engine,
    pub(crate) rs: Rs,
    pub(crate) samples: Samples,
    pub(crate) fragments: Fragments,
    pub(crate) output: Output,
    pub(crate) pictures: Pictures<'e>,
    /// Whether all pixels are written in the order of primitives, not only those of each place.
    pub(crate) in_order: bool,
    /// Whether the paths for common states are not taken.
    pub(crate) rules_only: bool,
}

/// Number of quads from which on it is worth to find out whether all have the same fragment.
const UNIFORM: usize = 64;
/// Number of quads from which on they are divided among threads.
const SHARED: usize = 2048;
/// Into how many shares they are divided.
const SHARES: usize = 8;
/// Rows of a share before those of the next, at least as many as a tile of any format.
const SHARE_ROWS: usize = 32;

/// Shades quads on a thread of its own while the next ones are collected.
pub(crate) struct Queue<'scope, 'env, 'e> {
    scope: &'scope Scope<'scope, 'env>,
    shading: &'env Shading<'e>,
    /// The thread, from the first quads on.
    worker: Option<Worker>,
    /// Whether it has quads.
    busy: bool,
}

struct Worker {
    to: SyncSender<(QuadMemory, Budget)>,
    from: Receiver<(QuadMemory, Result<Totals, CardError>)>,
}

impl<'scope, 'env, 'e: 'env> Queue<'scope, 'env, 'e> {
    pub(crate) fn new(scope: &'scope Scope<'scope, 'env>, shading: &'env Shading<'e>) -> Self {
        Self { scope, shading, worker: None, busy: false }
    }

    /// Starts to shade the quads in the first memory, which is then empty. The second one serves the next quads. Results of the quads before must
    /// have been [taken](Self::finish). Without another thread, shades them and returns the result.
    #[expect(clippy::expect_used, reason = "the thread ends after this queue, which has no other")]
    pub(crate) fn start(
        &mut self,
        memory: &mut [QuadMemory; 2],
        mut budget: Budget,
    ) -> Option<Result<Totals, CardError>> {
        debug_assert!(!self.busy, "the results of the quads before were not taken");
        let [first, second] = memory;
        if self.worker.is_none() {
            self.worker = self.spawn();
        }
        let Some(worker) = &self.worker else {
            return Some(self.shading.draw(first, &mut budget));
        };
        let quads = std::mem::replace(first, std::mem::take(second));
        worker.to.send((quads, budget)).expect("the thread receives");
        self.busy = true;
        None
    }

    /// Starts the thread; `None` if the system has none.
    fn spawn(&self) -> Option<Worker> {
        let ((to, quads), (results, from)) = (sync_channel(1), sync_channel(1));
        let shading = self.shading;
        let work = move || {
            for (mut memory, mut budget) in quads {
                let result = shading.draw(&mut memory, &mut budget);
                if results.send((memory, result)).is_err() {
                    break;
                }
            }
        };
        let thread = Builder::new().name("r500 shading".to_owned());
        thread.spawn_scoped(self.scope, work).ok().map(|_| Worker { to, from })
    }

    /// Waits for the quads that are being shaded; `None` if there are none.
    #[expect(clippy::expect_used, reason = "a panic of the thread ends the draw anyway")]
    pub(crate) fn finish(
        &mut self,
        memory: &mut [QuadMemory; 2],
    ) -> Option<Result<Totals, CardError>> {
        let worker = self.worker.as_ref().filter(|_| self.busy)?;
        self.busy = false;
        let (quads, result) = worker.from.recv().expect("the thread answers");
        memory[1] = quads;
        Some(result)
    }
}

/// What became of quads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Number of quads.
    pub(crate) quads: u64,
    /// Number of samples that passed depth and stencil tests.
    pub(crate) passed: u64,
    /// Whether they were tested and stored by lanes.
    pub(crate) by_lanes: bool,
    /// The engine that ran the fragment program, if it ran.
    pub(crate) ran: Option<RunInfo>,
}

impl Totals {
    fn add(&mut self, Written { passed, by_lanes }: Written) {
        self.passed += passed;
        self.by_lanes |= by_lanes;
    }

    fn merge(&mut self, Self { quads, passed, by_lanes, ran }: Self) {
        self.quads += quads;
        self.passed += passed;
        self.by_lanes |= by_lanes;
        if let Some(ran) = ran {
            self.ran = Some(ran_together(self.ran.take(), ran));
        }
    }
}

/// The fragment of all pixels, and the engine that computed it.
type Uniform = (Fragment, Option<RunInfo>);

impl<'e> Shading<'e> {
    /// Returns whether another thread may shade while quads are collected: the order of work does not matter for limits, and there is one.
    pub(crate) fn overlaps(budget: &Budget) -> bool {
        !cfg!(target_family = "wasm") && !budget.counts_fragment_instructions() && task_count(0) > 1
    }

    /// Shades quads and writes their results, in order; then the memory is empty.
    ///
    /// # Errors
    /// [`CardError`] if the fragment program exceeds a limit or cannot run.
    pub(crate) fn draw(
        &self,
        memory: &mut QuadMemory,
        budget: &mut Budget,
    ) -> Result<Totals, CardError> {
        let QuadMemory { primitives, quads, shares } = &mut *memory;
        let result = self.shade(primitives, quads, shares, budget);
        let result = result.map(|totals| Totals { quads: quads.len() as u64, ..totals });
        memory.clear();
        result
    }

    fn shade(
        &self,
        primitives: &[Primitive],
        quads: &QuadList,
        shares: &mut Vec<Vec<(u32, Quad)>>,
        budget: &mut Budget,
    ) -> Result<Totals, CardError> {
        let work = Work { rs: &self.rs, samples: &self.samples, primitives };
        if budget.counts_fragment_instructions() {
            return self.in_sequence(&work, quads, budget);
        }
        let uniform = match self.rules_only || quads.len() < UNIFORM {
            true => None,
            false => self.uniform(&work, quads, *budget)?,
        };
        self.in_parallel(&work, quads, shares, uniform.as_ref(), *budget)
    }

    fn painter<'a>(&'a self, work: &Work<'a>, budget: Budget) -> Painter<'a, 'e> {
        Painter::new(&self.fragments, self.engine, *work, budget, &self.pictures)
    }

    /// Shades and writes quads picture by picture, each within what the ones before left of the limit of instructions.
    fn in_sequence(
        &self,
        work: &Work<'_>,
        quads: &QuadList,
        budget: &mut Budget,
    ) -> Result<Totals, CardError> {
        let mut totals = Totals::default();
        let mut painter = self.painter(work, *budget);
        for part in quads.chunks(PICTURE) {
            budget.fragment_instructions(self.fragments.cost())?;
            let limit = budget.group_instructions(groups(part.len()));
            let (shaded, instructions) = painter.shade(part, limit)?;
            budget.fragment_instructions(instructions)?;
            totals.add(self.output.write(work, part, shaded, self.rules_only));
        }
        totals.ran = painter.ran();
        Ok(totals)
    }

    /// Returns the fragment of all pixels of quads, if it is one.
    fn uniform(
        &self,
        work: &Work<'_>,
        quads: &QuadList,
        budget: Budget,
    ) -> Result<Option<Uniform>, CardError> {
        let covered = |(_, quad): &(u32, Quad)| quad.masks.iter().position(|mask| *mask != 0);
        let Some(corner) = quads.first().and_then(covered) else { return Ok(None) };
        if !self.fragments.is_pure() || !self.rs.is_uniform(work.primitives) {
            return Ok(None);
        }
        let mut painter = self.painter(work, budget);
        let (shaded, _) = painter.shade(&quads[..1], budget.group_instructions(1))?;
        let fragment = shaded.fragment(0, corner);
        Ok(Some((fragment, painter.ran())))
    }

    /// Shades and writes quads on several threads. Quads are divided by rows of the target, each of which one thread draws in order: the
    /// result does not depend on the number of threads.
    fn in_parallel(
        &self,
        work: &Work<'_>,
        quads: &QuadList,
        shares: &mut Vec<Vec<(u32, Quad)>>,
        uniform: Option<&Uniform>,
        budget: Budget,
    ) -> Result<Totals, CardError> {
        if quads.len() < SHARED || self.in_order {
            return self.share(&mut self.painter(work, budget), work, quads, uniform, budget);
        }
        shares.resize_with(SHARES, Vec::new);
        shares.iter_mut().for_each(Vec::clear);
        for quad in quads {
            shares[usize::from(quad.1.y) / SHARE_ROWS % SHARES].push(*quad);
        }
        let shares = &shares[..];
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Result<_, CardError>>> =
            Mutex::new(vec![Ok(Totals::default()); SHARES]);
        fan_out(task_count(0).min(SHARES), &|| {
            let mut painter = self.painter(work, budget);
            while let share = next.fetch_add(1, Ordering::Relaxed)
                && let Some(quads) = shares.get(share)
            {
                let result = self.share(&mut painter, work, quads, uniform, budget);
                results.lock().unwrap_or_else(PoisonError::into_inner)[share] = result;
            }
        });
        let mut totals = Totals::default();
        for result in results.into_inner().unwrap_or_else(PoisonError::into_inner) {
            totals.merge(result?);
        }
        Ok(totals)
    }

    /// Shades and writes quads on one thread.
    fn share(
        &self,
        painter: &mut Painter<'_, '_>,
        work: &Work<'_>,
        quads: &QuadList,
        uniform: Option<&Uniform>,
        budget: Budget,
    ) -> Result<Totals, CardError> {
        let mut totals = Totals::default();
        if let Some((fragment, ran)) = uniform {
            let shaded = Shaded::Same(fragment);
            totals.add(self.output.write(work, quads, shaded, self.rules_only));
            totals.ran.clone_from(ran);
            return Ok(totals);
        }
        for part in quads.chunks(PICTURE) {
            let (shaded, _) = painter.shade(part, budget.group_instructions(1))?;
            totals.add(self.output.write(work, part, shaded, self.rules_only));
        }
        totals.ran = painter.ran();
        Ok(totals)
    }
}
