//! Completion: keywords that the grammar allows at a position, and names of the source.

use std::collections::HashSet;

use super::expansions::number_text;
use super::hover::{operation_page, texture_operations};
use super::keyword_docs::{self, KeywordDoc, Role};
use super::{Analysis, CursorContext, Head, span};
use crate::items::SymbolKind;
use crate::names::{self, CARRIED, Kw};
use crate::source::Span;
use r500_text::expression::Function;
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// A completion proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The label, with which typed text is compared.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A short description; may be empty.
    pub detail: String,
    /// Details in Markdown; may be empty.
    pub text: String,
    /// The text to insert, a snippet: `$0` is the final cursor position, `$1` a placeholder and `${1:x}` one with a
    /// default. The language itself has no `$`.
    pub insert: String,
    /// The span that it replaces: the word at the cursor, or an empty span.
    pub replace: Span,
}

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A statement with its parts.
    Statement,
    /// A word of the language.
    Keyword,
    /// An operation.
    Operation,
    /// A register or source.
    Register,
    /// A mask, a swizzle, a half.
    Channels,
    /// A name that the source defines.
    Name,
    /// A label.
    Label,
    /// A field of a register.
    Field,
    /// A value of a field.
    Value,
}

impl Completion {
    /// Returns the text for editors without snippets.
    #[must_use]
    pub fn plain(&self) -> String {
        keyword_docs::plain(&self.insert)
    }
}

