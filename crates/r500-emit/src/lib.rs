//! R500 programs as shaders of other GPUs: WGSL, GLSL and SPIR-V.
//!
//! ```text
//! Job ──lift──▶ Function ──lower──▶ Source ──▶ WGSL | GLSL | SPIR-V
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `source` | a shader as every target writes it |
//! | `lower` | the IR as a `Source` |
//! | `kernels` | functions next to the body: transcendental kernels, lanes of a quad |
//! | `bindings`, `interface` | names, bindings and offsets; their description for an embedder |
//! | `amplifiers` | where last bits of a host become visible |
//! | `vertex` | vertex programs |
//! | `key` | what a shader depends on |
//! | `self_test` | a shader that tests a host's arithmetic |
//! | `textures` | the job's textures; what an exact shader computes of them |
//! | `host_sampler` | samplers of hosts for the fetches of fast shaders |
//! | `text`, `wgsl`, `glsl`, `spirv` | the targets |
//!
//! # Contract
//!
//! A *fast* shader uses the host's functions, interpolation and samplers. Its colours are close to those of the reference engine, except where
//! the program amplifies small differences, or depends on NaN, which hosts are free to lose; [`Interface::amplifiers`] names the instructions
//! that amplify. An *exact* shader computes the bits of the
//! reference engine on a host whose arithmetic is that of IEEE 754 with denormals flushed, which no language promises: each operation is
//! rounded on its own, and kernels replace the host's functions. Varyings are the host's in any case; [`Inputs::Planes`] computes inputs as the
//! reference engine does. Its fetches load texels and filter them with our own arithmetic, for the registers and sizes of the job's textures;
//! [`texels`] returns what the host must load.
//!
//! Row 0 of a target is y = 0 of a picture, and the quads of a program begin at even coordinates of the target.
//!
//! ```
//! use r500_emit::{Code, Language, Options, emit};
//! use r500_isa::Instruction;
//! use r500_program::Job;
//!
//! // out[0] = (u, v, 0, 1).
//! let mut job = Job::default();
//! job.program.code = vec![Instruction([0x0007_8101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
//! let shader = emit(&job, &Options::new(Language::Wgsl))?;
//! let Code::Text(text) = &shader.code else { unreachable!("WGSL is text") };
//! assert!(text.contains("outputs.color0 = vec4<f32>("));
//! # Ok::<(), r500_emit::EmitError>(())
//! ```
#![forbid(unsafe_code)]
#![allow(
    clippy::expect_used,
    reason = "a broken invariant of a shader is a bug that must stop loudly"
)]

mod amplifiers;
mod bindings;
mod glsl;
mod host_sampler;
mod interface;
mod kernels;
mod key;
mod lower;
mod self_test;
mod source;
mod spirv;
mod text;
mod textures;
mod vertex;
mod wgsl;

use r500_exec::{BindingKinds, GROUP, GroupKind, Readings, Shader as Program};
use r500_ir::{Function, Stmt};
use r500_isa::TEXTURE_UNITS;
use r500_lift::{
    InputKind, LiftError, LiftInput, ProgramAnalysis, SymbolicConstants, VertexLiftError,
    lift_symbolic,
};
use r500_program::Job;

use bindings::Bindings;
use lower::Target;
use source::Source;
use textures::Textures;

pub use host_sampler::{HostAddress, HostSampler, HostSamplerReason, host_sampler};
pub use interface::{
    Amplifier, AmplifierReason, Dimensions, Form, Interface, NamedConstant, ShaderInput,
    ShaderTexels, ShaderTexture, UniformBuffer, VertexOutput,
};
pub use key::ShaderKey;
pub use self_test::{SelfTest, SelfTestFailure, SelfTestSize, self_test};
pub use textures::{TextureLevel, texels};
pub use vertex::{VertexInterface, VertexOptions, VertexShader, emit_vertex};

/// A language of shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// WGSL, of WebGPU.
    Wgsl,
    /// GLSL 4.50.
    Glsl450,
    /// GLSL of OpenGL ES 3.10.
    GlslEs310,
    /// GLSL of OpenGL ES 3.00; fast only.
    GlslEs300,
    /// SPIR-V 1.0 for Vulkan.
    Spirv,
}

/// The name of no language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no language \"{0}\": there are {list}", list = Language::ALL.map(Language::name).join(", "))]
pub struct UnknownLanguage(pub String);

