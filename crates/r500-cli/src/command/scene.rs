//! Scenes: whole draws as text.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use r500::asm::diagnostic::MessageLevel;
use r500::fast::Fast;
use r500::files::{self as guard, MAX_TEXT};
use r500::picture::Picture;
use r500::program::Job;
use r500_card::Card;
use r500_scene::{CompileError, Frame, PreviousFrame, Scene, ShadedError, ShadedPixel};
use r500_stream::Chip;
use r500_stream::capture::{Info, Record, Writer};

use super::binding_args::StateArgs;
use super::engine_args::{EngineArgs, TIME};
use super::excerpt::Text;
use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, ReadArgs, SourceArgs};
use super::output_file::put;
use super::vertex::{Keep, VertexFile, VertexSet};
use super::{overwrite, terminal};

/// A file with a scene.
pub(super) struct SceneFile {
    path: PathBuf,
    pub(super) scene: Scene,
}

/// What is not as a scene expects.
pub(super) struct Wrong {
    pub(super) texts: Vec<String>,
    /// The first pixel that is wrong.
    pub(super) first: Option<[u32; 2]>,
}

impl SceneFile {
    /// Returns the scene of a file, if it has one and no format is named.
    ///
    /// # Errors
    /// All errors of the scene.
    pub(super) fn read(path: &Path, read: ReadArgs) -> Outcome<Option<Self>> {
        if read.from.is_some() || input_args::is_stdin(path) || !path.is_file() {
            return Ok(None);
        }
        // The next reader of a file that cannot be read reports why.
        let Ok(text) = guard::read_text(path, MAX_TEXT) else { return Ok(None) };
        if !Scene::is_scene(&text) {
            return Ok(None);
        }
        match Scene::parse(&text, path, &read.paths.files(path)) {
            Ok(scene) => Ok(Some(Self { path: path.to_owned(), scene })),
            Err(errors) => {
                let name = input_args::show(path);
                let lines = Text { name: &name, text: Some(&text) };
                let shown = errors.iter().take(input_args::MAX_ERRORS).map(|error| {
                    let help = Some(error.help.as_str()).filter(|help| !help.is_empty());
                    let (span, help) = (error.span.clone(), help.into_iter().collect());
                    lines.message(MessageLevel::Error, "", &error.message, span, help)
                });
                let mut text = shown.collect::<Vec<_>>().join("\n\n");
                let more = errors.len().saturating_sub(input_args::MAX_ERRORS);
                if more > 0 {
                    text += &format!("\n\nand {more} more");
                }
                Err(Failure::diagnosed(text))
            }
        }
    }

    /// Returns the draw that shades a pixel of the picture last, or draw `pick` and a pixel of its target, as a job; and where the pixel is in the
    /// picture of the job. Row 0 is at the bottom.
    fn shaded(
        &self,
        pick: Option<&str>,
        time: f64,
        pixel: Option<[u32; 2]>,
        machine: &EngineArgs,
    ) -> Outcome<(Job, [u32; 2])> {
        let number = pick.map(|text| self.draw_number(text)).transpose()?;
        let pixel = pixel.unwrap_or_else(|| self.scene.size().map(|side| side / 2));
        let name = input_args::show(&self.path);
        match self.scene.shaded(number, time, pixel, &mut Self::card(machine)?) {
            Ok(ShadedPixel { job, place, .. }) => Ok((job, place)),
            Err(ShadedError::Outside { pixel: [x, y], size: [width, height] }) => {
                let message = format!("--pixel {x},{y} is outside the picture of {width}x{height}");
                Err(Failure::usage(message))
            }
            Err(error @ ShadedError::Nothing { .. }) => {
                let of_draw = if pick.is_some() { " by this draw" } else { "" };
                Err(Failure::input(anyhow::anyhow!("{name}: {error}{of_draw}")))
            }
            Err(ShadedError::Compile(error)) => {
                Err(Failure::input(anyhow::anyhow!("{name}: {error}")))
            }
            Err(error) => Err(Failure::could_not(error)),
        }
    }

