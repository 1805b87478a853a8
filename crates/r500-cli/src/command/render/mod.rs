//! `r500 render`: drawing of pictures.

mod compare;
mod feedback;
mod folder;
mod output;
mod scene;
mod sequence;
mod strips;
#[cfg(feature = "window")]
mod window;

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use r500::builtin_uniforms::{self, BuiltinUniforms};
use r500::exec::live_textures::PreviousPicture;
use r500::exec::{
    Bindings, Counters, Drawing, Frame, Options, PixelRect, RunError, RunInfo, RuntimeWarnings,
    Shader,
};
use r500::picture::PngCompression;
use r500::program::Job;
use r500_stream::counted;

use self::output::{Plane, Sink};
use super::binding_args::StateArgs;
use super::engine_args::{self, EngineArgs};
use super::exit::{Failure, Outcome, Status};
use super::format::Format;
use super::input_args::{self, SourceArgs};
use super::scene::SceneFile;
use super::{overwrite, syntax, terminal};

/// Draw a program's picture, or a scene.
///
/// A capture carries its size, inputs, constants and textures, so it needs no switches; each can be
/// overridden. A bare program gets temp[0] = (u, v, 0, 1), u and v from 0 to 1 over the picture, v
/// upward. Pictures stand upright: y = 0 is the bottom row. Killed and never written is 0, alpha too.
///
/// The output's extension picks its format: .png (8-bit RGBA, straight alpha, no gamma), .exr and .f32
/// (values as the program wrote them; .f32 is raw little-endian float32, four a pixel, one for depth,
/// rows from y = 0), .raw (the bytes that the card would store under US_OUT_FMT or US_W_FMT, rows from
/// y = 0); with --frames also .gif and .apng, else a file a frame.
///
/// A scene (a text that begins with SCENE: vertices, programs and state of whole draws) is drawn by the virtual card, for the
/// time of --time.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Render {
    #[command(flatten)]
    source: SourceArgs,
    /// Where the picture goes: .png .exr .f32 .raw .gif .apng; `-` writes a PNG to stdout.
    /// With --frames, `####` in the name becomes the frame's number. Of a folder of programs: a folder for PNG files, or a
    /// name in which `{}` becomes the program's
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Width and height (default: the program's own, else 256x256)
    #[arg(long, value_name = "WxH", value_parser = syntax::size)]
    size: Option<[u32; 2]>,
    /// How hard PNG files are compressed: `fast`, or `best` for small files
    #[arg(long, value_enum, default_value_t = Compress::Fast)]
    compress: Compress,
    /// What to show: a render target, all that the program writes (a file each, layers of an .exr),
    /// or depth
    #[arg(long, value_enum, ignore_case = true, default_value_t = Target::A)]
    target: Target,
    /// Draw only this part: lower left pixel and size
    #[arg(long, value_name = "X,Y,WxH", value_parser = syntax::area)]
    crop: Option<PixelRect>,
    /// Draw frames FIRST up to END: frame n is at --time + n / --fps
    #[arg(long, value_name = "FIRST..END", value_parser = syntax::frames)]
    frames: Option<Range<u32>>,
    /// Frames a second
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    fps: u16,
    /// Of the frames, or of the programs of a folder, draw those of part K of N; those whose file is there already are
    /// skipped
    #[arg(long, value_name = "K/N", value_parser = syntax::shard)]
    shard: Option<syntax::Shard>,
    /// Give a texture unit what the program wrote to an output in the frame before: `out[0]=tex[0]`, and how it is sampled if that is not
    /// nearest and clamp (`out[0]=tex[0],linear,wrap`). In the first frame it is 0; frames before FIRST of --frames are drawn, but not written
    #[arg(long, value_name = "out[N]=tex[N]")]
    feedback: Vec<String>,
    /// Draw again whenever the program, a file that it names or a texture changes, until interrupted
    #[arg(long, conflicts_with = "frames")]
    reload: bool,
    /// Show the picture in a window, moving if a constant takes the time. Space stops and
    /// continues, Escape or Q closes; the title tells frames a second and the values under the
    /// mouse
    #[arg(long, conflicts_with_all = ["output", "frames", "show", "findings", "reference", "crop"])]
    window: bool,
    /// Show the picture in the terminal
    #[arg(long)]
    show: bool,
    /// Report run-time warnings: actions of the program that are undefined or likely mistakes
    #[arg(long)]
    findings: bool,
    /// Print what was drawn, by which engine, and the time it took
    #[arg(short, long)]
    verbose: bool,
    /// How to report on stdout
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    compare: compare::CompareArgs,
    #[command(flatten)]
    state: StateArgs,
    #[command(flatten)]
    machine: EngineArgs,
}

