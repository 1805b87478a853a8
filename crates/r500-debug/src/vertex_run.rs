//! The run of a vertex as a machine that is recorded, and the words of expressions over it.
//!
//! ```
//! use r500_exec::record::{Break, Direction, Recording, Stop};
//! use r500_pvs::Source;
//! use r500_debug::vertex_run::{VertexMachine, VertexSetup};
//!
//! let text = "temp[0].x = VE_ADD input[0].x___ input[0].x___ ; out[0].xyzw = VE_ADD temp[0].xxxx temp[0].0000 ;";
//! let source = Source::parse(text, &mut |_| Err(String::new())).unwrap();
//! let mut setup = VertexSetup::new(source.program);
//! setup.inputs[0] = [2.0, 0.0, 0.0, 1.0];
//!
//! let mut recording = Recording::of(VertexMachine::new(setup));
//! let four = r500_debug::expression::parse_condition("temp[0].x == 4", &[])?;
//! assert_eq!(recording.run(Direction::Forward, &[Break::If(four)]), Stop::Break(0));
//! assert_eq!((recording.position(), recording.len()), (1, 2));
//! # Ok::<(), r500_debug::expression::ExpressionError>(())
//! ```

use std::time::Instant;

use r500_exec::record::expr::{Channels, Operand, Value};
use r500_exec::record::{Machine, Snapshot};
use r500_exec::{Limits, RunError};
use r500_pvs::{
    ALT_TEMPORARIES, CONSTANTS, INPUTS, Instruction, Interpreter, OUTPUTS, Program, Running, Step,
    TEMPORARIES, VertexState, WrittenRegisters,
};

use crate::expression::{Bank, Vector, Vocabulary};

/// A vertex program with all that it reads.
#[derive(Clone, Debug)]
pub struct VertexSetup {
    /// The program.
    pub program: Program,
    /// Constant memory, as [`Program::constant_memory`] returns it.
    pub constants: Vec<[f32; 4]>,
    /// The inputs of the vertex.
    pub inputs: [[f32; 4]; INPUTS],
    /// The limits of the run.
    pub limits: Limits,
}

/// The program of a vertex, which [`Recording::of`](r500_exec::record::Recording::of) records.
#[derive(Clone, Debug)]
pub struct VertexMachine {
    setup: VertexSetup,
    interpreter: Interpreter,
    /// Whether the limit of time applies.
    limited: bool,
}

/// The state of a vertex between two steps.
#[derive(Clone, Debug)]
pub struct VertexRunState {
    vertex: VertexState,
    written: WrittenRegisters,
    executed: u64,
    /// The next instruction, at the end the one after the last.
    address: u32,
}

/// A part of the state of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexVariable {
    /// A temporary, 0 to 127.
    Temp(u8, Channels),
    /// An alternate temporary, 0 to 127.
    AltTemp(u8, Channels),
    /// A constant as instructions read it; 0 if it is missing.
    Const(u8, Channels),
    /// An input, 0 to 31.
    Input(u8, Channels),
    /// An output as last written, 0 to 127; 0 if never written.
    Out(u8, Channels),
    /// The address register, whole numbers.
    A0(Channels),
    /// The predicate, a boolean.
    Predicate,
    /// Whether the next instruction is executed, a boolean: its predicate may forbid it.
    Active,
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
    /// Number of running calls.
    Calls,
}

impl VertexSetup {
    /// Returns a program without constants and inputs, which then read 0, and with the default limits.
    #[must_use]
    pub fn new(program: Program) -> Self {
        Self {
            program,
            constants: Vec::new(),
            inputs: [[0.0; 4]; INPUTS],
            limits: Limits::default(),
        }
    }
}

/// Returns the number of an instruction as an address of recordings.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "another instruction than the one that runs must not be shown"
)]
pub fn address(number: usize) -> u32 {
    u32::try_from(number).expect("vertex programs have at most 1024 instructions")
}

impl VertexMachine {
    /// Returns the machine of a vertex.
    #[must_use]
    pub fn new(setup: VertexSetup) -> Self {
        let interpreter = Interpreter::new(&setup.program, &setup.constants);
        Self { setup, interpreter, limited: true }
    }

