//! Reduction of the picture to the pixels around the one that differs.

use r500_exec::{Bindings, PixelRect};
use r500_program::{Input, InputData, Job};

use super::State;

impl State<'_> {
    /// Reduces the picture to the quad of the pixel that differs, or to its group where that matters.
    pub(super) fn reduce_picture(&mut self) {
        let Some(difference) = &self.difference else { return };
        let [x, y] = difference.pixel;
        let size = self.jobs[0].size.unwrap_or_default();
        for [width, height] in [[2, 2], self.options.group] {
            if width >= size[0] && height >= size[1] {
                return;
            }
            let rect = PixelRect { x: x - x % width, y: y - y % height, width, height };
            let parts = self.jobs.each_ref().map(|job| part_of(job, rect));
            if let [Some(a), Some(b)] = parts
                && self.try_jobs([a, b])
            {
                return;
            }
        }
    }
}

/// Returns the job of a part of a picture, with the values of its inputs at these pixels.
fn part_of(job: &Job, rect: PixelRect) -> Option<Job> {
    let bindings = Bindings::new(job, job.size?).ok()?;
    let pixels: Vec<[u32; 2]> = (rect.y..rect.y + rect.height)
        .flat_map(|y| (rect.x..rect.x + rect.width).map(move |x| [x, y]))
        .collect();
    let input = |input: &Input| {
        let values = pixels.iter().map(|&[x, y]| bindings.input(input, x, y)).collect();
        Input { temp: input.temp, data: InputData::Values { width: rect.width, values } }
    };
    let inputs = job.inputs_or_default().iter().map(input).collect();
    let coverage: Vec<bool> = pixels.iter().map(|&[x, y]| bindings.covers(x, y)).collect();
    Some(Job {
        size: Some([rect.width, rect.height]),
        inputs: Some(inputs),
        coverage: (!coverage.iter().all(|covered| *covered)).then_some(coverage),
        ..job.clone()
    })
}
