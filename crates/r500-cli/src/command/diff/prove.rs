//! `--prove`: proofs of equivalence for all constants, inputs and textures.

use std::io::Write;
use std::path::Path;

use r500::equivalence::{Incomparable, Known, Part, Proof, Trial, prove_with};
use r500::program::Job;
use serde_json::{Value, json};

use super::pairs::{self, Pair};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::format::Format;
use crate::command::input_args::{self, ReadArgs};
use crate::command::syntax::{Shard, Sharding};
use crate::command::terminal;

/// Number of random runs that search for a difference if there is no proof.
const ROUNDS: u64 = 64;

/// The verdict about a pair.
enum Verdict {
    Proved {
        /// Constants with any value, if others are literals.
        uniforms: Option<Vec<String>>,
    },
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
    fn of([a, b]: &[Job; 2], bound: bool) -> Self {
        let known = if bound { Known::bound(a, b) } else { Known::default() };
        let why = match prove_with(&a.program, &b.program, &known) {
            Proof::Proved => {
                return Self::Proved { uniforms: bound.then(|| known.names().to_vec()) };
            }
            Proof::Unknown(why) => why.to_string(),
        };
        match Trial::run_with(a, b, ROUNDS, &known) {
            Trial::Different { round, difference } => {
                Self::Differ { round, pixel: difference.pixel, parts: difference.parts }
            }
            Trial::Equal { rounds, .. } => Self::Unknown { why, rounds },
            Trial::NotRun(error) => Self::NotRun { why, error },
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Proved { .. } => Status::Fine,
            Self::Differ { .. } | Self::Missing(_) => Status::Failed,
            Self::Unknown { .. } | Self::NotRun { .. } => Status::CouldNot,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Proved { uniforms: None } => {
                "proved: equal for all constants, inputs and textures".to_owned()
            }
            Self::Proved { uniforms: Some(names) } if names.is_empty() => {
                "proved: equal with these constants for all inputs and texels".to_owned()
            }
            Self::Proved { uniforms: Some(names) } => format!(
                "proved: equal for all inputs, texels and values of {}, with the other constants as they are",
                names.join(", ")
            ),
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
            Self::Proved { uniforms: None } => json!({ "verdict": "proved" }),
            Self::Proved { uniforms } => json!({ "verdict": "proved", "uniforms": uniforms }),
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

/// Proves two programs equal, or those of two folders or files, matched by path and name.
pub(super) fn run(
    paths: [&Path; 2],
    read: ReadArgs,
    picks: [Option<&str>; 2],
    bound: bool,
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
        vec![(input_args::show(paths[1]), Verdict::of(&jobs, bound))]
    } else {
        let [a, b] = [
            pairs::collect(paths[0], read, &mut status)?,
            pairs::collect(paths[1], read, &mut status)?,
        ];
        if let (false, [a], [b]) = (folders, &a[..], &b[..]) {
            single()?;
            vec![(b.name(), Verdict::of(&[a.job.clone(), b.job.clone()], bound))]
        } else {
            proved(pairs::pairs(a, b), bound, &mut Sharding::new(shard))
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

/// Proves the pairs of a shard.
fn proved(pairs: Vec<Pair>, bound: bool, sharding: &mut Sharding) -> Vec<(String, Verdict)> {
    let mine = pairs.into_iter().filter(|_| sharding.takes_next());
    let verdict = |Pair { name, jobs }| match jobs {
        [Some(a), Some(b)] => (name, Verdict::of(&[a, b], bound)),
        [_, None] => (name, Verdict::Missing("B")),
        [None, _] => (name, Verdict::Missing("A")),
    };
    mine.map(verdict).collect()
}
