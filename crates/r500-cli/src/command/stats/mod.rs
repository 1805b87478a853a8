//! `r500 stats`: instruction counts and estimated cost of programs.

mod baseline;
mod program;
mod program_report;
mod table;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use r500::check::Stats as Numbers;
use serde_json::json;

use self::program::{Program, collect};
use super::exit::{Failure, Outcome, Status};
use super::format::TableFormat;
use super::input_args::{self, ReadArgs};
use super::vertex::{VertexFile, VertexStats};
use super::{syntax, terminal};

/// Count the instructions of programs and estimate their cost.
///
/// Prints a report for one program, or a table for several: instructions by type, co-issue (both
/// halves used), presubtract, OMOD and inline constants, registers, texture indirections, nesting,
/// longest path, estimated cycles. Unreachable instructions are not counted. --against compares with
/// another set of programs, matched by their paths below the given folders, and in driver logs by the
/// text of the shader: totals, and each program that was helped or hurt. Shaders that the driver could
/// not compile have no numbers: they count as lost or gained.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Stats {
    /// Files, and folders, of which the files that hold programs are taken; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "list_columns")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// Only programs whose name contains this text (`*` matches anything)
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Count part K of N of the files
    #[arg(long, value_name = "K/N", value_parser = syntax::shard, conflicts_with = "against")]
    shard: Option<syntax::Shard>,
    /// The programs to compare with: a file or a folder
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// With --against: exit with status 1 if a program is hurt or missing
    #[arg(long, requires = "against")]
    fail_on_hurt: bool,
    /// Sort by this column: numbers in descending order, names in ascending order
    #[arg(long, value_name = "COLUMN", value_parser = column, conflicts_with = "against")]
    sort: Option<Column>,
    /// Columns of the table, separated by commas; `all` selects all
    #[arg(long, value_name = "COLUMNS", value_parser = columns, conflicts_with = "against")]
    columns: Option<Columns>,
    /// List the columns and exit
    #[arg(long)]
    list_columns: bool,
    /// Output format; CSV and JSON have every column
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
    /// Print how many files of folders hold no program
    #[arg(short, long)]
    verbose: bool,
}

const AFTER: &str = "\
The model of `cycles`: each instruction takes one cycle to issue, one with NOP two. A branch costs its more
expensive arm; a loop costs its body times its trip count (KR of its integer constant; 1 if that is not
given); a call costs its subroutine. Texture and ALU latency are not modelled. The number is an upper bound
of the issue cycles of a group of pixels: it compares programs and does not predict time. Programs with
unstructured flow control have no longest path and no cycles.

Exit status: 0 counted; 1 a file has errors or holds a program that cannot run, or --fail-on-hurt;
2 wrong usage; 3 a file cannot be read.

Examples:
  r500 stats capture.json                            one program, a sheet
  r500 stats tests/corpus/mesa --sort cycles         many, a table
  r500 stats shaders --format csv > shaders.csv
  r500 stats shaders --shard 1/4 --format csv
  r500 stats after --against before                  what a change of the compiler did
  r500 stats new.json --against old.json --format json";

