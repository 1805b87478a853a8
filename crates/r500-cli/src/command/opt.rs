//! `r500 opt`: the optimiser.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::equivalence::Trial;
use r500::formats::Format;
use r500::opt::{self, Allowance, Cost, Level, Options};
use r500::optimizer::{self, Checked, Evidence};
use r500::program::Job;
use r500::reader::{Language, assembly};
use r500::writer;
use r500_stream::counted;
use serde_json::{Value, json};

use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, ReadArgs};
use super::output_args::OutputArgs;
use super::output_file::{create_folder, put};
use super::{overwrite, terminal};

/// Shorten programs without a change to any bit of their results.
///
/// Removes dead lanes, copies and repeated operations, turns IF/BREAK/ENDIF into conditional breaks, and
/// schedules instructions anew so that both halves are used. The result is never worse in cycles, slots,
/// temporaries or NOPs; where nothing is better, the program stays as it is. Every result is run against its
/// original with 64 sets of random constants, inputs and textures; one that differs is never written. Integer and
/// boolean constants that a program does not carry have values with which the checker finds no error.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Opt {
    /// Files and folders; `-` is stdin
    #[arg(value_name = "FILE", required_unless_present = "list_passes")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// How much is searched: 1 (branches, copies, dead code), 2 (scheduling too), 3 (longer)
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    level: u8,
    /// Print each change: its instructions before and after, what it gains, and why it is exact
    #[arg(long)]
    explain: bool,
    /// Run these passes only, separated by commas
    #[arg(long, value_name = "PASS", value_parser = pass, value_delimiter = ',')]
    only: Vec<String>,
    /// Allow changes of results, separated by commas: zero-sign (a zero in a render target or in depth may have the other sign)
    #[arg(long, value_name = "RULE", value_parser = allowance, value_delimiter = ',')]
    allow: Vec<Allowance>,
    /// List the passes and what --allow takes, and exit
    #[arg(long)]
    list_passes: bool,
    /// Output format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
}

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Lines for people.
    Text,
    /// JSON.
    Json,
}

const AFTER: &str = "\
The report has a line for each program that changed, as shader-db prints them, then the totals. Without
--output only the report is printed. With a folder or several files, --output is a folder; its files have the formats of the inputs
(assembly keeps its comments), or that of --to; logs, GLSL and several programs in one file become JSON.
`proved` means equal for all constants, inputs and textures.

Exit status: 0 fine; 1 a file has errors, or a result differed from its original (a bug: it is not written);
2 wrong usage; 3 a file cannot be read or written.

Examples:
  r500 opt capture.json -o shorter.json
  r500 opt capture.json --explain                    what would change, and why
  r500 opt tests/corpus/mesa -o shorter
  r500 opt shaders -o shorter --to hex
  r500 opt driver.log -o shorter.jsonl --format json
  r500 opt shader.r5 -o - --to assembly --only branches";

fn pass(text: &str) -> Result<String, String> {
    let names: Vec<&str> = opt::passes().iter().map(|pass| pass.name).collect();
    if names.contains(&text) {
        Ok(text.to_owned())
    } else {
        let nearest = nearest(text, &names);
        Err(format!("there is no pass `{text}`; {nearest}the passes are {}", names.join(", ")))
    }
}

fn allowance(text: &str) -> Result<Allowance, String> {
    if let Some(found) = Allowance::ALL.into_iter().find(|allowance| allowance.name() == text) {
        return Ok(found);
    }
    let names = Allowance::ALL.map(Allowance::name);
    let nearest = nearest(text, &names);
    let never = if NEVER.contains(&text) { ", which is never done" } else { "" };
    Err(format!("there is no rule `{text}`{never}; {nearest}the rules are {}", names.join(", ")))
}

/// What compilers of other languages allow, and no pass here would use.
const NEVER: [&str; 4] = ["reassociate", "finite", "no-nan", "contract"];

/// Returns a hint at the name that a word was probably meant to be; empty if it resembles none.
fn nearest(text: &str, names: &[&str]) -> String {
    let distances = names.iter().map(|name| (strsim::levenshtein(text, name), name));
    match distances.min() {
        Some((distance, name)) if distance <= text.len().max(3) / 3 => {
            format!("did you mean `{name}`? ")
        }
        _ => String::new(),
    }
}

