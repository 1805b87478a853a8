//! The lift: translation of a structured program to a [`Function`], and of [vertex programs](lift_vertex).
//!
//! | module | job |
//! | --- | --- |
//! | `input` | the program and the facts about a run that its translation depends on |
//! | `program_cache` | functions of programs, by content |
//! | `analysis` | the checker's analysis of the program, made once and shared by lifts |
//! | `state` | abstract register state: the operand in each register channel |
//! | `alu` | ALU and OUT instructions |
//! | `symbolic` | program constants that are not folded |
//! | `tex` | texture instructions |
//! | `flow` | statements: branches, loops, calls |
//! | `vertex` | vertex programs |
//!
//! The semantics are those of the [reference engine](mod@r500_exec::reference), with readings that do not affect the program or that this
//! module implements, for independent pixels: the checker's [`Facts`] about clean programs make the two equal. What the
//! [input](LiftInput) gives (integer and boolean constants, kinds of samplers, program constants that are not
//! [symbolic](SymbolicConstants)) is folded, so a function is valid for all runs with the same facts, which differ only in uniforms.

#![allow(
    clippy::expect_used,
    reason = "a broken invariant of a lift is a bug that must stop loudly"
)]

mod alu;
mod analysis;
mod flow;
mod input;
mod program_cache;
mod state;
mod symbolic;
mod tex;
mod vertex;

use r500_check::Facts;
use r500_check::graph::UnstructuredReason;
use r500_exec::{AffectedInstruction, ControlFlow, GROUP, Op};
use r500_ir::{ALL, Builder, Function, Operand, optimize};
use r500_isa::TEMPORARIES;

use state::RegState;

pub use analysis::ProgramAnalysis;
pub use input::{InputKind, LiftInput};
pub use program_cache::{PreparedProgram, ProgramCache};
pub use symbolic::SymbolicConstants;
pub use vertex::{VertexFunction, VertexLiftError, lift_vertex};

/// The maximum number of statements: inlined calls and unrolled loops multiply them.
const STATEMENTS: usize = 60_000;

/// The reason why a program has no function. The reference engine runs it instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiftError {
    /// The options request warnings or a group size that only the reference engine supports.
    #[error("{0} are the reference engine's")]
    Options(UnsupportedOption),
    /// A reading affects an instruction, and only the reference engine implements its value.
    #[error(
        "the reading {}={}, which {} at address {} depends on, is the reference engine's",
        .0.reading, .0.value, .0.operation, .0.address
    )]
    Reading(AffectedInstruction),
    /// The checker finds errors.
    #[error("the checker finds an error: {0}")]
    Broken(String),
    /// The program is not structured.
    #[error("flow control is not structured: address {address}: {reason}")]
    Unstructured {
        /// Absolute address of the first unstructured instruction.
        address: u32,
        /// Why.
        reason: UnstructuredReason,
    },
    /// The group size may be observable.
    #[error("{0}, so the size of the group of pixels may show")]
    Group(GroupDependence),
    /// Flow control reads a constant whose value is not given.
    #[error("flow control reads {0}, whose value is unknown")]
    Unknown(UnknownConstant),
    /// The function is too long.
    #[error("calls and loops unrolled make more than {STATEMENTS} operations")]
    TooLong,
}

/// An option that only the reference engine supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsupportedOption {
    /// Run-time warnings.
    #[error("findings")]
    Warnings,
    /// A group size, for a program whose results may depend on it.
    #[error("groups of another size")]
    GroupSize,
}

/// A constant of unknown value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownConstant {
    /// An integer constant, by its number.
    #[error("integer constant {0}")]
    Integer(u8),
    /// A boolean constant, by its number.
    #[error("boolean constant {0}")]
    Boolean(u8),
}

/// What makes the group size observable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupDependence {
    /// Inactive pixels are written.
    #[error("something has WRITE_INACTIVE")]
    InactiveWrites,
    /// Pixels are counted whose number may depend on the group.
    #[error("STAT_WE counts, with IGNORE_UNCOVERED and quad differences")]
    Counts,
}

/// Lifts a program, specialised for all program constants: the function has no uniforms.
///
/// # Errors
/// [`LiftError`] if the program needs the reference engine.
pub fn lift(input: &LiftInput<'_>) -> Result<Function, LiftError> {
    lift_symbolic(input, &ProgramAnalysis::new(input)?, &SymbolicConstants::none())
}

/// Lifts a program with some program constants as [uniforms](Function::uniforms). The function is valid for all values of these
/// within the given ranges, whatever [`LiftInput::constants`] has; with [`SymbolicConstants::all`] it does not depend on any program constant. The analysis
/// is of the same program with the same integer and boolean constants.
///
/// # Errors
/// [`LiftError`] if the program needs the reference engine.
pub fn lift_symbolic(
    input: &LiftInput<'_>,
    analysis: &ProgramAnalysis,
    symbolic: &SymbolicConstants,
) -> Result<Function, LiftError> {
    analysis.debug_assert_holds_for(input);
    check_readings(input)?;
    let needs_group_check = needs_group_check(input, analysis)?;

    let mut lift = Lift {
        input,
        symbolic,
        analysis,
        quad_visible: read_across(input, analysis),
        needs_group_check,
        builder: Builder::new(),
        regs: RegState::start(input.poison),
        active: ALL,
        al: 0,
        loops: Vec::new(),
    };
    lift.inputs();
    lift.statements(&analysis.structure.main)?;
    let (colors, depth) = lift.regs.outputs(input.shader);
    let (mut function, ranges) = lift.builder.finish(colors, depth);
    let reads_quads = quad_readers(input, analysis).next().is_some();
    optimize(&mut function, &ranges, reads_quads);
    Ok(function)
}

