//! `r500 test`: programs with expectations.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use r500::exec::{Engine, Options};
use r500::expectation::{JudgeError, Mismatch, Verdict, judge};
use r500::image_diff::SizeError;
use r500::picture::{Picture, decode_png, png_size};
use r500::program::Job;
use r500_stream::counted;

use super::engine_args::EngineArgs;
use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, ReadArgs};
use super::report::{self, Case, CaseEnd, ReportFormat};
use super::scene::SceneFile;
use super::vertex::VertexFile;
use super::{syntax, terminal};

/// Run programs with expectations.
///
/// Takes cases and draws (JSON, JSON lines, gzipped or not), assembly and scenes with EXPECT, and whole
/// folders of them. A value passes within the case's tolerance, relative above 1 and absolute
/// below; +0 equals -0 and any NaN any other. Draws compare in 8 bits. What is killed, uncovered or
/// never written is 0 in every channel, or the draw's `background`. A capture passes if at most the
/// share of its pixels that it allows (`check.share`, else 0.002) differ by more than 2/255 from
/// the PNG of the same name next to it. Programs that expect nothing are counted and left alone.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Test {
    /// Files and folders; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "reading")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// Run only those whose name holds this text (`*` stands for anything)
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run part K of N
    #[arg(long, value_name = "K/N", value_parser = syntax::shard)]
    shard: Option<syntax::Shard>,
    /// One that is known to fail, by name; it is an error if it passes. (Files can declare it, too)
    #[arg(long, value_name = "NAME")]
    known_failure: Vec<String>,
    /// List the names and stop
    #[arg(long)]
    list: bool,
    /// Pixels to print for each failure
    #[arg(long, value_name = "N", default_value_t = 3)]
    pixels: usize,
    /// Tell those that pass, too
    #[arg(short, long)]
    verbose: bool,
    /// How to report: text, a JSON object a line for each test, or a report for build servers
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// What --format json wrote earlier: tests that failed then in the same way do not fail
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    #[command(flatten)]
    machine: EngineArgs,
}

const AFTER: &str = "\
Exit status: 0 all passed; 1 some failed, or a file has errors; 2 wrong usage, or nothing was tested (--filter selects
nothing, no program has expectations); 3 a file cannot be read.

Examples:
  r500 test tests/corpus
  r500 test tests/corpus/piglit/probes.jsonl.gz --filter 'fs-abs*'
  r500 test tests/corpus --shard 1/4 --format json
  r500 test tests/corpus --format json > known.jsonl
  r500 test tests/corpus --against known.jsonl --format junit > report.xml
  r500 test tests/corpus/cases --reading break=literal --poison";

/// A test of a file.
struct Item {
    file: Arc<PathBuf>,
    index: usize,
    work: Result<Work, String>,
    reference: Option<PathBuf>,
}

/// What a test runs.
enum Work {
    /// A picture of a fragment program.
    Picture(Box<Job>),
    /// A vertex of a vertex program; `None` if the program expects nothing.
    Vertex(Arc<VertexFile>, Option<usize>),
    /// The picture of a scene at time 0.
    Scene(Box<SceneFile>),
}

/// The outcome of a test.
enum End {
    Passed,
    NothingExpected,
    /// What is wrong, as it was before; empty for failures that are declared.
    KnownFailure(Vec<String>),
    /// What is wrong, and a pixel to read.
    Failed(Vec<String>, Option<[u32; 2]>),
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    known: usize,
    nothing: usize,
    filtered: usize,
    /// For reports that are written at the end.
    cases: Vec<Case>,
}

/// The failures of an earlier run, by file and test.
#[derive(Default)]
struct Baseline(HashMap<(String, String), Vec<String>>);

