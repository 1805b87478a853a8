//! Statement boundaries in complete and incomplete sources, and the context of a position.

use r500_isa::Register;

use crate::names::{self, Kw, register_of};
use crate::parse::directive::STARTS;
use crate::parse::{starts_alu, starts_flow};
use r500_text::macros::MacroWord;
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// The kind of a statement, from its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// An empty statement.
    Empty,
    Alu,
    Tex,
    Flow(Kw),
    Raw,
    Directive(Kw),
    /// A register of the state by name.
    State(&'static Register),
    Label,
    Include,
    /// The beginning or end of a body: `.rept`, `.macro` and their ends.
    Body(MacroWord),
    /// A word that starts no statement, possibly incomplete; the use of a macro.
    Other,
}

/// A statement: tokens `first..end` of the code, including its `;` if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    pub(crate) head: Head,
    pub(crate) first: usize,
    pub(crate) end: usize,
}

/// Splits code (tokens without comments) into statements.
pub(crate) fn statements(text: &[u8], code: &[RawToken]) -> Vec<Statement> {
    let mut list = Vec::new();
    let mut first = 0;
    while first < code.len() {
        let head = head(text, &code[first..]);
        let end = match head {
            // `@` and a name; `#`, `include` and a string.
            Head::Label => (first + 2).min(code.len()),
            Head::Include => (first + 3).min(code.len()),
            _ => end(text, code, first),
        };
        list.push(Statement { head, first, end });
        first = end;
    }
    list
}

/// Returns the kind of a statement from its tokens.
pub(crate) fn head(text: &[u8], code: &[RawToken]) -> Head {
    let Some(raw_token) = code.first() else { return Head::Empty };
    match raw_token.kind {
        RawTokenKind::Mark(b':') => return Head::Alu,
        RawTokenKind::Mark(b'@') => return Head::Label,
        RawTokenKind::Mark(b'#') => return Head::Include,
        RawTokenKind::Mark(b'.') => {
            let word = code.get(1).and_then(|word| MacroWord::at(text, *raw_token, *word));
            return word.map_or(Head::Other, Head::Body);
        }
        RawTokenKind::Word => {}
        _ => return Head::Other,
    }
    let word = &text[raw_token.range()];
    match names::find(word) {
        Kw::Tex => Head::Tex,
        Kw::Raw => Head::Raw,
        kw if starts_flow(kw) => Head::Flow(kw),
        kw if starts_alu(kw) => Head::Alu,
        kw if STARTS.contains(&kw) => Head::Directive(kw),
        _ => match std::str::from_utf8(word).ok().and_then(register_of) {
            Some(register) => Head::State(register),
            None => Head::Other,
        },
    }
}

/// Returns the end of the statement that begins at `first`: after its `;`, or before a line that can only begin another
/// one.
fn end(text: &[u8], code: &[RawToken], first: usize) -> usize {
    for at in first..code.len() {
        let raw_token = code[at];
        if raw_token.kind == RawTokenKind::Mark(b';') {
            return at + 1;
        }
        if at > first && begins_line(text, raw_token) && begins_statement(text, &code[at..]) {
            return at;
        }
    }
    code.len()
}

/// Returns whether code at the start of a line begins a statement, whatever precedes it.
pub(crate) fn begins_statement(text: &[u8], code: &[RawToken]) -> bool {
    let next =
        |mark| code.get(1).is_some_and(|raw_token| raw_token.kind == RawTokenKind::Mark(mark));
    match head(text, code) {
        Head::Label | Head::Body(_) => true,
        // A jump target, a texture or a constant may continue on the next line.
        Head::Tex | Head::Directive(Kw::Const | Kw::Int | Kw::Bool) => !next(b'['),
        // `raw` is also an output modifier; in a statement, dwords follow.
        Head::Raw => code.get(1).is_some_and(|raw_token| text[raw_token.start].is_ascii_digit()),
        Head::Directive(Kw::Coverage) => next(b'='),
        Head::Flow(Kw::If) => false,
        Head::Flow(_) | Head::Directive(_) | Head::State(_) => true,
        Head::Alu | Head::Empty | Head::Include | Head::Other => false,
    }
}

/// Returns whether a token is the first on its line.
pub(crate) fn begins_line(text: &[u8], raw_token: RawToken) -> bool {
    let before = text[..raw_token.start].iter().rev().find(|b| !b" \t\r".contains(b));
    before.is_none_or(|b| *b == b'\n')
}
