//! Fragment programs.
//!
//! | module | textbook name |
//! | --- | --- |
//! | [`allocate`](self) | linear-scan register allocation |
//! | [`encode`](self), [`draft`](self) | instruction selection; which operands one instruction takes |
//! | [`r500_opt`] | pairing of both halves, scheduling, peephole optimisations |
//! | [`verify`] | comparison with the evaluator |

mod allocate;
mod draft;
mod encode;
pub mod verify;

use r500_exec::Bindings;
use r500_glsl::tree::Shader;
use r500_glsl::types::{Base, Dimensions};
use r500_glsl::{Diagnostic, Span, Stage};
use r500_isa::limits::BRANCH_LEVELS;
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcCtrl, UsPixsize, UsWFmt,
};
use r500_isa::values::{FcOp, InstType, WFormat};
use r500_isa::words::CmnInst;
use r500_isa::{CONSTANTS, INSTRUCTION_SLOTS};
use r500_program::{
    Channel, Compilation, Component, Input, InputData, Job, OUT_FMT_RGBA8, Plane, Program, Sampler,
    SamplerTarget, Uniform,
};

use crate::coalesce::{Rules, coalesce};
use crate::code::Routine;
use crate::comparison::wrong_program;
use crate::evaluate::Pixels;
use crate::interface::{InputVector, SamplerUnit};
use crate::language::parse;
use crate::points::{self, ChipLoop, DebugInfo, Origin};
use crate::{code, coordinates, hoist, live, lower, products};
use draft::Constant;

/// A compiled shader.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program, with names and with inputs that go over the picture.
    pub job: Job,
    /// What temporaries hold when the program starts.
    pub inputs: Vec<(u8, InputVector)>,
    /// What the uniforms of the job hold, in its order.
    pub uniform_bases: Vec<Base>,
    /// The samplers of the texture units, in order.
    pub samplers: Vec<SamplerUnit>,
    /// For each instruction the places in the source that it computes.
    pub spans: Vec<Vec<Span>>,
    /// Which executions of statements the instructions compute.
    pub debug: DebugInfo,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Compiled {
    /// Returns the names of the samplers, by unit.
    #[must_use]
    pub fn sampler_names(&self) -> Vec<(u8, String)> {
        (0..).zip(self.samplers.iter().map(|unit| unit.name.clone())).collect()
    }

    /// Returns what the pixels of a draw of the program are given.
    pub(crate) fn pixels<'a>(&'a self, bindings: &'a Bindings) -> Pixels<'a> {
        let (uniforms, inputs, samplers) = (&self.job.uniforms, &self.inputs, &self.samplers);
        Pixels { bindings, uniforms, inputs, samplers }
    }
}

/// Most operations: an instruction has two halves of at most four.
const MOST_OPERATIONS: usize = INSTRUCTION_SLOTS * 4;

/// Pictures of 16 pixels that are compared with the evaluator.
const VERIFIED_DRAWS: usize = 2;

/// Temporaries that the optimiser may use in any case.
const FREE_TEMPORARIES: u8 = 32;

/// Compiles a fragment shader.
///
/// # Errors
/// All errors of the source with its warnings, or the limits of the chip that the program exceeds.
pub fn compile(source: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let (shader, warnings) = parse(source, Stage::Fragment)?;
    let compiled = compile_tree(source, &shader, warnings)?;
    match verify::verify(&shader, &compiled, VERIFIED_DRAWS, 1) {
        Ok(_) => Ok(compiled),
        Err(mismatch) => Err(vec![wrong_program(&shader, &mismatch)]),
    }
}

/// Compiles a fragment shader to a program that is neither optimised nor compared with the evaluator: the same picture in a fraction of
/// the time, for editors that draw while one types.
///
/// # Errors
/// As of [`compile`].
pub fn compile_draft(source: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let (shader, warnings) = parse(source, Stage::Fragment)?;
    translate(source, &shader, warnings, false)
}

