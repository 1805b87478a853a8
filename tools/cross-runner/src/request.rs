//! Requests: a line of words, and the bytes after it.
//!
//! | line | bytes | answer |
//! | --- | --- | --- |
//! | `file ENGINE NAME` | the file | a digest for each job in it |
//! | `generated ENGINE FIRST COUNT` | | a digest for each of the programs with these numbers |
//! | `speed ENGINE WIDTH SECONDS NAME` | the file | [`Speed`] of its first job |
//!
//! ENGINE is `reference`, `fast`, `fast:LEVEL` with a level of vector instructions, or
//! `jit:LEVEL:EFFORT` with the compilation effort `quick` or `full`.

use std::fmt::Write;

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Draw, Engine, Frame, Limits, Options, Shader, draw, draw_into};
use r500_fast::{Fast, Simd};
use r500_jit::{Effort, Jit, Settings, When};
use r500_program::{InputData, Job};
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, told};
use crate::generated;

/// A clock in seconds since some time; processor time rather than wall-clock time.
pub type Clock<'a> = &'a dyn Fn() -> f64;

/// The drawing speed of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Speed {
    /// The job.
    pub job: String,
    /// The engine that drew it.
    pub by: String,
    /// Pixels per second of the clock.
    pub pixels_a_second: f64,
}

/// Answers a request with lines of JSON.
///
/// # Errors
/// What is wrong with the request. A job that cannot be drawn has a digest with the reason.
pub fn answer(request: &[u8], clock: Clock<'_>) -> Result<String, String> {
    let end = request.iter().position(|&byte| byte == b'\n').unwrap_or(request.len());
    let (line, bytes) = request.split_at(end);
    let bytes = bytes.get(1..).unwrap_or_default();
    let line = str::from_utf8(line).map_err(|error| error.to_string())?;
    let words: Vec<&str> = line.splitn(5, ' ').collect();
    let mut lines = String::new();
    match words.as_slice() {
        ["file", engine, name @ ..] => {
            let (engine, name) = (engine_of(engine)?, name.join(" "));
            for (n, job) in jobs(bytes, &name)?.iter().enumerate() {
                for size in sizes(job) {
                    put(
                        &mut lines,
                        &digest(job, &format!("{name}#{n} {}", job.name), size, &*engine),
                    );
                }
            }
        }
        ["generated", engine, first, count] => {
            let (engine, first) = (engine_of(engine)?, parsed::<u64>(first)?);
            for n in first..first.saturating_add(parsed(count)?) {
                let job = generated::job(n);
                let size = job.size.unwrap_or([8, 8]);
                put(&mut lines, &digest(&job, &job.name, size, &*engine));
            }
        }
        ["speed", engine, width, seconds, name] => {
            let engine = engine_of(engine)?;
            let jobs = jobs(bytes, name)?;
            let job = jobs.first().ok_or("there is no job in it")?;
            put(&mut lines, &speed(job, &*engine, parsed(width)?, parsed(seconds)?, clock)?);
        }
        _ => return Err(format!("`{line}` is not a request")),
    }
    Ok(lines)
}

fn put(lines: &mut String, line: &impl Serialize) {
    // Neither writing to a string nor these types can fail.
    let _ = writeln!(lines, "{}", serde_json::to_string(line).unwrap_or_default());
}

fn parsed<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number"))
}

fn engine_of(name: &str) -> Result<Box<dyn Engine>, String> {
    match name.split(':').collect::<Vec<_>>().as_slice() {
        ["reference"] => Ok(Box::new(Reference)),
        ["fast"] => Ok(Box::new(Fast::new())),
        ["fast", level] => Ok(Box::new(Fast::with(level_of(level)?))),
        ["jit", level, effort] => {
            let effort = match *effort {
                "quick" => Effort::Quick,
                "full" => Effort::Full,
                _ => return Err(format!("there is no effort {effort}")),
            };
            let settings = Settings { when: When::Before(effort), ..Settings::default() };
            let jit = Jit::with(level_of(level)?, settings);
            match jit.unavailable() {
                Some(reason) => Err(reason.to_string()),
                None => Ok(Box::new(jit)),
            }
        }
        _ => Err(format!("there is no engine {name}")),
    }
}

fn level_of(name: &str) -> Result<Simd, String> {
    match Simd::from_name(name) {
        Some(simd) if simd.is_available() => Ok(simd),
        Some(_) => Err(format!("this processor has no {name}")),
        None => Err(format!("there is no level {name}")),
    }
}

fn jobs(bytes: &[u8], name: &str) -> Result<Vec<Job>, String> {
    let format = r500_formats::detect(bytes, Some(name));
    r500_formats::read(bytes, format, &r500_formats::Limits::default())
        .map_err(|error| format!("{name}: {error}"))
}

