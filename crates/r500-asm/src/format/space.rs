//! Spacing between the tokens of a line.

use std::ops::Range;

use super::{Source, WIDTH, columns};
use crate::ide::{Head, begins_statement};
use crate::names::{self, Kw};
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// The tokens of a line, each with whether a space precedes it.
pub(super) struct SpacedLine<'a> {
    text: &'a [u8],
    raw_tokens: &'a [RawToken],
    spaces: Vec<bool>,
    /// Token indices after which the line may be broken: the colon of an operation, and commas.
    colon: Option<usize>,
    commas: Vec<usize>,
}

/// State of the statement that a token is in.
#[derive(Clone, Copy, Default)]
struct State {
    /// Whether bars mean "or" instead of an absolute value.
    flow: bool,
    /// Whether the token is between the bars of an absolute value.
    bars: bool,
    depth: usize,
    /// Whether it is after the colon of an arithmetic instruction, where `*` is of an output modifier, and `-` of an
    /// operand.
    operations: bool,
    /// Index of the first token of the statement, if it is on the line, and its kind.
    first: Option<usize>,
    head: Option<Head>,
}

/// State of a statement that began on earlier lines, carried from line to line: a statement may have as many lines as
/// the source.
#[derive(Default)]
pub(super) struct Begun {
    statement: usize,
    /// Index of the first token that is not counted yet.
    at: usize,
    bars: usize,
    depth: usize,
    colon: bool,
}

impl Begun {
    /// Advances to a token, which is not before the last one.
    pub(super) fn advance(&mut self, source: &Source<'_>, to: usize) {
        let statements = source.statements;
        let open = statements.get(self.statement).is_some_and(|s| s.end > to);
        if !open {
            let statement = statements.partition_point(|s| s.end <= to);
            let at = statements.get(statement).map_or(to, |s| s.first);
            *self = Self { statement, at, ..Self::default() };
        }
        for raw_token in &source.code[self.at..to] {
            match raw_token.kind {
                RawTokenKind::Mark(b'|') => self.bars += 1,
                RawTokenKind::Mark(b'[' | b'(') => self.depth += 1,
                RawTokenKind::Mark(b']' | b')') => self.depth = self.depth.saturating_sub(1),
                RawTokenKind::Mark(b':') => self.colon = true,
                _ => {}
            }
        }
        self.at = to;
    }
}

impl<'a> SpacedLine<'a> {
    /// Returns the tokens of a line; `begun` must have advanced to its start.
    pub(super) fn new(source: &Source<'a>, range: Range<usize>, begun: &Begun) -> Self {
        debug_assert_eq!(begun.at, range.start);
        let raw_tokens = &source.code[range.clone()];
        let mut words = Self {
            text: source.text,
            raw_tokens,
            spaces: Vec::with_capacity(raw_tokens.len()),
            colon: None,
            commas: Vec::new(),
        };
        let mut state = State::default();
        let mut statement = begun.statement;
        let head = |statement: usize| source.statements.get(statement).map(|s| s.head);
        let flow = |statement| matches!(head(statement), Some(Head::Flow(_)));
        state.flow = flow(statement);
        state.head = head(statement);
        let begins = source.statements.get(statement).map(|s| s.first);
        state.first = begins.and_then(|first| first.checked_sub(range.start));
        state.operations = begun.colon && state.head == Some(Head::Alu);
        // A line may begin inside an absolute value that an earlier line opened.
        state.bars = !state.flow && begun.bars % 2 == 1;
        // Or inside brackets, which have no break points.
        state.depth = begun.depth;
        // Only the first colon of a statement is a separator.
        let parted = begun.colon;
        for at in 0..raw_tokens.len() {
            if source.statements.get(statement).is_some_and(|s| s.end <= range.start + at) {
                statement += 1;
                let head = head(statement);
                state = State { flow: flow(statement), first: Some(at), head, ..State::default() };
            }
            let space = at > 0 && words.space(at, &state);
            words.spaces.push(space);
            // At the start of a line, some words would begin a statement.
            let goes_on = || !begins_statement(source.text, &source.code[range.start + at + 1..]);
            match raw_tokens[at].kind {
                RawTokenKind::Mark(b'[' | b'(') => state.depth += 1,
                RawTokenKind::Mark(b']' | b')') => state.depth = state.depth.saturating_sub(1),
                RawTokenKind::Mark(b'|') if !state.flow => state.bars = !state.bars,
                RawTokenKind::Mark(b':') if state.head == Some(Head::Alu) && !state.operations => {
                    state.operations = true;
                    if !parted && goes_on() {
                        words.colon = words.colon.or(Some(at));
                    }
                }
                RawTokenKind::Mark(b':') if !parted && goes_on() => {
                    words.colon = words.colon.or(Some(at));
                }
                RawTokenKind::Mark(b',') if state.depth == 0 && goes_on() => words.commas.push(at),
                // The bytes of a texture: consecutive strings.
                RawTokenKind::Text
                    if raw_tokens.get(at + 1).is_some_and(|p| p.kind == RawTokenKind::Text) =>
                {
                    words.commas.push(at);
                }
                _ => {}
            }
        }
        words
    }

    pub(super) fn len(&self) -> usize {
        self.raw_tokens.len()
    }

    /// Returns the tokens of a range with the spaces between them.
    pub(super) fn join(&self, from: usize, to: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for at in from..to {
            if at > from && self.spaces[at] {
                out.push(b' ');
            }
            out.extend_from_slice(&self.text[self.raw_tokens[at].range()]);
        }
        out
    }

