//! Register writes in C, as the sources of drivers have them.
//!
//! ```c
//! OUT_CS_REG(R300_GB_ENABLE, 0x10);                       // one register; OUT_RING_REG, OUT_BATCH_REGVAL, WREG32
//! OUT_CS_REG_SEQ(R500_US_CONFIG, 2); OUT_CS(2); OUT_CS(1 << 3 | 1);
//! OUT_CS_ONE_REG(R500_GA_US_VECTOR_DATA, 1); OUT_CS(0x7800);
//! OUT_CS_PKT3(R300_PACKET3_3D_DRAW_VBUF_2, 0); OUT_CS_32F(1.0f);
//! radeon_ring_write(ring, PACKET0(R300_GB_ENABLE, 0)); radeon_ring_write(ring, 0x10);
//! ```
//!
//! What a call means follows from its arguments, so that each driver's spelling is read: a register and a value are a write, a value alone
//! continues a packet. The name decides between one register and several (`SEQ`, `ONE_REG`), and marks a float (`32F`, `FLOAT`).

use r500_chip::pm4::{Opcode, Type0, Type3};
use r500_chip::{named, without_prefix};

use super::atoms::{number, opcode};
use super::error::{TextErrorKind, shortened};

/// Deepest nesting of brackets in a value.
const DEPTH: u32 = 32;

/// Arguments of a call at most.
const MOST_ARGUMENTS: usize = 8;

/// What a call does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Frames statements (`BEGIN_CS(5)`, `END_CS`) and writes nothing.
    Frame,
    /// Writes a register.
    Write {
        /// The header of the packet.
        header: u32,
        /// The value.
        value: u32,
    },
    /// Begins a packet.
    Begin {
        /// Its header, for one dword.
        header: u32,
        /// The dwords of its body, which follow.
        count: usize,
    },
    /// Continues the packet, or is a dword of its own.
    Value(u32),
}

/// Removes the comments of C; one that does not end goes to the end.
pub(super) fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut code = String::with_capacity(text.len());
    while let Some(slash) = rest.find('/') {
        code.push_str(&rest[..slash]);
        rest = &rest[slash..];
        rest = match rest.as_bytes().get(1) {
            Some(b'/') => rest.find('\n').map_or("", |end| &rest[end..]),
            Some(b'*') => {
                code.push(' ');
                rest[2..].split_once("*/").map_or("", |(_, rest)| rest)
            }
            _ => {
                code.push('/');
                &rest[1..]
            }
        };
    }
    code.push_str(rest);
    code
}

/// Returns whether a line begins with a call, with a word that frames statements, or with a comment of C.
pub(super) fn begin(line: &str) -> bool {
    let line = line.trim_start();
    let (name, rest) = line.split_at(word_end(line));
    let rest = rest.trim_start();
    match name {
        "" => rest.starts_with("//") || rest.starts_with("/*"),
        name => rest.starts_with('(') || rest.starts_with(';') && is_frame(name),
    }
}

/// Returns whether a call or a comment is open at the end of a text.
pub(super) fn goes_on(text: &str) -> bool {
    let code = without_comments(text);
    let open = code.chars().fold(0usize, |open, c| match c {
        '(' => open + 1,
        ')' => open.saturating_sub(1),
        _ => open,
    });
    open > 0 || in_comment(text)
}

/// Returns whether a text ends inside `/* … */`.
pub(super) fn in_comment(text: &str) -> bool {
    text.rfind("/*").is_some_and(|begin| !text[begin..].contains("*/"))
}

/// Splits `NAME(ARGUMENTS);` off: name, arguments and the rest; without arguments `NAME;`.
pub(super) fn split_call(code: &str) -> Result<(&str, Vec<&str>, &str), TextErrorKind> {
    let (name, rest) = code.split_at(word_end(code));
    let rest = rest.trim_start();
    let after =
        |rest: &'_ str| rest.len() - rest.trim_start_matches([';', ' ', '\t', '\n', '\r']).len();
    let Some(inside) = rest.strip_prefix('(') else {
        return match is_frame(name) {
            true => Ok((name, Vec::new(), &rest[after(rest)..])),
            false => Err(TextErrorKind::Expected("( and arguments")),
        };
    };
    let mut open = 1;
    let mut begin = 0;
    let mut arguments = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 || open == 1 && c == ',' {
            if arguments.len() == MOST_ARGUMENTS {
                return Err(TextErrorKind::UnknownCall(shortened(name)));
            }
            arguments.push(inside[begin..at].trim());
            begin = at + 1;
        }
        if open == 0 {
            let rest = &inside[begin..];
            return Ok((name, arguments, &rest[after(rest)..]));
        }
    }
    Err(TextErrorKind::Expected(") of the call"))
}

