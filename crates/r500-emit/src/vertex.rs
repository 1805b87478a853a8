//! Vertex programs as vertex shaders, or as functions to include in one.

use r500_lift::{VertexFunction, lift_vertex};
use r500_program::Job;
use r500_pvs::{INPUTS, Program};
use serde::Serialize;

use crate::bindings::{Bindings, vertex_outputs};
use crate::interface::{Amplifier, Form, ShaderInput, UniformBuffer, VertexOutput, json};
use crate::lower::{self, Target};
use crate::source::Expr;
use crate::textures::Textures;
use crate::{Arithmetic, Code, EmitError, Inputs, Language, amplifiers, glsl, spirv, wgsl};

/// The options of a vertex shader.
#[derive(Clone, Copy)]
pub struct VertexOptions<'a> {
    /// The language.
    pub language: Language,
    /// How it computes.
    pub arithmetic: Arithmetic,
    /// Whether it is a whole shader.
    pub form: Form,
    /// Returns the text of an instruction, for a comment.
    pub annotate: Option<&'a dyn Fn(u32) -> String>,
}

impl VertexOptions<'_> {
    /// Returns the options of a fast vertex shader.
    #[must_use]
    pub fn new(language: Language) -> Self {
        Self { language, arithmetic: Arithmetic::Fast, form: Form::Stage, annotate: None }
    }
}

/// A vertex shader.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexShader {
    /// The shader itself.
    pub code: Code,
    /// Its bindings.
    pub interface: VertexInterface,
}

/// What an embedder binds to a vertex shader.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VertexInterface {
    /// The name of the entry point, or of the function.
    pub entry_point: &'static str,
    /// The uniform buffer; `None` if nothing in it is used.
    pub uniforms: Option<UniformBuffer>,
    /// The inputs that are read: `temp` is the number of the input register, which is the location of the attribute, too.
    pub inputs: Vec<ShaderInput>,
    /// The outputs that are written; others are 0 on the card.
    pub outputs: Vec<VertexOutput>,
    /// Where a last bit of a host's function may become visible; empty for exact shaders.
    pub amplifiers: Vec<Amplifier>,
}

impl VertexInterface {
    /// Returns the bindings as one JSON object, on several lines.
    #[must_use]
    pub fn json(&self) -> String {
        json(self)
    }

    /// Returns the uniform buffer for program constants by number; nothing if there is none. Constants that are not given are 0.
    #[must_use]
    pub fn uniform_values(&self, constants: &[[f32; 4]]) -> Vec<[f32; 4]> {
        let values = |uniforms: &UniformBuffer| {
            uniforms
                .values(&Job::default(), constants, [1, 1])
                .expect("a vertex program has no planes")
        };
        self.uniforms.as_ref().map_or(Vec::new(), values)
    }
}

/// Writes a vertex program as a shader. Program constants are bound when it draws. Output 0 is the position of the stage, in clip space as the program
/// computes it; register `n` is the varying at location `n - 1`. What the registers of the card make of an output is the embedder's.
///
/// ```
/// use r500_emit::{Code, Language, VertexOptions, emit_vertex};
/// use r500_pvs::Source;
///
/// let source = "out[0].xyzw = VE_ADD input[0].xyzw const[3].xyzw ;";
/// let program = Source::parse(source, &mut |_| Err(String::new())).expect("it has no errors").program;
/// let shader = emit_vertex(&program, &VertexOptions::new(Language::Wgsl))?;
/// let Code::Text(text) = &shader.code else { unreachable!("WGSL is text") };
/// assert!(text.contains("outputs.out0 = vec4<f32>(input0.x + uniforms.c3.x, "));
/// # Ok::<(), r500_emit::EmitError>(())
/// ```
///
/// # Errors
/// [`EmitError`].
pub fn emit_vertex(
    program: &Program,
    options: &VertexOptions<'_>,
) -> Result<VertexShader, EmitError> {
    let VertexOptions { language, arithmetic, form, annotate } = *options;
    if arithmetic == Arithmetic::Exact && language == Language::GlslEs300 {
        return Err(EmitError::ExactLanguage);
    }
    if form == Form::Function && language == Language::Spirv {
        return Err(EmitError::NoFunction);
    }
    let VertexFunction { function, outputs: registers } = lift_vertex(program)?;
    let job = Job::default();
    let textures = Textures::of(&job, arithmetic);
    let address_only = |address: u32| format!("address {address}");
    let target = Target {
        arithmetic,
        inputs: Inputs::Varyings,
        textures: &textures,
        annotate: annotate.unwrap_or(&address_only),
        outputs: &registers,
    };
    let mut source = lower::lower(&function, &target)?;
    // Every stage has a position.
    if registers.first() != Some(&0) {
        source.outputs.insert(0, (0, [const { Expr::F32(0) }; 4]));
    }
    let temps: Vec<u8> = (0..).take(INPUTS).collect();
    let kind = (arithmetic, language, Inputs::Varyings);
    let bindings = Bindings::of(&source, &job, &temps, kind, &textures);
    let code = match language {
        Language::Wgsl => Code::Text(wgsl::write_vertex(&source, &bindings, form)),
        Language::Spirv => Code::Words(spirv::write_vertex(&source, &bindings)),
        _ => Code::Text(glsl::write_vertex(&source, &bindings, language, form)),
    };
    let inputs = bindings.varying_inputs().map(|(location, input)| ShaderInput {
        name: input.name.clone(),
        location,
        temp: input.temp,
    });
    let interface = VertexInterface {
        entry_point: form.entry_point(),
        uniforms: (!bindings.members.is_empty()).then(|| bindings.uniform_buffer()),
        inputs: inputs.collect(),
        outputs: vertex_outputs(&source),
        amplifiers: amplifiers::amplifiers(&function, arithmetic, &textures, false),
    };
    Ok(VertexShader { code, interface })
}
