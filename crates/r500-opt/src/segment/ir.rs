//! The machine-level IR of straight code: operations of one half or both, over values in static single
//! assignment.

use std::collections::BTreeMap;

use r500_check::dataflow::{ChannelId, ChannelSet};
use r500_isa::values::{
    AlphaOp, AluResultSel, Compare, InstType, Mod, Omod, RgbOp, Sel, SrcpOp, Swiz, TexOp,
};
use r500_isa::{Half, InstInfo, Instruction, Operand, Slot, Source as Address};

/// Index of a value.
pub(crate) type ValId = usize;
/// Index of an operation.
pub(crate) type OpId = usize;

/// A scalar source of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// A channel of a temporary at the entry of the segment.
    Entry(u8, u8),
    /// The result of an operation.
    Value(ValId),
    /// A channel of a constant.
    Constant(u8, u8),
    /// An inline constant, by its code.
    Inline(u8),
    /// The literal 0, by swizzle.
    Zero,
    /// The literal 1/2, by swizzle.
    Half,
    /// The literal 1, by swizzle.
    One,
}

/// The source of a lane of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Read {
    /// A scalar.
    Atom(Atom),
    /// A presubtract result: code of `SRCP_OP`, then its operands. One-operand results have `Zero` as the second.
    Presub(u8, Atom, Atom),
}

impl Read {
    fn atoms(&self) -> impl Iterator<Item = Atom> + use<> {
        let (first, second) = match *self {
            Self::Atom(atom) => (atom, None),
            Self::Presub(_, a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }
}

/// An operand: the source of each lane, and the modifier of all lanes. Lanes are channels, or the terms of a dot
/// product; the alpha half uses lane 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Arg {
    pub(crate) lanes: [Option<Read>; 4],
    pub(crate) modifier: Modifier,
}

/// An input modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Modifier {
    pub(crate) abs: bool,
    pub(crate) neg: bool,
}

impl Modifier {
    pub(crate) fn of(code: Mod) -> Self {
        Self { abs: matches!(code, Mod::ABS | Mod::NAB), neg: matches!(code, Mod::NEG | Mod::NAB) }
    }

    pub(crate) fn code(self) -> Mod {
        match (self.abs, self.neg) {
            (false, false) => Mod::NOP,
            (false, true) => Mod::NEG,
            (true, false) => Mod::ABS,
            (true, true) => Mod::NAB,
        }
    }

    /// Returns the composition: `inner`, then this modifier.
    pub(crate) fn after(self, inner: Self) -> Self {
        if self.abs { self } else { Self { abs: inner.abs, neg: inner.neg != self.neg } }
    }
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OpKind {
    /// Componentwise: MAD, MIN, MAX, CND, CMP, FRC.
    Lanes(LaneOp),
    /// DP3, DP4, D2A, by the code of `RGB_OP`. The result is replicated to every lane.
    Dot(u8),
    /// EX2, LN2, RCP, RSQ, SIN, COS, by the code of `ALPHA_OP`. The result is replicated to every lane.
    Function(u8),
    /// A texture instruction: fetch or TEXKILL.
    Texture,
}

/// A componentwise operation, which both halves have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub(crate) enum LaneOp {
    Mad,
    Min,
    Max,
    Cnd,
    Cmp,
    Frc,
}

impl LaneOp {
    const ALL: [(Self, RgbOp, AlphaOp); 6] = [
        (Self::Mad, RgbOp::MAD, AlphaOp::MAD),
        (Self::Min, RgbOp::MIN, AlphaOp::MIN),
        (Self::Max, RgbOp::MAX, AlphaOp::MAX),
        (Self::Cnd, RgbOp::CND, AlphaOp::CND),
        (Self::Cmp, RgbOp::CMP, AlphaOp::CMP),
        (Self::Frc, RgbOp::FRC, AlphaOp::FRC),
    ];

    fn of_rgb(op: RgbOp) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.1 == op).map(|row| row.0)
    }

    fn of_alpha(op: AlphaOp) -> Option<Self> {
        Self::ALL.into_iter().find(|row| row.2 == op).map(|row| row.0)
    }

    pub(crate) fn codes(self) -> (RgbOp, AlphaOp) {
        let row = Self::ALL[self as usize];
        (row.1, row.2)
    }

    /// Returns the number of operands.
    pub(crate) fn arity(self) -> usize {
        match self {
            Self::Mad | Self::Cnd | Self::Cmp => 3,
            Self::Min | Self::Max => 2,
            Self::Frc => 1,
        }
    }

    /// Returns whether the result is one of the operands.
    pub(crate) fn selects(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::Cnd | Self::Cmp)
    }
}

