//! Source spans of instruction fields.

use std::ops::Range;

use r500_asm::{Assembly, Span};
use r500_check::Location;
use r500_isa::Field;

use r500_text::raw_tokens::{RawToken, RawTokenKind, raw_tokens};

/// Returns the most exact span of a lint's location in a source; `None` if it has none.
#[must_use]
pub fn span(assembly: &Assembly, place: &Location) -> Option<Span> {
    match *place {
        Location::Program => None,
        Location::State(register) => directive(assembly, register.name),
        Location::Instruction { index, .. } => {
            let span = *assembly.spans.get(index)?;
            let inside = locate(assembly.files.bytes(span), place);
            let offset = |at: usize| span.start + u32::try_from(at).unwrap_or(0);
            Some(inside.map_or(span, |range| Span {
                start: offset(range.start),
                end: offset(range.end),
                ..span
            }))
        }
    }
}

/// Returns the part of an instruction's text that spells the field of a location; `None` if the location is the whole
/// instruction, or the field is not spelled.
#[must_use]
pub fn locate(text: &[u8], place: &Location) -> Option<Range<usize>> {
    let Location::Instruction { field: Some((word, field)), .. } = *place else { return None };
    let all: Vec<RawToken> =
        raw_tokens(text).filter(|piece| piece.kind != RawTokenKind::Comment).collect();
    let first = *all.first()?;
    if first.is(text, "RAW") {
        // RAW and six dwords.
        return all.get(1 + usize::from(word)).map(|piece| piece.range());
    }
    let statement = Statement { text, all: &all };
    if let Some(n) = ["ADDR0", "ADDR1", "ADDR2"].iter().position(|name| *name == field.name) {
        return statement.set(["src0", "src1", "src2"][n], if word == 1 { "rgb" } else { "a" });
    }
    match field.name {
        "RGB_ADDRD" => {
            statement.register("temp", |mask| mask.iter().any(|b| b"rgb".contains(&(b | 0x20))))
        }
        "ALPHA_ADDRD" => statement.register("temp", |mask| mask.eq_ignore_ascii_case(b"a")),
        "TARGET" | "RGB_OMASK" => statement.register("out", |_| true),
        "DST_ADDR" => statement.register("temp", |_| true),
        "SRC_ADDR" => statement.registers("temp").nth(1).map(|found| found.0),
        "DX_ADDR" => statement.registers("temp").nth(2).map(|found| found.0),
        "DY_ADDR" => statement.registers("temp").nth(3).map(|found| found.0),
        "TEX_ID" => statement.register("tex", |_| true),
        "RGB_OP" | "ALPHA_OP" | "INST" => statement.operation(field, word),
        "JUMP_ADDR" => statement.target(),
        "OP" => Some(first.range()),
        _ => None,
    }
}

/// A tokenised statement.
struct Statement<'a> {
    text: &'a [u8],
    all: &'a [RawToken],
}

impl Statement<'_> {
    fn mark(&self, at: usize, mark: u8) -> bool {
        self.all.get(at).is_some_and(|piece| piece.kind == RawTokenKind::Mark(mark))
    }

    fn word(&self, at: usize, word: &str) -> bool {
        self.all.get(at).is_some_and(|piece| piece.is(self.text, word))
    }

    /// Returns the span of `src0.rgb = …`, up to the comma or colon after it.
    fn set(&self, source: &str, half: &str) -> Option<Range<usize>> {
        let at = (0..self.all.len()).find(|&at| {
            self.word(at, source)
                && self.mark(at + 1, b'.')
                && self.word(at + 2, half)
                && self.mark(at + 3, b'=')
        })?;
        let end = self.all[at..]
            .iter()
            .position(|piece| matches!(piece.kind, RawTokenKind::Mark(b',' | b':' | b';')))?;
        Some(self.all[at].start..self.all.get(at + end - 1)?.end)
    }

    /// Returns the registers of a kind with their suffix: `temp[3].rg`.
    fn registers(&self, kind: &str) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        (0..self.all.len()).filter_map(move |at| {
            if !self.word(at, kind) || !self.mark(at + 1, b'[') {
                return None;
            }
            let close = (at..self.all.len()).find(|&at| self.mark(at, b']'))?;
            let suffix = self.all.get(close + 2).filter(|_| self.mark(close + 1, b'.'));
            let end = suffix.map_or(self.all[close].end, |piece| piece.end);
            let suffix = suffix.map_or(&[][..], |piece| &self.text[piece.range()]);
            Some((self.all[at].start..end, suffix))
        })
    }

    /// Returns the first destination of a kind. Source bindings precede the colon.
    fn register(&self, kind: &str, fits: impl Fn(&[u8]) -> bool) -> Option<Range<usize>> {
        let colon = self.all.iter().find(|piece| piece.kind == RawTokenKind::Mark(b':'));
        let behind = colon.map_or(0, |piece| piece.end);
        self.registers(kind)
            .find(|(range, suffix)| range.start >= behind && fits(suffix))
            .map(|found| found.0)
    }

    /// Returns the operation word of the half that a field belongs to.
    fn operation(&self, field: &Field, word: u8) -> Option<Range<usize>> {
        let colon = self.all.iter().position(|piece| piece.kind == RawTokenKind::Mark(b':'));
        let behind = &self.all[colon.unwrap_or(0)..];
        let names = field.values.iter().filter_map(|value| value.name.split_once('_'));
        let names: Vec<&str> =
            names.map(|(_, name)| name.rsplit('_').next().unwrap_or(name)).collect();
        let mut found = behind.iter().filter(|piece| {
            piece.is(self.text, "OP") || names.iter().any(|name| piece.is(self.text, name))
        });
        let first = found.next()?;
        // The operation of the alpha half is usually the second.
        let second = found.next().filter(|_| word == 4);
        Some(second.unwrap_or(first).range())
    }

    /// Returns the span of a jump target: `-> 3`, `@label`.
    fn target(&self) -> Option<Range<usize>> {
        let at = self
            .all
            .iter()
            .rposition(|piece| matches!(piece.kind, RawTokenKind::Mark(b'@' | b'>')))?;
        Some(self.all[at].start..self.all.get(at + 1)?.end)
    }
}

