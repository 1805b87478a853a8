//! GLSL where a command takes programs: it is compiled once in a process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use r500::asm::visible;
use r500::compile::Span;
use r500::files::NamedFiles;
use r500::program::{Job, Uniform};
use r500::pvs::Source;
use r500::reader::set_shader_values;
use r500_mesa::Stage;

use super::compiler::sources::pair_of_text;
use super::compiler::{ChosenCompiler, Compiler, CompilerArgs, Verdict, diagnose, first_error};
use super::exit::{Failure, Outcome as Exit};
use super::input_file;
use super::shader_variables::CompiledShader;

/// What a shader became.
#[derive(Clone, Debug)]
pub(super) enum Shader {
    /// A fragment program.
    Fragment(Box<Job>),
    /// A vertex program.
    Vertex(Box<Source>),
}

/// The source of a program, and the places in it that each instruction computes.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) spans: Vec<Vec<Span>>,
    /// Names of constants of a vertex program; a fragment program has its own.
    pub(super) uniforms: Vec<Uniform>,
    /// Names of inputs of a vertex program.
    pub(super) attributes: Vec<(u8, String)>,
    /// What our own compiler made of it.
    pub(super) compiled: Option<Arc<CompiledShader>>,
}

impl Lines {
    /// Returns for each instruction the lines that it computes, with their numbers, as text; nothing if they are those of the instruction before.
    pub(super) fn listed(&self) -> Vec<String> {
        let lines: Vec<&str> = self.text.lines().collect();
        let listed = |numbers: &Vec<usize>| {
            let line = |n: &usize| Some(format!("{n} | {}", lines.get(n.checked_sub(1)?)?.trim()));
            let text: Vec<String> = numbers.iter().filter_map(line).collect();
            visible(&text.join("\n")).into_owned()
        };
        let mut before = Vec::new();
        let mut all = Vec::new();
        for numbers in r500::compile::lines_of(&self.text, &self.spans) {
            all.push(if numbers == before { String::new() } else { listed(&numbers) });
            before = numbers;
        }
        all
    }
}

/// What became of a shader, or why it is not a program.
#[derive(Clone, Debug)]
struct Outcome {
    shader: Result<Shader, Rejected>,
    lines: Option<Lines>,
}

/// Why a shader is not a program.
#[derive(Clone, Debug)]
struct Rejected {
    message: String,
    /// The first error, on one line.
    first: Option<String>,
}

impl From<Rejected> for Failure {
    fn from(rejected: Rejected) -> Self {
        let failure = Self::input(anyhow::anyhow!(rejected.message));
        match rejected.first {
            Some(first) => failure.with_first(first),
            None => failure,
        }
    }
}

/// The compiler that a process takes, and the shaders that it compiled.
struct Compiled {
    /// The compiler that was asked for.
    asked: Option<Compiler>,
    chosen: ChosenCompiler,
    shaders: HashMap<PathBuf, Outcome>,
}

static COMPILED: Mutex<Option<Compiled>> = Mutex::new(None);

/// Returns the source of a program that [`program`] compiled from a file, if the compiler says which line an instruction is of.
pub(super) fn lines(file: &Path) -> Option<Lines> {
    held(|compiled| compiled.as_ref()?.shaders.get(file)?.lines.clone())
}

