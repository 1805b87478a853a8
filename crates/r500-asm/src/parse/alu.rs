//! ALU and output instructions: `TAGS LETS : OPS ;`.

use r500_isa::instruction::Operand;
use r500_isa::values::{
    AlphaOp, AluResultSel, Compare, InstType, Mod, Omod, RgbMask, RgbOp, Sel, Swiz, Target,
};
use r500_isa::words::{AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst};
use r500_isa::{Instruction, Slot, Source};

use super::tags::{For, Tags, flag};
use super::value::{Index, Number};
use super::{GivenUp, Parsed, Parser, Register};
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::Kind;
use crate::names::{self, Kw};
use crate::source::Span;

/// All six sources at the inline constant 0 that stands where nothing is named.
const UNUSED: u32 = 0x80 | 0x80 << 10 | 0x80 << 20;

/// One of the two operations, before it is known which half it belongs to.
#[derive(Clone, Copy, Default)]
struct Op {
    /// Where the opcode stands.
    opcode: Span,
    /// Codes by half; `None` where the half does not have it.
    rgb: Option<RgbOp>,
    alpha: Option<AlphaOp>,
    /// Half named by a suffix of the opcode.
    named: Option<Side>,
    /// Half that the destinations tell, and where.
    clue: Option<(Side, Span)>,
    temp: Option<(Index, u8)>,
    out: Option<(Target, u8)>,
    result: Option<(AluResultSel, Compare)>,
    depth: bool,
    /// Where a `pred[…]` stands.
    pred: Option<Span>,
    clamp: bool,
    omod: Omod,
    operands: [Written; 3],
    count: usize,
}

/// An operand as written.
#[derive(Clone, Copy, Default)]
struct Written {
    sel: Sel,
    modifier: Mod,
    letters: [Swiz; 3],
    length: u8,
    span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Rgb,
    Alpha,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Rgb => "RGB",
            Self::Alpha => "alpha",
        }
    }
}

