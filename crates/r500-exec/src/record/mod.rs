//! The run of a pixel, to walk through in either direction.
//!
//! A [`Recording`] holds the run of the pixels around one pixel, as the [reference
//! engine](crate::reference) makes it: which instruction each step executed, and checkpoints. From the
//! nearest checkpoint it goes to any step by running the engine again, so there is one machine, and
//! what a recording shows is what a frame holds. Time and memory are bounded: see [`Recording::new`].
//!
//! - [`Recording`]: record, seek, look.
//! - [`stepping`]: step over loops and calls, run to a breakpoint, in either direction.
//! - [`expr`]: what a breakpoint or a search asks of a pixel: typed expressions, without text.
//! - [`area`]: over an area: how much pixels execute and wait, which pixel first makes a condition
//!   true.
//!
//! Steps are numbered from 0. *Position* `n` is the snapshot before step `n`: `n` instructions were
//! executed. Position 0 is the start of the program, [`Recording::len`] its end.
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
//! // Where the program is, what it is about to do, what the pixel holds.
//! recording.seek(1);
//! assert_eq!(recording.now().address(), 1);
//! assert_eq!(recording.now().pixel().temps[0][0], 3.5 / 64.0);
//! let coming = recording.coming().and_then(|step| step.event.as_ref());
//! assert!(matches!(coming.map(|event| &event.kind), Some(EventKind::Alu { .. })));
//!
//! // Back, and what the picture holds.
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
use crate::reference::{Group, GroupState, Lane, LoopFrame, Step};
use crate::{Bindings, Draw, Op, Options, PixelOut, PixelRect, RunError, Shader};

/// What is recorded: a program, what it reads, and how it runs. Owned, so that a recording can be
/// kept.
#[derive(Clone)]
pub struct DrawSetup {
    /// The program.
    pub shader: Arc<Shader>,
    /// What it reads.
    pub bindings: Arc<Bindings>,
    /// How it runs. `area` and `progress` are not looked at.
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
    done: Option<Step>,
    coming: Option<(Step, GroupState)>,
}

/// How a recorded run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The program ended.
    Ended,
    /// A limit struck; everything before it is recorded.
    Stopped(RunError),
}

/// How much a pixel did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneActivity {
    /// Instructions that it executed.
    pub executed: u64,
    /// Instructions that its group executed while it slept.
    pub waited: u64,
}

/// A snapshot of a run: the group between two steps, and a pixel of it.
#[derive(Clone, Copy)]
pub struct Snapshot<'r> {
    setup: &'r DrawSetup,
    state: &'r GroupState,
    lane: usize,
    position: usize,
}

/// What is kept of every step.
#[derive(Clone, Copy, Debug)]
struct StepRecord {
    address: u32,
    /// Loops and calls that run before the step.
    loops: u16,
    calls: u16,
}

impl DrawSetup {
    /// A drawing of it without a time limit.
    fn draw(&self) -> Draw<'_> {
        let Self { shader, bindings, options } = self;
        Draw { shader, bindings, options, deadline: None }
    }

    /// The group of a pixel.
    fn group_rect(&self, [x, y]: [u32; 2]) -> PixelRect {
        let [width, height] = self.options.group;
        PixelRect { x: x - x % width, y: y - y % height, width, height }
    }
}

impl Recording {
    /// Runs a pixel's group ([`Options::group`] says how large it is) and keeps the run. The
    /// recording is at position 0 then.
    ///
    /// A run that [`Options::limits`] or [`Options::cancel`] stops is kept as far as it came
    /// ([`Self::end`]), so an endless program can be looked at.
    ///
    /// Memory: 8 bytes a step, of which [`Limits::instructions`](crate::Limits::instructions) allows so
    /// many, and 16 MiB of checkpoints, whatever the length of the run. Time to seek: at most the steps
    /// between two checkpoints, some hundred in a run of 100,000.
    ///
    /// # Errors
    /// [`RunError::OddGroup`], and [`RunError::AreaOutside`] if the pixel is outside the picture.
    pub fn new(mut setup: DrawSetup, pixel: [u32; 2]) -> Result<Self, RunError> {
        let [width, height] = setup.bindings.size();
        let [x, y] = pixel;
        if x >= width || y >= height {
            let area = PixelRect { x, y, width: 1, height: 1 };
            return Err(RunError::AreaOutside { area, width, height });
        }
        let draw = Draw::new(&setup.shader, &setup.bindings, &setup.options)?;
        let mut group = Group::new(&draw, setup.group_rect(pixel));
        let lane = group.lane_at(x, y).unwrap_or(0);
        let mut steps = Vec::new();
        let mut checkpoints = Checkpoints::default();
        let mut activity = vec![LaneActivity::default(); group.lanes().len()];
        let mut end = End::Ended;
        while !group.ended() {
            let state = group.state();
            checkpoints.offer(steps.len(), state);
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
        // What stopped the recording must not stop who looks at it.
        setup.options.cancel = None;
        setup.options.limits.time = None;
        let now = Group::new(&setup.draw(), last.rect()).into_state();
        let (position, done, coming) = (0, None, None);
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
            done,
            coming,
        };
        recording.look_ahead();
        Ok(recording)
    }

    /// What was recorded.
    #[must_use]
    pub fn setup(&self) -> &DrawSetup {
        &self.setup
    }

    /// Steps in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is no step: a limit of no instructions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How the run ended.
    #[must_use]
    pub fn end(&self) -> &End {
        &self.end
    }

    /// The address that each step executes, in order.
    pub fn addresses(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        self.steps.iter().map(|step| step.address)
    }

