//! Instruction words.

use r500_pvs::{
    Component, Dst as DstWord, DstType, DualMath, Fill, Instruction, MacroOp, MathOp,
    Src as SrcWord, SrcType, Swizzle, VectorOp,
};

use super::allocate::Homes;
use super::machine::{Dst, Inst, Op, Place, Select, Src};

/// Encodes instructions, whose registers are in these temporaries.
#[must_use]
pub fn encode<O>(insts: &[Inst<O>], homes: &Homes) -> Vec<Instruction> {
    insts.iter().map(|inst| instruction(inst, homes)).collect()
}

/// A source of four channels: its kind and number, and what each channel reads.
#[derive(Clone, Copy)]
struct Channels {
    ty: SrcType,
    offset: u8,
    /// The component of the address register that is added.
    address: Option<Component>,
    abs: bool,
    swizzle: [Swizzle; 4],
    negate: [bool; 4],
}

fn instruction<O>(inst: &Inst<O>, homes: &Homes) -> Instruction {
    let (ty, offset) = match inst.dst {
        Dst::Register(Place::Alternate(register)) => {
            (DstType::ALT_TEMPORARY, homes.of(register).number)
        }
        Dst::Register(Place::Temporary(register)) => {
            (DstType::TEMPORARY, homes.of(register).number)
        }
        Dst::Register(Place::Input(_) | Place::Constant(_) | Place::Relative(..)) => {
            unreachable!("instructions write registers and outputs")
        }
        Dst::Output(n) => (DstType::OUT, n),
        Dst::Address(_) => (DstType::A0, 0),
    };
    let channel = |lane: u8| match inst.dst {
        Dst::Register(Place::Alternate(register) | Place::Temporary(register)) => {
            homes.of(register).channel(lane)
        }
        _ => lane,
    };
    let written: Vec<u8> = inst.lanes.iter().map(|lane| channel(*lane)).collect();
    // Which part of a source each channel reads.
    let parts: [Option<usize>; 4] = std::array::from_fn(|c| match inst.op {
        Op::Vector(_) => written.iter().position(|to| usize::from(*to) == c),
        Op::Dot | Op::Fixed(_) => Some(c),
        Op::Math(_) => Some(0),
    });
    // A number reads no register; it names that of another source, which costs no address.
    let usual = inst.read().find_map(|src| src.place);
    let sources: Vec<Channels> =
        inst.sources.iter().map(|src| channels(src, inst.address, usual, parts, homes)).collect();
    let mut dst = DstWord(0)
        .with(DstWord::REG_TYPE, ty)
        .with(DstWord::OFFSET, offset)
        .with(DstWord::WE_X, written.contains(&0))
        .with(DstWord::WE_Y, written.contains(&1))
        .with(DstWord::WE_Z, written.contains(&2))
        .with(DstWord::WE_W, written.contains(&3));
    dst = match inst.op {
        Op::Vector(VectorOp::MULTIPLY_ADD) if reads_three(&sources) => dst
            .with(DstWord::OPCODE, MacroOp::MADD.code())
            .with(DstWord::MACRO_INST, true)
            .with(DstWord::VE_SAT, inst.saturate),
        Op::Vector(VectorOp::MULTIPLYX2_ADD) if reads_three(&sources) => dst
            .with(DstWord::OPCODE, MacroOp::M2X_ADD.code())
            .with(DstWord::MACRO_INST, true)
            .with(DstWord::VE_SAT, inst.saturate),
        Op::Vector(op) => dst.with(DstWord::OPCODE, op.code()).with(DstWord::VE_SAT, inst.saturate),
        Op::Dot => dst
            .with(DstWord::OPCODE, VectorOp::DOT_PRODUCT.code())
            .with(DstWord::VE_SAT, inst.saturate),
        Op::Fixed(r500_pvs::Op::Vector(op)) => {
            dst.with(DstWord::OPCODE, op.code()).with(DstWord::VE_SAT, inst.saturate)
        }
        Op::Fixed(r500_pvs::Op::Macro(_)) => unreachable!("macros are sums of products"),
        Op::Math(op) | Op::Fixed(r500_pvs::Op::Math(op)) => dst
            .with(DstWord::OPCODE, op.code())
            .with(DstWord::MATH_INST, true)
            .with(DstWord::ME_SAT, inst.saturate),
    };
    let mut words = [dst.bits(), 0, 0, 0];
    // The second scalar of the math engine is the third source, but that of a product.
    let slots: &[usize] = match inst.op {
        Op::Math(MathOp::MULTIPLY) => &[1, 2],
        Op::Math(_) => &[1, 3],
        _ => &[1, 2, 3],
    };
    for (slot, source) in slots.iter().zip(&sources) {
        words[*slot] = source.word().bits();
    }
    if let Some(dual) = &inst.dual {
        words[0] = DstWord(words[0]).with(DstWord::DUAL_MATH_OP, true).bits();
        let source = channels(&dual.source, inst.address, usual, [Some(0); 4], homes);
        let home = homes.of(dual.register);
        let code = dual.op.code();
        words[3] = DualMath(0)
            .with(DualMath::SRC_REG_TYPE, source.ty)
            .with(DualMath::SRC_OFFSET, source.offset)
            .with(DualMath::SRC_ABS_XYZW, source.abs)
            .with(DualMath::SRC_SWIZZLE_X, source.swizzle[0])
            .with(DualMath::SRC_SWIZZLE_Y, source.swizzle[0])
            .with(DualMath::SRC_MODIFIER_X, source.negate[0])
            .with(DualMath::SRC_MODIFIER_Y, source.negate[0])
            .with(DualMath::DST_OPCODE_MSB, code >> 4 != 0)
            .with(DualMath::DST_OPCODE, code & 15)
            .with(DualMath::DST_OFFSET, home.number)
            .with(DualMath::DST_WE_SEL, Component::new(home.channel(0)))
            .bits();
    }
    Fill::Zero.instruction(Instruction(words))
}