impl Analysis {
    /// Returns the completions at a position, the most common first.
    #[must_use]
    pub fn completions(&self, at: usize) -> Vec<Completion> {
        let at = at.min(self.text.len());
        let place = self.at(at);
        let in_string = self.code.iter().any(|raw_token| {
            raw_token.kind == RawTokenKind::Text && raw_token.start < at && at < raw_token.end
        });
        let number = place.word.is_some_and(|word| self.bytes(word)[0].is_ascii_digit());
        if in_string || number || self.comment(at).is_some() {
            return Vec::new();
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let replace = place.word.map_or(Span { file: 0, start: offset(at), end: offset(at) }, span);
        let mut list = CompletionList { items: Vec::new(), replace };
        match place.statement {
            Head::Empty | Head::Other if place.before.is_empty() => self.statement(&mut list),
            Head::Alu if !place.has(b':') => self.lets(&mut list, &place),
            Head::Alu => self.operation(&mut list, &place),
            Head::Tex => self.texture(&mut list, &place),
            Head::Flow(kw) => self.flow(&mut list, &place, kw),
            Head::Directive(kw) => self.directive(&mut list, &place, kw),
            Head::State(register) => self.state(&mut list, &place, register),
            Head::Body(_) => self.numbers(&mut list),
            // The name of a boolean constant, and its value.
            Head::Other if self.is_name(place.before[0], "bool") => {
                list.roles(&[Role::Within(Kw::Bool)]);
            }
            Head::Empty | Head::Other | Head::Raw | Head::Label | Head::Include => {}
        }
        list.items
    }

    /// Completes the start of a statement.
    fn statement(&self, list: &mut CompletionList) {
        list.sources();
        list.roles(&[Role::Flag, Role::Statement, Role::Directive]);
        list.add(":", CompletionKind::Statement, "an operation without sources", ": $0 ;");
        list.add(
            "@",
            CompletionKind::Label,
            "a label: the address of the next instruction",
            "@${1:label}\n$0",
        );
        list.add("#include", CompletionKind::Statement, "another file's text", "#include \"$1\"$0");
        for name in CARRIED {
            let Some(register) = r500_isa::register(name) else { continue };
            let index = if register.count > 1 { "[${1:0}]" } else { "" };
            list.add(
                name,
                CompletionKind::Register,
                register.meaning,
                &format!("{name}{index} = $0 ;"),
            );
        }
        self.names(list, &["const", "int", "bool"], " = ($0) ;");
        for symbol in &self.assembly.symbols {
            if symbol.kind == SymbolKind::Macro {
                let page = self.macro_text(symbol, usize::MAX);
                let detail = page.lines().next().unwrap_or_default().replace('`', "");
                let insert = format!("{} $0 ;", symbol.name);
                list.page(&symbol.name, CompletionKind::Name, &detail, &insert, page);
            }
        }
        list.roles(&[Role::Body]);
    }

    /// Completes a number: names of numbers, counters and parameters, `pi`, functions.
    fn numbers(&self, list: &mut CompletionList) {
        self.names(list, &["float"], "");
        let mut seen = HashSet::new();
        for symbol in self.assembly.symbols.iter().filter(|symbol| seen.insert(symbol.span)) {
            let text = match symbol.kind {
                SymbolKind::Number(constant) => number_text(&symbol.name, constant),
                SymbolKind::Parameter => "a parameter or a counter".to_owned(),
                _ => continue,
            };
            let detail = text.split_once(": ").map_or(&*text, |(_, detail)| detail).to_owned();
            list.add(&symbol.name, CompletionKind::Name, &detail, &symbol.name);
        }
        list.add("pi", CompletionKind::Value, "3.141592653589793", "pi");
        for (name, arguments, meaning) in Function::of_numbers() {
            let insert =
                if arguments == 1 { format!("{name}($1)$0") } else { format!("{name}($1, $2)$0") };
            list.add(name, CompletionKind::Operation, meaning, &insert);
        }
    }

    /// Completes flags and source bindings, before the colon.
    fn lets(&self, list: &mut CompletionList, place: &CursorContext<'_>) {
        let owner = place.owner().map_or(Kw::Ident, |word| self.kw(word));
        if place.last_is(b'.') {
            return match owner {
                Kw::AluResult => list.channels(&["r", "a"]),
                Kw::Pred => list.channels(&["rgb", "a", "rgba"]),
                _ => list.channels(&["rgb", "a"]),
            };
        }
        if place.last_is(b'=') {
            if owner_of_let(self, place) == Kw::Srcp {
                return list.roles(&[Role::Presubtract]);
            }
            list.roles(&[Role::Address]);
            self.names(list, &["temp", "const"], "");
            return self.numbers(list);
        }
        if place.last_is(b'(') || place.last_is(b'!') {
            return match owner {
                Kw::Pred => names::PRED_SELS.iter().for_each(|(word, sel)| {
                    let detail = sel.describe().map_or("", |value| value.meaning);
                    list.add(word, CompletionKind::Channels, detail, word);
                }),
                Kw::AluResult => list.roles(&[Role::Compare]),
                Kw::StatWe | Kw::Wmask | Kw::Omask => list.channels(&names::MASKS),
                Kw::Clamp => list.channels(&["rgb", "a", "rgba"]),
                _ => {}
            };
        }
        if place.last_is(b'[') || place.last_is(b'+') {
            list.word("aL");
            return self.numbers(list);
        }
        let lets = place.has(b'=');
        if !lets || place.last_is(b',') {
            list.sources();
        }
        if !lets {
            list.roles(&[Role::Flag]);
        }
        if !place.last_is(b',') {
            list.add(":", CompletionKind::Keyword, "operations follow", ": $0");
        }
    }

    /// Completes an operation, after the colon.
    fn operation(&self, list: &mut CompletionList, place: &CursorContext<'_>) {
        let cut = place
            .before
            .iter()
            .rposition(|raw_token| matches!(raw_token.kind, RawTokenKind::Mark(b',' | b':')));
        let here = &place.before[cut.map_or(0, |at| at + 1)..];
        let owner = place.owner();
        let owner_kw = owner.map_or(Kw::Ident, |word| self.kw(word));
        let alpha = self.is_alpha(here);
        if place.last_is(b'.') {
            return match owner_kw {
                Kw::Src0 | Kw::Src1 | Kw::Src2 | Kw::Srcp => {
                    let (rgb, one) = (
                        ["rgb", "rrr", "ggg", "bbb", "aaa", "111", "000", "hhh"],
                        ["a", "r", "g", "b", "1", "0", "h"],
                    );
                    if alpha != Some(true) {
                        list.channels(&rgb);
                    }
                    if alpha != Some(false) {
                        list.channels(&one);
                    }
                }
                Kw::Alu => list.channels(&["r", "a"]),
                Kw::Temp | Kw::Out | Kw::Pred | Kw::Ident => {
                    let usual = ["rgb", "a"];
                    list.channels(&usual);
                    let rest: Vec<&str> = names::MASKS
                        .into_iter()
                        .filter(|mask| !usual.contains(mask) && (!mask.contains('a')))
                        .collect();
                    list.channels(&rest);
                }
                _ => list.channels(&["rgb", "a"]),
            };
        }
        if place.last_is(b'[') {
            if matches!(owner_kw, Kw::Alu | Kw::Pred) {
                list.roles(&[Role::Compare]);
            } else {
                self.numbers(list);
            }
            return;
        }
        let opcode = here.iter().any(|raw_token| names::opcode(self.kw(*raw_token)).is_some());
        if opcode {
            let suffix = match alpha {
                Some(true) => "a",
                _ => "rgb",
            };
            for row in keyword_docs::of_role(Role::Source) {
                let insert = format!("{}.${{1:{suffix}}}$0", row.word);
                list.add(row.word, CompletionKind::Register, &row.meaning(), &insert);
            }
            return;
        }
        let modified = place.last_is(b'*')
            || place.last().is_some_and(|word| matches!(self.kw(word), Kw::Clamp | Kw::Raw));
        for operation in names::OPCODES {
            let half_fits = match alpha {
                Some(true) => operation.alpha.is_some(),
                Some(false) => operation.rgb.is_some(),
                None => true,
            };
            if half_fits {
                let page = operation_page(operation.kw).unwrap_or_default();
                let detail = page.lines().next().unwrap_or_default();
                let detail =
                    detail.split_once(": ").map_or(detail, |(_, meaning)| meaning).to_owned();
                let word = operation.kw.text();
                list.page(word, CompletionKind::Operation, &detail, &format!("{word} $0"), page);
            }
        }
        if !modified {
            list.roles(&[Role::Destination, Role::Result]);
            self.names(list, &["temp", "out"], ".${1:rgb} = $0");
        }
        list.roles(&[Role::Operation]);
    }

    /// Returns whether a partial operation belongs to the alpha half, if that is known.
    fn is_alpha(&self, here: &[RawToken]) -> Option<bool> {
        for (at, raw_token) in here.iter().enumerate() {
            if let Some(found) = names::opcode(self.kw(*raw_token)) {
                match (found.rgb, found.alpha) {
                    (None, Some(_)) => return Some(true),
                    (Some(_), None) => return Some(false),
                    _ => {}
                }
            }
            let equals = here.get(at + 1).is_some_and(|next| next.kind == RawTokenKind::Mark(b'='));
            if equals && raw_token.kind == RawTokenKind::Word {
                let mask = self.bytes(*raw_token);
                if mask.eq_ignore_ascii_case(b"a") || mask.eq_ignore_ascii_case(b"depth") {
                    return Some(true);
                }
                if !mask.eq_ignore_ascii_case(b"none") {
                    return Some(false);
                }
            }
        }
        None
    }

    /// Completes a texture instruction.
    fn texture(&self, list: &mut CompletionList, place: &CursorContext<'_>) {
        let opcode = place.before.iter().skip(1).rposition(|raw_token| {
            let kw = self.kw(*raw_token);
            kw == Kw::Op || names::TEX_OPS.iter().any(|(k, _)| *k == kw)
        });
        let opcode = opcode.filter(|_| place.has(b'='));
        if place.last_is(b'.') {
            if opcode.is_some() {
                return list.channels(&["rgba", "rrrr", "gggg", "bbbb", "aaaa", "rgrg"]);
            }
            return list.channels(&["rgba", "rgb", "rg", "r", "a", "none"]);
        }
        if place.last_is(b'[') || place.last_is(b'(') {
            return self.numbers(list);
        }
        if let Some(at) = opcode {
            let unit = place.before[at + 1..]
                .iter()
                .any(|raw_token| self.kw(*raw_token) == Kw::Tex || self.is_name(*raw_token, "tex"));
            if unit {
                list.add(
                    "temp",
                    CompletionKind::Register,
                    "coordinates",
                    "temp[${1:0}].${2:rgba}$0",
                );
                return self.names(list, &["temp"], ".${1:rgba}$0");
            }
            list.add("tex", CompletionKind::Register, "a texture unit", "tex[${1:0}].${2:rgba} $0");
            return self.names(list, &["tex"], ".${1:rgba} $0");
        }
        if place.has(b'=') {
            for (word, meaning) in texture_operations() {
                list.add(word, CompletionKind::Operation, meaning, &format!("{word} $0"));
            }
            return list.roles(&[Role::TexOperation]);
        }
        list.roles(&[Role::TexFlag, Role::Flag]);
        list.items.retain(|item| item.label != "OUT");
        list.add(
            "temp",
            CompletionKind::Register,
            "the destination",
            "temp[${1:0}].${2:rgba} = $0",
        );
        self.names(list, &["temp"], ".${1:rgba} = $0");
    }

    /// Completes flow control.
    fn flow(&self, list: &mut CompletionList, place: &CursorContext<'_>, kw: Kw) {
        let owner = place.owner().map_or(Kw::Ident, |word| self.kw(word));
        let last = place.last().map_or(Kw::Ident, |word| self.kw(word));
        if place.last_is(b'@') {
            return self.labels(list, "");
        }
        if place.last_is(b'>') || matches!(kw, Kw::Call | Kw::Jump) && place.before.len() == 1 {
            return self.labels(list, "@");
        }
        if place.last_is(b'.') {
            return list.channels(&["r", "g", "b", "a"]);
        }
        let inside = place.last_is(b'(');
        if inside && matches!(owner, Kw::AOp | Kw::BOp0 | Kw::BOp1) {
            let words: &[&str] =
                if owner == Kw::AOp { &["none", "pop", "push"] } else { &["none", "decr", "incr"] };
            return words.iter().for_each(|word| list.word(word));
        }
        if place.last_is(b'[') {
            return self.numbers(list);
        }
        let joined = [b'!', b'&', b'|'].into_iter().any(|mark| place.last_is(mark));
        if last == Kw::If || joined || inside && !matches!(owner, Kw::JumpFunc | Kw::BPopCnt) {
            list.roles(&[Role::Condition]);
            return self.names(list, &["bool"], "");
        }
        if kw == Kw::Fc && place.before.len() == 1 {
            return list.roles(&[Role::FcOperation]);
        }
        list.roles(&[Role::Modifier]);
        if !matches!(kw, Kw::Break | Kw::Continue | Kw::Call | Kw::Return | Kw::Jump) {
            list.items.retain(|item| item.label != "IF");
        }
        if matches!(kw, Kw::Loop | Kw::Rep | Kw::Fc) {
            self.names(list, &["int"], "");
        }
        list.add("->", CompletionKind::Keyword, "another target", "-> @${1:label}$0");
    }

    /// Completes the inside of a directive.
    fn directive(&self, list: &mut CompletionList, place: &CursorContext<'_>, kw: Kw) {
        if place.last_is(b'@') {
            return self.labels(list, "");
        }
        let equals = place.has(b'=');
        if place.last_is(b'[') {
            return self.numbers(list);
        }
        match kw {
            Kw::Entry | Kw::End => self.labels(list, "@"),
            Kw::Input if !equals => {
                list.word("temp");
                list.word("none");
                self.names(list, &["temp"], " = $0");
            }
            Kw::Texture | Kw::Level if !equals => {
                list.add("tex", CompletionKind::Register, "a texture unit", "tex[${1:0}] = $0")
            }
            Kw::Uniform if equals => {
                list.add("const", CompletionKind::Register, "a float constant", "const[${1:0}]$0");
                self.names(list, &["const"], "");
            }
            Kw::Def if equals => {
                list.roles(&[Role::Register, Role::Within(Kw::Bool)]);
                self.numbers(list);
            }
            Kw::Expect if place.before.len() > 1 && !equals => {
                ["at", "row", "column", "all"].iter().for_each(|word| list.within(kw, word));
            }
            Kw::Expect if equals => ["values", "8bit", "_", "true", "false"]
                .iter()
                .for_each(|word| list.within(kw, word)),
            Kw::Expect => {
                ["out", "depth", "coverage", "background", "tolerance", "compare", "failure"]
                    .iter()
                    .for_each(|word| list.within(kw, word))
            }
            _ => list.roles(&[Role::Within(kw)]),
        }
    }

    /// Completes the fields of a state register.
    fn state(
        &self,
        list: &mut CompletionList,
        place: &CursorContext<'_>,
        register: &'static r500_isa::Register,
    ) {
        if !place.has(b'=') {
            return;
        }
        if place.last_is(b'(') {
            let owner = place.owner().map(|word| self.string(word));
            let Some(field) = owner.and_then(|name| register.field(&name)) else { return };
            for value in field.values {
                let (code, name) = (value.code.to_string(), value.name);
                let name = if name.is_empty() { &code } else { name };
                list.add(name, CompletionKind::Value, value.meaning, name);
            }
            return;
        }
        for field in register.fields {
            let given = place.before.iter().any(|raw_token| raw_token.is(&self.text, field.name));
            if !given {
                let flag = field.kind == r500_isa::FieldKind::Flag;
                let insert =
                    if flag { field.name.to_owned() } else { format!("{}($1)$0", field.name) };
                list.add(field.name, CompletionKind::Field, field.meaning, &insert);
            }
        }
    }

    /// Completes names of registers of some kinds.
    fn names(&self, list: &mut CompletionList, kinds: &[&str], suffix: &str) {
        let mut seen = HashSet::new();
        for symbol in self.assembly.symbols.iter().filter(|symbol| seen.insert(symbol.span)) {
            let SymbolKind::Register(register) = symbol.kind else { continue };
            if kinds.contains(&register.word()) {
                let page = self.register(register);
                let detail = page.lines().next().unwrap_or_default().replace('`', "");
                let insert = format!("{}{suffix}", symbol.name);
                list.page(&symbol.name, CompletionKind::Name, &detail, &insert, page);
            }
        }
    }

    /// Returns whether a token is the name of a register of that kind.
    fn is_name(&self, raw_token: RawToken, kind: &str) -> bool {
        let symbol = self.symbol(raw_token.start);
        symbol.is_some_and(|symbol| match symbol.kind {
            SymbolKind::Register(register) => register.word() == kind,
            _ => false,
        })
    }

    fn labels(&self, list: &mut CompletionList, mark: &str) {
        let mut seen = HashSet::new();
        // A macro that is used more than once defines its labels as often.
        for symbol in self.assembly.symbols.iter().filter(|symbol| seen.insert(symbol.span)) {
            if let SymbolKind::Label(address) = symbol.kind {
                let label = format!("{mark}{}", symbol.name);
                list.add(&label, CompletionKind::Label, &format!("address {address}"), &label);
            }
        }
    }
}

/// Returns the source that the binding at a position sets.
fn owner_of_let(analysis: &Analysis, place: &CursorContext<'_>) -> Kw {
    let cut = place.before.iter().rposition(|raw_token| raw_token.kind == RawTokenKind::Mark(b','));
    let here = &place.before[cut.map_or(0, |at| at + 1)..];
    let dot = here.iter().rposition(|raw_token| raw_token.kind == RawTokenKind::Mark(b'.'));
    let word = dot.and_then(|at| here.get(at.checked_sub(1)?));
    word.map_or(Kw::Ident, |word| analysis.kw(*word))
}

/// A list of completions.
struct CompletionList {
    items: Vec<Completion>,
    replace: Span,
}

impl CompletionList {
    fn add(&mut self, label: &str, kind: CompletionKind, detail: &str, insert: &str) {
        self.page(label, kind, detail, insert, String::new());
    }

