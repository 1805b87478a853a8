//! The job: a program and everything that a picture needs.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use r500_isa::TEXTURE_UNITS;

use crate::{Compilation, Expect, Input, LiveTexture, Program, Texture};

/// A program with the inputs, textures and expected results that its source gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The program's name in its source; may be empty.
    pub name: String,
    /// Human-readable origin; may be empty.
    pub origin: String,
    /// Human-readable purpose: the rule that a test case decides; may be empty.
    pub rationale: String,
    /// Evidence for the expected results (`documented`, `observed`, `derived`, `open`); may be
    /// empty.
    pub status: String,
    /// The program.
    pub program: Program,
    /// Width and height of the picture in pixels, if the source gives them.
    pub size: Option<[u32; 2]>,
    /// Inputs. If `None`, the source gives none, and the program gets [`Input::uv`].
    pub inputs: Option<Vec<Input>>,
    /// Bound textures by unit; a unit without one is not enabled.
    pub textures: [Option<Texture>; TEXTURE_UNITS],
    /// Textures of `textures` whose texels the host gives for each picture; those in `textures` are 0.
    pub live: Vec<LiveTexture>,
    /// Names of constants.
    pub uniforms: Vec<Uniform>,
    /// Names of constants that the source gives only with their values, if exactly one constant
    /// holds the value. They are for options that name a constant; the picture does not depend on
    /// them.
    pub named_by_value: Vec<Uniform>,
    /// Which pixels are covered, row by row from y = 0; all if not given.
    pub coverage: Option<Vec<bool>>,
    /// Time in seconds, if the source gives it. If `None`, a constant for the time keeps its value.
    pub time: Option<f32>,
    /// The expected results.
    pub expect: Expect,
    /// Fraction of pixels that may differ from a reference picture, if the source gives it.
    pub share: Option<f64>,
    /// What the log of the driver that compiled the program says of it, if the job comes from one.
    pub compilation: Option<Box<Compilation>>,
    /// Bytes of the source that are not part of the program, because they are not whole instructions.
    pub left_out: LeftOut,
}

/// Bytes before and after a program that are not whole instructions: a source, such as a dump of memory, may begin and end anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Bytes before the first instruction.
    pub before: u64,
    /// Bytes after the last one.
    pub after: u64,
}

/// A named constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Its name.
    pub name: String,
    /// The constant's number, 0 to 255.
    pub constant: u8,
    /// Its first channel (0 red to 3 alpha).
    pub channel: u8,
    /// Number of channels, 1 to 4.
    pub channels: u8,
}

impl Job {
    /// Returns a job that consists of a program only.
    #[must_use]
    pub fn from_program(program: Program) -> Self {
        Self { program, ..Self::default() }
    }

    /// Returns the inputs, or [`Input::uv`] if the source gives none.
    #[must_use]
    pub fn inputs_or_default(&self) -> Vec<Input> {
        self.inputs.clone().unwrap_or_else(|| alloc::vec![Input::uv()])
    }
}
