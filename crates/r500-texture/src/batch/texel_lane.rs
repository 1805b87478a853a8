//! One lane as a builder of texture arithmetic: texel numbers are integral floats.

use r500_numerics::branchless::Lane;
use r500_numerics::flush;
use r500_simd::MagicRound;

use super::product::product;
use super::texel_math::TexelBuilder;

/// 1.5 * 2^23: adding it to a number below 2^22 in magnitude leaves the nearest integer (ties to even) in the
/// lowest bits. Works without a rounding instruction.
const ROUND_BIAS: f32 = 12_582_912.0;

/// 2^23: adding it to a smaller integer leaves that integer in the lowest bits.
pub(super) const INTEGER_BIAS: f32 = (1 << 23) as f32;

/// A lane of texture arithmetic.
pub(super) type TexelLane = Lane<MagicRound>;

/// An axis of a level, in a lane.
#[derive(Clone, Copy)]
pub struct LaneAxis {
    /// The number of texels.
    pub(super) size: f32,
    /// Its reciprocal.
    pub(super) inverse: f32,
    /// Whether it is a power of two.
    pub(super) power_of_two: bool,
}

impl TexelBuilder for TexelLane {
    type Number = f32;
    type Axis = LaneAxis;

    #[inline(always)]
    fn floor(&mut self, a: u32) -> u32 {
        floor(f32::from_bits(a)).to_bits()
    }

    #[inline(always)]
    fn eq(&mut self, a: u32, b: u32) -> bool {
        f32::from_bits(a) == f32::from_bits(b)
    }

    #[inline(always)]
    fn flush(&mut self, sum: u32) -> u32 {
        flush(f32::from_bits(sum)).to_bits()
    }

    #[inline(always)]
    fn square(&mut self, a: u32) -> u32 {
        product(f32::from_bits(a), f32::from_bits(a)).to_bits()
    }

    /// The slow path takes coordinates that are too large, and NaN.
    #[inline(always)]
    fn limit_repeating(&mut self, _: LaneAxis, x: u32) -> u32 {
        x
    }

    #[inline(always)]
    fn after_last(&mut self, axis: LaneAxis, beyond: f32) -> u32 {
        (axis.size + (beyond - 1.0)).to_bits()
    }

    #[inline(always)]
    fn texel(&mut self, _: LaneAxis, x: u32) -> (f32, u32) {
        let floor = floor(f32::from_bits(x));
        (floor, floor.to_bits())
    }

    #[inline(always)]
    fn last_of_period(&mut self, axis: LaneAxis, mirrored: bool) -> f32 {
        if mirrored { 2.0 * axis.size - 1.0 } else { axis.size - 1.0 }
    }

    #[inline(always)]
    fn modulo(&mut self, axis: LaneAxis, mirrored: bool, _: f32, (number, _): (f32, u32)) -> f32 {
        let LaneAxis { size, inverse, power_of_two } = axis;
        match mirrored {
            true => modulo(number, 2.0 * size, 0.5 * inverse, power_of_two),
            false => modulo(number, size, inverse, power_of_two),
        }
    }

    #[inline(always)]
    fn fold_back(&mut self, last: f32, number: f32) -> f32 {
        let back = last - number;
        if number < back { number } else { back }
    }
}

/// Returns the integer `i`, at most 2^21 + 1 in magnitude, modulo `n`: 0 to n - 1.
#[inline(always)]
fn modulo(i: f32, n: f32, inverse: f32, power_of_two: bool) -> f32 {
    // Exact for a power of two. Otherwise the quotient is off by less than 2^-1 (2^21 / n units of 2^-23),
    // and its floor by at most one.
    let rest = i - n * floor(i * inverse);
    if power_of_two {
        return rest;
    }
    let rest = if rest < 0.0 { rest + n } else { rest };
    if rest < n { rest } else { rest - n }
}

/// Returns the largest integer not above `x`, which is less than 2^22 in magnitude.
#[inline(always)]
pub(super) fn floor(x: f32) -> f32 {
    let nearest = (x + ROUND_BIAS) - ROUND_BIAS;
    nearest - if nearest > x { 1.0 } else { 0.0 }
}

/// Converts an integral float from 0 to 2^22.
#[inline(always)]
pub(super) fn truncate_to_int(x: f32) -> u32 {
    (x + ROUND_BIAS).to_bits() & 0x3f_ffff
}
