//! Texture instructions: `TEX FLAGS DEST+ OPCODE tex[n].rgba temp[n].rgba ;`.

use r500_isa::values::{Channel, InstType, RgbMask, TexOp};
use r500_isa::words::{CmnInst, TexAddr, TexAddrDxdy, TexInst};
use r500_isa::{BitField, Instruction, Word};

use super::flags::{Flags, InstKind};
use super::value::Index;
use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn tex(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let mut flags = Flags::default();
        while self.parse_flag(&mut flags, InstKind::Tex)? {}

        let mut dest: Option<(Index, u8, Span)> = None;
        loop {
            let at = self.tok.span;
            let Some(index) = self.temp_or_name()? else { break };
            let span = at.to(self.before);
            self.expect_token(TokenKind::Dot)?;
            let mask = self.mask()?;
            self.expect_token(TokenKind::Equals)?;
            if let Some((first, _, place)) = dest.filter(|(first, ..)| *first != index) {
                let _ = first;
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::TwoDestinations,
                        span,
                        "a texture instruction writes one temporary",
                    )
                    .label("another temporary")
                    .related(place, "the first destination"),
                );
            }
            dest = Some((index, mask, span));
        }
        let Some((to, mask, _)) = dest else {
            return Err(self.expected("a flag or a destination like `temp[0].rgba =`"));
        };

        let op = self.tex_opcode()?;
        let unit = self.register_of("a texture like `tex[0]`", |r| match r {
            Register::Tex(n) => Some(n),
            _ => None,
        })?;
        let dst = self.channels()?;
        let (from, src) = self.coordinates()?;

        let mut cmn = flags.cmn.with(CmnInst::TYPE, InstType::TEX);
        if !flags.has(Kw::Wmask) || mask != 0 {
            cmn = cmn
                .with(CmnInst::RGB_WMASK, RgbMask::new(mask & 7))
                .with(CmnInst::ALPHA_WMASK, mask & 8 != 0);
        }
        let tex = flags.tex.with(TexInst::TEX_ID, unit).with(TexInst::INST, op);
        let addr = TexAddr(0)
            .with(TexAddr::SRC_ADDR, from.n)
            .with(TexAddr::SRC_ADDR_REL, from.relative)
            .with(TexAddr::DST_ADDR, to.n)
            .with(TexAddr::DST_ADDR_REL, to.relative);
        let addr = with_channels(addr, SRC, src);
        let addr = with_channels(addr, DST, dst);
        let mut dxdy = TexAddrDxdy(0);
        if !self.at(TokenKind::Semicolon) {
            let (dx, dx_channels) = self.coordinates()?;
            let (dy, dy_channels) = self.coordinates()?;
            dxdy = dxdy
                .with(TexAddrDxdy::DX_ADDR, dx.n)
                .with(TexAddrDxdy::DX_ADDR_REL, dx.relative)
                .with(TexAddrDxdy::DY_ADDR, dy.n)
                .with(TexAddrDxdy::DY_ADDR_REL, dy.relative);
            dxdy = with_channels(dxdy, DX, dx_channels);
            dxdy = with_channels(dxdy, DY, dy_channels);
        }
        self.parse_semicolon()?;
        let mut inst = Instruction([cmn.bits(), tex.bits(), addr.bits(), dxdy.bits(), 0, 0]);
        self.insert_unnamed_bits(&flags, &mut inst);
        self.push(start, inst);
        Ok(())
    }

    /// Parses `temp[n]`, optionally with `aL`, or the name of a temporary.
    fn temp_or_name(&mut self) -> Parsed<Option<Index>> {
        if self.eat_word(Kw::Temp) {
            return self.temp_index().map(Some);
        }
        if self.at(TokenKind::Word)
            && let Some(Register::Temp(n)) = self.resolve_register(self.tok.span)
        {
            self.bump();
            return Ok(Some(Index { n, relative: false }));
        }
        Ok(None)
    }

    /// Parses a register, and which of its channels are S, T, R, Q.
    fn coordinates(&mut self) -> Parsed<(Index, [Channel; 4])> {
        let Some(index) = self.temp_or_name()? else {
            return Err(self.missing_semicolon("a temporary like `temp[0].rgba`"));
        };
        Ok((index, self.channels()?))
    }

    fn tex_opcode(&mut self) -> Parsed<TexOp> {
        if let Some(op) = names::value_of(names::TEX_OPS, self.tok.kw) {
            self.bump();
            return Ok(op);
        }
        if self.eat_word(Kw::Op) {
            self.expect_token(TokenKind::OpenParen)?;
            #[allow(clippy::cast_possible_truncation)]
            let code = self.number(7, "a texture opcode")? as u8;
            self.expect_token(TokenKind::CloseParen)?;
            return Ok(TexOp::new(code));
        }
        if !self.at(TokenKind::Word) {
            return Err(self.expected("a texture operation"));
        }
        let span = self.tok.span;
        let text = self.text(span);
        let words = names::TEX_OPS.iter().map(|(k, _)| k.text());
        self.report(
            Diagnostic::new(
                DiagnosticCode::UnknownOpcode,
                span,
                format!("unknown texture operation `{text}`"),
            )
            .label("one of NOP, LD, TEXKILL, PROJ, LODBIAS, LOD, DXDY")
            .suggest(names::closest(&text, words)),
        );
        Err(ParseAbort)
    }

    /// Parses `.rgba`: four letters of r, g, b, a.
    fn channels(&mut self) -> Parsed<[Channel; 4]> {
        self.expect_token(TokenKind::Dot)?;
        let span = self.expect_token(TokenKind::Word)?.span;
        let bytes = self.bytes(span);
        let mut channels = [Channel::R; 4];
        let mut good = bytes.len() == 4;
        for (channel, b) in channels.iter_mut().zip(bytes) {
            match names::swizzle(*b) {
                Some(swiz) if swiz.code() < 4 => *channel = Channel::new(swiz.code()),
                _ => good = false,
            }
        }
        if !good {
            let text = self.text(span);
            let mut diagnostic = Diagnostic::new(
                DiagnosticCode::BadTexSwizzle,
                span,
                format!("`{text}` is not a texture swizzle"),
            )
            .label("four letters of r, g, b, a");
            let letters = names::translated_swizzle(&text);
            if let Some(letters) = letters.filter(|text| text.bytes().all(|b| b"rgba".contains(&b)))
                && letters.len() == 4
            {
                diagnostic = diagnostic.fix(letters);
            }
            self.report(diagnostic);
        }
        Ok(channels)
    }
}

