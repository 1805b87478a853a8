//! Def/use facts of one instruction: the registers that it reads and writes, and the branch
//! decision of a flow-control instruction.
//!
//! Every set comes in two forms. A *may* set is an upper bound: what the instruction accesses in some execution. A
//! *must* set is a lower bound: what it reads in every execution, or writes regardless of its predicate bits. Only the
//! encoding counts; no other instruction and no register value is used.

use crate::values::{AddrOp, BranchOp, Channel, FcOp, InstType, PredSel, TexOp};
use crate::words::FcInst;
use crate::{Half, Instruction, Source};

/// A vector of at most `N` values, stored inline.
#[derive(Clone, Copy, Debug)]
pub struct InlineVec<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> InlineVec<T, N> {
    fn new() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }

    /// Appends an item. `N` is the largest number of operands of the kind in an instruction.
    fn push(&mut self, item: T) {
        self.items[usize::from(self.len)] = item;
        self.len += 1;
    }
}

impl<T, const N: usize> core::ops::Deref for InlineVec<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

/// The operand field that names a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OperandField {
    /// Source 0 of the RGB half.
    #[default]
    RgbSource0,
    /// Source 1 of the RGB half.
    RgbSource1,
    /// Source 2 of the RGB half.
    RgbSource2,
    /// Source 0 of the alpha half.
    AlphaSource0,
    /// Source 1 of the alpha half.
    AlphaSource1,
    /// Source 2 of the alpha half.
    AlphaSource2,
    /// Destination of the RGB half.
    RgbDest,
    /// Destination of the alpha half.
    AlphaDest,
    /// Coordinates of a texture instruction.
    TexSource,
    /// Destination of a texture instruction.
    TexDest,
    /// Horizontal gradient of DXDY.
    Dx,
    /// Vertical gradient of DXDY.
    Dy,
}

impl OperandField {
    /// Number of operand fields.
    pub const COUNT: usize = Self::Dy as usize + 1;
}

const RGB_SOURCES: [OperandField; 3] =
    [OperandField::RgbSource0, OperandField::RgbSource1, OperandField::RgbSource2];
const ALPHA_SOURCES: [OperandField; 3] =
    [OperandField::AlphaSource0, OperandField::AlphaSource1, OperandField::AlphaSource2];

/// A register operand. Channel masks have red in bit 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// Register number, before aL is added.
    pub addr: u8,
    /// Whether aL is added.
    pub relative: bool,
    /// Channels that may be read or written.
    pub may: u8,
    /// Channels that are always read, or are written regardless of the predicate bits.
    pub must: u8,
    /// The field that names the register.
    pub field: OperandField,
}

impl Access {
    /// Returns the access of a source whose channels `mask` are read.
    fn of_source(source: Source, mask: u8, field: OperandField) -> Self {
        let Source { addr, relative, .. } = source;
        Self { addr, relative, may: mask, must: mask, field }
    }
}

/// Def/use facts of an instruction. Channel masks have red in bit 0.
#[derive(Clone, Copy, Debug)]
pub struct InstInfo {
    /// `TYPE`.
    pub ty: InstType,
    /// Temporaries read, of this pixel or of others in its quad.
    pub reads: InlineVec<Access, 6>,
    /// Temporaries read of other pixels in its quad: source 0 of MDH and MDV, and the coordinates of a fetch whose level
    /// of detail is computed from the quad. They are in `reads`, too.
    pub quad_reads: InlineVec<Access, 2>,
    /// Constants read.
    pub constants: InlineVec<Access, 6>,
    /// Temporaries written.
    pub writes: InlineVec<Access, 2>,
    /// Predicate bits read.
    pub predicate_reads: u8,
    /// Predicate bits that may be written.
    pub predicate_writes: u8,
    /// Predicate bits that are written regardless of the predicate bits.
    pub predicate_must_write: u8,
    /// Whether the ALU result is read.
    pub alu_result_read: bool,
    /// Whether the ALU result is written.
    pub alu_result_write: bool,
    /// Output channels written by the RGB half and by the alpha half: target and channel mask.
    pub outputs: [(u8, u8); 2],
    /// Whether each half writes its outputs regardless of the predicate bits.
    pub outputs_unconditional: [bool; 2],
    /// Whether depth is written.
    pub depth: bool,
    /// Whether depth is written regardless of the predicate bits.
    pub depth_unconditional: bool,
    /// Whether the instruction is MDH, MDV, or a fetch whose level of detail is computed from the quad. The registers
    /// are in `quad_reads`; there are none if the source of MDH or MDV is a constant.
    pub reads_quad: bool,
    /// `WRITE_INACTIVE`.
    pub write_inactive: bool,
    /// Whether the instruction is a texture fetch; TEXKILL and NOP are not.
    pub fetch: bool,
}

