//! `r500 check`: static analysis of programs.
//!
//! | module | content |
//! | --- | --- |
//! | [`policy`] | which lints are suppressed, which are errors |
//! | [`text`], [`json`], [`sarif`] | output formats |
//! | [`baseline`] | findings of an earlier run |
//! | [`fix`] | applying the safe fixes |

mod baseline;
mod fix;
mod json;
mod policy;
mod sarif;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::asm::{Assembly, Span};
use r500::check::{Lint, LintCode, Report, Severity, check_job};
use r500::lint::{self, Allows, Covers};
use r500::program::Job;
use r500_stream::counted;

use super::exit::{Failure, Outcome, Status};
use super::file_kind::holds_scene;
use super::input_args::{self, ReadArgs};
use super::scene::SceneFile;
use super::vertex::VertexFile;
use super::{compilation, syntax, terminal};
use policy::{Policy, Which};

/// Check programs for errors and likely mistakes without running them.
///
/// Each finding has a code (R5xxx), a location, a message and, if one is known, a fix. An error is a
/// program that cannot run as written; a warning is a program that runs, but perhaps not as intended
/// or differently on a card. Facts that the input does not give (constants, inputs, US_PIXSIZE, code
/// window) cause no findings.
///
/// Comments in a source suppress findings: `-- r500: allow(R5038)` after an instruction or on a line
/// before it, `-- r500: allow-file(R5038)` for the whole file. --deny does not override them.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Check {
    /// Files, and folders, of which the files that hold programs are taken; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// Check part K of N of the files
    #[arg(long, value_name = "K/N", value_parser = syntax::shard)]
    shard: Option<syntax::Shard>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Treat findings as errors: a code (R5038, dead-write), `warnings`, or `all` (including notes)
    #[arg(long, value_name = "CODE", value_parser = Which::parse)]
    deny: Vec<Which>,
    /// Do not report findings of this code
    #[arg(long, value_name = "CODE", value_parser = policy::code)]
    allow: Vec<LintCode>,
    /// Report only findings that this earlier answer of --format json lacks: same file, program, code and message
    #[arg(long, value_name = "FILE", conflicts_with = "fix")]
    against: Option<PathBuf>,
    /// Print the meaning of a code, its evidence and the remedy; `all` prints every code
    #[arg(long, value_name = "CODE", value_parser = explained)]
    explain: Vec<Explained>,
    /// Apply the safe fixes (semaphores, waits, NOPs, US_PIXSIZE) and the assembler's corrections of errors (`MOV a` as
    /// `MAD a 1 0`). Without -o or --in-place, print a diff of what would change
    #[arg(long)]
    fix: bool,
    /// Write the fixed program to this file
    #[arg(short, long, value_name = "FILE", requires = "fix", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Overwrite files with the fixed programs
    #[arg(long, requires = "fix")]
    in_place: bool,
    /// Print the guarantees for each program without errors, and how many files of folders hold no program
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

const AFTER: &str = "\
Examples:
  r500 check plasma.r5
  r500 check tests/corpus/mesa --allow R5067 --deny warnings
  r500 check capture.json -v                    print the guarantees of a clean program too
  r500 check plasma.r5 --fix                    print what the safe fixes would change
  r500 check plasma.r5 --fix --in-place
  r500 check shaders --format sarif > shaders.sarif
  r500 check shaders --shard 1/4
  r500 check shaders --format json > known.json
  r500 check shaders --against known.json       new findings only
  r500 check --explain R5041

Exit status: 0 no errors (warnings are possible); 1 errors, or findings that --deny makes errors (with
--fix, those that remain); 2 wrong usage; 3 a file cannot be read or written.";

/// The argument of `--explain`.
#[derive(Clone, Copy, Debug)]
enum Explained {
    All,
    One(LintCode),
}

fn explained(text: &str) -> Result<Explained, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(Explained::All);
    }
    policy::code(text).map(Explained::One)
}

/// A file with its programs, checked.
struct Checked {
    file: PathBuf,
    /// The source, where it is one.
    assembly: Option<Box<Assembly>>,
    programs: Vec<Program>,
    /// Comments for the checker that are mistaken or allow nothing.
    comments: Vec<(Span, String)>,
    /// Why the file could not be read.
    failure: Option<Failure>,
}

/// A program, checked.
struct Program {
    name: String,
    /// Its number in the file.
    index: usize,
    job: Job,
    report: Report,
    /// The level of each lint of the report.
    levels: Vec<Level>,
}

/// The level of a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// It is reported as this.
    Reported(Severity),
    /// It is allowed, by the source or by a switch.
    Allowed { in_source: bool },
    /// The baseline has it.
    Known,
}

/// Counts of lints by level.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    files: usize,
    programs: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    allowed: usize,
    known: usize,
    /// Lints of long programs that no report holds.
    omitted: usize,
    /// Files that could not be read, and whether a medium or a limit is to blame for one of them.
    failed: usize,
    could_not: bool,
}

