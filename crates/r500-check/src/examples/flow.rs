//! Examples of the control-flow lints.

use r500_isa::state::{UsCodeAddr, UsFcCtrl};
use r500_isa::values::{BranchOp, FcOp, RgbMask, RgbOp};
use r500_isa::words::{AluRgbaInst, CmnInst, FcInst};
use r500_isa::{Instruction, Source};
use r500_program::Job;

use super::build::{
    begin, branch, call, change, constant, counts, end, endif, fetch, flow, idle, ints, job, leave,
    mov, out, ret, temp, test, wait, with,
};
use crate::LintCode;

pub(super) fn examples(code: LintCode) -> Option<(Job, Job)> {
    let t0 = temp(0);
    let one = constant(0);
    let ends_at = |code: &[Instruction], end: u16| {
        change(job(code), |job| {
            job.program.state.code_addr = Some(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, end));
        })
    };
    let with_iterations = |code: &[Instruction], passes: u8| {
        change(job(code), |job| job.program.state.fc_int_const[0] = Some(ints(passes, 0, 0)))
    };
    Some(match code {
        LintCode::NeverEnds => {
            let back =
                |func| job(&[mov(1, t0), test(t0), flow(FcOp::JUMP, func, false, 0), out(temp(1))]);
            (back(0xff), back(0xf0))
        }
        LintCode::BranchOverflow => {
            // Without full flow control there are four levels.
            let nested = |depth: u16| {
                let mut code = vec![test(t0)];
                code.extend((0..depth).map(|n| branch(2 * depth - n + 1)));
                code.push(mov(1, t0));
                code.extend((0..depth).map(|n| endif(depth + 2 + n)));
                code.push(out(t0));
                change(job(&code), |job| job.program.state.fc_ctrl = Some(UsFcCtrl(0)))
            };
            (nested(5), nested(4))
        }
        LintCode::LoopOverflow => {
            let nested = |depth: u16| {
                let mut code: Vec<_> = (0..depth).map(|n| begin(2 * depth - n)).collect();
                code.push(mov(1, t0));
                code.extend((0..depth).map(|n| end(depth - n)));
                code.push(out(temp(1)));
                job(&code)
            };
            (nested(33), nested(32))
        }
        LintCode::LoopUnderflow => {
            // With zero iterations, LOOP jumps to its end.
            let code = [with(begin(1), 2, FcInst::JUMP_ANY, true), mov(1, t0), end(1), out(t0)];
            (with_iterations(&code, 0), with_iterations(&code, 1))
        }
        LintCode::CallOverflow => {
            let chain = |depth: u16| {
                let mut code = vec![call(2), out(t0)];
                for n in 1..depth {
                    code.extend([call(2 + 2 * n), ret()]);
                }
                code.push(ret());
                ends_at(&code, 1)
            };
            (chain(33), chain(32))
        }
        LintCode::CallUnderflow => {
            // The end lies before the subroutine, or after it, so that execution falls into it.
            let code = [call(2), out(temp(1)), mov(1, t0), ret(), out(temp(1))];
            (ends_at(&code, 4), ends_at(&code, 1))
        }
        LintCode::Unreachable => {
            let over = |target| job(&[flow(FcOp::JUMP, 0xff, false, target), mov(1, t0), out(t0)]);
            (over(2), over(1))
        }
        LintCode::Unbalanced => {
            // IF may jump past ENDIF, or to ENDIF only if it counts.
            let to = |target| {
                let jump = counts(
                    flow(FcOp::JUMP, 0x0f, false, target),
                    BranchOp::INCR,
                    BranchOp::NONE,
                    0,
                );
                job(&[test(t0), mov(1, t0), jump, mov(1, one), endif(4), out(temp(1))])
            };
            (to(4), to(5))
        }
        LintCode::ElseWithoutIf => {
            let middle = with(
                counts(flow(FcOp::JUMP, 0, false, 7), BranchOp::NONE, BranchOp::DECR, 1),
                2,
                FcInst::B_ELSE,
                true,
            );
            let start = |opens| {
                let to = counts(flow(FcOp::JUMP, 0x0f, false, 5), opens, opens, 0);
                job(&[
                    test(t0),
                    mov(1, t0),
                    to,
                    mov(1, one),
                    middle,
                    mov(1, t0),
                    endif(6),
                    out(temp(1)),
                ])
            };
            (start(BranchOp::NONE), start(BranchOp::INCR))
        }
        LintCode::EndsInBranch => {
            let code = [test(t0), mov(1, t0), branch(4), mov(1, one), endif(4), out(temp(1))];
            (ends_at(&code, 3), ends_at(&code, 5))
        }
        LintCode::EndsInLoop => {
            let code = [begin(2), mov(1, t0), end(1), out(temp(1))];
            (ends_at(&code, 1), ends_at(&code, 3))
        }
        LintCode::BreakDepth => {
            let levels = |levels| {
                job(&[
                    mov(1, t0),
                    begin(6),
                    test(t0),
                    branch(5),
                    leave(6, levels),
                    endif(5),
                    end(2),
                    out(temp(1)),
                ])
            };
            (levels(0), levels(1))
        }
        LintCode::LoopHazard => {
            let any = |any| {
                let begin = with(begin(1), 2, FcInst::JUMP_ANY, any);
                job(&[begin, mov(1, t0), end(1), out(temp(1))])
            };
            (any(false), any(true))
        }
        LintCode::SilentLimit => {
            let code = [
                mov(1, t0),
                begin(6),
                test(t0),
                branch(5),
                leave(6, 1),
                endif(5),
                end(2),
                out(temp(1)),
            ];
            (with_iterations(&code, 255), with_iterations(&code, 254))
        }
        LintCode::DivergentQuad => {
            let code = |inside: bool| {
                let sample = fetch(1, 0);
                let (before, within) =
                    if inside { (mov(1, t0), sample) } else { (sample, wait(mov(1, one))) };
                job(&[test(t0), before, branch(4), within, endif(4), wait(out(temp(1)))])
            };
            (code(true), code(false))
        }
        LintCode::Unstructured => {
            let func = |func| {
                job(&[
                    mov(1, t0),
                    test(t0),
                    flow(FcOp::JUMP, func, false, 4),
                    mov(1, one),
                    out(temp(1)),
                ])
            };
            (func(0xf0), func(0xaa))
        }
        LintCode::DivergentReturn => {
            // From inside a branch with a divergent condition, or a uniform one (a boolean
            // constant).
            let func = |func| {
                let begin =
                    counts(flow(FcOp::JUMP, func, false, 7), BranchOp::INCR, BranchOp::NONE, 0);
                let back = counts(ret(), BranchOp::NONE, BranchOp::DECR, 1);
                let code = [test(t0), call(3), out(temp(1)), begin, mov(1, t0), back, endif(6)];
                ends_at(&[&code[..], &[ret()]].concat(), 2)
            };
            (func(0x0f), func(0x55))
        }
        LintCode::EndlessJump => {
            let count = |counts: bool| {
                let middle = if counts { test(temp(1)) } else { idle() };
                job(&[test(t0), mov(1, t0), middle, flow(FcOp::JUMP, 0xf0, true, 1), out(temp(1))])
            };
            (count(false), count(true))
        }
        LintCode::MissingNop => {
            // temp[1] = 1 - 2*temp[1] directly after its write.
            let nop = |nop| {
                let mut presubtract = mov(1, temp(1));
                let operand = presubtract.rgb_operand(r500_isa::Slot::A);
                presubtract = presubtract.with_rgb_operand(
                    r500_isa::Slot::A,
                    r500_isa::Operand { sel: r500_isa::values::Sel::SRCP, ..operand },
                );
                job(&[with(mov(1, t0), 0, CmnInst::NOP, nop), presubtract, out(temp(1))])
            };
            (nop(false), nop(true))
        }
        LintCode::MissingAluWait => {
            let wait = |wait| {
                let branch = with(branch(4), 0, CmnInst::ALU_WAIT, wait);
                job(&[test(t0), mov(1, t0), branch, mov(1, one), endif(4), out(temp(1))])
            };
            (wait(false), wait(true))
        }
        LintCode::NotAwaited => {
            let read = |inst| job(&[fetch(1, 0), inst]);
            (read(out(temp(1))), read(wait(out(temp(1)))))
        }
        LintCode::PendingOverwrite => {
            let write = |inst| job(&[fetch(1, 0), inst, wait(out(temp(1)))]);
            (write(mov(1, t0)), write(wait(mov(1, t0))))
        }
        LintCode::NeverAcquired => {
            let acquires = |acquires| {
                let sample =
                    with(fetch(1, 0), 1, r500_isa::words::TexInst::TEX_SEM_ACQUIRE, acquires);
                job(&[sample, wait(out(temp(1)))])
            };
            (acquires(false), acquires(true))
        }
        LintCode::PredicateNotSet => {
            let mask = |mask| {
                let set = with(
                    with(mov(1, t0), 0, CmnInst::RGB_OMASK, mask),
                    5,
                    AluRgbaInst::RGB_OP,
                    RgbOp::MAD,
                );
                let gated =
                    with(mov(1, one), 0, CmnInst::RGB_PRED_SEL, r500_isa::values::PredSel::GGGG);
                job(&[set, gated, out(temp(1))])
            };
            (mask(RgbMask::R), mask(RgbMask::G))
        }
        LintCode::AluResultNotSet => {
            let set = |set: bool| {
                let first = if set { test(t0) } else { idle() };
                job(&[first, mov(1, t0), branch(4), mov(1, one), endif(4), out(temp(1))])
            };
            (set(false), set(true))
        }
        LintCode::MaybeUnwritten => {
            let before =
                |to| job(&[test(t0), mov(to, t0), branch(4), mov(1, one), endif(4), out(temp(1))]);
            (before(2), before(1))
        }
        LintCode::NeverWritten => {
            let from = |from: Source| job(&[mov(1, from), out(temp(1))]);
            (from(temp(2)), from(t0))
        }
        _ => return None,
    })
}
