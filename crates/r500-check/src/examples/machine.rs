//! Examples of the lints about single instructions and state.

use r500_isa::state::{UsCodeAddr, UsCodeOffset, UsCodeRange, UsFcCtrl, UsPixsize};
use r500_isa::values::{
    AddrOp, AlphaOp, BranchOp, FcOp, Omod, PredSel, RgbMask, RgbOp, Sel, Target, TexOp,
};
use r500_isa::words::{AluAlphaInst, AluRgbInst, AluRgbaInst, CmnInst, FcInst, TexInst};
use r500_isa::{Instruction, Operand, Slot, Source};
use r500_program::{Job, Texture};

use super::build::{
    alpha, begin, call, change, constant, counts, end, fetch, flow, idle, ints, job, mov, out, ret,
    temp, wait, with,
};
use crate::LintCode;

pub(super) fn examples(code: LintCode) -> Option<(Job, Job)> {
    let t0 = temp(0);
    let plain = || job(&[mov(1, t0), out(temp(1))]);
    let one = |inst: Instruction| job(&[inst, out(temp(1))]);
    let rgb_op = |op| with(mov(1, t0), 5, AluRgbaInst::RGB_OP, op);
    let alpha_op = |op| with(mov(1, t0), 4, AluAlphaInst::ALPHA_OP, op);
    let predicated = |sel| {
        let set =
            with(with(idle(), 0, CmnInst::RGB_OMASK, RgbMask::R), 3, AluRgbInst::TARGET, Target::B);
        job(&[
            set,
            mov(1, t0),
            with(mov(1, constant(0)), 0, CmnInst::RGB_PRED_SEL, sel),
            out(temp(1)),
        ])
    };
    Some(match code {
        LintCode::NoInstructions => (job(&[]), job(&[out(t0)])),
        LintCode::EmptyWindow => {
            let at = |first| {
                change(plain(), |job| {
                    let range = UsCodeRange(0).with(UsCodeRange::CODE_ADDR, first);
                    job.program.state.code_range = Some(range.with(UsCodeRange::CODE_SIZE, 9));
                })
            };
            (at(2), at(0))
        }
        LintCode::StartOutside => {
            let at = |start| {
                change(plain(), |job| {
                    let addr = UsCodeAddr(0).with(UsCodeAddr::START_ADDR, start);
                    job.program.state.code_addr = Some(addr.with(UsCodeAddr::END_ADDR, 1));
                })
            };
            (at(2), at(0))
        }
        LintCode::EndOutside => {
            let at = |end| {
                change(plain(), |job| {
                    let addr = UsCodeAddr(0).with(UsCodeAddr::END_ADDR, end);
                    job.program.state.code_addr = Some(addr);
                })
            };
            (at(2), at(1))
        }
        LintCode::PastSlots => {
            let at = |offset| {
                change(plain(), |job| {
                    let state = &mut job.program.state;
                    state.code_offset =
                        Some(UsCodeOffset(0).with(UsCodeOffset::OFFSET_ADDR, offset));
                    let range = UsCodeRange(0).with(UsCodeRange::CODE_ADDR, offset);
                    state.code_range = Some(range.with(UsCodeRange::CODE_SIZE, 1));
                })
            };
            (at(511), at(510))
        }
        LintCode::TooManyConstants => {
            let many =
                |count| change(plain(), |job| job.program.state.constants = vec![[0; 4]; count]);
            (many(257), many(256))
        }
        LintCode::RunsOut => {
            // A jump skips END_ADDR.
            let to = |target| job(&[flow(FcOp::JUMP, 0xff, false, target), out(t0), out(t0)]);
            let to = |target| {
                change(to(target), |job| {
                    job.program.state.code_addr = Some(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, 1));
                })
            };
            (to(2), to(1))
        }
        LintCode::JumpsOut => {
            let to = |target| job(&[flow(FcOp::JUMP, 0xff, false, target), out(t0)]);
            (to(2), to(1))
        }
        LintCode::ReservedRgbOp => (one(rgb_op(RgbOp::new(6))), one(rgb_op(RgbOp::CND))),
        LintCode::ReservedAlphaOp => (one(alpha_op(AlphaOp::new(4))), one(alpha_op(AlphaOp::CND))),
        LintCode::ReservedTexOp => {
            let tex = |op| job(&[with(fetch(1, 0), 1, TexInst::INST, op), wait(out(t0))]);
            (tex(TexOp::new(7)), tex(TexOp::NOP))
        }
        LintCode::ReservedAddrOp => {
            let op =
                |op| job(&[with(flow(FcOp::JUMP, 0xff, false, 1), 2, FcInst::A_OP, op), out(t0)]);
            (op(AddrOp::new(3)), op(AddrOp::PUSH))
        }
        LintCode::ReservedBranchOp => {
            // Only the operation on the executed edge counts.
            let op = |func| {
                let inst = flow(FcOp::JUMP, func, true, 1);
                job(&[counts(inst, BranchOp::NONE, BranchOp::new(3), 0), out(t0)])
            };
            (op(0xff), op(0))
        }
        LintCode::DpWithoutDotProduct => {
            let dp = |op| {
                with(
                    with(alpha(1, AlphaOp::DP, t0), 5, AluRgbaInst::RGB_OP, op),
                    0,
                    CmnInst::RGB_WMASK,
                    RgbMask::NONE,
                )
            };
            (one(dp(RgbOp::MAD)), one(dp(RgbOp::DP3)))
        }
        LintCode::SopWithoutFunction => {
            let sop = |op| with(rgb_op(RgbOp::SOP), 4, AluAlphaInst::ALPHA_OP, op);
            (one(sop(AlphaOp::FRC)), one(sop(AlphaOp::RCP)))
        }
        LintCode::OmodDisabled => {
            let omod = |op| with(rgb_op(op), 3, AluRgbInst::OMOD, Omod::DISABLED);
            (one(omod(RgbOp::FRC)), one(omod(RgbOp::MAX)))
        }
        LintCode::RelativeRange => {
            // aL takes the values 0 to 3.
            let from = |addr| {
                let source = Source { addr, constant: true, relative: true };
                let code = [mov(1, t0), begin(3), mov(1, source), end(2), out(temp(1))];
                change(job(&code), |job| job.program.state.constants = vec![[0; 4]; 256])
            };
            (from(253), from(252))
        }
        LintCode::PastPixsize => {
            let size = |size| {
                change(plain(), |job| {
                    job.program.state.pixsize = Some(UsPixsize(0).with(UsPixsize::PIX_SIZE, size));
                })
            };
            (size(0), size(1))
        }
        LintCode::PartialFlowControl => {
            let full = |full| {
                change(job(&[call(2), out(temp(1)), mov(1, t0), ret()]), |job| {
                    let state = &mut job.program.state;
                    state.fc_ctrl = Some(UsFcCtrl(0).with(UsFcCtrl::FULL_FC_EN, full));
                    state.code_addr = Some(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, 1));
                    state.fc_int_const[0] = Some(ints(1, 0, 0));
                })
            };
            (full(false), full(true))
        }
        LintCode::NoOutput => {
            let nothing = with(
                with(out(t0), 0, CmnInst::RGB_OMASK, RgbMask::NONE),
                0,
                CmnInst::ALPHA_OMASK,
                false,
            );
            (job(&[nothing]), job(&[out(t0)]))
        }
        LintCode::OutWithoutOutput => {
            let nothing = with(
                with(out(t0), 0, CmnInst::RGB_OMASK, RgbMask::NONE),
                0,
                CmnInst::ALPHA_OMASK,
                false,
            );
            let depth = with(nothing, 4, AluAlphaInst::W_OMASK, true);
            (job(&[out(t0), nothing]), job(&[out(t0), depth]))
        }
        LintCode::LastNotOut => (job(&[out(t0), idle()]), job(&[idle(), out(t0)])),
        LintCode::UnusedTarget => {
            let target = |target| {
                let inst = with(out(t0), 3, AluRgbInst::TARGET, target);
                job(&[with(inst, 4, AluAlphaInst::TARGET, target)])
            };
            (target(Target::B), target(Target::A))
        }
        LintCode::ReservedPredicate => (predicated(PredSel::new(6)), predicated(PredSel::RRRR)),
        LintCode::FcPredicateRgba => {
            let sel = |sel| {
                let set = with(idle(), 0, CmnInst::RGB_OMASK, RgbMask::R);
                let jump = with(flow(FcOp::JUMP, 0xcc, true, 2), 0, CmnInst::RGB_PRED_SEL, sel);
                job(&[set, jump, out(t0)])
            };
            (sel(PredSel::RGBA), sel(PredSel::RRRR))
        }
        LintCode::DerivativeOperands => {
            let from = |sel| {
                let inst = rgb_op(RgbOp::MDH);
                let operand = Operand { sel, ..inst.rgb_operand(Slot::A) };
                one(inst.with_rgb_operand(Slot::C, operand))
            };
            (from(Sel::SRC1), from(Sel::SRC0))
        }
        LintCode::StrayBits => {
            let bit = |bits| {
                let mut inst = flow(FcOp::JUMP, 0, true, 1);
                inst.0[1] = bits;
                job(&[inst, out(t0)])
            };
            (bit(1), bit(0))
        }
        LintCode::UnitDisabled => {
            let unit = |unit| {
                let code = [with(fetch(1, 0), 1, TexInst::TEX_ID, unit), wait(out(temp(1)))];
                change(job(&code), |job| job.textures[0] = Some(Texture::default()))
            };
            (unit(1), unit(0))
        }
        LintCode::TooTangled => (tangled(15), tangled(3)),
        _ => return None,
    })
}

/// Returns a chain of subroutines, each of which calls the next one twice.
fn tangled(depth: u16) -> Job {
    let mut code = vec![call(2), out(temp(0))];
    for n in 0..depth {
        let next = 2 + 3 * (n + 1);
        code.extend([call(next), call(next), ret()]);
    }
    code.push(ret());
    change(job(&code), |job| {
        job.program.state.code_addr = Some(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, 1));
    })
}