impl Stats {
    pub(super) fn run(&self) -> Outcome {
        let mut out = std::io::BufWriter::new(terminal::out());
        if self.list_columns {
            list_columns(&mut out)?;
            return Ok(out.flush().map(|()| Status::Fine)?);
        }
        self.check_against()?;
        let mut status = Status::Fine;
        let (mut files, vertex) = self.vertex_programs(&mut status)?;
        if !vertex.is_empty() {
            // A folder that has vertex programs only is not empty.
            files.retain(|path| {
                !path.is_dir() || input_args::programs(std::slice::from_ref(path)).is_ok()
            });
        }
        let only_vertex = files.is_empty() && !self.files.is_empty();
        if !vertex.is_empty() || only_vertex {
            self.print_vertex(&mut out, &vertex, only_vertex)?;
            if only_vertex {
                out.flush()?;
                return Ok(status);
            }
        }
        let mut programs = self.read(&files, true, &mut status)?;
        if let Some(before) = &self.against {
            // What did not compile before is not an error now.
            let before = self.read(std::slice::from_ref(before), false, &mut status)?;
            let changes = baseline::Changes::new(&before, &programs);
            match self.format {
                TableFormat::Text => changes.text(&mut out)?,
                TableFormat::Csv => changes.csv(&mut out)?,
                TableFormat::Json => writeln!(out, "{:#}", changes.json())?,
            }
            if self.fail_on_hurt && changes.hurts() {
                status = Status::Failed;
            }
        } else {
            if let Some(column) = self.sort {
                column.sort(&mut programs);
            }
            let shown = self.columns.clone().map_or_else(table::usual, |columns| columns.0);
            match (self.format, programs.as_slice()) {
                (TableFormat::Text, [program]) => program_report::print(&mut out, program)?,
                (TableFormat::Text, _) => table::text(&mut out, &programs, &shown)?,
                (TableFormat::Csv, _) => table::csv(&mut out, &programs)?,
                (TableFormat::Json, _) => {
                    let all: Vec<_> = programs.iter().map(Program::json).collect();
                    let total = table::total_json(&programs);
                    let mut answer = json!({ "version": 1, "programs": all, "total": total });
                    if !vertex.is_empty() {
                        answer["vertex_programs"] = vertex.iter().map(VertexStats::json).collect();
                    }
                    writeln!(out, "{answer:#}")?;
                }
            }
        }
        out.flush()?;
        Ok(status)
    }

    /// Takes the files with vertex programs out of the arguments and counts these.
    fn vertex_programs(&self, status: &mut Status) -> Outcome<(Vec<PathBuf>, Vec<VertexStats>)> {
        let (mut others, mut counted) = (Vec::new(), Vec::new());
        let mut files = Vec::new();
        for path in &self.files {
            files.push(path.clone());
            if !path.is_dir() || self.read.from.is_some() {
                continue;
            }
            let in_folder = input_args::files(std::slice::from_ref(path), VertexFile::is_in)?;
            if self.against.is_some() || self.format == TableFormat::Csv {
                input_args::note_skipped(in_folder.len(), "of vertex programs");
            } else {
                files.extend(in_folder);
            }
        }
        for file in &files {
            let vertex = VertexFile::read(file, self.read)?;
            match vertex.map(|vertex| vertex.stats()) {
                None => others.push(file.clone()),
                Some(Ok(stats)) => counted.push(stats),
                Some(Err(failure)) => {
                    failure.report();
                    *status = Status::Failed;
                }
            }
        }
        if let (Some(_), false) = (&self.against, counted.is_empty()) {
            return Err(Failure::usage(
                "--against compares fragment programs; vertex programs are counted only",
            ));
        }
        Ok((others, counted))
    }

    /// Prints counters of vertex programs: an object of their own, if there is nothing else.
    fn print_vertex(
        &self,
        out: &mut impl Write,
        vertex: &[VertexStats],
        alone: bool,
    ) -> Outcome<()> {
        match self.format {
            TableFormat::Text => VertexStats::table(vertex, out)?,
            TableFormat::Json if alone => {
                let all: Vec<_> = vertex.iter().map(VertexStats::json).collect();
                writeln!(out, "{:#}", json!({ "version": 1, "vertex_programs": all }))?;
            }
            TableFormat::Csv if alone => VertexStats::csv(vertex, out)?,
            // Part of the answer for fragment programs.
            TableFormat::Json => {}
            TableFormat::Csv => {
                return Err(Failure::usage(
                    "fragment and vertex programs have different counters: count them apart, or with --format text or json",
                ));
            }
        }
        Ok(())
    }

    /// Refuses several files against one: a shell hands all but the first file of `--against before/*.json` over as
    /// programs to count, which would be compared with that one.
    fn check_against(&self) -> Outcome<()> {
        match &self.against {
            Some(before) if before.is_file() && self.files.len() > 1 => {
                Err(Failure::usage(format!(
                    "--against {}: {} files against one; --against takes one folder or file, so give folders \
                     (r500 stats after --against before)",
                    before.display(),
                    self.files.len()
                )))
            }
            _ => Ok(()),
        }
    }

