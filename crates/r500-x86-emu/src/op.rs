//! Decoded instructions: what the interpreter dispatches on.

/// Floating-point operations of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// A memory operand: base + index * scale + displacement. (RIP-relative ones are absolute already.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: Option<u8>,
    pub(crate) index: Option<u8>,
    pub(crate) scale: u8,
    pub(crate) displacement: u64,
}

/// Bits of a general register that an instruction works on.
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

/// Integer instructions of two operands that set the flags.
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
        /// Bytes.
        size: u8,
        /// Whether the address must be a multiple of the size.
        aligned: bool,
    },
    /// One element of so many bytes for all.
    Broadcast {
        address: Address,
        element: u8,
    },
}

/// What a vector instruction computes of its operands `a` (the first source) and `b` (the last one).
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
    /// Interleaves the lower or upper halves of 128 bits, by elements of 32 or 64 bits.
    Unpack {
        high: bool,
        wide: bool,
    },
    /// Two 128-bit halves of two vectors of 256.
    Permute128(u8),
    /// Elements of 64 bits of `a` and `b` by the numbers in the destination.
    Permute2,
    /// Elements of 32 bits within 128.
    PermuteWithin(u8),
    /// Elements of `b`, of so many, by the numbers in `a`.
    PermuteAll(u8),
    /// Elements of 64 bits within 256.
    PermuteQuarters(u8),
    /// Puts 128 bits of `b` into `a`.
    Insert128(u8),
    /// Puts 256 bits of `b` into `a`.
    Insert256(u8),
    /// Some of the parts of 128 or 256 bits of `b`.
    Extract {
        bytes: u8,
        which: u8,
    },
    /// The old destination times `b`, plus `a`, rounded once.
    MulAdd132,
    /// `a` times `b`, plus the old destination, rounded once.
    MulAdd231,
    /// Half precision, to nearest even, one after the other.
    ToHalf,
    /// Elements of 16 bits as elements of 32.
    ZeroExtend16,
    /// The lowest so many bytes of each element of 32 bits, one after the other.
    Narrow(u8),
    /// Signed elements of so many bytes as unsigned ones of half the size, limited to their range, of `a` and `b` in turn within
    /// 128 bits.
    PackUnsigned(u8),
    /// `b` as it is: moves and broadcasts.
    Move,
    Truncate,
    /// The old destination, or a constant, by the class of `a` and the table `b`.
    FixUp,
    /// To an integer, rounded down.
    FloorToInt,
    /// Less the nearest integer.
    Remainder,
    /// `a` times 2 to the power of `b` rounded down.
    Scale,
    ToFloat,
    Sqrt,
    Round(u8),
    ShiftLeft(u8),
    ShiftRightArithmetic(u8),
    /// `b` where the sign bit of a third register is set, else `a`.
    BlendBySign(u8),
    /// `b` where the opmask has a bit, else `a`.
    BlendByMask,
    /// All bits where integers are equal, else none.
    EqualInt,
    /// All bits where the predicate holds, else none.
    CompareToVector(u8),
}

/// A vector instruction with a vector result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VectorInst {
    pub(crate) op: VectorOp,
    pub(crate) dst: u8,
    pub(crate) a: u8,
    pub(crate) b: Source,
    /// Bytes of the result; those above become zeros.
    pub(crate) size: u8,
    /// The opmask; 0 without one.
    pub(crate) mask: u8,
    /// Bytes of an element that a bit of the opmask selects.
    pub(crate) element: u8,
    pub(crate) zeroing: bool,
}

/// Opmask instructions of three registers, on 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskOp {
    And,
    Or,
    Xor,
    Xnor,
    AndNot,
}

/// A decoded instruction. Targets of jumps are numbers of decoded instructions.
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
        /// The first byte of the register that is stored.
        from: u8,
        size: u8,
        aligned: bool,
        mask: u8,
    },
    /// Comparison to an opmask.
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
    /// Sign bits to an opmask.
    SignsToMask {
        dst: u8,
        src: u8,
        size: u8,
    },
    /// All bits or none by an opmask.
    MaskToVector {
        dst: u8,
        src: u8,
        size: u8,
    },
    /// Sign bits to a general register.
    SignsToGeneral {
        dst: u8,
        src: u8,
        size: u8,
    },
}