impl std::str::FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        Self::from_name(name).ok_or_else(|| UnknownLanguage(name.to_owned()))
    }
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 5] =
        [Self::Wgsl, Self::Glsl450, Self::GlslEs310, Self::GlslEs300, Self::Spirv];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Glsl450 => "glsl",
            Self::GlslEs310 => "glsl-es-310",
            Self::GlslEs300 => "glsl-es-300",
            Self::Spirv => "spirv",
        }
    }

    /// Returns the language with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }

    /// Returns the language that the extension of a file stands for, without its dot.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "wgsl" => Some(Self::Wgsl),
            "frag" | "vert" | "glsl" => Some(Self::Glsl450),
            "spv" => Some(Self::Spirv),
            _ => None,
        }
    }
}

/// How a shader computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// With the host's functions.
    #[default]
    Fast,
    /// As the reference engine.
    Exact,
}

/// Where a shader's inputs come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// From varyings, a vector of four for each input.
    #[default]
    Varyings,
    /// From planes over the picture in the uniform buffer.
    Planes,
}

/// The options of a shader.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The language.
    pub language: Language,
    /// How it computes.
    pub arithmetic: Arithmetic,
    /// Where inputs come from.
    pub inputs: Inputs,
    /// Returns the text of an instruction, for a comment.
    pub annotate: Option<&'a dyn Fn(u32) -> String>,
}

impl Options<'_> {
    /// Returns the options of a fast shader with varyings.
    #[must_use]
    pub fn new(language: Language) -> Self {
        Self { language, arithmetic: Arithmetic::Fast, inputs: Inputs::Varyings, annotate: None }
    }
}

/// A shader.
#[derive(Clone, Debug, PartialEq)]
pub struct Shader {
    /// The shader itself.
    pub code: Code,
    /// Its bindings.
    pub interface: Interface,
    /// The uniform buffer for the constants and inputs of the job, but for the size of the picture, which is 1x1.
    pub uniforms: Vec<[f32; 4]>,
    /// The maximum number of instructions of the program that a pixel executes: hosts may reset a GPU that works for seconds.
    pub max_instructions: u64,
}

/// The code of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Text.
    Text(String),
    /// The words of SPIR-V.
    Words(Vec<u32>),
}

impl Code {
    /// Returns the bytes of a file with the code: words are little-endian.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Words(words) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        }
    }
}

/// The reason why a program cannot be written as a shader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The program cannot be decoded.
    #[error("{0}")]
    Program(String),
    /// The program has no function that is independent of the groups of pixels, or depends on a constant that the job does not have.
    #[error("the program cannot be a shader: {0}")]
    Lift(#[from] LiftError),
    /// A fetch cannot be exact.
    #[error("the fetch from unit {unit} at address {address} cannot be exact: {reason}")]
    ExactFetch {
        /// The address of the instruction.
        address: u32,
        /// The unit.
        unit: u8,
        /// Why.
        reason: ExactFetchReason,
    },
    /// The language cannot keep the host from combining operations.
    #[error("OpenGL ES 3.00 has no `precise`, so its shaders cannot be exact; take glsl-es-310")]
    ExactLanguage,
    /// SPIR-V has no text to include.
    #[error("SPIR-V has no function to include; take a whole stage")]
    NoFunction,
    /// The vertex program has no function.
    #[error("the vertex program cannot be a shader: {0}")]
    VertexLift(#[from] VertexLiftError),
    /// An input has a value for each pixel.
    #[error("input {0} has a value for each pixel, not a plane; take varyings")]
    NoPlane(u8),
}

/// The reason why fetches from a texture cannot be exact. Exact shaders contain the address modes, filters and sizes of their textures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExactFetchReason {
    /// The job has no texture for the unit.
    #[error("there is no texture for the unit, whose registers an exact shader needs")]
    NoTexture,
    /// The texture has registers that are not modelled, or texels that do not fit them.
    #[error("its texture cannot be bound: {0}")]
    Unbound(String),
    /// The texture has a level after that of one texel, which no host has.
    #[error("its texture has {given} levels, and hosts have {most} for its size")]
    Levels {
        /// Its levels.
        given: u32,
        /// The maximum number.
        most: u32,
    },
}