    /// Returns the vertices of draw `pick`, or of the first draw, at a time, with the vertex program and its constants.
    ///
    /// # Errors
    /// If there is no such draw, or it has no vertex program, or the card cannot reach it.
    pub(super) fn vertices(&self, pick: Option<&str>, time: f64) -> Outcome<VertexSet> {
        let draw = pick.map_or(Ok(0), |text| self.draw_number(text))?;
        let frame = self.compile(time)?;
        let mut card = Card::with_engine(Box::new(Fast::new()));
        card.keep_inputs(draw as u64);
        card.set_deadline(Instant::now().checked_add(TIME));
        card.submit_through(&frame.submission, draw as u64).map_err(Failure::could_not)?;
        let missing = || {
            let name = input_args::show(&self.path);
            Failure::input(anyhow::anyhow!("{name}: draw {draw} draws nothing"))
        };
        VertexSet::of_draw(format!("draw {draw}"), &card.take_inputs().ok_or_else(missing)?)
    }

    /// Parses the number of a draw.
    fn draw_number(&self, text: &str) -> Outcome<usize> {
        let count = self.scene.draws();
        let number = text.parse().ok().filter(|number| *number < count);
        number.ok_or_else(|| {
            Failure::usage(format!("--pick {text}: a draw of the scene, 0 to {}", count - 1))
        })
    }

    /// Returns the vertex program, if there is one, and the fragment program of each draw, with their names.
    pub(super) fn programs(&self) -> impl Iterator<Item = (Option<VertexFile>, Job)> {
        let name = input_args::show(&self.path);
        self.scene.programs().enumerate().map(move |(n, (vertex, fragment))| {
            let vertex = vertex.map(|source| {
                let name = format!("{name}: draw {n}, vertex program");
                VertexFile::of_scene(&self.path, name, source.clone())
            });
            (vertex, Job { name: format!("draw {n}, fragment program"), ..fragment })
        })
    }

    /// Compiles the scene for a time.
    pub(super) fn compile(&self, time: f64) -> Outcome<Frame> {
        self.scene.compile(time).map_err(|error| self.not_compiled(&error))
    }

    fn not_compiled(&self, error: &CompileError) -> Failure {
        Failure::input(anyhow::anyhow!("{}: {error}", input_args::show(&self.path)))
    }

    /// Returns a card that draws scenes.
    pub(super) fn card(machine: &EngineArgs) -> Outcome<Card> {
        let mut card = Card::with_engine(machine.card_engine());
        card.set_vertex_engine(machine.vertex_engine());
        card.set_fragment_readings(machine.options()?.readings);
        Ok(card)
    }

    /// Draws the scene at a time, as a first frame.
    pub(super) fn draw(
        &self,
        card: &mut Card,
        time: f64,
        machine: &EngineArgs,
    ) -> Outcome<Picture> {
        self.draw_after(&mut PreviousFrame::default(), card, time, machine)
    }

    /// Draws the scene at a time, after the frame that left `previous`, which becomes what this one leaves.
    pub(super) fn draw_after(
        &self,
        previous: &mut PreviousFrame,
        card: &mut Card,
        time: f64,
        machine: &EngineArgs,
    ) -> Outcome<Picture> {
        let frame = self.scene.compile_after(previous, time).map_err(|e| self.not_compiled(&e))?;
        card.set_deadline(
            machine.time_limit(TIME).and_then(|time| Instant::now().checked_add(time)),
        );
        card.submit(&frame.submission).map_err(Failure::could_not)?;
        *previous = frame.previous();
        Ok(frame.picture(card))
    }

    /// Compares the picture at time 0 with what the scene expects; `None` if it expects nothing.
    pub(super) fn judge(&self, machine: &EngineArgs) -> Outcome<Option<Wrong>> {
        if !self.scene.expects() {
            return Ok(None);
        }
        let picture = self.draw(&mut Self::card(machine)?, 0.0, machine)?;
        let verdicts = self.scene.judge(&picture);
        let wrong = || verdicts.iter().filter(|verdict| !verdict.passes);
        let texts = wrong().map(ToString::to_string).collect();
        Ok(Some(Wrong { texts, first: wrong().next().map(|verdict| verdict.pixel) }))
    }

    /// Prints what a real card does otherwise.
    pub(super) fn warn(card: &Card) {
        for (note, count) in card.report().notes() {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            terminal::warn(&format!("{note}{times}"));
        }
    }

