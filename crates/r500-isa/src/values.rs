//! Named values of fields. Codes without a name are values too: [`FieldValue`](crate::FieldValue)
//! keeps them.

use crate::choices;
use crate::{Value, table::Value as V};

#[rustfmt::skip]
choices! {
    /// `US_CMN_INST.TYPE`.
    InstType {
        ALU = 0 "US_INST_TYPE_ALU" "arithmetic; may set predicate bits";
        OUT = 1 "US_INST_TYPE_OUT" "arithmetic that may write render targets and depth";
        FC  = 2 "US_INST_TYPE_FC"  "flow control";
        TEX = 3 "US_INST_TYPE_TEX" "texture";
    }

    /// `RGB_PRED_SEL`, `ALPHA_PRED_SEL`.
    PredSel {
        NONE = 0 "US_PRED_SEL_NONE" "not predicated";
        RGBA = 1 "US_PRED_SEL_RGBA" "each channel by its own predicate bit";
        RRRR = 2 "US_PRED_SEL_RRRR" "by the R predicate bit";
        GGGG = 3 "US_PRED_SEL_GGGG" "by the G predicate bit";
        BBBB = 4 "US_PRED_SEL_BBBB" "by the B predicate bit";
        AAAA = 5 "US_PRED_SEL_AAAA" "by the A predicate bit";
    }

    /// `RGB_WMASK`, `RGB_OMASK`: a bit a channel, red lowest.
    RgbMask {
        NONE = 0 "NONE" "no channel";
        R    = 1 "R"    "red";
        G    = 2 "G"    "green";
        RG   = 3 "RG"   "red and green";
        B    = 4 "B"    "blue";
        RB   = 5 "RB"   "red and blue";
        GB   = 6 "GB"   "green and blue";
        RGB  = 7 "RGB"  "red, green and blue";
    }

    /// `US_CMN_INST.ALU_RESULT_SEL`.
    AluResultSel {
        RED   = 0 "RED"   "the red result";
        ALPHA = 1 "ALPHA" "the alpha result";
    }

    /// `US_CMN_INST.ALU_RESULT_OP`: comparison with zero.
    Compare {
        EQ = 0 "" "equal to zero";
        LT = 1 "" "less than zero";
        GE = 2 "" "greater than or equal to zero";
        NE = 3 "" "not equal to zero";
    }

    /// `SRCP_OP`: the presubtract unit.
    SrcpOp {
        NEG2 = 0 "neg2" "1 - 2*src0";
        SUB  = 1 "sub"  "src1 - src0";
        ADD  = 2 "add"  "src1 + src0";
        NEG  = 3 "neg"  "1 - src0";
    }

    /// `*_SEL_A`, `*_SEL_B`, `*_SEL_C`: which source an operand reads.
    Sel {
        SRC0 = 0 "src0" "source 0";
        SRC1 = 1 "src1" "source 1";
        SRC2 = 2 "src2" "source 2";
        SRCP = 3 "srcp" "the presubtract result";
    }

    /// `*_SWIZ_A`, `*_SWIZ_B`, `*_SWIZ_C`: what a channel of an operand reads.
    Swiz {
        R      = 0 "Red"    "the source's red";
        G      = 1 "Green"  "the source's green";
        B      = 2 "Blue"   "the source's blue";
        A      = 3 "Alpha"  "the source's alpha";
        ZERO   = 4 "Zero"   "0";
        HALF   = 5 "Half"   "1/2";
        ONE    = 6 "One"    "1";
        UNUSED = 7 "Unused" "nothing (reads as 0)";
    }

    /// `*_MOD_A`, `*_MOD_B`, `*_MOD_C`: input modifier.
    Mod {
        NOP = 0 "NOP" "as it is";
        NEG = 1 "NEG" "negated";
        ABS = 2 "ABS" "absolute value";
        NAB = 3 "NAB" "negated absolute value";
    }

    /// `OMOD`: output modifier.
    Omod {
        MUL1     = 0 "" "times 1";
        MUL2     = 1 "" "times 2";
        MUL4     = 2 "" "times 4";
        MUL8     = 3 "" "times 8";
        DIV2     = 4 "" "divided by 2";
        DIV4     = 5 "" "divided by 4";
        DIV8     = 6 "" "divided by 8";
        DISABLED = 7 "" "copied bit for bit, never clamped (for MIN, MAX, CMP, CND)";
    }

    /// `TARGET`: render target of an OUT instruction, predicate comparison of an ALU instruction.
    Target {
        A = 0 "A" "render target A; predicate: equal to zero";
        B = 1 "B" "render target B; predicate: less than zero";
        C = 2 "C" "render target C; predicate: greater than or equal to zero";
        D = 3 "D" "render target D; predicate: not equal to zero";
    }

    /// `US_ALU_RGBA_INST.RGB_OP`.
    RgbOp {
        MAD = 0  "OP_MAD" "A*B + C";
        DP3 = 1  "OP_DP3" "Ar*Br + Ag*Bg + Ab*Bb in every channel";
        DP4 = 2  "OP_DP4" "DP3 + Aa*Ba of the alpha half's operands, in every channel";
        D2A = 3  "OP_D2A" "Ar*Br + Ag*Bg + Cb in every channel";
        MIN = 4  "OP_MIN" "A < B ? A : B";
        MAX = 5  "OP_MAX" "A >= B ? A : B";
        CND = 7  "OP_CND" "C > 1/2 ? A : B";
        CMP = 8  "OP_CMP" "C >= 0 ? A : B";
        FRC = 9  "OP_FRC" "A - floor(A)";
        SOP = 10 "OP_SOP" "the alpha half's transcendental result in every channel";
        MDH = 11 "OP_MDH" "top left src0 * B + top right src0: the quad's horizontal difference";
        MDV = 12 "OP_MDV" "top left src0 * B + bottom left src0: the quad's vertical difference";
    }

    /// `US_ALU_ALPHA_INST.ALPHA_OP`.
    AlphaOp {
        MAD = 0  "OP_MAD" "A*B + C";
        DP  = 1  "OP_DP"  "the RGB half's dot product";
        MIN = 2  "OP_MIN" "A < B ? A : B";
        MAX = 3  "OP_MAX" "A >= B ? A : B";
        CND = 5  "OP_CND" "C > 1/2 ? A : B";
        CMP = 6  "OP_CMP" "C >= 0 ? A : B";
        FRC = 7  "OP_FRC" "A - floor(A)";
        EX2 = 8  "OP_EX2" "2 to the power of A";
        LN2 = 9  "OP_LN2" "base-2 logarithm of A";
        RCP = 10 "OP_RCP" "1 / A";
        RSQ = 11 "OP_RSQ" "1 / square root of A";
        SIN = 12 "OP_SIN" "sine of A turns";
        COS = 13 "OP_COS" "cosine of A turns";
        MDH = 14 "OP_MDH" "top left src0 * B + top right src0: the quad's horizontal difference";
        MDV = 15 "OP_MDV" "top left src0 * B + bottom left src0: the quad's vertical difference";
    }

    /// A register channel in a texture instruction's swizzles.
    Channel {
        R = 0 "" "red";
        G = 1 "" "green";
        B = 2 "" "blue";
        A = 3 "" "alpha";
    }

    /// `US_TEX_INST.INST`.
    TexOp {
        NOP     = 0 "NOP"     "nothing";
        LD      = 1 "LD"      "fetch at S, T, R";
        TEXKILL = 2 "TEXKILL" "kill the pixel if a component is less than zero";
        PROJ    = 3 "PROJ"    "fetch at S/Q, T/Q, R/Q";
        LODBIAS = 4 "LODBIAS" "fetch with Q added to the level of detail";
        LOD     = 5 "LOD"     "fetch with Q as the level of detail";
        DXDY    = 6 "DXDY"    "fetch with the level of detail of two gradients";
    }

    /// `US_FC_INST.OP`.
    FcOp {
        JUMP      = 0 "US_FC_OP_JUMP"      "jump: if, else, endif, call, return";
        LOOP      = 1 "US_FC_OP_LOOP"      "enter a loop (counter and aL), or jump past it when the count is zero";
        ENDLOOP   = 2 "US_FC_OP_ENDLOOP"   "next iteration of a loop, aL advanced";
        REP       = 3 "US_FC_OP_REP"       "enter a loop that leaves aL alone";
        ENDREP    = 4 "US_FC_OP_ENDREP"    "next iteration of a loop, aL left alone";
        BREAKLOOP = 5 "US_FC_OP_BREAKLOOP" "leave a LOOP";
        BREAKREP  = 6 "US_FC_OP_BREAKREP"  "leave a REP";
        CONTINUE  = 7 "US_FC_OP_CONTINUE"  "wait for the end of the loop's iteration";
    }

    /// `US_FC_INST.A_OP`: the address stack, when the jump is taken.
    AddrOp {
        NONE = 0 "US_FC_A_OP_NONE" "leave the stack alone";
        POP  = 1 "US_FC_A_OP_POP"  "jump to the popped address";
        PUSH = 2 "US_FC_A_OP_PUSH" "push the address of the next instruction";
    }

    /// `US_FC_INST.B_OP0`, `B_OP1`: branch counters.
    BranchOp {
        NONE = 0 "US_FC_B_OP_NONE" "leave the counters alone";
        DECR = 1 "US_FC_B_OP_DECR" "take B_POP_CNT off the inactive pixels' counters; those below zero become active";
        INCR = 2 "US_FC_B_OP_INCR" "add one to the inactive pixels' counters; active ones against the decision become inactive with zero";
    }

    /// `US_OUT_FMT.OUT_FMT`.
    OutFormat {
        C4_8          = 0  "C4_8"          "4 components of 8 bits";
        C4_10         = 1  "C4_10"         "4 components of 10 bits, unsigned";
        C4_10_GAMMA   = 2  "C4_10_GAMMA"   "4 components of 10 bits, unsigned, with gamma";
        C_16          = 3  "C_16"          "1 component of 16 bits";
        C2_16         = 4  "C2_16"         "2 components of 16 bits";
        C4_16         = 5  "C4_16"         "4 components of 16 bits";
        C_16_MPEG     = 6  "C_16_MPEG"     "1 component of 16 bits for video, signed";
        C2_16_MPEG    = 7  "C2_16_MPEG"    "2 components of 16 bits for video, signed";
        C2_4          = 8  "C2_4"          "2 components of 4 bits, unsigned";
        C_3_3_2       = 9  "C_3_3_2"       "packed 3, 3 and 2 bits, unsigned";
        C_6_5_6       = 10 "C_6_5_6"       "packed 6, 5 and 6 bits";
        C_11_11_10    = 11 "C_11_11_10"    "packed 11, 11 and 10 bits";
        C_10_11_11    = 12 "C_10_11_11"    "packed 10, 11 and 11 bits";
        C_2_10_10_10  = 13 "C_2_10_10_10"  "packed 2, 10, 10 and 10 bits";
        UNUSED        = 15 "UNUSED"        "the target is not used";
        C_16_FP       = 16 "C_16_FP"       "1 float of 16 bits";
        C2_16_FP      = 17 "C2_16_FP"      "2 floats of 16 bits";
        C4_16_FP      = 18 "C4_16_FP"      "4 floats of 16 bits";
        C_32_FP       = 19 "C_32_FP"       "1 float of 32 bits";
        C2_32_FP      = 20 "C2_32_FP"      "2 floats of 32 bits";
        C4_32_FP      = 21 "C4_32_FP"      "4 floats of 32 bits";
    }

    /// `US_OUT_FMT.C0_SEL` to `C3_SEL`: which colour a stored component is.
    OutSel {
        A = 0 "Alpha" "alpha";
        R = 1 "Red"   "red";
        G = 2 "Green" "green";
        B = 3 "Blue"  "blue";
    }

    /// `US_W_FMT.W_FMT`.
    WFormat {
        W0     = 0 "W0"     "always zero";
        W24    = 1 "W24"    "24-bit fixed point";
        W24_FP = 2 "W24_FP" "24-bit floating point whose codes sort like its values";
    }

    /// `US_W_FMT.W_SRC`.
    WSource {
        US  = 0 "WSRC_US"  "from the program";
        RAS = 1 "WSRC_RAS" "from the rasteriser";
    }

    /// `RS_INST.COL_CN`.
    ColCn {
        NONE     = 0 "" "no write";
        COLOR    = 1 "" "write the colour";
        FBUFFER  = 2 "" "write the frame buffer position, XY00";
        BACKFACE = 3 "" "write the back-face flag, B000";
    }

    /// `RS_IP.COL_FMT`.
    ColFmt {
        RGBA = 0  "" "R, G, B, A";
        RGB0 = 1  "" "R, G, B, 0";
        RGB1 = 2  "" "R, G, B, 1";
        Z00A = 4  "" "0, 0, 0, A";
        Z000 = 5  "" "0, 0, 0, 0";
        Z001 = 6  "" "0, 0, 0, 1";
        O11A = 8  "" "1, 1, 1, A";
        O110 = 9  "" "1, 1, 1, 0";
        O111 = 10 "" "1, 1, 1, 1";
    }

    /// `FG_ALPHA_FUNC.AF_FUNC`.
    AlphaFunc {
        NEVER    = 0 "AF_NEVER"    "never passes";
        LESS     = 1 "AF_LESS"     "passes if less";
        EQUAL    = 2 "AF_EQUAL"    "passes if equal";
        LE       = 3 "AF_LE"       "passes if less or equal";
        GREATER  = 4 "AF_GREATER"  "passes if greater";
        NOTEQUAL = 5 "AF_NOTEQUAL" "passes if not equal";
        GE       = 6 "AF_GE"       "passes if greater or equal";
        ALWAYS   = 7 "AF_ALWAYS"   "always passes";
    }

    /// `FG_FOG_BLEND.FN`.
    FogFn {
        LINEAR   = 0 "" "linear";
        EXP      = 1 "" "exponential";
        EXP2     = 2 "" "exponential squared";
        CONSTANT = 3 "" "from the constant fog factor";
    }

    /// `FG_DEPTH_SRC.DEPTH_SRC`.
    DepthSrc {
        SCAN   = 0 "" "from the scan converter";
        SHADER = 1 "" "from the fragment program";
    }

    /// `GA_US_VECTOR_INDEX.TYPE`.
    VectorType {
        INST  = 0 "" "instructions follow, six dwords each";
        CONST = 1 "" "constants follow, four dwords each";
    }

    /// `TX_FILTER0.CLAMP_S`, `CLAMP_T`, `CLAMP_R`.
    ClampMode {
        WRAP               = 0 "Wrap"   "repeat";
        MIRROR             = 1 "Mirror" "repeat, every other time mirrored";
        CLAMP              = 2 ""       "clamp to the last texel";
        MIRROR_ONCE        = 3 ""       "mirror at zero, then clamp to the last texel";
        CLAMP_HALF         = 4 ""       "clamp half way to the border colour";
        MIRROR_ONCE_HALF   = 5 ""       "mirror at zero, then clamp half way to the border colour";
        BORDER             = 6 ""       "border colour outside";
        MIRROR_ONCE_BORDER = 7 ""       "mirror at zero, then border colour outside";
    }

    /// `TX_FILTER0.MAG_FILTER`, `MIN_FILTER`.
    TexelFilter {
        FILTER4 = 0 "Filter4" "programmable four-tap filter";
        POINT   = 1 "Point"   "nearest texel";
        LINEAR  = 2 "Linear"  "linear between texels";
        ANISOTROPIC = 3 ""    "linear, at several points along the longer step from pixel to pixel (not in the documents; drivers set it)";
    }

    /// `TX_FILTER0.MIP_FILTER`, `VOL_FILTER`.
    LayerFilter {
        NONE   = 0 "None"   "no filter of its own";
        POINT  = 1 "Point"  "nearest";
        LINEAR = 2 "Linear" "linear";
    }

    /// `TX_FILTER1.CHROMA_KEY_MODE`.
    ChromaKeyMode {
        DISABLE = 0 "Disable"        "off";
        KILL    = 1 "ChromaKey"      "kill the pixel if a sample matches";
        BLEND   = 2 "ChromaKeyBlend" "a sample that matches counts as 0";
    }

    /// `TX_FILTER1.TRI_PERF`: the line that the fraction between two levels goes through.
    TriPerf {
        OFF         = 0 "" "f";
        ONE_EIGHTH  = 1 "" "clamp(4/3*f - 1/6)";
        ONE_QUARTER = 2 "" "clamp(2*f - 1/2)";
        THREE_8THS  = 3 "" "clamp(4*f - 3/2)";
    }

    /// `TX_FORMAT1.TXFORMAT` while `TX_FORMAT2.TXFORMAT_MSB` is clear.
    TxFormat {
        X8              = 0  "TX_FMT_8"               "1 component of 8 bits";
        X16             = 1  "TX_FMT_16"              "1 component of 16 bits";
        X4_4            = 2  "TX_FMT_4_4"             "2 components of 4 bits";
        X8_8            = 3  "TX_FMT_8_8"             "2 components of 8 bits";
        X16_16          = 4  "TX_FMT_16_16"           "2 components of 16 bits";
        X3_3_2          = 5  "TX_FMT_3_3_2"           "packed 3, 3 and 2 bits";
        X5_6_5          = 6  "TX_FMT_5_6_5"           "packed 5, 6 and 5 bits";
        X6_5_5          = 7  "TX_FMT_6_5_5"           "packed 6, 5 and 5 bits";
        X11_11_10       = 8  "TX_FMT_11_11_10"        "packed 11, 11 and 10 bits";
        X10_11_11       = 9  "TX_FMT_10_11_11"        "packed 10, 11 and 11 bits";
        X4_4_4_4        = 10 "TX_FMT_4_4_4_4"         "4 components of 4 bits";
        X1_5_5_5        = 11 "TX_FMT_1_5_5_5"         "packed 1, 5, 5 and 5 bits";
        X8_8_8_8        = 12 "TX_FMT_8_8_8_8"         "4 components of 8 bits";
        X2_10_10_10     = 13 "TX_FMT_2_10_10_10"      "packed 2, 10, 10 and 10 bits";
        X16_16_16_16    = 14 "TX_FMT_16_16_16_16"     "4 components of 16 bits";
        DXT1            = 15 ""                       "DXT1 blocks (reserved in the documents, used by drivers)";
        DXT3            = 16 ""                       "DXT3 blocks (reserved in the documents, used by drivers)";
        DXT5            = 17 ""                       "DXT5 blocks (reserved in the documents, used by drivers)";
        Y8              = 18 "TX_FMT_Y8"              "luminance of 8 bits in every channel";
        AVYU444         = 19 "TX_FMT_AVYU444"         "AVYU, 8 bits each";
        VYUY422         = 20 "TX_FMT_VYUY422"         "VYUY, two texels a dword";
        YVYU422         = 21 "TX_FMT_YVYU422"         "YVYU, two texels a dword";
        X16_MPEG        = 22 "TX_FMT_16_MPEG"         "1 component of 16 bits for video";
        X16_16_MPEG     = 23 "TX_FMT_16_16_MPEG"      "2 components of 16 bits for video";
        F16             = 24 "TX_FMT_16f"             "1 float of 16 bits";
        F16_16          = 25 "TX_FMT_16f_16f"         "2 floats of 16 bits";
        F16_16_16_16    = 26 "TX_FMT_16f_16f_16f_16f" "4 floats of 16 bits";
        F32             = 27 "TX_FMT_32f"             "1 float of 32 bits";
        F32_32          = 28 "TX_FMT_32f_32f"         "2 floats of 32 bits";
        F32_32_32_32    = 29 "TX_FMT_32f_32f_32f_32f" "4 floats of 32 bits";
        W24_FP          = 30 "TX_FMT_W24_FP"          "24-bit floating-point depth";
        ATI2N           = 31 "TX_FMT_ATI2N"           "two-component blocks";
    }

    /// `TX_FORMAT1.TXFORMAT` while `TX_FORMAT2.TXFORMAT_MSB` is set.
    TxFormatMsb {
        X1           = 0 "TX_FMT_1"           "1 bit, the first texel in the lowest bit";
        X1_REVERSE   = 1 "TX_FMT_1_REVERSE"   "1 bit, the first texel in the highest bit";
        X10          = 2 "TX_FMT_10"          "1 component of 10 bits in 16";
        X10_10       = 3 "TX_FMT_10_10"       "2 components of 10 bits in 16 each";
        X10_10_10_10 = 4 "TX_FMT_10_10_10_10" "4 components of 10 bits in 16 each";
        ATI1N        = 5 "TX_FMT_ATI1N"       "one-component blocks";
        X24_8        = 6 "TX_FMT_24_8"        "24-bit depth and 8-bit stencil";
    }

    /// `TX_FORMAT1.SEL_ALPHA`, `SEL_RED`, `SEL_GREEN`, `SEL_BLUE`.
    TxSel {
        C0   = 0 "" "component 0";
        C1   = 1 "" "component 1";
        C2   = 2 "" "component 2";
        C3   = 3 "" "component 3";
        ZERO = 4 "" "0";
        ONE  = 5 "" "1";
    }

    /// `TX_FORMAT1.YUV_TO_RGB`.
    YuvToRgb {
        OFF      = 0 "" "off";
        CLAMPED  = 1 "" "convert, with clamp";
        UNLIMITED = 2 "" "convert, without clamp";
    }

    /// `TX_FORMAT1.TEX_COORD_TYPE`.
    CoordType {
        D2   = 0 "2D"   "two dimensions";
        D3   = 1 "3D"   "three dimensions";
        CUBE = 2 "Cube" "six faces";
    }

    /// `TX_OFFSET.ENDIAN_SWAP`.
    EndianSwap {
        NONE  = 0 "" "no swap";
        W16   = 1 "" "swap bytes in 16 bits";
        W32   = 2 "" "swap bytes in 32 bits";
        HALF  = 3 "" "swap 16-bit halves";
    }
}