impl Baseline {
    /// Reads the output of `--format json`.
    fn read(file: &Path) -> Outcome<Self> {
        let bytes = input_args::bytes(file)?;
        let wrong = |number: usize| {
            Failure::input(anyhow::anyhow!(
                "{}: line {}: --against takes what --format json of r500 test wrote",
                file.display(),
                number + 1
            ))
        };
        let mut failures = HashMap::new();
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let test: serde_json::Value = serde_json::from_str(line).map_err(|_| wrong(number))?;
            let text = |key: &str| test[key].as_str().map(str::to_owned);
            let (Some(file), Some(name), Some(_)) = (text("file"), text("name"), text("status"))
            else {
                return Err(wrong(number));
            };
            if let Some(reasons) = test["failures"].as_array() {
                let reasons = reasons.iter().filter_map(|reason| Some(reason.as_str()?.to_owned()));
                failures.insert((file, name), reasons.collect());
            }
        }
        Ok(Self(failures))
    }

    /// Turns a failure into a known one if the test failed in the same way.
    fn known(&self, item: &Item, end: End) -> End {
        let key = (input_args::show(&item.file), item.name());
        match end {
            End::Failed(reasons, _) if self.0.get(&key) == Some(&reasons) => {
                End::KnownFailure(reasons)
            }
            other => other,
        }
    }
}

/// Jobs that are in memory at a time.
const BATCH: usize = 256;

impl Test {
    /// Hands the memory limit to what loads textures.
    #[must_use]
    pub(super) fn with_memory_limit(mut self) -> Self {
        let limit = Some(self.machine.memory_limit());
        self.read.texture_memory = limit;
        self
    }

    pub(super) fn run(&self) -> Outcome {
        if self.machine.list_readings()? {
            return Ok(Status::Fine);
        }
        if self.files.is_empty() {
            return Err(Failure::usage("there are no files to test"));
        }
        let start = Instant::now();
        let mut options = self.machine.options()?;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        options.threads = 1;
        let runner =
            Runner { engine: self.machine.engine(), options, threads, machine: &self.machine };
        let baseline = self.against.as_deref().map(Baseline::read).transpose()?.unwrap_or_default();

        let bar = terminal::progress(0, "tests");
        let mut tally = Tally::default();
        let mut sharding = syntax::Sharding::new(self.shard);
        let mut batch = Vec::new();
        let mut selected = 0usize;
        let files = input_args::files_and_scenes(&self.files, may_expect)?;
        if files.is_empty() {
            return Err(input_args::no_program_in(&self.files));
        }
        for file in files {
            for item in self.items(&file)? {
                if !self.wants(&item) {
                    tally.filtered += 1;
                    continue;
                }
                selected += 1;
                if !sharding.takes_next() {
                    continue;
                }
                if self.list {
                    writeln!(terminal::out(), "{}", item.name())?;
                    continue;
                }
                batch.push(item);
                if batch.len() == BATCH {
                    bar.inc_length(BATCH as u64);
                    self.run_batch(&runner, &baseline, &mut batch, &mut tally, &bar)?;
                }
            }
        }
        self.run_batch(&runner, &baseline, &mut batch, &mut tally, &bar)?;
        bar.finish_and_clear();
        if let Some(filter) = &self.filter
            && selected == 0
        {
            let message = format!(
                "no test is selected: of {} tests, none has `{filter}` in its name; --list prints the names",
                tally.filtered
            );
            return Err(Failure::usage(message));
        }
        if self.list {
            return Ok(Status::Fine);
        }
        if matches!(self.format, ReportFormat::Junit | ReportFormat::Sarif) {
            let mut out = std::io::BufWriter::new(terminal::out());
            report::write(&mut out, self.format, "r500 test", &tally.cases)?;
            out.flush()?;
        }
        if self.format == ReportFormat::Text {
            let seconds = start.elapsed().as_secs_f64();
            writeln!(terminal::out(), "{} in {seconds:.2} s", tally.summary())?;
        }
        // A part of few tests may be empty.
        if tally.passed + tally.failed + tally.known == 0 && self.shard.is_none() {
            return Err(Failure::usage(format!(
                "nothing was tested: of {}, none has expectations (EXPECT lines, expected values, or a picture of the same name)",
                counted(tally.nothing, "program")
            )));
        }
        Ok(if tally.failed == 0 { Status::Fine } else { Status::Failed })
    }

