//! Run-time warnings of the reference engine: for each, a program that causes it and a similar one that does not.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Inst, constant, job, relative, run, temp};
use r500_exec::{Options, WarningKind};
use r500_isa::limits::{BRANCH_LEVELS, CALL_LEVELS, LOOP_LEVELS};
use r500_isa::values::{AddrOp, AlphaOp, BranchOp, FcOp, Omod, PredSel, RgbMask, RgbOp, TexOp};
use r500_isa::words::{AluAlphaInst, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst, TexInst};
use r500_program::Job;

/// Returns the names of the warnings of a run.
fn met(job: &Job) -> Vec<&'static str> {
    let options = Options { warnings: true, ..Options::default() };
    run(job, &options).warnings.iter().map(|finding| finding.kind.name()).collect()
}

fn code(code: &[Inst]) -> Job {
    job(code)
}

/// Returns a program of nested branches that are never closed: the first deactivates half of the pixels with
/// counter 0, each further one increments their counters.
fn nested_branches(depth: u32) -> Job {
    let sleep = |target| {
        Inst::jump(0x0f, target)
            .set(FcInst::B_OP0, BranchOp::INCR)
            .set(FcInst::B_OP1, BranchOp::INCR)
    };
    let mut program = vec![predicated_x()];
    program.extend((0..depth).map(|i| sleep(u16::try_from(i).unwrap() + 2)));
    program.push(Inst::out(0));
    code(&program)
}

/// Returns an instruction that sets the ALU result where x >= 2, so that the pixels diverge.
fn predicated_x() -> Inst {
    use r500_isa::values::{Compare, Mod, Sel, Swiz};
    use r500_isa::{Operand, Slot};
    let mut inst = Inst::alu().rgb_source(0, temp(0)).rgb_source(1, constant(0));
    let red = |sel| Operand { sel, swiz: [Swiz::R; 3], modifier: Mod::NOP };
    let minus_one = Operand { sel: Sel::SRC1, swiz: [Swiz::R; 3], modifier: Mod::NEG };
    let one = Operand { sel: Sel::SRC1, swiz: [Swiz::ONE; 3], modifier: Mod::NOP };
    inst.0 = inst
        .0
        .with_rgb_operand(Slot::A, red(Sel::SRC0))
        .with_rgb_operand(Slot::B, one)
        .with_rgb_operand(Slot::C, minus_one);
    inst.set(AluRgbInst::ALU_WMASK, true).set(CmnInst::ALU_RESULT_OP, Compare::GE)
}

/// Returns `n` nested loops, all of which are left by the end of the program.
fn nested_loops(n: usize) -> Job {
    let begin = |i: usize| {
        Inst::fc(FcOp::LOOP)
            .set(FcInst::JUMP_ANY, true)
            .set(FcAddr::JUMP_ADDR, u16::try_from(i).unwrap() + 1)
    };
    let mut program: Vec<Inst> = (0..n).map(begin).collect();
    program.push(Inst::out(0));
    code(&program)
}

/// Returns `n` calls, each to the next instruction, without a return.
fn nested_calls(n: usize) -> Job {
    let call =
        |i: usize| Inst::jump(0xff, u16::try_from(i).unwrap() + 1).set(FcInst::A_OP, AddrOp::PUSH);
    let mut program: Vec<Inst> = (0..n).map(call).collect();
    program.push(Inst::out(0));
    code(&program)
}

