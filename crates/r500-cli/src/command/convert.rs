//! `r500 convert`: conversion between formats.

use std::path::{Path, PathBuf};

use clap::Args;
use r500::emit;
use r500::formats::Format;
use r500::reader::Language;

use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::output_args::OutputArgs;
use super::shader::{ShaderArgs, Target};
use super::vertex::VertexFile;

/// Write a program in another format.
///
/// Reads assembly, captures and cases (JSON), driver logs, raw dwords, C arrays and hex text,
/// recognised from content; writes all of them but logs. The output's extension picks the format:
/// .bin (little-endian dwords), .inc (C array), .hex, .json, .r5 (assembly). Raw dwords, C arrays and
/// hex hold the instructions only: what else travels with the program is lost, and said so. Of a
/// file with several programs --pick takes one; .json and .jsonl take all.
///
/// .wgsl, .frag and .vert (GLSL 4.50) and .spv (SPIR-V) write a shader for another GPU. Program constants are in
/// its uniform buffer; --interface json says what to bind where. By default it uses the host's
/// functions and samplers: colours differ in last bits, and more where the program amplifies these,
/// which a note names. --exact computes the bits of the reference engine on hosts that pass the
/// --self-test.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Convert {
    #[command(flatten)]
    source: SourceArgs,
    /// Where the program goes (default: stdout, as text)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Its format (default: by the extension of the output): raw, c-array, hex, json, json-lines,
    /// assembly; as a shader: wgsl, glsl, glsl-es-310, glsl-es-300, spirv
    #[arg(long, value_name = "FORMAT")]
    to: Option<Target>,
    #[command(flatten)]
    shader: ShaderArgs,
}

const AFTER: &str = "\
Examples:
  r500 convert capture.json -o program.bin
  r500 convert fp.log --list                     the programs of a driver's log
  r500 convert fp.log --pick 0 -o program.r5     the first of them as assembly
  r500 convert fp.log -o programs.json           all of them
  r500 convert program.bin --to c-array          to stdout
  r500 convert a.inc --to json | r500 render - -o a.png
  r500 convert plasma.r5 -o plasma.wgsl              a shader for WebGPU
  r500 convert plasma.r5 -o plasma.spv --interface json   for Vulkan, and what to bind
  r500 convert plasma.r5 --to glsl --exact       bit for bit as the reference engine
  r500 convert a.vs.r5 -o a.vert                     a vertex program
  r500 convert --self-test -o test.wgsl --interface json   whether a host can be exact

Exit status: 0 written, 1 the input has errors, 2 wrong usage, 3 a file cannot be read or written.";

impl Convert {
    /// Converts.
    pub(super) fn run(self) -> Outcome {
        let shader = self.shader_language();
        if let Some(option) = self.shader.given().filter(|_| shader.is_none()) {
            return Err(Failure::usage(format!(
                "{option} is for shaders; give -o FILE.wgsl, .frag, .vert or .spv, or --to with wgsl, glsl, glsl-es-310, glsl-es-300 or \
                 spirv"
            )));
        }
        if let Some(language) = shader.filter(|_| self.shader.self_test) {
            self.shader.write_self_test(language, self.output.as_deref())?;
            return Ok(Status::Fine);
        }
        if let Some(vertex) = VertexFile::of_source(&self.source)? {
            return match shader {
                Some(language) => {
                    vertex.write_shader(self.shader, language, self.output.as_deref())
                }
                None => vertex.convert(&self.program_output()),
            };
        }
        if let Some(language) = shader {
            let Some(job) = self.source.read()? else { return input_args::LISTED };
            self.shader.write(&job, language, self.output.as_deref(), &self.source.inputs()?)?;
            return Ok(Status::Fine);
        }
        let output = self.program_output();
        let language = output.language(Language::Format(Format::Hex))?;
        let Some(jobs) = self.source.read_all()? else { return input_args::LISTED };
        let inputs = self.source.inputs()?;
        if jobs.len() > 1 && !holds_several(language) {
            return Err(input_args::several(self.source.file()?)
                .context(format_args!("{} holds one program", language.name())));
        }
        output.write(&jobs, language, &output.print_options(), &inputs)?;
        Ok(Status::Fine)
    }

    /// Returns the language of the shader that is asked for.
    fn shader_language(&self) -> Option<emit::Language> {
        match self.to {
            Some(Target::Shader(language)) => Some(language),
            Some(Target::Program(_)) => None,
            None => {
                let extension = self.output.as_deref().and_then(Path::extension)?;
                emit::Language::from_extension(extension.to_str()?)
            }
        }
    }

    fn program_output(&self) -> OutputArgs {
        let to = match self.to {
            Some(Target::Program(language)) => Some(language),
            _ => None,
        };
        OutputArgs { output: self.output.clone(), to }
    }
}

/// Returns whether a file of this language can hold several programs.
fn holds_several(language: Language) -> bool {
    matches!(language, Language::Format(format) if format.holds_jobs())
}