impl InstInfo {
    /// Returns the facts of an instruction.
    #[must_use]
    pub fn new(inst: Instruction) -> Self {
        let cmn = inst.cmn();
        let mut info = Self {
            ty: inst.ty(),
            reads: InlineVec::new(),
            quad_reads: InlineVec::new(),
            constants: InlineVec::new(),
            writes: InlineVec::new(),
            predicate_reads: 0,
            predicate_writes: 0,
            predicate_must_write: 0,
            alu_result_read: false,
            alu_result_write: false,
            outputs: [(0, 0); 2],
            outputs_unconditional: [false; 2],
            depth: false,
            depth_unconditional: false,
            reads_quad: false,
            write_inactive: cmn.write_inactive(),
            fetch: false,
        };
        match info.ty {
            InstType::FC => info.flow(inst),
            InstType::TEX => info.tex(inst),
            _ => info.alu(inst),
        }
        info
    }

    /// Returns whether the instruction is ALU or OUT.
    #[must_use]
    pub fn is_alu(&self) -> bool {
        matches!(self.ty, InstType::ALU | InstType::OUT)
    }

    fn alu(&mut self, inst: Instruction) {
        let (cmn, rgb, alpha, rgba) =
            (inst.cmn(), inst.rgb_inst(), inst.alpha_inst(), inst.rgba_inst());
        let out = self.ty == InstType::OUT;
        let reads = inst.source_reads();
        let (rgb_sources, alpha_sources) = (inst.sources(Half::Rgb), inst.sources(Half::Alpha));
        for n in 0..3 {
            self.source(rgb_sources[n], reads.rgb[n], RGB_SOURCES[n]);
            self.source(alpha_sources[n], u8::from(reads.alpha[n]) << 3, ALPHA_SOURCES[n]);
        }
        self.reads_quad = reads.quad != 0;
        for (source, mask, via) in [
            (rgb_sources[0], reads.quad & 7, RGB_SOURCES[0]),
            (alpha_sources[0], reads.quad & 8, ALPHA_SOURCES[0]),
        ] {
            if mask != 0 && source.temporary().is_some() {
                self.quad_reads.push(Access::of_source(source, mask, via));
            }
        }
        let (rgb_sure, alpha_sure) =
            (unconditional(cmn.rgb_pred_sel()), unconditional(cmn.alpha_pred_sel()));
        let wmask = cmn.rgb_wmask().code();
        let sure = |mask: u8, certain: bool| if certain { mask } else { 0 };
        if wmask != 0 {
            self.writes.push(Access {
                addr: rgba.rgb_addrd(),
                relative: rgba.rgb_addrd_rel(),
                may: wmask,
                must: sure(wmask, rgb_sure),
                field: OperandField::RgbDest,
            });
        }
        if cmn.alpha_wmask() {
            self.writes.push(Access {
                addr: alpha.alpha_addrd(),
                relative: alpha.alpha_addrd_rel(),
                may: 8,
                must: sure(8, alpha_sure),
                field: OperandField::AlphaDest,
            });
        }
        let (rgb_omask, alpha_omask) = (cmn.rgb_omask().code(), u8::from(cmn.alpha_omask()) << 3);
        if out {
            self.outputs = [(rgb.target().code(), rgb_omask), (alpha.target().code(), alpha_omask)];
            self.outputs_unconditional = [rgb_sure, alpha_sure];
            self.depth = alpha.w_omask();
            self.depth_unconditional = alpha_sure;
        } else {
            self.predicate_writes = rgb_omask | alpha_omask;
            self.predicate_must_write = sure(rgb_omask, rgb_sure) | sure(alpha_omask, alpha_sure);
        }
        self.alu_result_write = rgb.alu_wmask();
        let alpha_written = u8::from(cmn.alpha_wmask() || self.depth) << 3 | alpha_omask;
        self.predicate_reads = predicate_bits(cmn.rgb_pred_sel(), wmask | rgb_omask)
            | predicate_bits(cmn.alpha_pred_sel(), alpha_written);
    }

