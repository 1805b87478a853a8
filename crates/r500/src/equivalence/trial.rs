//! Trials: two programs drawn with the same random values, compared in every bit.

use r500_exec::Options;
use r500_exec::reference::Reference;
use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};
use r500_program::Job;

use super::legal::LegalConstants;
use super::{Difference, Fill, Incomparable, InterfaceMatch, Known, Pair, Random};

/// Width and height of the pictures.
const SIZE: [u32; 2] = [8, 8];
/// Makes flow-control constants differ from other values of the same round.
const LEGAL: u64 = 0x6c65_6761;
/// Limit of instructions that a group of pixels may execute in a run.
const INSTRUCTIONS: u64 = 1 << 18;

/// Result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// All pictures are equal.
    Equal {
        /// Number of completed runs.
        rounds: u64,
        /// Number of compared pixels.
        pixels: u64,
    },
    /// Pictures differ.
    Different {
        /// The round of random values; 0 for the values of the jobs.
        round: u64,
        /// The first pixel that differs.
        difference: Box<Difference>,
    },
    /// No run completed.
    NotRun(Incomparable),
}

impl Trial {
    /// Draws two jobs in the reference engine: once with their own values, then `rounds` times with random constants,
    /// inputs and textures, the same for both, register by register. Every written bit is compared, not the part that
    /// `US_OUT_FMT` stores. Integer and boolean constants that jobs provide are kept; others have values with which the
    /// checker finds no error.
    #[must_use]
    pub fn run(a: &Job, b: &Job, rounds: u64) -> Self {
        Self::run_with(a, b, rounds, &Known::default())
    }

    /// Draws two jobs as [`Self::run`] does, with random values only where the assumptions leave them open.
    #[must_use]
    pub fn run_with(a: &Job, b: &Job, rounds: u64, known: &Known) -> Self {
        let exact = [a, b].map(|job| with_float_outputs(job.clone()));
        let mut bare = exact.clone();
        for job in &mut bare {
            job.program.state.constants.clear();
            job.program.state.absent_constants.clear();
            job.uniforms.clear();
            job.inputs = None;
            job.textures = Default::default();
        }
        let mut fill = Fill::of(&bare, &InterfaceMatch::default());
        let programs = [&bare[0].program, &bare[1].program];
        let legal =
            LegalConstants::new(programs, fill.filled.int_constants, fill.filled.bool_constants);
        // These are chosen apart: the checker must accept them.
        (fill.filled.int_constants, fill.filled.bool_constants) = (0, 0);
        let [first, second] = exact.clone();
        let pair = match Pair::new(first, second, Some(SIZE)) {
            Ok(pair) => pair,
            Err(why) => return Self::NotRun(why),
        };
        let mut options = Options::default();
        options.limits.instructions = INSTRUCTIONS;
        // As values, +0 and -0 are equal.
        let tolerance = known.ignores_zero_signs().then_some(0.0);
        let (mut ended, mut pixels, mut failure) = (0, 0, None);
        for round in 0..=rounds {
            let mut jobs = if round == 0 { exact.clone() } else { bare.clone() };
            if round > 0 {
                fill.apply(&mut jobs, 0, round);
            }
            known.apply(&mut jobs, round);
            let Some(constants) = legal.choose(&mut Random::new(LEGAL, round), round) else {
                failure = Some(Incomparable::NoLegalConstants);
                continue;
            };
            constants.apply(&mut jobs);
            match pair.compare(&jobs, &Reference, &options, tolerance) {
                Ok(comparison) => {
                    if let Some(difference) = comparison.first {
                        return Self::Different { round, difference: Box::new(difference) };
                    }
                    ended += 1;
                    pixels += comparison.pixels as u64;
                }
                // With these values a program does not end within the limit, so this run gives no information.
                Err(why) => failure = Some(why),
            }
        }
        match failure {
            Some(why) if ended == 0 => Self::NotRun(why),
            _ => Self::Equal { rounds: ended, pixels },
        }
    }
}

/// Sets float output formats, so that every bit of a result is compared instead of eight.
fn with_float_outputs(mut job: Job) -> Job {
    let floats = UsOutFmt::default()
        .with(UsOutFmt::OUT_FMT, OutFormat::C4_32_FP)
        .with(UsOutFmt::C0_SEL, OutSel::R)
        .with(UsOutFmt::C1_SEL, OutSel::G)
        .with(UsOutFmt::C2_SEL, OutSel::B)
        .with(UsOutFmt::C3_SEL, OutSel::A);
    job.program.state.out_fmt = [Some(floats); 4];
    job.program.state.w_fmt = None;
    job.coverage = None;
    job
}
