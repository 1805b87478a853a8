//! Messages of the compiler with their lines.

use std::collections::BTreeSet;
use std::ops::Range;

use r500::asm::diagnostic::MessageLevel;
use r500_mesa::Stage;
use r500_mesa::messages::{self, Message};
use r500_mesa::shader::Shader;
use r500_stream::counted;

use super::verdict::Verdict;
use crate::command::excerpt::Text;
use crate::command::terminal;

/// Messages of a compilation that are printed.
const MOST_MESSAGES: usize = 20;

/// Prints the messages of a compilation to stderr: of each line the first one, because others mostly follow from it.
pub(in crate::command) fn diagnose(verdict: &Verdict, several: bool) {
    let mut lines = BTreeSet::new();
    let is_first = |(stage, message): &&(Option<Stage>, Message)| {
        // Our own compiler reports no errors that follow from others.
        message.span.is_some() || message.place.is_none_or(|(line, _)| lines.insert((*stage, line)))
    };
    let firsts: Vec<&(Option<Stage>, Message)> = verdict.messages.iter().filter(is_first).collect();
    for (stage, message) in firsts.iter().take(MOST_MESSAGES) {
        diagnose_one(verdict, *stage, message, several);
    }
    if firsts.len() > MOST_MESSAGES {
        terminal::note(&format!(
            "{} not shown; --format json has all",
            counted(firsts.len() - MOST_MESSAGES, "message")
        ));
    }
}

/// Returns the first error of a compilation on one line; `None` if the compiler reports none.
pub(in crate::command) fn first_error(verdict: &Verdict) -> Option<String> {
    let mut errors = verdict.messages.iter().filter(|(_, message)| message.is_error);
    let (stage, message) = errors.next()?;
    let place = verdict.shader(*stage).and_then(|shader| {
        let before = shader.text.get(..span(shader, message)?.start)?;
        let line = before.matches('\n').count() + shader.first_line.max(1) as usize;
        Some(format!("{}:{line}", shader.file))
    });
    let place = place.unwrap_or_else(|| verdict.name.clone());
    let help = message.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" (the first of {} errors)", more + 1),
    };
    Some(format!("{place}: {}{help}{more}", message.text))
}

fn diagnose_one(verdict: &Verdict, stage: Option<Stage>, message: &Message, several: bool) {
    let level = if message.is_error { MessageLevel::Error } else { MessageLevel::Warning };
    let shader = verdict.shader(stage);
    let version = if several { format!(" ({})", verdict.version) } else { String::new() };
    let title = format!("{}{version}", message.text);
    match shader.and_then(|shader| Some((shader, span(shader, message)?))) {
        Some((shader, span)) => {
            let padded = "\n".repeat(shader.first_line.saturating_sub(1) as usize);
            let text = format!("{padded}{}", shader.text);
            let span = span.start + padded.len()..span.end + padded.len();
            let lines = Text { name: &shader.file, text: Some(&text) };
            let help = message.help.as_deref().into_iter().collect();
            terminal::plain(&lines.message(level, "", &title, span, help));
        }
        None => {
            let stage = stage.map_or("linking".to_owned(), |stage| format!("the {stage} shader"));
            let text = format!("{}: {stage}: {title}", verdict.name);
            match message.is_error {
                true => terminal::error(&text),
                false => terminal::warn(&text),
            }
        }
    }
}

/// Returns the word that a message is about, in bytes of the shader.
pub(in crate::command) fn span(shader: &Shader, message: &Message) -> Option<Range<usize>> {
    if let Some(span) = &message.span {
        return Some(span.clone());
    }
    let (line, column) = message.place?;
    let before = line.checked_sub(1)? as usize;
    let lines = shader.text.split_inclusive('\n');
    let start: usize = lines.clone().take(before).map(str::len).sum();
    let text = lines.clone().nth(before)?.trim_end();
    let begin = messages::place(text, column, message.quoted());
    let word = text[begin..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    let length = word.unwrap_or(text.len() - begin).max(1);
    Some(start + begin..start + (begin + length).min(text.len()))
}
