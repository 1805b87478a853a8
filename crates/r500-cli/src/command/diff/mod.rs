//! `r500 diff`: comparison of the instructions and the results of two programs.

mod findings;
mod instructions;
mod known;
mod many;
mod pairs;
mod prove;
mod reduce;
mod reduce_vertices;
mod run;
mod vertices;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use r500::check::diff::Diff as Changes;
use r500::equivalence::Literals;
use r500::program::Job;

use self::findings::NewFindings;
use self::instructions::Listing;
use self::known::KnownDifferences;
use self::run::RunArgs;
use self::vertices::VertexRows;
use super::compilation;
use super::engine_args::EngineArgs;
use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, ReadArgs};
use super::report::{self, ReportFormat};
use super::terminal;

/// Compare two programs: their instructions, and with --run what they compute.
///
/// Aligns the instructions, marks those that only one program has, and lists every changed field by
/// name. Jumps to the same instruction are equal, whatever its address.
///
/// With --run both programs draw their pictures, each with its own inputs, constants and textures
/// (which may be in different registers), and every pixel that both cover must have equal stored
/// values: in the format that both files give, else as floats. Then they draw pictures with edge
/// values (zeros, denormals, infinities, NaN, thresholds of the programs) and random values of the
/// inputs and constants that correspond, with pixels that are not covered. The first different pixel
/// is traced in both programs to the first instruction whose results differ. If there is none, a
/// proof is tried, and the verdict tells whether there is one.
///
/// Vertex programs are compared alike: with --run by the outputs that both write for vertices with edge values and random values, and a
/// proof is tried. Constants that the text gives are literals of the program; others correspond by number. Those of logs and folders are
/// compared with the fragment programs.
///
/// With --run and --prove, A and B may be folders or files of several programs, matched by path and name. Programs whose
/// name is only a number, as in driver logs, are matched by content: the same instructions first, then the most in common.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Diff {
    /// The first program; `-` is stdin
    #[arg(value_name = "A", required_unless_present = "reading")]
    a: Option<PathBuf>,
    /// The second program
    #[arg(value_name = "B", required_unless_present = "reading")]
    b: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// Program of files that contain several: its name, or its number from 0
    #[arg(long, value_name = "NAME|N")]
    pick: Option<String>,
    /// Program of B, if different from --pick
    #[arg(long, value_name = "NAME|N")]
    pick_b: Option<String>,
    /// Number of equal instructions shown around differences
    #[arg(short = 'U', long, value_name = "N", default_value_t = 2)]
    context: usize,
    /// Output format; junit and sarif are for folders and files of several programs
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// What --format json wrote for these folders or files: pairs with the verdict that they had then do not fail
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Prove that both store the same bits for all inputs, textures and constants. Constants with names have any value and
    /// correspond by name; other constants that a file carries are literals of the program. If there is no proof, search for a
    /// difference as --run does
    #[arg(long, conflicts_with_all = ["run", "random", "carried", "tolerance"])]
    prove: bool,
    /// All constants have any value and correspond by number, also those that the files carry
    #[arg(long)]
    unbound: bool,
    /// What --prove does anyway
    #[arg(long, hide = true, conflicts_with = "unbound")]
    bound: bool,
    /// Exit with 1 also if the checker has errors or warnings for B that it does not have for A, such as a dropped wait.
    /// They are listed in any case
    #[arg(long)]
    fail_on_findings: bool,
    /// Reduce a pair that differs: remove instructions, then operands, constants and inputs, as long as the programs still
    /// differ in the same way with the values that were found; of vertex programs instructions, flow control and components, with
    /// ordinary values if they show a difference. Prints both with these values (implies --run)
    #[arg(long, conflicts_with = "prove")]
    reduce: bool,
    /// Folder for the reduced programs: A.r5 and B.r5, of vertex programs A.vs.r5 and B.vs.r5
    #[arg(short, long, value_name = "DIR", requires = "reduce")]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    machine: EngineArgs,
}