    /// Returns the program with all that it reads.
    #[must_use]
    pub fn setup(&self) -> &VertexSetup {
        &self.setup
    }

    /// Returns the instruction at an address; `None` if there is none.
    #[must_use]
    pub fn instruction(&self, address: u32) -> Option<Instruction> {
        let (first, code) = self.setup.program.instructions();
        let index = usize::try_from(address).ok()?.checked_sub(first)?;
        code.get(index).copied()
    }

    /// Returns the first and the last address of the program.
    #[must_use]
    pub fn addresses(&self) -> (u32, u32) {
        let (first, code) = self.setup.program.instructions();
        (address(first), address(first + code.len().saturating_sub(1)))
    }

    /// Returns a constant as instructions read it: 0 if it is missing.
    #[must_use]
    pub fn constant(&self, n: u8) -> [f32; 4] {
        self.interpreter.constant_at(n)
    }

    /// Returns the loops and calls that run in a state, the outermost first.
    pub fn running(&self, state: &VertexRunState) -> impl Iterator<Item = Running> {
        self.interpreter.running(&state.vertex)
    }

    /// Returns the error of a step that exceeds the limit of instructions.
    fn refuse(&self, state: &VertexRunState) -> Result<(), RunError> {
        let limit = self.setup.limits.instructions;
        if state.executed >= limit {
            return Err(RunError::VertexInstructions { address: state.address, limit });
        }
        Ok(())
    }
}

impl VertexRunState {
    /// Returns the registers of the vertex.
    #[must_use]
    pub fn vertex(&self) -> &VertexState {
        &self.vertex
    }

    /// Returns which registers are written by now.
    #[must_use]
    pub fn written(&self) -> &WrittenRegisters {
        &self.written
    }

    /// Counts a step, after which the state is that of the vertex.
    fn arrive(&mut self) {
        self.executed += 1;
        let next = self.vertex.address().and_then(|address| u32::try_from(address).ok());
        self.address = next.unwrap_or(self.address.saturating_add(1));
    }
}

impl Machine for VertexMachine {
    type State = VertexRunState;
    type Step = Step;
    type Variable = VertexVariable;

    fn start(&self) -> VertexRunState {
        let vertex = self.interpreter.start_state(&self.setup.inputs);
        // A program without instructions has ended where it starts.
        let first = vertex.address().map_or(0, address);
        VertexRunState { vertex, written: WrittenRegisters::default(), executed: 0, address: first }
    }

    fn ended(&self, state: &VertexRunState) -> bool {
        state.vertex.address().is_none()
    }

    fn address(&self, state: &VertexRunState) -> u32 {
        state.address
    }

    fn depth(&self, state: &VertexRunState) -> usize {
        state.vertex.depth()
    }

    fn active(&self, state: &VertexRunState) -> bool {
        self.interpreter.executes_next(&state.vertex)
    }

    fn executing(&self, state: &VertexRunState) -> Vec<bool> {
        vec![self.active(state)]
    }

    fn execute(
        &self,
        mut state: VertexRunState,
        mut go_on: impl FnMut(&VertexRunState) -> bool,
    ) -> (VertexRunState, Result<(), RunError>) {
        let time = self.setup.limits.time.filter(|_| self.limited);
        let deadline = time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        while !self.ended(&state) {
            if let Err(error) = self.refuse(&state) {
                return (state, Err(error));
            }
            if let Some((deadline, limit)) = deadline
                && state.executed.is_multiple_of(1024)
                && Instant::now() > deadline
            {
                return (state, Err(RunError::Time { limit }));
            }
            self.interpreter.step(&mut state.vertex, &mut state.written);
            state.arrive();
            if !go_on(&state) {
                break;
            }
        }
        (state, Ok(()))
    }

    fn observe(&self, mut state: VertexRunState) -> (VertexRunState, Result<Step, RunError>) {
        if let Err(error) = self.refuse(&state) {
            return (state, Err(error));
        }
        let address = state.address as usize;
        let Some(step) = self.interpreter.observe(&mut state.vertex) else {
            let nothing = Step {
                address,
                executed: false,
                sources: [[0.0; 4]; 3],
                dual_source: None,
                writes: Vec::new(),
                predicate: None,
            };
            return (state, Ok(nothing));
        };
        state.written.add(&step);
        state.arrive();
        (state, Ok(step))
    }

