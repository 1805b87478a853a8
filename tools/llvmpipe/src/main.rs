//! `tools/versus-llvmpipe`: compares an engine of r500 with Mesa's llvmpipe on the same shaders.
//!
//! A capture holds a GLSL source and the R500 program that a driver compiled from it. llvmpipe draws the source
//! ([`llvmpipe`]), an engine the program ([`engine`]). Frames of both are timed alternately ([`measure`]), and their
//! pictures are compared.
//!
//! The work is the same: the same triangle over the same pixels, the same uniforms, texels and filters, and as many
//! threads. Each stores its default format: llvmpipe 8 bits per channel, the engine a float per channel (as the program
//! wrote it, before any format) and the coverage, or also 8 bits per channel with `--output rgba8`.

mod args;
mod capture;
mod egl;
mod emitted;
mod engine;
mod llvmpipe;
mod measure;
mod report;
mod self_test;
mod texture;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use r500::emit::Arithmetic;
use r500::exec::Engine;
use r500::image_diff::{Comparison, SHARE, TOLERANCE};
use r500::picture::Picture;
use r500::program::Job;
use r500_gen::raw_programs::texture;
use r500_gen::{Case, Rng, Shape};

use args::{Args, Command, Format, Output};
use capture::Capture;
use egl::Mesa;
use engine::{NoEngine, Ours, OursRgba8, Scene};
use llvmpipe::{Llvmpipe, Storage};
use measure::Timing;
use report::{Failed, Report, Row};

/// A program was not timed, or its pictures differ.
const DIFFERENT: u8 = 1;
/// The command line is invalid.
const USAGE: u8 = 2;
/// Nothing could be timed.
const COULD_NOT: u8 = 3;

fn main() -> ExitCode {
    let args = match Command::parse(std::env::args().skip(1)) {
        Ok(Command::Run(args)) => args,
        Ok(Command::Help) => {
            print!("{}", include_str!("usage.txt"));
            return ExitCode::SUCCESS;
        }
        Err(message) => return fail(USAGE, &anyhow!(message)),
    };
    let engine = match engine::engine(&args.engine, &args.simd) {
        Ok(engine) => engine,
        Err(NoEngine::Unknown(message)) => return fail(USAGE, &anyhow!(message)),
        Err(NoEngine::Unavailable(message)) => return fail(COULD_NOT, &anyhow!(message)),
    };
    if let Err(error) = run_again_with(&egl::environment(args.threads)) {
        return fail(COULD_NOT, &error.into());
    }
    if let Some(arithmetic) = args.emitted {
        return match emitted_shaders(&args, arithmetic) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::from(DIFFERENT),
            Err(error) => fail(COULD_NOT, &error),
        };
    }
    match run(&args, &*engine) {
        Ok(report) if report.is_clean() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(DIFFERENT),
        Err(error) => fail(COULD_NOT, &error),
    }
}

/// Executes this program again with an environment, unless the environment has it already. It is not changed in place,
/// because other threads may read the environment of a running process at any time.
fn run_again_with(environment: &[(&str, String)]) -> std::io::Result<()> {
    let has = |name: &str, value: &str| std::env::var_os(name).is_some_and(|there| there == value);
    if environment.iter().all(|(name, value)| has(name, value)) {
        return Ok(());
    }
    let mut again = std::process::Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1));
    for (name, value) in environment {
        again.env(name, value);
    }
    Err(std::os::unix::process::CommandExt::exec(&mut again))
}

fn fail(status: u8, error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(status)
}

/// Returns a generated program. Of fast shaders, those that fetch are left out by `emitted`: their levels of detail are
/// often NaN, with which Mesa 22.3.6 reads outside of textures. Exact ones get a texture of any kind for each unit.
fn generated(seed: u64, arithmetic: Arithmetic) -> (String, Job) {
    let name = format!("seed {seed}");
    let rng = &mut Rng::new(seed);
    let case = Case::generate(rng, &Shape::default());
    let mut job = case.bare_job(&name);
    if arithmetic == Arithmetic::Exact {
        for unit in &mut job.textures {
            *unit = Some(texture(rng));
        }
    }
    (name, job)
}

/// Compares the shaders that r500 writes of the corpus's programs. Returns whether none differs that must not.
fn emitted_shaders(args: &Args, arithmetic: Arithmetic) -> Result<bool> {
    let mesa = Mesa::load().context("no llvmpipe (libegl1 libegl-mesa0 libgl1-mesa-dri)")?;
    let jobs = match args.generated {
        0 => capture::jobs(&args.corpus, &args.filters)?,
        count => {
            (args.seed..).take(count as usize).map(|seed| generated(seed, arithmetic)).collect()
        }
    };
    let mut passes = true;
    if arithmetic == Arithmetic::Exact {
        let failures = self_test::run(&mesa, args.language)?;
        passes = failures.is_empty();
        let mut out = std::io::stdout().lock();
        failures.iter().try_for_each(|failure| writeln!(out, "self-test: {failure}"))?;
        if passes {
            writeln!(out, "self-test: passed")?;
        }
    }
    let equal = emitted::run(&mesa, jobs, (arithmetic, args.language), args.dump.as_deref())?;
    Ok(passes && equal)
}

