//! Baselines: the pairs that differed in an earlier comparison, which do not fail again.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::command::exit::{Failure, Outcome};
use crate::command::input_args;
use crate::command::report::{Case, CaseEnd};

/// What tells a verdict from another one of the same pair.
const VERDICT: [&str; 6] = ["verdict", "missing", "reason", "picture", "pixel", "differing"];

/// The pairs without equality in an earlier output of `--format json`, by name.
#[derive(Default)]
pub(super) struct KnownDifferences(HashMap<String, Vec<Json>>);

impl KnownDifferences {
    pub(super) fn read(file: &Path) -> Outcome<Self> {
        let wrong = |why: &str| {
            Failure::input(anyhow::anyhow!(
                "{}: {why}; --against takes what --format json of r500 diff wrote for folders or files of several programs",
                file.display()
            ))
        };
        let answer: Json = serde_json::from_slice(&input_args::bytes(file)?)
            .map_err(|error| wrong(&error.to_string()))?;
        if answer["version"] != 1 || answer["vertex_programs"].as_array().is_none() {
            return Err(wrong("it is no such report of version 1"));
        }
        let mut known = Self::default();
        for pair in pairs(&answer).filter(|pair| !is_equal(pair)) {
            let name = pair["name"].as_str().ok_or_else(|| wrong("a pair has no name"))?;
            known.0.entry(name.to_owned()).or_default().push(verdict(pair));
        }
        Ok(known)
    }

    /// Marks a pair that has the same verdict as in the earlier comparison. Returns whether it has.
    pub(super) fn mark(&self, pair: &mut Json) -> bool {
        let name = pair["name"].as_str().unwrap_or_default();
        let same = self.0.get(name).is_some_and(|earlier| earlier.contains(&verdict(pair)));
        if same {
            pair["known"] = true.into();
        }
        same
    }
}

fn verdict(pair: &Json) -> Json {
    VERDICT
        .iter()
        .map(|key| ((*key).to_owned(), pair[*key].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn pairs(answer: &Json) -> impl Iterator<Item = &Json> {
    ["programs", "vertex_programs"].into_iter().flat_map(|kind| answer[kind].as_array()).flatten()
}

fn is_equal(pair: &Json) -> bool {
    ["equal", "proved"].iter().any(|verdict| pair["verdict"] == **verdict)
}

/// Returns the pairs of an answer as cases for build servers.
pub(super) fn cases(answer: &Json) -> Vec<Case> {
    let case = |pair: &Json| {
        let text = |key: &str| pair[key].as_str().map(str::to_owned);
        let line = text("line").or_else(|| text("verdict")).unwrap_or_default();
        let end = match pair["verdict"].as_str() {
            _ if pair["known"] == json!(true) => CaseEnd::Known(line),
            Some("equal" | "proved") => CaseEnd::Passed,
            Some("different" | "differ") => CaseEnd::Failed(line),
            _ => CaseEnd::Error(line),
        };
        Case { name: text("name").unwrap_or_default(), file: None, seconds: None, end }
    };
    pairs(answer).map(case).collect()
}
