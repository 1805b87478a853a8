//! The program of a vertex, instruction by instruction.

use r500_chip::pvs::{DstType, INPUTS, OUTPUTS};

use super::flow::Sequencer;
use super::{ALT_TEMPORARIES, Interpreter, Observe, Registers, TEMPORARIES};

/// A vertex during its program. A program may be endless.
#[derive(Clone, Debug)]
pub struct Execution<'a> {
    interpreter: &'a Interpreter,
    registers: Registers,
    sequencer: Sequencer<'a>,
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

impl<'a> Execution<'a> {
    pub(super) fn new(interpreter: &'a Interpreter, inputs: &[[f32; 4]; INPUTS]) -> Self {
        Self {
            interpreter,
            registers: Registers {
                inputs: *inputs,
                temporaries: [[0.0; 4]; TEMPORARIES],
                alternates: [[0.0; 4]; ALT_TEMPORARIES],
                outputs: [[0.0; 4]; OUTPUTS],
                address: [0; 4],
                loop_index: 0,
                predicate: false,
            },
            sequencer: Sequencer::new(&interpreter.flow, interpreter.changeable.loop_index),
        }
    }

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

    /// Returns the inputs.
    #[must_use]
    pub fn inputs(&self) -> &[[f32; 4]; INPUTS] {
        &self.registers.inputs
    }

    /// Returns the outputs that are written by now; the others are 0.
    #[must_use]
    pub fn outputs(&self) -> &[[f32; 4]; OUTPUTS] {
        &self.registers.outputs
    }

    /// Executes the next instruction.
    #[inline]
    pub fn step(&mut self) {
        self.advance(&mut ());
    }

    /// Executes the next instruction and returns what it did; `None` at the end.
    pub fn observe(&mut self) -> Option<Step> {
        let mut step = Step {
            address: self.address()?,
            executed: false,
            sources: [[0.0; 4]; 3],
            dual_source: None,
            writes: Vec::new(),
            predicate: None,
        };
        self.advance(&mut step);
        Some(step)
    }

    #[inline]
    fn advance(&mut self, observer: &mut impl Observe) {
        let Some(pc) = self.sequencer.pc() else { return };
        let Self { interpreter, registers, sequencer } = self;
        registers.loop_index = sequencer.loop_index();
        if let Some(op) = pc.checked_sub(interpreter.first).and_then(|n| interpreter.ops.get(n)) {
            interpreter.execute(op, registers, observer);
        }
        sequencer.step(|bits| registers.snapshot(&interpreter.changeable, bits));
    }
}
