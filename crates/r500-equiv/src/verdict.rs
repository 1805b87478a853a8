//! Whether two programs store the same bits: drawn with the same values, then proved.

use std::fmt;

use r500_program::Job;

use crate::{Claim, Difference, Incomparable, Known, Literals, Proof, Trial, Unknown};

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
        let known = Known::default();
        let claim = |proof| Claim::of([a, b], &known, Literals::Unbound, proof);
        match Trial::with_proof(a, b, rounds, &known) {
            (Trial::Different { difference, .. }, _) => Self::Different(difference),
            (_, Some(proof @ Proof::Proved)) => Self::Proved(claim(proof)),
            (_, Some(proof @ Proof::ProvedIfCovered)) => Self::ProvedIfCovered(claim(proof)),
            (Trial::Equal { rounds, pixels }, Some(Proof::Unknown(open))) => {
                Self::EqualInRuns { rounds, pixels, open }
            }
            (Trial::NotRun(why), Some(Proof::Unknown(open))) => Self::NotCompared { why, open },
            (Trial::Equal { .. } | Trial::NotRun(_), None) => {
                unreachable!("a proof is tried unless a pixel differs")
            }
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
