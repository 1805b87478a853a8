//! The program of a vertex, instruction by instruction.

use r500_chip::pvs::{DstType, INPUTS, OUTPUTS};

use super::flow::{Running, Sequencer};
use super::{ALT_TEMPORARIES, DecodedOp, Interpreter, Observe, Registers, TEMPORARIES};

/// A vertex during its program. A program may be endless.
#[derive(Clone, Debug)]
pub struct Execution<'a> {
    interpreter: &'a Interpreter,
    state: VertexState,
}

/// All that instructions of a vertex depend on and change, apart from the program and its constants.
#[derive(Clone, Debug)]
pub struct VertexState {
    registers: Registers,
    sequencer: Sequencer,
}

/// Which components of registers instructions have written, x in bit 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRegisters {
    /// Of temporaries.
    pub temporaries: [u8; TEMPORARIES],
    /// Of alternate temporaries.
    pub alternates: [u8; ALT_TEMPORARIES],
    /// Of outputs.
    pub outputs: [u8; OUTPUTS],
    /// Of the address register.
    pub address: u8,
    /// Whether the predicate was set.
    pub predicate: bool,
}

/// What an instruction did.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The number of the instruction.
    pub address: usize,
    /// Whether it was executed: its predicate may forbid it, and memory may hold nothing there.
    pub executed: bool,
    /// The operands, with swizzle and signs.
    pub sources: [[f32; 4]; 3],
    /// The operand of a second operation.
    pub dual_source: Option<[f32; 4]>,
    /// Its writes, in their order.
    pub writes: Vec<Write>,
    /// The predicate that it set.
    pub predicate: Option<bool>,
}

/// A write to a register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Write {
    /// The kind of register.
    pub ty: DstType,
    /// Its number, with the address register and loop index.
    pub register: usize,
    /// The components that were written.
    pub mask: [bool; 4],
    /// The register after the write; integers for A0.
    pub value: [f32; 4],
}

impl Observe for Step {
    fn reads(&mut self, sources: [[f32; 4]; 3], dual: Option<[f32; 4]>) {
        self.executed = true;
        self.sources = sources;
        self.dual_source = dual;
    }

    fn writes(&mut self, ty: DstType, register: usize, mask: [bool; 4], value: [f32; 4]) {
        if mask != [false; 4] {
            self.writes.push(Write { ty, register, mask, value });
        }
    }

    fn predicate(&mut self, predicate: bool) {
        self.predicate = Some(predicate);
    }
}

impl Default for WrittenRegisters {
    fn default() -> Self {
        Self {
            temporaries: [0; TEMPORARIES],
            alternates: [0; ALT_TEMPORARIES],
            outputs: [0; OUTPUTS],
            address: 0,
            predicate: false,
        }
    }
}

impl WrittenRegisters {
    /// Adds what an instruction wrote.
    pub fn add(&mut self, step: &Step) {
        for write in &step.writes {
            self.writes(write.ty, write.register, write.mask, write.value);
        }
        self.predicate |= step.predicate.is_some();
    }
}

impl Observe for WrittenRegisters {
    fn reads(&mut self, _: [[f32; 4]; 3], _: Option<[f32; 4]>) {}

    fn writes(&mut self, ty: DstType, register: usize, mask: [bool; 4], _: [f32; 4]) {
        let masks: &mut [u8] = match ty {
            DstType::A0 => std::slice::from_mut(&mut self.address),
            DstType::OUT | DstType::OUT_REPL_X => &mut self.outputs,
            DstType::ALT_TEMPORARY => &mut self.alternates,
            _ => &mut self.temporaries,
        };
        if let Some(written) = masks.get_mut(register) {
            *written |= bits(mask);
        }
    }

    fn predicate(&mut self, _: bool) {
        self.predicate = true;
    }
}

impl Write {
    /// Returns the name of the register: `temp[3]`, `a0`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.ty {
            DstType::A0 => "a0".to_owned(),
            DstType::OUT | DstType::OUT_REPL_X => format!("out[{}]", self.register),
            DstType::ALT_TEMPORARY => format!("alt_temp[{}]", self.register),
            _ => format!("temp[{}]", self.register),
        }
    }

    /// Returns the components that were written as a mask, x in bit 0.
    #[must_use]
    pub fn bits(&self) -> u8 {
        bits(self.mask)
    }
}

fn bits(mask: [bool; 4]) -> u8 {
    (0..).zip(mask).fold(0, |bits, (n, set)| bits | u8::from(set) << n)
}

impl VertexState {
    /// Returns the number of the next instruction; `None` at the end.
    #[inline]
    #[must_use]
    pub fn address(&self) -> Option<usize> {
        self.sequencer.pc()
    }

    /// Returns the loop index (aL) of the next instruction.
    #[must_use]
    pub fn loop_index(&self) -> i32 {
        self.sequencer.loop_index()
    }

    /// Returns the predicate.
    #[must_use]
    pub fn predicate(&self) -> bool {
        self.registers.predicate
    }

