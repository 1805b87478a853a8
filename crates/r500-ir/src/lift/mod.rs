//! The lift: translation of a structured program with its bindings to a [`Function`].
//!
//! | module | job |
//! | --- | --- |
//! | `analysis` | the checker's analysis of the program, made once and shared by lifts |
//! | `state` | abstract register state: the operand in each register channel |
//! | `alu` | ALU and OUT instructions |
//! | `tex` | texture instructions |
//! | `flow` | statements: branches, loops, calls |
//!
//! The semantics are those of the [reference engine](mod@r500_exec::reference), with readings that do not affect the program or that this
//! module implements, for independent pixels: the checker's [`Facts`] about clean programs make the two equal. Bindings (integer and boolean constants, units with a texture, program
//! constants that are not [symbolic](SymbolicConstants)) are folded, so a function is valid for one draw, or for draws that differ only in
//! uniforms.

mod alu;
mod analysis;
mod flow;
mod state;
mod tex;

use r500_check::Facts;
use r500_check::graph::UnstructuredReason;
use r500_isa::TEMPORARIES;
use r500_program::InputData;
use r500_texture::Sampler;

use super::builder::Builder;
use super::opt::{Analyses, optimize};
use super::{Function, Operand, Range, SymbolicConstants};
pub use analysis::{AnalysisCache, ProgramAnalysis};
use r500_exec::{AffectedInstruction, ControlFlow, Draw, GROUP, Op, Options};
use state::RegState;

/// The maximum number of statements: inlined calls and unrolled loops multiply them.
const STATEMENTS: usize = 60_000;

/// The reason why a draw has no function. The reference engine runs it instead.
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

/// Lifts the program of a draw, specialised for all program constants: the function has no uniforms.
///
/// # Errors
/// [`LiftError`] if the program or the options need the reference engine.
pub fn lift(draw: &Draw<'_>) -> Result<Function, LiftError> {
    lift_symbolic(draw, &ProgramAnalysis::new(draw)?, &SymbolicConstants::none())
}

/// Lifts the program of a draw with some program constants as [uniforms](Function::uniforms). The function is valid for all values of these
/// within the given ranges, whatever the draw binds; with [`SymbolicConstants::all`] it does not depend on any program constant. The analysis
/// is of the same program with the same integer and boolean constants.
///
/// # Errors
/// [`LiftError`] if the bindings or the options need the reference engine.
pub fn lift_symbolic(
    draw: &Draw<'_>,
    analysis: &ProgramAnalysis,
    symbolic: &SymbolicConstants,
) -> Result<Function, LiftError> {
    // The analysis may have been made for a draw with other options.
    check_options(draw.options)?;
    analysis.debug_assert_holds_for(draw);
    check_readings(draw)?;
    let needs_group_check = needs_group_check(draw, analysis)?;

    let mut lift = Lift {
        draw,
        symbolic,
        analysis,
        quad_visible: read_across(draw, analysis),
        needs_group_check,
        builder: Builder::default(),
        regs: RegState::start(draw.options.poison),
        active: super::ALL,
        al: 0,
        loops: Vec::new(),
    };
    lift.builder.open_region();
    lift.inputs();
    lift.statements(&analysis.structure.main)?;
    let (colors, depth) = lift.regs.outputs(draw.shader);
    let body = lift.builder.close_region();
    let number = |channel| !lift.builder.range(channel).nan;
    let non_nan = colors.map(|channels| channels.map_or([false; 4], |c| c.map(number)));
    let (values, uniforms) = lift.builder.take_values();
    let mut function = Function { values, uniforms, body, colors, non_nan, depth };
    let analyses =
        Analyses::new(lift.builder.ranges(), quad_readers(draw, analysis).next().is_some());
    optimize(&mut function, analyses);
    Ok(function)
}

/// The state of a lift.
struct Lift<'a> {
    draw: &'a Draw<'a>,
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
        let bindings = self.draw.bindings;
        for (number, input) in bindings.inputs().iter().enumerate() {
            let Ok(number) = u8::try_from(number) else { continue };
            let ranges = input_ranges(&input.data);
            for (channel, range) in (0u8..4).zip(ranges) {
                let operand = if range.lo.to_bits() == range.hi.to_bits() && !range.nan {
                    Operand::float(range.lo)
                } else {
                    self.builder.input(number, channel, range)
                };
                self.regs.temps[usize::from(input.temp)][usize::from(channel)] = operand;
            }
        }
    }

    fn check_length(&self) -> Result<(), LiftError> {
        if self.builder.len() > STATEMENTS { Err(LiftError::TooLong) } else { Ok(()) }
    }
}

/// The minimum and maximum centre of a pixel, as a fraction of an axis: 0.5 of at most 2^32 pixels, and, in a picture of one pixel, the
/// last pixel of a group of four.
const CENTRES: [f32; 2] = [1.0 / (1_u64 << 34) as f32, 4.0];

