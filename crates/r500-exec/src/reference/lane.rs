//! The state of a pixel.

use r500_isa::{TARGETS, TEMPORARIES};

use crate::draw::LANE_BYTES;
use crate::reading::KilledPixels;
use crate::{Draw, PixelOut, Readings};

/// The execution state of a pixel.
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
    /// Channels of each temporary that were written, red in bit 0.
    pub written: [u8; TEMPORARIES],
    /// Predicate bits that were set.
    pub predicate_set: u8,
    /// Whether the ALU result was set.
    pub alu_result_set: bool,
}

/// Whether a pixel is active, and if not, what reactivates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// It is active.
    Active,
    /// Inactive by a branch: the number of branch levels that must close to reactivate it, minus one.
    Branch(u32),
    /// Inactive by a break: the number of running loops nested in the loop that it left.
    Break(u32),
    /// Inactive by a continue until the end of the iteration: the number of running loops nested in that loop.
    Continue(u32),
}

/// The value of undefined state under [`Options::poison`](crate::Options::poison): conspicuous, and not used
/// by programs.
pub const POISON: f32 = -1_234_567.0;

/// Returns the value of an unwritten temporary.
fn undefined(poison: bool) -> [f32; 4] {
    [if poison { POISON } else { 0.0 }; 4]
}

/// A group is rejected for its size before it is allocated.
const _: () =
    assert!(size_of::<Lane>() + TEMPORARIES * size_of::<[f32; 4]>() <= LANE_BYTES as usize);

impl Lane {
    /// Returns a pixel at the start of its program: inputs loaded, the rest undefined, which is 0 in this
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

    /// Returns a copy without the temporaries after the last written one, whose values are [`undefined`].
    pub(super) fn compact(&self) -> Self {
        let used = self.written.iter().rposition(|&written| written != 0).map_or(0, |i| i + 1);
        Self { temps: self.temps.get(..used).unwrap_or(&self.temps).to_vec(), ..*self }
    }

    /// Undoes [`compact`](Self::compact).
    pub(super) fn expand(&mut self, poison: bool) {
        self.temps.resize(TEMPORARIES, undefined(poison));
    }

    /// Returns whether its flow-control state is active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == LaneState::Active
    }

    /// Returns whether it executes instructions: it is active, and not killed if killing stops execution
    /// (open).
    #[must_use]
    pub fn executes(&self, readings: &Readings) -> bool {
        let stopped = self.killed && readings.killed_pixels == KilledPixels::Stop;
        self.is_active() && !stopped
    }

    /// Returns its outputs as last written, and whether it is still covered.
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
