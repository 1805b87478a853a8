//! Source address assignment and instruction encoding: one RGB and one alpha operation form an instruction if their
//! operands fit three colour and three alpha addresses.

use r500_isa::values::{
    AlphaOp, AluResultSel, InstType, Omod, RgbMask, RgbOp, Sel, SrcpOp, Swiz, Target,
};
use r500_isa::words::{AluAlphaAddr, AluAlphaInst, AluRgbAddr, AluRgbInst, AluRgbaInst, CmnInst};
use r500_isa::{Instruction, Operand, Slot, Source as Address};

use super::ir::{Arg, Atom, Op, OpKind, Read, SegmentIr};

/// A register or constant that a source address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Register {
    /// A temporary.
    Temp(u8),
    /// A temporary that is not assigned yet, by its set of values.
    Set(usize),
    /// A constant.
    Constant(u8),
    /// An inline constant, by its code.
    Inline(u8),
}

/// A mapping from values to registers and channels.
pub(crate) trait RegisterAssignment {
    /// Returns the register and channel of a value.
    fn place(&self, ir: &SegmentIr, value: usize) -> (Register, u8);
}

/// Returns the register and channel of an atom; `None` for literals, which swizzles provide. An inline constant has no
/// fixed channel.
fn place(
    ir: &SegmentIr,
    places: &dyn RegisterAssignment,
    atom: Atom,
) -> Option<(Register, Option<u8>)> {
    Some(match atom {
        Atom::Entry(temp, channel) => (Register::Temp(temp), Some(channel)),
        Atom::Value(value) => {
            let (register, channel) = places.place(ir, value);
            (register, Some(channel))
        }
        Atom::Constant(constant, channel) => (Register::Constant(constant), Some(channel)),
        Atom::Inline(code) => (Register::Inline(code), None),
        Atom::Zero | Atom::Half | Atom::One => return None,
    })
}

/// The contents of the six source addresses.
#[derive(Clone, Copy, Debug, Default)]
struct Addresses {
    colours: [Option<Register>; 3],
    alphas: [Option<Register>; 3],
    /// `SRCP_OP` of the RGB half and of the alpha half.
    presub: [Option<u8>; 2],
}

/// The encoding of an operand: its source, and the channel that each lane selects.
#[derive(Clone, Copy, Debug)]
struct Choice {
    sel: Sel,
    swiz: [Swiz; 4],
}

impl Default for Choice {
    fn default() -> Self {
        Self { sel: Sel::SRC0, swiz: [Swiz::ZERO; 4] }
    }
}

fn set(slot: &mut Option<Register>, register: Register) -> bool {
    *slot.get_or_insert(register) == register
}

impl Addresses {
    fn set(&mut self, source: usize, channel: u8, register: Register) -> bool {
        let slots = if channel < 3 { &mut self.colours } else { &mut self.alphas };
        set(&mut slots[source], register)
    }

    /// Adds an operand that selects a source directly. Inline constants may use the colour or the alpha address.
    fn direct(
        &mut self,
        ir: &SegmentIr,
        places: &dyn RegisterAssignment,
        arg: &Arg,
        source: usize,
        inline_channel: u8,
    ) -> Option<Choice> {
        let mut choice = Choice { sel: Sel::new(source as u8), ..Choice::default() };
        for (lane, read) in arg.lanes.iter().enumerate() {
            let Some(Read::Atom(atom)) = *read else { continue };
            choice.swiz[lane] = match (atom, place(ir, places, atom)) {
                (_, Some((register, channel))) => {
                    // A second inline constant takes the other address.
                    let either = [inline_channel, 3 - inline_channel];
                    let channels = channel.map_or(either, |channel| [channel; 2]);
                    let fits = |channel: &u8| self.set(source, *channel, register);
                    Swiz::new(channels.into_iter().find(fits)?)
                }
                (Atom::Half, None) => Swiz::HALF,
                (Atom::One, None) => Swiz::ONE,
                _ => Swiz::ZERO,
            };
        }
        Some(choice)
    }

