//! The lift of vertex programs: translation to a [`Function`] over lanes of vertices.
//!
//! | module | job |
//! | --- | --- |
//! | `flow` | loops; those with a known index are unrolled |
//! | `state` | abstract register state: the operand in each component of each register |
//! | `operand` | sources and destinations: modifiers, addresses relative to A0 and aL |
//! | `instruction` | predicates, pairs of operations, macros |
//! | `vector`, `math` | operations of both engines |
//! | `outcome` | results of operations |
//!
//! The semantics are those of the [interpreter](r500_pvs::Interpreter), whose functions with the same meaning have the same names. Flow control
//! depends on no register, so it is resolved here; a predicate is a mask, and a write under it a select. Constants are uniforms, or loads from the
//! table if their address is relative to A0, so a function depends on the program only.

mod flow;
mod instruction;
mod math;
mod operand;
mod outcome;
mod state;
mod vector;

use std::collections::HashSet;

use r500_exec::numerics::Arith;
use r500_ir::{
    ALL, Builder, Function, ModifiedOperand, NONE, Opcode, Operand, Stmt, Type, optimize,
};
use r500_pvs::{FlowNode, FlowTreeError, Instruction, Program};

use state::State;

/// The maximum number of statements: unrolled loops and registers at relative addresses multiply them.
const STATEMENTS: usize = 60_000;

/// The maximum number of instructions that a vertex executes.
const EXECUTED: u64 = 1 << 24;

/// A vertex program as a function.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexFunction {
    /// The function. Its [inputs](r500_ir::Opcode::Input) are numbered as the program's, its uniforms and its table are `const[0]` to
    /// `const[255]`, and its [results](Function::results) are the components of `outputs`, x to w.
    pub function: Function,
    /// The output registers that the program can write, ascending. Others are 0.
    pub outputs: Vec<u8>,
}

/// The reason why a vertex program has no function. The interpreter runs it instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VertexLiftError {
    /// Flow control is not a tree of loops.
    #[error("flow control is not lifted: {0}")]
    Flow(#[from] FlowTreeError),
    /// Loops may execute too many instructions.
    #[error("a vertex may execute more than {EXECUTED} instructions")]
    Endless,
    /// The function is too long.
    #[error("the function has more than {STATEMENTS} operations")]
    TooLong,
}

/// Lifts a vertex program.
///
/// # Errors
/// [`VertexLiftError`] if the program needs the interpreter.
pub fn lift_vertex(program: &Program) -> Result<VertexFunction, VertexLiftError> {
    let tree = program.flow_tree(STATEMENTS)?;
    if flow::executed(&tree) > EXECUTED {
        return Err(VertexLiftError::Endless);
    }
    let (base, code) = program.instructions();
    let mut lift = VertexLift {
        base,
        code,
        builder: Builder::new(),
        state: State::start(),
        loop_index: 0,
        executed: NONE,
        fuel: None,
        integral: HashSet::new(),
    };
    lift.inputs(&tree);
    lift.nodes(&tree)?;
    lift.consume_fuel();
    let outputs: Vec<u8> = program
        .written_outputs()
        .into_iter()
        .map(|n| u8::try_from(n).expect("there are 128 outputs"))
        .collect();
    let results = outputs.iter().flat_map(|n| lift.state.output(usize::from(*n))).collect();
    let (mut function, ranges) = lift.builder.finish_with_results(results);
    optimize(&mut function, &ranges, false);
    Ok(VertexFunction { function, outputs })
}

/// The state of a lift.
struct VertexLift<'a> {
    /// The number of the first instruction.
    base: usize,
    code: &'a [Instruction],
    builder: Builder,
    state: State,
    /// aL.
    loop_index: i32,
    /// The vertices that have executed an instruction in the current iteration of the innermost loop.
    executed: Operand,
    /// Instructions that are not charged yet, and the address of the first.
    fuel: Option<(u32, u32)>,
    /// Values that are integers, infinities or NaN.
    integral: HashSet<Operand>,
}

impl VertexLift<'_> {
    fn nodes(&mut self, nodes: &[FlowNode]) -> Result<(), VertexLiftError> {
        for node in nodes {
            match node {
                FlowNode::Instruction(address) => self.instruction_at(*address),
                FlowNode::Loop(repeat) => self.repeat(repeat)?,
            }
            if self.builder.statement_count() > STATEMENTS {
                return Err(VertexLiftError::TooLong);
            }
        }
        Ok(())
    }

    fn instruction_at(&mut self, number: usize) {
        let address = u32::try_from(number).expect("there are 1024 instructions");
        let (charged, _) = self.fuel.get_or_insert((0, address));
        *charged = charged.saturating_add(1);
        self.builder.set_source_loc(address);
        // Memory may hold nothing there.
        let inst = number.checked_sub(self.base).and_then(|n| self.code.get(n));
        if let Some(inst) = inst {
            self.instruction(*inst);
        }
    }

    /// Charges the instructions since the last charge.
    fn consume_fuel(&mut self) {
        if let Some((instructions, address)) = self.fuel.take() {
            self.builder.push(Stmt::ConsumeFuel { instructions, address });
        }
    }

    /// Returns floor(x), which is not an operation of the representation: x rounded to an integer by a sum, then less 1 if that is above x.
    fn floor(&mut self, x: Operand) -> Operand {
        /// From here on, floats are integers.
        const INTEGERS: f32 = 8_388_608.0;
        if self.integral.contains(&x) {
            return x;
        }
        if let Some(x) = x.as_float() {
            return Operand::float(Arith::REFERENCE.floor(x));
        }
        let builder = &mut self.builder;
        let (zero, limit) = (Operand::float(0.0), Operand::float(INTEGERS));
        let size = builder.bits(ModifiedOperand::from(x).abs());
        let sum = builder.add(size.into(), limit.into());
        let rounded = builder.sub(sum.into(), limit.into());
        let small = builder.compare(Opcode::Lt, size.into(), limit.into());
        let rounded = builder.select(Type::F32, small, rounded, size);
        let negated = builder.bits(ModifiedOperand::from(rounded).negated());
        let negative = builder.compare(Opcode::Lt, x.into(), zero.into());
        let signed = builder.select(Type::F32, negative, negated, rounded);
        let below = builder.sub(signed.into(), Operand::float(1.0).into());
        let above = builder.compare(Opcode::Lt, x.into(), signed.into());
        let floor = builder.select(Type::F32, above, below, signed);
        // The sign of a zero stays.
        let is_zero = builder.compare(Opcode::Eq, x.into(), zero.into());
        let flushed = builder.unary(Opcode::Flush, x.into());
        let floor = builder.select(Type::F32, is_zero, flushed, floor);
        self.integral.insert(floor);
        floor
    }

    /// Returns whether the predicate lets an instruction execute, as a mask.
    fn enabled(&mut self, inst: Instruction) -> Operand {
        let dst = inst.dst();
        match (dst.pred_enable(), dst.pred_sense()) {
            (false, _) => ALL,
            (true, true) => self.state.predicate(),
            (true, false) => {
                let predicate = self.state.predicate();
                self.builder.not(predicate)
            }
        }
    }
}
