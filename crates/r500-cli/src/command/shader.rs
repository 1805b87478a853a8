//! Shaders of other GPUs: what `r500 convert` writes as WGSL, GLSL and SPIR-V.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use r500::asm::print_lines;
use r500::emit::{
    Amplifier, Arithmetic, Code, Form, Inputs, Language, Options, Shader, VertexOptions, emit,
    emit_vertex, self_test,
};
use r500::program::Job;
use r500::pvs::Program;
use r500::reader;

use super::exit::{Failure, Outcome};
use super::output_file::put_group;
use super::{input_args, overwrite, terminal};

/// What a program is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A format of programs.
    Program(reader::Language),
    /// A shader.
    Shader(Language),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(language) = Language::from_name(&text.to_ascii_lowercase()) {
            return Ok(Self::Shader(language));
        }
        text.parse().map(Self::Program).map_err(|error: String| {
            let shaders = Language::ALL.map(Language::name).join(", ");
            format!("{error}, and of shaders {shaders}")
        })
    }
}

/// Options of shaders.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Shaders of other GPUs")]
pub(super) struct ShaderArgs {
    /// Compute the bits of the reference engine, on a host that rounds as IEEE 754 and flushes denormals; textures are the file's
    #[arg(long)]
    exact: bool,
    /// Compute inputs from planes over the picture, in the uniform buffer, not from varyings
    #[arg(long)]
    planes: bool,
    /// Write a vertex program as a function to include, not as a whole shader
    #[arg(long)]
    function: bool,
    /// Write the self-test of exact shaders instead of a program: a host that draws its picture right computes them exactly
    #[arg(long, conflicts_with_all = ["program", "exact", "planes", "function", "list", "pick"])]
    pub(super) self_test: bool,
    /// Print the shader's bindings to stdout (of the self-test also its texels and what it must draw); without -o instead of the shader
    #[arg(long, value_name = "FORMAT")]
    interface: Option<InterfaceFormat>,
}

/// The format of a shader's bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InterfaceFormat {
    /// One JSON object.
    Json,
}

impl ShaderArgs {
    /// Returns the name of an option that is for shaders only, if one is given.
    pub(super) fn given(self) -> Option<&'static str> {
        if self.exact {
            return Some("--exact");
        }
        if self.self_test {
            return Some("--self-test");
        }
        if self.function {
            return Some("--function");
        }
        if self.planes { Some("--planes") } else { self.interface.map(|_| "--interface") }
    }

    /// Writes a program as a shader.
    pub(super) fn write(
        self,
        job: &Job,
        language: Language,
        output: Option<&Path>,
        inputs: &[PathBuf],
    ) -> Outcome<()> {
        if self.function {
            return Err(Failure::usage("--function is for vertex programs"));
        }
        let code = &job.program.code;
        let offset = job.program.state.base_address();
        let (first, lines) = (usize::from(offset), print_lines(code, offset));
        let annotate = |address: u32| {
            let line = (address as usize).checked_sub(first).and_then(|at| lines.get(at));
            line.map_or_else(|| format!("{address}"), |line| format!("{address}: {line}"))
        };
        let options = Options {
            language,
            arithmetic: self.arithmetic(),
            inputs: if self.planes { Inputs::Planes } else { Inputs::Varyings },
            annotate: Some(&annotate),
        };
        let shader = emit(job, &options).map_err(Failure::input)?;
        notes(&shader);
        amplified(&shader.interface.amplifiers);
        self.put(&shader.code, &shader.interface.json(), output, inputs)
    }

    /// Writes a vertex program as a shader.
    pub(super) fn write_vertex(
        self,
        program: &Program,
        language: Language,
        output: Option<&Path>,
        inputs: &[PathBuf],
    ) -> Outcome<()> {
        if self.planes {
            return Err(Failure::usage("--planes is for fragment programs"));
        }
        let (first, code) = program.instructions();
        let annotate = |address: u32| {
            let inst = (address as usize).checked_sub(first).and_then(|at| code.get(at));
            inst.map_or_else(|| format!("{address}"), |inst| format!("{address}: {inst}"))
        };
        let options = VertexOptions {
            language,
            arithmetic: self.arithmetic(),
            form: if self.function { Form::Function } else { Form::Stage },
            annotate: Some(&annotate),
        };
        let shader = emit_vertex(program, &options).map_err(Failure::input)?;
        amplified(&shader.interface.amplifiers);
        self.put(&shader.code, &shader.interface.json(), output, inputs)
    }

    fn arithmetic(self) -> Arithmetic {
        if self.exact { Arithmetic::Exact } else { Arithmetic::Fast }
    }

    /// Writes the self-test of exact shaders.
    pub(super) fn write_self_test(self, language: Language, output: Option<&Path>) -> Outcome<()> {
        let test = self_test(language).map_err(Failure::usage)?;
        self.put(&test.shader.code, &test.json(), output, &[])
    }

    fn put(
        self,
        code: &Code,
        interface: &str,
        output: Option<&Path>,
        inputs: &[PathBuf],
    ) -> Outcome<()> {
        let bytes = code.bytes();
        match output.filter(|path| !input_args::is_stdin(path)) {
            Some(path) => {
                overwrite::refuse([path], inputs)?;
                put_group([(path, &*bytes)])?;
            }
            None if self.interface.is_some() => {}
            None if matches!(code, Code::Words(_)) && std::io::stdout().is_terminal() => {
                return Err(Failure::usage("SPIR-V is not for a terminal; give -o FILE"));
            }
            None => terminal::out().write_all(&bytes)?,
        }
        if self.interface.is_some() {
            writeln!(terminal::out(), "{interface}")?;
        }
        Ok(())
    }
}

/// Says what the shader leaves out, and where it may differ.
fn notes(shader: &Shader) {
    for left_out in &shader.interface.left_out {
        terminal::warn(&format!("no shader can do this, so it is left out: {left_out}"));
    }
    for texture in shader.interface.textures.iter().filter(|texture| texture.is_assumed) {
        terminal::warn(&format!(
            "the file has no texture for unit {}; two dimensions are assumed",
            texture.unit
        ));
    }
}

/// Says where a shader amplifies the last bits of a host.
fn amplified(amplifiers: &[Amplifier]) {
    if let Some(Amplifier { address, reason }) = amplifiers.first() {
        let others = match amplifiers.len() - 1 {
            0 => String::new(),
            n => format!("; {n} more with --interface json"),
        };
        terminal::note(&format!(
            "the host's last bits may become visible: at address {address}, {reason}{others}"
        ));
    }
}
