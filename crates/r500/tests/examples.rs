//! Every program of `examples/` draws the pictures next to it, shows what it states, and has no lints or run-time
//! warnings.
//!
//! `NAME.png` is render target A. A program that writes more has `NAME.B.png` to `NAME.D.png` and
//! `NAME.depth.png`. `BLESS=1` draws them all again.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use r500::exec::reference::Reference;
use r500::exec::{Bindings, Frame, Options, Shader, draw};
use r500::expectation::mismatches;
use r500::formats::Limits;
use r500::image_diff::Comparison;
use r500::picture::{Picture, PngCompression, decode_png, encode_png_with};
use r500::program::Job;

/// One step of 8 bits: for a value halfway between two steps, another order of arithmetic may round it either way.
const TOLERANCE: f64 = 1.0 / 255.0;

#[test]
fn every_example_draws_its_pictures() {
    let sources = sources();
    assert!(sources.len() >= 11, "examples are missing: {sources:?}");
    let complaints: Vec<String> = sources.iter().flat_map(|source| complaints(source)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Pictures of removed programs, or of targets that are no longer written.
#[test]
fn every_picture_belongs_to_an_example() {
    for picture in files("png") {
        let name = picture.file_name().unwrap().to_string_lossy().into_owned();
        let program = name.split('.').next().unwrap();
        let source = picture.with_file_name(format!("{program}.r5"));
        assert!(source.is_file(), "{} belongs to no program", picture.display());
    }
}

/// Cases that a comparison without failures would let pass.
#[test]
fn another_constant_draws_another_picture() {
    let source = folder().join("sunset.r5");
    let mut job = job(&source);
    let wanted = decode_png(&std::fs::read(source.with_extension("png")).unwrap()).unwrap();
    let shown = |job: &Job| {
        let frame = frame(job);
        let picture = Picture::from_colors(frame.width(), frame.target(0).unwrap());
        Comparison::new(&picture, &wanted, TOLERANCE).unwrap().differing
    };
    assert_eq!(shown(&job), 0);
    // The sky at the horizon, blue instead of orange.
    job.program.state.constants[0].swap(0, 2);
    assert!(shown(&job) > 10_000);
}

/// Returns the failure of an example.
fn complaints(source: &Path) -> Vec<String> {
    let name = source.file_stem().unwrap().to_string_lossy().into_owned();
    let job = job(source);
    let frame = frame(&job);
    let findings = frame.warnings.iter().map(|finding| format!("{name}: {finding}"));
    let unmet = mismatches(&frame, &job.expect).into_iter().map(|m| format!("{name}: {m}"));
    let pictures = pictures(&frame).into_iter().filter_map(|(suffix, picture)| {
        let file = source.with_extension(suffix);
        let wrong = compare(&file, &picture)?;
        Some(format!("{}: {wrong}", file.display()))
    });
    findings.chain(unmet).chain(pictures).collect()
}

/// Returns the pictures of a frame, with the extensions of their files.
fn pictures(frame: &Frame) -> Vec<(&'static str, Picture)> {
    let suffixes = ["png", "B.png", "C.png", "D.png"];
    let colors = suffixes.into_iter().enumerate().filter_map(|(target, suffix)| {
        Some((suffix, Picture::from_colors(frame.width(), frame.target(target)?)))
    });
    let depth =
        frame.depth().map(|depth| ("depth.png", Picture::from_values(frame.width(), depth)));
    colors.chain(depth).collect()
}

/// Returns the difference between a picture and its file, if any; with `BLESS` the file is rewritten.
fn compare(file: &Path, drawn: &Picture) -> Option<String> {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, encode_png_with(drawn, PngCompression::Best).unwrap()).unwrap();
        return None;
    }
    let Ok(bytes) = std::fs::read(file) else {
        return Some("there is no such picture; BLESS=1 draws it".to_owned());
    };
    let wanted = decode_png(&bytes).unwrap();
    match Comparison::new(drawn, &wanted, TOLERANCE) {
        Ok(found) if found.differing == 0 => None,
        Ok(found) => Some(format!(
            "{} of {} pixels differ, the most by {}/255 at {:?}",
            found.differing, found.pixels, found.worst, found.worst_pixel
        )),
        Err(error) => Some(error.to_string()),
    }
}

fn job(source: &Path) -> Job {
    let mut jobs = r500::reader::open(source, None, &Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    jobs.next().unwrap().unwrap_or_else(|error| panic!("{error}"))
}

fn frame(job: &Job) -> Frame {
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, job.size.expect("an example has a size")).unwrap();
    let options = Options { warnings: true, ..Options::default() };
    draw(&Reference, &shader, &bindings, &options).unwrap()
}

fn sources() -> Vec<PathBuf> {
    files("r5")
}

fn files(extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}
