//! The registers of a texture unit (`TX_*`).

use crate::registers;
use crate::values::*;

#[rustfmt::skip]
registers! {
    TxEnable "TX_ENABLE" "which texture units are on; one that is off returns alpha 1, colours 0." {
        TEX_0_ENABLE     tex_0_enable     0:0   bool [TX_ENABLE]       "unit 0";
        TEX_1_ENABLE     tex_1_enable     1:1   bool [TX_ENABLE]       "unit 1";
        TEX_2_ENABLE     tex_2_enable     2:2   bool [TX_ENABLE]       "unit 2";
        TEX_3_ENABLE     tex_3_enable     3:3   bool [TX_ENABLE]       "unit 3";
        TEX_4_ENABLE     tex_4_enable     4:4   bool [TX_ENABLE]       "unit 4";
        TEX_5_ENABLE     tex_5_enable     5:5   bool [TX_ENABLE]       "unit 5";
        TEX_6_ENABLE     tex_6_enable     6:6   bool [TX_ENABLE]       "unit 6";
        TEX_7_ENABLE     tex_7_enable     7:7   bool [TX_ENABLE]       "unit 7";
        TEX_8_ENABLE     tex_8_enable     8:8   bool [TX_ENABLE]       "unit 8";
        TEX_9_ENABLE     tex_9_enable     9:9   bool [TX_ENABLE]       "unit 9";
        TEX_10_ENABLE    tex_10_enable    10:10 bool [TX_ENABLE]       "unit 10";
        TEX_11_ENABLE    tex_11_enable    11:11 bool [TX_ENABLE]       "unit 11";
        TEX_12_ENABLE    tex_12_enable    12:12 bool [TX_ENABLE]       "unit 12";
        TEX_13_ENABLE    tex_13_enable    13:13 bool [TX_ENABLE]       "unit 13";
        TEX_14_ENABLE    tex_14_enable    14:14 bool [TX_ENABLE]       "unit 14";
        TEX_15_ENABLE    tex_15_enable    15:15 bool [TX_ENABLE]       "unit 15";
    }

    TxFilter0 "TX_FILTER0" * 16 "addressing and filters of a unit." {
        CLAMP_S          clamp_s          2:0   ClampMode              "addressing along S";
        CLAMP_T          clamp_t          5:3   ClampMode              "addressing along T";
        CLAMP_R          clamp_r          8:6   ClampMode              "addressing along R";
        MAG_FILTER       mag_filter       10:9  TexelFilter            "filter of a magnified texture";
        MIN_FILTER       min_filter       12:11 TexelFilter            "filter of a minified texture";
        MIP_FILTER       mip_filter       14:13 LayerFilter            "filter between levels";
        VOL_FILTER       vol_filter       16:15 LayerFilter            "filter between layers of a volume; none: as MAG_FILTER or MIN_FILTER";
        MAX_MIP_LEVEL    max_mip_level    20:17 u8                     "finest level to use";
        MAX_ANISO        max_aniso        23:21 u8                     "log2 of the most points of an anisotropic filter (not in the documents; drivers set it)";
        ID               id               31:28 u8                     "logical number of this physical texture";
    }

    TxFilter1 "TX_FILTER1" * 16 "level of detail and odd modes of a unit." {
        CHROMA_KEY_MODE  chroma_key_mode  1:0   ChromaKeyMode          "chroma key";
        MC_ROUND         mc_round         2:2   bool                   "MPEG-4 rounding of bilinear filters";
        LOD_BIAS         lod_bias         12:3  u16                    "added to the level of detail before it is clamped: s4.5";
        MC_COORD_TRUNCATE mc_coord_truncate 14:14 bool                 "cut coordinate fractions to 0 and 1/2";
        TRI_PERF         tri_perf         16:15 TriPerf                "slope and bias of the fraction between two levels";
        DXTC_SWIZZLE_ENABLE dxtc_swizzle  21:21 bool                   "DXT blocks deliver blue as component 0, red as 2 (not in the documents; drivers set it)";
        MACRO_SWITCH     macro_switch     22:22 bool                   "macro-linear from widths of 8 micro-tiles, not below";
        MAX_ANISO        max_aniso        28:23 u8                       "with ANISO_HIGH_QUALITY, the most points of an anisotropic filter: 0 to 63 for 1 to 16 (not in the documents; drivers set it)";
        ANISO_HIGH_QUALITY aniso_high_quality 30:30 bool               "MAX_ANISO of this register, not that of TX_FILTER0 (not in the documents; drivers set it)";
        BORDER_FIX       border_fix       31:31 bool                   "stop shifting a coordinate once its axis is one texel long";
    }

    TxFilter4 "TX_FILTER4" "loads weights of the four-tap filter." {
        WEIGHT_1         weight_1         10:0  u16                    "bottom or right weight of the pair, s1.9";
        WEIGHT_0         weight_0         21:11 u16                    "top or left weight of the pair, s1.9";
        WEIGHT_PAIR      weight_pair      22:22 bool                   "the bottom or right pair of the phase, else top or left";
        PHASE            phase            26:23 u8                     "which of nine phases";
        DIRECTION        direction        27:27 bool [TX_DIRECTION]    "vertical weights, else horizontal";
    }

    TxFormat0 "TX_FORMAT0" * 16 "size of a texture." {
        TXWIDTH          txwidth          10:0  u16                    "width - 1, low eleven bits";
        TXHEIGHT         txheight         21:11 u16                    "height - 1, low eleven bits";
        TXDEPTH          txdepth          25:22 u8                     "log2 of the depth of a volume";
        NUM_LEVELS       num_levels       29:26 u8                     "levels, minus one";
        PROJECTED        projected        30:30 bool [TX_PROJECTED]    "coordinates are projected";
        TXPITCH_EN       txpitch_en       31:31 bool                   "rows lie TXPITCH apart";
    }

    TxFormat1 "TX_FORMAT1" * 16 "texel format of a texture." {
        TXFORMAT         txformat         4:0   TxFormat               "format, with TX_FORMAT2.TXFORMAT_MSB";
        SIGNED_COMP0     signed_comp0     5:5   bool                   "component 0 is signed";
        SIGNED_COMP1     signed_comp1     6:6   bool                   "component 1 is signed";
        SIGNED_COMP2     signed_comp2     7:7   bool                   "component 2 is signed";
        SIGNED_COMP3     signed_comp3     8:8   bool                   "component 3 is signed";
        SEL_ALPHA        sel_alpha        11:9  TxSel                  "what the program sees as alpha";
        SEL_RED          sel_red          14:12 TxSel                  "what the program sees as red";
        SEL_GREEN        sel_green        17:15 TxSel                  "what the program sees as green";
        SEL_BLUE         sel_blue         20:18 TxSel                  "what the program sees as blue";
        GAMMA            gamma            21:21 bool                   "undo sRGB gamma";
        YUV_TO_RGB       yuv_to_rgb       23:22 YuvToRgb               "colour space conversion";
        SWAP_YUV         swap_yuv         24:24 bool                   "invert the upper bit of U and V";
        TEX_COORD_TYPE   tex_coord_type   26:25 CoordType              "dimensions";
        CACHE            cache            31:27 u8 [TX_CACHE]          "share of the texture cache";
    }

    TxFormat2 "TX_FORMAT2" * 16 "pitch and upper bits of a texture." {
        TXPITCH          txpitch          13:0  u16                    "texels from row to row, minus one";
        TXFORMAT_MSB     txformat_msb     14:14 bool                   "sixth bit of the format";
        TXWIDTH_11       txwidth_11       15:15 bool                   "twelfth bit of TXWIDTH";
        TXHEIGHT_11      txheight_11      16:16 bool                   "twelfth bit of TXHEIGHT";
        POW2FIX2FLT      pow2fix2flt      17:17 bool                   "8-bit components are k/256, not k/255";
        SEL_FILTER4      sel_filter4      19:18 u8 [SEL_FILTER4]       "component that the four-tap filter works on";
    }

    TxOffset "TX_OFFSET" * 16 "where and how a texture lies in memory." {
        ENDIAN_SWAP      endian_swap      1:0   EndianSwap             "byte order";
        MACRO_TILE       macro_tile       2:2   bool                   "2 KiB pages are tiled";
        MICRO_TILE       micro_tile       4:3   u8 [MICRO_TILE]        "tiling of 32-byte cache lines";
        TXOFFSET         txoffset         31:5  u32                    "address / 32";
    }

    TxBorderColor "TX_BORDER_COLOR" * 16 "colour outside a texture." {
        BORDER_COLOR     border_color     31:0  u32                    "one texel in the texture's own format";
    }

    TxChromaKey "TX_CHROMA_KEY" * 16 "colour that chroma keying looks for." {
        CHROMA_KEY       chroma_key       31:0  u32                    "one texel in the texture's own format";
    }

    TxInvalTags "TX_INVALTAGS" "any write empties the texture cache." {
        RESERVED         reserved         31:0  u32                    "ignored";
    }
}