/// Writes the programs of a file, if they are to be written.
fn write(
    entries: &[Entry],
    file: &Path,
    read: ReadArgs,
    output: &OutputArgs,
    inputs: &[PathBuf],
) -> Outcome<()> {
    if output.output.is_none() && output.to.is_none() {
        return Ok(());
    }
    let jobs: Vec<Job> = entries.iter().map(|entry| entry.checked.job.clone()).collect();
    let language = output.language(Language::Assembly)?;
    if let (Language::Assembly, [entry]) = (language, entries)
        && let Some(text) = rewritten(&entry.checked, file, read, output.file())?
    {
        return match output.file() {
            Some(path) => {
                overwrite::refuse([path], inputs)?;
                put(path, text.as_bytes())
            }
            None => Ok(terminal::out().write_all(text.as_bytes())?),
        };
    }
    output.write(&jobs, language, &output.print_options(), inputs)
}

/// Returns the source that a program was read from, with what changed in it. `None` where the program has no such
/// source, or the source names files that would not be found next to the output.
fn rewritten(
    checked: &Checked,
    file: &Path,
    read: ReadArgs,
    output: Option<&Path>,
) -> Outcome<Option<String>> {
    if input_args::is_stdin(file) {
        return Ok(None);
    }
    let jobs = input_args::open(file, read)?;
    let Some(assembly) = jobs.assembly() else { return Ok(None) };
    let names_files = assembly::files(assembly).next().is_some();
    if names_files && output.is_none_or(|output| output.parent() != file.parent()) {
        return Ok(None);
    }
    let files = read.paths.files(file);
    let job_of = |text: &str| {
        let name = file.to_string_lossy();
        assembly::job(&assembly::assemble_with_files(text.as_bytes(), &name, &files), &files).ok()
    };
    Ok(optimizer::rewrite_source(assembly, checked, &job_of))
}

/// A program of a file, optimised.
struct Entry {
    name: String,
    checked: Checked,
}

/// Returns whether programs are written back in a format: all formats hold one, those of JSON more. Logs and GLSL are not written.
fn holds(language: Language, programs: usize) -> bool {
    match language {
        Language::Format(Format::Json | Format::JsonLines) => true,
        Language::Assembly | Language::Format(Format::Raw | Format::Hex | Format::CArray) => {
            programs == 1
        }
        _ => false,
    }
}

/// Returns the usual extension of a format.
fn extension(language: Language) -> &'static str {
    match language {
        Language::Assembly => "r5",
        Language::Format(Format::Raw) => "bin",
        Language::Format(Format::Hex) => "hex",
        Language::Format(Format::CArray) => "inc",
        Language::Format(Format::JsonLines) => "jsonl",
        _ => "json",
    }
}

/// Refuses outputs of the same name, of which only the last would stay.
fn refuse_same<'a>(outputs: impl Iterator<Item = &'a Path>) -> Outcome<()> {
    let mut seen = HashSet::new();
    for output in outputs {
        if !seen.insert(output) {
            return Err(Failure::usage(format!(
                "two files would be written to {}; optimise them one after the other",
                output.display()
            )));
        }
    }
    Ok(())
}

impl Opt {
    pub(super) fn run(&self) -> Outcome {
        if self.list_passes {
            let mut out = terminal::out();
            for pass in opt::passes() {
                writeln!(out, "{:10} {}: {}", pass.name, pass.what, pass.why)?;
            }
            for allowance in Allowance::ALL {
                writeln!(out, "--allow {}: {}", allowance.name(), allowance.what())?;
            }
            return Ok(Status::Fine);
        }
        let mut status = Status::Fine;
        let folder = match &self.files[..] {
            [file] => file.is_dir(),
            _ => true,
        };
        if folder && self.output.file().is_none() && self.output.output.is_some() {
            return Err(Failure::usage("several programs need a folder to be written to"));
        }
        let mut optimized = Vec::new();
        for root in &self.files {
            let files =
                input_args::files(std::slice::from_ref(root), input_args::may_hold_programs)?;
            for file in files {
                let entries = self.file(&file, &mut status)?;
                let output = if folder {
                    self.output_below(root, &file, entries.len())
                } else {
                    self.output.clone()
                };
                optimized.push((file, entries, output));
            }
        }
        if optimized.is_empty() {
            return Err(input_args::no_program_in(&self.files));
        }
        // Before anything is written.
        refuse_same(optimized.iter().filter_map(|(_, _, output)| output.file()))?;
        let outputs = optimized.iter().filter_map(|(_, _, output)| output.file());
        let files = optimized.iter().map(|(file, ..)| file.as_path());
        let inputs = input_args::inputs(files, self.read);
        overwrite::refuse(outputs, &inputs)?;
        for (file, entries, output) in &optimized {
            if let Some(parent) = output.file().and_then(Path::parent).filter(|_| folder) {
                create_folder(parent)?;
            }
            write(entries, file, self.read, output, &inputs)?;
        }
        let entries: Vec<Entry> =
            optimized.into_iter().flat_map(|(_, entries, _)| entries).collect();
        if entries
            .iter()
            .any(|entry| matches!(entry.checked.evidence, Evidence::Trial(Trial::Different { .. })))
        {
            status = Status::Failed;
        }
        self.report(&entries)?;
        Ok(status)
    }

