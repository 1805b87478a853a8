//! Parser of the IR's text, as [`Function`]'s `Display` prints it. Tests of passes are written in it.
//!
//! ```text
//! uniform %9: f32 = const 5.1          channel 1 of program constant 5
//! %0: f32 = input 0.1                  channel 1 of input 0
//! %1: f32 = -(%0~ * 2.0) + %9          ~: zero times anything is +0; -( ): the product is negated
//! %10: f32 = const[%1 + 7].2           channel 2 of the constant at 7 + %1 of the table
//! %2: mask = %1 >= 0.5                 other operations: see `Display`
//! if %2 {
//!   %3: f32 = rcp %1
//! } else %4 {                          the second arm, with its mask
//! }
//! phi %5: f32 = %3, _ over %1          by arm; _: unchanged, %1
//! loop 255 {                           iterations at most
//!   param %6: f32 = 0
//!   %7: f32 = %6 + 1.0
//!   next %6 = %7
//! } while %2                           lanes that continue; without, it runs all iterations
//! %8: f32, _, _, _ = LD tex[0] %5, %6, 0, 0 where %2 at 17
//! discard %2
//! stat 0 %2                            counts lanes for a channel of STAT_WE
//! group_hazard %2
//! fuel 7 at 12                         7 instructions begin at address 12
//! out[0] = %5, 0, 0, 1.0 non_nan ba
//! depth = %5 where %2
//! result[0] = %1                      results, numbered in order
//! ```
//!
//! A `;` starts a comment. Where tests need it, `in LO..HI` after a type gives the range of a value, and `in arithmetic` says that it is
//! not denormal.

use r500_isa::values::TexOp;

use super::print::{INFIX, UNARY};
use super::{
    AddSign, ConstantChannel, DenormalMode, EntityMap, Fetch, Function, If, Inst, Loop, LoopParam,
    MulFlags, NONE, Opcode, Operand, Phi, Range, Stmt, Type, Uniform, Value, ValueData,
};

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// A parsed function.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The function. Its values have no debug locations.
    pub function: Function,
    /// The ranges of its values, as far as the text gives them.
    pub ranges: EntityMap<Value, Range>,
}

/// Parses a function. The [verifier](super::verify()) checks whether it is well-formed.
///
/// # Errors
/// [`ParseError`] for the first invalid line.
pub fn parse(text: &str) -> Result<Parsed, ParseError> {
    let lines = text.lines().enumerate().filter_map(|(number, line)| {
        let line = line.split(';').next().unwrap_or_default().trim();
        (!line.is_empty()).then_some((number + 1, line))
    });
    let mut parser = Parser { lines: lines.collect(), at: 0, types: Vec::new() };
    let mut function = Function {
        values: EntityMap::default(),
        uniforms: Vec::new(),
        body: Vec::new(),
        colors: [None; 4],
        non_nan: [[false; 4]; 4],
        depth: None,
        results: Vec::new(),
    };
    parser.function(&mut function).map_err(|reason| {
        let last = parser.lines.last().map_or(0, |(number, _)| *number);
        let line = parser.lines.get(parser.at).map_or(last, |(number, _)| *number);
        ParseError { line, reason }
    })?;
    let (types, ranges) = (parser.types.iter())
        .map(|known| known.unwrap_or((Type::F32, Range::ANY)))
        .map(|(ty, range)| (ValueData { facts: range.facts(), ..ValueData::new(ty) }, range))
        .unzip::<_, _, Vec<_>, Vec<_>>();
    function.values = types.into_iter().collect();
    Ok(Parsed { function, ranges: ranges.into_iter().collect() })
}

/// The reason of a syntax error.
type Reason = String;

struct Parser<'a> {
    /// Lines with their numbers, without comments and empty lines.
    lines: Vec<(usize, &'a str)>,
    at: usize,
    /// Type and range of each defined value.
    types: Vec<Option<(Type, Range)>>,
}

