//! What one instruction reads, writes and decides, by name; nothing here looks at other
//! instructions.

use r500_isa::values::{AddrOp, BranchOp, FcOp, InstType, PredSel, TexOp};
use r500_isa::{Half, Instruction, Source};

/// Up to `N` values, without allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlineVec<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> InlineVec<T, N> {
    fn new() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }

    fn push(&mut self, item: T) {
        if let Some(place) = self.items.get_mut(usize::from(self.len)) {
            *place = item;
            self.len += 1;
        }
    }
}

impl<T, const N: usize> std::ops::Deref for InlineVec<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

/// Which field names a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum OperandField {
    /// Source `n` of the RGB half.
    #[default]
    RgbSource0,
    RgbSource1,
    RgbSource2,
    AlphaSource0,
    AlphaSource1,
    AlphaSource2,
    RgbDest,
    AlphaDest,
    TexSource,
    TexDest,
    Dx,
    Dy,
}

const VIA_RGB: [OperandField; 3] =
    [OperandField::RgbSource0, OperandField::RgbSource1, OperandField::RgbSource2];
const VIA_ALPHA: [OperandField; 3] =
    [OperandField::AlphaSource0, OperandField::AlphaSource1, OperandField::AlphaSource2];

/// A register that an instruction names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// Address, aL not added.
    pub(crate) addr: u8,
    /// Whether aL is added.
    pub(crate) relative: bool,
    /// Channels that may be touched, red in bit 0.
    pub(crate) may: u8,
    /// Channels that are touched for certain (reads), or whatever the predicate says (writes).
    pub(crate) must: u8,
    /// Which field says so.
    pub(crate) field: OperandField,
}

/// A decoded instruction, as analyses see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstInfo {
    pub(crate) ty: InstType,
    /// Temporaries read, this pixel's or its neighbours'.
    pub(crate) reads: InlineVec<Access, 6>,
    /// Constants read.
    pub(crate) constants: InlineVec<Access, 6>,
    /// Temporaries written.
    pub(crate) writes: InlineVec<Access, 2>,
    /// Predicate bits looked at, R in bit 0.
    pub(crate) predicate_reads: u8,
    /// Predicate bits set; `predicate_sure` those set whatever the predicate says.
    pub(crate) predicate_writes: u8,
    pub(crate) predicate_must_write: u8,
    pub(crate) alu_result_read: bool,
    pub(crate) alu_result_write: bool,
    /// Output channels written: RGB target and mask, alpha target and whether.
    pub(crate) outputs: [(u8, u8); 2],
    /// Which of them whatever the predicate says.
    pub(crate) outputs_unconditional: [bool; 2],
    pub(crate) depth: bool,
    pub(crate) depth_unconditional: bool,
    /// It reads registers of the quad's other pixels: MDH, MDV, or a fetch whose level of detail
    /// comes from the quad.
    pub(crate) reads_quad: bool,
    pub(crate) write_inactive: bool,
    /// A texture fetch, TEXKILL and NOP not counted.
    pub(crate) fetch: bool,
}

