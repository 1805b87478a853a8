//! A pixel at which two programs differ.

use std::fmt;

use r500_exec::numerics::{Decimal, Decimals};

/// A pixel that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Column, and row from the bottom.
    pub pixel: [u32; 2],
    /// The differing outputs.
    pub parts: Vec<Part>,
}

/// A differing output of a pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A colour.
    Color {
        /// The target, 0 to 3 for A to D.
        target: usize,
        /// The colours as written by the programs.
        written: [[f32; 4]; 2],
        /// The bytes that the card would store; empty if not both files give the format.
        stored: [Vec<u8>; 2],
    },
    /// Depth.
    Depth {
        /// The depths as written by the programs.
        written: [f32; 2],
    },
    /// Only one of the programs kills the pixel.
    Coverage {
        /// Whether each program draws it.
        drawn: [bool; 2],
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.pixel;
        let parts: Vec<String> = self.parts.iter().map(ToString::to_string).collect();
        write!(f, "pixel {x},{y}: {}", parts.join("; "))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Color { target, written, .. } => {
                let [a, b] = written.each_ref().map(|color| Decimals(color));
                write!(f, "target {}: {a} and {b}", char::from(b"ABCD"[target & 3]))
            }
            Self::Depth { written } => {
                let [a, b] = written.map(Decimal);
                write!(f, "depth: {a} and {b}")
            }
            Self::Coverage { drawn: [a, b] } => write!(f, "drawn: {a} and {b}"),
        }
    }
}