    /// `r500 asm`: writes the command stream of the scene at a time. The output's extension decides: a capture, the text of the stream, its
    /// dwords, or a C header with the buffers.
    pub(super) fn assemble(&self, output: Option<&Path>, time: f64) -> Outcome {
        overwrite::refuse(output, std::slice::from_ref(&self.path))?;
        let frame = self.compile(time)?;
        let Some(path) = output else {
            terminal::out().write_all(&stream_text(&frame)?)?;
            return Ok(Status::Fine);
        };
        let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let bytes = match extension.as_deref() {
            Some("r5cs") => {
                let mut writer = Writer::new(Vec::new())?;
                for record in self.records(&frame) {
                    writer.write(&record)?;
                }
                writer.into_inner()
            }
            Some("txt") => stream_text(&frame)?,
            Some("ib" | "bin") => {
                frame.submission.words.iter().flat_map(|word| word.to_le_bytes()).collect()
            }
            Some("h" | "c" | "inc") => frame.c_header().into_bytes(),
            _ => {
                return Err(Failure::usage(format!(
                    "{}: a scene becomes a capture (.r5cs), the text of a stream (.txt), dwords (.ib) or a C header (.h)",
                    path.display()
                )));
            }
        };
        put(path, &bytes)?;
        Ok(Status::Fine)
    }

    fn records(&self, frame: &Frame) -> Vec<Record> {
        let info = Info {
            chip: Chip::default().pci_id().into(),
            driver: format!("r500 {}", env!("CARGO_PKG_VERSION")),
            program: input_args::show(&self.path),
            readings: Vec::new(),
        };
        frame.records(info)
    }
}

/// Returns the program of a command that takes a pixel; `None` if programs were only listed. Of a scene it is the draw that shades the pixel, at
/// the time of `state`, which then is used; `pixel` becomes its place in the picture of that draw.
pub(super) fn program_at(
    source: &SourceArgs,
    state: &mut StateArgs,
    pixel: &mut Option<[u32; 2]>,
    machine: &EngineArgs,
) -> Outcome<Option<Job>> {
    let scene = match source.file() {
        Ok(file) if !source.list => SceneFile::read(file, source.read)?,
        _ => None,
    };
    let Some(scene) = scene else { return source.read() };
    let time = state.time.take().unwrap_or(0.0).into();
    let (job, place) = scene.shaded(source.pick.as_deref(), time, *pixel, machine)?;
    *pixel = Some(place);
    Ok(Some(job))
}

/// Returns the vertices of a command that inspects one: those of a vertex program with its `--input`, or of a draw of a scene, which needs
/// `--vertex`. `None` of all other programs.
pub(super) fn vertices_at(
    source: &SourceArgs,
    state: &StateArgs,
    vertex: Option<u64>,
    keep: fn(u64) -> Keep,
) -> Outcome<Option<VertexSet>> {
    let Ok(file) = source.file() else { return Ok(None) };
    let wanted = vertex.unwrap_or(0);
    if let Some(program) = VertexFile::of_source(source)? {
        program.sound()?;
        refuse(state.given_for_fragments(), "is for fragment programs")?;
        refuse(state.given_time(), "is for fragment programs and scenes")?;
        return program.set(&state.input, &state.constants, keep(wanted)).map(Some);
    }
    if vertex.is_none() || source.list {
        return Ok(None);
    }
    let Some(scene) = SceneFile::read(file, source.read)? else { return Ok(None) };
    refuse(state.given_for_fragments(), "is for fragment programs")?;
    let given = [("--input", &state.input), ("--const", &state.constants)];
    let given = given.iter().find(|(_, values)| !values.is_empty()).map(|(name, _)| *name);
    refuse(given, "is for vertex programs; those of a scene have its values")?;
    scene.vertices(source.pick.as_deref(), state.time.unwrap_or(0.0).into()).map(Some)
}

/// Refuses an option that is given.
fn refuse(option: Option<&str>, why: &str) -> Outcome<()> {
    match option {
        Some(name) => Err(Failure::usage(format!("{name} {why}"))),
        None => Ok(()),
    }
}

/// Returns the stream as text, with its buffers as comments.
fn stream_text(frame: &Frame) -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    for (n, relocation) in frame.submission.relocations.iter().enumerate() {
        let access = if relocation.write_domain == 0 { "read" } else { "drawn into" };
        writeln!(out, "# relocation {n}: {} bytes, {access}", relocation.buffer.size())?;
    }
    write!(out, "{}", r500_stream::text::print(&frame.submission.words))?;
    Ok(out)
}