    fn value(now: &Snapshot<'_, Self>, variable: &VertexVariable) -> Value {
        let (machine, state) = (now.machine(), now.state());
        let vertex = state.vertex();
        let register = |memory: &[[f32; 4]], n: u8, channels: Channels| {
            channels.numbers(memory.get(usize::from(n)).copied().unwrap_or_default())
        };
        let count = |n: usize| Value::number(n as f32);
        let loops = || {
            machine.running(state).filter_map(|running| match running {
                Running::Loop { left, .. } => Some(left),
                Running::Call { .. } => None,
            })
        };
        match *variable {
            VertexVariable::Temp(n, channels) => register(vertex.temporaries(), n, channels),
            VertexVariable::AltTemp(n, channels) => register(vertex.alternates(), n, channels),
            VertexVariable::Const(n, channels) => channels.numbers(machine.constant(n)),
            VertexVariable::Input(n, channels) => register(vertex.inputs(), n, channels),
            VertexVariable::Out(n, channels) => register(vertex.outputs(), n, channels),
            VertexVariable::A0(channels) => {
                channels.numbers(vertex.address_register().map(|x| x as f32))
            }
            VertexVariable::Predicate => Value::bool(vertex.predicate()),
            VertexVariable::Active => Value::bool(now.active()),
            VertexVariable::Al => Value::number(vertex.loop_index() as f32),
            VertexVariable::Address => Value::number(now.address() as f32),
            VertexVariable::Step => count(now.position()),
            VertexVariable::Loops => count(loops().count()),
            VertexVariable::Iterations => Value::number(loops().last().unwrap_or(0).into()),
            VertexVariable::Calls => count(vertex.depth() - loops().count()),
        }
    }

    fn memory_limit(&self) -> u64 {
        self.setup.limits.memory
    }

    fn lift_limits(&mut self) {
        self.limited = false;
    }

    fn bytes(&self, state: &VertexRunState) -> usize {
        size_of::<VertexRunState>() - size_of::<VertexState>() + state.vertex.bytes()
    }
}

impl Operand for VertexVariable {
    fn is_bool(&self) -> bool {
        matches!(self, Self::Predicate | Self::Active)
    }

    fn width(&self) -> usize {
        self.register().map_or(1, |(_, channels)| channels.iter().len())
    }
}

