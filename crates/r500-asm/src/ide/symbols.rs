//! Symbols: definitions, references, rename and the outline of a source.

use super::{Analysis, Head, OccurrenceRole, TextEdit, span, touches};
use crate::items::Register;
use crate::items::{Symbol, SymbolKind};
use crate::names::{Kw, register_of};
use crate::source::Span;
use r500_text::macros::MacroWord;
use r500_text::raw_tokens::RawTokenKind;

/// An entry of a source's outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The name.
    pub name: String,
    /// A short description.
    pub detail: String,
    /// The kind.
    pub kind: OutlineKind,
    /// Span of its name.
    pub name_span: Span,
    /// Span of all of it.
    pub span: Span,
}

/// The kind of an entry of the outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    /// A label.
    Label,
    /// A name of a register or a number.
    Name,
    /// A macro.
    Macro,
    /// A directive that sets a value.
    Directive,
    /// A block of flow control.
    Block,
    /// An included file.
    Include,
}

/// Why a name cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renaming {
    /// There is no name at the position.
    Nothing,
    /// The new name is a keyword, starts with a digit, or has invalid characters.
    NotAName,
    /// The new name is taken; the span of its definition.
    Taken(Span),
}

impl std::fmt::Display for Renaming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nothing => "only labels and names that the source defines can be renamed",
            Self::NotAName => "that cannot be a name: it is a word of the language, starts with a digit, or holds other than letters, digits and `_`",
            Self::Taken(_) => "that name is taken",
        })
    }
}

impl std::error::Error for Renaming {}

impl Analysis {
    /// Returns the definition of the name, label, register or file at a position; for a file, all of it. Of several
    /// definitions of a register it is the first.
    #[must_use]
    pub fn definition(&self, at: usize) -> Option<Span> {
        self.definitions(at).first().copied()
    }

    /// Returns the definitions of the name, label, register or file at a position. A register is defined by the
    /// directives that give it a name or a value, and by the instructions that write it.
    #[must_use]
    pub fn definitions(&self, at: usize) -> Vec<Span> {
        if let Some(include) = self.assembly.includes.iter().find(|i| touches(i.span, at)) {
            return vec![Span { file: include.file, start: 0, end: 0 }];
        }
        if let Some(symbol) = self.symbol(at) {
            return vec![symbol.span];
        }
        let all = self.occurrences(at).into_iter();
        all.filter(|one| one.role != OccurrenceRole::Read).map(|one| one.span).collect()
    }

    /// Returns the uses of the symbol or register at a position, by file and position; with its definitions by
    /// directives on request. Those of a register include its names.
    #[must_use]
    pub fn references(&self, at: usize, definition: bool) -> Vec<Span> {
        if self.register_under(at).is_some() {
            let all = self.occurrences(at).into_iter();
            let all = all.filter(|one| definition || one.role != OccurrenceRole::Definition);
            return all.map(|one| one.span).collect();
        }
        self.symbol_references(at, definition)
    }

