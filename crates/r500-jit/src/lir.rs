//! The low-level IR: operations of the processor on virtual registers.
//!
//! One group of pixels is a vector: four pixels with WebAssembly, eight with AVX2, sixteen with AVX-512.
//! A value is a vector of floats or bits, or with AVX-512 a mask of one bit a pixel; the others keep
//! masks in vectors, all bits or none.
//!
//! ```text
//! CompileUnit ──lower──▶ LirFunction ──interleave, schedule──▶ LirFunction ──▶ what the target makes of it
//! ```

use std::collections::HashMap;

/// Register class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Vector,
    Mask,
}

/// A value, computed once. (A loop parameter is one value in the loop and another after it.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VReg(pub(crate) u32);

impl VReg {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation. Of the arguments the last one may lie in memory, unless the operation says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Opcode {
    Add,
    Sub,
    Mul,
    Div,
    /// a < b ? a : b; b if one is NaN.
    Min,
    /// a > b ? a : b; b if one is NaN.
    Max,
    Sqrt,
    /// a as it is.
    Copy,
    /// To an integer: the nearest one, or the one not above.
    Round(Rounding),
    /// An integer as float.
    ToFloat,
    /// The greatest integer not above a float; a register; 2^31 comes of NaN and of what is too large; with AVX-512.
    FloorToInt,
    /// The difference of a float and the nearest integer, which is exact; 0 of an infinity; a register; with AVX-512.
    Remainder,
    /// a * 2^b, of an integral float b: rounded once, infinite where it is too large; with AVX-512.
    Scale,
    And,
    Or,
    Xor,
    /// !a & b.
    AndNot,
    /// Sum of integers.
    IntAdd,
    /// Difference of integers.
    IntSub,
    /// Shift left; a register.
    Shl(u8),
    /// Arithmetic shift right; a register.
    Sar(u8),
    /// The same corner of each quad.
    QuadBroadcast(u8),
    /// Mask: a related to b.
    Cmp(Relation),
    /// Mask and mask.
    MaskAnd,
    /// Mask or mask.
    MaskOr,
    /// !a & b of masks.
    MaskAndNot,
    /// The mask of all pixels.
    MaskAll,
    /// The mask of none.
    MaskNone,
    /// a ? b : c; a mask, the others vectors; c is a register.
    Blend,
    /// Mask a ? b : 0; with mask registers.
    MaskedMove,
    /// Mask a ? b * c : 0; with mask registers.
    MaskedMul,
    /// a, or what a table of constants c has for the class of the float b; with AVX-512.
    FixUp,
    /// A vector of bits as mask; a register; with mask registers.
    ToMask,
    /// A mask as vector of bits; with mask registers.
    FromMask,
    /// The smaller of two integers without sign.
    IntMin,
    /// Product of integers.
    IntMul,
    /// A float without its fraction, as an integer.
    Truncate(IntRange),
    /// a0, b0, a1, b1 of each four pixels.
    UnpackLo32,
    /// a2, b2, a3, b3.
    UnpackHi32,
    /// a0, a1, b0, b1.
    UnpackLo64,
    /// a2, a3, b2, b3.
    UnpackHi64,
    /// One pixel of each quad a, the other b: that of the first quad in a and in b; with AVX2.
    Permute128Lo,
    /// The same of the other quad.
    Permute128Hi,
    /// Two pixels of each quad, of which a has two numbers each, b the others: those of the first two quads one
    /// after the other; with AVX-512.
    Permute2Lo,
    /// The same of the other two quads.
    Permute2Hi,
    /// a * b + c, rounded once; with x86.
    MulAdd,
    /// A float with no NaN but the canonical one as float16, in the lower half of 32 bits; a register; with x86.
    ToHalf,
    /// Of each two quads the first rows, then the second ones; with x86.
    PermuteQuads,
    /// The lowest so many bytes (1 or 2) of each pixel, next to each other; a register; with x86.
    Narrow(u8),
    /// The pixels of a surface; with x86.
    LoadPixels(PixelRows),
    /// Stores a as pixels of a surface; gives nothing; with x86.
    StorePixels(PixelRows),
    /// The four numbers of one pixel of each quad, from the unit's table, `a` bytes (and the offset) from
    /// its beginning; a lies in memory.
    LoadTexel(LoadTexel),
    /// One number for each pixel, likewise; in WebAssembly.
    GatherChannel(GatherChannel),
    /// Stores a to a vector of a slot, of those that go together; gives nothing.
    Store(u32, u32),
    /// An input of pixels, the sum of two numbers.
    Interpolant(Interpolant),
    /// Numbers of a table, by their places in it, a; a register; with x86.
    Lookup(Lookup),
    /// The number that a table has for the current iterations of loops; with x86.
    Tabulated(TableEntry),
    /// The pixels that are covered: which vector of those that go together.
    LoadCoverage(u32),
    /// Stores a as the pixels that are covered; gives nothing.
    StoreCoverage(u32),
    /// Counts so many instructions of the program for those of two groups that have a pixel, by their masks a and b; gives
    /// nothing.
    CountFuel(u32),
    /// Stores pixels to the canvas, of one row of each quad those of the first half of quads, a, and of the other,
    /// b; where a vector is one quad, its left pixel a and its right pixel b; gives nothing.
    StoreColor(StoreColor),
}

#[cfg(not(target_arch = "wasm32"))]
impl Opcode {
    /// The argument that may lie in memory, and how it is read there; with mask registers, masks that are
    /// operands are in them.
    pub(crate) fn memory_operand(self, mask_registers: bool) -> Option<(usize, Access)> {
        match self {
            Self::MaskAnd | Self::MaskOr | Self::MaskAndNot if mask_registers => None,
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Min
            | Self::Max
            | Self::And
            | Self::Or
            | Self::Xor
            | Self::AndNot
            | Self::IntAdd
            | Self::IntSub
            | Self::IntMin
            | Self::IntMul
            | Self::Scale
            | Self::UnpackLo32
            | Self::UnpackHi32
            | Self::MaskAnd
            | Self::MaskOr
            | Self::MaskAndNot
            | Self::Cmp(_)
            | Self::Blend
            | Self::MulAdd
            | Self::MaskedMove => Some((1, Access::Elements)),
            Self::UnpackLo64
            | Self::UnpackHi64
            | Self::Permute128Lo
            | Self::Permute128Hi
            | Self::Permute2Lo
            | Self::Permute2Hi => Some((1, Access::Wide)),
            Self::PermuteQuads => Some((0, Access::Wide)),
            Self::MaskedMul | Self::FixUp => Some((2, Access::Elements)),
            Self::Sqrt
            | Self::Copy
            | Self::Round(_)
            | Self::ToFloat
            | Self::Truncate(_)
            | Self::QuadBroadcast(_) => Some((0, Access::Elements)),
            Self::LoadTexel(_) | Self::GatherChannel(_) => Some((0, Access::Lanes)),
            Self::Shl(_)
            | Self::Sar(_)
            | Self::FloorToInt
            | Self::Remainder
            | Self::ToMask
            | Self::FromMask
            | Self::Store(..)
            | Self::Lookup(_)
            | Self::Tabulated(_)
            | Self::LoadCoverage(_)
            | Self::Interpolant(_)
            | Self::StoreCoverage(_)
            | Self::CountFuel(_)
            | Self::StoreColor(_)
            | Self::ToHalf
            | Self::Narrow(_)
            | Self::LoadPixels(_)
            | Self::StorePixels(_)
            | Self::MaskAll
            | Self::MaskNone => None,
        }
    }