    /// Returns the ends of the lines that this line is broken into; the last is its own end.
    pub(super) fn breaks(&self, indent: usize, after: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut from = 0;
        // First break between source bindings and operations.
        let colon = self.colon.map(|at| at + 1).filter(|at| *at < self.len());
        for part in colon.into_iter().chain([self.len()]) {
            let mut best = None;
            for end in self.commas.iter().map(|at| at + 1).filter(|end| *end < part).chain([part]) {
                let column = if from == 0 { indent } else { after };
                if end > from
                    && columns(&self.join(from, end), column) > WIDTH
                    && let Some(fits) = best.take()
                {
                    ends.push(fits);
                    from = fits;
                }
                if end > from {
                    best = Some(end);
                }
            }
            ends.push(part);
            from = part;
        }
        ends
    }

    fn bytes(&self, at: usize) -> &[u8] {
        &self.text[self.raw_tokens[at].range()]
    }

    fn is_number(&self, at: usize) -> bool {
        self.raw_tokens[at].kind == RawTokenKind::Word && self.bytes(at)[0].is_ascii_digit()
    }

    /// Returns whether a space precedes a token (not the first).
    fn space(&self, at: usize, state: &State) -> bool {
        let (before, raw_token) = (self.raw_tokens[at - 1], self.raw_tokens[at]);
        let touching = before.end == raw_token.start;
        // The parts of a number must stay adjacent, and other tokens must not become a number.
        if raw_token.kind == RawTokenKind::Mark(b'.') && self.is_number(at - 1)
            || before.kind == RawTokenKind::Mark(b'.') && at >= 2 && self.is_number(at - 2)
        {
            return !touching;
        }
        let exponent = |at: usize| {
            self.raw_tokens[at].kind == RawTokenKind::Word
                && self.bytes(at).last().is_some_and(|b| b.eq_ignore_ascii_case(&b'e'))
                && (self.is_number(at)
                    || at >= 2
                        && self.raw_tokens[at - 1].kind == RawTokenKind::Mark(b'.')
                        && self.is_number(at - 2))
        };
        let sign = |kind| matches!(kind, RawTokenKind::Mark(b'+' | b'-'));
        if sign(raw_token.kind) && exponent(at - 1)
            || sign(before.kind) && at >= 2 && exponent(at - 2)
        {
            return !touching;
        }
        // Two minus signs would start a comment.
        if before.kind == RawTokenKind::Mark(b'-') && raw_token.kind == RawTokenKind::Mark(b'-') {
            return true;
        }
        let arrow = |at: usize| {
            self.raw_tokens[at].kind == RawTokenKind::Mark(b'-')
                && self.raw_tokens.get(at + 1).is_some_and(|next| {
                    next.kind == RawTokenKind::Mark(b'>') && next.start == self.raw_tokens[at].end
                })
        };
        let bar = |kind| kind == RawTokenKind::Mark(b'|') && !state.flow;
        let expression = state.depth > 0 || !state.operations;
        let operator = |kind| matches!(kind, RawTokenKind::Mark(b'*' | b'/'));
        if state.first == Some(at) {
            return true;
        }
        // Without the space, another language's comment.
        if before.kind == RawTokenKind::Mark(b'/') && operator(raw_token.kind) {
            return true;
        }
        if expression && (operator(before.kind) || operator(raw_token.kind)) {
            return false;
        }
        if expression
            && raw_token.kind == RawTokenKind::Mark(b'-')
            && !arrow(at)
            && self.ends_operand(at - 1, state)
        {
            return false;
        }
        match (before.kind, raw_token.kind) {
            (_, RawTokenKind::Mark(b'>')) => false,
            (RawTokenKind::Mark(b'>'), _) => true,
            (_, RawTokenKind::Mark(b',' | b']' | b')' | b'.' | b'+')) => false,
            (RawTokenKind::Mark(b'.' | b'+' | b'[' | b'(' | b'!' | b'@' | b'#'), _) => false,
            // `-|x|`, `|x|`: `bars` is the state before the token.
            (before_kind, kind) if bar(kind) => {
                !state.bars && before_kind != RawTokenKind::Mark(b'-')
            }
            (kind, _) if bar(kind) && state.bars => false,
            (_, RawTokenKind::Mark(b'-')) if arrow(at) => true,
            (RawTokenKind::Mark(b'-'), _) => false,
            (RawTokenKind::Word, RawTokenKind::Mark(b'[')) => false,
            (RawTokenKind::Word, RawTokenKind::Mark(b'(')) => {
                let word = self.bytes(at - 1);
                let apart =
                    [&b"IF"[..], b"at"].iter().any(|apart| word.eq_ignore_ascii_case(apart));
                // The first argument of a macro, or a number of iterations.
                apart || self.begins_arguments(at - 1, state)
            }
            _ => true,
        }
    }

    /// Returns whether a token can end an operand of an expression, so that a `-` after it is a difference.
    fn ends_operand(&self, at: usize, state: &State) -> bool {
        match self.raw_tokens[at].kind {
            RawTokenKind::Mark(b')' | b']') => true,
            RawTokenKind::Word if state.depth > 0 || self.is_number(at) => true,
            RawTokenKind::Word => {
                let word = self.bytes(at);
                let apart = [&b"row"[..], b"column"].iter().any(|w| word.eq_ignore_ascii_case(w));
                names::find(word) == Kw::Ident && state.first != Some(at) && !apart
            }
            _ => false,
        }
    }

    /// Returns whether arguments follow a word: of the use of a macro, or of `.rept`.
    fn begins_arguments(&self, at: usize, state: &State) -> bool {
        match state.head {
            Some(Head::Other) => state.first == Some(at),
            Some(Head::Body(_)) => state.first.is_some_and(|first| first + 1 == at),
            _ => false,
        }
    }
}