/// The state of a lift.
struct Lift<'a> {
    input: &'a LiftInput<'a>,
    /// The program constants that are uniforms.
    symbolic: &'a SymbolicConstants,
    analysis: &'a ProgramAnalysis,
    /// The quad-visible registers, by index in [`RegState::registers`]: lanes of a quad read them from inactive lanes, which must keep
    /// their values.
    quad_visible: Vec<bool>,
    /// Whether groups may behave differently from independent pixels, which is checked at run time.
    needs_group_check: bool,
    builder: Builder,
    regs: RegState,
    /// The mask of active lanes.
    active: Operand,
    /// aL.
    al: i32,
    /// The enclosing loops, innermost last.
    loops: Vec<flow::LoopScope>,
}

impl Lift<'_> {
    /// Initialises the registers of the inputs.
    fn inputs(&mut self) {
        for (number, input) in self.input.inputs.iter().enumerate() {
            let Ok(number) = u8::try_from(number) else { continue };
            for (channel, range) in (0u8..4).zip(input.channels) {
                let operand = match input.constant(usize::from(channel)) {
                    Some(x) => Operand::float(x),
                    None => self.builder.input(number, channel, range),
                };
                self.regs.temps[usize::from(input.temp)][usize::from(channel)] = operand;
            }
        }
    }

    fn check_length(&self) -> Result<(), LiftError> {
        if self.builder.statement_count() > STATEMENTS { Err(LiftError::TooLong) } else { Ok(()) }
    }
}

/// Checks that readings which only the reference engine implements affect no instruction. The program is structured and has no errors.
fn check_readings(input: &LiftInput<'_>) -> Result<(), LiftError> {
    let LiftInput { shader, kinds, readings, .. } = input;
    let affecting = readings.affecting(shader, kinds, ControlFlow::Structured);
    match affecting.into_iter().find(|affected| !affected.in_every_engine) {
        Some(affected) => Err(LiftError::Reading(affected)),
        None => Ok(()),
    }
}

/// Returns whether execution must check that groups behave like independent pixels. They may not if uncovered pixels have no vote in flow
/// control while their neighbours read their registers.
fn needs_group_check(input: &LiftInput<'_>, analysis: &ProgramAnalysis) -> Result<bool, LiftError> {
    let facts: &Facts = &analysis.facts;
    if facts.group_size_invisible {
        return Ok(false);
    }
    if !facts.no_inactive_writes {
        return Err(LiftError::Group(GroupDependence::InactiveWrites));
    }
    if input.kinds.groups.size != GROUP {
        return Err(LiftError::Options(UnsupportedOption::GroupSize));
    }
    // Without reads across a quad, no pixel depends on another.
    if facts.structured && quad_readers(input, analysis).next().is_none() {
        return Ok(false);
    }
    if facts.group_size_invisible_if_covered && input.kinds.groups.cover_quads() {
        return Ok(false);
    }
    let counts = input.shader.ops().iter().any(|op| match op {
        Op::Alu(alu) => alu.stat_we != 0,
        Op::Tex(tex) => tex.stat_we != 0,
        Op::Fc(_) => false,
    });
    if counts {
        return Err(LiftError::Group(GroupDependence::Counts));
    }
    Ok(true)
}

/// Returns the channels of temporaries that are read across a quad with diverged lanes.
fn read_across(input: &LiftInput<'_>, analysis: &ProgramAnalysis) -> Vec<bool> {
    let mut exact = vec![false; RegState::REGISTERS];
    let diverged = quad_readers(input, analysis).filter(|&at| analysis.structure.divergent[at]);
    for access in diverged.flat_map(|at| analysis.info(at).quad_reads.iter()) {
        let temps = 0..TEMPORARIES;
        for temp in temps.filter(|&temp| access.relative || temp == usize::from(access.addr)) {
            for channel in (0..4).filter(|i| access.may >> i & 1 != 0) {
                exact[RegState::temp(temp) + channel] = true;
            }
        }
    }
    exact
}

/// Returns the instructions that read across a quad, by index. Fetches do so if their texture has levels or filters to choose from.
fn quad_readers(input: &LiftInput<'_>, analysis: &ProgramAnalysis) -> impl Iterator<Item = usize> {
    let ops = input.shader.ops().iter().enumerate();
    ops.filter_map(|(at, op)| {
        let depends = match op {
            Op::Tex(tex) => {
                let sampler = input.kinds.sampler(tex.unit);
                sampler.is_some_and(|sampler| sampler.depends_on_lod)
            }
            _ => true,
        };
        (analysis.info(at).reads_quad && depends).then_some(at)
    })
}
