//! A group of pixels with one program counter, and one step of its program.

use super::event::{Event, EventKind};
use super::lane::Lane;
use super::state::{Fetches, GroupState};
use crate::numerics::Arith;
use crate::reading::{LeftWindow, OutsidePixels};
use crate::warning::WarningKind;
use crate::{Counters, Draw, Op, PixelRect, RunError, RuntimeWarnings};

/// Lane instructions between two readings of the clock.
const CLOCK: u64 = 16 * 1024;

/// A group of pixels that share a program counter, and their execution state.
///
/// Lane order: quad by quad, quads row by row; within a quad top left, top right, bottom left, bottom
/// right, "top" being the row with the smaller y (observed: the sign of derivatives).
///
/// ```
/// # use r500_exec::{Bindings, PixelRect, Draw, Options, Shader, reference::Group};
/// # use r500_isa::Instruction;
/// # use r500_program::{Job, Program};
/// # let job = Job::from_program(Program::from_code(vec![Instruction([1, 0, 0, 0, 0, 0])]));
/// # let shader = Shader::new(&job.program)?;
/// # let bindings = Bindings::new(&job, [4, 4])?;
/// let options = Options::default();
/// let draw = Draw::new(&shader, &bindings, &options)?;
/// let mut group = Group::new(&draw, PixelRect { x: 0, y: 0, width: 4, height: 4 });
/// group.watch(group.state().lane_at(2, 1));
/// while !group.ended() {
///     let step = group.step()?;
///     println!("{}: {:?}", step.address, step.event);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Group<'a> {
    pub(super) draw: Draw<'a>,
    pub(super) arith: Arith,
    pub(super) state: GroupState,
    watched: Option<usize>,
    pub(super) event: Option<Event>,
}

/// One executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its absolute address.
    pub address: u32,
    /// Its effect on the watched pixel, if there is one.
    pub event: Option<Event>,
}

impl<'a> Group<'a> {
    /// Returns the pixels of a rectangle at the start of their program. An odd width or height is rounded up
    /// to complete quads.
    #[doc(hidden)]
    #[must_use]
    pub fn new(draw: &Draw<'a>, rect: PixelRect) -> Self {
        let (columns, rows) = (rect.width.div_ceil(2), rect.height.div_ceil(2));
        let rect = PixelRect { width: columns * 2, height: rows * 2, ..rect };
        let quads = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let lanes = quads
            .flat_map(|(column, row)| {
                // Saturate: no picture has pixels beyond the largest coordinate.
                let add = u32::saturating_add;
                let (x, y) = (add(rect.x, column * 2), add(rect.y, row * 2));
                [(x, y), (add(x, 1), y), (x, add(y, 1)), (add(x, 1), add(y, 1))]
            })
            .map(|(x, y)| Lane::new(draw, x, y))
            .collect();
        let state = GroupState {
            rect,
            lanes,
            pc: draw.shader.start(),
            loops: Vec::new(),
            calls: Vec::new(),
            last_al: 0,
            fetches: Fetches::default(),
            ended: false,
            warnings: RuntimeWarnings::default(),
            counters: Counters::default(),
        };
        Self::resume(draw, state)
    }

    /// Resumes from a state of a group of the same draw. No pixel is watched.
    #[doc(hidden)]
    #[must_use]
    pub fn resume(draw: &Draw<'a>, state: GroupState) -> Self {
        let arith = draw.options.readings.arith(draw.shader.zero_rule());
        Self { draw: *draw, arith, state, watched: None, event: None }
    }

    /// Returns its state between two steps.
    #[must_use]
    pub fn state(&self) -> &GroupState {
        &self.state
    }

