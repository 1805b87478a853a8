//! `--prove`: proofs of equivalence for all constants, inputs and textures.

use std::io::Write;
use std::path::Path;

use r500::equivalence::{Claim, Known, Literals, Proof, prove_with};
use r500::program::Job;
use r500_stream::counted;
use serde_json::{Value, json};

use super::findings::NewFindings;
use super::known::KnownDifferences;
use super::pairs::{self, Pair};
use super::run::{End, RunArgs, Verdict as Searched, claim_json};
use super::vertices::VertexRows;
use super::write_answer;
use crate::command::engine_args::EngineArgs;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::input_args::{self, ReadArgs};
use crate::command::report::ReportFormat;
use crate::command::syntax::Sharding;
use crate::command::terminal;

/// The verdict about a pair.
enum Verdict {
    /// A proof, and what it covers.
    Proved(Claim),
    /// The result of a search, without a proof.
    Searched { why: String, searched: Box<Searched> },
    /// Only one side has a program of this name.
    Missing(&'static str),
}

/// How pairs are proved.
pub(super) struct Prover<'a> {
    pub(super) literals: Literals,
    pub(super) args: &'a RunArgs,
    pub(super) machine: &'a EngineArgs,
    pub(super) fail_on_findings: bool,
    /// The vertex programs of the same files.
    pub(super) vertices: &'a VertexRows,
    /// The verdicts of an earlier comparison, which do not fail again.
    pub(super) known: &'a KnownDifferences,
}

/// A pair with its verdict.
struct Judged {
    name: String,
    verdict: Verdict,
    findings: NewFindings,
}

impl Prover<'_> {
    fn judge(&self, name: String, jobs: &[Job; 2]) -> Outcome<Judged> {
        Ok(Judged { name, verdict: self.verdict(jobs)?, findings: NewFindings::of(jobs) })
    }

    fn verdict(&self, jobs: &[Job; 2]) -> Outcome<Verdict> {
        let [a, b] = jobs;
        let interface = self.args.interface(jobs, self.literals)?;
        let known = Known::of(a, b, interface, self.literals);
        let is_compiled = |job: &Job| {
            job.compilation.as_ref().is_none_or(|compilation| compilation.outcome.is_compiled())
        };
        let proof = prove_with(&a.program, &b.program, &known);
        let is_proved = proof.is_proved() && jobs.iter().all(is_compiled);
        if is_proved && proof == Proof::Proved {
            return Ok(Verdict::Proved(Claim::of(jobs.each_ref(), &known, self.literals, proof)));
        }
        // Uncovered pixels are not part of the proof.
        let searched = self.args.of_pair().search(jobs, &known, self.machine)?;
        if is_proved && !matches!(searched.end(), End::Different(_)) {
            return Ok(Verdict::Proved(Claim::of(jobs.each_ref(), &known, self.literals, proof)));
        }
        let why = match proof {
            Proof::Unknown(why) => why.to_string(),
            _ => "only groups whose pixels are all covered are proved equal".to_owned(),
        };
        Ok(Verdict::Searched { why, searched: Box::new(searched) })
    }
}

impl Verdict {
    fn status(&self) -> Status {
        match self {
            Self::Proved(_) => Status::Fine,
            Self::Missing(_) => Status::Failed,
            Self::Searched { searched, .. } => match searched.end() {
                End::Different(_) => Status::Failed,
                _ => Status::CouldNot,
            },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Proved(claim) => format!("proved: {}", claim),
            Self::Missing(side) => format!("differ: {side} has no such program"),
            Self::Searched { why, searched } => match searched.end() {
                End::Different(different) => format!("differ: {}", different.line()),
                End::Equal(_) => {
                    let [frames, pixels] = searched.searched();
                    format!(
                        "unknown: {why}; {} in {} with edge and random values are equal",
                        counted(pixels, "pixel"),
                        counted(frames, "picture")
                    )
                }
                End::Undecided(reason) => format!("unknown: {why}; {reason}"),
                End::Incomparable(error) => format!("unknown: {why}; not run: {error}"),
            },
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Proved(claim) => {
                let mut value = json!({ "verdict": "proved" });
                claim_json(claim, &mut value);
                value
            }
            Self::Missing(side) => json!({ "verdict": "differ", "missing": side }),
            Self::Searched { why, searched } => {
                let mut value = searched.json();
                value["verdict"] = match searched.end() {
                    End::Different(_) => "differ".into(),
                    _ => "unknown".into(),
                };
                value["why"] = why.clone().into();
                value
            }
        }
    }
}