/// Compiles a shader that is read, without a comparison with the evaluator.
///
/// # Errors
/// As of [`compile`].
pub fn compile_tree(
    source: &str,
    shader: &Shader,
    warnings: Vec<Diagnostic>,
) -> Result<Compiled, Vec<Diagnostic>> {
    translate(source, shader, warnings, true)
}

/// Compiles a shader that is read, with or without the optimiser.
fn translate(
    source: &str,
    shader: &Shader,
    warnings: Vec<Diagnostic>,
    optimise: bool,
) -> Result<Compiled, Vec<Diagnostic>> {
    let mut diagnostics = warnings;
    let mut lowered = lower::lower(shader, &mut diagnostics, usize::MAX);
    live::remove_dead(&mut lowered.routine);
    products::fold(&mut lowered.routine);
    live::remove_dead(&mut lowered.routine);
    let whole = shader.functions[shader.main].span;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let count = code::count(&lowered.routine.nodes);
    if count > MOST_OPERATIONS {
        let message = format!(
            "the shader needs {count} operations; the chip has {INSTRUCTION_SLOTS} instructions"
        );
        diagnostics.push(
            Diagnostic::error(whole, message).help("split it into passes, or use shorter loops"),
        );
        return Err(diagnostics);
    }
    if let Some(span) = code::too_deep(&lowered.routine.nodes, usize::from(BRANCH_LEVELS)) {
        let message = format!("branches are nested too deep; the chip has {BRANCH_LEVELS} levels");
        let help = "combine conditions with `&&`, or leave functions and loops in fewer places";
        diagnostics.push(Diagnostic::error(span, message).help(help));
        return Err(diagnostics);
    }
    coordinates::pair(&mut lowered.routine);
    let rules = Rules { is_one: &Routine::is_one_instruction, has_writable_inputs: true };
    coalesce(&mut lowered.routine, rules);
    hoist::hoist(&mut lowered.routine);
    let allocation = match allocate::allocate(&lowered.routine, lowered.inputs.len()) {
        Ok(allocation) => allocation,
        Err(count) => {
            let message = format!(
                "the shader needs {count} temporaries; the chip has {}",
                r500_isa::TEMPORARIES
            );
            diagnostics
                .push(Diagnostic::error(whole, message).help("use fewer values at the same time"));
            return Err(diagnostics);
        }
    };
    let end = Origin { span: whole, ..Origin::default() };
    let encoded = encode::encode(&lowered.routine, &allocation, end);
    let job = job(&lowered, &allocation, &encoded);
    let limits = limits(source, &encoded);
    let mut program = job.program.clone();
    let mut origins: Vec<Vec<Origin>> =
        encoded.origins.iter().map(|origin| vec![*origin]).collect();
    if optimise && program.code.len() <= INSTRUCTION_SLOTS && limits.is_empty() {
        program.state.pixsize = Some(UsPixsize(0).with(UsPixsize::PIX_SIZE, FREE_TEMPORARIES - 1));
        let allowed = r500_opt::Cost {
            temporaries: FREE_TEMPORARIES.into(),
            nops: INSTRUCTION_SLOTS as u64,
            ..Default::default()
        };
        let allow = vec![r500_opt::Allowance::ZeroSign];
        let options = r500_opt::Options { allowed, allow, ..Default::default() };
        let optimized = r500_opt::optimize(&program, &options);
        let of_one = |from: &Vec<u32>| {
            from.iter().filter_map(|at| encoded.origins.get(*at as usize).copied()).collect()
        };
        origins = optimized.origins.iter().map(of_one).collect();
        program = optimized.program;
        if optimized.changes.is_empty() {
            // Nothing has counted the temporaries anew.
            program.state.pixsize = job.program.state.pixsize;
        }
    }
    if !limits.is_empty() {
        diagnostics.extend(
            limits.into_iter().map(|(message, help)| Diagnostic::error(whole, message).help(help)),
        );
        return Err(diagnostics);
    }
    let loops = loops(&program);
    let temporaries = lowered.inputs.iter().zip(&allocation.inputs);
    let inputs =
        temporaries.filter_map(|(vector, temporary)| Some(((*temporary)?, vector.clone())));
    Ok(Compiled {
        inputs: inputs.collect(),
        uniform_bases: encoded
            .constants
            .iter()
            .filter_map(|constant| match constant {
                Constant::Uniform(n) => Some(lowered.uniforms[usize::from(*n)].base),
                Constant::Literals(_) => None,
            })
            .collect(),
        job: Job { program, ..job },
        samplers: lowered.samplers,
        spans: points::spans(&origins),
        debug: DebugInfo::new(lowered.points, &origins, loops),
        warnings: diagnostics,
    })
}

