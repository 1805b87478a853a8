//! Batches of quads: pixels of any places, as structures of arrays.
//!
//! A picture has its pixels in rows; a rasteriser has quads. A [`QuadDrawing`](crate::QuadDrawing) takes the inputs of quads channel by channel, an array with
//! four lanes for each quad (top left, top right, bottom left, bottom right), and gives colours, depth and coverage in the same form. Four
//! quads that follow one another are a group of pixels.

use std::ops::Range;

use r500_isa::TARGETS;
use r500_simd::chunk::LANES;

use crate::numerics::canonical_nan;
use crate::{BandStats, Draw, RunError, RunInfo};

/// Number of quads of a group.
pub const GROUP_QUADS: usize = LANES / 4;

/// The source of the inputs of quads, and the destination of their results. An engine calls, for one range of quads after the other,
/// [`begin`](Self::begin), [`load`](Self::load) for each channel that the program reads, at least once, and [`store`](Self::store).
pub trait QuadStream {
    /// Begins some quads, which the following calls are for. Stores which pixels are covered: all bits of the lane, or none.
    fn begin(&mut self, quads: Range<usize>, covered: &mut [f32]);

    /// Stores a channel of the input of a temporary.
    fn load(&mut self, temp: u8, channel: u8, lanes: &mut [f32]);

    /// Takes the results.
    fn store(&mut self, pixels: &QuadPixels<'_>);
}

/// The results of the pixels of quads. Those of pixels that are not [alive](Self::alive) have no meaning.
#[derive(Clone, Copy, Debug)]
pub struct QuadPixels<'p> {
    /// The channels of each target; `None` if no instruction can write it. A NaN has any payload.
    pub colors: [Option<[Lanes<'p>; 4]>; TARGETS],
    /// Depth, 0 where none was written; `None` if no instruction can write it. A NaN has any payload.
    pub depth: Option<&'p [f32]>,
    /// Which pixels are covered and not killed: all bits of the lane, or none.
    pub alive: &'p [f32],
}

/// A channel of the pixels of quads.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'p> {
    /// A value for each.
    Each(&'p [f32]),
    /// The same for all.
    Same(f32),
}

impl Lanes<'_> {
    /// Returns the value of a lane.
    #[must_use]
    #[inline]
    pub fn get(&self, lane: usize) -> f32 {
        match self {
            Self::Each(lanes) => lanes[lane],
            Self::Same(value) => *value,
        }
    }
}

impl QuadPixels<'_> {
    /// Returns a colour of a pixel, every NaN canonical; 0 for a target that does not exist.
    #[must_use]
    pub fn color(&self, target: usize, lane: usize) -> [f32; 4] {
        let channels = self.colors[target].as_ref();
        channels.map_or([0.0; 4], |channels| {
            channels.each_ref().map(|channel| canonical_nan(channel.get(lane)))
        })
    }

    /// Returns the depth of a pixel, NaN canonical; 0 if the program writes none.
    #[must_use]
    pub fn depth(&self, lane: usize) -> f32 {
        self.depth.map_or(0.0, |depth| canonical_nan(depth[lane]))
    }

    /// Returns whether a pixel is covered and not killed.
    #[must_use]
    pub fn is_alive(&self, lane: usize) -> bool {
        self.alive[lane].to_bits() != 0
    }
}

/// A program prepared by an engine for quads. An embedder uses a [`QuadDrawing`](crate::QuadDrawing), which contains one.
pub trait PreparedQuads: Send + Sync {
    /// Runs the program for `count` quads of a draw with the program, the bindings and the readings that it was prepared for.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError>;

    /// Returns which engine draws, and why if it is not the requested one.
    fn run_info(&self) -> RunInfo;
}

/// Copies the last quad to the lanes after the first `count` quads, so that these execute nothing that no quad does.
pub fn repeat_last(lanes: &mut [f32], count: usize) {
    let Some(last) = (4 * count).checked_sub(4) else { return };
    let (quads, rest) = lanes.split_at_mut(4 * count);
    for quad in rest.chunks_mut(4) {
        quad.copy_from_slice(&quads[last..][..quad.len()]);
    }
}

/// Quads of another engine than the requested one.
pub struct FallbackQuads {
    /// The prepared draw.
    pub prepared: Box<dyn PreparedQuads>,
    /// Why the requested engine does not draw; if the other engine falls back, too, its reason is reported.
    pub reason: String,
}

impl PreparedQuads for FallbackQuads {
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        self.prepared.draw_quads(draw, count, stream)
    }

    fn run_info(&self) -> RunInfo {
        let run_info = self.prepared.run_info();
        let fallback_reason = run_info.fallback_reason.or(Some(self.reason.clone()));
        RunInfo { fallback_reason, ..run_info }
    }
}