    fn options(&self) -> Options {
        let level = match self.level {
            1 => Level::O1,
            2 => Level::O2,
            _ => Level::O3,
        };
        Options { level, only: self.only.clone(), allow: self.allow.clone(), ..Options::default() }
    }

    fn file(&self, file: &Path, status: &mut Status) -> Outcome<Vec<Entry>> {
        let mut jobs: Vec<Job> = Vec::new();
        input_args::each(file, self.read, status, |_, job| jobs.push(job))?;
        let several = jobs.len() > 1;
        let options = self.options();
        let shown = input_args::show(file);
        let entries = jobs.into_iter().enumerate().map(|(index, job)| {
            let name = match (several, job.name.as_str()) {
                (false, _) => shown.clone(),
                (true, "") => format!("{shown}#{index}"),
                (true, name) => format!("{shown}:{name}"),
            };
            let checked = optimizer::optimize(&job, &options);
            match &checked.evidence {
                Evidence::Trial(Trial::Different { round, difference }) => terminal::error(&format!(
                    "{name}: the result differs in round {round} at pixel {},{}; this is a bug, the program stays",
                    difference.pixel[0], difference.pixel[1]
                )),
                Evidence::Trial(Trial::NotRun(why)) => terminal::warn(&format!(
                    "{name}: no run of it ended, so the program stays ({why})"
                )),
                _ => {}
            }
            Entry { name, checked }
        });
        Ok(entries.collect())
    }

    /// Returns where the programs of a file below `root` go, and in which format: that of `--to`, else that of the file, if its extension
    /// names one that holds as many programs, else JSON.
    fn output_below(&self, root: &Path, file: &Path, programs: usize) -> OutputArgs {
        let Some(folder) = self.output.file() else {
            return OutputArgs { output: None, to: None };
        };
        let below = file.strip_prefix(root).ok().filter(|path| !path.as_os_str().is_empty());
        let below = below.or_else(|| file.file_name().map(Path::new)).unwrap_or(file);
        let own = writer::language_of(file).filter(|language| holds(*language, programs));
        let (language, path) = match (self.output.to, own) {
            (None, Some(language)) => (language, folder.join(below)),
            (to, _) => {
                let json = if programs > 1 { Format::JsonLines } else { Format::Json };
                let language = to.unwrap_or(Language::Format(json));
                (language, folder.join(below).with_extension(extension(language)))
            }
        };
        OutputArgs { output: Some(path), to: Some(language) }
    }

    fn report(&self, entries: &[Entry]) -> Outcome<()> {
        let to_stdout = self.output.output.as_deref().is_some_and(input_args::is_stdin)
            || (self.output.output.is_none() && self.output.to.is_some());
        let mut text = Vec::new();
        match self.format {
            ReportFormat::Text => self.text(&mut text, entries)?,
            ReportFormat::Json => {
                let programs: Vec<Value> = entries.iter().map(Entry::json).collect();
                let mut report = json!({ "version": 1, "programs": programs });
                if !self.allow.is_empty() {
                    let names: Vec<&str> =
                        self.allow.iter().map(|allowed| allowed.name()).collect();
                    report["allow"] = names.into();
                }
                writeln!(text, "{report:#}")?;
            }
        }
        if to_stdout {
            terminal::err().write_all(&text)?;
        } else {
            terminal::out().write_all(&text)?;
        }
        Ok(())
    }

    /// What evidence does not cover.
    fn allowed(&self) -> String {
        let names: Vec<&str> = self.allow.iter().map(|allowed| allowed.name()).collect();
        if names.is_empty() { String::new() } else { format!(" but for {}", names.join(", ")) }
    }

