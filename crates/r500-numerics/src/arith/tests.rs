//! Compares the arithmetic with values worked out by hand and with two independent implementations:
//! the processor's arithmetic where no number is denormal, and integer arithmetic for products near
//! 2^-126.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

const REFERENCE: Arith = Arith::REFERENCE;
const ZERO_RULE: Arith = Arith::REFERENCE.with_zero_rule(true);
const KEEP: Arith = Arith { denormals: Denormals::Keep, ..Arith::REFERENCE };
const FUSED: Arith = Arith { fused: true, ..Arith::REFERENCE };

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const SMALLEST: f32 = f32::MIN_POSITIVE;
/// The largest and the smallest denormal.
const DENORMAL: f32 = f32::from_bits(0x007f_ffff);
const BIT: f32 = f32::from_bits(1);

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

/// Returns 2^n for n in -126..=127.
fn pow2(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// Random floats of all kinds.
struct Random(SplitMix64);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    fn float(&mut self) -> f32 {
        f32::from_bits(self.bits())
    }

    /// Returns a normal float from 2^-`spread` up to 2^`spread`, of either sign.
    fn near_one(&mut self, spread: u32) -> f32 {
        let exponent = 127 - spread + self.bits() % (2 * spread);
        f32::from_bits(self.bits() & 0x807f_ffff | exponent << 23)
    }
}

// Operands.

#[test]
fn flush_makes_zeros_of_denormals_only() {
    same(flush(BIT), 0.0);
    same(flush(-BIT), -0.0);
    same(flush(DENORMAL), 0.0);
    same(flush(-DENORMAL), -0.0);
    for x in [0.0, -0.0, SMALLEST, -SMALLEST, 1.0, INF, -INF] {
        same(flush(x), x);
    }
    same(flush(f32::from_bits(0xffc1_2345)), f32::from_bits(0xffc1_2345));
}

#[test]
fn a_denormal_operand_is_a_zero_of_its_sign() {
    same(REFERENCE.add(DENORMAL, DENORMAL), 0.0);
    same(REFERENCE.add(-DENORMAL, -DENORMAL), -0.0);
    same(REFERENCE.add(-DENORMAL, 0.0), 0.0);
    same(REFERENCE.sub(-DENORMAL, DENORMAL), -0.0);
    // Without flushing, these results would be other normal numbers.
    same(REFERENCE.add(SMALLEST, DENORMAL), SMALLEST);
    same(REFERENCE.mul(DENORMAL, f32::MAX), 0.0);
    same(REFERENCE.mul(DENORMAL, -2.0), -0.0);
    assert!(REFERENCE.mul(-DENORMAL, INF).is_nan());
    assert!(REFERENCE.div(DENORMAL, BIT).is_nan());
    same(REFERENCE.div(1.0, -DENORMAL), -INF);
    same(REFERENCE.floor(-DENORMAL), -0.0);
    same(REFERENCE.mad(DENORMAL, 4.0, -DENORMAL), 0.0);
    same(REFERENCE.one_minus_twice(DENORMAL), 1.0);
}

// Sums.

#[test]
fn a_tiny_sum_is_a_zero_of_its_sign() {
    let above = SMALLEST.next_up();
    same(REFERENCE.sub(above, SMALLEST), 0.0);
    same(REFERENCE.sub(SMALLEST, above), -0.0);
    same(REFERENCE.add(-1.5 * SMALLEST, SMALLEST), -0.0);
    same(REFERENCE.sub(2.0 * SMALLEST, SMALLEST), SMALLEST);
}

#[test]
fn zeros_and_infinities_add_as_in_ieee() {
    same(REFERENCE.add(0.0, -0.0), 0.0);
    same(REFERENCE.add(-0.0, -0.0), -0.0);
    same(REFERENCE.sub(1.0, 1.0), 0.0);
    same(REFERENCE.sub(-0.0, 0.0), -0.0);
    same(REFERENCE.add(f32::MAX, f32::MAX), INF);
    assert!(REFERENCE.sub(INF, INF).is_nan());
}

// Products.