impl Check {
    /// Checks.
    pub(super) fn run(self) -> Outcome {
        if !self.explain.is_empty() {
            return explain(&self.explain);
        }
        let policy = Policy::new(&self.deny, &self.allow).map_err(Failure::usage)?;
        let mut baseline = self.against.as_deref().map(baseline::Baseline::read).transpose()?;
        let found = input_args::programs_and(&self.files, |file| {
            // Only fragment programs have fixes.
            !self.fix && (VertexFile::is_in(file) || holds_scene(file))
        })?;
        if self.verbose {
            found.note_skipped();
        }
        let mut files = found.files;
        let mut sharding = syntax::Sharding::new(self.shard);
        files.retain(|_| sharding.takes_next());
        if self.fix {
            return fix::run(&self, &policy, &files);
        }
        let mut tally = Tally::default();
        let mut out = std::io::BufWriter::new(terminal::out());
        let mut json = json::Answer::default();
        let mut sarif = sarif::Log::new();
        for file in &files {
            if let Some(vertex) = VertexFile::read(file, self.read)? {
                tally.files += 1;
                self.vertex_program(&vertex, &mut out, &mut json, &mut tally)?;
                continue;
            }
            let mut checked = match SceneFile::read(file, self.read) {
                Ok(None) => Checked::read(file, self.read, &policy),
                Err(failure) => Checked { failure: Some(failure), ..Checked::empty(file) },
                Ok(Some(scene)) => {
                    let mut checked = Checked::empty(file);
                    for (index, (vertex, fragment)) in scene.programs().enumerate() {
                        if let Some(vertex) = vertex {
                            self.vertex_program(&vertex, &mut out, &mut json, &mut tally)?;
                        }
                        checked.programs.push(Program::check(fragment, index, &policy));
                    }
                    checked
                }
            };
            if let Some(baseline) = &mut baseline {
                baseline.apply(&mut checked);
            }
            tally.count(&checked, &policy);
            match self.format {
                Format::Text => text::file(&mut out, &checked, &policy, self.verbose)?,
                Format::Json => json.add(&checked),
                Format::Sarif => sarif.add(&checked, &policy),
            }
        }
        match self.format {
            Format::Text => writeln!(out, "{tally}")?,
            Format::Json => writeln!(out, "{:#}", json.finish(&tally))?,
            Format::Sarif => writeln!(out, "{:#}", sarif.finish())?,
        }
        out.flush()?;
        Ok(tally.status())
    }
}

impl Check {
    /// Checks a vertex program.
    fn vertex_program(
        &self,
        vertex: &VertexFile,
        out: &mut impl Write,
        json: &mut json::Answer,
        tally: &mut Tally,
    ) -> Outcome<()> {
        let findings = match self.format {
            Format::Text => vertex.check(out, self.verbose)?,
            Format::Json => {
                json.add_vertex(vertex.check_json());
                vertex.findings()
            }
            Format::Sarif => return Err(no_sarif(vertex.path())),
        };
        tally.count_vertex(findings, self.denies_warnings());
        Ok(())
    }

    fn denies_warnings(&self) -> bool {
        self.deny.iter().any(|which| matches!(which, Which::Warnings | Which::All))
    }
}

fn no_sarif(file: &Path) -> Failure {
    Failure::usage(format!(
        "{}: a vertex program or a scene; the findings for these are text (--format text) or JSON (--format json)",
        input_args::show(file)
    ))
}

fn explain(wanted: &[Explained]) -> Outcome {
    let codes = wanted.iter().flat_map(|wanted| match wanted {
        Explained::All => LintCode::ALL.to_vec(),
        Explained::One(code) => vec![*code],
    });
    let mut out = std::io::BufWriter::new(terminal::out());
    for (i, code) in codes.enumerate() {
        if i != 0 {
            writeln!(out)?;
        }
        write!(out, "{}", lint::page(code))?;
        if lint::has_fix(code) {
            writeln!(out, "\n`r500 check FILE --fix` makes the change.")?;
        }
    }
    out.flush()?;
    Ok(Status::Fine)
}