impl InstInfo {
    pub(crate) fn new(inst: Instruction) -> Self {
        let cmn = inst.cmn();
        let mut step = Self {
            ty: inst.ty(),
            reads: InlineVec::new(),
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
        match step.ty {
            InstType::FC => step.flow(inst),
            InstType::TEX => step.tex(inst),
            _ => step.alu(inst),
        }
        step
    }

    pub(crate) fn is_alu(&self) -> bool {
        matches!(self.ty, InstType::ALU | InstType::OUT)
    }

    fn alu(&mut self, inst: Instruction) {
        let (cmn, rgb, alpha, rgba) =
            (inst.cmn(), inst.rgb_inst(), inst.alpha_inst(), inst.rgba_inst());
        let out = self.ty == InstType::OUT;
        let reads = inst.source_reads();
        let (rgb_sources, alpha_sources) = (inst.sources(Half::Rgb), inst.sources(Half::Alpha));
        for n in 0..3 {
            self.source(rgb_sources[n], reads.rgb[n], VIA_RGB[n]);
            self.source(alpha_sources[n], u8::from(reads.alpha[n]) << 3, VIA_ALPHA[n]);
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
        let wanted = inst.result_channels();
        self.reads_quad = (rgba.rgb_op().is_derivative() && wanted & 7 != 0)
            || (alpha.alpha_op().is_derivative() && wanted & 8 != 0);
    }

    fn source(&mut self, source: Source, mask: u8, via: OperandField) {
        if mask == 0 {
            return;
        }
        let Source { addr, relative, .. } = source;
        let access = Access { addr, relative, may: mask, must: mask, field: via };
        if source.constant {
            self.constants.push(access);
        } else if source.inline().is_none() {
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
        let channels = |swiz: [r500_isa::values::Channel; 4], wanted: u8| {
            (0..4)
                .filter(|i| wanted >> i & 1 != 0)
                .fold(0, |mask, i| mask | 1 << (swiz[i].code() & 3))
        };
        // How many of S, T, R count is the texture's business; S always does.
        let (may, sure) = match op {
            TexOp::TEXKILL => (0b1111, 0b1111),
            TexOp::PROJ | TexOp::LODBIAS | TexOp::LOD => (0b1111, 0b1001),
            _ => (0b0111, 0b0001),
        };
        let coord = [addr.src_s_swiz(), addr.src_t_swiz(), addr.src_r_swiz(), addr.src_q_swiz()];
        self.reads.push(Access {
            addr: addr.src_addr(),
            relative: addr.src_addr_rel(),
            may: channels(coord, may),
            must: channels(coord, sure),
            field: OperandField::TexSource,
        });
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
            // Open: of RGBA the red bit counts.
            self.predicate_reads = predicate_bits(rgb_sel, 1);
            return;
        }
        self.fetch = true;
        self.reads_quad = matches!(op, TexOp::LD | TexOp::PROJ | TexOp::LODBIAS);
        let (rgb, alpha) = (cmn.rgb_wmask().code(), u8::from(cmn.alpha_wmask()) << 3);
        let sure = if unconditional(rgb_sel) { rgb } else { 0 }
            | if unconditional(alpha_sel) { alpha } else { 0 };
        if rgb | alpha != 0 {
            self.writes.push(Access {
                addr: addr.dst_addr(),
                relative: addr.dst_addr_rel(),
                may: rgb | alpha,
                must: sure,
                field: OperandField::TexDest,
            });
        }
        self.predicate_reads = predicate_bits(rgb_sel, rgb) | predicate_bits(alpha_sel, alpha);
    }

    fn flow(&mut self, inst: Instruction) {
        let table = inst.fc_inst().jump_func();
        if jump_func_depends_on(table, 1) {
            self.predicate_reads = predicate_bits(inst.cmn().rgb_pred_sel(), 1);
        }
        self.alu_result_read = jump_func_depends_on(table, 2);
    }
}

/// A decoded flow-control instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BranchInfo {
    pub(crate) op: FcOp,
    /// Whether some pixel may want to jump, and whether one may not.
    pub(crate) outcome: JumpOutcome,
    /// Whether all pixels want the same, whatever they computed.
    pub(crate) uniform: bool,
    pub(crate) any: bool,
    pub(crate) b_else: bool,
    pub(crate) b_op0: BranchOp,
    pub(crate) b_op1: BranchOp,
    pub(crate) pop: u8,
    pub(crate) a_op: AddrOp,
    /// Absolute address of `JUMP_ADDR`.
    pub(crate) target: u32,
    pub(crate) int: u8,
    pub(crate) ignore_uncovered: bool,
}

/// What pixels may want of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JumpOutcome {
    pub(crate) may_jump: bool,
    pub(crate) may_fall_through: bool,
}

impl JumpOutcome {
    pub(crate) fn never(self) -> bool {
        !self.may_jump
    }

    pub(crate) fn always(self) -> bool {
        !self.may_fall_through
    }
}

impl BranchInfo {
    /// `offset` is `US_CODE_OFFSET`, `bools` the boolean constants if given.
    pub(crate) fn new(inst: Instruction, offset: u32, bools: Option<u32>) -> Self {
        let (cmn, fc, addr) = (inst.cmn(), inst.fc_inst(), inst.fc_addr());
        let table = fc.jump_func();
        // PRED_SEL NONE (and what is reserved) reads as 1, inverted as 0 (open).
        let predicate = match cmn.rgb_pred_sel().code() {
            1..=5 => None,
            _ => Some(!cmn.rgb_pred_inv()),
        };
        let boolean = bools.map(|bools| bools >> addr.bool_addr() & 1 != 0);
        let mut wants = JumpOutcome { may_jump: false, may_fall_through: false };
        for index in 0..8u8 {
            let possible = predicate.is_none_or(|p| p == (index & 2 != 0))
                && boolean.is_none_or(|b| b == (index & 1 != 0));
            if possible && table >> index & 1 != 0 {
                wants.may_jump = true;
            } else if possible {
                wants.may_fall_through = true;
            }
        }
        let decided = wants.never() || wants.always();
        let uniform = decided
            || !(jump_func_depends_on(table, 2)
                || (predicate.is_none() && jump_func_depends_on(table, 1)));
        let base = if addr.jump_global() { 0 } else { offset };
        Self {
            op: fc.op(),
            outcome: wants,
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

    pub(crate) fn is_loop_begin(&self) -> bool {
        matches!(self.op, FcOp::LOOP | FcOp::REP)
    }

    pub(crate) fn is_loop_end(&self) -> bool {
        matches!(self.op, FcOp::ENDLOOP | FcOp::ENDREP)
    }

    pub(crate) fn is_break(&self) -> bool {
        matches!(self.op, FcOp::BREAKLOOP | FcOp::BREAKREP)
    }

    /// Levels that DECR takes off when jumping; `None` for INCR and what is reserved.
    pub(crate) fn levels_closed_by_jump(&self) -> Option<u8> {
        match self.b_op1 {
            BranchOp::NONE => Some(0),
            BranchOp::DECR => Some(self.pop),
            _ => None,
        }
    }
}

/// Whether a `JUMP_FUNC` table depends on bit `n` of its index: 0 boolean, 1 predicate, 2 ALU
/// result.
pub(crate) fn jump_func_depends_on(table: u8, n: u8) -> bool {
    let step = 1 << n;
    (0..8u8).filter(|i| i & step == 0).any(|i| table >> i & 1 != table >> (i | step) & 1)
}

/// Predicate bits that a selection looks at for these channels.
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

/// Whether a half goes ahead whatever the predicate bits say (reserved selections as NONE; open).
fn unconditional(sel: PredSel) -> bool {
    !matches!(sel.code(), 1..=5)
}
