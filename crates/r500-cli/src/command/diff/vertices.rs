//! Comparison of two vertex programs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use r500::equivalence::{VertexDifference, VertexSearch, VertexVerdict};
use r500::formats::LogEntry;
use r500::pvs::{Equality, GivenConstants, Program, SrcType, prove_equal};
use r500_stream::counted;
use serde_json::{Value as Json, json};
use similar::{ChangeTag, TextDiff};

use super::known::KnownDifferences;
use super::reduce_vertices::{VertexReport, registers_read, value};
use super::{Diff, write_answer};
use crate::command::compilation;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::float_format;
use crate::command::input_args;
use crate::command::report::ReportFormat;
use crate::command::terminal;
use crate::command::text_diff::PATIENCE;
use crate::command::vertex::VertexFile;

/// Two vertex programs and what is known of them.
struct Comparison<'a> {
    files: &'a [VertexFile; 2],
    /// Both as text.
    lines: [Vec<String>; 2],
    same: bool,
    /// Whether the programs are equal for all vertices, if that was tried.
    proof: Option<Equality>,
    run: Option<VertexVerdict>,
    /// The smallest pair that still differs, if it was wanted and they differ.
    reduced: Option<VertexReport>,
}

impl Diff {
    /// Returns the vertex programs of both files; `None` if neither has one.
    pub(super) fn vertex_programs(&self, paths: [&Path; 2]) -> Outcome<Option<[VertexFile; 2]>> {
        let [a, b] = paths;
        let pick_b = self.pick_b.as_deref().or(self.pick.as_deref());
        let a = VertexFile::picked(a, self.pick.as_deref(), self.read)?;
        match (a, VertexFile::picked(b, pick_b, self.read)?) {
            (Some(a), Some(b)) => Ok(Some([a, b])),
            (None, None) => Ok(None),
            (a, _) => {
                let other = if a.is_some() { paths[1] } else { paths[0] };
                Err(Failure::input(anyhow::anyhow!(
                    "{}: this is not a vertex program, and the other one is",
                    input_args::show(other)
                )))
            }
        }
    }

    /// Compares two vertex programs.
    pub(super) fn vertices(&self, files: &[VertexFile; 2]) -> Outcome {
        self.refuse_for_vertices()?;
        for file in files {
            file.sound()?;
        }
        let programs = self.programs(files.each_ref());
        let lines = files.each_ref().map(lines);
        let mut comparison = Comparison {
            same: lines[0] == lines[1],
            lines,
            files,
            proof: None,
            run: None,
            reduced: None,
        };
        if self.prove || self.runs() {
            comparison.proof = Some(prove_equal(programs));
        }
        let proved = comparison.proof == Some(Equality::Proved);
        if self.runs() || self.prove && !proved {
            comparison.run = Some(self.search()?.compare(programs));
        }
        if self.reduce
            && let Some(found) = comparison.difference()
        {
            let inputs = files.each_ref().map(|file| file.path().to_owned());
            let (search, folder) = (self.search()?, self.output.as_deref());
            comparison.reduced = Some(VertexReport::new(programs, found, search, folder, &inputs)?);
        }
        let mut out = std::io::BufWriter::new(terminal::out());
        match self.format {
            ReportFormat::Json | ReportFormat::Junit | ReportFormat::Sarif => {
                writeln!(out, "{:#}", comparison.json())?;
            }
            ReportFormat::Text => comparison.text(self, &mut out)?,
        }
        out.flush()?;
        comparison.status(self)
    }

    /// Returns two programs, each with the constants that count as its own.
    fn programs<'f>(&self, files: [&'f VertexFile; 2]) -> [(&'f Program, &'f GivenConstants); 2] {
        static NONE: GivenConstants = GivenConstants::new();
        files.map(|file| (file.program(), if self.unbound { &NONE } else { file.constants() }))
    }

    fn search(&self) -> Outcome<VertexSearch> {
        let limits = self.machine.options()?.limits;
        Ok(VertexSearch {
            batches: self.run.batches(),
            seed: self.run.seed(),
            tolerance: self.run.tolerance(),
            instructions: limits.instructions,
            deadline: limits.time.and_then(|time| Instant::now().checked_add(time)),
        })
    }

    /// Refuses options without a meaning for vertex programs.
    fn refuse_for_vertices(&self) -> Outcome<()> {
        self.refuse_for_one_pair()?;
        let given = [
            ("--fail-on-findings", self.fail_on_findings),
            ("--share, --carried, --size and --shard", self.run.is_of_pixels()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::usage(format!("{name}: not for vertex programs"))),
            None => Ok(()),
        }
    }
}

