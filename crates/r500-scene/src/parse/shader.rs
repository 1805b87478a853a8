//! GLSL in a scene. Both shaders of a draw are compiled together; uniforms, attributes and textures go by their names.

use std::ops::Range;

use r500::compile::tree::Storage;
use r500::compile::vertex;
use r500::compile::{self, Compiled, Diagnostic, SamplerUnit, Stage};
use r500::program::{Job, Texture, Uniform};
use r500::reader::assembly;
use r500::text::expression::{Environment, Expression, Value};

use super::program::Language;
use super::{MAX_ERRORS, Parsed, Parser, Parts};
use crate::mesh::Mesh;
use crate::{Assignment, SceneError, TargetTexture};

const SHADER_HELP: &str = "write `VERTEX SHADER \"a.vert\" ;` or `VERTEX SHADER { void main() { … } }`, and FRAGMENT SHADER in the same way";
const UNIFORM_HELP: &str = "write `UNIFORM colour = (1, 0.5, 0, 1) ;` or `UNIFORM transform = perspective(50, aspect, 1, 10) ;`";
const TEXTURE_HELP: &str = "write `TEXTURE image = target ;`, `TEXTURE image = previous target ;`, `TEXTURE image = file \"picture.png\" linear wrap ;` or `TEXTURE image = checker(64, 64, 8) ;`";

/// A program that does nothing, for the textures of a text of assembly.
const NO_PROGRAM: &str = "OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;";

/// The text of a shader.
pub(super) struct ShaderText {
    text: String,
    /// The name of its file; `None` if it is in the scene, with its places.
    file: Option<String>,
    span: Range<usize>,
}

/// `UNIFORM name = value ;`
pub(super) struct NamedValue {
    name: String,
    span: Range<usize>,
    value: Expression,
}

/// `TEXTURE sampler = … ;`
pub(super) struct NamedTexture {
    sampler: String,
    span: Range<usize>,
    source: TextureSource,
}

enum TextureSource {
    Target(usize),
    /// As the frame before left it.
    Previous(usize),
    /// In the language of fragment programs.
    Text(String),
}