const AFTER: &str = "\
Exit status: 0 drawn (and equal); 1 the program or its textures have errors, or the picture differs;
2 wrong usage; 3 could not be done (unreadable file, a limit).

Examples:
  r500 render capture.json -o out.png
  r500 render capture.json --compare reference.png --diff difference.png
  r500 render prog.bin -o out.png --size 512x512 --const 0=1,0.5,0,1 --texture 0=brick.png,wrap=mirror
  r500 render prog.bin -o out.png --input 'temp[0]=2*u-1, 2*v-1' --input temp[1]=position
  r500 render prog.bin -o anim.gif --frames 0..50 --time-to 3.r
  r500 render prog.bin -o frame-####.png --frames 0..1000 --time-to 3.r --shard 1/4
  r500 render examples/life.r5 -o life.gif --frames 0..200
  r500 render prog.bin -o trails.gif --frames 0..100 --feedback 'out[0]=tex[1],linear'
  r500 render captures -o pictures --shard 1/4
  r500 render captures -o 'pictures/{}.exr'
  r500 render piglit.jsonl.gz --list; r500 render piglit.jsonl.gz --pick fs-abs-vec2.0 --show
  r500 render prog.bin --show --findings
  r500 render examples/plasma.r5 --window --size 960x540
  r500 render examples/scenes/cube.r5 -o cube.gif --frames 0..150
  r500 render --reading help";

/// `--compress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compress {
    Fast,
    Best,
}

impl From<Compress> for PngCompression {
    fn from(compress: Compress) -> Self {
        match compress {
            Compress::Fast => Self::Fast,
            Compress::Best => Self::Best,
        }
    }
}

/// The target to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    #[value(name = "A")]
    A,
    #[value(name = "B")]
    B,
    #[value(name = "C")]
    C,
    #[value(name = "D")]
    D,
    All,
    Depth,
}

impl Target {
    /// Returns the number of a render target; that of A for what is none.
    fn index(self) -> usize {
        match self {
            Self::A | Self::All | Self::Depth => 0,
            Self::B => 1,
            Self::C => 2,
            Self::D => 3,
        }
    }
}

/// A frame of a sequence: its number, which is that of the frames before it, and its time.
#[derive(Clone, Copy, Debug)]
struct Moment {
    frame: u32,
    time: f32,
}

/// A program and all that it reads.
struct Ready {
    job: Job,
    shader: Arc<Shader>,
    bindings: Bindings,
    size: [u32; 2],
    crop: Option<PixelRect>,
}

impl Ready {
    /// Returns the part of the picture that is drawn.
    fn area(&self) -> PixelRect {
        let [width, height] = self.size;
        self.crop.unwrap_or(PixelRect { x: 0, y: 0, width, height })
    }
}

/// The result of a drawing.
struct Drawn {
    job: Job,
    frame: Frame,
    took: Duration,
    /// The time limit, if it ended the drawing; the frame has what was drawn until then.
    stopped: Option<RunError>,
}

impl Drawn {
    fn summary(&self) -> Summary {
        let Frame { warnings, counters, run_info, .. } = &self.frame;
        Summary {
            area: self.frame.area(),
            warnings: warnings.clone(),
            counters: *counters,
            run_info: run_info.clone(),
            took: self.took,
        }
    }
}

/// What is reported of a drawing, besides its pixels.
struct Summary {
    area: PixelRect,
    warnings: RuntimeWarnings,
    counters: Counters,
    run_info: RunInfo,
    took: Duration,
}