/// Times all programs and prints the answer.
fn run(args: &Args, engine: &dyn Engine) -> Result<Report> {
    let mut names = capture::names(&args.corpus)?;
    names.retain(|name| {
        args.filters.is_empty() || args.filters.iter().any(|filter| name.contains(filter))
    });
    if names.is_empty() {
        let folder = args.corpus.display();
        return Err(anyhow!("{folder}: no pair NAME.frag and NAME.json to time"));
    }
    let mesa = Mesa::load().context("no llvmpipe (libegl1 libegl-mesa0 libgl1-mesa-dri)")?;
    let mut report = Report {
        engine: engine.name().into(),
        simd: args.simd.clone(),
        threads: args.threads,
        size: args.size,
        output: args.output.name(),
        llvmpipe: mesa.renderer()?,
        median: None,
        worst: None,
        programs: Vec::new(),
        failed: Vec::new(),
    };
    let mut progress = Progress::new(names.len());
    for name in &names {
        progress.show(name);
        match time(args, engine, &mesa, name) {
            Ok(row) => report.programs.push(row),
            Err(error) => {
                report.failed.push(Failed { name: name.clone(), error: format!("{error:#}") });
            }
        }
    }
    progress.clear();
    report.finish();
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => report.write_json(&mut out)?,
        Format::Text => report.write_table(&mut out)?,
    }
    Ok(report)
}

/// Times one program.
fn time(args: &Args, engine: &dyn Engine, mesa: &Mesa, name: &str) -> Result<Row> {
    let capture = Capture::read(&args.corpus, name)?;

    let start = Instant::now();
    let mut theirs = Llvmpipe::new(mesa, &capture, Storage::Smallest).context("llvmpipe")?;
    theirs.resize([4, 4])?;
    theirs.draw();
    let llvmpipe_prepare = start.elapsed();
    let prepare = engine::preparation(engine, &capture)?;

    let scene = Scene::new(&capture, args.size, args.threads)?;
    let mut ours = Ours::new(engine, &scene)?;
    theirs.resize(args.size)?;
    let their_frame = || {
        theirs.draw();
        Ok(())
    };
    let pairs = match args.output {
        Output::Float => measure::alternate(|| ours.draw(), their_frame, args.time)?,
        Output::Rgba8 => {
            let mut timed = OursRgba8::new(engine, &scene)?;
            let pairs = measure::alternate(|| timed.draw(), their_frame, args.time)?;
            // Needed for the comparison.
            ours.draw()?;
            pairs
        }
    };
    let timing = Timing::of(&pairs).context("no frames")?;
    drop(theirs);

    let mut theirs = Llvmpipe::new(mesa, &capture, Storage::Floats).context("llvmpipe")?;
    let differing_at_size = differing(&ours.picture(), &mut theirs)?;
    let size = capture.job.size.unwrap_or(args.size);
    let scene = Scene::new(&capture, size, args.threads)?;
    let mut ours = Ours::new(engine, &scene)?;
    ours.draw()?;
    let differing = differing(&ours.picture(), &mut theirs)?;

    let pixels = f64::from(args.size[0]) * f64::from(args.size[1]);
    Ok(Row {
        name: name.into(),
        instead: ours.run_info().fallback_reason,
        simd: ours.run_info().simd,
        ratio: timing.ratio,
        quartiles: timing.quartiles,
        pairs: timing.pairs,
        mpixels: pixels / timing.ours * 1e-6,
        llvmpipe_mpixels: pixels / timing.theirs * 1e-6,
        prepare_ms: milliseconds(prepare),
        llvmpipe_prepare_ms: milliseconds(llvmpipe_prepare),
        differing,
        allowed: capture.job.share.unwrap_or(SHARE),
        differing_at_size,
    })
}

/// Returns the fraction of pixels in which llvmpipe's picture differs.
fn differing(ours: &Picture, theirs: &mut Llvmpipe<'_>) -> Result<f64> {
    theirs.resize([ours.width, ours.height])?;
    theirs.draw();
    Ok(Comparison::new(ours, &theirs.picture()?, TOLERANCE)?.share())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Progress display, if standard error is a terminal.
struct Progress {
    done: usize,
    all: usize,
    seen: bool,
}

impl Progress {
    fn new(all: usize) -> Self {
        Self { done: 0, all, seen: std::io::stderr().is_terminal() }
    }

    fn show(&mut self, name: &str) {
        self.done += 1;
        self.print(&format!("\r\x1b[K{}/{} {name}", self.done, self.all));
    }

    fn clear(&self) {
        self.print("\r\x1b[K");
    }

    fn print(&self, text: &str) {
        if self.seen {
            let mut out = std::io::stderr().lock();
            // Errors of the progress display are ignored.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }
}
