//! Values of registers in a text: constants, inputs, and what a vertex must write.
//!
//! ```text
//! const[0] = (1, 0, 0, 0.5) ;
//! input[1] = (0, 1, 0, 1) ;                                   -- what the input reads unless a caller gives it
//! EXPECT out[0] = (2, _, 0x3f800000, 1), out[1].x = (0.5) FOR input[0] = (1, 0, 0, 1), const[3] = (2, 2, 2, 2) ;
//! EXPECT tolerance = 1e-6 ;
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use r500_chip::pvs::{CONSTANTS, INPUTS, OUTPUTS};

use super::numbers::{Names, integer, number, whole};

/// A vertex and what the program must write for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectation {
    /// Inputs of the vertex, over those of the program.
    pub inputs: BTreeMap<u8, [u32; 4]>,
    /// Constants, over those of the program.
    pub constants: BTreeMap<u8, [u32; 4]>,
    /// The expected outputs, by component; `None` is not compared.
    pub outputs: Vec<(u8, [Option<Expected>; 4])>,
    /// The greatest difference of a number that is not given as bits, relative above 1.
    pub tolerance: f32,
    /// Where it is in the text.
    pub span: Range<usize>,
}

/// The expected value of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The float's bits.
    pub bits: u32,
    /// Whether the text gives the bits: they must be the same. Other numbers may differ by the tolerance, and every NaN is one.
    pub exact: bool,
}

impl Expected {
    /// Returns whether a value is as expected.
    #[must_use]
    pub fn admits(self, value: f32, tolerance: f32) -> bool {
        let wanted = f32::from_bits(self.bits);
        if self.exact {
            value.to_bits() == self.bits
        } else {
            value == wanted
                || value.is_nan() && wanted.is_nan()
                || (value - wanted).abs() <= tolerance * wanted.abs().max(1.0)
        }
    }
}

/// An error of a statement, and its remedy.
pub(super) type Wrong = (String, &'static str);

/// The registers that a text gives values to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Constant,
    Input,
    Output,
}

const NAMES: [(&str, Kind, usize); 4] = [
    ("const", Kind::Constant, CONSTANTS),
    ("constant", Kind::Constant, CONSTANTS),
    ("input", Kind::Input, INPUTS),
    ("out", Kind::Output, OUTPUTS),
];

const VALUE_HELP: &str = "write four numbers, such as `const[0] = (1, 0, 0, 0.5)`";
const EXPECT_HELP: &str = "write `EXPECT out[0].xy = (1, 2) FOR input[0] = (0, 0, 0, 1) ;` or `EXPECT tolerance = 0.001 ;`";

/// Returns whether a statement gives a register a value: it has a list in parentheses where an instruction has an operation.
pub(super) fn is_assignment(statement: &str) -> bool {
    statement.split_once('=').is_some_and(|(_, value)| value.trim_start().starts_with('('))
}

/// Parses `const[0] = (1, 0, 0, 0.5)` or one of an input.
pub(super) fn assign(
    statement: &str,
    constants: &mut BTreeMap<u8, [u32; 4]>,
    inputs: &mut BTreeMap<u8, [u32; 4]>,
    names: &Names,
) -> Result<(), Wrong> {
    let (assignment, rest) = assignment(statement, VALUE_HELP, names)?;
    if !rest.is_empty() {
        return Err((format!("`{rest}` after the value"), "end the statement with `;`"));
    }
    give(&assignment, constants, inputs, VALUE_HELP)
}

/// A register and its values; `None` is `_`.
struct Assignment {
    kind: Kind,
    register: u8,
    values: [Option<Expected>; 4],
}

fn give(
    assignment: &Assignment,
    constants: &mut BTreeMap<u8, [u32; 4]>,
    inputs: &mut BTreeMap<u8, [u32; 4]>,
    help: &'static str,
) -> Result<(), Wrong> {
    let (registers, name) = match assignment.kind {
        Kind::Constant => (constants, "const"),
        Kind::Input => (inputs, "input"),
        Kind::Output => {
            return Err((
                "the program gives outputs their values".to_owned(),
                "write `EXPECT out[0] = …` for what it must write",
            ));
        }
    };
    let register = assignment.register;
    let mut bits = [0; 4];
    for (bits, value) in bits.iter_mut().zip(assignment.values) {
        *bits = value.ok_or((format!("{name}[{register}] lacks a component"), help))?.bits;
    }
    if registers.insert(register, bits).is_some() {
        return Err((format!("{name}[{register}] has a value already"), "remove one of the two"));
    }
    Ok(())
}

/// Parses what follows `EXPECT`.
pub(super) fn expect(
    rest: &str,
    tolerance: &mut f32,
    span: Range<usize>,
    names: &Names,
) -> Result<Option<Expectation>, Wrong> {
    if let Some(value) = rest.strip_prefix("tolerance") {
        let value = value.trim_start().strip_prefix('=').unwrap_or_default().trim();
        let number = value.parse().ok().or_else(|| Some(number(value, names).ok()? as f32));
        let number = number.filter(|value: &f32| *value >= 0.0);
        *tolerance =
            number.ok_or_else(|| (format!("`{value}` is not a tolerance"), EXPECT_HELP))?;
        return Ok(None);
    }
    let mut expectation = Expectation { tolerance: *tolerance, span, ..Expectation::default() };
    let mut rest = rest;
    let mut given = false;
    loop {
        let (assignment, after) = assignment(rest, EXPECT_HELP, names)?;
        if given {
            let Expectation { constants, inputs, .. } = &mut expectation;
            give(&assignment, constants, inputs, EXPECT_HELP)?;
        } else if assignment.kind == Kind::Output {
            expectation.outputs.push((assignment.register, assignment.values));
        } else {
            return Err(("only outputs are expected".to_owned(), EXPECT_HELP));
        }
        rest = if let Some(next) = after.strip_prefix(',') {
            next
        } else if let Some(next) = after.strip_prefix("FOR").filter(|_| !given) {
            given = true;
            next
        } else if after.is_empty() {
            return Ok(Some(expectation));
        } else {
            return Err((format!("`{after}` is not expected here"), EXPECT_HELP));
        };
    }
}

