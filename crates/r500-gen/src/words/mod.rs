//! Random dwords: any at all, and such as come near a program.
//!
//! These have no tree and no oracle. They are for properties that hold of every program: nothing
//! panics, what was read prints back, two engines agree.
//!
//! Uniform dwords rarely do anything (a quarter of all instructions is flow control that leaves the
//! program). Near-valid ones keep opcodes, registers and targets mostly in range, and let every
//! field have every value now and then.

mod state;

use r500_isa::values::{AddrOp, AlphaOp, BranchOp, FcOp, InstType, PredSel, RgbOp, TexOp};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{Instruction, Source};
use r500_program::Job;

pub use state::texture;

use crate::Entropy;

/// Temporaries that near-valid words mostly name: few, so that instructions meet each other's.
const TEMPS: u32 = 12;
/// Constants that they mostly name.
const CONSTANTS: u32 = 24;

/// Six dwords, whatever they are.
#[must_use]
pub fn uniform(entropy: &mut impl Entropy) -> Instruction {
    Instruction(std::array::from_fn(|_| entropy.bits()))
}

/// Returns an instruction that mostly makes sense by itself: reserved codes, far registers and rare
/// modes are rare, but there is no field that always has the same value. Jump targets are below 64.
#[must_use]
pub fn near_valid(entropy: &mut impl Entropy) -> Instruction {
    near_valid_at(entropy, 0, 64)
}

/// Returns a program of `length` near-valid instructions (or uniform ones, rarely) with random
/// state, small textures, inputs and coverage, 8x8 pixels. It may be endless.
#[must_use]
pub fn job(entropy: &mut impl Entropy, length: u16) -> Job {
    let code: Vec<_> =
        (0..length)
            .map(|at| {
                if rarely(entropy) { uniform(entropy) } else { near_valid_at(entropy, at, length) }
            })
            .collect();
    state::around(entropy, code)
}

/// Returns a near-valid instruction at address `at` of a program of `length` instructions.
fn near_valid_at(entropy: &mut impl Entropy, at: u16, length: u16) -> Instruction {
    match entropy.weighted(&[10, 4, 4, 3]) {
        0 => alu(entropy, InstType::ALU),
        1 => alu(entropy, InstType::OUT),
        2 => flow(entropy, at, length),
        _ => fetch(entropy),
    }
}

/// Returns one in sixteen.
fn rarely(entropy: &mut impl Entropy) -> bool {
    entropy.chance(1, 16)
}

/// Returns a code below `named` mostly, else any of that many bits.
fn code(entropy: &mut impl Entropy, named: u32, bits: u32) -> u8 {
    let below = if rarely(entropy) { 1 << bits } else { named };
    entropy.below(below) as u8
}

fn common(entropy: &mut impl Entropy, ty: InstType) -> CmnInst {
    let mut cmn = CmnInst(entropy.bits()).with(CmnInst::TYPE, ty);
    for (sel, inv) in [
        (CmnInst::RGB_PRED_SEL, CmnInst::RGB_PRED_INV),
        (CmnInst::ALPHA_PRED_SEL, CmnInst::ALPHA_PRED_INV),
    ] {
        if entropy.chance(2, 3) {
            cmn = cmn.with(sel, PredSel::NONE).with(inv, rarely(entropy));
        } else {
            cmn = cmn.with(sel, PredSel::new(code(entropy, 6, 3)));
        }
    }
    cmn = cmn.with(CmnInst::WRITE_INACTIVE, rarely(entropy));
    for clamp in [CmnInst::RGB_CLAMP, CmnInst::ALPHA_CLAMP] {
        cmn = cmn.with(clamp, entropy.chance(1, 4));
    }
    if ty == InstType::ALU && entropy.chance(3, 4) {
        cmn = cmn.with(CmnInst::RGB_OMASK, Default::default()).with(CmnInst::ALPHA_OMASK, false);
    }
    cmn
}

fn alu(entropy: &mut impl Entropy, ty: InstType) -> Instruction {
    let (mut rgb, mut alpha) = (AluRgbAddr(entropy.bits()), AluAlphaAddr(entropy.bits()));
    for n in 0..3 {
        rgb = rgb.with_source(n, source(entropy));
        alpha = alpha.with_source(n, source(entropy));
    }
    let rgb_op = RgbOp::new(code(entropy, 13, 4));
    let alpha_op = match rgb_op {
        RgbOp::SOP if !rarely(entropy) => AlphaOp::new(8 + entropy.below(6) as u8),
        _ => AlphaOp::new(code(entropy, 16, 4)),
    };
    let results = entropy.chance(1, 4);
    Instruction([
        common(entropy, ty).bits(),
        rgb.bits(),
        alpha.bits(),
        AluRgbInst(entropy.bits()).with(AluRgbInst::ALU_WMASK, results).bits(),
        AluAlphaInst(entropy.bits())
            .with(AluAlphaInst::ALPHA_OP, alpha_op)
            .with(AluAlphaInst::ALPHA_ADDRD, temp(entropy))
            .with(AluAlphaInst::ALPHA_ADDRD_REL, entropy.chance(1, 8))
            .bits(),
        AluRgbaInst(entropy.bits())
            .with(AluRgbaInst::RGB_OP, rgb_op)
            .with(AluRgbaInst::RGB_ADDRD, temp(entropy))
            .with(AluRgbaInst::RGB_ADDRD_REL, entropy.chance(1, 8))
            .bits(),
    ])
}