impl Vocabulary for VertexVariable {
    const BANKS: &'static [Bank<Self>] = &[
        Bank { name: "temp", short: Some("t"), count: TEMPORARIES, operand: Self::Temp },
        Bank { name: "alt_temp", short: None, count: ALT_TEMPORARIES, operand: Self::AltTemp },
        Bank { name: "const", short: Some("c"), count: CONSTANTS, operand: Self::Const },
        Bank { name: "input", short: Some("i"), count: INPUTS, operand: Self::Input },
        Bank { name: "out", short: Some("o"), count: OUTPUTS, operand: Self::Out },
    ];

    const VECTORS: &'static [Vector<Self>] = &[Vector { name: "a0", operand: Self::A0 }];

    const WORDS: &'static [(&'static str, Self)] = &[
        ("pred", Self::Predicate),
        ("predicate", Self::Predicate),
        ("active", Self::Active),
        ("al", Self::Al),
        ("address", Self::Address),
        ("pc", Self::Address),
        ("step", Self::Step),
        ("loops", Self::Loops),
        ("passes", Self::Iterations),
        ("calls", Self::Calls),
    ];

    const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

    fn constant(number: u8, channels: Channels) -> Self {
        Self::Const(number, channels)
    }

    fn is_constant(self) -> bool {
        matches!(self, Self::Const(..) | Self::Input(..))
    }

    fn register(self) -> Option<(String, Channels)> {
        match self {
            Self::Temp(n, channels) => Some((format!("temp[{n}]"), channels)),
            Self::AltTemp(n, channels) => Some((format!("alt_temp[{n}]"), channels)),
            Self::Const(n, channels) => Some((format!("const[{n}]"), channels)),
            Self::Input(n, channels) => Some((format!("input[{n}]"), channels)),
            Self::Out(n, channels) => Some((format!("out[{n}]"), channels)),
            Self::A0(channels) => Some(("a0".to_owned(), channels)),
            _ => None,
        }
    }

    fn with_channels(self, channels: Channels) -> Self {
        match self {
            Self::Temp(n, _) => Self::Temp(n, channels),
            Self::AltTemp(n, _) => Self::AltTemp(n, channels),
            Self::Const(n, _) => Self::Const(n, channels),
            Self::Input(n, _) => Self::Input(n, channels),
            Self::Out(n, _) => Self::Out(n, channels),
            Self::A0(_) => Self::A0(channels),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_exec::record::{Break, Direction, End, Recording, Stop};
    use r500_pvs::Source;

    use super::*;

    /// Calls, nested loops, a jump, predicates, a write of A0, and both engines.
    const PROGRAMS: [&str; 3] = [
        "FLOW[0] = LOOP after 0, 3 times 1 to 3, aL 1 step 2 ;
         FLOW[1] = LOOP after 1, 2 times 2 to 2, aL 0 step 1 ;
         temp[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         temp[0].x = VE_MAD temp[0].x___ input[0].y___ temp[0].y___ ;
         out[aL].xyzw = VE_MUL temp[0].xyzw input[0].wzyx ;
         temp[0].y = VE_ADD temp[0]._y__ input[0]._1__ ;
         out[1].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;",
        "FLOW[0] = CALL after 0, 4 to 5, return 1 ;
         FLOW[1] = JUMP after 1 to 3 ;
         temp[1].w = ME_PRED_SET_GT input[0].xxxx ;
         a0[0].x = VE_FLT2FIX_DX input[0].xxxx ;
         out[5].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         FLOW[2] = JUMP after 3 to 6 ;
         out[0].xyzw = VE_MUL const[a0.x+1].xyzw input[0].xyzw ;
         (p) out[2].xyzw = VE_ADD input[0].xyzw input[0].1111 ;
         (!p) out[2].xyzw = VE_ADD input[0].xyzw -input[0].1111 ;
         temp[2].xyzw = VE_MAX input[0].xyzw input[0].0000 ;",
        "temp[0].xyz = VE_MUL input[0].xyz_ input[0].xyz_ , alt_temp[3].w = ME_RCP input[0].w_ ;
         out[0].xyzw = VE_MUL temp[0].xyzw alt_temp[3].wwww ;",
    ];

    fn setup(text: &str, input: [f32; 4]) -> VertexSetup {
        let source = Source::parse(text, &mut |_| Err(String::new())).unwrap();
        let mut setup = VertexSetup::new(source.program);
        setup.inputs[0] = input;
        setup.constants = (0..8).map(|n| [n as f32, 1.0, 0.5, -1.0]).collect();
        setup
    }

    fn bits(outputs: &[[f32; 4]; OUTPUTS]) -> Vec<u32> {
        outputs.iter().flatten().map(|x| x.to_bits()).collect()
    }

    /// The interpreter, which records nothing, is the measure.
    #[test]
    fn a_recorded_run_is_that_of_the_interpreter_at_every_position_in_any_order() {
        for text in PROGRAMS {
            for input in [[2.0, 3.0, 4.0, 1.0], [-1.5, 0.0, 0.25, 8.0]] {
                let setup = setup(text, input);
                let interpreter = Interpreter::new(&setup.program, &setup.constants);
                let mut execution = interpreter.start(&setup.inputs);
                let (mut states, mut steps) = (vec![execution.clone()], Vec::new());
                while let Some(step) = execution.observe() {
                    steps.push(step);
                    states.push(execution.clone());
                }
                let mut recording = Recording::of(VertexMachine::new(setup));
                assert_eq!((recording.len(), recording.end()), (steps.len(), &End::Ended));
                assert!(steps.len() >= 2);
                let forward = 0..=steps.len();
                let jumps = (0..40).map(|n| n * 7 % (steps.len() + 1));
                for at in forward.clone().chain(forward.rev()).chain(jumps) {
                    recording.seek(at);
                    let now = recording.now();
                    let vertex = now.state().vertex();
                    assert_eq!(vertex.address(), states[at].address());
                    assert_eq!(vertex.loop_index(), states[at].loop_index());
                    assert_eq!(vertex.predicate(), states[at].predicate());
                    assert_eq!(bits(vertex.outputs()), bits(states[at].outputs()));
                    assert_eq!(recording.next_step(), steps.get(at));
                    assert_eq!(recording.last_step(), at.checked_sub(1).map(|n| &steps[n]));
                }
                // What was written is what steps say.
                let mut written = WrittenRegisters::default();
                steps.iter().for_each(|step| written.add(step));
                assert_eq!(recording.last().state().written(), &written);
                let work = recording.activity()[0];
                let executed = steps.iter().filter(|step| step.executed).count() as u64;
                assert_eq!((work.executed, work.waited), (executed, steps.len() as u64 - executed));
            }
        }
    }

    #[test]
    fn both_directions_stop_at_the_same_breakpoints() {
        for text in PROGRAMS {
            let mut recording =
                Recording::of(VertexMachine::new(setup(text, [2.0, 3.0, 4.0, 1.0])));
            let changes = crate::expression::parse("out[1].x + out[2].x + temp[0].x", &[]).unwrap();
            let stop = [Break::Changes(changes)];
            let mut all = |direction| {
                let mut positions = Vec::new();
                while let Stop::Break(_) = recording.run(direction, &stop) {
                    positions.push(recording.position());
                }
                positions
            };
            let forward = all(Direction::Forward);
            let mut backward = all(Direction::Backward);
            backward.reverse();
            assert_eq!(forward, backward);
            assert_eq!(forward, recording.hits(&stop[0], None));
            assert!(!forward.is_empty());
        }
    }

    #[test]
    fn an_endless_program_is_recorded_up_to_its_limit() {
        let text = "FLOW[0] = JUMP after 0 to 0 ; out[0].x = VE_ADD out[0].x___ input[0].x___ ;
            out[0].y = VE_ADD input[0].xyzw input[0].0000 ;";
        let text = text.replace("out[0].x___", "input[0].y___");
        let mut setup = setup(&text, [1.0; 4]);
        setup.limits.instructions = 300;
        let mut recording = Recording::of(VertexMachine::new(setup));
        assert_eq!(recording.len(), 300);
        let error = RunError::VertexInstructions { address: 0, limit: 300 };
        assert_eq!(recording.end(), &End::Stopped(error));
        recording.seek(299);
        assert_eq!(
            (recording.position(), recording.step(Direction::Forward)),
            (299, Stop::Reached)
        );
        assert_eq!(recording.step(Direction::Forward), Stop::End);
        assert!(recording.next_step().is_none());
    }

    #[test]
    fn loops_and_calls_are_stepped_over_and_left() {
        let mut recording = Recording::of(VertexMachine::new(setup(PROGRAMS[0], [1.0; 4])));
        // One instruction, then the loop as a whole, to the instruction after it.
        recording.step(Direction::Forward);
        let now = recording.now();
        let running: Vec<Running> = now.machine().running(now.state()).collect();
        assert_eq!(running, [Running::Loop { left: 3, index: 1 }]);
        recording.step_out(Direction::Forward);
        assert_eq!(recording.now().address(), 4);
        recording.step_over(Direction::Backward);
        assert_eq!(recording.now().address(), 0);

        let mut recording = Recording::of(VertexMachine::new(setup(PROGRAMS[1], [1.0; 4])));
        recording.step_over(Direction::Forward);
        assert_eq!((recording.position(), recording.now().address()), (3, 1));
        recording.seek(1);
        assert_eq!(recording.now().address(), 4);
        let now = recording.now();
        let running: Vec<Running> = now.machine().running(now.state()).collect();
        assert_eq!(running, [Running::Call { return_to: 1 }]);
        recording.step_out(Direction::Forward);
        assert_eq!((recording.position(), recording.now().address()), (3, 1));
    }
}
