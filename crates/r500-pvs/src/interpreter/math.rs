//! The math engine of vertex programs: scalar functions.

use std::f32::consts::{LOG2_E, PI, TAU};

use r500_chip::pvs::MathOp;
use r500_numerics::kernels;

use super::vector::{is_not_negative, is_not_zero, is_positive, is_zero};
use super::{ARITH, Effect, Outcome};

/// What makes turns of radians.
pub(super) const TURNS: f32 = 1.0 / TAU;

/// The operands of the math engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    /// The scalar of the first source.
    pub(super) x: f32,
    /// That of the second source.
    pub(super) factor: f32,
    /// That of the third source.
    pub(super) exponent: f32,
    /// The whole first source.
    pub(super) light: [f32; 4],
}

impl Scalars {
    /// Returns those of an instruction, which are the sources' w. Observed: programs that people wrote for their cards select the operand
    /// of `ME_SIN` in w and leave x unused; drivers select the same component in all four.
    pub(super) fn of_instruction([a, b, c]: [[f32; 4]; 3]) -> Self {
        Self { x: a[3], factor: b[3], exponent: c[3], light: a }
    }

    /// Returns those of the second operation of an instruction, which has a source of two scalars.
    pub(super) fn of_dual(source: [f32; 4]) -> Self {
        Self { x: source[0], factor: source[1], exponent: source[1], light: source }
    }
}

/// Executes an instruction of the math engine. Reserved opcodes give 0 (open).
/// Returns the result of an operation that gives one scalar: of `x`, and of a power its exponent. `None` for others, those that give a
/// vector or set the predicate.
#[must_use]
pub fn scalar(op: MathOp, x: f32, exponent: f32) -> Option<f32> {
    let gives_vector = matches!(
        op,
        MathOp::EXP_BASE2_DX | MathOp::LOG_BASE2_DX | MathOp::LIGHT_COEFF_DX | MathOp::MULTIPLY
    );
    let scalars = Scalars { x, factor: exponent, exponent, light: [x; 4] };
    match execute(op, scalars) {
        Outcome { value, effect: Effect::None } if !gives_vector => Some(value[0]),
        _ => None,
    }
}

pub(super) fn execute(op: MathOp, scalars: Scalars) -> Outcome {
    let Scalars { x, factor, exponent, light } = scalars;
    let scalar = |value: f32| Outcome::of([value; 4]);
    let set = |holds: bool| Outcome::counter(if holds { 0.0 } else { 1.0 });
    match op {
        MathOp::EXP_BASE2_DX => {
            let floor = ARITH.floor(x);
            Outcome::of([kernels::ex2(floor), ARITH.frc(x), kernels::ex2(x), 1.0])
        }
        MathOp::LOG_BASE2_DX => Outcome::of(log_parts(x)),
        MathOp::EXP_BASEE_FF => scalar(kernels::ex2(ARITH.mul(x, LOG2_E))),
        MathOp::LIGHT_COEFF_DX => Outcome::of(self::light(light)),
        MathOp::POWER_FUNC_FF => scalar(power(x, exponent)),
        MathOp::POWER_FUNC_FF_CLAMP_B => scalar(power(x, not_negative(exponent))),
        MathOp::POWER_FUNC_FF_CLAMP_B1 => scalar(power(x, exponent.clamp(0.0, 1.0))),
        MathOp::POWER_FUNC_FF_CLAMP_01 => scalar(ARITH.clamp01(power(x, exponent))),
        MathOp::RECIP_DX => scalar(finite(ARITH.rcp(x))),
        MathOp::RECIP_FF => scalar(zero_for_zero(x, |x| ARITH.rcp(x))),
        MathOp::RECIP_IEEE => scalar(ARITH.rcp(x)),
        MathOp::RECIP_SQRT_DX => scalar(finite(ARITH.rsq(x.abs()))),
        MathOp::RECIP_SQRT_FF => scalar(zero_for_zero(x.abs(), |x| ARITH.rsq(x))),
        MathOp::RECIP_SQRT_IEEE => scalar(ARITH.rsq(x)),
        MathOp::MULTIPLY => scalar(ARITH.product(x, factor)),
        MathOp::EXP_BASE2_FULL_DX => scalar(kernels::ex2(x)),
        MathOp::LOG_BASE2_FULL_DX => scalar(finite(kernels::ln2(x.abs()))),
        MathOp::LOG_BASE2_IEEE => scalar(kernels::ln2(x.abs())),
        // The kernels use turns, vertex programs radians (observed).
        MathOp::SIN => scalar(kernels::sin(ARITH.mul(angle(x), TURNS))),
        MathOp::COS => scalar(kernels::cos(ARITH.mul(angle(x), TURNS))),
        MathOp::PRED_SET_EQ => set(is_zero(x)),
        MathOp::PRED_SET_GT => set(is_positive(x)),
        MathOp::PRED_SET_GTE => set(is_not_negative(x)),
        MathOp::PRED_SET_NEQ => set(is_not_zero(x)),
        // Disables execution: a counter that no pop ends (open).
        MathOp::PRED_SET_CLR => Outcome::counter(f32::MAX),
        MathOp::PRED_SET_INV => Outcome::counter(match x {
            1.0 => 0.0,
            x if is_zero(x) => 1.0,
            x => x,
        }),
        MathOp::PRED_SET_POP => Outcome::counter(not_negative(ARITH.sub(x, 1.0))),
        MathOp::PRED_SET_RESTORE => Outcome::counter(x),
        MathOp::NOP => Outcome { value: [0.0; 4], effect: Effect::Write([false; 4]) },
        _ => scalar(0.0),
    }
}