/// Flag values: `ADDRn_CONST`.
pub const ADDR_CONST: &[Value] = &[
    V {
        code: 0,
        name: "TEMPORARY",
        meaning: "temporary, or inline constant if bit 7 of the address is set",
    },
    V { code: 1, name: "CONSTANT", meaning: "constant" },
];

/// Flag values: every `*_REL`.
pub const ADDR_REL: &[Value] = &[
    V { code: 0, name: "NONE", meaning: "the address as it is" },
    V { code: 1, name: "RELATIVE", meaning: "aL added" },
];

/// Flag values: `ALPHA_WMASK`, `ALPHA_OMASK`, `W_OMASK`.
pub const ALPHA_MASK: &[Value] = &[
    V { code: 0, name: "NONE", meaning: "not written" },
    V { code: 1, name: "A", meaning: "written" },
];

/// Flag values: `TX_ENABLE.TEX_n_ENABLE`.
pub const TX_ENABLE: &[Value] = &[
    V { code: 0, name: "Disable", meaning: "off: alpha 1, colours 0" },
    V { code: 1, name: "Enable", meaning: "on" },
];

/// Flag values: `TX_FILTER4.DIRECTION`.
pub const TX_DIRECTION: &[Value] = &[
    V { code: 0, name: "Horizontal", meaning: "weights along a row" },
    V { code: 1, name: "Vertical", meaning: "weights along a column" },
];