    /// Adds an operand that selects the presubtract result; literal lanes use swizzle constants.
    fn presubtracted(
        &mut self,
        ir: &SegmentIr,
        places: &dyn RegisterAssignment,
        arg: &Arg,
    ) -> Option<Choice> {
        let mut choice = Choice { sel: Sel::SRCP, ..Choice::default() };
        for (lane, read) in arg.lanes.iter().enumerate() {
            let (op, a, b) = match *read {
                Some(Read::Presub(op, a, b)) => (op, a, b),
                Some(Read::Atom(Atom::Half)) => {
                    choice.swiz[lane] = Swiz::HALF;
                    continue;
                }
                Some(Read::Atom(Atom::One)) => {
                    choice.swiz[lane] = Swiz::ONE;
                    continue;
                }
                Some(Read::Atom(Atom::Zero)) | None => continue,
                Some(Read::Atom(_)) => return None,
            };
            let two = [SrcpOp::SUB, SrcpOp::ADD].map(SrcpOp::code).contains(&op);
            let first = place(ir, places, a)?;
            let second = if two { Some(place(ir, places, b)?) } else { None };
            let channels = [first.1, second.and_then(|place| place.1)];
            let known = channels.into_iter().flatten().next();
            // With two inline constants, the lane determines the channel.
            let channel = known.unwrap_or(if lane == 3 { 3 } else { 0 });
            if channels.into_iter().flatten().any(|other| other != channel) {
                return None;
            }
            let half = &mut self.presub[usize::from(channel == 3)];
            let fits = *half.get_or_insert(op) == op
                && self.set(0, channel, first.0)
                && second.is_none_or(|(register, _)| self.set(1, channel, register));
            if !fits {
                return None;
            }
            choice.swiz[lane] = Swiz::new(channel);
        }
        Some(choice)
    }
}

/// Most operands of an instruction: three of each half.
const MOST_OPERANDS: usize = 6;

/// The operands of the operations of an instruction. They are asked for so often that they are not allocated.
struct Operands<'a> {
    list: [Option<&'a Arg>; MOST_OPERANDS],
}

impl<'a> Operands<'a> {
    fn of(ops: &[&'a Op]) -> Self {
        let mut list = [None; MOST_OPERANDS];
        for (n, arg) in ops.iter().flat_map(|op| &op.args).enumerate() {
            list[n] = Some(arg);
        }
        Self { list }
    }
}

/// The encodings of the first operands.
#[derive(Default)]
struct Choices {
    list: [Choice; MOST_OPERANDS],
    count: usize,
}

impl Choices {
    fn push(&mut self, choice: Choice) {
        self.list[self.count] = choice;
        self.count += 1;
    }

    fn pop(&mut self) {
        self.count -= 1;
    }
}

/// Assigns sources to the operands after those that are done, in order, by backtracking.
fn assign(
    ir: &SegmentIr,
    places: &dyn RegisterAssignment,
    args: &Operands<'_>,
    addresses: Addresses,
    done: &mut Choices,
) -> Option<Addresses> {
    let Some(arg) = args.list.get(done.count).copied().flatten() else { return Some(addresses) };
    let reads = || arg.lanes.iter().flatten();
    if reads().any(|read| matches!(read, Read::Presub(..))) {
        let mut with = addresses;
        let choice = with.presubtracted(ir, places, arg)?;
        done.push(choice);
        let found = assign(ir, places, args, with, done);
        if found.is_none() {
            done.pop();
        }
        return found;
    }
    let literal =
        reads().all(|read| matches!(read, Read::Atom(Atom::Zero | Atom::Half | Atom::One)));
    let inline = reads().any(|read| matches!(read, Read::Atom(Atom::Inline(_))));
    let sources = if literal { 1 } else { 3 };
    let channels: &[u8] = if inline { &[3, 0] } else { &[3] };
    for source in 0..sources {
        for &channel in channels {
            let mut with = addresses;
            let Some(choice) = with.direct(ir, places, arg, source, channel) else { continue };
            done.push(choice);
            if let Some(found) = assign(ir, places, args, with, done) {
                return Some(found);
            }
            done.pop();
        }
    }
    None
}

/// Returns whether operations fit into one instruction.
pub(crate) fn fits(ir: &SegmentIr, places: &dyn RegisterAssignment, ops: &[&Op]) -> bool {
    assign(ir, places, &Operands::of(ops), Addresses::default(), &mut Choices::default()).is_some()
}

/// Destinations: the temporaries of colours and of alpha, and their write masks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dest {
    pub(crate) rgb: u8,
    pub(crate) alpha: u8,
    pub(crate) mask: u8,
}