/// Returns what a call does.
pub(super) fn call(name: &str, arguments: &[&str]) -> Result<Call, TextErrorKind> {
    if is_frame(name) {
        return Ok(Call::Frame);
    }
    let unknown = || TextErrorKind::UnknownCall(shortened(name));
    if name.contains("RELOC") || name.contains("TABLE") {
        return Err(unknown());
    }
    // The stream or the device comes first in many: `radeon_ring_write(ring, 5)`.
    let object = |argument: &str| {
        let word = argument.trim_start_matches('&');
        value(word, true).is_err() && word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
    };
    let arguments = match arguments {
        [first, rest @ ..] if !rest.is_empty() && object(first) => rest,
        all => all,
    };
    match *arguments {
        [single] => match packet(single)? {
            Some(call) => Ok(call),
            None => Ok(Call::Value(of_name(name, single)?)),
        },
        [operation, count] if name.contains("PKT3") || name.contains("PACKET3") => {
            command(operation, count)
        }
        [register, second] => {
            let address = value(register, true).map_err(|error| {
                let is_name = word_end(register) == register.len();
                if is_name { TextErrorKind::UnknownName(shortened(register)) } else { error }
            })?;
            let one = name.contains("ONE_REG");
            if one || name.contains("SEQ") {
                let count = value(second, false)? as usize;
                return Ok(Call::Begin { header: header(address, one)?, count });
            }
            Ok(Call::Write { header: header(address, false)?, value: of_name(name, second)? })
        }
        _ => Err(unknown()),
    }
}

/// Returns the packet that `PACKET0(register, n)` or `CP_PACKET3(command, n)` begins: n is one less than the dwords of its body.
fn packet(argument: &str) -> Result<Option<Call>, TextErrorKind> {
    let name = &argument[..word_end(argument)];
    let kind = name.strip_prefix("CP_").unwrap_or(name);
    if kind != "PACKET0" && kind != "PACKET3" {
        return Ok(None);
    }
    let (_, arguments, rest) = split_call(argument)?;
    match (&arguments[..], rest) {
        (&[operation, count], "") if kind == "PACKET3" => command(operation, count).map(Some),
        (&[register, count], "") => {
            let count = (value(count, false)? as usize).saturating_add(1);
            Ok(Some(Call::Begin { header: header(value(register, true)?, false)?, count }))
        }
        _ => Err(TextErrorKind::Expected("a register or command, and a count")),
    }
}

/// Returns the header of a packet of registers, or of one register that takes all values, for one dword.
fn header(address: u32, one: bool) -> Result<u32, TextErrorKind> {
    let header = Type0::write(address, 1).ok_or(TextErrorKind::Unreachable(address))?;
    Ok(header.with(Type0::ONE_REG_WR, one).bits())
}

/// Begins a packet with a command: its body has one dword more than the count.
fn command(operation: &str, count: &str) -> Result<Call, TextErrorKind> {
    let name = without_prefix(operation);
    let name = ["CP_PACKET3_", "PACKET3_", "CP_"]
        .iter()
        .find_map(|head| name.strip_prefix(head))
        .unwrap_or(name);
    let code = || u8::try_from(number(name)?).ok().map(Opcode::new);
    let opcode = opcode(name)
        .or_else(code)
        .ok_or_else(|| TextErrorKind::UnknownName(shortened(operation)))?;
    let header = Type3::command(opcode, 1).map_or(0, Type3::bits);
    Ok(Call::Begin { header, count: (value(count, false)? as usize).saturating_add(1) })
}

