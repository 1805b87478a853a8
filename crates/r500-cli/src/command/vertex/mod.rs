//! Vertex programs in the commands that take both kinds of programs.
//!
//! | module | content |
//! | --- | --- |
//! | this one | recognition, assembly, disassembly and formats |
//! | [`report`] | findings and statistics |
//! | [`vertices`] | runs for vertices, with constants, inputs and limits |
//! | [`set`] | vertices that are inspected one by one |

mod report;
mod set;
mod vertices;

pub(super) use report::VertexStats;
pub(super) use set::{Keep, VertexSet};
pub(super) use vertices::Limit;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use r500::asm::diagnostic::MessageLevel;
use r500::emit;
use r500::files::NamedFiles;
use r500::formats::{self, DwordOptions, Format as ProgramFormat, VertexProgram};
use r500::pvs::{Controls, Fill, Instruction, Program, Source, SyntaxError};
use r500::reader::Language;
use r500_scene::Scene;
use serde_json::{Value as Json, json};

use super::excerpt::Text;
use super::exit::{Failure, Outcome, Status};
use super::format::Format;
use super::input_args::{self, ReadArgs, SourceArgs};
use super::output_args::OutputArgs;
use super::output_file::put;
use super::shader::ShaderArgs;
use super::{compilation, glsl, overwrite, terminal};

/// A program for tests: a loop of three iterations, which adds 1 each; then x is doubled only if input[0].x is 0.
#[cfg(test)]
pub(super) const COUNTING: &str = "-- Counts.
const[0] = (0, 1, 0, 0.25) ;
FLOW[0] = LOOP after 0, 3 times 1 to 1, aL 5 step 1 ;
temp[0].xyzw = VE_ADD const[0].xxxx const[0].xxxx ;
temp[0].x = VE_ADD temp[0].x___ const[0].y___ ;
temp[1].w = ME_PRED_SET_EQ input[0].xxxx ;
(p) temp[0].x = VE_ADD temp[0].x___ temp[0].x___ ;
out[0].xyzw = VE_ADD temp[0].xxxx temp[0].0000 ;
";

/// A file with a vertex program.
pub(super) struct VertexFile {
    path: PathBuf,
    /// How messages call it.
    name: String,
    /// The text, if it is assembly.
    text: Option<String>,
    /// The program; empty if the text has errors.
    source: Source,
    errors: Vec<SyntaxError>,
}

impl VertexFile {
    /// Returns the vertex program of the file, if it has one and no format is named; of a driver's log, the one that `--pick` names.
    pub(super) fn of_source(source: &SourceArgs) -> Outcome<Option<Self>> {
        match source.file() {
            Ok(file) if !source.list => Self::picked(file, source.pick.as_deref(), source.read),
            _ => Ok(None),
        }
    }

    /// Returns the vertex program of a file, or the one of a driver's log that `pick` names.
    pub(super) fn picked(path: &Path, pick: Option<&str>, read: ReadArgs) -> Outcome<Option<Self>> {
        match pick {
            _ if read.from.is_some() => Ok(None),
            Some(pick) if pick.starts_with("vp") && !input_args::is_stdin(path) => {
                let found = compilation::vertex_program(path, None, pick);
                let found = found.map_err(|error| input_args::unreadable(path, error))?;
                found.map(|program| Self::of_log(path, &program)).transpose()
            }
            Some(_) => Ok(None),
            None => Self::read(path, read),
        }
    }

    /// Returns how messages call the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the program with all that the text gives.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the text, if it is assembly.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns the file with another program in it.
    pub(super) fn with_source(&self, source: Source) -> Self {
        let (path, name) = (self.path.clone(), self.name.clone());
        Self { path, name, text: None, source, errors: Vec::new() }
    }

    /// Returns the constants that the text gives.
    pub(super) fn constants(&self) -> &std::collections::BTreeMap<u8, [u32; 4]> {
        &self.source.constants
    }

    /// Reads a file if it has a vertex program: a text in their language, or dwords that are one. `None` for all other files, if a format is
    /// named, and for stdin, which is read once.
    pub(super) fn read(path: &Path, read: ReadArgs) -> Outcome<Option<Self>> {
        if read.from.is_some() || input_args::is_stdin(path) || !path.is_file() {
            return Ok(None);
        }
        if r500_mesa::shader::stage_of_name(path) == Some(r500_mesa::Stage::Vertex)
            && let Some(glsl::Shader::Vertex(source)) = glsl::program(path, read.compiler)?
        {
            return Ok(Some(Self::of_scene(path, input_args::show(path), *source)));
        }
        // The next reader of a file that cannot be read reports why.
        let Ok(bytes) = input_args::source(path) else { return Ok(None) };
        Ok(Self::of(path, &bytes, &read.paths.files(path), read.dwords()))
    }

    /// Returns whether a file in a folder has a vertex program.
    pub(super) fn is_in(path: &Path) -> bool {
        input_args::may_hold_programs(path)
            && matches!(Self::read(path, ReadArgs::default()), Ok(Some(_)))
    }

