//! Signature help: the operands of an operation or of a word with brackets, while they are typed.

use std::ops::Range;

use r500_isa::Slot;

use super::hover::{fits, operation_page};
use super::{Analysis, CursorContext, Head, keyword_docs};
use crate::names::{self, Kw};
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The label: `MAD A B C`, `checker(64, 64, 8)`.
    pub label: String,
    /// Byte ranges of the label for the parameters.
    pub parts: Vec<Range<usize>>,
    /// Index of the parameter that is being typed; none after the last.
    pub active: Option<usize>,
    /// The description, in Markdown.
    pub text: String,
}

impl Analysis {
    /// Returns the signature of the operation or bracketed word before a position.
    #[must_use]
    pub fn signature(&self, at: usize) -> Option<Signature> {
        let at = at.min(self.text.len());
        if self.comment(at).is_some() {
            return None;
        }
        let place = self.at(at);
        self.brackets(&place).or_else(|| self.operands(&place, at))
    }

    fn operands(&self, place: &CursorContext<'_>, at: usize) -> Option<Signature> {
        if place.statement != Head::Alu || !place.has(b':') {
            return None;
        }
        let part = place
            .before
            .iter()
            .rposition(|token| matches!(token.kind, RawTokenKind::Mark(b':' | b',')))
            .map_or(place.before, |mark| &place.before[mark + 1..]);
        let opcode = part.iter().rposition(|token| names::opcode(self.kw(*token)).is_some())?;
        let kw = self.kw(part[opcode]);
        let operation = names::opcode(kw)?;
        let uses = |slot: &Slot| {
            operation.rgb.is_some_and(|op| op.uses(*slot))
                || operation.alpha.is_some_and(|op| op.uses(*slot))
        };
        let mut label = kw.text().to_owned();
        let mut parts = Vec::new();
        for (_, name) in
            [(Slot::A, "A"), (Slot::B, "B"), (Slot::C, "C")].iter().filter(|(slot, _)| uses(slot))
        {
            label.push(' ');
            parts.push(label.len()..label.len() + name.len());
            label.push_str(name);
        }
        let source =
            |token: &RawToken| matches!(self.kw(*token), Kw::Src0 | Kw::Src1 | Kw::Src2 | Kw::Srcp);
        let written = part[opcode + 1..].iter().filter(|token| source(token)).count();
        // A space ends the parameter.
        let apart = part.last().is_some_and(|last| last.end < at) && place.word.is_none();
        let active = written + usize::from(place.word.is_some_and(|word| source(&word)));
        let active = if apart { active } else { active.saturating_sub(1) };
        let active = Some(active).filter(|active| *active < parts.len());
        Some(Signature { label, parts, active, text: operation_page(kw)? })
    }

    fn brackets(&self, place: &CursorContext<'_>) -> Option<Signature> {
        let mut depth = 0usize;
        let mut commas = 0;
        let open = place.before.iter().rposition(|token| {
            match token.kind {
                RawTokenKind::Mark(b')') => depth += 1,
                RawTokenKind::Mark(b'(') if depth > 0 => depth -= 1,
                RawTokenKind::Mark(b'(') => return true,
                RawTokenKind::Mark(b',') if depth == 0 => commas += 1,
                _ => {}
            }
            false
        })?;
        let owner = place.before[..open].last().filter(|token| token.kind == RawTokenKind::Word)?;
        let there = self.at(owner.end);
        let word = self.string(*owner);
        let row =
            keyword_docs::rows(&word).find(|row| row.usage.contains('(') && fits(row, &there))?;
        let label = row.shown();
        let inside = label.find('(')? + 1..label.rfind(')')?;
        let mut parts = Vec::new();
        let mut from = inside.start;
        for part in label.get(inside)?.split(',') {
            let space = part.len() - part.trim_start().len();
            parts.push(from + space..from + part.len());
            from += part.len() + 1;
        }
        let active = Some(commas).filter(|active| *active < parts.len());
        Some(Signature { label, parts, active, text: row.meaning() })
    }
}
