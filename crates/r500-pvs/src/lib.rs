//! Vertex programs of the R500 (`PVS`: programmable vertex shader).
//!
//! - [`Instruction`] is a view of four dwords. Any dwords decode, and print as a statement that parses back to the same dwords.
//! - [`Source`] is a program as text: statements, comments, includes, constants and registers.
//! - [`Program`] is the instructions that can run, with the registers that belong to them ([`Controls`]). It prints, and
//!   [`Program::check`] reports likely errors.
//! - [`Interpreter`] runs a program for a vertex, whole or step by step ([`Execution`]). It defines the semantics. [`Interpreter::run_batch`] runs
//!   it for up to [`BATCH`] vertices with vector instructions.
//! - [`prove_equal`] tries to prove that two programs compute the same.
//!
//! The words themselves are rows of `r500_chip::pvs`, which this crate re-exports.
//!
//! ```
//! use r500_pvs::{Instruction, Op, VectorOp};
//!
//! let text = "out[1].xyz = VE_MAD temp[0].xyzw const[a0.x+3].xyzw input[2].-x-x-x-x";
//! let inst: Instruction = text.parse()?;
//! assert_eq!(inst.op(), Op::Vector(VectorOp::MULTIPLY_ADD));
//! assert_eq!(inst.to_string(), text);
//! # Ok::<(), r500_pvs::SyntaxError>(())
//! ```
#![forbid(unsafe_code)]

mod check;
mod instruction;
mod interpreter;
mod program;
mod text;

pub use check::{Lint, LintInfo, LintKind};
pub use instruction::Instruction;
pub use interpreter::{
    ALT_TEMPORARIES, BATCH, BatchMemory, Equality, Execution, FlowBlock, FlowEdge, FlowGraph,
    FlowLoop, FlowNode, FlowTreeError, GivenConstants, Interpreter, Running, Step, TEMPORARIES,
    VertexState, Write, WrittenRegisters, component, prove_equal, scalar,
};
pub use program::{Controls, Flow, Program};
pub use r500_chip::pvs::{
    Addressing, CONSTANT_BASE, CONSTANTS, Component, Dst, DstType, DualMath, FLOW_INSTRUCTIONS,
    FLOW_LEVELS, INPUTS, INSTRUCTIONS, MacroOp, MathOp, OUTPUTS, Op, PLANE_BASE, PLANES, Src,
    SrcType, Swizzle, VectorOp,
};
pub use text::{Expectation, Expected, Fill, Include, Source, SyntaxError};
