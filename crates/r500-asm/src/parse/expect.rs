//! `EXPECT` and `COVERAGE` directives: expected results.

use r500_program::Compare;

use super::{Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{ExpectedPixels, ExpectedQuantity};
use crate::lexer::TokenKind;
use crate::names::Kw;
use crate::source::Span;

/// Expected values of some pixels; applied when the picture size is known.
pub(super) struct Expectation {
    what: ExpectedQuantity,
    place: PixelSelector,
    values: Vec<[Option<f32>; 4]>,
    span: Span,
}

#[derive(Clone, Copy)]
enum PixelSelector {
    Pixel(u32, u32),
    Row(u32),
    Column(u32),
    All,
    /// One value for every pixel.
    Each,
}

impl Parser<'_> {
    /// Parses `EXPECT out[0] at (x, y) = (r, g, b, a) ;` and its variants.
    pub(super) fn expectation(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        if self.eat_text("tolerance") {
            self.once_at("EXPECT tolerance", start);
            self.expect_token(TokenKind::Equals)?;
            self.job.expect.tolerance = self.float()?;
            return self.parse_semicolon();
        }
        if self.eat_text("compare") {
            self.once_at("EXPECT compare", start);
            self.expect_token(TokenKind::Equals)?;
            self.job.expect.compare = if self.eat_text("values") {
                Compare::Values
            } else if self.eat_text("8bit") {
                Compare::EightBit
            } else {
                return Err(self.expected("`values` or `8bit`"));
            };
            return self.parse_semicolon();
        }
        if self.eat_text("failure") {
            self.once_at("EXPECT failure", start);
            self.job.expect.known_failure = true;
            return self.parse_semicolon();
        }
        let what = if self.eat_word(Kw::Depth) {
            ExpectedQuantity::Depth
        } else if self.eat_word(Kw::Coverage) {
            ExpectedQuantity::Coverage
        } else if self.eat_text("background") {
            ExpectedQuantity::Background
        } else {
            let target = self.register_of("`out[n]`, `depth` or `coverage`", |r| match r {
                Register::Out(n) => Some(n),
                _ => None,
            })?;
            ExpectedQuantity::Target(target)
        };
        self.parse_expectation(what, start)
    }

    /// Parses `COVERAGE = 1, 0, … ;` and its variants: which pixels are drawn.
    pub(super) fn coverage(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        self.parse_expectation(ExpectedQuantity::Covered, start)
    }

    /// Parses a location, `=`, and values.
    fn parse_expectation(&mut self, what: ExpectedQuantity, start: Span) -> Parsed<()> {
        let place = if self.eat_text("at") {
            self.expect_token(TokenKind::OpenParen)?;
            let x = self.number(u32::MAX, "x")?;
            self.expect_token(TokenKind::Comma)?;
            let y = self.number(u32::MAX, "y")?;
            self.expect_token(TokenKind::CloseParen)?;
            PixelSelector::Pixel(x, y)
        } else if self.eat_text("row") {
            PixelSelector::Row(self.number(u32::MAX, "a row")?)
        } else if self.eat_text("column") {
            PixelSelector::Column(self.number(u32::MAX, "a column")?)
        } else if self.eat_word(Kw::All) {
            PixelSelector::Each
        } else {
            PixelSelector::All
        };
        self.expect_token(TokenKind::Equals)?;
        let mut values = Vec::new();
        loop {
            values.push(self.parse_expected_value(what)?);
            if !self.eat(TokenKind::Comma) || self.at(TokenKind::Semicolon) {
                break;
            }
        }
        let span = start.to(self.before);
        self.parse_semicolon()?;
        self.expects.push(Expectation { what, place, values, span });
        Ok(())
    }

    fn parse_expected_value(&mut self, what: ExpectedQuantity) -> Parsed<[Option<f32>; 4]> {
        let nothing = [None; 4];
        if self.eat_text("_") {
            return Ok(nothing);
        }
        match what {
            ExpectedQuantity::Target(_) | ExpectedQuantity::Background => {
                self.expect_token(TokenKind::OpenParen)?;
                let mut color = nothing;
                for (i, channel) in color.iter_mut().enumerate() {
                    if i > 0 {
                        self.expect_token(TokenKind::Comma)?;
                    }
                    if !self.eat_text("_") {
                        *channel = Some(self.float()?);
                    }
                }
                self.expect_token(TokenKind::CloseParen)?;
                Ok(color)
            }
            ExpectedQuantity::Depth => Ok([Some(self.float()?), None, None, None]),
            ExpectedQuantity::Coverage | ExpectedQuantity::Covered => {
                let on = self.truth()?;
                Ok([Some(f32::from(u8::from(on))), None, None, None])
            }
        }
    }

    /// Applies the expectations.
    pub(super) fn finish_expect(&mut self) {
        let wanted = std::mem::take(&mut self.expects);
        if wanted.is_empty() {
            return;
        }
        let Some([width, height]) = self.job.size else {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::SizeNeeded,
                    wanted[0].span,
                    "pixels without a `SIZE`",
                )
                .label("no directive gives the picture size"),
            );
            return;
        };
        let (w, h) = (width as usize, height as usize);
        // The size of a picture is not limited, but the number of expected values is.
        if w.saturating_mul(h) > MAX_EXPECTED {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::WrongCount,
                    wanted[0].span,
                    "too large to expect values of",
                )
                .label(format!("{width} x {height} pixels; {MAX_EXPECTED} are the limit")),
            );
            return;
        }
        for wanted in wanted {
            if let Err((message, label)) = self.apply_expectation(&wanted, w, h) {
                self.report(
                    Diagnostic::new(DiagnosticCode::WrongCount, wanted.span, message).label(label),
                );
            }
        }
    }

    fn apply_expectation(
        &mut self,
        wanted: &Expectation,
        w: usize,
        h: usize,
    ) -> Result<(), (String, String)> {
        let outside = || ("outside of the picture".to_owned(), format!("it has {w} x {h} pixels"));
        let (first, step, count) = match wanted.place {
            PixelSelector::Pixel(x, y) => {
                let (x, y) = (x as usize, y as usize);
                if x >= w || y >= h {
                    return Err(outside());
                }
                (y * w + x, 1, 1)
            }
            PixelSelector::Row(y) if (y as usize) < h => (y as usize * w, 1, w),
            PixelSelector::Column(x) if (x as usize) < w => (x as usize, w, h),
            PixelSelector::All | PixelSelector::Each => (0, 1, w * h),
            _ => return Err(outside()),
        };
        let each = matches!(wanted.place, PixelSelector::Each);
        if wanted.values.len() != if each { 1 } else { count } {
            let want = if each { 1 } else { count };
            return Err((
                format!("{} values for {want} pixels", wanted.values.len()),
                format!("{want} must be given"),
            ));
        }
        let Expectation { what, span, .. } = *wanted;
        self.expected.push(ExpectedPixels { span, what, first, step, count });
        let expect = &mut self.job.expect;
        for i in 0..count {
            let value = wanted.values[if each { 0 } else { i }];
            let at = first + i * step;
            match wanted.what {
                ExpectedQuantity::Target(n) => {
                    let all = expect.targets[usize::from(n)]
                        .get_or_insert_with(|| vec![[None; 4]; w * h]);
                    all[at] = value;
                }
                ExpectedQuantity::Depth => {
                    expect.depth.get_or_insert_with(|| vec![None; w * h])[at] = value[0];
                }
                ExpectedQuantity::Coverage => {
                    expect.coverage.get_or_insert_with(|| vec![None; w * h])[at] =
                        value[0].map(|v| v != 0.0);
                }
                ExpectedQuantity::Background => {
                    expect.background.get_or_insert_with(|| vec![[0.0; 4]; w * h])[at] =
                        value.map(|v| v.unwrap_or(0.0));
                }
                ExpectedQuantity::Covered => {
                    self.job.coverage.get_or_insert_with(|| vec![true; w * h])[at] =
                        value[0] != Some(0.0);
                }
            }
        }
        Ok(())
    }
}

/// Limit of the pixels of a picture with expectations.
const MAX_EXPECTED: usize = 1 << 24;
