//! Each pass on a small program, with a hand-derived result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_asm::{Options as AsmOptions, PrintOptions, assemble, print};
use r500_opt::{Level, Options, optimize};
use r500_program::{Job, Program};

fn program(source: &str) -> Program {
    let assembly = assemble(source.as_bytes(), AsmOptions::default());
    let errors: Vec<String> = assembly.errors().map(|error| format!("{error:?}")).collect();
    assert!(assembly.is_ok(), "{errors:?}\n{source}");
    assembly.job.program
}

fn text(program: &Program) -> String {
    print(&Job::from_program(program.clone()), &PrintOptions::default()).text
}

/// Asserts that a program becomes another.
#[track_caller]
fn becomes(before: &str, after: &str) {
    let options = Options { level: Level::O3, ..Options::default() };
    let optimized = optimize(&program(before), &options).program;
    let expected = program(after);
    assert_eq!(optimized.code, expected.code, "{}\n---\n{}", text(&optimized), text(&expected));
}

/// Asserts that a program stays as it is.
#[track_caller]
fn stays(source: &str) {
    becomes(source, source);
}

#[test]
fn select_on_a_negated_truth_value_reads_its_condition() {
    becomes(
        "src0.rgb = temp[0] : temp[1].r = CMP src0.000 src0.100 src0.r00 ;
         OUT src0.rgb = temp[1], src1.rgb = temp[0] : out[0].rgb = CMP src1.ggg src1.bbb -src0.rrr ;",
        "OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.ggg src0.bbb src0.rrr ;",
    );
}

#[test]
fn select_on_an_inverted_truth_value_swaps_its_operands() {
    becomes(
        "src0.rgb = temp[0] : temp[1].r = CMP src0.100 src0.000 -|src0.r00| ;
         OUT src0.rgb = temp[1], src1.rgb = temp[0] : out[0].rgb = CMP src1.ggg src1.bbb -src0.rrr ;",
        "OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.bbb src0.ggg -|src0.rrr| ;",
    );
}

#[test]
fn cnd_on_a_truth_value_becomes_the_select_that_made_it() {
    becomes(
        "src0.rgb = temp[0] : temp[1].r = CMP src0.100 src0.000 src0.r00 ;
         OUT src0.rgb = temp[1], src1.rgb = temp[0] : out[0].rgb = CND src1.ggg src1.bbb src0.rrr ;",
        "OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.ggg src0.bbb src0.rrr ;",
    );
}

#[test]
fn select_on_a_truth_value_that_is_an_output_stays() {
    stays(
        "OUT src0.rgb = temp[0] : temp[0].r = out[1].r = CMP src0.000 src0.100 src0.r00 ;
         OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.ggg src0.bbb -src0.rrr ;",
    );
}

#[test]
fn select_by_a_positive_truth_value_stays() {
    // t >= 0 always holds, so the second operand is dead, but another rewrite would have to use that.
    stays(
        "src0.rgb = temp[0] : temp[0].r = CMP src0.000 src0.100 src0.r00 ;
         OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.ggg src0.bbb src0.rrr ;",
    );
}

