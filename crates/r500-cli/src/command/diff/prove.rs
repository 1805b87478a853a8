//! `--prove`: whether two programs are equal for all constants, inputs and textures.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use r500::equivalence::{Incomparable, Part, Proof, Trial, prove};
use r500::program::Job;
use serde_json::{Value, json};

use crate::command::exit::{Failure, Outcome, Status};
use crate::command::format::Format;
use crate::command::input_args::{self, ReadArgs};
use crate::command::syntax::{Shard, Sharding};
use crate::command::terminal;

/// Random runs that look for a difference where there is no proof.
const ROUNDS: u64 = 64;

/// The verdict about a pair.
enum Verdict {
    Proved,
    Differ {
        round: u64,
        pixel: [u32; 2],
        parts: Vec<Part>,
    },
    Unknown {
        why: String,
        rounds: u64,
    },
    NotRun {
        why: String,
        error: Incomparable,
    },
    /// Only one side has a program of this name.
    Missing(&'static str),
}

impl Verdict {
    fn of(jobs: &[Job; 2]) -> Self {
        let why = match prove(&jobs[0].program, &jobs[1].program) {
            Proof::Proved => return Self::Proved,
            Proof::Unknown(why) => why.to_string(),
        };
        match Trial::run(&jobs[0], &jobs[1], ROUNDS) {
            Trial::Different { round, difference } => {
                Self::Differ { round, pixel: difference.pixel, parts: difference.parts }
            }
            Trial::Equal { rounds, .. } => Self::Unknown { why, rounds },
            Trial::NotRun(error) => Self::NotRun { why, error },
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Proved => Status::Fine,
            Self::Differ { .. } | Self::Missing(_) => Status::Failed,
            Self::Unknown { .. } | Self::NotRun { .. } => Status::CouldNot,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Proved => "proved: equal for all constants, inputs and textures".to_owned(),
            Self::Differ { round, pixel: [x, y], parts } => {
                let values = if *round == 0 {
                    "their own values".to_owned()
                } else {
                    format!("random values {round}")
                };
                let parts: Vec<String> = parts.iter().map(part).collect();
                format!("differ: with {values}, pixel {x},{y}: {}", parts.join("; "))
            }
            Self::Unknown { why, rounds } => {
                format!("unknown: {why}; {rounds} runs are equal")
            }
            Self::NotRun { why, error } => format!("unknown: {why}; no run ended: {error}"),
            Self::Missing(side) => format!("differ: {side} has no such program"),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Proved => json!({ "verdict": "proved" }),
            Self::Differ { round, pixel, parts } => {
                let parts: Vec<String> = parts.iter().map(part).collect();
                json!({ "verdict": "differ", "round": round, "pixel": pixel, "values": parts })
            }
            Self::Unknown { why, rounds } => {
                json!({ "verdict": "unknown", "why": why, "equal_rounds": rounds })
            }
            Self::NotRun { why, error } => {
                json!({ "verdict": "unknown", "why": why, "equal_rounds": 0, "error": error.to_string() })
            }
            Self::Missing(side) => json!({ "verdict": "differ", "missing": side }),
        }
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Color { target, written: [a, b], .. } => {
            format!("target {}: {a:?} and {b:?}", char::from(b"ABCD"[target & 3]))
        }
        Part::Depth { written: [a, b] } => format!("depth: {a} and {b}"),
        Part::Coverage { drawn: [a, b] } => format!("drawn: {a} and {b}"),
    }
}

/// Proves one program equal to another, or those of two folders or files, matched by path and name.
pub(super) fn run(
    paths: [&Path; 2],
    read: ReadArgs,
    picks: [Option<&str>; 2],
    shard: Option<Shard>,
    format: Format,
) -> Outcome {
    let mut status = Status::Fine;
    let folders = paths.iter().any(|path| path.is_dir());
    let single = || match shard {
        None => Ok(()),
        Some(_) => Err(Failure::usage(
            "--shard with --prove takes folders or files of several programs: this is one pair",
        )),
    };
    let pairs: Vec<(String, Verdict)> = if picks.iter().any(Option::is_some) {
        single()?;
        let jobs = [
            input_args::one(paths[0], read, picks[0])?,
            input_args::one(paths[1], read, picks[1])?,
        ];
        vec![(input_args::show(paths[1]), Verdict::of(&jobs))]
    } else {
        let [a, b] = [collect(paths[0], read, &mut status)?, collect(paths[1], read, &mut status)?];
        if let (false, [(_, a)], [(name, b)]) = (folders, &a[..], &b[..]) {
            single()?;
            vec![(name.clone(), Verdict::of(&[a.clone(), b.clone()]))]
        } else {
            matched(a, b, &mut Sharding::new(shard))
        }
    };
    let mut out = std::io::BufWriter::new(terminal::out());
    match format {
        Format::Text => {
            for (name, verdict) in &pairs {
                writeln!(out, "{name}: {}", verdict.text())?;
            }
            if pairs.len() != 1 {
                let count = |status| pairs.iter().filter(|pair| pair.1.status() == status).count();
                writeln!(
                    out,
                    "{} proved, {} differ, {} unknown",
                    count(Status::Fine),
                    count(Status::Failed),
                    count(Status::CouldNot)
                )?;
            }
        }
        Format::Json => {
            let programs: Vec<Value> = pairs
                .iter()
                .map(|(name, verdict)| {
                    let mut value = verdict.json();
                    value["name"] = name.clone().into();
                    value
                })
                .collect();
            writeln!(out, "{:#}", json!({ "version": 1, "programs": programs }))?;
        }
    }
    out.flush()?;
    for wanted in [Status::CouldNot, Status::Failed] {
        if pairs.iter().any(|pair| pair.1.status() == wanted) {
            status = wanted;
        }
    }
    Ok(status)
}

/// The programs of a file or folder, by the path below it and the name in the file.
fn collect(root: &Path, read: ReadArgs, status: &mut Status) -> Outcome<Vec<(String, Job)>> {
    let mut found = Vec::new();
    for file in input_args::files(&[root.to_owned()], input_args::may_hold_programs)? {
        let below = file.strip_prefix(root).unwrap_or(&file).with_extension("");
        let below = below.to_string_lossy().replace('\\', "/");
        input_args::each(&file, read, status, |index, job| {
            let inside = if job.name.is_empty() { format!("#{index}") } else { job.name.clone() };
            let name = match (below.is_empty(), below == job.name) {
                (true, _) => inside,
                (false, true) => inside,
                (false, false) => format!("{below}:{inside}"),
            };
            found.push((name, job));
        })?;
    }
    Ok(found)
}

/// Proves the pairs of a shard, those of B alone last.
fn matched(
    a: Vec<(String, Job)>,
    b: Vec<(String, Job)>,
    sharding: &mut Sharding,
) -> Vec<(String, Verdict)> {
    let mut others: BTreeMap<String, Job> = b.into_iter().collect();
    let mut pairs: Vec<(String, Verdict)> = a
        .into_iter()
        .filter_map(|(name, job)| {
            let other = others.remove(&name);
            if !sharding.takes_next() {
                return None;
            }
            let verdict = match other {
                Some(other) => Verdict::of(&[job, other]),
                None => Verdict::Missing("B"),
            };
            Some((name, verdict))
        })
        .collect();
    let alone = others.into_keys().filter(|_| sharding.takes_next());
    pairs.extend(alone.map(|name| (name, Verdict::Missing("A"))));
    pairs
}
