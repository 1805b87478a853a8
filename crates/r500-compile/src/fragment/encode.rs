//! From operations on temporaries to instructions, which [`r500_opt`] pairs and orders.

use r500_isa::state::UsFcIntConst;
use r500_isa::values::{
    AlphaOp, BranchOp, Compare, FcOp, InstType, Mod, RgbMask, RgbOp, Sel, Swiz, Target as Bits,
    TexOp,
};
use r500_isa::values::{AluResultSel, Channel};
use r500_isa::words::{
    AluAlphaInst, AluRgbInst, CmnInst, FcAddr, FcInst, TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{Half, Instruction, Operand, Slot, Source};

use super::allocate::{Allocation, Homes};
use super::draft::{Constant, Draft};
use crate::arithmetic::Alu;
use crate::code::{
    Atom, Code, Component, Condition, Fetch, Node, Op, Register, Routine, Target, Value,
};
use crate::points::Origin;

/// Instructions, and what they read besides temporaries.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) code: Vec<Instruction>,
    /// Where each instruction comes from.
    pub(crate) origins: Vec<Origin>,
    /// For each constant its vector of a uniform, or literals.
    pub(crate) constants: Vec<Constant>,
    pub(crate) int_constants: Vec<UsFcIntConst>,
    pub(crate) has_flow: bool,
}

/// Encodes a routine. `end` is where an output comes from that only ends the program.
pub(crate) fn encode(routine: &Routine, allocation: &Allocation, end: Origin) -> Encoded {
    let mut encoder = Encoder {
        homes: Homes { routine, allocation },
        out: Encoded::default(),
        levels: 0,
        loops: Vec::new(),
    };
    // Uniforms come first, in order.
    let mut used = Vec::new();
    uniforms(&routine.nodes, &mut used);
    used.sort_unstable();
    used.dedup();
    encoder.out.constants.extend(used.into_iter().map(Constant::Uniform));
    encoder.list(&routine.nodes);
    // As in driver output, the last instruction is an output, also where nothing is written.
    if encoder.out.code.last().is_none_or(|inst| inst.ty() != InstType::OUT) {
        let nothing = Draft::new(InstType::OUT, &encoder.out.constants);
        encoder.push(nothing.finish(), end);
    }
    encoder.out
}

fn uniforms(nodes: &[Node], all: &mut Vec<u16>) {
    let mut component = |component: &Component| {
        if let Atom::Uniform(n, _) = component.atom {
            all.push(n);
        }
    };
    for node in nodes {
        match node {
            Node::Op(op) => op.operands.iter().flatten().for_each(&mut component),
            Node::Output(_, value, _) => value.iter().for_each(&mut component),
            Node::If(condition, ..) => component(&condition.test),
            _ => {}
        }
    }
    for node in nodes {
        match node {
            Node::If(_, yes, no, _) => {
                uniforms(yes, all);
                uniforms(no, all);
            }
            Node::Loop(_, body, _) => uniforms(body, all),
            _ => {}
        }
    }
}

struct Encoder<'a> {
    homes: Homes<'a>,
    out: Encoded,
    /// Open branches in the innermost loop.
    levels: u8,
    /// Jumps out of each open loop, and to the end of its pass.
    loops: Vec<[Vec<usize>; 2]>,
}

