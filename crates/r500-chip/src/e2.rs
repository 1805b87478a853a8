//! Registers of the 2D engine (`E2`) that command streams name: the kernel's copies, and what programs may write. The virtual card does
//! not execute its operations.
//!
//! Names, bits and values: `radeon_reg.h` of the Linux kernel's radeon driver; the register documents do not have them.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    E2;

    SrcPitchOffset "SRC_PITCH_OFFSET" @ 0x1428 ReadWrite "the surface that is read." {
        OFFSET offset 21:0  u32        "address / 1024";
        PITCH  pitch  29:22 u8         "row / 64 bytes";
        TILE   tile   31:30 u8         "tiling: 1 macro, 2 micro";
    }

    DstPitchOffset "DST_PITCH_OFFSET" @ 0x142c ReadWrite "the surface that is written." {
        OFFSET offset 21:0  u32        "address / 1024";
        PITCH  pitch  29:22 u8         "row / 64 bytes";
        TILE   tile   31:30 u8         "tiling: 1 macro, 2 micro";
    }

    SrcYX "SRC_Y_X" @ 0x1434 ReadWrite "corner of the rectangle that is read." {
        SRC_X src_x 15:0  u16 "column";
        SRC_Y src_y 31:16 u16 "row";
    }

    DstYX "DST_Y_X" @ 0x1438 ReadWrite "corner of the rectangle that is written." {
        DST_X dst_x 15:0  u16 "column";
        DST_Y dst_y 31:16 u16 "row";
    }

    DstHeightWidth "DST_HEIGHT_WIDTH" @ 0x143c ReadWrite "size of the rectangle; the write starts the operation." {
        DST_WIDTH  dst_width  15:0  u16 "columns";
        DST_HEIGHT dst_height 31:16 u16 "rows";
    }

    DpGuiMasterCntl "DP_GUI_MASTER_CNTL" @ 0x146c ReadWrite "the operation." {
        GMC_SRC_PITCH_OFFSET_CNTL gmc_src_pitch_offset_cntl 0:0   bool     "SRC_PITCH_OFFSET is used, else the default surface";
        GMC_DST_PITCH_OFFSET_CNTL gmc_dst_pitch_offset_cntl 1:1   bool     "DST_PITCH_OFFSET is used, else the default surface";
        GMC_SRC_CLIPPING          gmc_src_clipping          2:2   bool     "clips what is read";
        GMC_DST_CLIPPING          gmc_dst_clipping          3:3   bool     "clips what is written";
        GMC_BRUSH_DATATYPE        gmc_brush_datatype        7:4   GmcBrush "pattern";
        GMC_DST_DATATYPE          gmc_dst_datatype          11:8  GmcDst   "format of pixels";
        GMC_SRC_DATATYPE          gmc_src_datatype          13:12 u8       "format of the source: 0 and 1 one bit a pixel, 3 as the destination";
        ROP3                      rop3                      23:16 u8       "operation on pattern, source and destination: 0xcc source, 0xf0 pattern";
        DP_SRC_SOURCE             dp_src_source             26:24 u8       "where the source comes from: 2 memory, 3 the host";
        GMC_CLR_CMP_CNTL_DIS      gmc_clr_cmp_cntl_dis      28:28 bool     "no comparison of colours";
        GMC_WR_MSK_DIS            gmc_wr_msk_dis            30:30 bool     "DP_WRITE_MASK is not used";
    }

    DpBrushBkgdClr "DP_BRUSH_BKGD_CLR" @ 0x1478 ReadWrite "second colour of the pattern." {
        COLOR color 31:0 u32 "in the format of the destination";
    }

    DpBrushFrgdClr "DP_BRUSH_FRGD_CLR" @ 0x147c ReadWrite "colour of the pattern." {
        COLOR color 31:0 u32 "in the format of the destination";
    }

    DstWidthHeight "DST_WIDTH_HEIGHT" @ 0x1598 ReadWrite "size of the rectangle; the write starts the operation." {
        DST_HEIGHT dst_height 15:0  u16 "rows";
        DST_WIDTH  dst_width  31:16 u16 "columns";
    }

    DpSrcFrgdClr "DP_SRC_FRGD_CLR" @ 0x15d8 ReadWrite "colour of the set pixels of a source of one bit a pixel." {
        COLOR color 31:0 u32 "in the format of the destination";
    }

    DpSrcBkgdClr "DP_SRC_BKGD_CLR" @ 0x15dc ReadWrite "colour of the other pixels of a source of one bit a pixel." {
        COLOR color 31:0 u32 "in the format of the destination";
    }

    DpCntl "DP_CNTL" @ 0x16c0 ReadWrite "direction of the operation." {
        DST_X_LEFT_TO_RIGHT dst_x_left_to_right 0:0 bool "from left to right";
        DST_Y_TOP_TO_BOTTOM dst_y_top_to_bottom 1:1 bool "from top to bottom";
        DP_DST_TILE         dp_dst_tile         4:3 u8   "tiling: 1 macro, 2 micro";
    }

    DpDatatype "DP_DATATYPE" @ 0x16c4 ReadWrite "order of the host's data." {
        HOST_BIG_ENDIAN_EN host_big_endian_en 29:29 bool "upper bytes first";
    }

    DpWriteMask "DP_WRITE_MASK" @ 0x16cc ReadWrite "bits of pixels that are written." {
        MASK mask 31:0 u32 "in the format of the destination";
    }

    DefaultScBottomRight "DEFAULT_SC_BOTTOM_RIGHT" @ 0x16e8 ReadWrite "the clip rectangle where no other one is set." {
        DEFAULT_SC_RIGHT  default_sc_right  12:0  u16 "column after the last";
        DEFAULT_SC_BOTTOM default_sc_bottom 28:16 u16 "row after the last";
    }

    ScTopLeft "SC_TOP_LEFT" @ 0x16ec ReadWrite "corner of the clip rectangle." {
        SC_LEFT sc_left 15:0  u16 "column";
        SC_TOP  sc_top  31:16 u16 "row";
    }

    ScBottomRight "SC_BOTTOM_RIGHT" @ 0x16f0 ReadWrite "end of the clip rectangle." {
        SC_RIGHT  sc_right  15:0  u16 "column after the last";
        SC_BOTTOM sc_bottom 31:16 u16 "row after the last";
    }

    DstPipeConfig "DST_PIPE_CONFIG" @ 0x170c ReadWrite "division of the destination among pipes." {
        PIPE_AUTO_CONFIG pipe_auto_config 31:31 bool "as GB_TILE_CONFIG has it";
    }

    DstcacheCtlstat "DSTCACHE_CTLSTAT" @ 0x1714 ReadWrite "cache of the 2D engine." {
        RB2D_DC_FLUSH rb2d_dc_flush 1:0   u8   "3: write dirty lines";
        RB2D_DC_FREE  rb2d_dc_free  3:2   u8   "3: free lines";
        RB2D_DC_BUSY  rb2d_dc_busy  31:31 bool "it is at work";
    }

    Rb2dDstcacheMode "RB2D_DSTCACHE_MODE" @ 0x3428 ReadWrite "cache of the 2D engine." {
        DC_AUTOFLUSH_ENABLE     dc_autoflush_enable     8:8   bool "dirty lines are written by themselves";
        DC_DC_DISABLE_IGNORE_PE dc_dc_disable_ignore_pe 17:17 bool "a disabled cache ignores the pixel enable";
    }
}
