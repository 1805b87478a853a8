//! `r500 opt`: the optimiser.

mod entry;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::equivalence::Trial;
use r500::formats::{Format, LogEntry};
use r500::opt::{self, Allowance, Level, Options};
use r500::optimizer::{self, Checked, Evidence, VertexEvidence};
use r500::program::Job;
use r500::reader::{Language, assembly};
use r500::writer;
use r500_stream::counted;
use serde_json::{Value, json};

use self::entry::{Entry, Result as Optimized, Row, shown};
use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, ReadArgs};
use super::output_args::OutputArgs;
use super::output_file::{create_folder, put};
use super::vertex::VertexFile;
use super::{compilation, overwrite, terminal};

/// Shorten programs without a change to any bit of their results.
///
/// Removes dead lanes, copies and repeated operations, turns IF/BREAK/ENDIF into conditional breaks, and
/// schedules instructions anew so that both halves are used. The result is never worse in cycles, slots,
/// temporaries or NOPs; where nothing is better, the program stays as it is. Every result is run against its
/// original with 64 sets of random constants, inputs and textures; one that differs is never written. Integer and
/// boolean constants that a program does not carry have values with which the checker finds no error.
///
/// Vertex programs: dead components, copies and repeated operations go, products and sums become multiply-adds and dot products,
/// operations on components of one register become one, and one of the math engine is executed with one of the vector engine. The
/// result is never worse in instructions, clocks or temporaries (alternate temporaries may be more). Every result is run against its
/// original for 4,096 vertices, and proved where a proof is found. Instructions with predicates, relative writes and the like stay
/// as they are, which the report says with the reason; scenes are not taken.
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
    /// How much is searched: 1 (branches, copies, dead code), 2 (scheduling too; of vertex programs everything), 3 (longer)
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    level: u8,
    /// Take this program of a file with several: its number, or its name (`fp0`, `vp0` of a driver's log)
    #[arg(long, value_name = "NAME", conflicts_with = "list_passes")]
    pick: Option<String>,
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
(assembly keeps its comments), or that of --to; logs, GLSL and several programs in one file become JSON, vertex programs assembly
(.vs.r5). `proved` means equal for all constants, inputs and textures. A log's vertex programs are in the report; --pick writes one.

Exit status: 0 fine; 1 a file has errors, or a result differed from its original (a bug: it is not written);
2 wrong usage; 3 a file cannot be read or written.

Examples:
  r500 opt capture.json -o shorter.json
  r500 opt capture.json --explain                    what would change, and why
  r500 opt tests/corpus/mesa -o shorter
  r500 opt shaders -o shorter --to hex
  r500 opt driver.log -o shorter.jsonl --format json
  r500 opt transform.vs.asm -o shorter.vs.asm        a vertex program: comments and names stay
  r500 opt driver.log --pick vp0 -o vp0.hex
  r500 opt shader.r5 -o - --to assembly --only branches";

fn pass(text: &str) -> Result<String, String> {
    let mut names: Vec<&str> = opt::passes().iter().map(|pass| pass.name).collect();
    for pass in opt::vertex::passes() {
        if !names.contains(&pass.name) {
            names.push(pass.name);
        }
    }
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
    if output.output.is_none() && output.to.is_none() || entries.is_empty() {
        return Ok(());
    }
    if entries.iter().any(Entry::is_vertex) {
        return write_vertex(entries, output, inputs);
    }
    let fragment = |entry: &Entry| match &entry.result {
        Optimized::Fragment(checked) => Some(checked.job.clone()),
        Optimized::Vertex(..) => None,
    };
    let jobs: Vec<Job> = entries.iter().filter_map(fragment).collect();
    let language = output.language(Language::Assembly)?;
    if let (Language::Assembly, [Entry { result: Optimized::Fragment(checked), .. }]) =
        (language, entries)
        && let Some(text) = rewritten(checked, file, read, output.file())?
    {
        return write_text(&text, output, inputs);
    }
    output.write(&jobs, language, &output.print_options(), inputs)
}

