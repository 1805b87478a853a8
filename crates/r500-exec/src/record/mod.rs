//! Time-travel debugging: the recorded run of a pixel, forward and backward.
//!
//! A [`Recording`] holds the run of a pixel's group on the [reference engine](crate::reference): the instruction of each
//! step, and checkpoints. To reach a step it runs the engine again from the nearest checkpoint, so there is no second
//! interpreter, and a recording agrees with the frame. Time and memory are bounded: see [`Recording::new`].
//!
//! - [`Recording`]: record, seek, inspect.
//! - [`stepping`]: step over loops and calls, run to a breakpoint, in either direction.
//! - [`expr`]: typed expressions over a pixel's state, for breakpoints and searches; without a textual syntax.
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

use std::sync::Arc;

use r500_isa::Instruction;

use self::checkpoint::Checkpoints;
pub use self::expr::Expr;
pub use self::stepping::{Break, Direction, Stop};
use crate::reference::{Group, GroupState, Lane, Step};
use crate::{Bindings, Draw, Op, Options, PixelOut, PixelRect, RunError, Shader};

/// An owned draw: a program, its bindings and options. Owned, so that a recording can be stored.
#[derive(Clone)]
pub struct DrawSetup {
    /// The program.
    pub shader: Arc<Shader>,
    /// The data that it reads.
    pub bindings: Arc<Bindings>,
    /// The options of the run. `area` and `progress` are ignored.
    pub options: Options<'static>,
}

/// The recorded run of a pixel and of the pixels that share its program counter.
pub struct Recording {
    setup: DrawSetup,
    lane: usize,
    steps: Vec<StepRecord>,
    end: End,
    checkpoints: Checkpoints,
    activity: Vec<LaneActivity>,
    last: GroupState,
    position: usize,
    now: GroupState,
    last_step: Option<Step>,
    next_step: Option<(Step, GroupState)>,
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

/// A snapshot: the state of a group between two steps, from the view of one of its pixels.
#[derive(Clone, Copy)]
pub struct Snapshot<'r> {
    setup: &'r DrawSetup,
    state: &'r GroupState,
    lane: usize,
    position: usize,
}

/// The record of a step.
#[derive(Clone, Copy, Debug)]
struct StepRecord {
    address: u32,
    /// Number of running loops and calls before the step.
    loops: u16,
    calls: u16,
}

impl DrawSetup {
    /// Returns the draw without a time limit.
    fn draw(&self) -> Draw<'_> {
        let Self { shader, bindings, options } = self;
        Draw::recorded(shader, bindings, options)
    }

    /// Returns the pixels of the group that contains a pixel.
    fn group_rect(&self, [x, y]: [u32; 2]) -> PixelRect {
        let [width, height] = self.options.group;
        PixelRect { x: x - x % width, y: y - y % height, width, height }
    }
}

impl Recording {
    /// Runs a pixel's group (of [`Options::group`] pixels) and records the run. The recording is then at
    /// position 0.
    ///
    /// A run that [`Options::limits`] or [`Options::cancel`] stops is recorded up to that step ([`Self::end`]), so that
    /// an endless program can be inspected.
    ///
    /// Memory: 8 bytes a step, for at most [`Limits::instructions`](crate::Limits::instructions) steps, and
    /// 16 MiB of checkpoints for a run of any length. A seek runs at most the steps between two checkpoints,
    /// some hundred in a run of 100,000.
    ///
    /// # Errors
    /// [`RunError::OddGroup`] and [`RunError::Memory`], and [`RunError::AreaOutside`] if the pixel is outside the
    /// picture.
    pub fn new(mut setup: DrawSetup, pixel: [u32; 2]) -> Result<Self, RunError> {
        let [width, height] = setup.bindings.size();
        let [x, y] = pixel;
        if x >= width || y >= height {
            let area = PixelRect { x, y, width: 1, height: 1 };
            return Err(RunError::AreaOutside { area, width, height });
        }
        let draw = Draw::new(&setup.shader, &setup.bindings, &setup.options)?;
        let mut group = Group::new(&draw, setup.group_rect(pixel));
        let lane = group.state().lane_at(x, y).unwrap_or(0);
        let mut steps = Vec::new();
        let mut checkpoints = Checkpoints::default();
        let mut activity = vec![LaneActivity::default(); group.state().lanes().len()];
        let mut end = End::Ended;
        let limit = setup.options.limits.memory;
        while !group.ended() {
            let bytes = (steps.len() * size_of::<StepRecord>()) as u64;
            if bytes > limit {
                let what = format!("the record of {} steps", steps.len());
                end = End::Stopped(RunError::Memory { what, bytes, limit });
                break;
            }
            let state = group.state();
            checkpoints.store_if_due(steps.len(), state);
            let depth = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
            let step = StepRecord {
                address: state.address(),
                loops: depth(state.loops().len()),
                calls: depth(state.calls().len()),
            };
            let executing: Vec<bool> =
                state.lanes().iter().map(|lane| lane.executes(&setup.options.readings)).collect();
            if let Err(error) = group.step() {
                end = End::Stopped(error);
                break;
            }
            steps.push(step);
            for (activity, executes) in activity.iter_mut().zip(executing) {
                activity.count(executes);
            }
        }
        let last = group.into_state();
        // The limits that ended the recording must not apply to later seeks.
        setup.options.cancel = None;
        setup.options.limits.time = None;
        let now = Group::new(&setup.draw(), last.rect()).into_state();
        let (position, last_step, next_step) = (0, None, None);
        let mut recording = Self {
            setup,
            lane,
            steps,
            end,
            checkpoints,
            activity,
            last,
            position,
            now,
            last_step,
            next_step,
        };
        recording.precompute_next_step();
        Ok(recording)
    }

