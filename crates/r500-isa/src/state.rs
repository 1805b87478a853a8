//! The registers around the program: `US_*` state, the rasteriser's `RS_*`, and the few `FG_*` and
//! `GA_*` registers that concern a fragment program.

use crate::registers;
use crate::values::*;

#[rustfmt::skip]
registers! {
    UsConfig "US_CONFIG" "arithmetic mode." {
        ZERO_TIMES_ANYTHING_EQUALS_ZERO zero_times_anything_equals_zero 1:1 bool "a product with a zero factor is zero, even against infinity and NaN";
    }

    UsPixsize "US_PIXSIZE" "size of the pixel stack frame." {
        PIX_SIZE         pix_size         6:0   u8                     "highest temporary that the program uses: N backs t0 to tN (drivers write the index, not a count)";
    }

    UsCodeAddr "US_CODE_ADDR" "where the program starts and ends." {
        START_ADDR       start_addr       8:0   u16                    "first instruction, relative to US_CODE_OFFSET";
        END_ADDR         end_addr         24:16 u16                    "last instruction, relative to US_CODE_OFFSET; the program ends after it, whatever its type";
    }

    UsCodeRange "US_CODE_RANGE" "the code window." {
        CODE_ADDR        code_addr        8:0   u16                    "first slot of the window, absolute";
        CODE_SIZE        code_size        24:16 u16                    "slots in the window, minus one";
    }

    UsCodeOffset "US_CODE_OFFSET" "where the program lies in the instruction memory." {
        OFFSET_ADDR      offset_addr      8:0   u16                    "added to START_ADDR, END_ADDR and to jump addresses that are not global";
    }

    UsFcCtrl "US_FC_CTRL" "flow-control mode." {
        TEST_EN          test_en          30:30 bool                   "test mode; nothing happens";
        FULL_FC_EN       full_fc_en       31:31 bool                   "full flow control: loops, subroutines, deep branches";
    }

    UsFcBoolConst "US_FC_BOOL_CONST" "the 32 boolean constants." {
        KBOOL            kbool            31:0  u32                    "constant n in bit n";
    }

    UsFcIntConst "US_FC_INT_CONST" * 32 "an integer constant." {
        KR               kr               7:0   u8                     "iterations of the loop";
        KG               kg               15:8  u8                     "value of aL in the first iteration";
        KB               kb               23:16 i8                     "step of aL per iteration";
    }

    UsOutFmt "US_OUT_FMT" * 4 "how a render target stores colours." {
        OUT_FMT          out_fmt          4:0   OutFormat              "format";
        C0_SEL           c0_sel           9:8   OutSel                 "colour stored as component 0";
        C1_SEL           c1_sel           11:10 OutSel                 "colour stored as component 1";
        C2_SEL           c2_sel           13:12 OutSel                 "colour stored as component 2";
        C3_SEL           c3_sel           15:14 OutSel                 "colour stored as component 3";
        OUT_SIGN         out_sign         19:16 u8                     "components (a bit each) that are signed";
        ROUND_ADJ        round_adj        20:20 bool                   "modified rounding of fixed-point data";
    }

    UsWFmt "US_W_FMT" "how the program's depth travels on." {
        W_FMT            w_fmt            1:0   WFormat                "format";
        W_SRC            w_src            2:2   WSource                "source";
    }

    UsFormat "US_FORMAT" * 16 "a texture's size for coordinate scaling." {
        TXWIDTH          txwidth          10:0  u16                    "width - 1, low eleven bits";
        TXHEIGHT         txheight         21:11 u16                    "height - 1, low eleven bits";
        TXDEPTH          txdepth          25:22 u8 [US_TXDEPTH]        "log2 of the depth, or which of width and height exceed 2048";
    }

    RsCount "RS_COUNT" "what a packet of interpolants holds." {
        IT_COUNT         it_count         6:0   u8                     "texture address components, 0 to 32";
        IC_COUNT         ic_count         10:7  u8                     "colours, 0 to 4";
        W_ADDR           w_addr           17:12 u8                     "place of w in the packet";
        HIRES_EN         hires_en         18:18 bool                   "high-resolution texture coordinates where q is 1";
    }

    RsInstCount "RS_INST_COUNT" "length of the rasteriser's program." {
        INST_COUNT       inst_count       3:0   u8                     "index of the last rasteriser instruction";
        TX_OFFSET        tx_offset        7:5   u8                     "offset against samples on texel edges";
    }

    RsIp "RS_IP" * 16 "where an interpolant's components come from." {
        TEX_PTR_S        tex_ptr_s        5:0   u8                     "packet place of S (62: constant 0, 63: constant 1)";
        TEX_PTR_T        tex_ptr_t        11:6  u8                     "packet place of T (62: constant 0, 63: constant 1)";
        TEX_PTR_R        tex_ptr_r        17:12 u8                     "packet place of R (62: constant 0, 63: constant 1)";
        TEX_PTR_Q        tex_ptr_q        23:18 u8                     "packet place of Q (62: constant 0, 63: constant 1)";
        COL_PTR          col_ptr          26:24 u8                     "packet place of the colour";
        COL_FMT          col_fmt          30:27 ColFmt                 "components of the colour";
        OFFSET_EN        offset_en        31:31 bool                   "apply RS_INST_COUNT.TX_OFFSET";
    }

    RsInst "RS_INST" * 16 "a rasteriser instruction: which temporary receives which interpolant." {
        TEX_ID           tex_id           3:0   u8                     "RS_IP of the texture address";
        TEX_CN           tex_cn           4:4   bool                   "write the texture address";
        TEX_ADDR         tex_addr         11:5  u8                     "temporary that receives it";
        COL_ID           col_id           15:12 u8                     "RS_IP of the colour";
        COL_CN           col_cn           17:16 ColCn                  "what is written as colour";
        COL_ADDR         col_addr         24:18 u8                     "temporary that receives it";
        TEX_ADJ          tex_adj          25:25 bool                   "sample at adjusted pixel centres";
        W_CN             w_cn             26:26 bool                   "write w";
    }

    FgAlphaFunc "FG_ALPHA_FUNC" "alpha test, after the fragment program." {
        AF_VAL                 af_val                 7:0   u8         "reference value of the 8-bit comparison";
        AF_FUNC                af_func                10:8  AlphaFunc  "comparison";
        AF_EN                  af_en                  11:11 bool       "alpha test on";
        AF_EN_8BIT             af_en_8bit             12:12 bool       "compare 8 bits instead of 10";
        AM_EN                  am_en                  16:16 bool       "alpha to mask";
        AM_CFG                 am_cfg                 17:17 bool       "3 or 6 samples for alpha to mask instead of 2 or 4";
        DITH_EN                dith_en                20:20 bool       "dither colours";
        ALP_OFF_EN             alp_off_en             24:24 bool       "alpha offset of 2";
        DISCARD_ZERO_MASK_QUAD discard_zero_mask_quad 25:25 bool       "drop quads without coverage before the depth buffer";
        FP16_ENABLE            fp16_enable            28:28 bool       "compare 16-bit floats";
    }

    FgAlphaValue "FG_ALPHA_VALUE" "reference value of the alpha test." {
        AF_VAL           af_val           15:0  u16                    "0.10 fixed point or a 16-bit float";
    }

    FgDepthSrc "FG_DEPTH_SRC" "where depth comes from." {
        DEPTH_SRC        depth_src        0:0   DepthSrc               "scan converter or program";
    }

    FgFogBlend "FG_FOG_BLEND" "fog, after the fragment program." {
        ENABLE           enable           0:0   bool                   "fog on";
        FN               fog_fn           2:1   FogFn                  "how the factor comes about";
    }

    FgFogFactor "FG_FOG_FACTOR" "constant fog factor." {
        FACTOR           factor           9:0   u16                    "0.10 fixed point";
    }

    FgFogColorR "FG_FOG_COLOR_R" "red of the fog." {
        RED              red              9:0   u16                    "0.10 fixed point";
    }

    FgFogColorG "FG_FOG_COLOR_G" "green of the fog." {
        GREEN            green            9:0   u16                    "0.10 fixed point";
    }

    FgFogColorB "FG_FOG_COLOR_B" "blue of the fog." {
        BLUE             blue             9:0   u16                    "0.10 fixed point";
    }

    GaUsVectorIndex "GA_US_VECTOR_INDEX" "where the next dwords of GA_US_VECTOR_DATA go." {
        INDEX            index            8:0   u16                    "first instruction or constant; counts up by itself";
        TYPE             ty               16:16 VectorType             "instructions or constants";
        CLAMP            clamp            17:17 bool                   "clamp constants to -1..1";
    }

    GaUsVectorData "GA_US_VECTOR_DATA" "program or constant data." {
        DATA             data             31:0  u32                    "one dword: six an instruction, four (R, G, B, A) a constant";
    }
}

impl UsCodeAddr {
    /// Returns the absolute addresses of the first and the last instruction, given `US_CODE_OFFSET.OFFSET_ADDR`.
    #[must_use]
    pub fn absolute(self, offset: u16) -> [u16; 2] {
        [self.start_addr(), self.end_addr()].map(|address| address + offset)
    }
}
