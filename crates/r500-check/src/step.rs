//! What one instruction reads, writes and decides, by name; nothing here looks at other
//! instructions.

use r500_isa::values::{AddrOp, BranchOp, FcOp, InstType, PredSel, TexOp};
use r500_isa::{Half, Instruction, Source};

/// Up to `N` values, without allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Few<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
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

impl<T, const N: usize> std::ops::Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

/// Which field names a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Via {
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

const VIA_RGB: [Via; 3] = [Via::RgbSource0, Via::RgbSource1, Via::RgbSource2];
const VIA_ALPHA: [Via; 3] = [Via::AlphaSource0, Via::AlphaSource1, Via::AlphaSource2];

/// A register that an instruction names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// Address, aL not added.
    pub(crate) addr: u8,
    /// Whether aL is added.
    pub(crate) relative: bool,
    /// Channels that may be touched, red in bit 0.
    pub(crate) mask: u8,
    /// Channels that are touched for certain (reads), or whatever the predicate says (writes).
    pub(crate) sure: u8,
    /// Which field says so.
    pub(crate) via: Via,
}

/// A decoded instruction, as analyses see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) ty: InstType,
    /// Temporaries read, this pixel's or its neighbours'.
    pub(crate) reads: Few<Access, 6>,
    /// Constants read.
    pub(crate) constants: Few<Access, 6>,
    /// Temporaries written.
    pub(crate) writes: Few<Access, 2>,
    /// Predicate bits looked at, R in bit 0.
    pub(crate) predicate_reads: u8,
    /// Predicate bits set; `predicate_sure` those set whatever the predicate says.
    pub(crate) predicate_writes: u8,
    pub(crate) predicate_sure: u8,
    pub(crate) alu_result_read: bool,
    pub(crate) alu_result_write: bool,
    /// Output channels written: RGB target and mask, alpha target and whether.
    pub(crate) outputs: [(u8, u8); 2],
    /// Which of them whatever the predicate says.
    pub(crate) outputs_sure: [bool; 2],
    pub(crate) depth: bool,
    pub(crate) depth_sure: bool,
    /// It reads registers of the quad's other pixels: MDH, MDV, or a fetch whose level of detail
    /// comes from the quad.
    pub(crate) quad: bool,
    pub(crate) write_inactive: bool,
    /// A texture fetch, TEXKILL and NOP not counted.
    pub(crate) fetch: bool,
}