    fn source(&mut self, source: Source, mask: u8, via: OperandField) {
        if mask == 0 {
            return;
        }
        let access = Access::of_source(source, mask, via);
        if source.constant {
            self.constants.push(access);
        } else if source.temporary().is_some() {
            self.reads.push(access);
        }
    }

    fn tex(&mut self, inst: Instruction) {
        let (cmn, tex, addr, grad) =
            (inst.cmn(), inst.tex_inst(), inst.tex_addr(), inst.tex_addr_dxdy());
        let op = tex.inst();
        if op == TexOp::NOP || !op.is_named() {
            return;
        }
        let kills = op == TexOp::TEXKILL;
        let channels = |swiz: [Channel; 4], wanted: u8| {
            (0..4)
                .filter(|i| wanted >> i & 1 != 0)
                .fold(0, |mask, i| mask | 1 << (swiz[i].code() & 3))
        };
        // The dimension of the texture decides how many of S, T and R are used; S always is.
        let (may, must) = match op {
            TexOp::TEXKILL => (0b1111, 0b1111),
            TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD => (0b1111, 0b1001),
            _ => (0b0111, 0b0001),
        };
        let coord = [addr.src_s_swiz(), addr.src_t_swiz(), addr.src_r_swiz(), addr.src_q_swiz()];
        let coordinates = Access {
            addr: addr.src_addr(),
            relative: addr.src_addr_rel(),
            may: channels(coord, may),
            must: channels(coord, must),
            field: OperandField::TexSource,
        };
        self.reads.push(coordinates);
        if op == TexOp::DXDY {
            let dx = [grad.dx_s_swiz(), grad.dx_t_swiz(), grad.dx_r_swiz(), grad.dx_q_swiz()];
            let dy = [grad.dy_s_swiz(), grad.dy_t_swiz(), grad.dy_r_swiz(), grad.dy_q_swiz()];
            let access = |addr, relative, swiz, via| Access {
                addr,
                relative,
                may: channels(swiz, 0b0111),
                must: channels(swiz, 0b0001),
                field: via,
            };
            self.reads.push(access(grad.dx_addr(), grad.dx_addr_rel(), dx, OperandField::Dx));
            self.reads.push(access(grad.dy_addr(), grad.dy_addr_rel(), dy, OperandField::Dy));
        }
        let (rgb_sel, alpha_sel) = (cmn.rgb_pred_sel(), cmn.alpha_pred_sel());
        if kills {
            // Open: RGBA selects the red bit.
            self.predicate_reads = predicate_bits(rgb_sel, 1);
            return;
        }
        self.fetch = true;
        self.reads_quad = matches!(op, TexOp::LD | TexOp::PROJ | TexOp::LODBIAS);
        if self.reads_quad {
            self.quad_reads.push(coordinates);
        }
        let (rgb, alpha) = (cmn.rgb_wmask().code(), u8::from(cmn.alpha_wmask()) << 3);
        let must = if unconditional(rgb_sel) { rgb } else { 0 }
            | if unconditional(alpha_sel) { alpha } else { 0 };
        if rgb | alpha != 0 {
            self.writes.push(Access {
                addr: addr.dst_addr(),
                relative: addr.dst_addr_rel(),
                may: rgb | alpha,
                must,
                field: OperandField::TexDest,
            });
        }
        self.predicate_reads = predicate_bits(rgb_sel, rgb) | predicate_bits(alpha_sel, alpha);
    }

    fn flow(&mut self, inst: Instruction) {
        let fc = inst.fc_inst();
        if fc.depends_on(JumpInput::Predicate) {
            self.predicate_reads = predicate_bits(inst.cmn().rgb_pred_sel(), 1);
        }
        self.alu_result_read = fc.depends_on(JumpInput::AluResult);
    }
}

/// An input of a `JUMP_FUNC` table, by its bit in the index of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpInput {
    /// The boolean constant that `BOOL_ADDR` names.
    Boolean,
    /// The predicate bit that the predicate selection names.
    Predicate,
    /// The ALU result.
    AluResult,
}

impl FcInst {
    /// Returns whether the jump decision depends on an input: two entries of `JUMP_FUNC` differ whose indices differ
    /// only in the bit of the input.
    #[must_use]
    pub fn depends_on(self, input: JumpInput) -> bool {
        let table = self.jump_func();
        let bit = 1 << input as u8;
        (0..8u8).filter(|i| i & bit == 0).any(|i| table >> i & 1 != table >> (i | bit) & 1)
    }
}

