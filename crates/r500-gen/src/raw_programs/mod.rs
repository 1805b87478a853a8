//! Random programs as dwords, uniform or near-valid.
//!
//! They have no tree and no oracle. They test properties of all programs: no panics, lossless printing, equal results
//! of two engines.
//!
//! Programs of uniform dwords rarely compute anything (a quarter of all instructions is flow control that exits the
//! program). Near-valid ones keep opcodes, registers and targets mostly in range, but every field may have any value.

mod state;

use r500_isa::values::{AddrOp, AlphaOp, BranchOp, FcOp, InstType, PredSel, RgbOp, TexOp};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{Instruction, Source};
use r500_program::Job;

pub use state::texture;

use crate::Choices;

/// Temporaries that near-valid instructions mostly use: few, so that instructions read the results of others.
const TEMPS: u32 = 12;
/// Constants that near-valid instructions mostly use.
const CONSTANTS: u32 = 24;

/// Returns six uniform dwords.
#[must_use]
pub fn uniform(choices: &mut impl Choices) -> Instruction {
    Instruction(std::array::from_fn(|_| choices.bits()))
}

/// Returns a mostly valid instruction: reserved codes, high registers and unusual modes are rare, but no field is
/// constant. Jump targets are below 64.
#[must_use]
pub fn near_valid(choices: &mut impl Choices) -> Instruction {
    near_valid_at(choices, 0, 64)
}

/// Returns a job with a program of `length` near-valid (rarely uniform) instructions, random state, small textures,
/// inputs and coverage, 8x8 pixels. It may be endless.
#[must_use]
pub fn job(choices: &mut impl Choices, length: u16) -> Job {
    let code: Vec<_> =
        (0..length)
            .map(|at| {
                if rarely(choices) { uniform(choices) } else { near_valid_at(choices, at, length) }
            })
            .collect();
    state::around(choices, code)
}

/// Returns a near-valid instruction at address `at` of a program of `length` instructions.
fn near_valid_at(choices: &mut impl Choices, at: u16, length: u16) -> Instruction {
    match choices.weighted(&[10, 4, 4, 3]) {
        0 => alu(choices, InstType::ALU),
        1 => alu(choices, InstType::OUT),
        2 => flow(choices, at, length),
        _ => fetch(choices),
    }
}

/// Returns `true` with probability 1/16.
fn rarely(choices: &mut impl Choices) -> bool {
    choices.chance(1, 16)
}

/// Returns mostly a code below `named`, else any code of that many bits.
fn code(choices: &mut impl Choices, named: u32, bits: u32) -> u8 {
    let below = if rarely(choices) { 1 << bits } else { named };
    choices.below(below) as u8
}

fn common(choices: &mut impl Choices, ty: InstType) -> CmnInst {
    let mut cmn = CmnInst(choices.bits()).with(CmnInst::TYPE, ty);
    for (sel, inv) in [
        (CmnInst::RGB_PRED_SEL, CmnInst::RGB_PRED_INV),
        (CmnInst::ALPHA_PRED_SEL, CmnInst::ALPHA_PRED_INV),
    ] {
        if choices.chance(2, 3) {
            cmn = cmn.with(sel, PredSel::NONE).with(inv, rarely(choices));
        } else {
            cmn = cmn.with(sel, PredSel::new(code(choices, 6, 3)));
        }
    }
    cmn = cmn.with(CmnInst::WRITE_INACTIVE, rarely(choices));
    for clamp in [CmnInst::RGB_CLAMP, CmnInst::ALPHA_CLAMP] {
        cmn = cmn.with(clamp, choices.chance(1, 4));
    }
    if ty == InstType::ALU && choices.chance(3, 4) {
        cmn = cmn.with(CmnInst::RGB_OMASK, Default::default()).with(CmnInst::ALPHA_OMASK, false);
    }
    cmn
}

fn alu(choices: &mut impl Choices, ty: InstType) -> Instruction {
    let (mut rgb, mut alpha) = (AluRgbAddr(choices.bits()), AluAlphaAddr(choices.bits()));
    for n in 0..3 {
        rgb = rgb.with_source(n, source(choices));
        alpha = alpha.with_source(n, source(choices));
    }
    let rgb_op = RgbOp::new(code(choices, 13, 4));
    let alpha_op = match rgb_op {
        RgbOp::SOP if !rarely(choices) => AlphaOp::new(8 + choices.below(6) as u8),
        _ => AlphaOp::new(code(choices, 16, 4)),
    };
    let results = choices.chance(1, 4);
    Instruction([
        common(choices, ty).bits(),
        rgb.bits(),
        alpha.bits(),
        AluRgbInst(choices.bits()).with(AluRgbInst::ALU_WMASK, results).bits(),
        AluAlphaInst(choices.bits())
            .with(AluAlphaInst::ALPHA_OP, alpha_op)
            .with(AluAlphaInst::ALPHA_ADDRD, temp(choices))
            .with(AluAlphaInst::ALPHA_ADDRD_REL, choices.chance(1, 8))
            .bits(),
        AluRgbaInst(choices.bits())
            .with(AluRgbaInst::RGB_OP, rgb_op)
            .with(AluRgbaInst::RGB_ADDRD, temp(choices))
            .with(AluRgbaInst::RGB_ADDRD_REL, choices.chance(1, 8))
            .bits(),
    ])
}