impl Step {
    pub(crate) fn new(inst: Instruction) -> Self {
        let cmn = inst.cmn();
        let mut step = Self {
            ty: inst.ty(),
            reads: Few::new(),
            constants: Few::new(),
            writes: Few::new(),
            predicate_reads: 0,
            predicate_writes: 0,
            predicate_sure: 0,
            alu_result_read: false,
            alu_result_write: false,
            outputs: [(0, 0); 2],
            outputs_sure: [false; 2],
            depth: false,
            depth_sure: false,
            quad: false,
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
                mask: wmask,
                sure: sure(wmask, rgb_sure),
                via: Via::RgbDest,
            });
        }
        if cmn.alpha_wmask() {
            self.writes.push(Access {
                addr: alpha.alpha_addrd(),
                relative: alpha.alpha_addrd_rel(),
                mask: 8,
                sure: sure(8, alpha_sure),
                via: Via::AlphaDest,
            });
        }
        let (rgb_omask, alpha_omask) = (cmn.rgb_omask().code(), u8::from(cmn.alpha_omask()) << 3);
        if out {
            self.outputs = [(rgb.target().code(), rgb_omask), (alpha.target().code(), alpha_omask)];
            self.outputs_sure = [rgb_sure, alpha_sure];
            self.depth = alpha.w_omask();
            self.depth_sure = alpha_sure;
        } else {
            self.predicate_writes = rgb_omask | alpha_omask;
            self.predicate_sure = sure(rgb_omask, rgb_sure) | sure(alpha_omask, alpha_sure);
        }
        self.alu_result_write = rgb.alu_wmask();
        let alpha_written = u8::from(cmn.alpha_wmask() || self.depth) << 3 | alpha_omask;
        self.predicate_reads = predicate_bits(cmn.rgb_pred_sel(), wmask | rgb_omask)
            | predicate_bits(cmn.alpha_pred_sel(), alpha_written);
        let wanted = inst.result_channels();
        self.quad = (rgba.rgb_op().is_derivative() && wanted & 7 != 0)
            || (alpha.alpha_op().is_derivative() && wanted & 8 != 0);
    }

    fn source(&mut self, source: Source, mask: u8, via: Via) {
        if mask == 0 {
            return;
        }
        let Source { addr, relative, .. } = source;
        let access = Access { addr, relative, mask, sure: mask, via };
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
            mask: channels(coord, may),
            sure: channels(coord, sure),
            via: Via::TexSource,
        });
        if op == TexOp::DXDY {
            let dx = [grad.dx_s_swiz(), grad.dx_t_swiz(), grad.dx_r_swiz(), grad.dx_q_swiz()];
            let dy = [grad.dy_s_swiz(), grad.dy_t_swiz(), grad.dy_r_swiz(), grad.dy_q_swiz()];
            let access = |addr, relative, swiz, via| Access {
                addr,
                relative,
                mask: channels(swiz, 0b0111),
                sure: channels(swiz, 0b0001),
                via,
            };
            self.reads.push(access(grad.dx_addr(), grad.dx_addr_rel(), dx, Via::Dx));
            self.reads.push(access(grad.dy_addr(), grad.dy_addr_rel(), dy, Via::Dy));
        }
        let (rgb_sel, alpha_sel) = (cmn.rgb_pred_sel(), cmn.alpha_pred_sel());
        if kills {
            // Open: of RGBA the red bit counts.
            self.predicate_reads = predicate_bits(rgb_sel, 1);
            return;
        }
        self.fetch = true;
        self.quad = matches!(op, TexOp::LD | TexOp::PROJ | TexOp::LODBIAS);
        let (rgb, alpha) = (cmn.rgb_wmask().code(), u8::from(cmn.alpha_wmask()) << 3);
        let sure = if unconditional(rgb_sel) { rgb } else { 0 }
            | if unconditional(alpha_sel) { alpha } else { 0 };
        if rgb | alpha != 0 {
            self.writes.push(Access {
                addr: addr.dst_addr(),
                relative: addr.dst_addr_rel(),
                mask: rgb | alpha,
                sure,
                via: Via::TexDest,
            });
        }
        self.predicate_reads = predicate_bits(rgb_sel, rgb) | predicate_bits(alpha_sel, alpha);
    }

    fn flow(&mut self, inst: Instruction) {
        let table = inst.fc_inst().jump_func();
        if looks_at(table, 1) {
            self.predicate_reads = predicate_bits(inst.cmn().rgb_pred_sel(), 1);
        }
        self.alu_result_read = looks_at(table, 2);
    }
}

/// A decoded flow-control instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) op: FcOp,
    /// Whether some pixel may want to jump, and whether one may not.
    pub(crate) wants: Wants,
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
pub(crate) struct Wants {
    pub(crate) some: bool,
    pub(crate) some_not: bool,
}

impl Wants {
    pub(crate) fn never(self) -> bool {
        !self.some
    }

    pub(crate) fn always(self) -> bool {
        !self.some_not
    }
}

impl Flow {
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
        let mut wants = Wants { some: false, some_not: false };
        for index in 0..8u8 {
            let possible = predicate.is_none_or(|p| p == (index & 2 != 0))
                && boolean.is_none_or(|b| b == (index & 1 != 0));
            if possible && table >> index & 1 != 0 {
                wants.some = true;
            } else if possible {
                wants.some_not = true;
            }
        }
        let decided = wants.never() || wants.always();
        let uniform =
            decided || !(looks_at(table, 2) || (predicate.is_none() && looks_at(table, 1)));
        let base = if addr.jump_global() { 0 } else { offset };
        Self {
            op: fc.op(),
            wants,
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

    pub(crate) fn begins_loop(&self) -> bool {
        matches!(self.op, FcOp::LOOP | FcOp::REP)
    }

    pub(crate) fn ends_pass(&self) -> bool {
        matches!(self.op, FcOp::ENDLOOP | FcOp::ENDREP)
    }

    pub(crate) fn breaks(&self) -> bool {
        matches!(self.op, FcOp::BREAKLOOP | FcOp::BREAKREP)
    }

    /// Levels that DECR takes off when jumping; `None` for INCR and what is reserved.
    pub(crate) fn closes_when_jumping(&self) -> Option<u8> {
        match self.b_op1 {
            BranchOp::NONE => Some(0),
            BranchOp::DECR => Some(self.pop),
            _ => None,
        }
    }
}

/// Whether a `JUMP_FUNC` table depends on bit `n` of its index: 0 boolean, 1 predicate, 2 ALU
/// result.
pub(crate) fn looks_at(table: u8, n: u8) -> bool {
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