impl Prover<'_> {
    /// Proves two programs equal, or those of two folders or files, matched by path and name.
    pub(super) fn run(
        &self,
        paths: [&Path; 2],
        read: ReadArgs,
        picks: [Option<&str>; 2],
        format: ReportFormat,
    ) -> Outcome {
        let mut status = Status::Fine;
        let folders = paths.iter().any(|path| path.is_dir());
        let single = || match self.args.shard {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                "--shard with --prove takes folders or files of several programs: this is one pair",
            )),
        };
        let pairs: Vec<Judged> = if picks.iter().any(Option::is_some) {
            single()?;
            let jobs = [
                input_args::one(paths[0], read, picks[0])?,
                input_args::one(paths[1], read, picks[1])?,
            ];
            vec![self.judge(input_args::show(paths[1]), &jobs)?]
        } else {
            let [a, b] = [
                pairs::collect(paths[0], read, &mut status)?,
                pairs::collect(paths[1], read, &mut status)?,
            ];
            if let (false, [a], [b]) = (folders, &a[..], &b[..]) {
                single()?;
                vec![self.judge(b.name(), &[a.job.clone(), b.job.clone()])?]
            } else {
                self.all(pairs::pairs(a, b))?
            }
        };
        report(&pairs, status, format, self)
    }

    /// Proves the pairs of a shard.
    fn all(&self, pairs: Vec<Pair>) -> Outcome<Vec<Judged>> {
        let mut sharding = Sharding::new(self.args.shard);
        let mine = pairs.into_iter().filter(|_| sharding.takes_next());
        let verdict = |Pair { name, jobs }| {
            let verdict = match jobs {
                [Some(a), Some(b)] => return self.judge(name, &[a, b]),
                [_, None] => Verdict::Missing("B"),
                [None, _] => Verdict::Missing("A"),
            };
            Ok(Judged { name, verdict, findings: NewFindings::default() })
        };
        mine.map(verdict).collect()
    }
}

fn report(
    pairs: &[Judged],
    mut status: Status,
    format: ReportFormat,
    prover: &Prover<'_>,
) -> Outcome {
    let mut out = std::io::BufWriter::new(terminal::out());
    let mut programs = Vec::with_capacity(pairs.len());
    let mut statuses = Vec::with_capacity(pairs.len());
    for Judged { name, verdict, findings } in pairs {
        let (mut status, mut line) = (verdict.status(), verdict.text() + &findings.suffix());
        let mut value = verdict.json();
        value["name"] = name.clone().into();
        value["new_findings"] = findings.json();
        if status != Status::Fine && prover.known.mark(&mut value) {
            (status, line) = (Status::Fine, line + " (known)");
        }
        value["line"] = line.into();
        statuses.push(status);
        programs.push(value);
    }
    match format {
        ReportFormat::Text => {
            for pair in &programs {
                let text = |key: &str| pair[key].as_str().unwrap_or_default();
                writeln!(out, "{}: {}", text("name"), text("line"))?;
            }
            if pairs.len() != 1 {
                let known = programs.iter().filter(|pair| pair["known"] == json!(true)).count();
                let also = if known == 0 { String::new() } else { format!(", {known} known") };
                let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
                writeln!(
                    out,
                    "{} proved, {} differ, {} unknown{also}",
                    count(Status::Fine) - known,
                    count(Status::Failed),
                    count(Status::CouldNot)
                )?;
            }
            prover.vertices.text(&mut out)?;
        }
        format => {
            let vertices = prover.vertices.json();
            let answer = json!({ "version": 1, "programs": programs, "vertex_programs": vertices });
            write_answer(&mut out, format, &answer)?;
        }
    }
    out.flush()?;
    for wanted in [Status::CouldNot, Status::Failed] {
        if statuses.contains(&wanted) {
            status = wanted;
        }
    }
    let failing = |status, pair: &Judged| pair.findings.status(status, prover.fail_on_findings);
    Ok(prover.vertices.status(pairs.iter().fold(status, failing)))
}
