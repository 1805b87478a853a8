//! The state of a group between two steps.

use r500_isa::TEMPORARIES;

use super::lane::Lane;
use crate::reading::AlOutside;
use crate::{Counters, PixelRect, Readings, RuntimeWarnings};

/// The state of a [`Group`](super::Group) between two steps. A clone is a checkpoint, from which
/// [`Group::resume`](super::Group::resume) continues.
#[derive(Clone, Debug)]
pub struct GroupState {
    pub(super) rect: PixelRect,
    pub(super) lanes: Vec<Lane>,
    pub(super) pc: u32,
    pub(super) loops: Vec<LoopFrame>,
    pub(super) calls: Vec<u32>,
    pub(super) last_al: i32,
    pub(super) fetches: Fetches,
    pub(super) ended: bool,
    pub(super) warnings: RuntimeWarnings,
    pub(super) counters: Counters,
}

/// A running loop.
#[derive(Clone, Debug)]
pub struct LoopFrame {
    /// Remaining iterations, including the running one.
    pub count: u32,
    /// aL.
    pub al: i32,
    /// Lanes that entered the loop.
    pub entered: Vec<bool>,
}

/// Texture results in flight: reading them without a wait for the semaphore causes a warning.
///
/// The semaphore covers a fetch if the fetch, or a later one, acquires it; an instruction that waits for the
/// semaphore completes all covered fetches. This models timing only: in this engine results are available
/// immediately, on a card they may not be.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    /// Channels of each temporary (red in bit 0) that a fetch without semaphore will write.
    issued: [u8; TEMPORARIES],
    /// Channels that a fetch covered by the semaphore will write.
    held: [u8; TEMPORARIES],
}

impl GroupState {
    /// Returns the absolute address of the next instruction.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.pc
    }

    /// Returns whether the program has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Returns the pixels of the group.
    #[must_use]
    pub fn rect(&self) -> PixelRect {
        self.rect
    }

    /// Returns the lanes, in the order of [`Group`](super::Group).
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Returns the lanes, to change their registers between two steps.
    #[doc(hidden)]
    #[must_use]
    pub fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.lanes
    }

    /// Returns the running loops, innermost last.
    #[must_use]
    pub fn loops(&self) -> &[LoopFrame] {
        &self.loops
    }

    /// Returns the address stack, top last.
    #[must_use]
    pub fn calls(&self) -> &[u32] {
        &self.calls
    }

    /// Returns aL: that of the innermost loop, 0 outside all loops (open).
    #[must_use]
    pub fn al(&self, readings: &Readings) -> i32 {
        let outer = match readings.al_outside {
            AlOutside::Zero => 0,
            AlOutside::Last => self.last_al,
        };
        self.loops.last().map_or(outer, |frame| frame.al)
    }

    /// Returns the warnings so far.
    #[must_use]
    pub fn warnings(&self) -> &RuntimeWarnings {
        &self.warnings
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the lane of a pixel of the picture, if it is in this group.
    #[must_use]
    pub fn lane_at(&self, x: u32, y: u32) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.x == x && lane.y == y)
    }

    /// Returns a copy that takes little memory, to be [expanded](Self::expand) before use.
    pub(crate) fn compact(&self) -> Self {
        let Self { lanes, loops, calls, warnings, .. } = self;
        Self {
            lanes: lanes.iter().map(Lane::compact).collect(),
            loops: loops.clone(),
            calls: calls.clone(),
            fetches: self.fetches.clone(),
            warnings: warnings.clone(),
            ..*self
        }
    }

    /// Undoes [`compact`](Self::compact); `poison` is that of the run.
    pub(crate) fn expand(&mut self, poison: bool) {
        self.lanes.iter_mut().for_each(|lane| lane.expand(poison));
    }

    /// Returns its approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lane = |lane: &Lane| size_of::<Lane>() + size_of_val(lane.temps.as_slice());
        let lanes: usize = self.lanes.iter().map(lane).sum();
        let loops = self.loops.len() * (size_of::<LoopFrame>() + self.lanes.len());
        // A warning is a node of a tree: about 64 bytes.
        size_of::<Self>() + lanes + loops + 4 * self.calls.len() + 64 * self.warnings.len()
    }
}

impl Default for Fetches {
    fn default() -> Self {
        Self { issued: [0; TEMPORARIES], held: [0; TEMPORARIES] }
    }
}

impl Fetches {
    /// Records a fetch to channels of a temporary.
    pub(super) fn issue(&mut self, temp: usize, mask: u8) {
        if let Some(issued) = self.issued.get_mut(temp) {
            *issued |= mask;
        }
    }

    /// Acquires the semaphore for all fetches so far.
    pub(super) fn acquire(&mut self) {
        for (held, issued) in self.held.iter_mut().zip(&mut self.issued) {
            *held |= std::mem::take(issued);
        }
    }

    /// Waits for the semaphore.
    pub(super) fn wait(&mut self) {
        self.held = [0; TEMPORARIES];
    }

    /// Returns the channels of a temporary that may still be in flight.
    pub(super) fn pending(&self, temp: usize) -> u8 {
        let of = |channels: &[u8; TEMPORARIES]| channels.get(temp).copied().unwrap_or(0);
        of(&self.issued) | of(&self.held)
    }
}
