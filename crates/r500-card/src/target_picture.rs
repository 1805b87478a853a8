//! Read-back: what a render target holds, as a picture.

use r500_chip::sc::ScScissor1;
use r500_isa::TARGETS;
use r500_stream::State;

use crate::ga::Grid;
use crate::rb3d::Rb3d;
use crate::reading::Readings;
use crate::report::Report;
use crate::sc::Samples;

/// Pixels of a render target, without tiles; of several samples the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPicture {
    /// Width and height in pixels. A target has no height of its own: the picture ends with the scissor rectangle, or with
    /// the buffer.
    pub size: [u32; 2],
    /// Red, green, blue, alpha, from the first row in memory on. Colours that the target does not store are 0, alpha 1.
    pub colors: Vec<[f32; 4]>,
}

impl TargetPicture {
    /// Reads target `n`; `None` if there is none.
    pub(crate) fn new(state: &State, readings: &Readings, n: usize) -> Option<Self> {
        let samples = Samples::new(state, Grid::new(state, readings)).count;
        // What cannot be bound is not there: there is no draw that a note would be about.
        let mut report = Report::default();
        let rb3d = Rb3d::new(state, [true; TARGETS], samples, readings, &mut report);
        let scissor: ScScissor1 = state.registers.get();
        let scissor = [scissor.xs1(), scissor.ys1()].map(|last| u32::from(last) + 1);
        let (size, colors) = rb3d.picture(n, scissor)?;
        Some(Self { size, colors })
    }
}
