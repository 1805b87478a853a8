//! Macros, repetitions and named numbers: what they produce.

use super::Analysis;
use crate::items::{Constant, Expansion, Symbol};
use crate::print::print_lines;
use r500_text::macros::MacroWord;
use r500_text::raw_tokens::RawToken;

/// Limit of the instructions that a hover text lists.
const MAX_LISTED: usize = 12;

impl Analysis {
    /// Returns the use of a macro or the repetition that begins at a position, if it is not in another one.
    pub(super) fn expansion(&self, at: usize) -> Option<&Expansion> {
        let mut all = self.assembly.expansions.iter();
        all.find(|expansion| expansion.call.file == 0 && expansion.call.start as usize == at)
    }

    /// Returns the hover text of a macro: its first line, and the instructions of the use at a position.
    pub(super) fn macro_text(&self, symbol: &Symbol, at: usize) -> String {
        let files = &self.assembly.files;
        let bytes = files.list.get(symbol.span.file as usize).map_or(&[][..], |file| &file.bytes);
        let rest = bytes.get(symbol.span.start as usize..).unwrap_or_default();
        let end = rest.iter().position(|b| *b == b';').unwrap_or(rest.len());
        let header = String::from_utf8_lossy(&rest[..end]);
        let words: Vec<&str> = header.split_whitespace().collect();
        let calls = self.assembly.references.iter();
        let uses = calls.filter(|used| used.definition == Some(symbol.span)).count();
        let plural = if uses == 1 { "" } else { "s" };
        let mut text = format!("`.macro {}`: {uses} use{plural}", words.join(" "));
        if let Some(expansion) = self.expansion(at) {
            text.push_str(&self.expansion_text(expansion));
        }
        text
    }

    /// Returns the instructions of a use or repetition, as text of its own.
    pub(super) fn expansion_text(&self, expansion: &Expansion) -> String {
        let (first, end) = (expansion.first, expansion.end);
        let code = self.assembly.job.program.code.get(first..end).unwrap_or_default();
        let Some(last) = code.len().checked_sub(1) else {
            return "\n\nNo instructions".to_owned();
        };
        let mut text = match last {
            0 => format!("\n\nInstruction {first}:"),
            _ => format!("\n\nInstructions {first} to {}:", end - 1),
        };
        let shown = &code[..code.len().min(MAX_LISTED)];
        for line in print_lines(shown, 0) {
            text.push_str(&format!("\n- `{line}`"));
        }
        if code.len() > MAX_LISTED {
            text.push_str(&format!("\n- and {} more", code.len() - MAX_LISTED));
        }
        text
    }

    /// Returns the word of a body that a token is: the one after its point.
    pub(super) fn body_word(&self, word: RawToken) -> Option<MacroWord> {
        let at = self.code.partition_point(|token| token.start < word.start).checked_sub(1)?;
        MacroWord::at(&self.text, self.code[at], word)
    }

    /// Returns the repetition that begins with a token, the word after its point.
    pub(super) fn repetition_at(&self, word: RawToken) -> Option<&Expansion> {
        self.body_word(word).filter(|body| *body == MacroWord::Rept)?;
        self.expansion(word.start.checked_sub(1)?)
    }
}

/// Returns the hover text of a named number.
pub(super) fn number_text(name: &str, constant: Constant) -> String {
    let value = constant.value();
    #[allow(clippy::cast_possible_truncation)] // to nearest even, as in the assembler
    let float = value as f32;
    let bits = float.to_bits();
    if f64::from(float) == value {
        format!("`{name}`: number {value} (float {bits:#010x})")
    } else {
        format!("`{name}`: number {value}, as a float {float} ({bits:#010x})")
    }
}
