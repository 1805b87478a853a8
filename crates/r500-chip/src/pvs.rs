//! Instruction words of vertex programs (`PVS`: programmable vertex shader) as data: four dwords per instruction.
//!
//! Dword 0 holds the opcode and the destination, dwords 1 to 3 a source each. With `DUAL_MATH_OP`, a second, scalar instruction replaces
//! the third source ([`DualMath`]).
//!
//! `r500-pvs` has the instructions that these words form, their text and the interpreter.
//!
//! Sources: the R5xx register documents (names, bits, opcodes); the predicate operations as Mesa's r300 compiler uses them.

use r500_isa::{choices, registers};

/// Vectors of vertex program memory that hold instructions: `PVS_FIRST_INST` has ten bits.
pub const INSTRUCTIONS: usize = 1024;
/// First vector of vertex program memory that holds constants.
pub const CONSTANT_BASE: usize = 1024;
/// Constants of a vertex program: `SRC_OFFSET` has eight bits.
pub const CONSTANTS: usize = 256;
/// Input vectors of a vertex program: `DST_VEC_LOC` has five bits.
pub const INPUTS: usize = 32;
/// Output vectors of a vertex program: `DST_OFFSET` has seven bits.
pub const OUTPUTS: usize = 128;
/// First vector of vertex program memory that holds user clip planes.
pub const PLANE_BASE: usize = 1536;
/// User clip planes.
pub const PLANES: usize = 6;
/// Flow control instructions of a vertex program.
pub const FLOW_INSTRUCTIONS: usize = 16;
/// Loops and calls that may be inside of each other, as drivers for the chip have it.
pub const FLOW_LEVELS: usize = 8;