/// Returns a program as text: the constants that it gives, its registers and instructions, without numbers.
fn lines(file: &VertexFile) -> Vec<String> {
    let constants = file.constants().iter().map(|(n, bits)| {
        let vector = bits.map(|bits| value(f32::from_bits(bits)));
        format!("const[{n}] = ({})", vector.join(", "))
    });
    let text = file.program().to_string();
    let code = text.lines().filter(|line| !line.starts_with("--")).map(|line| {
        let line = line.split(" ; -- ").next().unwrap_or(line);
        line.trim_end_matches(" ;").trim_end().to_owned()
    });
    constants.chain(code).collect()
}

impl Comparison<'_> {
    fn text(&self, diff: &Diff, out: &mut impl Write) -> Outcome<()> {
        let [a, b] = self.files.each_ref().map(VertexFile::name);
        let differ = self.difference();
        if self.run.is_none() && self.proof.is_none() && !self.same {
            let [before, after] = self.lines.each_ref().map(|lines| lines.join("\n") + "\n");
            let changes = TextDiff::configure().timeout(PATIENCE).diff_lines(&*before, &*after);
            let mut unified = changes.unified_diff();
            write!(out, "{}", unified.context_radius(diff.context).header(a, b))?;
        }
        let [equal, only_a, only_b] = self.counts();
        if self.same {
            writeln!(out, "the same: {}", counted(equal, "line"))?;
        } else {
            writeln!(
                out,
                "{} equal, {only_a} only in A, {only_b} only in B",
                counted(equal, "line")
            )?;
        }
        match &self.proof {
            None => {}
            Some(Equality::Proved) => writeln!(
                out,
                "proved: both write the same bits to every output, the payload of NaN aside, for all vertices and all constants that they do not give"
            )?,
            Some(Equality::Unproved { outputs }) if differ.is_none() => {
                writeln!(out, "not proved: the expressions of {} differ", names(outputs))?;
            }
            Some(Equality::Unknown { program, why }) if differ.is_none() => {
                writeln!(out, "not proved: {}: {why}", ["A", "B"][*program])?;
            }
            Some(_) => {}
        }
        let Some(run) = &self.run else { return Ok(()) };
        let Some(found) = differ else {
            writeln!(
                out,
                "equal: {}, edge values and random ones",
                counted(run.vertices, "vertex")
            )?;
            if run.endless > 0 {
                let batches = counted(run.endless, "batch");
                writeln!(out, "not compared: {batches}, in which a program does not end")?;
            }
            if run.out_of_time {
                writeln!(out, "the time ran out before the last vertex; see --limit-time")?;
            }
            return Ok(());
        };
        let VertexDifference { output, component, values, .. } = found;
        let letter = ["x", "y", "z", "w"][usize::from(*component)];
        writeln!(
            out,
            "different: out[{output}].{letter} of vertex {} is {} in A and {} in B",
            run.vertices - 1,
            value(values[0]),
            value(values[1])
        )?;
        for (name, number, vector) in self.read(found) {
            writeln!(out, "  {name}[{number}] = {}", float_format::vector(&vector))?;
        }
        if let Some(reduced) = &self.reduced {
            reduced.text(out)?;
        }
        Ok(())
    }

    fn json(&self) -> Json {
        let [equal, only_a, only_b] = self.counts();
        let proof = self.proof.as_ref().map(|proof| match proof {
            Equality::Proved => json!({"verdict": "proved"}),
            Equality::Unproved { outputs } => json!({"verdict": "unproved", "outputs": outputs}),
            Equality::Unknown { program, why } => {
                let side = ["a", "b"][*program];
                json!({"verdict": "unknown", "program": side, "why": why})
            }
        });
        let run = self.run.as_ref().map(|run| {
            let first = run.difference.as_ref().map(|found| {
                let read = self.read(found).into_iter().map(|(name, number, vector)| {
                    json!({"register": format!("{name}[{number}]"), "value": float_format::json_all(&vector)})
                });
                json!({
                    "output": found.output,
                    "component": found.component,
                    "a": float_format::json(found.values[0]),
                    "b": float_format::json(found.values[1]),
                    "values": read.collect::<Vec<_>>(),
                })
            });
            json!({
                "verdict": if run.difference.is_some() { "different" } else { "equal" },
                "vertices": run.vertices,
                "endless_batches": run.endless,
                "out_of_time": run.out_of_time,
                "first": first,
            })
        });
        let mut answer = json!({
            "version": 1,
            "kind": "vertex",
            "files": self.files.each_ref().map(VertexFile::name),
            "same": self.same,
            "equal": equal,
            "only_a": only_a,
            "only_b": only_b,
            "proof": proof,
            "run": run,
        });
        if let Some(reduced) = &self.reduced {
            answer["reduced"] = reduced.json();
        }
        answer
    }

    fn difference(&self) -> Option<&VertexDifference> {
        self.run.as_ref()?.difference.as_ref()
    }

    fn status(&self, diff: &Diff) -> Outcome {
        let proved = self.proof == Some(Equality::Proved);
        if self.difference().is_some() {
            return Ok(Status::Failed);
        }
        if diff.prove {
            return Ok(if proved { Status::Fine } else { Status::CouldNot });
        }
        match &self.run {
            // A run that compared nothing gives no verdict.
            Some(run) if run.vertices == 0 && !proved => Ok(Status::CouldNot),
            Some(_) => Ok(Status::Fine),
            None => Ok(if self.same { Status::Fine } else { Status::Failed }),
        }
    }

    /// Returns how many lines are equal, only in A, only in B.
    fn counts(&self) -> [usize; 3] {
        let [a, b] = &self.lines;
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
        let changes = TextDiff::configure().timeout(PATIENCE).diff_slices(&a, &b);
        let mut counts = [0; 3];
        for change in changes.iter_all_changes() {
            counts[match change.tag() {
                ChangeTag::Equal => 0,
                ChangeTag::Delete => 1,
                ChangeTag::Insert => 2,
            }] += 1;
        }
        counts
    }

    /// Returns the inputs and constants that instructions name, with their values at the difference.
    fn read(&self, found: &VertexDifference) -> Vec<(&'static str, u8, [f32; 4])> {
        let mut read = Vec::new();
        for file in self.files {
            for (kind, number) in registers_read(file.program()) {
                let n = usize::from(number);
                let (name, value) = match kind {
                    SrcType::INPUT => ("input", found.inputs.get(n)),
                    SrcType::CONSTANT => ("const", found.constants.get(n)),
                    _ => continue,
                };
                // What a program gives itself is in its text.
                let own = name == "const"
                    && self.files.iter().all(|file| file.constants().contains_key(&number));
                if let (Some(value), false) = (value, own) {
                    read.push((name, number, *value));
                }
            }
        }
        read.sort_by_key(|(name, number, _)| (*name != "input", *number));
        read.dedup_by_key(|(name, number, _)| (*name, *number));
        read
    }
}