/// Flag values: `TX_FORMAT0.PROJECTED`.
pub const TX_PROJECTED: &[Value] = &[
    V { code: 0, name: "Non-Projected", meaning: "coordinates as they are" },
    V { code: 1, name: "Projected", meaning: "coordinates are projected" },
];

/// Number values: `US_FORMAT.TXDEPTH` beyond depths, which tell widths and heights past 2048.
pub const US_TXDEPTH: &[Value] = &[
    V { code: 13, name: "", meaning: "width > 2048, height <= 2048" },
    V { code: 14, name: "", meaning: "width <= 2048, height > 2048" },
    V { code: 15, name: "", meaning: "width > 2048, height > 2048" },
];

impl RgbMask {
    /// Returns whether channel `i` (0 red, 1 green, 2 blue) is in the mask.
    #[inline]
    #[must_use]
    pub const fn has(self, i: usize) -> bool {
        i < 3 && self.code() >> i & 1 != 0
    }
}

impl Target {
    /// Returns the comparison with zero that the same code means on an ALU instruction.
    #[inline]
    #[must_use]
    pub const fn compare(self) -> Compare {
        Compare::new(self.code())
    }
}

impl Omod {
    /// Returns the factor; `None` for [`Omod::DISABLED`].
    #[must_use]
    pub const fn factor(self) -> Option<f32> {
        Some(match self {
            Self::MUL1 => 1.0,
            Self::MUL2 => 2.0,
            Self::MUL4 => 4.0,
            Self::MUL8 => 8.0,
            Self::DIV2 => 0.5,
            Self::DIV4 => 0.25,
            Self::DIV8 => 0.125,
            _ => return None,
        })
    }
}

