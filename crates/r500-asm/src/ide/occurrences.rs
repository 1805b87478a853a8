//! Occurrences of a register in the sources: by number and by name, with the definitions, writes and reads.

use super::{Analysis, Head, Statement, span, statements};
use crate::items::{ComputedIndex, Register, SymbolKind};
use crate::names::Kw;
use crate::source::Span;
use r500_text::raw_tokens::{self, RawToken, RawTokenKind};

/// A place in a source that names a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The name, or `temp[1]`.
    pub span: Span,
    /// What happens to the register there.
    pub role: OccurrenceRole,
}

/// What happens to a register where a source names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OccurrenceRole {
    /// A directive defines its name or its value.
    Definition,
    /// An instruction writes it.
    Write,
    /// It is read.
    Read,
}

/// The tokens of a file.
pub(super) struct Tokens<'a> {
    file: u32,
    text: &'a [u8],
    code: &'a [RawToken],
    indices: &'a [ComputedIndex],
}

/// Tokens between the brackets of a register at most.
pub(super) const LONGEST_INDEX: usize = 64;

impl Analysis {
    /// Returns the tokens of the source itself.
    pub(super) fn own_tokens(&self) -> Tokens<'_> {
        Tokens { file: 0, text: &self.text, code: &self.code, indices: &self.assembly.indices }
    }

    /// Returns the occurrences of the register that the source names at a position, by file and position. A label or an
    /// inline constant has none.
    #[must_use]
    pub fn occurrences(&self, at: usize) -> Vec<Occurrence> {
        self.register_under(at).map_or_else(Vec::new, |register| self.occurrences_of(register))
    }

    /// Returns the register that the source names at a position, by number or by name.
    pub(super) fn register_under(&self, at: usize) -> Option<Register> {
        let register = match self.symbol(at).map(|symbol| symbol.kind) {
            Some(SymbolKind::Register(register)) => register,
            Some(
                SymbolKind::Label(_)
                | SymbolKind::Number(_)
                | SymbolKind::Macro
                | SymbolKind::Parameter,
            ) => return None,
            None => {
                let near = self.code.partition_point(|raw_token| raw_token.end < at);
                let mut near = self.code[near..].iter().take_while(|token| token.start <= at);
                near.find_map(|token| self.register_at(*token))?.0
            }
        };
        (!matches!(register, Register::Float(_))).then_some(register)
    }

    pub(super) fn occurrences_of(&self, register: Register) -> Vec<Occurrence> {
        let named = self.assembly.symbols.iter();
        let named = named.filter(|symbol| symbol.kind == SymbolKind::Register(register));
        let definitions: Vec<Span> = named.map(|symbol| symbol.span).collect();
        let uses = self.assembly.references.iter();
        let uses = uses.filter(|used| used.definition.is_some_and(|d| definitions.contains(&d)));
        let mut names: Vec<Span> = uses.map(|used| used.span).chain(definitions.clone()).collect();
        names.sort_unstable();
        let mut all = Vec::new();
        for (file, source) in (0..).zip(&self.assembly.files.list) {
            let included;
            let (code, list) = if file == 0 {
                (&self.code, &self.statements)
            } else {
                let raw = raw_tokens::raw_tokens(&source.bytes);
                let code: Vec<RawToken> =
                    raw.filter(|token| token.kind != RawTokenKind::Comment).collect();
                let list = statements(&source.bytes, &code);
                included = (code, list);
                (&included.0, &included.1)
            };
            let indices = &self.assembly.indices;
            let tokens = Tokens { file, text: &source.bytes, code, indices };
            for statement in list {
                tokens.find(statement, register, &names, &mut all);
            }
        }
        for one in &mut all {
            if definitions.contains(&one.span) {
                one.role = OccurrenceRole::Definition;
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Tokens<'_> {
    /// Returns the register of `word[n]` at a token, and the index of the token of its `]`. An address relative to aL counts as its base. An
    /// expression in a body has a register for each value that uses of the body give it.
    pub(super) fn numbered(&self, at: usize) -> Option<(Vec<Register>, usize)> {
        let is = |at: usize, mark| {
            self.code.get(at).is_some_and(|token| token.kind == RawTokenKind::Mark(mark))
        };
        let word = *self.code.get(at)?;
        if word.kind != RawTokenKind::Word || !is(at + 1, b'[') {
            return None;
        }
        let rest = self.code[at + 2..].iter().take(LONGEST_INDEX);
        let close =
            at + 2 + rest.take_while(|token| token.kind != RawTokenKind::Mark(b']')).count();
        if !is(close, b']') {
            return None;
        }
        let of = |n| Register::of(&self.text[word.range()], n);
        let bracket = self.span(at + 1, at + 1);
        let first = self.indices.partition_point(|index| index.bracket < bracket);
        let computed: Vec<Register> = self.indices[first..]
            .iter()
            .take_while(|index| index.bracket == bracket)
            .filter_map(|index| of(index.n))
            .collect();
        if !computed.is_empty() {
            return Some((computed, close));
        }
        let words = self.code[at + 2..close].iter();
        let words = words.filter(|token| token.kind == RawTokenKind::Word);
        let words: Vec<&[u8]> = words.map(|token| &self.text[token.range()]).collect();
        let is_loop_index = |word: &[u8]| word.eq_ignore_ascii_case(b"aL");
        let n = match words[..] {
            [word] if is_loop_index(word) => 0,
            [number] => whole(number)?,
            [number, word] | [word, number] if is_loop_index(word) => whole(number)?,
            _ => return None,
        };
        Some((vec![of(n)?], close))
    }

    /// Adds the occurrences of a register in a statement. `names` are those of the register, sorted.
    fn find(
        &self,
        statement: &Statement,
        register: Register,
        names: &[Span],
        all: &mut Vec<Occurrence>,
    ) {
        for at in statement.first..statement.end {
            let word = self.span(at, at);
            let last = match self.numbered(at) {
                Some((found, close)) if found.contains(&register) => close,
                Some(_) => continue,
                None if names.binary_search(&word).is_ok() => at,
                None => continue,
            };
            let role = self.role(statement, at, last);
            all.push(Occurrence { span: self.span(at, last), role });
        }
    }

    fn span(&self, first: usize, last: usize) -> Span {
        Span { file: self.file, ..span(self.code[first]).to(span(self.code[last])) }
    }

    /// Returns what a statement does to a register that tokens `first` to `last` name.
    fn role(&self, statement: &Statement, first: usize, last: usize) -> OccurrenceRole {
        let is = |at: usize, mark| {
            self.code.get(at).is_some_and(|token| token.kind == RawTokenKind::Mark(mark))
        };
        let after = if is(last + 1, b'.') { last + 3 } else { last + 1 };
        match statement.head {
            Head::Directive(Kw::Def | Kw::Uniform | Kw::Input | Kw::Texture | Kw::Level) => {
                OccurrenceRole::Definition
            }
            Head::Directive(Kw::Expect) => OccurrenceRole::Read,
            _ if !is(after, b'=') => OccurrenceRole::Read,
            // An instruction begins with another word.
            _ if first == statement.first => OccurrenceRole::Definition,
            _ => OccurrenceRole::Write,
        }
    }
}

/// Parses a whole number of the language.
fn whole(text: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(text).ok()?;
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
