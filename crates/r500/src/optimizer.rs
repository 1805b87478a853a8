//! Optimisation with evidence: every result is proved, or run against its original.
//!
//! [`optimize`] calls the [optimiser](r500_opt), draws original and result with the values of the job and with
//! random ones, and tries to prove them equal. What differs in a bit is not handed out.

use r500_opt::{Optimized, Options};
use r500_program::Job;

use crate::equivalence::{Difference, Incomparable, Proof, Trial, prove};

/// Random runs of each result.
pub const ROUNDS: u64 = 64;

/// Why a result may be trusted.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Nothing was changed.
    Unchanged,
    /// The programs were proved equal, and draw the same.
    Proved,
    /// Original and result drew the same.
    Equal {
        /// Runs that ended.
        rounds: u64,
        /// Pixels that were compared.
        pixels: u64,
    },
    /// They drew different pictures: a bug of the optimiser. The result was dropped.
    Different {
        /// The round of random values; 0 for the values of the job.
        round: u64,
        /// The first pixel that differs.
        difference: Box<Difference>,
    },
    /// No run ended, and there is no proof. The result was dropped.
    NotRun(Incomparable),
}

impl Evidence {
    /// Returns whether the result was dropped.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Different { .. } | Self::NotRun(_))
    }

    fn of(original: &Job, result: &Job) -> Self {
        let proved = || prove(&original.program, &result.program) == Proof::Proved;
        match Trial::run(original, result, ROUNDS) {
            Trial::Different { round, difference } => Self::Different { round, difference },
            _ if proved() => Self::Proved,
            Trial::Equal { rounds, pixels } => Self::Equal { rounds, pixels },
            Trial::NotRun(why) => Self::NotRun(why),
        }
    }
}

/// The result of an optimisation, and why it may be trusted.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The job with the shorter program, or as it was.
    pub job: Job,
    /// What was done; what would have been done, where the result was dropped.
    pub optimized: Optimized,
    /// The evidence.
    pub evidence: Evidence,
}

/// Optimises the program of a job and checks the result.
#[must_use]
pub fn optimize(job: &Job, options: &Options) -> Checked {
    let optimized = r500_opt::optimize(&job.program, options);
    let result = Job { program: optimized.program.clone(), ..job.clone() };
    if optimized.changes.is_empty() {
        return Checked { job: result, optimized, evidence: Evidence::Unchanged };
    }
    let evidence = Evidence::of(job, &result);
    let job = if evidence.is_refusal() { job.clone() } else { result };
    Checked { job, optimized, evidence }
}
