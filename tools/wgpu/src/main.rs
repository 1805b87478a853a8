//! R500 programs drawn by the GPU at hand, as an emulator would do it: see docs/src/gpu.md.
//!
//! | module | content |
//! | --- | --- |
//! | `host` | the device, and its compilation of shaders |
//! | `self_test` | whether the device computes exact shaders exactly |
//! | `cache` | pipelines by the content of programs |
//! | `picture` | a draw: uniforms, textures, targets |
//! | `compare` | pictures of many programs, compared with the reference engine's |
//! | `vertices` | vertex programs, compared with the interpreter |

mod cache;
mod compare;
mod host;
mod picture;
mod self_test;
mod vertices;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use r500::emit::{Arithmetic, Language};
use r500::exec::reference::Reference;
use r500::exec::{Bindings, Options, Shader, draw};
use r500::formats::Limits;
use r500::program::Job;
use r500::reader;

use cache::Cache;
use host::Host;
use picture::Picture;

const USAGE: &str = "\
Draws R500 programs with the GPU at hand, by wgpu.

Usage: r500-wgpu [OPTION]... [FILE | FOLDER]...

Without a file: examples/plasma.r5 in eight frames, with another time in each. Files and folders
(of .r5 and .json): each program once. Pictures are compared with the reference engine's, bit by bit.

Options:
  --language NAME   wgsl, or spirv, which goes to the Vulkan driver as it is  [default: wgsl]
  --backend NAME    vulkan or gl                                    [default: vulkan, then gl]
  --fast            fast shaders; with files, counts the programs whose channels all differ by at most 2/255
  --generated N     N generated programs, exact
  --seed N          the seed of the first of them                   [default: 0]
  --vertices        files are logs of a driver (also .gz), whose vertex programs are run for 64 vertices each and
                    compared with the interpreter; generated programs are vertex programs
  -h, --help        this text

Exit status: 0 all pictures are equal and the self-test passes; 1 a difference; 2 wrong usage;
3 there is no GPU, or a file cannot be read.
";

/// What the command line asks for.
struct Args {
    language: Language,
    backends: wgpu::Backends,
    files: Vec<PathBuf>,
    fast: bool,
    generated: u64,
    seed: u64,
    vertices: bool,
}

fn main() -> ExitCode {
    let args = match parse(std::env::args().skip(1)) {
        Ok(Some(args)) => args,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Args>> {
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::GL;
    let mut args = Args {
        language: Language::Wgsl,
        backends,
        files: Vec::new(),
        fast: false,
        generated: 0,
        seed: 0,
        vertices: false,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word}: a value is missing"));
        match word.as_str() {
            "-h" | "--help" => return Ok(None),
            "--language" => {
                args.language = match value()?.as_str() {
                    "wgsl" => Language::Wgsl,
                    "spirv" => Language::Spirv,
                    other => bail!("--language: `{other}` is neither wgsl nor spirv"),
                }
            }
            "--backend" => {
                args.backends = match value()?.as_str() {
                    "vulkan" => wgpu::Backends::VULKAN,
                    "gl" => wgpu::Backends::GL,
                    other => bail!("--backend: `{other}` is neither vulkan nor gl"),
                }
            }
            "--fast" => args.fast = true,
            "--vertices" => args.vertices = true,
            "--generated" => args.generated = value()?.parse().context("--generated")?,
            "--seed" => args.seed = value()?.parse().context("--seed")?,
            option if option.starts_with('-') => bail!("`{option}` is not an option; see --help"),
            file => args.files.push(file.into()),
        }
    }
    Ok(Some(args))
}

fn run(args: &Args) -> Result<bool> {
    let host = Host::new(args.backends, args.language)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "host: {}", host.name())?;
    let failures = self_test::run(&host)?;
    for failure in &failures {
        writeln!(out, "self-test: {failure}")?;
    }
    if failures.is_empty() {
        writeln!(out, "self-test: passed, exact shaders are exact here")?;
    }
    let (logs, generated, seed) = (args.files.clone(), args.generated, args.seed);
    let equal = if args.vertices {
        vertices::run(&host, &vertices::Programs { logs, generated, seed }, &mut out)?
    } else if args.files.is_empty() && generated == 0 {
        animate(&host, &mut out)?
    } else {
        let arithmetic = if args.fast { Arithmetic::Fast } else { Arithmetic::Exact };
        let seeds = seed..seed + generated;
        compare::run(&host, &args.files, seeds, arithmetic, &mut out)?
    };
    Ok(failures.is_empty() && equal)
}

/// Draws frames of one program with changing constants: one pipeline serves all of them.
fn animate(host: &Host, out: &mut impl Write) -> Result<bool> {
    let source = include_bytes!("../../../examples/plasma.r5");
    let mut jobs = reader::read(source, Some("plasma.r5"), None, &Limits::default())?;
    let job = jobs.first_mut().context("the example has a program")?;
    let time = job.uniforms.iter().find(|uniform| uniform.name == "time").context("a time")?;
    let (constant, channel) = (usize::from(time.constant), usize::from(time.channel));
    let mut cache = Cache::default();
    let mut equal = true;
    for frame in 0..8_u8 {
        let seconds = f32::from(frame) / 2.0;
        job.program.state.constants[constant][channel] = seconds.to_bits();
        let pipeline = cache.pipeline(host, job, Arithmetic::Exact)?;
        let picture = picture::draw(host, &pipeline, job)?;
        let differing = different(job, &picture, Arithmetic::Exact)?;
        equal &= differing == 0;
        writeln!(out, "time {seconds}: {differing} channels differ from the reference engine's")?;
    }
    let (compiled, found) = cache.counts();
    writeln!(out, "{compiled} pipeline compiled, {found} times found in the cache")?;
    Ok(equal)
}

/// Returns the number of channels that differ from the reference engine's, in pixels that it draws; of a fast shader, by more than 2/255 after
/// both are limited to 0 to 1.
fn different(job: &Job, picture: &Picture, arithmetic: Arithmetic) -> Result<usize> {
    let shader = Shader::new(&job.program)?;
    let bindings = Bindings::new(job, picture.size)?;
    let frame = draw(&Reference, &shader, &bindings, &Options::default())?;
    let mut count = 0;
    for (target, theirs) in &picture.targets {
        let ours = frame.target(usize::from(*target)).context("the target is written")?;
        for (pixel, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            if job.coverage.as_deref().is_some_and(|covered| covered.get(pixel) == Some(&false)) {
                continue;
            }
            let stays = frame.coverage().get(pixel) == Some(&true);
            let expected = if stays { *ours } else { picture::UNTOUCHED };
            let differs = |(a, b): &(&f32, &f32)| match arithmetic {
                Arithmetic::Exact => a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan()),
                Arithmetic::Fast => (limited(**a) - limited(**b)).abs() > 2.0 / 255.0,
            };
            count += expected.iter().zip(theirs).filter(differs).count();
        }
    }
    Ok(count)
}

/// Returns x limited to 0 to 1, NaN as 0.
fn limited(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}
