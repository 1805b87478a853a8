//! Generated programs, which are the same everywhere for the same number.

use r500_gen::{Case, Choices, Rng, Shape, raw_programs};
use r500_program::Job;

/// Returns the generated job of a number: structured programs in several picture sizes, and every
/// fourth time near-valid words with textures and random state, for which engines may fall back to
/// one another.
pub(crate) fn job(n: u64) -> Job {
    let choices = &mut Rng::new(n);
    let mut job = if n % 4 == 3 {
        let length = 4 + choices.below(40);
        raw_programs::job(choices, length as u16)
    } else {
        // Partial chunks and tiles, and several of them.
        let size = match n % 4 {
            0 => [8, 8],
            _ => [1 + choices.below(70), 1 + choices.below(40)],
        };
        Case::generate(choices, &Shape { size, ..Shape::default() }).bare_job("")
    };
    job.name = format!("generated {n}");
    job
}
