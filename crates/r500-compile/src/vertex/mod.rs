//! Vertex programs.
//!
//! Both ways of a branch are computed, and operations choose. Loops are unrolled if the number of their passes is known and they fit; others
//! are loops of the chip, which have all passes that may be needed: variables are kept once the vertex has left. The chip's jumps and
//! predicates are not used.
//!
//! | module | textbook name |
//! | --- | --- |
//! | [`select`](self) | instruction selection: instructions on virtual registers ([`machine`](r500_opt::vertex::machine)) |
//! | [`verify`] | comparison with the evaluator |
//!
//! Pairs, register allocation and instruction words are those of the [optimiser](r500_opt::vertex), which has the last word.

mod select;
pub mod verify;

use std::collections::BTreeMap;

use r500_glsl::tree::{BuiltinVariable, Shader, StmtKind, Storage};
use r500_glsl::types::{Base, Type};
use r500_glsl::{Diagnostic, Span, Stage};
use r500_opt::vertex::machine::Loop;
use r500_opt::vertex::{self, Homes, NumberedRegisters, TEMPORARIES};
use r500_program::Uniform;
use r500_pvs::{CONSTANTS, Controls, FLOW_INSTRUCTIONS, Fill, Flow, INSTRUCTIONS, Program, Source};

use crate::coalesce::{Rules, coalesce};
use crate::code::{Node, Routine, Shape, Target, reads};
use crate::comparison::wrong_program;
use crate::interface::{InputVector, OutputVector};
use crate::language::parse;
use crate::lower::{self, Lowered};
use crate::points::{self, ChipLoop, DebugInfo, Origin};
use crate::{fragment, live, products};
use select::{Code, Constant};

/// A compiled shader.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program, with the constants that hold the shader's numbers.
    pub source: Source,
    /// The constants that hold vectors of uniforms, by name.
    pub uniforms: Vec<Uniform>,
    /// What these vectors hold, in the same order.
    pub uniform_bases: Vec<Base>,
    /// The vectors of attributes that are read, by name, with their inputs.
    pub attributes: Vec<Attribute>,
    /// What is written.
    pub outputs: Vec<Output>,
    /// For each instruction the places in the source that it computes.
    pub spans: Vec<Vec<Span>>,
    /// Which executions of statements the instructions compute.
    pub debug: DebugInfo,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// A vector of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name: `position`, `instance[2]`.
    pub name: String,
    /// Components.
    pub size: u8,
    /// The chip's input.
    pub input: u8,
}

/// A vector that the vertex program writes, or that a fragment shader reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// `gl_Position`, `gl_PointSize`, or that of a varying: `uv`, `basis[2]`.
    pub name: String,
    /// Components.
    pub size: u8,
    /// The chip's output.
    pub output: u8,
}

/// The output of the position.
pub const POSITION: u8 = 0;
/// Attributes that the chip fetches.
const MOST_ATTRIBUTES: usize = 16;
/// Vectors that the chip interpolates, as drivers for it report.
const MOST_VARYINGS: usize = 10;
/// Most operations of a loop that is unrolled: more fit only if many of them are not needed.
const MOST_UNROLLED: usize = 2 * INSTRUCTIONS;
/// The same, of a program that does not fit.
const FEW_UNROLLED: usize = 32;
/// Vertices, four at a time, that are compared with the evaluator.
const VERIFIED_RUNS: usize = 4;

/// Compiles a vertex shader. With what a fragment shader reads ([`reads_of`]), those of its varyings are outputs; without, all that it sets
/// are, in their order, from `out[1]` on.
///
/// # Errors
/// All errors of the source with its warnings, or the limits of the chip that the program exceeds; also if a varying that is read is not
/// set, or has another type.
pub fn compile(source: &str, reads: Option<&[Output]>) -> Result<Compiled, Vec<Diagnostic>> {
    let (shader, warnings) = parse(source, Stage::Vertex)?;
    let compiled = compile_tree(&shader, reads, warnings)?;
    match verify::verify(&shader, &compiled, VERIFIED_RUNS, 1) {
        Ok(_) => Ok(compiled),
        Err(mismatch) => Err(vec![wrong_program(&shader, &mismatch)]),
    }
}

