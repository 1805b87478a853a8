//! `r500 debug`: steps through the run of a pixel or vertex, in the terminal or by a script.
//!
//! | module | content |
//! | --- | --- |
//! | [`language`] | the commands: names, arguments, help |
//! | [`session`] | the state: the recorded run, breakpoints, displayed values |
//! | [`debugged`], [`subject`] | what is asked of a kind of machine, and shown of a session with it |
//! | [`pixel`], [`vertex`] | of a pixel and its group, of a vertex |
//! | [`area`] | queries over many pixels, in the background |
//! | [`text`] | the state as text |
//! | [`commands`], [`reply`] | the effect and the reply of each command |
//! | [`screen`], [`draw`], [`event_loop`] | the terminal: keys, layout, events |
//!
//! Breakpoints and the runs to them are those of `r500::breakpoints`. `r500 dap` uses the session and its commands, too.

mod area;
mod commands;
pub(super) mod debugged;
mod draw;
mod event_loop;
pub(super) mod language;
pub(super) mod pixel;
mod reply;
mod screen;
pub(super) mod session;
pub(super) mod subject;
pub(super) mod text;
pub(super) mod vertex;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use r500::exec::Options;
use r500::exec::record::DrawSetup;

use self::session::Session;
use self::subject::Subject;
use super::binding_args::StateArgs;
use super::engine_args::{self, EngineArgs};
use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::vertex::{Keep, VertexSet};
use super::{scene, syntax, terminal};

/// Walk through what happens at a pixel or vertex, forward and back.
///
/// The whole run of the pixel is recorded; from there, step in either direction, run to breakpoints
/// and conditions, read operands, results and registers, at the pixels that share the program
/// counter, at any other pixel, and at how much pixels execute. Always runs the reference engine.
///
/// Of a scene, it is the draw that shades the pixel last, or the draw that --pick names, at the time
/// --time.
///
/// Of a vertex program it is a vertex: a row of --input, which is written as `r500 run` takes it, or the
/// inputs that the text gives. Of a scene, --vertex selects a vertex of the first draw, or of the draw that
/// --pick names, with the values of the scene.
/// The commands are gdb's; `?` lists them.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Debug {
    #[command(flatten)]
    source: SourceArgs,
    /// The pixel; y = 0 is the bottom row (default: the middle)
    #[arg(long, value_name = "X,Y", value_parser = syntax::pixel)]
    pixel: Option<[u32; 2]>,
    /// The vertex, from 0: of a vertex program a row of --input (default: 0); of a scene the place in the
    /// order in which the draw uses vertices
    #[arg(long, value_name = "N")]
    vertex: Option<u64>,
    /// Width and height of the picture (default: the program's own, else 256x256)
    #[arg(long, value_name = "WxH", value_parser = syntax::size)]
    size: Option<[u32; 2]>,
    /// Run the commands of this file, one a line, print their replies, and stop; `-` is stdin. Needs
    /// no terminal
    #[arg(long, value_name = "FILE|-")]
    script: Option<PathBuf>,
    #[command(flatten)]
    state: StateArgs,
    #[command(flatten)]
    machine: EngineArgs,
}

const AFTER: &str = "\
Exit status: 0 fine; 1 the program has errors; 2 wrong usage, a command of the script included;
3 could not be done.

Examples:
  r500 debug capture.json --pixel 12,34
  r500 debug examples/scenes/cube.r5 --time 0.7 --pixel 160,120
  r500 debug examples/scenes/cube.r5 --time 0.7 --vertex 2
  r500 debug light.vs.asm --input 'i0=1,2,3; i1=0,0,1'
  r500 debug light.vs.asm --input vertices.csv --vertex 7
  r500 debug wave.vert --input 'i0=0.5,0.5'
  printf 'break if temp[2].r is nan\\ncontinue\\ninfo step\\n' | r500 debug prog.bin --script -";

impl Debug {
    /// Hands the memory limit to what loads textures.
    #[must_use]
    pub(super) fn with_memory_limit(mut self) -> Self {
        self.machine.limit_textures(&mut self.source.read, &mut self.state);
        self
    }