impl Parser<'_> {
    /// Parses what follows `SHADER`.
    pub(super) fn shader(&mut self) -> Parsed<ShaderText> {
        let (text, path, span) = self.program(Language::Glsl)?;
        let file = (path != self.path).then(|| path.display().to_string());
        Ok(ShaderText { text, file, span })
    }

    /// Parses what follows `UNIFORM`.
    pub(super) fn uniform(&mut self) -> Parsed<NamedValue> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_[].".contains(c)));
        let end = begin + end.unwrap_or(rest.len());
        if end == begin {
            return Err(self.wrong("expected the name of a uniform", UNIFORM_HELP));
        }
        let name = self.text[begin..end].to_owned();
        self.at = end;
        self.symbol('=', UNIFORM_HELP)?;
        let (value, _) = self.value_of_constant(UNIFORM_HELP)?;
        Ok(NamedValue { name, span: begin..end, value })
    }

    /// Parses what follows `TEXTURE`, if it names a sampler.
    pub(super) fn named_texture(&mut self) -> Parsed<Option<NamedTexture>> {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(None);
        }
        let (sampler, span) = self.name(TEXTURE_HELP)?;
        self.symbol('=', TEXTURE_HELP)?;
        self.space();
        let begin = self.at;
        let mut quoted = false;
        let end = self.text[begin..].find(|c| {
            quoted ^= c == '"';
            c == ';' && !quoted
        });
        let Some(end) = end.map(|end| begin + end) else {
            return Err(self.wrong("the statement has no end", "end it with `;`"));
        };
        let text = self.text[begin..end].trim().to_owned();
        self.at = end;
        self.end(TEXTURE_HELP)?;
        let previous = text.split_once(char::is_whitespace);
        let previous = previous.filter(|(word, _)| word.eq_ignore_ascii_case("previous"));
        let previous = previous.and_then(|(_, name)| self.previous_named(name.trim()));
        let source = match (self.target_named(&text), previous) {
            (Some(target), _) => TextureSource::Target(target),
            (None, Some(target)) => TextureSource::Previous(target),
            (None, None) => TextureSource::Text(text),
        };
        Ok(Some(NamedTexture { sampler, span, source }))
    }

    /// Compiles the shaders of a draw into a picture of a size, and gives names their places. Errors are reported.
    pub(super) fn compile_shaders(&mut self, parts: &mut Parts, size: [u32; 2]) {
        let fragment = parts.fragment_shader.take();
        let vertex = parts.vertex_shader.take();
        if fragment.is_none() && vertex.is_none() {
            return self.refuse_names(parts);
        }
        let begun = self.errors.len();
        let fragment_program = fragment.as_ref().and_then(|shader| self.fragment_of(shader));
        let reads = fragment_program.as_ref().map(vertex::reads_of);
        let vertex_program =
            vertex.as_ref().and_then(|shader| self.vertex_of(shader, reads.as_deref()));
        if self.errors.len() > begun {
            return;
        }
        let mut uniforms = [Vec::new(), Vec::new()];
        if let (Some(shader), Some(compiled)) = (&vertex, vertex_program) {
            if let Some(mesh) = &mut parts.mesh {
                self.name_attributes(mesh, &compiled.attributes, &shader.span);
            }
            uniforms[0] = compiled.uniforms;
            parts.vertex = Some(Some(compiled.source));
        }
        if let (Some(shader), Some(compiled)) = (&fragment, fragment_program) {
            let place = |spans: &Vec<compile::Span>| spans.first().map(|span| span.range());
            parts.places = match shader.file {
                None => compiled.spans.iter().map(place).collect(),
                Some(_) => vec![None; compiled.spans.len()],
            };
            let mut job = compiled.job;
            self.name_textures(parts, &compiled.samplers, &mut job, &shader.span);
            uniforms[1].clone_from(&job.uniforms);
            parts.fragment = Some(Box::new(job));
        }
        self.name_uniforms(parts, [vertex.as_ref(), fragment.as_ref()], &uniforms, size);
    }

    /// Names are those of shaders.
    fn refuse_names(&mut self, parts: &Parts) {
        let uniforms = parts.uniforms.iter().map(|uniform| uniform.span.clone());
        let textures = parts.named_textures.iter().map(|texture| texture.span.clone());
        for span in uniforms.chain(textures) {
            let message = "names are those of shaders, and the draw has programs";
            self.wrong_name(span, message.to_owned(), SHADER_HELP.to_owned());
        }
    }

    fn wrong_name(&mut self, span: Range<usize>, message: String, help: String) {
        self.errors.push(SceneError { span, message, help });
    }

    fn fragment_of(&mut self, shader: &ShaderText) -> Option<Compiled> {
        let compiled = compile::compile(&shader.text);
        compiled.map_err(|errors| self.report_shader(shader, &errors)).ok()
    }

    fn vertex_of(
        &mut self,
        shader: &ShaderText,
        reads: Option<&[vertex::Output]>,
    ) -> Option<vertex::Compiled> {
        let compiled = vertex::compile(&shader.text, reads);
        compiled.map_err(|errors| self.report_shader(shader, &errors)).ok()
    }

    fn report_shader(&mut self, shader: &ShaderText, diagnostics: &[Diagnostic]) {
        for error in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).take(MAX_ERRORS)
        {
            let help = error.help.clone().unwrap_or_default();
            let (span, message) = match &shader.file {
                None if error.span != compile::Span::default() => {
                    (error.span.range(), error.message.clone())
                }
                None => (shader.span.clone(), error.message.clone()),
                Some(file) => {
                    let (line, column) = error.line_column(&shader.text);
                    (shader.span.clone(), format!("{file}:{line}:{column}: {}", error.message))
                }
            };
            self.errors.push(SceneError { span, message, help });
        }
    }

    /// Gives the parts of vertices the inputs of the attributes of their names.
    fn name_attributes(
        &mut self,
        mesh: &mut Mesh,
        attributes: &[vertex::Attribute],
        shader: &Range<usize>,
    ) {
        let mut inputs: Vec<Option<u8>> = vec![None; mesh.attributes.len()];
        for attribute in attributes {
            let wanted = usual_name(&attribute.name);
            match mesh.names.iter().position(|name| *name == attribute.name || name == wanted) {
                Some(part) => inputs[part] = Some(attribute.input),
                None => {
                    let message = format!(
                        "the vertices have no `{}`, which the vertex shader reads; they have {}",
                        attribute.name,
                        mesh.names.join(", ")
                    );
                    let help = format!(
                        "name a part of the vertices so: `VERTICES {wanted} 3, …`, or `VERTICES \"mesh.obj\" {wanted}, … ;`"
                    );
                    self.wrong_name(shader.clone(), message, help);
                }
            }
        }
        // Parts that the shader does not read go where it reads nothing.
        let used: Vec<u8> = attributes.iter().map(|attribute| attribute.input).collect();
        let mut free = (0..u8::MAX).filter(|input| !used.contains(input));
        for (part, input) in mesh.attributes.iter_mut().zip(inputs) {
            part.input = input.or_else(|| free.next()).unwrap_or(part.input);
        }
    }

    /// Gives samplers their textures.
    fn name_textures(
        &mut self,
        parts: &mut Parts,
        samplers: &[SamplerUnit],
        job: &mut Job,
        shader: &Range<usize>,
    ) {
        let given = std::mem::take(&mut parts.named_textures);
        for (unit, sampler) in (0u8..).zip(samplers) {
            if given.iter().any(|texture| texture.sampler == sampler.name) {
                continue;
            }
            if parts.textures.iter().all(|other| other.unit != unit) {
                let message = format!("the sampler `{}` has no texture", sampler.name);
                self.wrong_name(shader.clone(), message, TEXTURE_HELP.to_owned());
            }
        }
        for texture in given {
            let unit = samplers.iter().position(|sampler| sampler.name == texture.sampler);
            let Some(unit) = unit else {
                let names: Vec<&str> =
                    samplers.iter().map(|sampler| sampler.name.as_str()).collect();
                let message = format!("the fragment shader reads no sampler `{}`", texture.sampler);
                let help = match names.as_slice() {
                    [] => "it reads none".to_owned(),
                    names => format!("it reads {}", names.join(", ")),
                };
                self.wrong_name(texture.span, message, help);
                continue;
            };
            let of_target =
                |target, is_previous| TargetTexture { unit: unit as u8, target, is_previous };
            match texture.source {
                TextureSource::Target(target) => parts.textures.push(of_target(target, false)),
                TextureSource::Previous(target) => parts.textures.push(of_target(target, true)),
                TextureSource::Text(text) => {
                    job.textures[unit] = self.texture_of(&text, texture.span);
                }
            }
        }
    }

    /// Reads a texture as fragment programs name it.
    fn texture_of(&mut self, text: &str, span: Range<usize>) -> Option<Texture> {
        let text = format!("TEXTURE tex[0] = {text} ;\n{NO_PROGRAM}\n");
        let name = self.path.to_string_lossy().into_owned();
        let assembly = assembly::assemble_with_files(text.as_bytes(), &name, self.files);
        if let Some(error) = assembly.errors().next() {
            let help = error.help.first().cloned().unwrap_or_else(|| TEXTURE_HELP.to_owned());
            self.wrong_name(span, error.message.clone(), help);
            return None;
        }
        match assembly::job(&assembly, self.files) {
            Ok(mut job) => job.textures[0].take(),
            Err(error) => {
                self.wrong_name(span, error.to_string(), TEXTURE_HELP.to_owned());
                None
            }
        }
    }

    /// Gives uniforms their values: those of the vertex shader, and of the fragment shader.
    fn name_uniforms(
        &mut self,
        parts: &mut Parts,
        shaders: [Option<&ShaderText>; 2],
        uniforms: &[Vec<Uniform>; 2],
        size: [u32; 2],
    ) {
        let mut given = std::mem::take(&mut parts.uniforms);
        let is_read = |value: &&NamedValue| {
            uniforms.iter().flatten().any(|uniform| is_of(&uniform.name, &value.name))
        };
        let unread: Vec<&NamedValue> = given.iter().filter(|value| !is_read(value)).collect();
        if !unread.is_empty() {
            self.check_declared(&unread, shaders);
        }
        given.extend(built_in(size));
        let constants = [&mut parts.vertex_constants, &mut parts.fragment_constants];
        for ((shader, uniforms), constants) in shaders.into_iter().zip(uniforms).zip(constants) {
            let Some(shader) = shader else { continue };
            for uniform in uniforms {
                let found = given.iter().find_map(|value| value.of(uniform));
                let missing = || format!("the uniform `{}` has no value", uniform.name);
                match found.unwrap_or_else(|| Err((shader.span.clone(), missing()))) {
                    Ok(assignment) => constants.push(assignment),
                    Err((span, message)) => {
                        self.wrong_name(span, message, UNIFORM_HELP.to_owned());
                    }
                }
            }
        }
    }

    /// Reports values of uniforms that no shader declares; one that is not read has no effect.
    fn check_declared(&mut self, values: &[&NamedValue], shaders: [Option<&ShaderText>; 2]) {
        let mut declared: Vec<String> = Vec::new();
        for (shader, stage) in shaders.into_iter().zip([Stage::Vertex, Stage::Fragment]) {
            let read = shader.and_then(|shader| compile::parse(&shader.text, stage).ok());
            let variables = read.into_iter().flat_map(|(tree, _)| tree.variables);
            let uniforms = variables.filter(|variable| {
                variable.storage == Storage::Uniform && !variable.ty.has_sampler()
            });
            declared.extend(uniforms.map(|variable| variable.name));
        }
        declared.sort_unstable();
        declared.dedup();
        let help = match declared.as_slice() {
            [] => "they have none".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        for value in values {
            if !declared.iter().any(|name| is_of(&value.name, name)) {
                let message = format!("no shader of the draw has a uniform `{}`", value.name);
                self.wrong_name(value.span.clone(), message, help.clone());
            }
        }
    }
}

