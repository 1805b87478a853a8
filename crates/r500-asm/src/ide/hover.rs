//! Hover: the meaning of the word at a position, and its value in the instruction.

use r500_isa::values::TexOp;
use r500_isa::{Field, FieldKind, InlineConst, Instruction, Slot, Value};

use super::expansions::number_text;
use super::hints::dwords;
use super::keyword_docs::{self, KeywordDoc, Role};
use super::occurrences::LONGEST_INDEX;
use super::{Analysis, CursorContext, Head, span};
use crate::foreign_ops::foreign_op;
use crate::items::Register;
use crate::items::SymbolKind;
use crate::names::{self, Kw};
use crate::source::Span;
use r500_text::macros::MacroWord;
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// The hover text of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The span that it describes.
    pub span: Span,
    /// The text, in Markdown.
    pub text: String,
}

impl Analysis {
    /// Returns the hover text of the word at a position: an operation, a flag, a register, a field, a name, a number.
    /// In an instruction, its address and dwords follow. `None` if there is no word.
    #[must_use]
    pub fn hover(&self, at: usize) -> Option<Hover> {
        if self.comment(at).is_some() {
            return None;
        }
        if let Some(include) = self.assembly.includes.iter().find(|i| super::touches(i.span, at)) {
            let file = self.assembly.files.list.get(include.file as usize)?;
            let lines = file.bytes.iter().filter(|b| **b == b'\n').count();
            let text = format!("`{}`, {} bytes, {lines} lines", file.name, file.bytes.len());
            return Some(Hover { span: include.span, text });
        }
        let word = self.word(at).or_else(|| {
            // The `@` of a label stands for its name.
            let mark =
                self.code.iter().find(|p| p.start == at && p.kind == RawTokenKind::Mark(b'@'))?;
            self.code.iter().find(|raw_token| raw_token.start >= mark.end).copied()
        })?;
        let place = self.at(word.end);
        let mut hover = self.word_hover(word, &place)?;
        if let Some(index) = self.instruction(word.start)
            && let Some(inst) = self.assembly.job.program.code.get(index)
        {
            hover.text.push_str(&format!("\n\nInstruction {index}: `{}`", dwords(*inst)));
        }
        Some(hover)
    }

    fn word_hover(&self, word: RawToken, place: &CursorContext<'_>) -> Option<Hover> {
        let here = |text: String| Some(Hover { span: span(word), text });
        if let Some(symbol) = self.symbol(word.start) {
            let text = match symbol.kind {
                SymbolKind::Label(address) => {
                    let uses = self.references(word.start, false).len();
                    let plural = if uses == 1 { "" } else { "s" };
                    format!("Label `@{}`: address {address}, {uses} use{plural}", symbol.name)
                }
                SymbolKind::Register(register) => {
                    format!("`{}`: {}", symbol.name, self.register(register))
                }
                SymbolKind::Number(constant) => number_text(&symbol.name, constant),
                SymbolKind::Macro => self.macro_text(symbol, word.start),
                SymbolKind::Parameter => {
                    format!(
                        "`{}`: a parameter of a macro, or the counter of a repetition",
                        symbol.name
                    )
                }
            };
            return here(text);
        }
        if let Some(body) = self.body_word(word) {
            let row = keyword_docs::rows(body.text()).next()?;
            let produced = self.repetition_at(word).map(|found| self.expansion_text(found));
            return here(format!("{}{}", page(row, None), produced.unwrap_or_default()));
        }
        let kw = self.kw(word);
        let owner = place.owner();
        if place.last_is(b'.') {
            let part = self.part(word, owner?, place);
            if part.is_some() {
                return here(part?);
            }
        }
        if let Some((register, all)) = self.register_at(word) {
            let text = self.register(register);
            // The word of a directive that is also a register.
            return Some(Hover { span: all, text });
        }
        if let Head::State(register) = place.statement {
            return here(state(register, self.bytes(word), owner.map(|o| self.bytes(o))));
        }
        if let Some(register) =
            std::str::from_utf8(self.bytes(word)).ok().and_then(r500_isa::register)
        {
            return here(register_page(register));
        }
        let instruction =
            self.instruction(word.start).and_then(|n| self.assembly.job.program.code.get(n));
        if let Some(text) = operation(kw, place) {
            return here(text);
        }
        let bytes = self.string(word);
        let all: Vec<&KeywordDoc> = keyword_docs::rows(&bytes).collect();
        let fitting: Vec<&KeywordDoc> =
            all.iter().copied().filter(|row| fits(row, place)).collect();
        let rows = if fitting.is_empty() { all } else { fitting };
        if !rows.is_empty() {
            let texts: Vec<String> =
                rows.iter().map(|row| page(row, instruction.copied())).collect();
            return here(texts.join("\n\n"));
        }
        self.number(word, place).map(|(span, text)| Hover { span, text })
    }