fn write_text(text: &str, output: &OutputArgs, inputs: &[PathBuf]) -> Outcome<()> {
    match output.file() {
        Some(path) => {
            overwrite::refuse([path], inputs)?;
            put(path, text.as_bytes())
        }
        None => Ok(terminal::out().write_all(text.as_bytes())?),
    }
}

/// Writes the vertex program of a file.
fn write_vertex(entries: &[Entry], output: &OutputArgs, inputs: &[PathBuf]) -> Outcome<()> {
    let [Entry { result: Optimized::Vertex(file, checked), .. }] = entries else {
        let file = entries.first().map(|entry| entry.name.as_str()).unwrap_or_default();
        return Err(Failure::usage(format!(
            "{file}: one vertex program is written at a time; choose it with --pick"
        )));
    };
    if output.language(Language::Assembly)? != Language::Assembly {
        overwrite::refuse(output.file(), inputs)?;
        return file.with_source(checked.source.clone()).convert(output).map(drop);
    }
    let text =
        file.text().and_then(|text| optimizer::rewrite_vertex_source(text, file.source(), checked));
    let text = text.unwrap_or_else(|| {
        if file.text().is_some() {
            terminal::warn(&format!(
                "{}: printed anew, without comments: registers or flow control name instructions, or a macro or an included file has some",
                file.name()
            ));
        }
        checked.source.to_string()
    });
    write_text(&text, output, inputs)
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
            writeln!(out, "of vertex programs:")?;
            for pass in opt::vertex::passes() {
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
                    self.output_below(root, &file, &entries)
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
        if entries.iter().any(Entry::is_wrong) {
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

    /// Returns the names of the passes of vertex programs that run; all if there are none.
    fn vertex_passes(&self) -> Vec<String> {
        let simple = ["dead", "common", "copies", "tables"];
        match self.level {
            1 if self.only.is_empty() => simple.map(str::to_owned).to_vec(),
            1 => self.only.iter().filter(|name| simple.contains(&name.as_str())).cloned().collect(),
            _ => self.only.clone(),
        }
    }

    /// Returns the vertex programs of a file, and whether the file has no other programs.
    fn vertex_files(&self, file: &Path) -> Outcome<(Vec<VertexFile>, bool)> {
        if let Some(vertex) = VertexFile::picked(file, self.pick.as_deref(), self.read)? {
            vertex.sound()?;
            return Ok((vec![vertex], true));
        }
        // With an output, the fragment programs of a log are written.
        let writes = self.output.output.is_some() || self.output.to.is_some();
        let mut found = (Vec::new(), false);
        if self.pick.is_some() || input_args::is_stdin(file) {
            return Ok(found);
        }
        let entries = compilation::entries(file, self.read.from);
        let entries = entries.map_err(|error| input_args::unreadable(file, error))?;
        let mut has_fragments = false;
        for entry in entries.into_iter().flatten() {
            match entry.map_err(|error| input_args::unreadable(file, error.into()))? {
                LogEntry::Fragment(_) => has_fragments = true,
                LogEntry::Vertex(program) if program.outcome.is_compiled() => {
                    found.0.push(VertexFile::of_log(file, &program)?);
                }
                LogEntry::Vertex(program) => {
                    let name = input_args::show(file);
                    terminal::warn(&format!("{name}: {}: {}", program.name, program.outcome));
                }
            }
        }
        found.1 = !found.0.is_empty() && !has_fragments;
        if writes && has_fragments && !found.0.is_empty() {
            terminal::warn(&format!(
                "{}: its vertex programs are left out; write one with --pick",
                input_args::show(file)
            ));
            found.0.clear();
        }
        Ok(found)
    }

    fn vertex_entry(&self, vertex: VertexFile) -> Entry {
        let checked = optimizer::optimize_vertex(vertex.source(), &self.vertex_passes());
        let name = vertex.name().to_owned();
        match &checked.evidence {
            VertexEvidence::Different(difference) => terminal::error(&format!(
                "{name}: the result differs in out[{}]; this is a bug, the program stays",
                difference.output
            )),
            VertexEvidence::NotRun => terminal::warn(&format!(
                "{name}: it ends for no vertex that was tried, so the program stays"
            )),
            VertexEvidence::Unchanged | VertexEvidence::Proved | VertexEvidence::Equal { .. } => {}
        }
        Entry { name, result: Optimized::Vertex(Box::new(vertex), Box::new(checked)) }
    }

    fn file(&self, file: &Path, status: &mut Status) -> Outcome<Vec<Entry>> {
        let (vertex, is_all) = self.vertex_files(file)?;
        let mut entries = if is_all { Vec::new() } else { self.fragments(file, status)? };
        entries.extend(vertex.into_iter().map(|vertex| self.vertex_entry(vertex)));
        Ok(entries)
    }

    fn fragments(&self, file: &Path, status: &mut Status) -> Outcome<Vec<Entry>> {
        let mut jobs: Vec<Job> = Vec::new();
        match &self.pick {
            Some(pick) => jobs.push(input_args::one(file, self.read, Some(pick))?),
            None => input_args::each(file, self.read, status, |_, job| jobs.push(job))?,
        }
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
            Entry { name, result: Optimized::Fragment(Box::new(checked)) }
        });
        Ok(entries.collect())
    }

    /// Returns where the programs of a file below `root` go, and in which format: that of `--to`, else that of the file, if its extension
    /// names one that holds as many programs, else JSON. Vertex programs are text.
    fn output_below(&self, root: &Path, file: &Path, entries: &[Entry]) -> OutputArgs {
        let Some(folder) = self.output.file() else {
            return OutputArgs { output: None, to: None };
        };
        let below = file.strip_prefix(root).ok().filter(|path| !path.as_os_str().is_empty());
        let below = below.or_else(|| file.file_name().map(Path::new)).unwrap_or(file);
        let own = writer::language_of(file);
        if entries.iter().any(Entry::is_vertex) {
            let path = folder.join(below);
            let name = below.file_name().unwrap_or_default().to_string_lossy();
            let stem = name.split('.').next().unwrap_or_default();
            let path = match own {
                Some(Language::Assembly) => path,
                _ => path.with_file_name(format!("{stem}.vs.r5")),
            };
            return OutputArgs { output: Some(path), to: Some(Language::Assembly) };
        }
        let own = own.filter(|language| holds(*language, entries.len()));
        let (language, path) = match (self.output.to, own) {
            (None, Some(language)) => (language, folder.join(below)),
            (to, _) => {
                let json = if entries.len() > 1 { Format::JsonLines } else { Format::Json };
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
        let (mut helped, mut hurt) = (0, 0);
        for entry in entries {
            let (is_better, is_no_worse) = entry.verdict();
            let word = match (is_better, is_no_worse) {
                (true, _) => "helped",
                (false, true) => "same  ",
                (false, false) => "HURT  ",
            };
            helped += usize::from(is_better);
            hurt += usize::from(!is_no_worse);
            let [before, after] = entry.rows();
            let allowed = if entry.is_vertex() { String::new() } else { self.allowed() };
            if before != after || entries.len() == 1 {
                let (name, evidence) = (&entry.name, entry.evidence());
                writeln!(out, "{word} {name}: {}, {evidence}{allowed}", shown(&before, &after))?;
            }
            if self.explain {
                entry.explain(out)?;
            }
            if self.explain || entries.len() == 1 {
                entry.explain_kept(out)?;
            }
        }
        if entries.len() != 1 {
            for (is_vertex, what) in [(false, "program"), (true, "vertex program")] {
                let of_kind = entries.iter().filter(|entry| entry.is_vertex() == is_vertex);
                let count = of_kind.clone().count();
                if count == 0 && (is_vertex || !entries.is_empty()) {
                    continue;
                }
                let mut totals: [Vec<Row>; 2] = Default::default();
                for entry in of_kind {
                    for (total, rows) in totals.iter_mut().zip(entry.rows()) {
                        if total.is_empty() {
                            *total = rows;
                            continue;
                        }
                        for (total, (_, number)) in total.iter_mut().zip(rows) {
                            total.1 = total.1.saturating_add(number);
                        }
                    }
                }
                let [before, after] = &totals;
                writeln!(out, "total of {}: {}", counted(count, what), shown(before, after))?;
            }
            writeln!(out, "helped {helped}, HURT {hurt}")?;
        }
        Ok(())
    }
}