const AFTER: &str = "\
Exit status: 0 equal; 1 different, or a program has errors; 2 wrong usage; 3 a file cannot be read.
With --run, the status depends on the run only: 0 every covered pixel is equal; 1 a pixel differs; 3 the
programs could not be compared. With --prove: 0 proved; 1 they differ, with a pixel; 3 no verdict.
With --fail-on-findings, 1 also if the checker finds something in B that it does not find in A.

Names: inputs and constants are matched by the names that captures, sources and logs give them, inputs
without a match by register. Constants that a file carries without a name are literals of that program, and
never given to the other. Captures of Mesa name their inputs but not the registers of their uniforms: give
those with --share. With --unbound, constants have any value and match by number.

First divergence: instructions that the differing result does not depend on are ignored, and so are
instructions with equal results, even if they moved or use other registers. Of the remaining instructions,
those with equal operands are printed with their operands and results.

Examples:
  r500 diff old.json new.json
  r500 diff old.json new.json --run
  r500 diff old.json new.json --run --random 100 --share c0=c2 --tolerance 0.004
  r500 diff before after --prove
  r500 diff before after --prove --shard 1/4
  r500 diff noopt.json opt.json --prove
  r500 diff before.log after.log --run
  r500 diff old.vs.asm new.vs.asm --prove
  r500 diff before.log after.log --pick vp0 --run
  r500 diff before.log after.log --pick fp3 --reduce -o report
  r500 diff before after --prove --fail-on-findings
  r500 diff before after --run --format json > known.json
  r500 diff before after --run --against known.json --format junit > report.xml
  r500 diff before.jsonl after.jsonl --pick fs-abs-vec2.0 --run --format json";

/// Writes the answer about several pairs in a format for programs.
fn write_answer(
    out: &mut impl Write,
    format: ReportFormat,
    answer: &serde_json::Value,
) -> std::io::Result<()> {
    match format {
        ReportFormat::Text | ReportFormat::Json => writeln!(out, "{answer:#}"),
        format => report::write(out, format, "r500 diff", &known::cases(answer)),
    }
}

/// Returns why two programs are not two shaders: the driver could not compile one of them.
fn not_compiled(jobs: [&Job; 2]) -> Option<String> {
    let [a, b] = jobs.map(compilation::not_compiled);
    match (a, b) {
        (None, None) => None,
        (Some(why), None) => Some(format!("A did not compile: {why}")),
        (None, Some(why)) => Some(format!("B did not compile: {why}")),
        (Some(a), Some(b)) => Some(format!("neither compiled: A: {a}; B: {b}")),
    }
}