    /// Whether the first two arguments may be exchanged.
    pub(crate) fn is_commutative(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Mul
                | Self::And
                | Self::Or
                | Self::Xor
                | Self::IntAdd
                | Self::IntMin
                | Self::IntMul
                | Self::MaskAnd
                | Self::MaskOr
        )
    }
}

/// How an operation reads an argument in memory.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// As a vector of 4-byte elements, or one of them broadcast.
    Elements,
    /// As a vector of wider elements: a constant of 4 bytes cannot be broadcast.
    Wide,
    /// Lane by lane, and always from memory: never from a constant, which may be there for one lane only.
    Lanes,
    /// Not at all: the instruction has the constant zero in it, and any other argument is in a register.
    Zero,
}

/// Where in [tables](LirFunction::tables) a number is: the sum of these. Loops are given by how many others are around them, and count
/// down from their number of trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableEntry {
    /// Where it would be if the counters were 0, which may be before the tables.
    pub(crate) first: i32,
    /// The loop whose counter is added.
    pub(crate) inner: u32,
    /// The loop whose counter is added, too, and by how many bits that is shifted left.
    pub(crate) outer: Option<(u32, u8)>,
}

/// Where in [tables](LirFunction::tables) a table of as many numbers as a vector has begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lookup {
    pub(crate) first: u32,
}

