//! The vector engine of vertex programs, and macros.

use r500_chip::pvs::{MacroOp, VectorOp};
use r500_numerics::compare;

use super::{ARITH, Apply, Effect, Once, Outcome};

/// Executes an instruction of the vector engine.
pub(super) fn execute(op: VectorOp, sources: [[f32; 4]; 3]) -> Outcome {
    apply(op, Once(sources))
}

/// Passes the function of an instruction of the vector engine. Reserved opcodes give 0 (open).
pub(super) fn apply<A: Apply<[[f32; 4]; 3]>>(op: VectorOp, with: A) -> A::Output {
    match op {
        VectorOp::DOT_PRODUCT => with.apply(|[a, b, _]| Outcome::of([ARITH.dot4(a, b); 4])),
        VectorOp::MULTIPLY => with.apply(|s| each(s, |a, b| ARITH.product(a, b))),
        VectorOp::ADD => with.apply(|s| each(s, |a, b| ARITH.add(a, b))),
        VectorOp::MULTIPLY_ADD => with.apply(|s| Outcome::of(multiply_add(s))),
        VectorOp::DISTANCE_VECTOR => {
            with.apply(|[a, b, _]| Outcome::of([1.0, ARITH.product(a[1], b[1]), a[2], b[3]]))
        }
        VectorOp::FRACTION => with.apply(|s| each(s, |a, _| ARITH.frc(a))),
        VectorOp::MAXIMUM => with.apply(|s| each(s, compare::max)),
        VectorOp::MINIMUM => with.apply(|s| each(s, compare::min)),
        VectorOp::SET_GREATER_THAN_EQUAL => with.apply(|s| set(s, compare::ge)),
        VectorOp::SET_LESS_THAN => with.apply(|s| set(s, compare::lt)),
        VectorOp::MULTIPLYX2_ADD => with.apply(|s| Outcome::of(twice_multiply_add(s))),
        // The range of the clamp is not documented; no compiler emits it.
        VectorOp::MULTIPLY_CLAMP => {
            with.apply(|s| each(s, |a, b| ARITH.clamp01(ARITH.product(a, b))))
        }
        VectorOp::FLT2FIX_DX => with.apply(|s| each(s, |a, _| ARITH.floor(a))),
        VectorOp::FLT2FIX_DX_RND => with.apply(|s| each(s, |a, _| ARITH.floor(ARITH.add(a, 0.5)))),
        VectorOp::PRED_SET_EQ_PUSH => with.apply(|s| push(s, is_zero)),
        VectorOp::PRED_SET_GT_PUSH => with.apply(|s| push(s, is_positive)),
        VectorOp::PRED_SET_GTE_PUSH => with.apply(|s| push(s, is_not_negative)),
        VectorOp::PRED_SET_NEQ_PUSH => with.apply(|s| push(s, is_not_zero)),
        VectorOp::COND_WRITE_EQ => with.apply(|s| write(s, is_zero)),
        VectorOp::COND_WRITE_GT => with.apply(|s| write(s, is_positive)),
        VectorOp::COND_WRITE_GTE => with.apply(|s| write(s, is_not_negative)),
        VectorOp::COND_WRITE_NEQ => with.apply(|s| write(s, is_not_zero)),
        VectorOp::COND_MUX_EQ => with.apply(|s| mux(s, is_zero)),
        VectorOp::COND_MUX_GT => with.apply(|s| mux(s, is_positive)),
        VectorOp::COND_MUX_GTE => with.apply(|s| mux(s, is_not_negative)),
        VectorOp::SET_GREATER_THAN => with.apply(|s| set(s, compare::gt)),
        VectorOp::SET_EQUAL => with.apply(|s| set(s, compare::eq)),
        VectorOp::SET_NOT_EQUAL => with.apply(|s| set(s, compare::ne)),
        VectorOp::NOP => {
            with.apply(|_| Outcome { value: [0.0; 4], effect: Effect::Write([false; 4]) })
        }
        _ => with.apply(|_| Outcome::of([0.0; 4])),
    }
}

/// Executes a macro.
pub(super) fn execute_macro(op: MacroOp, sources: [[f32; 4]; 3]) -> Outcome {
    apply_macro(op, Once(sources))
}

/// Passes the function of a macro. Reserved opcodes give 0 (open).
pub(super) fn apply_macro<A: Apply<[[f32; 4]; 3]>>(op: MacroOp, with: A) -> A::Output {
    match op {
        MacroOp::MADD => with.apply(|s| Outcome::of(multiply_add(s))),
        MacroOp::M2X_ADD => with.apply(|s| Outcome::of(twice_multiply_add(s))),
        _ => with.apply(|_| Outcome::of([0.0; 4])),
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
    let zero = counter == 0.0 && holds(b[3]);
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
    compare::eq(x, 0.0)
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