/// Writes the program of a job as a shader. Program constants and inputs are bound when it draws; integer and boolean constants are the job's.
///
/// # Errors
/// [`EmitError`].
pub fn emit(job: &Job, options: &Options<'_>) -> Result<Shader, EmitError> {
    let Options { language, arithmetic, inputs, annotate } = *options;
    if arithmetic == Arithmetic::Exact && language == Language::GlslEs300 {
        return Err(EmitError::ExactLanguage);
    }
    let job_inputs = job.inputs_or_default();
    if inputs == Inputs::Planes {
        let values = job_inputs
            .iter()
            .find(|input| matches!(input.data, r500_program::InputData::Values { .. }));
        if let Some(input) = values {
            return Err(EmitError::NoPlane(input.temp));
        }
    }
    let temps: Vec<u8> = job_inputs.iter().map(|input| input.temp).collect();
    let textures = Textures::of(job, arithmetic);
    let function = lifted(job, &temps, &textures)?;
    let address_only = |address: u32| format!("address {address}");
    let target = Target {
        arithmetic,
        inputs,
        textures: &textures,
        annotate: annotate.unwrap_or(&address_only),
        outputs: &[],
    };
    let source = lower::lower(&function, &target)?;
    let bindings = Bindings::of(&source, job, &temps, (arithmetic, language, inputs), &textures);
    let code = write(&source, &bindings, language);
    let mut interface = bindings.interface(&source);
    interface.amplifiers = amplifiers::amplifiers(&function, arithmetic, &textures, true);
    interface.left_out = left_out(&function);
    let uniforms = interface.uniform_values(job, [1, 1])?;
    let max_instructions = max_instructions(&function.body);
    Ok(Shader { code, interface, uniforms, max_instructions })
}

fn write(source: &Source, bindings: &Bindings<'_>, language: Language) -> Code {
    match language {
        Language::Wgsl => Code::Text(wgsl::write(source, bindings)),
        Language::Spirv => Code::Words(spirv::write(source, bindings)),
        _ => Code::Text(glsl::write(source, bindings, language)),
    }
}

fn lifted(job: &Job, temps: &[u8], textures: &Textures<'_>) -> Result<Function, EmitError> {
    let program =
        Program::new(&job.program).map_err(|error| EmitError::Program(error.to_string()))?;
    let state = &job.program.state;
    let readings = Readings::REFERENCE;
    let input = LiftInput {
        shader: &program,
        constants: &[],
        int_constants: state.fc_int_const,
        bool_constants: state.fc_bool_const,
        inputs: temps.iter().copied().map(InputKind::any).collect(),
        kinds: BindingKinds {
            samplers: std::array::from_fn::<_, TEXTURE_UNITS, _>(|unit| {
                let unit = u8::try_from(unit).expect("units are numbered by bytes");
                Some(textures.kind(unit))
            }),
            groups: GroupKind {
                size: GROUP,
                cover_picture: true,
                quads_inside: true,
                groups_inside: true,
            },
        },
        poison: false,
        readings,
    };
    let analysis = ProgramAnalysis::new(&input)?;
    Ok(lift_symbolic(&input, &analysis, &SymbolicConstants::all())?)
}

/// Returns how many instructions a pixel executes at most. Both arms of a branch count: pixels of a quad may take different ones.
fn max_instructions(body: &[Stmt]) -> u64 {
    let of = |stmt: &Stmt| match stmt {
        Stmt::ConsumeFuel { instructions, .. } => u64::from(*instructions),
        Stmt::If(branch) => {
            branch.arms.iter().map(|arm| max_instructions(arm)).fold(0, u64::saturating_add)
        }
        Stmt::Loop(repeat) => {
            max_instructions(&repeat.body).saturating_mul(u64::from(repeat.max_trips))
        }
        _ => 0,
    };
    body.iter().map(of).fold(0, u64::saturating_add)
}

/// Returns what of a function no shader does.
fn left_out(function: &Function) -> Vec<&'static str> {
    let has = |f: fn(&Stmt) -> bool| function.body.iter().any(|stmt| stmt.any(&mut |stmt| f(stmt)));
    let counts = has(|stmt| matches!(stmt, Stmt::Stat { .. })).then_some("the counts of STAT_WE");
    let groups = has(|stmt| matches!(stmt, Stmt::GroupHazard(_)))
        .then_some("flow control that depends on the group of pixels");
    counts.into_iter().chain(groups).collect()
}
