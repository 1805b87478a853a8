//! What pixels that share a program counter hold between two steps.

use r500_isa::TEMPORARIES;

use super::lane::Lane;
use crate::reading::AlOutside;
use crate::{Counters, PixelRect, Readings, RuntimeWarnings};

/// What a [`Group`](super::Group) holds between two steps. A clone is a checkpoint: a group goes on from
/// it ([`Group::resume`](super::Group::resume)) as if nothing had been in between.
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
    /// Passes left, the running one counted.
    pub count: u32,
    /// aL.
    pub al: i32,
    /// Lanes that entered.
    pub entered: Vec<bool>,
}

/// Texture results on their way: what a reader must have waited for.
///
/// A fetch is covered by the semaphore when it, or one behind it, acquires it; an instruction that
/// waits for the semaphore then finds it done. Timing only: results are there at once in this
/// machine, and this only says where a card's might not be.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    /// Channels of each temporary (red in bit 0) that a fetch will write, the semaphore not held.
    issued: [u8; TEMPORARIES],
    /// The same, the semaphore held.
    held: [u8; TEMPORARIES],
}

impl GroupState {
    /// Absolute address of the next instruction.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.pc
    }

    /// Whether the program has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The pixels.
    #[must_use]
    pub fn rect(&self) -> PixelRect {
        self.rect
    }

    /// The lanes, in the order of [`Group`](super::Group).
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The running loops, innermost last.
    #[must_use]
    pub fn loops(&self) -> &[LoopFrame] {
        &self.loops
    }

    /// The address stack, top last.
    #[must_use]
    pub fn calls(&self) -> &[u32] {
        &self.calls
    }

    /// aL: that of the innermost loop; 0 outside every loop (open).
    #[must_use]
    pub fn al(&self, readings: &Readings) -> i32 {
        let outer = match readings.al_outside {
            AlOutside::Zero => 0,
            AlOutside::Last => self.last_al,
        };
        self.loops.last().map_or(outer, |frame| frame.al)
    }

    /// What was met so far.
    #[must_use]
    pub fn warnings(&self) -> &RuntimeWarnings {
        &self.warnings
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The lane of a pixel of the picture, if it is here.
    #[must_use]
    pub fn lane_at(&self, x: u32, y: u32) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.x == x && lane.y == y)
    }

    /// A copy that takes little memory, to be [expanded](Self::expand) before use.
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

    /// Undoes [`compact`](Self::compact); `poison` as the run has it.
    pub(crate) fn expand(&mut self, poison: bool) {
        self.lanes.iter_mut().for_each(|lane| lane.expand(poison));
    }

    /// Bytes that it takes, about.
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
    /// A fetch into channels of a temporary was issued.
    pub(super) fn issue(&mut self, temp: usize, mask: u8) {
        if let Some(issued) = self.issued.get_mut(temp) {
            *issued |= mask;
        }
    }

    /// The semaphore was acquired: it is held until all fetches so far are done.
    pub(super) fn acquire(&mut self) {
        for (held, issued) in self.held.iter_mut().zip(&mut self.issued) {
            *held |= std::mem::take(issued);
        }
    }

    /// An instruction waited for the semaphore.
    pub(super) fn wait(&mut self) {
        self.held = [0; TEMPORARIES];
    }

    /// Channels of a temporary whose value may still be on its way.
    pub(super) fn pending(&self, temp: usize) -> u8 {
        let of = |channels: &[u8; TEMPORARIES]| channels.get(temp).copied().unwrap_or(0);
        of(&self.issued) | of(&self.held)
    }
}
