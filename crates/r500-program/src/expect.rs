//! Expectations: what a picture must show.

use alloc::vec::Vec;

/// What a run of a job must give. Pixels lie row by row from y = 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// Wanted colours of targets A to D, `None` where nothing is wanted of a target. Within,
    /// `None` is a channel that is not checked.
    pub targets: [Option<Vec<PixelColor>>; 4],
    /// Wanted depth, `None` where it is not checked.
    pub depth: Option<Vec<Option<f32>>>,
    /// Wanted coverage after the run (a pixel that was not covered or was killed is `false`).
    pub coverage: Option<Vec<Option<bool>>>,
    /// How values are compared.
    pub compare: Compare,
    /// Greatest difference that passes: relative to a wanted value above 1, absolute below.
    pub tolerance: f32,
    /// Colour per pixel that stands where nothing was drawn (killed or uncovered), of target A;
    /// 0 in every channel if not given.
    pub background: Option<Vec<[f32; 4]>>,
    /// The source says that a faithful machine does not meet this.
    pub known_failure: bool,
}

/// The wanted channels of a pixel, each `None` where it is not checked.
pub type PixelColor = [Option<f32>; 4];

/// How wanted and drawn values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compare {
    /// As the program wrote them: +0 equals -0, any NaN any other.
    #[default]
    Values,
    /// Both clamped to 0..1 and rounded to 8 bits first.
    EightBit,
}

impl Expect {
    /// Whether anything is checked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.iter().all(Option::is_none) && self.depth.is_none() && self.coverage.is_none()
    }
}