#[rustfmt::skip]
choices! {
    /// `OPCODE` of an instruction of the vector engine (neither `MATH_INST` nor `MACRO_INST`), a channel at a time.
    VectorOp {
        NOP                    = 0  "VECTOR_NO_OP"           "nothing";
        DOT_PRODUCT            = 1  "VE_DOT_PRODUCT"         "sum of the four products, in every channel";
        MULTIPLY               = 2  "VE_MULTIPLY"            "A*B";
        ADD                    = 3  "VE_ADD"                 "A + B";
        MULTIPLY_ADD           = 4  "VE_MULTIPLY_ADD"        "A*B + C";
        DISTANCE_VECTOR        = 5  "VE_DISTANCE_VECTOR"     "(1, Ay*By, Az, Bw)";
        FRACTION               = 6  "VE_FRACTION"            "A - floor(A)";
        MAXIMUM                = 7  "VE_MAXIMUM"             "A >= B ? A : B";
        MINIMUM                = 8  "VE_MINIMUM"             "A < B ? A : B";
        SET_GREATER_THAN_EQUAL = 9  "VE_SET_GREATER_THAN_EQUAL" "A >= B ? 1 : 0";
        SET_LESS_THAN          = 10 "VE_SET_LESS_THAN"       "A < B ? 1 : 0";
        MULTIPLYX2_ADD         = 11 "VE_MULTIPLYX2_ADD"      "2*A*B + C";
        MULTIPLY_CLAMP         = 12 "VE_MULTIPLY_CLAMP"      "A*B, clamped";
        FLT2FIX_DX             = 13 "VE_FLT2FIX_DX"          "integer below A, for A0";
        FLT2FIX_DX_RND         = 14 "VE_FLT2FIX_DX_RND"      "nearest integer to A, for A0";
        PRED_SET_EQ_PUSH       = 15 "VE_PRED_SET_EQ_PUSH"    "predicate counter: Aw = 0 and Bw = 0 ? 0 : Aw + 1";
        PRED_SET_GT_PUSH       = 16 "VE_PRED_SET_GT_PUSH"    "predicate counter: Aw = 0 and Bw > 0 ? 0 : Aw + 1";
        PRED_SET_GTE_PUSH      = 17 "VE_PRED_SET_GTE_PUSH"   "predicate counter: Aw = 0 and Bw >= 0 ? 0 : Aw + 1";
        PRED_SET_NEQ_PUSH      = 18 "VE_PRED_SET_NEQ_PUSH"   "predicate counter: Aw = 0 and Bw != 0 ? 0 : Aw + 1";
        COND_WRITE_EQ          = 19 "VE_COND_WRITE_EQ"       "write B where A = 0";
        COND_WRITE_GT          = 20 "VE_COND_WRITE_GT"       "write B where A > 0";
        COND_WRITE_GTE         = 21 "VE_COND_WRITE_GTE"      "write B where A >= 0";
        COND_WRITE_NEQ         = 22 "VE_COND_WRITE_NEQ"      "write B where A != 0";
        COND_MUX_EQ            = 23 "VE_COND_MUX_EQ"         "A = 0 ? B : C";
        COND_MUX_GT            = 24 "VE_COND_MUX_GT"         "A > 0 ? B : C";
        COND_MUX_GTE           = 25 "VE_COND_MUX_GTE"        "A >= 0 ? B : C";
        SET_GREATER_THAN       = 26 "VE_SET_GREATER_THAN"    "A > B ? 1 : 0";
        SET_EQUAL              = 27 "VE_SET_EQUAL"           "A = B ? 1 : 0";
        SET_NOT_EQUAL          = 28 "VE_SET_NOT_EQUAL"       "A != B ? 1 : 0";
    }

    /// `OPCODE` of an instruction of the math engine (`MATH_INST`): a scalar from each source, the result in every channel.
    MathOp {
        NOP                 = 0  "MATH_NO_OP"                "nothing";
        EXP_BASE2_DX        = 1  "ME_EXP_BASE2_DX"           "parts of 2^A: 2^floor(A), fraction, 2^A, 1";
        LOG_BASE2_DX        = 2  "ME_LOG_BASE2_DX"           "parts of log2|A|: exponent, mantissa, log2|A|, 1";
        EXP_BASEE_FF        = 3  "ME_EXP_BASEE_FF"           "e^A";
        LIGHT_COEFF_DX      = 4  "ME_LIGHT_COEFF_DX"         "lighting coefficients of source 0: x, exponent, 0, y";
        POWER_FUNC_FF       = 5  "ME_POWER_FUNC_FF"          "A^C";
        RECIP_DX            = 6  "ME_RECIP_DX"               "1 / A; greatest number for 0";
        RECIP_FF            = 7  "ME_RECIP_FF"               "1 / A; 0 for 0";
        RECIP_SQRT_DX       = 8  "ME_RECIP_SQRT_DX"          "1 / square root of |A|; greatest number for 0";
        RECIP_SQRT_FF       = 9  "ME_RECIP_SQRT_FF"          "1 / square root of |A|; 0 for 0";
        MULTIPLY            = 10 "ME_MULTIPLY"               "A*B";
        EXP_BASE2_FULL_DX   = 11 "ME_EXP_BASE2_FULL_DX"      "2^A";
        LOG_BASE2_FULL_DX   = 12 "ME_LOG_BASE2_FULL_DX"      "log2|A|";
        POWER_FUNC_FF_CLAMP_B  = 13 "ME_POWER_FUNC_FF_CLAMP_B"  "A^C, C clamped";
        POWER_FUNC_FF_CLAMP_B1 = 14 "ME_POWER_FUNC_FF_CLAMP_B1" "A^C, C clamped to 1";
        POWER_FUNC_FF_CLAMP_01 = 15 "ME_POWER_FUNC_FF_CLAMP_01" "A^C, clamped to 0..1";
        SIN                 = 16 "ME_SIN"                    "sine of A, limited to -pi to pi";
        COS                 = 17 "ME_COS"                    "cosine of A, limited to -pi to pi";
        LOG_BASE2_IEEE      = 18 "ME_LOG_BASE2_IEEE"         "log2|A|, infinities by IEEE 754";
        RECIP_IEEE          = 19 "ME_RECIP_IEEE"             "1 / A, infinities by IEEE 754";
        RECIP_SQRT_IEEE     = 20 "ME_RECIP_SQRT_IEEE"        "1 / square root of A, infinities by IEEE 754";
        PRED_SET_EQ         = 21 "ME_PRED_SET_EQ"            "predicate counter: A = 0 ? 0 : 1";
        PRED_SET_GT         = 22 "ME_PRED_SET_GT"            "predicate counter: A > 0 ? 0 : 1";
        PRED_SET_GTE        = 23 "ME_PRED_SET_GTE"           "predicate counter: A >= 0 ? 0 : 1";
        PRED_SET_NEQ        = 24 "ME_PRED_SET_NEQ"           "predicate counter: A != 0 ? 0 : 1";
        PRED_SET_CLR        = 25 "ME_PRED_SET_CLR"           "predicate counter: never executes";
        PRED_SET_INV        = 26 "ME_PRED_SET_INV"           "predicate counter: A = 1 ? 0 : A = 0 ? 1 : A";
        PRED_SET_POP        = 27 "ME_PRED_SET_POP"           "predicate counter: max(0, A - 1)";
        PRED_SET_RESTORE    = 28 "ME_PRED_SET_RESTORE"       "predicate counter: A";
    }

    /// `OPCODE` of a macro (`MACRO_INST`): two clocks.
    MacroOp {
        MADD    = 0 "PVS_MACRO_OP_2CLK_MADD"    "A*B + C";
        M2X_ADD = 1 "PVS_MACRO_OP_2CLK_M2X_ADD" "2*A*B + C";
    }

    /// `REG_TYPE` of a destination.
    DstType {
        TEMPORARY     = 0 "PVS_DST_REG_TEMPORARY"     "temporary";
        A0            = 1 "PVS_DST_REG_A0"            "address register";
        OUT           = 2 "PVS_DST_REG_OUT"           "output";
        OUT_REPL_X    = 3 "PVS_DST_REG_OUT_REPL_X"    "output, x in every channel";
        ALT_TEMPORARY = 4 "PVS_DST_REG_ALT_TEMPORARY" "alternate temporary";
        INPUT         = 5 "PVS_DST_REG_INPUT"         "input";
    }

    /// `REG_TYPE` of a source.
    SrcType {
        TEMPORARY     = 0 "PVS_SRC_REG_TEMPORARY"     "temporary";
        INPUT         = 1 "PVS_SRC_REG_INPUT"         "input";
        CONSTANT      = 2 "PVS_SRC_REG_CONSTANT"      "constant";
        ALT_TEMPORARY = 3 "PVS_SRC_REG_ALT_TEMPORARY" "alternate temporary";
    }

    /// `SWIZZLE_*` of a source.
    Swizzle {
        X    = 0 "PVS_SRC_SELECT_X"       "the register's x";
        Y    = 1 "PVS_SRC_SELECT_Y"       "the register's y";
        Z    = 2 "PVS_SRC_SELECT_Z"       "the register's z";
        W    = 3 "PVS_SRC_SELECT_W"       "the register's w";
        ZERO = 4 "PVS_SRC_SELECT_FORCE_0" "0";
        ONE  = 5 "PVS_SRC_SELECT_FORCE_1" "1";
    }

    /// A component.
    Component {
        X = 0 "" "x";
        Y = 1 "" "y";
        Z = 2 "" "z";
        W = 3 "" "w";
    }
}

