//! The lift: translation of a structured program with its bindings to a [`Function`].
//!
//! | module | job |
//! | --- | --- |
//! | `state` | abstract register state: the operand in each register channel |
//! | `alu` | ALU and OUT instructions |
//! | `tex` | texture instructions |
//! | `flow` | statements: branches, loops, calls |
//!
//! The semantics are those of the [reference engine](mod@r500_exec::reference) with its default readings, for independent pixels: the
//! checker's [`Facts`] about clean programs make the two equal. Bindings (integer and boolean constants, units with a texture, program
//! constants that are not [symbolic](SymbolicConstants)) are folded, so a function is valid for one draw, or for draws that differ only in
//! uniforms.

mod alu;
mod flow;
mod state;
mod tex;

use r500_check::graph::Structure;
use r500_check::{Analysis, Facts, Lint, Severity, Verdict};
use r500_isa::state::{UsCodeAddr, UsCodeOffset, UsCodeRange, UsFcCtrl, UsPixsize};
use r500_isa::{INT_CONSTANTS, TEMPORARIES};
use r500_program::{InputData, Program, State};

use super::builder::Builder;
use super::opt::{Analyses, optimize};
use super::{Function, Operand, Range, SymbolicConstants};
use r500_exec::{Bindings, Draw, GROUP, Op, Readings, Shader, TexReg};
use state::RegState;

/// The maximum number of statements: inlined calls and unrolled loops multiply them.
const STATEMENTS: usize = 60_000;