/// Output modifier and clamp of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finish {
    pub(crate) omod: u8,
    pub(crate) clamp: bool,
}

impl Finish {
    pub(crate) const PLAIN: Self = Self { omod: 0, clamp: false };
}

/// Uses of a result other than by operations of the segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sinks {
    /// Whether it is live after the segment.
    pub(crate) live_out: bool,
    /// The render target it is written to.
    pub(crate) output: Option<u8>,
    /// Whether it is written to depth.
    pub(crate) depth: bool,
    /// The comparison with zero that gives the ALU result.
    pub(crate) alu_result: Option<Compare>,
}

impl Sinks {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether it is written to a render target or to depth.
    pub(crate) fn is_output(&self) -> bool {
        self.output.is_some() || self.depth
    }
}

/// A value: a lane of an operation's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) op: OpId,
    pub(crate) lane: u8,
    /// Its temporary in the original program; `None` if it is not written to one.
    pub(crate) home: Option<u8>,
    pub(crate) sinks: Sinks,
    /// Whether its lane is fixed: a presubtract result or a quad operation reads it.
    pub(crate) pinned: bool,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Op {
    pub(crate) kind: OpKind,
    /// Output modifier and clamp of the RGB half and of the alpha half.
    pub(crate) finish: [Finish; 2],
    pub(crate) args: Vec<Arg>,
    /// Results by lane.
    pub(crate) results: [Option<ValId>; 4],
    /// The original instruction: its address, and for textures its words.
    pub(crate) inst: Instruction,
    pub(crate) origin: usize,
    pub(crate) dead: bool,
}

impl Op {
    pub(crate) fn mask(&self) -> u8 {
        (0..4).filter(|&lane| self.results[lane].is_some()).fold(0, |mask, lane| mask | 1 << lane)
    }

    pub(crate) fn is_texture(&self) -> bool {
        self.kind == OpKind::Texture
    }

    pub(crate) fn kind_is_lanes(&self) -> bool {
        matches!(self.kind, OpKind::Lanes(_))
    }

    pub(crate) fn is_kill(&self) -> bool {
        self.is_texture() && self.inst.tex_inst().inst() == TexOp::TEXKILL
    }

    /// Returns whether it occupies the RGB half.
    pub(crate) fn uses_rgb(&self) -> bool {
        match self.kind {
            OpKind::Lanes(_) | OpKind::Function(_) => self.mask() & 7 != 0,
            OpKind::Dot(_) | OpKind::Texture => true,
        }
    }

    /// Returns whether it occupies the alpha half.
    pub(crate) fn uses_alpha(&self) -> bool {
        match self.kind {
            OpKind::Lanes(_) => self.mask() & 8 != 0,
            OpKind::Dot(op) => op == RgbOp::DP4.code() || self.mask() & 8 != 0,
            OpKind::Function(_) | OpKind::Texture => true,
        }
    }

    /// Returns the atoms that its operands read.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        let reads = self.args.iter().flat_map(|arg| arg.lanes.iter().flatten());
        reads.flat_map(Read::atoms)
    }

    /// Returns whether its operands read a value.
    pub(crate) fn reads(&self, value: ValId) -> bool {
        let is_it = |read: &Read| read.atoms().any(|atom| atom == Atom::Value(value));
        self.args.iter().any(|arg| arg.lanes.iter().flatten().any(is_it))
    }
}

/// The machine-level IR of a segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SegmentIr {
    pub(crate) ops: Vec<Op>,
    pub(crate) values: Vec<Value>,
    /// Channels of temporaries that are live after the segment.
    pub(crate) live_out: ChannelSet,
    /// Channels of temporaries whose value after the segment differs from that before.
    pub(crate) rewritten: ChannelSet,
    /// Whether a pixel of a quad may be inactive at a fetch, so that its operands must stay in their registers.
    pub(crate) divergent: bool,
    /// Whether zeros in outputs may have either sign.
    pub(crate) ignore_zero_signs: bool,
    /// Whether the program ends with it, by an output instruction; as in driver output, it then still does.
    pub(crate) ends_with_output: bool,
}

