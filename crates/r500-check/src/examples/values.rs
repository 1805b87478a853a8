//! Examples of the lints about constants, uninitialised reads and dead writes.

use r500_isa::values::{AlphaOp, FcOp, Mod, RgbMask};
use r500_isa::words::CmnInst;
use r500_isa::{InlineConst, Operand, Slot, Source};
use r500_program::Job;

use super::build::{alpha, begin, change, constant, end, flow, job, mov, out, temp, with};
use crate::LintCode;

pub(super) fn examples(code: LintCode) -> Option<(Job, Job)> {
    let t0 = temp(0);
    Some(match code {
        LintCode::NoConstant => {
            let from = |n| job(&[mov(1, constant(n)), out(temp(1))]);
            (from(1), from(0))
        }
        LintCode::NoIntConstant => {
            let with_constant = |given: bool| {
                change(job(&[begin(2), mov(1, t0), end(1), out(temp(1))]), |job| {
                    if !given {
                        job.program.state.fc_int_const[0] = None;
                    }
                })
            };
            (with_constant(false), with_constant(true))
        }
        LintCode::NoBoolConstant => {
            let with_constant = |given: bool| {
                change(job(&[flow(FcOp::JUMP, 0xaa, false, 1), out(t0)]), |job| {
                    if !given {
                        job.program.state.fc_bool_const = None;
                    }
                })
            };
            (with_constant(false), with_constant(true))
        }
        LintCode::DeadWrite => {
            // The second instruction overwrites all of temp[1], or all but blue.
            let mask = |mask| {
                job(&[
                    mov(1, t0),
                    with(mov(1, constant(0)), 0, CmnInst::RGB_WMASK, mask),
                    out(temp(1)),
                ])
            };
            (
                mask(RgbMask::RGB),
                change(mask(RgbMask::RG), |job| {
                    job.program.code[0] = with(
                        with(job.program.code[0], 0, CmnInst::RGB_WMASK, RgbMask::B),
                        0,
                        CmnInst::ALPHA_WMASK,
                        false,
                    );
                }),
            )
        }
        LintCode::DeadOutput => {
            let second = |mask| {
                let last = with(out(constant(0)), 0, CmnInst::RGB_OMASK, mask);
                let first = with(out(t0), 0, CmnInst::ALPHA_OMASK, false);
                job(&[with(first, 0, CmnInst::RGB_OMASK, RgbMask::B), last])
            };
            (second(RgbMask::RGB), second(RgbMask::RG))
        }
        LintCode::NanConstant => {
            let root = |modifier| {
                let four = InlineConst::exact(4.0).map_or(0x80, |inline| 0x80 | inline.code());
                let inst = alpha(1, AlphaOp::RSQ, Source { addr: four, ..Source::UNUSED });
                let operand = Operand { modifier, ..inst.alpha_operand(Slot::A) };
                job(&[mov(1, t0), inst.with_alpha_operand(Slot::A, operand), out(temp(1))])
            };
            (root(Mod::NEG), root(Mod::NOP))
        }
        _ => return None,
    })
}
