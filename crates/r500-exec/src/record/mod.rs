//! Time-travel debugging: the recorded run of a pixel, forward and backward.
//!
//! A [`Recording`] holds the run of a [`Machine`]: the instruction of each step, and checkpoints. To reach a step it runs the
//! machine again from the nearest checkpoint, so there is no second interpreter, and a recording agrees with the frame. Time and
//! memory are bounded: see [`Recording::of`]. The machine of a pixel is its [group](PixelGroup) on the
//! [reference engine](crate::reference).
//!
//! - [`Recording`]: record, seek, inspect.
//! - [`Machine`]: what is recorded.
//! - [`stepping`]: step over loops and calls, run to a breakpoint, in either direction.
//! - [`expr`]: typed expressions over a machine's state, for breakpoints and searches; without a textual syntax.
//! - [`area`]: execution counts and first hits of a condition over an area.
//!
//! Steps are numbered from 0. *Position* `n` is the state before step `n`, after `n` executed instructions.
//! Position 0 is the start of the program, [`Recording::len`] its end.
//!
//! ```
//! use std::sync::Arc;
//!
//! use r500_exec::record::{Direction, Recording, DrawSetup};
//! use r500_exec::reference::EventKind;
//! use r500_exec::{Bindings, Options, Shader};
//! use r500_isa::Instruction;
//! use r500_program::{Job, Program};
//!
//! // temp[1].r = 0.5; out[0].rgb = temp[0], out[0].a = 1
//! let code = vec![
//!     Instruction([0x800, 0, 0x80, 0x00db_0b00, 0x00c1_8003, 0x0049_0010]),
//!     Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000]),
//! ];
//! let job = Job::from_program(Program::from_code(code));
//! let setup = DrawSetup {
//!     shader: Arc::new(Shader::new(&job.program)?),
//!     bindings: Arc::new(Bindings::new(&job, [64, 64])?),
//!     options: Options::default(),
//! };
//! let mut recording = Recording::new(setup, [3, 5])?;
//! assert_eq!(recording.len(), 2);
//!
//! // The address, the next instruction, the pixel's state.
//! recording.seek(1);
//! assert_eq!(recording.now().address(), 1);
//! assert_eq!(recording.now().pixel().temps[0][0], 3.5 / 64.0);
//! let next_step = recording.next_step().and_then(|step| step.event.as_ref());
//! assert!(matches!(next_step.map(|event| &event.kind), Some(EventKind::Alu { .. })));
//!
//! // One step back; the pixel of the finished picture.
//! recording.step(Direction::Backward);
//! assert_eq!(recording.position(), 0);
//! assert_eq!(recording.delivered().color[0], [3.5 / 64.0, 5.5 / 64.0, 0.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod area;
pub mod expr;
pub mod stepping;

mod checkpoint;
mod machine;
mod pixel;

use self::checkpoint::Checkpoints;
pub use self::machine::Machine;
pub use self::pixel::{DrawSetup, PixelGroup, Variable};
pub use self::stepping::{Break, Direction, Stop};
use crate::{PixelOut, RunError};

/// An expression, by default over the state of a pixel.
pub type Expr<V = Variable> = expr::Expr<V>;

/// The recorded run of a machine, by default of a pixel and of the pixels that share its program counter.
pub struct Recording<M: Machine = PixelGroup> {
    machine: M,
    steps: Vec<StepRecord>,
    end: End,
    checkpoints: Checkpoints<M::State>,
    activity: Vec<LaneActivity>,
    last: M::State,
    position: usize,
    now: M::State,
    last_step: Option<M::Step>,
    next_step: Option<(M::Step, M::State)>,
}

/// How a recorded run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The program ended.
    Ended,
    /// A limit was exceeded; everything before it is recorded.
    Stopped(RunError),
}

/// Instruction counts of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneActivity {
    /// Instructions that the lane executed.
    pub executed: u64,
    /// Instructions that its group executed while the lane was inactive.
    pub waited: u64,
}

/// A snapshot: the state of a machine between two steps.
pub struct Snapshot<'r, M: Machine = PixelGroup> {
    machine: &'r M,
    state: &'r M::State,
    position: usize,
}

impl<M: Machine> Clone for Snapshot<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Copy for Snapshot<'_, M> {}