#[test]
fn products_on_both_sides_of_the_bound() {
    // 2^25 - 1 = 31 * 601 * 1801, so 18631 * 1801 * 2^-151 is the bound itself, 2^-126 - 2^-151. It
    // is the midpoint between the last float below 2^-126 (with an unbounded exponent) and 2^-126,
    // and 2^-126 is the even one.
    let (a, b) = (18_631.0 * pow2(-64), 1_801.0 * pow2(-87));
    same(REFERENCE.mul(a, b), SMALLEST);
    same(REFERENCE.mul(-a, b), -SMALLEST);

    // 2^-126 - 2^-150 needs no rounding with an unbounded exponent, so it is tiny. Among denormals
    // it is a tie, which IEEE rounds up.
    let below_one = 1.0_f32.next_down();
    same(below_one * SMALLEST, SMALLEST);
    same(REFERENCE.mul(below_one, SMALLEST), 0.0);
    same(REFERENCE.mul(-below_one, SMALLEST), -0.0);

    // (1 + j 2^-23) (1 - j 2^-23) = 1 - j^2 2^-46, to be compared with 1 - 2^-25: tiny for
    // j^2 > 2^21, and 1448^2 < 2^21 < 1449^2. Up to j^2 = 2048^2 = 2^22 (1 - 2^-24, above), IEEE
    // rounds the product to 2^-126.
    let pair = |j: f32| {
        let step = pow2(-23);
        ((1.0 + j * step) * pow2(-63), (1.0 - j * step) * pow2(-63))
    };
    for (j, want) in [(1448.0, SMALLEST), (1449.0, 0.0), (2000.0, 0.0)] {
        let (a, b) = pair(j);
        same(a * b, SMALLEST);
        same(REFERENCE.mul(a, b), want);
    }
}

#[test]
fn zeros_and_infinities_multiply_as_in_ieee() {
    same(REFERENCE.mul(-2.0, 0.0), -0.0);
    same(REFERENCE.mul(-0.0, -0.0), 0.0);
    same(REFERENCE.mul(INF, -1.0), -INF);
    same(REFERENCE.mul(f32::MAX, -2.0), -INF);
    assert!(REFERENCE.mul(0.0, INF).is_nan() && REFERENCE.mul(NAN, 0.0).is_nan());
    // The product is far too small for the rounding to double to matter.
    same(REFERENCE.mul(SMALLEST, -SMALLEST), -0.0);
}

/// Returns a * b for normal floats, by integer arithmetic: the 48 bits of the product rounded to
/// 24, ties to even, and zero if the exponent is then below that of 2^-126.
fn product_in_integers(a: f32, b: f32) -> f32 {
    let parts = |x: f32| {
        let bits = x.to_bits();
        (u64::from(bits & 0x7f_ffff | 0x80_0000), (bits >> 23 & 0xff) as i32 - 150)
    };
    let ((a_int, a_exp), (b_int, b_exp)) = (parts(a), parts(b));
    let product = a_int * b_int;
    let cut = 64 - product.leading_zeros() - 24;
    let (rest, half) = (product & ((1 << cut) - 1), 1 << (cut - 1));
    let mut kept = product >> cut;
    if rest > half || rest == half && kept & 1 == 1 {
        kept += 1;
    }
    let mut exp = a_exp + b_exp + cut as i32;
    if kept == 1 << 24 {
        (kept, exp) = (1 << 23, exp + 1);
    }
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    // kept * 2^exp with 24 bits in kept.
    let magnitude = match exp + 150 {
        ..=0 => 0,
        255.. => 0x7f80_0000,
        biased => (biased as u32) << 23 | kept as u32 & 0x7f_ffff,
    };
    f32::from_bits(sign | magnitude)
}

