//! Directives: the state of a program, names, and the resources of a picture.

use std::collections::HashMap;

use r500_isa::InlineConst;
use r500_isa::state::UsFcCtrl;
use r500_program::Uniform;

use super::labels::LabelUse;
use super::scoped_names::NamedValue;
use super::value::Number;
use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::foreign_ops::{OPERANDS, foreign_op};
use crate::lexer::TokenKind;
use crate::names::{self, CARRIED, Kw, register_of};
use crate::source::Span;

/// The first words of directives, besides names of registers.
#[rustfmt::skip]
pub(crate) const STARTS: &[Kw] = &[
    Kw::Size, Kw::Time, Kw::Name, Kw::Origin, Kw::Share, Kw::Input, Kw::Texture, Kw::Level,
    Kw::Expect, Kw::Coverage, Kw::Entry, Kw::End, Kw::Def, Kw::Uniform, Kw::FullFcEn, Kw::Const,
    Kw::Int, Kw::Bool, Kw::Rationale, Kw::Status,
];

/// Directives that may occur once and have occurred.
#[derive(Default)]
pub(super) struct SeenDirectives {
    given: HashMap<String, Span>,
    /// Labels of `ENTRY` (0) and `END` (1).
    pub(super) edges: Vec<(bool, LabelUse)>,
}

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
                self.job.time = Some(self.float()?);
            }
            Kw::Share => {
                self.only_once("SHARE");
                self.bump();
                let (number, span) = self.literal()?;
                // A double: that of the text of a number, unless it is in the bits of a float.
                self.job.share = match number {
                    Number::Real(_) => self.text(span).parse().ok(),
                    Number::Whole(..) | Number::Computed(_) => Some(number.value()),
                };
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
                    return match self.lookup(start) {
                        Some((NamedValue::Macro(index), _)) => self.use_macro(index),
                        Some((
                            NamedValue::Register(
                                Register::Const(_) | Register::Int(_) | Register::Bool(_),
                            ),
                            _,
                        )) => {
                            self.named_constant()?;
                            self.parse_semicolon()
                        }
                        _ => Err(self.unknown_statement(&name)),
                    };
                };
                self.register_directive(register)?;
            }
        }
        self.parse_semicolon()
    }

    #[cold]
    fn unknown_statement(&mut self, text: &str) -> ParseAbort {
        if self.at_missing_source() {
            return self.report_missing_source(0);
        }
        let span = self.tok.span;
        let unknown = Diagnostic::new(
            DiagnosticCode::UnknownStatement,
            span,
            format!("unknown word `{text}`"),
        )
        .label("no instruction and no directive starts so");
        if let Some(foreign) = foreign_op(text) {
            self.report(unknown.help(foreign.text).help(OPERANDS));
            return ParseAbort;
        }
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
        let near = names::closest(text, candidates);
        let mut diagnostic = unknown.suggest(near.map(|w| if w == "tex" { "TEX" } else { w }));
        if names::OPCODES.iter().any(|o| o.kw == self.tok.kw) || self.at_word(Kw::Temp) {
            diagnostic = diagnostic.help("operations follow a `:`");
        }
        self.report(diagnostic);
        ParseAbort
    }

    /// Reports a repeated directive, and records that `key` is set.
    pub(super) fn only_once(&mut self, key: &str) {
        let span = self.tok.span;
        self.once_at(key, span);
    }

    /// Reports that `key` was already set, and returns whether it was.
    pub(super) fn once_at(&mut self, key: &str, span: Span) -> bool {
        let first = self.state.given.insert(key.to_owned(), span);
        if let Some(first) = first {
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
        first.is_some()
    }

    // Names.

    /// Parses `DEF name = register ;`, where the register may also be `float(code)` or a value.
    fn define(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.new_name();
        self.expect_token(TokenKind::Word)?;
        self.expect_token(TokenKind::Equals)?;
        let register = if self.eat_word(Kw::Float) {
            self.expect_token(TokenKind::OpenParen)?;
            #[allow(clippy::cast_possible_truncation)]
            let code = self.number(127, "an inline constant's code")? as u8;
            self.expect_token(TokenKind::CloseParen)?;
            Register::Float(code)
        } else if self.at_number() {
            let (number, _) = self.literal()?;
            let value = match number {
                // The bits of an inline constant, else a number.
                Number::Whole(bits, true)
                    if exact_inline(f32::from_bits(bits).into()).is_some() =>
                {
                    f32::from_bits(bits).into()
                }
                number => number.value(),
            };
            let Some(constant) = exact_inline(value) else {
                self.define_name(name, NamedValue::Number(value));
                return Ok(());
            };
            Register::Float(constant.code())
        } else {
            match self.register()? {
                Some(register) => register,
                None => return Err(self.expected("a register or an inline constant")),
            }
        };
        self.define_name(name, NamedValue::Register(register));
        if matches!(register, Register::Const(_) | Register::Int(_) | Register::Bool(_))
            && self.eat(TokenKind::Equals)
        {
            self.give(register, name.span)?;
        }
        Ok(())
    }

    /// Parses `UNIFORM name = const[n].rgb ;`; a name in quotes may contain any characters. A keyword, such as `time`,
    /// names the uniform, but not the register in later statements.
    fn uniform(&mut self) -> Parsed<()> {
        self.bump();
        let quoted = self.at(TokenKind::Str);
        let token = self.new_name();
        let name = if quoted {
            self.string()?.0
        } else {
            self.expect_token(TokenKind::Word)?;
            self.text(token.span)
        };
        self.expect_token(TokenKind::Equals)?;
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
        if !quoted && token.kw == Kw::Ident {
            self.define_name(token, NamedValue::Register(Register::Const(constant)));
        }
        Ok(())
    }
}

/// Returns the inline constant of exactly this value. A zero with a sign has none.
fn exact_inline(value: f64) -> Option<InlineConst> {
    #[allow(clippy::cast_possible_truncation)] // compared below
    let rounded = value as f32;
    let constant = InlineConst::exact(rounded)?;
    (f64::from(constant.value()).to_bits() == value.to_bits()).then_some(constant)
}

/// Greatest width and height of a picture in a directive.
const MAX_SIDE: u32 = 65536;
