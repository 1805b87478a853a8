//! Expected results of a job.

use alloc::vec::Vec;

/// The expected results of a run. Pixels are in row order from y = 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// Expected colours of targets A to D, `None` for a target that is not checked. Within a
    /// target, `None` is a channel that is not checked.
    pub targets: [Option<Vec<PixelColor>>; 4],
    /// Expected depth, `None` if not checked.
    pub depth: Option<Vec<Option<f32>>>,
    /// Expected coverage after the run (a pixel that was not covered or was killed is `false`).
    pub coverage: Option<Vec<Option<bool>>>,
    /// How values are compared.
    pub compare: Compare,
    /// Greatest accepted difference: relative to an expected value above 1, absolute below.
    pub tolerance: f32,
    /// Colour per pixel of target A for pixels that are not drawn (killed or uncovered); 0 in every
    /// channel if not given.
    pub background: Option<Vec<[f32; 4]>>,
    /// Whether the source states that a faithful implementation does not produce these results.
    pub known_failure: bool,
}

/// The expected channels of a pixel, each `None` if not checked.
pub type PixelColor = [Option<f32>; 4];

/// How expected and drawn values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compare {
    /// As the program wrote them: +0 equals -0, any NaN equals any other.
    #[default]
    Values,
    /// Both clamped to 0..1 and rounded to 8 bits first.
    EightBit,
}

impl Expect {
    /// Returns whether anything is checked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.iter().all(Option::is_none) && self.depth.is_none() && self.coverage.is_none()
    }
}