/// Returns the directive in the source itself that sets a register of the state.
pub(super) fn directive(assembly: &Assembly, register: &str) -> Option<Span> {
    let words: &[&str] = match register {
        "US_CODE_ADDR" => &["END", "ENTRY", "US_CODE_ADDR"],
        "US_FC_CTRL" => &["FULL_FC_EN", "US_FC_CTRL"],
        _ => &[register],
    };
    let file = assembly.files.list.first()?;
    let mut start = true;
    let mut found: Option<usize> = None;
    for piece in raw_tokens(&file.bytes).filter(|piece| piece.kind != RawTokenKind::Comment) {
        if start && words.iter().any(|word| piece.is(&file.bytes, word)) {
            found = Some(piece.start);
        }
        start = piece.kind == RawTokenKind::Mark(b';');
        if let (true, Some(from)) = (start, found) {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            return Some(Span { file: 0, start: offset(from), end: offset(piece.end) });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_asm::{Options, assemble};
    use r500_check::check_job;

    use super::*;

    /// Returns the text that each lint of a source points to.
    fn pointed(source: &str) -> Vec<(&'static str, String)> {
        let assembly = assemble(source.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{:?}", assembly.diagnostics);
        let text = |place| {
            let span = span(&assembly, &place).unwrap();
            String::from_utf8_lossy(assembly.files.bytes(span)).into_owned()
        };
        let findings = check_job(&assembly.job).lints.into_iter();
        findings.map(|found| (found.code.info().number, text(found.location))).collect()
    }

    #[test]
    fn fields_are_pointed_out() {
        let source = "\
            INPUT temp[0] = uv ; US_PIXSIZE = PIX_SIZE(2) ;
            TEX temp[1].rgba = LD tex[0].rgba temp[3].rgba ;
            OUT src0.rgb = temp[1], -- temp[9]
                src0.a = 1 : out[0].rgb = MAX src0.rgb src0.rgb, temp[2].a = DP ;
            FC JUMP JUMP_FUNC(0xf0) ALU_WAIT -> 9 ; OUT : out[0].a = MAX src0.1 src0.1 ;";
        let found = pointed(source);
        let has = |code: &str, text: &str| {
            assert!(found.contains(&(code, text.to_owned())), "{code} {text}: {found:#?}");
        };
        has("R5020", "temp[3].rgba"); // past PIX_SIZE
        has("R5031", "temp[3].rgba"); // never written
        has("R5042", "src0.rgb = temp[1]"); // read of a fetch
        has("R5016", "DP"); // DP next to MAX
        has("R5038", "temp[2].a"); // dead
        has("R5008", "> 9"); // jumps out
        assert_eq!(
            pointed("END 7 ; OUT : out[0].rgb = MAX src0.rgb src0.rgb ;")[0],
            ("R5004", "END 7 ;".to_owned())
        );
        let raw = "RAW 0x00078001 0x08020080 0x08020080 0 4 0 ;";
        assert!(pointed(raw).contains(&("R5012", "4".to_owned())));
    }
}