/// Returns what a compiled fragment shader reads: what its first temporaries hold is in the outputs from `out[1]` on.
#[must_use]
pub fn reads_of(compiled: &fragment::Compiled) -> Vec<Output> {
    let read = |(temporary, vector): &(u8, InputVector)| Output {
        name: vector.name.clone(),
        size: vector.size,
        output: temporary + POSITION + 1,
    };
    compiled.inputs.iter().map(read).collect()
}

/// Compiles a shader that is read, without a comparison with the evaluator. `reads`: what the fragment shader reads, if it is known.
///
/// # Errors
/// As of [`compile`].
pub fn compile_tree(
    shader: &Shader,
    reads: Option<&[Output]>,
    warnings: Vec<Diagnostic>,
) -> Result<Compiled, Vec<Diagnostic>> {
    translate(shader, reads, warnings.clone(), MOST_UNROLLED).or_else(|errors| {
        // Loops of the chip are short.
        let is_repeated = shader.functions.iter().any(|function| {
            let mut found = false;
            for statement in &function.body {
                statement.each(&mut |inside| found |= matches!(inside.kind, StmtKind::Loop(_)));
            }
            found
        });
        if !is_repeated {
            return Err(errors);
        }
        translate(shader, reads, warnings, FEW_UNROLLED).map_err(|_| errors)
    })
}

