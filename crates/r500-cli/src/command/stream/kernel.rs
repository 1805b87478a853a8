//! `r500 stream --check`: what the kernel's driver answers to each submission.

use std::collections::BTreeMap;
use std::io::Write;

use r500_stream::capture::{Reader, Record};
use r500_stream::kernel::{Owned, Rejection, Rights, check};
use r500_stream::{Chip, counted};
use serde_json::{Value as Json, json};

use super::Stream;
use super::source::{Content, Source};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::format::Format;
use crate::command::terminal;

/// Rejections that are printed.
const MOST: usize = 100;

impl Stream {
    /// Checks submissions.
    pub(super) fn check_submissions(&self, source: &Source, out: &mut dyn Write) -> Outcome {
        let rights = source.rights()?;
        let mut rejected: Vec<(u64, Rejection)> = Vec::new();
        let mut needs: BTreeMap<String, u64> = BTreeMap::new();
        let (mut count, mut refused) = (0_u64, 0_usize);
        source.submissions(|number, submission| {
            if !self.wants(number) {
                return Ok(());
            }
            source.limits.check()?;
            count += 1;
            match check(submission, rights) {
                Ok(accepted) => {
                    for (_, needed) in accepted.needs {
                        *needs.entry(needed.to_string()).or_default() += 1;
                    }
                }
                Err(rejection) => {
                    refused += 1;
                    if rejected.len() < MOST {
                        rejected.push((number, rejection));
                    }
                }
            }
            Ok(())
        })?;
        match self.format {
            Format::Text => {
                for (number, rejection) in &rejected {
                    writeln!(out, "submission {number}, {rejection}")?;
                }
                let answer = match (refused, needs.is_empty()) {
                    (0, true) => "the kernel accepts them all".to_owned(),
                    (0, false) => "the kernel accepts them all, if this holds:".to_owned(),
                    (refused, _) => format!("the kernel refuses {refused} with EINVAL"),
                };
                writeln!(out, "{}: {answer}", counted(count, "submission"))?;
                for (needed, times) in &needs {
                    writeln!(out, "  {} must have {needed}", counted(*times, "submission"))?;
                }
                if refused > rejected.len() {
                    terminal::note(&format!(
                        "{} not shown",
                        counted(refused - rejected.len(), "more")
                    ));
                }
            }
            Format::Json => {
                let rows: Vec<Json> = rejected
                    .iter()
                    .map(|(number, rejection)| {
                        json!({
                            "submission": number,
                            "dword": rejection.at,
                            "reason": rejection.reason.to_string(),
                        })
                    })
                    .collect();
                let answer = json!({
                    "version": 1,
                    "submissions": count,
                    "refused": refused,
                    "rejections": rows,
                    "must_have": needs,
                });
                writeln!(out, "{answer:#}")?;
            }
        }
        Ok(if refused == 0 { Status::Fine } else { Status::Failed })
    }
}

impl Source {
    /// Returns what the stream does not say: the chip of a capture; dwords have no buffers. Which memories a program owned is in neither.
    pub(super) fn rights(&self) -> Outcome<Rights> {
        let unknown = Rights { hyperz: Owned::Unknown, cmask: Owned::Unknown, ..Rights::default() };
        let Content::Capture(bytes) = &self.content else {
            return Ok(Rights { without_buffers: true, ..unknown });
        };
        let mut reader = Reader::new(&bytes[..]).map_err(Failure::input)?;
        let chip = match reader.next().transpose().map_err(Failure::input)? {
            Some(Record::Info(info)) => Chip::from_pci_id(info.chip),
            _ => None,
        };
        Ok(Rights { chip: chip.unwrap_or_default(), ..unknown })
    }
}
