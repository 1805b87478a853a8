//! The machine of a pixel: its group on the reference engine.

use std::sync::Arc;

use r500_isa::{CONSTANTS, Instruction, TARGETS, TEMPORARIES};

use super::expr::{Channels, Operand, Value};
use super::{Machine, Snapshot};
use crate::reference::{Group, GroupState, Lane, Step};
use crate::{Bindings, Draw, Op, Options, PixelRect, RunError, Shader};

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

/// The group of a pixel: the pixels of a draw that share a program counter, from the view of one of them.
#[derive(Clone)]
pub struct PixelGroup {
    setup: DrawSetup,
    rect: PixelRect,
    lane: usize,
    /// Whether the limits of time and cancellation apply.
    limited: bool,
}

/// A part of the state of a pixel or its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A temporary, 0 to 127.
    Temp(u8, Channels),
    /// A float constant; 0 if it is not bound.
    Const(u8, Channels),
    /// An output as last written, 0 (A) to 3 (D); 0 if never written.
    Out(u8, Channels),
    /// Depth as last written; 0 if never written.
    Depth,
    /// Predicate bits, booleans.
    Predicate(Channels),
    /// The ALU result, a boolean.
    AluResult,
    /// Whether the pixel executes the next instruction, a boolean.
    Active,
    /// Whether the rasteriser covers it and it was not killed, a boolean.
    Covered,
    /// Whether it was killed, a boolean.
    Killed,
    /// aL.
    Al,
    /// Address of the next instruction.
    Address,
    /// Number of executed steps.
    Step,
    /// Number of running loops.
    Loops,
    /// Remaining iterations of the innermost loop, including the running one; 0 outside.
    Iterations,
    /// Number of addresses on the address stack.
    Calls,
    /// The pixel's column.
    X,
    /// The pixel's row, from the bottom.
    Y,
}

impl DrawSetup {
    /// Returns the draw without a time limit.
    pub(super) fn draw(&self) -> Draw<'_> {
        let Self { shader, bindings, options } = self;
        Draw::recorded(shader, bindings, options)
    }

    /// Returns the pixels of the group that contains a pixel.
    pub(super) fn group_rect(&self, [x, y]: [u32; 2]) -> PixelRect {
        let [width, height] = self.options.group;
        PixelRect { x: x - x % width, y: y - y % height, width, height }
    }
}

impl PixelGroup {
    /// Returns the group of a pixel.
    ///
    /// # Errors
    /// [`RunError::OddGroup`] and [`RunError::Memory`], and [`RunError::AreaOutside`] if the pixel is outside the
    /// picture.
    pub(super) fn new(setup: DrawSetup, pixel: [u32; 2]) -> Result<Self, RunError> {
        let [width, height] = setup.bindings.size();
        let [x, y] = pixel;
        if x >= width || y >= height {
            let area = PixelRect { x, y, width: 1, height: 1 };
            return Err(RunError::AreaOutside { area, width, height });
        }
        Draw::new(&setup.shader, &setup.bindings, &setup.options)?;
        let rect = setup.group_rect(pixel);
        let mut group = Self::of_lane(setup, rect, 0);
        group.lane = group.start().lane_at(x, y).unwrap_or(0);
        Ok(group)
    }

    /// Returns a group from the view of a lane.
    pub(super) fn of_lane(setup: DrawSetup, rect: PixelRect, lane: usize) -> Self {
        Self { setup, rect, lane, limited: true }
    }

    /// Selects another lane.
    pub(super) fn set_lane(&mut self, lane: usize) {
        self.lane = lane;
    }

    /// Returns the draw.
    #[must_use]
    pub fn setup(&self) -> &DrawSetup {
        &self.setup
    }

    /// Returns the lane of the pixel.
    pub(super) fn lane(&self) -> usize {
        self.lane
    }

    fn draw(&self) -> Result<Draw<'_>, RunError> {
        match self.limited {
            true => Draw::new(&self.setup.shader, &self.setup.bindings, &self.setup.options),
            false => Ok(self.setup.draw()),
        }
    }

    fn executes(&self, lane: &Lane) -> bool {
        lane.executes(&self.setup.options.readings)
    }
}

impl Machine for PixelGroup {
    type State = GroupState;
    type Step = Step;
    type Variable = Variable;

    fn start(&self) -> GroupState {
        Group::new(&self.setup.draw(), self.rect).into_state()
    }

    fn ended(&self, state: &GroupState) -> bool {
        state.ended()
    }

    fn address(&self, state: &GroupState) -> u32 {
        state.address()
    }

    fn depth(&self, state: &GroupState) -> usize {
        state.loops().len() + state.calls().len()
    }

    fn active(&self, state: &GroupState) -> bool {
        self.executes(&state.lanes()[self.lane])
    }

    fn executing(&self, state: &GroupState) -> Vec<bool> {
        state.lanes().iter().map(|lane| self.executes(lane)).collect()
    }