/// A decoded flow-control instruction.
#[derive(Clone, Copy, Debug)]
pub struct BranchInfo {
    /// `OP`.
    pub op: FcOp,
    /// The possible values of the jump condition.
    pub outcome: JumpOutcome,
    /// Whether the condition has the same value in all pixels of a group.
    pub uniform: bool,
    /// `JUMP_ANY`.
    pub any: bool,
    /// `B_ELSE`.
    pub b_else: bool,
    /// `B_OP0`.
    pub b_op0: BranchOp,
    /// `B_OP1`.
    pub b_op1: BranchOp,
    /// `B_POP_CNT`.
    pub pop: u8,
    /// `A_OP`.
    pub a_op: AddrOp,
    /// Absolute address of `JUMP_ADDR`.
    pub target: u32,
    /// `INT_ADDR`.
    pub int: u8,
    /// `IGNORE_UNCOVERED`.
    pub ignore_uncovered: bool,
}

/// The values that the jump condition of a pixel can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpOutcome {
    /// Whether the condition is true for some values of the inputs.
    pub may_jump: bool,
    /// Whether the condition is false for some values of the inputs.
    pub may_fall_through: bool,
}

impl JumpOutcome {
    /// Returns whether the condition is always false.
    #[must_use]
    pub fn never(self) -> bool {
        !self.may_jump
    }

    /// Returns whether the condition is always true.
    #[must_use]
    pub fn always(self) -> bool {
        !self.may_fall_through
    }
}

impl BranchInfo {
    /// Decodes a flow-control instruction. `offset` is `US_CODE_OFFSET`; `bools` are the boolean
    /// constants, or `None` if they can have any value.
    #[must_use]
    pub fn new(inst: Instruction, offset: u32, bools: Option<u32>) -> Self {
        let (cmn, fc, addr) = (inst.cmn(), inst.fc_inst(), inst.fc_addr());
        let table = fc.jump_func();
        // PRED_SEL NONE and the reserved codes read as 1, inverted as 0 (open).
        let predicate = match cmn.rgb_pred_sel().code() {
            1..=5 => None,
            _ => Some(!cmn.rgb_pred_inv()),
        };
        let boolean = bools.map(|bools| bools >> addr.bool_addr() & 1 != 0);
        let mut outcome = JumpOutcome { may_jump: false, may_fall_through: false };
        for index in 0..8u8 {
            let possible = predicate.is_none_or(|p| p == (index & 2 != 0))
                && boolean.is_none_or(|b| b == (index & 1 != 0));
            if possible && table >> index & 1 != 0 {
                outcome.may_jump = true;
            } else if possible {
                outcome.may_fall_through = true;
            }
        }
        let decided = outcome.never() || outcome.always();
        let uniform = decided
            || !(fc.depends_on(JumpInput::AluResult)
                || (predicate.is_none() && fc.depends_on(JumpInput::Predicate)));
        let base = if addr.jump_global() { 0 } else { offset };
        Self {
            op: fc.op(),
            outcome,
            uniform,
            any: fc.jump_any(),
            b_else: fc.b_else(),
            b_op0: fc.b_op0(),
            b_op1: fc.b_op1(),
            pop: fc.b_pop_cnt(),
            a_op: fc.a_op(),
            target: u32::from(addr.jump_addr()) + base,
            int: addr.int_addr(),
            ignore_uncovered: fc.ignore_uncovered(),
        }
    }

    /// Returns whether the operation is LOOP or REP.
    #[must_use]
    pub fn is_loop_begin(&self) -> bool {
        matches!(self.op, FcOp::LOOP | FcOp::REP)
    }

    /// Returns whether the operation is ENDLOOP or ENDREP.
    #[must_use]
    pub fn is_loop_end(&self) -> bool {
        matches!(self.op, FcOp::ENDLOOP | FcOp::ENDREP)
    }

    /// Returns whether the operation is BREAKLOOP or BREAKREP.
    #[must_use]
    pub fn is_break(&self) -> bool {
        matches!(self.op, FcOp::BREAKLOOP | FcOp::BREAKREP)
    }

