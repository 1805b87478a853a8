//! Directives: the state around a program, names, and what a picture needs.

use std::collections::HashMap;

use r500_isa::Word;
use r500_isa::state::{
    UsCodeAddr, UsCodeOffset, UsCodeRange, UsConfig, UsFcBoolConst, UsFcCtrl, UsFcIntConst,
    UsFormat, UsOutFmt, UsPixsize, UsWFmt,
};
use r500_program::Uniform;

use super::value::Number;
use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{Symbol, SymbolKind};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

/// The words that directives start with, besides names of registers.
#[rustfmt::skip]
pub(crate) const STARTS: &[Kw] = &[
    Kw::Size, Kw::Time, Kw::Name, Kw::Origin, Kw::Share, Kw::Input, Kw::Texture, Kw::Level,
    Kw::Expect, Kw::Coverage, Kw::Entry, Kw::End, Kw::Def, Kw::Uniform, Kw::FullFcEn, Kw::Const,
    Kw::Int, Kw::Bool, Kw::Rationale, Kw::Status,
];

/// What directives have said so far that may be said once.
#[derive(Default)]
pub(super) struct SeenDirectives {
    given: HashMap<String, Span>,
    /// Labels of `ENTRY` (0) and `END` (1).
    edges: Vec<(bool, String, Span)>,
}

/// Returns the register of that name, if it is one that a program carries.
pub(crate) fn register_of(name: &str) -> Option<&'static r500_isa::Register> {
    let register = r500_isa::register(name)?;
    CARRIED.contains(&register.name).then_some(register)
}

/// The registers that a program carries.
#[rustfmt::skip]
pub(crate) const CARRIED: &[&str] = &[
    "US_CONFIG", "US_PIXSIZE", "US_CODE_ADDR", "US_CODE_RANGE", "US_CODE_OFFSET", "US_FC_CTRL",
    "US_FC_BOOL_CONST", "US_FC_INT_CONST", "US_OUT_FMT", "US_W_FMT", "US_FORMAT",
    "TX_FILTER0", "TX_FILTER1", "TX_FORMAT0", "TX_FORMAT1", "TX_FORMAT2", "TX_OFFSET",
    "TX_BORDER_COLOR", "TX_CHROMA_KEY",
];