/// Returns whether the IR can express an instruction.
pub(crate) fn expressible(inst: Instruction, info: &InstInfo) -> bool {
    let cmn = inst.cmn();
    let relative = |access: &r500_isa::Access| access.relative;
    let selected = |code: u8| (1..=5).contains(&code);
    if info.write_inactive
        || cmn.last()
        || cmn.stat_we() != 0
        || info.predicate_writes != 0
        || selected(cmn.rgb_pred_sel().code())
        || selected(cmn.alpha_pred_sel().code())
        || info.reads.iter().any(relative)
        || info.constants.iter().any(relative)
        || info.writes.iter().any(relative)
    {
        return false;
    }
    match inst.ty() {
        InstType::FC => false,
        InstType::TEX => {
            let op = inst.tex_inst().inst();
            op.is_named() && op != TexOp::NOP
        }
        _ => expressible_alu(inst, info),
    }
}

fn expressible_alu(inst: Instruction, info: &InstInfo) -> bool {
    let (rgb, alpha) = (inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op());
    let wanted = inst.result_channels();
    let raw = |half, selects: bool| inst.omod(half) != Omod::DISABLED || selects;
    let rgb_fine = wanted & 7 == 0
        || match rgb {
            RgbOp::SOP => alpha.is_transcendental() && raw(Half::Rgb, false),
            _ if rgb.is_dot_product() => raw(Half::Rgb, false),
            _ => LaneOp::of_rgb(rgb).is_some_and(|op| raw(Half::Rgb, op.selects())),
        };
    let alpha_fine = wanted & 8 == 0
        || match alpha {
            AlphaOp::DP => rgb.is_dot_product() && raw(Half::Alpha, false),
            _ if alpha.is_transcendental() => raw(Half::Alpha, false),
            _ => LaneOp::of_alpha(alpha).is_some_and(|op| raw(Half::Alpha, op.selects())),
        };
    let depth_alone = inst.ty() == InstType::OUT || !inst.alpha_inst().w_omask();
    rgb_fine && alpha_fine && depth_alone && !info.reads_quad
}

/// Builds the IR of `code[first..=last]`. All instructions must be [`expressible`].
pub(crate) fn build(
    code: &[Instruction],
    first: usize,
    last: usize,
    live_out: ChannelSet,
) -> SegmentIr {
    let mut builder = Builder {
        ir: SegmentIr {
            ops: Vec::new(),
            values: Vec::new(),
            live_out,
            rewritten: ChannelSet::EMPTY,
            divergent: false,
            ignore_zero_signs: false,
            ends_with_output: false,
        },
        registers: BTreeMap::new(),
        sinks: BTreeMap::new(),
        at: first,
        inst: Instruction::default(),
    };
    for (at, &inst) in code.iter().enumerate().take(last + 1).skip(first) {
        builder.at = at;
        builder.inst = inst;
        match inst.ty() {
            InstType::TEX => builder.texture(),
            _ => builder.alu(),
        }
    }
    builder.finish()
}

struct Builder {
    ir: SegmentIr,
    /// Current value of each channel of the temporaries.
    registers: BTreeMap<(u8, u8), ValId>,
    /// Last values written to outputs, depth and the ALU result.
    sinks: BTreeMap<ChannelId, (ValId, Option<Compare>)>,
    at: usize,
    inst: Instruction,
}

impl Builder {
    fn register(&self, temp: u8, channel: u8) -> Atom {
        let known = self.registers.get(&(temp, channel));
        known.map_or(Atom::Entry(temp, channel), |&value| Atom::Value(value))
    }

    /// Returns the atom of a channel of a source.
    fn source(&self, address: Address, channel: u8) -> Atom {
        if let Some(inline) = address.inline() {
            return Atom::Inline(inline.code());
        }
        match address.temporary() {
            Some(temp) => self.register(temp, channel),
            None => Atom::Constant(address.addr, channel),
        }
    }

    fn read(&self, sel: Sel, swiz: Swiz) -> Read {
        let channel = match swiz {
            Swiz::R | Swiz::G | Swiz::B | Swiz::A => swiz.code(),
            Swiz::HALF => return Read::Atom(Atom::Half),
            Swiz::ONE => return Read::Atom(Atom::One),
            _ => return Read::Atom(Atom::Zero),
        };
        let half = if channel < 3 { Half::Rgb } else { Half::Alpha };
        let sources = self.inst.sources(half);
        let direct = |n: usize| match self.source(sources[n], channel) {
            Atom::Inline(0) => Atom::Zero,
            atom => atom,
        };
        match sel {
            Sel::SRC0 => Read::Atom(direct(0)),
            Sel::SRC1 => Read::Atom(direct(1)),
            Sel::SRC2 => Read::Atom(direct(2)),
            _ => {
                let op = self.inst.srcp_op(half);
                let two = matches!(op, SrcpOp::SUB | SrcpOp::ADD);
                let second = if two { self.source(sources[1], channel) } else { Atom::Zero };
                Read::Presub(op.code(), self.source(sources[0], channel), second)
            }
        }
    }

