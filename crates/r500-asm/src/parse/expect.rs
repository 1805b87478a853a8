//! `EXPECT` and `COVERAGE`: what the picture must show.

use r500_program::Compare;

use super::{Parsed, Parser, Register};
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::Kind;
use crate::names::Kw;
use crate::source::Span;

/// Values wanted of some pixels; they are placed when the picture's size is known.
pub(super) struct Wanted {
    what: What,
    place: Place,
    values: Vec<[Option<f32>; 4]>,
    span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Target(u8),
    Depth,
    Coverage,
    Background,
    Covered,
}

#[derive(Clone, Copy)]
enum Place {
    Pixel(u32, u32),
    Row(u32),
    Column(u32),
    All,
    /// One value for every pixel.
    Each,
}

impl Parser<'_> {
    /// `EXPECT out[0] at (x, y) = (r, g, b, a) ;` and its relatives.
    pub(super) fn expectation(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        if self.eat_text("tolerance") {
            self.once_at("EXPECT tolerance", start);
            self.need(Kind::Equals)?;
            self.job.expect.tolerance = self.float()?;
            return self.semicolon();
        }
        if self.eat_text("compare") {
            self.once_at("EXPECT compare", start);
            self.need(Kind::Equals)?;
            self.job.expect.compare = if self.eat_text("values") {
                Compare::Values
            } else if self.eat_text("8bit") {
                Compare::EightBit
            } else {
                return Err(self.expected("`values` or `8bit`"));
            };
            return self.semicolon();
        }
        if self.eat_text("failure") {
            self.once_at("EXPECT failure", start);
            self.job.expect.known_failure = true;
            return self.semicolon();
        }
        let what = if self.eat_word(Kw::Depth) {
            What::Depth
        } else if self.eat_word(Kw::Coverage) {
            What::Coverage
        } else if self.eat_text("background") {
            What::Background
        } else {
            let target = self.register_of("`out[n]`, `depth` or `coverage`", |r| match r {
                Register::Out(n) => Some(n),
                _ => None,
            })?;
            What::Target(target)
        };
        self.wanted(what, start)
    }

    /// `COVERAGE = 1, 0, … ;` and its relatives: which pixels are drawn.
    pub(super) fn coverage(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        self.wanted(What::Covered, start)
    }

    /// A place, `=`, and values.
    fn wanted(&mut self, what: What, start: Span) -> Parsed<()> {
        let place = if self.eat_text("at") {
            self.need(Kind::OpenParen)?;
            let x = self.number(u32::MAX, "x")?;
            self.need(Kind::Comma)?;
            let y = self.number(u32::MAX, "y")?;
            self.need(Kind::CloseParen)?;
            Place::Pixel(x, y)
        } else if self.eat_text("row") {
            Place::Row(self.number(u32::MAX, "a row")?)
        } else if self.eat_text("column") {
            Place::Column(self.number(u32::MAX, "a column")?)
        } else if self.eat_word(Kw::All) {
            Place::Each
        } else {
            Place::All
        };
        self.need(Kind::Equals)?;
        let mut values = Vec::new();
        loop {
            values.push(self.wanted_value(what)?);
            if !self.eat(Kind::Comma) || self.at(Kind::Semicolon) {
                break;
            }
        }
        let span = start.to(self.before);
        self.semicolon()?;
        self.expects.push(Wanted { what, place, values, span });
        Ok(())
    }

    fn wanted_value(&mut self, what: What) -> Parsed<[Option<f32>; 4]> {
        let nothing = [None; 4];
        if self.eat_text("_") {
            return Ok(nothing);
        }
        match what {
            What::Target(_) | What::Background => {
                self.need(Kind::OpenParen)?;
                let mut color = nothing;
                for (i, channel) in color.iter_mut().enumerate() {
                    if i > 0 {
                        self.need(Kind::Comma)?;
                    }
                    if !self.eat_text("_") {
                        *channel = Some(self.float()?);
                    }
                }
                self.need(Kind::CloseParen)?;
                Ok(color)
            }
            What::Depth => Ok([Some(self.float()?), None, None, None]),
            What::Coverage | What::Covered => {
                let on = self.truth()?;
                Ok([Some(f32::from(u8::from(on))), None, None, None])
            }
        }
    }

    /// Places what is wanted.
    pub(super) fn finish_expect(&mut self) {
        let wanted = std::mem::take(&mut self.expects);
        if wanted.is_empty() {
            return;
        }
        let Some([width, height]) = self.job.size else {
            self.report(
                Diagnostic::new(Code::SizeNeeded, wanted[0].span, "pixels without a `SIZE`")
                    .label("no directive tells how large the picture is"),
            );
            return;
        };
        let (w, h) = (width as usize, height as usize);
        // A picture of any size can be asked for, but not one value for each pixel of a huge one.
        if w.saturating_mul(h) > MAX_EXPECTED {
            self.report(
                Diagnostic::new(Code::WrongCount, wanted[0].span, "too large to expect values of")
                    .label(format!("{width} x {height} pixels; {MAX_EXPECTED} are the limit")),
            );
            return;
        }
        for wanted in wanted {
            if let Err((message, label)) = self.place(&wanted, w, h) {
                self.report(Diagnostic::new(Code::WrongCount, wanted.span, message).label(label));
            }
        }
    }

    fn place(&mut self, wanted: &Wanted, w: usize, h: usize) -> Result<(), (String, String)> {
        let outside = || ("outside of the picture".to_owned(), format!("it has {w} x {h} pixels"));
        let (first, step, count) = match wanted.place {
            Place::Pixel(x, y) => {
                let (x, y) = (x as usize, y as usize);
                if x >= w || y >= h {
                    return Err(outside());
                }
                (y * w + x, 1, 1)
            }
            Place::Row(y) if (y as usize) < h => (y as usize * w, 1, w),
            Place::Column(x) if (x as usize) < w => (x as usize, w, h),
            Place::All | Place::Each => (0, 1, w * h),
            _ => return Err(outside()),
        };
        let each = matches!(wanted.place, Place::Each);
        if wanted.values.len() != if each { 1 } else { count } {
            let want = if each { 1 } else { count };
            return Err((
                format!("{} values for {want} pixels", wanted.values.len()),
                format!("{want} must be given"),
            ));
        }
        let expect = &mut self.job.expect;
        for i in 0..count {
            let value = wanted.values[if each { 0 } else { i }];
            let at = first + i * step;
            match wanted.what {
                What::Target(n) => {
                    let all = expect.targets[usize::from(n)]
                        .get_or_insert_with(|| vec![[None; 4]; w * h]);
                    all[at] = value;
                }
                What::Depth => {
                    expect.depth.get_or_insert_with(|| vec![None; w * h])[at] = value[0];
                }
                What::Coverage => {
                    expect.coverage.get_or_insert_with(|| vec![None; w * h])[at] =
                        value[0].map(|v| v != 0.0);
                }
                What::Background => {
                    expect.background.get_or_insert_with(|| vec![[0.0; 4]; w * h])[at] =
                        value.map(|v| v.unwrap_or(0.0));
                }
                What::Covered => {
                    self.job.coverage.get_or_insert_with(|| vec![true; w * h])[at] =
                        value[0] != Some(0.0);
                }
            }
        }
        Ok(())
    }
}

/// How many pixels a picture with expectations may have.
const MAX_EXPECTED: usize = 1 << 24;