impl NamedValue {
    /// Returns the constant of a uniform's vector, if this is its value: of a matrix one column.
    fn of(&self, uniform: &Uniform) -> Option<Result<Assignment, (Range<usize>, String)>> {
        let first = usize::from(uniform.constant);
        let assigned = |column| Some(Ok(Assignment { first, value: self.value.clone(), column }));
        let wrong = |message: String| Some(Err((self.span.clone(), message)));
        // The kinds of values do not depend on the environment.
        let kind = match self.value.value(Environment::CONSTANT) {
            Ok(kind) => kind,
            Err(message) => return wrong(message),
        };
        if uniform.name == self.name {
            return match kind {
                Value::Matrix(_) => wrong(format!("`{}` is not a matrix", self.name)),
                Value::Number(_) | Value::Vector(_) => assigned(None),
            };
        }
        let column = uniform.name.strip_prefix(&self.name)?.strip_prefix('[')?.strip_suffix(']')?;
        let column: usize = column.parse().ok()?;
        match kind {
            Value::Matrix(_) if column < 4 => assigned(Some(column)),
            _ => wrong(format!("`{}` is a matrix or an array; the value is neither", self.name)),
        }
    }
}

/// Returns whether a name is a variable or a part of one.
fn is_of(name: &str, variable: &str) -> bool {
    name.strip_prefix(variable).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Values of uniforms that every picture has, for those that the scene does not set.
fn built_in([width, height]: [u32; 2]) -> Vec<NamedValue> {
    let named = |name: &str, value| NamedValue { name: name.to_owned(), span: 0..0, value };
    let vector = |parts: [f64; 4]| Expression::Vector(parts.map(Expression::Number).to_vec());
    let (width, height) = (f64::from(width), f64::from(height));
    vec![
        named("time", Expression::Time),
        named("resolution", vector([width, height, 1.0 / width, 1.0 / height])),
        // Scale and offset are the same.
        named(r500::builtin_uniforms::VIEWPORT, vector([width / 2.0, height / 2.0, 0.5, 0.0])),
    ]
}

/// Returns the usual name of an attribute of fixed-function drawing; other names are their own.
fn usual_name(attribute: &str) -> &str {
    match attribute {
        "gl_Vertex" => "position",
        "gl_Normal" => "normal",
        "gl_Color" => "color",
        "gl_MultiTexCoord0" => "coordinate",
        name => name,
    }
}
