//! `EXPECT`: pixels that the picture must have.

use super::{MAX_PARTS, Parsed, Parser, at};
use crate::expect::ExpectedPixel;

const HELP: &str = "write `EXPECT out[0] at (160, 120) = (1, 0.5, _, 1) ;`: column, row from the bottom, and the colour at time 0; or `EXPECT tolerance = 0.02 ;`";

impl Parser<'_> {
    /// Parses what follows `EXPECT`.
    pub(super) fn expectation(&mut self) -> Parsed<()> {
        // With the word itself.
        let begin = self.at - "EXPECT".len();
        if self.keyword("tolerance") {
            self.symbol('=', HELP)?;
            let (value, span) = self.number(HELP)?;
            if !(0.0..=1.0).contains(&value) {
                return Err(at(span, "a tolerance is a number from 0 to 1".to_owned(), HELP));
            }
            self.tolerance = value;
            return self.end(HELP);
        }
        if !self.keyword("out") {
            return Err(self.wrong("expected `out[0]` or `tolerance`", HELP));
        }
        self.symbol('[', HELP)?;
        self.whole(1, HELP)?;
        self.symbol(']', HELP)?;
        if !self.keyword("at") {
            return Err(self.wrong("expected `at (x, y)`", HELP));
        }
        let [width, height] = self.targets[0].size;
        self.symbol('(', HELP)?;
        let x = self.whole(width, HELP)?;
        self.symbol(',', HELP)?;
        let y = self.whole(height, HELP)?;
        self.symbol(')', HELP)?;
        self.symbol('=', HELP)?;
        self.symbol('(', HELP)?;
        let mut color = [None; 4];
        for (n, channel) in color.iter_mut().enumerate() {
            if n > 0 {
                self.symbol(',', HELP)?;
            }
            if !self.optional('_') {
                *channel = Some(self.number(HELP)?.0);
            }
        }
        self.symbol(')', HELP)?;
        let span = begin..self.at;
        self.end(HELP)?;
        if self.expected.len() >= MAX_PARTS {
            return Err(at(span, format!("a scene expects at most {MAX_PARTS} pixels"), HELP));
        }
        self.expected.push(ExpectedPixel { span, pixel: [x, y], color });
        Ok(())
    }
}
