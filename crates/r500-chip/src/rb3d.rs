//! Registers of the render backend, colours (`RB3D`).
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Rb3d;

    Rb3dColorClearValueAr "RB3D_COLOR_CLEAR_VALUE_AR" @ 0x46c0 ReadWrite "fast clear colour of 16-bit components, alpha and red." {
        RED   red   15:0  u16 "red";
        ALPHA alpha 31:16 u16 "alpha";
    }

    Rb3dColorClearValueGb "RB3D_COLOR_CLEAR_VALUE_GB" @ 0x46c4 ReadWrite "fast clear colour of 16-bit components, green and blue." {
        BLUE  blue  15:0  u16 "blue";
        GREEN green 31:16 u16 "green";
    }

    Rb3dCctl "RB3D_CCTL" @ 0x4e00 ReadWrite "render targets in general." {
        NUM_MULTIWRITES                       num_multiwrites                       6:5   MultiWrites "targets that receive colour A";
        CLRCMP_FLIPE_ENABLE                   clrcmp_flipe_enable                   7:7   bool        "colour compare";
        AA_COMPRESSION_ENABLE                 aa_compression_enable                 9:9   bool        "compress multisampled colours";
        CMASK_ENABLE                          cmask_enable                          10:10 bool        "colour mask memory (fast clears)";
        INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE independent_color_channel_mask_enable 12:12 bool        "each target has a channel mask of its own, else all have target A's";
        WRITE_COMPRESSION_DISABLE             write_compression_disable             13:13 bool        "write multisampled colours uncompressed";
        INDEPENDENT_COLORFORMAT_ENABLE        independent_colorformat_enable        14:14 bool        "each target has a format of its own, else all have target A's";
    }

    Rb3dBlendcntl "RB3D_BLENDCNTL" @ 0x4e04 ReadWrite "blending of colours, and of alpha unless separate." {
        ALPHA_BLEND_ENABLE    alpha_blend_enable    0:0   bool          "blending";
        SEPARATE_ALPHA_ENABLE separate_alpha_enable 1:1   bool          "alpha blends by RB3D_ABLENDCNTL";
        READ_ENABLE           read_enable           2:2   bool          "read the destination";
        DISCARD_SRC_PIXELS    discard_src_pixels    5:3   DiscardSrc    "pixels that blending cannot change";
        COMB_FCN              comb_fcn              14:12 BlendFunction "how the products combine";
        SRCBLEND              srcblend              21:16 SrcBlend      "factor of the source";
        DESTBLEND             destblend             29:24 DestBlend     "factor of the destination";
        SRC_ALPHA_0_NO_READ   src_alpha_0_no_read   30:30 bool          "do not read the destination where source alpha is 0";
        SRC_ALPHA_1_NO_READ   src_alpha_1_no_read   31:31 bool          "do not read the destination where source alpha is 1";
    }

    Rb3dAblendcntl "RB3D_ABLENDCNTL" @ 0x4e08 ReadWrite "blending of alpha, if separate." {
        COMB_FCN  comb_fcn  14:12 BlendFunction "how the products combine";
        SRCBLEND  srcblend  21:16 SrcBlend      "factor of the source";
        DESTBLEND destblend 29:24 DestBlend     "factor of the destination";
    }

    Rb3dColorChannelMask "RB3D_COLOR_CHANNEL_MASK" @ 0x4e0c ReadWrite "components that are written, by target." {
        BLUE_MASK   blue_mask   0:0   bool "target A: write component C0";
        GREEN_MASK  green_mask  1:1   bool "target A: write component C1";
        RED_MASK    red_mask    2:2   bool "target A: write component C2";
        ALPHA_MASK  alpha_mask  3:3   bool "target A: write component C3";
        BLUE_MASK1  blue_mask1  4:4   bool "target B: write component C0";
        GREEN_MASK1 green_mask1 5:5   bool "target B: write component C1";
        RED_MASK1   red_mask1   6:6   bool "target B: write component C2";
        ALPHA_MASK1 alpha_mask1 7:7   bool "target B: write component C3";
        BLUE_MASK2  blue_mask2  8:8   bool "target C: write component C0";
        GREEN_MASK2 green_mask2 9:9   bool "target C: write component C1";
        RED_MASK2   red_mask2   10:10 bool "target C: write component C2";
        ALPHA_MASK2 alpha_mask2 11:11 bool "target C: write component C3";
        BLUE_MASK3  blue_mask3  12:12 bool "target D: write component C0";
        GREEN_MASK3 green_mask3 13:13 bool "target D: write component C1";
        RED_MASK3   red_mask3   14:14 bool "target D: write component C2";
        ALPHA_MASK3 alpha_mask3 15:15 bool "target D: write component C3";
    }

    Rb3dConstantColor "RB3D_CONSTANT_COLOR" @ 0x4e10 ReadWrite "blend constant of 8-bit targets." {
        BLUE  blue  7:0   u8 "blue";
        GREEN green 15:8  u8 "green";
        RED   red   23:16 u8 "red";
        ALPHA alpha 31:24 u8 "alpha";
    }

    Rb3dColorClearValue "RB3D_COLOR_CLEAR_VALUE" @ 0x4e14 ReadWrite "fast clear colour." {
        BLUE  blue  7:0   u8 "blue";
        GREEN green 15:8  u8 "green";
        RED   red   23:16 u8 "red";
        ALPHA alpha 31:24 u8 "alpha";
    }

    Rb3dRopcntl "RB3D_ROPCNTL" @ 0x4e18 ReadWrite "logic operation." {
        ROP_ENABLE rop_enable 2:2   bool "logic operation instead of blending";
        ROP        rop        11:8  u8   "operation, a ROP2 code: bit n is the result where source is bit 1 and destination bit 0 of n";
    }

    Rb3dClrcmpFlipe "RB3D_CLRCMP_FLIPE" @ 0x4e1c ReadWrite "colour compare: where it applies." {
        CLRCMP_FLIPE clrcmp_flipe 31:0  u32 "mode";
    }

    Rb3dClrcmpClr "RB3D_CLRCMP_CLR" @ 0x4e20 ReadWrite "colour compare: colour." {
        CLRCMP_CLR clrcmp_clr 31:0  u32 "colour";
    }

    Rb3dClrcmpMsk "RB3D_CLRCMP_MSK" @ 0x4e24 ReadWrite "colour compare: mask." {
        CLRCMP_MSK clrcmp_msk 31:0  u32 "mask";
    }

    Rb3dColoroffset "RB3D_COLOROFFSET" @ 0x4e28 * 4 [Plain 4] ReadWrite "address of a render target." {
        COLOROFFSET coloroffset 31:5  u32 "address / 32";
    }

    Rb3dColorpitch "RB3D_COLORPITCH" @ 0x4e38 * 4 [Plain 4] ReadWrite "layout and format of a render target." {
        COLORPITCH     colorpitch     13:1  u16         "pixels in a row / 2";
        COLORTILE      colortile      16:16 bool        "macro tiles";
        COLORMICROTILE colormicrotile 18:17 MicroTile   "micro tiles";
        COLORENDIAN    colorendian    20:19 Endian      "byte order";
        COLORFORMAT    colorformat    24:21 ColorFormat "format";
    }

    Rb3dDstcacheCtlstat "RB3D_DSTCACHE_CTLSTAT" @ 0x4e4c ReadWrite "colour cache." {
        DC_FLUSH  dc_flush  1:0   CacheFlush "write dirty lines";
        DC_FREE   dc_free   3:2   CacheFree  "free lines";
        DC_FINISH dc_finish 4:4   bool       "signal when done";
    }

    Rb3dDitherCtl "RB3D_DITHER_CTL" @ 0x4e50 ReadWrite "dithering." {
        DITHER_MODE       dither_mode       1:0   DitherMode "colours";
        ALPHA_DITHER_MODE alpha_dither_mode 3:2   DitherMode "alpha";
    }

    Rb3dAaresolveOffset "RB3D_AARESOLVE_OFFSET" @ 0x4e80 ReadWrite "address of the target of a resolve." {
        AARESOLVE_OFFSET aaresolve_offset 31:5  u32 "address / 32";
    }

    Rb3dAaresolvePitch "RB3D_AARESOLVE_PITCH" @ 0x4e84 ReadWrite "pitch of the target of a resolve." {
        AARESOLVE_PITCH aaresolve_pitch 13:1  u16 "pixels in a row / 2";
    }

    Rb3dAaresolveCtl "RB3D_AARESOLVE_CTL" @ 0x4e88 ReadWrite "resolve of multisampled colours." {
        AARESOLVE_MODE  aaresolve_mode  0:0   bool                 "draws resolve target A";
        AARESOLVE_GAMMA aaresolve_gamma 1:1   bool [RESOLVE_GAMMA] "gamma of the mean";
        AARESOLVE_ALPHA aaresolve_alpha 2:2   bool [RESOLVE_ALPHA] "alpha";
    }

    Rb3dDiscardSrcPixelLteThreshold "RB3D_DISCARD_SRC_PIXEL_LTE_THRESHOLD" @ 0x4ea0 ReadWrite "upper threshold of DISCARD_SRC_PIXELS." {
        BLUE  blue  7:0   u8 "threshold of blue, 0 to 255";
        GREEN green 15:8  u8 "threshold of green, 0 to 255";
        RED   red   23:16 u8 "threshold of red, 0 to 255";
        ALPHA alpha 31:24 u8 "threshold of alpha, 0 to 255";
    }

    Rb3dDiscardSrcPixelGteThreshold "RB3D_DISCARD_SRC_PIXEL_GTE_THRESHOLD" @ 0x4ea4 ReadWrite "lower threshold of DISCARD_SRC_PIXELS." {
        BLUE  blue  7:0   u8 "threshold of blue, 0 to 255";
        GREEN green 15:8  u8 "threshold of green, 0 to 255";
        RED   red   23:16 u8 "threshold of red, 0 to 255";
        ALPHA alpha 31:24 u8 "threshold of alpha, 0 to 255";
    }

    Rb3dFifoSize "RB3D_FIFO_SIZE" @ 0x4ef4 ReadWrite "size of the render backend's queue." {
        OP_FIFO_SIZE op_fifo_size 1:0   FifoSize "size";
    }

    Rb3dConstantColorAr "RB3D_CONSTANT_COLOR_AR" @ 0x4ef8 ReadWrite "blend constant, alpha and red: 10-bit fixed point or float16." {
        RED   red   15:0  u16 "red";
        ALPHA alpha 31:16 u16 "alpha";
    }

    Rb3dConstantColorGb "RB3D_CONSTANT_COLOR_GB" @ 0x4efc ReadWrite "blend constant, green and blue: 10-bit fixed point or float16." {
        BLUE  blue  15:0  u16 "blue";
        GREEN green 31:16 u16 "green";
    }
}