    /// Returns the tests of a file; one that cannot be read is a failed test.
    fn items(&self, file: &Path) -> Outcome<Box<dyn Iterator<Item = Item>>> {
        let picture = file.with_extension("png");
        let reference = (!input_args::is_stdin(file) && picture.is_file()).then_some(picture);
        let scene = match SceneFile::read(file, self.read) {
            Ok(scene) => scene.map(|scene| Ok(Work::Scene(Box::new(scene)))),
            Err(failure) => Some(Err(failure.message())),
        };
        let work: Box<dyn Iterator<Item = Result<Work, String>>> =
            match (scene, VertexFile::read(file, self.read)?) {
                (Some(scene), _) => Box::new(std::iter::once(scene)),
                (None, Some(vertex)) => vertex_tests(vertex),
                (None, None) => match input_args::open(file, self.read) {
                    Ok(jobs) => {
                        let file = file.to_owned();
                        Box::new(jobs.map(move |job| {
                            let job = job.map_err(|error| error.to_string())?;
                            input_args::note_left_out(&file, &job);
                            Ok(Work::Picture(Box::new(job)))
                        }))
                    }
                    Err(failure) if failure.blames_input() => {
                        Box::new(std::iter::once(Err(failure.message())))
                    }
                    Err(failure) => return Err(failure),
                },
            };
        let file = Arc::new(file.to_owned());
        Ok(Box::new(work.enumerate().map(move |(index, work)| Item {
            file: Arc::clone(&file),
            index,
            work,
            // A picture belongs to the one program of its file.
            reference: reference.clone().filter(|_| index == 0),
        })))
    }

    fn wants(&self, item: &Item) -> bool {
        self.filter.as_ref().is_none_or(|filter| syntax::holds(filter, &item.name()))
    }

    fn run_batch(
        &self,
        runner: &Runner<'_>,
        baseline: &Baseline,
        batch: &mut Vec<Item>,
        tally: &mut Tally,
        bar: &indicatif::ProgressBar,
    ) -> Outcome<()> {
        let ends = runner.run(batch);
        bar.inc(batch.len() as u64);
        let mut out = std::io::BufWriter::new(terminal::out());
        for (item, (end, seconds)) in batch.drain(..).zip(ends) {
            let end = baseline.known(&item, self.known(&item, end));
            tally.count(&end);
            match self.format {
                ReportFormat::Json => writeln!(out, "{}", item.json(&end, seconds))?,
                ReportFormat::Text => self.report(&mut out, &item, &end, bar)?,
                ReportFormat::Junit | ReportFormat::Sarif => {
                    tally.cases.push(item.case(&end, seconds))
                }
            }
        }
        Ok(out.flush()?)
    }

    /// Turns what is known to fail round.
    fn known(&self, item: &Item, end: End) -> End {
        let declared = match &item.work {
            Ok(Work::Picture(job)) => job.expect.known_failure,
            Ok(Work::Vertex(..) | Work::Scene(_)) => false,
            Err(_) => return end,
        };
        if !(declared || self.known_failure.contains(&item.name())) {
            return end;
        }
        match end {
            End::Failed(..) => End::KnownFailure(Vec::new()),
            End::Passed => {
                let text = "it is listed as a known failure but passes: remove it from the list"
                    .to_owned();
                End::Failed(vec![text], None)
            }
            other => other,
        }
    }

    fn report(
        &self,
        out: &mut impl Write,
        item: &Item,
        end: &End,
        bar: &indicatif::ProgressBar,
    ) -> Outcome<()> {
        let name = item.name();
        match end {
            End::Failed(reasons, pixel) => bar.suspend(|| -> std::io::Result<()> {
                writeln!(out, "FAIL {name} ({})", input_args::show(&item.file))?;
                for reason in reasons.iter().take(self.pixels.max(1)) {
                    writeln!(out, "  {reason}")?;
                }
                if reasons.len() > self.pixels.max(1) {
                    writeln!(out, "  and {} more", reasons.len() - self.pixels.max(1))?;
                }
                if let Some(rule) = item.rule() {
                    writeln!(out, "  the rule: {rule}")?;
                }
                if let Some([x, y]) = pixel {
                    let command = item.command();
                    let how = self.machine.switches();
                    writeln!(out, "  look:     r500 trace {command} --pixel {x},{y}{how}")?;
                }
                Ok(())
            })?,
            End::Passed if self.verbose => writeln!(out, "pass {name}")?,
            End::KnownFailure(_) if self.verbose => writeln!(out, "known failure {name}")?,
            End::NothingExpected if self.verbose => writeln!(out, "nothing expected {name}")?,
            _ => {}
        }
        Ok(())
    }
}