fn pair(kind: WarningKind) -> (Job, Job) {
    let out = Inst::out(0);
    let first_and_out = |first: Inst| code(&[first, out]);
    let firsts = |bad: Inst, good: Inst| (first_and_out(bad), first_and_out(good));
    let copy_to_1 = Inst::mov(1, temp(0));
    let sop = |op| {
        Inst::mov(1, temp(0)).set(AluRgbaInst::RGB_OP, RgbOp::SOP).set(AluAlphaInst::ALPHA_OP, op)
    };
    let dp = |op| {
        Inst::mov(1, temp(0)).set(AluRgbaInst::RGB_OP, op).set(AluAlphaInst::ALPHA_OP, AlphaOp::DP)
    };
    let on = |sel| copy_to_1.set(CmnInst::RGB_PRED_SEL, sel);
    let set_r = Inst::alu().copy(temp(0)).set(CmnInst::RGB_OMASK, RgbMask::R);
    let fetch = Inst::tex(TexOp::LD, 1, 0);
    match kind {
        WarningKind::LeftWindow => firsts(Inst::jump(0xff, 9), Inst::jump(0xff, 1)),
        WarningKind::ReservedRgbOp => firsts(
            copy_to_1.set(AluRgbaInst::RGB_OP, RgbOp::new(6)),
            copy_to_1.set(AluRgbaInst::RGB_OP, RgbOp::CND),
        ),
        WarningKind::ReservedAlphaOp => firsts(
            copy_to_1.set(AluAlphaInst::ALPHA_OP, AlphaOp::new(4)),
            copy_to_1.set(AluAlphaInst::ALPHA_OP, AlphaOp::CND),
        ),
        WarningKind::ReservedTexOp => {
            firsts(Inst::tex(TexOp::new(7), 1, 0), Inst::tex(TexOp::NOP, 1, 0))
        }
        WarningKind::ReservedAddrOp => firsts(
            Inst::jump(0xff, 1).set(FcInst::A_OP, AddrOp::new(3)),
            // The jump is not taken: the address stack is not used.
            Inst::jump(0, 1).set(FcInst::A_OP, AddrOp::new(3)),
        ),
        WarningKind::ReservedBranchOp => firsts(
            Inst::jump(0xff, 1).set(FcInst::B_OP1, BranchOp::new(3)),
            Inst::jump(0xff, 1).set(FcInst::B_OP0, BranchOp::new(3)),
        ),
        WarningKind::DpWithoutDotProduct => firsts(dp(RgbOp::MAD), dp(RgbOp::DP3)),
        WarningKind::SopWithoutFunction => firsts(sop(AlphaOp::MAD), sop(AlphaOp::RCP)),
        WarningKind::OmodDisabled => {
            let disabled = copy_to_1.set(AluRgbInst::OMOD, Omod::DISABLED);
            firsts(disabled.set(AluRgbaInst::RGB_OP, RgbOp::FRC), disabled)
        }
        WarningKind::RelativeRange => {
            // aL is 1 in the first iteration: 127 + 1 is out of range, 15 + 1 is not.
            let program = |address| {
                let read = Inst::mov(1, relative(temp(address)));
                let mut job = code(&[
                    Inst::mov(16, temp(0)),
                    Inst::fc(FcOp::LOOP).set(FcInst::JUMP_ANY, true).set(FcAddr::JUMP_ADDR, 3),
                    read,
                    out,
                ]);
                job.program.state.pixsize = None;
                job
            };
            (program(127), program(15))
        }
        WarningKind::PastPixsize => firsts(Inst::mov(17, temp(0)), Inst::mov(16, temp(0))),
        WarningKind::BranchOverflow => (
            nested_branches(u32::from(BRANCH_LEVELS) + 1),
            nested_branches(u32::from(BRANCH_LEVELS)),
        ),
        WarningKind::LoopOverflow => (nested_loops(LOOP_LEVELS + 1), nested_loops(LOOP_LEVELS)),
        WarningKind::LoopUnderflow => (
            first_and_out(Inst::fc(FcOp::ENDLOOP)),
            code(&[Inst::fc(FcOp::LOOP).set(FcInst::JUMP_ANY, true), Inst::fc(FcOp::ENDLOOP), out]),
        ),
        WarningKind::CallOverflow => (nested_calls(CALL_LEVELS + 1), nested_calls(CALL_LEVELS)),
        WarningKind::CallUnderflow => firsts(
            Inst::jump(0xff, 1).set(FcInst::A_OP, AddrOp::POP),
            Inst::jump(0, 1).set(FcInst::A_OP, AddrOp::POP),
        ),
        WarningKind::PartialFlowControl => {
            let program = |first| {
                let mut job = first_and_out(first);
                job.program.state.fc_ctrl = Some(Default::default());
                job
            };
            let begin = Inst::fc(FcOp::LOOP).set(FcInst::JUMP_ANY, true);
            (program(begin), program(Inst::jump(0xff, 1)))
        }
        WarningKind::FcPredicateRgba => {
            // JUMP_FUNC 0xcc is the predicate, 0xff reads no input.
            let jump = |table| Inst::jump(table, 2).set(CmnInst::RGB_PRED_SEL, PredSel::RGBA);
            (code(&[set_r, jump(0xcc), out]), code(&[set_r, jump(0xff), out]))
        }
        WarningKind::NeverWritten => firsts(
            Inst::mov(1, temp(2)),
            // Temporary 2 is a source, but no result depends on it.
            Inst::alu().copy(temp(2)),
        ),
        WarningKind::NotAwaited => {
            let acquired = fetch.set(TexInst::TEX_SEM_ACQUIRE, true);
            let awaited = Inst::out(1).set(CmnInst::TEX_SEM_WAIT, true);
            (code(&[acquired, Inst::out(1)]), code(&[acquired, awaited]))
        }
        WarningKind::PredicateNotSet => {
            (first_and_out(on(PredSel::RRRR)), code(&[set_r, on(PredSel::RRRR), out]))
        }
        WarningKind::AluResultNotSet => (
            // JUMP_FUNC 0xf0 is the ALU result, 0xff reads no input.
            first_and_out(Inst::jump(0xf0, 1)),
            first_and_out(Inst::jump(0xff, 1)),
        ),
        WarningKind::NoConstant => firsts(Inst::mov(1, constant(1)), Inst::mov(1, constant(0))),
        WarningKind::NoIntConstant => {
            let begin = Inst::fc(FcOp::REP).set(FcInst::JUMP_ANY, true).set(FcAddr::JUMP_ADDR, 1);
            firsts(begin.set(FcAddr::INT_ADDR, 1), begin)
        }
        WarningKind::NoBoolConstant => {
            let program = |given| {
                // JUMP_FUNC 0xaa is the boolean.
                let mut job = first_and_out(Inst::jump(0xaa, 1));
                job.program.state.fc_bool_const = given;
                job
            };
            (program(None), program(Some(Default::default())))
        }
        WarningKind::UnitDisabled => firsts(fetch, Inst::tex(TexOp::TEXKILL, 1, 0)),
        other => panic!("no programs for {}", other.name()),
    }
}

#[test]
fn every_kind_is_met_and_missed() {
    for &kind in WarningKind::ALL {
        let (bad, good) = pair(kind);
        let (bad, good) = (met(&bad), met(&good));
        assert!(bad.contains(&kind.name()), "{}: met only {bad:?}", kind.name());
        assert!(!good.contains(&kind.name()), "{}: met by the near miss", kind.name());
    }
}

#[test]
fn a_finding_says_where() {
    let job = code(&[Inst::mov(1, temp(2)), Inst::out(0)]);
    let options = Options { warnings: true, ..Options::default() };
    let found: Vec<String> =
        run(&job, &options).warnings.iter().map(|finding| finding.to_string()).collect();
    // Sixteen pixels, each of which reads temporary 2 twice: its colours and its alpha.
    assert_eq!(
        found,
        ["address 0, pixel 0,0: temporary 2 is read in a channel that nothing has written \
          (32 times)"]
    );
}