    fn rgb_arg(&self, slot: Slot, channels: u8) -> Arg {
        let Operand { sel, swiz, modifier } = self.inst.rgb_operand(slot);
        let mut arg = Arg { modifier: Modifier::of(modifier), ..Arg::default() };
        for lane in (0..3).filter(|lane| channels >> lane & 1 != 0) {
            arg.lanes[lane] = Some(self.read(sel, swiz[lane]));
        }
        arg
    }

    fn alpha_arg(&self, slot: Slot) -> Arg {
        let Operand { sel, swiz, modifier } = self.inst.alpha_operand(slot);
        let mut arg = Arg { modifier: Modifier::of(modifier), ..Arg::default() };
        arg.lanes[3] = Some(self.read(sel, swiz[0]));
        arg
    }

    fn finish_of(&self, half: Half) -> Finish {
        let cmn = self.inst.cmn();
        let clamp = if half == Half::Rgb { cmn.rgb_clamp() } else { cmn.alpha_clamp() };
        let omod = self.inst.omod(half);
        // OMOD 7 copies the bits, without the clamp.
        Finish { omod: omod.code(), clamp: clamp && omod != Omod::DISABLED }
    }

    fn alu(&mut self) {
        let wanted = self.inst.result_channels();
        let (rgb, alpha) = (self.inst.rgba_inst().rgb_op(), self.inst.alpha_inst().alpha_op());
        let finish = [self.finish_of(Half::Rgb), self.finish_of(Half::Alpha)];
        let mut made: [Option<ValId>; 4] = [None; 4];
        let (mut rgb_mask, mut alpha_mask) = (wanted & 7, wanted & 8);
        if rgb.is_dot_product() && (rgb_mask != 0 || alpha == AlphaOp::DP && alpha_mask != 0) {
            let taken = if alpha == AlphaOp::DP { alpha_mask } else { 0 };
            let args = self.dot_args(rgb);
            self.op(OpKind::Dot(rgb.code()), finish, args, rgb_mask | taken, &mut made);
            rgb_mask = 0;
            alpha_mask &= !taken;
        }
        if rgb == RgbOp::SOP && rgb_mask != 0 {
            let args = vec![self.alpha_arg(Slot::A)];
            let kind = OpKind::Function(alpha.code());
            self.op(kind, finish, args, rgb_mask | alpha_mask, &mut made);
            (rgb_mask, alpha_mask) = (0, 0);
        }
        if let (true, Some(op)) = (rgb_mask != 0, LaneOp::of_rgb(rgb)) {
            let slots = Slot::ALL.into_iter().take(op.arity());
            let args = slots.map(|slot| self.rgb_arg(slot, rgb_mask)).collect();
            self.op(OpKind::Lanes(op), finish, args, rgb_mask, &mut made);
        }
        if alpha_mask != 0 {
            let (kind, arity) = match LaneOp::of_alpha(alpha) {
                Some(op) => (OpKind::Lanes(op), op.arity()),
                None => (OpKind::Function(alpha.code()), 1),
            };
            let args = Slot::ALL.into_iter().take(arity).map(|slot| self.alpha_arg(slot)).collect();
            self.op(kind, finish, args, alpha_mask, &mut made);
        }
        self.write_alu(made);
    }

    fn dot_args(&self, op: RgbOp) -> Vec<Arg> {
        match op {
            RgbOp::DP3 => vec![self.rgb_arg(Slot::A, 7), self.rgb_arg(Slot::B, 7)],
            RgbOp::DP4 => vec![
                self.rgb_arg(Slot::A, 7),
                self.rgb_arg(Slot::B, 7),
                self.alpha_arg(Slot::A),
                self.alpha_arg(Slot::B),
            ],
            _ => vec![self.rgb_arg(Slot::A, 3), self.rgb_arg(Slot::B, 3), self.rgb_arg(Slot::C, 4)],
        }
    }

    fn op(
        &mut self,
        kind: OpKind,
        finish: [Finish; 2],
        args: Vec<Arg>,
        mask: u8,
        made: &mut [Option<ValId>; 4],
    ) {
        let op = self.ir.ops.len();
        let mut results = [None; 4];
        for lane in (0..4u8).filter(|lane| mask >> lane & 1 != 0) {
            let id = self.ir.values.len();
            self.ir.values.push(Value {
                op,
                lane,
                home: None,
                sinks: Sinks::default(),
                pinned: false,
            });
            results[usize::from(lane)] = Some(id);
            made[usize::from(lane)] = Some(id);
        }
        let (inst, origin) = (self.inst, self.at);
        self.ir.ops.push(Op { kind, finish, args, results, inst, origin, dead: false });
    }

