#![allow(clippy::unwrap_used)]

use std::f32::consts::PI;

use r500_chip::pvs::INSTRUCTIONS;
use r500_chip::values::FlowOp;
use r500_chip::vap::{
    VapOutVtxFmt0, VapPvsCodeCntl0, VapPvsCodeCntl1, VapPvsConstCntl, VapPvsFlowCntlAddrsLw,
    VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex,
};

use super::*;
use crate::{Controls, Flow};

/// A program's registers, instruction memory and constants.
struct Setup {
    controls: Controls,
    memory: Vec<[u32; 4]>,
    constants: Vec<[f32; 4]>,
}

impl Setup {
    fn interpreter(&self) -> Interpreter {
        Interpreter::new(&Program::new(self.controls.clone(), &self.memory), &self.constants)
    }
}

/// Loads assembly lines and constants; flow control is a list of (opcode, act, count, last, first).
fn setup(lines: &[&str], constants: &[[f32; 4]], flow: &[(u8, u16, u16, u16, u16)]) -> Setup {
    let mut memory = vec![[0; 4]; INSTRUCTIONS];
    for (words, line) in memory.iter_mut().zip(lines) {
        *words = line.parse::<Instruction>().unwrap().0;
    }
    let flow = flow.iter().zip(0..).map(|(&(op, act, count, last, first), number)| Flow {
        number,
        op: FlowOp::new(op),
        low: VapPvsFlowCntlAddrsLw(u32::from(act) | u32::from(count) << 16),
        high: VapPvsFlowCntlAddrsUw(u32::from(last) | u32::from(first) << 16),
        index: VapPvsFlowCntlLoopIndex(1 << 8),
    });
    Setup {
        controls: Controls {
            range: VapPvsCodeCntl0((lines.len() as u32 - 1) << 20),
            inputs: VapPvsCodeCntl1(0),
            constants: VapPvsConstCntl(0),
            outputs: VapOutVtxFmt0(0),
            flow: flow.collect(),
        },
        memory,
        constants: constants.to_vec(),
    }
}

/// The run executed as many instructions as it may.
#[derive(Debug, PartialEq, Eq)]
struct OutOfFuel;

/// Runs a program with a limit of instructions. Returns how many it executed.
fn run_limited(
    interpreter: &Interpreter,
    inputs: &[[f32; 4]; INPUTS],
    outputs: &mut [[f32; 4]; OUTPUTS],
    limit: u64,
) -> Result<u64, OutOfFuel> {
    let mut executed = 0;
    interpreter.run(inputs, outputs, || {
        executed += 1;
        if executed > limit { Err(OutOfFuel) } else { Ok(()) }
    })?;
    Ok(executed)
}

/// Limit of instructions of terminating programs.
const MOST: u64 = 1 << 20;

fn run(setup: &Setup, input: [f32; 4]) -> [[f32; 4]; OUTPUTS] {
    let mut inputs = [[0.0; 4]; INPUTS];
    inputs[0] = input;
    let mut outputs = [[0.0; 4]; OUTPUTS];
    run_limited(&setup.interpreter(), &inputs, &mut outputs, MOST).unwrap();
    outputs
}

const IN: &str = "input[0].xyzw";

fn one(op: &str, sources: &str, constants: &[[f32; 4]], input: [f32; 4]) -> [f32; 4] {
    run(&setup(&[&format!("out[0].xyzw = {op} {sources}")], constants, &[]), input)[0]
}

