//! Functions of vertex programs: what becomes of predicates, addresses and loops. That they compute what the interpreter does is tested with the
//! engines, in `r500-gen`.
#![allow(clippy::unwrap_used, clippy::panic)]

use r500_chip::values::FlowOp;
use r500_chip::vap::{VapPvsFlowCntlAddrsLw, VapPvsFlowCntlAddrsUw, VapPvsFlowCntlLoopIndex};
use r500_lift::{VertexLiftError, lift_vertex};
use r500_pvs::{Controls, Flow, FlowTreeError, Instruction, Program};

/// A flow-control instruction: operation, instruction after which it acts, count or target, last instruction, first one, step of aL.
type Transfer = (FlowOp, u32, u32, u32, u32, u32);

fn program(lines: &[&str], flow: &[Transfer]) -> Program {
    let code: Vec<Instruction> = lines.iter().map(|line| line.parse().unwrap()).collect();
    let mut controls = Controls::of_code(0, &code);
    controls.flow = (0..)
        .zip(flow)
        .map(|(number, &(op, act, count, last, first, step))| Flow {
            number,
            op,
            low: VapPvsFlowCntlAddrsLw(act | count << 16),
            high: VapPvsFlowCntlAddrsUw(last | first << 16),
            index: VapPvsFlowCntlLoopIndex(step << 8),
        })
        .collect();
    Program::from_code(controls, 0, code)
}

fn text(lines: &[&str], flow: &[Transfer]) -> String {
    lift_vertex(&program(lines, flow)).unwrap().function.to_string()
}

#[test]
fn constants_are_uniforms_and_products_have_the_zero_rule() {
    let text = text(&["out[1].x = VE_MAD input[0].xxxx const[5].yyyy -const[6].xxxx"], &[]);
    assert_eq!(
        text,
        "uniform %4: f32 = const 5.1\n\
         uniform %5: f32 = const 6.0\n\
         %0: f32 = input 0.0\n\
         %6: f32 = %0~ * %4~ - %5\n\
         fuel 1 at 0\n\
         result[0] = %6\n\
         result[1] = 0\n\
         result[2] = 0\n\
         result[3] = 0\n"
    );
}

#[test]
fn a_predicate_is_a_mask_and_a_write_under_it_a_select() {
    let text = text(
        &[
            "temp[1].w = ME_PRED_SET_GT input[0].xxxx",
            "(p) out[0].x = VE_ADD input[1].yyyy input[1].0000",
        ],
        &[],
    );
    assert!(text.contains("mask = 0 < %0"), "{text}");
    assert!(text.contains(" ? "), "{text}");
}

#[test]
fn an_address_in_a0_is_an_index_of_the_table() {
    let text = text(
        &[
            "a0[0].x = VE_FLT2FIX_DX input[0].xxxx",
            "out[0].x = VE_ADD const[a0.x+3].zzzz input[0].0000",
        ],
        &[],
    );
    assert!(text.contains(" + 3].2"), "{text}");
}

const COUNT: [&str; 4] = [
    "temp[1].w = ME_PRED_SET_NEQ input[0].xxxx",
    "(p) temp[0].x = VE_ADD temp[0].xxxx input[0].xxxx",
    "(p) temp[1].w = ME_PRED_SET_GT temp[0].xxxx",
    "out[0].x = VE_ADD temp[0].xxxx temp[0].0000",
];

#[test]
fn a_loop_under_a_predicate_continues_for_the_vertices_that_execute_something() {
    let text = text(&COUNT, &[(FlowOp::LOOP, 0, 255, 2, 1, 0)]);
    assert!(text.contains("loop 255 {"), "{text}");
    assert!(text.contains("} while %"), "{text}");
}

#[test]
fn short_loops_and_those_that_use_their_index_are_unrolled() {
    for (lines, trips) in [
        (["temp[0].x = VE_ADD temp[0].xxxx input[0].xxxx"; 3], 4),
        (["temp[0].x = VE_ADD temp[0].xxxx const[aL+0].xxxx"; 3], 100),
    ] {
        let lines = [lines[0], lines[1], lines[2], "out[0].x = VE_ADD temp[0].xxxx temp[0].0000"];
        let text = text(&lines, &[(FlowOp::LOOP, 0, trips, 2, 1, 1)]);
        assert!(!text.contains("loop"), "{text}");
        assert!(text.contains(&format!("fuel {} at 0", 2 + 2 * trips)), "{text}");
    }
}

#[test]
fn programs_that_are_declined_say_why() {
    let declined = |flow: &[Transfer]| lift_vertex(&program(&COUNT, flow)).unwrap_err();
    let back = declined(&[(FlowOp::JUMP, 1, 0, 0, 0, 0)]);
    assert!(matches!(back, VertexLiftError::Flow(FlowTreeError::TooLong(_))), "{back}");
    let elsewhere = declined(&[(FlowOp::LOOP, 0, 9, 2, 2, 0)]);
    assert_eq!(elsewhere, VertexLiftError::Flow(FlowTreeError::Entry { first: 1, again: 2 }));
    let nested = [(FlowOp::LOOP, 0, 1000, 2, 1, 0); 3];
    assert_eq!(declined(&nested), VertexLiftError::Endless);
    assert_eq!(
        elsewhere.to_string(),
        "flow control is not lifted: a loop begins at instruction 1, and its further iterations at 2"
    );
}
