//! Statistics of the programs of files and folders.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use r500::check::Stats;
use r500::check::graph::{Graph, Structure, Unstructured};
use r500::program::Job;
use serde_json::{Map, Value, json};

use crate::command::compilation;
use crate::command::exit::{Outcome, Status};
use crate::command::input_args::{self, ReadArgs};
use crate::command::program_match::Identity;

/// A program with its statistics.
pub(super) struct Program {
    /// What it is, for matching: its path is the one below the given folder.
    pub(super) identity: Identity,
    /// What the log of its driver says of it.
    compilation: Value,
    /// Whether the driver could not compile it.
    pub(super) failed: bool,
    /// The name in the output.
    pub(super) name: String,
    /// Its file, and its index there.
    pub(super) file: String,
    pub(super) index: usize,
    /// The numbers, or why they are not available.
    pub(super) counted: Result<Counted, String>,
}

pub(super) struct Counted {
    pub(super) stats: Stats,
    /// Why the control flow is unstructured, and the address of the first violation.
    pub(super) unstructured: Option<(u32, Unstructured)>,
    /// Integer constants of its loops that are not provided.
    pub(super) unknown_trip_counts: Vec<u8>,
}

impl Counted {
    fn of(job: &Job) -> Result<Self, String> {
        // The driver's dummy is not the shader.
        if let Some(why) = compilation::not_compiled(job) {
            return Err(why);
        }
        let graph = Graph::new(&job.program).map_err(|error| error.to_string())?;
        let structure = Structure::recover(&graph);
        let stats = Stats::of_graph(&job.program, &graph, structure.as_ref().ok());
        let unknown_trip_counts = Stats::unknown_trip_counts(&graph);
        let unstructured = structure.err().map(|why| (graph.window().address(why.index), why));
        Ok(Self { stats, unstructured, unknown_trip_counts })
    }

    /// Returns a number by index; `None` if control flow leaves it undetermined.
    pub(super) fn number(&self, n: usize) -> Option<u64> {
        let needs_structure = matches!(Stats::NAMES[n], "longest_path" | "cycles");
        let known = !needs_structure || self.unstructured.is_none();
        known.then(|| self.stats.values()[n])
    }
}

impl Program {
    /// Returns a number by index; `None` if it is not available.
    pub(super) fn number(&self, n: usize) -> Option<u64> {
        self.counted.as_ref().ok()?.number(n)
    }

    pub(super) fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("name".into(), self.name.clone().into());
        object.insert("file".into(), self.file.clone().into());
        object.insert("index".into(), self.index.into());
        object.insert("compilation".into(), self.compilation.clone());
        match &self.counted {
            Ok(counted) => {
                for (n, name) in Stats::NAMES.iter().enumerate() {
                    object.insert((*name).into(), json!(counted.number(n)));
                }
                object.insert("co_issue_rate".into(), counted.stats.co_issue_rate().into());
                let why = counted.unstructured.as_ref();
                let why =
                    why.map(|(at, why)| json!({ "address": at, "reason": why.reason.text() }));
                object.insert("structured".into(), why.is_none().into());
                object.insert("unstructured".into(), why.unwrap_or_default());
                object.insert("unknown_passes".into(), json!(counted.unknown_trip_counts));
                object.insert("error".into(), Value::Null);
            }
            Err(error) => {
                object.insert("error".into(), error.clone().into());
            }
        }
        Value::Object(object)
    }
}

/// Collects the statistics of the programs of a file or folder. `single`: the file matches any file, whatever its name,
/// because it is compared with one file.
pub(super) fn collect(
    root: &Path,
    files: Vec<PathBuf>,
    read: ReadArgs,
    single: bool,
    programs: &mut Vec<Program>,
    status: &mut Status,
) -> Outcome<()> {
    for file in files {
        let below = file.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
        let alone = below.is_none();
        let name = match below {
            Some(below) => below.to_string_lossy().replace('\\', "/"),
            None => input_args::show(&file),
        };
        let key = match (alone, single) {
            (true, true) => String::new(),
            (true, false) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            (false, _) => name.clone(),
        };
        let first = programs.len();
        let file_name = input_args::show(&file);
        let mut names = HashSet::new();
        let below = key;
        input_args::each(&file, read, status, |index, job| {
            // The name in the file; printed only if there are several programs.
            let mut part = format!(":{}", job.name);
            if job.name.is_empty() || !names.insert(job.name.clone()) {
                part = format!("{}#{index}", if job.name.is_empty() { "" } else { &part });
            }
            let inside = if job.name.is_empty() { format!("#{index}") } else { job.name.clone() };
            programs.push(Program {
                identity: Identity::new(below.clone(), inside, &job),
                compilation: compilation::json(&job),
                failed: compilation::not_compiled(&job).is_some(),
                name: format!("{name}{part}"),
                file: file_name.clone(),
                index,
                counted: Counted::of(&job),
            });
        })?;
        if let [only] = &mut programs[first..] {
            only.identity.alone = true;
            only.name.clone_from(&name);
        }
    }
    Ok(())
}
