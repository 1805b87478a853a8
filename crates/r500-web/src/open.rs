//! Conversion of programs of any format to assembly source, and back.

use r500::asm::PrintOptions;
use r500::formats::Limits;
use r500::program::Job;
use r500::reader::{self, Language};
use serde::Serialize;

/// A file with programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Opened {
    /// What the file is written in.
    pub format: &'static str,
    /// The names of its programs; none if another module compiles it.
    pub names: Vec<String>,
    /// The number of the program that was read.
    pub picked: usize,
    /// The program as a source.
    pub text: String,
}

/// Returns limits for the files that the page reads, far below those of the command.
fn limits() -> Limits {
    Limits { bytes: 256 << 20, document: 64 << 20, jobs: 10_000, ..Limits::default() }
}

/// Returns a program of a file, as a source. Assembly is returned unchanged.
///
/// # Errors
/// The reason why the file cannot be read.
pub fn open(bytes: &[u8], name: &str, pick: usize) -> Result<Opened, String> {
    let language = reader::recognise(bytes.get(..256 << 10).unwrap_or(bytes), Some(name))
        .ok_or_else(|| reader::ReadError::Unrecognised.to_string())?;
    let format = language.name();
    if language == Language::Assembly {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Ok(Opened { format, names: vec![stem(name)], picked: 0, text });
    }
    if language == Language::Glsl && !cfg!(feature = "optimizer") {
        // The page asks the module that has the compiler.
        return Ok(Opened { format, names: Vec::new(), picked: 0, text: String::new() });
    }
    let jobs = reader::read(bytes, Some(name), Some(language), &limits());
    let jobs = jobs.map_err(|error| error.to_string())?;
    let picked = jobs.get(pick).ok_or("there is no such program in it")?;
    let called = |(n, job): (usize, &Job)| match (job.name.as_str(), jobs.len()) {
        ("", 1) => stem(name),
        ("", _) => format!("{} {n}", stem(name)),
        (called, _) => match &job.compilation {
            Some(record) if !record.outcome.is_compiled() => {
                format!("{called} ({})", record.outcome.name())
            }
            _ => called.to_owned(),
        },
    };
    let names = jobs.iter().enumerate().map(called).collect();
    Ok(Opened { format, names, picked: pick, text: source(picked) })
}

/// Returns the program in another format. The page already has the assembly.
///
/// # Errors
/// The reason why the program cannot be written in this format.
pub fn write(job: &Job, format: &str) -> Result<Vec<u8>, String> {
    let language: Language = format.parse()?;
    let written = r500::writer::write(job, language, &PrintOptions::default());
    Ok(written.map_err(|error| error.to_string())?.bytes)
}

/// Returns a job as a source that needs no other files, because it contains the texels.
#[must_use]
pub fn source(job: &Job) -> String {
    let options = PrintOptions { embed: usize::MAX, ..PrintOptions::default() };
    r500::asm::print(job, &options).text
}

fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.split('.').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn glsl_becomes_a_source() {
        let text = b"precision highp float; varying vec2 uv; uniform float time;\nvoid main() { gl_FragColor = vec4(uv, sin(time), 1.0); }";
        let opened = open(text, "waves.frag", 0).unwrap();
        assert_eq!((opened.format, opened.names.as_slice()), ("GLSL", &["waves".to_owned()][..]));
        assert!(
            opened.text.contains("UNIFORM \"time\"") && opened.text.contains("SIN"),
            "{}",
            opened.text
        );
        let error =
            open(b"void main() { gl_FragColor = vec4(colour, 1.0); }", "x.frag", 0).unwrap_err();
        assert_eq!(error, "x.frag:1:35: `colour` is not declared");
    }
}
