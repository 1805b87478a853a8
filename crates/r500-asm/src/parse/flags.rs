//! Instruction flags, written before an instruction. Most set a bit of `US_CMN_INST`.

use r500_isa::values::{AluResultSel, Compare, PredSel, RgbMask};
use r500_isa::words::{CmnInst, TexInst};
use r500_isa::{BitField, Instruction};

use super::{Parsed, Parser};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

/// The flags of one instruction parsed so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// `US_CMN_INST`, except its `TYPE`.
    pub(super) cmn: CmnInst,
    /// `TEX_SEM_ACQUIRE`, `UNSCALED`, `IGNORE_UNCOVERED`, at their bits in `US_TEX_INST`.
    pub(super) tex: TexInst,
    /// `OUT`.
    pub(super) out: bool,
    /// `WORD1` to `WORD5`.
    pub(super) words: [u32; 6],
    /// Which flags were seen, one bit per keyword.
    seen: u128,
    /// The span of the last `WORDn`.
    words_at: Span,
}

/// The kind of instruction that the flags belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InstKind {
    Alu,
    Tex,
    Flow,
}

impl Flags {
    pub(super) const fn has(&self, kw: Kw) -> bool {
        self.seen >> (kw as u8) & 1 != 0
    }
}

impl Parser<'_> {
    /// Parses a flag. Returns `false` if the token is not a flag.
    pub(super) fn parse_flag(&mut self, flags: &mut Flags, kind: InstKind) -> Parsed<bool> {
        let tok = self.tok;
        let flag = match tok.kw {
            Kw::TexSemWait => CmnInst::TEX_SEM_WAIT,
            Kw::Last => CmnInst::LAST,
            Kw::Nop => CmnInst::NOP,
            Kw::AluWait => CmnInst::ALU_WAIT,
            Kw::WriteInactive => CmnInst::WRITE_INACTIVE,
            Kw::Out if kind == InstKind::Alu => {
                self.mark_seen(flags);
                flags.out = true;
                return Ok(true);
            }
            Kw::TexSemAcquire
            | Kw::Unscaled
            | Kw::IgnoreUncovered
            | Kw::StatWe
            | Kw::Pred
            | Kw::Wmask
            | Kw::Omask
            | Kw::Clamp
            | Kw::AluResult
            | Kw::Word1
            | Kw::Word2
            | Kw::Word3
            | Kw::Word4
            | Kw::Word5 => return self.parse_rare_flag(flags, kind).map(|()| true),
            _ => return Ok(false),
        };
        self.mark_seen(flags);
        flags.cmn = flags.cmn.with(flag, true);
        Ok(true)
    }

    /// Consumes a flag that may be given once.
    fn mark_seen(&mut self, flags: &mut Flags) {
        let tok = self.bump();
        if flags.has(tok.kw) {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::DuplicateFlag,
                    tok.span,
                    format!("flag `{}` is given twice", tok.kw.text()),
                )
                .label("once is enough"),
            );
        }
        flags.seen |= 1 << (tok.kw as u8);
    }

    fn parse_rare_flag(&mut self, flags: &mut Flags, kind: InstKind) -> Parsed<()> {
        let tok = self.tok;
        let tex_flag = match tok.kw {
            Kw::TexSemAcquire => Some((TexInst::TEX_SEM_ACQUIRE, "texture")),
            Kw::Unscaled => Some((TexInst::UNSCALED, "texture")),
            Kw::IgnoreUncovered => Some((TexInst::IGNORE_UNCOVERED, "texture and flow-control")),
            _ => None,
        };
        if let Some((flag, of)) = tex_flag {
            if kind != InstKind::Tex {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::MisplacedFlag,
                        tok.span,
                        format!("`{}` does not go here", tok.kw.text()),
                    )
                    .label(format!("only {of} instructions have it")),
                );
            }
            self.mark_seen(flags);
            flags.tex = flags.tex.with(flag, true);
            return Ok(());
        }
        match tok.kw {
            Kw::StatWe => {
                self.mark_seen(flags);
                let mask = self.mask_argument()?;
                flags.cmn = flags.cmn.with(CmnInst::STAT_WE, mask);
            }
            Kw::Wmask => {
                self.mark_seen(flags);
                let mask = self.mask_argument()?;
                flags.cmn = flags
                    .cmn
                    .with(CmnInst::RGB_WMASK, RgbMask::new(mask & 7))
                    .with(CmnInst::ALPHA_WMASK, mask & 8 != 0);
            }
            Kw::Omask => {
                self.mark_seen(flags);
                let mask = self.mask_argument()?;
                flags.cmn = flags
                    .cmn
                    .with(CmnInst::RGB_OMASK, RgbMask::new(mask & 7))
                    .with(CmnInst::ALPHA_OMASK, mask & 8 != 0);
            }
            Kw::Clamp => {
                self.mark_seen(flags);
                self.expect_token(TokenKind::OpenParen)?;
                let (rgb, alpha) = self.halves()?;
                self.expect_token(TokenKind::CloseParen)?;
                flags.cmn =
                    flags.cmn.with(CmnInst::RGB_CLAMP, rgb).with(CmnInst::ALPHA_CLAMP, alpha);
            }
            Kw::AluResult => {
                self.mark_seen(flags);
                self.expect_token(TokenKind::Dot)?;
                let sel = self.result_channel()?;
                self.expect_token(TokenKind::OpenParen)?;
                let compare = self.compare()?;
                self.expect_token(TokenKind::CloseParen)?;
                flags.cmn = flags
                    .cmn
                    .with(CmnInst::ALU_RESULT_SEL, sel)
                    .with(CmnInst::ALU_RESULT_OP, compare);
            }
            Kw::Pred => self.parse_predicate_flag(flags)?,
            _ => {
                let n = (tok.kw as u8 - Kw::Word1 as u8) as usize + 1;
                self.mark_seen(flags);
                flags.words_at = tok.span;
                self.expect_token(TokenKind::OpenParen)?;
                flags.words[n] = self.number(u32::MAX, "a dword")?;
                self.expect_token(TokenKind::CloseParen)?;
            }
        }
        Ok(())
    }

    /// Parses `PRED(r)`, `PRED.rgb(!g)`, `PRED.a(none)`.
    fn parse_predicate_flag(&mut self, flags: &mut Flags) -> Parsed<()> {
        let start = self.bump().span;
        let (rgb, alpha) = if self.eat(TokenKind::Dot) { self.halves()? } else { (true, true) };
        self.expect_token(TokenKind::OpenParen)?;
        let inverted = self.eat(TokenKind::Bang);
        let sel = self.pred_sel()?;
        self.expect_token(TokenKind::CloseParen)?;
        // One flag a half: bits 126 and 127, which no keyword uses.
        let bits = u128::from(rgb) << 126 | u128::from(alpha) << 127;
        if flags.seen & bits != 0 {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::DuplicateFlag,
                    start.to(self.before),
                    "a half is predicated twice",
                )
                .label("one predicate a half"),
            );
        }
        flags.seen |= bits | 1 << (Kw::Pred as u8);
        if rgb {
            flags.cmn =
                flags.cmn.with(CmnInst::RGB_PRED_SEL, sel).with(CmnInst::RGB_PRED_INV, inverted);
        }
        if alpha {
            flags.cmn = flags
                .cmn
                .with(CmnInst::ALPHA_PRED_SEL, sel)
                .with(CmnInst::ALPHA_PRED_INV, inverted);
        }
        Ok(())
    }

    /// Parses `none`, `rgba`, a channel, or the code of a select.
    fn pred_sel(&mut self) -> Parsed<PredSel> {
        for (text, sel) in names::PRED_SELS {
            if self.eat_text(text) {
                return Ok(*sel);
            }
        }
        if !self.at_number() {
            return Err(self.expected("`none`, `rgba`, `r`, `g`, `b`, `a` or a code"));
        }
        #[allow(clippy::cast_possible_truncation)]
        let code = self.number(7, "a predicate select")? as u8;
        Ok(PredSel::new(code))
    }

    /// Parses `rgb`, `a` or `rgba`: a selection of halves.
    fn halves(&mut self) -> Parsed<(bool, bool)> {
        for (text, halves) in [("rgb", (true, false)), ("a", (false, true)), ("rgba", (true, true))]
        {
            if self.eat_text(text) {
                return Ok(halves);
            }
        }
        Err(self.expected("`rgb`, `a` or `rgba`"))
    }

    /// Parses `r` or `a`: the half of the ALU result.
    pub(super) fn result_channel(&mut self) -> Parsed<AluResultSel> {
        if self.eat_text("r") {
            Ok(AluResultSel::RED)
        } else if self.eat_text("a") {
            Ok(AluResultSel::ALPHA)
        } else {
            Err(self.expected("`r` or `a`"))
        }
    }

    /// Parses `eq`, `lt`, `ge` or `ne`.
    pub(super) fn compare(&mut self) -> Parsed<Compare> {
        if let Some(compare) = names::value_of(names::COMPARES, self.tok.kw) {
            self.bump();
            return Ok(compare);
        }
        Err(self.expected("a comparison: `eq`, `lt`, `ge` or `ne`"))
    }

    fn mask_argument(&mut self) -> Parsed<u8> {
        self.expect_token(TokenKind::OpenParen)?;
        let mask = self.mask()?;
        self.expect_token(TokenKind::CloseParen)?;
        Ok(mask)
    }

    /// Parses a mask: letters of rgba in that order, or `none`. Red is bit 0.
    pub(super) fn mask(&mut self) -> Parsed<u8> {
        if !self.at(TokenKind::Word) {
            return Err(self.expected("a mask"));
        }
        let mut mask = 0u8;
        let mut last = 0;
        for b in self.bytes(self.tok.span) {
            let bit = match b | 0x20 {
                b'r' => 1,
                b'g' => 2,
                b'b' => 4,
                b'a' => 8,
                _ => 0,
            };
            if bit <= last {
                return self.other_mask();
            }
            last = bit;
            mask |= bit;
        }
        self.bump();
        Ok(mask)
    }

    /// Parses `none`, or reports an invalid mask.
    fn other_mask(&mut self) -> Parsed<u8> {
        if self.eat_word(Kw::NoneWord) {
            return Ok(0);
        }
        let span = self.tok.span;
        let text = self.text(span);
        let lower = text.to_ascii_lowercase();
        let letters = !lower.is_empty() && lower.chars().all(|c| "rgba".contains(c));
        let mut diagnostic =
            Diagnostic::new(DiagnosticCode::BadMask, span, format!("`{text}` is not a mask"))
                .label("letters of `rgba` in this order, each once, or `none`");
        let mut meant = 0;
        if letters {
            let sorted: String = "rgba".chars().filter(|c| lower.contains(*c)).collect();
            for (i, c) in "rgba".chars().enumerate() {
                meant |= u8::from(lower.contains(c)) << i;
            }
            diagnostic = diagnostic.fix(sorted);
        } else if let Some(letters) = names::translated_swizzle(&text) {
            for (i, c) in "rgba".chars().enumerate() {
                meant |= u8::from(letters.contains(c)) << i;
            }
            diagnostic = diagnostic.fix(letters);
        }
        self.report(diagnostic);
        self.bump();
        Ok(meant)
    }

    /// Inserts `WORDn` into the instruction; only bits without a field may be set this way.
    pub(super) fn insert_unnamed_bits(&mut self, flags: &Flags, instruction: &mut Instruction) {
        if flags.words == [0; 6] {
            return;
        }
        let layout = instruction.layout();
        for (n, bits) in flags.words.into_iter().enumerate() {
            let named = layout[n].map_or(0, r500_isa::Register::named_bits);
            if bits & named != 0 {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::NamedBits,
                        flags.words_at,
                        format!("`WORD{n}` sets bits that fields name: {:#010x}", bits & named),
                    )
                    .label("only bits without a name are set like this")
                    .help("name the fields, or write the whole instruction with `RAW`"),
                );
            }
            instruction.0[n] |= bits;
        }
    }
}

/// Returns a flag of the first word that is set when `on`.
pub(super) fn flag(cmn: CmnInst, field: BitField<CmnInst, bool>, on: bool) -> CmnInst {
    if on { cmn.with(field, true) } else { cmn }
}
