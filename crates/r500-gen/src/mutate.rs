//! Mutation of structured jobs, with features that the oracle does not model.
//!
//! The [oracle](crate::oracle) has no textures, no derivatives in divergent flow and no counters, but two engines can
//! be compared there. A generated job gets textures for its fetches and planes for inputs, and single fields of its
//! instructions change. The control flow stays, so that the program still terminates.

use r500_isa::values::{AlphaOp, Channel, Compare, InstType, Mod, Omod, PredSel, RgbOp, SrcpOp};
use r500_isa::values::{Sel, Swiz, Target, TexOp};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcInst, TexAddr,
    TexInst,
};
use r500_isa::{Instruction, Operand, Slot};
use r500_program::{Component, Input, InputData, Job, Plane};

use crate::number::{number, special};
use crate::raw_programs::texture;
use crate::{Choices, Rng};

/// Units that get a texture; one more has none.
const UNITS: u32 = 4;

/// Mutates a job by a seed. The mutation of an instruction depends on the seed and its words only, so that a
/// [shrunk](crate::shrink) case is mutated as the large one.
///
/// ```
/// use r500_gen::{Case, Rng, Shape, mutate};
///
/// let case = Case::generate(&mut Rng::new(1), &Shape::default());
/// let mut job = case.bare_job("varied");
/// mutate(&mut job, 1);
/// assert_eq!(job.program.code.len(), case.tree.lower().code.len());
/// ```
pub fn mutate(job: &mut Job, seed: u64) {
    let mut rng = Rng::new(seed);
    for unit in 0..UNITS as usize {
        job.textures[unit] = rng.chance(7, 8).then(|| texture(&mut rng));
    }
    for input in job.inputs.iter_mut().flatten() {
        if rng.chance(1, 2) {
            *input = planes(&mut rng, input.temp);
        }
    }
    let traits = Traits {
        parted: rng.chance(1, 2),
        ignoring: rng.chance(1, 3),
        inactive: rng.chance(1, 32),
        odd: rng.chance(1, 8),
        counting: rng.chance(1, 2),
    };
    for inst in &mut job.program.code {
        let own =
            inst.0.iter().fold(seed, |hash, &word| Rng::new(hash ^ u64::from(word)).next_u64());
        *inst = traits.mutate(&mut Rng::new(own), *inst);
    }
}

/// The kinds of mutation of a program.
#[derive(Clone, Copy)]
struct Traits {
    /// Differences and fetches in divergent flow.
    parted: bool,
    /// `IGNORE_UNCOVERED`.
    ignoring: bool,
    /// `WRITE_INACTIVE`.
    inactive: bool,
    /// Reserved codes and relative addresses.
    odd: bool,
    /// `STAT_WE`.
    counting: bool,
}

impl Traits {
    fn mutate(self, rng: &mut Rng, inst: Instruction) -> Instruction {
        let mut inst = match inst.ty() {
            InstType::FC => self.flow(rng, inst),
            InstType::TEX => self.fetch(rng, inst),
            _ => {
                let changes = if rng.chance(1, 3) { 1 + rng.below(3) } else { 0 };
                let changed = (0..changes).fold(inst, |inst, _| self.arithmetic(rng, inst));
                if self.odd { changed } else { sound(changed) }
            }
        };
        if !self.counting {
            inst.0[0] = CmnInst(inst.0[0]).with(CmnInst::STAT_WE, 0).bits();
        }
        inst
    }

    fn flow(self, rng: &mut Rng, mut inst: Instruction) -> Instruction {
        if self.ignoring && rng.chance(1, 3) {
            inst.0[2] = FcInst(inst.0[2]).with(FcInst::IGNORE_UNCOVERED, true).bits();
        }
        inst
    }

