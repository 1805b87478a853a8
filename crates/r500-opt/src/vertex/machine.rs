//! Instructions of the vertex processor on virtual registers.
//!
//! Code is straight-line. An instruction writes lanes, components of a register or of an output, and each of its sources has a part for each
//! lane, so that the components of registers may be anywhere in the chip's.

use r500_pvs::{MathOp, VectorOp};

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

/// A register file, and which of its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A temporary.
    Temporary(Register),
    /// One that has an address of its own in an instruction.
    Alternate(Register),
    /// An input.
    Input(u8),
    /// A constant.
    Constant(u16),
    /// The constant that a component of a register counts from another one. [`Inst::address`] has the component by then.
    Relative(u16, (Register, u8)),
}

impl Place {
    /// Returns whether it is a constant.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Relative(..))
    }
}

/// What a lane reads of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Select {
    /// A component.
    Of(u8),
    /// 0.
    Zero,
    /// 1.
    One,
}

/// A source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Src {
    /// `None` if all lanes are 0 or 1.
    pub place: Option<Place>,
    /// The absolute value of what is read.
    pub abs: bool,
    /// For each lane what it reads, and whether that is negated.
    pub parts: Vec<(Select, bool)>,
}

impl Src {
    /// Returns a source of numbers 0 and 1.
    #[must_use]
    pub fn number(select: Select, lanes: usize) -> Self {
        Self { place: None, abs: false, parts: vec![(select, false); lanes] }
    }

    /// Returns a source that reads components as they are.
    pub fn of(place: Place, components: impl IntoIterator<Item = u8>) -> Self {
        let parts = components.into_iter().map(|c| (Select::Of(c), false)).collect();
        Self { place: Some(place), abs: false, parts }
    }

    /// Returns the components that it reads.
    pub fn components(&self) -> impl Iterator<Item = u8> + '_ {
        self.parts.iter().filter_map(|(select, _)| match select {
            Select::Of(c) => Some(*c),
            Select::Zero | Select::One => None,
        })
    }
}

/// What an instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Lane by lane.
    Vector(VectorOp),
    /// The sum of four products, in every lane; the sources have four parts.
    Dot,
    /// A scalar of scalars, in every lane; the sources have one part.
    Math(MathOp),
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// A temporary or an alternate temporary.
    Register(Place),
    /// An output.
    Output(u8),
    /// A component of the address register.
    Address(u8),
}

/// An instruction. `O` says where it is from.
#[derive(Clone, Debug)]
pub struct Inst<O> {
    /// What it computes.
    pub op: Op,
    /// Where the result goes.
    pub dst: Dst,
    /// The components that it writes.
    pub lanes: Vec<u8>,
    /// The sources, as many as the operation has.
    pub sources: Vec<Src>,
    /// Limited to 0..1.
    pub saturate: bool,
    /// Where it is from.
    pub origin: O,
    /// The component of the address register that a [`Place::Relative`] takes.
    pub address: u8,
    /// An operation of the math engine that is executed with this one.
    pub dual: Option<Dual<O>>,
}

/// The second operation of an instruction. It writes component 0 of an alternate register.
#[derive(Clone, Debug)]
pub struct Dual<O> {
    /// The operation.
    pub op: MathOp,
    /// The alternate register.
    pub register: Register,
    /// Its scalar.
    pub source: Src,
    /// Where it is from.
    pub origin: O,
}

impl<O> Inst<O> {
    /// Returns the sources, with that of the second operation.
    pub fn read(&self) -> impl Iterator<Item = &Src> {
        self.sources.iter().chain(self.dual.iter().map(|dual| &dual.source))
    }

    /// Returns whether it writes or needs the address register, so that it stays where it is.
    #[must_use]
    pub fn is_addressed(&self) -> bool {
        let is_relative = |src: &Src| matches!(src.place, Some(Place::Relative(..)));
        matches!(self.dst, Dst::Address(_)) || self.read().any(is_relative)
    }

    /// Returns whether it has the macro of two clocks, which may read three temporaries.
    #[must_use]
    pub fn has_macro(&self) -> bool {
        self.op == Op::Vector(VectorOp::MULTIPLY_ADD)
    }

    /// Returns whether one instruction can read all places: one constant, one input, one alternate temporary, two temporaries, or three
    /// with a macro.
    #[must_use]
    pub fn fits(&self) -> bool {
        let places: Vec<Place> = self.read().filter_map(|src| src.place).collect();
        let most_temporaries = if self.has_macro() && self.dual.is_none() { 3 } else { 2 };
        let count = |is_kind: fn(&Place) -> bool| distinct(places.iter().copied().filter(is_kind));
        count(Place::is_constant) <= 1
            && count(|place| matches!(place, Place::Input(_))) <= 1
            && count(|place| matches!(place, Place::Alternate(_))) <= 1
            && count(|place| matches!(place, Place::Temporary(_))) <= most_temporaries
    }
}

/// Returns the number of different places.
pub fn distinct(places: impl Iterator<Item = Place>) -> usize {
    let mut all: Vec<Place> = places.collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}
