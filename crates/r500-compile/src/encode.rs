//! From operations on temporaries to instructions, which [`r500_opt`] pairs and orders.

use r500_glsl::Span;
use r500_isa::state::UsFcIntConst;
use r500_isa::values::{
    AlphaOp, BranchOp, Compare, FcOp, InstType, Mod, RgbMask, RgbOp, Sel, Swiz, Target as Bits,
    TexOp,
};
use r500_isa::values::{AluResultSel, Channel};
use r500_isa::words::{
    AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst, FcAddr, FcInst,
    TexAddr, TexAddrDxdy, TexInst,
};
use r500_isa::{Half, InlineConst, Instruction, Operand, Slot, Source};

use crate::allocate::Allocation;
use crate::arithmetic::Alu;
use crate::code::{
    Atom, Code, Component, Condition, Fetch, Node, Op, Register, Routine, Shape, Target, Value,
};

/// Instructions, and what they read besides temporaries.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) code: Vec<Instruction>,
    /// The place in the source of each instruction.
    pub(crate) spans: Vec<Span>,
    /// For each constant its vector of a uniform, or literals.
    pub(crate) constants: Vec<Constant>,
    pub(crate) int_constants: Vec<UsFcIntConst>,
    pub(crate) has_flow: bool,
}

/// What a constant holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    Uniform(u16),
    Literals([Option<u32>; 4]),
}

/// Encodes a routine.
pub(crate) fn encode(routine: &Routine, allocation: &Allocation) -> Encoded {
    let mut encoder =
        Encoder { routine, allocation, out: Encoded::default(), levels: 0, loops: Vec::new() };
    // Uniforms come first, in order.
    let mut used = Vec::new();
    uniforms(&routine.nodes, &mut used);
    used.sort_unstable();
    used.dedup();
    encoder.out.constants.extend(used.into_iter().map(Constant::Uniform));
    encoder.list(&routine.nodes);
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
    routine: &'a Routine,
    allocation: &'a Allocation,
    out: Encoded,
    /// Open branches in the innermost loop.
    levels: u8,
    /// Jumps out of each open loop, and to the end of its pass.
    loops: Vec<[Vec<usize>; 2]>,
}

/// A constant that may hold more numbers: its number, how many are new, its channels then, and where the numbers are.
type Pooled = (usize, usize, [Option<u32>; 4], Vec<usize>);

/// An instruction under construction: the sources of both halves, as far as they are taken.
#[derive(Clone)]
struct Draft {
    inst: Instruction,
    sources: [[Option<Source>; 3]; 2],
    constants: Vec<Constant>,
}

/// What an operand wants of a source: the addresses of its colours and its alpha, what each channel reads, and the modifier.
struct Wanted {
    sources: [Option<Source>; 2],
    swizzles: Vec<Swiz>,
    modifier: Mod,
}

const CHANNELS: [Swiz; 4] = [Swiz::R, Swiz::G, Swiz::B, Swiz::A];

impl Draft {
    fn new(ty: InstType, constants: &[Constant]) -> Self {
        let mut inst = Instruction::default();
        inst.0[0] = CmnInst(0).with(CmnInst::TYPE, ty).bits();
        Self { inst, sources: [[None; 3]; 2], constants: constants.to_vec() }
    }

    fn cmn(&mut self, edit: impl FnOnce(CmnInst) -> CmnInst) {
        self.inst.0[0] = edit(self.inst.cmn()).bits();
    }

    /// Adds an operand to a half: a component for each of its channels, `None` for those that are not written.
    fn operand(
        &mut self,
        encoder: &Encoder<'_>,
        half: Half,
        slot: Slot,
        parts: &[Option<Component>],
    ) -> Option<()> {
        let wanted = self.wanted(encoder, parts)?;
        let n = (0..3).find(|n| {
            wanted.sources.iter().zip(&self.sources).all(|(wanted, taken)| {
                wanted.is_none() || taken[*n].is_none() || taken[*n] == *wanted
            })
        })?;
        for (wanted, taken) in wanted.sources.iter().zip(&mut self.sources) {
            if wanted.is_some() {
                taken[n] = *wanted;
            }
        }
        let sel = [Sel::SRC0, Sel::SRC1, Sel::SRC2][n];
        let modifier = wanted.modifier;
        self.inst = match half {
            Half::Rgb => {
                let swiz = [wanted.swizzles[0], wanted.swizzles[1], wanted.swizzles[2]];
                self.inst.with_rgb_operand(slot, Operand { sel, swiz, modifier })
            }
            Half::Alpha => {
                let swiz = [wanted.swizzles[0]];
                self.inst.with_alpha_operand(slot, Operand { sel, swiz, modifier })
            }
        };
        Some(())
    }