    fn fetch(self, rng: &mut Rng, mut inst: Instruction) -> Instruction {
        if rng.chance(1, 8) {
            let counts = CmnInst(inst.0[0]).with(CmnInst::STAT_WE, rng.below(16) as u8);
            inst.0[0] = counts.bits();
        }
        let mut tex = TexInst(inst.0[1]).with(TexInst::TEX_ID, rng.below(UNITS + 1) as u8);
        if tex.inst() != TexOp::TEXKILL {
            // Without differences across the quad if pixels must not diverge.
            let ops = if self.parted { 6 } else { 2 };
            let all = [TexOp::LOD, TexOp::DXDY, TexOp::LD, TexOp::PROJ, TexOp::LODBIAS, TexOp::NOP];
            tex = tex.with(TexInst::INST, all[rng.below(ops) as usize]);
        }
        if self.ignoring {
            tex = tex.with(TexInst::IGNORE_UNCOVERED, rng.chance(1, 3));
        }
        inst.0[1] = tex.bits();
        if rng.chance(1, 4) {
            let channel = Channel::new(rng.below(4) as u8);
            let fields = [TexAddr::SRC_S_SWIZ, TexAddr::SRC_T_SWIZ, TexAddr::SRC_Q_SWIZ];
            inst.0[2] = TexAddr(inst.0[2]).with(fields[rng.below(3) as usize], channel).bits();
        }
        inst
    }

    /// Mutates one field of an ALU or OUT instruction.
    fn arithmetic(self, rng: &mut Rng, inst: Instruction) -> Instruction {
        let [mut cmn, mut rgb_addr, mut alpha_addr] = [inst.0[0], inst.0[1], inst.0[2]];
        let (mut rgb, mut alpha, mut rgba) =
            (AluRgbInst(inst.0[3]), AluAlphaInst(inst.0[4]), AluRgbaInst(inst.0[5]));
        let bits = rng.below(1 << 8) as u8;
        let on = bits & 1 != 0;
        let word = CmnInst(cmn);
        match rng.below(18) {
            0 => cmn = word.with(CmnInst::STAT_WE, bits & 15).bits(),
            1 => cmn = word.with(CmnInst::RGB_CLAMP, !word.rgb_clamp()).bits(),
            2 => cmn = word.with(CmnInst::ALPHA_CLAMP, !word.alpha_clamp()).bits(),
            3 => {
                let selected = word.with(CmnInst::RGB_PRED_SEL, PredSel::new(bits % 6));
                cmn = selected.with(CmnInst::RGB_PRED_INV, bits & 0x80 != 0).bits();
            }
            4 => {
                let selected = word.with(CmnInst::ALPHA_PRED_SEL, PredSel::new(bits % 6));
                cmn = selected.with(CmnInst::ALPHA_PRED_INV, bits & 0x80 != 0).bits();
            }
            5 => {
                rgb = rgb.with(AluRgbInst::ALU_WMASK, true);
                let compare = word.with(CmnInst::ALU_RESULT_OP, Compare::new(bits & 3));
                cmn = compare.bits();
            }
            6 | 7 if self.parted => {
                let op = if on { RgbOp::MDH } else { RgbOp::MDV };
                rgba = rgba.with(AluRgbaInst::RGB_OP, op);
            }
            8 if self.parted && !rgba.rgb_op().is_dot_product() => {
                let op = if on { AlphaOp::MDH } else { AlphaOp::MDV };
                alpha = alpha.with(AluAlphaInst::ALPHA_OP, op);
            }
            9 => {
                let op = RgbOp::new(bits & 15);
                if self.odd || (op.is_named() && !op.is_derivative()) {
                    rgba = rgba.with(AluRgbaInst::RGB_OP, op);
                }
            }
            10 => {
                let op = AlphaOp::new(bits & 15);
                if self.odd || (op.is_named() && !op.is_derivative()) {
                    alpha = alpha.with(AluAlphaInst::ALPHA_OP, op);
                }
            }
            11 => rgb = rgb.with(AluRgbInst::OMOD, Omod::new(bits & 7)),
            12 => alpha = alpha.with(AluAlphaInst::OMOD, Omod::new(bits & 7)),
            13 => {
                let op = SrcpOp::new(bits >> 1 & 3);
                if on {
                    rgb_addr = AluRgbAddr(rgb_addr).with(AluRgbAddr::SRCP_OP, op).bits();
                } else {
                    alpha_addr = AluAlphaAddr(alpha_addr).with(AluAlphaAddr::SRCP_OP, op).bits();
                }
            }
            14 => {
                let fields = [AluRgbInst::RGB_MOD_A, AluRgbInst::RGB_MOD_B][usize::from(on)];
                rgb = rgb.with(fields, Mod::new(bits >> 1 & 3));
            }
            15 => {
                rgb = rgb.with(AluRgbInst::TARGET, Target::new(bits & 3));
                alpha = alpha.with(AluAlphaInst::TARGET, Target::new(bits >> 2 & 3));
            }
            16 if self.odd => {
                let relative = AluRgbAddr(rgb_addr).with(AluRgbAddr::ADDR0_REL, on);
                rgb_addr = relative.bits();
                rgba = rgba.with(AluRgbaInst::RGB_ADDRD_REL, bits & 2 != 0);
            }
            17 if self.inactive => cmn = word.with(CmnInst::WRITE_INACTIVE, on).bits(),
            _ => {}
        }
        Instruction([cmn, rgb_addr, alpha_addr, rgb.bits(), alpha.bits(), rgba.bits()])
    }
}

