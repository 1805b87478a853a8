//! Conversion of programs of any format to assembly source, and back.

use r500::asm::PrintOptions;
use r500::formats::Limits;
use r500::program::Job;
use r500::reader::{self, Language};
use serde::Serialize;

use crate::text_kind;

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

/// Returns a program of a file, as a source. Assembly is returned unchanged; of GLSL and of captures, which others
/// read, the answer has no names.
///
/// # Errors
/// The reason why the file cannot be read, or what it is instead.
pub fn open(bytes: &[u8], name: &str, pick: usize) -> Result<Opened, String> {
    let for_other = |format| Opened { format, names: Vec::new(), picked: 0, text: String::new() };
    if is_capture(bytes) {
        return Ok(for_other("a capture"));
    }
    let head = bytes.get(..256 << 10).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).ok();
    if let Some(text) = text.filter(|text| reader::is_scene(text)) {
        let text = text.to_owned();
        return Ok(Opened { format: "a scene", names: vec![stem(name)], picked: 0, text });
    }
    let language = reader::recognise(head, Some(name));
    let Some(language) = language else {
        return Err(match text {
            Some(text) => text_kind::not_a_program(text, name),
            None => reader::ReadError::Unrecognised.to_string(),
        });
    };
    let format = language.name();
    if language == Language::Assembly {
        let text = String::from_utf8_lossy(bytes).into_owned();
        if text_kind::is_other_text(&text, name) {
            return Err(text_kind::not_a_program(&text, name));
        }
        return Ok(Opened { format, names: vec![stem(name)], picked: 0, text });
    }
    if language == Language::Glsl {
        // The page shows the shader, and compiles it with each change.
        return Ok(for_other(format));
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

/// Returns whether a file is a capture of command streams.
#[must_use]
pub fn is_capture(bytes: &[u8]) -> bool {
    r500::formats::file_kind(bytes).is_some_and(|kind| kind.name == r500::formats::CAPTURE)
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

pub(crate) fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.split('.').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_scene_is_one_whatever_it_is_called() {
        let text = "-- A triangle.\nSCENE 4x4 ;\nDRAW triangles { }";
        let opened = open(text.as_bytes(), "note.txt", 0).unwrap();
        assert_eq!((opened.format, opened.text.as_str()), ("a scene", text));
    }

    #[test]
    fn glsl_is_left_to_the_page() {
        let text = b"precision highp float; varying vec2 uv; uniform float time;\nvoid main() { gl_FragColor = vec4(uv, sin(time), 1.0); }";
        let opened = open(text, "waves.frag", 0).unwrap();
        assert_eq!((opened.format, opened.names.len()), ("GLSL", 0));
    }

    #[test]
    fn other_texts_say_what_they_are() {
        let told = |text: &str, name: &str| open(text.as_bytes(), name, 0).unwrap_err();
        let guide = include_str!("../../../docs/src/language.md");
        assert!(told(guide, "language.md").starts_with("this is Markdown, not a program"));
        assert!(told(guide, "language.txt").starts_with("this is Markdown, not a program"));
        assert!(told("A note.\nNothing else.", "a.txt").starts_with("this is text, not"));
        assert!(told("<!doctype html><p>x</p>", "a").starts_with("this is HTML, not"));
        assert!(told("a,b\n1,2\n", "t.csv").starts_with("this is a table (CSV), not"));
        let vertex = "attribute vec4 p; void main() { gl_Position = p; }";
        let error = told(vertex, "a.vert");
        assert!(error.starts_with("this is a vertex shader, not") && error.contains("fragment"));
    }

    #[test]
    fn a_program_with_errors_opens() {
        let text = "src0.rgb = temp[0] : temp[1].rgb = MDA src0.rgb ;\nOUT src0.rgb = temp[1 : out[0].rgb = MAX ;";
        assert_eq!(open(text.as_bytes(), "wrong.txt", 0).unwrap().text, text);
        let guide = include_bytes!("../../../docs/src/language.md");
        assert_eq!(open(guide, "named.r5", 0).unwrap().format, "assembly");
    }
}