type Swizzles<W> = [BitField<W, Channel>; 4];

const SRC: Swizzles<TexAddr> =
    [TexAddr::SRC_S_SWIZ, TexAddr::SRC_T_SWIZ, TexAddr::SRC_R_SWIZ, TexAddr::SRC_Q_SWIZ];
const DST: Swizzles<TexAddr> =
    [TexAddr::DST_R_SWIZ, TexAddr::DST_G_SWIZ, TexAddr::DST_B_SWIZ, TexAddr::DST_A_SWIZ];
const DX: Swizzles<TexAddrDxdy> = [
    TexAddrDxdy::DX_S_SWIZ,
    TexAddrDxdy::DX_T_SWIZ,
    TexAddrDxdy::DX_R_SWIZ,
    TexAddrDxdy::DX_Q_SWIZ,
];
const DY: Swizzles<TexAddrDxdy> = [
    TexAddrDxdy::DY_S_SWIZ,
    TexAddrDxdy::DY_T_SWIZ,
    TexAddrDxdy::DY_R_SWIZ,
    TexAddrDxdy::DY_Q_SWIZ,
];

fn with_channels<W: Word>(mut word: W, fields: Swizzles<W>, channels: [Channel; 4]) -> W {
    for (field, channel) in fields.into_iter().zip(channels) {
        word = field.set(word, channel);
    }
    word
}
