//! Expected pixels of the picture.

use std::fmt;
use std::ops::Range;

use r500::picture::Picture;

use crate::Scene;

/// `EXPECT out[0] at (x, y) = (r, g, b, a) ;`
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedPixel {
    /// Where it is in the text, in bytes.
    pub span: Range<usize>,
    /// Column, and row from the bottom.
    pub pixel: [u32; 2],
    /// The channels; `None` is not checked.
    pub color: [Option<f64>; 4],
}

/// Whether a picture has an expected pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelVerdict {
    /// Where the expectation is in the text, in bytes.
    pub span: Range<usize>,
    /// Column, and row from the bottom.
    pub pixel: [u32; 2],
    /// The colour that it has, from 0 to 1.
    pub color: [f64; 4],
    /// Whether it is the expected one.
    pub passes: bool,
}

impl fmt::Display for PixelVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y], [r, g, b, a]) = (self.pixel, self.color);
        write!(f, "pixel {x}, {y} is ({r:.3}, {g:.3}, {b:.3}, {a:.3})")
    }
}

/// Half a step of 8 bits: the picture cannot be closer to a value.
const ROUNDING: f64 = 0.5 / 255.0 + 1e-9;

impl Scene {
    /// Returns whether the scene expects pixels.
    #[must_use]
    pub fn expects(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Compares a picture of the scene at time 0 with the expected pixels, in the order of the text. A channel passes if it differs by at most
    /// the tolerance of the scene, and always if it is the nearest value that 8 bits have.
    #[must_use]
    pub fn judge(&self, picture: &Picture) -> Vec<PixelVerdict> {
        let judge = |expected: &ExpectedPixel| {
            let [x, y] = expected.pixel;
            // The upper row of a picture is the first one.
            let row = (picture.height - 1).saturating_sub(y);
            let at = row as usize * picture.width as usize + x as usize;
            let color = picture.pixels.get(at).copied().unwrap_or_default();
            let color = color.map(|code| f64::from(code) / 255.0);
            let most = self.tolerance.max(ROUNDING);
            let mut pairs = expected.color.iter().zip(color);
            let passes = pairs.all(|(wanted, got)| wanted.is_none_or(|x| (x - got).abs() <= most));
            PixelVerdict { span: expected.span.clone(), pixel: expected.pixel, color, passes }
        };
        self.expected.iter().map(judge).collect()
    }
}
