//! Special values, and values that follow from exact arithmetic. The `ulp` example measures the
//! accuracy over all arguments.

use super::super::{Arith, canonical_nan};
use super::*;

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const SMALLEST: f32 = f32::MIN_POSITIVE;
const DENORMAL: f32 = f32::from_bits(0x007f_ffff);

#[track_caller]
fn same(got: f32, want: f32) {
    assert_eq!(
        got.to_bits(),
        want.to_bits(),
        "got {got:e} ({:08x}), want {want:e} ({:08x})",
        got.to_bits(),
        want.to_bits()
    );
}

/// Returns 2^n for n in -126..=127: only an exponent field.
fn pow2(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// Returns normal numbers of every exponent and both signs, with significands from one end of the
/// binade to the other.
fn every_binade() -> impl Iterator<Item = f32> {
    let significands = [0, 1, 0x15_5555, 0x35_04f3, 0x35_04f4, 0x40_0000, 0x7f_ffff];
    (1_u32..255).flat_map(move |exponent| {
        significands.into_iter().flat_map(move |significand| {
            let x = f32::from_bits(exponent << 23 | significand);
            [x, -x]
        })
    })
}

#[test]
fn ex2_of_integers_is_exact() {
    for n in -126..=127 {
        same(ex2(n as f32), pow2(n));
    }
}

#[test]
fn ex2_at_the_ends() {
    same(ex2(-126.0), SMALLEST);
    same(ex2((-126.0_f32).next_down()), 0.0);
    same(ex2(-127.0), 0.0);
    same(ex2(-INF), 0.0);
    same(ex2(f32::MIN), 0.0);
    same(ex2(128.0), INF);
    same(ex2(f32::MAX), INF);
    same(ex2(INF), INF);
    // 2^(128 - 2^-17) is 5.3 millionths below 2^128: n is 128 here.
    let below = ex2(128.0_f32.next_down());
    assert!(below.is_finite() && below > f32::MAX * 0.99999);
    assert!(ex2(127.5) > 2.4e38 && ex2(127.5) < 2.41e38);
}

#[test]
fn ex2_of_small_arguments_is_one() {
    for x in [0.0, -0.0, DENORMAL, -DENORMAL, SMALLEST, -SMALLEST, 1e-20] {
        same(ex2(x), 1.0);
    }
}

#[test]
fn ln2_of_powers_of_two_is_exact() {
    for n in -126..=127 {
        same(ln2(pow2(n)), n as f32);
    }
    same(ln2(1.0), 0.0);
}

#[test]
fn ln2_of_special_values() {
    for x in [0.0, -0.0, DENORMAL, -DENORMAL] {
        same(ln2(x), -INF);
    }
    same(ln2(INF), INF);
    for x in [-SMALLEST, -1.0, f32::MIN, -INF, NAN, -NAN] {
        assert!(ln2(x).is_nan(), "{x:e}");
    }
    // The logarithm is 128 - 8.6e-8: nearer to 128 than to the previous float.
    same(ln2(f32::MAX), 128.0);
}

#[test]
fn ln2_near_one_keeps_its_accuracy() {
    // log2(1 + d) is d / ln 2 with a relative error of about d: the exponent takes no bits.
    for x in [1.0_f32.next_up(), 1.0_f32.next_down()] {
        let exact = (f64::from(x) - 1.0) * std::f64::consts::LOG2_E;
        assert!((f64::from(ln2(x)) / exact - 1.0).abs() < 2e-7, "{x:e}");
    }
}

#[test]
fn sin_and_cos_of_quarter_turns() {
    for (turns, sine, cosine) in [
        (0.0, 0.0, 1.0),
        (0.25, 1.0, 0.0),
        (0.75, -1.0, 0.0),
        (1.0, 0.0, 1.0),
        (-0.25, -1.0, 0.0),
        (-1.0, 0.0, 1.0),
    ] {
        same(sin(turns), sine);
        same(cos(turns), cosine);
    }
    // The reduction rounds halves to even: r is 1/2 in this loop, -1/2 in the next.
    for turns in [0.5, 2.5, -1.5] {
        same(sin(turns), 0.0);
        same(cos(turns), -1.0);
    }
    for turns in [-0.5, -2.5, 1.5] {
        same(sin(turns), -0.0);
        same(cos(turns), -1.0);
    }
}

#[test]
fn sin_and_cos_of_special_values() {
    for x in [0.0, -0.0, DENORMAL, -DENORMAL] {
        same(sin(x), 0.0);
        same(cos(x), 1.0);
    }
    for x in [INF, -INF, NAN, -NAN] {
        assert!(sin(x).is_nan() && cos(x).is_nan(), "{x:e}");
    }
}

#[test]
fn huge_arguments_are_whole_turns() {
    // From 2^23 upwards every float is an integer.
    for x in [8_388_608.0, 8_388_609.0, -1e9, 1e30, f32::MAX, f32::MIN] {
        same(sin(x), 0.0);
        same(cos(x), 1.0);
    }
    // Below 2^23 the reduction is exact: a quarter turn past an integer.
    same(sin(2_097_152.25), 1.0);
    same(cos(2_097_152.25), 0.0);
}

#[test]
fn sin_of_a_small_argument_is_two_pi_times_it() {
    // The cubic term is below 2^-40 of the argument. 2^-126 is the smallest argument; its square is
    // far below the smallest float.
    for x in [SMALLEST, -SMALLEST, 1.5 * SMALLEST, 1e-30, -1e-10, 1e-7] {
        let exact = f64::from(x) * std::f64::consts::TAU;
        assert!((f64::from(sin(x)) / exact - 1.0).abs() < 2.4e-7, "{x:e}");
    }
}

#[test]
fn sin_is_odd_and_cos_is_even() {
    for x in every_binade() {
        if x - x.round_ties_even() != 0.0 {
            same(sin(-x), -sin(x));
        }
        same(cos(-x), cos(x));
    }
}

#[test]
fn no_result_is_denormal() {
    for x in every_binade() {
        for y in [ex2(x), ln2(x), sin(x), cos(x)] {
            same(flush(y), y);
        }
    }
}

/// The kernels with explicit flushing at every step.
mod flushed {
    use super::super::{EX2, LN2, LN2_SPLIT, SINE};
    use super::Arith;

    const REFERENCE: Arith = Arith::REFERENCE;

    fn horner(coefficients: &[f32], x: f32) -> f32 {
        let highest_first = coefficients.iter().rev().copied();
        highest_first.reduce(|sum, c| REFERENCE.mad(sum, x, c)).unwrap_or(0.0)
    }

    /// Returns 2^x for x in -126..128.
    pub(super) fn ex2(x: f32) -> f32 {
        let n = x.round_ties_even();
        let p = horner(&EX2, REFERENCE.sub(x, n));
        (f64::from(p) * 2.0_f64.powi(n as i32)) as f32
    }

    /// Returns the logarithm of a normal x above zero.
    pub(super) fn ln2(x: f32) -> f32 {
        let i = x.to_bits().wrapping_sub(LN2_SPLIT) as i32;
        let f = x.to_bits().wrapping_sub(i as u32 & 0xff80_0000);
        let f = REFERENCE.sub(f32::from_bits(f), 1.0);
        REFERENCE.add((i >> 23) as f32, REFERENCE.add(f, REFERENCE.mul(f, horner(&LN2, f))))
    }

    pub(super) fn sin(x: f32) -> f32 {
        let r = REFERENCE.sub(x, x.round_ties_even());
        let a = REFERENCE.mul(4.0, r.abs());
        quarters(a.min(REFERENCE.sub(2.0, a)).copysign(r))
    }

    pub(super) fn cos(x: f32) -> f32 {
        let r = REFERENCE.sub(x, x.round_ties_even());
        quarters(REFERENCE.sub(1.0, REFERENCE.mul(4.0, r.abs())))
    }

    fn quarters(w: f32) -> f32 {
        REFERENCE.add(w, REFERENCE.mul(w, horner(&SINE, REFERENCE.mul(w, w))))
    }
}

#[test]
fn flushing_inside_a_kernel_changes_nothing() {
    let spread = (0_u32..1 << 20).map(|k| f32::from_bits(k.wrapping_mul(0x9e37_79b1)));
    for x in every_binade().chain(spread.filter(|x| x.is_normal())) {
        if (-126.0..128.0).contains(&x) {
            same(ex2(x), flushed::ex2(x));
        }
        if x > 0.0 {
            same(ln2(x), flushed::ln2(x));
        }
        same(sin(x), flushed::sin(x));
        same(cos(x), flushed::cos(x));
    }
}

/// Returns the FNV-1a hash, a word at a time, of a kernel's results: for arguments of all kinds,
/// those around the split of `ln2`, and ordinary ones (-2..2 in steps of 2^-12).
fn fingerprint(kernel: fn(f32) -> f32) -> u64 {
    let spread = (0_u32..1 << 16).map(|k| f32::from_bits(k.wrapping_mul(0x9e37_79b1)));
    let split = (0x3f35_0000..0x3f35_1000).map(f32::from_bits);
    let ordinary = (-8192..8192).map(|k| k as f32 / 4096.0);
    let all = spread.chain(split).chain(ordinary);
    all.fold(0xcbf2_9ce4_8422_2325, |hash, x| {
        let bits = u64::from(canonical_nan(kernel(x)).to_bits());
        (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn the_constants_are_the_nearest_floats() {
    // The published decimals, rounded to double and then to float by Python.
    assert_eq!(
        EX2.map(f32::to_bits),
        [0x3f80_0000, 0x3f31_7218, 0x3e75_fdec, 0x3d63_57bb, 0x3c1d_9850, 0x3aaf_85c1, 0x391f_d103]
    );
    assert_eq!(
        LN2.map(f32::to_bits),
        [
            0x3ee2_a8eb,
            0xbf38_aa36,
            0x3ef6_3a06,
            0xbeb8_afbc,
            0x3e93_6939,
            0xbe74_6764,
            0x3e5c_9985,
            0xbe56_01ff,
            0x3e03_e4c3,
        ]
    );
    assert_eq!(
        SINE.map(f32::to_bits),
        [0x3f12_1fb5, 0xbf25_5ddf, 0x3da3_3427, 0xbb99_2261, 0x391e_9f5c]
    );
}

#[test]
fn the_bits_are_those_of_an_independent_implementation() {
    // From a Python script that takes the constants from the published table and computes each step
    // in double, rounded to float, tiny results flushed.
    assert_eq!(fingerprint(ex2), 0xcca0_5abd_3904_a032);
    assert_eq!(fingerprint(ln2), 0xd83e_a167_038e_152c);
    assert_eq!(fingerprint(sin), 0x857c_e04a_6f45_8571);
    assert_eq!(fingerprint(cos), 0x02aa_96b8_b59a_0419);
    same(ex2(-0.49694356), f32::from_bits(0x3f35_673c));
    same(ln2(0.70733297), f32::from_bits(0xbeff_c384));
    same(sin(-0.1), f32::from_bits(0xbf16_7918));
    same(cos(100.7), f32::from_bits(0xbe9e_39de));
}
