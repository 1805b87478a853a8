//! Textures whose texels are what the program wrote in the picture before.
//!
//! The texture of an output has a texel for each pixel, with row 0 at the bottom, so that the coordinates (u, v) of a pixel are those of its texel. Its
//! texels are the values that the program wrote, as floats of 32 bits, whatever `US_OUT_FMT` says. Before the first picture they are 0; so is
//! what a picture of another size, or one that does not write the output, leaves.

use r500_program::{Job, LiveSource};

use crate::Frame;

/// What a picture leaves for the next one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviousPicture {
    size: [u32; 2],
    /// The colours of the outputs that are read, row by row from the bottom.
    targets: [Option<Vec<[f32; 4]>>; 4],
}

/// Returns the outputs that a job reads in its next picture.
pub fn previous_targets(job: &Job) -> impl Iterator<Item = u8> {
    job.live.iter().filter_map(|live| match live.source {
        LiveSource::Previous(target) => Some(target),
        _ => None,
    })
}

impl PreviousPicture {
    /// Keeps what the job reads of a whole picture of it.
    #[must_use]
    pub fn of(job: &Job, frame: &Frame) -> Self {
        let mut previous =
            Self { size: [frame.width(), frame.height()], targets: [const { None }; 4] };
        for target in previous_targets(job) {
            let colors = frame.target(target.into()).map(<[_]>::to_vec);
            if let Some(slot) = previous.targets.get_mut(usize::from(target)) {
                *slot = colors;
            }
        }
        previous
    }

    /// Gives the textures of a job their texels for a picture of a size.
    pub fn bind(&self, job: &mut Job, size: [u32; 2]) {
        let Job { live, textures, .. } = job;
        for live in live.iter() {
            let LiveSource::Previous(target) = live.source else { continue };
            let Some(Some(texture)) = textures.get_mut(usize::from(live.unit)) else { continue };
            let kept = self.targets.get(usize::from(target)).and_then(Option::as_deref);
            let bytes = match kept.filter(|_| self.size == size) {
                Some(colors) => {
                    colors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
                }
                None => vec![0; size[0] as usize * size[1] as usize * 16],
            };
            *texture = live.with_texels(texture, size, bytes);
        }
    }
}
