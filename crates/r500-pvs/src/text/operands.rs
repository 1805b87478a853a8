//! Which sources an operation reads, and what stands in those that it does not read.

use r500_chip::pvs::{Addressing, MathOp, Op, Src, SrcType, Swizzle, VectorOp};

use super::names::UNUSED;
use crate::Instruction;

/// Returns which of the three sources an operation reads.
pub(super) fn read_slots(op: Op) -> [bool; 3] {
    match op {
        Op::Math(
            MathOp::POWER_FUNC_FF
            | MathOp::POWER_FUNC_FF_CLAMP_B
            | MathOp::POWER_FUNC_FF_CLAMP_B1
            | MathOp::POWER_FUNC_FF_CLAMP_01,
        ) => [true, false, true],
        op => std::array::from_fn(|slot| slot < op.sources()),
    }
}

/// Returns whether sources need the macro of two clocks in place of a multiplication and addition: three different temporaries.
pub(super) fn is_macro(op: Op, sources: &[Src; 3]) -> bool {
    let has_macro = match op {
        Op::Vector(op) => matches!(op, VectorOp::MULTIPLY_ADD | VectorOp::MULTIPLYX2_ADD),
        Op::Macro(op) => op.is_named(),
        Op::Math(_) => false,
    };
    let address = |src: &Src| {
        let number = (src.addressing() != Addressing::Reserved).then(|| src.offset())?;
        (src.reg_type() == SrcType::TEMPORARY).then_some((src.addressing(), number))
    };
    let [a, b, c] = sources.each_ref().map(address);
    has_macro && a.is_some() && b.is_some() && c.is_some() && a != b && b != c && a != c
}

/// What stands by default in a source that an operation does not read: kind and number of the last one that it reads before, and in all
/// components
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fill {
    /// `_`, as assemblers for people write it.
    #[default]
    Unused,
    /// `0`, as Mesa writes it.
    Zero,
    /// Nothing: the whole dword is 0.
    Clear,
}

impl Fill {
    /// Returns that with which fewer sources that no operation reads must be printed.
    pub(super) fn shortest(code: &[Instruction]) -> Self {
        let shown =
            |fill: Self| code.iter().filter(|inst| fill.shown(**inst).contains(&true)).count();
        // Of equal ones the first.
        let fills = [Self::Unused, Self::Zero, Self::Clear].map(|fill| (shown(fill), fill));
        fills.into_iter().min_by_key(|(shown, _)| *shown).map_or(Self::Unused, |(_, fill)| fill)
    }

    /// Returns the source that stands in each place that an operation does not read.
    pub(super) fn sources(self, op: Op, sources: [Src; 3], slots: usize) -> [Src; 3] {
        let read = read_slots(op);
        let mut filled = sources;
        let swizzle = match self {
            Self::Unused => UNUSED,
            Self::Zero => Swizzle::ZERO,
            Self::Clear => {
                return std::array::from_fn(|n| if read[n] { sources[n] } else { Src(0) });
            }
        };
        if !read.contains(&true) {
            return [Src(0); 3];
        }
        let mut last = sources[0];
        for slot in 0..slots {
            if read[slot] {
                last = sources[slot];
                continue;
            }
            let mut src = Src(0)
                .with(Src::REG_TYPE, last.reg_type())
                .with(Src::OFFSET, last.offset())
                .with(Src::SWIZZLE_X, swizzle)
                .with(Src::SWIZZLE_Y, swizzle)
                .with(Src::SWIZZLE_Z, swizzle)
                .with(Src::SWIZZLE_W, swizzle);
            if self == Self::Zero {
                // Mesa keeps whether the address is relative, and neither the component of A0.
                src = src.with(Src::ADDR_MODE_0, last.addr_mode_0());
            }
            filled[slot] = src;
        }
        filled
    }

    /// Returns an instruction with what stands in the sources that its operation does not read.
    #[must_use]
    pub fn instruction(self, inst: Instruction) -> Instruction {
        let slots = if inst.dual_math().is_some() { 2 } else { 3 };
        let filled = self.sources(inst.op(), inst.sources(), slots);
        let mut words = inst.0;
        for (word, src) in words[1..=slots].iter_mut().zip(filled) {
            *word = src.0;
        }
        Instruction(words)
    }

    /// Returns which sources must be printed although the operation does not read them.
    pub(super) fn shown(self, inst: Instruction) -> [bool; 3] {
        let slots = if inst.dual_math().is_some() { 2 } else { 3 };
        let words = inst.sources();
        let filled = self.sources(inst.op(), words, slots);
        let read = read_slots(inst.op());
        // Bits without a notation are printed apart.
        let differs = |slot: usize| {
            slot < slots && !read[slot] && named_bits(words[slot]) != named_bits(filled[slot])
        };
        // Sources in brackets are the first of those that the operation does not read.
        let last = (0..3).rev().find(|slot| differs(*slot));
        std::array::from_fn(|slot| !read[slot] && last.is_some_and(|last| slot <= last))
    }
}

/// Returns a source without the bits that have no notation.
fn named_bits(src: Src) -> Src {
    let src = Src(src.0 & !4);
    match src.addressing() {
        Addressing::Absolute | Addressing::LoopIndex => {
            src.with(Src::ADDR_SEL, r500_chip::pvs::Component::X)
        }
        Addressing::A0(_) | Addressing::Reserved => src,
    }
}