    /// Makes a vertex program of the bytes of a file, if they have one.
    pub(super) fn of(
        path: &Path,
        bytes: &[u8],
        files: &NamedFiles,
        dwords: DwordOptions,
    ) -> Option<Self> {
        let name = input_args::show(path);
        let lower = name.to_ascii_lowercase();
        if [".json", ".jsonl", ".gz", ".log", ".r5cs"].iter().any(|other| lower.ends_with(other)) {
            return None;
        }
        let mut file = Self::new(path, name, &[]);
        if let Some(words) = formats::vertex_program_with(bytes, dwords) {
            return Some(Self::new(path, file.name, &words));
        }
        let text = std::str::from_utf8(bytes).ok()?;
        if Scene::is_scene(text) {
            return None;
        }
        let is_named = lower.ends_with(".vs.asm") || lower.ends_with(".vs.r5");
        if !is_named && !Source::is_likely(text) {
            return None;
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut include = |name: &str| {
            let search = std::iter::once(folder).chain(files.search().iter().map(PathBuf::as_path));
            let found = search.map(|folder| folder.join(name)).find(|path| path.is_file());
            let read = files.read(&found.unwrap_or_else(|| folder.join(name)), MAX_INCLUDE);
            let text = read.and_then(r500::files::text);
            text.map_err(|error| error.to_string())
        };
        match Source::parse(text, &mut include) {
            Ok(source) => file.source = source,
            Err(errors) => file.errors = errors,
        }
        file.text = Some(text.to_owned());
        Some(file)
    }

    /// Makes a vertex program of one in a driver's log.
    ///
    /// # Errors
    /// If the driver could not compile it.
    pub(super) fn of_log(path: &Path, program: &VertexProgram) -> Outcome<Self> {
        if program.code.is_empty() {
            let (file, name) = (input_args::show(path), &program.name);
            return Err(Failure::input(anyhow::anyhow!("{file}: {name}: {}", program.outcome)));
        }
        let name = format!("{}: {}", input_args::show(path), program.name);
        match program.program() {
            Some(found) => Ok(Self { source: Source::from(found), ..Self::new(path, name, &[]) }),
            None => Err(Failure::input(anyhow::anyhow!(
                "{name}: the log does not list its flow control"
            ))),
        }
    }

    /// Makes a vertex program of one in a scene.
    pub(super) fn of_scene(path: &Path, name: String, source: Source) -> Self {
        // Places are those of the scene, whose text is not kept.
        let source = Source { spans: Vec::new(), ..source };
        Self { source, ..Self::new(path, name, &[]) }
    }

    fn new(path: &Path, name: String, code: &[[u32; 4]]) -> Self {
        let code: Vec<Instruction> = code.iter().copied().map(Instruction).collect();
        let program = Program::from_code(Controls::of_code(0, &code), 0, code);
        Self {
            path: path.to_owned(),
            name,
            text: None,
            source: Source::from(program),
            errors: Vec::new(),
        }
    }

    /// Returns the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the program.
    pub(super) fn program(&self) -> &Program {
        &self.source.program
    }

    /// Returns a failure with all errors of the text, if it has any.
    pub(super) fn sound(&self) -> Outcome<()> {
        if self.errors.is_empty() {
            return Ok(());
        }
        let messages: Vec<String> = self
            .errors
            .iter()
            .take(input_args::MAX_ERRORS)
            .map(|error| self.message(error))
            .collect();
        let more = self.errors.len() - messages.len();
        let mut text = messages.join("\n\n");
        if more > 0 {
            text += &format!("\n\nand {more} more");
        }
        Err(Failure::diagnosed(text))
    }

    fn message(&self, error: &SyntaxError) -> String {
        let help: Vec<&str> = error.help.as_deref().into_iter().collect();
        self.excerpt(MessageLevel::Error, "", &error.message, error.span.clone(), help)
    }

    /// Returns a message with its line of the text.
    fn excerpt(
        &self,
        level: MessageLevel,
        id: &str,
        title: &str,
        span: std::ops::Range<usize>,
        help: Vec<&str>,
    ) -> String {
        self.lines().message(level, id, title, span, help)
    }

    fn lines(&self) -> Text<'_> {
        Text { name: &self.name, text: self.text.as_deref() }
    }

    /// `r500 asm`: writes the dwords.
    pub(super) fn assemble(&self, output: &OutputArgs, format: Format) -> Outcome {
        if format == Format::Json {
            let diagnostics: Vec<Json> =
                self.errors.iter().map(|error| self.error_json(error)).collect();
            let answer = json!({
                "version": 1,
                "kind": "vertex",
                "ok": self.errors.is_empty(),
                "instructions": self.source.program.instructions().1.len(),
                "diagnostics": diagnostics,
                "omitted": 0,
            });
            writeln!(terminal::out(), "{answer:#}")?;
            if !self.errors.is_empty() {
                return Ok(Status::Failed);
            }
            if output.file().is_none() {
                return Ok(Status::Fine);
            }
        }
        self.sound()?;
        overwrite::refuse(output.file(), std::slice::from_ref(&self.path))?;
        self.convert(output)
    }

