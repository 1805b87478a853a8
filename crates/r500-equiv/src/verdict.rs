//! Whether two programs store the same bits: drawn with the same values, then proved.

use std::fmt;

use r500_program::Job;

use crate::{Claim, Difference, Incomparable, Known, Literals, Proof, Trial, Unknown, prove_with};

/// The verdict on two programs with the same values of constants, inputs and textures, register by register.
#[derive(Clone, Debug, PartialEq)]
pub enum PairVerdict {
    /// Equal for all values that the claim names.
    Proved(Claim),
    /// The same for groups whose pixels are all covered; in others uncovered pixels may show.
    ProvedIfCovered(Claim),
    /// No difference in the pictures that were drawn, and no proof.
    EqualInRuns {
        /// Number of pictures.
        rounds: u64,
        /// Number of compared pixels.
        pixels: u64,
        /// Why there is no proof.
        open: Unknown,
    },
    /// A pixel differs.
    Different(Box<Difference>),
    /// Neither was anything drawn nor is there a proof.
    NotCompared {
        /// Why nothing was drawn.
        why: Incomparable,
        /// Why there is no proof.
        open: Unknown,
    },
}

impl PairVerdict {
    /// Compares two jobs in every bit that they write: draws them with the values of both and in up to about `rounds` pictures with random ones, then
    /// tries a proof.
    #[must_use]
    pub fn of(a: &Job, b: &Job, rounds: u64) -> Self {
        let trial = Trial::run(a, b, rounds);
        // A pixel that differs is the answer.
        if let Trial::Different { difference, .. } = trial {
            return Self::Different(difference);
        }
        let known = Known::default();
        let proof = prove_with(&a.program, &b.program, &known);
        let claim = |proof| Claim::of([a, b], &known, Literals::Unbound, proof);
        match (proof, trial) {
            (proof @ Proof::Proved, _) => Self::Proved(claim(proof)),
            (proof @ Proof::ProvedIfCovered, _) => Self::ProvedIfCovered(claim(proof)),
            (Proof::Unknown(open), Trial::Equal { rounds, pixels }) => {
                Self::EqualInRuns { rounds, pixels, open }
            }
            (Proof::Unknown(open), Trial::NotRun(why)) => Self::NotCompared { why, open },
            (Proof::Unknown(_), Trial::Different { difference, .. }) => Self::Different(difference),
        }
    }

    /// Returns the name: `proved`, `proved-if-covered`, `equal-in-runs`, `different` or `not-compared`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved(_) => "proved",
            Self::ProvedIfCovered(_) => "proved-if-covered",
            Self::EqualInRuns { .. } => "equal-in-runs",
            Self::Different(_) => "different",
            Self::NotCompared { .. } => "not-compared",
        }
    }
}

impl fmt::Display for PairVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proved(claim) | Self::ProvedIfCovered(claim) => claim.fmt(f),
            Self::EqualInRuns { rounds, pixels, open } => {
                write!(
                    f,
                    "no difference in {rounds} pictures with {pixels} pixels; no proof: {open}"
                )
            }
            Self::Different(difference) => difference.fmt(f),
            Self::NotCompared { why, open } => write!(f, "{why}; no proof: {open}"),
        }
    }
}
