//! Control values: other inputs, with which a reduced pair must agree where the original pair does.
//!
//! Programs that differ at an edge agree nearly everywhere. A change that makes them differ elsewhere, too, would replace
//! the difference by another one that only looks the same at the edge.
//!
//! The value of an input in a control is a function of its value in the counterexample. Registers of A and B that
//! correspond have the same values, so they have the same in a control, whatever their numbers are.

use r500_exec::Bindings;
use r500_program::{Input, InputData, Job};

use super::State;
use crate::Random;

/// Number of controls.
const CONTROLS: u64 = 4;
/// Seed of their values.
const SEED: u64 = 0x636f_6e74_726f_6c73;

impl State<'_> {
    /// Finds out whether the pair agrees with control values.
    pub(super) fn agrees_elsewhere(&mut self) -> bool {
        let jobs = self.jobs.clone();
        (0..CONTROLS).all(|n| self.agrees(&jobs, n))
    }

    /// Returns whether a candidate agrees where the original pair does.
    pub(super) fn passes_controls(&mut self, jobs: &[Job; 2]) -> bool {
        !self.is_edge || (0..CONTROLS).all(|n| self.agrees(jobs, n))
    }

    fn agrees(&mut self, jobs: &[Job; 2], control: u64) -> bool {
        let [Some(a), Some(b)] = jobs.each_ref().map(|job| with_control(job, control)) else {
            return false;
        };
        matches!(self.compare(&[a, b]), Ok(None))
    }
}

/// Returns the job with other inputs: values that are the same stay the same.
fn with_control(job: &Job, control: u64) -> Option<Job> {
    let [width, height] = job.size?;
    let bindings = Bindings::new(job, [width, height]).ok()?;
    let changed = |value: f32| {
        let mut random = Random::new(SEED ^ u64::from(value.to_bits()), control);
        random.between(-2.0, 2.0)
    };
    let input = |input: &Input| {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        let values = pixels.map(|[x, y]| bindings.input(input, x, y).map(changed)).collect();
        Input { temp: input.temp, data: InputData::Values { width, values } }
    };
    let inputs = job.inputs_or_default().iter().map(input).collect();
    Some(Job { inputs: Some(inputs), ..job.clone() })
}