#[expect(clippy::expect_used, reason = "a broken promise of the passes before must not compile")]
impl Encoder<'_> {
    fn push(&mut self, inst: Instruction, origin: Origin) -> usize {
        self.out.code.push(inst);
        self.out.origins.push(origin);
        self.out.code.len() - 1
    }

    fn list(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Op(op) => self.op(op),
                Node::Fetch(fetch) => self.fetch(fetch),
                Node::Kill(list, origin) => self.kill(list, *origin),
                Node::Output(target, value, origin) => self.output(*target, value, *origin),
                Node::If(condition, yes, no, origin) => self.branch(*condition, yes, no, *origin),
                Node::Loop(count, body, origin) => self.repeat(*count, body, *origin),
                Node::Break(origin) => self.leave(true, *origin),
                Node::Continue(origin) => self.leave(false, *origin),
            }
        }
    }

    fn op(&mut self, op: &Op) {
        match op.code {
            Code::Dot => self.dot(op),
            Code::Alu(alu @ (Alu::Ddx | Alu::Ddy)) => self.difference(op, alu),
            _ => self.by_channels(op),
        }
    }

    /// An operation by channels: in one instruction if it fits, in several if not.
    fn by_channels(&mut self, op: &Op) {
        // The channel of each lane.
        let mut left: Vec<(usize, usize)> = op
            .lanes
            .iter()
            .enumerate()
            .map(|(n, lane)| (n, self.homes.home(op.register, *lane).1))
            .collect();
        left.sort_by_key(|(_, channel)| *channel);
        while !left.is_empty() {
            // As many lanes as fit, all of them first.
            let mut chosen = left.clone();
            let mut draft = self.draft(op, &chosen);
            if draft.is_none() {
                debug_assert!(
                    !self.homes.routine.is_one_instruction(op),
                    "the allocation relies on it: {op:?}"
                );
                let colors: Vec<(usize, usize)> =
                    left.iter().copied().filter(|(_, c)| *c < 3).collect();
                chosen = Vec::new();
                let order = if colors.is_empty() { left.clone() } else { colors };
                for lane in order {
                    let mut more = chosen.clone();
                    more.push(lane);
                    if let Some(fits) = self.draft(op, &more) {
                        (draft, chosen) = (Some(fits), more);
                    }
                }
            }
            let draft = draft.expect("one lane of three operands has three sources");
            self.out.constants.clone_from(&draft.constants);
            self.push(draft.finish(), op.origin);
            left.retain(|lane| !chosen.contains(lane));
        }
    }

    fn draft(&self, op: &Op, lanes: &[(usize, usize)]) -> Option<Draft> {
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        let temporary = self.homes.home(op.register, 0).0;
        let clamp = op.code == Code::MadSat;
        let (rgb_op, alpha_op) = operations(op.code);
        let slots = |n: usize| Slot::ALL[n];
        // MAX of twice the same is a copy.
        let operand = |n: usize| if op.code == Code::Copy { 0 } else { n };
        let count = if op.code == Code::Copy { 2 } else { op.operands.len() };
        let colors: Vec<(usize, usize)> = lanes.iter().copied().filter(|(_, c)| *c < 3).collect();
        if !colors.is_empty() {
            let mask = colors.iter().fold(0, |mask, (_, c)| mask | 1 << c);
            draft.cmn(|cmn| {
                cmn.with(CmnInst::RGB_WMASK, RgbMask::new(mask)).with(CmnInst::RGB_CLAMP, clamp)
            });
            draft.rgb_op(rgb_op, temporary);
            for n in 0..count {
                let mut parts = [None; 3];
                for (lane, channel) in &colors {
                    parts[*channel] = Some(op.operands[operand(n)][*lane]);
                }
                draft.operand(&self.homes, Half::Rgb, slots(n), &parts)?;
            }
        }
        if let Some((lane, _)) = lanes.iter().find(|(_, c)| *c == 3) {
            draft.cmn(|cmn| cmn.with(CmnInst::ALPHA_WMASK, true).with(CmnInst::ALPHA_CLAMP, clamp));
            draft.alpha_op(alpha_op, temporary);
            for n in 0..count {
                draft.operand(
                    &self.homes,
                    Half::Alpha,
                    slots(n),
                    &[Some(op.operands[operand(n)][*lane])],
                )?;
            }
        }
        Some(draft)
    }

    /// A sum of products: the colours' unit computes it, and alpha takes it.
    fn dot(&mut self, op: &Op) {
        let [a, b] = &op.operands[..] else { unreachable!("a scalar product has two operands") };
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        let (temporary, channel) = self.homes.home(op.register, op.lanes[0]);
        let rgb = match a.len() {
            2 => RgbOp::D2A,
            3 => RgbOp::DP3,
            _ => RgbOp::DP4,
        };
        draft.rgb_op(rgb, temporary);
        draft.alpha_op(AlphaOp::DP, temporary);
        match channel {
            3 => draft.cmn(|cmn| cmn.with(CmnInst::ALPHA_WMASK, true)),
            c => draft.cmn(|cmn| cmn.with(CmnInst::RGB_WMASK, RgbMask::new(1 << c))),
        }
        let gathered = "the builder gathers operands of scalar products";
        for (slot, operand) in [(Slot::A, a), (Slot::B, b)] {
            let part = |n: usize| operand.get(n).copied();
            draft
                .operand(&self.homes, Half::Rgb, slot, &[part(0), part(1), part(2)])
                .expect(gathered);
            if let Some(last) = part(3) {
                draft.operand(&self.homes, Half::Alpha, slot, &[Some(last)]).expect(gathered);
            }
        }
        // What D2A adds.
        let zero = Operand { sel: Sel::SRC0, swiz: [Swiz::ZERO; 3], modifier: Mod::NOP };
        draft.inst = draft.inst.with_rgb_operand(Slot::C, zero);
        self.out.constants.clone_from(&draft.constants);
        self.push(draft.finish(), op.origin);
    }

    /// Differences in the quad: source 0 of the half, in its own channels.
    fn difference(&mut self, op: &Op, alu: Alu) {
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        let (temporary, _) = self.homes.home(op.register, 0);
        let (rgb_op, alpha_op) = operations(Code::Alu(alu));
        let channels: Vec<usize> =
            op.lanes.iter().map(|lane| self.homes.home(op.register, *lane).1).collect();
        let from = op.operands[0].first().and_then(|c| c.in_register());
        let source = from.map_or(Source::UNUSED, |(register, c)| Source {
            addr: self.homes.home(register, c).0,
            constant: false,
            relative: false,
        });
        debug_assert!(
            op.operands[0].iter().zip(&channels).all(|(c, channel)| {
                c.in_register()
                    .is_some_and(|(register, n)| self.homes.home(register, n).1 == *channel)
            }),
            "the builder puts the operands of differences in their channels"
        );
        // A left or upper value times 1, negated, and the other one: A and C are source 0 whatever they select.
        if channels == [3] {
            draft.cmn(|cmn| cmn.with(CmnInst::ALPHA_WMASK, true));
            draft.alpha_op(alpha_op, temporary);
            draft.sources[1][0] = Some(source);
            let operand = |swiz, modifier| Operand { sel: Sel::SRC0, swiz: [swiz], modifier };
            draft.inst = draft
                .inst
                .with_alpha_operand(Slot::A, operand(Swiz::A, Mod::NEG))
                .with_alpha_operand(Slot::B, operand(Swiz::ONE, Mod::NOP))
                .with_alpha_operand(Slot::C, operand(Swiz::A, Mod::NOP));
        } else {
            let mask = channels.iter().fold(0, |mask, c| mask | 1 << c);
            draft.cmn(|cmn| cmn.with(CmnInst::RGB_WMASK, RgbMask::new(mask)));
            draft.rgb_op(rgb_op, temporary);
            draft.sources[0][0] = Some(source);
            let operand = |swiz, modifier| Operand { sel: Sel::SRC0, swiz, modifier };
            let same = [Swiz::R, Swiz::G, Swiz::B];
            draft.inst = draft
                .inst
                .with_rgb_operand(Slot::A, operand(same, Mod::NEG))
                .with_rgb_operand(Slot::B, operand([Swiz::ONE; 3], Mod::NOP))
                .with_rgb_operand(Slot::C, operand(same, Mod::NOP));
        }
        self.push(draft.finish(), op.origin);
    }

    /// The channels of coordinates, which are of one temporary.
    fn coordinates(&self, list: &[(Register, u8); 4]) -> (u8, [Channel; 4]) {
        let channel = |n: usize| {
            let (register, component) = list[n];
            [Channel::R, Channel::G, Channel::B, Channel::A][self.homes.home(register, component).1]
        };
        (self.homes.home(list[0].0, list[0].1).0, std::array::from_fn(channel))
    }

    fn fetch(&mut self, fetch: &Fetch) {
        let mut cmn = CmnInst(0).with(CmnInst::TYPE, InstType::TEX);
        let mask = (0..3).filter(|c| fetch.lanes[*c]).fold(0, |mask, c| mask | 1 << c);
        cmn = cmn
            .with(CmnInst::RGB_WMASK, RgbMask::new(mask))
            .with(CmnInst::ALPHA_WMASK, fetch.lanes[3]);
        let inst = TexInst(0)
            .with(TexInst::TEX_ID, fetch.kind.unit)
            .with(TexInst::INST, fetch.kind.op)
            .with(TexInst::UNSCALED, fetch.kind.unscaled);
        let addr = tex_addr(self.coordinates(&fetch.strq))
            .with(TexAddr::DST_ADDR, self.homes.home(fetch.register, 0).0)
            .with(TexAddr::DST_R_SWIZ, Channel::R)
            .with(TexAddr::DST_G_SWIZ, Channel::G)
            .with(TexAddr::DST_B_SWIZ, Channel::B)
            .with(TexAddr::DST_A_SWIZ, Channel::A);
        let mut gradients = TexAddrDxdy(0);
        if let Some([dx, dy]) = &fetch.gradients {
            let (temporary, [s, t, r, q]) = self.coordinates(dx);
            gradients = gradients
                .with(TexAddrDxdy::DX_ADDR, temporary)
                .with(TexAddrDxdy::DX_S_SWIZ, s)
                .with(TexAddrDxdy::DX_T_SWIZ, t)
                .with(TexAddrDxdy::DX_R_SWIZ, r)
                .with(TexAddrDxdy::DX_Q_SWIZ, q);
            let (temporary, [s, t, r, q]) = self.coordinates(dy);
            gradients = gradients
                .with(TexAddrDxdy::DY_ADDR, temporary)
                .with(TexAddrDxdy::DY_S_SWIZ, s)
                .with(TexAddrDxdy::DY_T_SWIZ, t)
                .with(TexAddrDxdy::DY_R_SWIZ, r)
                .with(TexAddrDxdy::DY_Q_SWIZ, q);
        }
        let words = [cmn.bits(), inst.bits(), addr.bits(), gradients.bits(), 0, 0];
        self.push(Instruction(words), fetch.origin);
    }

    fn kill(&mut self, list: &[(Register, u8)], origin: Origin) {
        let four = std::array::from_fn(|n| list[n.min(list.len() - 1)]);
        let cmn = CmnInst(0).with(CmnInst::TYPE, InstType::TEX);
        let inst = TexInst(0).with(TexInst::INST, TexOp::TEXKILL);
        let addr = tex_addr(self.coordinates(&four));
        self.push(Instruction([cmn.bits(), inst.bits(), addr.bits(), 0, 0, 0]), origin);
    }

    fn output(&mut self, target: Target, value: &Value, origin: Origin) {
        let mut left: Vec<usize> = (0..value.len().min(4)).collect();
        while !left.is_empty() {
            let mut chosen = left.clone();
            let mut draft = self.output_draft(target, value, &chosen);
            if draft.is_none() {
                chosen = Vec::new();
                for n in &left {
                    let mut more = chosen.clone();
                    more.push(*n);
                    if let Some(fits) = self.output_draft(target, value, &more) {
                        (draft, chosen) = (Some(fits), more);
                    }
                }
            }
            let draft = draft.expect("one channel has one source");
            self.out.constants.clone_from(&draft.constants);
            self.push(draft.finish(), origin);
            left.retain(|n| !chosen.contains(n));
        }
    }

    fn output_draft(&self, target: Target, value: &Value, list: &[usize]) -> Option<Draft> {
        let mut draft = Draft::new(InstType::OUT, &self.out.constants);
        draft.rgb_op(RgbOp::MAX, 0);
        draft.alpha_op(AlphaOp::MAX, 0);
        if target == Target::Depth {
            let word = AluAlphaInst(draft.inst.0[4]).with(AluAlphaInst::W_OMASK, true);
            draft.inst.0[4] = word.bits();
            draft.operand(&self.homes, Half::Alpha, Slot::A, &[Some(value[0])])?;
            draft.operand(&self.homes, Half::Alpha, Slot::B, &[Some(value[0])])?;
            return Some(draft);
        }
        let Target::Color(n) = target else { return None };
        let bits = [Bits::A, Bits::B, Bits::C, Bits::D][usize::from(n & 3)];
        let colors: Vec<usize> = list.iter().copied().filter(|c| *c < 3).collect();
        if !colors.is_empty() {
            let mask = colors.iter().fold(0, |mask, c| mask | 1 << c);
            draft.cmn(|cmn| cmn.with(CmnInst::RGB_OMASK, RgbMask::new(mask)));
            draft.inst.0[3] = AluRgbInst(draft.inst.0[3]).with(AluRgbInst::TARGET, bits).bits();
            let mut parts = [None; 3];
            colors.iter().for_each(|c| parts[*c] = Some(value[*c]));
            draft.operand(&self.homes, Half::Rgb, Slot::A, &parts)?;
            draft.operand(&self.homes, Half::Rgb, Slot::B, &parts)?;
        }
        if list.contains(&3) {
            draft.cmn(|cmn| cmn.with(CmnInst::ALPHA_OMASK, true));
            draft.inst.0[4] = AluAlphaInst(draft.inst.0[4]).with(AluAlphaInst::TARGET, bits).bits();
            draft.operand(&self.homes, Half::Alpha, Slot::A, &[Some(value[3])])?;
            draft.operand(&self.homes, Half::Alpha, Slot::B, &[Some(value[3])])?;
        }
        Some(draft)
    }

    // Flow control.

    fn jump(&mut self, fc: FcInst, int: u8, origin: Origin) -> usize {
        self.out.has_flow = true;
        let cmn = CmnInst(0).with(CmnInst::TYPE, InstType::FC);
        let addr = FcAddr(0).with(FcAddr::INT_ADDR, int);
        self.push(Instruction([cmn.bits(), 0, fc.bits(), addr.bits(), 0, 0]), origin)
    }

    fn land(&mut self, at: usize, target: usize) {
        let inst = &mut self.out.code[at];
        let target = u16::try_from(target).unwrap_or(u16::MAX);
        inst.0[3] = inst.fc_addr().with(FcAddr::JUMP_ADDR, target).bits();
    }

    fn branch(&mut self, condition: Condition, yes: &[Node], no: &[Node], origin: Origin) {
        // Only the second way: the other condition.
        let (condition, yes, no) =
            if yes.is_empty() { (condition.not(), no, yes) } else { (condition, yes, no) };
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        draft.rgb_op(RgbOp::MAD, 0);
        let literal = |value| [Some(Component::literal(value)), None, None];
        let parts = [[Some(condition.test), None, None], literal(1.0), literal(0.0)];
        for (slot, parts) in Slot::ALL.into_iter().zip(parts) {
            draft
                .operand(&self.homes, Half::Rgb, slot, &parts)
                .expect("one component has one source");
        }
        draft.cmn(|cmn| {
            cmn.with(CmnInst::ALU_RESULT_SEL, AluResultSel::RED)
                .with(CmnInst::ALU_RESULT_OP, Compare::GE)
        });
        draft.inst.0[3] = AluRgbInst(draft.inst.0[3]).with(AluRgbInst::ALU_WMASK, true).bits();
        self.out.constants.clone_from(&draft.constants);
        self.push(draft.finish(), origin);
        // Bit 4 * result: pixels that do not go the first way want to jump.
        let func = if condition.negated { 0xf0 } else { 0x0f };
        let skip = FcInst(0)
            .with(FcInst::OP, FcOp::JUMP)
            .with(FcInst::JUMP_FUNC, func)
            .with(FcInst::B_OP0, BranchOp::INCR)
            .with(FcInst::B_OP1, if no.is_empty() { BranchOp::NONE } else { BranchOp::INCR });
        let skip = self.jump(skip, 0, origin);
        self.levels += 1;
        self.list(yes);
        let mut last = skip;
        if !no.is_empty() {
            let swap = FcInst(0)
                .with(FcInst::OP, FcOp::JUMP)
                .with(FcInst::B_ELSE, true)
                .with(FcInst::B_POP_CNT, 1)
                .with(FcInst::B_OP1, BranchOp::DECR);
            last = self.jump(swap, 0, origin);
            self.land(skip, last + 1);
            self.list(no);
        }
        let end = FcInst(0)
            .with(FcInst::OP, FcOp::JUMP)
            .with(FcInst::JUMP_ANY, true)
            .with(FcInst::B_POP_CNT, 1)
            .with(FcInst::B_OP0, BranchOp::DECR);
        let end = self.jump(end, 0, origin);
        self.levels -= 1;
        self.land(end, end + 1);
        self.land(last, end + 1);
    }

    fn repeat(&mut self, count: u8, body: &[Node], origin: Origin) {
        let constant = UsFcIntConst(0).with(UsFcIntConst::KR, count);
        let known = self.out.int_constants.iter().position(|other| *other == constant);
        let int = known.unwrap_or(self.out.int_constants.len());
        if known.is_none() {
            self.out.int_constants.push(constant);
        }
        let int = u8::try_from(int).unwrap_or(u8::MAX);
        let levels = std::mem::take(&mut self.levels);
        let start = FcInst(0).with(FcInst::OP, FcOp::LOOP).with(FcInst::JUMP_ANY, true);
        let start = self.jump(start, int, origin);
        self.loops.push(Default::default());
        self.list(body);
        let end = FcInst(0)
            .with(FcInst::OP, FcOp::ENDLOOP)
            .with(FcInst::JUMP_ANY, true)
            .with(FcInst::JUMP_FUNC, 0xff);
        let end = self.jump(end, int, origin);
        self.land(end, start + 1);
        self.land(start, end + 1);
        if let Some([breaks, continues]) = self.loops.pop() {
            breaks.into_iter().for_each(|at| self.land(at, end + 1));
            continues.into_iter().for_each(|at| self.land(at, end));
        }
        self.levels = levels;
    }

    fn leave(&mut self, is_break: bool, origin: Origin) {
        let op = if is_break { FcOp::BREAKLOOP } else { FcOp::CONTINUE };
        let closes = if self.levels == 0 { BranchOp::NONE } else { BranchOp::DECR };
        let fc = FcInst(0)
            .with(FcInst::OP, op)
            .with(FcInst::JUMP_FUNC, 0xff)
            .with(FcInst::B_POP_CNT, self.levels)
            .with(FcInst::B_OP1, closes);
        let at = self.jump(fc, 0, origin);
        if let Some(open) = self.loops.last_mut() {
            open[usize::from(!is_break)].push(at);
        }
    }
}

