//! The vector engine of vertex programs, and macros.

use r500_chip::pvs::{MacroOp, VectorOp};
use r500_numerics::compare;

use super::{ARITH, Effect, Outcome};

/// Executes an instruction of the vector engine. Reserved opcodes give 0 (open).
pub(super) fn execute(op: VectorOp, s: [[f32; 4]; 3]) -> Outcome {
    let [a, b, _] = s;
    match op {
        VectorOp::DOT_PRODUCT => Outcome::of([ARITH.dot4(a, b); 4]),
        VectorOp::MULTIPLY => each(s, |a, b| ARITH.product(a, b)),
        VectorOp::ADD => each(s, |a, b| ARITH.add(a, b)),
        VectorOp::MULTIPLY_ADD => Outcome::of(multiply_add(s)),
        VectorOp::DISTANCE_VECTOR => Outcome::of([1.0, ARITH.product(a[1], b[1]), a[2], b[3]]),
        VectorOp::FRACTION => each(s, |a, _| ARITH.frc(a)),
        VectorOp::MAXIMUM => each(s, compare::max),
        VectorOp::MINIMUM => each(s, compare::min),
        VectorOp::SET_GREATER_THAN_EQUAL => set(s, compare::ge),
        VectorOp::SET_LESS_THAN => set(s, compare::lt),
        VectorOp::MULTIPLYX2_ADD => Outcome::of(twice_multiply_add(s)),
        // The range of the clamp is not documented; no compiler emits it.
        VectorOp::MULTIPLY_CLAMP => each(s, |a, b| ARITH.clamp01(ARITH.product(a, b))),
        VectorOp::FLT2FIX_DX => each(s, |a, _| ARITH.floor(a)),
        VectorOp::FLT2FIX_DX_RND => each(s, |a, _| ARITH.floor(ARITH.add(a, 0.5))),
        VectorOp::PRED_SET_EQ_PUSH => push(s, is_zero),
        VectorOp::PRED_SET_GT_PUSH => push(s, is_positive),
        VectorOp::PRED_SET_GTE_PUSH => push(s, is_not_negative),
        VectorOp::PRED_SET_NEQ_PUSH => push(s, is_not_zero),
        VectorOp::COND_WRITE_EQ => write(s, is_zero),
        VectorOp::COND_WRITE_GT => write(s, is_positive),
        VectorOp::COND_WRITE_GTE => write(s, is_not_negative),
        VectorOp::COND_WRITE_NEQ => write(s, is_not_zero),
        VectorOp::COND_MUX_EQ => mux(s, is_zero),
        VectorOp::COND_MUX_GT => mux(s, is_positive),
        VectorOp::COND_MUX_GTE => mux(s, is_not_negative),
        VectorOp::SET_GREATER_THAN => set(s, compare::gt),
        VectorOp::SET_EQUAL => set(s, compare::eq),
        VectorOp::SET_NOT_EQUAL => set(s, compare::ne),
        VectorOp::NOP => Outcome { value: [0.0; 4], effect: Effect::Write([false; 4]) },
        _ => Outcome::of([0.0; 4]),
    }
}

/// Executes a macro. Reserved opcodes give 0 (open).
pub(super) fn execute_macro(op: MacroOp, s: [[f32; 4]; 3]) -> Outcome {
    match op {
        MacroOp::MADD => Outcome::of(multiply_add(s)),
        MacroOp::M2X_ADD => Outcome::of(twice_multiply_add(s)),
        _ => Outcome::of([0.0; 4]),
    }
}

#[inline(always)]
fn each([a, b, _]: [[f32; 4]; 3], f: impl Fn(f32, f32) -> f32) -> Outcome {
    Outcome::of(std::array::from_fn(|i| f(a[i], b[i])))
}

#[inline(always)]
fn set(sources: [[f32; 4]; 3], f: impl Fn(f32, f32) -> bool) -> Outcome {
    each(sources, |a, b| if f(a, b) { 1.0 } else { 0.0 })
}

#[inline(always)]
fn push([a, b, _]: [[f32; 4]; 3], holds: impl Fn(f32) -> bool) -> Outcome {
    let counter = a[3];
    let zero = is_zero(counter) && holds(b[3]);
    Outcome::counter(if zero { 0.0 } else { ARITH.add(counter, 1.0) })
}

#[inline(always)]
fn write([a, b, _]: [[f32; 4]; 3], holds: impl Fn(f32) -> bool) -> Outcome {
    Outcome { value: b, effect: Effect::Write(a.map(holds)) }
}

#[inline(always)]
fn mux([a, b, c]: [[f32; 4]; 3], holds: impl Fn(f32) -> bool) -> Outcome {
    Outcome::of(std::array::from_fn(|i| if holds(a[i]) { b[i] } else { c[i] }))
}

#[inline(always)]
fn multiply_add([a, b, c]: [[f32; 4]; 3]) -> [f32; 4] {
    std::array::from_fn(|i| ARITH.mad(a[i], b[i], c[i]))
}

#[inline(always)]
fn twice_multiply_add([a, b, c]: [[f32; 4]; 3]) -> [f32; 4] {
    std::array::from_fn(|i| ARITH.add(ARITH.mul(2.0, ARITH.product(a[i], b[i])), c[i]))
}

#[inline(always)]
pub(super) fn is_zero(x: f32) -> bool {
    compare::is_zero(x)
}

#[inline(always)]
pub(super) fn is_not_zero(x: f32) -> bool {
    compare::ne(x, 0.0)
}

#[inline(always)]
pub(super) fn is_positive(x: f32) -> bool {
    compare::gt(x, 0.0)
}

#[inline(always)]
pub(super) fn is_not_negative(x: f32) -> bool {
    compare::ge(x, 0.0)
}

/// Returns a component of the result of an operation that computes each component from the same component of its sources; of fewer
/// sources than three the others count for nothing. `None` for operations that combine components, write under a condition, or set the
/// predicate.
#[must_use]
pub fn component(op: VectorOp, operands: [f32; 3], saturate: bool) -> Option<f32> {
    let combines = matches!(op, VectorOp::DOT_PRODUCT | VectorOp::DISTANCE_VECTOR);
    match execute(op, operands.map(|x| [x; 4])) {
        Outcome { value, effect: Effect::None } if !combines && op.is_named() => {
            Some(if saturate { ARITH.clamp01(value[0]) } else { value[0] })
        }
        _ => None,
    }
}