#[test]
fn vector_operations_equal_double_precision() {
    let a = [1.5_f32, -2.25, 0.0, 3.0e5];
    let b = [0.3_f32, 7.5, f32::INFINITY, -1.0e-3];
    let c = [10.0_f32, -0.125, 4.0, 0.0];
    type Expected = fn(f64, f64, f64) -> f64;
    let rows: [(&str, &str, Expected); 9] = [
        ("VE_MULTIPLY", "2", |a, b, _| if a == 0.0 || b == 0.0 { 0.0 } else { a * b }),
        ("VE_ADD", "2", |a, b, _| a + b),
        ("VE_MULTIPLY_ADD", "3", |a, b, c| if a == 0.0 { c } else { a * b + c }),
        ("VE_FRACTION", "1", |a, _, _| a - a.floor()),
        ("VE_MAXIMUM", "2", |a, b, _| a.max(b)),
        ("VE_MINIMUM", "2", |a, b, _| a.min(b)),
        ("VE_SET_GREATER_THAN_EQUAL", "2", |a, b, _| f64::from(u8::from(a >= b))),
        ("VE_SET_LESS_THAN", "2", |a, b, _| f64::from(u8::from(a < b))),
        ("VE_COND_MUX_GTE", "3", |a, b, c| if a >= 0.0 { b } else { c }),
    ];
    for (op, sources, expected) in rows {
        let sources = match sources {
            "1" => IN.to_owned(),
            "2" => format!("{IN} const[0].xyzw"),
            _ => format!("{IN} const[0].xyzw const[1].xyzw"),
        };
        let result = one(op, &sources, &[b, c], a);
        for i in 0..4 {
            let expected = expected(a[i].into(), b[i].into(), c[i].into());
            let close = (f64::from(result[i]) - expected).abs() <= expected.abs() * 2e-7;
            assert!(
                close || f64::from(result[i]) == expected,
                "{op} {i}: {} {expected}",
                result[i]
            );
        }
    }
}

#[test]
fn dot_products_take_zero_times_infinity_for_zero() {
    let result = one(
        "VE_DOT_PRODUCT",
        &format!("{IN} const[0].xyzw"),
        &[[f32::INFINITY, 2.0, 3.0, 4.0]],
        [0.0, 1.0, 1.0, 0.5],
    );
    assert_eq!(result, [7.0; 4]);
}

#[test]
fn math_operations_equal_double_precision() {
    type Expected = fn(f64, f64) -> f64;
    let rows: [(&str, Expected); 8] = [
        ("ME_RECIP_IEEE", |x, _| 1.0 / x),
        ("ME_RECIP_SQRT_DX", |x, _| 1.0 / x.abs().sqrt()),
        ("ME_EXP_BASE2_FULL_DX", |x, _| x.exp2()),
        ("ME_LOG_BASE2_FULL_DX", |x, _| x.abs().log2()),
        ("ME_EXP_BASEE_FF", |x, _| x.exp()),
        ("ME_SIN", |x, _| x.sin()),
        ("ME_COS", |x, _| x.cos()),
        ("ME_POWER_FUNC_FF", |x, y| x.powf(y)),
    ];
    for (op, expected) in rows {
        for x in [0.4_f32, 1.75, 3.0] {
            let y = 2.5_f32;
            let sources = match op {
                "ME_POWER_FUNC_FF" => "input[0].xxxx input[0].yyyy",
                _ => "input[0].xxxx",
            };
            let result = one(op, sources, &[], [x, y, 0.0, 0.0]);
            let expected = expected(x.into(), y.into());
            let error = (f64::from(result[0]) - expected).abs();
            assert!(error <= 4e-6 * expected.abs().max(1.0), "{op} {x}: {} {expected}", result[0]);
        }
    }
    // Angles outside -pi to pi count as the nearest end.
    for (x, end) in [(7.0, PI), (f32::INFINITY, PI), (-3.2, -PI), (f32::NEG_INFINITY, -PI)] {
        let of = |op, angle| one(op, "input[0].xxxx", &[], [angle, 0.0, 0.0, 0.0]);
        assert_eq!(of("ME_COS", x), of("ME_COS", end), "{x}");
        assert!((of("ME_COS", x)[0] + 1.0).abs() < 1e-6 && of("ME_SIN", x)[0].abs() < 1e-6, "{x}");
        assert!(of("ME_SIN", f32::NAN)[0].is_nan());
    }
    // The operand is the one that w selects.
    assert_eq!(one("ME_RECIP_DX", "input[0].___y", &[], [3.0, 4.0, 5.0, 6.0]), [0.25; 4]);
    assert_eq!(one("ME_RECIP_DX", "input[0].xxxx", &[], [0.0; 4]), [f32::MAX; 4]);
    assert_eq!(one("ME_RECIP_FF", "input[0].xxxx", &[], [0.0; 4]), [0.0; 4]);
}