    /// Returns the recorded draw.
    #[must_use]
    pub fn setup(&self) -> &DrawSetup {
        &self.setup
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

    /// Returns the instruction counts of each lane.
    #[must_use]
    pub fn activity(&self) -> &[LaneActivity] {
        &self.activity
    }

    /// Returns the state at the end of the run.
    #[must_use]
    pub fn last(&self) -> Snapshot<'_> {
        let Self { setup, last, lane, .. } = self;
        Snapshot { setup, state: last, lane: *lane, position: self.len() }
    }

    /// Returns the pixel as a frame holds it: its outputs at the end of the run, 0 if it is not covered or was
    /// killed.
    #[must_use]
    pub fn delivered(&self) -> PixelOut {
        self.last().pixel().output().delivered()
    }

    /// Returns the current position: the number of executed steps.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the state at the current position.
    #[must_use]
    pub fn now(&self) -> Snapshot<'_> {
        let Self { setup, now, lane, position, .. } = self;
        Snapshot { setup, state: now, lane: *lane, position: *position }
    }

    /// Returns the state one step later; `None` at the end.
    #[must_use]
    pub fn after(&self) -> Option<Snapshot<'_>> {
        let (_, state) = self.next_step.as_ref()?;
        Some(Snapshot { setup: &self.setup, state, lane: self.lane, position: self.position + 1 })
    }

    /// Returns the last executed step with its effect on the pixel; `None` at the start.
    #[must_use]
    pub fn last_step(&self) -> Option<&Step> {
        self.last_step.as_ref()
    }

    /// Returns the next step with its effect on the pixel; `None` at the end.
    #[must_use]
    pub fn next_step(&self) -> Option<&Step> {
        self.next_step.as_ref().map(|(step, _)| step)
    }

    /// Selects another pixel of the group; returns `false` and changes nothing if it is not in the group.
    pub fn watch(&mut self, [x, y]: [u32; 2]) -> bool {
        let Some(lane) = self.now.lane_at(x, y) else { return false };
        if lane != self.lane {
            self.lane = lane;
            self.replay_to(self.position);
        }
        true
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
        let draw = self.setup.draw();
        let mut group = Group::resume(&draw, state);
        while at < before {
            // The step succeeded when it was recorded.
            if group.step().is_err() {
                break;
            }
            at += 1;
        }
        group.watch(Some(self.lane));
        self.last_step = if position > before { group.step().ok() } else { None };
        let now = group.into_state();
        self.now = now;
        self.position = position;
        self.precompute_next_step();
    }

    /// Executes the next step in advance, for [`next_step`](Self::next_step).
    fn precompute_next_step(&mut self) {
        self.next_step = None;
        if self.position < self.len() {
            let draw = self.setup.draw();
            let mut group = Group::resume(&draw, self.now.clone());
            group.watch(Some(self.lane));
            if let Ok(step) = group.step() {
                self.next_step = Some((step, group.into_state()));
            }
        }
    }

    /// Returns the nearest checkpoint at or before a position.
    fn checkpoint(&self, position: usize) -> (usize, GroupState) {
        self.checkpoints
            .nearest(position, self.setup.options.poison)
            .unwrap_or_else(|| (0, Group::new(&self.setup.draw(), self.now.rect()).into_state()))
    }
}

impl<'r> Snapshot<'r> {
    /// Returns the number of executed steps.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the absolute address of the next instruction.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.state.address()
    }

    /// Returns the next instruction, decoded; `None` at the end and outside the code window. For this project's tracers.
    #[doc(hidden)]
    #[must_use]
    pub fn op(&self) -> Option<&'r Op> {
        if self.state.ended() { None } else { self.setup.shader.op(self.address()) }
    }

    /// Returns the next instruction; `None` at the end and outside the code window.
    #[must_use]
    pub fn instruction(&self) -> Option<Instruction> {
        if self.state.ended() { None } else { self.setup.shader.instruction(self.address()) }
    }

    /// Returns the state of the group.
    #[must_use]
    pub fn state(&self) -> &'r GroupState {
        self.state
    }

    /// Returns the lane of the pixel.
    #[must_use]
    pub fn lane(&self) -> usize {
        self.lane
    }

    /// Returns the pixel.
    #[must_use]
    pub fn pixel(&self) -> &'r Lane {
        &self.state.lanes()[self.lane]
    }

    /// Returns whether the pixel is active: it executes the next instruction.
    #[must_use]
    pub fn active(&self) -> bool {
        self.pixel().executes(&self.setup.options.readings)
    }

    /// Returns which lanes are active, in lane order: quad by quad, quads row by row.
    pub fn active_lanes(&self) -> impl ExactSizeIterator<Item = bool> + use<'r> {
        let setup = self.setup;
        self.state.lanes().iter().map(|lane| lane.executes(&setup.options.readings))
    }

    /// Returns aL.
    #[must_use]
    pub fn al(&self) -> i32 {
        self.state.al(&self.setup.options.readings)
    }

    /// Returns the draw.
    #[must_use]
    pub fn setup(&self) -> &'r DrawSetup {
        self.setup
    }
}

impl LaneActivity {
    fn count(&mut self, executes: bool) {
        *if executes { &mut self.executed } else { &mut self.waited } += 1;
    }
}
