//! What a pixel has.

use r500_isa::{TARGETS, TEMPORARIES};

use crate::reading::KilledPixels;
use crate::{Draw, PixelOut, Readings};

/// A pixel while its program runs.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Column in the picture.
    pub x: u32,
    /// Row in the picture, from the bottom.
    pub y: u32,
    /// Whether it lies in the picture.
    pub inside: bool,
    /// Covered by the rasteriser and not killed.
    pub covered: bool,
    /// Killed by TEXKILL.
    pub killed: bool,
    /// Flow-control state.
    pub state: LaneState,
    /// Temporaries t0 to t127.
    pub temps: Vec<[f32; 4]>,
    /// Predicate bits, R in bit 0 to A in bit 3.
    pub predicate: u8,
    /// ALU result.
    pub alu_result: bool,
    /// Outputs A to D as last written.
    pub color: [[f32; 4]; TARGETS],
    /// Channels of each output that were written, red in bit 0.
    pub color_written: [u8; TARGETS],
    /// Depth as last written.
    pub depth: Option<f32>,
    /// Channels of each temporary that something has written, red in bit 0.
    pub written: [u8; TEMPORARIES],
    /// Predicate bits that were set.
    pub predicate_set: u8,
    /// Whether the ALU result was set.
    pub alu_result_set: bool,
}

/// Whether a pixel executes, and if not, what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It executes.
    Active,
    /// Switched off by a branch: so many levels must close before it wakes, minus one.
    Branch(u32),
    /// Left a loop: so many loops nested in that one are running.
    Break(u32),
    /// Waits for the end of the pass of such a loop.
    Continue(u32),
}

/// What stands in undefined state under [`Options::poison`](crate::Options::poison): a number that
/// no program means, so that it shows.
pub(crate) const POISON: f32 = -1_234_567.0;

/// What a temporary holds that nothing has written.
fn undefined(poison: bool) -> [f32; 4] {
    [if poison { POISON } else { 0.0 }; 4]
}

impl Lane {
    /// A pixel at the start of its program: inputs delivered, the rest undefined, which is 0 in this
    /// project (open; no program of the corpus depends on it) or the poison pattern.
    pub(super) fn new(draw: &Draw<'_>, x: u32, y: u32) -> Self {
        let [width, height] = draw.bindings.size();
        let poison = draw.options.poison;
        let mut lane = Self {
            x,
            y,
            inside: x < width && y < height,
            covered: draw.bindings.covers(x, y),
            killed: false,
            state: LaneState::Active,
            temps: vec![undefined(poison); TEMPORARIES],
            predicate: if poison { 0b0101 } else { 0 },
            alu_result: poison,
            color: [[0.0; 4]; TARGETS],
            color_written: [0; TARGETS],
            depth: None,
            written: [0; TEMPORARIES],
            predicate_set: 0,
            alu_result_set: false,
        };
        for input in draw.bindings.inputs() {
            let temp = usize::from(input.temp);
            if let Some(register) = lane.temps.get_mut(temp) {
                *register = draw.bindings.input(input, x, y);
                lane.written[temp] = 0b1111;
            }
        }
        lane
    }

    /// A copy without the temporaries behind the last one that was written: those hold what is
    /// [`undefined`].
    pub(super) fn compact(&self) -> Self {
        let used = self.written.iter().rposition(|&written| written != 0).map_or(0, |i| i + 1);
        Self { temps: self.temps.get(..used).unwrap_or(&self.temps).to_vec(), ..*self }
    }

    /// Undoes [`compact`](Self::compact).
    pub(super) fn expand(&mut self, poison: bool) {
        self.temps.resize(TEMPORARIES, undefined(poison));
    }

    /// Whether its flow-control state lets it execute.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == LaneState::Active
    }

    /// Whether it executes: its state lets it, and it was not killed where that stops it (open).
    #[must_use]
    pub fn executes(&self, readings: &Readings) -> bool {
        let stopped = self.killed && readings.killed_pixels == KilledPixels::Stop;
        self.is_active() && !stopped
    }

    /// What it delivers: outputs as last written, if it is covered still.
    #[must_use]
    pub fn output(&self) -> PixelOut {
        PixelOut {
            color: self.color,
            written: self.color_written,
            depth: self.depth,
            covered: self.covered && self.inside,
        }
    }
}