    fn text(&self, out: &mut impl Write, entries: &[Entry]) -> Outcome<()> {
        let mut totals = [Cost::default(); 2];
        let (mut helped, mut hurt) = (0, 0);
        for entry in entries {
            let cost = entry.cost();
            for (total, cost) in totals.iter_mut().zip(cost) {
                total.cycles = total.cycles.saturating_add(cost.cycles);
                total.slots += cost.slots;
                total.temporaries += cost.temporaries;
                total.nops += cost.nops;
            }
            let word = match (cost[1].improves(&cost[0]), cost[1].no_worse_than(&cost[0])) {
                (true, _) => "helped",
                (false, true) => "same  ",
                (false, false) => "HURT  ",
            };
            helped += usize::from(cost[1].improves(&cost[0]));
            hurt += usize::from(!cost[1].no_worse_than(&cost[0]));
            if cost[0] != cost[1] || entries.len() == 1 {
                let evidence = entry.evidence();
                writeln!(
                    out,
                    "{word} {}: {}, {evidence}{}",
                    entry.name,
                    shown(cost),
                    self.allowed()
                )?;
            }
            if self.explain {
                entry.explain(out)?;
            }
        }
        if entries.len() != 1 {
            writeln!(out, "total of {}: {}", counted(entries.len(), "program"), shown(totals))?;
            writeln!(out, "helped {helped}, HURT {hurt}")?;
        }
        Ok(())
    }
}

/// The numbers that changed, all where none did.
fn shown([before, after]: [Cost; 2]) -> String {
    let rows = [
        ("slots", before.slots, after.slots),
        ("cycles", before.cycles, after.cycles),
        ("temporaries", before.temporaries, after.temporaries),
        ("nops", before.nops, after.nops),
    ];
    let changed: Vec<String> = rows
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(name, before, after)| {
            let percent = (after as f64 / before as f64 - 1.0) * 100.0;
            format!("{name} {before} -> {after} ({percent:+.1} %)")
        })
        .collect();
    if changed.is_empty() { "nothing is better".to_owned() } else { changed.join(", ") }
}

impl Entry {
    /// Costs before and after; those of the original where the result was dropped.
    fn cost(&self) -> [Cost; 2] {
        let [before, after] = self.checked.optimized.cost;
        if self.checked.evidence.is_refusal() { [before, before] } else { [before, after] }
    }

    fn evidence(&self) -> String {
        match &self.checked.evidence {
            Evidence::Unchanged => "unchanged".to_owned(),
            Evidence::Proved => "proved".to_owned(),
            Evidence::Trial(Trial::Equal { rounds, pixels }) => {
                format!("{} equal, {}", counted(*rounds, "run"), counted(*pixels, "pixel"))
            }
            Evidence::Trial(Trial::Different { round, .. }) => {
                format!("different in round {round}")
            }
            Evidence::Trial(Trial::NotRun(_)) => "not run".to_owned(),
        }
    }

    fn explain(&self, out: &mut impl Write) -> Outcome<()> {
        for change in &self.checked.optimized.changes {
            writeln!(
                out,
                "  {}: {} -> {}: {}; {}",
                change.pass,
                addresses(&change.before),
                addresses(&change.after),
                shown(change.cost),
                change.why
            )?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let numbers = |cost: Cost| {
            json!({
                "cycles": cost.cycles,
                "slots": cost.slots,
                "temporaries": cost.temporaries,
                "nops": cost.nops,
            })
        };
        let [before, after] = self.cost();
        let changes: Vec<Value> = (self.checked.optimized.changes.iter())
            .map(|change| {
                json!({
                    "pass": change.pass,
                    "before": change.before,
                    "after": change.after,
                    "cost_before": numbers(change.cost[0]),
                    "cost_after": numbers(change.cost[1]),
                    "why": change.why,
                })
            })
            .collect();
        let (verdict, rounds) = match &self.checked.evidence {
            Evidence::Unchanged => ("unchanged", 0),
            Evidence::Proved => ("proved", 0),
            Evidence::Trial(Trial::Equal { rounds, .. }) => ("equal", *rounds),
            Evidence::Trial(Trial::Different { .. }) => ("different", 0),
            Evidence::Trial(Trial::NotRun(_)) => ("not-run", 0),
        };
        json!({
            "name": self.name,
            "before": numbers(before),
            "after": numbers(after),
            "evidence": verdict,
            "rounds": rounds,
            "changes": changes,
        })
    }
}

/// Addresses, with ranges: `1-3, 7`.
fn addresses(list: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &at in list {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => ranges.push((at, at)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
        .collect();
    if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
}