    fn wanted(&mut self, encoder: &Encoder<'_>, parts: &[Option<Component>]) -> Option<Wanted> {
        // One modifier for all; that of numbers is free.
        let mut modifier = None;
        for part in parts.iter().flatten().filter(|part| part.value().is_none()) {
            let own = (part.abs, part.negate);
            if modifier.is_some_and(|modifier| modifier != own) {
                return None;
            }
            modifier = Some(own);
        }
        let candidates: &[(bool, bool)] = match &modifier {
            Some(own) => std::slice::from_ref(own),
            None => &[(false, false), (false, true)],
        };
        let fits = candidates.iter().find_map(|modifier| {
            let mut draft = self.clone();
            let wanted = draft.wanted_with(encoder, parts, *modifier, false)?;
            Some((draft, wanted))
        });
        let fits = fits.or_else(|| {
            let mut draft = self.clone();
            let wanted = draft.wanted_with(encoder, parts, candidates[0], true)?;
            Some((draft, wanted))
        });
        let (draft, wanted) = fits?;
        *self = draft;
        Some(wanted)
    }

    /// Tries one modifier; numbers that have no code of their own become constants if `pooled`.
    fn wanted_with(
        &mut self,
        encoder: &Encoder<'_>,
        parts: &[Option<Component>],
        (abs, negate): (bool, bool),
        pooled: bool,
    ) -> Option<Wanted> {
        let mut sources = [None, None];
        let mut swizzles = vec![Swiz::ZERO; parts.len()];
        let mut numbers: Vec<(usize, u32)> = Vec::new();
        let take = |sources: &mut [Option<Source>; 2], file: usize, source: Source| -> Option<()> {
            match sources[file] {
                Some(taken) if taken != source => None,
                _ => {
                    sources[file] = Some(source);
                    Some(())
                }
            }
        };
        for (n, part) in parts.iter().enumerate() {
            let Some(part) = part else { continue };
            let (source, channel) = match part.atom {
                Atom::Register(register, component) => {
                    let (temporary, channel) = encoder.home(register, component);
                    (Source { addr: temporary, constant: false, relative: false }, channel)
                }
                Atom::Uniform(uniform, channel) => {
                    let place =
                        self.constants.iter().position(|c| *c == Constant::Uniform(uniform));
                    (constant_source(place?), usize::from(channel))
                }
                Atom::Literal(bits) => {
                    let sign = u32::from(part.negate != negate) << 31;
                    if abs && sign != 0 {
                        return None;
                    }
                    numbers.push((n, bits | sign));
                    continue;
                }
            };
            take(&mut sources, usize::from(channel == 3), source)?;
            swizzles[n] = CHANNELS[channel];
        }
        // Numbers: by the swizzle, as inline constants, or in a constant.
        let mut left = Vec::new();
        for (n, bits) in numbers {
            match f32::from_bits(bits) {
                value if value.to_bits() == 0 => swizzles[n] = Swiz::ZERO,
                0.5 => swizzles[n] = Swiz::HALF,
                1.0 => swizzles[n] = Swiz::ONE,
                _ => left.push((n, bits)),
            }
        }
        let mut rest = Vec::new();
        for (n, bits) in left {
            let inline = InlineConst::exact(f32::from_bits(bits)).map(|inline| Source {
                addr: 0x80 | inline.code(),
                constant: false,
                relative: false,
            });
            let file = inline.and_then(|inline| {
                (0..2).find(|file| sources[*file].is_none() || sources[*file] == Some(inline))
            });
            match (inline, file) {
                (Some(inline), Some(file)) if !pooled => {
                    sources[file] = Some(inline);
                    swizzles[n] = if file == 0 { Swiz::R } else { Swiz::A };
                }
                _ => rest.push((n, bits)),
            }
        }
        if !rest.is_empty() {
            if !pooled {
                return None;
            }
            let free = [sources[0].is_none(), sources[1].is_none()];
            let (place, channels) = self.pool(&rest, free)?;
            let source = constant_source(place);
            for ((n, _), channel) in rest.iter().zip(channels) {
                sources[usize::from(channel == 3)] = Some(source);
                swizzles[*n] = CHANNELS[channel];
            }
        }
        let modifier = match (abs, negate) {
            (false, false) => Mod::NOP,
            (false, true) => Mod::NEG,
            (true, false) => Mod::ABS,
            (true, true) => Mod::NAB,
        };
        Some(Wanted { sources, swizzles, modifier })
    }