/// Runs jobs on all threads.
struct Runner<'a> {
    engine: &'static dyn Engine,
    options: Options<'static>,
    threads: usize,
    machine: &'a EngineArgs,
}

impl Runner<'_> {
    /// Returns how each ended, and the seconds it took.
    fn run(&self, batch: &[Item]) -> Vec<(End, f64)> {
        let next = AtomicUsize::new(0);
        let ends = Mutex::new(Vec::with_capacity(batch.len()));
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = batch.get(i) else { break };
                let start = Instant::now();
                let end = self.one(item);
                let end = (i, (end, start.elapsed().as_secs_f64()));
                ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(end);
            }
        };
        if self.threads == 1 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..self.threads.min(batch.len()) {
                    scope.spawn(work);
                }
            });
        }
        let mut ends = ends.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        ends.sort_by_key(|(i, _)| *i);
        ends.into_iter().map(|(_, end)| end).collect()
    }

    fn one(&self, item: &Item) -> End {
        let job = match &item.work {
            Ok(Work::Picture(job)) => job,
            Ok(Work::Vertex(_, None)) => return End::NothingExpected,
            Ok(Work::Vertex(vertex, Some(n))) => {
                return match vertex.judge(*n, self.options.limits) {
                    Ok(wrong) if wrong.is_empty() => End::Passed,
                    Ok(wrong) => End::Failed(wrong, None),
                    Err(failure) => End::Failed(vec![failure.message()], None),
                };
            }
            Ok(Work::Scene(scene)) => {
                return match scene.judge(self.machine) {
                    Ok(None) => End::NothingExpected,
                    Ok(Some(wrong)) if wrong.texts.is_empty() => End::Passed,
                    Ok(Some(wrong)) => End::Failed(wrong.texts, wrong.first),
                    Err(failure) => End::Failed(vec![failure.message()], None),
                };
            }
            Err(message) => return End::Failed(vec![message.clone()], None),
        };
        let read = |path: &Path| read_picture(path, job.size);
        let reference = match item.reference.as_deref().map(read).transpose() {
            Ok(reference) => reference,
            Err(message) => return End::Failed(vec![message], None),
        };
        match judge(job, reference.as_ref(), self.engine, &self.options) {
            Ok(Verdict::Passed) => End::Passed,
            Ok(Verdict::NothingExpected) => End::NothingExpected,
            Ok(Verdict::Failed(mismatches)) => {
                let pixel = mismatches.first().map(|m| m.pixel);
                End::Failed(mismatches.iter().map(Mismatch::to_string).collect(), pixel)
            }
            Ok(Verdict::Different { comparison, share }) => {
                let text = format!(
                    "{} of {} differ from the reference ({:.3} %, {:.3} % may), the most \
                     by {}/255",
                    comparison.differing,
                    counted(comparison.pixels, "pixel"),
                    comparison.share() * 100.0,
                    share * 100.0,
                    comparison.worst
                );
                End::Failed(vec![text], comparison.worst_pixel)
            }
            Err(error) => End::Failed(vec![error.to_string()], None),
        }
    }
}

impl Item {
    /// Returns the picture's job.
    fn job(&self) -> Option<&Job> {
        match &self.work {
            Ok(Work::Picture(job)) => Some(job),
            _ => None,
        }
    }

    fn name(&self) -> String {
        match self.job() {
            Some(job) if !job.name.is_empty() => job.name.clone(),
            _ if self.index == 0 => input_args::show(&self.file),
            _ => format!("{}#{}", input_args::show(&self.file), self.index),
        }
    }

    /// Returns what the case decides, and how well founded that is.
    fn rule(&self) -> Option<String> {
        let job = self.job().filter(|job| !job.rationale.is_empty())?;
        let status = if job.status.is_empty() { "" } else { &format!(" ({})", job.status) };
        Some(format!("{}{status}", job.rationale))
    }

