//! Texture arithmetic, generic over a builder: address modes, weights, interpolation, level-of-detail selection.
//!
//! The builder is a lane of vector code in this crate's batch fetches, and a code generator for machine code. The
//! [scalar sampler](crate::Sampler::fetch) defines the results and shares no code with this module.
//!
//! Texel numbers have a type of the builder's own: integral floats in lanes, integers in machine code.

use r500_isa::values::ClampMode;
use r500_numerics::branchless::{self, KernelBuilder};

use crate::readings::LodFraction;

/// The mapping of a texel number (with the linear filter, of the first one) into an axis of n texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrapMode {
    /// Modulo n.
    Repeat,
    /// Modulo 2n; with the point filter, m >= n is 2n - 1 - m.
    Mirror,
    /// Clamped to 0..n - 1; with the linear filter to -1..n - 1.
    Clamp,
}

impl WrapMode {
    /// Returns the mapping of a clamp mode; `None` for those that can read the border colour or mirror once.
    pub(super) fn of(mode: ClampMode) -> Option<Self> {
        match mode {
            ClampMode::WRAP => Some(Self::Repeat),
            ClampMode::MIRROR => Some(Self::Mirror),
            ClampMode::CLAMP => Some(Self::Clamp),
            _ => None,
        }
    }
}

/// The operations that kernels of texture arithmetic are built of, besides those of [`KernelBuilder`].
///
/// Each operation has the bits of the reference arithmetic for the operands that the kernels give it, except that
/// the sign of a zero may differ in coordinates and in levels of detail, where it has no effect.
pub trait TexelBuilder: KernelBuilder {
    /// A texel number.
    type Number: Copy;
    /// An axis of a level.
    type Axis: Copy;

