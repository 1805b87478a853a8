//! Shading and output of quads: on several threads, in the order of primitives for each pixel.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Scope};

use r500_exec::{
    Engine, Limits, QuadDrawing, QuadPixels, QuadStream, RunError, RunInfo, fan_out, task_count,
};

use crate::limits::{Budget, CardError};
use crate::output::{Output, Writer, Written};
use crate::quad::{Quad, QuadList};
use crate::rs::{Interpolator, Rs, Work};
use crate::sc::Samples;
use crate::su::Primitives;
use crate::us::{Fragment, Fragments, Shaded, groups, ran_together};
use crate::varyings::Varyings;

/// Primitives and quads before they are shaded.
#[derive(Debug, Default)]
pub(crate) struct QuadMemory {
    pub(crate) primitives: Primitives,
    pub(crate) quads: Vec<(u32, Quad)>,
    /// Quads by the thread that shades them.
    pub(crate) shares: Vec<Vec<(u32, Quad)>>,
}

impl QuadMemory {
    /// Number of quads that are shaded at a time.
    pub(crate) const QUADS: usize = 1 << 16;
    /// Limit of their primitives: they fit into a cache.
    pub(crate) const PRIMITIVES: usize = 1 << 12;

    pub(crate) fn clear(&mut self) {
        self.primitives.clear();
        self.quads.clear();
    }
}

/// The blocks from the rasteriser to the surfaces.
pub(crate) struct Shading<'e> {
    pub(crate) engine: &'e dyn Engine,
    pub(crate) rs: Rs,
    /// What primitives have of their vertices.
    pub(crate) varyings: Varyings,
    pub(crate) samples: Samples,
    pub(crate) fragments: Fragments,
    pub(crate) output: Output,
    /// The program prepared for the engine, from the first quads on.
    pub(crate) drawing: OnceLock<Result<QuadDrawing, CardError>>,
    /// Whether all pixels are written in the order of primitives, not only those of each place.
    pub(crate) in_order: bool,
    /// Whether the paths for common states are not taken.
    pub(crate) rules_only: bool,
}

/// Number of quads between two checks of limits that all quads of a draw share.
const PART: usize = 2048;
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

