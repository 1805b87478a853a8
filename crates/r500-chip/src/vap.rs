//! Registers of the vertex and primitive processor (`VAP`): vertex fetch, vertex programs (PVS),
//! clipping and the viewport transform.
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Vap;

    VapVportXscale "VAP_VPORT_XSCALE" @ 0x1d98 | 0x2098 ReadWrite "viewport scale of x." {
        VPORT_XSCALE vport_xscale 31:0  f32 "x is multiplied by it";
    }

    VapVportXoffset "VAP_VPORT_XOFFSET" @ 0x1d9c | 0x209c ReadWrite "viewport offset of x." {
        VPORT_XOFFSET vport_xoffset 31:0  f32 "added to the scaled x";
    }

    VapVportYscale "VAP_VPORT_YSCALE" @ 0x1da0 | 0x20a0 ReadWrite "viewport scale of y." {
        VPORT_YSCALE vport_yscale 31:0  f32 "y is multiplied by it";
    }

    VapVportYoffset "VAP_VPORT_YOFFSET" @ 0x1da4 | 0x20a4 ReadWrite "viewport offset of y." {
        VPORT_YOFFSET vport_yoffset 31:0  f32 "added to the scaled y";
    }

    VapVportZscale "VAP_VPORT_ZSCALE" @ 0x1da8 | 0x20a8 ReadWrite "viewport scale of z." {
        VPORT_ZSCALE vport_zscale 31:0  f32 "z is multiplied by it";
    }

    VapVportZoffset "VAP_VPORT_ZOFFSET" @ 0x1dac | 0x20ac ReadWrite "viewport offset of z." {
        VPORT_ZOFFSET vport_zoffset 31:0  f32 "added to the scaled z";
    }

    VapPortData "VAP_PORT_DATA" @ 0x2000 * 16 [Plain 4] Write "vertex data of an immediate draw through registers." {
        DATAPORT0 dataport0 31:0  u32 "next dword of vertex data";
    }

    VapPortIdx "VAP_PORT_IDX" @ 0x2040 * 16 [Plain 4] Write "indices of an indexed draw through registers." {
        IDXPORT0 idxport0 31:0  u32 "next dword of indices";
    }

    VapCntl "VAP_CNTL" @ 0x2080 ReadWrite "resources of the vertex processor." {
        PVS_NUM_SLOTS          pvs_num_slots          3:0   u8                "vertices in flight";
        PVS_NUM_CNTLRS         pvs_num_cntlrs         7:4   u8                "vertex program controllers in use";
        PVS_NUM_FPUS           pvs_num_fpus           11:8  u8                "vertex arithmetic units in use";
        VAP_NO_RENDER          vap_no_render          17:17 bool              "process vertices, send none on";
        VF_MAX_VTX_NUM         vf_max_vtx_num         21:18 u8                "entries of the vertex cache to use";
        DX_CLIP_SPACE_DEF      dx_clip_space_def      22:22 bool [CLIP_SPACE] "near plane of clip space";
        TCL_STATE_OPTIMIZATION tcl_state_optimization 23:23 bool              "skip state changes of the vertex processor that change nothing";
    }

    VapVfCntl "VAP_VF_CNTL" @ 0x2084 ReadWrite "a draw: writing it starts one. The draw packets carry it as their first dword." {
        PRIM_TYPE         prim_type         3:0   PrimType          "primitives that the vertices form";
        PRIM_WALK         prim_walk         5:4   PrimWalk          "where vertices come from";
        INDEX_SIZE        index_size        11:11 bool [INDEX_SIZE] "size of an index";
        VTX_REUSE_DIS     vtx_reuse_dis     12:12 bool              "process an index again each time it comes";
        DUAL_INDEX_MODE   dual_index_mode   13:13 bool              "two index streams";
        USE_ALT_NUM_VERTS use_alt_num_verts 14:14 bool              "the vertex count is VAP_ALT_NUM_VERTICES";
        NUM_VERTICES      num_vertices      31:16 u16               "vertices or indices of the draw";
    }

    VapAltNumVertices "VAP_ALT_NUM_VERTICES" @ 0x2088 ReadWrite "vertex count of draws with 65,536 vertices and more." {
        NUM_VERTICES num_vertices 23:0  u32 "vertices or indices, if VAP_VF_CNTL.USE_ALT_NUM_VERTS";
    }

    VapIndexOffset "VAP_INDEX_OFFSET" @ 0x208c ReadWrite "base vertex." {
        INDEX_OFFSET index_offset 24:0  u32 "added to each index, two's complement; the sum counts modulo 2^24";
    }

    VapOutVtxFmt0 "VAP_OUT_VTX_FMT_0" @ 0x2090 ReadWrite "outputs of a vertex: position, colours, point size." {
        VTX_POS_PRESENT     vtx_pos_present     0:0   bool "position";
        VTX_COLOR_0_PRESENT vtx_color_0_present 1:1   bool "colour 0";
        VTX_COLOR_1_PRESENT vtx_color_1_present 2:2   bool "colour 1";
        VTX_COLOR_2_PRESENT vtx_color_2_present 3:3   bool "colour 2 (back face of colour 0)";
        VTX_COLOR_3_PRESENT vtx_color_3_present 4:4   bool "colour 3 (back face of colour 1)";
        VTX_PT_SIZE_PRESENT vtx_pt_size_present 16:16 bool "point size";
    }

    VapOutVtxFmt1 "VAP_OUT_VTX_FMT_1" @ 0x2094 ReadWrite "outputs of a vertex: texture coordinates." {
        TEX_0_COMP_CNT tex_0_comp_cnt 2:0   u8 "components of texture coordinate 0, 0 to 4";
        TEX_1_COMP_CNT tex_1_comp_cnt 5:3   u8 "components of texture coordinate 1, 0 to 4";
        TEX_2_COMP_CNT tex_2_comp_cnt 8:6   u8 "components of texture coordinate 2, 0 to 4";
        TEX_3_COMP_CNT tex_3_comp_cnt 11:9  u8 "components of texture coordinate 3, 0 to 4";
        TEX_4_COMP_CNT tex_4_comp_cnt 14:12 u8 "components of texture coordinate 4, 0 to 4";
        TEX_5_COMP_CNT tex_5_comp_cnt 17:15 u8 "components of texture coordinate 5, 0 to 4";
        TEX_6_COMP_CNT tex_6_comp_cnt 20:18 u8 "components of texture coordinate 6, 0 to 4";
        TEX_7_COMP_CNT tex_7_comp_cnt 23:21 u8 "components of texture coordinate 7, 0 to 4";
    }

    VapVteCntl "VAP_VTE_CNTL" @ 0x20b0 ReadWrite "viewport transform: from clip space to the window." {
        VPORT_X_SCALE_ENA  vport_x_scale_ena  0:0   bool "multiply x by VAP_VPORT_XSCALE";
        VPORT_X_OFFSET_ENA vport_x_offset_ena 1:1   bool "add VAP_VPORT_XOFFSET to x";
        VPORT_Y_SCALE_ENA  vport_y_scale_ena  2:2   bool "multiply y by VAP_VPORT_YSCALE";
        VPORT_Y_OFFSET_ENA vport_y_offset_ena 3:3   bool "add VAP_VPORT_YOFFSET to y";
        VPORT_Z_SCALE_ENA  vport_z_scale_ena  4:4   bool "multiply z by VAP_VPORT_ZSCALE";
        VPORT_Z_OFFSET_ENA vport_z_offset_ena 5:5   bool "add VAP_VPORT_ZOFFSET to z";
        VTX_XY_FMT         vtx_xy_fmt         8:8   bool "x and y are divided by w already";
        VTX_Z_FMT          vtx_z_fmt          9:9   bool "z is divided by w already";
        VTX_W0_FMT         vtx_w0_fmt         10:10 bool "w is w; else it is 1/w already";
        SERIAL_PROC_ENA    serial_proc_ena    11:11 bool "one vertex at a time";
    }

    VapVtxSize "VAP_VTX_SIZE" @ 0x20b4 ReadWrite "size of a vertex." {
        DWORDS_PER_VTX dwords_per_vtx 6:0   u8 "dwords of a vertex in immediate draws";
    }

    VapPortDataIdx128 "VAP_PORT_DATA_IDX_128" @ 0x20b8 Write "indices or vertex data in packets of 128 bits." {
        DATA_IDX_PORT_128 data_idx_port_128 31:0  u32 "next dword";
    }

    VapVtxNumArrays "VAP_VTX_NUM_ARRAYS" @ 0x20c0 ReadWrite "vertex arrays in use." {
        VTX_NUM_ARRAYS     vtx_num_arrays     4:0   u8   "vertex arrays, 0 to 16";
        VC_FORCE_PREFETCH  vc_force_prefetch  5:5   bool "always prefetch";
        VC_DIS_CACHE_INVLD vc_dis_cache_invld 6:6   bool "keep the vertex cache from draw to draw";
        AOS_0_FETCH_SIZE   aos_0_fetch_size   16:16 bool "fetch array 0 in large blocks";
        AOS_1_FETCH_SIZE   aos_1_fetch_size   17:17 bool "fetch array 1 in large blocks";
        AOS_2_FETCH_SIZE   aos_2_fetch_size   18:18 bool "fetch array 2 in large blocks";
        AOS_3_FETCH_SIZE   aos_3_fetch_size   19:19 bool "fetch array 3 in large blocks";
        AOS_4_FETCH_SIZE   aos_4_fetch_size   20:20 bool "fetch array 4 in large blocks";
        AOS_5_FETCH_SIZE   aos_5_fetch_size   21:21 bool "fetch array 5 in large blocks";
        AOS_6_FETCH_SIZE   aos_6_fetch_size   22:22 bool "fetch array 6 in large blocks";
        AOS_7_FETCH_SIZE   aos_7_fetch_size   23:23 bool "fetch array 7 in large blocks";
        AOS_8_FETCH_SIZE   aos_8_fetch_size   24:24 bool "fetch array 8 in large blocks";
        AOS_9_FETCH_SIZE   aos_9_fetch_size   25:25 bool "fetch array 9 in large blocks";
        AOS_10_FETCH_SIZE  aos_10_fetch_size  26:26 bool "fetch array 10 in large blocks";
        AOS_11_FETCH_SIZE  aos_11_fetch_size  27:27 bool "fetch array 11 in large blocks";
        AOS_12_FETCH_SIZE  aos_12_fetch_size  28:28 bool "fetch array 12 in large blocks";
        AOS_13_FETCH_SIZE  aos_13_fetch_size  29:29 bool "fetch array 13 in large blocks";
        AOS_14_FETCH_SIZE  aos_14_fetch_size  30:30 bool "fetch array 14 in large blocks";
        AOS_15_FETCH_SIZE  aos_15_fetch_size  31:31 bool "fetch array 15 in large blocks";
    }

    VapVtxAosAttr "VAP_VTX_AOS_ATTR" @ 0x20c4 * 8 [PairName 12] ReadWrite "sizes and strides of two vertex arrays." {
        VTX_AOS_COUNT0  vtx_aos_count0  6:0   u8 "dwords of the even array's element";
        VTX_AOS_STRIDE0 vtx_aos_stride0 14:8  u8 "dwords from element to element of the even array";
        VTX_AOS_COUNT1  vtx_aos_count1  22:16 u8 "dwords of the odd array's element";
        VTX_AOS_STRIDE1 vtx_aos_stride1 30:24 u8 "dwords from element to element of the odd array";
    }

    VapVtxAosAddr "VAP_VTX_AOS_ADDR" @ 0x20c8 * 16 [PairAddress 12] ReadWrite "address of a vertex array." {
        VTX_AOS_ADDR0 vtx_aos_addr0 31:2  u32 "address / 4";
    }

    VapVfMaxVtxIndx "VAP_VF_MAX_VTX_INDX" @ 0x2134 ReadWrite "greatest index of a draw." {
        MAX_INDX max_indx 23:0  u32 "greater indices fetch this vertex";
    }

    VapVfMinVtxIndx "VAP_VF_MIN_VTX_INDX" @ 0x2138 ReadWrite "least index of a draw." {
        MIN_INDX min_indx 23:0  u32 "lesser indices fetch this vertex";
    }

    VapCntlStatus "VAP_CNTL_STATUS" @ 0x2140 ReadWrite "mode and status of the vertex processor." {
        VC_SWAP      vc_swap      1:0   Endian "byte order of vertex data";
        PVS_BYPASS   pvs_bypass   8:8   bool   "no vertex program: inputs are outputs";
        PVS_BUSY     pvs_busy     11:11 bool   "vertex program busy";
        MAX_MPS      max_mps      19:16 u8     "vertex program units present";
        VS_BUSY      vs_busy      24:24 bool   "vertex store busy";
        RCP_BUSY     rcp_busy     25:25 bool   "reciprocal unit busy";
        VTE_BUSY     vte_busy     26:26 bool   "viewport transform busy";
        MIU_BUSY     miu_busy     27:27 bool   "memory interface busy";
        VC_BUSY      vc_busy      28:28 bool   "vertex cache busy";
        VF_BUSY      vf_busy      29:29 bool   "vertex fetch busy";
        REGPIPE_BUSY regpipe_busy 30:30 bool   "register pipe busy";
        VAP_BUSY     vap_busy     31:31 bool   "any part busy";
    }

    VapProgStreamCntl "VAP_PROG_STREAM_CNTL" @ 0x2150 * 8 [Underscore 4] ReadWrite "two elements of a vertex in memory." {
        DATA_TYPE_0   data_type_0   3:0   DataType "even element: type in memory";
        SKIP_DWORDS_0 skip_dwords_0 7:4   u8       "even element: dwords to skip after it";
        DST_VEC_LOC_0 dst_vec_loc_0 12:8  u8       "even element: input vector that receives it";
        LAST_VEC_0    last_vec_0    13:13 bool     "even element: last element of a vertex";
        SIGNED_0      signed_0      14:14 bool     "even element: integers are signed";
        NORMALIZE_0   normalize_0   15:15 bool     "even element: integers become 0..1 or -1..1";
        DATA_TYPE_1   data_type_1   19:16 DataType "odd element: type in memory";
        SKIP_DWORDS_1 skip_dwords_1 23:20 u8       "odd element: dwords to skip after it";
        DST_VEC_LOC_1 dst_vec_loc_1 28:24 u8       "odd element: input vector that receives it";
        LAST_VEC_1    last_vec_1    29:29 bool     "odd element: last element of a vertex";
        SIGNED_1      signed_1      30:30 bool     "odd element: integers are signed";
        NORMALIZE_1   normalize_1   31:31 bool     "odd element: integers become 0..1 or -1..1";
    }

    VapVtxStateCntl "VAP_VTX_STATE_CNTL" @ 0x2180 ReadWrite "assembly of vertices from registers." {
        COLOR_0_ASSEMBLY_CNTL   color_0_assembly_cntl   1:0   u8   "source of colour 0 while vertices are assembled from registers";
        COLOR_1_ASSEMBLY_CNTL   color_1_assembly_cntl   3:2   u8   "source of colour 1 while vertices are assembled from registers";
        COLOR_2_ASSEMBLY_CNTL   color_2_assembly_cntl   5:4   u8   "source of colour 2 while vertices are assembled from registers";
        COLOR_3_ASSEMBLY_CNTL   color_3_assembly_cntl   7:6   u8   "source of colour 3 while vertices are assembled from registers";
        COLOR_4_ASSEMBLY_CNTL   color_4_assembly_cntl   9:8   u8   "source of colour 4 while vertices are assembled from registers";
        COLOR_5_ASSEMBLY_CNTL   color_5_assembly_cntl   11:10 u8   "source of colour 5 while vertices are assembled from registers";
        COLOR_6_ASSEMBLY_CNTL   color_6_assembly_cntl   13:12 u8   "source of colour 6 while vertices are assembled from registers";
        COLOR_7_ASSEMBLY_CNTL   color_7_assembly_cntl   15:14 u8   "source of colour 7 while vertices are assembled from registers";
        UPDATE_USER_COLOR_0_ENA update_user_color_0_ena 16:16 bool "vertices update user colour 0";
    }

    VapVsmVtxAssm "VAP_VSM_VTX_ASSM" @ 0x2184 Write "what a vertex assembled from registers has." {
        POS   pos   0:0   bool "position";
        COLOR color 2:2   bool "colour";
        TC0   tc0   10:10 bool "texture coordinate 0";
        TC1   tc1   11:11 bool "texture coordinate 1";
        TC2   tc2   12:12 bool "texture coordinate 2";
        TC3   tc3   13:13 bool "texture coordinate 3";
        TC4   tc4   14:14 bool "texture coordinate 4";
        TC5   tc5   15:15 bool "texture coordinate 5";
        TC6   tc6   16:16 bool "texture coordinate 6";
        TC7   tc7   17:17 bool "texture coordinate 7";
    }

    VapPscSgnNormCntl "VAP_PSC_SGN_NORM_CNTL" @ 0x21dc ReadWrite "conversion of signed normalised integers, by element." {
        SGN_NORM_METHOD_0  sgn_norm_method_0  1:0   SignedNorm "conversion of signed normalised element 0";
        SGN_NORM_METHOD_1  sgn_norm_method_1  3:2   SignedNorm "conversion of signed normalised element 1";
        SGN_NORM_METHOD_2  sgn_norm_method_2  5:4   SignedNorm "conversion of signed normalised element 2";
        SGN_NORM_METHOD_3  sgn_norm_method_3  7:6   SignedNorm "conversion of signed normalised element 3";
        SGN_NORM_METHOD_4  sgn_norm_method_4  9:8   SignedNorm "conversion of signed normalised element 4";
        SGN_NORM_METHOD_5  sgn_norm_method_5  11:10 SignedNorm "conversion of signed normalised element 5";
        SGN_NORM_METHOD_6  sgn_norm_method_6  13:12 SignedNorm "conversion of signed normalised element 6";
        SGN_NORM_METHOD_7  sgn_norm_method_7  15:14 SignedNorm "conversion of signed normalised element 7";
        SGN_NORM_METHOD_8  sgn_norm_method_8  17:16 SignedNorm "conversion of signed normalised element 8";
        SGN_NORM_METHOD_9  sgn_norm_method_9  19:18 SignedNorm "conversion of signed normalised element 9";
        SGN_NORM_METHOD_10 sgn_norm_method_10 21:20 SignedNorm "conversion of signed normalised element 10";
        SGN_NORM_METHOD_11 sgn_norm_method_11 23:22 SignedNorm "conversion of signed normalised element 11";
        SGN_NORM_METHOD_12 sgn_norm_method_12 25:24 SignedNorm "conversion of signed normalised element 12";
        SGN_NORM_METHOD_13 sgn_norm_method_13 27:26 SignedNorm "conversion of signed normalised element 13";
        SGN_NORM_METHOD_14 sgn_norm_method_14 29:28 SignedNorm "conversion of signed normalised element 14";
        SGN_NORM_METHOD_15 sgn_norm_method_15 31:30 SignedNorm "conversion of signed normalised element 15";
    }

    VapProgStreamCntlExt "VAP_PROG_STREAM_CNTL_EXT" @ 0x21e0 * 8 [Underscore 4] ReadWrite "swizzles and write masks of two elements of a vertex." {
        SWIZZLE_SELECT_X_0 swizzle_select_x_0 2:0   StreamSwizzle "even element: what the vector receives as x";
        SWIZZLE_SELECT_Y_0 swizzle_select_y_0 5:3   StreamSwizzle "even element: what the vector receives as y";
        SWIZZLE_SELECT_Z_0 swizzle_select_z_0 8:6   StreamSwizzle "even element: what the vector receives as z";
        SWIZZLE_SELECT_W_0 swizzle_select_w_0 11:9  StreamSwizzle "even element: what the vector receives as w";
        WRITE_ENA_0        write_ena_0        15:12 u8            "even element: components to write, x in the lowest bit";
        SWIZZLE_SELECT_X_1 swizzle_select_x_1 18:16 StreamSwizzle "odd element: what the vector receives as x";
        SWIZZLE_SELECT_Y_1 swizzle_select_y_1 21:19 StreamSwizzle "odd element: what the vector receives as y";
        SWIZZLE_SELECT_Z_1 swizzle_select_z_1 24:22 StreamSwizzle "odd element: what the vector receives as z";
        SWIZZLE_SELECT_W_1 swizzle_select_w_1 27:25 StreamSwizzle "odd element: what the vector receives as w";
        WRITE_ENA_1        write_ena_1        31:28 u8            "odd element: components to write, x in the lowest bit";
    }

    VapPvsVectorIndxReg "VAP_PVS_VECTOR_INDX_REG" @ 0x2200 ReadWrite "where the next dwords of VAP_PVS_VECTOR_DATA_REG go." {
        OCTWORD_OFFSET octword_offset 10:0  u16 "vector: instructions from 0, constants from 1024, user planes from 1536; counts up by itself";
    }

    VapPvsVectorDataReg "VAP_PVS_VECTOR_DATA_REG" @ 0x2204 ReadWrite "vertex program memory." {
        DATA_REGISTER data_register 31:0  u32 "next dword, four a vector";
    }

    VapPvsVectorDataReg128 "VAP_PVS_VECTOR_DATA_REG_128" @ 0x2208 Write "vertex program memory, written in whole vectors." {
        DATA_REGISTER data_register 31:0  u32 "next dword, four a vector";
    }

    VapTexToColorCntl "VAP_TEX_TO_COLOR_CNTL" @ 0x2218 ReadWrite "texture coordinates that are shaded as colours." {
        TEX_RGB_SHADE_FUNC_0   tex_rgb_shade_func_0   0:0   bool "texture coordinate 0 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_0 tex_alpha_shade_func_0 1:1   bool "texture coordinate 0 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_0       tex_rgba_clamp_0       2:2   bool "texture coordinate 0 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_1   tex_rgb_shade_func_1   4:4   bool "texture coordinate 1 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_1 tex_alpha_shade_func_1 5:5   bool "texture coordinate 1 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_1       tex_rgba_clamp_1       6:6   bool "texture coordinate 1 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_2   tex_rgb_shade_func_2   8:8   bool "texture coordinate 2 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_2 tex_alpha_shade_func_2 9:9   bool "texture coordinate 2 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_2       tex_rgba_clamp_2       10:10 bool "texture coordinate 2 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_3   tex_rgb_shade_func_3   12:12 bool "texture coordinate 3 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_3 tex_alpha_shade_func_3 13:13 bool "texture coordinate 3 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_3       tex_rgba_clamp_3       14:14 bool "texture coordinate 3 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_4   tex_rgb_shade_func_4   16:16 bool "texture coordinate 4 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_4 tex_alpha_shade_func_4 17:17 bool "texture coordinate 4 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_4       tex_rgba_clamp_4       18:18 bool "texture coordinate 4 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_5   tex_rgb_shade_func_5   20:20 bool "texture coordinate 5 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_5 tex_alpha_shade_func_5 21:21 bool "texture coordinate 5 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_5       tex_rgba_clamp_5       22:22 bool "texture coordinate 5 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_6   tex_rgb_shade_func_6   24:24 bool "texture coordinate 6 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_6 tex_alpha_shade_func_6 25:25 bool "texture coordinate 6 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_6       tex_rgba_clamp_6       26:26 bool "texture coordinate 6 as colour: clamp to 0..1";
        TEX_RGB_SHADE_FUNC_7   tex_rgb_shade_func_7   28:28 bool "texture coordinate 7 as colour: its RGB follows the colour shading mode";
        TEX_ALPHA_SHADE_FUNC_7 tex_alpha_shade_func_7 29:29 bool "texture coordinate 7 as colour: its alpha follows the colour shading mode";
        TEX_RGBA_CLAMP_7       tex_rgba_clamp_7       30:30 bool "texture coordinate 7 as colour: clamp to 0..1";
    }

    VapClipCntl "VAP_CLIP_CNTL" @ 0x221c ReadWrite "clipping." {
        UCP_ENA_0              ucp_ena_0              0:0   bool      "clip against user plane 0";
        UCP_ENA_1              ucp_ena_1              1:1   bool      "clip against user plane 1";
        UCP_ENA_2              ucp_ena_2              2:2   bool      "clip against user plane 2";
        UCP_ENA_3              ucp_ena_3              3:3   bool      "clip against user plane 3";
        UCP_ENA_4              ucp_ena_4              4:4   bool      "clip against user plane 4";
        UCP_ENA_5              ucp_ena_5              5:5   bool      "clip against user plane 5";
        PS_UCP_MODE            ps_ucp_mode            15:14 PointClip "user planes and points";
        CLIP_DISABLE           clip_disable           16:16 bool      "no clipping at all";
        UCP_CULL_ONLY_ENA      ucp_cull_only_ena      17:17 bool      "drop primitives outside a user plane, cut none";
        BOUNDARY_EDGE_FLAG_ENA boundary_edge_flag_ena 18:18 bool      "edges made by clipping are edges in polygon mode";
        COLOR2_IS_TEXTURE      color2_is_texture      20:20 bool      "interpolate colour 2 as a texture coordinate";
        COLOR3_IS_TEXTURE      color3_is_texture      21:21 bool      "interpolate colour 3 as a texture coordinate";
    }

    VapGbVertClipAdj "VAP_GB_VERT_CLIP_ADJ" @ 0x2220 ReadWrite "guard band, y: where clipping begins." {
        DATA_REGISTER data_register 31:0  f32 "clip where y exceeds this times w";
    }

    VapGbVertDiscAdj "VAP_GB_VERT_DISC_ADJ" @ 0x2224 ReadWrite "guard band, y: where primitives are dropped." {
        DATA_REGISTER data_register 31:0  f32 "drop primitives that lie where y exceeds this times w";
    }

    VapGbHorzClipAdj "VAP_GB_HORZ_CLIP_ADJ" @ 0x2228 ReadWrite "guard band, x: where clipping begins." {
        DATA_REGISTER data_register 31:0  f32 "clip where x exceeds this times w";
    }

    VapGbHorzDiscAdj "VAP_GB_HORZ_DISC_ADJ" @ 0x222c ReadWrite "guard band, x: where primitives are dropped." {
        DATA_REGISTER data_register 31:0  f32 "drop primitives that lie where x exceeds this times w";
    }

    VapPvsFlowCntlAddrs "VAP_PVS_FLOW_CNTL_ADDRS" @ 0x2230 * 16 [Underscore 4] ReadWrite "flow control addresses of chips before R500." {
        PVS_FC_ACT_ADRS          pvs_fc_act_adrs          7:0   u8 "instruction after which it acts";
        PVS_FC_LOOP_CNT_JMP_INST pvs_fc_loop_cnt_jmp_inst 15:8  u8 "loop count or jump target";
        PVS_FC_LAST_INST         pvs_fc_last_inst         23:16 u8 "last instruction of loop or subroutine";
        PVS_FC_RTN_INST          pvs_fc_rtn_inst          31:24 u8 "where execution continues";
    }

    VapPvsStateFlushReg "VAP_PVS_STATE_FLUSH_REG" @ 0x2284 ReadWrite "ends what the vertex processor has cached of its state." {
        DATA_REGISTER data_register 31:0  u32 "any value";
    }

    VapPvsVtxTimeoutReg "VAP_PVS_VTX_TIMEOUT_REG" @ 0x2288 ReadWrite "time-out of a partial batch of vertices." {
        CLK_COUNT clk_count 31:0  u32 "clocks";
    }

    VapPvsFlowCntlLoopIndex "VAP_PVS_FLOW_CNTL_LOOP_INDEX" @ 0x2290 * 16 [Underscore 4] ReadWrite "loop index of a flow control instruction." {
        LOOP_INIT_VAL      loop_init_val      7:0   u8   "first value of aL";
        LOOP_STEP_VAL      loop_step_val      15:8  i8   "step of aL";
        LOOP_REPEAT_NO_FLI loop_repeat_no_fli 31:31 bool "repeat: leave aL of the loop around alone";
    }

    VapPvsCodeCntl0 "VAP_PVS_CODE_CNTL_0" @ 0x22d0 ReadWrite "where the vertex program lies." {
        PVS_FIRST_INST      pvs_first_inst      9:0   u16 "first instruction";
        PVS_XYZW_VALID_INST pvs_xyzw_valid_inst 19:10 u16 "last instruction that writes the position";
        PVS_LAST_INST       pvs_last_inst       29:20 u16 "last instruction";
    }

    VapPvsConstCntl "VAP_PVS_CONST_CNTL" @ 0x22d4 ReadWrite "window of constants of the vertex program." {
        PVS_CONST_BASE_OFFSET pvs_const_base_offset 7:0   u8 "added to constant addresses";
        PVS_MAX_CONST_ADDR    pvs_max_const_addr    23:16 u8 "greatest constant address in use";
    }

    VapPvsCodeCntl1 "VAP_PVS_CODE_CNTL_1" @ 0x22d8 ReadWrite "last use of inputs in the vertex program." {
        PVS_LAST_VTX_SRC_INST pvs_last_vtx_src_inst 9:0   u16 "last instruction that reads an input";
    }

    VapPvsFlowCntlOpc "VAP_PVS_FLOW_CNTL_OPC" @ 0x22dc ReadWrite "the 16 flow control instructions of a vertex program." {
        PVS_FC_OPC_0  pvs_fc_opc_0  1:0   FlowOp "flow control instruction 0";
        PVS_FC_OPC_1  pvs_fc_opc_1  3:2   FlowOp "flow control instruction 1";
        PVS_FC_OPC_2  pvs_fc_opc_2  5:4   FlowOp "flow control instruction 2";
        PVS_FC_OPC_3  pvs_fc_opc_3  7:6   FlowOp "flow control instruction 3";
        PVS_FC_OPC_4  pvs_fc_opc_4  9:8   FlowOp "flow control instruction 4";
        PVS_FC_OPC_5  pvs_fc_opc_5  11:10 FlowOp "flow control instruction 5";
        PVS_FC_OPC_6  pvs_fc_opc_6  13:12 FlowOp "flow control instruction 6";
        PVS_FC_OPC_7  pvs_fc_opc_7  15:14 FlowOp "flow control instruction 7";
        PVS_FC_OPC_8  pvs_fc_opc_8  17:16 FlowOp "flow control instruction 8";
        PVS_FC_OPC_9  pvs_fc_opc_9  19:18 FlowOp "flow control instruction 9";
        PVS_FC_OPC_10 pvs_fc_opc_10 21:20 FlowOp "flow control instruction 10";
        PVS_FC_OPC_11 pvs_fc_opc_11 23:22 FlowOp "flow control instruction 11";
        PVS_FC_OPC_12 pvs_fc_opc_12 25:24 FlowOp "flow control instruction 12";
        PVS_FC_OPC_13 pvs_fc_opc_13 27:26 FlowOp "flow control instruction 13";
        PVS_FC_OPC_14 pvs_fc_opc_14 29:28 FlowOp "flow control instruction 14";
        PVS_FC_OPC_15 pvs_fc_opc_15 31:30 FlowOp "flow control instruction 15";
    }

    VapPvsFlowCntlAddrsLw "VAP_PVS_FLOW_CNTL_ADDRS_LW" @ 0x2500 * 16 [Underscore 8] ReadWrite "addresses of a flow control instruction, low dword." {
        ACT_ADRS          act_adrs          15:0  u16 "instruction after which it acts";
        LOOP_CNT_JMP_INST loop_cnt_jmp_inst 31:16 u16 "iterations of a loop, target of a jump or call";
    }

    VapPvsFlowCntlAddrsUw "VAP_PVS_FLOW_CNTL_ADDRS_UW" @ 0x2504 * 16 [Underscore 8] ReadWrite "addresses of a flow control instruction, high dword." {
        LAST_INST last_inst 15:0  u16 "last instruction of loop or subroutine";
        RTN_INST  rtn_inst  31:16 u16 "first instruction of a loop, where a call returns to";
    }
}
