//! A product under flush-to-zero, computed in plain arithmetic.

/// Returns a * b as the reference arithmetic does, for operands that are not denormal: zero of its sign if the
/// product is tiny.
///
/// Tininess is decided after rounding with an unbounded exponent, so the product is compared after scaling by
/// 2^64, where it rounds as with an unbounded exponent. If the scaled product or the scaled a overflows, the
/// product is not tiny.
#[inline(always)]
pub(super) fn product(a: f32, b: f32) -> f32 {
    /// 2^64.
    const LARGER: f32 = 18_446_744_073_709_551_616.0;
    let product = a * b;
    let underflows = (a * LARGER * b).abs() < f32::MIN_POSITIVE * LARGER;
    if underflows { 0.0_f32.copysign(product) } else { product }
}

#[cfg(test)]
mod tests {
    use r500_numerics::Arith;
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::product;

    /// Products near the smallest normal number, whose rounding differs with a bounded and an unbounded
    /// exponent.
    #[test]
    fn tiny_products_equal_the_reference_arithmetic() {
        let mut random = SplitMix64::seed_from_u64(0);
        let mut flushed = 0;
        for n in 0..2_000_000_u32 {
            let state = random.next_u64();
            let float = |mantissa: u64, exponent: u32| {
                f32::from_bits(exponent << 23 | mantissa as u32 & 0x7f_ffff)
            };
            // Exponents whose sum is near that of the smallest normal number; mantissas of all kinds, some all
            // ones.
            let ones = if n % 3 == 0 { u64::MAX } else { 0 };
            let exponent = 1 + (state >> 50) as u32 % 126;
            let other = (127 + n % 4).saturating_sub(exponent).clamp(1, 254);
            let (a, b) = (float(state >> 20 | ones, exponent), float(state >> 3, other));
            let a = if n % 5 == 0 { -a } else { a };
            let want = Arith::REFERENCE.mul(a, b);
            assert_eq!(product(a, b).to_bits(), want.to_bits(), "{a:e} * {b:e}");
            flushed += u32::from(want == 0.0);
        }
        assert!(flushed > 100_000, "{flushed}");
        for (a, b) in [(0.0, 1.0), (-0.0, 1.0), (f32::MAX, f32::MAX), (-1e30, 0.0), (1.0, 1.0)] {
            assert_eq!(product(a, b).to_bits(), Arith::REFERENCE.mul(a, b).to_bits());
        }
        assert!(product(f32::INFINITY, 0.0).is_nan());
        // 2^-126 - 2^-150 rounds up to the smallest normal number if the exponent is bounded.
        let below = f32::from_bits(0x3f7f_ffff);
        assert_eq!(product(f32::MIN_POSITIVE, below), 0.0);
    }
}