/// Returns a number, 0 in place of negative ones and NaN. By bits: a comparison may become an instruction of AArch64 that gives NaN for
/// signalling NaN, as [`f32::max`] does there.
fn not_negative(x: f32) -> f32 {
    let positive = 1..=f32::INFINITY.to_bits();
    if positive.contains(&x.to_bits()) { x } else { 0.0 }
}

/// Returns an angle, in place of others the nearest of -pi to pi; NaN stays. By bits, as [`not_negative`].
fn angle(x: f32) -> f32 {
    match x.to_bits() {
        bits if (PI.to_bits()..=f32::INFINITY.to_bits()).contains(&bits) => PI,
        bits if ((-PI).to_bits()..=f32::NEG_INFINITY.to_bits()).contains(&bits) => -PI,
        _ => x,
    }
}

/// Replaces infinities by the greatest number of their sign.
pub(super) fn finite(x: f32) -> f32 {
    if x.is_nan() { x } else { x.clamp(f32::MIN, f32::MAX) }
}

fn zero_for_zero(x: f32, f: impl Fn(f32) -> f32) -> f32 {
    if is_zero(x) { 0.0 } else { f(x) }
}

fn power(base: f32, exponent: f32) -> f32 {
    if is_zero(exponent) {
        return 1.0;
    }
    kernels::ex2(ARITH.product(exponent, kernels::ln2(base)))
}

/// Returns exponent, mantissa, logarithm, 1.
fn log_parts(x: f32) -> [f32; 4] {
    let log = finite(kernels::ln2(x.abs()));
    let exponent = log.floor();
    let mantissa = ARITH.mul(x.abs(), kernels::ex2(-exponent));
    [exponent, mantissa, log, 1.0]
}

/// Returns lighting coefficients of (x, exponent, 0, y): 1, max(x, 0), x > 0 ? max(y, 0)^exponent : 0, 1.
fn light([x, exponent, _, y]: [f32; 4]) -> [f32; 4] {
    // Slightly below 128, as in the fixed-function lighting for which the instruction exists.
    const LIMIT: f32 = 127.996_1;
    let exponent = if exponent.is_nan() { 0.0 } else { exponent.clamp(-LIMIT, LIMIT) };
    let specular =
        if is_positive(x) { power(if is_positive(y) { y } else { 0.0 }, exponent) } else { 0.0 };
    [1.0, if is_positive(x) { x } else { 0.0 }, specular, 1.0]
}
