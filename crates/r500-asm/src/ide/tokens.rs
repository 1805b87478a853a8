//! Semantic tokens for syntax highlighting, shared by editors and the page.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::keyword_docs::{self, Role};
use super::{Analysis, Head, Statement, span};
use crate::items::SymbolKind;
use crate::names::{self, Kw};
use crate::source::Span;
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// A semantic token on a single line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its span in the source itself.
    pub span: Span,
    /// What it is.
    pub kind: TokenKind,
    /// Whether a name or label is defined here.
    pub definition: bool,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A comment.
    Comment,
    /// A string with its quotes.
    Text,
    /// A number.
    Number,
    /// The first word of a directive, a state register, `#include`.
    Directive,
    /// A keyword of flow control, or the first word of an instruction.
    Keyword,
    /// A flag or modifier of an instruction.
    Flag,
    /// An operation.
    Operation,
    /// A register or source.
    Register,
    /// A name that the source defines.
    Name,
    /// A label, with its `@`.
    Label,
    /// A half, mask or swizzle.
    Channels,
    /// A field of a register of the state.
    Field,
    /// A word of an enumeration.
    Value,
}

impl TokenKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Comment,
        Self::Text,
        Self::Number,
        Self::Directive,
        Self::Keyword,
        Self::Flag,
        Self::Operation,
        Self::Register,
        Self::Name,
        Self::Label,
        Self::Channels,
        Self::Field,
        Self::Value,
    ];
}

impl Analysis {
    /// Returns the tokens of a range, in order; tokens that overlap its bounds are included. Marks and words without
    /// meaning at their position are left out.
    #[must_use]
    pub fn tokens(&self, part: Range<usize>) -> Vec<Token> {
        let names = self.name_places();
        let mut tokens = Vec::new();
        let ends = |s: &Statement| self.code[s.end - 1].end;
        let from = self.statements.partition_point(|s| ends(s) < part.start);
        for statement in &self.statements[from..] {
            let raw_tokens = &self.code[statement.first..statement.end];
            if raw_tokens.first().is_none_or(|raw_token| raw_token.start > part.end) {
                break;
            }
            let reader = Reader { analysis: self, names: &names, head: statement.head };
            reader.read(raw_tokens, &part, &mut tokens);
        }
        let first = self.comments.partition_point(|raw_token| raw_token.end < part.start);
        let inside =
            self.comments[first..].iter().take_while(|raw_token| raw_token.start <= part.end);
        let comment = |raw_token: &RawToken| Token {
            span: span(*raw_token),
            kind: TokenKind::Comment,
            definition: false,
        };
        tokens.extend(inside.map(comment));
        tokens.sort_by_key(|token| token.span.start);
        tokens
    }

    /// Returns the spans of register names in the source itself, and whether they are definitions; by position.
    fn name_places(&self) -> Vec<(u32, bool)> {
        let symbols = self.assembly.symbols.iter();
        let named = symbols.filter(|symbol| !matches!(symbol.kind, SymbolKind::Label(_)));
        let definitions: HashSet<Span> = named.map(|symbol| symbol.span).collect();
        let references = self.assembly.references.iter().filter(|reference| {
            reference.definition.is_some_and(|definition| definitions.contains(&definition))
        });
        let uses = references.map(|reference| (reference.span, false));
        let all = definitions.iter().map(|definition| (*definition, true)).chain(uses);
        let here = all.filter(|(span, _)| span.file == 0);
        let mut places: Vec<(u32, bool)> = here.map(|(span, is)| (span.start, is)).collect();
        places.sort_unstable();
        places
    }
}

/// Classifies the tokens of a statement.
struct Reader<'a> {
    analysis: &'a Analysis,
    names: &'a [(u32, bool)],
    head: Head,
}