/// Returns the program of a file with GLSL; `None` if it has none.
///
/// # Errors
/// If the shader has errors, which are printed, or does not fit, or the chosen compiler is not there.
pub(super) fn program(file: &Path, compiler: Option<Compiler>) -> Exit<Option<Shader>> {
    let Some(text) = text(file) else { return Ok(None) };
    let known = held(|compiled| asked(compiled, compiler)?.shaders.get(file).cloned());
    if let Some(known) = known {
        return known.shader.map(Some).map_err(Failure::from);
    }
    let Some(pair) = pair_of_text(file, &text)? else { return Ok(None) };
    let mut verdict = chosen(compiler)?.compile(&pair)?;
    diagnose(&verdict, false);
    let is_vertex = pair.fragment.is_none();
    let result = match verdict.is_fine() {
        true => shader(&verdict, file, is_vertex)
            .map_err(|failure| Rejected { message: failure.message(), first: None }),
        false => {
            let message = format!("{}: {}", pair.name, verdict.reason());
            Err(Rejected { message, first: first_error(&verdict) })
        }
    };
    let (stage, source) = match is_vertex {
        true => (Stage::Vertex, pair.vertex),
        false => (Stage::Fragment, pair.fragment),
    };
    let own = verdict.own.iter().position(|(other, _)| *other == stage);
    let own = own.map(|n| verdict.own.swap_remove(n).1);
    let lines = match verdict.spans_of(stage) {
        [] => None,
        spans => source.map(|shader| Lines {
            compiled: own.map(|program| CompiledShader::new(shader.text.clone(), program)),
            text: shader.text,
            spans: spans.to_vec(),
            uniforms: verdict.vertex_uniforms().to_vec(),
            attributes: verdict.attributes(),
        }),
    };
    let outcome = Outcome { shader: result.clone(), lines };
    held(|compiled| {
        if let Some(compiled) = asked(compiled, compiler) {
            compiled.shaders.insert(file.to_owned(), outcome);
        }
    });
    result.map(Some).map_err(Failure::from)
}

/// Returns the program of a verdict; a fragment program with the values that the comments of its shader give.
fn shader(verdict: &Verdict, file: &Path, is_vertex: bool) -> Exit<Shader> {
    Ok(match is_vertex {
        true => Shader::Vertex(Box::new(verdict.vertex_source()?)),
        false => {
            let mut job = verdict.fragment()?.clone();
            if let Some(shader) = verdict.shader(Some(Stage::Fragment)) {
                let files = Some(&NamedFiles::next_to(file));
                let name = file.display().to_string();
                let samplers = verdict.samplers();
                set_shader_values(&shader.text, &name, files, &mut job, samplers)
                    .map_err(|error| Failure::input(anyhow::anyhow!(error)))?;
            }
            Shader::Fragment(Box::new(job))
        }
    })
}

/// Returns the compiler that is asked for. It is chosen once, unless another one is asked for.
fn chosen(compiler: Option<Compiler>) -> Exit<ChosenCompiler> {
    held(|compiled| {
        if let Some(compiled) = asked(compiled, compiler) {
            return Ok(compiled.chosen.clone());
        }
        let chosen = CompilerArgs::usual(compiler)?.chosen()?.swap_remove(0);
        let shaders = HashMap::new();
        *compiled = Some(Compiled { asked: compiler, chosen: chosen.clone(), shaders });
        Ok(chosen)
    })
}

/// Returns what is held, if it is of the compiler that is asked for.
fn asked(compiled: &mut Option<Compiled>, compiler: Option<Compiler>) -> Option<&mut Compiled> {
    compiled.as_mut().filter(|compiled| compiled.asked == compiler)
}

fn held<T>(with: impl FnOnce(&mut Option<Compiled>) -> T) -> T {
    with(&mut COMPILED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the text of a file that may be GLSL: by the extension of its name, or because it has no extension of programs and defines
/// `main`. Standard input is read once, so it is none.
fn text(file: &Path) -> Option<String> {
    use r500_mesa::shader;
    if input_file::is_stdin(file) || !file.is_file() || input_file::may_hold_programs(file) {
        return None;
    }
    let named = shader::stage_of_name(file).is_some()
        || file
            .extension()
            .is_some_and(|extension| extension == "shader_test" || extension == "glsl");
    let text = r500::files::read_text(file, r500::files::MAX_TEXT).ok()?;
    let is_shader = if named {
        shader::is_glsl(&text) || shader::is_shader_test(&text)
    } else {
        shader::is_glsl(&text)
    };
    is_shader.then_some(text)
}