impl Parser<'_> {
    pub(super) fn directive(&mut self) -> Parsed<()> {
        let start = self.tok.span;
        match self.tok.kw {
            Kw::Size => {
                self.only_once("SIZE");
                self.bump();
                let width = self.number(MAX_SIDE, "the width")?;
                let height = self.number(MAX_SIDE, "the height")?;
                self.job.size = Some([width, height]);
            }
            Kw::Time => {
                self.only_once("TIME");
                self.bump();
                self.job.time = self.float()?;
            }
            Kw::Share => {
                self.only_once("SHARE");
                self.bump();
                let (_, span) = self.literal()?;
                self.job.share = self.text(span).parse().ok();
            }
            Kw::Name => {
                self.only_once("NAME");
                self.bump();
                self.job.name = self.string()?.0;
            }
            Kw::Origin => {
                self.only_once("ORIGIN");
                self.bump();
                self.job.origin = self.string()?.0;
            }
            Kw::Rationale => {
                self.only_once("RATIONALE");
                self.bump();
                self.job.rationale = self.string()?.0;
            }
            Kw::Status => {
                self.only_once("STATUS");
                self.bump();
                self.job.status = self.string()?.0;
            }
            Kw::FullFcEn => {
                self.only_once("US_FC_CTRL");
                self.bump();
                let ctrl = UsFcCtrl(0).with(UsFcCtrl::FULL_FC_EN, true);
                self.job.program.state.fc_ctrl = Some(ctrl);
            }
            Kw::Entry | Kw::End => return self.edge(),
            Kw::Def => self.define()?,
            Kw::Uniform => self.uniform()?,
            Kw::Const => self.constant()?,
            Kw::Int => self.integer()?,
            Kw::Bool => self.boolean()?,
            Kw::Input => return self.input(),
            Kw::Texture => return self.texture(),
            Kw::Level => return self.texture_level(),
            Kw::Expect => return self.expectation(),
            Kw::Coverage => return self.coverage(),
            _ => {
                let name = self.text(start);
                let Some(register) = register_of(&name) else {
                    if let Some(Register::Const(_) | Register::Int(_) | Register::Bool(_)) =
                        self.resolve_register(start)
                    {
                        self.named_constant()?;
                        return self.parse_semicolon();
                    }
                    return Err(self.unknown_statement(&name));
                };
                self.register_directive(register)?;
            }
        }
        self.parse_semicolon()
    }

    #[cold]
    fn unknown_statement(&mut self, text: &str) -> ParseAbort {
        let span = self.tok.span;
        let words = [
            Kw::Tex,
            Kw::Out,
            Kw::TexSemWait,
            Kw::Last,
            Kw::Nop,
            Kw::AluWait,
            Kw::WriteInactive,
            Kw::Src0,
            Kw::Src1,
            Kw::Src2,
            Kw::Srcp,
            Kw::Fc,
            Kw::If,
            Kw::Else,
            Kw::Endif,
            Kw::Loop,
            Kw::Endloop,
            Kw::Rep,
            Kw::Endrep,
            Kw::Break,
            Kw::Continue,
            Kw::Call,
            Kw::Return,
            Kw::Jump,
            Kw::Raw,
        ];
        let candidates =
            words.iter().chain(STARTS).map(|k| k.text()).chain(CARRIED.iter().copied());
        let mut diagnostic = Diagnostic::new(
            DiagnosticCode::UnknownStatement,
            span,
            format!("unknown word `{text}`"),
        )
        .label("no instruction and no directive starts so")
        .suggest(names::closest(text, candidates).map(|w| if w == "tex" { "TEX" } else { w }));
        if names::OPCODES.iter().any(|o| o.kw == self.tok.kw) || self.at_word(Kw::Temp) {
            diagnostic = diagnostic.help("operations follow a `:`");
        }
        self.report(diagnostic);
        ParseAbort
    }

    /// Reports a directive that was given before; what `key` names is given from now on.
    pub(super) fn only_once(&mut self, key: &str) {
        let span = self.tok.span;
        self.once_at(key, span);
    }

    pub(super) fn once_at(&mut self, key: &str, span: Span) {
        if let Some(first) = self.state.given.insert(key.to_owned(), span) {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::GivenTwice,
                    span,
                    format!("`{key}` is given twice"),
                )
                .label("second time; this value counts")
                .related(first, "first time"),
            );
        }
    }

    // Names.

    /// `DEF name = register ;`, where the register may also be `float(code)` or a value.
    fn define(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.expect_token(TokenKind::Word)?;
        self.expect_token(TokenKind::Equals)?;
        let span = self.tok.span;
        let register = if self.eat_word(Kw::Float) {
            self.expect_token(TokenKind::OpenParen)?;
            #[allow(clippy::cast_possible_truncation)]
            let code = self.number(127, "an inline constant's code")? as u8;
            self.expect_token(TokenKind::CloseParen)?;
            Register::Float(code)
        } else if self.at_number() {
            let (number, span) = self.literal()?;
            Register::Float(self.inline(number.float(), span))
        } else {
            match self.register()? {
                Some(register) => register,
                None => return Err(self.expected("a register or an inline constant")),
            }
        };
        self.name(name.span, name.kw, register, span.to(self.before))?;
        if matches!(register, Register::Const(_) | Register::Int(_) | Register::Bool(_))
            && self.eat(TokenKind::Equals)
        {
            self.give(register, name.span)?;
        }
        Ok(())
    }

    /// Defines a name for a register.
    fn name(&mut self, span: Span, kw: Kw, register: Register, _what: Span) -> Parsed<()> {
        let text = self.text(span);
        let digit = text.starts_with(|c: char| c.is_ascii_digit());
        let reserved = kw != Kw::Ident || digit || register_of(&text).is_some();
        if reserved {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::BadName,
                    span,
                    format!("`{text}` cannot be a name"),
                )
                .label(if digit {
                    "names do not start with a digit"
                } else {
                    "a word of the language"
                }),
            );
            return Ok(());
        }
        if let Some((_, first)) = self.names.insert(text.to_ascii_lowercase(), (register, span)) {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::DuplicateName,
                    span,
                    format!("`{text}` is defined twice"),
                )
                .label("second definition")
                .related(first, "first definition"),
            );
        }
        self.symbols.push(Symbol { name: text, span, kind: SymbolKind::Register(register) });
        Ok(())
    }

    /// `UNIFORM name = const[n].rgb ;`; a name in quotes may hold anything. A word of the language,
    /// such as `time`, names the uniform, but not the register in later statements.
    fn uniform(&mut self) -> Parsed<()> {
        self.bump();
        let quoted = self.at(TokenKind::Str);
        let (name, span, kw) = if quoted {
            let (name, span) = self.string()?;
            (name, span, Kw::Ident)
        } else {
            let tok = self.expect_token(TokenKind::Word)?;
            (self.text(tok.span), tok.span, tok.kw)
        };
        self.expect_token(TokenKind::Equals)?;
        let at = self.tok.span;
        let constant = self.register_of("a constant like `const[0]`", |r| match r {
            Register::Const(n) => Some(n),
            _ => None,
        })?;
        let mask = if self.eat(TokenKind::Dot) { self.mask()? } else { 15 };
        #[allow(clippy::cast_possible_truncation)] // of an 8-bit mask
        let (channel, channels) = (mask.trailing_zeros() as u8, mask.count_ones() as u8);
        if mask == 0 || mask >> channel != (1 << channels) - 1 {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::BadMask,
                    self.before,
                    "the channels of a uniform must be neighbours",
                )
                .label("like `r`, `gb` or `rgba`"),
            );
            return Ok(());
        }
        self.job.uniforms.push(Uniform { name, constant, channel, channels });
        if !quoted && kw == Kw::Ident {
            self.name(span, kw, Register::Const(constant), at)?;
        }
        Ok(())
    }

    // Constants.

    /// `const[n] = (r, g, b, a) ;`
    fn constant(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let n = self.index(255, "a constant's number")?;
        self.expect_token(TokenKind::Equals)?;
        self.give(Register::Const(n), start)
    }

    /// `int[n] = (passes, first aL, step) ;`
    fn integer(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let n = self.index(31, "an integer constant's number")?;
        self.expect_token(TokenKind::Equals)?;
        self.give(Register::Int(n), start)
    }

    /// `bool[n] = true ;`
    fn boolean(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let n = self.index(31, "a boolean constant's number")?;
        self.expect_token(TokenKind::Equals)?;
        self.give(Register::Bool(n), start)
    }

    fn named_constant(&mut self) -> Parsed<()> {
        let span = self.tok.span;
        if let Some(register) = self.register()? {
            self.expect_token(TokenKind::Equals)?;
            self.give(register, span)?;
        }
        Ok(())
    }

    /// Returns the value of a constant, after its `=`.
    fn give(&mut self, register: Register, span: Span) -> Parsed<()> {
        match register {
            Register::Const(n) => {
                self.once_at(&format!("const[{n}]"), span);
                let value = self.vector::<4>()?;
                for (channel, value) in value.into_iter().enumerate() {
                    self.job.program.state.set_constant(usize::from(n), channel, value.to_bits());
                }
            }
            Register::Int(n) => {
                self.once_at(&format!("int[{n}]"), span);
                let word = self.integer_triple()?;
                self.job.program.state.fc_int_const[usize::from(n)] = Some(word);
            }
            Register::Bool(n) => {
                self.once_at(&format!("bool[{n}]"), span);
                let on = self.truth()?;
                let bits = self.job.program.state.fc_bool_const.unwrap_or_default().kbool();
                let bits = bits & !(1 << n) | u32::from(on) << n;
                self.job.program.state.fc_bool_const = Some(UsFcBoolConst(bits));
            }
            _ => {}
        }
        Ok(())
    }

    /// `(a, b, …)`, N floats.
    pub(super) fn vector<const N: usize>(&mut self) -> Parsed<[f32; N]> {
        let mut values = [0.0; N];
        self.expect_token(TokenKind::OpenParen)?;
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                self.expect_token(TokenKind::Comma)?;
            }
            *value = self.float()?;
        }
        self.expect_token(TokenKind::CloseParen)?;
        Ok(values)
    }

    fn integer_triple(&mut self) -> Parsed<UsFcIntConst> {
        if !self.at(TokenKind::OpenParen) {
            return Ok(UsFcIntConst(self.number(u32::MAX, "`(passes, first, step)` or a dword")?));
        }
        self.bump();
        #[allow(clippy::cast_possible_truncation)]
        let passes = self.number(255, "the trip count")? as u8;
        self.expect_token(TokenKind::Comma)?;
        #[allow(clippy::cast_possible_truncation)]
        let first = self.number(255, "the first aL")? as u8;
        self.expect_token(TokenKind::Comma)?;
        let (step, span) = self.literal()?;
        let step = match step {
            Number::Whole(n, _) => f64::from(n),
            Number::Real(x) => f64::from(x),
        };
        self.expect_token(TokenKind::CloseParen)?;
        if step.fract() != 0.0 || !(-128.0..=127.0).contains(&step) {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::OutOfRange,
                    span,
                    format!("{step} is not a valid step of aL"),
                )
                .label("a whole number from -128 to 127"),
            );
            return Ok(UsFcIntConst(0));
        }
        #[allow(clippy::cast_possible_truncation)]
        let step = step as i8;
        Ok(UsFcIntConst(0)
            .with(UsFcIntConst::KR, passes)
            .with(UsFcIntConst::KG, first)
            .with(UsFcIntConst::KB, step))
    }

    pub(super) fn truth(&mut self) -> Parsed<bool> {
        for (text, value) in [("true", true), ("false", false), ("1", true), ("0", false)] {
            if self.eat_text(text) {
                return Ok(value);
            }
        }
        Err(self.expected("`true` or `false`"))
    }

    // Where the program starts and ends.

    /// `ENTRY @label ;`, `END @label ;`, or an address.
    fn edge(&mut self) -> Parsed<()> {
        let end = self.at_word(Kw::End);
        self.only_once(if end { "END" } else { "ENTRY" });
        self.bump();
        let start = self.tok.span;
        if self.eat(TokenKind::At) {
            let label = self.expect_token(TokenKind::Word)?.span;
            let text = self.text(label).to_ascii_lowercase();
            self.label_uses.push((text.clone(), start.to(label)));
            self.state.edges.push((end, text, start.to(label)));
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

    /// Sets what `ENTRY` and `END` said with labels.
    pub(super) fn finish_edges(&mut self) {
        for (end, label, span) in std::mem::take(&mut self.state.edges) {
            match self.label_address(&label) {
                Some(address) => {
                    self.set_edge(end, u32::try_from(address).unwrap_or(u32::MAX), span);
                }
                None => self.report(
                    Diagnostic::new(
                        DiagnosticCode::UnknownLabel,
                        span,
                        format!("unknown label `@{label}`"),
                    )
                    .label("no `@label` of this name stands anywhere"),
                ),
            }
        }
    }

    // Registers by name.

    /// `US_OUT_FMT[0] = OUT_FMT(C4_8) C0_SEL(Blue) … ;` or `= 0x3900 ;`
    fn register_directive(&mut self, register: &'static r500_isa::Register) -> Parsed<()> {
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
        if self.at_number() {
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
        if self.at(TokenKind::Minus) && field.kind == r500_isa::Kind::Signed {
            let (number, span) = self.literal()?;
            let value = match number {
                Number::Real(x) => f64::from(x),
                Number::Whole(n, _) => f64::from(n),
            };
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

/// The longest side of a picture that a directive may ask for.
const MAX_SIDE: u32 = 65536;