fn source(entropy: &mut impl Entropy) -> Source {
    let relative = entropy.chance(1, 8);
    match entropy.weighted(&[5, 3, 2]) {
        0 => Source { addr: temp(entropy), constant: false, relative },
        1 => {
            let below = if rarely(entropy) { 256 } else { CONSTANTS };
            Source { addr: entropy.below(below) as u8, constant: true, relative }
        }
        _ => Source { addr: 0x80 | entropy.below(128) as u8, constant: false, relative },
    }
}

fn temp(entropy: &mut impl Entropy) -> u8 {
    let below = if rarely(entropy) { 128 } else { TEMPS };
    entropy.below(below) as u8
}

fn flow(entropy: &mut impl Entropy, at: u16, length: u16) -> Instruction {
    // Structured code is full of these tables: never, always, for and against each condition.
    let tables = [0xff, 0x0f, 0xf0, 0xcc, 0x33, 0xaa, 0x55];
    let table = match entropy.weighted(&[3, 1]) {
        0 => entropy.pick(0x00, &tables),
        _ => entropy.below(256) as u8,
    };
    let pops = if rarely(entropy) { entropy.below(32) } else { entropy.below(3) };
    let a_op = if entropy.chance(3, 4) { 0 } else { code(entropy, 3, 2) };
    let fc = FcInst(entropy.bits())
        .with(FcInst::OP, FcOp::new(entropy.pick(0, &[1, 2, 3, 4, 5, 6, 7, 0, 0])))
        .with(FcInst::B_ELSE, entropy.chance(1, 6))
        .with(FcInst::A_OP, AddrOp::new(a_op))
        .with(FcInst::JUMP_FUNC, table)
        .with(FcInst::B_POP_CNT, pops as u8)
        .with(FcInst::B_OP0, BranchOp::new(code(entropy, 3, 2)))
        .with(FcInst::B_OP1, BranchOp::new(code(entropy, 3, 2)))
        .with(FcInst::IGNORE_UNCOVERED, entropy.chance(1, 4));
    // Mostly forward and near, so that programs end.
    let (at, length) = (i32::from(at), i32::from(length));
    let target = match entropy.weighted(&[8, 3, 1, 1]) {
        0 => entropy.between(at + 1, (at + 9).min(length - 1)),
        1 => entropy.between((at - 6).max(0), at),
        2 => entropy.between(0, length - 1),
        _ => entropy.between(0, 511),
    };
    let addr = FcAddr(entropy.bits())
        .with(FcAddr::INT_ADDR, entropy.below(8) as u8)
        .with(FcAddr::JUMP_ADDR, target as u16)
        .with(FcAddr::JUMP_GLOBAL, rarely(entropy));
    let cmn = common(entropy, InstType::FC);
    let unused = |entropy: &mut _| if rarely(entropy) { Entropy::bits(entropy) } else { 0 };
    let [first, fifth, sixth] = [unused(entropy), unused(entropy), unused(entropy)];
    Instruction([cmn.bits(), first, fc.bits(), addr.bits(), fifth, sixth])
}

fn fetch(entropy: &mut impl Entropy) -> Instruction {
    let units = if rarely(entropy) { 16 } else { 3 };
    let inst = TexInst(entropy.bits())
        .with(TexInst::TEX_ID, entropy.below(units) as u8)
        .with(TexInst::INST, TexOp::new(code(entropy, 7, 3)));
    let relative = |entropy: &mut _| Entropy::chance(entropy, 1, 8);
    let addr = TexAddr(entropy.bits())
        .with(TexAddr::SRC_ADDR, temp(entropy))
        .with(TexAddr::SRC_ADDR_REL, relative(entropy))
        .with(TexAddr::DST_ADDR, temp(entropy))
        .with(TexAddr::DST_ADDR_REL, relative(entropy));
    let gradients = TexAddrDxdy(entropy.bits())
        .with(TexAddrDxdy::DX_ADDR, temp(entropy))
        .with(TexAddrDxdy::DX_ADDR_REL, relative(entropy))
        .with(TexAddrDxdy::DY_ADDR, temp(entropy))
        .with(TexAddrDxdy::DY_ADDR_REL, relative(entropy));
    let cmn = common(entropy, InstType::TEX);
    Instruction([cmn.bits(), inst.bits(), addr.bits(), gradients.bits(), 0, 0])
}