/// Encodes operations as an ALU or OUT instruction; `None` if their operands do not fit the source addresses.
pub(crate) fn encode(
    ir: &SegmentIr,
    places: &dyn RegisterAssignment,
    ops: &[&Op],
    dest: Dest,
) -> Option<Instruction> {
    let mut choices = Choices::default();
    let addresses = assign(ir, places, &Operands::of(ops), Addresses::default(), &mut choices)?;
    let mut writer = Writer { inst: Instruction::default(), cmn: CmnInst(0) };
    let mut choices = choices.list.into_iter();
    let mut outputs = false;
    for op in ops {
        let own: Vec<Choice> = choices.by_ref().take(op.args.len()).collect();
        writer.op(op, &own);
        for (lane, value) in op.results.iter().enumerate() {
            if let Some(value) = *value {
                let sinks = ir.values[value].sinks;
                outputs |= sinks.is_output();
                writer.sinks(lane, &sinks);
            }
        }
    }
    writer.addresses(&addresses);
    let ty = if outputs { InstType::OUT } else { InstType::ALU };
    let mut inst = writer.inst;
    let alpha_wmask = dest.mask & 8 != 0;
    inst.0[0] = writer
        .cmn
        .with(CmnInst::TYPE, ty)
        .with(CmnInst::RGB_WMASK, RgbMask::new(dest.mask & 7))
        .with(CmnInst::ALPHA_WMASK, alpha_wmask)
        .bits();
    inst.0[4] = inst.alpha_inst().with(AluAlphaInst::ALPHA_ADDRD, dest.alpha).bits();
    inst.0[5] = inst.rgba_inst().with(AluRgbaInst::RGB_ADDRD, dest.rgb).bits();
    Some(inst)
}

struct Writer {
    inst: Instruction,
    cmn: CmnInst,
}

impl Writer {
    fn rgb(&mut self, slot: Slot, arg: &Arg, choice: &Choice) {
        let [r, g, b, _] = choice.swiz;
        let modifier = arg.modifier.code();
        let operand = Operand { sel: choice.sel, swiz: [r, g, b], modifier };
        self.inst = self.inst.with_rgb_operand(slot, operand);
    }

    fn alpha(&mut self, slot: Slot, arg: &Arg, choice: &Choice) {
        let modifier = arg.modifier.code();
        let operand = Operand { sel: choice.sel, swiz: [choice.swiz[3]], modifier };
        self.inst = self.inst.with_alpha_operand(slot, operand);
    }

    fn codes(&mut self, rgb: Option<RgbOp>, alpha: Option<AlphaOp>) {
        if let Some(op) = rgb {
            self.inst.0[5] = self.inst.rgba_inst().with(AluRgbaInst::RGB_OP, op).bits();
        }
        if let Some(op) = alpha {
            self.inst.0[4] = self.inst.alpha_inst().with(AluAlphaInst::ALPHA_OP, op).bits();
        }
    }