#[rustfmt::skip]
registers! {
    Dst "PVS_DST_OPERAND" "dword 0 of a vertex instruction: operation and destination." {
        OPCODE         opcode         5:0   u8        "operation: VectorOp, MathOp with MATH_INST, MacroOp with MACRO_INST";
        MATH_INST      math_inst      6:6   bool      "the math engine executes it";
        MACRO_INST     macro_inst     7:7   bool      "a macro of two clocks";
        REG_TYPE       reg_type       11:8  DstType   "kind of the destination";
        ADDR_MODE_1    addr_mode_1    12:12 bool      "relative to aL";
        OFFSET         offset         19:13 u8        "number of the destination";
        WE_X           we_x           20:20 bool      "write x";
        WE_Y           we_y           21:21 bool      "write y";
        WE_Z           we_z           22:22 bool      "write z";
        WE_W           we_w           23:23 bool      "write w";
        VE_SAT         ve_sat         24:24 bool      "clamp the vector engine's result to 0..1";
        ME_SAT         me_sat         25:25 bool      "clamp the math engine's result to 0..1";
        PRED_ENABLE    pred_enable    26:26 bool      "execute only if the predicate is PRED_SENSE";
        PRED_SENSE     pred_sense     27:27 bool      "predicate to execute at";
        DUAL_MATH_OP   dual_math_op   28:28 bool      "dword 3 is a second instruction";
        ADDR_SEL       addr_sel       30:29 Component "component of A0";
        ADDR_MODE_0    addr_mode_0    31:31 bool      "relative to A0";
    }

    Src "PVS_SRC_OPERAND" "a source of a vertex instruction." {
        REG_TYPE       reg_type       1:0   SrcType   "kind of the source";
        ABS_XYZW       abs_xyzw       3:3   bool      "absolute value, before negation";
        ADDR_MODE_0    addr_mode_0    4:4   bool      "relative to A0";
        OFFSET         offset         12:5  u8        "number of the source";
        SWIZZLE_X      swizzle_x      15:13 Swizzle   "what x reads";
        SWIZZLE_Y      swizzle_y      18:16 Swizzle   "what y reads";
        SWIZZLE_Z      swizzle_z      21:19 Swizzle   "what z reads";
        SWIZZLE_W      swizzle_w      24:22 Swizzle   "what w reads";
        MODIFIER_X     modifier_x     25:25 bool      "negate x";
        MODIFIER_Y     modifier_y     26:26 bool      "negate y";
        MODIFIER_Z     modifier_z     27:27 bool      "negate z";
        MODIFIER_W     modifier_w     28:28 bool      "negate w";
        ADDR_SEL       addr_sel       30:29 Component "component of A0";
        ADDR_MODE_1    addr_mode_1    31:31 bool      "relative to aL";
    }

    DualMath "PVS_DUAL_MATH_INSTRUCTION" "dword 3 of a vertex instruction with DUAL_MATH_OP: a second instruction, of the math engine." {
        SRC_REG_TYPE   src_reg_type   1:0   SrcType   "kind of the source";
        DST_OPCODE_MSB dst_opcode_msb 2:2   bool      "highest bit of the operation";
        SRC_ABS_XYZW   src_abs_xyzw   3:3   bool      "absolute value, before negation";
        SRC_ADDR_MODE_0 src_addr_mode_0 4:4 bool      "relative to A0";
        SRC_OFFSET     src_offset     12:5  u8        "number of the source";
        SRC_SWIZZLE_X  src_swizzle_x  15:13 Swizzle   "first scalar";
        SRC_SWIZZLE_Y  src_swizzle_y  18:16 Swizzle   "second scalar";
        DST_OFFSET     dst_offset     20:19 u8        "alternate temporary that receives the result";
        DST_OPCODE     dst_opcode     24:21 u8        "operation, low four bits";
        SRC_MODIFIER_X src_modifier_x 25:25 bool      "negate the first scalar";
        SRC_MODIFIER_Y src_modifier_y 26:26 bool      "negate the second scalar";
        DST_WE_SEL     dst_we_sel     28:27 Component "component of the destination to write";
        SRC_ADDR_SEL   src_addr_sel   30:29 Component "component of A0";
        SRC_ADDR_MODE_1 src_addr_mode_1 31:31 bool    "relative to aL";
    }
}