    /// Puts numbers in a constant, in channels whose source is free. Returns the constant and the channels.
    fn pool(
        &mut self,
        numbers: &[(usize, u32)],
        [colors, alpha]: [bool; 2],
    ) -> Option<(usize, Vec<usize>)> {
        let allowed: Vec<usize> = (0..4).filter(|c| if *c == 3 { alpha } else { colors }).collect();
        let place_in = |channels: [Option<u32>; 4]| -> Option<([Option<u32>; 4], Vec<usize>)> {
            let mut channels = channels;
            let mut places = Vec::new();
            for (_, bits) in numbers {
                let found = allowed.iter().find(|c| channels[**c] == Some(*bits));
                let place = *found.or_else(|| allowed.iter().find(|c| channels[**c].is_none()))?;
                channels[place] = Some(*bits);
                places.push(place);
            }
            Some((channels, places))
        };
        let mut best: Option<Pooled> = None;
        for (n, constant) in self.constants.iter().enumerate() {
            let Constant::Literals(channels) = constant else { continue };
            if let Some((new, places)) = place_in(*channels) {
                let count = |list: &[Option<u32>; 4]| list.iter().flatten().count();
                let added = count(&new) - count(channels);
                if best.as_ref().is_none_or(|best| added < best.1) {
                    best = Some((n, added, new, places));
                }
            }
        }
        if let Some((n, _, new, places)) = best {
            self.constants[n] = Constant::Literals(new);
            return Some((n, places));
        }
        let (new, places) = place_in([None; 4])?;
        self.constants.push(Constant::Literals(new));
        Some((self.constants.len() - 1, places))
    }

    /// Returns the instruction with its sources.
    fn finish(mut self) -> Instruction {
        let mut rgb = AluRgbAddr(0);
        let mut alpha = AluAlphaAddr(0);
        for n in 0..3 {
            rgb = rgb.with_source(n, self.sources[0][n].unwrap_or(Source::UNUSED));
            alpha = alpha.with_source(n, self.sources[1][n].unwrap_or(Source::UNUSED));
        }
        self.inst.0[1] = rgb.bits();
        self.inst.0[2] = alpha.bits();
        self.inst
    }

    fn rgb_op(&mut self, op: RgbOp, temporary: u8) {
        let word = AluRgbaInst(self.inst.0[5]).with(AluRgbaInst::RGB_OP, op);
        self.inst.0[5] = word.with(AluRgbaInst::RGB_ADDRD, temporary).bits();
    }

    fn alpha_op(&mut self, op: AlphaOp, temporary: u8) {
        let word = AluAlphaInst(self.inst.0[4]).with(AluAlphaInst::ALPHA_OP, op);
        self.inst.0[4] = word.with(AluAlphaInst::ALPHA_ADDRD, temporary).bits();
    }
}

fn constant_source(place: usize) -> Source {
    // More constants than the chip has are reported by number; the program is not used.
    Source { addr: u8::try_from(place).unwrap_or(u8::MAX), constant: true, relative: false }
}

