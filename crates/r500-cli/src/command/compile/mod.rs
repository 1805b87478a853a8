//! `r500 compile`: what a compiler makes of GLSL.
//!
//! | module | content |
//! | --- | --- |
//! | this one | options, and what happens to each pair |
//! | [`report`] | answers as text and JSON |
//! | [`lines`] | what each line of a shader costs |

mod lines;
mod report;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use r500::reader::Language;
use r500_mesa::{ShaderPair, Stage};

use super::compiler::{CompilerArgs, Verdict, diagnose, sources};
use super::exit::{Failure, Outcome, Status};
use super::format::Format;
use super::output_args::OutputArgs;
use super::output_file::{create_folder, put_group};
use super::vertex::VertexFile;
use super::{output_args, overwrite, terminal};
use report::{Row, Rows};

/// Show what a compiler makes of GLSL.
///
/// Compiles shaders with the Mesa that is installed, on the virtual card, or with our own compiler, which needs nothing (--with r500), and answers whether they fit the chip: the programs with the names of their uniforms, samplers, varyings and
/// attributes, their statistics, the compiler's messages, and the limit that was missed. SHADER is a fragment shader (.frag, .fs, .glsl, or ShaderToy's mainImage), a vertex shader (.vert, .vs), a program of
/// ARB_fragment_program (.fp) or ARB_vertex_program (.vp), which our own compiler takes, a .shader_test of
/// piglit, which MESA_SHADER_CAPTURE_PATH writes, too, or a folder of them. Files of one name are a pair, and so are two
/// shaders of different stages. Mesa's compiler links a shader alone with a made one of the other stage. Draws with uniforms of known values
/// show which constant holds which uniform.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Compile {
    /// Shaders, and folders of them
    #[arg(required = true, value_name = "SHADER")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    with: CompilerArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print the driver's whole log (RADEON_DEBUG=fp,vp) instead
    #[arg(long, conflicts_with = "explain")]
    log: bool,
    /// Print the source with the instructions of each line, and how many they are (our own compiler)
    #[arg(long)]
    explain: bool,
}

const AFTER: &str = "\
Exit status: 0 everything compiled and fits; 1 a shader has errors or does not fit; 2 wrong usage; 3 the compiler is not there, or a limit.

Examples:
  r500 compile plasma.frag                      does it fit, what does it become, why not
  r500 compile plasma.frag --with r500          the same by our own compiler, without Mesa
  r500 compile plasma.frag --with mesa,r500     both, side by side
  r500 compile plasma.frag --with r500 --explain
                                                what each line costs
  r500 compile water.vert water.frag            a pair
  r500 compile glow.fp                          a program that begins with !!ARBfp1.0
  r500 compile plasma.frag -o plasma.r5         the program as assembly, with the names of its uniforms
  r500 compile water.vert -o water.vs.asm       the vertex program
  r500 compile shaders --format json            all pairs of a folder
  r500 compile shaders -o out --to json         each as a file in a folder
  r500 compile a.frag --mesa-path ~/mesa-24 --mesa-path ~/mesa-25
                                                two versions side by side
  MESA_SHADER_CAPTURE_PATH=shaders some-game    writes the pairs of an application, on any card
  r500 render plasma.frag -o plasma.png         commands that take fragment programs compile GLSL, too";

/// Compiles and draws a pair of shaders: the process on the virtual card.
#[cfg(target_os = "linux")]
#[derive(Args, Debug)]
pub(super) struct MesaClient {
    /// The request, JSON
    request: PathBuf,
}

impl Compile {
    /// Compiles.
    pub(super) fn run(self) -> Outcome {
        overwrite::refuse(self.output.file(), &self.files)?;
        let drivers = self.with.chosen()?;
        let pairs = sources::pairs(&self.files)?;
        if self.output.file().is_some() && drivers.len() > 1 {
            return Err(Failure::usage(
                "-o takes the programs of one compiler; give one --with, and one --mesa-path",
            ));
        }
        let mut status = Status::Fine;
        let mut rows = Vec::new();
        let bar = terminal::progress((pairs.len() * drivers.len()) as u64, "shaders");
        for pair in &pairs {
            let mut row = Row { name: pair.name.clone(), verdicts: Vec::new() };
            for driver in &drivers {
                let verdict = driver.compile(pair);
                bar.inc(1);
                match verdict {
                    Ok(verdict) => {
                        if !verdict.is_fine() && status == Status::Fine {
                            status = Status::Failed;
                        }
                        row.verdicts.push(verdict);
                    }
                    // One of several that crashes the compiler, for example.
                    Err(failure) if pairs.len() > 1 => {
                        bar.suspend(|| failure.report());
                        status = Status::CouldNot;
                    }
                    Err(failure) => return Err(failure),
                }
            }
            if row.verdicts.len() == drivers.len() {
                rows.push(row);
            }
        }
        bar.finish_and_clear();
        let several = pairs.len() > 1;
        let rows = Rows { rows, several };
        if self.log {
            return self.print_log(&rows).map(|()| status);
        }
        if self.explain {
            return self.explain(&rows, drivers.len() > 1).map(|()| status);
        }
        for row in &rows.rows {
            for verdict in &row.verdicts {
                diagnose(verdict, drivers.len() > 1);
            }
        }
        match (self.format, self.output.file()) {
            (Format::Json, _) => writeln!(terminal::out(), "{:#}", rows.json())?,
            (Format::Text, None) if self.output.to.is_none() => rows.print(&mut terminal::out())?,
            (Format::Text, _) => {}
        }
        if self.output.file().is_some() || self.output.to.is_some() {
            self.write(&pairs, &rows)?;
        }
        Ok(status)
    }

