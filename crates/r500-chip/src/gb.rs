//! Registers of the geometry backend (`GB`): raster pipes, sample positions, generated coordinates.
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Gb;

    GbEnable "GB_ENABLE" @ 0x4008 ReadWrite "coordinates that the geometry assembly makes up." {
        POINT_STUFF_ENABLE    point_stuff_enable    0:0   bool        "points get made-up coordinates";
        LINE_STUFF_ENABLE     line_stuff_enable     1:1   bool        "lines get made-up coordinates";
        TRIANGLE_STUFF_ENABLE triangle_stuff_enable 2:2   bool        "triangles get made-up coordinates";
        STENCIL_AUTO          stencil_auto          5:4   StencilAuto "automatic stencil operation by face";
        TEX0_SOURCE           tex0_source           17:16 TexSource   "where texture coordinate 0 comes from";
        TEX1_SOURCE           tex1_source           19:18 TexSource   "where texture coordinate 1 comes from";
        TEX2_SOURCE           tex2_source           21:20 TexSource   "where texture coordinate 2 comes from";
        TEX3_SOURCE           tex3_source           23:22 TexSource   "where texture coordinate 3 comes from";
        TEX4_SOURCE           tex4_source           25:24 TexSource   "where texture coordinate 4 comes from";
        TEX5_SOURCE           tex5_source           27:26 TexSource   "where texture coordinate 5 comes from";
        TEX6_SOURCE           tex6_source           29:28 TexSource   "where texture coordinate 6 comes from";
        TEX7_SOURCE           tex7_source           31:30 TexSource   "where texture coordinate 7 comes from";
    }

    GbMspos0 "GB_MSPOS0" @ 0x4010 ReadWrite "positions of samples 0 to 2." {
        MS_X0   ms_x0   3:0   u8 "x of sample 0 in twelfths of a pixel";
        MS_Y0   ms_y0   7:4   u8 "y of sample 0 in twelfths of a pixel";
        MS_X1   ms_x1   11:8  u8 "x of sample 1 in twelfths of a pixel";
        MS_Y1   ms_y1   15:12 u8 "y of sample 1 in twelfths of a pixel";
        MS_X2   ms_x2   19:16 u8 "x of sample 2 in twelfths of a pixel";
        MS_Y2   ms_y2   23:20 u8 "y of sample 2 in twelfths of a pixel";
        MSBD0_Y msbd0_y 27:24 u8 "least y distance of a sample from the pixel's edge";
        MSBD0_X msbd0_x 31:28 u8 "least x distance of a sample from the pixel's edge";
    }

    GbMspos1 "GB_MSPOS1" @ 0x4014 ReadWrite "positions of samples 3 to 5." {
        MS_X3 ms_x3 3:0   u8 "x of sample 3 in twelfths of a pixel";
        MS_Y3 ms_y3 7:4   u8 "y of sample 3 in twelfths of a pixel";
        MS_X4 ms_x4 11:8  u8 "x of sample 4 in twelfths of a pixel";
        MS_Y4 ms_y4 15:12 u8 "y of sample 4 in twelfths of a pixel";
        MS_X5 ms_x5 19:16 u8 "x of sample 5 in twelfths of a pixel";
        MS_Y5 ms_y5 23:20 u8 "y of sample 5 in twelfths of a pixel";
        MSBD1 msbd1 27:24 u8 "least distance of a sample from the pixel's edges";
    }

    GbTileConfig "GB_TILE_CONFIG" @ 0x4018 ReadWrite "division of the screen among raster pipes, and the subpixel grid." {
        ENABLE        enable        0:0   bool              "several pipes, a tile each";
        PIPE_COUNT    pipe_count    3:1   PipeCount         "raster pipes";
        TILE_SIZE     tile_size     5:4   TileSize          "side of a tile";
        SUPER_SIZE    super_size    8:6   SuperSize         "tiles of a super tile";
        SUPER_X       super_x       11:9  u8                "x of this chip's super tile";
        SUPER_Y       super_y       14:12 u8                "y of this chip's super tile";
        SUPER_TILE    super_tile    15:15 bool [SUPER_TILE] "which half of the super tiles";
        SUBPIXEL      subpixel      16:16 bool [SUBPIXEL]   "grid of vertex positions";
        QUADS_PER_RAS quads_per_ras 18:17 QuadsPerRas       "quads that a pipe handles at a time";
        BB_SCAN       bb_scan       19:19 bool [BB_SCAN]    "scan conversion";
        ALT_SCAN_EN   alt_scan_en   20:20 bool [ALT_SCAN]   "direction of rows";
        ALT_OFFSET    alt_offset    21:21 bool              "not used";
        SUBPRECISION  subprecision  22:22 bool              "precision of scan conversion";
        ALT_TILING    alt_tiling    23:23 bool              "3x2 tiling with three pipes";
        Z_EXTENDED    z_extended    24:24 bool              "extended depth range";
    }

    GbSelect "GB_SELECT" @ 0x401c ReadWrite "which values travel as fog, depth and w." {
        FOG_SELECT       fog_select       2:0   FogSelect           "fog value";
        DEPTH_SELECT     depth_select     3:3   bool [DEPTH_SELECT] "depth";
        W_SELECT         w_select         4:4   bool [W_SELECT]     "w";
        FOG_STUFF_ENABLE fog_stuff_enable 5:5   bool                "fog value into a texture coordinate";
        FOG_STUFF_TEX    fog_stuff_tex    9:6   u8                  "texture coordinate that receives the fog value";
        FOG_STUFF_COMP   fog_stuff_comp   11:10 u8                  "its component";
    }

    GbAaConfig "GB_AA_CONFIG" @ 0x4020 ReadWrite "multisampling." {
        AA_ENABLE         aa_enable         0:0   bool      "several samples a pixel";
        NUM_AA_SUBSAMPLES num_aa_subsamples 2:1   AaSamples "how many";
    }

    GbFifoSize "GB_FIFO_SIZE" @ 0x4024 ReadWrite "sizes of queues." {
        SC_IFIFO_SIZE          sc_ififo_size          1:0   Words32To256 "scan converter, input";
        SC_TZFIFO_SIZE         sc_tzfifo_size         3:2   Words16To128 "scan converter, tile depth";
        SC_BFIFO_SIZE          sc_bfifo_size          5:4   Words32To256 "scan converter, B";
        RS_TFIFO_SIZE          rs_tfifo_size          7:6   Words64To512 "rasteriser, texture coordinates";
        RS_CFIFO_SIZE          rs_cfifo_size          9:8   Words64To512 "rasteriser, colours";
        US_RAM_SIZE            us_ram_size            11:10 Words64To512 "fragment processor, memory";
        US_OFIFO_SIZE          us_ofifo_size          13:12 Words16To128 "fragment processor, output";
        US_WFIFO_SIZE          us_wfifo_size          15:14 Words16To128 "fragment processor, w";
        RS_HIGHWATER_COL       rs_highwater_col       18:16 u8           "high-water mark of rasteriser colours";
        RS_HIGHWATER_TEX       rs_highwater_tex       21:19 u8           "high-water mark of rasteriser texture coordinates";
        US_OFIFO_HIGHWATER     us_ofifo_highwater     23:22 Words0To12   "high-water mark of fragment processor output";
        US_CUBE_FIFO_HIGHWATER us_cube_fifo_highwater 28:24 u8           "high-water mark of cube map coordinates";
    }

    GbZPeqConfig "GB_Z_PEQ_CONFIG" @ 0x4028 ReadWrite "depth plane equations." {
        Z_PEQ_SIZE z_peq_size 0:0   bool [Z_PEQ_SIZE] "pixels that one plane equation covers";
    }

    GbPipeSelect "GB_PIPE_SELECT" @ 0x402c ReadWrite "which pipes are in use." {
        PIPE0_ID     pipe0_id     1:0   u8   "logical number of pipe 0";
        PIPE1_ID     pipe1_id     3:2   u8   "logical number of pipe 1";
        PIPE2_ID     pipe2_id     5:4   u8   "logical number of pipe 2";
        PIPE3_ID     pipe3_id     7:6   u8   "logical number of pipe 3";
        PIPE_MASK    pipe_mask    11:8  u8   "pipes in use, one bit each";
        MAX_PIPE     max_pipe     13:12 u8   "pipes, minus 1";
        BAD_PIPES    bad_pipes    17:14 u8   "pipes that do not work, one bit each";
        CONFIG_PIPES config_pipes 18:18 bool "find the pipes anew";
    }

    GbFifoSize1 "GB_FIFO_SIZE1" @ 0x4070 ReadWrite "high-water marks of queues." {
        SC_HIGHWATER_IFIFO sc_highwater_ififo 5:0   u8 "scan converter, input";
        SC_HIGHWATER_BFIFO sc_highwater_bfifo 11:6  u8 "scan converter, B";
        RS_HIGHWATER_COL   rs_highwater_col   17:12 u8 "rasteriser, colours";
        RS_HIGHWATER_TEX   rs_highwater_tex   23:18 u8 "rasteriser, texture coordinates";
    }

    Ps3Enable "PS3_ENABLE" @ 0x4118 ReadWrite "ten texture coordinates (pixel shader 3.0 mode)." {
        PS3_MODE ps3_mode 0:0   bool "PS3_VTX_FMT and PS3_TEX_SOURCE count";
    }

    Ps3VtxFmt "PS3_VTX_FMT" @ 0x411c ReadWrite "texture coordinates of a vertex in pixel shader 3.0 mode." {
        TEX_0_COMP_CNT  tex_0_comp_cnt  2:0   TexComponents   "components of texture coordinate 0";
        TEX_1_COMP_CNT  tex_1_comp_cnt  5:3   TexComponents   "components of texture coordinate 1";
        TEX_2_COMP_CNT  tex_2_comp_cnt  8:6   TexComponents   "components of texture coordinate 2";
        TEX_3_COMP_CNT  tex_3_comp_cnt  11:9  TexComponents   "components of texture coordinate 3";
        TEX_4_COMP_CNT  tex_4_comp_cnt  14:12 TexComponents   "components of texture coordinate 4";
        TEX_5_COMP_CNT  tex_5_comp_cnt  17:15 TexComponents   "components of texture coordinate 5";
        TEX_6_COMP_CNT  tex_6_comp_cnt  20:18 TexComponents   "components of texture coordinate 6";
        TEX_7_COMP_CNT  tex_7_comp_cnt  23:21 TexComponents   "components of texture coordinate 7";
        TEX_8_COMP_CNT  tex_8_comp_cnt  26:24 TexComponents   "components of texture coordinate 8";
        TEX_9_COMP_CNT  tex_9_comp_cnt  29:27 TexComponents   "components of texture coordinate 9";
        TEX_10_COMP_CNT tex_10_comp_cnt 31:30 TexComponents10 "components of texture coordinate 10";
    }

    Ps3TexSource "PS3_TEX_SOURCE" @ 0x4120 ReadWrite "where texture coordinates come from in pixel shader 3.0 mode." {
        TEX0_SOURCE tex0_source 1:0   TexSource "where texture coordinate 0 comes from";
        TEX1_SOURCE tex1_source 3:2   TexSource "where texture coordinate 1 comes from";
        TEX2_SOURCE tex2_source 5:4   TexSource "where texture coordinate 2 comes from";
        TEX3_SOURCE tex3_source 7:6   TexSource "where texture coordinate 3 comes from";
        TEX4_SOURCE tex4_source 9:8   TexSource "where texture coordinate 4 comes from";
        TEX5_SOURCE tex5_source 11:10 TexSource "where texture coordinate 5 comes from";
        TEX6_SOURCE tex6_source 13:12 TexSource "where texture coordinate 6 comes from";
        TEX7_SOURCE tex7_source 15:14 TexSource "where texture coordinate 7 comes from";
        TEX8_SOURCE tex8_source 17:16 TexSource "where texture coordinate 8 comes from";
        TEX9_SOURCE tex9_source 19:18 TexSource "where texture coordinate 9 comes from";
    }
}
