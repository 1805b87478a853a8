//! The low-level IR: operations of the processor on virtual registers.
//!
//! One group of pixels is a vector: four pixels in WebAssembly and on AArch64, eight with AVX2, sixteen with AVX-512.
//! A value is a vector of floats or bits, or, with AVX-512, a mask of one bit per pixel; the other targets keep
//! masks in vectors, with all bits of a lane set or clear.
//!
//! ```text
//! CompileUnit ──lower──▶ LirFunction ──interleave, schedule──▶ LirFunction ──register allocation, encoding──▶ code
//! ```

use std::collections::HashMap;

/// Register class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A vector: floats, integers, bits, and masks where they are vectors.
    Vector,
    /// A mask: one bit for each lane.
    Mask,
}

/// A virtual register, defined once. (A loop parameter has one in the loop and another after it.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(pub u32);

impl VReg {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The operation of an [`Op`] with arguments a, b, c. The last argument may be a memory operand, unless noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// a * b.
    Mul,
    /// a / b.
    Div,
    /// a < b ? a : b; b if one is NaN.
    Min,
    /// a > b ? a : b; b if one is NaN.
    Max,
    /// The square root of a.
    Sqrt,
    /// a, unchanged.
    Copy,
    /// Round to an integral float: to nearest, or down.
    Round(Rounding),
    /// Convert an integer to a float.
    ToFloat,
    /// Floor to a 32-bit integer. NaN and out-of-range floats give 2^31. Register operand. AVX-512.
    FloorToInt,
    /// x minus the nearest integer, which is exact; an infinity gives 0 (VREDUCEPS). Register operand. AVX-512.
    Remainder,
    /// a * 2^b for an integral float b, rounded once; overflow gives infinity (VSCALEFPS). AVX-512.
    Scale,
    /// a & b.
    And,
    /// a | b.
    Or,
    /// a ^ b.
    Xor,
    /// !a & b.
    AndNot,
    /// Integer sum.
    IntAdd,
    /// Integer difference.
    IntSub,
    /// Shift left. Register operand.
    Shl(u8),
    /// Arithmetic shift right. Register operand.
    Sar(u8),
    /// Broadcast one lane of each quad to the whole quad.
    QuadBroadcast(u8),
    /// Compare a with b; the result is a mask.
    Cmp(Relation),
    /// AND of masks.
    MaskAnd,
    /// OR of masks.
    MaskOr,
    /// !a & b of masks.
    MaskAndNot,
    /// The mask with all lanes set.
    MaskAll,
    /// The mask with no lane set.
    MaskNone,
    /// a ? b : c; a is a mask, b and c are vectors, c is a register operand.
    Blend,
    /// Mask a ? b : 0. Targets with mask registers.
    MaskedMove,
    /// Mask a ? b * c : 0. Targets with mask registers.
    MaskedMul,
    /// a, or the constant that table c assigns to the class of the float b (VFIXUPIMMPS). AVX-512.
    FixUp,
    /// Convert a vector mask to a mask register. Register operand. Targets with mask registers.
    ToMask,
    /// Convert a mask register to a vector mask. Targets with mask registers.
    FromMask,
    /// Unsigned integer minimum.
    IntMin,
    /// Integer product.
    IntMul,
    /// Convert a float to an integer, rounding towards zero.
    Truncate(IntRange),
    /// a0, b0, a1, b1 of each 128-bit block.
    UnpackLo32,
    /// a2, b2, a3, b3 of each 128-bit block.
    UnpackHi32,
    /// a0, a1, b0, b1 of each 128-bit block.
    UnpackLo64,
    /// a2, a3, b2, b3 of each 128-bit block.
    UnpackHi64,
    /// One pixel of each quad a, the other b: that of the first quad in a and in b; with AVX2.
    Permute128Lo,
    /// The same of the other quad.
    Permute128Hi,
    /// Two pixels of each quad, of which a has two numbers each, b the others: those of the first two quads one
    /// after the other; with AVX-512.
    Permute2Lo,
    /// The same of the last two quads. AVX-512.
    Permute2Hi,
    /// a * b + c, rounded once. x86.
    MulAdd,
    /// c - a * b, rounded once. x86.
    NegMulAdd,
    /// Convert a float, whose NaN are canonical, to float16 in the lower half of 32 bits. Register operand. x86.
    ToHalf,
    /// Of each two quads the first rows, then the second rows. x86.
    PermuteQuads,
    /// The lowest 1 or 2 bytes of each pixel, packed. Register operand. x86.
    Narrow(u8),
    /// Load pixels of a surface. x86.
    LoadPixels(PixelRows),
    /// Store a as pixels of a surface. No result. x86.
    StorePixels(PixelRows),
    /// Load the four channels of one pixel of each quad from the unit's texture data, at byte offset `a` plus a constant. a is a memory
    /// operand, read lane by lane.
    LoadTexel(LoadTexel),
    /// One number for each pixel, likewise; in WebAssembly.
    GatherChannel(GatherChannel),
    /// Store a to a slot: the slot and the index of the interleaved group. No result.
    Store(u32, u32),
    /// An interpolated input of pixels: the sum of its x and y terms.
    Interpolant(Interpolant),
    /// Look up entries of a table by the indices a. Register operand. x86.
    Lookup(Lookup),
    /// The table entry for the current iterations of loops. x86.
    Tabulated(TableEntry),
    /// Load the coverage of the interleaved group with this index.
    LoadCoverage(u32),
    /// Store a as the coverage of a group. No result.
    StoreCoverage(u32),
    /// Add a number of executed instructions to the count of each of two groups that has a lane in its mask, a or b. No result.
    CountFuel(u32),
    /// Store one row of each quad to a render target: a has the first half of the quads, b the other half. Where a vector is one quad, a
    /// has the left pixel and b the right one. No result.
    StoreColor(StoreColor),
}

