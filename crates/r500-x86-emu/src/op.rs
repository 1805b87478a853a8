//! Decoded instructions, on which the interpreter dispatches.

/// Floating-point operations with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// A memory operand: base + index * scale + displacement. RIP-relative addresses are already absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: Option<u8>,
    pub(crate) index: Option<u8>,
    pub(crate) scale: u8,
    pub(crate) displacement: u64,
}

/// The operand width of a general-register instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    W32,
    W64,
}

/// An operand of an integer instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Register(u8),
    Memory(Address),
    Immediate(u64),
}

/// Integer instructions with two operands that set the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    Add,
    Sub,
    And,
    Or,
    Xor,
    /// [`Sub`](Self::Sub) without a result.
    Cmp,
    /// [`And`](Self::And) without a result.
    Test,
}

/// Conditions of jumps and moves that do not read the parity flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Overflow,
    Below,
    Equal,
    BelowOrEqual,
    Sign,
    Less,
    LessOrEqual,
}

/// The last source operand of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Register(u8),
    Memory {
        address: Address,
        /// Size in bytes.
        size: u8,
        /// Whether the address must be a multiple of the size.
        aligned: bool,
    },
    /// One element of `element` bytes, repeated in the vector.
    Broadcast {
        address: Address,
        element: u8,
    },
}

/// The operation of a vector instruction on its operands `a` (the first source) and `b` (the last source).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorOp {
    Arith(Arith),
    And,
    Or,
    Xor,
    AndNot,
    AddInt,
    SubInt,
    MinUnsigned,
    MulLow,
    /// Interleaves the lower or upper halves of each 128-bit lane, by elements of 32 or 64 bits.
    Unpack {
        high: bool,
        wide: bool,
    },
    /// Selects two 128-bit halves of two 256-bit vectors.
    Permute128(u8),
    /// Permutes 64-bit elements of `a` and `b` by the indices in the destination.
    Permute2,
    /// Permutes 32-bit elements within each 128-bit lane.
    PermuteWithin(u8),
    /// Permutes a number of elements of `b` by the indices in `a`.
    PermuteAll(u8),
    /// Permutes 64-bit elements within 256 bits.
    PermuteQuarters(u8),
    /// Inserts 128 bits of `b` into `a`.
    Insert128(u8),
    /// Inserts 256 bits of `b` into `a`.
    Insert256(u8),
    /// Extracts a part of 128 or 256 bits of `b`.
    Extract {
        bytes: u8,
        which: u8,
    },
    /// The old destination times `b`, negated or not, plus `a`, rounded once.
    MulAdd132 {
        negate: bool,
    },
    /// `a` times `b`, negated or not, plus the old destination, rounded once.
    MulAdd231 {
        negate: bool,
    },
    /// Converts to half precision, to nearest even, and packs the results.
    ToHalf,
    /// Zero-extends 16-bit elements to 32 bits.
    ZeroExtend16,
    /// Packs the lowest bytes of each 32-bit element; the operand is their number.
    Narrow(u8),
    /// Converts signed elements of a given number of bytes to unsigned ones of half the size with saturation, from `a`
    /// and `b` in turn within 128 bits.
    PackUnsigned(u8),
    /// `b` unchanged: moves and broadcasts.
    Move,
    Truncate,
    /// The old destination or a constant, selected by the class of `a` and the table `b`.
    FixUp,
    /// Converts to an integer, rounded down.
    FloorToInt,
    /// The operand minus the nearest integer.
    Remainder,
    /// `a` times 2^floor(`b`).
    Scale,
    ToFloat,
    Sqrt,
    Round(u8),
    ShiftLeft(u8),
    ShiftRightArithmetic(u8),
    /// `b` if the sign bit of a third register is set, else `a`.
    BlendBySign(u8),
    /// `b` if the bit of the opmask is set, else `a`.
    BlendByMask,
    /// All ones if the integers are equal, else zero.
    EqualInt,
    /// All ones if the predicate holds, else zero.
    CompareToVector(u8),
}

/// A vector instruction with a vector result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VectorInst {
    pub(crate) op: VectorOp,
    pub(crate) dst: u8,
    pub(crate) a: u8,
    pub(crate) b: Source,
    /// Bytes of the result; the bytes above are set to zero.
    pub(crate) size: u8,
    /// The opmask; 0 without one.
    pub(crate) mask: u8,
    /// Bytes of the element that a bit of the opmask controls.
    pub(crate) element: u8,
    pub(crate) zeroing: bool,
}

/// Opmask instructions with three registers, on 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskOp {
    And,
    Or,
    Xor,
    Xnor,
    AndNot,
}

/// A decoded instruction. Jump targets are indices of decoded instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Alu {
        op: Alu,
        width: Width,
        dst: Operand,
        src: Operand,
    },
    Mov {
        width: Width,
        dst: Operand,
        src: Operand,
    },
    Lea {
        dst: u8,
        address: Address,
    },
    ShiftLeft {
        width: Width,
        dst: u8,
        bits: u8,
    },
    MovIf {
        condition: Condition,
        negated: bool,
        dst: u8,
        src: u8,
    },
    JumpIf {
        condition: Condition,
        negated: bool,
        target: u32,
    },
    Jump {
        target: u32,
    },
    Call {
        target: u32,
    },
    CallIndirect {
        address: Address,
    },
    Return,
    Push(u8),
    Pop(u8),
    LoadMxcsr(Address),
    StoreMxcsr(Address),
    ZeroUpper,
    Nop,
    Padding,
    Vector(VectorInst),
    StoreVector {
        address: Address,
        src: u8,
        /// The first stored byte of the register.
        from: u8,
        size: u8,
        aligned: bool,
        mask: u8,
    },
    /// Compares vectors and writes an opmask.
    CompareToMask {
        predicate: u8,
        dst: u8,
        a: u8,
        b: Source,
        mask: u8,
    },
    Mask {
        op: MaskOp,
        dst: u8,
        a: u8,
        b: u8,
    },
    MoveMask {
        dst: u8,
        src: u8,
    },
    LoadMask {
        dst: u8,
        address: Address,
    },
    StoreMask {
        address: Address,
        src: u8,
    },
    MaskToGeneral {
        dst: u8,
        src: u8,
    },
    /// Moves sign bits to an opmask.
    SignsToMask {
        dst: u8,
        src: u8,
        size: u8,
    },
    /// Expands each bit of an opmask to a vector element of ones or zeros.
    MaskToVector {
        dst: u8,
        src: u8,
        size: u8,
    },
    /// Moves sign bits to a general register.
    SignsToGeneral {
        dst: u8,
        src: u8,
        size: u8,
    },
}