#[expect(clippy::expect_used, reason = "a broken promise of the passes before must not compile")]
impl Encoder<'_> {
    /// Returns the temporary and the channel of a register's component.
    fn home(&self, register: Register, component: u8) -> (u8, usize) {
        let temporary = self.allocation.temporaries[register.0 as usize]
            .expect("the allocation has a temporary for each register that code names");
        match self.routine.shape(register) {
            Shape::Alpha => (temporary, 3),
            _ => (temporary, usize::from(component & 3)),
        }
    }

    fn push(&mut self, inst: Instruction, span: Span) -> usize {
        self.out.code.push(inst);
        self.out.spans.push(span);
        self.out.code.len() - 1
    }

    fn list(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Op(op) => self.op(op),
                Node::Fetch(fetch) => self.fetch(fetch),
                Node::Kill(list, span) => self.kill(list, *span),
                Node::Output(target, value, span) => self.output(*target, value, *span),
                Node::If(condition, yes, no, span) => self.branch(*condition, yes, no, *span),
                Node::Loop(count, body, span) => self.repeat(*count, body, *span),
                Node::Break(span) => self.leave(true, *span),
                Node::Continue(span) => self.leave(false, *span),
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
            .map(|(n, lane)| (n, self.home(op.register, *lane).1))
            .collect();
        left.sort_by_key(|(_, channel)| *channel);
        while !left.is_empty() {
            // As many lanes as fit, all of them first.
            let mut chosen = left.clone();
            let mut draft = self.draft(op, &chosen);
            if draft.is_none() {
                debug_assert!(
                    !self.routine.is_one_instruction(op),
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
            self.push(draft.finish(), op.span);
            left.retain(|lane| !chosen.contains(lane));
        }
    }

    fn draft(&self, op: &Op, lanes: &[(usize, usize)]) -> Option<Draft> {
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        let temporary = self.home(op.register, 0).0;
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
                draft.operand(self, Half::Rgb, slots(n), &parts)?;
            }
        }
        if let Some((lane, _)) = lanes.iter().find(|(_, c)| *c == 3) {
            draft.cmn(|cmn| cmn.with(CmnInst::ALPHA_WMASK, true).with(CmnInst::ALPHA_CLAMP, clamp));
            draft.alpha_op(alpha_op, temporary);
            for n in 0..count {
                draft.operand(
                    self,
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
        let (temporary, channel) = self.home(op.register, op.lanes[0]);
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
            draft.operand(self, Half::Rgb, slot, &[part(0), part(1), part(2)]).expect(gathered);
            if let Some(last) = part(3) {
                draft.operand(self, Half::Alpha, slot, &[Some(last)]).expect(gathered);
            }
        }
        // What D2A adds.
        let zero = Operand { sel: Sel::SRC0, swiz: [Swiz::ZERO; 3], modifier: Mod::NOP };
        draft.inst = draft.inst.with_rgb_operand(Slot::C, zero);
        self.out.constants.clone_from(&draft.constants);
        self.push(draft.finish(), op.span);
    }

    /// Differences in the quad: source 0 of the half, in its own channels.
    fn difference(&mut self, op: &Op, alu: Alu) {
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        let (temporary, _) = self.home(op.register, 0);
        let (rgb_op, alpha_op) = operations(Code::Alu(alu));
        let channels: Vec<usize> =
            op.lanes.iter().map(|lane| self.home(op.register, *lane).1).collect();
        let from = op.operands[0].first().and_then(|c| c.in_register());
        let source = from.map_or(Source::UNUSED, |(register, c)| Source {
            addr: self.home(register, c).0,
            constant: false,
            relative: false,
        });
        debug_assert!(
            op.operands[0].iter().zip(&channels).all(|(c, channel)| {
                c.in_register().is_some_and(|(register, n)| self.home(register, n).1 == *channel)
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
        self.push(draft.finish(), op.span);
    }

    /// The channels of coordinates, which are of one temporary.
    fn coordinates(&self, list: &[(Register, u8); 4]) -> (u8, [Channel; 4]) {
        let channel = |n: usize| {
            let (register, component) = list[n];
            [Channel::R, Channel::G, Channel::B, Channel::A][self.home(register, component).1]
        };
        (self.home(list[0].0, list[0].1).0, std::array::from_fn(channel))
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
            .with(TexAddr::DST_ADDR, self.home(fetch.register, 0).0)
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
        self.push(Instruction(words), fetch.span);
    }

    fn kill(&mut self, list: &[(Register, u8)], span: Span) {
        let four = std::array::from_fn(|n| list[n.min(list.len() - 1)]);
        let cmn = CmnInst(0).with(CmnInst::TYPE, InstType::TEX);
        let inst = TexInst(0).with(TexInst::INST, TexOp::TEXKILL);
        let addr = tex_addr(self.coordinates(&four));
        self.push(Instruction([cmn.bits(), inst.bits(), addr.bits(), 0, 0, 0]), span);
    }

    fn output(&mut self, target: Target, value: &Value, span: Span) {
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
            self.push(draft.finish(), span);
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
            draft.operand(self, Half::Alpha, Slot::A, &[Some(value[0])])?;
            draft.operand(self, Half::Alpha, Slot::B, &[Some(value[0])])?;
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
            draft.operand(self, Half::Rgb, Slot::A, &parts)?;
            draft.operand(self, Half::Rgb, Slot::B, &parts)?;
        }
        if list.contains(&3) {
            draft.cmn(|cmn| cmn.with(CmnInst::ALPHA_OMASK, true));
            draft.inst.0[4] = AluAlphaInst(draft.inst.0[4]).with(AluAlphaInst::TARGET, bits).bits();
            draft.operand(self, Half::Alpha, Slot::A, &[Some(value[3])])?;
            draft.operand(self, Half::Alpha, Slot::B, &[Some(value[3])])?;
        }
        Some(draft)
    }

    // Flow control.

    fn jump(&mut self, fc: FcInst, int: u8, span: Span) -> usize {
        self.out.has_flow = true;
        let cmn = CmnInst(0).with(CmnInst::TYPE, InstType::FC);
        let addr = FcAddr(0).with(FcAddr::INT_ADDR, int);
        self.push(Instruction([cmn.bits(), 0, fc.bits(), addr.bits(), 0, 0]), span)
    }

    fn land(&mut self, at: usize, target: usize) {
        let inst = &mut self.out.code[at];
        let target = u16::try_from(target).unwrap_or(u16::MAX);
        inst.0[3] = inst.fc_addr().with(FcAddr::JUMP_ADDR, target).bits();
    }

    fn branch(&mut self, condition: Condition, yes: &[Node], no: &[Node], span: Span) {
        // Only the second way: the other condition.
        let (condition, yes, no) =
            if yes.is_empty() { (condition.not(), no, yes) } else { (condition, yes, no) };
        let mut draft = Draft::new(InstType::ALU, &self.out.constants);
        draft.rgb_op(RgbOp::MAD, 0);
        let literal = |value| [Some(Component::literal(value)), None, None];
        let parts = [[Some(condition.test), None, None], literal(1.0), literal(0.0)];
        for (slot, parts) in Slot::ALL.into_iter().zip(parts) {
            draft.operand(self, Half::Rgb, slot, &parts).expect("one component has one source");
        }
        draft.cmn(|cmn| {
            cmn.with(CmnInst::ALU_RESULT_SEL, AluResultSel::RED)
                .with(CmnInst::ALU_RESULT_OP, Compare::GE)
        });
        draft.inst.0[3] = AluRgbInst(draft.inst.0[3]).with(AluRgbInst::ALU_WMASK, true).bits();
        self.out.constants.clone_from(&draft.constants);
        self.push(draft.finish(), span);
        // Bit 4 * result: pixels that do not go the first way want to jump.
        let func = if condition.negated { 0xf0 } else { 0x0f };
        let skip = FcInst(0)
            .with(FcInst::OP, FcOp::JUMP)
            .with(FcInst::JUMP_FUNC, func)
            .with(FcInst::B_OP0, BranchOp::INCR)
            .with(FcInst::B_OP1, if no.is_empty() { BranchOp::NONE } else { BranchOp::INCR });
        let skip = self.jump(skip, 0, span);
        self.levels += 1;
        self.list(yes);
        let mut last = skip;
        if !no.is_empty() {
            let swap = FcInst(0)
                .with(FcInst::OP, FcOp::JUMP)
                .with(FcInst::B_ELSE, true)
                .with(FcInst::B_POP_CNT, 1)
                .with(FcInst::B_OP1, BranchOp::DECR);
            last = self.jump(swap, 0, span);
            self.land(skip, last + 1);
            self.list(no);
        }
        let end = FcInst(0)
            .with(FcInst::OP, FcOp::JUMP)
            .with(FcInst::JUMP_ANY, true)
            .with(FcInst::B_POP_CNT, 1)
            .with(FcInst::B_OP0, BranchOp::DECR);
        let end = self.jump(end, 0, span);
        self.levels -= 1;
        self.land(end, end + 1);
        self.land(last, end + 1);
    }

    fn repeat(&mut self, count: u8, body: &[Node], span: Span) {
        let constant = UsFcIntConst(0).with(UsFcIntConst::KR, count);
        let known = self.out.int_constants.iter().position(|other| *other == constant);
        let int = known.unwrap_or(self.out.int_constants.len());
        if known.is_none() {
            self.out.int_constants.push(constant);
        }
        let int = u8::try_from(int).unwrap_or(u8::MAX);
        let levels = std::mem::take(&mut self.levels);
        let start = FcInst(0).with(FcInst::OP, FcOp::LOOP).with(FcInst::JUMP_ANY, true);
        let start = self.jump(start, int, span);
        self.loops.push(Default::default());
        self.list(body);
        let end = FcInst(0)
            .with(FcInst::OP, FcOp::ENDLOOP)
            .with(FcInst::JUMP_ANY, true)
            .with(FcInst::JUMP_FUNC, 0xff);
        let end = self.jump(end, int, span);
        self.land(end, start + 1);
        self.land(start, end + 1);
        if let Some([breaks, continues]) = self.loops.pop() {
            breaks.into_iter().for_each(|at| self.land(at, end + 1));
            continues.into_iter().for_each(|at| self.land(at, end));
        }
        self.levels = levels;
    }

    fn leave(&mut self, is_break: bool, span: Span) {
        let op = if is_break { FcOp::BREAKLOOP } else { FcOp::CONTINUE };
        let closes = if self.levels == 0 { BranchOp::NONE } else { BranchOp::DECR };
        let fc = FcInst(0)
            .with(FcInst::OP, op)
            .with(FcInst::JUMP_FUNC, 0xff)
            .with(FcInst::B_POP_CNT, self.levels)
            .with(FcInst::B_OP1, closes);
        let at = self.jump(fc, 0, span);
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
    }
}