impl Parser<'_> {
    pub(super) fn alu(&mut self) -> Parsed<()> {
        let start = self.tok.span;
        let mut tags = Tags::default();
        while self.tag(&mut tags, For::Alu)? {}
        let mut rgb_addr = AluRgbAddr(UNUSED);
        let mut alpha_addr = AluAlphaAddr(UNUSED);
        self.lets(&mut rgb_addr, &mut alpha_addr)?;
        self.need(Kind::Colon)?;

        let mut ops = [Op::default(); 2];
        let mut count = 0;
        while !self.at(Kind::Semicolon) {
            if count == 2 {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(Code::TooManyOps, span, "a third operation")
                        .label("an instruction has one RGB and one alpha operation"),
                );
                return Err(GivenUp);
            }
            self.op(&mut ops[count])?;
            count += 1;
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if !self.eat(Kind::Semicolon) {
            let what = match ops[count.saturating_sub(1)].count {
                3 => "`,` or `;`",
                _ => "an operand, `,` or `;`",
            };
            if count > 0 && ops[count - 1].count == 3 && self.at_operand() && !self.tok.first {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(Code::TooManyOperands, span, "a fourth operand")
                        .label("an operation has at most three"),
                );
                return Err(GivenUp);
            }
            return Err(self.no_semicolon(what));
        }

        if tags.out {
            for span in ops[..count].iter().filter_map(|op| op.pred) {
                self.report(
                    Diagnostic::new(
                        Code::PredicateOnOutput,
                        span,
                        "an output instruction sets no predicate bits",
                    )
                    .label("the mask and the number mean a render target there")
                    .help("leave out `OUT`, or name the target: `out[0]`"),
                );
            }
        }
        let ty = if tags.out { InstType::OUT } else { InstType::ALU };
        let mut inst = Instruction([tags.cmn.bits(), rgb_addr.bits(), alpha_addr.bits(), 0, 0, 0]);
        inst.0[0] = inst.cmn().with(CmnInst::TYPE, ty).bits();
        let sides = self.sides(&ops[..count]);
        for (op, side) in ops[..count].iter().zip(sides) {
            match side {
                Some(Side::Rgb) => self.rgb_half(&mut inst, op),
                Some(Side::Alpha) => self.alpha_half(&mut inst, op),
                None => {}
            }
        }
        self.spare_bits(&tags, &mut inst);
        self.push(start, inst);
        Ok(())
    }

    // Lets.

    fn lets(&mut self, rgb: &mut AluRgbAddr, alpha: &mut AluAlphaAddr) -> Parsed<()> {
        let mut seen = 0u8;
        while !self.at(Kind::Colon) {
            let start = self.tok.span;
            let n = match self.tok.kw {
                Kw::Src0 => 0,
                Kw::Src1 => 1,
                Kw::Src2 => 2,
                Kw::Srcp => 3,
                _ => return Err(self.no_let()),
            };
            self.bump();
            self.need(Kind::Dot)?;
            let side = self.let_suffix()?;
            let place = start.to(self.before);
            let bit = 1 << (n + if side == Side::Rgb { 0 } else { 4 });
            if seen & bit != 0 {
                let text = self.text(place);
                self.report(
                    Diagnostic::new(Code::DuplicateLet, place, format!("`{text}` is given twice"))
                        .label("each source and suffix once"),
                );
            }
            seen |= bit;
            self.need(Kind::Equals)?;
            if n == 3 {
                let Some(op) = names::value_of(names::SRCP_OPS, self.tok.kw) else {
                    return Err(self.bad_presubtract());
                };
                self.bump();
                match side {
                    Side::Rgb => *rgb = rgb.with(AluRgbAddr::SRCP_OP, op),
                    Side::Alpha => *alpha = alpha.with(AluAlphaAddr::SRCP_OP, op),
                }
            } else {
                let source = self.source()?;
                match side {
                    Side::Rgb => *rgb = rgb.with_source(n, source),
                    Side::Alpha => *alpha = alpha.with_source(n, source),
                }
            }
            if !self.eat(Kind::Comma) && !self.at(Kind::Colon) {
                return Err(self.no_semicolon("`,` or `:`"));
            }
        }
        Ok(())
    }

    /// Neither a tag, nor a let, nor the `:` behind them.
    #[cold]
    fn no_let(&mut self) -> GivenUp {
        if self.at(Kind::Word) && !self.tok.first {
            let span = self.tok.span;
            let text = self.text(span);
            let known = [
                Kw::Out,
                Kw::TexSemWait,
                Kw::Last,
                Kw::Nop,
                Kw::AluWait,
                Kw::WriteInactive,
                Kw::StatWe,
                Kw::Pred,
                Kw::Src0,
                Kw::Src1,
                Kw::Src2,
                Kw::Srcp,
            ];
            let near = names::closest(&text, known.iter().map(|k| k.text()));
            let diagnostic = Diagnostic::new(
                Code::Unexpected,
                span,
                format!("expected a source or `:`, found `{text}`"),
            )
            .label("tags, then sources, stand before `:`, operations behind it");
            let itself = near.is_some_and(|n| n.eq_ignore_ascii_case(&text));
            self.report(if itself { diagnostic } else { diagnostic.suggest(near) });
            return GivenUp;
        }
        self.no_semicolon("a tag, a source or `:`")
    }

    fn let_suffix(&mut self) -> Parsed<Side> {
        let side = match self.bytes(self.tok.span) {
            [b'r' | b'R', b'g' | b'G', b'b' | b'B'] => Side::Rgb,
            [b'a' | b'A'] => Side::Alpha,
            _ => return Err(self.expected("`rgb` or `a`")),
        };
        self.bump();
        Ok(side)
    }

    /// What a source is: `temp[n]`, `const[n]`, `float(code)`, the value of an inline constant, or
    /// a name.
    fn source(&mut self) -> Parsed<Source> {
        let source = |addr, constant, relative| Source { addr, constant, relative };
        match self.tok.kw {
            Kw::Temp => {
                self.bump();
                let index = self.temp_index()?;
                return Ok(source(index.n, false, index.relative));
            }
            Kw::Const => {
                self.bump();
                let index = self.relative_index(255, "a constant's number")?;
                return Ok(source(index.n, true, index.relative));
            }
            _ => {}
        }
        let code = if self.eat_word(Kw::Float) {
            self.need(Kind::OpenParen)?;
            let (number, span) = self.literal()?;
            let code = match number {
                Number::Whole(code, _) => {
                    if code > 127 {
                        self.report(
                            Diagnostic::new(Code::OutOfRange, span, format!("{code} is too large"))
                                .label("an inline constant's code is at most 127")
                                .help("to name it by value, write the value with a point"),
                        );
                        0
                    } else {
                        #[allow(clippy::cast_possible_truncation)]
                        let code = code as u8;
                        code
                    }
                }
                Number::Real(value) => self.inline(value, span),
            };
            self.need(Kind::CloseParen)?;
            code
        } else if self.at_number() {
            let (number, span) = self.literal()?;
            self.inline(number.float(), span)
        } else {
            let span = self.tok.span;
            match if self.at(Kind::Word) { self.named(span) } else { None } {
                Some(Register::Temp(n)) => {
                    self.bump();
                    return Ok(source(n, false, false));
                }
                Some(Register::Const(n)) => {
                    self.bump();
                    return Ok(source(n, true, false));
                }
                Some(Register::Float(code)) => {
                    self.bump();
                    code
                }
                _ => return Err(self.bad_source()),
            }
        };
        let relative = self.eat(Kind::Plus);
        if relative && !self.eat_word(Kw::Al) {
            return Err(self.expected("`aL`"));
        }
        Ok(source(0x80 | code, false, relative))
    }

    #[cold]
    fn bad_source(&mut self) -> GivenUp {
        if !self.at(Kind::Word) {
            return self.expected("`temp[n]`, `const[n]`, `float(code)`, a number or a name");
        }
        let span = self.tok.span;
        let text = self.text(span);
        let near = names::closest(&text, ["temp", "const", "float"])
            .map(str::to_owned)
            .or_else(|| self.closest_name(&text));
        self.report(
            Diagnostic::new(Code::BadSource, span, format!("`{text}` is not a source"))
                .label("expected `temp[n]`, `const[n]`, `float(code)`, a number or a name")
                .suggest(near.as_deref()),
        );
        GivenUp
    }

    #[cold]
    fn bad_presubtract(&mut self) -> GivenUp {
        let span = self.tok.span;
        if !self.at(Kind::Word) {
            return self.expected("`neg2`, `sub`, `add` or `neg`");
        }
        let text = self.text(span);
        let words = names::SRCP_OPS.iter().map(|(k, _)| k.text());
        self.report(
            Diagnostic::new(
                Code::BadPresubtract,
                span,
                format!("`{text}` is no presubtract operation"),
            )
            .label("`neg2` (1-2*src0), `sub` (src1-src0), `add` (src1+src0) or `neg` (1-src0)")
            .suggest(names::closest(&text, words)),
        );
        GivenUp
    }

    // Operations.

    fn op(&mut self, op: &mut Op) -> Parsed<()> {
        while self.destination(op)? {}
        op.clamp = self.eat_word(Kw::Clamp);
        if self.eat_word(Kw::Raw) {
            op.omod = Omod::DISABLED;
        } else {
            self.output_modifier(op)?;
        }
        self.opcode(op)?;
        while op.count < 3 && self.at_operand() {
            let operand = &mut op.operands[op.count];
            self.operand(operand)?;
            op.count += 1;
        }
        Ok(())
    }

    /// `temp[1].rg =`, `out[0].rgb =`, `pred[lt].r =`, `alu[ge].a =`, `depth =`, `name.rg =`.
    fn destination(&mut self, op: &mut Op) -> Parsed<bool> {
        let start = self.tok.span;
        match self.tok.kw {
            Kw::Temp => {
                self.bump();
                let index = self.temp_index()?;
                let mask = self.dest_mask(op, start)?;
                op.temp = Some((index, mask));
            }
            Kw::Out => {
                self.bump();
                let n = self.index(3, "a render target")?;
                let mask = self.dest_mask(op, start)?;
                op.out = Some((Target::new(n), mask));
            }
            Kw::Pred => {
                self.bump();
                self.need(Kind::OpenBracket)?;
                let compare = self.compare()?;
                self.need(Kind::CloseBracket)?;
                let mask = self.dest_mask(op, start)?;
                op.out = Some((Target::new(compare.code()), mask));
                op.pred = Some(start.to(self.before));
            }
            Kw::Alu => {
                self.bump();
                self.need(Kind::OpenBracket)?;
                let compare = self.compare()?;
                self.need(Kind::CloseBracket)?;
                self.need(Kind::Dot)?;
                let sel = self.result_channel()?;
                let side = if sel == AluResultSel::RED { Side::Rgb } else { Side::Alpha };
                self.clue(op, side, start.to(self.before));
                op.result = Some((sel, compare));
            }
            Kw::Depth => {
                self.bump();
                self.clue(op, Side::Alpha, start);
                op.depth = true;
            }
            Kw::Ident if self.tok.kind == Kind::Word => match self.named(start) {
                Some(Register::Temp(n)) => {
                    self.bump();
                    let mask = self.dest_mask(op, start)?;
                    op.temp = Some((Index { n, relative: false }, mask));
                }
                Some(Register::Out(n)) => {
                    self.bump();
                    let mask = self.dest_mask(op, start)?;
                    op.out = Some((Target::new(n), mask));
                }
                _ => return Ok(false),
            },
            _ => return Ok(false),
        }
        self.need(Kind::Equals)?;
        Ok(true)
    }

    fn dest_mask(&mut self, op: &mut Op, start: Span) -> Parsed<u8> {
        self.need(Kind::Dot)?;
        let mask = self.mask()?;
        let span = start.to(self.before);
        if mask & 8 != 0 && mask & 7 != 0 {
            let text = self.text(self.before);
            self.report(
                Diagnostic::new(
                    Code::MixedHalves,
                    self.before,
                    format!("mask `{text}` mixes colours and alpha"),
                )
                .label("an operation writes colours or alpha")
                .help("write two operations, separated by a comma"),
            );
            op.clue = op.clue.or(Some((Side::Rgb, span)));
        } else if mask != 0 {
            self.clue(op, if mask & 8 != 0 { Side::Alpha } else { Side::Rgb }, span);
        }
        Ok(mask)
    }

    /// Notes which half a destination belongs to.
    fn clue(&mut self, op: &mut Op, side: Side, span: Span) {
        match op.clue {
            Some((first, at)) if first != side => self.report(
                Diagnostic::new(
                    Code::MixedHalves,
                    span,
                    "one operation has destinations of both halves",
                )
                .label(format!("this belongs to the {} half", side.name()))
                .related(at, format!("this belongs to the {} half", first.name()))
                .help("write two operations, separated by a comma"),
            ),
            _ => op.clue = Some((side, span)),
        }
    }

    /// `2.0 *`
    fn output_modifier(&mut self, op: &mut Op) -> Parsed<()> {
        let first = self.tok.span;
        let digit = self.bytes(first).first().is_some_and(u8::is_ascii_digit);
        if self.tok.kind != Kind::Word || !digit {
            return Ok(());
        }
        self.bump();
        let last = if self.eat(Kind::Dot) { self.need(Kind::Word)?.span } else { first };
        let found = names::OMODS.iter().position(|(whole, part)| {
            self.bytes(first) == whole.as_bytes() && self.bytes(last) == part.as_bytes()
        });
        match found {
            #[allow(clippy::cast_possible_truncation)]
            Some(code) if last != first => op.omod = Omod::new(code as u8),
            _ => {
                let span = first.to(last);
                let text = self.text(span);
                self.report(
                    Diagnostic::new(
                        Code::BadOmod,
                        span,
                        format!("`{text}` is not an output modifier"),
                    )
                    .label("one of 1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125, spelled so"),
                );
            }
        }
        self.need(Kind::Star)?;
        Ok(())
    }

    /// The opcode, by word or as `OP(code)`, and its half if it is named: `MAD.rgb`.
    fn opcode(&mut self, op: &mut Op) -> Parsed<()> {
        op.opcode = self.tok.span;
        if self.at_word(Kw::Op) {
            self.bump();
            self.need(Kind::OpenParen)?;
            #[allow(clippy::cast_possible_truncation)]
            let code = self.number(15, "an opcode")? as u8;
            self.need(Kind::CloseParen)?;
            op.rgb = Some(RgbOp::new(code));
            op.alpha = Some(AlphaOp::new(code));
        } else {
            let Some(found) = names::opcode(self.tok.kw) else {
                return Err(self.bad_opcode(op));
            };
            self.bump();
            op.rgb = found.rgb;
            op.alpha = found.alpha;
        }
        if self.eat(Kind::Dot) {
            let side = self.let_suffix()?;
            op.named = Some(side);
        }
        op.opcode = op.opcode.to(self.before);
        Ok(())
    }

    #[cold]
    fn bad_opcode(&mut self, op: &Op) -> GivenUp {
        if !self.at(Kind::Word) {
            let nothing = op.temp.is_none() && op.out.is_none();
            return self.expected(if nothing { "an operation" } else { "an opcode" });
        }
        let span = self.tok.span;
        let text = self.text(span);
        let words = names::OPCODES.iter().map(|o| o.kw.text());
        let near = names::closest(&text, words).map(str::to_owned).or_else(|| {
            names::closest(&text, ["temp", "out", "pred", "alu", "depth"]).map(str::to_owned)
        });
        let near = near.or_else(|| self.closest_name(&text));
        self.report(
            Diagnostic::new(Code::UnknownOpcode, span, format!("unknown operation `{text}`"))
                .label("no arithmetic operation and no destination is called so")
                .suggest(near.as_deref()),
        );
        GivenUp
    }

    fn at_operand(&self) -> bool {
        matches!(self.tok.kind, Kind::Minus | Kind::Pipe)
            || matches!(self.tok.kw, Kw::Src0 | Kw::Src1 | Kw::Src2 | Kw::Srcp)
    }

    /// `[-] [|] src0 . swizzle [|]`
    fn operand(&mut self, written: &mut Written) -> Parsed<()> {
        let start = self.tok.span;
        let negative = self.eat(Kind::Minus);
        let absolute = self.eat(Kind::Pipe);
        let sel = match self.tok.kw {
            Kw::Src0 => Sel::SRC0,
            Kw::Src1 => Sel::SRC1,
            Kw::Src2 => Sel::SRC2,
            Kw::Srcp => Sel::SRCP,
            _ => return Err(self.expected("`src0`, `src1`, `src2` or `srcp`")),
        };
        self.bump();
        self.need(Kind::Dot)?;
        let swizzle = self.need(Kind::Word)?.span;
        let mut letters = [Swiz::R; 3];
        let bytes = self.bytes(swizzle);
        let length = bytes.len();
        let mut good = true;
        for (i, b) in bytes.iter().enumerate() {
            match names::swizzle(*b) {
                Some(swiz) if i < 3 => letters[i] = swiz,
                Some(_) => {}
                None => good = false,
            }
        }
        if !good {
            let text = self.text(swizzle);
            self.report(
                Diagnostic::new(Code::BadSwizzle, swizzle, format!("`{text}` is not a swizzle"))
                    .label("letters are r g b a, 0, h (one half), 1 and _ (unused)"),
            );
        }
        if absolute {
            self.need(Kind::Pipe)?;
        }
        let modifier = match (negative, absolute) {
            (false, false) => Mod::NOP,
            (true, false) => Mod::NEG,
            (false, true) => Mod::ABS,
            (true, true) => Mod::NAB,
        };
        let span = start.to(self.before);
        // A bad swizzle has been reported: let its length pass.
        let length = if good { length } else { 0 };
        let length = u8::try_from(length).unwrap_or(u8::MAX);
        *written = Written { sel, modifier, letters, length, span };
        Ok(())
    }

    // Which half.

    /// The half of each operation; `None` where that has been reported as unclear or wrong.
    fn sides(&mut self, ops: &[Op]) -> [Option<Side>; 2] {
        let mut sides = [None; 2];
        for (op, side) in ops.iter().zip(&mut sides) {
            *side = op.named.or(match (op.rgb, op.alpha) {
                (Some(_), None) => Some(Side::Rgb),
                (None, Some(_)) => Some(Side::Alpha),
                _ => op.clue.map(|(side, _)| side),
            });
        }
        match (ops.len(), sides) {
            (2, [Some(side), None]) => sides[1] = Some(other(side)),
            (2, [None, Some(side)]) => sides[0] = Some(other(side)),
            (2, [None, None]) => self.unclear(&ops[0]),
            (1, [None, _]) => self.unclear(&ops[0]),
            (2, [Some(a), Some(b)]) if a == b => {
                self.report(
                    Diagnostic::new(
                        Code::SameHalf,
                        ops[1].opcode,
                        format!("two operations of the {} half", a.name()),
                    )
                    .label("second")
                    .related(ops[0].opcode, "first"),
                );
                sides[1] = None;
            }
            _ => {}
        }
        for (op, side) in ops.iter().zip(&mut sides) {
            let Some(found) = *side else { continue };
            let has = if found == Side::Rgb { op.rgb.is_some() } else { op.alpha.is_some() };
            if !has {
                let text = self.text(op.opcode);
                self.report(
                    Diagnostic::new(
                        Code::WrongHalf,
                        op.opcode,
                        format!("the {} half has no operation `{text}`", found.name()),
                    )
                    .label(format!("belongs to the {} half", other(found).name())),
                );
                *side = None;
            } else if let Some((clue, at)) = op.clue.filter(|(clue, _)| *clue != found) {
                let text = self.text(op.opcode);
                self.report(
                    Diagnostic::new(
                        Code::WrongHalf,
                        at,
                        format!("destination of the {} half for `{text}`", clue.name()),
                    )
                    .label(format!("belongs to the {} half", clue.name()))
                    .related(op.opcode, format!("belongs to the {} half", found.name())),
                );
                *side = None;
            }
        }
        sides
    }

    #[cold]
    fn unclear(&mut self, op: &Op) {
        let text = self.text(op.opcode);
        self.report(
            Diagnostic::new(
                Code::UnclearHalf,
                op.opcode,
                format!("`{text}` may be the RGB or the alpha operation"),
            )
            .label("both halves have it, and no mask tells which is meant")
            .help(format!("write `{text}.rgb` or `{text}.a`")),
        );
    }

    // Halves.

    fn rgb_half(&mut self, inst: &mut Instruction, op: &Op) {
        let mut cmn = flag(inst.cmn(), CmnInst::RGB_CLAMP, op.clamp);
        let mut w3 = inst.rgb_inst().with(AluRgbInst::OMOD, op.omod);
        let mut w5 = inst.rgba_inst().with(AluRgbaInst::RGB_OP, op.rgb.unwrap_or(RgbOp::MAD));
        if let Some((index, mask)) = op.temp {
            cmn = cmn.with(CmnInst::RGB_WMASK, RgbMask::new(mask));
            w5 = w5
                .with(AluRgbaInst::RGB_ADDRD, index.n)
                .with(AluRgbaInst::RGB_ADDRD_REL, index.relative);
        }
        if let Some((target, mask)) = op.out {
            cmn = cmn.with(CmnInst::RGB_OMASK, RgbMask::new(mask));
            w3 = w3.with(AluRgbInst::TARGET, target);
        }
        if let Some((sel, compare)) = op.result {
            cmn = cmn.with(CmnInst::ALU_RESULT_SEL, sel).with(CmnInst::ALU_RESULT_OP, compare);
            w3 = w3.with(AluRgbInst::ALU_WMASK, true);
        }
        inst.0[0] = cmn.bits();
        inst.0[3] = w3.bits();
        inst.0[5] = w5.bits();
        for (slot, written) in Slot::ALL.into_iter().zip(&op.operands[..op.count]) {
            self.check_length(written, 3, "an RGB operand", "three letters");
            let Written { sel, letters: swiz, modifier, .. } = *written;
            *inst = inst.with_rgb_operand(slot, Operand { sel, swiz, modifier });
        }
    }

    fn alpha_half(&mut self, inst: &mut Instruction, op: &Op) {
        let mut cmn = flag(inst.cmn(), CmnInst::ALPHA_CLAMP, op.clamp);
        let mut w4 = inst
            .alpha_inst()
            .with(AluAlphaInst::OMOD, op.omod)
            .with(AluAlphaInst::ALPHA_OP, op.alpha.unwrap_or(AlphaOp::MAD))
            .with(AluAlphaInst::W_OMASK, op.depth);
        if let Some((index, mask)) = op.temp {
            cmn = cmn.with(CmnInst::ALPHA_WMASK, mask & 8 != 0);
            w4 = w4
                .with(AluAlphaInst::ALPHA_ADDRD, index.n)
                .with(AluAlphaInst::ALPHA_ADDRD_REL, index.relative);
        }
        if let Some((target, mask)) = op.out {
            cmn = cmn.with(CmnInst::ALPHA_OMASK, mask & 8 != 0);
            w4 = w4.with(AluAlphaInst::TARGET, target);
        }
        if let Some((sel, compare)) = op.result {
            cmn = cmn.with(CmnInst::ALU_RESULT_SEL, sel).with(CmnInst::ALU_RESULT_OP, compare);
            inst.0[3] = inst.rgb_inst().with(AluRgbInst::ALU_WMASK, true).bits();
        }
        inst.0[0] = cmn.bits();
        inst.0[4] = w4.bits();
        for (slot, written) in Slot::ALL.into_iter().zip(&op.operands[..op.count]) {
            self.check_length(written, 1, "an alpha operand", "one letter");
            let Written { sel, letters: [swiz, ..], modifier, .. } = *written;
            *inst = inst.with_alpha_operand(slot, Operand { sel, swiz: [swiz], modifier });
        }
    }

    fn check_length(&mut self, written: &Written, length: u8, what: &str, letters: &str) {
        if written.length == length || written.length == 0 {
            return;
        }
        let text = self.text(written.span);
        let mut diagnostic = Diagnostic::new(
            Code::SwizzleLength,
            written.span,
            format!("{what} takes {letters}, not {}", written.length),
        )
        .label(format!("belongs to the {} half", if length == 3 { "RGB" } else { "alpha" }));
        if let Some((head, tail)) = text.split_once('.') {
            let (swizzle, bar) = tail.strip_suffix('|').map_or((tail, ""), |s| (s, "|"));
            let swizzle = swizzle.trim();
            if length == 3 && written.length == 1 {
                diagnostic = diagnostic.fix(format!("{head}.{}{bar}", swizzle.repeat(3)));
            } else if length == 1 {
                let first: String = swizzle.chars().take(1).collect();
                diagnostic = diagnostic.fix(format!("{head}.{first}{bar}"));
            }
        }
        self.report(diagnostic);
    }
}

const fn other(side: Side) -> Side {
    match side {
        Side::Rgb => Side::Alpha,
        Side::Alpha => Side::Rgb,
    }
}