    fn error_json(&self, error: &SyntaxError) -> Json {
        let (line, column) = self.lines().position(error.span.start);
        json!({
            "severity": "error",
            "message": error.message,
            "place": { "file": self.name, "line": line, "column": column },
            "help": error.help.iter().collect::<Vec<_>>(),
        })
    }

    /// `r500 convert`: writes the program in another format.
    pub(super) fn convert(&self, output: &OutputArgs) -> Outcome {
        self.sound()?;
        let language = output.language(Language::Format(ProgramFormat::Hex))?;
        overwrite::refuse(output.file(), std::slice::from_ref(&self.path))?;
        let format = match language {
            Language::Format(format) => format,
            _ => return self.print(output.file(), false),
        };
        let words: Vec<[u32; 4]> =
            self.source.program.instructions().1.iter().map(|inst| inst.0).collect();
        let mut bytes = Vec::new();
        if !formats::write_vertex_program(&words, format, &mut bytes)? {
            return Err(Failure::usage(format!(
                "{}: vertex programs are written as raw dwords (.bin), hex text (.hex), C arrays (.inc) and assembly (.r5)",
                format.name()
            )));
        }
        if !self.source.constants.is_empty() {
            terminal::warn(&format!(
                "{} holds instructions only; constants and registers are left out (assembly holds everything)",
                format.name()
            ));
        }
        match output.file() {
            Some(path) => put(path, &bytes)?,
            None if format != ProgramFormat::Raw => terminal::out().write_all(&bytes)?,
            None if std::io::stdout().is_terminal() => {
                return Err(Failure::usage("raw dwords are not for a terminal; give -o FILE"));
            }
            None => std::io::stdout().lock().write_all(&bytes)?,
        }
        Ok(Status::Fine)
    }

    /// `r500 convert`: writes the program as a shader of another GPU.
    pub(super) fn write_shader(
        &self,
        shader: ShaderArgs,
        language: emit::Language,
        output: Option<&Path>,
    ) -> Outcome {
        self.sound()?;
        let inputs = std::slice::from_ref(&self.path);
        shader.write_vertex(&self.source.program, language, output, inputs)?;
        Ok(Status::Fine)
    }

    /// `r500 disasm`: prints the program as assembly.
    pub(super) fn disassemble(
        &self,
        output: Option<&Path>,
        annotate: bool,
        code_only: bool,
        format: Format,
    ) -> Outcome {
        self.sound()?;
        if let Some(path) = output {
            overwrite::refuse(Some(path), std::slice::from_ref(&self.path))?;
        }
        let (first, code) = self.source.program.instructions();
        if format == Format::Json {
            let instructions: Vec<Json> = (first..)
                .zip(code)
                .map(|(address, inst)| {
                    let dwords = inst.0.map(|dword| format!("{dword:08x}"));
                    json!({ "address": address, "dwords": dwords, "text": inst.to_string() })
                })
                .collect();
            let answer = format!(
                "{:#}\n",
                json!({ "version": 1, "kind": "vertex", "instructions": instructions })
            );
            return write_text(output, &answer);
        }
        if code_only {
            let text: String =
                code.iter().map(|inst| format!("{} ;\n", inst.with_fill(Fill::Unused))).collect();
            return write_text(output, &text);
        }
        self.print(output, annotate)
    }

    fn print(&self, output: Option<&Path>, annotate: bool) -> Outcome {
        let mut text = self.source.to_string();
        if annotate {
            let (first, code) = self.source.program.instructions();
            let shader = glsl::lines(&self.path).map(|lines| lines.listed()).unwrap_or_default();
            let mut annotated = String::new();
            let mut numbers = (first..).zip(code).peekable();
            for line in text.lines() {
                let end = numbers.peek().map(|(n, _)| format!("; -- {n}"));
                let Some((n, inst)) =
                    numbers.next_if(|_| end.is_some_and(|end| line.ends_with(&end)))
                else {
                    annotated.extend([line, "\n"]);
                    continue;
                };
                let of_shader = shader.get(n - first).map_or("", String::as_str).lines();
                of_shader.for_each(|line| annotated.extend(["-- ", line, "\n"]));
                let [a, b, c, d] = inst.0;
                annotated.push_str(&format!("{line}: {a:08x} {b:08x} {c:08x} {d:08x}\n"));
            }
            text = annotated;
        }
        write_text(output, &text)
    }
}

/// Limit of an included file in bytes.
const MAX_INCLUDE: u64 = 1 << 20;

fn write_text(output: Option<&Path>, text: &str) -> Outcome {
    match output {
        Some(path) => put(path, text.as_bytes())?,
        None => terminal::out().write_all(text.as_bytes())?,
    }
    Ok(Status::Fine)
}
