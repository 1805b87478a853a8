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
pub(crate) enum Class {
    Vector,
    Mask,
}

/// A virtual register, defined once. (A loop parameter has one in the loop and another after it.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VReg(pub(crate) u32);

impl VReg {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The operation of an [`Op`] with arguments a, b, c. The last argument may be a memory operand, unless noted.
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
    And,
    Or,
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

#[cfg(not(target_arch = "wasm32"))]
impl Opcode {
    /// Returns the argument that may be a memory operand, and how it is accessed; with mask registers, the operands of mask operations are
    /// not.
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

/// How an operation accesses a memory operand.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
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
pub(crate) struct TableEntry {
    /// The index if the counters were 0, which may be before the tables.
    pub(crate) first: i32,
    /// The loop whose counter is added.
    pub(crate) inner: u32,
    /// Another loop whose counter is added, and the left shift of that counter.
    pub(crate) outer: Option<(u32, u8)>,
}

/// Start of a table with one entry for each lane, in [tables](LirFunction::tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lookup {
    pub(crate) first: u32,
}

/// An interpolant and the pixels that it is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Interpolant {
    /// Index among the interpolants of the batch.
    pub(crate) number: u32,
    /// Index of the interleaved group.
    pub(crate) part: u32,
}

/// Destination of a colour store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StoreColor {
    pub(crate) target: u8,
    /// 0: the first row of each quad; 1: the second.
    pub(crate) row: u8,
    /// Index of the interleaved group.
    pub(crate) part: u32,
}

/// The pixels of a surface that a vector holds: rows of a chunk, or parts of rows, from the lowest byte up.
///
/// | bytes of a pixel | AVX-512 | AVX2, of half a chunk |
/// | --- | --- | --- |
/// | 1, 2, 4 | all four rows | both rows |
/// | 8 | rows `number` and `number` + 2 | row `number` |
/// | 16 | row `number` | half of row `number` / 2 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PixelRows {
    pub(crate) target: u8,
    /// Bytes per pixel.
    pub(crate) bytes: u8,
    pub(crate) number: u8,
    /// Index of the interleaved group.
    pub(crate) part: u32,
}

/// Source of the four channels of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoadTexel {
    pub(crate) unit: u8,
    /// The pixel of the quad, 0 to 3.
    pub(crate) pixel: u8,
    /// Byte offset.
    pub(crate) offset: u8,
    /// Whether a channel may be [subnormal](r500_fast::codegen::TextureDesc::may_underflow).
    pub(crate) tiny: bool,
}

/// Where a number of each pixel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GatherChannel {
    pub(crate) unit: u8,
    /// Byte offset.
    pub(crate) offset: u8,
    /// As in [`LoadTexel`].
    pub(crate) tiny: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    Nearest,
    Floor,
}

/// The range of the floats that are converted to integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntRange {
    /// Any float; NaN and out-of-range floats give 2^31.
    All,
    /// Magnitudes less than 2^31.
    Integers,
    /// Integral floats with magnitudes up to 2^21.
    FewWhole,
}

/// Relation of two floats.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "x86-64 code exchanges sides"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    /// Unordered or unequal: true if an operand is NaN.
    Ne,
}

#[cfg(not(target_arch = "wasm32"))]
impl Relation {
    /// Returns the relation of the swapped operands: a < b is b > a.
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

/// An operation on virtual registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) opcode: Opcode,
    /// The result; `None` for stores.
    pub(crate) dst: Option<VReg>,
    /// As many as the opcode takes.
    pub(crate) args: [Option<VReg>; 3],
    /// Address of the R500 instruction that the operation comes from.
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
    /// Counts executed instructions.
    ConsumeFuel(u32),
}

/// A branch: each arm runs if its mask has a lane, in order. A phi has one location, which the incoming value and then the values of the
/// arms are moved to.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) phis: Vec<Phi>,
    pub(crate) arms: Vec<Arm>,
}

/// A phi and its value before the arms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phi {
    /// The phi's value before the arms.
    pub(crate) var: VReg,
    /// The value that is moved to it; `None` if undefined.
    pub(crate) incoming: Option<VReg>,
}

#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) mask: VReg,
    pub(crate) body: Vec<Region>,
    /// Moves to the phis at the end of the arm.
    pub(crate) assign: Vec<PhiMove>,
}

/// A move to a phi at the end of an arm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhiMove {
    /// The phi's value before the move.
    pub(crate) old: VReg,
    /// The phi's value after the move.
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

/// The memory that holds a read-only value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemOperand {
    /// A constant, equal in all lanes.
    Const(u32),
    /// A slot of the batch and the index of the interleaved group.
    Slot(u32, u32),
}

/// The low-level IR of a compile unit, for one or more interleaved groups of pixels.
#[derive(Clone, Debug, Default)]
pub(crate) struct LirFunction {
    /// The class of each value.
    pub(crate) classes: Vec<Class>,
    /// The memory of values that are given in memory: constants and slots.
    pub(crate) mem_operands: Vec<Option<MemOperand>>,
    /// Lower bounds of magnitudes: such a value is assembled from bits (powers of 2 and the like), and is positive, zero or NaN. If it is
    /// not zero, it is at least 2^bound.
    pub(crate) magnitude_bounds: HashMap<VReg, i32>,
    pub(crate) body: Vec<Region>,
    /// Entries that [`Opcode::Tabulated`] and [`Opcode::Lookup`] read.
    pub(crate) tables: Vec<u32>,
    /// Interleaved groups of pixels (the unroll factor).
    pub(crate) groups: u32,
    /// Whether each of two groups counts its own instructions.
    pub(crate) separate_fuel_counts: bool,
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

    pub(crate) fn fresh_in_memory(&mut self, class: Class, operand: Option<MemOperand>) -> VReg {
        let v = VReg(u32::try_from(self.classes.len()).expect("fewer than 2^32 values"));
        self.classes.push(class);
        self.mem_operands.push(operand);
        v
    }

    pub(crate) fn class(&self, v: VReg) -> Class {
        self.classes[v.index()]
    }

    pub(crate) fn mem_operand(&self, v: VReg) -> Option<MemOperand> {
        self.mem_operands[v.index()]
    }
}