/// Returns the loops of a program.
fn loops(program: &Program) -> Vec<ChipLoop> {
    let count = |int: u8| program.state.fc_int_const.get(usize::from(int)).copied().flatten();
    let of = |(at, inst): (usize, &r500_isa::Instruction)| {
        let is_loop = inst.ty() == InstType::FC && inst.fc_inst().op() == FcOp::LOOP;
        // It jumps to after its end where there is no pass.
        let after = is_loop.then(|| usize::from(inst.fc_addr().jump_addr()))?;
        let passes = count(inst.fc_addr().int_addr())?.kr();
        Some(ChipLoop { body: at + 1..after, passes: passes.into() })
    };
    program.code.iter().enumerate().filter_map(of).collect()
}

/// Returns the limits that a program exceeds, and what to do.
fn limits(source: &str, encoded: &encode::Encoded) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let count = encoded.code.len();
    if count > INSTRUCTION_SLOTS {
        let message = format!(
            "the program has {count} instructions before optimisation; the chip has {INSTRUCTION_SLOTS}"
        );
        all.push((
            message,
            format!("most of them come from {}", most_expensive(source, &encoded.origins)),
        ));
    }
    let count = encoded.constants.len();
    if count > CONSTANTS {
        let message = format!("the program has {count} constants; the chip has {CONSTANTS}");
        all.push((message, "use fewer or shorter arrays of uniforms".to_owned()));
    }
    if encoded.int_constants.len() > r500_isa::INT_CONSTANTS {
        let message = format!(
            "the program has loops of {} lengths; the chip has {}",
            encoded.int_constants.len(),
            r500_isa::INT_CONSTANTS
        );
        all.push((message, "use fewer lengths".to_owned()));
    }
    all
}

/// The lines with the most instructions: `line 23 (210), line 7 (12)`.
fn most_expensive(source: &str, origins: &[Origin]) -> String {
    let line = |origin: &Origin| origin.span.line(source) + 1;
    let mut counts = std::collections::BTreeMap::new();
    for origin in origins {
        *counts.entry(line(origin)).or_insert(0_usize) += 1;
    }
    let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(line, count)| (std::cmp::Reverse(*count), *line));
    let all: Vec<String> =
        counts.iter().take(3).map(|(line, count)| format!("line {line} ({count})")).collect();
    all.join(", ")
}