    /// Returns its state, for example to [resume](Self::resume) later.
    #[must_use]
    pub fn into_state(self) -> GroupState {
        self.state
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    pub fn run(&mut self) -> Result<(), RunError> {
        while !self.state.ended {
            self.step()?;
        }
        Ok(())
    }

    /// Executes one instruction; does nothing once the program has ended.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    pub fn step(&mut self) -> Result<Step, RunError> {
        let address = self.state.pc;
        self.event = None;
        if self.state.ended {
            return Ok(Step { address, event: None });
        }
        let Some(op) = self.draw.shader.op(address) else {
            // Open: the documents do not define a program counter outside the window.
            self.handle_window_exit(address);
            return Ok(Step { address, event: None });
        };
        self.consume_fuel(address)?;
        if self.watched.is_some() {
            self.begin_event(address);
        }
        if op.tex_sem_wait() {
            self.state.fetches.wait();
        }
        self.state.pc = address.wrapping_add(1);
        match op {
            Op::Alu(alu) => self.alu(address, alu),
            Op::Tex(tex) => self.tex(address, tex),
            Op::Fc(fc) => self.flow(address, fc),
        }
        if address == self.draw.shader.end() {
            // Documented: the program ends after END_ADDR, whatever its instruction is.
            self.state.ended = true;
        }
        Ok(Step { address, event: self.event.take() })
    }

    /// Returns whether the program has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.state.ended
    }

    /// Returns aL: that of the innermost loop, 0 outside all loops (open).
    #[must_use]
    pub fn al(&self) -> i32 {
        self.state.al(&self.draw.options.readings)
    }

    /// Selects the lane whose events later steps report ([`Step::event`]).
    pub fn watch(&mut self, lane: Option<usize>) {
        self.watched = lane.filter(|&lane| lane < self.state.lanes.len());
    }

    /// Returns whether a lane executes the next instruction.
    pub(super) fn executes(&self, lane: &Lane) -> bool {
        lane.executes(&self.draw.options.readings)
    }

    /// Returns whether a lane votes on an instruction with the given `IGNORE_UNCOVERED`.
    pub(super) fn votes(&self, lane: &Lane, ignore_uncovered: bool) -> bool {
        let absent =
            !lane.inside && self.draw.options.readings.outside_pixels == OutsidePixels::Absent;
        (lane.covered || !ignore_uncovered) && !absent
    }

    /// Returns the event of a lane, if that lane is watched.
    pub(super) fn event_of(&mut self, lane: usize) -> Option<&mut Event> {
        if self.watched == Some(lane) { self.event.as_mut() } else { None }
    }

    /// Adds a warning for a lane. Lanes outside the picture cause no warnings, because their inputs are not
    /// under the program's control.
    pub(super) fn warn(&mut self, lane: usize, kind: WarningKind, address: u32, detail: i32) {
        if !self.draw.options.warnings {
            return;
        }
        if let Some(lane) = self.state.lanes.get(lane).filter(|lane| lane.inside) {
            self.state.warnings.add(kind, address, [lane.x, lane.y], detail);
        }
    }

    /// Adds a warning for the whole group.
    pub(super) fn warn_group(&mut self, kind: WarningKind, address: u32, detail: i32) {
        if self.draw.options.warnings {
            self.state.warnings.add(kind, address, [self.state.rect.x, self.state.rect.y], detail);
        }
    }

    fn begin_event(&mut self, address: u32) {
        let active = self
            .watched
            .and_then(|i| self.state.lanes.get(i))
            .is_some_and(|lane| self.executes(lane));
        let kind = EventKind::Skipped;
        self.event = Some(Event { address, active, kind, writes: Vec::new() });
    }

    fn handle_window_exit(&mut self, address: u32) {
        self.warn_group(WarningKind::LeftWindow, address, saturate(address));
        let (first, last) = self.draw.shader.window().addresses();
        match self.draw.options.readings.left_window {
            LeftWindow::End => self.state.ended = true,
            LeftWindow::Wrap => self.state.pc = if address > last { first } else { last },
        }
    }

    fn consume_fuel(&mut self, address: u32) -> Result<(), RunError> {
        let limit = self.draw.options.limits.instructions;
        if self.state.counters.instructions >= limit {
            let pixel = [self.state.rect.x, self.state.rect.y];
            return Err(RunError::Instructions { address, pixel, limit });
        }
        // An instruction of a large group takes as long as many of a small one.
        let interval = (CLOCK / self.state.lanes.len().max(1) as u64).max(1);
        if self.state.counters.instructions.is_multiple_of(interval) {
            self.draw.check()?;
        }
        self.state.counters.instructions += 1;
        Ok(())
    }
}

/// Converts a number for [`RuntimeWarning::detail`](crate::RuntimeWarning::detail).
pub(super) fn saturate(n: impl TryInto<i32>) -> i32 {
    n.try_into().unwrap_or(i32::MAX)
}
