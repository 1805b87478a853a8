//! Read-back: the contents of a render target as a picture.

use r500_chip::sc::ScScissor1;
use r500_isa::TARGETS;
use r500_stream::State;

use crate::ga::Grid;
use crate::rb3d::Rb3d;
use crate::reading::Readings;
use crate::report::Report;
use crate::sc::Samples;

/// The pixels of a render target in row order; multisampled ones are averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPicture {
    /// Width and height in pixels. A target has no height of its own: the picture ends at the scissor rectangle, or at
    /// the end of the buffer.
    pub size: [u32; 2],
    /// Red, green, blue, alpha, from the first row in memory. Missing colours are 0, alpha 1.
    pub colors: Vec<[f32; 4]>,
}

impl TargetPicture {
    /// Reads target `n`; `None` if it is not bound.
    pub(crate) fn new(state: &State, readings: &Readings, n: usize) -> Option<Self> {
        let samples = Samples::new(state, Grid::new(state, readings)).count;
        // Notes are dropped, because there is no draw that they could refer to.
        let mut report = Report::default();
        let rb3d = Rb3d::new(state, [true; TARGETS], samples, readings, &mut report);
        let scissor: ScScissor1 = state.registers.get();
        let scissor = [scissor.xs1(), scissor.ys1()].map(|last| u32::from(last) + 1);
        let (size, colors) = rb3d.picture(n, scissor)?;
        Some(Self { size, colors })
    }
}
