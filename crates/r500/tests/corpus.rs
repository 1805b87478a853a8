//! Every case, draw and capture of the corpus, and every own case, through the library. A failure names its rule.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use r500::asm::PrintOptions;
use r500::exec::Options;
use r500::exec::reference::Reference;
use r500::expectation::{Verdict, judge};
use r500::formats::Limits;
use r500::picture::{Picture, decode_png};
use r500::program::Job;
use r500::reader::Language;

fn corpus(path: &str) -> PathBuf {
    tests("corpus").join(path)
}

fn tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path)
}

fn jobs(path: &Path) -> impl Iterator<Item = Job> {
    let shown = path.display().to_string();
    let input = BufReader::new(File::open(path).unwrap());
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let jobs = r500::reader::jobs(input, Some(&name), None, &Limits::default()).unwrap();
    jobs.map(move |job| job.unwrap_or_else(|error| panic!("{shown}: {error}")))
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files
}

/// Returns the failure of a job, if any: the rule that it decides, and the first pixels.
fn complaint(job: &Job, reference: Option<&Picture>) -> Option<String> {
    let options = Options { threads: 1, ..Options::default() };
    let what = match judge(job, reference, &Reference, &options) {
        Ok(Verdict::Passed) => return None,
        Ok(Verdict::NothingExpected) => "it expects nothing".to_owned(),
        Ok(Verdict::Failed(found)) => {
            let first: Vec<_> = found.iter().take(3).map(|m| format!("\n    {m}")).collect();
            format!("{} pixels:{}", found.len(), first.concat())
        }
        Ok(Verdict::Different { comparison, share }) => format!(
            "{:.4} of the pixels differ, {share} may; worst at {:?}",
            comparison.share(),
            comparison.worst_pixel
        ),
        Err(error) => error.to_string(),
    };
    let Job { name, rationale, status, .. } = job;
    Some(format!("{name} ({status}): {rationale}\n  {what}"))
}

fn report(complaints: &[String], count: usize) {
    assert!(
        complaints.is_empty(),
        "{} of {count} fail:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn every_case_gives_its_values() {
    let all: Vec<Job> = json_files(&corpus("cases")).iter().flat_map(|file| jobs(file)).collect();
    assert_eq!(all.len(), 100);
    let complaints: Vec<_> = all.iter().filter_map(|job| complaint(job, None)).collect();
    report(&complaints, all.len());
}

#[test]
fn every_case_of_our_own_gives_its_values() {
    let all: Vec<Job> = json_files(&tests("cases")).iter().flat_map(|file| jobs(file)).collect();
    assert!(all.len() >= 308, "only {} cases", all.len());
    for job in &all {
        assert!(!job.rationale.is_empty() && !job.status.is_empty(), "{}: which rule?", job.name);
    }
    let complaints: Vec<_> = all.iter().filter_map(|job| complaint(job, None)).collect();
    report(&complaints, all.len());
}

#[test]
fn every_draw_gives_its_colours_but_the_one_that_cannot() {
    let mut count = 0;
    let mut known = Vec::new();
    let mut complaints = Vec::new();
    for job in jobs(&corpus("piglit/probes.jsonl.gz")) {
        count += 1;
        let complaint = complaint(&job, None);
        if job.expect.known_failure {
            assert!(complaint.is_some(), "{} passes: it is not a known failure", job.name);
            known.push(job.name);
        } else {
            complaints.extend(complaint);
        }
    }
    assert_eq!(count, 4959);
    assert_eq!(known, ["fs-dfdy-accuracy.0"]);
    report(&complaints, count);
}

#[test]
fn every_capture_shows_its_reference_picture() {
    let files = json_files(&corpus("mesa"));
    assert_eq!(files.len(), 53);
    let mut complaints = Vec::new();
    for file in &files {
        let reference = decode_png(&std::fs::read(file.with_extension("png")).unwrap()).unwrap();
        for job in jobs(file) {
            complaints.extend(complaint(&job, Some(&reference)));
        }
    }
    report(&complaints, files.len());
}

/// Programs that Mesa 25.0.7 compiles from the same sources draw the same pictures, except for two whose loop exits it
/// moves.
#[test]
fn every_capture_of_a_newer_compiler_shows_its_reference_picture() {
    let files = json_files(&corpus("mesa25"));
    assert_eq!(files.len(), 53);
    let mut complaints = Vec::new();
    let mut miscompiled = Vec::new();
    for file in &files {
        let picture = corpus("mesa").join(file.file_name().unwrap()).with_extension("png");
        let reference = decode_png(&std::fs::read(picture).unwrap()).unwrap();
        for job in jobs(file) {
            match complaint(&job, Some(&reference)) {
                Some(_) if job.name.starts_with("loop_break_") => miscompiled.push(job.name),
                other => complaints.extend(other),
            }
        }
    }
    assert_eq!(miscompiled, ["loop_break_continue", "loop_break_deep"]);
    report(&complaints, files.len());
}

/// A capture printed as assembly with its texture files is the same job, so it draws the same picture.
#[test]
fn every_capture_comes_back_from_assembly() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut textures = 0;
    for file in json_files(&corpus("mesa")) {
        let mut job = jobs(&file).next().unwrap();
        // For switches; programs do not contain them.
        job.named_by_value.clear();
        let options =
            PrintOptions { file_prefix: job.name.clone(), embed: 64, ..PrintOptions::default() };
        let written = r500::writer::write(&job, Language::Assembly, &options).unwrap();
        textures += written.files.len();
        for texture in written.files {
            std::fs::write(folder.join(texture.name), texture.bytes).unwrap();
        }
        let source = folder.join(format!("{}.r5", job.name));
        std::fs::write(&source, written.bytes).unwrap();
        let mut read = r500::reader::open(&source, None, &Limits::default()).unwrap();
        assert_eq!(read.next().unwrap().unwrap(), job);
        assert!(read.next().is_none());
    }
    assert!(textures >= 20, "only {textures} textures were files");
}

/// Cases that a comparison without failures would let pass.
#[test]
fn a_wrong_expectation_fails() {
    let mut job = jobs(&corpus("cases/kill_helper.json")).next().unwrap();
    assert_eq!(complaint(&job, None), None);
    let wanted = job.expect.targets[0].as_mut().unwrap();
    wanted[5][2] = Some(2.0);
    let complaint = complaint(&job, None).unwrap();
    // Pixel 5 with four a row is in column 1 of row 1; its blue is the derivative of x, 1.
    assert!(complaint.contains("1 pixels"), "{complaint}");
    assert!(
        complaint.contains("pixel 1,1: target0 wanted (1, 0, 2, 0), got (1, 0, 1, 0)"),
        "{complaint}"
    );
    assert!(complaint.contains("a killed pixel goes on computing"), "{complaint}");

    let file = corpus("mesa/alu_basic.json");
    let mut reference = decode_png(&std::fs::read(file.with_extension("png")).unwrap()).unwrap();
    // 0.002 of 64x64 pixels are 8; a ninth exceeds the limit.
    for pixel in reference.pixels.iter_mut().take(9) {
        pixel[0] ^= 0x80;
    }
    let job = jobs(&file).next().unwrap();
    let options = Options::default();
    let verdict = judge(&job, Some(&reference), &Reference, &options).unwrap();
    assert!(matches!(verdict, Verdict::Different { comparison, .. } if comparison.differing == 9));
    reference.pixels[0][0] ^= 0x80;
    assert_eq!(judge(&job, Some(&reference), &Reference, &options), Ok(Verdict::Passed));
}