    /// Prints what each line costs.
    fn explain(&self, rows: &Rows, several: bool) -> Outcome<()> {
        for verdict in rows.rows.iter().flat_map(|row| &row.verdicts) {
            diagnose(verdict, several);
            lines::print(&mut terminal::out(), verdict)?;
        }
        Ok(())
    }

    fn print_log(&self, rows: &Rows) -> Outcome<()> {
        let mut out = terminal::out();
        for verdict in rows.rows.iter().flat_map(|row| &row.verdicts) {
            out.write_all(&verdict.log)?;
        }
        Ok(())
    }

    /// Writes programs: the one that the name of the output stands for, or into a folder all of them.
    fn write(&self, pairs: &[ShaderPair], rows: &Rows) -> Outcome<()> {
        let wants_vertex = |path: &Path| {
            let name = path.to_string_lossy().to_ascii_lowercase();
            name.ends_with(".vs.asm") || name.ends_with(".vs.r5")
        };
        let first = rows.rows.first().and_then(|row| row.verdicts.first());
        let alone = pairs.first().is_some_and(|pair| pair.fragment.is_none());
        match (self.output.file(), first) {
            (_, Some(verdict)) if !rows.several && !verdict.is_fine() => Ok(()),
            (Some(path), Some(verdict)) if !rows.several => {
                if wants_vertex(path) || alone {
                    return vertex_file(verdict, path)?.convert(&self.output).map(|_| ());
                }
                let language = self.output.language(Language::Assembly)?;
                let options = self.output.print_options();
                self.output.write(&[verdict.fragment()?.clone()], language, &options, &self.files)
            }
            (None, Some(verdict)) if !rows.several && alone => {
                let path = Path::new(&verdict.name);
                vertex_file(verdict, path)?.convert(&self.output).map(|_| ())
            }
            (None, Some(verdict)) if !rows.several => {
                let language = self.output.language(Language::Assembly)?;
                let options = self.output.print_options();
                self.output.write(&[verdict.fragment()?.clone()], language, &options, &[])
            }
            (Some(folder), _) => self.write_folder(folder, rows),
            (None, _) => {
                Err(Failure::usage("the programs of several shaders need a folder: -o FOLDER"))
            }
        }
    }

    fn write_folder(&self, folder: &Path, rows: &Rows) -> Outcome<()> {
        let language = self.output.to.unwrap_or(Language::Assembly);
        create_folder(folder)?;
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for row in &rows.rows {
            let Some(verdict) = row.verdicts.first().filter(|verdict| verdict.is_fine()) else {
                continue;
            };
            let name = sources::file_name(&row.name);
            if verdict.has(Stage::Fragment) {
                let options = self.output.print_options();
                let written = r500::writer::write(verdict.fragment()?, language, &options)
                    .map_err(output_args::not_written)?;
                files.push((folder.join(format!("{name}.{}", extension(language))), written.bytes));
            }
            if verdict.has(Stage::Vertex) {
                files.push((
                    folder.join(format!("{name}.vs.asm")),
                    verdict.vertex_text()?.into_bytes(),
                ));
            }
        }
        let names: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
        overwrite::refuse(names, &self.files)?;
        put_group(files.iter().map(|(path, bytes)| (path.as_path(), bytes.as_slice())))
    }
}

/// Returns the vertex program as a file that the commands for such programs take.
fn vertex_file(verdict: &Verdict, path: &Path) -> Outcome<VertexFile> {
    Ok(VertexFile::of_scene(path, verdict.name.clone(), verdict.vertex_source()?))
}

/// Returns the extension of a format's files.
fn extension(language: Language) -> &'static str {
    use r500::formats::Format as Kind;
    match language {
        Language::Format(Kind::Raw) => "bin",
        Language::Format(Kind::CArray) => "inc",
        Language::Format(Kind::Hex) => "hex",
        Language::Format(Kind::Json) => "json",
        Language::Format(Kind::JsonLines) => "jsonl",
        _ => "r5",
    }
}

#[cfg(target_os = "linux")]
impl MesaClient {
    /// Compiles and draws.
    pub(super) fn run(self) -> Outcome {
        let text = super::input_args::bytes(&self.request)?;
        let request: r500_mesa::request::Request =
            serde_json::from_slice(&text).map_err(Failure::could_not)?;
        r500_mesa::client::run(&request).map_err(Failure::could_not)?;
        Ok(Status::Fine)
    }
}