    fn page(
        &mut self,
        label: &str,
        kind: CompletionKind,
        detail: &str,
        insert: &str,
        text: String,
    ) {
        self.items.push(Completion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            text,
            insert: insert.to_owned(),
            replace: self.replace,
        });
    }

    fn row(&mut self, row: &KeywordDoc) {
        let kind = match row.role {
            Role::Statement | Role::Directive | Role::Body => CompletionKind::Statement,
            Role::Operation | Role::TexOperation | Role::FcOperation => CompletionKind::Operation,
            Role::Source | Role::Address | Role::Destination | Role::Register => {
                CompletionKind::Register
            }
            Role::Compare | Role::Presubtract | Role::ModifierValue => CompletionKind::Value,
            _ => CompletionKind::Keyword,
        };
        let insert = if row.usage.is_empty() { row.word } else { row.usage };
        let meaning = row.meaning();
        let text = if row.usage.is_empty() {
            String::new()
        } else {
            format!("`{}`", row.shown().replace('\n', " "))
        };
        self.page(row.word, kind, &meaning, insert, text);
    }

    fn roles(&mut self, roles: &[Role]) {
        for role in roles {
            keyword_docs::of_role(*role).for_each(|row| self.row(row));
        }
    }

    /// Adds a word in its first role.
    fn word(&mut self, word: &str) {
        if let Some(row) = keyword_docs::rows(word).next() {
            self.row(row);
        }
    }

    /// Adds a word of a directive.
    fn within(&mut self, kw: Kw, word: &str) {
        if let Some(row) = keyword_docs::rows(word).find(|row| row.role == Role::Within(kw)) {
            self.row(row);
        }
    }

    /// Adds sources, as bindings start.
    fn sources(&mut self) {
        for row in keyword_docs::of_role(Role::Source) {
            let insert = format!("{}.${{1:rgb}} = $0", row.word);
            self.add(row.word, CompletionKind::Register, &row.meaning(), &insert);
        }
    }

    fn channels(&mut self, words: &[&str]) {
        for word in words {
            self.add(word, CompletionKind::Channels, "", word);
        }
    }
}
