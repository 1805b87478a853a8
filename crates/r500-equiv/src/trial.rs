//! Trials: two programs drawn with the same values, compared in every bit.

use std::fmt;

use r500_exec::Options;
use r500_exec::reference::Reference;
use r500_fast::Fast;
use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};
use r500_program::Job;

use crate::legal::LegalConstants;
use crate::{
    Difference, Incomparable, InterfaceMatch, Known, Literals, Pair, Proof, Random, Search,
    SearchEnd, prove_with,
};

/// Width and height of the picture with the values of the jobs.
const SIZE: [u32; 2] = [8, 8];
/// Makes flow-control constants differ from other values of the same round.
const LEGAL: u64 = 0x6c65_6761;
/// Limit of instructions that a group of pixels may execute in a run.
const INSTRUCTIONS: u64 = 1 << 18;
/// Instructions that all pixels of a trial may execute.
const WORK: u64 = 1_000_000_000;

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
        /// The picture of the search; 0 for the values of the jobs.
        round: u64,
        /// The first pixel that differs.
        difference: Box<Difference>,
    },
    /// No run completed.
    NotRun(Incomparable),
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal { rounds, pixels } => {
                write!(f, "no difference in {rounds} pictures with {pixels} pixels")
            }
            Self::Different { difference, .. } => difference.fmt(f),
            Self::NotRun(why) => why.fmt(f),
        }
    }
}

impl Trial {
    /// Draws two jobs: once with their own values, then [searches](Search) for a difference in up to about `rounds` pictures
    /// with the same values for both, register by register. Every written bit is compared, not the part that `US_OUT_FMT`
    /// stores. Integer and boolean constants that jobs provide are kept; others have values with which the checker finds no
    /// error.
    #[must_use]
    pub fn run(a: &Job, b: &Job, rounds: u64) -> Self {
        Self::run_with(a, b, rounds, &Known::default())
    }

    /// Draws two jobs as [`Self::run_with`] does, then tries a proof with the same assumptions; `None` if a pixel differs, which is the answer.
    #[must_use]
    pub fn with_proof(a: &Job, b: &Job, rounds: u64, known: &Known) -> (Self, Option<Proof>) {
        let trial = Self::run_with(a, b, rounds, known);
        let is_different = matches!(trial, Self::Different { .. });
        let proof = (!is_different).then(|| prove_with(&a.program, &b.program, known));
        (trial, proof)
    }

    /// Draws two jobs as [`Self::run`] does, with other values only where the assumptions leave them open.
    #[must_use]
    pub fn run_with(a: &Job, b: &Job, rounds: u64, known: &Known) -> Self {
        let jobs = [a, b].map(|job| with_float_outputs(job.clone()));
        let mut options = Options::default();
        options.limits.instructions = INSTRUCTIONS;
        // As values, +0 and -0 are equal.
        let tolerance = known.ignores_zero_signs().then_some(0.0);
        let (mut ended, mut pixels, mut failure) = (0, 0, None);
        let [first, second] = jobs.clone();
        let pair = match Pair::new(first, second, Some(SIZE)) {
            Ok(pair) => pair,
            Err(why) => return Self::NotRun(why),
        };
        let mut own = jobs.clone();
        match LegalConstants::missing(&jobs).choose(&mut Random::new(LEGAL, 0), 0) {
            Some(constants) => constants.apply(&mut own),
            None => return Self::NotRun(Incomparable::NoLegalConstants),
        }
        match pair.compare(&own, &Reference, &options, tolerance) {
            Ok(comparison) => {
                if let Some(difference) = comparison.first {
                    return Self::Different { round: 0, difference: Box::new(difference) };
                }
                ended += 1;
                pixels += comparison.pixels as u64;
            }
            // With these values a program does not end within the limit, so this run gives no information.
            Err(why) => failure = Some(why),
        }
        let mut bare = jobs;
        let interface = match known.interface() {
            Some(interface) => interface.clone(),
            None => {
                for job in &mut bare {
                    job.inputs = None;
                }
                InterfaceMatch::with(&bare[0], &bare[1], Literals::Unbound)
            }
        };
        let engine = Fast::default();
        let search = Search {
            interface: &interface,
            engine: &engine,
            options,
            seed: 0,
            tolerance,
            frames: rounds,
            random: rounds.div_ceil(8),
            work: WORK,
            deadline: None,
            shard: [0, 1],
        };
        match search.run(&bare) {
            Ok(searched) => {
                if let SearchEnd::Different(found) = searched.end {
                    let difference = Box::new(found.difference().clone());
                    return Self::Different { round: found.frame + 1, difference };
                }
                ended += searched.frames;
                pixels += searched.pixels;
            }
            Err(why) => failure = Some(why),
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
