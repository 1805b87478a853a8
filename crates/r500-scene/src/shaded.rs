//! The draw that shades a pixel of the picture, as a job for debuggers of fragment programs.

use r500::program::Job;
use r500_card::{Card, CardError};

use crate::{CompileError, PreviousFrame, Scene};

/// A pixel, and the draw that shades it.
#[derive(Clone, Debug)]
pub struct ShadedPixel {
    /// The number of the draw, from 0.
    pub draw: usize,
    /// The draw.
    pub job: Job,
    /// Where the pixel is in the picture of the job.
    pub place: [u32; 2],
    /// Which pixels of the target those of the job's picture are.
    pub part: TargetPart,
}

/// The part of a target that a layer of a [`ShadedPixel`]'s job is. The rows of the job's picture go down the target, as its memory does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetPart {
    /// Column and row, from the top, of the job's pixel 0, 0.
    origin: [u32; 2],
    /// Rows of a layer.
    rows: u32,
    /// Rows of the target.
    height: u32,
    /// The layer that has the pixel.
    layer: u32,
}

impl TargetPart {
    /// Returns where a pixel of the job's picture is in the target: its column, and its row from the bottom.
    #[must_use]
    pub fn in_target(&self, [x, y]: [u32; 2]) -> [u32; 2] {
        let from_top = self.origin[1] + y % self.rows.max(1);
        [self.origin[0] + x, (self.height - 1).saturating_sub(from_top)]
    }

    /// Returns where a pixel of the target, with its row from the bottom, is in the job's picture, in the same layer.
    #[must_use]
    pub fn in_job(&self, [x, y]: [u32; 2]) -> [u32; 2] {
        let from_top = (self.height - 1).saturating_sub(y);
        let row = from_top.saturating_sub(self.origin[1]);
        [x.saturating_sub(self.origin[0]), self.layer * self.rows + row]
    }
}

/// Why a pixel has no draw.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShadedError {
    /// A pixel that the target has not.
    #[error("pixel {},{} is outside the picture of {}x{}", .pixel[0], .pixel[1], .size[0], .size[1])]
    Outside {
        /// Column, and row from the bottom.
        pixel: [u32; 2],
        /// Width and height of the target.
        size: [u32; 2],
    },
    /// No draw covers the pixel.
    #[error("no fragment is shaded at pixel {},{}", .pixel[0], .pixel[1])]
    Nothing {
        /// Column, and row from the bottom.
        pixel: [u32; 2],
    },
    /// The scene cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The card cannot draw it.
    #[error(transparent)]
    Card(#[from] CardError),
}

impl Scene {
    /// Returns the draw that shades a pixel of the picture last, or draw `pick` and a pixel of its target; row 0 is at the bottom. `card`
    /// draws the scene.
    ///
    /// # Errors
    /// [`ShadedError`].
    pub fn shaded(
        &self,
        pick: Option<usize>,
        time: f64,
        pixel: [u32; 2],
        card: &mut Card,
    ) -> Result<ShadedPixel, ShadedError> {
        self.shaded_after(&PreviousFrame::default(), pick, time, pixel, card)
    }

    /// Returns the same as [`shaded`](Self::shaded), after the frame that left `previous`.
    ///
    /// # Errors
    /// [`ShadedError`].
    pub fn shaded_after(
        &self,
        previous: &PreviousFrame,
        pick: Option<usize>,
        time: f64,
        pixel: [u32; 2],
        card: &mut Card,
    ) -> Result<ShadedPixel, ShadedError> {
        let draws = match pick {
            Some(draw) => draw..draw + 1,
            None => 0..self.draws(),
        };
        for draw in draws.rev() {
            let (size, is_picture) = self.target(draw).unwrap_or_default();
            if pick.is_none() && !is_picture {
                continue;
            }
            let [x, y] = pixel;
            if x >= size[0] || y >= size[1] {
                return Err(ShadedError::Outside { pixel, size });
            }
            let frame = self.compile_after(previous, time)?;
            // Draws are counted over all submissions.
            card.record(card.report().statistics.draws + draw as u64);
            card.submit(&frame.submission)?;
            let Some(recorded) = card.take_recorded() else { continue };
            // In memory, the first row is the top one.
            if let Some(place) = recorded.places([x, size[1] - 1 - y]).last() {
                let rows = recorded.size[1];
                let layer = place[1] / rows.max(1);
                let part = TargetPart { origin: recorded.origin, rows, height: size[1], layer };
                let job = Job { name: format!("draw {draw}"), ..recorded.job };
                return Ok(ShadedPixel { draw, job, place: *place, part });
            }
        }
        Err(ShadedError::Nothing { pixel })
    }
}
