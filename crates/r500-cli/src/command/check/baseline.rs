//! Baselines: findings of an earlier run, which are not reported again.

use std::collections::HashMap;
use std::path::Path;

use r500::check::Lint;
use serde_json::Value as Json;

use super::{Checked, Level, text};
use crate::command::exit::{Failure, Outcome};
use crate::command::input_args;

/// File, program, code, message; without addresses and lines, which change with every edit.
type Key = (String, String, String, String);

/// The findings of an earlier run, a multiset.
pub(super) struct Baseline(HashMap<Key, usize>);

impl Baseline {
    /// Reads the output of `--format json`.
    pub(super) fn read(file: &Path) -> Outcome<Self> {
        let wrong = |why: &str| {
            Failure::input(anyhow::anyhow!(
                "{}: {why}; --against takes what --format json of r500 check wrote",
                file.display()
            ))
        };
        let answer: Json = serde_json::from_slice(&input_args::bytes(file)?)
            .map_err(|error| wrong(&error.to_string()))?;
        if answer["version"] != 1 {
            return Err(wrong("it is not of version 1"));
        }
        let findings = findings(&answer).ok_or_else(|| wrong("its findings cannot be read"))?;
        let mut counts = HashMap::new();
        for key in findings {
            *counts.entry(key).or_insert(0) += 1;
        }
        Ok(Self(counts))
    }

    /// Removes the findings of a file that are in the baseline, each as often as it occurs there.
    pub(super) fn apply(&mut self, checked: &mut Checked) {
        let file = text::name(checked);
        for program in &mut checked.programs {
            let name = identity(&program.name, program.index as u64);
            for (finding, level) in program.report.lints.iter().zip(&mut program.levels) {
                if matches!(level, Level::Reported(_)) && self.take(&file, &name, finding) {
                    *level = Level::Known;
                }
            }
        }
    }

    fn take(&mut self, file: &str, program: &str, finding: &Lint) -> bool {
        let code = finding.code.info().number.to_string();
        let key = (file.to_owned(), program.to_owned(), code, finding.message.to_string());
        match self.0.get_mut(&key) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// Returns a program's name, or its number in the file if it has none.
fn identity(name: &str, index: u64) -> String {
    if name.is_empty() { format!("#{index}") } else { name.to_owned() }
}

/// Returns the findings in an earlier output; `None` if it is incomplete.
fn findings(answer: &Json) -> Option<Vec<Key>> {
    let mut keys = Vec::new();
    for file in answer["files"].as_array()? {
        let name = file["file"].as_str()?;
        for program in file["programs"].as_array()? {
            let program_name = identity(program["name"].as_str()?, program["index"].as_u64()?);
            for finding in program["findings"].as_array()? {
                let code = finding["code"].as_str()?.to_owned();
                let message = finding["message"].as_str()?.to_owned();
                keys.push((name.to_owned(), program_name.clone(), code, message));
            }
        }
    }
    Some(keys)
}
