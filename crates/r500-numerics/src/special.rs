//! Denormals flushed to zero, and the one NaN.

/// The one NaN that leaves the machine.
pub const CANONICAL_NAN: f32 = f32::from_bits(0x7fc0_0000);

/// A denormal made zero of its sign; every other number as it is.
#[inline(always)]
#[must_use]
pub fn flush(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0_f32.copysign(x) } else { x }
}

/// [`CANONICAL_NAN`] for every NaN; every other number as it is.
#[inline]
#[must_use]
pub fn canonical_nan(x: f32) -> f32 {
    if x.is_nan() { CANONICAL_NAN } else { x }
}