/// The record of a step.
#[derive(Clone, Copy, Debug)]
struct StepRecord {
    address: u32,
    /// Number of running loops and calls before the step.
    depth: u32,
}

impl StepRecord {
    /// Returns the record of the step from a state.
    fn of<M: Machine>(machine: &M, state: &M::State) -> Self {
        let depth = u32::try_from(machine.depth(state)).unwrap_or(u32::MAX);
        Self { address: machine.address(state), depth }
    }
}

impl Recording {
    /// Runs a pixel's group (of [`Options::group`](crate::Options::group) pixels) and records the run, as [`Recording::of`] does.
    ///
    /// # Errors
    /// [`RunError::OddGroup`] and [`RunError::Memory`], and [`RunError::AreaOutside`] if the pixel is outside the
    /// picture.
    pub fn new(setup: DrawSetup, pixel: [u32; 2]) -> Result<Self, RunError> {
        PixelGroup::new(setup, pixel).map(Self::of)
    }

    /// Returns the recorded draw.
    #[must_use]
    pub fn setup(&self) -> &DrawSetup {
        self.machine.setup()
    }

    /// Returns the pixel as a frame holds it: its outputs at the end of the run, 0 if it is not covered or was
    /// killed.
    #[must_use]
    pub fn delivered(&self) -> PixelOut {
        self.last().pixel().output().delivered()
    }

    /// Selects another pixel of the group; returns `false` and changes nothing if it is not in the group.
    pub fn watch(&mut self, [x, y]: [u32; 2]) -> bool {
        let Some(lane) = self.now.lane_at(x, y) else { return false };
        if lane != self.machine.lane() {
            self.machine.set_lane(lane);
            self.replay_to(self.position);
        }
        true
    }
}

impl<M: Machine> Recording<M> {
    /// Runs a machine and records the run. The recording is then at position 0.
    ///
    /// A run that a limit of the machine stops is recorded up to that step ([`Self::end`]), so that an endless program can be
    /// inspected.
    ///
    /// Memory: 8 bytes a step, within the machine's limit, and 16 MiB of checkpoints for a run of any length. A seek runs at
    /// most the steps between two checkpoints, some hundred in a run of 100,000.
    #[must_use]
    pub fn of(mut machine: M) -> Self {
        let start = machine.start();
        let mut steps = Vec::new();
        let mut checkpoints = Checkpoints::default();
        let mut executing = machine.executing(&start);
        let mut activity = vec![LaneActivity::default(); executing.len()];
        let mut next = StepRecord::of(&machine, &start);
        let mut end = End::Ended;
        let limit = machine.memory_limit();
        checkpoints.store_if_due(0, || compact(&machine, &start));
        let (last, result) = machine.execute(start.clone(), |state| {
            steps.push(next);
            for (activity, executes) in activity.iter_mut().zip(&executing) {
                activity.count(*executes);
            }
            if machine.ended(state) {
                return true;
            }
            let bytes = (steps.len() * size_of::<StepRecord>()) as u64;
            if bytes > limit {
                let what = format!("the record of {} steps", steps.len());
                end = End::Stopped(RunError::Memory { what, bytes, limit });
                return false;
            }
            next = StepRecord::of(&machine, state);
            executing = machine.executing(state);
            checkpoints.store_if_due(steps.len(), || compact(&machine, state));
            true
        });
        if let Err(error) = result {
            end = End::Stopped(error);
        }
        machine.lift_limits();
        let mut recording = Self {
            machine,
            steps,
            end,
            checkpoints,
            activity,
            last,
            position: 0,
            now: start,
            last_step: None,
            next_step: None,
        };
        recording.precompute_next_step();
        recording
    }

    /// Returns the recorded machine.
    #[must_use]
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether there is no step, for example with an instruction limit of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns how the run ended.
    #[must_use]
    pub fn end(&self) -> &End {
        &self.end
    }

    /// Returns the address of each step, in order.
    pub fn addresses(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        self.steps.iter().map(|step| step.address)
    }

    /// Returns the instruction counts of each lane: of all that share the program counter.
    #[must_use]
    pub fn activity(&self) -> &[LaneActivity] {
        &self.activity
    }