    /// Returns the address register (A0).
    #[must_use]
    pub fn address_register(&self) -> [i32; 4] {
        self.registers.address
    }

    /// Returns the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[[f32; 4]; INPUTS] {
        &self.registers.inputs
    }

    /// Returns the temporaries; those that are not written are 0.
    #[must_use]
    pub fn temporaries(&self) -> &[[f32; 4]; TEMPORARIES] {
        &self.registers.temporaries
    }

    /// Returns the alternate temporaries; those that are not written are 0.
    #[must_use]
    pub fn alternates(&self) -> &[[f32; 4]; ALT_TEMPORARIES] {
        &self.registers.alternates
    }

    /// Returns the outputs that are written by now; the others are 0.
    #[must_use]
    pub fn outputs(&self) -> &[[f32; 4]; OUTPUTS] {
        &self.registers.outputs
    }

    /// Returns the number of loops and calls that run.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.sequencer.depth()
    }

    /// Returns its approximate size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.sequencer.heap_bytes()
    }
}

impl<'a> Execution<'a> {
    /// Returns the state of the vertex.
    #[must_use]
    pub fn state(&self) -> &VertexState {
        &self.state
    }

    pub(super) fn new(interpreter: &'a Interpreter, inputs: &[[f32; 4]; INPUTS]) -> Self {
        Self { interpreter, state: interpreter.start_state(inputs) }
    }

    /// Returns the number of the next instruction; `None` at the end.
    #[inline]
    #[must_use]
    pub fn address(&self) -> Option<usize> {
        self.state.address()
    }

    /// Returns the loop index (aL) of the next instruction.
    #[must_use]
    pub fn loop_index(&self) -> i32 {
        self.state.loop_index()
    }

    /// Returns the predicate.
    #[must_use]
    pub fn predicate(&self) -> bool {
        self.state.predicate()
    }

    /// Returns the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[[f32; 4]; INPUTS] {
        self.state.inputs()
    }

    /// Returns the outputs that are written by now; the others are 0.
    #[must_use]
    pub fn outputs(&self) -> &[[f32; 4]; OUTPUTS] {
        self.state.outputs()
    }

    /// Executes the next instruction.
    #[inline]
    pub fn step(&mut self) {
        self.interpreter.advance(&mut self.state, &mut ());
    }

    /// Executes the next instruction and returns what it did; `None` at the end.
    pub fn observe(&mut self) -> Option<Step> {
        self.interpreter.observe(&mut self.state)
    }
}

impl Interpreter {
    /// Returns the state of a vertex at the start of the program.
    #[must_use]
    pub fn start_state(&self, inputs: &[[f32; 4]; INPUTS]) -> VertexState {
        VertexState {
            registers: Registers {
                inputs: *inputs,
                temporaries: [[0.0; 4]; TEMPORARIES],
                alternates: [[0.0; 4]; ALT_TEMPORARIES],
                outputs: [[0.0; 4]; OUTPUTS],
                address: [0; 4],
                loop_index: 0,
                predicate: false,
            },
            sequencer: Sequencer::new(&self.flow, self.changeable.loop_index),
        }
    }

    /// Executes the next instruction of a state of this program, and adds what it writes.
    pub fn step(&self, state: &mut VertexState, written: &mut WrittenRegisters) {
        self.advance(state, written);
    }

    /// Executes the next instruction of a state of this program and returns what it did; `None` at the end.
    pub fn observe(&self, state: &mut VertexState) -> Option<Step> {
        let mut step = Step {
            address: state.address()?,
            executed: false,
            sources: [[0.0; 4]; 3],
            dual_source: None,
            writes: Vec::new(),
            predicate: None,
        };
        self.advance(state, &mut step);
        Some(step)
    }

    /// Returns the loops and calls that run in a state of this program, the outermost first.
    pub fn running(&self, state: &VertexState) -> impl Iterator<Item = Running> {
        state.sequencer.running(&self.flow)
    }

    /// Returns whether the next instruction of a state is executed: its predicate may forbid it, and memory may hold nothing there.
    #[must_use]
    pub fn executes_next(&self, state: &VertexState) -> bool {
        let op = state.address().and_then(|pc| self.op(pc));
        op.is_some_and(|op| op.predicate.is_none_or(|sense| state.predicate() == sense))
    }

    #[inline]
    fn advance(&self, state: &mut VertexState, observer: &mut impl Observe) {
        let VertexState { registers, sequencer } = state;
        let Some(pc) = sequencer.pc() else { return };
        registers.loop_index = sequencer.loop_index();
        if let Some(op) = self.op(pc) {
            self.execute(op, registers, observer);
        }
        sequencer.step(&self.flow, |bits| registers.snapshot(&self.changeable, bits));
    }

    /// Returns the instruction at an address.
    #[inline]
    fn op(&self, pc: usize) -> Option<&DecodedOp> {
        pc.checked_sub(self.first).and_then(|n| self.ops.get(n))
    }
}
