//! The way in which two programs differ, which a reduction must not change.

use std::collections::BTreeSet;

use crate::{Difference, Part};

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// A render target.
    Color(usize),
    /// Depth.
    Depth,
    /// Whether the pixel is drawn.
    Coverage,
}

/// How two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// +0 and -0.
    ZeroSign,
    /// Two NaNs with other bits.
    NanBits,
    /// A NaN and a number.
    Nan,
    /// An infinity and another number.
    Infinity,
    /// A denormal and another denormal or zero.
    Denormal,
    /// By less than 1/1024 of their size.
    Rounding,
    /// Otherwise.
    Value,
    /// The same numbers, stored as other bytes.
    Stored,
}

/// The ways in which the outputs of a pixel differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature(BTreeSet<(Output, Way)>);

impl Signature {
    /// Returns the signature of a difference.
    #[must_use]
    pub fn of(difference: &Difference) -> Self {
        let mut signature = Self::default();
        for part in &difference.parts {
            match part {
                Part::Color { target, written: [a, b], .. } => {
                    let mut ways: BTreeSet<Way> =
                        a.iter().zip(b).filter_map(|(&a, &b)| way(a, b)).collect();
                    if ways.is_empty() {
                        ways.insert(Way::Stored);
                    }
                    signature.0.extend(ways.into_iter().map(|way| (Output::Color(*target), way)));
                }
                Part::Depth { written: [a, b] } => {
                    signature.0.extend(way(*a, *b).map(|way| (Output::Depth, way)));
                }
                Part::Coverage { .. } => {
                    signature.0.insert((Output::Coverage, Way::Value));
                }
            }
        }
        signature
    }

    /// Returns whether a difference has one of these ways, and no other.
    #[must_use]
    pub fn matches(&self, difference: &Difference) -> bool {
        let other = Self::of(difference);
        !other.0.is_empty() && other.0.is_subset(&self.0)
    }
}

/// Returns how two values differ; `None` if they have the same bits.
fn way(a: f32, b: f32) -> Option<Way> {
    if a.to_bits() == b.to_bits() {
        return None;
    }
    Some(match (a.is_nan(), b.is_nan()) {
        (true, true) => Way::NanBits,
        (true, false) | (false, true) => Way::Nan,
        _ if a == b => Way::ZeroSign,
        _ if a.is_infinite() || b.is_infinite() => Way::Infinity,
        _ if a.abs().max(b.abs()) < f32::MIN_POSITIVE => Way::Denormal,
        _ if (a - b).abs() <= a.abs().max(b.abs()) / 1024.0 => Way::Rounding,
        _ => Way::Value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_pairs_of_values() {
        assert_eq!(way(1.0, 1.0), None);
        assert_eq!(way(0.0, -0.0), Some(Way::ZeroSign));
        assert_eq!(way(f32::NAN, -f32::NAN), Some(Way::NanBits));
        assert_eq!(way(f32::NAN, 1.0), Some(Way::Nan));
        assert_eq!(way(1.0, f32::INFINITY), Some(Way::Infinity));
        assert_eq!(way(1.0, 1.0 + f32::EPSILON), Some(Way::Rounding));
        assert_eq!(way(1.0, 2.0), Some(Way::Value));
        assert_eq!(way(0.0, 1e-40), Some(Way::Denormal));
        assert_eq!(way(0.0, f32::MIN_POSITIVE), Some(Way::Value));
    }
}