    pub(super) fn run(&self) -> Outcome {
        if self.machine.list_readings()? {
            return Ok(Status::Fine);
        }
        if let (Ok(file), Some(script)) = (self.source.file(), &self.script)
            && input_args::is_stdin(file)
            && input_args::is_stdin(script)
        {
            return Err(Failure::usage("the program and the script cannot both come from stdin"));
        }
        let reads_stdin = |text: &String| input_args::is_stdin(std::path::Path::new(text));
        if self.script.as_deref().is_some_and(input_args::is_stdin)
            && self.state.input.iter().any(reads_stdin)
        {
            return Err(Failure::usage("--input and the script cannot both come from stdin"));
        }
        if let Some(set) =
            scene::vertices_at(&self.source, &self.state, self.vertex, Keep::AlsoOthers)?
        {
            return self.debug_vertex(set);
        }
        let (mut state, mut wanted) = (self.state.clone(), self.pixel);
        let job = scene::program_at(&self.source, &mut state, &mut wanted, &self.machine)?;
        let Some(mut job) = job else { return input_args::LISTED };
        if self.vertex.is_some() {
            return Err(Failure::usage(
                "--vertex is for vertex programs and scenes; give --pixel X,Y",
            ));
        }
        let size = self.size.or(job.size).unwrap_or([256, 256]);
        state.apply(&mut job, size)?;
        let (shader, bindings) = engine_args::bind(&job, size)?;
        let options = Options { warnings: true, ..self.machine.options()? };
        let setup = DrawSetup { shader: Arc::new(shader), bindings: Arc::new(bindings), options };
        let pixel = wanted.unwrap_or(size.map(|side| side / 2));
        if pixel[0] >= size[0] || pixel[1] >= size[1] {
            return Err(Failure::usage(format!(
                "--pixel {},{} is outside the picture of {}x{}",
                pixel[0], pixel[1], size[0], size[1]
            )));
        }
        let name = if job.name.is_empty() {
            input_args::show(self.source.file()?)
        } else {
            job.name.clone()
        };
        let map = input_args::source_map(self.source.file()?, self.source.read, &job);
        let session = Session::new(name, map, setup, pixel).map_err(engine_args::not_run)?;
        self.serve(session)
    }

    /// Steps through the run of a vertex.
    fn debug_vertex(&self, set: VertexSet) -> Outcome {
        let of_pixels = self.pixel.map(|_| "--pixel").or(self.size.map(|_| "--size"));
        if let Some(name) = of_pixels {
            return Err(Failure::usage(format!(
                "{name} is for fragment programs; --vertex N selects a vertex"
            )));
        }
        let limits = self.machine.options()?.limits;
        let number = self.vertex.unwrap_or(0);
        let session = Session::of_vertex(set, number, limits);
        self.serve(session.map_err(|why| Failure::usage(format!("--vertex {number}: {why}")))?)
    }

    /// Runs the script, or the screen.
    fn serve<M: Subject>(&self, session: Session<M>) -> Outcome {
        match &self.script {
            Some(script) => run_script(session, script),
            None if std::io::stdout().is_terminal() && std::io::stdin().is_terminal() => {
                event_loop::run(session)?;
                Ok(Status::Fine)
            }
            None => Err(Failure::usage(
                "this is not a terminal; --script FILE runs commands without one",
            )),
        }
    }
}

/// Runs commands and prints their replies; the first error ends it.
fn run_script<M: Subject>(mut session: Session<M>, script: &std::path::Path) -> Outcome {
    let commands = input_args::text(script)?;
    let mut out = std::io::BufWriter::new(terminal::out());
    out.write_all(M::greeting(&session).as_bytes())?;
    for (number, line) in (1..).zip(commands.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        writeln!(out, "(r500) {line}")?;
        let reply = session.execute(line).map_err(|message| {
            Failure::usage(format!("{}, line {number}: {message}", input_args::show(script)))
        });
        let reply = match reply {
            Ok(reply) => reply,
            Err(failure) => {
                out.flush()?;
                return Err(failure);
            }
        };
        out.write_all(session.text_of(&reply).as_bytes())?;
        if reply.quit {
            break;
        }
    }
    out.flush()?;
    Ok(Status::Fine)
}