/// Compiles a shader that is read; loops that have more operations than `most_unrolled` in all passes are loops of the chip.
fn translate(
    shader: &Shader,
    reads: Option<&[Output]>,
    warnings: Vec<Diagnostic>,
    most_unrolled: usize,
) -> Result<Compiled, Vec<Diagnostic>> {
    let mut diagnostics = warnings;
    let mut lowered = lower::lower(shader, &mut diagnostics, most_unrolled);
    let whole = shader.functions[shader.main].span;
    if !lowered.outputs.iter().any(|output| output.name == "gl_Position") {
        let error = Diagnostic::error(whole, "the vertex shader does not set `gl_Position`");
        diagnostics.push(error.help("set it to the place in clip space"));
    }
    let outputs = match reads {
        Some(reads) => linked(shader, &lowered.outputs, reads, &mut diagnostics),
        None => all_outputs(shader, &lowered.outputs, &mut diagnostics),
    };
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let is_written = |node: &Node| match node {
        Node::Output(Target::Vertex(n), ..) => !outputs[usize::from(*n)].is_empty(),
        _ => true,
    };
    lowered.routine.nodes.retain(is_written);
    live::remove_dead(&mut lowered.routine);
    products::fold(&mut lowered.routine);
    live::remove_dead(&mut lowered.routine);
    let rules = Rules { is_one: &select::is_one_instruction, has_writable_inputs: false };
    coalesce(&mut lowered.routine, rules);
    let inputs = used_inputs(&lowered.routine, lowered.inputs.len());
    let (code, homes) = match allocated(&lowered.routine, &inputs, &outputs) {
        Ok(allocated) => allocated,
        Err(count) => {
            let message =
                format!("the shader needs {count} temporaries; the chip has {}", TEMPORARIES);
            let error = Diagnostic::error(whole, message);
            diagnostics.push(error.help("use fewer values at the same time"));
            return Err(diagnostics);
        }
    };
    for (message, help) in limits(&code, inputs.iter().flatten().count()) {
        diagnostics.push(Diagnostic::error(whole, message).help(help));
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let words = vertex::encode(&code.insts, &homes);
    let controls = Controls::of_code(0, &words).with_loops(flow_of(&code));
    let optimized = vertex::optimize(&Program::from_code(controls, 0, words), &[]);
    Ok(finished(lowered, &code, optimized, &inputs, &outputs, diagnostics))
}

/// Selects instructions and gives their registers temporaries; with fewer values in temporaries if they do not suffice.
fn allocated(
    routine: &Routine,
    inputs: &[Option<u8>],
    outputs: &[Vec<u8>],
) -> Result<(Code, Homes), usize> {
    let with = |shares_moves: bool, pairs: bool| {
        let mut code = select::select(routine, inputs, outputs, shares_moves);
        // One that is far too long is only counted.
        if pairs && code.insts.len() <= 2 * INSTRUCTIONS {
            vertex::pair(&mut code.insts, &mut code.loops);
        }
        let numbered = NumberedRegisters::default();
        let homes = vertex::allocate(&code.insts, &code.loops, TEMPORARIES, &numbered)?;
        Ok((code, homes))
    };
    with(true, true).or_else(|_: usize| with(false, true)).or_else(|_| with(false, false))
}

/// Returns the flow control of loops.
#[expect(clippy::expect_used, reason = "a program beyond the chip's limits must not be given")]
fn flow_of(code: &Code) -> Vec<Flow> {
    let number = |at: usize| u16::try_from(at).expect("the limits are checked before");
    let flow =
        |(n, of): (u8, &Loop)| Flow::of_loop(n, of.passes, number(of.first), number(of.end - 1));
    (0..).zip(&code.loops).map(flow).collect()
}

/// Returns the chip's outputs for each vector: the position, the varyings, the size of points.
fn all_outputs(
    shader: &Shader,
    vectors: &[OutputVector],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Vec<u8>> {
    let is = |vector: &OutputVector, name: &str| vector.name == name;
    let is_varying =
        |vector: &&OutputVector| !is(vector, "gl_Position") && !is(vector, "gl_PointSize");
    let varyings = vectors.iter().filter(is_varying).count();
    if varyings > MOST_VARYINGS {
        let span = shader.functions[shader.main].span;
        let message = format!(
            "the shader sets {varyings} vectors of varyings; the chip interpolates {MOST_VARYINGS}"
        );
        let help = "put scalars and short vectors into the components of one `vec4`";
        diagnostics.push(Diagnostic::error(span, message).help(help));
    }
    let mut next = POSITION;
    let size_of_points = POSITION + 1 + varyings.min(MOST_VARYINGS) as u8;
    vectors
        .iter()
        .map(|vector| match vector.name.as_str() {
            "gl_Position" => vec![POSITION],
            "gl_PointSize" => vec![size_of_points],
            _ => {
                next = next.saturating_add(1);
                vec![next]
            }
        })
        .collect()
}

/// Returns the chip's outputs for each vector: those that the fragment shader reads, and the position.
fn linked(
    shader: &Shader,
    vectors: &[OutputVector],
    reads: &[Output],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Vec<u8>> {
    let mut outputs = vec![Vec::new(); vectors.len()];
    let position = vectors.iter().position(|vector| vector.name == "gl_Position");
    if let Some(position) = position {
        outputs[position].push(POSITION);
    }
    // The rasteriser gives these.
    let is_set = |read: &&Output| !matches!(read.name.as_str(), "gl_FrontFacing" | "gl_PointCoord");
    for read in reads.iter().filter(is_set) {
        let name = match read.name.as_str() {
            "gl_Color" => "gl_FrontColor",
            "gl_SecondaryColor" => "gl_FrontSecondaryColor",
            // The place in clip space once more, as drivers do.
            "gl_FragCoord" => "gl_Position",
            name => name,
        };
        match vectors.iter().position(|vector| vector.name == name) {
            Some(n) if vectors[n].size == read.size => outputs[n].push(read.output),
            Some(n) => {
                let name_of = |size: u8| Type::Vector(Base::Float, size);
                let (given, wanted) = (name_of(vectors[n].size), name_of(read.size));
                let message =
                    format!("`{name}` is a `{given}` here and a `{wanted}` in the fragment shader");
                let error = Diagnostic::error(declared_at(shader, name), message);
                diagnostics.push(error.help("declare it with the same type in both"));
            }
            None => {
                let message =
                    format!("the fragment shader reads `{name}`, which this shader does not set");
                let error = Diagnostic::error(declared_at(shader, name), message);
                diagnostics.push(error.help("declare it as `varying` (or `out`) and set it"));
            }
        }
    }
    outputs
}

/// Returns where the variable of a vector is declared, or `main` is.
fn declared_at(shader: &Shader, name: &str) -> Span {
    let variable = name.split(['[', '.']).next();
    let declared = shader.variables.iter().find(|other| {
        let is_output =
            matches!(other.storage, Storage::Varying | Storage::Builtin(BuiltinVariable::Position));
        is_output && Some(other.name.as_str()) == variable && other.span != Span::default()
    });
    declared.map_or(shader.functions[shader.main].span, |variable| variable.span)
}

/// Returns the chip's input for each input that is read.
fn used_inputs(routine: &Routine, count: usize) -> Vec<Option<u8>> {
    let mut used = vec![false; count];
    select::each(&routine.nodes, &mut |node| {
        reads(node, &mut |register, _| {
            if let Shape::Input(n) = routine.shape(register) {
                used[usize::from(n)] = true;
            }
        });
    });
    let mut next = 0..u8::MAX;
    used.into_iter().map(|used| if used { next.next() } else { None }).collect()
}

/// Returns the limits that a program exceeds, and what to do.
fn limits(code: &Code, inputs: usize) -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    let mut limit = |count: usize, what: &str, most: usize, help: &'static str| {
        if count > most {
            all.push((format!("the shader needs {count} {what}; the chip has {most}"), help));
        }
    };
    limit(code.insts.len(), "instructions", INSTRUCTIONS, "use shorter loops");
    limit(code.constants.len(), "constants", CONSTANTS, "use fewer or shorter arrays of uniforms");
    limit(code.loops.len(), "loops", FLOW_INSTRUCTIONS, "merge loops, or make them shorter");
    limit(inputs, "attributes", MOST_ATTRIBUTES, "put several into the components of one `vec4`");
    all
}

/// Names what a program shares with its draw.
fn finished(
    lowered: Lowered,
    code: &Code,
    optimized: vertex::Optimized,
    inputs: &[Option<u8>],
    outputs: &[Vec<u8>],
    warnings: Vec<Diagnostic>,
) -> Compiled {
    let mut uniforms = Vec::new();
    let mut uniform_bases = Vec::new();
    let mut constants = BTreeMap::new();
    for (n, constant) in (0u8..).zip(&code.constants) {
        match constant {
            Constant::Uniform(uniform) => {
                let of = &lowered.uniforms[usize::from(*uniform)];
                if let Some(known) = of.known {
                    constants.insert(n, known);
                    continue;
                }
                let name = of.name.clone();
                uniforms.push(Uniform { name, constant: n, channel: 0, channels: of.size });
                uniform_bases.push(of.base);
            }
            Constant::Numbers(list) => {
                let bits = std::array::from_fn(|c| list.get(c).copied().unwrap_or(0));
                constants.insert(n, bits);
            }
        }
    }
    let attribute = |(vector, input): (&InputVector, &Option<u8>)| {
        let (name, size) = (vector.name.clone(), vector.size);
        input.map(|input| Attribute { name, size, input })
    };
    let mut written: Vec<Output> = Vec::new();
    for (vector, list) in lowered.outputs.iter().zip(outputs) {
        let output =
            |output: &u8| Output { name: vector.name.clone(), size: vector.size, output: *output };
        written.extend(list.iter().map(output));
    }
    written.sort_by_key(|output| output.output);
    let of_one = |at: &usize| {
        let inst = &code.insts[*at];
        std::iter::once(inst.origin).chain(inst.dual.iter().map(|dual| dual.origin))
    };
    let vertex::Optimized { program, origins: numbers, .. } = optimized;
    let origins: Vec<Vec<Origin>> =
        numbers.iter().map(|numbers| numbers.iter().flat_map(of_one).collect()).collect();
    // What is inside of a loop stays there.
    let of_loop = |of: &Loop| {
        let is_inside =
            |numbers: &Vec<usize>| numbers.iter().any(|n| (of.first..of.end).contains(n));
        let first = numbers.iter().position(is_inside)?;
        let last = numbers.iter().rposition(is_inside)?;
        Some(ChipLoop { body: first..last + 1, passes: of.passes.into() })
    };
    let loops = code.loops.iter().filter_map(of_loop).collect();
    Compiled {
        source: Source { constants, fill: Fill::Zero, ..Source::from(program) },
        uniforms,
        uniform_bases,
        attributes: lowered.inputs.iter().zip(inputs).filter_map(attribute).collect(),
        outputs: written,
        spans: points::spans(&origins),
        debug: DebugInfo::new(lowered.points, &origins, loops),
        warnings,
    }
}