/// Returns whether a name only frames statements.
fn is_frame(name: &str) -> bool {
    ["BEGIN_", "END_", "ADVANCE_", "FINISH_", "COMMIT_", "CS_LOCALS", "BATCH_LOCALS", "RING_LOCALS"]
        .iter()
        .any(|head| name.starts_with(head))
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Returns the value of an argument: a float for calls that take one.
fn of_name(name: &str, argument: &str) -> Result<u32, TextErrorKind> {
    let inner = ["fui(", "r300PackFloat32(", "pack_float_32("]
        .iter()
        .find_map(|head| argument.strip_prefix(head)?.strip_suffix(')'));
    if inner.is_some() || name.contains("32F") || name.contains("FLOAT") {
        let text = inner.unwrap_or(argument).trim().trim_end_matches(['f', 'F']);
        let float = text.parse::<f32>().map_err(|_| TextErrorKind::Expected("a float"))?;
        return Ok(float.to_bits());
    }
    value(argument, false)
}

/// Evaluates an expression of integers; with names, those of registers are their addresses.
fn value(text: &str, names: bool) -> Result<u32, TextErrorKind> {
    let mut expression = Expression { rest: text.trim(), names, depth: 0 };
    let value = expression.binary(0)?;
    match expression.rest.is_empty() {
        true => u32::try_from(value)
            .or_else(|_| i32::try_from(value).map(i32::cast_unsigned))
            .map_err(|_| NUMBER),
        false => Err(NUMBER),
    }
}

const NUMBER: TextErrorKind = TextErrorKind::Expected(
    "a number of 32 bits (names of constants and variables have no value here)",
);

/// Operators by precedence, the loosest first.
const OPERATORS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*"]];

struct Expression<'a> {
    rest: &'a str,
    names: bool,
    depth: u32,
}

impl Expression<'_> {
    fn binary(&mut self, level: usize) -> Result<i64, TextErrorKind> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.eat(operator)) {
            let right = self.binary(level + 1)?;
            let shift = u32::try_from(right).ok().filter(|shift| *shift < 32);
            let result = match *operator {
                "|" => Some(left | right),
                "^" => Some(left ^ right),
                "&" => Some(left & right),
                // Of 32 bits, as in the drivers.
                "<<" => shift.map(|shift| (left << shift) & i64::from(u32::MAX)),
                ">>" => shift.map(|shift| left >> shift),
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                _ => unreachable!("the operators of the table"),
            };
            left = result.ok_or(NUMBER)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, TextErrorKind> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(TextErrorKind::Expected("a value with fewer brackets"));
        }
        let value = if self.eat("-") {
            -self.unary()?
        } else if self.eat("~") {
            !self.unary()? & i64::from(u32::MAX)
        } else if self.eat("(") {
            let value = self.binary(0)?;
            if !self.eat(")") {
                return Err(TextErrorKind::Expected(")"));
            }
            value
        } else {
            self.number()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn number(&mut self) -> Result<i64, TextErrorKind> {
        let (word, rest) = self.rest.split_at(word_end(self.rest));
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let found = number(digits)
            .or_else(|| named(word).filter(|_| self.names).map(|place| place.address()));
        self.rest = rest.trim_start();
        found.map(i64::from).ok_or(NUMBER)
    }

    fn eat(&mut self, text: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(text) else { return false };
        self.rest = rest.trim_start();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_c() {
        for (text, expected) in [
            ("0x10", 0x10),
            ("1 << 3 | 1", 9),
            ("(1 + 2) * 4 - 1", 11),
            ("~0", u32::MAX),
            ("-1", u32::MAX),
            ("1u << 31", 1 << 31),
            ("0xffUL & 0x0f ^ 1", 0x0e),
            ("5 >> 1", 2),
        ] {
            assert_eq!(value(text, false), Ok(expected), "{text}");
        }
        for text in ["", "1 +", "(1", "1)", "x", "1 << 32", "0x1ffffffff", "1 2", "R300_GB_ENABLE"]
        {
            assert!(value(text, false).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(100_000), false).is_err());
    }

    #[test]
    fn comments_go() {
        assert_eq!(without_comments("a / b /"), "a / b /");
        assert_eq!(without_comments("a // b\nc /* d\n e */ f /* g"), "a \nc   f  ");
    }
}