    /// Returns the branch levels that a taken jump closes; `None` for INCR and the reserved code.
    #[must_use]
    pub fn levels_closed_by_jump(&self) -> Option<u8> {
        match self.b_op1 {
            BranchOp::NONE => Some(0),
            BranchOp::DECR => Some(self.pop),
            _ => None,
        }
    }
}

/// Returns the predicate bits that a selection reads for these channels.
fn predicate_bits(sel: PredSel, channels: u8) -> u8 {
    if channels == 0 {
        return 0;
    }
    match sel {
        PredSel::RGBA => channels,
        PredSel::RRRR => 1,
        PredSel::GGGG => 2,
        PredSel::BBBB => 4,
        PredSel::AAAA => 8,
        _ => 0,
    }
}

/// Returns whether a half writes regardless of the predicate bits. Reserved selections count as NONE (open).
fn unconditional(sel: PredSel) -> bool {
    !matches!(sel.code(), 1..=5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{AlphaOp, RgbMask, RgbOp};
    use crate::words::{
        AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbaInst, CmnInst, TexAddr, TexInst,
    };

    /// Returns `MDH temp[5].<rgb>, temp[6 + aL].<alpha>`, which writes the channels `rgb` and, if `alpha`, alpha.
    fn derivative(rgb: u8, alpha: bool) -> Instruction {
        let cmn = CmnInst::default()
            .with(CmnInst::TYPE, InstType::ALU)
            .with(CmnInst::RGB_WMASK, RgbMask::new(rgb))
            .with(CmnInst::ALPHA_WMASK, alpha);
        let colour = AluRgbAddr::default().with(AluRgbAddr::ADDR0, 5);
        let other = AluAlphaAddr::default()
            .with(AluAlphaAddr::ADDR0, 6)
            .with(AluAlphaAddr::ADDR0_REL, true);
        let op = AluAlphaInst::default().with(AluAlphaInst::ALPHA_OP, AlphaOp::MDH);
        let rgba = AluRgbaInst::default().with(AluRgbaInst::RGB_OP, RgbOp::MDH);
        Instruction([cmn.0, colour.0, other.0, 0, op.0, rgba.0])
    }

    fn quad_reads(inst: Instruction) -> impl Iterator<Item = (u8, bool, u8)> {
        let info = InstInfo::new(inst);
        (0..info.quad_reads.len()).map(move |n| {
            let Access { addr, relative, may, .. } = info.quad_reads[n];
            (addr, relative, may)
        })
    }

    #[test]
    fn derivatives_read_the_written_channels_of_source_0_across_the_quad() {
        assert!(quad_reads(derivative(0b101, true)).eq([(5, false, 0b101), (6, true, 8)]));
        assert!(quad_reads(derivative(0b010, false)).eq([(5, false, 0b010)]));
        assert!(quad_reads(derivative(0, true)).eq([(6, true, 8)]));
        assert!(!InstInfo::new(derivative(0, false)).reads_quad);
    }

    #[test]
    fn a_derivative_of_a_constant_reads_no_register_across_the_quad() {
        let mut inst = derivative(0b111, false);
        inst.0[1] = AluRgbAddr(inst.0[1]).with(AluRgbAddr::ADDR0_CONST, true).0;
        assert!(quad_reads(inst).eq([]));
        assert!(InstInfo::new(inst).reads_quad);
    }

    #[test]
    fn fetches_with_implicit_level_of_detail_read_coordinates_across_the_quad() {
        let fetch = |op| {
            let cmn = CmnInst::default().with(CmnInst::TYPE, InstType::TEX);
            let addr = TexAddr::default()
                .with(TexAddr::SRC_ADDR, 9)
                .with(TexAddr::SRC_T_SWIZ, Channel::G)
                .with(TexAddr::SRC_R_SWIZ, Channel::G)
                .with(TexAddr::SRC_Q_SWIZ, Channel::A);
            let tex = TexInst::default().with(TexInst::INST, op);
            Instruction([cmn.0, tex.0, addr.0, 0, 0, 0])
        };
        assert!(quad_reads(fetch(TexOp::LD)).eq([(9, false, 0b0011)]));
        assert!(quad_reads(fetch(TexOp::PROJ)).eq([(9, false, 0b1011)]));
        for op in [TexOp::LOD, TexOp::DXDY, TexOp::TEXKILL, TexOp::NOP] {
            assert!(quad_reads(fetch(op)).eq([]) && !InstInfo::new(fetch(op)).reads_quad, "{op:?}");
        }
    }
}