fn names(outputs: &[u8]) -> String {
    outputs.iter().map(|n| format!("out[{n}]")).collect::<Vec<_>>().join(", ")
}

/// The vertex programs of two files or folders, compared pair by pair.
#[derive(Default)]
pub(super) struct VertexRows {
    rows: Vec<VertexRow>,
    /// Whether neither side has fragment programs.
    pub(super) alone: bool,
}

struct VertexRow {
    name: String,
    status: Status,
    line: String,
    json: Json,
}

/// The vertex programs of a file or folder, by file; each with its name in the file.
type Found = BTreeMap<String, Vec<(String, VertexFile)>>;

impl Diff {
    /// Compares the vertex programs of logs, and those in folders: of each file those with the same instructions first, then in their order.
    pub(super) fn vertex_rows(&self, paths: [&Path; 2]) -> Outcome<VertexRows> {
        if self.pick.is_some()
            || self.pick_b.is_some()
            || paths.iter().any(|p| input_args::is_stdin(p))
        {
            return Ok(VertexRows::default());
        }
        let mut fragments = false;
        let [mut a, mut b] =
            [self.found(paths[0], &mut fragments)?, self.found(paths[1], &mut fragments)?];
        if a.is_empty() && b.is_empty() {
            return Ok(VertexRows::default());
        }
        let files: BTreeSet<String> = a.keys().chain(b.keys()).cloned().collect();
        let mut rows = Vec::new();
        for file in files {
            let [mut a, b] = [&mut a, &mut b].map(|found| found.remove(&file).unwrap_or_default());
            let mut pairs = Vec::new();
            let mut rest = Vec::new();
            for (name, program) in b {
                let same = |(_, other): &(String, VertexFile)| other.program() == program.program();
                match a.iter().position(same) {
                    Some(at) => pairs.push((name, Some(a.remove(at).1), Some(program))),
                    None => rest.push((name, program)),
                }
            }
            let mut a = a.into_iter();
            for (name, program) in rest {
                pairs.push((name, a.next().map(|(_, program)| program), Some(program)));
            }
            pairs.extend(a.map(|(name, program)| (name, Some(program), None)));
            pairs.sort_by_key(|(name, ..)| (name.len(), name.clone()));
            for (name, a, b) in pairs {
                let name = if file.is_empty() { name } else { format!("{file}:{name}") };
                rows.push(self.vertex_row(name, a, b)?);
            }
        }
        Ok(VertexRows { rows, alone: !fragments })
    }

