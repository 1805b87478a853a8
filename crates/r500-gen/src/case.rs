//! Test cases: a tree and its input pixels.

use std::fmt::{self, Display, Formatter};

use crate::tree::Tree;

/// A structured program and its input pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The program.
    pub tree: Tree,
    /// The input pixels.
    pub picture: Picture,
}

/// The initial state of the pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width and height.
    pub size: [u32; 2],
    /// Initial values of temporaries.
    pub inputs: Vec<PixelInput>,
    /// Which pixels are covered, row by row from y = 0; all if not given.
    pub coverage: Option<Vec<bool>>,
}

/// Initial values of a temporary.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelInput {
    /// The temporary.
    pub temp: u8,
    /// A value per pixel, row by row from y = 0.
    pub values: Vec<[f32; 4]>,
}

impl Picture {
    /// Returns an input's value at a pixel; outside of the picture, that of the nearest pixel.
    #[must_use]
    pub fn input(&self, input: &PixelInput, x: u32, y: u32) -> [f32; 4] {
        let [width, height] = self.size;
        let x = x.min(width.saturating_sub(1));
        let y = y.min(height.saturating_sub(1));
        input.values.get((y * width + x) as usize).copied().unwrap_or_default()
    }

    /// Returns whether a pixel is covered; `false` outside of the picture.
    #[must_use]
    pub fn covers(&self, x: u32, y: u32) -> bool {
        let [width, height] = self.size;
        let place = (y * width + x) as usize;
        let listed = |list: &Vec<bool>| list.get(place).copied().unwrap_or(false);
        x < width && y < height && self.coverage.as_ref().is_none_or(listed)
    }
}

impl Display for Case {
    /// Prints the pixels, the statements, and the dwords they lower to.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [width, height] = self.picture.size;
        writeln!(f, "{width}x{height} pixels")?;
        for input in &self.picture.inputs {
            write!(f, "t{} starts with", input.temp)?;
            match input.values.split_first() {
                Some((first, rest)) if rest.iter().all(|value| bits(value) == bits(first)) => {
                    writeln!(f, " {first:?} everywhere")?;
                }
                _ => {
                    for (i, value) in input.values.iter().enumerate() {
                        let before = if i % 4 == 0 { "\n  " } else { ", " };
                        write!(f, "{before}{value:?}")?;
                    }
                    writeln!(f)?;
                }
            }
        }
        if let Some(coverage) = &self.picture.coverage {
            let marks: String = coverage.iter().map(|&on| if on { '#' } else { '.' }).collect();
            writeln!(f, "covered: {marks}")?;
        }
        write!(f, "{}", self.tree)?;
        for (n, inst) in self.tree.lower().code.iter().enumerate() {
            let [a, b, c, d, e, g] = inst.0;
            writeln!(f, "{n:3}: {a:08x} {b:08x} {c:08x} {d:08x} {e:08x} {g:08x}")?;
        }
        Ok(())
    }
}

fn bits(value: &[f32; 4]) -> [u32; 4] {
    value.map(f32::to_bits)
}