#[test]
fn comparison_of_a_copy_from_green_is_computed_in_red() {
    becomes(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[1].g = MAD src0.0g0 src0.010 -src1.0r0 ;
         src0.rgb = temp[1] : alu[lt].r = MAD src0.g00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[0].rgb = MAX src0.rgb src0.rgb ;
         ENDIF ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
        "src0.rgb = temp[0], src1.rgb = const[0] : pred[lt].r = MAD src0.g00 src0.100 -src1.r00 ;
         PRED.rgb(r) src0.rgb = const[1] : temp[0].rgb = MAX src0.rgb src0.rgb ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
}

#[test]
fn values_that_a_presubtract_result_reads_keep_their_channels() {
    // The third FRC goes to the free alpha half; the first two stay in green.
    let before = program(
        "src0.rgb = temp[0] : temp[1].g = FRC src0.0g0 ;
         src0.rgb = temp[0] : temp[2].g = FRC src0.0b0 ;
         NOP src0.rgb = temp[0] : temp[0].b = FRC src0.00r ;
         OUT src0.rgb = temp[1], src1.rgb = temp[2], src2.rgb = temp[0], srcp.rgb = sub : out[0].rgb = MAD srcp.ggg src2.bbb src0.000 ;",
    );
    let after = optimize(&before, &Options::default()).program;
    assert_eq!(after.code.len(), 3, "{}", text(&after));
}

#[test]
fn fewer_temporaries_are_better_where_nothing_else_is() {
    becomes(
        "src0.rgb = temp[0] : temp[3].rgb = FRC src0.rgb ;
         OUT src0.rgb = temp[3] : out[0].rgb = MAX src0.rgb src0.000 ;",
        "src0.rgb = temp[0] : temp[0].rgb = FRC src0.rgb ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.000 ;",
    );
}

#[test]
fn kills_of_two_scalars_become_one() {
    becomes(
        "src0.rgb = temp[0] : temp[1].rgb = FRC src0.rrr, temp[1].a = FRC src0.r ;
         TEX temp[0].none = TEXKILL tex[0].rgba temp[1].rgba ;
         src0.rgb = temp[0] : temp[1].rgb = FRC src0.ggg, temp[1].a = FRC src0.g ;
         TEX temp[0].none = TEXKILL tex[0].rgba temp[1].rgba ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
        "src0.rgb = temp[0] : temp[1].rg = FRC src0.rg0 ;
         TEX temp[0].none = TEXKILL tex[0].rgba temp[1].rgrr ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
}

#[test]
fn kill_of_a_negated_truth_value_selects_minus_one() {
    becomes(
        "src0.rgb = temp[0] : temp[1].r = CMP src0.000 src0.100 src0.r00 ;
         src0.rgb = temp[1] : temp[1].rgb = MAD -src0.rrr src0.111 src0.000, temp[1].a = MAD -src0.r src0.1 src0.0 ;
         TEX temp[0].none = TEXKILL tex[0].rgba temp[1].rgba ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
        "src0.rgb = temp[0] : temp[1].r = CMP -src0.000 -src0.100 src0.r00 ;
         TEX temp[0].none = TEXKILL tex[0].rgba temp[1].rrrr ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
}

#[test]
fn both_halves_that_need_the_same_nop_share_an_instruction() {
    becomes(
        "NOP src0.rgb = temp[0] : temp[0].r = FRC src0.r00 ;
         src0.rgb = temp[0], src1.rgb = const[0], srcp.rgb = sub : temp[0].r = CMP src0.100 src0.000 srcp.r00 ;
         OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.100 src0.010 -src0.rrr, out[0].a = CMP src0.1 src0.0 -src0.r ;",
        "NOP src0.rgb = temp[0] : temp[0].r = FRC src0.r00 ;
         OUT src0.rgb = temp[0], src1.rgb = const[0], srcp.rgb = sub : out[0].rgb = CMP src0.010 src0.100 srcp.rrr, out[0].a = CMP src0.0 src0.1 srcp.r ;",
    );
}

#[test]
fn values_that_only_uncovered_pixels_could_read_are_dead() {
    // Both arms write green before it is read, but a pixel without a vote could skip them.
    becomes(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[1].g = MAD src0.0g0 src0.010 -src1.0r0 ;
         src0.rgb = temp[1] : alu[lt].r = MAD src0.g00 src0.100 src0.000 ;
         IF alu IGNORE_UNCOVERED ALU_WAIT ;
         src0.rgb = const[1] : temp[1].g = MAX src0.0g0 src0.0g0 ;
         ELSE ALU_WAIT ;
         src0.rgb = const[2] : temp[1].g = MAX src0.0g0 src0.0g0 ;
         ENDIF ALU_WAIT ;
         OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.ggg src0.ggg ;",
        "src0.rgb = temp[0], src1.rgb = const[0] : pred[lt].r = MAD src0.g00 src0.100 -src1.r00 ;
         PRED.rgb(r) src0.rgb = const[1] : temp[1].g = MAX src0.0g0 src0.0g0 ;
         PRED.rgb(!r) src0.rgb = const[2] : temp[1].g = MAX src0.0g0 src0.0g0 ;
         OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.ggg src0.ggg ;",
    );
}

#[test]
fn chain_of_else_ifs_ends_in_one_endif() {
    let branches = program(
        "src0.rgb = temp[0] : alu[lt].r = MAD src0.r00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[1].r = MAX src0.r00 src0.r00 ;
         ELSE ALU_WAIT ;
         src0.rgb = temp[0] : alu[lt].r = MAD src0.g00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[1].r = MAX src0.g00 src0.g00 ;
         ELSE ALU_WAIT ;
         src0.rgb = temp[0] : alu[lt].r = MAD src0.b00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         src0.rgb = const[1] : temp[1].r = MAX src0.b00 src0.b00 ;
         ELSE ALU_WAIT ;
         src0.rgb = const[2] : temp[1].r = MAX src0.r00 src0.r00 ;
         ENDIF ALU_WAIT ;
         ENDIF ALU_WAIT ;
         ENDIF ALU_WAIT ;
         OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rrr src0.rrr ;",
    );
    let only = Options { only: vec!["endifs".to_owned()], ..Options::default() };
    let merged = optimize(&branches, &only).program;
    assert_eq!(merged.code.len(), branches.code.len() - 2, "{}", text(&merged));
    // Each ELSE closes the levels that are open at the end of its arm.
    let levels: Vec<u8> = merged
        .code
        .iter()
        .filter(|inst| inst.ty() == r500_isa::values::InstType::FC)
        .map(|inst| inst.fc_inst().b_pop_cnt())
        .collect();
    assert_eq!(levels, [0, 1, 0, 2, 0, 3, 3], "{}", text(&merged));
}

#[test]
fn clamped_copy_becomes_the_clamp_of_what_it_copies() {
    becomes(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src1.ggg ;
         OUT src0.rgb = temp[0] : out[0].rgb = clamp MAD src0.rgb src0.111 src0.000 ;",
        "OUT src0.rgb = temp[0], src1.rgb = const[0] : out[0].rgb = clamp MAD src0.rgb src1.rgb src1.ggg ;",
    );
}

#[test]
fn doubled_value_becomes_an_output_modifier() {
    becomes(
        "src0.rgb = temp[0] : temp[0].rgb = FRC src0.rgb ;
         OUT src0.rgb = temp[0], src0.a = 2.0 : out[0].rgb = MAD src0.rgb src0.aaa src0.000 ;",
        "OUT src0.rgb = temp[0] : out[0].rgb = 2.0 * FRC src0.rgb ;",
    );
}

#[test]
fn copy_of_what_may_be_minus_zero_to_an_output_stays() {
    // -0 * 1 + 0 is +0.
    stays(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src1.ggg ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;",
    );
}

#[test]
fn scale_after_a_clamp_stays() {
    stays(
        "src0.rgb = temp[0] : temp[0].rgb = clamp FRC src0.rgb ;
         OUT src0.rgb = temp[0], src0.a = 2.0 : out[0].rgb = MAD src0.rgb src0.aaa src0.000 ;",
    );
}

#[test]
fn product_and_sum_become_mad() {
    becomes(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src0.000 ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAD -src0.rgb src0.111 src0.hhh ;",
        "OUT src0.rgb = temp[0], src1.rgb = const[0] : out[0].rgb = MAD -src0.rgb src1.rgb src0.hhh ;",
    );
}

#[test]
fn product_and_sum_stay_where_the_sign_of_a_zero_shows() {
    // (-0 + 0) + -0 is +0, and -0 + -0 is -0.
    stays(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src0.000 ;
         OUT src0.rgb = temp[0], src1.rgb = const[0] : out[0].rgb = MAD src0.rgb src0.111 src1.rgb ;",
    );
}

#[test]
fn product_that_is_read_twice_stays() {
    stays(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src0.000 ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.hhh ;
         OUT src0.rgb = temp[0] : out[1].rgb = MAD src0.rgb src0.111 src0.111 ;",
    );
}

#[test]
fn sum_that_is_compared_becomes_an_operand() {
    becomes(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src0.111 -src1.rgb ;
         OUT src0.rgb = temp[0] : out[0].rgb = CMP src0.hhh src0.111 src0.rgb ;",
        "OUT src0.rgb = const[0], src1.rgb = temp[0], srcp.rgb = sub : out[0].rgb = CMP src0.hhh src0.111 srcp.rgb ;",
    );
}

#[test]
fn sum_whose_zero_shows_its_sign_stays() {
    stays(
        "src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src0.111 src1.rgb ;
         OUT src0.rgb = temp[0], src1.rgb = const[1] : out[0].rgb = MAX src0.rgb src1.rgb ;",
    );
}

#[test]
fn one_minus_x_becomes_an_operand_whatever_reads_it() {
    becomes(
        "src0.rgb = temp[0] : temp[0].rgb = MAD src0.111 src0.111 -src0.rgb ;
         OUT src0.rgb = temp[0], src1.rgb = const[1] : out[0].rgb = MAX src0.rgb src1.rgb ;",
        "OUT src0.rgb = temp[0], src1.rgb = const[1], srcp.rgb = neg : out[0].rgb = MAX srcp.rgb src1.rgb ;",
    );
}

#[test]
fn fetch_of_the_same_texel_is_made_once() {
    becomes(
        "TEX temp[1].rgb = LD tex[0].rgba temp[0].rgba ;
         TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[2].rgb = LD tex[0].rgba temp[0].rgba ;
         OUT TEX_SEM_WAIT src0.rgb = temp[1], src1.rgb = temp[2] : out[0].rgb = MAD src0.rgb src1.grb src0.111 ;",
        "TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgb = LD tex[0].rgba temp[0].rgba ;
         OUT TEX_SEM_WAIT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.grb src0.111 ;",
    );
}

#[test]
fn fetches_of_two_units_stay() {
    stays(
        "TEX temp[1].rgb = LD tex[0].rgba temp[0].rgba ;
         TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgb = LD tex[1].rgba temp[0].rgba ;
         OUT TEX_SEM_WAIT src0.rgb = temp[1], src1.rgb = temp[0] : out[0].rgb = MAD src0.rgb src1.rgb src0.111 ;",
    );
}

#[test]
fn else_before_endif_and_empty_branches_are_removed() {
    becomes(
        "src0.rgb = temp[0] : alu[lt].r = MAD src0.r00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgaa ;
         ELSE ALU_WAIT ;
         ENDIF ALU_WAIT ;
         TEX_SEM_WAIT src0.rgb = temp[0] : alu[lt].r = MAD src0.g00 src0.100 src0.000 ;
         IF alu ALU_WAIT ;
         ENDIF ALU_WAIT ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
        "src0.rgb = temp[0] : alu[lt].r = MAD src0.r00 src0.100 src0.000 ;
         IF alu B_OP1(incr) ALU_WAIT -> @end ;
         TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgaa ;
         @end
         ENDIF ALU_WAIT ;
         OUT TEX_SEM_WAIT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
}

#[test]
fn short_branches_become_predicated_instructions() {
    becomes(
        "src0.rgb = temp[0] : temp[1].r = alu[ge].r = MAD src0.r00 src0.100 -src0.g00 ;
         IF alu ALU_WAIT ;
         src0.rgb = temp[0] : temp[0].rgb = FRC src0.rgb ;
         ELSE ;
         src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src0.000 ;
         ENDIF ;
         OUT src0.rgb = temp[0], src1.rgb = temp[1] : out[0].rgb = MAD src0.rgb src1.rrr src0.000 ;",
        "src0.rgb = temp[0] : temp[1].r = pred[ge].r = MAD src0.r00 src0.100 -src0.g00 ;
         PRED.rgb(r) src0.rgb = temp[0] : temp[0].rgb = FRC src0.rgb ;
         PRED.rgb(!r) src0.rgb = temp[0], src1.rgb = const[0] : temp[0].rgb = MAD src0.rgb src1.rgb src0.000 ;
         OUT src0.rgb = temp[0], src1.rgb = temp[1] : out[0].rgb = MAD src0.rgb src1.rrr src0.000 ;",
    );
}

#[test]
fn branches_on_conditions_with_predicates_stay() {
    // Predicates do not gate the ALU result, but would gate the predicate that replaces it.
    stays(
        "PRED.rgb(rgba) src0.rgb = temp[0] : alu[ge].r = MAD src0.r00 src0.100 -src0.g00 ;
         IF alu ALU_WAIT ;
         src0.rgb = temp[0] : temp[0].rgb = FRC src0.rgb ;
         ENDIF ;
         OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
}

#[test]
fn branches_with_fetches_stay() {
    stays(
        "src0.rgb = temp[0] : alu[ge].r = MAD src0.r00 src0.100 -src0.g00 ;
         IF alu ALU_WAIT ;
         TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgaa ;
         ENDIF ;
         OUT TEX_SEM_WAIT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;",
    );
}