/// The operation of a vertex instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Vector engine.
    Vector(VectorOp),
    /// Math engine.
    Math(MathOp),
    /// Macro; `MACRO_INST` takes precedence over `MATH_INST`.
    Macro(MacroOp),
}

impl Op {
    /// Returns whether the operation sets the predicate.
    #[must_use]
    pub fn sets_predicate(self) -> bool {
        match self {
            Self::Vector(op) => (VectorOp::PRED_SET_EQ_PUSH.code()
                ..=VectorOp::PRED_SET_NEQ_PUSH.code())
                .contains(&op.code()),
            Self::Math(op) => {
                (MathOp::PRED_SET_EQ.code()..=MathOp::PRED_SET_RESTORE.code()).contains(&op.code())
            }
            Self::Macro(_) => false,
        }
    }
}

/// How an operand's number becomes an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addressing {
    /// The number itself.
    Absolute,
    /// A component of A0 is added.
    A0(Component),
    /// The loop index aL is added.
    LoopIndex,
    /// Both mode bits are set: reserved.
    Reserved,
}

impl Addressing {
    const fn new(mode_0: bool, mode_1: bool, component: Component) -> Self {
        match (mode_1, mode_0) {
            (false, false) => Self::Absolute,
            (false, true) => Self::A0(component),
            (true, false) => Self::LoopIndex,
            (true, true) => Self::Reserved,
        }
    }
}

