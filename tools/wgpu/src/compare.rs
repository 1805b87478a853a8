//! Pictures of many programs, compared with the reference engine's.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use r500::formats::Limits;
use r500::program::{InputData, Job};
use r500::reader;

use crate::cache::Cache;
use crate::host::Host;
use crate::{different, picture};

/// Draws each program of files and folders. Returns whether no picture differs.
///
/// # Errors
/// If a file cannot be read, or nothing can be drawn.
pub(crate) fn run(host: &Host, paths: &[PathBuf], out: &mut impl Write) -> Result<bool> {
    let mut cache = Cache::default();
    let (mut drawn, mut equal, mut named, mut left_out) = (0, 0, 0, 0);
    for file in files(paths)? {
        let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let Ok(jobs) = reader::read(&bytes, name.as_deref(), None, &Limits::default()) else {
            continue;
        };
        for job in jobs {
            // The interpolation of varyings is the host's, so inputs with a value for each pixel have no exact equal here.
            let drawing = match has_planes(&job) {
                true => cache.pipeline(host, &job),
                false => Err(anyhow::anyhow!("an input has a value for each pixel")),
            };
            let pipeline = match drawing {
                Ok(pipeline) => pipeline,
                Err(error) => {
                    left_out += 1;
                    writeln!(out, "{}: left out: {error:#}", file.display())?;
                    continue;
                }
            };
            let picture = picture::draw(host, &pipeline, &job)?;
            let differing = different(&job, &picture)?;
            drawn += 1;
            equal += usize::from(differing == 0);
            // What an exact shader names is that the host does not define its quads.
            let is_named = differing != 0 && !pipeline.interface.amplifiers.is_empty();
            named += usize::from(is_named);
            if differing != 0 {
                let note = if is_named { ", which the interface names" } else { "" };
                writeln!(out, "{}: {differing} channels differ{note}", file.display())?;
            }
        }
    }
    ensure!(drawn > 0, "no program was drawn");
    writeln!(
        out,
        "{drawn} programs drawn, {equal} identical, {named} differ as named; {left_out} left out"
    )?;
    Ok(equal + named == drawn)
}

fn has_planes(job: &Job) -> bool {
    let inputs = job.inputs_or_default();
    inputs.iter().all(|input| matches!(input.data, InputData::Planes(_)))
}

/// Returns files, and those in folders that have programs.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).with_context(|| path.display().to_string())? {
            inside.push(entry?.path());
        }
        let is_program = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "r5" || extension == "json")
        };
        inside.retain(|path: &PathBuf| is_program(path) && Path::is_file(path));
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}