/// Undoes mutations that no compiler emits: invalid pairs of halves, reserved codes, OMOD 7 on arithmetic, differences
/// of swizzled channels.
fn sound(mut inst: Instruction) -> Instruction {
    let (rgb, alpha) = (inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op());
    let alpha = match rgb {
        RgbOp::SOP if !alpha.is_transcendental() => AlphaOp::RCP,
        _ if alpha == AlphaOp::DP && !rgb.is_dot_product() => AlphaOp::MAD,
        _ => alpha,
    };
    inst.0[4] = inst.alpha_inst().with(AluAlphaInst::ALPHA_OP, alpha).bits();
    let selects = matches!(rgb, RgbOp::MIN | RgbOp::MAX | RgbOp::CMP | RgbOp::CND);
    if !selects && inst.rgb_inst().omod() == Omod::DISABLED {
        inst.0[3] = inst.rgb_inst().with(AluRgbInst::OMOD, Omod::DIV8).bits();
    }
    let selects = matches!(alpha, AlphaOp::MIN | AlphaOp::MAX | AlphaOp::CMP | AlphaOp::CND);
    if !selects && inst.alpha_inst().omod() == Omod::DISABLED {
        inst.0[4] = inst.alpha_inst().with(AluAlphaInst::OMOD, Omod::DIV8).bits();
    }
    for slot in [Slot::A, Slot::C] {
        if rgb.is_derivative() {
            let operand = inst.rgb_operand(slot);
            let straight = Operand { sel: Sel::SRC0, swiz: [Swiz::R, Swiz::G, Swiz::B], ..operand };
            inst = inst.with_rgb_operand(slot, straight);
        }
        if alpha.is_derivative() {
            let operand = inst.alpha_operand(slot);
            let straight = Operand { sel: Sel::SRC0, swiz: [Swiz::A], ..operand };
            inst = inst.with_alpha_operand(slot, straight);
        }
    }
    inst
}

/// Returns planes over the picture, including constant ones, steep ones, and ones that cross zero.
fn planes(rng: &mut Rng, temp: u8) -> Input {
    let component = |rng: &mut Rng| {
        let plane = match rng.below(6) {
            0 => Plane { c: number(rng), du: 0.0, dv: 0.0 },
            1 => Plane { c: 0.0, du: 1.0, dv: 0.0 },
            2 => Plane { c: 0.0, du: 0.0, dv: 1.0 },
            3 => Plane { c: special(rng), du: number(rng), dv: number(rng) },
            _ => Plane { c: number(rng), du: number(rng), dv: number(rng) },
        };
        Component { name: String::new(), plane }
    };
    Input { temp, data: InputData::Planes(std::array::from_fn(|_| component(rng))) }
}

/// Removes waits, NOPs and semaphores from instructions, each with probability one half. The programs still run here,
/// but not on a card.
pub fn forget_waits(code: &mut [Instruction], rng: &mut Rng) {
    for inst in code {
        let mut cmn = inst.cmn();
        for flag in [CmnInst::NOP, CmnInst::ALU_WAIT, CmnInst::TEX_SEM_WAIT] {
            if rng.chance(1, 2) {
                cmn = cmn.with(flag, false);
            }
        }
        inst.0[0] = cmn.bits();
        if inst.ty() == InstType::TEX && rng.chance(1, 2) {
            inst.0[1] = inst.tex_inst().with(TexInst::TEX_SEM_ACQUIRE, false).bits();
        }
    }
}