#[test]
fn products_agree_with_integers_around_the_smallest_float() {
    let mut random = Random(SplitMix64::seed_from_u64(0x2545_f491_4f6c_dd1d));
    let (mut tiny, mut moved) = (0, 0);
    for _ in 0..500_000 {
        let a = random.near_one(40) * pow2(-60);
        // A product in 2^-128..2^-124, and products as near to 2^-126 as floats allow.
        let far = random.near_one(2) * pow2(-126);
        for target in [far, SMALLEST, -SMALLEST] {
            let b = (f64::from(target) / f64::from(a)) as f32;
            let product = REFERENCE.mul(a, b);
            same(product, product_in_integers(a, b));
            tiny += u32::from(product == 0.0);
            moved += u32::from(product == 0.0 && (a * b).abs() == SMALLEST);
        }
    }
    assert!(tiny > 100_000 && moved > 10_000, "{tiny} tiny, {moved} near the bound");
}

#[test]
fn normal_results_are_those_of_the_processor() {
    let mut random = Random(SplitMix64::seed_from_u64(0x9e37_79b9_7f4a_7c15));
    for _ in 0..1_000_000 {
        let (a, b) = (random.near_one(60), random.near_one(60));
        same(REFERENCE.mul(a, b), a * b);
        same(REFERENCE.div(a, b), a / b);
        same(REFERENCE.add(a, b), a + b);
        same(REFERENCE.sub(a, b), a - b);
        same(REFERENCE.mad(a, b, a), a * b + a);
        same(REFERENCE.rsq(a.abs()), 1.0 / a.abs().sqrt());
        same(REFERENCE.frc(a), a - a.floor());
    }
}

#[test]
fn kept_denormals_are_those_of_the_processor() {
    let mut random = Random(SplitMix64::seed_from_u64(0xda94_2042_e4dd_58b5));
    for _ in 0..1_000_000 {
        let (a, b) = (random.float(), random.float());
        for (got, want) in [
            (KEEP.mul(a, b), a * b),
            (KEEP.div(a, b), a / b),
            (KEEP.add(a, b), a + b),
            (KEEP.mad(a, b, b), a * b + b),
        ] {
            same(canonical_nan(got), canonical_nan(want));
        }
    }
    // Pairs whose quotient or product is denormal, which is rare for random bits.
    for _ in 0..1_000_000 {
        let (a, b) = (random.near_one(20) * pow2(-66), random.near_one(20) * pow2(66));
        same(KEEP.div(a, b), a / b);
        same(KEEP.mul(a, 1.0 / b), a * (1.0 / b));
    }
}

// The zero rule.

#[test]
fn a_zero_factor_makes_plus_zero() {
    for zero in [0.0, -0.0, DENORMAL, -DENORMAL] {
        for other in [1.0, -2.0, INF, -INF, NAN, -NAN, 0.0, -0.0, -BIT] {
            same(ZERO_RULE.product(zero, other), 0.0);
            same(ZERO_RULE.product(other, zero), 0.0);
            same(REFERENCE.mul_zero_rule(zero, other), 0.0);
        }
    }
}

#[test]
fn the_zero_rule_is_for_factors_not_for_products() {
    // Tiny products keep their sign: neither factor is zero.
    same(ZERO_RULE.product(-SMALLEST, SMALLEST), -0.0);
    same(ZERO_RULE.product(-SMALLEST, 0.5), -0.0);
    assert!(ZERO_RULE.product(NAN, 1.0).is_nan());
    same(ZERO_RULE.product(INF, -2.0), -INF);
    // The zero rule does not apply to products outside the ALU.
    same(ZERO_RULE.mul(-2.0, 0.0), -0.0);
    assert!(ZERO_RULE.mul(0.0, INF).is_nan());
}

#[test]
fn without_the_zero_rule_products_are_ieee() {
    same(REFERENCE.product(-2.0, 0.0), -0.0);
    assert!(REFERENCE.product(0.0, INF).is_nan());
}

#[test]
fn the_sign_of_the_zero_rule_reaches_the_sum() {
    // +0 + -0 = +0, but -0 + -0 = -0.
    same(ZERO_RULE.mad(-2.0, 0.0, -0.0), 0.0);
    same(REFERENCE.mad(-2.0, 0.0, -0.0), -0.0);
}