    /// Returns the largest integer not above a, as a float.
    fn floor(&mut self, a: Self::Value) -> Self::Value;
    /// Returns whether a == b, of floats.
    fn eq(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Returns a sum that may be denormal, flushed.
    fn flush(&mut self, sum: Self::Value) -> Self::Value;
    /// Returns a * a.
    fn square(&mut self, a: Self::Value) -> Self::Value;

    /// Returns a coordinate on a repeating axis, limited to the range of texel numbers without changing its texels.
    fn limit_repeating(&mut self, axis: Self::Axis, x: Self::Value) -> Self::Value;
    /// Returns the number of the last texel, plus `beyond`, as a float.
    fn after_last(&mut self, axis: Self::Axis, beyond: f32) -> Self::Value;
    /// Returns the floor of a limited coordinate, as a texel number and as a float.
    fn texel(&mut self, axis: Self::Axis, x: Self::Value) -> (Self::Number, Self::Value);
    /// Returns the last number of a period: n - 1, or 2n - 1 if mirrored.
    fn last_of_period(&mut self, axis: Self::Axis, mirrored: bool) -> Self::Number;
    /// Returns a texel number, given also as a float, modulo a period, which is given by its last number.
    fn modulo(
        &mut self,
        axis: Self::Axis,
        mirrored: bool,
        last: Self::Number,
        number: (Self::Number, Self::Value),
    ) -> Self::Number;
    /// Returns the smaller one of `number` and `last - number`, neither of them negative.
    fn fold_back(&mut self, last: Self::Number, number: Self::Number) -> Self::Number;
}

/// Returns the texel at a coordinate (in texels of the level), mapped into its axis; with the linear filter the first
/// of two texels, and the weight of the second.
#[inline(always)]
pub fn address<B: TexelBuilder>(
    b: &mut B,
    axis: B::Axis,
    wrap: WrapMode,
    linear: bool,
    x: B::Value,
) -> (B::Number, Option<B::Value>) {
    let x = match wrap {
        WrapMode::Repeat | WrapMode::Mirror => b.limit_repeating(axis, x),
        // Beyond the limits both texels of the linear filter are equal, and the weight has no effect. NaN becomes the
        // lower limit.
        WrapMode::Clamp => {
            let (least, beyond) = if linear { (-0.5, 1.25) } else { (0.0, 0.5) };
            let end = b.after_last(axis, beyond);
            let least = b.float(least);
            let x = b.max(x, least);
            b.min(x, end)
        }
    };
    let x = if linear {
        let half = b.float(0.5);
        b.sub(x, half)
    } else {
        x
    };
    let (number, floor) = b.texel(axis, x);
    let weight = linear.then(|| b.sub(x, floor));
    (map_texel(b, axis, wrap, linear, (number, floor)), weight)
}

/// Maps a texel number, given also as a float, into its axis by the [`WrapMode`]. Clamped numbers are within their
/// limits already.
#[inline(always)]
pub fn map_texel<B: TexelBuilder>(
    b: &mut B,
    axis: B::Axis,
    wrap: WrapMode,
    linear: bool,
    number: (B::Number, B::Value),
) -> B::Number {
    let mirrored = match wrap {
        WrapMode::Clamp => return number.0,
        WrapMode::Repeat => false,
        WrapMode::Mirror => true,
    };
    let last = b.last_of_period(axis, mirrored);
    let number = b.modulo(axis, mirrored, last, number);
    // The linear filter has footprints for the mirrored half of the period, too.
    if mirrored && !linear { b.fold_back(last, number) } else { number }
}

/// Returns a + (c - a) * weight.
#[inline(always)]
pub fn lerp<B: KernelBuilder>(b: &mut B, a: B::Value, c: B::Value, weight: B::Value) -> B::Value {
    let step = b.sub(c, a);
    let step = b.mul(step, weight);
    b.add(a, step)
}

/// Interpolates the four texels of a footprint: along S, then along T.
#[inline(always)]
pub fn bilerp<B: KernelBuilder>(
    b: &mut B,
    texels: [B::Value; 4],
    s: B::Value,
    t: B::Value,
) -> B::Value {
    let above = lerp(b, texels[0], texels[1], s);
    let below = lerp(b, texels[2], texels[3], s);
    lerp(b, above, below, t)
}

/// Returns the square of the longer of two steps in texels, to the right and down. NaN selects the second, as MAX does.
#[inline(always)]
pub fn longer_square<B: TexelBuilder, const AXES: usize>(
    b: &mut B,
    right: [B::Value; AXES],
    down: [B::Value; AXES],
) -> B::Value {
    let right = squared_length(b, right);
    let down = squared_length(b, down);
    let longer = b.ge(right, down);
    b.select(longer, right, down)
}

#[inline(always)]
fn squared_length<B: TexelBuilder, const AXES: usize>(
    b: &mut B,
    step: [B::Value; AXES],
) -> B::Value {
    let mut squares = step;
    for square in &mut squares {
        *square = b.square(*square);
    }
    let mut sum = squares[0];
    for axis in 1..AXES {
        sum = b.add(sum, squares[axis]);
    }
    sum
}

/// Returns the level of detail of a step, given the square of its length: its logarithm.
#[inline(always)]
pub fn lod_of_square<B: KernelBuilder>(b: &mut B, square: B::Value) -> B::Value {
    let log = branchless::ln2(b, square);
    // A logarithm is 0 or at least 2^-25 in magnitude: half of it is not denormal.
    let half = b.float(0.5);
    b.mul(log, half)
}

/// Adds `LOD_BIAS`, given as bits; NaN becomes 0.
#[inline(always)]
pub fn bias_lod<B: TexelBuilder>(b: &mut B, lod: B::Value, bias: u32) -> B::Value {
    let bias = b.bits(bias);
    let sum = b.add(lod, bias);
    let lod = b.flush(sum);
    nan_to_zero(b, lod)
}

/// Returns a, or 0 for NaN.
#[inline(always)]
pub fn nan_to_zero<B: TexelBuilder>(b: &mut B, a: B::Value) -> B::Value {
    let number = b.eq(a, a);
    let zero = b.bits(0);
    b.select(number, a, zero)
}

/// Limits a level of detail to the existing levels, and cuts it to its fraction. Limits are integers, so limiting and cutting commute.
#[inline(always)]
pub fn cut_lod<B: TexelBuilder>(
    b: &mut B,
    lod: B::Value,
    fraction: LodFraction,
    finest: f32,
    coarsest: f32,
) -> B::Value {
    let (finest, coarsest) = (b.float(finest), b.float(coarsest));
    let lod = b.max(lod, finest);
    let lod = b.min(lod, coarsest);
    let Some(unit) = fraction.unit() else { return lod };
    // Powers of two scale exactly, and a product that underflows has the floor 0 in any case.
    let (steps, unit) = (b.float(1.0 / unit), b.float(unit));
    let lod = b.mul(lod, steps);
    let lod = b.floor(lod);
    b.mul(lod, unit)
}

/// Returns the nearest level to a level of detail that was [cut](cut_lod).
#[inline(always)]
pub fn nearest_level<B: TexelBuilder>(b: &mut B, lod: B::Value) -> B::Value {
    let half = b.float(0.5);
    let lod = b.add(lod, half);
    b.floor(lod)
}

/// Returns the two levels that a level of detail that was [cut](cut_lod) lies between, and the weight of the second.
#[inline(always)]
pub fn two_levels<B: TexelBuilder>(
    b: &mut B,
    lod: B::Value,
    coarsest: f32,
) -> ([B::Value; 2], B::Value) {
    let first = b.floor(lod);
    let weight = b.sub(lod, first);
    let (one, last) = (b.float(1.0), b.float(coarsest));
    let second = b.add(first, one);
    ([first, b.min(second, last)], weight)
}
