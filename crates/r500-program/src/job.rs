//! The job: a program and what a picture needs.

use alloc::string::String;
use alloc::vec::Vec;

use r500_isa::TEXTURE_UNITS;

use crate::{Expect, Input, Program, Texture};

/// A program with everything needed to draw a picture, as far as the source has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// What the program is called where it comes from; may be empty.
    pub name: String,
    /// Where it comes from, for people; may be empty.
    pub origin: String,
    /// What it is there to show: the rule that a case decides. For people; may be empty.
    pub rationale: String,
    /// How well founded its expectations are (`documented`, `observed`, `derived`, `open`); may be
    /// empty.
    pub status: String,
    /// The program.
    pub program: Program,
    /// Width and height of the picture in pixels, if the source says.
    pub size: Option<[u32; 2]>,
    /// Inputs. `None`: the source says nothing, and the program gets [`Input::uv`].
    pub inputs: Option<Vec<Input>>,
    /// Bound textures by unit; a unit without one is not enabled.
    pub textures: [Option<Texture>; TEXTURE_UNITS],
    /// Names of constants.
    pub uniforms: Vec<Uniform>,
    /// Names of constants that the source gives with their values alone, where just one constant holds the value. For switches
    /// that name a constant: the picture does not depend on them.
    pub named_by_value: Vec<Uniform>,
    /// Which pixels are covered, row by row from y = 0; all if not given.
    pub coverage: Option<Vec<bool>>,
    /// Time in seconds, where the program has a use for it.
    pub time: f32,
    /// What the picture must show.
    pub expect: Expect,
    /// Share of pixels that may differ from a reference picture, if the source says.
    pub share: Option<f64>,
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
    /// How many channels it has, 1 to 4.
    pub channels: u8,
}

impl Job {
    /// Returns a job that is only a program.
    #[must_use]
    pub fn from_program(program: Program) -> Self {
        Self { program, ..Self::default() }
    }

    /// Returns the inputs, [`Input::uv`] where the source says nothing.
    #[must_use]
    pub fn inputs_or_default(&self) -> Vec<Input> {
        self.inputs.clone().unwrap_or_else(|| alloc::vec![Input::uv()])
    }
}
