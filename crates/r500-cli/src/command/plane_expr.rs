//! Linear expressions over the picture, for `--input`.
//!
//! A component is any expression of numbers, `u`, `v` (0 to 1 over the picture, v upward), `x`, `y`
//! (window position: pixel centres, so 0.5 is the first), `w`, `h` (its size), `+ - * /` and
//! brackets, as long as it is linear: `2*u-1`, `(x-w/2)/h`.

use r500::program::Plane;

/// Parses an expression as a plane over a picture of that size.
pub(super) fn plane(text: &str, size: [u32; 2]) -> Result<Plane, String> {
    let mut parser = Parser { text, rest: text, size: size.map(f64::from), depth: 0 };
    let value = parser.sum()?;
    if !parser.rest.trim_start().is_empty() {
        return Err(parser.error("an operator or the end"));
    }
    Ok(Plane { c: value.c as f32, du: value.du as f32, dv: value.dv as f32 })
}

/// Splits at commas that are outside brackets.
pub(super) fn components(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The linear function c + du*u + dv*v.
#[derive(Clone, Copy)]
struct Linear {
    c: f64,
    du: f64,
    dv: f64,
}

impl Linear {
    fn constant(c: f64) -> Self {
        Self { c, du: 0.0, dv: 0.0 }
    }

    fn is_constant(self) -> bool {
        self.du == 0.0 && self.dv == 0.0
    }

    fn scale(self, k: f64) -> Self {
        Self { c: self.c * k, du: self.du * k, dv: self.dv * k }
    }

    fn add(self, other: Self) -> Self {
        Self { c: self.c + other.c, du: self.du + other.du, dv: self.dv + other.dv }
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    size: [f64; 2],
    depth: u32,
}

/// Nesting limit of brackets and signs.
const DEEPEST: u32 = 64;

impl Parser<'_> {
    fn sum(&mut self) -> Result<Linear, String> {
        let mut value = self.product()?;
        loop {
            value = match self.operator(&['+', '-']) {
                Some('+') => value.add(self.product()?),
                Some(_) => value.add(self.product()?.scale(-1.0)),
                None => return Ok(value),
            };
        }
    }

    fn product(&mut self) -> Result<Linear, String> {
        let mut value = self.factor()?;
        loop {
            let Some(operator) = self.operator(&['*', '/']) else { return Ok(value) };
            let factor = self.factor()?;
            value = match operator {
                '*' if factor.is_constant() => value.scale(factor.c),
                '*' if value.is_constant() => factor.scale(value.c),
                '/' if factor.is_constant() => Linear {
                    c: value.c / factor.c,
                    du: if value.du == 0.0 { 0.0 } else { value.du / factor.c },
                    dv: if value.dv == 0.0 { 0.0 } else { value.dv / factor.c },
                },
                _ => {
                    return Err(format!(
                        "`{}` is not linear over the picture; an interpolant can only be linear",
                        self.text.trim()
                    ));
                }
            };
        }
    }

    fn factor(&mut self) -> Result<Linear, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("the expression is nested too deeply".to_owned());
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Result<Linear, String> {
        self.rest = self.rest.trim_start();
        if self.operator(&['-']).is_some() {
            return Ok(self.factor()?.scale(-1.0));
        }
        if self.operator(&['+']).is_some() {
            return self.factor();
        }
        if self.operator(&['(']).is_some() {
            let value = self.sum()?;
            return match self.operator(&[')']) {
                Some(_) => Ok(value),
                None => Err(self.error("`)`")),
            };
        }
        let [width, height] = self.size;
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let known = match &self.rest[..end] {
            "u" => Some(Linear { c: 0.0, du: 1.0, dv: 0.0 }),
            "v" => Some(Linear { c: 0.0, du: 0.0, dv: 1.0 }),
            "x" => Some(Linear { c: 0.0, du: width, dv: 0.0 }),
            "y" => Some(Linear { c: 0.0, du: 0.0, dv: height }),
            "w" => Some(Linear::constant(width)),
            "h" => Some(Linear::constant(height)),
            _ => None,
        };
        if let Some(value) = known {
            self.rest = &self.rest[end..];
            return Ok(value);
        }
        self.number()
    }

    fn number(&mut self) -> Result<Linear, String> {
        // The longest prefix that is a number: `1e-3` contains a minus.
        let mut end = 0;
        let mut previous = ' ';
        for (at, c) in self.rest.char_indices() {
            let exponent_sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
            if !(c.is_ascii_alphanumeric() || c == '.' || exponent_sign) {
                break;
            }
            previous = c;
            end = at + c.len_utf8();
        }
        let (number, rest) = self.rest.split_at(end);
        let value = number.parse().map_err(|_| self.error("a number, u, v, x, y, w, h or `(`"))?;
        self.rest = rest;
        Ok(Linear::constant(value))
    }

    fn operator(&mut self, among: &[char]) -> Option<char> {
        let trimmed = self.rest.trim_start();
        let found = trimmed.chars().next().filter(|c| among.contains(c))?;
        self.rest = &trimmed[found.len_utf8()..];
        Some(found)
    }

    fn error(&self, wanted: &str) -> String {
        let at = self.text.len() - self.rest.trim_start().len();
        let here = match self.rest.trim_start() {
            "" => "the end".to_owned(),
            rest => format!("`{rest}`"),
        };
        format!("in `{}`, column {}: wanted {wanted}, found {here}", self.text, at + 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse(text: &str) -> [f32; 3] {
        let Plane { c, du, dv } = plane(text, [64, 32]).unwrap();
        [c, du, dv]
    }

    #[test]
    fn planes() {
        assert_eq!(parse("u"), [0.0, 1.0, 0.0]);
        assert_eq!(parse("2*u - 1"), [-1.0, 2.0, 0.0]);
        assert_eq!(parse("-(u+v)/2"), [0.0, -0.5, -0.5]);
        assert_eq!(parse("x"), [0.0, 64.0, 0.0]);
        assert_eq!(parse("(y-h/2)/w*4"), [-1.0, 0.0, 2.0]);
        assert_eq!(parse("1e-2*u+1.5e+1"), [15.0, 0.01, 0.0]);
        assert_eq!(parse("u*2*3"), [0.0, 6.0, 0.0]);
        assert_eq!(parse("--.5"), [0.5, 0.0, 0.0]);
    }

    #[test]
    fn nonlinear_or_malformed_expressions_are_refused() {
        let error = |text: &str| plane(text, [64, 32]).unwrap_err();
        assert!(error("u*v").contains("not linear"));
        assert!(error("1/u").contains("not linear"));
        assert!(error("").contains("found the end"));
        assert!(error("u v").contains("column 3"));
        assert!(error("(u").contains("wanted `)`"));
        assert!(error("q").contains("wanted a number"));
        assert!(error(&"(".repeat(10_000)).contains("nested too deeply"));
        assert!(error(&"-".repeat(10_000)).contains("nested too deeply"));
    }

    #[test]
    fn commas_in_brackets_do_not_split() {
        assert_eq!(components("a,(b,c),d"), ["a", "(b,c)", "d"]);
    }
}