impl Render {
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
        if self.source.list {
            self.source.read()?;
            return input_args::LISTED;
        }
        let nothing = self.output.is_none()
            && self.frames.is_none()
            && !self.show
            && !self.window
            && !self.findings
            && self.compare.reference.is_none()
            && self.format == Format::Text;
        if nothing {
            return Err(Failure::usage(
                "nothing to do with the picture; give -o FILE, --show, --window, --compare or --findings",
            ));
        }
        if self.target == Target::All
            && (self.show || self.window || self.compare.reference.is_some())
        {
            return Err(Failure::usage("--show, --window and --compare take one target, not all"));
        }
        if let Some(scene) = SceneFile::read(self.source.file()?, self.source.read)? {
            return self.scene(&scene);
        }
        if self.window {
            return self.live();
        }
        let to_stdout = self.output.as_deref().is_some_and(input_args::is_stdin);
        if to_stdout
            && (self.show || self.format == Format::Json || self.compare.reference.is_some())
        {
            return Err(Failure::usage(
                "-o - takes stdout for the picture; write it to a file if there is other output",
            ));
        }
        let folder = self.source.file()?;
        if folder.is_dir() {
            return self.folder(folder);
        }
        if let Some(frames) = &self.frames {
            return self.sequence(frames.clone());
        }
        if self.shard.is_some() {
            return Err(Failure::usage(
                "--shard takes the frames of --frames or the programs of a folder: this is one picture",
            ));
        }
        let sink = self.output.as_deref().map(|path| Sink::new(path, false)).transpose()?;
        let sink = sink.map(|sink| sink.compressed(self.compress.into()));
        let outputs = sink.iter().flat_map(|sink| sink.paths(self.target == Target::All));
        self.refuse_inputs(&outputs.chain(self.compare.diff.clone()).collect::<Vec<_>>())?;
        if self.reload {
            return self.watch(sink.as_ref());
        }
        self.once(sink.as_ref())
    }

    /// Refuses outputs that are the program, a texture or the reference picture.
    fn refuse_inputs(&self, outputs: &[PathBuf]) -> Outcome<()> {
        self.source.refuse_as_output(outputs.iter().map(PathBuf::as_path))?;
        let mut inputs = self.state.files();
        inputs.extend(self.compare.reference.clone());
        overwrite::refuse(outputs.iter().map(PathBuf::as_path), &inputs)
    }

    /// There are no windows in this build.
    #[cfg(not(feature = "window"))]
    fn live(&self) -> Outcome {
        Err(super::exit::no_windows())
    }

    /// Draws one picture and outputs it as requested.
    fn once(&self, sink: Option<&Sink>) -> Outcome {
        let Some(job) = self.job()? else { return input_args::LISTED };
        let ready = self.ready(job, None, &PreviousPicture::default())?;
        let size = ready.size;
        let in_strips = !self.show && self.compare.reference.is_none() && strips::pays(&ready);
        if let Some(sink) = sink
            && in_strips
        {
            let strips::Streamed { summary, written, stopped } = self.stream(&ready, sink)?;
            stopped.map_or(Ok(()), |error| Err(engine_args::not_run(error)))?;
            let name = &ready.job.name;
            let report = Report { name, size, summary, written: &written, comparison: None };
            self.report(&report)?;
            return Ok(Status::Fine);
        }
        let drawn = self.draw(ready)?;
        let planes = self.planes(&drawn.frame)?;
        let mut written = Vec::new();
        // An incomplete picture is shown, but it is not an output.
        if let Some(sink) = sink
            && drawn.stopped.is_none()
        {
            written = sink.write(&planes, &drawn.job.program.state)?;
        }
        if self.show
            && let Some(plane) = planes.first()
        {
            let mut out = std::io::stdout().lock();
            let colors = terminal::colors(&out);
            terminal::show(&plane.picture(), &mut out, colors)?;
        }
        if let Some(error) = drawn.stopped {
            return Err(engine_args::not_run(error));
        }
        let comparison = match (&self.compare.reference, planes.first()) {
            (Some(_), Some(plane)) => {
                Some(self.compare.compare(plane, self.crop, drawn.job.share)?)
            }
            _ => None,
        };
        let report = Report {
            name: &drawn.job.name,
            size,
            summary: drawn.summary(),
            written: &written,
            comparison: comparison.as_ref(),
        };
        self.report(&report)?;
        let equal = comparison.is_none_or(|comparison| comparison.passes);
        Ok(if equal { Status::Fine } else { Status::Failed })
    }

    /// Reads all that a job needs, for a frame of a sequence if one is given.
    fn ready(
        &self,
        mut job: Job,
        moment: Option<Moment>,
        previous: &PreviousPicture,
    ) -> Outcome<Ready> {
        let size = self.size.unwrap_or_else(|| builtin_uniforms::default_size(&job));
        if let Some(Moment { frame, .. }) = moment {
            BuiltinUniforms { frame: Some(frame), ..BuiltinUniforms::default() }.apply(&mut job);
        }
        previous.bind(&mut job, size);
        let time = moment.map(|moment| moment.time);
        let takes_time = self.state.apply_at(&mut job, size, time)?;
        if !takes_time && self.state.time.is_some() {
            terminal::warn("no constant takes the time; say which does with --time-to");
        }
        if moment.is_none() {
            engine_args::warn_missing(&job, true);
            feedback::warn_absent(&job);
        }
        let (shader, bindings) = engine_args::bind(&job, size)?;
        Ok(Ready { job, shader: Arc::new(shader), bindings, size, crop: self.crop })
    }

    /// Returns how to draw.
    fn options(&self) -> Outcome<Options<'static>> {
        Ok(Options {
            warnings: self.findings || self.format == Format::Json,
            area: self.crop,
            ..self.machine.options()?
        })
    }

    /// Draws a picture in memory.
    fn draw(&self, ready: Ready) -> Outcome<Drawn> {
        let Ready { job, shader, bindings, size, .. } = ready;
        let bar = terminal::progress(u64::from(size[1]), "rows");
        let progress = |done: u64, all: u64| {
            bar.set_length(all);
            bar.set_position(done);
        };
        let mut options: Options<'_> = self.options()?;
        options.progress = Some(&progress);
        let start = Instant::now();
        let mut drawing = Drawing::new(self.machine.engine(), shader, &bindings, options)
            .map_err(engine_args::not_run)?;
        let mut frame = drawing.frame(&bindings).map_err(engine_args::not_run)?;
        let result = drawing.draw_into(&bindings, &mut frame);
        bar.finish_and_clear();
        let stopped = match result {
            Ok(()) => None,
            Err(error @ RunError::Time { .. }) => Some(error),
            Err(error) => return Err(engine_args::not_run(error)),
        };
        Ok(Drawn { job, frame, took: start.elapsed(), stopped })
    }

    /// Returns the planes of a frame that are wanted.
    fn planes<'a>(&self, frame: &'a Frame) -> Outcome<Vec<Plane<'a>>> {
        planes(self.target, frame)
    }

    /// Prints the requested report.
    fn report(&self, report: &Report<'_>) -> Outcome<()> {
        let Report { name, size, summary, written, comparison } = report;
        let Summary { area, warnings, counters, run_info, took } = summary;
        if self.format == Format::Json {
            let files: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
            let json = serde_json::json!({
                "version": 1,
                "name": name,
                "size": size,
                "area": [area.x, area.y, area.width, area.height],
                "seconds": took.as_secs_f64(),
                "engine": run_info.engine,
                "simd": run_info.simd,
                "instead": run_info.fallback_reason,
                "instructions": counters.instructions,
                "stat": counters.stat,
                "killed": counters.killed,
                "files": files,
                "comparison": comparison.map(compare::Compared::json),
                "findings": engine_args::findings_json(warnings),
            });
            writeln!(terminal::out(), "{json}")?;
            return Ok(());
        }
        if let Some(comparison) = comparison {
            writeln!(terminal::out(), "{comparison}")?;
        }
        if self.findings {
            engine_args::print_findings(warnings)?;
        }
        if self.verbose {
            let [width, height] = size;
            terminal::note(&format!(
                "{width}x{height} in {:.3} s, {} by groups of pixels, {} killed",
                took.as_secs_f64(),
                counted(counters.instructions, "instruction"),
                counted(counters.killed, "pixel"),
            ));
            terminal::note(&engine_args::engine_summary(run_info));
            for path in *written {
                terminal::note(&format!("wrote {}", path.display()));
            }
        }
        Ok(())
    }

    /// Draws again and again as files change.
    fn watch(&self, sink: Option<&Sink>) -> Outcome {
        let program = self.source.file()?;
        if input_args::is_stdin(program) {
            return Err(Failure::usage("--reload needs a file, not stdin"));
        }
        let stamp = |file: &PathBuf| std::fs::metadata(file).and_then(|m| m.modified()).ok();
        let stamps = |files: &[PathBuf]| -> Vec<_> { files.iter().map(stamp).collect() };
        loop {
            // What the program names may change with it.
            let files = [self.source.files()?, self.state.files()].concat();
            let before = stamps(&files);
            match self.once(sink) {
                Ok(_) => terminal::note("drawn; waiting for changes"),
                // A file that is being written may be incomplete: report it and wait for the rest.
                Err(failure) => failure.report(),
            }
            while stamps(&files) == before {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// The report of a drawing.
struct Report<'a> {
    name: &'a str,
    size: [u32; 2],
    summary: Summary,
    written: &'a [PathBuf],
    comparison: Option<&'a compare::Compared>,
}

/// Returns the planes of a frame that are wanted.
fn planes(target: Target, frame: &Frame) -> Outcome<Vec<Plane<'_>>> {
    let color = |n: usize| Plane::color(frame, n);
    let depth = || Plane::depth(frame);
    match target {
        Target::All => return Ok((0..4).filter_map(color).chain(depth()).collect()),
        Target::Depth => {
            let none = || Failure::input(anyhow::anyhow!("the program writes no depth"));
            return Ok(vec![depth().ok_or_else(none)?]);
        }
        _ => {}
    }
    let index = target.index();
    let letter = output::LETTERS[index];
    let none = || Failure::input(anyhow::anyhow!("the program does not write target {letter}"));
    Ok(vec![color(index).ok_or_else(none)?])
}