    /// How much each lane did.
    #[must_use]
    pub fn activity(&self) -> &[LaneActivity] {
        &self.activity
    }

    /// The group at the end of the run.
    #[must_use]
    pub fn last(&self) -> Snapshot<'_> {
        let Self { setup, last, lane, .. } = self;
        Snapshot { setup, state: last, lane: *lane, position: self.len() }
    }

    /// What the frame holds at the pixel: its outputs at the end of the run, nothing if it is not
    /// covered or was killed.
    #[must_use]
    pub fn delivered(&self) -> PixelOut {
        self.last().pixel().output().delivered()
    }

    /// Where it stands: this many steps were executed.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The group where it stands.
    #[must_use]
    pub fn now(&self) -> Snapshot<'_> {
        let Self { setup, now, lane, position, .. } = self;
        Snapshot { setup, state: now, lane: *lane, position: *position }
    }

    /// The group one step further; `None` at the end.
    #[must_use]
    pub fn after(&self) -> Option<Snapshot<'_>> {
        let (_, state) = self.coming.as_ref()?;
        Some(Snapshot { setup: &self.setup, state, lane: self.lane, position: self.position + 1 })
    }

    /// What the last step did to the pixel; `None` at the start.
    #[must_use]
    pub fn done(&self) -> Option<&Step> {
        self.done.as_ref()
    }

    /// What the coming step does to the pixel; `None` at the end.
    #[must_use]
    pub fn coming(&self) -> Option<&Step> {
        self.coming.as_ref().map(|(step, _)| step)
    }

    /// Looks at another pixel of the group; `false` and nothing changed if it is not in it.
    pub fn watch(&mut self, [x, y]: [u32; 2]) -> bool {
        let Some(lane) = self.now.lane_at(x, y) else { return false };
        if lane != self.lane {
            self.lane = lane;
            self.go(self.position);
        }
        true
    }

    /// Goes to a position; beyond the end is the end.
    pub fn seek(&mut self, position: usize) {
        let position = position.min(self.len());
        if position == self.position {
            return;
        }
        if position == self.position + 1
            && let Some((step, state)) = self.coming.take()
        {
            self.position = position;
            self.now = state;
            self.done = Some(step);
            self.look_ahead();
            return;
        }
        self.go(position);
    }

    /// Goes to a position by running from a checkpoint, or from here if that is nearer.
    fn go(&mut self, position: usize) {
        // The last step is watched.
        let before = position.saturating_sub(1);
        let (mut at, mut state) = self.checkpoint(before);
        if self.position <= before && self.position > at {
            (at, state) = (self.position, self.now.clone());
        }
        let draw = self.setup.draw();
        let mut group = Group::resume(&draw, state);
        while at < before {
            // It went well when it was recorded.
            if group.step().is_err() {
                break;
            }
            at += 1;
        }
        group.watch(Some(self.lane));
        self.done = if position > before { group.step().ok() } else { None };
        let now = group.into_state();
        self.now = now;
        self.position = position;
        self.look_ahead();
    }

    /// Finds out what the coming step does.
    fn look_ahead(&mut self) {
        self.coming = None;
        if self.position < self.len() {
            let draw = self.setup.draw();
            let mut group = Group::resume(&draw, self.now.clone());
            group.watch(Some(self.lane));
            if let Ok(step) = group.step() {
                self.coming = Some((step, group.into_state()));
            }
        }
    }

    /// The nearest checkpoint at or before a position.
    fn checkpoint(&self, position: usize) -> (usize, GroupState) {
        self.checkpoints
            .nearest(position, self.setup.options.poison)
            .unwrap_or_else(|| (0, Group::new(&self.setup.draw(), self.now.rect()).into_state()))
    }
}

impl<'r> Snapshot<'r> {
    /// Steps executed before it.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Absolute address of the instruction to come.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.state.address()
    }

    /// The instruction to come, decoded; `None` at the end and outside the code window.
    #[must_use]
    pub fn op(&self) -> Option<&'r Op> {
        if self.state.ended() { None } else { self.setup.shader.op(self.address()) }
    }

    /// The same as dwords.
    #[must_use]
    pub fn instruction(&self) -> Option<Instruction> {
        if self.state.ended() { None } else { self.setup.shader.instruction(self.address()) }
    }

    /// Everything that the group holds.
    #[must_use]
    pub fn state(&self) -> &'r GroupState {
        self.state
    }

    /// Which lane the pixel is.
    #[must_use]
    pub fn lane(&self) -> usize {
        self.lane
    }

    /// The pixel.
    #[must_use]
    pub fn pixel(&self) -> &'r Lane {
        &self.state.lanes()[self.lane]
    }

    /// Whether the pixel is active: it executes the instruction to come.
    #[must_use]
    pub fn active(&self) -> bool {
        self.pixel().executes(&self.setup.options.readings)
    }

    /// Which lanes are active, lane by lane: quad by quad, quads row by row.
    pub fn active_lanes(&self) -> impl ExactSizeIterator<Item = bool> + use<'r> {
        let setup = self.setup;
        self.state.lanes().iter().map(|lane| lane.executes(&setup.options.readings))
    }

    /// aL.
    #[must_use]
    pub fn al(&self) -> i32 {
        self.state.al(&self.setup.options.readings)
    }

    /// The running loops, innermost last.
    #[must_use]
    pub fn loops(&self) -> &'r [LoopFrame] {
        self.state.loops()
    }

    /// The address stack, top last.
    #[must_use]
    pub fn calls(&self) -> &'r [u32] {
        self.state.calls()
    }

    /// What is run.
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