impl Reader<'_> {
    fn read(&self, raw_tokens: &[RawToken], part: &Range<usize>, tokens: &mut Vec<Token>) {
        // Whether the colon of an arithmetic instruction has been passed.
        let mut colon = false;
        for (at, raw_token) in raw_tokens.iter().enumerate() {
            colon |= raw_token.kind == RawTokenKind::Mark(b':');
            if raw_token.end < part.start {
                continue;
            }
            if raw_token.start > part.end {
                return;
            }
            let mut place = span(*raw_token);
            let before = raw_tokens[..at].last().copied();
            let after = |mark| before.is_some_and(|b| b.kind == RawTokenKind::Mark(mark));
            let name = self.names.binary_search_by_key(&place.start, |(start, _)| *start);
            let mut definition = false;
            let kind = match raw_token.kind {
                RawTokenKind::Text => Some(TokenKind::Text),
                RawTokenKind::Word if after(b'@') => {
                    if let Some(mark) = before.filter(|mark| mark.end == raw_token.start) {
                        place = span(mark).to(place);
                    }
                    definition = self.head == Head::Label;
                    Some(TokenKind::Label)
                }
                RawTokenKind::Word if at == 1 && matches!(self.head, Head::Body(_)) => {
                    place = before.map_or(place, |point| span(point).to(place));
                    Some(TokenKind::Directive)
                }
                RawTokenKind::Word if after(b'.') && name.is_err() => {
                    Some(self.part(&raw_tokens[..at]))
                }
                RawTokenKind::Word if self.head == Head::Include => {
                    if let Some(mark) = before.filter(|mark| mark.end == raw_token.start) {
                        place = span(mark).to(place);
                    }
                    Some(TokenKind::Directive)
                }
                RawTokenKind::Word => match name {
                    Ok(at) => {
                        definition = self.names[at].1;
                        Some(TokenKind::Name)
                    }
                    Err(_) => self.word(*raw_token, raw_tokens, at, colon),
                },
                RawTokenKind::Comment | RawTokenKind::Mark(_) => None,
            };
            if let Some(kind) = kind {
                tokens.push(Token { span: place, kind, definition });
            }
        }
    }

    /// Returns the kind of a word after a `.`: channels, or the fraction of a number.
    fn part(&self, before: &[RawToken]) -> TokenKind {
        let [.., owner, point] = before else { return TokenKind::Number };
        let digits = owner.kind == RawTokenKind::Word
            && owner.end == point.start
            && self.analysis.bytes(*owner).first().is_some_and(u8::is_ascii_digit);
        // A swizzle of digits has no preceding point: `src0.111.5` is not one.
        let swizzle = before
            .get(..before.len() - 2)
            .and_then(|rest| rest.last())
            .is_some_and(|raw_token| raw_token.kind == RawTokenKind::Mark(b'.'));
        let owned = matches!(owner.kind, RawTokenKind::Word | RawTokenKind::Mark(b']' | b')'));
        if digits && !swizzle || !owned { TokenKind::Number } else { TokenKind::Channels }
    }

    fn word(
        &self,
        raw_token: RawToken,
        all: &[RawToken],
        at: usize,
        colon: bool,
    ) -> Option<TokenKind> {
        let bytes = self.analysis.bytes(raw_token);
        let kw = names::find(bytes);
        if bytes.first().is_some_and(u8::is_ascii_digit) {
            // `8bit` is the only keyword that begins with a digit.
            let word = !bytes.iter().all(u8::is_ascii_digit) && within(self.head, bytes);
            return Some(if word { TokenKind::Value } else { TokenKind::Number });
        }
        let is = |role| roles(kw).contains(&role);
        let first = at == 0;
        let indexed = all.get(at + 1).is_some_and(|next| next.kind == RawTokenKind::Mark(b'['));
        let register = is(Role::Register) || is(Role::Address) || is(Role::Source);
        // `PRED.rgb(!b)`, `WMASK(rg)`.
        let bracketed =
            all[..at].last().is_some_and(|b| matches!(b.kind, RawTokenKind::Mark(b'(' | b'!')));
        let channels = bracketed && bytes.iter().all(|b| b"rgba".contains(&b.to_ascii_lowercase()));
        match self.head {
            Head::Alu | Head::Tex | Head::Flow(_) if channels => Some(TokenKind::Channels),
            Head::State(_) if first => Some(TokenKind::Directive),
            Head::State(register) => {
                let field = str::from_utf8(bytes).ok().and_then(|name| register.field(name));
                Some(if field.is_some() { TokenKind::Field } else { TokenKind::Value })
            }
            Head::Raw if first => Some(TokenKind::Keyword),
            Head::Flow(_) if first || kw == Kw::If => Some(TokenKind::Keyword),
            Head::Flow(Kw::Fc) if at == 1 => Some(TokenKind::Keyword),
            Head::Flow(_) if is(Role::Condition) || register => Some(match kw {
                Kw::Table => TokenKind::Flag,
                _ => TokenKind::Register,
            }),
            Head::Flow(_) if is(Role::Modifier) => Some(TokenKind::Flag),
            Head::Flow(_) if is(Role::ModifierValue) => Some(TokenKind::Value),
            Head::Tex if first => Some(TokenKind::Keyword),
            Head::Tex if indexed && register => Some(TokenKind::Register),
            Head::Tex => {
                let operation = names::TEX_OPS.iter().any(|(op, _)| *op == kw) || kw == Kw::Op;
                let given = all[..at].last().is_some_and(|b| b.kind == RawTokenKind::Mark(b'='));
                let flag = is(Role::Flag) || is(Role::TexFlag);
                match (operation && given, flag) {
                    (true, _) => Some(TokenKind::Operation),
                    (_, true) => Some(TokenKind::Flag),
                    _ => register.then_some(TokenKind::Register),
                }
            }
            Head::Directive(_) if indexed && register => Some(TokenKind::Register),
            Head::Directive(_) if first => Some(TokenKind::Directive),
            Head::Directive(_) => match kw {
                Kw::Float => Some(TokenKind::Register),
                _ if within(self.head, bytes) => Some(TokenKind::Value),
                _ => None,
            },
            Head::Alu if colon => {
                let operation = names::opcode(kw).is_some() || kw == Kw::Op;
                let result = is(Role::Result) && !operation;
                if is(Role::Destination) || is(Role::Source) {
                    Some(TokenKind::Register)
                } else if is(Role::Compare) {
                    Some(TokenKind::Value)
                } else if operation {
                    Some(TokenKind::Operation)
                } else {
                    result.then_some(TokenKind::Flag)
                }
            }
            Head::Alu if is(Role::Source) || is(Role::Address) => Some(TokenKind::Register),
            Head::Alu if is(Role::Flag) => Some(TokenKind::Flag),
            Head::Alu if is(Role::Presubtract) => Some(TokenKind::Operation),
            Head::Alu if is(Role::Compare) => Some(TokenKind::Value),
            Head::Raw | Head::Flow(_) | Head::Alu => None,
            Head::Label | Head::Include | Head::Empty | Head::Other | Head::Body(_) => None,
        }
    }
}

/// Returns whether a word is valid in its directive.
fn within(head: Head, word: &[u8]) -> bool {
    let Head::Directive(directive) = head else { return false };
    let mut rows = str::from_utf8(word).ok().into_iter().flat_map(keyword_docs::rows);
    rows.any(|row| row.role == Role::Within(directive))
}

/// Returns the roles of a word.
fn roles(kw: Kw) -> &'static [Role] {
    static ROLES: LazyLock<Vec<Vec<Role>>> = LazyLock::new(|| {
        let mut roles = vec![Vec::new(); Kw::ALL.len() + 1];
        for row in keyword_docs::WORDS {
            let kw = names::find(row.word.as_bytes());
            if let Some(list) = roles.get_mut(kw as usize).filter(|_| kw != Kw::Ident) {
                list.push(row.role);
            }
        }
        roles
    });
    ROLES.get(kw as usize).map_or(&[], Vec::as_slice)
}