    /// Returns the state at the end of the run.
    #[must_use]
    pub fn last(&self) -> Snapshot<'_, M> {
        self.snapshot(self.len(), &self.last)
    }

    /// Returns the current position: the number of executed steps.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the state at the current position.
    #[must_use]
    pub fn now(&self) -> Snapshot<'_, M> {
        self.snapshot(self.position, &self.now)
    }

    /// Returns the state one step later; `None` at the end.
    #[must_use]
    pub fn after(&self) -> Option<Snapshot<'_, M>> {
        let (_, state) = self.next_step.as_ref()?;
        Some(self.snapshot(self.position + 1, state))
    }

    /// Returns the last executed step with its effect; `None` at the start.
    #[must_use]
    pub fn last_step(&self) -> Option<&M::Step> {
        self.last_step.as_ref()
    }

    /// Returns the next step with its effect; `None` at the end.
    #[must_use]
    pub fn next_step(&self) -> Option<&M::Step> {
        self.next_step.as_ref().map(|(step, _)| step)
    }

    /// Moves to a position, at most to the end.
    pub fn seek(&mut self, position: usize) {
        let position = position.min(self.len());
        if position == self.position {
            return;
        }
        if position == self.position + 1
            && let Some((step, state)) = self.next_step.take()
        {
            self.position = position;
            self.now = state;
            self.last_step = Some(step);
            self.precompute_next_step();
            return;
        }
        self.replay_to(position);
    }

    /// Moves to a position by running from a checkpoint, or from the current position if that is nearer.
    fn replay_to(&mut self, position: usize) {
        // The last step is run with event tracing.
        let before = position.saturating_sub(1);
        let (mut at, mut state) = self.checkpoint(before);
        if self.position <= before && self.position > at {
            (at, state) = (self.position, self.now.clone());
        }
        let state = self.advance(state, at, before);
        (self.now, self.last_step) = if position > before {
            let (state, step) = self.machine.observe(state);
            (state, step.ok())
        } else {
            (state, None)
        };
        self.position = position;
        self.precompute_next_step();
    }

    /// Executes the steps from one position to another. They succeeded when they were recorded.
    fn advance(&self, state: M::State, from: usize, to: usize) -> M::State {
        if from >= to {
            return state;
        }
        let mut at = from;
        let (state, _) = self.machine.execute(state, |_| {
            at += 1;
            at < to
        });
        state
    }

    /// Executes the next step in advance, for [`next_step`](Self::next_step).
    fn precompute_next_step(&mut self) {
        self.next_step = None;
        if self.position < self.len() {
            let (state, step) = self.machine.observe(self.now.clone());
            self.next_step = step.ok().map(|step| (step, state));
        }
    }

    /// Returns the nearest checkpoint at or before a position.
    fn checkpoint(&self, position: usize) -> (usize, M::State) {
        let Some((at, state)) = self.checkpoints.nearest(position) else {
            return (0, self.machine.start());
        };
        let mut state = state.clone();
        self.machine.expand(&mut state);
        (at, state)
    }

    fn snapshot<'r>(&'r self, position: usize, state: &'r M::State) -> Snapshot<'r, M> {
        Snapshot { machine: &self.machine, state, position }
    }
}

/// Returns a state for a checkpoint, with its size in bytes.
fn compact<M: Machine>(machine: &M, state: &M::State) -> (M::State, usize) {
    let state = machine.compact(state);
    let bytes = machine.bytes(&state);
    (state, bytes)
}

impl<'r, M: Machine> Snapshot<'r, M> {
    /// Returns the number of executed steps.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the address of the next instruction; for pixels, an absolute one.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.machine.address(self.state)
    }

    /// Returns whether the program has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.machine.ended(self.state)
    }

    /// Returns whether the pixel or vertex is active: it executes the next instruction.
    #[must_use]
    pub fn active(&self) -> bool {
        self.machine.active(self.state)
    }

    /// Returns the machine.
    #[must_use]
    pub fn machine(&self) -> &'r M {
        self.machine
    }

    /// Returns the state of the machine.
    #[must_use]
    pub fn state(&self) -> &'r M::State {
        self.state
    }
}

impl LaneActivity {
    fn count(&mut self, executes: bool) {
        *if executes { &mut self.executed } else { &mut self.waited } += 1;
    }
}