    /// Returns the register of `word[n]`, where the token is the word or the number, and its span.
    pub(super) fn register_at(&self, raw_token: RawToken) -> Option<(Register, Span)> {
        let at = self.code.iter().position(|other| *other == raw_token)?;
        let mark =
            |at: usize, mark| self.code.get(at).is_some_and(|p| p.kind == RawTokenKind::Mark(mark));
        let word = if mark(at + 1, b'[') {
            at
        } else {
            // Skips the contents of brackets backwards.
            (at.saturating_sub(LONGEST_INDEX)..at)
                .rev()
                .take_while(|at| !mark(*at, b']'))
                .find(|at| mark(*at, b'['))?
                .checked_sub(1)?
        };
        let (registers, close) = self.own_tokens().numbered(word)?;
        // In a body it may be several.
        let &[register] = &registers[..] else { return None };
        (at <= close).then(|| (register, span(self.code[word]).to(span(self.code[close]))))
    }

    /// Returns the hover text of a word after a `.`: a half, a mask, a swizzle.
    fn part(&self, word: RawToken, owner: RawToken, place: &CursorContext<'_>) -> Option<String> {
        let letters = self.bytes(word).to_ascii_lowercase();
        let owner_kw = self.kw(owner);
        let source = matches!(owner_kw, Kw::Src0 | Kw::Src1 | Kw::Src2 | Kw::Srcp);
        let half = match &*letters {
            b"rgb" => Some("the RGB half: colours"),
            b"a" => Some("the alpha half"),
            _ => None,
        };
        if source && !place.has(b':') {
            return half.map(|half| format!("Of {half}"));
        }
        if source {
            let meanings = letters.iter().map(|b| {
                let swiz = names::swizzle(*b)?.describe()?;
                Some(format!("`{}` {}", char::from(*b), swiz.meaning))
            });
            let meanings: Option<Vec<String>> = meanings.collect();
            let targets = if letters.len() == 1 { "alpha" } else { "red, green, blue" };
            return Some(format!("Swizzle: what {targets} reads: {}", meanings?.join(", ")));
        }
        if names::opcode(owner_kw).is_some() || matches!(owner_kw, Kw::Op) {
            return half.map(|half| format!("An operation of {half}"));
        }
        if letters == b"none" {
            return Some("Mask: nothing is written".to_owned());
        }
        let channel = |b: &u8| {
            let at = b"rgba".iter().position(|c| c == b)?;
            r500_isa::values::Channel::new(u8::try_from(at).ok()?).describe().map(|v| v.meaning)
        };
        let channels: Option<Vec<&str>> = letters.iter().map(channel).collect();
        let channels = channels?.join(", ");
        let behind_opcode = place.before.iter().any(|raw_token| {
            let kw = self.kw(*raw_token);
            names::TEX_OPS.iter().any(|(k, _)| *k == kw && kw != Kw::Nop)
        });
        let text = if matches!(place.statement, Head::Tex) && behind_opcode {
            match owner_kw {
                Kw::Tex => {
                    format!("Texel channels that land in red, green, blue, alpha: {channels}")
                }
                _ => format!("Channels that serve as S, T, R, Q: {channels}"),
            }
        } else if matches!(place.statement, Head::Flow(_)) {
            format!("The predicate bit of {channels}")
        } else {
            format!("Mask: {channels}")
        };
        Some(text)
    }

