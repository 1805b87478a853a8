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

/// Asserts that a program has no shorter form.
#[track_caller]
fn stays(text: &str) {
    let optimized = optimized(text);
    assert_eq!(optimized.program, source(text).program, "{}", optimized.program);
}

/// Nothing reads temp[1], nor z and w of temp[0].
#[test]
fn what_nothing_reads_is_not_computed() {
    becomes(
        "temp[0].xyzw = VE_FRC input[0].xyzw ;
         temp[1].xyzw = VE_FRC input[1].xyzw ;
         out[0].xyzw = VE_MUL temp[0].xyxy const[0].xyzw ;",
        &["temp[0].xy = VE_FRC input[0].xy00", "out[0].xyzw = VE_MUL temp[0].xyxy const[0].xyzw"],
    );
    // The second write of the output replaces the first.
    becomes(
        "out[0].xyzw = VE_FRC input[0].xyzw ; out[0].xyzw = VE_FRC input[1].xyzw ;",
        &["out[0].xyzw = VE_FRC input[1].xyzw"],
    );
}

/// Both copies of const[1] have the same bits; drivers copy a constant each time that an instruction needs two.
#[test]
fn a_constant_is_copied_once() {
    becomes(
        "temp[0].xyzw = VE_ADD const[1].xyzw const[1].0000 ;
         out[0].xyzw = VE_MUL const[0].xyzw temp[0].xyzw ;
         temp[1].xyzw = VE_ADD const[1].xyzw const[1].0000 ;
         out[1].xyzw = VE_MUL const[2].xyzw temp[1].xyzw ;",
        &[
            "temp[0].xyzw = VE_ADD const[1].xyzw const[1].0000",
            "out[0].xyzw = VE_MUL const[0].xyzw temp[0].xyzw",
            "out[1].xyzw = VE_MUL const[2].xyzw temp[0].xyzw",
        ],
    );
}

/// A sum with 0 makes +0 of -0. A factor of a product may be either; an operand of MAX may not, since MAX returns it as it is.
#[test]
fn a_copy_is_read_through_where_signs_of_zeros_do_not_show() {
    becomes(
        "temp[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         out[0].xyzw = VE_MUL temp[0].xyzw const[0].xyzw ;",
        &["out[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw"],
    );
    stays(
        "temp[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         out[0].xyzw = VE_MAX temp[0].xyzw const[0].xyzw ;",
    );
    // The addend of a sum: the other operand is -0, or it is not.
    stays(
        "temp[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         out[0].xyzw = VE_ADD temp[0].xyzw const[0].xyzw ;",
    );
    becomes(
        "temp[0].xyzw = VE_ADD input[0].xyzw input[0].0000 ;
         out[0].xyzw = VE_ADD temp[0].xyzw |const[0].xyzw| ;",
        &["out[0].xyzw = VE_ADD input[0].xyzw |const[0].xyzw|"],
    );
}

/// A clamped result is not -0, so that the copy has its bits; an unclamped product may be.
#[test]
fn what_is_only_copied_to_an_output_is_computed_there() {
    becomes(
        "temp[0].xyzw = VE_MUL.SAT input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;",
        &["out[0].xyzw = VE_MUL.SAT input[0].xyzw const[0].xyzw"],
    );
    // The copy clamps, which gives the same for both zeros.
    becomes(
        "temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD.SAT temp[0].xyzw temp[0].0000 ;",
        &["out[0].xyzw = VE_MUL.SAT input[0].xyzw const[0].xyzw"],
    );
    // A product may be -0: the sum with 0 is part of the instruction.
    becomes(
        "temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;",
        &["out[0].xyzw = VE_MAD input[0].xyzw const[0].xyzw input[0].0000"],
    );
    // MAX returns -0.
    stays(
        "temp[0].xyzw = VE_MAX input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD temp[0].xyzw temp[0].0000 ;",
    );
}

/// MAD rounds the product and the sum, as the interpreter defines it.
#[test]
fn a_product_and_a_sum_become_a_multiply_add() {
    becomes(
        "temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
         temp[1].xyzw = VE_FRC input[1].xyzw ;
         out[0].xyzw = VE_ADD temp[0].xyzw temp[1].xyzw ;",
        &[
            "temp[0].xyzw = VE_FRC input[1].xyzw",
            "out[0].xyzw = VE_MAD input[0].xyzw const[0].xyzw temp[0].xyzw",
        ],
    );
    // Two constants: an instruction reads one.
    stays(
        "temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD temp[0].xyzw const[1].xyzw ;",
    );
    // A negated product: a factor of 0 gives -0 before, +0 after, which a sum with -0 shows.
    stays(
        "temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD temp[0].-x-y-z-w input[0].xyzw ;",
    );
    // The product is read twice.
    stays(
        "temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
         out[0].xyzw = VE_ADD temp[0].xyzw input[0].xyzw ;
         out[1].xyzw = VE_ADD temp[0].xyzw input[0].xxxx ;",
    );
}