/// The fragment of all pixels, and the engine that computed it, if one did.
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
        primitives: &Primitives,
        quads: &QuadList,
        shares: &mut Vec<Vec<(u32, Quad)>>,
        budget: &mut Budget,
    ) -> Result<Totals, CardError> {
        let work = Work { rs: &self.rs, samples: &self.samples, primitives };
        if budget.counts_fragment_instructions() {
            return self.in_sequence(&work, quads, budget);
        }
        let uniform = match self.rules_only {
            true => None,
            false => self.uniform(&work, quads, *budget)?,
        };
        self.in_parallel(&work, quads, shares, uniform.as_ref(), *budget)
    }

    /// Returns the prepared program.
    fn drawing(&self) -> Result<&QuadDrawing, CardError> {
        let prepare = || self.fragments.prepare(self.engine, &self.rs);
        self.drawing.get_or_init(prepare).as_ref().map_err(CardError::clone)
    }

    /// Runs the program for quads. A group of pixels executes at most `instructions`. Returns the number of executed instructions.
    fn run(
        &self,
        count: usize,
        instructions: u64,
        budget: Budget,
        stream: &mut dyn QuadStream,
    ) -> Result<u64, CardError> {
        let limits = Limits { instructions, time: budget.time_left(), ..Limits::default() };
        let stats = self.drawing()?.draw(limits, count, stream);
        let stats = stats.map_err(|error| match error {
            RunError::Time { .. } => budget.out_of_time(),
            error => CardError::Fragment(error),
        })?;
        Ok(stats.counters.instructions)
    }

    /// Runs the program for quads and writes their results; see [`run`](Self::run).
    fn write(
        &self,
        work: &Work<'_>,
        quads: &QuadList,
        instructions: u64,
        budget: Budget,
    ) -> Result<(Written, u64), CardError> {
        let mut stream = WriteStream::new(*work, quads, &self.output, self.rules_only);
        let result = self.run(quads.len(), instructions, budget, &mut stream);
        // Also what was stored before an error.
        let written = stream.writer.finish();
        Ok((written, result?))
    }

    /// Shades and writes quads part by part, each within what the ones before left of the limit of instructions.
    fn in_sequence(
        &self,
        work: &Work<'_>,
        quads: &QuadList,
        budget: &mut Budget,
    ) -> Result<Totals, CardError> {
        let mut totals = Totals::default();
        for part in quads.chunks(PART) {
            budget.fragment_instructions(self.fragments.cost())?;
            let limit = budget.group_instructions(groups(part.len()));
            let (written, instructions) = self.write(work, part, limit, *budget)?;
            budget.fragment_instructions(instructions)?;
            totals.add(written);
        }
        totals.ran = Some(self.drawing()?.run_info());
        Ok(totals)
    }

    /// Returns the fragment of all pixels of quads, if it is one.
    fn uniform(
        &self,
        work: &Work<'_>,
        quads: &QuadList,
        budget: Budget,
    ) -> Result<Option<Uniform>, CardError> {
        if self.output.ignores_fragments() && !self.fragments.may_kill() {
            return Ok(Some((Fragment::ALIVE, None)));
        }
        if quads.len() < UNIFORM {
            return Ok(None);
        }
        let covered = |(_, quad): &(u32, Quad)| quad.masks.iter().position(|mask| *mask != 0);
        let Some(corner) = quads.first().and_then(covered) else { return Ok(None) };
        if !self.fragments.is_pure() || !self.rs.is_uniform(work.primitives) {
            return Ok(None);
        }
        let inputs = Interpolator::new(*work);
        let mut stream = FragmentStream { inputs, quads: &quads[..1], corner, fragment: None };
        self.run(1, budget.group_instructions(1), budget, &mut stream)?;
        let ran = self.drawing()?.run_info();
        Ok(stream.fragment.map(|fragment| (fragment, Some(ran))))
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
            return self.share(work, quads, uniform, budget);
        }
        shares.resize_with(SHARES, Vec::new);
        shares.iter_mut().for_each(Vec::clear);
        let share = |(_, quad): &(u32, Quad)| usize::from(quad.y) / SHARE_ROWS % SHARES;
        // Quads of a row follow one another.
        for run in quads.chunk_by(|a, b| share(a) == share(b)) {
            shares[share(&run[0])].extend_from_slice(run);
        }
        let shares = &shares[..];
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Result<_, CardError>>> =
            Mutex::new(vec![Ok(Totals::default()); SHARES]);
        fan_out(task_count(0).min(SHARES), &|| {
            while let share = next.fetch_add(1, Ordering::Relaxed)
                && let Some(quads) = shares.get(share)
            {
                let result = self.share(work, quads, uniform, budget);
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
        work: &Work<'_>,
        quads: &QuadList,
        uniform: Option<&Uniform>,
        budget: Budget,
    ) -> Result<Totals, CardError> {
        let mut totals = Totals::default();
        if quads.is_empty() {
            return Ok(totals);
        }
        if let Some((fragment, ran)) = uniform {
            let mut writer = self.output.writer(*work, self.rules_only);
            writer.write(quads, Shaded::Same(fragment));
            totals.add(writer.finish());
            totals.ran.clone_from(ran);
            return Ok(totals);
        }
        let (written, _) = self.write(work, quads, budget.group_instructions(1), budget)?;
        totals.add(written);
        totals.ran = Some(self.drawing()?.run_info());
        Ok(totals)
    }
}

/// Quads that are interpolated, shaded and written.
struct WriteStream<'a> {
    inputs: Interpolator<'a>,
    quads: &'a QuadList,
    /// Those that are being shaded.
    part: &'a QuadList,
    writer: Writer<'a>,
}

impl<'a> WriteStream<'a> {
    fn new(work: Work<'a>, quads: &'a QuadList, output: &'a Output, rules_only: bool) -> Self {
        let writer = output.writer(work, rules_only);
        Self { inputs: Interpolator::new(work), quads, part: &[], writer }
    }
}

impl QuadStream for WriteStream<'_> {
    fn begin(&mut self, quads: Range<usize>, covered: &mut [f32]) {
        self.part = &self.quads[quads];
        self.inputs.begin(self.part, covered);
    }

    fn load(&mut self, temp: u8, channel: u8, lanes: &mut [f32]) {
        self.inputs.load(temp, channel, lanes);
    }

    fn store(&mut self, pixels: &QuadPixels<'_>) {
        self.writer.write(self.part, Shaded::Quads(pixels));
    }
}

/// A quad, of which a pixel is kept.
struct FragmentStream<'a> {
    inputs: Interpolator<'a>,
    quads: &'a QuadList,
    corner: usize,
    fragment: Option<Fragment>,
}

impl QuadStream for FragmentStream<'_> {
    fn begin(&mut self, quads: Range<usize>, covered: &mut [f32]) {
        self.inputs.begin(&self.quads[quads], covered);
    }

    fn load(&mut self, temp: u8, channel: u8, lanes: &mut [f32]) {
        self.inputs.load(temp, channel, lanes);
    }

    fn store(&mut self, pixels: &QuadPixels<'_>) {
        self.fragment = Some(Shaded::Quads(pixels).fragment(self.corner));
    }
}
