//! What a driver made of a pair: programs with names, or why there is none.

use std::io::BufRead;
use std::time::Instant;

use r500::formats::{Limits as ReadLimits, LogEntries, LogEntry, VertexProgram as Logged};
use r500::isa::values::OutFormat;
use r500::program::{
    Channel, Compilation, Component, Input as JobInput, InputData, Job, Outcome, Plane, Uniform,
};
use r500::pvs::Program;
use r500_card::{Card, CardError, DrawInputs};
use r500_stream::capture::{Event, Limits as PlayLimits, PlayError, Player, Reader};

use crate::interface_names;
use crate::names;
use crate::request::Report;
use crate::shader::Made;

pub use crate::interface_names::Varying;
pub use crate::names::Input;

/// What a run of the client left.
pub struct Evidence<'a> {
    /// What OpenGL said.
    pub report: &'a Report,
    /// What was submitted; empty if nothing was.
    pub capture: &'a [u8],
    /// What the driver printed.
    pub log: &'a [u8],
    /// Where a made vertex shader has its outputs from.
    pub made: &'a [Made],
    /// When to give up.
    pub deadline: Option<Instant>,
}

/// The programs of a pair.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The fragment program; `None` if the driver did not come to it.
    pub fragment: Option<FragmentProgram>,
    /// The vertex program; `None` if the driver did not come to it.
    pub vertex: Option<VertexProgram>,
}

/// A fragment program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FragmentProgram {
    /// The program with its state, the names of its constants, the values of literals, and inputs that go over the picture. Its
    /// compilation says how it ended.
    pub job: Job,
    /// What its inputs are.
    pub varyings: Vec<Varying>,
    /// Names of samplers by unit.
    pub samplers: Vec<(u8, String)>,
    /// Whether the program is what was drawn; else the log alone has it.
    pub drawn: bool,
}

/// A vertex program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VertexProgram {
    /// How its compilation ended.
    pub outcome: Outcome,
    /// The program; without instructions if there is none.
    pub program: Program,
    /// Names of constants.
    pub uniforms: Vec<Uniform>,
    /// Constants without uniforms: literals, and what OpenGL computes from its own state. Bits.
    pub constants: Vec<(u8, [u32; 4])>,
    /// What its inputs are.
    pub inputs: Vec<Input>,
    /// Whether the program is what was drawn; else the log alone has it.
    pub drawn: bool,
}

