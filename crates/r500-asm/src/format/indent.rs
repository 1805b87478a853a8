//! Indentation by the blocks that are open at the start of a line.

use std::collections::HashSet;

use super::Source;
use crate::ide::Head;
use crate::names::Kw;
use r500_text::macros::MacroWord;
use r500_text::raw_tokens::RawTokenKind;

/// Columns a level.
const LEVEL: usize = 4;

/// Limit of indented levels, as in the printer. Without it, the layout could grow quadratically.
const MOST_LEVELS: usize = 16;

fn columns(level: usize) -> usize {
    level.min(MOST_LEVELS) * LEVEL
}

/// Indentation by raw_token.
pub(super) struct Indentation {
    /// Statement number of each token.
    owner: Vec<usize>,
    /// For each statement: first token, level at its start, level after it.
    levels: Vec<(usize, usize, usize)>,
}

impl Indentation {
    /// Returns the indentation of a line that begins with a token.
    pub(super) fn of(&self, raw_token: usize) -> usize {
        let (first, level, _) = self.levels[self.owner[raw_token]];
        columns(level + usize::from(raw_token != first))
    }

    /// Returns the indentation of a line that continues the statement of a token.
    pub(super) fn continued(&self, raw_token: usize) -> usize {
        columns(self.levels[self.owner[raw_token]].1 + 1)
    }

    /// Returns the statement number of a token.
    pub(super) fn statement(&self, raw_token: usize) -> usize {
        self.owner[raw_token]
    }

    /// Returns the indentation of a comment on its own line, before the next token.
    pub(super) fn comment(&self, source: &Source<'_>, next: usize, line: usize) -> usize {
        let after = next.checked_sub(1).map_or(0, |last| self.levels[self.owner[last]].2);
        let Some(&owner) = self.owner.get(next) else { return columns(after) };
        let (first, level, _) = self.levels[owner];
        if first != next {
            return self.continued(next);
        }
        // Before the end of a block, it belongs to the block, unless it was not indented further than the end.
        let column = |at: usize| {
            let start = source.text[..at].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let rest = &source.text[start..];
            let space = rest.iter().take_while(|b| b" \t".contains(b)).count();
            super::columns(&rest[..space], 0)
        };
        if level < after && column(line) > column(source.code[next].start) {
            return columns(after);
        }
        columns(level)
    }
}

pub(super) fn indents(source: &Source<'_>) -> Indentation {
    let called = called(source);
    let mut owner = vec![0; source.code.len()];
    let mut levels = Vec::with_capacity(source.statements.len());
    let (mut open, mut sub) = (0usize, None);
    for (at, statement) in source.statements.iter().enumerate() {
        owner[statement.first..statement.end].fill(at);
        let level = open + usize::from(sub.is_some());
        let (here, after) = match statement.head {
            Head::Flow(Kw::If | Kw::Loop | Kw::Rep)
            | Head::Body(MacroWord::Rept | MacroWord::Macro) => {
                open += 1;
                (level, level + 1)
            }
            Head::Flow(Kw::Else) => (level.saturating_sub(usize::from(open > 0)), level),
            Head::Flow(Kw::Endif | Kw::Endloop | Kw::Endrep)
            | Head::Body(MacroWord::Endr | MacroWord::Endm) => {
                let inner = usize::from(open > 0);
                open -= inner;
                (level - inner, level - inner)
            }
            Head::Label if open == 0 && sub.is_none() => {
                sub = subroutine(source, at, &called);
                (level, usize::from(sub.is_some()))
            }
            _ if sub == Some(at) => {
                sub = None;
                (open, open)
            }
            _ => (level, level),
        };
        levels.push((statement.first, here, after));
    }
    Indentation { owner, levels }
}

/// Returns the labels that are called, in lower case.
fn called(source: &Source<'_>) -> HashSet<Vec<u8>> {
    let calls = source.statements.iter().filter(|s| s.head == Head::Flow(Kw::Call));
    let labels = calls.filter_map(|call| {
        let tokens = source.code.get(call.first + 1..call.end)?;
        let name = tokens.iter().find(|raw_token| raw_token.kind == RawTokenKind::Word)?;
        Some(source.text[name.range()].to_ascii_lowercase())
    });
    labels.collect()
}

/// Returns the statement that ends the subroutine of a label: an unconditional `RETURN` outside of blocks, before the
/// next subroutine.
fn subroutine(source: &Source<'_>, label: usize, called: &HashSet<Vec<u8>>) -> Option<usize> {
    let is_called = |at: usize| {
        let statement = source.statements[at];
        let name =
            source.code.get(statement.first + 1).filter(|_| statement.end > statement.first + 1);
        name.is_some_and(|name| called.contains(&source.text[name.range()].to_ascii_lowercase()))
    };
    if !is_called(label) {
        return None;
    }
    let mut open = 0usize;
    for (at, statement) in source.statements.iter().enumerate().skip(label + 1) {
        match statement.head {
            Head::Flow(Kw::If | Kw::Loop | Kw::Rep) => open += 1,
            Head::Flow(Kw::Endif | Kw::Endloop | Kw::Endrep) => open = open.checked_sub(1)?,
            Head::Label if open == 0 && is_called(at) => return None,
            Head::Flow(Kw::Return) if open == 0 => {
                let tokens = &source.code[statement.first..statement.end];
                if !tokens.iter().any(|raw_token| raw_token.is(source.text, "IF")) {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
