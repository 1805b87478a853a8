//! Instructions of the vertex processor on virtual registers.
//!
//! Code is straight-line, or has [loops](Loop) of the chip. An instruction writes lanes, components of a register or of an output, and each of its sources has a part for each
//! lane, so that the components of registers may be anywhere in the chip's.

use r500_pvs::{MathOp, VectorOp};

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

impl Register {
    const NUMBERED: u32 = 1 << 31;

    /// Returns a register that is the temporary, or alternate temporary, of this number: its components are the channels.
    #[must_use]
    pub const fn numbered(number: u8) -> Self {
        Self(Self::NUMBERED | number as u32)
    }

    /// Returns the number of one that [has one](Self::numbered).
    #[must_use]
    pub const fn number(self) -> Option<u8> {
        if self.0 & Self::NUMBERED != 0 { Some(self.0 as u8) } else { None }
    }
}

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
    /// Each lane has an operation of its own, so that lanes are the channels of the same number; the sources have four parts.
    Fixed(r500_pvs::Op),
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

/// A loop of the chip: the instructions from `first` to before `end` are executed so many times. Loops are inside of each other or apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its first instruction.
    pub first: usize,
    /// The instruction after its last one.
    pub end: usize,
    /// How often.
    pub passes: u8,
}

/// What instructions read and write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Register(Place, u8),
    Output(u8, u8),
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

    /// Calls `each` with the components that it reads.
    fn reads(&self, each: &mut impl FnMut(Component)) {
        for src in self.read() {
            match src.place {
                Some(place @ (Place::Temporary(_) | Place::Alternate(_))) => {
                    src.components().for_each(|c| each(Component::Register(place, c)));
                }
                Some(Place::Relative(..)) => each(Component::Address(self.address)),
                Some(Place::Input(_) | Place::Constant(_)) | None => {}
            }
        }
    }

    /// Calls `each` with the components that it writes.
    fn writes(&self, each: &mut impl FnMut(Component)) {
        for lane in &self.lanes {
            each(match self.dst {
                Dst::Register(place) => Component::Register(place, *lane),
                Dst::Output(n) => Component::Output(n, *lane),
                Dst::Address(_) => Component::Address(*lane),
            });
        }
        if let Some(dual) = &self.dual {
            each(Component::Register(Place::Alternate(dual.register), 0));
        }
    }

    /// Returns whether the order of it and a later instruction matters: one writes what the other reads or writes.
    #[must_use]
    pub fn conflicts(&self, later: &Self) -> bool {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        self.reads(&mut |component| reads.push(component));
        self.writes(&mut |component| writes.push(component));
        let mut conflicts = false;
        later.reads(&mut |component| conflicts |= writes.contains(&component));
        later.writes(&mut |component| {
            conflicts |= writes.contains(&component) || reads.contains(&component);
        });
        conflicts
    }

    /// Returns whether it has the macro of two clocks, which may read three temporaries.
    #[must_use]
    pub fn has_macro(&self) -> bool {
        matches!(self.op, Op::Vector(VectorOp::MULTIPLY_ADD | VectorOp::MULTIPLYX2_ADD))
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
