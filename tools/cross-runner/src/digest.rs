//! Digests of drawings: hashes of all bits, and the description of differences.

use std::collections::BTreeMap;

use r500_exec::{Frame, RunError};
use serde::{Deserialize, Serialize};

/// The result of drawing a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The job, and the picture size.
    pub job: String,
    /// The engine that drew it, and its vector instructions if it has a choice.
    pub by: String,
    /// Why it was not the requested engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// Why there is no picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A hash for each plane of the frame: targets A to D, depth, coverage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub planes: BTreeMap<String, String>,
    /// `STAT_WE` counts.
    #[serde(default)]
    pub stat: [u64; 4],
    /// Pixels that TEXKILL killed.
    #[serde(default)]
    pub killed: u64,
}

impl Digest {
    /// Creates the digest of a frame, or of an error.
    #[must_use]
    pub fn new(job: String, frame: Result<Frame, String>) -> Self {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => return Self { job, error: Some(error), ..Self::default() },
        };
        let mut planes = BTreeMap::new();
        for (n, name) in ["A", "B", "C", "D"].into_iter().enumerate() {
            if let Some(colors) = frame.target(n) {
                let words = colors.as_flattened().iter().map(|value| value.to_bits());
                planes.insert(format!("target {name}"), number(words));
            }
        }
        if let Some(depth) = frame.depth() {
            planes.insert("depth".to_owned(), number(depth.iter().map(|value| value.to_bits())));
        }
        planes.insert("coverage".to_owned(), number(frame.coverage().iter().map(|&on| on.into())));
        let simd = frame.run_info.simd.map(|simd| format!(" ({simd})")).unwrap_or_default();
        Self {
            job,
            by: format!("{}{simd}", frame.run_info.engine),
            instead: frame.run_info.fallback_reason,
            error: None,
            planes,
            stat: frame.counters.stat,
            killed: frame.counters.killed,
        }
    }

    /// Returns the difference from the same job elsewhere; `None` if every bit agrees.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.job != other.job {
            return Some(format!("here is {}, there {}", self.job, other.job));
        }
        if self.error != other.error {
            let told = |error: &Option<String>| error.clone().unwrap_or("a picture".to_owned());
            return Some(format!("here: {}; there: {}", told(&self.error), told(&other.error)));
        }
        let mut names: Vec<&str> = Vec::new();
        for name in self.planes.keys().chain(other.planes.keys()) {
            if self.planes.get(name) != other.planes.get(name) && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        if self.stat != other.stat {
            names.push("STAT_WE");
        }
        if self.killed != other.killed {
            names.push("pixels killed");
        }
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Returns the message for a run that ended without a frame. It omits where the instruction budget
/// was exceeded, because that need not be the same instruction in two engines.
#[must_use]
pub fn told(error: &RunError) -> String {
    match error {
        RunError::Instructions { limit, .. } => format!("more than {limit} instructions"),
        other => other.to_string(),
    }
}

/// Returns a hash of a sequence of words. The step of each word is a bijection of the state, so two
/// sequences that differ in just one word never have the same hash.
fn number(words: impl Iterator<Item = u32>) -> String {
    let step = |sum: u64, word: u32| {
        (sum ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    format!("{:016x}", words.fold(0x243f_6a88_85a3_08d3, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(planes: &[(&str, &[u32])]) -> Digest {
        let planes = planes
            .iter()
            .map(|(name, words)| ((*name).to_owned(), number(words.iter().copied())))
            .collect();
        Digest { job: "a".to_owned(), planes, ..Digest::default() }
    }

    #[test]
    fn a_bit_or_the_order_makes_a_difference_and_is_named() {
        let here = digest(&[("target A", &[0, 0, 7]), ("depth", &[1, 2])]);
        assert_eq!(here.difference(&here), None);
        let zero = digest(&[("target A", &[1 << 31, 0, 7]), ("depth", &[2, 1])]);
        assert_eq!(here.difference(&zero).as_deref(), Some("depth, target A"));
        let missing = digest(&[("target A", &[0, 0, 7])]);
        assert_eq!(here.difference(&missing).as_deref(), Some("depth"));
        assert_eq!(missing.difference(&here).as_deref(), Some("depth"));
    }

    #[test]
    fn who_drew_does_not_matter_but_what_was_counted_does() {
        let here = digest(&[]);
        let other = Digest { by: "fast (avx2)".to_owned(), instead: None, ..here.clone() };
        assert_eq!(here.difference(&other), None);
        let counted = Digest { stat: [0, 0, 1, 0], killed: 3, ..here.clone() };
        assert_eq!(here.difference(&counted).as_deref(), Some("STAT_WE, pixels killed"));
        let failed = Digest { error: Some("no".to_owned()), ..here.clone() };
        assert_eq!(here.difference(&failed).as_deref(), Some("here: a picture; there: no"));
    }
}