impl<'a> Parser<'a> {
    fn function(&mut self, function: &mut Function) -> Result<(), Reason> {
        while let Some(rest) = self.peek().and_then(|line| line.strip_prefix("uniform ")) {
            let (def, source) = split(rest, " = const ")?;
            let (constant, channel) = split(source, ".")?;
            let source = ConstantChannel { constant: number(constant)?, channel: number(channel)? };
            if source.channel > 3 {
                return Err("a constant has channels 0 to 3".to_owned());
            }
            function.uniforms.push(Uniform { value: self.def(def)?, source });
            self.at += 1;
        }
        function.body = self.list()?;
        while let Some(line) = self.peek() {
            if let Some(rest) = line.strip_prefix("out[") {
                let (target, rest) = split(rest, "] = ")?;
                let target: usize = number(target)?;
                let (channels, non_nan) = rest.split_once(" non_nan ").unwrap_or((rest, ""));
                let color = function.colors.get_mut(target).ok_or("there are four targets")?;
                *color = Some(four(channels)?);
                function.non_nan[target] = ['r', 'g', 'b', 'a'].map(|c| non_nan.contains(c));
            } else if let Some(rest) = line.strip_prefix("depth = ") {
                let (depth, written) = split(rest, " where ")?;
                function.depth = Some((operand(depth)?, operand(written)?));
            } else if let Some(rest) = line.strip_prefix("result[") {
                let (number, result) = split(rest, "] = ")?;
                if self::number::<usize>(number)? != function.results.len() {
                    return Err("results are numbered in order, from 0".to_owned());
                }
                function.results.push(operand(result)?);
            } else {
                return Err(format!("`{line}` is neither a statement nor an output"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).map(|(_, line)| *line)
    }

    /// Parses statements up to a line that is not one.
    fn list(&mut self) -> Result<Vec<Stmt>, Reason> {
        let mut list = Vec::new();
        while let Some(line) = self.peek() {
            let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
            let stmt = match keyword {
                "if" => self.branch(rest)?,
                "loop" => self.repeat(rest)?,
                "discard" => Stmt::Discard(operand(rest)?),
                "group_hazard" => Stmt::GroupHazard(operand(rest)?),
                "stat" => {
                    let (channel, mask) = split(rest, " ")?;
                    Stmt::Stat { channel: number(channel)?, mask: operand(mask)? }
                }
                "fuel" => {
                    let (instructions, address) = split(rest, " at ")?;
                    Stmt::ConsumeFuel {
                        instructions: number(instructions)?,
                        address: number(address)?,
                    }
                }
                _ if line.contains(" tex[") => self.fetch(line)?,
                _ if keyword.starts_with('%') => {
                    let (def, inst) = split(line, " = ")?;
                    Stmt::Def(self.def(def)?, parse_inst(inst)?)
                }
                _ => break,
            };
            list.push(stmt);
            self.at += 1;
        }
        Ok(list)
    }

    /// Parses from `if` to its last phi.
    fn branch(&mut self, head: &str) -> Result<Stmt, Reason> {
        let mask = operand(split(head, " {")?.0)?;
        self.at += 1;
        let first = self.list()?;
        let line = self.peek().ok_or("an arm has no end")?;
        let other = line.strip_prefix("} else ").ok_or("`} else MASK {` is missing")?;
        let other = operand(split(other, " {")?.0)?;
        self.at += 1;
        let arms = [first, self.list()?];
        self.expect("}")?;
        let mut phis = Vec::new();
        while let Some((_, line)) = self.lines.get(self.at + 1)
            && let Some(rest) = line.strip_prefix("phi ")
        {
            self.at += 1;
            let (def, rest) = split(rest, " = ")?;
            let value = self.def(def)?;
            let (from, incoming) = split(rest, " over ")?;
            let (a, b) = split(from, ", ")?;
            let arms = [optional(a)?, optional(b)?];
            phis.push(Phi { value, incoming: optional(incoming)?, arms });
        }
        Ok(Stmt::If(Box::new(If { masks: [mask, other], arms, phis })))
    }

    fn repeat(&mut self, head: &str) -> Result<Stmt, Reason> {
        let max_trips = number(split(head, " {")?.0)?;
        self.at += 1;
        let mut params = Vec::new();
        while let Some(rest) = self.peek().and_then(|line| line.strip_prefix("param ")) {
            let (def, init) = split(rest, " = ")?;
            params.push(LoopParam { value: self.def(def)?, init: operand(init)?, next: NONE });
            self.at += 1;
        }
        let body = self.list()?;
        let mut nexts = 0;
        while let Some(rest) = self.peek().and_then(|line| line.strip_prefix("next ")) {
            let (of, next) = split(rest, " = ")?;
            let param: Option<&mut LoopParam> = params.get_mut(nexts);
            let param = param.filter(|param| param.value.to_string() == of);
            param.ok_or(format!("{of} is not loop parameter {nexts}"))?.next = operand(next)?;
            nexts += 1;
            self.at += 1;
        }
        if nexts != params.len() {
            return Err(format!("{} loop parameters, {nexts} next values", params.len()));
        }
        let end = self.peek().and_then(|line| line.strip_prefix('}')).ok_or("a loop has no end")?;
        let continue_mask = match end.strip_prefix(" while ") {
            Some(mask) => Some(operand(mask)?),
            None if end.is_empty() => None,
            None => return Err(format!("`{end}` after the end of a loop")),
        };
        Ok(Stmt::Loop(Box::new(Loop { max_trips, params, body, continue_mask })))
    }

    fn fetch(&mut self, line: &str) -> Result<Stmt, Reason> {
        let (texel, rest) = split(line, " = ")?;
        let mut channels = texel.split(", ").map(|channel| match channel {
            "_" => Ok(None),
            def => self.def(def).map(Some),
        });
        let mut texel = [None; 4];
        for to in &mut texel {
            *to = channels.next().ok_or("a texel has four channels")??;
        }
        let (op, rest) = split(rest, " tex[")?;
        let op = [TexOp::LD, TexOp::PROJ, TexOp::LODBIAS, TexOp::LOD, TexOp::DXDY]
            .into_iter()
            .find(|known| format!("{known:?}") == op)
            .ok_or(format!("`{op}` is not a fetch"))?;
        let (unit, rest) = split(rest, "] ")?;
        let (rest, address) = split(rest, " at ")?;
        let (rest, active) = split(rest, " where ")?;
        let (unscaled, rest) =
            rest.strip_prefix("unscaled ").map_or((false, rest), |rest| (true, rest));
        let (strq, gradients) =
            rest.split_once(" dx ").map_or((rest, None), |(strq, rest)| (strq, Some(rest)));
        let (dx, dy) = match gradients {
            Some(gradients) => {
                let (dx, dy) = split(gradients, " dy ")?;
                (four(dx)?, four(dy)?)
            }
            None => ([NONE; 4], [NONE; 4]),
        };
        Ok(Stmt::Fetch(Box::new(Fetch {
            unit: number(unit)?,
            op,
            unscaled,
            strq: four(strq)?,
            dx,
            dy,
            active: operand(active)?,
            texel,
            address: number(address)?,
        })))
    }

    fn expect(&mut self, wanted: &str) -> Result<(), Reason> {
        match self.peek() {
            Some(line) if line == wanted => Ok(()),
            line => Err(format!("`{}` where `{wanted}` is needed", line.unwrap_or("the end"))),
        }
    }

    /// Parses a definition: `%1: f32`, optionally with a range.
    fn def(&mut self, text: &str) -> Result<Value, Reason> {
        let (name, ty) = split(text.trim(), ": ")?;
        let value = value(name)?;
        let (ty, range) = match ty.split_once(" in ") {
            Some((ty, range)) => (ty, parse_range(range)?),
            None => (ty, Range::ANY),
        };
        let ty = match ty {
            "f32" => Type::F32,
            "mask" => Type::Mask,
            _ => return Err(format!("`{ty}` is not a type")),
        };
        let index = value.0 as usize;
        if index >= self.types.len() {
            self.types.resize(index + 1, None);
        }
        self.types[index] = Some((ty, range));
        Ok(value)
    }
}

fn split<'t>(text: &'t str, at: &str) -> Result<(&'t str, &'t str), Reason> {
    text.split_once(at).ok_or(format!("`{}` is missing in `{text}`", at.trim()))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Reason> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number of its size"))
}

fn value(text: &str) -> Result<Value, Reason> {
    /// More than any function has; a larger number is an error that would take much memory.
    const MAX: u32 = 1 << 20;
    let digits = text.strip_prefix('%').ok_or(format!("`{text}` is not a value"))?;
    let number = number(digits)?;
    if number < MAX { Ok(Value(number)) } else { Err(format!("{text} is too large a number")) }
}

fn operand(text: &str) -> Result<Operand, Reason> {
    match text.trim() {
        "all" => Ok(Operand::Const(!0)),
        text if text.starts_with('%') => Ok(Operand::Value(value(text)?)),
        text => match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok().map(Operand::Const),
            None => text.parse().ok().map(Operand::float),
        }
        .ok_or(format!("`{text}` is not an operand")),
    }
}

fn optional(text: &str) -> Result<Option<Operand>, Reason> {
    if text == "_" { Ok(None) } else { operand(text).map(Some) }
}

fn four(text: &str) -> Result<[Operand; 4], Reason> {
    let operands = text.split(", ").map(operand).collect::<Result<Vec<_>, _>>()?;
    operands.try_into().map_err(|_| format!("`{text}` is not four operands"))
}

fn parse_range(text: &str) -> Result<Range, Reason> {
    if text == "arithmetic" {
        return Ok(Range::ARITHMETIC);
    }
    let (lo, hi) = split(text, "..")?;
    Ok(Range::between(number(lo)?, number(hi)?))
}

/// Parses an operation.
fn parse_inst(text: &str) -> Result<Inst, Reason> {
    if let Some(rest) = text.strip_prefix("const[") {
        let (address, channel) = split(rest, "].")?;
        let (index, base) = split(address, " + ")?;
        let (base, channel) = (number(base)?, number(channel)?);
        if channel > 3 {
            return Err("a constant has channels 0 to 3".to_owned());
        }
        return Ok(Inst::new(Opcode::LoadConstant { base, channel }, &[operand(index)?]));
    }
    if let Some((product, sum)) = product(text)? {
        return Ok(match sum {
            None => Inst::new(Opcode::Mul(product.0), &product.1),
            Some((sign, c)) => {
                let [a, b] = product.1;
                Inst::new(Opcode::Mad(product.0, sign), &[a, b, c])
            }
        });
    }
    if let Some((mask, rest)) = text.split_once(" ? ") {
        let (a, b) = split(rest, " : ")?;
        return Ok(Inst::new(Opcode::Select, &[operand(mask)?, operand(a)?, operand(b)?]));
    }
    for (spelling, opcode) in INFIX {
        if let Some((a, b)) = text.split_once(spelling) {
            return Ok(Inst::new(opcode, &[operand(a)?, operand(b)?]));
        }
    }
    let (name, rest) = split(text, " ")?;
    let opcode = match name {
        "input" => {
            let (input, channel) = split(rest, ".")?;
            let opcode = Opcode::Input { input: number(input)?, channel: number(channel)? };
            return Ok(Inst::new(opcode, &[]));
        }
        "quad_broadcast" => {
            let (lane, a) = split(rest, " ")?;
            return Ok(Inst::new(Opcode::QuadBroadcast(number(lane)?), &[operand(a)?]));
        }
        "min" => Opcode::Min(DenormalMode::Kept),
        "max" => Opcode::Max(DenormalMode::Kept),
        "min.no_denormals" => Opcode::Min(DenormalMode::Excluded),
        "max.no_denormals" => Opcode::Max(DenormalMode::Excluded),
        name => {
            let known = UNARY.iter().find(|(known, _)| *known == name);
            known.ok_or_else(|| format!("`{name}` is not an operation"))?.1
        }
    };
    let args = rest.split(", ").map(operand).collect::<Result<Vec<_>, _>>()?;
    if args.len() != opcode.arity() {
        return Err(format!("`{name}` takes {} operands", opcode.arity()));
    }
    Ok(Inst::new(opcode, &args))
}

/// The factors of a product with its flags, and the addend.
type Product = ((MulFlags, [Operand; 2]), Option<(AddSign, Operand)>);

/// Parses a product, if the text starts with one.
fn product(text: &str) -> Result<Option<Product>, Reason> {
    if !text.contains(" * ") {
        return Ok(None);
    }
    let (negate, text) = text.strip_prefix("-(").map_or((false, text), |rest| (true, rest));
    let (a, rest) = split(text, " * ")?;
    let (b, sum) = match (rest.split_once(" + "), rest.split_once(" - ")) {
        (Some((b, c)), _) => (b, Some((AddSign::Plus, operand(c)?))),
        (_, Some((b, c))) => (b, Some((AddSign::Minus, operand(c)?))),
        _ => (rest, None),
    };
    let b = if negate { split(b, ")")?.0 } else { b };
    let factor = |text: &str| -> Result<(Operand, bool), Reason> {
        let (text, zero) = text.strip_suffix('~').map_or((text, false), |text| (text, true));
        Ok((operand(text)?, zero))
    };
    let ((a, zero_a), (b, zero_b)) = (factor(a)?, factor(b)?);
    Ok(Some(((MulFlags { negate, zero_a, zero_b }, [a, b]), sum)))
}