/// Returns whether sources are three different temporaries.
fn reads_three(sources: &[Channels]) -> bool {
    let mut numbers: Vec<u8> = sources
        .iter()
        .filter(|source| source.ty == SrcType::TEMPORARY)
        .map(|source| source.offset)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() == 3
}

fn channels(
    src: &Src,
    address: u8,
    usual: Option<Place>,
    parts: [Option<usize>; 4],
    homes: &Homes,
) -> Channels {
    let place = src.place.or(usual);
    let is_relative = matches!(place, Some(Place::Relative(..)));
    let address = is_relative.then(|| Component::new(address));
    let (ty, offset) = match place {
        Some(Place::Temporary(register)) => (SrcType::TEMPORARY, homes.of(register).number),
        Some(Place::Alternate(register)) => (SrcType::ALT_TEMPORARY, homes.of(register).number),
        Some(Place::Input(n)) => (SrcType::INPUT, n),
        Some(Place::Constant(n) | Place::Relative(n, _)) => {
            // More constants than the chip has are reported; the program is not used.
            (SrcType::CONSTANT, u8::try_from(n).unwrap_or(u8::MAX))
        }
        None => (SrcType::TEMPORARY, 0),
    };
    let part = |c: usize| parts[c].map(|n| src.parts[n]);
    let swizzle = |c: usize| match part(c) {
        Some((Select::Of(component), _)) => Swizzle::new(match place {
            Some(Place::Temporary(register) | Place::Alternate(register)) => {
                homes.of(register).channel(component)
            }
            _ => component,
        }),
        Some((Select::One, _)) => Swizzle::ONE,
        Some((Select::Zero, _)) | None => Swizzle::ZERO,
    };
    let swizzle = std::array::from_fn(swizzle);
    let negate = std::array::from_fn(|c| part(c).is_some_and(|(_, negate)| negate));
    Channels { ty, offset, address, abs: src.abs, swizzle, negate }
}

impl Channels {
    fn word(self) -> SrcWord {
        SrcWord(0)
            .with(SrcWord::REG_TYPE, self.ty)
            .with(SrcWord::OFFSET, self.offset)
            .with(SrcWord::ADDR_MODE_0, self.address.is_some())
            .with(SrcWord::ADDR_SEL, self.address.unwrap_or(Component::X))
            .with(SrcWord::ABS_XYZW, self.abs)
            .with(SrcWord::SWIZZLE_X, self.swizzle[0])
            .with(SrcWord::SWIZZLE_Y, self.swizzle[1])
            .with(SrcWord::SWIZZLE_Z, self.swizzle[2])
            .with(SrcWord::SWIZZLE_W, self.swizzle[3])
            .with(SrcWord::MODIFIER_X, self.negate[0])
            .with(SrcWord::MODIFIER_Y, self.negate[1])
            .with(SrcWord::MODIFIER_Z, self.negate[2])
            .with(SrcWord::MODIFIER_W, self.negate[3])
    }
}
