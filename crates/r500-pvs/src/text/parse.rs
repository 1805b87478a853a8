//! Parser of statements.

use std::ops::Range;
use std::str::FromStr;

use r500_chip::pvs::{
    Component, Dst, DstType, DualMath, MacroOp, MathOp, Op, Src, SrcType, Swizzle, VectorOp,
};

use super::error::SyntaxError;
use super::names::{DESTINATIONS, SELECTS, SOURCES, UNUSED, like, name_of, operation, value};
use super::numbers::{Names, number_at, whole_value};
use super::operands::{Fill, is_macro, read_slots};
use crate::Instruction;

impl FromStr for Instruction {
    type Err = SyntaxError;

    /// Parses a statement, with or without its semicolon. White space and case are free.
    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::parse(text, Fill::Unused)
    }
}

impl Instruction {
    /// Parses a statement, with or without its semicolon; sources that an operation does not read are as `fill` says.
    ///
    /// # Errors
    /// [`SyntaxError`] with the place in `text`.
    pub fn parse(text: &str, fill: Fill) -> Result<Self, SyntaxError> {
        Self::parse_with(text, fill, &Names::default())
    }

    /// Parses a statement as [`Instruction::parse`], with names of numbers.
    pub(super) fn parse_with(text: &str, fill: Fill, names: &Names) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor { text, at: 0, fill, names };
        cursor.blanks();
        let inst = cursor.statement()?;
        cursor.blanks();
        if cursor.eat(";") {
            cursor.blanks();
        }
        if cursor.at < text.len() {
            let word = cursor.upcoming();
            return Err(SyntaxError::new(word, "the statement should end here")
                .help("end it with `;`, or begin a second operation with `,`"));
        }
        Ok(inst)
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    fill: Fill,
    names: &'a Names,
}

type Parsed<T> = Result<T, SyntaxError>;

/// An operation as written: destination, operation with suffixes, sources.
struct Operation {
    dst: Dst,
    op: Op,
    op_span: Range<usize>,
    clocks: Option<u8>,
    sat: bool,
    other_sat: bool,
    read: Vec<(Src, usize, Range<usize>)>,
    unread: Vec<(Src, usize, Range<usize>)>,
    dst_span: Range<usize>,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Returns the span of the next word or character.
    fn upcoming(&self) -> Range<usize> {
        let rest = self.rest();
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        self.at..self.at + length
    }

    fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.upcoming(), message)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found =
            self.rest().get(..text.len()).is_some_and(|next| next.eq_ignore_ascii_case(text));
        if found {
            self.at += text.len();
        }
        found
    }

    fn need(&mut self, text: &str, after: &str) -> Parsed<()> {
        self.blanks();
        if self.eat(text) {
            Ok(())
        } else {
            Err(self.error(format!("expected `{text}` after {after}")))
        }
    }

    fn word(&mut self) -> (&'a str, Range<usize>) {
        let span = self.upcoming();
        let word = &self.text[span.clone()];
        if word.chars().all(is_word) && !word.is_empty() {
            self.at = span.end;
            (word, span)
        } else {
            ("", span)
        }
    }

    fn statement(&mut self) -> Parsed<Instruction> {
        if self.eat(".dwords") {
            return Ok(Instruction(self.dwords::<4>()?));
        }
        let mut flags = Dst(0);
        if self.eat("(p)") {
            flags = flags.with(Dst::PRED_ENABLE, true).with(Dst::PRED_SENSE, true);
        } else if self.eat("(!p)") {
            flags = flags.with(Dst::PRED_ENABLE, true);
        }
        let first = self.operation()?;
        self.blanks();
        let mut second = None;
        if self.eat(",") {
            second = Some(self.operation()?);
            self.blanks();
        }
        let mut inst = match second {
            None => self.single(&first, flags)?,
            Some(second) => self.pair(first, second, flags)?,
        };
        if self.eat(".bits") {
            for (word, bits) in inst.0.iter_mut().zip(self.dwords::<4>()?) {
                *word |= bits;
            }
        }
        Ok(inst)
    }

    fn dwords<const N: usize>(&mut self) -> Parsed<[u32; N]> {
        let mut dwords = [0; N];
        for dword in &mut dwords {
            self.blanks();
            let error = self.error("expected a dword, such as 0x00f00002");
            let (word, _) = self.word();
            let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
            let number =
                hex.map_or_else(|| word.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            *dword = number.ok_or(error)?;
        }
        Ok(dwords)
    }

    fn operation(&mut self) -> Parsed<Operation> {
        self.blanks();
        let start = self.at;
        let dst = self.destination()?;
        let dst_span = start..self.at;
        self.need("=", "the destination")?;
        self.blanks();
        let (word, op_span) = self.word();
        let op = operation(word).ok_or_else(|| {
            let error = SyntaxError::new(op_span.clone(), match word {
                "" => "expected an operation, such as VE_MUL".to_owned(),
                word => format!("there is no operation `{word}`"),
            });
            match like(word) {
                Some(name) => error.help(format!("did you mean `{name}`?")),
                None => error.help("operations of the vector engine begin with VE_, those of the math engine with ME_"),
            }
        })?;
        let is_math = matches!(op, Op::Math(_));
        let (mut sat, mut other_sat, mut clocks) = (false, false, None);
        while self.eat(".") {
            let (suffix, span) = self.word();
            match suffix.to_ascii_uppercase().as_str() {
                "SAT" | "SATURATION" => sat = true,
                "ME_SAT" if !is_math => other_sat = true,
                "VE_SAT" if is_math => other_sat = true,
                "1CLK" => clocks = Some(1),
                "2CLK" => clocks = Some(2),
                // The statement's bits without a notation, after an operation without sources.
                "BITS" => {
                    self.at = span.start - 1;
                    break;
                }
                _ => {
                    return Err(SyntaxError::new(span, format!("there is no suffix `.{suffix}`"))
                        .help("write `.SAT` to clamp the result to 0..1"));
                }
            }
        }
        let mut operation = Operation {
            dst,
            op,
            op_span,
            clocks,
            sat,
            other_sat,
            read: Vec::new(),
            unread: Vec::new(),
            dst_span,
        };
        loop {
            self.blanks();
            let start = self.at;
            if self.eat("(") {
                let (src, components) = self.source()?;
                self.need(")", "a source that the operation does not read")?;
                operation.unread.push((src, components, start..self.at));
            } else if self.rest().is_empty() || self.rest().starts_with([',', ';', '.']) {
                return Ok(operation);
            } else {
                let (src, components) = self.source()?;
                operation.read.push((src, components, start..self.at));
            }
        }
    }

    fn destination(&mut self) -> Parsed<Dst> {
        let (word, span) = self.word();
        let reserved = || {
            let code = word.get(3..)?.parse().ok().filter(|code| (6..16).contains(code))?;
            word[..3].eq_ignore_ascii_case("reg").then(|| DstType::new(code))
        };
        let kind = value(&DESTINATIONS, word).or_else(reserved).ok_or_else(|| {
            let error = SyntaxError::new(
                span,
                match word {
                    "" => "expected a destination, such as temp[0].xyzw".to_owned(),
                    word => format!("`{word}` is not a destination"),
                },
            );
            error.help("destinations are temp, alt_temp, out, out_repl_x and a0")
        })?;
        let (offset, a0, al) = self.address(127, word)?;
        self.need(".", "the destination's number")?;
        let dst = Dst(0)
            .with(Dst::REG_TYPE, kind)
            .with(Dst::OFFSET, offset)
            .with(Dst::ADDR_MODE_1, al)
            .with(Dst::ADDR_MODE_0, a0.is_some())
            .with(Dst::ADDR_SEL, a0.unwrap_or(Component::X));
        self.blanks();
        let (mask, span) = self.word();
        if mask == "_" {
            return Ok(dst);
        }
        let mut last = 0;
        let mut written = [false; 4];
        for c in mask.chars() {
            let Some(place) = "xyzw".find(c.to_ascii_lowercase()) else {
                return Err(SyntaxError::new(span, format!("`{mask}` is not a mask"))
                    .help("write the components to write, some of `xyzw`"));
            };
            if written[place] || place < last {
                let sorted: String =
                    "xyzw".chars().filter(|c| mask.to_ascii_lowercase().contains(*c)).collect();
                return Err(SyntaxError::new(
                    span,
                    "the components of a mask are in the order xyzw, each once",
                )
                .help(format!(
                    "write `.{sorted}`; the sources' components decide what each one receives"
                )));
            }
            (written[place], last) = (true, place);
        }
        if mask.is_empty() {
            return Err(SyntaxError::new(span, "expected the components to write, some of `xyzw`")
                .help("`._` writes none"));
        }
        let [x, y, z, w] = written;
        Ok(dst.with(Dst::WE_X, x).with(Dst::WE_Y, y).with(Dst::WE_Z, z).with(Dst::WE_W, w))
    }

    /// Parses `[3]`, `[a0.x+3]`, `[aL+3]` or `[a0.x+aL+3]`.
    fn address(&mut self, max: u8, of: &str) -> Parsed<(u8, Option<Component>, bool)> {
        self.need("[", of)?;
        self.blanks();
        let (mut a0, mut al) = (None, false);
        if self.eat("a0") {
            self.need(".", "a0")?;
            let (name, span) = self.word();
            let component = "xyzw".find(&name.to_ascii_lowercase()).filter(|_| name.len() == 1);
            let component = component.map(|place| Component::new(place as u8));
            a0 = Some(component.ok_or_else(|| {
                SyntaxError::new(span, "expected a component of a0: x, y, z or w")
            })?);
            self.blanks();
            if self.rest().starts_with(']') {
                self.need("]", "the number")?;
                return Ok((0, a0, false));
            }
            self.need("+", "the component of a0")?;
            self.blanks();
        }
        if self.eat("aL") {
            al = true;
            self.blanks();
            if self.eat("]") {
                return Ok((0, a0, al));
            }
            self.need("+", "aL")?;
            self.blanks();
        }
        let number = self.register_number(max, of)?;
        self.need("]", "the number")?;
        Ok((number, a0, al))
    }

    /// Parses the number of a register, alone or as an expression.
    fn register_number(&mut self, max: u8, of: &str) -> Parsed<u8> {
        let wrong = |span| {
            SyntaxError::new(span, format!("expected a number from 0 to {max}, of `{of}`"))
                .help("an address may be relative: `[a0.x+3]`, `[aL+3]`")
        };
        let start = self.at;
        let (word, span) = self.word();
        self.blanks();
        let value = if self.rest().starts_with(']') && word.bytes().all(|b| b.is_ascii_digit()) {
            word.parse().ok()
        } else {
            let digits = word.starts_with(|c: char| c.is_ascii_digit());
            let known = digits || self.rest().starts_with('(') || self.names.find(word).is_some();
            if !known && !word.is_empty() && !word.eq_ignore_ascii_case("pi") {
                return Err(wrong(span));
            }
            let (value, end) = number_at(self.text, start, self.names)?;
            self.at = end;
            whole_value(value, u32::from(u8::MAX)).and_then(|value| u8::try_from(value).ok())
        };
        value.filter(|value| *value <= max).ok_or_else(|| wrong(span.start..self.at.max(span.end)))
    }

    /// Parses a source. Returns the number of its components, too.
    fn source(&mut self) -> Parsed<(Src, usize)> {
        self.blanks();
        let all = self.eat("-");
        self.blanks();
        let absolute = self.eat("|");
        self.blanks();
        let (word, span) = self.word();
        let kind: SrcType = value(&SOURCES, word).ok_or_else(|| {
            let error = SyntaxError::new(
                span,
                match word {
                    "" => "expected a source, such as input[0].xyzw".to_owned(),
                    word => format!("`{word}` is not a source"),
                },
            );
            error.help("sources are temp, alt_temp, input and const")
        })?;
        let (offset, a0, al) = self.address(255, word)?;
        self.need(".", "the source's number")?;
        self.blanks();
        let start = self.at;
        let mut components = Vec::new();
        loop {
            let negative = self.eat("-");
            let swizzle = self.select();
            match swizzle {
                Some(swizzle) => components.push((swizzle, negative)),
                None if negative => {
                    return Err(
                        self.error("expected a component after `-`: x, y, z, w, 0, 1, h or _")
                    );
                }
                None => break,
            }
        }
        if self.rest().starts_with(is_word) {
            let span = start..self.upcoming().end;
            return Err(SyntaxError::new(
                span,
                "components of a source are x, y, z, w, 0, 1, h and _",
            ));
        }
        let swizzle_span = start..self.at;
        if absolute {
            self.need("|", "the components of an absolute value")?;
        }
        let mut src = Src(0)
            .with(Src::REG_TYPE, kind)
            .with(Src::ABS_XYZW, absolute)
            .with(Src::OFFSET, offset)
            .with(Src::ADDR_MODE_1, al)
            .with(Src::ADDR_MODE_0, a0.is_some())
            .with(Src::ADDR_SEL, a0.unwrap_or(Component::X));
        let count = components.len();
        if count != 4 && count != 2 {
            let error = SyntaxError::new(
                swizzle_span,
                format!("a source has four components, not {count}"),
            );
            return Err(match self.text.get(start..start + 1) {
                Some(one) if count == 1 => error.help(format!("write `.{}` for one component everywhere", one.repeat(4))),
                _ => error.help("write `_` for components that the operation does not read; the source of the second of two operations has two"),
            });
        }
        let fields = [
            (Src::SWIZZLE_X, Src::MODIFIER_X),
            (Src::SWIZZLE_Y, Src::MODIFIER_Y),
            (Src::SWIZZLE_Z, Src::MODIFIER_Z),
            (Src::SWIZZLE_W, Src::MODIFIER_W),
        ];
        for ((swizzle, modifier), (select, negative)) in fields.into_iter().zip(components) {
            let unused = select == UNUSED;
            src = src.with(swizzle, select).with(modifier, negative || all && !unused);
        }
        Ok((src, count))
    }

    /// Parses what a component of a source reads, one character.
    fn select(&mut self) -> Option<Swizzle> {
        let next = self.rest().chars().next()?.to_ascii_lowercase();
        let code = SELECTS.iter().position(|select| *select == next)?;
        self.at += 1;
        Some(Swizzle::new(code as u8))
    }

    /// Makes an instruction of one operation.
    fn single(&self, operation: &Operation, flags: Dst) -> Parsed<Instruction> {
        let sources = self.slots(operation, 3)?;
        let op = Self::in_clocks(operation, Some(&sources))?;
        let dst = self.first_word(operation, op, flags);
        let [a, b, c] = sources.map(|src| src.0);
        Ok(Instruction([dst.0, a, b, c]))
    }

    /// Returns the operation, or the macro that it is: where a suffix says so, or its sources need it.
    fn in_clocks(operation: &Operation, sources: Option<&[Src; 3]>) -> Parsed<Op> {
        let op = operation.op;
        let two = match op {
            Op::Vector(VectorOp::MULTIPLY_ADD) => Op::Macro(MacroOp::MADD),
            Op::Vector(VectorOp::MULTIPLYX2_ADD) => Op::Macro(MacroOp::M2X_ADD),
            _ if operation.clocks.is_some() => {
                let message = "only VE_MAD and VE_MULTIPLYX2_ADD have a form of two clocks";
                return Err(SyntaxError::new(operation.op_span.clone(), message));
            }
            _ => return Ok(op),
        };
        let needed = sources.is_some_and(|sources| is_macro(op, sources));
        let is_two = operation.clocks.map_or(needed, |clocks| clocks == 2);
        Ok(if is_two { two } else { op })
    }

    fn first_word(&self, operation: &Operation, op: Op, flags: Dst) -> Dst {
        let dst = Dst(operation.dst.0 | flags.0);
        let (ve_sat, me_sat) = match op {
            Op::Math(_) => (operation.other_sat, operation.sat),
            _ => (operation.sat, operation.other_sat),
        };
        let dst = dst.with(Dst::VE_SAT, ve_sat).with(Dst::ME_SAT, me_sat);
        match op {
            Op::Vector(op) => dst.with(Dst::OPCODE, op.code()),
            Op::Math(op) => dst.with(Dst::OPCODE, op.code()).with(Dst::MATH_INST, true),
            Op::Macro(op) => dst.with(Dst::OPCODE, op.code()).with(Dst::MACRO_INST, true),
        }
    }

    /// Puts the sources of an operation into their places.
    fn slots(&self, operation: &Operation, slots: usize) -> Parsed<[Src; 3]> {
        let read = read_slots(operation.op);
        let wanted = read[..slots].iter().filter(|read| **read).count();
        let given = operation.read.len();
        if given != wanted {
            let span = operation
                .read
                .get(wanted)
                .map_or(operation.op_span.clone(), |(.., span)| span.clone());
            let sources = match wanted {
                0 => "no source".to_owned(),
                1 => "one source".to_owned(),
                wanted => format!("{wanted} sources"),
            };
            let error = SyntaxError::new(
                span,
                format!("{} has {sources}, and {given} are given", name_of(operation.op)),
            );
            return Err(if slots == 2 && given == 3 {
                error.help(
                    "the first of two operations has at most two sources: make them two statements",
                )
            } else {
                error
            });
        }
        let mut sources = [Src(0); 3];
        let places = (0..slots).filter(|slot| read[*slot]);
        for (slot, given) in places.zip(&operation.read) {
            sources[slot] = Self::of_four(given)?;
        }
        sources = self.fill.sources(operation.op, sources, slots);
        // Sources in brackets stand in the first of the places that the operation does not read.
        let free: Vec<usize> = (0..slots).filter(|slot| !read[*slot]).collect();
        let shown = operation.unread.len();
        if shown > free.len() {
            let (.., span) = operation.unread[free.len()].clone();
            return Err(SyntaxError::new(
                span,
                format!("{} reads all places from here on", name_of(operation.op)),
            ));
        }
        for (slot, given) in free.into_iter().zip(&operation.unread) {
            sources[slot] = Self::of_four(given)?;
        }
        Ok(sources)
    }

    fn of_four((src, components, span): &(Src, usize, Range<usize>)) -> Parsed<Src> {
        if *components == 4 {
            return Ok(*src);
        }
        Err(SyntaxError::new(span.clone(), "a source has four components, not 2")
            .help("write `_` for components that the operation does not read"))
    }

    /// Makes an instruction of two operations, in any order.
    fn pair(&self, first: Operation, second: Operation, flags: Dst) -> Parsed<Instruction> {
        let (main, dual, math) = match (first.op, second.op) {
            (_, Op::Math(math)) => (first, second, math),
            (Op::Math(math), _) => (second, first, math),
            _ => {
                let message = "both operations are of the vector engine";
                return Err(SyntaxError::new(second.op_span, message)
                    .help("one of two operations in a statement is of the math engine: ME_"));
            }
        };
        let sources = self.slots(&main, 2)?;
        let op = Self::in_clocks(&main, None)?;
        let mut dst = self.first_word(&main, op, flags).with(Dst::DUAL_MATH_OP, true);
        dst = dst.with(Dst::ME_SAT, dst.me_sat() || dual.sat);
        let word = self.dual_word(&dual, math)?;
        Ok(Instruction([dst.0, sources[0].0, sources[1].0, word]))
    }

    fn dual_word(&self, dual: &Operation, op: MathOp) -> Parsed<u32> {
        let dst = dual.dst;
        let is_place = dst.reg_type() == DstType::ALT_TEMPORARY
            && dst.offset() < 4
            && dst.0 & Dst(0).with(Dst::ADDR_MODE_0, true).with(Dst::ADDR_MODE_1, true).0 == 0;
        let mask = dst.write_mask();
        let mut written = (0..4).filter(|component| mask[*component]);
        let (Some(component), None, true) = (written.next(), written.next(), is_place) else {
            return Err(SyntaxError::new(
                dual.dst_span.clone(),
                "the math engine's operation of two writes one component of alt_temp[0] to alt_temp[3]",
            ));
        };
        let wanted = usize::from(Op::Math(op).sources() > 0);
        if dual.read.len() != wanted {
            let count = if wanted == 0 { "no source" } else { "one source, of two scalars" };
            return Err(SyntaxError::new(
                dual.op_span.clone(),
                format!(
                    "the second of two operations has {count} here, and {} are given",
                    dual.read.len()
                ),
            ));
        }
        let mut source = Src(0);
        for (src, count, span) in dual.read.iter().chain(&dual.unread) {
            if *count != 2 {
                return Err(SyntaxError::new(
                    span.clone(),
                    format!(
                        "the source of the second of two operations has two components, not {count}"
                    ),
                )
                .help("write the scalar first, then `_`"));
            }
            source = *src;
        }
        let code = op.code();
        if code > 31 {
            return Err(SyntaxError::new(
                dual.op_span.clone(),
                "the second of two operations has a number up to 31",
            ));
        }
        Ok(DualMath(source.0)
            .with(DualMath::DST_OPCODE_MSB, code & 16 != 0)
            .with(DualMath::DST_OPCODE, code & 15)
            .with(DualMath::DST_OFFSET, dst.offset())
            .with(DualMath::DST_WE_SEL, Component::new(component as u8))
            .0)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