fn tex_addr((temporary, [s, t, r, q]): (u8, [Channel; 4])) -> TexAddr {
    TexAddr(0)
        .with(TexAddr::SRC_ADDR, temporary)
        .with(TexAddr::SRC_S_SWIZ, s)
        .with(TexAddr::SRC_T_SWIZ, t)
        .with(TexAddr::SRC_R_SWIZ, r)
        .with(TexAddr::SRC_Q_SWIZ, q)
}

/// The operations of both halves. Those that only alpha has are never of colours.
fn operations(code: Code) -> (RgbOp, AlphaOp) {
    match code {
        Code::MadSat | Code::Alu(Alu::Mad) | Code::Dot => (RgbOp::MAD, AlphaOp::MAD),
        Code::Copy | Code::Alu(Alu::Max) => (RgbOp::MAX, AlphaOp::MAX),
        Code::Alu(Alu::Min) => (RgbOp::MIN, AlphaOp::MIN),
        Code::Alu(Alu::Cmp) => (RgbOp::CMP, AlphaOp::CMP),
        Code::Alu(Alu::Frc) => (RgbOp::FRC, AlphaOp::FRC),
        Code::Alu(Alu::Ex2) => (RgbOp::SOP, AlphaOp::EX2),
        Code::Alu(Alu::Ln2) => (RgbOp::SOP, AlphaOp::LN2),
        Code::Alu(Alu::Rcp) => (RgbOp::SOP, AlphaOp::RCP),
        Code::Alu(Alu::Rsq) => (RgbOp::SOP, AlphaOp::RSQ),
        Code::Alu(Alu::Sin) => (RgbOp::SOP, AlphaOp::SIN),
        Code::Alu(Alu::Cos) => (RgbOp::SOP, AlphaOp::COS),
        Code::Alu(Alu::Ddx) => (RgbOp::MDH, AlphaOp::MDH),
        Code::Alu(Alu::Ddy) => (RgbOp::MDV, AlphaOp::MDV),
        Code::Alu(Alu::Pow) => unreachable!("powers are an operation of vertices"),
    }
}