    fn found(&self, root: &Path, fragments: &mut bool) -> Outcome<Found> {
        let mut found = Found::new();
        for file in input_args::files(&[root.to_owned()], input_args::may_hold_programs)? {
            let below = file.strip_prefix(root).unwrap_or(&file).with_extension("");
            let below = below.to_string_lossy().replace('\\', "/");
            // The reader of fragment programs reports what cannot be read.
            let Some(entries) = compilation::entries(&file, self.read.from).ok().flatten() else {
                // A file that is named itself was read before and is not one.
                let program = root.is_dir().then(|| VertexFile::read(&file, self.read));
                match program.transpose()?.flatten() {
                    Some(program) => {
                        let list = found.entry(below).or_default();
                        list.push(("vertex program".to_owned(), program));
                    }
                    None => *fragments = true,
                }
                continue;
            };
            for entry in entries {
                let Ok(entry) = entry else {
                    *fragments = true;
                    break;
                };
                match entry {
                    // One that did not compile has no instructions to compare.
                    LogEntry::Vertex(program) if program.code.is_empty() => {}
                    LogEntry::Vertex(program) => {
                        let name = program.name.clone();
                        let program = VertexFile::of_log(&file, &program)?;
                        found.entry(below.clone()).or_default().push((name, program));
                    }
                    LogEntry::Fragment(_) => *fragments = true,
                }
            }
        }
        Ok(found)
    }

    fn vertex_row(
        &self,
        name: String,
        a: Option<VertexFile>,
        b: Option<VertexFile>,
    ) -> Outcome<VertexRow> {
        let (Some(a), Some(b)) = (&a, &b) else {
            let side = if a.is_some() { "B" } else { "A" };
            let line = format!("different: {side} has no such vertex program");
            let json = json!({ "name": name, "verdict": "different", "missing": side });
            return Ok(VertexRow { name, status: Status::Failed, line, json });
        };
        let programs = self.programs([a, b]);
        if prove_equal(programs) == Equality::Proved {
            let json = json!({ "name": name, "verdict": "proved" });
            return Ok(VertexRow { name, status: Status::Fine, line: "proved".to_owned(), json });
        }
        let run = self.search()?.compare(programs);
        let compared = counted(run.vertices, "vertex");
        let (status, line, verdict) = match &run.difference {
            Some(VertexDifference { output, component, values, .. }) => {
                let letter = ["x", "y", "z", "w"][usize::from(*component)];
                let [a, b] = values.map(value);
                let line = format!(
                    "different: out[{output}].{letter} of a vertex is {a} in A and {b} in B"
                );
                (Status::Failed, line, "different")
            }
            None if self.prove || run.vertices == 0 => {
                (Status::CouldNot, format!("unknown: {compared} are equal"), "unknown")
            }
            None => (Status::Fine, format!("equal: {compared}; not proved"), "equal"),
        };
        let json = json!({ "name": name, "verdict": verdict, "vertices": run.vertices });
        Ok(VertexRow { name, status, line, json })
    }
}

impl VertexRows {
    /// Prints the answer where neither side has fragment programs.
    pub(super) fn report(&self, format: ReportFormat) -> Outcome {
        let mut out = terminal::out();
        match format {
            ReportFormat::Text => self.text(&mut out)?,
            format => {
                let answer = json!({ "version": 1, "vertex_programs": self.json() });
                write_answer(&mut out, format, &answer)?;
            }
        }
        Ok(self.status(Status::Fine))
    }

    /// Accepts the verdicts that were the same in an earlier comparison.
    pub(super) fn mark(&mut self, known: &KnownDifferences) {
        for row in &mut self.rows {
            if row.status != Status::Fine && known.mark(&mut row.json) {
                row.status = Status::Fine;
                row.line += " (known)";
            }
            row.json["line"] = row.line.clone().into();
        }
    }

    /// Prints a line for each program.
    pub(super) fn text(&self, out: &mut impl Write) -> Outcome<()> {
        for VertexRow { name, line, .. } in &self.rows {
            writeln!(out, "{name}: {line}")?;
        }
        if !self.rows.is_empty() {
            let count = |status| self.rows.iter().filter(|row| row.status == status).count();
            writeln!(
                out,
                "vertex programs: {} equal, {} different, {} undecided",
                count(Status::Fine),
                count(Status::Failed),
                count(Status::CouldNot)
            )?;
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Vec<Json> {
        self.rows.iter().map(|row| row.json.clone()).collect()
    }

    /// Returns the worse of a status and those of the programs.
    pub(super) fn status(&self, other: Status) -> Status {
        let all = || self.rows.iter().map(|row| row.status).chain([other]);
        let is = |status| all().any(|found| found == status);
        if is(Status::Failed) {
            Status::Failed
        } else if is(Status::CouldNot) {
            Status::CouldNot
        } else {
            other
        }
    }
}