    /// Returns the hover text of a number: an inline constant, a jump address, or an output modifier.
    fn number(&self, word: RawToken, place: &CursorContext<'_>) -> Option<(Span, String)> {
        let at = self.code.iter().position(|raw_token| *raw_token == word)?;
        let dot = |at: usize| {
            let raw_token = self.code.get(at)?;
            (raw_token.kind == RawTokenKind::Mark(b'.')).then_some(raw_token)
        };
        let touching = |a: &RawToken, b: &RawToken| a.end == b.start;
        // All of `0.5`, from either part.
        let mut range = at..at + 1;
        if let Some(mark) = dot(at + 1)
            && touching(&word, mark)
            && let Some(part) = self.code.get(at + 2).filter(|part| touching(mark, part))
        {
            range.end = if part.kind == RawTokenKind::Word { at + 3 } else { at + 2 };
        } else if at >= 2 && dot(at - 1).is_some_and(|mark| touching(mark, &word)) {
            range.start = at - 2;
        }
        let (first, last) = (self.code[range.start], self.code[range.end - 1]);
        let text = std::str::from_utf8(self.text.get(first.start..last.end)?).ok()?;
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let all = span(first).to(span(last));
        let star = self.code.get(range.end).is_some_and(|p| p.kind == RawTokenKind::Mark(b'*'));
        if star {
            let row = keyword_docs::of_role(Role::Result).find(|row| row.word == text)?;
            return Some((all, page(row, None)));
        }
        if place.statement != Head::Alu || place.has(b':') {
            return None;
        }
        let by_code = range.start >= 2
            && self.code.get(range.start - 1).is_some_and(|p| p.kind == RawTokenKind::Mark(b'('))
            && self.kw(self.code[range.start - 2]) == Kw::Float
            && !text.contains('.');
        let constant = if by_code {
            InlineConst::new(text.parse::<u8>().ok().filter(|code| *code < 128)?)
        } else {
            InlineConst::exact(text.parse().ok()?)?
        };
        let (value, code) = (constant.value(), constant.code());
        Some((all, format!("Inline constant {value}: code {code}, address {:#04x}", 0x80 | code)))
    }
}

/// Returns whether a row applies at a position.
pub(super) fn fits(row: &KeywordDoc, place: &CursorContext<'_>) -> bool {
    let colon = place.has(b':');
    let nothing = place.before.is_empty();
    match (place.statement, row.role) {
        (_, Role::Statement | Role::Directive | Role::Body) => nothing,
        (Head::Alu | Head::Empty, Role::Flag) => !colon,
        (Head::Alu, Role::Presubtract | Role::Address) => !colon,
        (Head::Alu | Head::Empty, Role::Source) => true,
        (Head::Alu, Role::Destination | Role::Result) => colon && !place.last_is(b'['),
        (Head::Alu, Role::Compare) => true,
        (Head::Tex, Role::Flag | Role::TexFlag) => true,
        (Head::Tex, Role::Register) => true,
        (Head::Flow(kw), Role::FcOperation) => kw == Kw::Fc && place.before.len() == 1,
        (Head::Flow(kw), Role::Modifier | Role::ModifierValue) => {
            kw != Kw::Fc || place.before.len() > 1
        }
        (Head::Flow(_), Role::Condition) => true,
        (Head::Directive(kw), Role::Within(of)) => kw == of,
        (Head::Directive(_), Role::Register) => true,
        _ => false,
    }
}

/// Returns the text of a row.
fn page(row: &KeywordDoc, instruction: Option<Instruction>) -> String {
    let mut text = format!("`{}`: {}", row.shown().replace('\n', " "), row.meaning());
    if let Some((register, field)) = row.field() {
        text.push_str(&format!("\n\n{}", field_line(register.name, field)));
        let now = instruction.and_then(|inst| {
            let dword = inst.layout().iter().position(|r| r.is_some_and(|r| r == register))?;
            Some(field.extract(inst.0[dword]))
        });
        if let Some(code) = now {
            text.push_str(&format!(", here {code}"));
        }
    }
    text
}

fn field_line(register: &str, field: &Field) -> String {
    let bits = if field.hi == field.lo {
        format!("bit {}", field.lo)
    } else {
        format!("bits {}:{}", field.hi, field.lo)
    };
    format!("`{register}.{}` ({bits})", field.name)
}

/// Returns the text of an arithmetic or texture operation.
fn operation(kw: Kw, place: &CursorContext<'_>) -> Option<String> {
    if place.statement == Head::Tex && !place.before.is_empty() {
        // NOP is a flag before the destination.
        if kw != Kw::Nop || place.last_is(b'=') {
            let op = names::value_of(names::TEX_OPS, kw)?;
            return Some(format!("`{}`: {}", kw.text(), op.describe()?.meaning));
        }
        return None;
    }
    if place.statement == Head::Alu && !place.has(b':') {
        return None;
    }
    operation_page(kw)
}