    /// Returns the program, for another command line.
    fn command(&self) -> String {
        let file = quote(&self.file.display().to_string());
        let file_name = self.file.file_stem().unwrap_or_default().to_string_lossy();
        match self.job() {
            Some(job) if !job.name.is_empty() && job.name != file_name => {
                format!("{file} --pick {}", quote(&job.name))
            }
            _ if self.index > 0 => format!("{file} --pick {}", self.index),
            _ => file,
        }
    }

    fn case(&self, end: &End, seconds: f64) -> Case {
        let rule = self.rule().map_or(String::new(), |rule| format!("\nthe rule: {rule}"));
        let end = match end {
            End::Passed => CaseEnd::Passed,
            End::NothingExpected => CaseEnd::Skipped("the program expects nothing".to_owned()),
            End::KnownFailure(reasons) => CaseEnd::Known(
                format!("known to fail\n{}", reasons.join("\n")).trim_end().to_owned(),
            ),
            End::Failed(reasons, _) => CaseEnd::Failed(reasons.join("\n") + &rule),
        };
        let file = Some(input_args::show(&self.file));
        Case { name: self.name(), file, seconds: Some(seconds), end }
    }

    fn json(&self, end: &End, seconds: f64) -> serde_json::Value {
        let (status, failures, pixel) = match end {
            End::Passed => ("passed", None, None),
            End::NothingExpected => ("nothing-expected", None, None),
            End::KnownFailure(reasons) => {
                ("known-failure", Some(reasons).filter(|reasons| !reasons.is_empty()), None)
            }
            End::Failed(reasons, pixel) => ("failed", Some(reasons), *pixel),
        };
        serde_json::json!({
            "version": 1,
            "name": self.name(),
            "file": input_args::show(&self.file),
            "index": self.index,
            "status": status,
            "failures": failures,
            "pixel": pixel,
            "rule": self.rule(),
            "seconds": seconds,
        })
    }
}

impl Tally {
    fn count(&mut self, end: &End) {
        *match end {
            End::Passed => &mut self.passed,
            End::NothingExpected => &mut self.nothing,
            End::KnownFailure(_) => &mut self.known,
            End::Failed(..) => &mut self.failed,
        } += 1;
    }

    fn summary(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failed);
        for (count, what) in [
            (self.known, "known to fail"),
            (self.nothing, "without expectations"),
            (self.filtered, "filtered out"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }
}

/// Returns the picture of a file, which must have the size of what is drawn.
fn read_picture(path: &Path, drawn: Option<[u32; 2]>) -> Result<Picture, String> {
    let bytes = input_args::picture_bytes(path).map_err(|failure| failure.message())?;
    // Before it is decoded: a small file can hold a large picture.
    if let (Some(a), Some(b)) = (drawn, png_size(&bytes))
        && a != b
    {
        return Err(JudgeError::Size(SizeError { a, b }).to_string());
    }
    decode_png(&bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// Returns whether a file can hold jobs with expectations, by its name.
fn may_expect(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".json", ".jsonl", ".ndjson", ".r5", ".vs.asm"]
        .iter()
        .any(|extension| name.ends_with(extension))
}

/// Returns a word for a shell.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the tests of a vertex program, one for each vertex that it expects something of.
fn vertex_tests(vertex: VertexFile) -> Box<dyn Iterator<Item = Result<Work, String>>> {
    if let Err(failure) = vertex.sound() {
        return Box::new(std::iter::once(Err(failure.message())));
    }
    let vertex = Arc::new(vertex);
    match vertex.expectations() {
        0 => Box::new(std::iter::once(Ok(Work::Vertex(vertex, None)))),
        count => Box::new((0..count).map(move |n| Ok(Work::Vertex(Arc::clone(&vertex), Some(n))))),
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(quote("a/b.json"), "a/b.json");
        assert_eq!(quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn file_names_that_count() {
        let may = |name: &str| may_expect(Path::new(name));
        assert!(may("light.vs.asm"));
        assert!(may("a.json") && may("b.jsonl.gz") && may("c.ndjson") && may("d.r5"));
        assert!(!may("a.png") && !may("b.log") && !may("README.md"));
    }
}
