//! Registers of the geometry assembly (`GA`): points, lines, polygon mode, shading.
//!
//! `GA_US_VECTOR_INDEX` and `GA_US_VECTOR_DATA` are in `r500_isa::state`.
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Ga;

    GaPointS0 "GA_POINT_S0" @ 0x4200 ReadWrite "made-up coordinate of points." {
        S0 s0 31:0  f32 "S at the left edge of a point";
    }

    GaPointT0 "GA_POINT_T0" @ 0x4204 ReadWrite "made-up coordinate of points." {
        T0 t0 31:0  f32 "T at the bottom edge of a point";
    }

    GaPointS1 "GA_POINT_S1" @ 0x4208 ReadWrite "made-up coordinate of points." {
        S1 s1 31:0  f32 "S at the right edge of a point";
    }

    GaPointT1 "GA_POINT_T1" @ 0x420c ReadWrite "made-up coordinate of points." {
        T1 t1 31:0  f32 "T at the top edge of a point";
    }

    GaTriangleStipple "GA_TRIANGLE_STIPPLE" @ 0x4214 ReadWrite "shift of the triangle stipple." {
        X_SHIFT x_shift 3:0   u8 "shift in x";
        Y_SHIFT y_shift 19:16 u8 "shift in y";
    }

    GaPointSize "GA_POINT_SIZE" @ 0x421c ReadWrite "size of points without a size of their own." {
        HEIGHT height 15:0  u16 "height in sixths of a pixel";
        WIDTH  width  31:16 u16 "width in sixths of a pixel";
    }

    GaFillR "GA_FILL_R" @ 0x4220 ReadWrite "solid fill colour, red." {
        COLOR_RED color_red 31:0  f32 "component";
    }

    GaFillG "GA_FILL_G" @ 0x4224 ReadWrite "solid fill colour, green." {
        COLOR_GREEN color_green 31:0  f32 "component";
    }

    GaFillB "GA_FILL_B" @ 0x4228 ReadWrite "solid fill colour, blue." {
        COLOR_BLUE color_blue 31:0  f32 "component";
    }

    GaFillA "GA_FILL_A" @ 0x422c ReadWrite "solid fill colour, alpha." {
        COLOR_ALPHA color_alpha 31:0  f32 "component";
    }

    GaPointMinmax "GA_POINT_MINMAX" @ 0x4230 ReadWrite "limits of point sizes." {
        MIN_SIZE min_size 15:0  u16 "least size in sixths of a pixel";
        MAX_SIZE max_size 31:16 u16 "greatest size in sixths of a pixel";
    }

    GaLineCntl "GA_LINE_CNTL" @ 0x4234 ReadWrite "lines." {
        WIDTH    width    15:0  u16              "width in sixths of a pixel";
        END_TYPE end_type 17:16 LineEnd          "ends of lines";
        SORT     sort     18:18 bool [LINE_SORT] "order of end points";
    }

    GaLineStippleConfig "GA_LINE_STIPPLE_CONFIG" @ 0x4238 ReadWrite "line stipple." {
        LINE_RESET    line_reset    1:0   StippleReset "when the pattern starts anew";
        STIPPLE_SCALE stipple_scale 31:2  u32          "pattern steps a pixel: a float32 without its two lowest bits";
    }

    GaColorControlPs3 "GA_COLOR_CONTROL_PS3" @ 0x4258 ReadWrite "shading in pixel shader 3.0 mode." {
        TEX0_SHADING_PS3    tex0_shading_ps3    1:0   Shading     "shading of texture coordinate 0";
        TEX1_SHADING_PS3    tex1_shading_ps3    3:2   Shading     "shading of texture coordinate 1";
        TEX2_SHADING_PS3    tex2_shading_ps3    5:4   Shading     "shading of texture coordinate 2";
        TEX3_SHADING_PS3    tex3_shading_ps3    7:6   Shading     "shading of texture coordinate 3";
        TEX4_SHADING_PS3    tex4_shading_ps3    9:8   Shading     "shading of texture coordinate 4";
        TEX5_SHADING_PS3    tex5_shading_ps3    11:10 Shading     "shading of texture coordinate 5";
        TEX6_SHADING_PS3    tex6_shading_ps3    13:12 Shading     "shading of texture coordinate 6";
        TEX7_SHADING_PS3    tex7_shading_ps3    15:14 Shading     "shading of texture coordinate 7";
        TEX8_SHADING_PS3    tex8_shading_ps3    17:16 Shading     "shading of texture coordinate 8";
        TEX9_SHADING_PS3    tex9_shading_ps3    19:18 Shading     "shading of texture coordinate 9";
        TEX10_SHADING_PS3   tex10_shading_ps3   21:20 Shading     "shading of texture coordinate 10";
        COLOR0_TEX_OVERRIDE color0_tex_override 25:22 TexOverride "texture coordinate that replaces colour 0";
        COLOR1_TEX_OVERRIDE color1_tex_override 29:26 TexOverride "texture coordinate that replaces colour 1";
    }

    GaIdle "GA_IDLE" @ 0x425c ReadWrite "which blocks are idle." {
        PIPE3_Z_IDLE  pipe3_z_idle  0:0   bool "Z of pipe 3 is idle";
        PIPE2_Z_IDLE  pipe2_z_idle  1:1   bool "Z of pipe 2 is idle";
        PIPE3_CB_IDLE pipe3_cb_idle 2:2   bool "CB of pipe 3 is idle";
        PIPE2_CB_IDLE pipe2_cb_idle 3:3   bool "CB of pipe 2 is idle";
        PIPE3_FG_IDLE pipe3_fg_idle 4:4   bool "FG of pipe 3 is idle";
        PIPE2_FG_IDLE pipe2_fg_idle 5:5   bool "FG of pipe 2 is idle";
        PIPE3_US_IDLE pipe3_us_idle 6:6   bool "US of pipe 3 is idle";
        PIPE2_US_IDLE pipe2_us_idle 7:7   bool "US of pipe 2 is idle";
        PIPE3_SC_IDLE pipe3_sc_idle 8:8   bool "SC of pipe 3 is idle";
        PIPE2_SC_IDLE pipe2_sc_idle 9:9   bool "SC of pipe 2 is idle";
        PIPE3_RS_IDLE pipe3_rs_idle 10:10 bool "RS of pipe 3 is idle";
        PIPE2_RS_IDLE pipe2_rs_idle 11:11 bool "RS of pipe 2 is idle";
        PIPE1_Z_IDLE  pipe1_z_idle  12:12 bool "Z of pipe 1 is idle";
        PIPE0_Z_IDLE  pipe0_z_idle  13:13 bool "Z of pipe 0 is idle";
        PIPE1_CB_IDLE pipe1_cb_idle 14:14 bool "CB of pipe 1 is idle";
        PIPE0_CB_IDLE pipe0_cb_idle 15:15 bool "CB of pipe 0 is idle";
        PIPE1_FG_IDLE pipe1_fg_idle 16:16 bool "FG of pipe 1 is idle";
        PIPE0_FG_IDLE pipe0_fg_idle 17:17 bool "FG of pipe 0 is idle";
        PIPE1_US_IDLE pipe1_us_idle 18:18 bool "US of pipe 1 is idle";
        PIPE0_US_IDLE pipe0_us_idle 19:19 bool "US of pipe 0 is idle";
        PIPE1_SC_IDLE pipe1_sc_idle 20:20 bool "SC of pipe 1 is idle";
        PIPE0_SC_IDLE pipe0_sc_idle 21:21 bool "SC of pipe 0 is idle";
        PIPE1_RS_IDLE pipe1_rs_idle 22:22 bool "RS of pipe 1 is idle";
        PIPE0_RS_IDLE pipe0_rs_idle 23:23 bool "RS of pipe 0 is idle";
        SU_IDLE       su_idle       24:24 bool "SU is idle";
        GA_IDLE       ga_idle       25:25 bool "GA is idle";
        GA_UNIT2_IDLE ga_unit2_idle 26:26 bool "second unit of GA is idle";
    }

    GaLineStippleValue "GA_LINE_STIPPLE_VALUE" @ 0x4260 ReadWrite "state of the line stipple." {
        STIPPLE_VALUE stipple_value 31:0  f32 "position in the pattern";
    }

    GaLineS0 "GA_LINE_S0" @ 0x4264 ReadWrite "made-up coordinate of lines." {
        S0 s0 31:0  f32 "S at the start of a line";
    }

    GaLineS1 "GA_LINE_S1" @ 0x4268 ReadWrite "made-up coordinate of lines." {
        S1 s1 31:0  f32 "S at the end of a line";
    }

    GaFifoCntl "GA_FIFO_CNTL" @ 0x4270 ReadWrite "depths of queues." {
        VERTEX_FIFO vertex_fifo 2:0   u8 "vertices";
        INDEX_FIFO  index_fifo  5:3   u8 "indices";
        REG_FIFO    reg_fifo    13:6  u8 "register writes";
    }

    GaEnhance "GA_ENHANCE" @ 0x4274 ReadWrite "switches of the geometry assembly." {
        DEADLOCK_CNTL deadlock_cntl 0:0   bool "keep the vertex interface from deadlock";
        FASTSYNC_CNTL fastsync_cntl 1:1   bool "switch fast between registers and primitives";
        REG_READWRITE reg_readwrite 2:2   bool "registers are read and written at the same time";
        REG_NOSTALL   reg_nostall   3:3   bool "register reads do not stall";
    }

    GaColorControl "GA_COLOR_CONTROL" @ 0x4278 ReadWrite "shading of colours and the provoking vertex." {
        RGB0_SHADING     rgb0_shading     1:0   Shading         "shading of RGB of colour 0";
        ALPHA0_SHADING   alpha0_shading   3:2   Shading         "shading of ALPHA of colour 0";
        RGB1_SHADING     rgb1_shading     5:4   Shading         "shading of RGB of colour 1";
        ALPHA1_SHADING   alpha1_shading   7:6   Shading         "shading of ALPHA of colour 1";
        RGB2_SHADING     rgb2_shading     9:8   Shading         "shading of RGB of colour 2";
        ALPHA2_SHADING   alpha2_shading   11:10 Shading         "shading of ALPHA of colour 2";
        RGB3_SHADING     rgb3_shading     13:12 Shading         "shading of RGB of colour 3";
        ALPHA3_SHADING   alpha3_shading   15:14 Shading         "shading of ALPHA of colour 3";
        PROVOKING_VERTEX provoking_vertex 17:16 ProvokingVertex "whose colours flat primitives have";
    }

    GaSolidRg "GA_SOLID_RG" @ 0x427c ReadWrite "solid fill colour, red and green." {
        COLOR_GREEN color_green 15:0  u16 "green";
        COLOR_RED   color_red   31:16 u16 "red";
    }

    GaSolidBa "GA_SOLID_BA" @ 0x4280 ReadWrite "solid fill colour, blue and alpha." {
        COLOR_ALPHA color_alpha 15:0  u16 "alpha";
        COLOR_BLUE  color_blue  31:16 u16 "blue";
    }

    GaPolyMode "GA_POLY_MODE" @ 0x4288 ReadWrite "polygon mode: triangles drawn as points or lines." {
        POLY_MODE   poly_mode   1:0   PolyMode    "on or off";
        FRONT_PTYPE front_ptype 6:4   PolygonFill "front faces";
        BACK_PTYPE  back_ptype  9:7   PolygonFill "back faces";
    }

    GaRoundMode "GA_ROUND_MODE" @ 0x428c ReadWrite "rounding of positions and colours." {
        GEOMETRY_ROUND geometry_round 1:0   Rounding           "positions to the subpixel grid";
        COLOR_ROUND    color_round    3:2   Rounding           "colours";
        RGB_CLAMP      rgb_clamp      4:4   bool [COLOR_CLAMP] "range of RGB";
        ALPHA_CLAMP    alpha_clamp    5:5   bool [COLOR_CLAMP] "range of alpha";
        GEOMETRY_MASK  geometry_mask  9:6   u8                 "low bits of positions to clear";
    }

    GaOffset "GA_OFFSET" @ 0x4290 ReadWrite "offset of all window positions." {
        X_OFFSET x_offset 15:0  u16 "x";
        Y_OFFSET y_offset 31:16 u16 "y";
    }

    GaFogScale "GA_FOG_SCALE" @ 0x4294 ReadWrite "scale of the fog value." {
        VALUE value 31:0  f32 "factor";
    }

    GaFogOffset "GA_FOG_OFFSET" @ 0x4298 ReadWrite "offset of the fog value." {
        VALUE value 31:0  f32 "added after scaling";
    }
}