    /// Counts every program; reports those that cannot be counted, which are errors, but not failed compilations if `fails` is false.
    fn read(&self, files: &[PathBuf], fails: bool, status: &mut Status) -> Outcome<Vec<Program>> {
        let single = files.len() == 1 && self.against.as_ref().is_some_and(|other| other.is_file());
        let mut programs = Vec::new();
        let mut sharding = syntax::Sharding::new(self.shard);
        for file in files {
            let mut found = input_args::programs(std::slice::from_ref(file))?;
            if self.verbose {
                found.note_skipped();
            }
            found.files.retain(|_| sharding.takes_next());
            collect(file, found.files, self.read, single, &mut programs, status)?;
        }
        if let Some(filter) = &self.filter {
            programs.retain(|program| syntax::holds(filter, &program.name));
        }
        for program in &programs {
            if let Err(error) = &program.counted {
                let message = format!("{}: {error}", program.name);
                if program.failed && !fails {
                    terminal::warn(&message);
                } else {
                    terminal::error(&message);
                    *status = Status::Failed;
                }
            }
        }
        if programs.is_empty() && *status == Status::Fine && self.shard.is_none() {
            let files: Vec<String> = files.iter().map(|file| input_args::show(file)).collect();
            return Err(Failure::input(anyhow::anyhow!("no program in {}", files.join(", "))));
        }
        Ok(programs)
    }
}

/// Columns to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    /// The share of instructions that use both halves.
    CoIssue,
    /// One of [`Numbers::NAMES`].
    Number(usize),
}

#[derive(Clone, Debug)]
struct Columns(Vec<Column>);

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Name => "program",
            Self::CoIssue => "co-issue",
            Self::Number(n) => Numbers::TITLES[n],
        }
    }

    fn sort(self, programs: &mut [Program]) {
        // Greatest first; what cannot run, last.
        let descending = |key: fn(&Program, usize) -> Option<u64>, n: usize| {
            move |a: &Program, b: &Program| key(b, n).cmp(&key(a, n))
        };
        match self {
            Self::Name => programs.sort_by(|a, b| a.name.cmp(&b.name)),
            Self::CoIssue => programs.sort_by(|a, b| {
                let rate =
                    |p: &Program| p.counted.as_ref().map_or(-1.0, |c| c.stats.co_issue_rate());
                rate(b).total_cmp(&rate(a))
            }),
            Self::Number(n) => programs.sort_by(descending(Program::number, n)),
        }
    }
}

/// Returns a column by its title or its name.
fn column(text: &str) -> Result<Column, String> {
    let text = text.trim();
    match text {
        "name" | "program" => return Ok(Column::Name),
        "co-issue" | "co_issue_rate" => return Ok(Column::CoIssue),
        _ => {}
    }
    let named = |names: &[&str]| names.iter().position(|name| *name == text);
    let number = named(Numbers::TITLES).or_else(|| named(Numbers::NAMES));
    number.map(Column::Number).ok_or_else(|| {
        let titles = Numbers::TITLES.join(", ");
        format!("there is no column `{text}`; there are name, co-issue, {titles}")
    })
}

fn columns(text: &str) -> Result<Columns, String> {
    if text == "all" {
        let numbers = (0..Numbers::NAMES.len()).map(Column::Number);
        return Ok(Columns(numbers.chain([Column::CoIssue]).collect()));
    }
    let columns = text.split(',').map(column).collect::<Result<Vec<_>, _>>()?;
    Ok(Columns(columns.into_iter().filter(|column| *column != Column::Name).collect()))
}

fn list_columns(out: &mut impl Write) -> std::io::Result<()> {
    let rows = Numbers::TITLES.iter().zip(Numbers::NAMES).zip(Numbers::MEANINGS);
    for ((title, name), meaning) in rows {
        writeln!(out, "{title:<9} {name:<14} {meaning}")?;
    }
    writeln!(
        out,
        "{:<9} {:<14} Share of ALU and OUT instructions that use both halves, of those that use any.",
        "co-issue", "co_issue_rate"
    )
}