/// A dot product adds its products in their order, each sum rounded: that of y first, then x, z and w.
#[test]
fn a_chain_of_multiply_adds_becomes_a_dot_product() {
    becomes(
        "temp[0].xyzw = VE_FRC input[0].xyzw ;
         temp[1].x = VE_MUL temp[0].yyyy const[0].yyyy ;
         temp[1].x = VE_MAD temp[0].xxxx const[0].xxxx temp[1].xxxx ;
         temp[1].x = VE_MAD temp[0].zzzz const[0].zzzz temp[1].xxxx ;
         out[0].x = VE_MAD temp[0].wwww const[0].wwww temp[1].xxxx ;",
        &["temp[0].xyzw = VE_FRC input[0].xyzw", "out[0].x = VE_DOT temp[0].yxzw const[0].yxzw"],
    );
    // Of three, a product with zero is first: +0 + x is x unless x is -0, which squares are not.
    becomes(
        "temp[1].x = VE_MUL input[0].xxxx input[0].xxxx ;
         temp[1].x = VE_MAD input[0].yyyy input[0].yyyy temp[1].xxxx ;
         out[0].x = VE_MAD input[0].zzzz input[0].zzzz temp[1].xxxx ;",
        &["out[0].x = VE_DOT input[0].0xyz input[0].0xyz"],
    );
    // A product may be -0.
    stays(
        "temp[0].x = VE_MUL input[0].xxxx const[0].xxxx ;
         temp[0].x = VE_MAD input[0].yyyy const[0].yyyy temp[0].xxxx ;
         out[0].x = VE_MAD input[0].zzzz const[0].zzzz temp[0].xxxx ;",
    );
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

/// 1 is also the maximum of 1 and 0, x + y also x * 1 + y if neither loses the sign of a zero.
#[test]
fn components_of_one_output_are_computed_together() {
    becomes(
        "out[0].xyz = VE_MAX input[0].xyz0 input[0].0000 ;
         out[0].w = VE_ADD input[0].0001 input[0].0000 ;",
        &["out[0].xyzw = VE_MAX input[0].xyz1 input[0].0000"],
    );
    becomes(
        "out[0].x = VE_MUL input[0].x000 const[0].x000 ;
         out[0].w = VE_MUL input[0].000y const[0].000z ;",
        &["out[0].xw = VE_MUL input[0].x00y const[0].x00z"],
    );
    // Two inputs cannot be read by one instruction.
    stays(
        "out[0].x = VE_MUL input[0].x000 const[0].x000 ;
         out[0].w = VE_MUL input[1].000y const[0].000z ;",
    );
}

/// The reciprocal root is executed with the product that does not need it.
#[test]
fn an_operation_of_the_math_engine_is_paired() {
    becomes(
        "temp[0].x = ME_RSQ input[0].xxxx ;
         out[1].xyz = VE_MUL input[0].xyz0 const[0].xyz0 ;
         out[0].xyz = VE_MUL input[0].xyz0 temp[0].xxx0 ;",
        &[
            "out[1].xyz = VE_MUL input[0].xyz0 const[0].xyz0, alt_temp[0].x = ME_RSQ input[0].xx",
            "out[0].xyz = VE_MUL input[0].xyz0 alt_temp[0].xxx0",
        ],
    );
    // The only other instruction needs the result.
    stays("temp[0].x = ME_RSQ input[0].xxxx ; out[0].xyz = VE_MUL input[0].xyz0 temp[0].xxx0 ;");
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

/// The address register is loaded again between the reads, so that they are different constants.
#[test]
fn addressed_constants_stay_in_their_order() {
    stays(
        "a0[0].x = VE_FLT2FIX_DX input[0].xxxx ;
         temp[0].xyzw = VE_MUL const[a0.x+1].xyzw input[1].xyzw ;
         a0[0].x = VE_FLT2FIX_DX input[0].yyyy ;
         out[0].xyzw = VE_MAD const[a0.x+1].xyzw input[1].xyzw temp[0].xyzw ;",
    );
    // With the same address, both products are of the same constant.
    becomes(
        "a0[0].x = VE_FLT2FIX_DX input[0].xxxx ;
         temp[0].xyzw = VE_MUL const[a0.x+1].xyzw input[1].xyzw ;
         temp[1].xyzw = VE_MUL const[a0.x+1].xyzw input[1].xyzw ;
         out[0].xyzw = VE_MUL temp[0].xyzw temp[1].wzyx ;",
        &[
            "a0[0].x = VE_FLT2FIX_DX input[0].x000",
            "temp[0].xyzw = VE_MUL const[a0.x+1].xyzw input[1].xyzw",
            "out[0].xyzw = VE_MUL temp[0].xyzw temp[0].wzyx",
        ],
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