/// Returns the sizes to draw a job at: its own, and one that is not a multiple of any tile, if the
/// own size is large enough and the inputs are defined between pixels.
fn sizes(job: &Job) -> Vec<[u32; 2]> {
    let own = job.size.unwrap_or([64, 64]);
    let planes = job.inputs_or_default().iter().all(|i| matches!(i.data, InputData::Planes(_)));
    let odd = (planes && job.coverage.is_none() && own[0] >= 32).then_some([37, 21]);
    [own].into_iter().chain(odd).collect()
}

/// Returns the options: one thread, because WebAssembly has no others, and a limit for programs
/// that do not end.
fn options() -> Options<'static> {
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    Options { threads: 1, limits, ..Options::default() }
}

fn digest(job: &Job, name: &str, size: [u32; 2], engine: &dyn Engine) -> Digest {
    Digest::new(format!("{name} {}x{}", size[0], size[1]), drawn(job, size, engine))
}

fn drawn(job: &Job, size: [u32; 2], engine: &dyn Engine) -> Result<Frame, String> {
    let shader = Shader::new(&job.program).map_err(|error| error.to_string())?;
    let bindings = Bindings::new(job, size).map_err(|error| error.to_string())?;
    draw(engine, &shader, &bindings, &options()).map_err(|error| told(&error))
}

/// Draws frames repeatedly until the time is up, after a warm-up that does not count.
fn speed(
    job: &Job,
    engine: &dyn Engine,
    width: u32,
    seconds: f64,
    clock: Clock<'_>,
) -> Result<Speed, String> {
    let shader = Shader::new(&job.program).map_err(|error| error.to_string())?;
    let bindings = Bindings::new(job, [width, width]).map_err(|error| error.to_string())?;
    let options = options();
    let draw = Draw::new(&shader, &bindings, &options).map_err(|error| error.to_string())?;
    let mut frame = Frame::new(&shader, &bindings, &options).map_err(|error| error.to_string())?;
    let prepared = engine.prepare(draw);
    let mut frames_for = |seconds: f64| {
        let (start, mut frames) = (clock(), 0.0);
        loop {
            draw_into(&*prepared, &draw, &mut frame).map_err(|error| told(&error))?;
            frames += 1.0;
            let passed = clock() - start;
            if passed >= seconds {
                return Ok::<f64, String>(frames / passed);
            }
        }
    };
    // Compilers of WebAssembly recompile code that runs often.
    frames_for(seconds / 2.0)?;
    let frames_a_second = frames_for(seconds)?;
    let by = Digest::new(String::new(), Ok(frame)).by;
    let by = format!("{by}, {}", std::env::consts::ARCH);
    let pixels_a_second = f64::from(width) * f64::from(width) * frames_a_second;
    Ok(Speed { job: job.name.clone(), by, pixels_a_second })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn asked(request: &str) -> Result<Vec<Digest>, String> {
        let lines = answer(request.as_bytes(), &|| 0.0)?;
        Ok(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn engines_agree_on_what_is_generated_and_are_told_apart() {
        let law = asked("generated reference 0 12").unwrap();
        let fast = asked("generated fast:scalar 0 12").unwrap();
        assert_eq!(law.len(), 12);
        for (law, fast) in law.iter().zip(&fast) {
            assert_eq!(law.difference(fast), None, "{}", law.job);
        }
        assert!(law.iter().all(|digest| digest.by == "reference" || digest.error.is_some()));
        assert!(fast.iter().any(|digest| digest.by.starts_with("fast (")));
        if Simd::Avx2.is_available() {
            for effort in ["quick", "full"] {
                let jit = asked(&format!("generated jit:avx2:{effort} 0 12")).unwrap();
                for (law, jit) in law.iter().zip(&jit) {
                    assert_eq!(law.difference(jit), None, "{}", law.job);
                }
                assert!(jit.iter().any(|digest| digest.by == "jit (avx2)"));
            }
        }
    }

    #[test]
    fn a_file_is_drawn_at_its_size_and_an_odd_one() {
        let code = "00078101 00000000 00000080 00db0220 00c18003 00490000\n";
        let digests = asked(&format!("file reference a b.hex\n{code}")).unwrap();
        let jobs: Vec<_> = digests.iter().map(|digest| digest.job.as_str()).collect();
        assert_eq!(jobs, ["a b.hex#0  64x64", "a b.hex#0  37x21"]);
        assert_ne!(digests[0].planes, digests[1].planes);
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        for request in [
            "",
            "draw",
            "generated slow 0 1",
            "generated fast:mmx 0 1",
            "generated jit:scalar:full 0 1",
            "generated jit:avx2:slow 0 1",
            "file fast x\n?",
        ] {
            assert!(asked(request).is_err(), "{request}");
        }
    }
}
