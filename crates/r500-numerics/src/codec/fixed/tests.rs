use super::{f32_to_snorm, f32_to_unorm, snorm_to_f32, unorm_to_f32};

/// Returns a quotient of integers rounded to float32: the neighbouring float with the least error,
/// exact in 128 bits.
fn nearest(k: u64, max: u64) -> f32 {
    let mut x = (k as f64 / max as f64) as f32;
    // Returns |x - k/max| multiplied by max * 2^64; a float in (0, 1] that is at least 2^-32 is an
    // integer times 2^-64.
    let error = |x: f32| {
        let scaled = (f64::from(x) * 2_f64.powi(64)) as u128;
        (scaled * u128::from(max)).abs_diff(u128::from(k) << 64)
    };
    for other in [x.next_down(), x.next_up()] {
        assert_ne!(error(other), error(x), "a tie, which an odd divisor cannot have");
        if error(other) < error(x) {
            x = other;
        }
    }
    x
}

#[test]
fn every_unsigned_code_is_correctly_rounded_and_comes_back() {
    for bits in 1..=16 {
        let max = (1_u32 << bits) - 1;
        assert_eq!(unorm_to_f32(0, bits).to_bits(), 0);
        for k in 1..=max {
            let x = unorm_to_f32(k, bits);
            assert_eq!(x, nearest(k.into(), max.into()), "{k} of {bits} bits");
            assert_eq!(f32_to_unorm(x, bits), k, "{k} of {bits} bits");
        }
    }
}

#[test]
fn every_signed_code_is_correctly_rounded_and_comes_back() {
    for bits in 2..=16 {
        let max = (1_u32 << (bits - 1)) - 1;
        for k in 1..=max {
            let x = nearest(k.into(), max.into());
            assert_eq!(snorm_to_f32(k, bits), x, "{k} of {bits} bits");
            assert_eq!(f32_to_snorm(x, bits), k, "{k} of {bits} bits");
            let negative = (1 << bits) - k;
            assert_eq!(snorm_to_f32(negative, bits), -x, "-{k} of {bits} bits");
            assert_eq!(f32_to_snorm(-x, bits), negative, "-{k} of {bits} bits");
        }
        assert_eq!(snorm_to_f32(0, bits).to_bits(), 0);
        assert_eq!(snorm_to_f32(1 << (bits - 1), bits), -1.0, "below -1 is -1");
        assert_eq!(f32_to_snorm(-1.0, bits), (1 << (bits - 1)) + 1, "-1 is the symmetric code");
    }
}

/// Widths beyond a float's 24 bits: some codes of each, spread over the range.
#[test]
fn wide_codes_are_correctly_rounded() {
    for bits in 17..=32 {
        let max = u32::MAX >> (32 - bits);
        for i in 0..20_000_u64 {
            // Multiplying by an odd constant visits codes of all sizes (Knuth's hash).
            let k = ((i * 2_654_435_761) as u32 >> (i % 29)) & max;
            if k == 0 {
                continue;
            }
            assert_eq!(unorm_to_f32(k, bits), nearest(k.into(), max.into()), "{k} of {bits}");
        }
        assert_eq!(unorm_to_f32(max, bits), 1.0);
        assert_eq!(f32_to_unorm(1.0, bits), max);
        assert_eq!(f32_to_snorm(1.0, bits), max >> 1);
        assert_eq!(f32_to_snorm(-1.0, bits), max ^ ((max >> 1) - 1));
        assert_eq!(snorm_to_f32(max, bits), -nearest(1, (max >> 1).into()), "-1 of {bits}");
        assert_eq!(snorm_to_f32(max ^ (max >> 1), bits), -1.0);
    }
    // The 24-bit codes of depth round-trip: floats below 1 are closer together than codes.
    for k in 0..1 << 24 {
        assert_eq!(f32_to_unorm(unorm_to_f32(k, 24), 24), k);
    }
}

