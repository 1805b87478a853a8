//! The debug console: commands of `r500 debug`, and expressions.

use r500::breakpoint::Owner;
use serde_json::{Value, json};

use super::target::{Inspected, Target};
use super::variables;
use crate::command::debug::language::{self, Kind};
use crate::command::debug::session::Session;

/// The effect of a line of the console.
pub(super) struct Entered {
    /// The response to `evaluate`.
    pub(super) answer: Value,
    /// Whether the position or the pixel changed.
    pub(super) moved: bool,
    pub(super) quit: bool,
    /// Numbers of breakpoints of the editor that a command removed.
    pub(super) removed: Vec<usize>,
}

/// Executes a line: a command, else an expression.
///
/// # Errors
/// If it is neither, or the command cannot be executed.
pub(super) fn enter<M: Inspected>(target: &mut Target<M>, line: &str) -> Result<Entered, String> {
    let line = line.trim();
    if !line.is_empty() && language::parse(line, M::KIND).is_err() {
        let answer = variables::evaluate(target, line).map_err(|why| {
            format!("`{line}` is neither a command (`help` lists them) nor an expression: {why}")
        })?;
        return Ok(Entered { answer, moved: false, quit: false, removed: Vec::new() });
    }
    let session = &mut target.session;
    let before = (session.recording.position(), M::selected(session));
    let set = |session: &Session<M>| -> Vec<usize> {
        let points = session.breakpoints.iter();
        points.filter(|point| point.owner != Owner::Command).map(|point| point.number()).collect()
    };
    let known = set(session);
    let reply = session.execute(line)?;
    let left = set(session);
    Ok(Entered {
        answer: json!({
            "result": session.text_of(&reply).trim_end(), "variablesReference": 0,
        }),
        moved: before != (session.recording.position(), M::selected(session)),
        quit: reply.quit,
        removed: known.into_iter().filter(|number| !left.contains(number)).collect(),
    })
}

/// Returns completions of the first word of a line: the commands that begin with it. `from` is the number of the
/// client's first column.
pub(super) fn completions(arguments: &Value, kind: Kind, from: usize) -> Value {
    let text = arguments["text"].as_str().unwrap_or_default();
    let column = arguments["column"].as_u64().and_then(|column| usize::try_from(column).ok());
    let before = column.map_or(usize::MAX, |column| column.saturating_sub(from));
    let word: String = text.chars().take(before).collect::<String>().to_ascii_lowercase();
    let fits = language::commands(kind).filter(|row| row.name.starts_with(word.trim_start()));
    let targets: Vec<Value> = fits
        .map(|row| json!({ "label": row.name, "detail": format!("{}: {}", row.arguments, row.help) }))
        .collect();
    json!({ "targets": targets })
}