impl Opcode {
    /// Returns the argument that may be a memory operand, and how it is accessed; with mask registers, the operands of mask operations are
    /// not.
    pub fn memory_operand(self, mask_registers: bool) -> Option<(usize, Access)> {
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
            | Self::NegMulAdd
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

    /// Returns whether the first two arguments commute.
    pub fn is_commutative(self) -> bool {
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

/// How an operation accesses a memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As a vector of 4-byte elements, or one element broadcast.
    Elements,
    /// As a vector of wider elements: a 4-byte constant cannot be broadcast.
    Wide,
    /// Lane by lane, always from memory. A pooled constant does not qualify: it may be stored for one lane only.
    Lanes,
    /// No memory operand: the instruction encodes the constant zero, and any other argument is in a register.
    Zero,
}

/// Address of an entry of the [tables](LirFunction::tables): the sum of the fields. A loop is identified by its nesting depth; its counter
/// counts down from its trip count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableEntry {
    /// The index if the counters were 0, which may be before the tables.
    pub first: i32,
    /// The loop whose counter is added.
    pub inner: u32,
    /// Another loop whose counter is added, and the left shift of that counter.
    pub outer: Option<(u32, u8)>,
}

/// Start of a table with one entry for each lane, in [tables](LirFunction::tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Index of the entry of lane 0.
    pub first: u32,
}

/// An interpolant and the pixels that it is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interpolant {
    /// Index among the interpolants of the batch.
    pub number: u32,
    /// Index of the interleaved group.
    pub part: u32,
}

/// Destination of a colour store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StoreColor {
    /// The render target.
    pub target: u8,
    /// 0: the first row of each quad; 1: the second.
    pub row: u8,
    /// Index of the interleaved group.
    pub part: u32,
}

/// The pixels of a surface that a vector holds: rows of a chunk, or parts of rows, from the lowest byte up.
///
/// | bytes of a pixel | AVX-512 | AVX2, of half a chunk |
/// | --- | --- | --- |
/// | 1, 2, 4 | all four rows | both rows |
/// | 8 | rows `number` and `number` + 2 | row `number` |
/// | 16 | row `number` | half of row `number` / 2 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PixelRows {
    /// The render target.
    pub target: u8,
    /// Bytes per pixel.
    pub bytes: u8,
    /// Which rows, as in the table.
    pub number: u8,
    /// Index of the interleaved group.
    pub part: u32,
}

/// Source of the four channels of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadTexel {
    /// The texture unit.
    pub unit: u8,
    /// The pixel of the quad, 0 to 3.
    pub pixel: u8,
    /// Byte offset.
    pub offset: u8,
    /// Whether a channel may be [subnormal](r500_fast::codegen::TextureDesc::may_underflow).
    pub tiny: bool,
}

/// Where a number of each pixel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherChannel {
    /// The texture unit.
    pub unit: u8,
    /// Byte offset.
    pub offset: u8,
    /// As in [`LoadTexel`].
    pub tiny: bool,
}

/// How a float is rounded to an integral one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Down.
    Floor,
}

/// The range of the floats that are converted to integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntRange {
    /// Any float; NaN and out-of-range floats give 2^31.
    All,
    /// Magnitudes less than 2^31.
    Integers,
    /// Integral floats with magnitudes up to 2^21.
    FewWhole,
}

/// Relation of two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// a < b.
    Lt,
    /// a <= b.
    Le,
    /// a > b.
    Gt,
    /// a >= b.
    Ge,
    /// a = b.
    Eq,
    /// Unordered or unequal: true if an operand is NaN.
    Ne,
}

impl Relation {
    /// Returns the relation of the swapped operands: a < b is b > a.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Eq | Self::Ne => self,
        }
    }
}