impl Diff {
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
        let [a, b] = self.paths()?;
        if let Some(files) = self.vertex_programs([a, b])? {
            return self.vertices(&files);
        }
        let known = self.against.as_deref().map(KnownDifferences::read).transpose()?;
        let known = known.unwrap_or_default();
        let mut rows = self.vertex_rows([a, b])?;
        rows.mark(&known);
        if rows.alone {
            return rows.report(self.format);
        }
        if !self.runs() {
            let folder = [a, b].into_iter().find(|file| !self.prove && file.is_dir());
            return folder.map_or_else(
                || self.both(&rows, &known),
                |folder| {
                    let folder = folder.display();
                    Err(Failure::usage(format!(
                        "{folder} is a folder; --run or --prove compares folders"
                    )))
                },
            );
        }
        let several = |file: &Path| file.is_dir() || input_args::holds_several(file, self.read);
        let picked = self.pick.is_some() || self.pick_b.is_some();
        if !picked && (several(a) || several(b)) {
            if self.reduce {
                return Err(Failure::usage("--reduce takes one pair; select it with --pick"));
            }
            return many::run([a, b], self, &rows, &known);
        }
        // Without a verdict the run has no 1 to give.
        self.both(&rows, &known).map_err(Failure::without_verdict)
    }

    /// Returns whether both are run.
    fn runs(&self) -> bool {
        self.run.wanted() || self.reduce
    }

    /// Returns what constants without a name mean.
    fn literals(&self) -> Literals {
        if self.unbound { Literals::Unbound } else { Literals::Bound }
    }

    fn paths(&self) -> Outcome<[&Path; 2]> {
        let missing = || Failure::usage("two programs are needed");
        let (a, b) = (self.a.as_ref().ok_or_else(missing)?, self.b.as_ref().ok_or_else(missing)?);
        if input_args::is_stdin(a) && input_args::is_stdin(b) {
            return Err(Failure::usage("only one of the programs can come from stdin"));
        }
        Ok([a, b])
    }

    /// Refuses options that take several pairs.
    fn refuse_for_one_pair(&self) -> Outcome<()> {
        let given = [
            ("--against", self.against.is_some()),
            (
                "--format junit and sarif",
                !matches!(self.format, ReportFormat::Text | ReportFormat::Json),
            ),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::usage(format!(
                "{name}: for folders or files of several programs with --run, and for --prove; this is one pair"
            ))),
            None => Ok(()),
        }
    }

    fn both(&self, rows: &VertexRows, known: &KnownDifferences) -> Outcome {
        let [a, b] = self.paths()?;
        let pick_b = self.pick_b.as_ref().or(self.pick.as_ref());
        if self.prove {
            let picks = [self.pick.as_deref(), pick_b.map(String::as_str)];
            let prover = prove::Prover {
                literals: self.literals(),
                args: &self.run,
                machine: &self.machine,
                fail_on_findings: self.fail_on_findings,
                vertices: rows,
                known,
            };
            return prover.run([a, b], self.read, picks, self.format);
        }
        self.refuse_for_one_pair()?;
        let jobs: [Job; 2] = [
            input_args::one(a, self.read, self.pick.as_deref())?,
            input_args::one(b, self.read, pick_b.map(String::as_str))?,
        ];
        let not_compiled = not_compiled([&jobs[0], &jobs[1]]);
        if self.runs()
            && let Some(why) = not_compiled
        {
            return Err(Failure::could_not(anyhow::anyhow!(why)));
        }
        let changes = Changes::of(&jobs[0].program, &jobs[1].program);
        let same = changes.is_empty();
        let files = [input_args::show(a), input_args::show(b)];
        let listing = Listing::new(&jobs, &files, &changes);
        let findings = NewFindings::of(&jobs);
        let run = self.runs();
        let run =
            run.then(|| self.run.compare(&jobs, self.literals(), &self.machine)).transpose()?;
        let found = run.as_ref().filter(|_| self.reduce).and_then(run::Verdict::counterexample);
        let reduced = found.map(|found| {
            let inputs = input_args::inputs([a, b], self.read);
            reduce::Report::new(&found, self.output.as_deref(), &inputs, &self.machine)
        });
        let reduced = reduced.transpose()?;
        let mut out = std::io::BufWriter::new(terminal::out());
        match self.format {
            ReportFormat::Json | ReportFormat::Junit | ReportFormat::Sarif => {
                let mut answer = listing.json();
                answer["run"] = run.as_ref().map_or_else(Default::default, run::Verdict::json);
                answer["new_findings"] = findings.json();
                if self.reduce {
                    let json = reduced.as_ref().map(reduce::Report::json);
                    answer["reduced"] = json.unwrap_or_default();
                }
                answer["vertex_programs"] = rows.json().into();
                writeln!(out, "{answer:#}")?;
            }
            ReportFormat::Text => {
                let colors = terminal::colors(&std::io::stdout());
                if run.is_none() {
                    listing.text(&mut out, self.context, colors)?;
                }
                listing.summary(&mut out)?;
                if let Some(why) = &not_compiled {
                    writeln!(out, "{why}")?;
                }
                if let Some(run) = &run {
                    run.text(&mut out, colors)?;
                }
                findings.text(&mut out)?;
                match &reduced {
                    Some(reduced) => reduced.text(&mut out)?,
                    None if self.reduce => writeln!(out, "nothing to reduce: no pixel differs")?,
                    None => {}
                }
                rows.text(&mut out)?;
            }
        }
        out.flush()?;
        let status = match run {
            Some(run) => run.status(),
            // Equal dummies are not equal shaders.
            None if same && not_compiled.is_none() => Status::Fine,
            None => Status::Failed,
        };
        Ok(rows.status(findings.status(status, self.fail_on_findings)))
    }
}