/// Why evidence cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// The capture is damaged.
    #[error("the capture of the draw: {0}")]
    Capture(#[from] r500_stream::capture::CaptureError),
    /// The capture cannot be replayed.
    #[error("the capture of the draw: {0}")]
    Play(#[from] PlayError),
    /// The draw reached a limit.
    #[error("the draw: {0}")]
    Card(#[from] CardError),
    /// The log cannot be read.
    #[error("the driver's log: {0}")]
    Log(#[from] r500::formats::ReadError),
    /// The log has no compilation of the drawn program.
    #[error("the driver's log has no {0} program with the instructions of the draw")]
    NotInLog(&'static str),
}

/// A draw, and what the rasteriser gave to its fragments: values of covered pixels, in no picture.
struct Drawn {
    inputs: DrawInputs,
    fragments: Vec<JobInput>,
}

impl Compiled {
    /// Reads the programs of a pair.
    ///
    /// # Errors
    /// [`EvidenceError`]; that a shader does not compile is part of the result.
    pub fn read(evidence: &Evidence<'_>) -> Result<Self, EvidenceError> {
        let draws = draws(evidence)?;
        let mut log = Log::read(evidence.log)?;
        let fragment = log.fragment(draws.first())?;
        let vertex = log.vertex(draws.first())?;
        let drawn = !draws.is_empty();
        Ok(Self {
            fragment: fragment.map(|job| FragmentProgram::new(evidence, job, &draws, drawn)),
            vertex: vertex.map(|logged| VertexProgram::new(evidence, &logged, &draws)),
        })
    }
}

/// Returns the draws of the client, in their order; none if it made none.
fn draws(evidence: &Evidence<'_>) -> Result<Vec<Drawn>, EvidenceError> {
    if evidence.report.draws == 0 || evidence.capture.is_empty() {
        return Ok(Vec::new());
    }
    let mut card = Card::new();
    card.set_deadline(evidence.deadline);
    let mut player = Player::new(PlayLimits::default());
    let mut all = Vec::new();
    for record in Reader::new(evidence.capture)? {
        let Some(Event::Submission(submission)) = player.apply(record?)? else { continue };
        // Each draw of the client is the first of a submission.
        let next = card.report().statistics.draws;
        card.keep_inputs(next);
        card.record(next);
        card.submit(&submission)?;
        let fragments = card.take_recorded().map_or(Vec::new(), |draw| covered(draw.job));
        all.extend(card.take_inputs().map(|inputs| Drawn { inputs, fragments }));
    }
    // A driver that skips draws, because a program is missing, has fewer: then they are not these.
    let before = all.len().checked_sub(evidence.report.draws);
    Ok(before.map_or(Vec::new(), |before| all.split_off(before)))
}

/// Returns the inputs of a recorded draw, with the values of covered pixels only.
fn covered(job: Job) -> Vec<JobInput> {
    let coverage = job.coverage.unwrap_or_default();
    let mut inputs = job.inputs.unwrap_or_default();
    for input in &mut inputs {
        if let InputData::Values { values, .. } = &mut input.data {
            let mut covers = coverage.iter();
            values.retain(|_| covers.next().copied().unwrap_or(true));
        }
    }
    inputs
}

/// The compilations of a log.
struct Log {
    fragments: Vec<Job>,
    vertices: Vec<Logged>,
}

impl Log {
    fn read(log: impl BufRead) -> Result<Self, EvidenceError> {
        let (mut fragments, mut vertices) = (Vec::new(), Vec::new());
        for entry in LogEntries::new(log, &ReadLimits::default()) {
            match entry? {
                LogEntry::Fragment(job) => fragments.push((*job)?),
                LogEntry::Vertex(program) => vertices.push(program),
            }
        }
        Ok(Self { fragments, vertices })
    }

    /// Returns the last compilation of the drawn program, or without a draw the last one.
    fn fragment(&mut self, draw: Option<&Drawn>) -> Result<Option<Job>, EvidenceError> {
        let Some(draw) = draw else { return Ok(self.fragments.pop()) };
        let code = &draw.inputs.fragment.program.code;
        let place = self.fragments.iter().rposition(|job| job.program.code == *code);
        let place = place.ok_or(EvidenceError::NotInLog("fragment"))?;
        Ok(Some(self.fragments.swap_remove(place)))
    }

    fn vertex(&mut self, draw: Option<&Drawn>) -> Result<Option<Logged>, EvidenceError> {
        let drawn = draw.and_then(|draw| draw.inputs.state.vertex_program());
        let Some(drawn) = drawn else { return Ok(self.vertices.pop()) };
        let code: Vec<[u32; 4]> = drawn.window().map(|(_, instruction)| instruction.0).collect();
        let place = self.vertices.iter().rposition(|logged| logged.code == code);
        let place = place.ok_or(EvidenceError::NotInLog("vertex"))?;
        Ok(Some(self.vertices.swap_remove(place)))
    }
}

impl FragmentProgram {
    fn new(evidence: &Evidence<'_>, mut job: Job, draws: &[Drawn], drawn: bool) -> Self {
        let (mut varyings, mut samplers) = (Vec::new(), Vec::new());
        if let Some(first) = draws.first() {
            let value = |draw: usize, constant: usize, channel: usize| {
                let state = &draws.get(draw)?.inputs.state;
                Some(state.us.constants().get(constant)?[channel & 3])
            };
            let given = first.inputs.state.us.constants();
            let named = names::uniforms(evidence.report, given.len(), &value);
            keep_constants(&mut job, &named, given);
            name_constants(&mut job, named);
            take_state(&mut job, &first.inputs.fragment);
            let fragments: Vec<Vec<JobInput>> =
                draws.iter().map(|draw| draw.fragments.clone()).collect();
            varyings = interface_names::varyings(evidence.report, evidence.made, &fragments);
            varyings.extend(built_in(&job, &varyings, &first.fragments));
            samplers = sampler_names(evidence.report, &first.inputs.fragment);
            job.inputs = Some(planes(&varyings, &first.fragments));
        }
        Self { job, varyings, samplers, drawn }
    }
}

/// Gives channels that the log calls literals the exact bits of the draw, and channels of uniforms that are not the shader's the
/// values that OpenGL gave them.
fn keep_constants(job: &mut Job, named: &[Uniform], given: &[[u32; 4]]) {
    let Some(mut compilation) = job.compilation.take() else { return };
    for (n, (channels, bits)) in compilation.constants.iter_mut().zip(given).enumerate() {
        for (c, channel) in channels.iter_mut().enumerate() {
            match channel {
                Channel::Literal { decimals: Some(_) } | Channel::Tiny { .. } => {
                    *channel = Channel::Literal { decimals: None };
                    job.program.state.set_constant(n, c, bits[c]);
                }
                Channel::Uniform { .. } if !named.iter().any(|name| holds(name, n, c)) => {
                    job.program.state.set_constant(n, c, bits[c]);
                }
                _ => {}
            }
        }
    }
    job.compilation = Some(compilation);
}

/// Returns whether a name covers a channel of a constant.
fn holds(name: &Uniform, constant: usize, channel: usize) -> bool {
    let channels = usize::from(name.channel)..usize::from(name.channel + name.channels);
    usize::from(name.constant) == constant && channels.contains(&channel)
}

/// Replaces the names of a log by those that were found, and names the scale and the offset of the viewport.
fn name_constants(job: &mut Job, named: Vec<Uniform>) {
    job.uniforms = named;
    let compilation = job.compilation.as_deref();
    let constants = compilation.map_or(&[][..], |compilation| &compilation.constants);
    for (constant, channels) in (0..=u8::MAX).zip(constants) {
        if channels.iter().any(|channel| matches!(channel, Channel::State(_))) {
            let name = r500::builtin_uniforms::VIEWPORT.to_owned();
            job.uniforms.push(Uniform { name, constant, channel: 0, channels: 4 });
        }
    }
}

/// Takes the registers of the draw that the log does not have, and those integer constants that are not 0. Formats of textures belong to
/// textures, which the job has none of.
fn take_state(job: &mut Job, drawn: &Job) {
    let drawn = &drawn.program.state;
    let state = &mut job.program.state;
    state.config = drawn.config;
    state.pixsize = drawn.pixsize;
    state.fc_ctrl = drawn.fc_ctrl;
    state.code_addr = drawn.code_addr;
    state.code_range = drawn.code_range;
    state.code_offset = drawn.code_offset;
    state.w_fmt = drawn.w_fmt;
    state.fc_int_const = drawn.fc_int_const.map(|value| value.filter(|value| value.0 != 0));
    state.out_fmt =
        drawn.out_fmt.map(|format| format.filter(|format| format.out_fmt() != OutFormat::UNUSED));
}

/// Returns the names of inputs that are not varyings of the shader: what the log declares, if exactly one input is left for it.
fn built_in(job: &Job, named: &[Varying], inputs: &[JobInput]) -> Option<Varying> {
    let source = job.compilation.as_deref().map_or("", |compilation| compilation.source.as_str());
    let declared = |name: &str| {
        source
            .lines()
            .any(|line| line.starts_with("DCL IN[") && line.contains(&format!(", {name}")))
    };
    let mut left =
        inputs.iter().filter(|input| named.iter().all(|varying| varying.temp != input.temp));
    let (Some(input), None) = (left.next(), left.next()) else { return None };
    let mut found =
        [("POSITION", "gl_FragCoord"), ("PCOORD", "gl_PointCoord"), ("FACE", "gl_FrontFacing")]
            .into_iter()
            .filter(|(semantic, _)| declared(semantic));
    let (Some((_, name)), None) = (found.next(), found.next()) else { return None };
    Some(Varying { name: name.to_owned(), component: 0, temp: input.temp, channel: 0, channels: 4 })
}

/// Returns inputs that go over the picture: x and y of each varying from 0 to 1, z is 0 and w is 1; those of `gl_FragCoord` before the
/// viewport, from -1 to 1. What is not known is 0.
fn planes(varyings: &[Varying], inputs: &[JobInput]) -> Vec<JobInput> {
    inputs
        .iter()
        .map(|input| {
            let mut components: [Component; 4] = std::array::from_fn(|_| Component::default());
            for varying in varyings.iter().filter(|varying| varying.temp == input.temp) {
                let is_place = varying.name == "gl_FragCoord";
                for n in 0..varying.channels {
                    let component = usize::from(varying.component + n) & 3;
                    let plane = match is_place {
                        true => Plane::of_clip_place(component),
                        false => Plane::of_component(component),
                    };
                    let name = format!("{}.{}", varying.name, ["x", "y", "z", "w"][component]);
                    components[usize::from(varying.channel + n) & 3] = Component { name, plane };
                }
            }
            JobInput { temp: input.temp, data: InputData::Planes(components) }
        })
        .collect()
}

/// Returns the samplers of units, by the size of their textures.
fn sampler_names(report: &Report, drawn: &Job) -> Vec<(u8, String)> {
    let units = (0_u8..).zip(&drawn.textures);
    units
        .filter_map(|(unit, texture)| {
            let level = texture.as_ref()?.levels.first()?;
            let size = [level.width, level.height];
            let mut fits = report.samplers.iter().filter(|sampler| sampler.size == size);
            // Textures of different kinds can have one size.
            match (fits.next(), fits.next()) {
                (Some(sampler), None) => Some((unit, sampler.name.clone())),
                _ => None,
            }
        })
        .collect()
}

impl VertexProgram {
    fn new(evidence: &Evidence<'_>, logged: &Logged, draws: &[Drawn]) -> Self {
        let drawn = draws.first().and_then(|draw| draw.inputs.state.vertex_program());
        let Some(program) = drawn else {
            let code: Vec<r500::pvs::Instruction> =
                logged.code.iter().copied().map(r500::pvs::Instruction).collect();
            return Self {
                outcome: logged.outcome.clone(),
                program: Program::from_code(r500::pvs::Controls::of_code(0, &code), 0, code),
                uniforms: Vec::new(),
                constants: Vec::new(),
                inputs: Vec::new(),
                drawn: false,
            };
        };
        // The registers of a draw may begin anywhere in the memory of constants; programs count from there.
        let base = |draw: &Drawn| {
            let program = draw.inputs.state.vertex_program();
            program.map_or(0, |program| {
                usize::from(program.controls().constants.pvs_const_base_offset())
            })
        };
        let value = |draw: usize, constant: usize, channel: usize| {
            let draw = draws.get(draw)?;
            let constants = draw.inputs.state.pvs.constants();
            Some(constants.get(base(draw) + constant)?[channel & 3])
        };
        let last = usize::from(program.controls().constants.pvs_max_const_addr());
        let uniforms = names::uniforms(evidence.report, last + 1, &value);
        let constants = (0..=u8::MAX)
            .take(last + 1)
            .filter(|n| !uniforms.iter().any(|uniform| uniform.constant == *n))
            .filter_map(|n| {
                let channel = |c| value(0, n.into(), c);
                Some((n, [channel(0)?, channel(1)?, channel(2)?, channel(3)?]))
            })
            .collect();
        let inputs: Vec<DrawInputs> = draws.iter().map(|draw| draw.inputs.clone()).collect();
        Self {
            outcome: logged.outcome.clone(),
            inputs: names::inputs(evidence.report, &inputs),
            program,
            uniforms,
            constants,
            drawn: true,
        }
    }
}

impl FragmentProgram {
    /// Returns a program that nothing has drawn.
    #[must_use]
    pub fn undrawn(job: Job, varyings: Vec<Varying>, samplers: Vec<(u8, String)>) -> Self {
        Self { job, varyings, samplers, drawn: false }
    }
}

impl VertexProgram {
    /// Returns a program that nothing has drawn.
    #[must_use]
    pub fn undrawn(
        program: Program,
        uniforms: Vec<Uniform>,
        constants: Vec<(u8, [u32; 4])>,
        inputs: Vec<Input>,
    ) -> Self {
        Self { outcome: Outcome::Compiled, program, uniforms, constants, inputs, drawn: false }
    }
}

impl Compiled {
    /// Returns programs that a compiler made without a draw.
    #[must_use]
    pub fn undrawn(fragment: Option<FragmentProgram>, vertex: Option<VertexProgram>) -> Self {
        Self { fragment, vertex }
    }

    /// Returns the log of the compilation of the fragment program, if it ran.
    #[must_use]
    pub fn compilation(&self) -> Option<&Compilation> {
        self.fragment.as_ref()?.job.compilation.as_deref()
    }
}