/// Makes a job of the parts of a program.
fn job(
    lowered: &lower::Lowered,
    allocation: &allocate::Allocation,
    encoded: &encode::Encoded,
) -> Job {
    let mut program = Program::from_code(encoded.code.clone());
    if let Some(last) = program.code.last_mut() {
        last.0[0] = last.cmn().with(CmnInst::TEX_SEM_WAIT, true).bits();
    }
    let last = u16::try_from(program.code.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let highest = u8::try_from(allocation.count.saturating_sub(1)).unwrap_or(u8::MAX);
    let state = &mut program.state;
    state.config = Some(UsConfig(0).with(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO, true));
    state.pixsize = Some(UsPixsize(0).with(UsPixsize::PIX_SIZE, highest));
    state.fc_ctrl = Some(UsFcCtrl(0).with(UsFcCtrl::FULL_FC_EN, encoded.has_flow));
    state.code_offset = Some(UsCodeOffset(0));
    state.code_addr = Some(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, last));
    state.code_range = Some(UsCodeRange(0).with(UsCodeRange::CODE_SIZE, last));
    for (register, constant) in state.fc_int_const.iter_mut().zip(&encoded.int_constants) {
        *register = Some(*constant);
    }
    let targets = targets(&encoded.code);
    for (n, format) in state.out_fmt.iter_mut().enumerate() {
        *format = (targets[n] || n == 0).then_some(OUT_FMT_RGBA8);
    }
    let writes_depth =
        encoded.code.iter().any(|inst| inst.alpha_inst().w_omask() && inst.ty() == InstType::OUT);
    state.w_fmt =
        Some(UsWFmt(0).with(UsWFmt::W_FMT, if writes_depth { WFormat::W24 } else { WFormat::W0 }));
    let mut uniforms = Vec::new();
    let mut compilation = Compilation::default();
    for (n, constant) in encoded.constants.iter().enumerate() {
        match constant {
            Constant::Literals(channels) => {
                state.set_given_channels(n, *channels);
                let known = |bits: Option<u32>| {
                    bits.map_or(Channel::Unused, |_| Channel::Literal { decimals: None })
                };
                compilation.constants.push(channels.map(known));
            }
            Constant::Uniform(uniform) => {
                state.set_given_channels(n, [None; 4]);
                let index = *uniform;
                let channel = |channel| Channel::Uniform { buffer: 0, index, channel };
                compilation.constants.push([0, 1, 2, 3].map(channel));
                let of = &lowered.uniforms[usize::from(*uniform)];
                let name = of.name.clone();
                let constant = u8::try_from(n).unwrap_or(u8::MAX);
                uniforms.push(Uniform { name, constant, channel: 0, channels: of.size });
            }
        }
    }
    let mut inputs: Vec<Input> = lowered
        .inputs
        .iter()
        .zip(&allocation.inputs)
        .filter_map(|(vector, temporary)| Some(input(vector, (*temporary)?)))
        .collect();
    inputs.sort_by_key(|input| input.temp);
    for (slot, unit) in compilation.samplers.iter_mut().zip(&lowered.samplers) {
        let target = match unit.dimensions {
            Dimensions::D1 => SamplerTarget::D1,
            Dimensions::D2 => SamplerTarget::D2,
            Dimensions::Rect => SamplerTarget::Rect,
            Dimensions::D3 => SamplerTarget::D3,
            Dimensions::Cube => SamplerTarget::Cube,
        };
        *slot = Some(Sampler { target, shadow: unit.shadow });
    }
    let compilation = Some(Box::new(compilation));
    Job { uniforms, inputs: Some(inputs), program, compilation, ..Job::default() }
}

/// Returns which targets instructions write.
fn targets(code: &[r500_isa::Instruction]) -> [bool; 4] {
    let mut all = [false; 4];
    for inst in code.iter().filter(|inst| inst.ty() == InstType::OUT) {
        if inst.cmn().rgb_omask().code() != 0 {
            all[usize::from(inst.rgb_inst().target().code() & 3)] = true;
        }
        if inst.cmn().alpha_omask() {
            all[usize::from(inst.alpha_inst().target().code() & 3)] = true;
        }
    }
    all
}

/// An input that goes over the picture: x and y from 0 to 1, z is 0 and w is 1; the place in clip space from -1 to 1.
fn input(vector: &InputVector, temporary: u8) -> Input {
    use r500_glsl::tree::BuiltinVariable as B;
    let components = std::array::from_fn(|n| {
        if n >= usize::from(vector.size) {
            return Component::default();
        }
        let plane = match vector.builtin {
            Some(B::FrontFacing) => Plane::constant(1.0),
            Some(B::FragCoord) => Plane::of_clip_place(n),
            _ => Plane::of_component(n),
        };
        Component { name: format!("{}.{}", vector.name, ["x", "y", "z", "w"][n]), plane }
    });
    Input { temp: temporary, data: InputData::Planes(components) }
}