/// Returns the result of an arithmetic operation, for the halves that have it.
pub(super) fn operation_page(kw: Kw) -> Option<String> {
    let found = names::opcode(kw)?;
    let describe = |value: Option<&'static Value>| value.map_or("", |value| value.meaning);
    let operands = |uses: &dyn Fn(Slot) -> bool| -> String {
        let names = [(Slot::A, " A"), (Slot::B, " B"), (Slot::C, " C")];
        names.into_iter().filter(|(slot, _)| uses(*slot)).map(|(_, name)| name).collect()
    };
    let rgb = found.rgb.map(|op| {
        (operands(&|slot| op.uses(slot)), describe(op.describe()), format!("RGB_OP {}", op.code()))
    });
    let alpha = found.alpha.map(|op| {
        (
            operands(&|slot| op.uses(slot)),
            describe(op.describe()),
            format!("ALPHA_OP {}", op.code()),
        )
    });
    let word = kw.text();
    Some(match (rgb, alpha) {
        (Some((operands, meaning, code)), None) => {
            format!("`{word}{operands}`: {meaning}\n\nRGB half only, {code}")
        }
        (None, Some((operands, meaning, code))) => {
            format!("`{word}{operands}`: {meaning}\n\nAlpha half only, {code}")
        }
        (Some((operands, meaning, code)), Some((_, other, alpha_code))) => {
            let also = if meaning == other { String::new() } else { format!("; alpha: {other}") };
            format!("`{word}{operands}`: {meaning}{also}\n\nBoth halves: {code}, {alpha_code}")
        }
        (None, None) => return None,
    })
}

/// Returns the meaning of a word of the language in each of its roles, ignoring case. Markdown. Words of other shader
/// languages, such as `MOV`, are explained by their equivalents.
#[must_use]
pub fn explain_word(word: &str) -> Option<String> {
    let kw = names::find(word.as_bytes());
    let point = MacroWord::from_name(word.strip_prefix('.').unwrap_or(word).as_bytes());
    let word = point.map_or(word, |point| point.text());
    let texture = names::value_of(names::TEX_OPS, kw).and_then(TexOp::describe);
    let texture = texture.map(|op| format!("`{}`: {}\n\nTexture operation", kw.text(), op.meaning));
    let rows = keyword_docs::rows(word).map(|row| page(row, None));
    let foreign = foreign_op(word).filter(|_| names::opcode(kw).is_none());
    let foreign = foreign
        .map(|op| format!("`{}` is not an operation here: {}", word.to_uppercase(), op.text));
    let pages: Vec<String> =
        operation_page(kw).into_iter().chain(texture).chain(rows).chain(foreign).collect();
    (!pages.is_empty()).then(|| pages.join("\n\n"))
}

/// Returns the text of a word in a directive that sets a register by name.
fn state(register: &'static r500_isa::Register, word: &[u8], owner: Option<&[u8]>) -> String {
    let name = String::from_utf8_lossy(word);
    if let Some(field) = register.field(&name) {
        let mut text = format!("{}: {}", field_line(register.name, field), field.meaning);
        for value in field.values.iter().take(32) {
            text.push_str(&format!("\n- {}", value_line(value)));
        }
        return text;
    }
    let of = owner.and_then(|owner| register.field(&String::from_utf8_lossy(owner)));
    if let Some(field) = of {
        let code = name.parse::<u32>().ok();
        let value = field.values.iter().find(|value| {
            Some(value.code) == code
                || !value.name.is_empty() && value.name.eq_ignore_ascii_case(&name)
        });
        let line = field_line(register.name, field);
        return match value {
            Some(value) => format!("{}\n\n{line}: {}", value_line(value), field.meaning),
            None if field.kind == FieldKind::Choice => format!("{line}: reserved"),
            None => format!("{line}: {}", field.meaning),
        };
    }
    register_page(register)
}

fn value_line(value: &Value) -> String {
    if value.name.is_empty() {
        format!("{}: {}", value.code, value.meaning)
    } else {
        format!("`{}` ({}): {}", value.name, value.code, value.meaning)
    }
}

fn register_page(register: &'static r500_isa::Register) -> String {
    let mut text = format!("`{}`: {}", register.name, register.meaning);
    for field in register.fields {
        let bits = if field.hi == field.lo {
            field.lo.to_string()
        } else {
            format!("{}:{}", field.hi, field.lo)
        };
        text.push_str(&format!("\n- `{}` ({bits}): {}", field.name, field.meaning));
    }
    text
}

/// Returns the texture operations with their descriptions, for completion.
pub(super) fn texture_operations() -> impl Iterator<Item = (&'static str, &'static str)> {
    let meaning = |op: TexOp| op.describe().map_or("", |value| value.meaning);
    names::TEX_OPS.iter().map(move |(kw, op)| (kw.text(), meaning(*op)))
}
