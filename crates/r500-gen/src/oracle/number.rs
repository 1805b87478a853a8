//! The oracle's arithmetic, implemented from the number rules, independently of the engines.
//!
//! float32, every operation rounded to nearest even. Denormal operands and subnormal results are zeros of their sign.
//! Comparisons treat denormals as zeros and are false for NaN.

#![allow(clippy::excessive_precision, reason = "constants stand as the rules give them")]

/// A result below 2^-126 - 2^-151 is flushed to zero: rounding with an unbounded exponent would not reach 2^-126.
const TINY: f64 = 1.175_494_350_822_287_5e-38 - 3.503_246_160_812_043e-46;

/// Flushes a denormal to a zero of its sign.
pub(super) fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

/// Returns the float nearest to an exact result.
fn round(exact: f64) -> f32 {
    if exact.abs() < TINY { 0.0_f32.copysign(exact as f32) } else { exact as f32 }
}

pub(super) fn add(a: f32, b: f32) -> f32 {
    flush(flush(a) + flush(b))
}

/// Returns the product without the zero rule.
fn times(a: f32, b: f32) -> f32 {
    round(f64::from(flush(a)) * f64::from(flush(b)))
}

/// Returns the product of the ALU: with the zero rule, a zero factor gives +0.
pub(super) fn product(a: f32, b: f32, zero_rule: bool) -> f32 {
    if zero_rule && (flush(a) == 0.0 || flush(b) == 0.0) { 0.0 } else { times(a, b) }
}

/// Returns 1 - 2x.
pub(super) fn bias(x: f32) -> f32 {
    add(1.0, -times(2.0, x))
}

pub(super) fn less(a: f32, b: f32) -> bool {
    flush(a) < flush(b)
}

pub(super) fn equal(a: f32, b: f32) -> bool {
    flush(a) == flush(b)
}

pub(super) fn fraction(x: f32) -> f32 {
    add(x, -flush(x).floor())
}

pub(super) fn rcp(x: f32) -> f32 {
    flush(1.0 / flush(x))
}

pub(super) fn rsq(x: f32) -> f32 {
    1.0 / flush(x).sqrt()
}

pub(super) fn ex2(x: f32) -> f32 {
    let x = flush(x);
    if x < -126.0 {
        return 0.0;
    }
    if x >= 128.0 {
        return f32::INFINITY;
    }
    let n = x.round_ties_even();
    let f = x - n;
    let mut p = 0.000_152_412_846;
    for c in
        [0.001_339_130_22, 0.009_618_833_66, 0.055_503_588_2, 0.240_226_448, 0.693_147_182, 1.0]
    {
        p = p * f + c;
    }
    // n is -126..128, NaN counting as 0: a power of two in a double, and the scaling is exact.
    let power = f64::from_bits(((n as i64 + 1023) as u64) << 52);
    (f64::from(p) * power) as f32
}

pub(super) fn ln2(x: f32) -> f32 {
    let x = flush(x);
    if x == 0.0 {
        return f32::NEG_INFINITY;
    }
    if x < 0.0 || x.is_nan() || x.is_infinite() {
        return if x < 0.0 { f32::NAN } else { x };
    }
    // x = 2^e * m, m from sqrt(1/2) (its float, 3f3504f3) to twice that.
    let root = f32::from_bits(0x3f35_04f3);
    let (mut e, mut m) = (0_i16, f64::from(x));
    while m < f64::from(root) {
        (e, m) = (e - 1, m * 2.0);
    }
    while m >= f64::from(root) * 2.0 {
        (e, m) = (e + 1, m / 2.0);
    }
    let f = m as f32 - 1.0;
    let mut q = 0.128_802_344;
    for c in [
        -0.208_991_989,
        0.215_429_381,
        -0.238_675_654,
        0.287_912_160,
        -0.360_715_747,
        0.480_911_434,
        -0.721_347_213,
        0.442_694_992,
    ] {
        q = q * f + c;
    }
    f32::from(e) + (f + f * q)
}

pub(super) fn sin(turns: f32) -> f32 {
    let r = flush(turns) - flush(turns).round_ties_even();
    let quarters = 4.0 * r.abs();
    let up_and_down = if quarters < 1.0 { quarters } else { 2.0 - quarters };
    quarter_sine(up_and_down.copysign(r))
}

pub(super) fn cos(turns: f32) -> f32 {
    let r = flush(turns) - flush(turns).round_ties_even();
    quarter_sine(1.0 - 4.0 * r.abs())
}

fn quarter_sine(w: f32) -> f32 {
    let z = w * w;
    let mut s = 0.000_151_274_202;
    for c in [-0.004_673_287_74, 0.079_689_316_5, -0.645_963_609, 0.570_796_311] {
        s = s * z + c;
    }
    w + w * s
}

/// Applies OMOD 0 to 6: scales by a power of two, with one NaN for all.
pub(super) fn scale(x: f32, factor: f32) -> f32 {
    let scaled = times(x, factor);
    if scaled.is_nan() { f32::from_bits(0x7fc0_0000) } else { scaled }
}

/// Clamps to 0..1; NaN and -0 give +0.
pub(super) fn clamp(x: f32) -> f32 {
    if x >= 1.0 {
        1.0
    } else if x > 0.0 {
        x
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_products_become_zero_only_below_the_bound() {
        // 2^-126 - 2^-151 exactly: (1 - 2^-25) * 2^-126.
        assert_eq!(TINY, 2.0_f64.powi(-126) - 2.0_f64.powi(-151));
        // (1 - 2^-24) * 2^-126 is below it, although float32 alone would round it up to 2^-126.
        let below = 1.0 - f32::EPSILON / 2.0;
        assert_eq!(times(below, f32::MIN_POSITIVE), 0.0);
        assert_eq!(times(below, -f32::MIN_POSITIVE).to_bits(), 0x8000_0000);
        assert_eq!(times(1.0, f32::MIN_POSITIVE), f32::MIN_POSITIVE);
    }

    #[test]
    fn functions_are_exact_where_they_must_be() {
        for n in -126_i16..=127 {
            let power = (f64::from(n)).exp2() as f32;
            assert_eq!(ex2(f32::from(n)), power);
            assert_eq!(ln2(power), f32::from(n));
        }
        assert_eq!(ex2(128.0), f32::INFINITY);
        assert!(ex2(f32::NAN).is_nan() && ln2(-1.0).is_nan() && sin(f32::INFINITY).is_nan());
        assert_eq!(
            [sin(0.25), sin(0.5), sin(0.75), cos(0.0), cos(0.5)],
            [1.0, 0.0, -1.0, 1.0, -1.0]
        );
        assert_eq!([rcp(-0.0), rsq(-0.0), rsq(4.0)], [f32::NEG_INFINITY, f32::NEG_INFINITY, 0.5]);
        assert_eq!([fraction(-0.25), fraction(2.5), bias(0.25)], [0.75, 0.5, 0.5]);
    }

    #[test]
    fn functions_follow_the_mathematical_ones() {
        for i in 1..2000_i16 {
            let x = f32::from(i) / 97.0;
            let near =
                |got: f32, want: f64| (f64::from(got) - want).abs() < 1e-6 * want.abs().max(1.0);
            let wide = f64::from(x);
            assert!(near(ex2(x), wide.exp2()) && near(ln2(x), wide.log2()));
            let turns = wide * std::f64::consts::TAU;
            assert!(near(sin(x), turns.sin()) && near(cos(x), turns.cos()));
            assert!(near(rsq(x), 1.0 / wide.sqrt()));
        }
    }
}
