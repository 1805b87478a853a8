//! Parser of the lines that the printer writes.

use std::fmt;
use std::str::FromStr;

use r500_chip::pvs::{Component, Dst, DualMath, MacroOp, MathOp, Op, Src, Swizzle, VectorOp};

use super::names::{COMPONENTS, DESTINATIONS, SOURCES, SWIZZLES, value};
use super::print::math_op;
use crate::Instruction;

/// Why a line is not a vertex instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset in the line.
    pub at: usize,
    /// The expected text at this offset.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: expected {}", self.at + 1, self.expected)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Instruction {
    type Err = ParseError;

    /// Parses a line as [`Instruction`] prints it. The amount of white space is free; names are as in the documents.
    fn from_str(line: &str) -> Result<Self, ParseError> {
        let mut cursor = Cursor { line, at: 0 };
        let inst = cursor.instruction()?;
        cursor.blanks();
        if cursor.at < line.len() { Err(cursor.expected("the end of the line")) } else { Ok(inst) }
    }
}

struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Cursor<'a> {
    fn expected(&self, expected: &'static str) -> ParseError {
        ParseError { at: self.at, expected }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.line.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn need(&mut self, text: &'static str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(text)) }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self, max: u8) -> Parsed<u8> {
        let start = self.at;
        let value = self.word().parse().ok().filter(|value| *value <= max);
        value.ok_or(ParseError { at: start, expected: "a register number" })
    }

    fn instruction(&mut self) -> Parsed<Instruction> {
        self.blanks();
        if self.eat(".dwords") {
            let mut dwords = [0; 4];
            for dword in &mut dwords {
                self.blanks();
                let error = self.expected("a dword, such as 0x00f00002");
                self.need("0x").map_err(|_| error)?;
                *dword = u32::from_str_radix(self.word(), 16).map_err(|_| error)?;
            }
            return Ok(Instruction(dwords));
        }
        let mut dst = Dst(0);
        if self.eat("(p)") {
            dst = dst.with(Dst::PRED_ENABLE, true).with(Dst::PRED_SENSE, true);
        } else if self.eat("(!p)") {
            dst = dst.with(Dst::PRED_ENABLE, true);
        }
        self.blanks();
        let start = self.at;
        let op =
            operation(self.word()).ok_or(ParseError { at: start, expected: "an operation" })?;
        dst = match op {
            Op::Vector(op) => dst.with(Dst::OPCODE, op.code()),
            Op::Math(op) => dst.with(Dst::OPCODE, op.code()).with(Dst::MATH_INST, true),
            Op::Macro(op) => dst.with(Dst::OPCODE, op.code()).with(Dst::MACRO_INST, true),
        };
        dst = dst.with(Dst::VE_SAT, self.eat(".ve_sat")).with(Dst::ME_SAT, self.eat(".me_sat"));
        dst = self.destination(dst)?;
        let mut words = [0; 3];
        let mut count = 0;
        self.blanks();
        while self.eat(",") {
            let error = self.expected("at most three sources");
            *words.get_mut(count).ok_or(error)? = self.source(4)?.0;
            count += 1;
            self.blanks();
        }
        if self.eat("+") {
            if count > 2 {
                return Err(self.expected("at most two sources before a second instruction"));
            }
            dst = dst.with(Dst::DUAL_MATH_OP, true);
            words[2] = self.dual()?.0;
        }
        Ok(Instruction([dst.0, words[0], words[1], words[2]]))
    }

    fn destination(&mut self, dst: Dst) -> Parsed<Dst> {
        self.blanks();
        let start = self.at;
        let kind = value(&DESTINATIONS, self.word());
        let kind = kind.ok_or(ParseError { at: start, expected: "a destination" })?;
        let (offset, a0, al) = self.address(127)?;
        self.need(".")?;
        let dst = dst
            .with(Dst::REG_TYPE, kind)
            .with(Dst::OFFSET, offset)
            .with(Dst::ADDR_MODE_1, al)
            .with(Dst::ADDR_MODE_0, a0.is_some())
            .with(Dst::ADDR_SEL, a0.unwrap_or(Component::X));
        if self.eat("_") {
            return Ok(dst);
        }
        let start = self.at;
        let dst = dst
            .with(Dst::WE_X, self.eat("x"))
            .with(Dst::WE_Y, self.eat("y"))
            .with(Dst::WE_Z, self.eat("z"))
            .with(Dst::WE_W, self.eat("w"));
        if self.at == start { Err(self.expected("components, or _")) } else { Ok(dst) }
    }

    /// Parses `[3]`, `[a0.x+3]` or `[aL+3]`.
    fn address(&mut self, max: u8) -> Parsed<(u8, Option<Component>, bool)> {
        self.need("[")?;
        let mut a0 = None;
        let mut al = false;
        if self.eat("a0.") {
            a0 = Some(self.component()?);
            self.need("+")?;
        } else if self.eat("aL+") {
            al = true;
        }
        let offset = self.number(max)?;
        self.need("]")?;
        Ok((offset, a0, al))
    }

    fn component(&mut self) -> Parsed<Component> {
        self.spelled(&COMPONENTS).ok_or(self.expected("a component"))
    }

    fn spelled<T: Copy>(&mut self, table: &[(T, &str)]) -> Option<T> {
        table.iter().find(|(_, name)| self.eat(name)).map(|(value, _)| *value)
    }

    fn source(&mut self, components: usize) -> Parsed<Src> {
        self.blanks();
        let all = self.eat("-");
        let absolute = self.eat("|");
        let start = self.at;
        let kind = value(&SOURCES, self.word());
        let kind = kind.ok_or(ParseError { at: start, expected: "a source" })?;
        let (offset, a0, al) = self.address(255)?;
        if absolute {
            self.need("|")?;
        }
        self.need(".")?;
        let mut src = Src(0)
            .with(Src::REG_TYPE, kind)
            .with(Src::ABS_XYZW, absolute)
            .with(Src::OFFSET, offset)
            .with(Src::ADDR_MODE_1, al)
            .with(Src::ADDR_MODE_0, a0.is_some())
            .with(Src::ADDR_SEL, a0.unwrap_or(Component::X));
        let fields = [
            (Src::SWIZZLE_X, Src::MODIFIER_X),
            (Src::SWIZZLE_Y, Src::MODIFIER_Y),
            (Src::SWIZZLE_Z, Src::MODIFIER_Z),
            (Src::SWIZZLE_W, Src::MODIFIER_W),
        ];
        for (swizzle, modifier) in &fields[..components] {
            let negate = all || self.eat("-");
            src = src.with(*swizzle, self.swizzle()?).with(*modifier, negate);
        }
        Ok(src)
    }

    fn swizzle(&mut self) -> Parsed<Swizzle> {
        self.spelled(&SWIZZLES).ok_or(self.expected("x, y, z, w, 0, 1 or _"))
    }

    fn dual(&mut self) -> Parsed<DualMath> {
        self.blanks();
        let start = self.at;
        let op = math_op(self.word());
        let op = op.ok_or(ParseError { at: start, expected: "an operation of the math engine" })?;
        self.blanks();
        self.need("alt[")?;
        let offset = self.number(3)?;
        self.need("].")?;
        let component = self.component()?;
        self.blanks();
        self.need(",")?;
        let source = self.source(2)?;
        Ok(DualMath(source.0)
            .with(DualMath::DST_OPCODE_MSB, op.code() & 16 != 0)
            .with(DualMath::DST_OPCODE, op.code() & 15)
            .with(DualMath::DST_OFFSET, offset)
            .with(DualMath::DST_WE_SEL, component))
    }
}

fn operation(name: &str) -> Option<Op> {
    let vector = (0..64).map(|code| Op::Vector(VectorOp::new(code)));
    let math = (0..64).map(|code| Op::Math(MathOp::new(code)));
    let macros = (0..64).map(|code| Op::Macro(MacroOp::new(code)));
    vector.chain(math).chain(macros).find(|op| op.name() == Some(name))
}
