//! Registers of the render backend, depth and stencil (`ZB`).
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Zb;

    ZbCntl "ZB_CNTL" @ 0x4f00 ReadWrite "depth and stencil tests." {
        STENCIL_ENABLE             stencil_enable             0:0   bool                "stencil test";
        Z_ENABLE                   z_enable                   1:1   bool                "depth test";
        ZWRITEENABLE               zwriteenable               2:2   bool                "write depth";
        ZSIGNED_COMPARE            zsigned_compare            3:3   bool                "compare signed depth";
        STENCIL_FRONT_BACK         stencil_front_back         4:4   bool                "back faces have stencil operations of their own";
        ZSIGNED_MAGNITUDE          zsigned_magnitude          5:5   bool [SIGNED_DEPTH] "signed depth";
        STENCIL_REFMASK_FRONT_BACK stencil_refmask_front_back 6:6   bool                "back faces have reference value and masks of their own";
    }

    ZbZstencilcntl "ZB_ZSTENCILCNTL" @ 0x4f04 ReadWrite "functions of the depth and stencil tests." {
        ZFUNC            zfunc            2:0   CompareFunc "depth function";
        STENCILFUNC      stencilfunc      5:3   CompareFunc "front faces: stencil function";
        STENCILFAIL      stencilfail      8:6   StencilOp   "front faces: stencil test fails";
        STENCILZPASS     stencilzpass     11:9  StencilOp   "front faces: depth test passes";
        STENCILZFAIL     stencilzfail     14:12 StencilOp   "front faces: depth test fails";
        STENCILFUNC_BF   stencilfunc_bf   17:15 CompareFunc "back faces: stencil function";
        STENCILFAIL_BF   stencilfail_bf   20:18 StencilOp   "back faces: stencil test fails";
        STENCILZPASS_BF  stencilzpass_bf  23:21 StencilOp   "back faces: depth test passes";
        STENCILZFAIL_BF  stencilzfail_bf  26:24 StencilOp   "back faces: depth test fails";
        ZERO_OUTPUT_MASK zero_output_mask 27:27 bool        "colours are written nowhere";
    }

    ZbStencilrefmask "ZB_STENCILREFMASK" @ 0x4f08 ReadWrite "reference value and masks of the stencil test, front faces." {
        STENCILREF       stencilref       7:0   u8 "reference value";
        STENCILMASK      stencilmask      15:8  u8 "bits to compare";
        STENCILWRITEMASK stencilwritemask 23:16 u8 "bits to write";
    }

    ZbFormat "ZB_FORMAT" @ 0x4f10 ReadWrite "format of the depth buffer." {
        DEPTHFORMAT depthformat 3:0   DepthFormat "format";
        INVERT      invert      4:4   bool        "13E3: count leading ones, not zeros";
        PEQ8        peq8        5:5   bool        "plane equations of 8x8 pixels, not 4x4";
    }

    ZbZtop "ZB_ZTOP" @ 0x4f14 ReadWrite "early depth test." {
        ZTOP ztop 0:0   bool "depth and stencil tests before the fragment program";
    }

    ZbZcacheCtlstat "ZB_ZCACHE_CTLSTAT" @ 0x4f18 ReadWrite "depth cache." {
        ZC_FLUSH zc_flush 0:0   bool "write dirty lines and free them";
        ZC_FREE  zc_free  1:1   bool "free lines";
        ZC_BUSY  zc_busy  31:31 bool "cache busy";
    }

    ZbBwCntl "ZB_BW_CNTL" @ 0x4f1c ReadWrite "what saves memory bandwidth." {
        HIZ_ENABLE                           hiz_enable                           0:0   bool              "hierarchical depth";
        HIZ_MIN                              hiz_min                              1:1   bool [HIZ_MIN]    "depth kept of a tile";
        FAST_FILL                            fast_fill                            2:2   bool              "fast clears of depth";
        RD_COMP_ENABLE                       rd_comp_enable                       3:3   bool              "read compressed depth";
        WR_COMP_ENABLE                       wr_comp_enable                       4:4   bool              "write compressed depth";
        ZB_CB_CLEAR                          zb_cb_clear                          5:5   bool              "write ZB_DEPTHCLEARVALUE line by line (half of a colour clear)";
        FORCE_COMPRESSED_STENCIL_VALUE       force_compressed_stencil_value       6:6   bool              "stencil of compressed tiles is the clear value";
        ZEQUAL_OPTIMIZE_DISABLE              zequal_optimize_disable              7:7   bool              "write depth that does not change";
        SEQUAL_OPTIMIZE_DISABLE              sequal_optimize_disable              8:8   bool              "write stencil that does not change";
        BMASK_DISABLE                        bmask_disable                        10:10 bool              "no byte masks";
        HIZ_EQUAL_REJECT_ENABLE              hiz_equal_reject_enable              11:11 bool              "hierarchical depth rejects equal depth";
        HIZ_FP_EXP_BITS                      hiz_fp_exp_bits                      14:12 u8                "exponent bits of kept depth";
        HIZ_FP_INVERT                        hiz_fp_invert                        15:15 bool [HIZ_INVERT] "exponent of kept depth";
        TILE_OVERWRITE_RECOMPRESSION_DISABLE tile_overwrite_recompression_disable 16:16 bool              "tiles that are overwritten as a whole stay uncompressed";
        CONTIGUOUS_6XAA_SAMPLES_DISABLE      contiguous_6xaa_samples_disable      17:17 bool              "six samples do not lie together";
        PEQ_PACKING_ENABLE                   peq_packing_enable                   18:18 bool              "pack plane equations";
        COVERED_PTR_MASKING_ENABLE           covered_ptr_masking_enable           19:19 bool              "mask pointers of covered pixels";
    }

    ZbDepthoffset "ZB_DEPTHOFFSET" @ 0x4f20 ReadWrite "address of the depth buffer." {
        DEPTHOFFSET depthoffset 31:5  u32 "address / 32";
    }

    ZbDepthpitch "ZB_DEPTHPITCH" @ 0x4f24 ReadWrite "layout of the depth buffer." {
        DEPTHPITCH     depthpitch     13:2  u16       "pixels in a row / 4";
        DEPTHMACROTILE depthmacrotile 16:16 bool      "macro tiles";
        DEPTHMICROTILE depthmicrotile 18:17 MicroTile "micro tiles";
        DEPTHENDIAN    depthendian    20:19 Endian    "byte order";
    }

    ZbDepthclearvalue "ZB_DEPTHCLEARVALUE" @ 0x4f28 ReadWrite "value of fast clears." {
        DEPTHCLEARVALUE depthclearvalue 31:0  u32 "a pixel of the depth buffer";
    }

    ZbHizOffset "ZB_HIZ_OFFSET" @ 0x4f44 ReadWrite "hierarchical depth: start in its memory." {
        HIZ_OFFSET hiz_offset 17:2  u16 "dword";
    }

    ZbHizWrindex "ZB_HIZ_WRINDEX" @ 0x4f48 ReadWrite "hierarchical depth: where ZB_HIZ_DWORD writes." {
        HIZ_WRINDEX hiz_wrindex 17:2  u16 "dword; counts up by itself";
    }

    ZbHizDword "ZB_HIZ_DWORD" @ 0x4f4c ReadWrite "hierarchical depth: its memory." {
        HIZ_DWORD hiz_dword 31:0  u32 "a dword";
    }

    ZbHizRdindex "ZB_HIZ_RDINDEX" @ 0x4f50 ReadWrite "hierarchical depth: where ZB_HIZ_DWORD reads." {
        HIZ_RDINDEX hiz_rdindex 17:2  u16 "dword; counts up by itself";
    }

    ZbHizPitch "ZB_HIZ_PITCH" @ 0x4f54 ReadWrite "hierarchical depth: pitch." {
        HIZ_PITCH hiz_pitch 13:4  u16 "pixels in a row / 16";
    }

    ZbZpassData "ZB_ZPASS_DATA" @ 0x4f58 ReadWrite "occlusion count." {
        ZPASS_DATA zpass_data 31:0  u32 "samples that passed since it was written";
    }

    ZbZpassAddr "ZB_ZPASS_ADDR" @ 0x4f5c ReadWrite "where the occlusion count goes: writing it stores ZB_ZPASS_DATA there." {
        ZPASS_ADDR zpass_addr 31:2  u32 "address / 4";
    }

    ZbDepthxyOffset "ZB_DEPTHXY_OFFSET" @ 0x4f60 ReadWrite "offset between colour and depth buffer." {
        DEPTHX_OFFSET depthx_offset 11:1  u16 "x / 2";
        DEPTHY_OFFSET depthy_offset 27:17 u16 "y / 2";
    }

    ZbFifoSize "ZB_FIFO_SIZE" @ 0x4fd0 ReadWrite "size of the depth block's queue." {
        OP_FIFO_SIZE op_fifo_size 1:0   FifoSize "size";
    }

    ZbStencilrefmaskBf "ZB_STENCILREFMASK_BF" @ 0x4fd4 ReadWrite "reference value and masks of the stencil test, back faces." {
        STENCILREF       stencilref       7:0   u8 "reference value";
        STENCILMASK      stencilmask      15:8  u8 "bits to compare";
        STENCILWRITEMASK stencilwritemask 23:16 u8 "bits to write";
    }
}
