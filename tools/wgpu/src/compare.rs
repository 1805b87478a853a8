//! Pictures of many programs, compared with the reference engine's.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use r500::emit::Arithmetic;
use r500::formats::Limits;
use r500::program::{InputData, Job};
use r500::reader;
use r500_gen::raw_programs::texture;
use r500_gen::{Case, Rng, Shape};

use crate::cache::Cache;
use crate::host::Host;
use crate::{different, picture};

/// Draws each program of files and folders, and generated ones. Returns whether no picture differs that must not.
///
/// # Errors
/// If a file cannot be read, or nothing can be drawn.
pub(crate) fn run(
    host: &Host,
    paths: &[PathBuf],
    seeds: Range<u64>,
    arithmetic: Arithmetic,
    out: &mut impl Write,
) -> Result<bool> {
    let mut comparison = Comparison { arithmetic, ..Comparison::new() };
    for file in files(paths)? {
        let bytes = std::fs::read(&file).with_context(|| file.display().to_string())?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let Ok(jobs) = reader::read(&bytes, name.as_deref(), None, &Limits::default()) else {
            continue;
        };
        for job in jobs {
            comparison.job(host, &file.display().to_string(), &job, out)?;
        }
    }
    for seed in seeds {
        // Generated programs do not come again.
        comparison.cache = Cache::default();
        comparison.job(host, &format!("seed {seed}"), &generated(seed), out)?;
    }
    comparison.finish(out)
}

/// Returns a generated program, with a texture of any kind for each unit.
fn generated(seed: u64) -> Job {
    let rng = &mut Rng::new(seed);
    let case = Case::generate(rng, &Shape::default());
    let mut job = case.bare_job("generated");
    job.textures.iter_mut().for_each(|unit| *unit = Some(texture(rng)));
    job
}

struct Comparison {
    arithmetic: Arithmetic,
    cache: Cache,
    drawn: usize,
    equal: usize,
    named: usize,
    /// Programs that are not drawn, by the reason without its numbers.
    left_out: BTreeMap<String, usize>,
}

impl Comparison {
    fn new() -> Self {
        Self {
            arithmetic: Arithmetic::Exact,
            cache: Cache::default(),
            drawn: 0,
            equal: 0,
            named: 0,
            left_out: BTreeMap::new(),
        }
    }

    fn job(&mut self, host: &Host, name: &str, job: &Job, out: &mut impl Write) -> Result<()> {
        // The interpolation of varyings is the host's, so inputs with a value for each pixel have no equal here.
        let drawing = match has_planes(job) {
            true => self.cache.pipeline(host, job, self.arithmetic),
            false => Err(anyhow::anyhow!("an input has a value for each pixel")),
        };
        let drawing =
            drawing.and_then(|pipeline| Ok((picture::draw(host, &pipeline, job)?, pipeline)));
        let (picture, pipeline) = match drawing {
            Ok(drawing) => drawing,
            Err(error) => {
                let reason = format!("{error:#}").replace(|c: char| c.is_ascii_digit(), "#");
                *self.left_out.entry(reason).or_default() += 1;
                return Ok(());
            }
        };
        let differing = different(job, &picture, self.arithmetic)?;
        self.drawn += 1;
        self.equal += usize::from(differing == 0);
        // An exact shader names quads that the host does not define, a fast one what makes last bits larger.
        let is_named = differing != 0 && !pipeline.interface.amplifiers.is_empty();
        self.named += usize::from(is_named);
        if differing != 0 {
            let note = if is_named { ", which the interface names" } else { "" };
            writeln!(out, "{name}: {differing} channels differ{note}")?;
        }
        Ok(())
    }

    fn finish(self, out: &mut impl Write) -> Result<bool> {
        let Self { arithmetic, drawn, equal, named, left_out, .. } = self;
        ensure!(drawn > 0, "no program was drawn: {left_out:#?}");
        let how = match arithmetic {
            Arithmetic::Exact => "identical",
            Arithmetic::Fast => "within 2/255",
        };
        let count: usize = left_out.values().sum();
        writeln!(
            out,
            "{drawn} programs drawn, {equal} {how}, {named} differ as named; {count} left out"
        )?;
        for (reason, count) in left_out {
            writeln!(out, "{count} left out: {reason}")?;
        }
        Ok(equal + named == drawn)
    }
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