/// Returns the ranges of an input's channels; a single number for a constant channel.
fn input_ranges(data: &InputData) -> [Range; 4] {
    match data {
        InputData::Values { .. } => [Range::ANY; 4],
        InputData::Planes(components) => components.each_ref().map(|component| {
            let plane = component.plane;
            if plane.du == 0.0 && plane.dv == 0.0 {
                return Range::of(r500_numerics::plane(plane.c, plane.du, plane.dv, 0.5, 0.5));
            }
            // Each rounded step of the sum is monotonic, so minimum and maximum are at corners.
            let at = |u, v| r500_numerics::plane(plane.c, plane.du, plane.dv, u, v);
            let corners = CENTRES.map(|u| CENTRES.map(|v| at(u, v)));
            let all = || corners.into_iter().flatten();
            if !all().all(f32::is_finite) {
                return Range::ANY;
            }
            Range::between(
                all().fold(f32::INFINITY, f32::min),
                all().fold(-f32::INFINITY, f32::max),
            )
        }),
    }
}

/// Checks that the options do not need the reference engine.
fn check_options(options: &Options<'_>) -> Result<(), LiftError> {
    if options.warnings {
        return Err(LiftError::Options(UnsupportedOption::Warnings));
    }
    Ok(())
}

/// Checks that readings which only the reference engine implements affect no instruction. The program is structured and has no errors.
fn check_readings(draw: &Draw<'_>) -> Result<(), LiftError> {
    let affecting = draw.options.readings.affecting(draw, ControlFlow::Structured);
    match affecting.into_iter().find(|affected| !affected.in_every_engine) {
        Some(affected) => Err(LiftError::Reading(affected)),
        None => Ok(()),
    }
}

/// Returns whether execution must check that groups behave like independent pixels. They may not if uncovered pixels have no vote in flow
/// control while their neighbours read their registers.
fn needs_group_check(draw: &Draw<'_>, analysis: &ProgramAnalysis) -> Result<bool, LiftError> {
    let facts: &Facts = &analysis.facts;
    if facts.group_size_invisible {
        return Ok(false);
    }
    if !facts.no_inactive_writes {
        return Err(LiftError::Group(GroupDependence::InactiveWrites));
    }
    if draw.options.group != GROUP {
        return Err(LiftError::Options(UnsupportedOption::GroupSize));
    }
    // Without reads across a quad, no pixel depends on another.
    if facts.structured && quad_readers(draw, analysis).next().is_none() {
        return Ok(false);
    }
    if facts.group_size_invisible_if_covered && draw.bindings.covers_quads() {
        return Ok(false);
    }
    let counts = draw.shader.ops().iter().any(|op| match op {
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
fn read_across(draw: &Draw<'_>, analysis: &ProgramAnalysis) -> Vec<bool> {
    let mut exact = vec![false; RegState::REGISTERS];
    let diverged = quad_readers(draw, analysis).filter(|&at| analysis.structure.divergent[at]);
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
fn quad_readers(draw: &Draw<'_>, analysis: &ProgramAnalysis) -> impl Iterator<Item = usize> {
    let ops = draw.shader.ops().iter().enumerate();
    ops.filter_map(|(at, op)| {
        let depends = match op {
            Op::Tex(tex) => {
                let sampler = draw.bindings.sampler(usize::from(tex.unit));
                sampler.is_some_and(Sampler::depends_on_lod)
            }
            _ => true,
        };
        (analysis.info(at).reads_quad && depends).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use r500_program::{Component, Plane};

    use super::*;

    /// Sums and products of these include zeros of either sign.
    const NUMBERS: [f32; 8] = [0.0, -0.0, 1.0, -1.0, -0.625, 1.0e-40, -3.0e38, 1.0e-30];

    #[test]
    fn planes_of_pixels_of_any_picture_lie_in_their_ranges() {
        let axes = [(0, 1), (3, 1), (0, 3), (3, 5), (20, 32), (4095, 4096), (0, u32::MAX)];
        let centres = axes.map(|(pixel, size)| r500_numerics::centre(pixel, size));
        let all = || NUMBERS.into_iter();
        for (c, du, dv) in
            all().flat_map(|c| all().flat_map(move |du| all().map(move |dv| (c, du, dv))))
        {
            let component = Component { plane: Plane { c, du, dv }, ..Component::default() };
            let planes = std::array::from_fn(|_| component.clone());
            let [range, ..] = input_ranges(&InputData::Planes(planes));
            for (u, v) in centres.iter().flat_map(|u| centres.iter().map(move |v| (*u, *v))) {
                let x = r500_numerics::plane(c, du, dv, u, v);
                assert!(
                    range.contains(Range::of(x)),
                    "{x:e}, {range:?}: {c:e} + {du:e} u + {dv:e} v"
                );
            }
        }
    }
}