    /// Returns the uses of the symbol at a position.
    fn symbol_references(&self, at: usize, definition: bool) -> Vec<Span> {
        let Some(symbol) = self.symbol(at) else { return Vec::new() };
        let uses = self.assembly.references.iter();
        let uses = uses.filter(|r| r.definition == Some(symbol.span)).map(|r| r.span);
        let mut all: Vec<Span> = uses.chain(definition.then_some(symbol.span)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the name at a place that [`Analysis::rename`] would change: its span, without a
    /// label's `@`.
    #[must_use]
    pub fn renamable(&self, at: usize) -> Option<Span> {
        self.symbol(at)?;
        let word = self.word(at).or_else(|| self.word(at + 1))?;
        Some(span(word))
    }

    /// Returns the edits that rename the name or label at a position, possibly in several files.
    ///
    /// # Errors
    /// Why it cannot be renamed.
    pub fn rename(&self, at: usize, name: &str) -> Result<Vec<TextEdit>, Renaming> {
        let symbol = self.symbol(at).ok_or(Renaming::Nothing)?;
        let name = name.strip_prefix('@').unwrap_or(name);
        let label = matches!(symbol.kind, SymbolKind::Label(_));
        let letters =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        // Labels have their own namespace and may be any word.
        let reserved = !label
            && (name.starts_with(|c: char| c.is_ascii_digit())
                || crate::names::find(name.as_bytes()) != Kw::Ident
                || register_of(name).is_some());
        if !letters || reserved {
            return Err(Renaming::NotAName);
        }
        let same_kind = |other: &&Symbol| matches!(other.kind, SymbolKind::Label(_)) == label;
        let taken = self
            .assembly
            .symbols
            .iter()
            .filter(same_kind)
            .find(|other| other.span != symbol.span && other.name.eq_ignore_ascii_case(name));
        if let Some(taken) = taken {
            return Err(Renaming::Taken(taken.span));
        }
        let edits = self.symbol_references(at, true).into_iter().map(|span| {
            let marked = self.assembly.files.bytes(span).first() == Some(&b'@');
            // Space between `@` and the name is removed.
            TextEdit { span, text: if marked { format!("@{name}") } else { name.to_owned() } }
        });
        Ok(edits.collect())
    }

    /// Returns the outline of a source, in source order.
    #[must_use]
    pub fn outline(&self) -> Vec<Outline> {
        let mut list: Vec<Outline> = Vec::new();
        // Indices of the entries of open blocks.
        let mut open: Vec<usize> = Vec::new();
        for statement in &self.statements {
            let tokens = &self.code[statement.first..statement.end];
            let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { continue };
            let whole = span(*first).to(span(*last));
            let entry = |name: String, detail: String, kind, name_span| Outline {
                name,
                detail,
                kind,
                name_span,
                span: whole,
            };
            match statement.head {
                Head::Label => {
                    let Some(symbol) = self.assembly.symbols.iter().find(|s| s.span == whole)
                    else {
                        continue;
                    };
                    let detail = match symbol.kind {
                        SymbolKind::Label(address) => format!("address {address}"),
                        _ => String::new(),
                    };
                    let name = format!("@{}", symbol.name);
                    list.push(entry(name, detail, OutlineKind::Label, whole));
                }
                Head::Include => {
                    let name = tokens.get(2).map_or(String::new(), |token| self.string(*token));
                    list.push(entry(name, "#include".to_owned(), OutlineKind::Include, whole));
                }
                Head::Flow(Kw::If | Kw::Loop | Kw::Rep) => {
                    let name = self.line(tokens);
                    open.push(list.len());
                    list.push(entry(name, String::new(), OutlineKind::Block, span(*first)));
                }
                Head::Flow(Kw::Endif | Kw::Endloop | Kw::Endrep)
                | Head::Body(MacroWord::Endr | MacroWord::Endm) => {
                    if let Some(block) = open.pop().and_then(|at| list.get_mut(at)) {
                        block.span = block.span.to(whole);
                    }
                }
                Head::Body(MacroWord::Macro) => {
                    let Some(&name) = tokens.get(2) else { continue };
                    let detail = self.line(tokens);
                    open.push(list.len());
                    list.push(entry(self.string(name), detail, OutlineKind::Macro, span(name)));
                }
                Head::Body(MacroWord::Rept) => {
                    let name = self.line(tokens);
                    open.push(list.len());
                    list.push(entry(name, String::new(), OutlineKind::Block, span(*first)));
                }
                Head::Directive(Kw::Def | Kw::Uniform) => {
                    let Some(&name) = tokens.get(1) else { continue };
                    let detail = tokens.get(3..).map_or(String::new(), |rest| self.line(rest));
                    let text = self.string(name).trim_matches('"').to_owned();
                    list.push(entry(text, detail, OutlineKind::Name, span(name)));
                }
                Head::Directive(_) | Head::State(_) => {
                    let equals = tokens.iter().position(|p| p.kind == RawTokenKind::Mark(b'='));
                    let (name, detail) = match equals {
                        Some(at) => (self.line(&tokens[..at]), self.line(&tokens[at + 1..])),
                        None => (self.string(*first), self.line(&tokens[1..])),
                    };
                    list.push(entry(name, detail, OutlineKind::Directive, span(*first)));
                }
                _ => {}
            }
        }
        list
    }

    /// Returns the `TEXTURE` statement of the source itself that says what a unit holds, its `;`
    /// included.
    #[must_use]
    pub fn texture_statement(&self, unit: u8) -> Option<Span> {
        let mut textures =
            self.statements.iter().filter(|s| s.head == Head::Directive(Kw::Texture));
        textures.find_map(|statement| {
            let tokens = &self.code[statement.first..statement.end];
            let name = tokens.get(1)?;
            let register = match self.symbol(name.start).map(|symbol| symbol.kind) {
                Some(SymbolKind::Register(register)) => register,
                _ => self.register_at(*name)?.0,
            };
            let all = span(*tokens.first()?).to(span(*tokens.last()?));
            (register == Register::Tex(unit)).then_some(all)
        })
    }

    /// Returns the symbol that is defined or used at a place.
    pub(super) fn symbol(&self, at: usize) -> Option<&Symbol> {
        let symbols = &self.assembly.symbols;
        if let Some(defined) = symbols.iter().find(|symbol| touches(symbol.span, at)) {
            return Some(defined);
        }
        let used = self.assembly.references.iter().find(|r| touches(r.span, at))?;
        let definition = used.definition?;
        symbols.iter().find(|symbol| symbol.span == definition)
    }

    /// Pieces as one short line, without the `;`.
    fn line(&self, tokens: &[r500_text::raw_tokens::RawToken]) -> String {
        let tokens = match tokens {
            [inner @ .., last] if last.kind == RawTokenKind::Mark(b';') => inner,
            all => all,
        };
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return String::new();
        };
        let text = String::from_utf8_lossy(&self.text[first.start..last.end]);
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(60) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        }
    }
}