    fn execute(
        &self,
        state: GroupState,
        mut go_on: impl FnMut(&GroupState) -> bool,
    ) -> (GroupState, Result<(), RunError>) {
        let draw = match self.draw() {
            Ok(draw) => draw,
            Err(error) => return (state, Err(error)),
        };
        let mut group = Group::resume(&draw, state);
        while !group.ended() {
            if let Err(error) = group.step() {
                return (group.into_state(), Err(error));
            }
            if !go_on(group.state()) {
                break;
            }
        }
        (group.into_state(), Ok(()))
    }

    fn observe(&self, state: GroupState) -> (GroupState, Result<Step, RunError>) {
        let draw = self.setup.draw();
        let mut group = Group::resume(&draw, state);
        group.watch(Some(self.lane));
        let step = group.step();
        (group.into_state(), step)
    }

    fn value(now: &Snapshot<'_, Self>, variable: &Variable) -> Value {
        let pixel = now.pixel();
        let count = |n: usize| Value::number(n as f32);
        match *variable {
            Variable::Temp(n, channels) => {
                let temp = usize::from(n) % TEMPORARIES;
                channels.numbers(pixel.temps.get(temp).copied().unwrap_or_default())
            }
            Variable::Const(n, channels) => {
                let constant = usize::from(n) % CONSTANTS;
                channels.numbers(now.setup().bindings.constant(constant).unwrap_or_default())
            }
            Variable::Out(n, channels) => channels.numbers(pixel.color[usize::from(n) % TARGETS]),
            Variable::Depth => Value::number(pixel.depth.unwrap_or(0.0)),
            Variable::Predicate(channels) => channels.bits(pixel.predicate),
            Variable::AluResult => Value::bool(pixel.alu_result),
            Variable::Active => Value::bool(now.active()),
            Variable::Covered => Value::bool(pixel.covered),
            Variable::Killed => Value::bool(pixel.killed),
            Variable::Al => Value::number(now.al() as f32),
            Variable::Address => Value::number(now.address() as f32),
            Variable::Step => count(now.position()),
            Variable::Loops => count(now.state().loops().len()),
            Variable::Iterations => {
                Value::number(now.state().loops().last().map_or(0, |frame| frame.count) as f32)
            }
            Variable::Calls => count(now.state().calls().len()),
            Variable::X => Value::number(pixel.x as f32),
            Variable::Y => Value::number(pixel.y as f32),
        }
    }

    fn memory_limit(&self) -> u64 {
        self.setup.options.limits.memory
    }

    fn lift_limits(&mut self) {
        self.limited = false;
        self.setup.options.cancel = None;
        self.setup.options.limits.time = None;
    }

    fn compact(&self, state: &GroupState) -> GroupState {
        state.compact()
    }

    fn expand(&self, state: &mut GroupState) {
        state.expand(self.setup.options.poison);
    }

    fn bytes(&self, state: &GroupState) -> usize {
        state.bytes()
    }
}

impl Operand for Variable {
    fn is_bool(&self) -> bool {
        matches!(
            self,
            Self::Predicate(_) | Self::AluResult | Self::Active | Self::Covered | Self::Killed
        )
    }

    fn width(&self) -> usize {
        match self {
            Self::Temp(_, channels)
            | Self::Const(_, channels)
            | Self::Out(_, channels)
            | Self::Predicate(channels) => channels.iter().len(),
            _ => 1,
        }
    }
}

impl<'r> Snapshot<'r> {
    /// Returns the next instruction, decoded; `None` at the end and outside the code window. For this project's tracers.
    #[doc(hidden)]
    #[must_use]
    pub fn op(&self) -> Option<&'r Op> {
        if self.ended() { None } else { self.setup().shader.op(self.address()) }
    }

    /// Returns the next instruction; `None` at the end and outside the code window.
    #[must_use]
    pub fn instruction(&self) -> Option<Instruction> {
        if self.ended() { None } else { self.setup().shader.instruction(self.address()) }
    }

    /// Returns the lane of the pixel.
    #[must_use]
    pub fn lane(&self) -> usize {
        self.machine().lane
    }

    /// Returns the pixel.
    #[must_use]
    pub fn pixel(&self) -> &'r Lane {
        &self.state().lanes()[self.lane()]
    }

    /// Returns which lanes are active, in lane order: quad by quad, quads row by row.
    pub fn active_lanes(&self) -> impl ExactSizeIterator<Item = bool> + use<'r> {
        let machine = self.machine();
        self.state().lanes().iter().map(|lane| machine.executes(lane))
    }

    /// Returns aL.
    #[must_use]
    pub fn al(&self) -> i32 {
        self.state().al(&self.setup().options.readings)
    }

    /// Returns the draw.
    #[must_use]
    pub fn setup(&self) -> &'r DrawSetup {
        &self.machine().setup
    }
}
