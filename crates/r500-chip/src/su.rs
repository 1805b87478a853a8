//! Registers of the setup unit (`SU`): culling, depth, polygon offset.
//!
//! Names, bits and values: the R5xx register documents that AMD published.
use crate::table::block;
use crate::values::*;

#[rustfmt::skip]
block! {
    Su;

    SuTexWrapPs3 "SU_TEX_WRAP_PS3" @ 0x4114 ReadWrite "cylindrical wrapping of texture coordinates 8 and 9." {
        T9C0 t9c0 0:0   bool "wrap texture 9 component S as a cylinder";
        T9C1 t9c1 1:1   bool "wrap texture 9 component T as a cylinder";
        T9C2 t9c2 2:2   bool "wrap texture 9 component R as a cylinder";
        T9C3 t9c3 3:3   bool "wrap texture 9 component Q as a cylinder";
        T8C0 t8c0 4:4   bool "wrap texture 8 component S as a cylinder";
        T8C1 t8c1 5:5   bool "wrap texture 8 component T as a cylinder";
        T8C2 t8c2 6:6   bool "wrap texture 8 component R as a cylinder";
        T8C3 t8c3 7:7   bool "wrap texture 8 component Q as a cylinder";
    }

    SuTexWrap "SU_TEX_WRAP" @ 0x42a0 ReadWrite "cylindrical wrapping of texture coordinates 0 to 7." {
        T0C0 t0c0 0:0   bool "wrap texture 0 component S as a cylinder";
        T0C1 t0c1 1:1   bool "wrap texture 0 component T as a cylinder";
        T0C2 t0c2 2:2   bool "wrap texture 0 component R as a cylinder";
        T0C3 t0c3 3:3   bool "wrap texture 0 component Q as a cylinder";
        T1C0 t1c0 4:4   bool "wrap texture 1 component S as a cylinder";
        T1C1 t1c1 5:5   bool "wrap texture 1 component T as a cylinder";
        T1C2 t1c2 6:6   bool "wrap texture 1 component R as a cylinder";
        T1C3 t1c3 7:7   bool "wrap texture 1 component Q as a cylinder";
        T2C0 t2c0 8:8   bool "wrap texture 2 component S as a cylinder";
        T2C1 t2c1 9:9   bool "wrap texture 2 component T as a cylinder";
        T2C2 t2c2 10:10 bool "wrap texture 2 component R as a cylinder";
        T2C3 t2c3 11:11 bool "wrap texture 2 component Q as a cylinder";
        T3C0 t3c0 12:12 bool "wrap texture 3 component S as a cylinder";
        T3C1 t3c1 13:13 bool "wrap texture 3 component T as a cylinder";
        T3C2 t3c2 14:14 bool "wrap texture 3 component R as a cylinder";
        T3C3 t3c3 15:15 bool "wrap texture 3 component Q as a cylinder";
        T4C0 t4c0 16:16 bool "wrap texture 4 component S as a cylinder";
        T4C1 t4c1 17:17 bool "wrap texture 4 component T as a cylinder";
        T4C2 t4c2 18:18 bool "wrap texture 4 component R as a cylinder";
        T4C3 t4c3 19:19 bool "wrap texture 4 component Q as a cylinder";
        T5C0 t5c0 20:20 bool "wrap texture 5 component S as a cylinder";
        T5C1 t5c1 21:21 bool "wrap texture 5 component T as a cylinder";
        T5C2 t5c2 22:22 bool "wrap texture 5 component R as a cylinder";
        T5C3 t5c3 23:23 bool "wrap texture 5 component Q as a cylinder";
        T6C0 t6c0 24:24 bool "wrap texture 6 component S as a cylinder";
        T6C1 t6c1 25:25 bool "wrap texture 6 component T as a cylinder";
        T6C2 t6c2 26:26 bool "wrap texture 6 component R as a cylinder";
        T6C3 t6c3 27:27 bool "wrap texture 6 component Q as a cylinder";
        T7C0 t7c0 28:28 bool "wrap texture 7 component S as a cylinder";
        T7C1 t7c1 29:29 bool "wrap texture 7 component T as a cylinder";
        T7C2 t7c2 30:30 bool "wrap texture 7 component R as a cylinder";
        T7C3 t7c3 31:31 bool "wrap texture 7 component Q as a cylinder";
    }

    SuPolyOffsetFrontScale "SU_POLY_OFFSET_FRONT_SCALE" @ 0x42a4 ReadWrite "polygon offset of front faces: slope factor." {
        SCALE scale 31:0  f32 "times the depth slope over a twelfth of a pixel";
    }

    SuPolyOffsetFrontOffset "SU_POLY_OFFSET_FRONT_OFFSET" @ 0x42a8 ReadWrite "polygon offset of front faces: constant." {
        OFFSET offset 31:0  f32 "added to the depth";
    }

    SuPolyOffsetBackScale "SU_POLY_OFFSET_BACK_SCALE" @ 0x42ac ReadWrite "polygon offset of back faces: slope factor." {
        SCALE scale 31:0  f32 "times the depth slope over a twelfth of a pixel";
    }

    SuPolyOffsetBackOffset "SU_POLY_OFFSET_BACK_OFFSET" @ 0x42b0 ReadWrite "polygon offset of back faces: constant." {
        OFFSET offset 31:0  f32 "added to the depth";
    }

    SuPolyOffsetEnable "SU_POLY_OFFSET_ENABLE" @ 0x42b4 ReadWrite "polygon offset." {
        FRONT_ENABLE front_enable 0:0   bool "front faces";
        BACK_ENABLE  back_enable  1:1   bool "back faces";
        PARA_ENABLE  para_enable  2:2   bool "points and lines (parallelograms), by the front values";
    }

    SuCullMode "SU_CULL_MODE" @ 0x42b8 ReadWrite "culling by face." {
        CULL_FRONT cull_front 0:0   bool              "drop front faces";
        CULL_BACK  cull_back  1:1   bool              "drop back faces";
        FACE       face       2:2   bool [FRONT_FACE] "which faces are front";
    }

    SuDepthScale "SU_DEPTH_SCALE" @ 0x42c0 ReadWrite "scale of depth." {
        SCALE scale 31:0  f32 "depth is multiplied by it";
    }

    SuDepthOffset "SU_DEPTH_OFFSET" @ 0x42c4 ReadWrite "offset of depth." {
        OFFSET offset 31:0  f32 "added to the scaled depth";
    }

    SuRegDest "SU_REG_DEST" @ 0x42c8 ReadWrite "which pipes receive register writes." {
        SELECT select 3:0   u8 "a bit a pipe";
    }
}
