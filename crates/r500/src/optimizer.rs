//! Optimisation with translation validation: every result is proved equal, or run against its original.
//!
//! [`optimize`] calls the [optimiser](r500_opt), draws original and result with the values of the job and with random
//! ones, and tries to prove them equal. A result that differs in a bit is dropped, unless the difference is
//! [allowed](Allowance).

mod source;
mod vertex;

use std::fmt;

use r500_opt::{Allowance, Optimized, Options};
use r500_program::Job;

use crate::equivalence::{Known, Proof, Trial};
pub use source::rewrite_source;
pub use vertex::{CheckedVertex, VertexEvidence, optimize_vertex, rewrite_vertex_source};

/// Number of random runs of each result.
pub const ROUNDS: u64 = 64;

/// Evidence that a result is correct.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// The program is unchanged.
    Unchanged,
    /// The programs are proved equal, and draw the same picture.
    Proved,
    /// The trial, without a proof. A result that differs (a bug of the optimiser) or did not run is dropped.
    Trial(Trial),
}

impl Evidence {
    /// Returns whether the result was dropped.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Trial(Trial::Different { .. } | Trial::NotRun(_)))
    }

    fn of(original: &Job, result: &Job, allow: &[Allowance]) -> Self {
        let mut known = Known::default();
        if allow.contains(&Allowance::ZeroSign) {
            known = known.without_zero_signs();
        }
        match Trial::with_proof(original, result, ROUNDS, &known) {
            (_, Some(Proof::Proved)) => Self::Proved,
            // For groups that are partly covered, the trial is the evidence.
            (trial, _) => Self::Trial(trial),
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unchanged => f.write_str("unchanged"),
            Self::Proved => f.write_str("proved"),
            Self::Trial(trial @ Trial::Equal { .. }) => trial.fmt(f),
            Self::Trial(trial) => write!(f, "the result is dropped: {trial}"),
        }
    }
}

/// A validated optimisation.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The job with the optimised program, or the original one.
    pub job: Job,
    /// The optimisation, also if the result was dropped.
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
    let evidence = Evidence::of(job, &result, &options.allow);
    let job = if evidence.is_refusal() { job.clone() } else { result };
    Checked { job, optimized, evidence }
}
