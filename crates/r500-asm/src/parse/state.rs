//! State registers by name, and the entry and end of the program.

use r500_isa::Word;
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsFormat, UsOutFmt, UsPixsize, UsWFmt,
};

use super::{ParseAbort, Parsed, Parser};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

impl Parser<'_> {
    /// Parses `ENTRY @label ;` or `END @label ;`, also with an address.
    pub(super) fn edge(&mut self) -> Parsed<()> {
        let end = self.at_word(Kw::End);
        self.only_once(if end { "END" } else { "ENTRY" });
        self.bump();
        let start = self.tok.span;
        if self.eat(TokenKind::At) {
            let label = self.label_use(start)?;
            self.state.edges.push((end, label));
        } else {
            let address = self.number(511, "an address or `@label`")?;
            self.set_edge(end, address, start);
        }
        self.parse_semicolon()
    }

    fn set_edge(&mut self, end: bool, address: u32, span: Span) {
        let Some(address) = u16::try_from(address).ok().filter(|a| *a < 512) else {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::JumpTooFar,
                    span,
                    format!("address {address} does not fit"),
                )
                .label("an address has nine bits: 511 is the greatest"),
            );
            return;
        };
        let field = if end { UsCodeAddr::END_ADDR } else { UsCodeAddr::START_ADDR };
        let word = self.job.program.state.code_addr.unwrap_or_default();
        self.job.program.state.code_addr = Some(word.with(field, address));
    }

    /// Resolves the labels of `ENTRY` and `END`.
    pub(super) fn finish_edges(&mut self) {
        for (end, label) in std::mem::take(&mut self.state.edges) {
            match self.label(&label) {
                Some((address, _)) => {
                    self.set_edge(end, u32::try_from(address).unwrap_or(u32::MAX), label.span);
                }
                None => self.unknown_label(&label),
            }
        }
    }

    /// Parses `US_OUT_FMT[0] = OUT_FMT(C4_8) C0_SEL(Blue) … ;` or `= 0x3900 ;`.
    pub(super) fn register_directive(
        &mut self,
        register: &'static r500_isa::Register,
    ) -> Parsed<()> {
        let start = self.bump().span;
        let n = if register.count > 1 {
            self.index(register.count - 1, "the register's number")?
        } else {
            0
        };
        let place = start.to(self.before);
        let key = if register.count > 1 {
            format!("{}[{n}]", register.name)
        } else {
            register.name.to_owned()
        };
        self.once_at(&key, place);
        self.expect_token(TokenKind::Equals)?;
        let bits = self.register_value(register)?;
        self.set_register(register.name, usize::from(n), bits);
        Ok(())
    }

    fn register_value(&mut self, register: &'static r500_isa::Register) -> Parsed<u32> {
        let text = self.text(self.tok.span);
        if self.at_number() && register.field(&text).is_none() {
            return self.number(u32::MAX, "a dword");
        }
        let mut bits = 0;
        let mut given = 0;
        while self.at(TokenKind::Word) {
            let span = self.tok.span;
            let text = self.text(span);
            let Some(field) = register.field(&text) else {
                let near = names::closest(&text, register.fields.iter().map(|f| f.name));
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::UnknownField,
                        span,
                        format!("`{}` has no field `{text}`", register.name),
                    )
                    .label("not a field of this register")
                    .suggest(near),
                );
                return Err(ParseAbort);
            };
            if given & field.mask() != 0 {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::GivenTwice,
                        span,
                        format!("`{}` is given twice", field.name),
                    )
                    .label("second time; this value counts"),
                );
            }
            given |= field.mask();
            self.bump();
            let code = if self.eat(TokenKind::OpenParen) {
                let code = self.field_value(field)?;
                self.expect_token(TokenKind::CloseParen)?;
                code
            } else {
                1
            };
            bits = field.insert(bits, code);
            self.eat(TokenKind::Comma);
        }
        if given == 0 {
            return Err(self.expected("a number or fields like `NAME(value)`"));
        }
        Ok(bits)
    }

    fn field_value(&mut self, field: &'static r500_isa::Field) -> Parsed<u32> {
        let span = self.tok.span;
        let text = if self.at(TokenKind::Word) { self.text(span) } else { String::new() };
        let named =
            field.values.iter().find(|v| !v.name.is_empty() && v.name.eq_ignore_ascii_case(&text));
        if let Some(value) = named {
            self.bump();
            return Ok(value.code);
        }
        if self.at(TokenKind::Minus) && field.kind == r500_isa::FieldKind::Signed {
            let (number, span) = self.literal()?;
            let value = number.value();
            let low = -f64::from(field.max() / 2) - 1.0;
            if value < low || value.fract() != 0.0 {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::OutOfRange,
                        span,
                        format!("{value} does not fit"),
                    )
                    .label(format!("{} is at least {low}", field.name)),
                );
                return Ok(0);
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let code = value as i64 as u32 & field.max();
            return Ok(code);
        }
        if !self.at_number() {
            let near = names::closest(
                &text,
                field.values.iter().map(|v| v.name).filter(|n| !n.is_empty()),
            );
            self.report(
                Diagnostic::new(
                    DiagnosticCode::UnknownField,
                    span,
                    format!("`{}` has no value `{text}`", field.name),
                )
                .label("expected a number or the name of a value")
                .suggest(near),
            );
            return Err(ParseAbort);
        }
        self.number(field.max(), field.name)
    }

    fn set_register(&mut self, name: &str, n: usize, bits: u32) {
        let state = &mut self.job.program.state;
        match name {
            "US_CONFIG" => state.config = Some(UsConfig(bits)),
            "US_PIXSIZE" => state.pixsize = Some(UsPixsize(bits)),
            "US_CODE_ADDR" => state.code_addr = Some(UsCodeAddr(bits)),
            "US_CODE_RANGE" => state.code_range = Some(UsCodeRange(bits)),
            "US_CODE_OFFSET" => state.code_offset = Some(UsCodeOffset(bits)),
            "US_FC_CTRL" => state.fc_ctrl = Some(UsFcCtrl(bits)),
            "US_FC_BOOL_CONST" => state.fc_bool_const = Some(UsFcBoolConst(bits)),
            "US_FC_INT_CONST" => state.fc_int_const[n] = Some(UsFcIntConst(bits)),
            "US_OUT_FMT" => state.out_fmt[n] = Some(UsOutFmt(bits)),
            "US_W_FMT" => state.w_fmt = Some(UsWFmt(bits)),
            "US_FORMAT" => state.format[n] = Some(UsFormat(bits)),
            _ => {
                let texture = self.job.textures[n].get_or_insert_default();
                match name {
                    "TX_FILTER0" => texture.filter0 = Word::from_bits(bits),
                    "TX_FILTER1" => texture.filter1 = Word::from_bits(bits),
                    "TX_FORMAT0" => texture.format0 = Word::from_bits(bits),
                    "TX_FORMAT1" => texture.format1 = Word::from_bits(bits),
                    "TX_FORMAT2" => texture.format2 = Word::from_bits(bits),
                    "TX_OFFSET" => texture.offset = Word::from_bits(bits),
                    "TX_BORDER_COLOR" => texture.border_color = bits,
                    _ => texture.chroma_key = Word::from_bits(bits),
                }
            }
        }
    }
}
