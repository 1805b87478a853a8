//! The vector engine of vertex programs, and macros.

use r500_chip::pvs::{MacroOp, VectorOp};
use r500_numerics::compare;

use super::{ARITH, Effect, Outcome};

/// Executes an instruction of the vector engine. Reserved opcodes give 0 (open).
pub(super) fn execute(op: VectorOp, [a, b, c]: [[f32; 4]; 3]) -> Outcome {
    let each = |f: &dyn Fn(f32, f32) -> f32| Outcome::of(std::array::from_fn(|i| f(a[i], b[i])));
    let set = |f: fn(f32, f32) -> bool| each(&|a, b| if f(a, b) { 1.0 } else { 0.0 });
    let push = |holds: fn(f32) -> bool| {
        let counter = a[3];
        let zero = counter == 0.0 && holds(b[3]);
        Outcome::counter(if zero { 0.0 } else { ARITH.add(counter, 1.0) })
    };
    let write = |holds: fn(f32) -> bool| Outcome { value: b, effect: Effect::Write(a.map(holds)) };
    let mux = |holds: fn(f32) -> bool| {
        Outcome::of(std::array::from_fn(|i| if holds(a[i]) { b[i] } else { c[i] }))
    };
    match op {
        VectorOp::DOT_PRODUCT => Outcome::of([ARITH.dot4(a, b); 4]),
        VectorOp::MULTIPLY => each(&|a, b| ARITH.product(a, b)),
        VectorOp::ADD => each(&|a, b| ARITH.add(a, b)),
        VectorOp::MULTIPLY_ADD => Outcome::of(multiply_add(a, b, c)),
        VectorOp::DISTANCE_VECTOR => Outcome::of([1.0, ARITH.product(a[1], b[1]), a[2], b[3]]),
        VectorOp::FRACTION => each(&|a, _| ARITH.frc(a)),
        VectorOp::MAXIMUM => each(&compare::max),
        VectorOp::MINIMUM => each(&compare::min),
        VectorOp::SET_GREATER_THAN_EQUAL => set(compare::ge),
        VectorOp::SET_LESS_THAN => set(compare::lt),
        VectorOp::MULTIPLYX2_ADD => Outcome::of(twice_multiply_add(a, b, c)),
        // The range of the clamp is not documented; no compiler emits it.
        VectorOp::MULTIPLY_CLAMP => each(&|a, b| ARITH.clamp01(ARITH.product(a, b))),
        VectorOp::FLT2FIX_DX => each(&|a, _| ARITH.floor(a)),
        VectorOp::FLT2FIX_DX_RND => each(&|a, _| ARITH.floor(ARITH.add(a, 0.5))),
        VectorOp::PRED_SET_EQ_PUSH => push(is_zero),
        VectorOp::PRED_SET_GT_PUSH => push(is_positive),
        VectorOp::PRED_SET_GTE_PUSH => push(is_not_negative),
        VectorOp::PRED_SET_NEQ_PUSH => push(is_not_zero),
        VectorOp::COND_WRITE_EQ => write(is_zero),
        VectorOp::COND_WRITE_GT => write(is_positive),
        VectorOp::COND_WRITE_GTE => write(is_not_negative),
        VectorOp::COND_WRITE_NEQ => write(is_not_zero),
        VectorOp::COND_MUX_EQ => mux(is_zero),
        VectorOp::COND_MUX_GT => mux(is_positive),
        VectorOp::COND_MUX_GTE => mux(is_not_negative),
        VectorOp::SET_GREATER_THAN => set(compare::gt),
        VectorOp::SET_EQUAL => set(compare::eq),
        VectorOp::SET_NOT_EQUAL => set(compare::ne),
        VectorOp::NOP => Outcome { value: [0.0; 4], effect: Effect::Write([false; 4]) },
        _ => Outcome::of([0.0; 4]),
    }
}

/// Executes a macro. Reserved opcodes give 0 (open).
pub(super) fn execute_macro(op: MacroOp, [a, b, c]: [[f32; 4]; 3]) -> [f32; 4] {
    match op {
        MacroOp::MADD => multiply_add(a, b, c),
        MacroOp::M2X_ADD => twice_multiply_add(a, b, c),
        _ => [0.0; 4],
    }
}

fn multiply_add(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|i| ARITH.mad(a[i], b[i], c[i]))
}

fn twice_multiply_add(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|i| ARITH.add(ARITH.mul(2.0, ARITH.product(a[i], b[i])), c[i]))
}

pub(super) fn is_zero(x: f32) -> bool {
    compare::eq(x, 0.0)
}

pub(super) fn is_not_zero(x: f32) -> bool {
    compare::ne(x, 0.0)
}

pub(super) fn is_positive(x: f32) -> bool {
    compare::gt(x, 0.0)
}

pub(super) fn is_not_negative(x: f32) -> bool {
    compare::ge(x, 0.0)
}
