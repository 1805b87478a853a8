//! Flush-to-zero and the canonical NaN.

/// The canonical NaN, the only one in frames.
pub const CANONICAL_NAN: f32 = f32::from_bits(0x7fc0_0000);

/// Flushes a denormal to zero of its sign; returns every other number unchanged.
#[inline(always)]
#[must_use]
pub fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(x) } else { x }
}

/// Returns [`CANONICAL_NAN`] for every NaN, and every other number unchanged.
#[inline]
#[must_use]
pub fn canonical_nan(x: f32) -> f32 {
    if x.is_nan() { CANONICAL_NAN } else { x }
}