#[test]
fn light_takes_exponent_and_products_in_its_own_order() {
    let light = |x, exponent, y| one("ME_LIGHT_COEFF_DX", IN, &[], [x, exponent, 0.0, y]);
    assert_eq!(light(0.5, 2.0, 0.25), [1.0, 0.5, 0.0625, 1.0]);
    assert_eq!(light(-0.5, 2.0, 0.25), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(light(0.5, 2.0, -1.0), [1.0, 0.5, 0.0, 1.0]);
}

#[test]
fn constants_are_addressed_relative_to_a0_and_are_zero_outside() {
    let lines = [
        "a0[0].x = VE_FLT2FIX_DX input[0].xxxx",
        "out[0].xyzw = VE_ADD const[a0.x+1].xyzw const[1].0000",
    ];
    let constants = [[1.0; 4], [2.0; 4], [3.0; 4]];
    let setup = setup(&lines, &constants, &[]);
    let at = |x: f32| run(&setup, [x, 0.0, 0.0, 0.0])[0][0];
    assert_eq!([at(1.9), at(0.0), at(-1.0), at(-2.0), at(300.0)], [3.0, 2.0, 1.0, 0.0, 0.0]);
}

#[test]
fn loops_repeat_and_count_with_al() {
    // Adds 1 five times; aL counts 0, 1, ... and selects const[aL].
    let lines = [
        "temp[0].xyzw = VE_ADD const[9].xyzw const[9].xyzw",
        "temp[0].xyzw = VE_ADD temp[0].xyzw const[aL+0].xyzw",
        "out[0].xyzw = VE_ADD temp[0].xyzw const[9].xyzw",
    ];
    let constants: Vec<_> = (0..5).map(|n| [10.0_f32.powi(n), 1.0, 0.0, 0.0]).collect();
    let setup = setup(&lines, &constants, &[(2, 0, 5, 1, 1)]);
    assert_eq!(run(&setup, [0.0; 4])[0], [11111.0, 5.0, 0.0, 0.0]);
}

#[test]
fn nested_loops_that_end_and_begin_together_multiply() {
    let lines = [
        "temp[0].xyzw = VE_ADD const[0].xyzw const[0].xyzw",
        "temp[0].xyzw = VE_ADD temp[0].xyzw const[1].xyzw",
        "out[0].xyzw = VE_ADD temp[0].xyzw const[0].xyzw",
    ];
    // The inner loop comes first, as compilers number them at their ends.
    let setup = setup(&lines, &[[0.0; 4], [1.0; 4]], &[(2, 0, 3, 1, 1), (2, 0, 4, 1, 1)]);
    assert_eq!(run(&setup, [0.0; 4])[0], [12.0; 4]);
}

#[test]
fn a_call_returns_where_it_says() {
    let lines = [
        "temp[0].xyzw = VE_ADD const[1].xyzw const[0].xyzw",
        "out[0].xyzw = VE_ADD temp[0].xyzw const[0].xyzw",
    ];
    let mut setup = setup(&lines, &[[0.0; 4], [1.0; 4]], &[(3, 0, 100, 100, 1)]);
    // The subroutine, at 100: doubles.
    let double: Instruction = "temp[0].xyzw = VE_ADD temp[0].xyzw temp[0].xyzw".parse().unwrap();
    setup.memory[100] = double.0;
    assert_eq!(run(&setup, [0.0; 4])[0], [2.0; 4]);
}

#[test]
fn predicates_choose_between_two_writes() {
    // if (x > 0) out = 1 else out = 2, as compilers emit it.
    let lines = [
        "temp[1].w = ME_PRED_SET_GT input[0].xxxx",
        "(p) out[0].xyzw = VE_ADD const[1].xyzw const[0].xyzw",
        "temp[1].w = ME_PRED_SET_INV temp[1].wwww",
        "(p) out[0].xyzw = VE_ADD const[2].xyzw const[0].xyzw",
    ];
    let setup = setup(&lines, &[[0.0; 4], [1.0; 4], [2.0; 4]], &[]);
    assert_eq!(run(&setup, [5.0, 0.0, 0.0, 0.0])[0], [1.0; 4]);
    assert_eq!(run(&setup, [-5.0, 0.0, 0.0, 0.0])[0], [2.0; 4]);
}

/// Runs a program, and returns its outputs and how many instructions it executed.
fn counted(setup: &Setup) -> ([[f32; 4]; OUTPUTS], u64) {
    let mut outputs = [[0.0; 4]; OUTPUTS];
    let inputs = [[0.0; 4]; INPUTS];
    let executed = run_limited(&setup.interpreter(), &inputs, &mut outputs, MOST).unwrap();
    (outputs, executed)
}

#[test]
fn a_loop_ends_with_the_first_iteration_that_changes_nothing() {
    // while (i < 5) { i += 1 } as compilers emit it: 255 iterations under a predicate. temp[1].w counts levels.
    let lines = [
        "temp[0].x = VE_ADD temp[0].0000 temp[0].0000",
        "temp[2].x = VE_SLT temp[0].xxxx const[0].xxxx",
        "temp[1].w = ME_PRED_SET_NEQ temp[2].xxxx",
        "(p) temp[0].x = VE_ADD temp[0].xxxx temp[0].1111",
        "out[0].xyzw = VE_ADD temp[0].xxxx temp[0].0000",
    ];
    let (outputs, executed) = counted(&setup(&lines, &[[5.0; 4]], &[(2, 0, 255, 3, 1)]));
    assert_eq!(outputs[0], [5.0; 4]);
    // Six iterations reach the end (the predicate changes in the sixth), and one more changes nothing.
    assert_eq!(executed, 1 + 7 * 3 + 1);
    // Nested: the inner loop adds 5 once, and then the outer one changes nothing.
    let (outputs, executed) =
        counted(&setup(&lines, &[[5.0; 4]], &[(2, 0, 255, 3, 1), (2, 0, 255, 3, 1)]));
    assert_eq!(outputs[0], [5.0; 4]);
    assert!(executed < 50, "{executed}");
}

#[test]
fn a_loop_that_swaps_or_counts_runs_to_its_end() {
    // Swap: period 2, so that the result depends on the number of iterations.
    let swap = [
        "temp[0].xy = VE_ADD temp[0].0100 temp[0].0000",
        "temp[0].xy = VE_ADD temp[0].yx00 temp[0].0000",
        "out[0].xyzw = VE_ADD temp[0].xyxy temp[0].0000",
    ];
    for (count, expected) in [(254, [0.0, 1.0]), (255, [1.0, 0.0])] {
        let (outputs, executed) = counted(&setup(&swap, &[], &[(2, 0, count, 1, 1)]));
        assert_eq!(outputs[0][..2], expected, "{count}");
        assert_eq!(executed, u64::from(count) + 2);
    }
    // The first three iterations change nothing, since the loop index selects registers that are 1 already.
    let indexed = [
        "temp[1].x = VE_ADD temp[0].1111 temp[0].0000",
        "temp[2].x = VE_ADD temp[0].1111 temp[0].0000",
        "temp[3].x = VE_ADD temp[0].1111 temp[0].0000",
        "temp[aL+1].x = VE_ADD temp[0].1111 temp[0].0000",
        "out[0].xyzw = VE_ADD temp[7].xxxx temp[8].xxxx",
    ];
    let (outputs, executed) = counted(&setup(&indexed, &[], &[(2, 2, 7, 3, 3)]));
    assert_eq!((outputs[0], executed), ([1.0; 4], 3 + 7 + 1));
}

#[test]
fn ending_loops_at_a_fixed_point_does_not_change_results() {
    const LINES: [&str; 14] = [
        "temp[0].x = VE_ADD temp[0].xxxx temp[0].1111",
        "temp[1].xy = VE_ADD temp[1].yxzw temp[1].0000",
        "temp[0].xyzw = VE_MIN temp[0].xyzw const[0].xyzw",
        "temp[2].xyzw = VE_FRC temp[0].wzyx",
        "temp[2].x = VE_SLT temp[0].xxxx const[0].xxxx",
        "temp[3].w = ME_PRED_SET_NEQ temp[2].xxxx",
        "temp[3].w = ME_PRED_SET_INV temp[3].wwww",
        "(p) temp[0].x = VE_ADD temp[0].xxxx temp[0].1111",
        "(!p) temp[1].z = VE_ADD temp[1].zzzz temp[1].1111",
        "(p) out[1].xyzw = VE_ADD temp[0].xyzw temp[1].xyzw",
        "a0[0].x = VE_FLT2FIX_DX temp[0].xxxx",
        "temp[a0.x+4].x = VE_ADD temp[0].1111 temp[4].xxxx",
        "out[2].xyzw = VE_ADD const[a0.x+0].xyzw temp[1].0000",
        "temp[1].xyzw = VE_MUL temp[1].xyzw const[1].xyzw",
    ];
    let usable: Vec<&str> =
        LINES.into_iter().filter(|line| line.parse::<Instruction>().is_ok()).collect();
    assert!(usable.len() >= 11, "{usable:?}");
    let (mut runs, mut shorter) = (0, 0);
    arbtest::arbtest(|u| {
        let mut lines = Vec::new();
        for _ in 0..u.int_in_range(3..=9)? {
            lines.push(*u.choose(&usable)?);
        }
        lines.push("out[0].xyzw = VE_ADD temp[0].xyzw temp[1].xyzw");
        let last = lines.len() as u16 - 2;
        let mut flow = Vec::new();
        for _ in 0..u.int_in_range(1..=3)? {
            let first = u.int_in_range(1..=last)?;
            flow.push((
                2,
                first - 1,
                u.int_in_range(0..=20)?,
                u.int_in_range(first..=last)?,
                first,
            ));
        }
        let constants = [[5.0, 3.0, 0.0, 1.0], [2.0, 1.0, 0.5, 0.0]];
        let program = setup(&lines, &constants, &flow).interpreter();
        // A program that uses the loop index runs all iterations.
        let mut complete = program.clone();
        complete.changeable.loop_index = true;
        let run = |interpreter: &Interpreter| {
            let mut outputs = [[0.0; 4]; OUTPUTS];
            let executed = run_limited(interpreter, &[[0.0; 4]; INPUTS], &mut outputs, MOST);
            (executed.unwrap(), outputs.map(|output| output.map(f32::to_bits)))
        };
        let (executed, outputs) = run(&program);
        let (complete_executed, complete_outputs) = run(&complete);
        assert_eq!(outputs, complete_outputs, "{lines:#?} {flow:?}");
        runs += 1;
        shorter += u32::from(executed < complete_executed);
        Ok(())
    });
    assert!(shorter * 10 > runs, "{shorter} of {runs} loops end early");
}

#[test]
fn an_endless_program_ends_by_its_limit() {
    let setup =
        setup(&["temp[0].x = VE_ADD temp[0].x000 temp[0].x000"; 2], &[], &[(1, 0, 0, 0, 0)]);
    let mut outputs = [[0.0; 4]; OUTPUTS];
    let result = run_limited(&setup.interpreter(), &[[0.0; 4]; INPUTS], &mut outputs, 1000);
    assert_eq!(result, Err(OutOfFuel));
}