/// Number values: `TX_FORMAT1.CACHE`.
#[rustfmt::skip]
pub const TX_CACHE: &[Value] = &[
    V { code: 0,  name: "WHOLE",              meaning: "the whole cache" },
    V { code: 2,  name: "HALF_REGION_0",      meaning: "first half" },
    V { code: 3,  name: "HALF_REGION_1",      meaning: "second half" },
    V { code: 4,  name: "FOURTH_REGION_0",    meaning: "quarter 0" },
    V { code: 5,  name: "FOURTH_REGION_1",    meaning: "quarter 1" },
    V { code: 6,  name: "FOURTH_REGION_2",    meaning: "quarter 2" },
    V { code: 7,  name: "FOURTH_REGION_3",    meaning: "quarter 3" },
    V { code: 8,  name: "EIGHTH_REGION_0",    meaning: "eighth 0" },
    V { code: 9,  name: "EIGHTH_REGION_1",    meaning: "eighth 1" },
    V { code: 10, name: "EIGHTH_REGION_2",    meaning: "eighth 2" },
    V { code: 11, name: "EIGHTH_REGION_3",    meaning: "eighth 3" },
    V { code: 12, name: "EIGHTH_REGION_4",    meaning: "eighth 4" },
    V { code: 13, name: "EIGHTH_REGION_5",    meaning: "eighth 5" },
    V { code: 14, name: "EIGHTH_REGION_6",    meaning: "eighth 6" },
    V { code: 15, name: "EIGHTH_REGION_7",    meaning: "eighth 7" },
    V { code: 16, name: "SIXTEENTH_REGION_0", meaning: "sixteenth 0" },
    V { code: 17, name: "SIXTEENTH_REGION_1", meaning: "sixteenth 1" },
    V { code: 18, name: "SIXTEENTH_REGION_2", meaning: "sixteenth 2" },
    V { code: 19, name: "SIXTEENTH_REGION_3", meaning: "sixteenth 3" },
    V { code: 20, name: "SIXTEENTH_REGION_4", meaning: "sixteenth 4" },
    V { code: 21, name: "SIXTEENTH_REGION_5", meaning: "sixteenth 5" },
    V { code: 22, name: "SIXTEENTH_REGION_6", meaning: "sixteenth 6" },
    V { code: 23, name: "SIXTEENTH_REGION_7", meaning: "sixteenth 7" },
    V { code: 24, name: "SIXTEENTH_REGION_8", meaning: "sixteenth 8" },
    V { code: 25, name: "SIXTEENTH_REGION_9", meaning: "sixteenth 9" },
    V { code: 26, name: "SIXTEENTH_REGION_A", meaning: "sixteenth 10" },
    V { code: 27, name: "SIXTEENTH_REGION_B", meaning: "sixteenth 11" },
    V { code: 28, name: "SIXTEENTH_REGION_C", meaning: "sixteenth 12" },
    V { code: 29, name: "SIXTEENTH_REGION_D", meaning: "sixteenth 13" },
    V { code: 30, name: "SIXTEENTH_REGION_E", meaning: "sixteenth 14" },
    V { code: 31, name: "SIXTEENTH_REGION_F", meaning: "sixteenth 15" },
];

/// Number values: `TX_FORMAT2.SEL_FILTER4`.
pub const SEL_FILTER4: &[Value] = &[
    V { code: 0, name: "", meaning: "component 0" },
    V { code: 1, name: "", meaning: "component 1" },
    V { code: 2, name: "", meaning: "component 2" },
    V { code: 3, name: "", meaning: "component 3" },
];

/// Number values: `TX_OFFSET.MICRO_TILE`.
pub const MICRO_TILE: &[Value] = &[
    V { code: 0, name: "", meaning: "linear" },
    V { code: 1, name: "", meaning: "tiled" },
    V { code: 2, name: "", meaning: "tiled square (16-bit texels)" },
];