/// Which input of which pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Interpolant {
    /// Of the ramps of the batch.
    pub(crate) number: u32,
    /// Which vector of those that go together the pixels are.
    pub(crate) part: u32,
}

/// Where pixels go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StoreColor {
    pub(crate) target: u8,
    /// The first row of each quad or the second.
    pub(crate) row: u8,
    /// Which vector of those that go together the quads are.
    pub(crate) part: u32,
}

/// Which pixels of a surface a vector has: rows of a chunk, or parts of them, from the lowest byte on.
///
/// | bytes of a pixel | AVX-512 | AVX2, of half a chunk |
/// | --- | --- | --- |
/// | 1, 2, 4 | all four rows | both rows |
/// | 8 | rows `number` and `number` + 2 | row `number` |
/// | 16 | row `number` | half of row `number` / 2 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PixelRows {
    pub(crate) target: u8,
    /// Bytes of a pixel.
    pub(crate) bytes: u8,
    pub(crate) number: u8,
    /// Which vector of those that go together the quads are.
    pub(crate) part: u32,
}

/// Where four numbers of a pixel come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoadTexel {
    pub(crate) unit: u8,
    /// The pixel of the quad.
    pub(crate) pixel: u8,
    /// Bytes.
    pub(crate) offset: u8,
    /// Whether it may be [tiny](r500_fast::codegen::TextureDesc::may_underflow).
    pub(crate) tiny: bool,
}

/// Where a number of each pixel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GatherChannel {
    pub(crate) unit: u8,
    /// Bytes.
    pub(crate) offset: u8,
    /// As of a [`LoadTexel`].
    pub(crate) tiny: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    Nearest,
    Floor,
}

/// Which floats become integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntRange {
    /// Any; 2^31 comes of NaN and of what is too large.
    All,
    /// Less than 2^31 in size.
    Integers,
    /// Whole numbers up to 2^21 in size.
    FewWhole,
}

/// How two floats relate.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "x86-64 code exchanges sides"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    /// Other, or one is NaN.
    Ne,
}

#[cfg(not(target_arch = "wasm32"))]
impl Relation {
    /// The one that holds with the sides exchanged.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Eq | Self::Ne => self,
        }
    }
}

/// An operation on values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) opcode: Opcode,
    /// The result; none of a store.
    pub(crate) dst: Option<VReg>,
    /// As many as the operation takes.
    pub(crate) args: [Option<VReg>; 3],
    /// Address of the instruction that it is part of.
    pub(crate) origin: u32,
}

impl Op {
    pub(crate) fn args(&self) -> impl Iterator<Item = VReg> + use<> {
        self.args.into_iter().flatten()
    }
}