    fn write(&mut self, temp: u8, channel: u8, value: ValId) {
        self.ir.values[value].home = Some(temp);
        self.registers.insert((temp, channel), value);
    }

    fn write_alu(&mut self, made: [Option<ValId>; 4]) {
        let cmn = self.inst.cmn();
        let addrd = [self.inst.rgba_inst().rgb_addrd(), self.inst.alpha_inst().alpha_addrd()];
        let wmask = cmn.rgb_wmask().code() | u8::from(cmn.alpha_wmask()) << 3;
        let omask = cmn.rgb_omask().code() | u8::from(cmn.alpha_omask()) << 3;
        let outputs = self.inst.ty() == InstType::OUT;
        for lane in 0..4u8 {
            let Some(value) = made[usize::from(lane)] else { continue };
            let half = if lane < 3 { Half::Rgb } else { Half::Alpha };
            if wmask >> lane & 1 != 0 {
                self.write(addrd[usize::from(lane == 3)], lane, value);
            }
            if outputs && omask >> lane & 1 != 0 {
                let target = self.inst.target(half).code();
                self.sinks.insert(ChannelId::Output(target, lane), (value, None));
            }
        }
        if outputs
            && self.inst.alpha_inst().w_omask()
            && let Some(value) = made[3]
        {
            self.sinks.insert(ChannelId::Depth, (value, None));
        }
        if self.inst.rgb_inst().alu_wmask() {
            let lane = if cmn.alu_result_sel() == AluResultSel::RED { 0 } else { 3 };
            if let Some(value) = made[lane] {
                self.sinks.insert(ChannelId::AluResult, (value, Some(cmn.alu_result_op())));
            }
        }
    }

    fn texture(&mut self) {
        let (addr, grad) = (self.inst.tex_addr(), self.inst.tex_addr_dxdy());
        let op = self.inst.tex_inst().inst();
        let lanes = |temp: u8, swiz: [r500_isa::values::Channel; 4]| Arg {
            lanes: swiz.map(|c| Some(Read::Atom(self.register(temp, c.code())))),
            modifier: Modifier::default(),
        };
        let mut coord = lanes(
            addr.src_addr(),
            [addr.src_s_swiz(), addr.src_t_swiz(), addr.src_r_swiz(), addr.src_q_swiz()],
        );
        if matches!(op, TexOp::LD | TexOp::DXDY) {
            coord.lanes[3] = None;
        }
        let mut args = vec![coord];
        if op == TexOp::DXDY {
            let mut dx = lanes(
                grad.dx_addr(),
                [grad.dx_s_swiz(), grad.dx_t_swiz(), grad.dx_r_swiz(), grad.dx_q_swiz()],
            );
            let mut dy = lanes(
                grad.dy_addr(),
                [grad.dy_s_swiz(), grad.dy_t_swiz(), grad.dy_r_swiz(), grad.dy_q_swiz()],
            );
            dx.lanes[3] = None;
            dy.lanes[3] = None;
            args.extend([dx, dy]);
        }
        let cmn = self.inst.cmn();
        let mask = match op {
            TexOp::TEXKILL => 0,
            _ => cmn.rgb_wmask().code() | u8::from(cmn.alpha_wmask()) << 3,
        };
        let mut made = [None; 4];
        self.op(OpKind::Texture, [Finish::PLAIN; 2], args, mask, &mut made);
        let temp = addr.dst_addr();
        for (lane, value) in (0u8..).zip(made) {
            if let Some(value) = value {
                self.write(temp, lane, value);
            }
        }
    }

    fn finish(mut self) -> SegmentIr {
        let ir = &mut self.ir;
        for (&(temp, channel), &value) in &self.registers {
            let id = ChannelId::Temp(temp, channel);
            ir.rewritten.insert(id);
            ir.values[value].sinks.live_out = ir.live_out.contains(id);
        }
        for (id, (value, compare)) in self.sinks {
            if !ir.live_out.contains(id) {
                continue;
            }
            let sinks = &mut ir.values[value].sinks;
            match id {
                ChannelId::Output(target, _) => sinks.output = Some(target),
                ChannelId::Depth => sinks.depth = true,
                _ => sinks.alu_result = compare,
            }
        }
        self.ir
    }
}