impl Checked {
    fn empty(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            assembly: None,
            programs: Vec::new(),
            comments: Vec::new(),
            failure: None,
        }
    }

    /// Reads a file and checks what it holds.
    fn read(file: &Path, read: ReadArgs, policy: &Policy) -> Self {
        let mut checked = Self::empty(file);
        let jobs = match input_args::open(file, read) {
            Ok(jobs) => jobs,
            Err(failure) => return Self { failure: Some(failure), ..checked },
        };
        // Texture files play no part, so that they need not be there.
        if let Some(assembly) = jobs.assembly().filter(|assembly| assembly.is_ok()) {
            checked.source(Box::new(assembly.clone()), policy);
            return checked;
        }
        if let Some(assembly) = jobs.assembly() {
            checked.failure = Some(input_args::with_errors(assembly));
            return checked;
        }
        for (index, job) in jobs.enumerate() {
            match job {
                Ok(job) => {
                    input_args::note_left_out(file, &job);
                    checked.programs.push(Program::check(job, index, policy));
                }
                Err(error) => {
                    checked.failure = Some(input_args::unreadable(file, error));
                    break;
                }
            }
        }
        checked
    }

    /// Checks the program of a source.
    fn source(&mut self, assembly: Box<Assembly>, policy: &Policy) {
        let allows = Allows::of(&assembly);
        let mut job = assembly.job.clone();
        if job.name.is_empty() {
            let stem = self.file.file_stem().unwrap_or_default();
            job.name = stem.to_string_lossy().into_owned();
        }
        let mut used = vec![false; allows.list.len()];
        let report = lint::check_source(&assembly);
        let program = Program::judged(job, 0, report, |finding| {
            let covering = allows.covering(finding.code, &finding.location, &assembly);
            if let Some(covering) = covering {
                used[covering] = true;
            }
            policy.level(finding, covering.is_some())
        });
        self.comments = allows.wrong;
        for (allow, _) in allows.list.iter().zip(used).filter(|(_, used)| !used) {
            let number = allow.code.info().number;
            let what = match allow.covers {
                Covers::Nothing => "no instruction stands here; `allow-file` is for all of them",
                _ => "there is no such finding",
            };
            self.comments.push((allow.span, format!("{number} is allowed for nothing: {what}")));
        }
        self.comments.sort_by_key(|(span, _)| *span);
        self.programs.push(program);
        self.assembly = Some(assembly);
    }

    /// Returns what it is called, with the program's name where it holds several.
    fn title(&self, program: &Program) -> String {
        let file = input_args::show(&self.file);
        match (self.programs.len(), program.name.as_str()) {
            (1, _) => file,
            (_, "") => format!("{file} (program {})", program.index),
            (_, name) => format!("{file} ({name})"),
        }
    }
}

impl Program {
    fn check(job: Job, index: usize, policy: &Policy) -> Self {
        let report = check_job(&job);
        Self::judged(job, index, report, |finding| policy.level(finding, false))
    }

    fn judged(
        job: Job,
        index: usize,
        mut report: Report,
        level: impl FnMut(&Lint) -> Level,
    ) -> Self {
        if compilation::not_compiled(&job).is_some() {
            // Findings in the driver's dummy are not about the shader.
            report.lints.clear();
            report.omitted = 0;
        }
        let levels = report.lints.iter().map(level).collect();
        Self { name: job.name.clone(), index, job, report, levels }
    }

    /// Findings that are reported, with what they count as.
    fn reported(&self) -> impl Iterator<Item = (&Lint, Severity)> {
        self.all().filter_map(|(finding, level)| match level {
            Level::Reported(severity) => Some((finding, severity)),
            Level::Allowed { .. } | Level::Known => None,
        })
    }

    fn all(&self) -> impl Iterator<Item = (&Lint, Level)> {
        self.report.lints.iter().zip(self.levels.iter().copied())
    }
}

impl Tally {
    fn count(&mut self, checked: &Checked, policy: &Policy) {
        self.files += 1;
        self.programs += checked.programs.len();
        self.omitted +=
            checked.programs.iter().map(|program| program.report.omitted).sum::<usize>();
        let failed = |program: &&Program| compilation::not_compiled(&program.job).is_some();
        self.errors += checked.programs.iter().filter(failed).count();
        for (_, level) in checked.programs.iter().flat_map(Program::all) {
            match level {
                Level::Reported(Severity::Error) => self.errors += 1,
                Level::Reported(Severity::Warning) => self.warnings += 1,
                Level::Reported(Severity::Note) => self.notes += 1,
                Level::Allowed { .. } => self.allowed += 1,
                Level::Known => self.known += 1,
            }
        }
        match policy.comments() {
            Severity::Error => self.errors += checked.comments.len(),
            _ => self.warnings += checked.comments.len(),
        }
        if let Some(failure) = &checked.failure {
            self.failed += 1;
            self.could_not |= !failure.blames_input();
        }
    }

    /// Counts a vertex program with its findings; `None` if its text has errors.
    fn count_vertex(&mut self, findings: Option<usize>, denied: bool) {
        match findings {
            None => self.failed += 1,
            Some(findings) => {
                self.programs += 1;
                *(if denied { &mut self.errors } else { &mut self.warnings }) += findings;
            }
        }
    }

    fn status(&self) -> Status {
        match self {
            Self { could_not: true, .. } => Status::CouldNot,
            Self { errors: 0, failed: 0, .. } => Status::Fine,
            _ => Status::Failed,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", counted(self.programs, "program"))?;
        if self.files != self.programs {
            write!(f, " in {}", counted(self.files, "file"))?;
        }
        let counts = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let found: Vec<String> =
            counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| counted(n, what)).collect();
        match found.is_empty() {
            true => write!(f, ": nothing found")?,
            false => write!(f, ": {}", found.join(", "))?,
        }
        if self.allowed > 0 {
            write!(f, ", {} allowed", self.allowed)?;
        }
        if self.known > 0 {
            write!(f, ", {} known", self.known)?;
        }
        if self.omitted > 0 {
            write!(f, "; {} more are not listed", self.omitted)?;
        }
        if self.failed > 0 {
            write!(f, "; {} not checked", counted(self.failed, "file"))?;
        }
        Ok(())
    }
}

/// Returns whether stdout supports colours.
fn colors() -> bool {
    terminal::colors(&std::io::stdout())
}