/// A node of the region tree.
#[derive(Clone, Debug)]
pub(crate) enum Region {
    /// Straight-line code.
    Ops(Vec<Op>),
    Branch(Branch),
    Loop(Loop),
    /// Counts so many instructions of the program.
    ConsumeFuel(u32),
}

/// A branch: each arm runs if its mask has a lane, first one, then the other. A phi has a location of its own, which
/// holds one value after the other.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) phis: Vec<Phi>,
    pub(crate) arms: Vec<Arm>,
}

/// A phi.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phi {
    /// Its value before the arms.
    pub(crate) var: VReg,
    /// The value that is moved there; undefined if not given.
    pub(crate) incoming: Option<VReg>,
}

#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) mask: VReg,
    pub(crate) body: Vec<Region>,
    /// The phis' moves at the end.
    pub(crate) assign: Vec<PhiMove>,
}

/// A move to a phi.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhiMove {
    /// The phi's value before.
    pub(crate) old: VReg,
    /// Its value after.
    pub(crate) new: VReg,
    /// The value that is moved.
    pub(crate) from: VReg,
}

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) max_trips: u32,
    pub(crate) params: Vec<LoopParam>,
    pub(crate) body: Vec<Region>,
    /// The loop continues while this mask has a lane.
    pub(crate) continue_mask: Option<VReg>,
    /// Address of its first instruction.
    pub(crate) address: u32,
}

/// A loop parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopParam {
    /// Its value in an iteration.
    pub(crate) var: VReg,
    /// Its value in the first iteration.
    pub(crate) init: VReg,
    /// Its value in the next iteration.
    pub(crate) next: VReg,
    /// Its value after the loop.
    pub(crate) out: VReg,
}

/// A value that lies in memory and is never written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemOperand {
    /// The same bits for every pixel.
    Const(u32),
    /// In a slot of the batch: which, and which vector of those that go together.
    Slot(u32, u32),
}

/// Code for one group of pixels.
#[derive(Clone, Debug, Default)]
pub(crate) struct LirFunction {
    /// The class of each value.
    pub(crate) classes: Vec<Class>,
    /// Where values lie that are given.
    pub(crate) given: Vec<Option<MemOperand>>,
    /// Values whose bits are put together: powers of 2 and the like, above zero or NaN. Those that are not
    /// zero are at least 2^this.
    pub(crate) magnitude_bounds: HashMap<VReg, i32>,
    pub(crate) body: Vec<Region>,
    /// Numbers that [`Opcode::Tabulated`] and [`Opcode::Lookup`] give.
    pub(crate) tables: Vec<u32>,
    /// Groups of pixels that go together.
    pub(crate) groups: u32,
    /// Whether instructions are counted for each of two groups by itself.
    pub(crate) counts_apart: bool,
}

impl LirFunction {
    /// Calls `f` with each operation, in order.
    pub(crate) fn each_op(&self, mut f: impl FnMut(&Op)) {
        fn walk(nodes: &[Region], f: &mut impl FnMut(&Op)) {
            for node in nodes {
                match node {
                    Region::Ops(ops) => ops.iter().for_each(&mut *f),
                    Region::Branch(branch) => branch.arms.iter().for_each(|arm| walk(&arm.body, f)),
                    Region::Loop(repeat) => walk(&repeat.body, f),
                    Region::ConsumeFuel(_) => {}
                }
            }
        }
        walk(&self.body, &mut f);
    }

    pub(crate) fn fresh(&mut self, class: Class) -> VReg {
        self.fresh_in_memory(class, None)
    }

    pub(crate) fn fresh_in_memory(&mut self, class: Class, given: Option<MemOperand>) -> VReg {
        let v = VReg(u32::try_from(self.classes.len()).expect("fewer than 2^32 values"));
        self.classes.push(class);
        self.given.push(given);
        v
    }

    pub(crate) fn class(&self, v: VReg) -> Class {
        self.classes[v.index()]
    }

    pub(crate) fn given(&self, v: VReg) -> Option<MemOperand> {
        self.given[v.index()]
    }
}