fn source(choices: &mut impl Choices) -> Source {
    let relative = choices.chance(1, 8);
    match choices.weighted(&[5, 3, 2]) {
        0 => Source { addr: temp(choices), constant: false, relative },
        1 => {
            let below = if rarely(choices) { 256 } else { CONSTANTS };
            Source { addr: choices.below(below) as u8, constant: true, relative }
        }
        _ => Source { addr: 0x80 | choices.below(128) as u8, constant: false, relative },
    }
}

fn temp(choices: &mut impl Choices) -> u8 {
    let below = if rarely(choices) { 128 } else { TEMPS };
    choices.below(below) as u8
}

fn flow(choices: &mut impl Choices, at: u16, length: u16) -> Instruction {
    // The tables of structured code: never, always, each condition and its inverse.
    let tables = [0xff, 0x0f, 0xf0, 0xcc, 0x33, 0xaa, 0x55];
    let table = match choices.weighted(&[3, 1]) {
        0 => choices.pick(0x00, &tables),
        _ => choices.below(256) as u8,
    };
    let pops = if rarely(choices) { choices.below(32) } else { choices.below(3) };
    let a_op = if choices.chance(3, 4) { 0 } else { code(choices, 3, 2) };
    let fc = FcInst(choices.bits())
        .with(FcInst::OP, FcOp::new(choices.pick(0, &[1, 2, 3, 4, 5, 6, 7, 0, 0])))
        .with(FcInst::B_ELSE, choices.chance(1, 6))
        .with(FcInst::A_OP, AddrOp::new(a_op))
        .with(FcInst::JUMP_FUNC, table)
        .with(FcInst::B_POP_CNT, pops as u8)
        .with(FcInst::B_OP0, BranchOp::new(code(choices, 3, 2)))
        .with(FcInst::B_OP1, BranchOp::new(code(choices, 3, 2)))
        .with(FcInst::IGNORE_UNCOVERED, choices.chance(1, 4));
    // Mostly forward and short, so that programs terminate.
    let (at, length) = (i32::from(at), i32::from(length));
    let target = match choices.weighted(&[8, 3, 1, 1]) {
        0 => choices.between(at + 1, (at + 9).min(length - 1)),
        1 => choices.between((at - 6).max(0), at),
        2 => choices.between(0, length - 1),
        _ => choices.between(0, 511),
    };
    let addr = FcAddr(choices.bits())
        .with(FcAddr::INT_ADDR, choices.below(8) as u8)
        .with(FcAddr::JUMP_ADDR, target as u16)
        .with(FcAddr::JUMP_GLOBAL, rarely(choices));
    let cmn = common(choices, InstType::FC);
    let unused = |choices: &mut _| if rarely(choices) { Choices::bits(choices) } else { 0 };
    let [first, fifth, sixth] = [unused(choices), unused(choices), unused(choices)];
    Instruction([cmn.bits(), first, fc.bits(), addr.bits(), fifth, sixth])
}

fn fetch(choices: &mut impl Choices) -> Instruction {
    let units = if rarely(choices) { 16 } else { 3 };
    let inst = TexInst(choices.bits())
        .with(TexInst::TEX_ID, choices.below(units) as u8)
        .with(TexInst::INST, TexOp::new(code(choices, 7, 3)));
    let relative = |choices: &mut _| Choices::chance(choices, 1, 8);
    let addr = TexAddr(choices.bits())
        .with(TexAddr::SRC_ADDR, temp(choices))
        .with(TexAddr::SRC_ADDR_REL, relative(choices))
        .with(TexAddr::DST_ADDR, temp(choices))
        .with(TexAddr::DST_ADDR_REL, relative(choices));
    let gradients = TexAddrDxdy(choices.bits())
        .with(TexAddrDxdy::DX_ADDR, temp(choices))
        .with(TexAddrDxdy::DX_ADDR_REL, relative(choices))
        .with(TexAddrDxdy::DY_ADDR, temp(choices))
        .with(TexAddrDxdy::DY_ADDR_REL, relative(choices));
    let cmn = common(choices, InstType::TEX);
    Instruction([cmn.bits(), inst.bits(), addr.bits(), gradients.bits(), 0, 0])
}