/// The reason why a draw has no function. The reference engine runs it instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LiftError {
    /// The options request readings, warnings or a group size that only the reference engine supports.
    #[error("{0} are the reference engine's")]
    Options(&'static str),
    /// The checker finds errors.
    #[error("the checker finds an error: {0}")]
    Broken(String),
    /// The program is not structured.
    #[error("flow control is not structured: address {address}: {reason}")]
    Unstructured {
        /// Absolute address of the first unstructured instruction.
        address: u32,
        /// Why.
        reason: &'static str,
    },
    /// The group size may be observable.
    #[error("{0}, so the size of the group of pixels may show")]
    Group(&'static str),
    /// The function is too long.
    #[error("calls and loops unrolled make more than {STATEMENTS} operations")]
    TooLong,
}

/// Lifts the program of a draw, specialised for all program constants: the function has no uniforms.
///
/// # Errors
/// [`LiftError`] if the program or the options need the reference engine.
pub fn lift(draw: &Draw<'_>) -> Result<Function, LiftError> {
    lift_symbolic(draw, &SymbolicConstants::none())
}

/// Lifts the program of a draw with some program constants as [uniforms](Function::uniforms). The function is valid for all values of these
/// within the given ranges, whatever the draw binds; with [`SymbolicConstants::all`] it does not depend on any program constant.
///
/// # Errors
/// [`LiftError`] if the program or the options need the reference engine.
pub fn lift_symbolic(draw: &Draw<'_>, symbolic: &SymbolicConstants) -> Result<Function, LiftError> {
    let options = draw.options;
    if options.warnings {
        return Err(LiftError::Options("findings"));
    }
    if options.readings != Readings::REFERENCE {
        return Err(LiftError::Options("readings other than the default ones"));
    }
    let program = program(draw.shader, draw.bindings);
    let Analysis { report, graph, structure } = r500_check::analyze_errors(&program);
    let facts = match &report.verdict {
        Verdict::Clean(facts) => *facts,
        _ => return Err(broken(&report.lints)),
    };
    let (Some(graph), Some(structure)) = (graph, structure) else {
        return Err(broken(&report.lints));
    };
    let structure = structure.map_err(|error| LiftError::Unstructured {
        address: graph.window().address(error.index),
        reason: error.reason.text(),
    })?;
    let needs_group_check = needs_group_check(draw, &facts)?;

    let mut lift = Lift {
        draw,
        symbolic,
        structure: &structure,
        quad_visible: read_across(draw, &structure),
        needs_group_check,
        builder: Builder::default(),
        regs: RegState::start(options.poison),
        active: super::ALL,
        al: 0,
        loops: Vec::new(),
    };
    lift.builder.open_region();
    lift.inputs();
    lift.statements(&structure.main)?;
    let (colors, depth) = lift.regs.outputs(draw.shader);
    let body = lift.builder.close_region();
    let number = |channel| !lift.builder.range(channel).nan;
    let non_nan = colors.map(|channels| channels.map_or([false; 4], |c| c.map(number)));
    let (values, uniforms) = lift.builder.take_values();
    let mut function = Function { values, uniforms, body, colors, non_nan, depth };
    let analyses = Analyses::new(lift.builder.ranges(), reads_quads(draw));
    optimize(&mut function, analyses);
    Ok(function)
}

/// The state of a lift.
struct Lift<'a> {
    draw: &'a Draw<'a>,
    /// The program constants that are uniforms.
    symbolic: &'a SymbolicConstants,
    structure: &'a Structure,
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

/// Returns the program for the checker: the shader's instructions and window, and the bound integer and boolean constants; unbound ones are
/// 0, as in the reference engine.
fn program(shader: &Shader, bindings: &Bindings) -> Program {
    let mut state = State::default();
    let (first, last) = shader.window();
    let offset = shader.offset();
    // A window or an end that differs from all instructions comes from nine-bit registers; the default has no limit, because a program may
    // be longer than the processor's memory.
    let narrow = |address: u32| u16::try_from(address).expect("registers hold nine bits");
    let all = (offset, offset + shader.code().len() as u32 - 1);
    state.code_offset =
        Some(UsCodeOffset::default().with(UsCodeOffset::OFFSET_ADDR, narrow(offset)));
    if (first, last) != all {
        state.code_range = Some(
            UsCodeRange::default()
                .with(UsCodeRange::CODE_ADDR, narrow(first))
                .with(UsCodeRange::CODE_SIZE, narrow(last - first)),
        );
    }
    if (shader.start(), shader.end()) != all {
        state.code_addr = Some(
            UsCodeAddr::default()
                .with(UsCodeAddr::START_ADDR, narrow(shader.start() - offset))
                .with(UsCodeAddr::END_ADDR, narrow(shader.end().saturating_sub(offset))),
        );
    }
    state.fc_ctrl = Some(UsFcCtrl::default().with(UsFcCtrl::FULL_FC_EN, shader.full_fc()));
    state.pixsize =
        shader.pixsize().map(|last| UsPixsize::default().with(UsPixsize::PIX_SIZE, last));
    state.fc_bool_const = Some(bindings.bool_constants().unwrap_or_default());
    for n in 0..INT_CONSTANTS {
        state.fc_int_const[n] = Some(bindings.int_constant(n).unwrap_or_default());
    }
    Program { code: shader.code().to_vec(), state }
}

fn broken(findings: &[Lint]) -> LiftError {
    let error = findings.iter().find(|finding| finding.severity() == Severity::Error);
    LiftError::Broken(error.map_or_else(|| "of what is not given".to_owned(), ToString::to_string))
}

/// Returns whether execution must check that groups behave like independent pixels. They may not if uncovered pixels have no vote in flow
/// control while their neighbours read their registers.
fn needs_group_check(draw: &Draw<'_>, facts: &Facts) -> Result<bool, LiftError> {
    if facts.group_size_invisible {
        return Ok(false);
    }
    if !facts.no_inactive_writes {
        return Err(LiftError::Group("something has WRITE_INACTIVE"));
    }
    if draw.options.group != GROUP {
        return Err(LiftError::Options("groups of another size"));
    }
    // Without reads across a quad, no pixel depends on another.
    if facts.structured && !reads_quads(draw) {
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
        return Err(LiftError::Group("STAT_WE counts, with IGNORE_UNCOVERED and quad differences"));
    }
    Ok(true)
}

/// Returns the channels of temporaries that are read across a quad with diverged lanes.
fn read_across(draw: &Draw<'_>, structure: &Structure) -> Vec<bool> {
    let mut exact = vec![false; RegState::REGISTERS];
    let mut mark = |addr: u8, relative: bool, channels: u8| {
        for temp in
            (0..TEMPORARIES).filter(|&temp| relative || temp == usize::from(addr) % TEMPORARIES)
        {
            for channel in (0..4).filter(|i| channels >> i & 1 != 0) {
                exact[RegState::temp(temp) + channel] = true;
            }
        }
    };
    let ops = draw.shader.ops().iter().zip(&structure.divergent);
    for (op, _) in ops.filter(|(_, apart)| **apart) {
        match op {
            Op::Alu(alu) => {
                let ([rgb, ..], [alpha, ..]) = (alu.rgb.sources, alu.alpha.sources);
                // Both halves read colours of the RGB source and alpha of the alpha source.
                if alu.rgb.op.is_derivative() || alu.alpha.op.is_derivative() {
                    mark(rgb.addr, rgb.relative, 0b0111);
                    mark(alpha.addr, alpha.relative, 0b1000);
                }
            }
            Op::Tex(tex) if tex::reads_quad(draw, tex) => {
                let TexReg { addr, relative, swiz } = tex.coord;
                let channels =
                    swiz.iter().fold(0, |mask, channel| mask | 1 << (channel.code() & 3));
                mark(addr, relative, channels);
            }
            _ => {}
        }
    }
    exact
}

/// Returns whether the program reads across a quad.
fn reads_quads(draw: &Draw<'_>) -> bool {
    draw.shader.ops().iter().any(|op| match op {
        Op::Alu(alu) => alu.rgb.op.is_derivative() || alu.alpha.op.is_derivative(),
        Op::Tex(tex) => tex::reads_quad(draw, tex),
        Op::Fc(_) => false,
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
