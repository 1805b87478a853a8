//! Rewrites of vertex programs, one by one, with the reasons for them; and what must stay.
#![allow(clippy::unwrap_used, clippy::panic)]

mod vertices;

use r500_opt::vertex::{Optimized, optimize};
use r500_pvs::{Fill, Source};
use vertices::{Verdict, verdict};

fn source(text: &str) -> Source {
    Source::parse(text, &mut |_| Err(String::new())).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn optimized(text: &str) -> Optimized {
    let program = source(text).program;
    let optimized = optimize(&program, &[]);
    if let Verdict::Different(what) = verdict(&program, &optimized.program, 32) {
        panic!("{what}\n{}", optimized.program);
    }
    optimized
}

/// Returns the statements of the optimised program.
fn statements(text: &str) -> Vec<String> {
    let optimized = optimized(text);
    let (_, code) = optimized.program.instructions();
    code.iter().map(|inst| inst.with_fill(Fill::Zero).to_string()).collect()
}

/// Asserts the optimised form of a program.
#[track_caller]
fn becomes(text: &str, expected: &[&str]) {
    assert_eq!(statements(text), expected);
}

/// A driver's select of two colours by a comparison: 1 - t, t, 0 and 1 are one sum of t and numbers.
#[test]
fn what_depends_on_one_comparison_is_one_sum() {
    becomes(
        "temp[0].x = VE_SGE input[0].x000 const[0].x000 ;
         temp[1].xyzw = VE_MAD temp[0].-x-x-x-x temp[0].1001 temp[0].1001 ;
         out[0].xyzw = VE_MAD temp[0].xxxx temp[0].0101 temp[1].xyzw ;",
        &[
            "temp[0].x = VE_SGE input[0].x000 const[0].x000",
            "out[0].xyzw = VE_ADD temp[0].-xx00 temp[0].1001",
        ],
    );
    // Of a number that is not a comparison's, nothing is known.
    let sums = statements(
        "temp[0].x = VE_FRC input[0].x000 ;
         temp[1].xyzw = VE_MAD temp[0].-x-x-x-x temp[0].1001 temp[0].1001 ;
         out[0].xyzw = VE_MAD temp[0].xxxx temp[0].0101 temp[1].xyzw ;",
    );
    assert_eq!(sums.len(), 3);
}

/// Guarded instructions and those that set the predicate stay; what they read stays in its registers; between them code is optimised.
#[test]
fn predicates_stay_with_a_reason() {
    let text = "
        temp[0].xyzw = VE_FRC input[0].xyzw ;
        temp[1].xyzw = VE_FRC input[1].xyzw ;
        temp[2].w = ME_PRED_SET_GT temp[0].xxxx ;
        (p) temp[0].y = VE_ADD temp[1].0z00 temp[1].0000 ;
        out[0].xy = VE_MUL temp[0].xy00 temp[0].xy00 ;";
    let optimized = optimized(text);
    let (_, code) = optimized.program.instructions();
    let lines: Vec<String> =
        code.iter().map(|inst| inst.with_fill(Fill::Zero).to_string()).collect();
    // Temporaries keep their numbers.
    assert_eq!(lines.len(), 5);
    let kept: Vec<_> = optimized.kept.iter().map(|kept| (kept.instructions, kept.why)).collect();
    assert_eq!(
        kept,
        [
            ((2, 3), "instructions that set the predicate stay as they are"),
            ((3, 4), "instructions that the predicate guards stay as they are"),
        ]
    );
}

/// The loop ends at another instruction: its registers name the new numbers. What an iteration reads of the one before stays.
#[test]
fn loops_are_relocated() {
    let text = "FLOW[0] = LOOP after 1, 3 times 2 to 4, aL 0 step 0 ;
        temp[0].xyzw = VE_FRC input[0].xyzw ;
        temp[1].xyzw = VE_FRC input[1].xyzw ;
        temp[2].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;
        temp[3].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;
        temp[0].xyzw = VE_MUL temp[2].xyzw temp[3].wzyx ;
        out[0].xyzw = VE_MUL temp[0].xyzw const[0].xyzw ;";
    let optimized = optimized(text);
    let controls = optimized.program.controls();
    // One instruction before the loop, one in it, one after.
    assert_eq!(optimized.program.instructions().1.len(), 3, "{}", optimized.program);
    let flow = controls.flow[0];
    assert_eq!((flow.low.act_adrs(), flow.low.loop_cnt_jmp_inst()), (0, 3));
    assert_eq!((flow.high.rtn_inst(), flow.high.last_inst()), (1, 1));
}

/// Instructions that a jump leaves out, and temporaries that are addressed relatively, are not known.
#[test]
fn whole_programs_stay_with_a_reason() {
    let why = |text: &str| {
        let optimized = optimized(text);
        assert_eq!(optimized.program, source(text).program);
        let [kept] = &optimized.kept[..] else { panic!("{:?}", optimized.kept) };
        kept.why
    };
    let dead = "temp[5].xyzw = VE_FRC input[0].xyzw ;";
    assert_eq!(
        why(&format!(
            "FLOW[0] = JUMP after 0 to 2 ; {dead} {dead} out[0].x = VE_FRC input[0].xxxx ;"
        )),
        "programs with jumps or calls stay as they are"
    );
    assert_eq!(
        why(&format!(
            "{dead} a0[0].x = VE_FLT2FIX_DX input[0].xxxx ; out[0].x = VE_FRC temp[a0.x+1].xxxx ;"
        )),
        "programs that address temporaries relatively stay as they are"
    );
}

/// An instruction that reads two constants is not one that all chips execute; it stays, and what is around it is optimised.
#[test]
fn instructions_that_read_too_much_stay() {
    let text = "temp[0].xyzw = VE_FRC input[0].xyzw ;
        out[0].xyzw = VE_ADD const[0].xyzw const[1].xyzw ;
        out[1].x = VE_MUL temp[0].xxxx temp[0].xxxx ;";
    let optimized = optimized(text);
    assert_eq!(optimized.kept.len(), 1);
    assert_eq!(optimized.kept[0].instructions, (1, 2));
}

/// The search ends after a number of steps: a program of 1,024 instructions of which any two could be joined takes seconds, not hours.
#[test]
fn the_longest_program_ends_soon() {
    let lines = |n: usize| {
        let (temporary, channel) = (n % 31, ["x", "y", "z", "w"][n / 31 % 4]);
        format!(
            "temp[{temporary}].{channel} = VE_MAX temp[{}].xxyy input[{}].zwxy ;",
            (n * 7) % 31,
            n % 16
        )
    };
    let text: String = (0..1_023).map(lines).collect();
    let text = format!("{text} out[0].xyzw = VE_MAX temp[0].xyzw temp[1].xyzw ;");
    let begin = std::time::Instant::now();
    let optimized = optimized(&text);
    assert!(optimized.cost[1].no_worse_than(&optimized.cost[0]));
    // A debug build on a loaded machine.
    assert!(begin.elapsed().as_secs() < 120, "{:?}", begin.elapsed());
}
