//! Address modes: from a coordinate along one axis of a level to the texels that a filter reads.
//!
//! Documented: the names of the modes and the range of coordinates that each lets through. Derived: the
//! arithmetic. It maps texel numbers, each of the two texels of a linear filter independently; only the two
//! modes that end half a texel into the border limit the coordinate instead.

use r500_isa::values::ClampMode;

use super::readings::{TexReadings, Weights};

/// The texels that a filter reads along an axis; `None` is the border.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Taps {
    /// One texel, with the point filter.
    Point(Option<u32>),
    /// Two texels, with the linear filter, and the weight of the second.
    Linear(Option<u32>, Option<u32>, f32),
}

/// Applies a [`ClampMode`] to coordinate `x` (in texels; not NaN, at most 2^30 in magnitude) along an axis of
/// `size` texels.
pub(super) fn taps(
    mode: ClampMode,
    x: f32,
    size: u32,
    linear: bool,
    readings: &TexReadings,
) -> Taps {
    let arith = readings.arith;
    let x = match mode {
        ClampMode::CLAMP_HALF => limit(x, size as f32),
        ClampMode::MIRROR_ONCE_HALF => limit(x.abs(), size as f32),
        _ => x,
    };
    if !linear {
        return Taps::Point(texel(mode, arith.floor(x) as i64, size.into(), false));
    }
    let from_centre = arith.sub(x, 0.5);
    let floor = arith.floor(from_centre);
    let fraction = arith.sub(from_centre, floor);
    let weight = match readings.weights {
        Weights::Exact => fraction,
        Weights::EightBits => (fraction * 256.0).floor() / 256.0,
    };
    let first = floor as i64;
    let at = |i| texel(mode, i, size.into(), true);
    Taps::Linear(at(first), at(first + 1), weight)
}

/// Maps texel number `i` into an axis of `n` texels; `None` is the border.
pub(super) fn texel(mode: ClampMode, i: i64, n: i64, linear: bool) -> Option<u32> {
    let mirrored = if i < 0 { -1 - i } else { i };
    let j = match mode {
        ClampMode::WRAP => i.rem_euclid(n),
        ClampMode::MIRROR => {
            let j = i.rem_euclid(2 * n);
            if j < n { j } else { 2 * n - 1 - j }
        }
        ClampMode::CLAMP => i.clamp(0, n - 1),
        ClampMode::MIRROR_ONCE => mirrored.min(n - 1),
        ClampMode::MIRROR_ONCE_BORDER => mirrored,
        // These modes reach half a texel into the border, which only the linear filter reads.
        ClampMode::CLAMP_HALF | ClampMode::MIRROR_ONCE_HALF if !linear => i.clamp(0, n - 1),
        // Includes BORDER: the three-bit field has no other code.
        _ => i,
    };
    (0..n).contains(&j).then_some(j as u32)
}

/// Returns `x` limited to 0..`max`.
fn limit(x: f32, max: f32) -> f32 {
    if x > 0.0 { x.min(max) } else { 0.0 }
}
