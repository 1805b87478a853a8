//! `--find`: the lines of a stream that a text or a register is in.

use std::io::Write;

use r500_stream::text::Printer;
use r500_stream::{CommandProcessor, Effect, State, Submission, counted};
use serde_json::json;

use super::source::Source;
use super::{Stream, instruction};
use crate::command::exit::{Outcome, Status};
use crate::command::format::Format;
use crate::command::terminal;

/// What is looked for.
enum Pattern {
    /// Writes of a register by its name in the text, of any value or one.
    Register { name: String, value: Option<u32> },
    /// Lines with a text, in lower case and with single blanks.
    Text(String),
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), number(value.trim()).map(Some)),
            None => (text.trim(), Some(None)),
        };
        let place = r500::chip::named(name).or_else(|| r500::chip::at_text(name));
        match (place, value) {
            (Some(place), Some(value)) => Self::Register { name: place.to_string(), value },
            _ => Self::Text(plain(r500::chip::without_prefix(text))),
        }
    }

    fn matches(&self, line: &str) -> bool {
        match self {
            Self::Text(text) => plain(line).contains(text.as_str()),
            Self::Register { name, value } => {
                let line = line.strip_prefix("+ ").unwrap_or(line);
                let mut words = line.split_whitespace();
                let is_named = words.next() == Some(name);
                // Of `NAME = VALUE`; `NAME <- VALUE...` has all values of a packet.
                let mut values = words.skip(1).take_while(|word| *word != "#");
                is_named && value.is_none_or(|value| values.any(|word| number(word) == Some(value)))
            }
        }
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()
}

impl Stream {
    /// Prints the lines with `text`, each with the draw that follows it in the submission.
    pub(super) fn find(&self, source: &Source, text: &str, out: &mut dyn Write) -> Outcome {
        let pattern = Pattern::new(text);
        let printer = Printer::default().instructions(instruction);
        let mut state = State::default();
        let (mut first, mut found) = (0_u64, 0_u64);
        let json = self.format == Format::Json;
        if json {
            write!(out, "{{\n  \"lines\": [")?;
        }
        source.submissions(|number, submission| {
            source.limits.check()?;
            let draws = draws(&mut state, submission);
            if self.wants(number) {
                printer.lines(&submission.words, |dword, line| {
                    if !pattern.matches(line) {
                        return Ok(());
                    }
                    found += 1;
                    let before = draws.partition_point(|at| *at < dword);
                    let draw = (before < draws.len()).then(|| first + before as u64);
                    match self.format {
                        Format::Text => {
                            let draw = draw.map_or("-".to_owned(), |draw| draw.to_string());
                            writeln!(out, "{draw:>6}  {number}:{dword}  {line}")?;
                        }
                        // Rows are written as they are found: a capture may have any number of lines.
                        Format::Json => {
                            let row = json!({
                                "draw": draw, "submission": number, "dword": dword, "line": line,
                            });
                            write!(out, "{}\n    {row}", if found == 1 { "" } else { "," })?;
                        }
                    }
                    Outcome::<()>::Ok(())
                })?;
            }
            first += draws.len() as u64;
            Ok(())
        })?;
        if json {
            let end = if found == 0 { "]" } else { "\n  ]" };
            writeln!(out, "{end},\n  \"version\": 1\n}}")?;
        }
        if found == 0 {
            terminal::note(&format!("{text}: in no line"));
            return Ok(Status::Failed);
        }
        terminal::note(&counted(found, "line"));
        Ok(Status::Fine)
    }
}

/// Returns the dwords at which the draws of a submission begin, and executes it.
fn draws(state: &mut State, submission: &Submission) -> Vec<usize> {
    let mut draws = Vec::new();
    let mut cp = CommandProcessor::new(state, submission);
    while let Some(effect) = cp.next_effect() {
        if let Ok(Effect::Draw(call)) = effect {
            draws.push(call.at);
        }
    }
    draws
}