/// An operation on virtual registers.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What is computed.
    pub opcode: Opcode,
    /// The result; `None` for stores.
    pub dst: Option<VReg>,
    /// As many as the opcode takes.
    pub args: [Option<VReg>; 3],
    /// Address of the R500 instruction that the operation comes from.
    pub origin: u32,
}

impl Op {
    /// Returns the arguments, in order.
    pub fn args(&self) -> impl Iterator<Item = VReg> + use<> {
        self.args.into_iter().flatten()
    }
}

/// A node of the region tree.
#[derive(Clone, Debug)]
pub enum Region {
    /// Straight-line code.
    Ops(Vec<Op>),
    /// Arms that run if their masks have lanes.
    Branch(Branch),
    /// A body that is repeated.
    Loop(Loop),
    /// Counts executed instructions.
    ConsumeFuel(u32),
}

/// A branch: each arm runs if its mask has a lane, in order. A phi has one location, which the incoming value and then the values of the
/// arms are moved to.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Values that arms may change.
    pub phis: Vec<Phi>,
    /// The arms, in order.
    pub arms: Vec<Arm>,
}

/// A phi and its value before the arms.
#[derive(Clone, Copy, Debug)]
pub struct Phi {
    /// The phi's value before the arms.
    pub var: VReg,
    /// The value that is moved to it; `None` if undefined.
    pub incoming: Option<VReg>,
}

/// One side of a branch.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The arm runs if this mask has a lane.
    pub mask: VReg,
    /// What it runs.
    pub body: Vec<Region>,
    /// Moves to the phis at the end of the arm.
    pub assign: Vec<PhiMove>,
}

/// A move to a phi at the end of an arm.
#[derive(Clone, Copy, Debug)]
pub struct PhiMove {
    /// The phi's value before the move.
    pub old: VReg,
    /// The phi's value after the move.
    pub new: VReg,
    /// The value that is moved.
    pub from: VReg,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The largest number of iterations.
    pub max_trips: u32,
    /// Values that iterations change.
    pub params: Vec<LoopParam>,
    /// An iteration.
    pub body: Vec<Region>,
    /// The loop continues while this mask has a lane.
    pub continue_mask: Option<VReg>,
    /// Address of its first instruction.
    pub address: u32,
}

/// A loop parameter.
#[derive(Clone, Copy, Debug)]
pub struct LoopParam {
    /// Its value in an iteration.
    pub var: VReg,
    /// Its value in the first iteration.
    pub init: VReg,
    /// Its value in the next iteration.
    pub next: VReg,
    /// Its value after the loop.
    pub out: VReg,
}

/// The memory that holds a read-only value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemOperand {
    /// A constant, equal in all lanes.
    Const(u32),
    /// A slot of the batch and the index of the interleaved group.
    Slot(u32, u32),
}

/// The low-level IR of a compile unit, for one or more interleaved groups of pixels.
#[derive(Clone, Debug, Default)]
pub struct LirFunction {
    /// The class of each value.
    pub classes: Vec<Class>,
    /// The memory of values that are given in memory: constants and slots.
    pub mem_operands: Vec<Option<MemOperand>>,
    /// Lower bounds of magnitudes: such a value is assembled from bits (powers of 2 and the like), and is positive, zero or NaN. If it is
    /// not zero, it is at least 2^bound.
    pub magnitude_bounds: HashMap<VReg, i32>,
    /// The operations, in order.
    pub body: Vec<Region>,
    /// Entries that [`Opcode::Tabulated`] and [`Opcode::Lookup`] read.
    pub tables: Vec<u32>,
    /// Interleaved groups of pixels (the unroll factor).
    pub groups: u32,
    /// Whether each of two groups counts its own instructions.
    pub separate_fuel_counts: bool,
}

impl LirFunction {
    /// Calls `f` with each operation, in order.
    pub fn each_op(&self, mut f: impl FnMut(&Op)) {
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

    /// Returns a new value of a class.
    pub fn fresh(&mut self, class: Class) -> VReg {
        self.fresh_in_memory(class, None)
    }

    /// Returns a new value of a class, which is in memory if `operand` says where.
    pub fn fresh_in_memory(&mut self, class: Class, operand: Option<MemOperand>) -> VReg {
        let v = VReg(u32::try_from(self.classes.len()).expect("fewer than 2^32 values"));
        self.classes.push(class);
        self.mem_operands.push(operand);
        v
    }

    /// Returns the class of a value.
    pub fn class(&self, v: VReg) -> Class {
        self.classes[v.index()]
    }

    /// Returns the memory that a value is given in.
    pub fn mem_operand(&self, v: VReg) -> Option<MemOperand> {
        self.mem_operands[v.index()]
    }
}