impl Dst {
    /// Returns the operation.
    #[must_use]
    pub fn op(self) -> Op {
        match (self.macro_inst(), self.math_inst()) {
            (true, _) => Op::Macro(MacroOp::new(self.opcode())),
            (false, true) => Op::Math(MathOp::new(self.opcode())),
            (false, false) => Op::Vector(VectorOp::new(self.opcode())),
        }
    }

    /// Returns the written components: x to w.
    #[must_use]
    pub fn write_mask(self) -> [bool; 4] {
        [self.we_x(), self.we_y(), self.we_z(), self.we_w()]
    }

    /// Returns how `OFFSET` becomes an address.
    #[must_use]
    pub fn addressing(self) -> Addressing {
        Addressing::new(self.addr_mode_0(), self.addr_mode_1(), self.addr_sel())
    }
}

impl Src {
    /// Returns the value that each component reads: x to w.
    #[must_use]
    pub fn swizzle(self) -> [Swizzle; 4] {
        [self.swizzle_x(), self.swizzle_y(), self.swizzle_z(), self.swizzle_w()]
    }

    /// Returns the negated components: x to w.
    #[must_use]
    pub fn negate(self) -> [bool; 4] {
        [self.modifier_x(), self.modifier_y(), self.modifier_z(), self.modifier_w()]
    }

    /// Returns how `OFFSET` becomes an address.
    #[must_use]
    pub fn addressing(self) -> Addressing {
        Addressing::new(self.addr_mode_0(), self.addr_mode_1(), self.addr_sel())
    }
}

impl DualMath {
    /// Returns the operation.
    #[must_use]
    pub fn op(self) -> MathOp {
        MathOp::new(u8::from(self.dst_opcode_msb()) << 4 | self.dst_opcode())
    }

    /// Returns the source as an ordinary operand: its x and y are the scalars, its z and w read 0.
    #[must_use]
    pub fn source(self) -> Src {
        Src(self.0 & !(Self::OP_BITS | 0x3f << 19 | 3 << 27))
            .with(Src::SWIZZLE_Z, Swizzle::ZERO)
            .with(Src::SWIZZLE_W, Swizzle::ZERO)
    }

    /// `DST_OPCODE_MSB`.
    const OP_BITS: u32 = 1 << 2;
}

impl Op {
    /// Returns the documented name; `None` for a reserved code.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        let value = match self {
            Self::Vector(op) => op.describe(),
            Self::Math(op) => op.describe(),
            Self::Macro(op) => op.describe(),
        };
        value.map(|value| value.name)
    }

    /// Returns the number of sources read, counted from the first. `ME_POWER_*` reads the first and the third.
    #[must_use]
    pub fn sources(self) -> usize {
        match self {
            Self::Vector(op) => match op {
                VectorOp::NOP => 0,
                VectorOp::FRACTION | VectorOp::FLT2FIX_DX | VectorOp::FLT2FIX_DX_RND => 1,
                VectorOp::MULTIPLY_ADD | VectorOp::MULTIPLYX2_ADD => 3,
                VectorOp::COND_MUX_EQ | VectorOp::COND_MUX_GT | VectorOp::COND_MUX_GTE => 3,
                _ if op.is_named() => 2,
                _ => 3,
            },
            Self::Math(op) => match op {
                MathOp::NOP => 0,
                MathOp::MULTIPLY => 2,
                MathOp::POWER_FUNC_FF
                | MathOp::POWER_FUNC_FF_CLAMP_B
                | MathOp::POWER_FUNC_FF_CLAMP_B1
                | MathOp::POWER_FUNC_FF_CLAMP_01 => 3,
                _ if op.is_named() => 1,
                _ => 3,
            },
            Self::Macro(_) => 3,
        }
    }
}