    fn op(&mut self, op: &Op, choices: &[Choice]) {
        let (uses_rgb, uses_alpha) = (op.uses_rgb(), op.uses_alpha());
        match op.kind {
            OpKind::Lanes(lanes) => {
                let (rgb, alpha) = lanes.codes();
                self.codes(uses_rgb.then_some(rgb), uses_alpha.then_some(alpha));
                for ((slot, arg), choice) in Slot::ALL.into_iter().zip(&op.args).zip(choices) {
                    if uses_rgb {
                        self.rgb(slot, arg, choice);
                    } else {
                        self.alpha(slot, arg, choice);
                    }
                }
            }
            OpKind::Dot(code) => {
                let alpha = uses_alpha.then_some(AlphaOp::DP);
                self.codes(Some(RgbOp::new(code)), alpha);
                let args = op.args.iter().zip(choices);
                for (index, (arg, choice)) in args.enumerate() {
                    match (code == RgbOp::DP4.code(), index) {
                        (true, 2) => self.alpha(Slot::A, arg, choice),
                        (true, 3) => self.alpha(Slot::B, arg, choice),
                        _ => self.rgb(Slot::ALL[index], arg, choice),
                    }
                }
            }
            OpKind::Function(code) => {
                self.codes(uses_rgb.then_some(RgbOp::SOP), Some(AlphaOp::new(code)));
                self.alpha(Slot::A, &op.args[0], &choices[0]);
            }
            OpKind::Texture => {}
        }
        let [rgb, alpha] = op.finish;
        if uses_rgb && op.mask() & 7 != 0 {
            let omod = Omod::new(rgb.omod);
            self.inst.0[3] = self.inst.rgb_inst().with(AluRgbInst::OMOD, omod).bits();
            self.cmn = self.cmn.with(CmnInst::RGB_CLAMP, rgb.clamp);
        }
        if uses_alpha && op.mask() & 8 != 0 {
            let omod = Omod::new(alpha.omod);
            self.inst.0[4] = self.inst.alpha_inst().with(AluAlphaInst::OMOD, omod).bits();
            self.cmn = self.cmn.with(CmnInst::ALPHA_CLAMP, alpha.clamp);
        }
    }

    fn sinks(&mut self, lane: usize, sinks: &super::ir::Sinks) {
        if let Some(target) = sinks.output {
            let target = Target::new(target);
            if lane < 3 {
                let mask = self.cmn.rgb_omask().code() | 1 << lane;
                self.cmn = self.cmn.with(CmnInst::RGB_OMASK, RgbMask::new(mask));
                self.inst.0[3] = self.inst.rgb_inst().with(AluRgbInst::TARGET, target).bits();
            } else {
                self.cmn = self.cmn.with(CmnInst::ALPHA_OMASK, true);
                self.inst.0[4] = self.inst.alpha_inst().with(AluAlphaInst::TARGET, target).bits();
            }
        }
        if sinks.depth {
            self.inst.0[4] = self.inst.alpha_inst().with(AluAlphaInst::W_OMASK, true).bits();
        }
        if let Some(compare) = sinks.alu_result {
            let sel = if lane == 3 { AluResultSel::ALPHA } else { AluResultSel::RED };
            self.cmn =
                self.cmn.with(CmnInst::ALU_RESULT_SEL, sel).with(CmnInst::ALU_RESULT_OP, compare);
            self.inst.0[3] = self.inst.rgb_inst().with(AluRgbInst::ALU_WMASK, true).bits();
        }
    }

    fn addresses(&mut self, addresses: &Addresses) {
        let mut colours = AluRgbAddr(0);
        let mut alphas = AluAlphaAddr(0);
        for n in 0..3 {
            colours = colours.with_source(n, address(addresses.colours[n]));
            alphas = alphas.with_source(n, address(addresses.alphas[n]));
        }
        let [rgb, alpha] = addresses.presub.map(|op| SrcpOp::new(op.unwrap_or_default()));
        self.inst.0[1] = colours.with(AluRgbAddr::SRCP_OP, rgb).bits();
        self.inst.0[2] = alphas.with(AluAlphaAddr::SRCP_OP, alpha).bits();
    }
}

fn address(register: Option<Register>) -> Address {
    let address = |addr, constant| Address { addr, constant, relative: false };
    match register {
        Some(Register::Temp(temp)) => address(temp, false),
        Some(Register::Constant(constant)) => address(constant, true),
        Some(Register::Inline(code)) => address(code | 0x80, false),
        Some(Register::Set(_)) | None => Address::UNUSED,
    }
}