/// Parses an assignment at the start of a text and returns the rest.
fn assignment<'t>(
    text: &'t str,
    help: &'static str,
    names: &Names,
) -> Result<(Assignment, &'t str), Wrong> {
    let text = text.trim_start();
    let wrong = || {
        let line = text.lines().next().unwrap_or_default();
        (format!("expected a register and its four values, not `{line}`"), help)
    };
    let (head, rest) = text.split_once('[').ok_or_else(wrong)?;
    let name = head.trim_end();
    let (_, kind, count) =
        NAMES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)).ok_or_else(wrong)?;
    let (number, rest) = rest.split_once(']').ok_or_else(wrong)?;
    let register = whole(number.trim(), u8::MAX.into(), names).and_then(|n| u8::try_from(n).ok());
    let register = register.filter(|n| usize::from(*n) < *count);
    let register = register
        .ok_or_else(|| (format!("`{name}[{number}]` does not exist; there are {count}"), help))?;
    let (mask, rest) = rest.split_once('=').ok_or_else(wrong)?;
    let places = components(mask.trim()).ok_or_else(wrong)?;
    let rest = rest.trim_start();
    let (given, rest) = rest.strip_prefix('(').and_then(list).ok_or_else(wrong)?;
    let mut values = [None; 4];
    if given.len() != places.len() {
        let (given, places) = (given.len(), places.len());
        return Err((
            format!("`{name}[{register}]`: {given} values for {places} components"),
            help,
        ));
    }
    for (place, text) in places.into_iter().zip(given) {
        values[place] = match text {
            "_" => None,
            _ => Some(
                number_of(text, names)
                    .map_err(|reason| (format!("`{text}` is not a number{reason}"), help))?,
            ),
        };
    }
    Ok((Assignment { kind: *kind, register, values }, rest.trim_start()))
}

/// Returns the components of a mask: all, or some of `.xyzw`, in any order.
fn components(mask: &str) -> Option<Vec<usize>> {
    let Some(letters) = mask.strip_prefix('.') else {
        return mask.is_empty().then(|| (0..4).collect());
    };
    let places: Option<Vec<usize>> = letters.chars().map(|letter| "xyzw".find(letter)).collect();
    places.filter(|places| (1..=4).contains(&places.len()))
}

/// Returns the texts between commas of a list, up to its `)`, and what follows.
fn list(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
                if c == ')' {
                    return Some((parts, &text[from..]));
                }
            }
            _ => {}
        }
    }
    None
}

/// Parses a float, `0x` and its bits, or an expression, which is rounded once.
///
/// # Errors
/// Why it is none; empty if nothing is to be said.
fn number_of(text: &str, names: &Names) -> Result<Expected, String> {
    if let Some(bits) = integer(text).filter(|_| text.starts_with("0x") || text.starts_with("0X")) {
        return Ok(Expected { bits, exact: true });
    }
    if let Ok(value) = text.parse::<f32>() {
        return Ok(Expected { bits: value.to_bits(), exact: false });
    }
    let value = number(text, names).map_err(|error| format!(": {}", error.message))?;
    let rounded = value as f32;
    if rounded.is_infinite() && value.is_finite() {
        return Err(": it does not fit into a float".to_owned());
    }
    Ok(Expected { bits: rounded.to_bits(), exact: false })
}

/// Prints a statement for each register.
pub(super) fn print(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    registers: &BTreeMap<u8, [u32; 4]>,
) -> fmt::Result {
    for (register, bits) in registers {
        writeln!(f, "{name}[{register}] = ({}) ;", numbers(bits))?;
    }
    Ok(())
}

fn numbers(bits: &[u32; 4]) -> String {
    // A decimal NaN has no payload.
    bits.map(|bits| number_text(Expected { bits, exact: f32::from_bits(bits).is_nan() })).join(", ")
}

/// Returns the text of a number: the shortest decimal that reads back as the same float, or bits.
fn number_text(value: Expected) -> String {
    let float = f32::from_bits(value.bits);
    if value.exact {
        return format!("{:#010x}", value.bits);
    }
    match float.abs() {
        0.0 | 1e-4..1e7 | f32::INFINITY => float.to_string(),
        _ => format!("{float:e}"),
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outputs = self.outputs.iter().map(|(register, values)| {
            let values = values.map(|value| value.map_or("_".to_owned(), number_text));
            format!("out[{register}] = ({})", values.join(", "))
        });
        write!(f, "EXPECT {}", outputs.collect::<Vec<_>>().join(", "))?;
        let inputs = self.inputs.iter().map(|given| ("input", given));
        let constants = self.constants.iter().map(|given| ("const", given));
        for (n, (name, (register, bits))) in inputs.chain(constants).enumerate() {
            let before = if n == 0 { " FOR " } else { ", " };
            write!(f, "{before}{name}[{register}] = ({})", numbers(bits))?;
        }
        Ok(())
    }
}