/// x * (2^n - 1) is a tie only for x = 1/2: 2^n - 1 is odd, so a float x = m/2^j (m odd) leaves a
/// fraction of j binary digits. For x = 1/2 all rules that round to nearest agree: the larger
/// neighbour, 2^(n-1), is the even one.
#[test]
fn the_only_tie_is_one_half() {
    assert_eq!(f32_to_unorm(0.5, 8), 128);
    assert_eq!(f32_to_unorm(0.5, 10), 512);
    assert_eq!(f32_to_unorm(0.5, 16), 32768);
    assert_eq!(f32_to_snorm(0.5, 8), 64);
    assert_eq!(f32_to_snorm(-0.5, 8), 0x100 - 64);
    assert_eq!(f32_to_unorm(0.5_f32.next_down(), 8), 127);
    assert_eq!(f32_to_snorm(0.5_f32.next_down(), 8), 63);
    assert_eq!(f32_to_snorm((-0.5_f32).next_up(), 8), 0x100 - 63);
}

/// Midpoints between codes are not floats; the two floats around (k + 1/2)/(2^n - 1) round to
/// different codes.
#[test]
fn codes_change_halfway() {
    for bits in [2, 3, 4, 5, 6, 8, 10, 11, 16] {
        let max = f64::from((1_u32 << bits) - 1);
        for k in 0..(1_u32 << bits) - 1 {
            let half = (f64::from(k) + 0.5) / max;
            if half == 0.5 {
                continue;
            }
            let near = half as f32;
            let (below, above) = if f64::from(near) < half {
                (near, near.next_up())
            } else {
                (near.next_down(), near)
            };
            assert_eq!(f32_to_unorm(below, bits), k, "{bits} bits");
            assert_eq!(f32_to_unorm(above, bits), k + 1, "{bits} bits");
            // The same numbers as signed codes of one more bit.
            assert_eq!(f32_to_snorm(below, bits + 1), k);
            assert_eq!(f32_to_snorm(-above, bits + 1), (2 << bits) - (k + 1));
        }
    }
}

#[test]
fn outside_the_range() {
    for x in [f32::INFINITY, f32::MAX, 1.0_f32.next_up(), 1.0] {
        assert_eq!(f32_to_unorm(x, 8), 255);
        assert_eq!(f32_to_snorm(x, 8), 127);
        assert_eq!(f32_to_unorm(-x, 8), 0);
        assert_eq!(f32_to_snorm(-x, 8), 0x81);
    }
    for x in [0.0, -0.0, f32::from_bits(1), -f32::from_bits(1), f32::NAN, -f32::NAN] {
        for bits in [1, 2, 8, 24, 32] {
            assert_eq!(f32_to_unorm(x, bits), 0);
            assert_eq!(f32_to_snorm(x, bits), 0);
        }
    }
}

#[test]
fn every_width_is_defined() {
    // Width 0.
    assert_eq!(unorm_to_f32(u32::MAX, 0), 0.0);
    assert_eq!(snorm_to_f32(u32::MAX, 0), 0.0);
    assert_eq!(f32_to_unorm(1.0, 0), 0);
    assert_eq!(f32_to_snorm(-1.0, 0), 0);
    // Width 1.
    assert_eq!(unorm_to_f32(1, 1), 1.0);
    assert_eq!(snorm_to_f32(1, 1), -1.0);
    assert_eq!(snorm_to_f32(0, 1), 0.0);
    assert_eq!(f32_to_unorm(0.75, 1), 1);
    assert_eq!(f32_to_snorm(1.0, 1), 0);
    // Width 32, and a larger one.
    assert_eq!(unorm_to_f32(u32::MAX, 99), 1.0);
    assert_eq!(f32_to_unorm(1.0, 99), u32::MAX);
    assert_eq!(snorm_to_f32(0x8000_0000, 32), -1.0);
    assert_eq!(snorm_to_f32(0x8000_0001, 32), -1.0);
    assert_eq!(f32_to_snorm(-1.0, 32), 0x8000_0001);
    // Bits above the width are ignored.
    assert_eq!(unorm_to_f32(0xffff_ff00, 8), 0.0);
    assert_eq!(snorm_to_f32(0xffff_ff7f, 8), 1.0);
}