#[test]
fn the_other_sign_of_the_zero_rule() {
    let xor = Arith { zero_sign: ZeroSign::Xor, ..ZERO_RULE };
    same(xor.product(-2.0, 0.0), -0.0);
    same(xor.product(-INF, -0.0), 0.0);
    same(xor.product(-DENORMAL, INF), -0.0);
    // The sign of a NaN has no effect.
    same(xor.product(NAN, 0.0), 0.0);
    same(xor.product(-NAN, 0.0), 0.0);
    same(xor.product(-NAN, -0.0), -0.0);
}

#[test]
fn kept_denormals_are_no_zero_factors() {
    let keep = KEEP.with_zero_rule(true);
    same(keep.product(BIT, INF), INF);
    same(keep.product(-0.0, INF), 0.0);
}

// Multiply-add and dot products.

#[test]
fn multiply_add_rounds_twice() {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounding the product drops the last term (a tie, and
    // 1 + 2^-11 is even), so the sum is 0.
    let a = 1.0 + pow2(-12);
    let c = -(1.0 + pow2(-11));
    same(REFERENCE.mad(a, a, c), 0.0);
    same(FUSED.mad(a, a, c), pow2(-24));
    // A product that overflows is infinite before the addition.
    same(REFERENCE.mad(f32::MAX, 2.0, -f32::MAX), INF);
    same(FUSED.mad(f32::MAX, 2.0, -f32::MAX), f32::MAX);
    // A tiny product is flushed before the addition: 2^-127 + 2^-126 would be 1.5 * 2^-126.
    same(REFERENCE.mad(0.5, SMALLEST, SMALLEST), SMALLEST);
    same(FUSED.mad(0.5, SMALLEST, SMALLEST), 1.5 * SMALLEST);
}

#[test]
fn dot_products_go_from_left_to_right() {
    // Added to 2^24, each 1 is lost (a tie, and 2^24 is even). In another order, two of them would
    // be added to each other first. A sum of 3 counts as 4, a tie.
    let big = pow2(24);
    let one = 1.0;
    same(REFERENCE.dot3([big, one, one], [one; 3]), big);
    same(REFERENCE.dot3([one, one, big], [one; 3]), big + 2.0);
    same(REFERENCE.dot4([big, one, one, one], [one; 4]), big);
    same(REFERENCE.dot4([one, big, one, one], [one; 4]), big);
    same(REFERENCE.dot4([one, one, one, big], [one; 4]), big + 4.0);
    same(REFERENCE.dot2_add([big, one], [one; 2], one), big);
    same(REFERENCE.dot2_add([one, one], [one; 2], big), big + 2.0);
}

#[test]
fn dot_products_obey_the_zero_rule() {
    same(ZERO_RULE.dot3([0.0, 1.0, 2.0], [INF, 3.0, 4.0]), 11.0);
    same(ZERO_RULE.dot4([1.0, 0.0, 2.0, 0.0], [3.0, NAN, 4.0, -INF]), 11.0);
    same(ZERO_RULE.dot2_add([0.0, 2.0], [NAN, 3.0], 1.0), 7.0);
    assert!(REFERENCE.dot3([0.0, 1.0, 2.0], [INF, 3.0, 4.0]).is_nan());
    // The first product is not added to zero, which would lose its sign.
    same(REFERENCE.dot3([-0.0; 3], [1.0; 3]), -0.0);
    same(ZERO_RULE.dot3([-0.0; 3], [1.0; 3]), 0.0);
}

#[test]
fn fused_multiply_add_agrees_with_the_library() {
    let mut random = Random(SplitMix64::seed_from_u64(0x0123_4567_89ab_cdef));
    for _ in 0..300_000 {
        // Terms of similar magnitude, so that cancellation and ties occur.
        let (a, b, c) = (random.near_one(4), random.near_one(4), random.near_one(8));
        same(FUSED.mad(a, b, c), a.mul_add(b, c));
        let keep = Arith { fused: true, ..KEEP };
        let (a, b, c) = (a * pow2(-64), b * pow2(-64), c * pow2(-118));
        same(keep.mad(a, b, c), a.mul_add(b, c));
    }
    assert!(FUSED.mad(INF, 1.0, -INF).is_nan());
    same(FUSED.mad(1.0, -1.0, 1.0), 0.0);
    same(FUSED.with_zero_rule(true).mad(0.0, NAN, 3.0), 3.0);
    // 2^-126 - 2^-151 - 2^-200 is below the bound by less than a double can represent.
    let little = f64::from(pow2(-100)) * f64::from(pow2(-100));
    assert!(add_to_odd(TINY_BELOW, -little) < TINY_BELOW);
    assert!(add_to_odd(TINY_BELOW, little) > TINY_BELOW);
    assert!(add_to_odd(-TINY_BELOW, little) > -TINY_BELOW);
    assert!(add_to_odd(-TINY_BELOW, -little) < -TINY_BELOW);
    assert_eq!(TINY_BELOW - little, TINY_BELOW);
}

// Quotients and roots.

#[test]
fn reciprocals_of_special_values() {
    same(REFERENCE.rcp(0.0), INF);
    same(REFERENCE.rcp(-0.0), -INF);
    same(REFERENCE.rcp(DENORMAL), INF);
    same(REFERENCE.rcp(-BIT), -INF);
    same(REFERENCE.rcp(INF), 0.0);
    same(REFERENCE.rcp(-INF), -0.0);
    assert!(REFERENCE.rcp(NAN).is_nan());
    same(REFERENCE.rcp(SMALLEST), pow2(126));
    same(REFERENCE.rcp(-4.0), -0.25);
}

#[test]
fn reciprocals_of_huge_numbers_are_zero() {
    // 1 / 2^126 is the smallest reciprocal that is not denormal.
    let last = pow2(126);
    same(REFERENCE.rcp(last), SMALLEST);
    same(REFERENCE.rcp(-last), -SMALLEST);
    same(REFERENCE.rcp(last.next_up()), 0.0);
    same(REFERENCE.rcp(-last.next_up()), -0.0);
    same(REFERENCE.rcp(f32::MAX), 0.0);
    same(KEEP.rcp(2.0 * last), 0.5 * SMALLEST);
    same(KEEP.rcp(0.5 * SMALLEST), 2.0 * last);
}

#[test]
fn a_quotient_is_tiny_as_a_product_is() {
    // The quotient 2^-126 - 2^-150, as for products.
    let (a, b) = (1.0_f32.next_down(), pow2(126));
    same(a / b, SMALLEST);
    same(REFERENCE.div(a, b), 0.0);
    same(REFERENCE.div(-a, b), -0.0);
    same(REFERENCE.div(1.0_f32.next_up(), b), SMALLEST.next_up());
}

#[test]
fn reciprocal_roots_of_special_values() {
    same(REFERENCE.rsq(4.0), 0.5);
    same(REFERENCE.rsq(0.25), 2.0);
    same(REFERENCE.rsq(SMALLEST), pow2(63));
    same(REFERENCE.rsq(0.0), INF);
    same(REFERENCE.rsq(-0.0), -INF);
    same(REFERENCE.rsq(BIT), INF);
    same(REFERENCE.rsq(-BIT), -INF);
    same(REFERENCE.rsq(INF), 0.0);
    for x in [-SMALLEST, -1.0, f32::MIN, -INF, NAN] {
        assert!(REFERENCE.rsq(x).is_nan(), "{x:e}");
    }
    same(KEEP.rsq(BIT * 2.0), pow2(74));
}

#[test]
fn the_root_is_rounded_before_the_quotient() {
    // 1 - 2^-23 has the root 1 - 2^-24 - 2^-47 - ..., which rounds to 1 - 2^-24; the reciprocal of
    // that is 1 + 2^-24 + 2^-48 + ..., above the midpoint between 1 and 1 + 2^-23.
    same(REFERENCE.rsq(1.0 - pow2(-23)), 1.0_f32.next_up());
    // 1 - 2^-24 has the root 1 - 2^-25 - 2^-51 - ..., below the midpoint, so it rounds to 1 - 2^-24
    // too. Rounded once, 1 + 2^-25 + ... would be 1.
    same(REFERENCE.rsq(1.0_f32.next_down()), 1.0_f32.next_up());
}

// Fractions.

#[test]
fn fractions() {
    same(REFERENCE.frc(1.25), 0.25);
    same(REFERENCE.frc(-1.25), 0.75);
    for x in [0.0, -0.0, 1.0, -7.0, 8_388_609.0, f32::MAX, f32::MIN] {
        same(REFERENCE.frc(x), 0.0);
    }
    for x in [BIT, -BIT, DENORMAL, -DENORMAL] {
        same(REFERENCE.frc(x), 0.0);
    }
    for x in [INF, -INF, NAN] {
        assert!(REFERENCE.frc(x).is_nan(), "{x:e}");
    }
    same(REFERENCE.frc(SMALLEST), SMALLEST);
}

#[test]
fn a_fraction_may_round_to_one() {
    // Floats below 1 lie 2^-24 apart; 1 - 2^-25 is halfway and 1 is even.
    same(REFERENCE.frc(-SMALLEST), 1.0);
    same(REFERENCE.frc(-pow2(-25)), 1.0);
    same(REFERENCE.frc(-pow2(-25).next_up()), 1.0_f32.next_down());
}

#[test]
fn floors() {
    same(REFERENCE.floor(-0.5), -1.0);
    same(REFERENCE.floor(0.5), 0.0);
    same(REFERENCE.floor(-0.0), -0.0);
    same(REFERENCE.floor(-INF), -INF);
    same(REFERENCE.floor(8_388_609.0), 8_388_609.0);
    same(KEEP.floor(-BIT), -1.0);
}

// Clamping and output modifiers.

#[test]
fn clamping() {
    for x in [0.0, -0.0, -1.0, -INF, DENORMAL, -DENORMAL, -SMALLEST] {
        same(REFERENCE.clamp01(x), 0.0);
    }
    for x in [1.0, 1.5, INF] {
        same(REFERENCE.clamp01(x), 1.0);
    }
    for x in [SMALLEST, 0.5, 1.0_f32.next_down()] {
        same(REFERENCE.clamp01(x), x);
    }
}

#[test]
fn clamping_nan() {
    let nan = f32::from_bits(0xff81_2345);
    same(REFERENCE.clamp01(nan), 0.0);
    let reading = |clamp_nan| Arith { clamp_nan, ..REFERENCE };
    same(reading(ClampNan::One).clamp01(nan), 1.0);
    same(reading(ClampNan::Nan).clamp01(nan), CANONICAL_NAN);
    same(reading(ClampNan::One).clamp01(-0.0), 0.0);
}

#[test]
fn finishing_scales() {
    for factor in [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125] {
        same(finish(3.0, factor), 3.0 * factor);
        same(finish(-0.0, factor), -0.0);
        same(finish(-INF, factor), -INF);
    }
    same(finish(f32::MAX, 2.0), INF);
}

#[test]
fn finishing_flushes() {
    // Flushed before scaling: eight times the denormal would be normal.
    same(finish(DENORMAL, 8.0), 0.0);
    same(finish(-DENORMAL, 1.0), -0.0);
    // Flushed after scaling.
    same(finish(SMALLEST, 1.0), SMALLEST);
    same(finish(SMALLEST, 0.5), 0.0);
    same(finish(-SMALLEST, 0.125), -0.0);
    same(finish(8.0 * SMALLEST, 0.125), SMALLEST);
    same(finish(-(8.0 * SMALLEST).next_down(), 0.125), -0.0);
    // Half of this is 2^-126 - 2^-150, which IEEE would round up.
    same(finish((2.0 * SMALLEST).next_down(), 0.5), 0.0);
}

#[test]
fn finishing_leaves_one_nan() {
    for bits in [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff] {
        for factor in [1.0, 8.0, 0.125] {
            same(finish(f32::from_bits(bits), factor), f32::from_bits(0x7fc0_0000));
        }
        same(canonical_nan(f32::from_bits(bits)), f32::from_bits(0x7fc0_0000));
    }
    same(canonical_nan(DENORMAL), DENORMAL);
    same(canonical_nan(-INF), -INF);
}

#[test]
fn default_is_the_reference() {
    assert_eq!(Arith::default(), Arith::REFERENCE);
    assert!(Arith::REFERENCE.with_zero_rule(true).zero_rule && !Arith::REFERENCE.zero_rule);
}
