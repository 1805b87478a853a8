//! Named values of fields. Codes without a name are values too.
//!
//! Values marked with a header's name are not in the register documents.

use r500_isa::{Value, choices};

#[rustfmt::skip]
choices! {
    /// `VAP_VF_CNTL.PRIM_TYPE`: how vertices form primitives.
    PrimType {
        NONE              = 0  "" "no primitives";
        POINTS            = 1  "" "point list";
        LINES             = 2  "" "line list";
        LINE_STRIP        = 3  "" "line strip";
        TRIANGLES         = 4  "" "triangle list";
        TRIANGLE_FAN      = 5  "" "triangle fan";
        TRIANGLE_STRIP    = 6  "" "triangle strip";
        TRIANGLES_W_FLAGS = 7  "" "triangles with wFlags";
        LINE_LOOP         = 12 "" "line loop";
        QUADS             = 13 "" "quad list";
        QUAD_STRIP        = 14 "" "quad strip";
        POLYGON           = 15 "" "polygon";
    }

    /// `VAP_VF_CNTL.PRIM_WALK`: where vertices come from.
    PrimWalk {
        STATE       = 0 "" "state-based vertex data";
        INDEXES     = 1 "" "arrays, by index";
        VERTEX_LIST = 2 "" "arrays, one vertex after another";
        VERTEX_DATA = 3 "" "the packet or VAP_PORT_DATA";
    }

    /// `*ENDIAN`, `VAP_CNTL_STATUS.VC_SWAP`: byte order.
    Endian {
        NONE       = 0 "" "as it is";
        WORD       = 1 "" "bytes of 16-bit words exchanged";
        DWORD      = 2 "" "bytes of 32-bit dwords reversed";
        HALF_DWORD = 3 "" "16-bit halves of dwords exchanged";
    }

    /// `CP_CSQ_CNTL.CSQ_MODE`: where the ring's and the indirect buffers' commands come from; `radeon_reg.h`.
    CsqMode {
        PRIDIS_INDDIS = 0  "PRIDIS_INDDIS" "neither is read";
        PRIPIO_INDDIS = 1  "PRIPIO_INDDIS" "the host writes the ring's; no indirect buffers";
        PRIBM_INDDIS  = 2  "PRIBM_INDDIS" "the ring is read from memory; no indirect buffers";
        PRIPIO_INDBM  = 3  "PRIPIO_INDBM" "the host writes the ring's; indirect buffers are read from memory";
        PRIBM_INDBM   = 4  "PRIBM_INDBM" "both are read from memory, as the kernel sets it";
        PRIPIO_INDPIO = 15 "PRIPIO_INDPIO" "the host writes both";
    }

    /// `DP_GUI_MASTER_CNTL.GMC_BRUSH_DATATYPE`; `radeon_reg.h`.
    GmcBrush {
        BRUSH_8X8_MONO_FG_BG  = 0  "GMC_BRUSH_8X8_MONO_FG_BG" "8x8 bits, two colours";
        BRUSH_8X8_MONO_FG_LA  = 1  "GMC_BRUSH_8X8_MONO_FG_LA" "8x8 bits, one colour";
        BRUSH_1X8_MONO_FG_BG  = 4  "GMC_BRUSH_1X8_MONO_FG_BG" "1x8 bits, two colours";
        BRUSH_1X8_MONO_FG_LA  = 5  "GMC_BRUSH_1X8_MONO_FG_LA" "1x8 bits, one colour";
        BRUSH_32X1_MONO_FG_BG = 6  "GMC_BRUSH_32x1_MONO_FG_BG" "32x1 bits, two colours";
        BRUSH_32X1_MONO_FG_LA = 7  "GMC_BRUSH_32x1_MONO_FG_LA" "32x1 bits, one colour";
        BRUSH_8X8_COLOR       = 10 "GMC_BRUSH_8x8_COLOR" "8x8 colours";
        BRUSH_1X8_COLOR       = 12 "GMC_BRUSH_1X8_COLOR" "1x8 colours";
        BRUSH_SOLID_COLOR     = 13 "GMC_BRUSH_SOLID_COLOR" "one colour";
        BRUSH_NONE            = 15 "GMC_BRUSH_NONE" "no pattern";
    }

    /// `DP_GUI_MASTER_CNTL.GMC_DST_DATATYPE`; `radeon_reg.h`.
    GmcDst {
        DST_8BPP_CI  = 2  "GMC_DST_8BPP_CI" "8 bits, an index";
        DST_15BPP    = 3  "GMC_DST_15BPP" "ARGB1555";
        DST_16BPP    = 4  "GMC_DST_16BPP" "RGB565";
        DST_24BPP    = 5  "GMC_DST_24BPP" "24 bits";
        DST_32BPP    = 6  "GMC_DST_32BPP" "ARGB8888";
        DST_8BPP_RGB = 7  "GMC_DST_8BPP_RGB" "RGB332";
        DST_Y8       = 8  "GMC_DST_Y8" "8 bits of brightness";
        DST_RGB8     = 9  "GMC_DST_RGB8" "8 bits of colour";
        DST_VYUY     = 11 "GMC_DST_VYUY" "VYUY";
        DST_YVYU     = 12 "GMC_DST_YVYU" "YVYU";
        DST_AYUV444  = 14 "GMC_DST_AYUV444" "AYUV444";
        DST_ARGB4444 = 15 "GMC_DST_ARGB4444" "ARGB4444";
    }

    /// `VAP_PROG_STREAM_CNTL.DATA_TYPE_*`: an element of a vertex in memory.
    DataType {
        FLOAT_1      = 0  "FLOAT_1" "one float32";
        FLOAT_2      = 1  "FLOAT_2" "two float32";
        FLOAT_3      = 2  "FLOAT_3" "three float32";
        FLOAT_4      = 3  "FLOAT_4" "four float32";
        BYTE         = 4  "BYTE" "four bytes, x lowest";
        D3DCOLOR     = 5  "D3DCOLOR" "four bytes: z, y, x, w from the lowest";
        SHORT_2      = 6  "SHORT_2" "two 16-bit integers";
        SHORT_4      = 7  "SHORT_4" "four 16-bit integers";
        VECTOR_3_TTT = 8  "VECTOR_3_TTT" "three integers of 10 bits, x lowest";
        VECTOR_3_EET = 9  "VECTOR_3_EET" "integers of 11, 11 and 10 bits, x lowest";
        FLOAT_8      = 10 "FLOAT_8" "eight float32, for two vectors";
        FLT16_2      = 11 "FLT16_2" "two float16";
        FLT16_4      = 12 "FLT16_4" "four float16";
    }

    /// `VAP_PROG_STREAM_CNTL_EXT.SWIZZLE_SELECT_*`.
    StreamSwizzle {
        X    = 0 "" "the element's x";
        Y    = 1 "" "the element's y";
        Z    = 2 "" "the element's z";
        W    = 3 "" "the element's w";
        ZERO = 4 "" "0";
        ONE  = 5 "" "1";
    }

    /// `VAP_PSC_SGN_NORM_CNTL`: signed integers of n bits to -1..1. Names: `R300_SGN_NORM_*` in Mesa's r300_reg.h; the
    /// formula of 2 is the one that Mesa's results need.
    SignedNorm {
        ZERO                 = 0 "" "v / (2^(n-1) - 1); 0 is exact";
        ZERO_CLAMP_MINUS_ONE = 1 "" "v / (2^(n-1) - 1), not below -1; 0 is exact";
        NO_ZERO              = 2 "" "(2v + 1) / (2^n - 1); 0 does not occur";
    }

    /// `VAP_CLIP_CNTL.PS_UCP_MODE`: user planes and points. Names: `R300_PS_UCP_MODE_*` in Mesa's r300_reg.h.
    PointClip {
        CENTER_CULL = 0 "" "drop points whose centre is outside";
        RADIUS_CULL = 1 "" "drop points that lie outside with their whole radius";
        RADIUS_CLIP = 2 "" "expand and clip points that a plane cuts";
        ALWAYS_CLIP = 3 "" "expand and clip all points as triangle fans";
    }

    /// `VAP_PVS_FLOW_CNTL_OPC.PVS_FC_OPC_*`: flow control of vertex programs.
    FlowOp {
        NONE = 0 "" "not used";
        JUMP = 1 "" "jump";
        LOOP = 2 "" "loop";
        CALL = 3 "" "call of a subroutine";
    }

    /// `GB_ENABLE.STENCIL_AUTO`.
    StencilAuto {
        OFF        = 0 "" "off";
        BY_FACE    = 1 "" "increment or decrement by face";
        FORCE_ZERO = 2 "" "0 into the lowest bit of the depth slope in y";
    }

    /// `TEX*_SOURCE`: where a texture coordinate comes from. Names: `R300_GB_TEX_*` in Mesa's r300_reg.h.
    TexSource {
        VERTEX    = 0 "" "the vertices";
        STUFF_ST  = 1 "" "S and T made up";
        STUFF_STR = 2 "" "S, T and R made up";
    }

    /// `PS3_VTX_FMT.TEX_*_COMP_CNT`.
    TexComponents {
        NONE  = 0 "" "not present";
        ONE   = 1 "" "1 component";
        TWO   = 2 "" "2 components";
        THREE = 3 "" "3 components";
        FOUR  = 4 "" "4 components";
    }

    /// `PS3_VTX_FMT.TEX_10_COMP_CNT`.
    TexComponents10 {
        NONE  = 0 "" "not present";
        TWO   = 1 "" "2 components";
        THREE = 2 "" "3 components";
        FOUR  = 3 "" "4 components";
    }

    /// `GB_TILE_CONFIG.PIPE_COUNT`.
    PipeCount {
        ONE   = 0 "" "one pipe, as RV350";
        TWO   = 3 "" "two pipes, as R300";
        THREE = 6 "" "three pipes";
        FOUR  = 7 "" "four pipes, as R420";
    }

    /// `GB_TILE_CONFIG.TILE_SIZE`.
    TileSize {
        PIXELS_8  = 0 "" "8 pixels";
        PIXELS_16 = 1 "" "16 pixels";
        PIXELS_32 = 2 "" "32 pixels";
    }

    /// `GB_TILE_CONFIG.SUPER_SIZE`.
    SuperSize {
        TILES_1   = 0 "" "1 tile";
        TILES_2   = 1 "" "2 tiles";
        TILES_4   = 2 "" "4 tiles";
        TILES_8   = 3 "" "8 tiles";
        TILES_16  = 4 "" "16 tiles";
        TILES_32  = 5 "" "32 tiles";
        TILES_64  = 6 "" "64 tiles";
        TILES_128 = 7 "" "128 tiles";
    }

    /// `GB_TILE_CONFIG.QUADS_PER_RAS`.
    QuadsPerRas {
        QUADS_4  = 0 "" "4 quads";
        QUADS_8  = 1 "" "8 quads";
        QUADS_16 = 2 "" "16 quads";
        QUADS_32 = 3 "" "32 quads";
    }

    /// `GB_SELECT.FOG_SELECT`.
    FogSelect {
        C0A = 0 "" "alpha of colour 0";
        C1A = 1 "" "alpha of colour 1";
        C2A = 2 "" "alpha of colour 2";
        C3A = 3 "" "alpha of colour 3";
        W   = 4 "" "w, as 1 / (1/w)";
        Z   = 5 "" "z";
    }

    /// `GB_AA_CONFIG.NUM_AA_SUBSAMPLES`.
    AaSamples {
        SAMPLES_2 = 0 "" "2 samples";
        SAMPLES_3 = 1 "" "3 samples";
        SAMPLES_4 = 2 "" "4 samples";
        SAMPLES_6 = 3 "" "6 samples";
    }

    /// `GB_FIFO_SIZE`: a size of a queue.
    Words32To256 {
        WORDS_32  = 0 "" "32 words";
        WORDS_64  = 1 "" "64 words";
        WORDS_128 = 2 "" "128 words";
        WORDS_256 = 3 "" "256 words";
    }

    /// `GB_FIFO_SIZE`: a size of a queue.
    Words16To128 {
        WORDS_16  = 0 "" "16 words";
        WORDS_32  = 1 "" "32 words";
        WORDS_64  = 2 "" "64 words";
        WORDS_128 = 3 "" "128 words";
    }

    /// `GB_FIFO_SIZE`: a size of a queue.
    Words64To512 {
        WORDS_64  = 0 "" "64 words";
        WORDS_128 = 1 "" "128 words";
        WORDS_256 = 2 "" "256 words";
        WORDS_512 = 3 "" "512 words";
    }

    /// `GB_FIFO_SIZE`: a size of a queue.
    Words0To12 {
        WORDS_0  = 0 "" "0 words";
        WORDS_4  = 1 "" "4 words";
        WORDS_8  = 2 "" "8 words";
        WORDS_12 = 3 "" "12 words";
    }

    /// `GA_LINE_CNTL.END_TYPE`.
    LineEnd {
        HORIZONTAL = 0 "" "horizontal";
        VERTICAL   = 1 "" "vertical";
        SQUARE     = 2 "" "horizontal or vertical, by the slope";
        COMPUTED   = 3 "" "at a right angle to the line";
    }

    /// `GA_LINE_STIPPLE_CONFIG.LINE_RESET`.
    StippleReset {
        NEVER  = 0 "" "never";
        LINE   = 1 "" "at each line";
        PACKET = 2 "" "at each packet";
    }

    /// `*_SHADING`.
    Shading {
        SOLID   = 0 "" "the solid fill colour";
        FLAT    = 1 "" "the provoking vertex's";
        GOURAUD = 2 "" "interpolated";
    }

    /// `GA_COLOR_CONTROL_PS3.COLOR*_TEX_OVERRIDE`.
    TexOverride {
        NONE  = 0  "" "none";
        TEX_0 = 1  "" "texture coordinate 0";
        TEX_1 = 2  "" "texture coordinate 1";
        TEX_2 = 3  "" "texture coordinate 2";
        TEX_3 = 4  "" "texture coordinate 3";
        TEX_4 = 5  "" "texture coordinate 4";
        TEX_5 = 6  "" "texture coordinate 5";
        TEX_6 = 7  "" "texture coordinate 6";
        TEX_7 = 8  "" "texture coordinate 7";
        TEX_8 = 9  "" "texture coordinate 8, or colour 2";
        TEX_9 = 10 "" "texture coordinate 9, or colour 3";
    }

    /// `GA_COLOR_CONTROL.PROVOKING_VERTEX`.
    ProvokingVertex {
        FIRST  = 0 "" "the first vertex";
        SECOND = 1 "" "the second vertex";
        THIRD  = 2 "" "the third vertex";
        LAST   = 3 "" "the last vertex";
    }

    /// `GA_POLY_MODE.POLY_MODE`.
    PolyMode {
        OFF  = 0 "" "triangles are filled";
        DUAL = 1 "" "each face has a mode";
    }

    /// `GA_POLY_MODE.FRONT_PTYPE`, `BACK_PTYPE`.
    PolygonFill {
        POINTS    = 0 "" "points at the vertices";
        LINES     = 1 "" "the edges";
        TRIANGLES = 2 "" "filled";
    }

    /// `GA_ROUND_MODE.GEOMETRY_ROUND`, `COLOR_ROUND`.
    Rounding {
        TRUNCATE = 0 "" "towards zero";
        NEAREST  = 1 "" "to nearest";
    }

    /// `SC_HYPERZ_EN.HZ_ADJ`.
    HzAdj {
        DIV_256 = 0 "" "1/256";
        DIV_128 = 1 "" "1/128";
        DIV_64  = 2 "" "1/64";
        DIV_32  = 3 "" "1/32";
        DIV_16  = 4 "" "1/16";
        DIV_8   = 5 "" "1/8";
        DIV_4   = 6 "" "1/4";
        DIV_2   = 7 "" "1/2";
    }

    /// `SC_EDGERULE.ER_*`: whether a sample on an edge is covered, by the side of the edge.
    EdgeRule {
        RULE_0  = 0  "" "left in, right in, horizontal top in, horizontal bottom in";
        RULE_1  = 1  "" "left in, right in, horizontal top in, horizontal bottom out";
        RULE_2  = 2  "" "left in, right in, horizontal top out, horizontal bottom in";
        RULE_3  = 3  "" "left in, right in, horizontal top out, horizontal bottom out";
        RULE_4  = 4  "" "left in, right out, horizontal top in, horizontal bottom in";
        RULE_5  = 5  "" "left in, right out, horizontal top in, horizontal bottom out";
        RULE_6  = 6  "" "left in, right out, horizontal top out, horizontal bottom in";
        RULE_7  = 7  "" "left in, right out, horizontal top out, horizontal bottom out";
        RULE_8  = 8  "" "left out, right in, horizontal top in, horizontal bottom in";
        RULE_9  = 9  "" "left out, right in, horizontal top in, horizontal bottom out";
        RULE_10 = 10 "" "left out, right in, horizontal top out, horizontal bottom in";
        RULE_11 = 11 "" "left out, right in, horizontal top out, horizontal bottom out";
        RULE_12 = 12 "" "left out, right out, horizontal top in, horizontal bottom in";
        RULE_13 = 13 "" "left out, right out, horizontal top in, horizontal bottom out";
        RULE_14 = 14 "" "left out, right out, horizontal top out, horizontal bottom in";
        RULE_15 = 15 "" "left out, right out, horizontal top out, horizontal bottom out";
        RULE_16 = 16 "" "top in, bottom in, vertical left in, vertical right in";
        RULE_17 = 17 "" "top in, bottom in, vertical left in, vertical right out";
        RULE_18 = 18 "" "top in, bottom in, vertical left out, vertical right in";
        RULE_19 = 19 "" "top in, bottom in, vertical left out, vertical right out";
        RULE_20 = 20 "" "top out, bottom in, vertical left in, vertical right in";
        RULE_21 = 21 "" "top out, bottom in, vertical left in, vertical right out";
        RULE_22 = 22 "" "top out, bottom in, vertical left out, vertical right in";
        RULE_23 = 23 "" "top out, bottom in, vertical left out, vertical right out";
        RULE_24 = 24 "" "top in, bottom out, vertical left in, vertical right in";
        RULE_25 = 25 "" "top in, bottom out, vertical left in, vertical right out";
        RULE_26 = 26 "" "top in, bottom out, vertical left out, vertical right in";
        RULE_27 = 27 "" "top in, bottom out, vertical left out, vertical right out";
        RULE_28 = 28 "" "top out, bottom out, vertical left in, vertical right in";
        RULE_29 = 29 "" "top out, bottom out, vertical left in, vertical right out";
        RULE_30 = 30 "" "top out, bottom out, vertical left out, vertical right in";
        RULE_31 = 31 "" "top out, bottom out, vertical left out, vertical right out";
    }

    /// `RB3D_CCTL.NUM_MULTIWRITES`.
    MultiWrites {
        A    = 0 "" "A";
        AB   = 1 "" "A and B";
        ABC  = 2 "" "A to C";
        ABCD = 3 "" "A to D";
    }

    /// `RB3D_BLENDCNTL.DISCARD_SRC_PIXELS`.
    DiscardSrc {
        OFF       = 0 "" "none";
        LTE_ALPHA = 1 "" "source alpha at most the LTE threshold";
        LTE_COLOR = 2 "" "source colour at most the LTE threshold";
        LTE_ARGB  = 3 "" "source alpha and colour at most the LTE threshold";
        GTE_ALPHA = 4 "" "source alpha at least the GTE threshold";
        GTE_COLOR = 5 "" "source colour at least the GTE threshold";
        GTE_ARGB  = 6 "" "source alpha and colour at least the GTE threshold";
    }

    /// `COMB_FCN`.
    BlendFunction {
        ADD                  = 0 "" "source + destination, clamped";
        ADD_NO_CLAMP         = 1 "" "source + destination";
        SUB                  = 2 "" "source - destination, clamped";
        SUB_NO_CLAMP         = 3 "" "source - destination";
        MIN                  = 4 "" "minimum of source and destination";
        MAX                  = 5 "" "maximum of source and destination";
        REVERSE_SUB          = 6 "" "destination - source, clamped";
        REVERSE_SUB_NO_CLAMP = 7 "" "destination - source";
    }

    /// `SRCBLEND`: factor of the source.
    SrcBlend {
        D3D_ZERO                    = 1  "D3D_ZERO" "0";
        D3D_ONE                     = 2  "D3D_ONE" "1";
        D3D_SRCCOLOR                = 3  "D3D_SRCCOLOR" "source colour";
        D3D_INVSRCCOLOR             = 4  "D3D_INVSRCCOLOR" "1 - source colour";
        D3D_SRCALPHA                = 5  "D3D_SRCALPHA" "source alpha";
        D3D_INVSRCALPHA             = 6  "D3D_INVSRCALPHA" "1 - source alpha";
        D3D_DESTALPHA               = 7  "D3D_DESTALPHA" "destination alpha";
        D3D_INVDESTALPHA            = 8  "D3D_INVDESTALPHA" "1 - destination alpha";
        D3D_DESTCOLOR               = 9  "D3D_DESTCOLOR" "destination colour";
        D3D_INVDESTCOLOR            = 10 "D3D_INVDESTCOLOR" "1 - destination colour";
        D3D_SRCALPHASAT             = 11 "D3D_SRCALPHASAT" "minimum of source alpha and 1 - destination alpha";
        D3D_BOTHSRCALPHA            = 12 "D3D_BOTHSRCALPHA" "source alpha; the destination's factor is 1 - source alpha";
        D3D_BOTHINVSRCALPHA         = 13 "D3D_BOTHINVSRCALPHA" "1 - source alpha; the destination's factor is source alpha";
        GL_ZERO                     = 32 "GL_ZERO" "0";
        GL_ONE                      = 33 "GL_ONE" "1";
        GL_SRC_COLOR                = 34 "GL_SRC_COLOR" "source colour";
        GL_ONE_MINUS_SRC_COLOR      = 35 "GL_ONE_MINUS_SRC_COLOR" "1 - source colour";
        GL_DST_COLOR                = 36 "GL_DST_COLOR" "destination colour";
        GL_ONE_MINUS_DST_COLOR      = 37 "GL_ONE_MINUS_DST_COLOR" "1 - destination colour";
        GL_SRC_ALPHA                = 38 "GL_SRC_ALPHA" "source alpha";
        GL_ONE_MINUS_SRC_ALPHA      = 39 "GL_ONE_MINUS_SRC_ALPHA" "1 - source alpha";
        GL_DST_ALPHA                = 40 "GL_DST_ALPHA" "destination alpha";
        GL_ONE_MINUS_DST_ALPHA      = 41 "GL_ONE_MINUS_DST_ALPHA" "1 - destination alpha";
        GL_SRC_ALPHA_SATURATE       = 42 "GL_SRC_ALPHA_SATURATE" "minimum of source alpha and 1 - destination alpha; alpha: 1";
        GL_CONSTANT_COLOR           = 43 "GL_CONSTANT_COLOR" "constant colour";
        GL_ONE_MINUS_CONSTANT_COLOR = 44 "GL_ONE_MINUS_CONSTANT_COLOR" "1 - constant colour";
        GL_CONSTANT_ALPHA           = 45 "GL_CONSTANT_ALPHA" "constant alpha";
        GL_ONE_MINUS_CONSTANT_ALPHA = 46 "GL_ONE_MINUS_CONSTANT_ALPHA" "1 - constant alpha";
    }

    /// `DESTBLEND`: factor of the destination; the codes are those of [`SrcBlend`].
    DestBlend {
        D3D_ZERO                    = 1  "D3D_ZERO" "0";
        D3D_ONE                     = 2  "D3D_ONE" "1";
        D3D_SRCCOLOR                = 3  "D3D_SRCCOLOR" "source colour";
        D3D_INVSRCCOLOR             = 4  "D3D_INVSRCCOLOR" "1 - source colour";
        D3D_SRCALPHA                = 5  "D3D_SRCALPHA" "source alpha";
        D3D_INVSRCALPHA             = 6  "D3D_INVSRCALPHA" "1 - source alpha";
        D3D_DESTALPHA               = 7  "D3D_DESTALPHA" "destination alpha";
        D3D_INVDESTALPHA            = 8  "D3D_INVDESTALPHA" "1 - destination alpha";
        D3D_DESTCOLOR               = 9  "D3D_DESTCOLOR" "destination colour";
        D3D_INVDESTCOLOR            = 10 "D3D_INVDESTCOLOR" "1 - destination colour";
        GL_ZERO                     = 32 "GL_ZERO" "0";
        GL_ONE                      = 33 "GL_ONE" "1";
        GL_SRC_COLOR                = 34 "GL_SRC_COLOR" "source colour";
        GL_ONE_MINUS_SRC_COLOR      = 35 "GL_ONE_MINUS_SRC_COLOR" "1 - source colour";
        GL_DST_COLOR                = 36 "GL_DST_COLOR" "destination colour";
        GL_ONE_MINUS_DST_COLOR      = 37 "GL_ONE_MINUS_DST_COLOR" "1 - destination colour";
        GL_SRC_ALPHA                = 38 "GL_SRC_ALPHA" "source alpha";
        GL_ONE_MINUS_SRC_ALPHA      = 39 "GL_ONE_MINUS_SRC_ALPHA" "1 - source alpha";
        GL_DST_ALPHA                = 40 "GL_DST_ALPHA" "destination alpha";
        GL_ONE_MINUS_DST_ALPHA      = 41 "GL_ONE_MINUS_DST_ALPHA" "1 - destination alpha";
        GL_CONSTANT_COLOR           = 43 "GL_CONSTANT_COLOR" "constant colour";
        GL_ONE_MINUS_CONSTANT_COLOR = 44 "GL_ONE_MINUS_CONSTANT_COLOR" "1 - constant colour";
        GL_CONSTANT_ALPHA           = 45 "GL_CONSTANT_ALPHA" "constant alpha";
        GL_ONE_MINUS_CONSTANT_ALPHA = 46 "GL_ONE_MINUS_CONSTANT_ALPHA" "1 - constant alpha";
    }

    /// `COLORMICROTILE`, `DEPTHMICROTILE`.
    MicroTile {
        LINEAR = 0 "" "32-byte units are rows";
        TILED  = 1 "" "32-byte units are two or four rows";
        SQUARE = 2 "" "32-byte units are four rows of 16-bit pixels";
    }

    /// `RB3D_COLORPITCH.COLORFORMAT`.
    ColorFormat {
        ARGB10101010 = 0  "ARGB10101010" "four components of 10 bits";
        UV1010       = 1  "UV1010" "two components of 10 bits";
        CI8          = 2  "CI8" "8-bit colour index";
        ARGB1555     = 3  "ARGB1555" "5 bits a colour, 1 of alpha";
        RGB565       = 4  "RGB565" "5, 6 and 5 bits";
        ARGB2101010  = 5  "ARGB2101010" "10 bits a colour, 2 of alpha";
        ARGB8888     = 6  "ARGB8888" "four components of 8 bits, also two of 16 and one of 32";
        ARGB32323232 = 7  "ARGB32323232" "four float32";
        I8           = 9  "I8" "one component of 8 bits";
        ARGB16161616 = 10 "ARGB16161616" "four components of 16 bits, also two of 32";
        YUV422_VYUY  = 11 "YUV422" "YUV 4:2:2, packed";
        YUV422_YVYU  = 12 "YUV422" "YUV 4:2:2, packed, the other order";
        UV88         = 13 "UV88" "two components of 8 bits";
        I10          = 14 "I10" "one component of 10 bits";
        ARGB4444     = 15 "ARGB4444" "four components of 4 bits";
    }

    /// `RB3D_DSTCACHE_CTLSTAT.DC_FLUSH`.
    CacheFlush {
        NONE    = 0 "" "no effect";
        NONE_1  = 1 "" "no effect";
        FLUSH   = 2 "" "write dirty lines";
        FLUSH_3 = 3 "" "write dirty lines";
    }

    /// `RB3D_DSTCACHE_CTLSTAT.DC_FREE`.
    CacheFree {
        NONE   = 0 "" "no effect";
        NONE_1 = 1 "" "no effect";
        FREE   = 2 "" "free lines";
        FREE_3 = 3 "" "free lines";
    }

    /// `RB3D_DITHER_CTL`.
    DitherMode {
        TRUNCATE = 0 "" "truncate";
        ROUND    = 1 "" "round";
        LUT      = 2 "" "dither by a table";
    }

    /// `*_FIFO_SIZE.OP_FIFO_SIZE`.
    FifoSize {
        WHOLE   = 0 "" "all of it";
        HALF    = 1 "" "1/2";
        QUARTER = 2 "" "1/4";
        EIGHTH  = 3 "" "1/8";
    }

    /// `ZFUNC`, `STENCILFUNC`: comparison of the new value (reference value) with the stored one.
    CompareFunc {
        NEVER    = 0 "" "never";
        LESS     = 1 "" "less";
        LEQUAL   = 2 "" "less or equal";
        EQUAL    = 3 "" "equal";
        GEQUAL   = 4 "" "greater or equal";
        GREATER  = 5 "" "greater";
        NOTEQUAL = 6 "" "not equal";
        ALWAYS   = 7 "" "always";
    }

    /// `STENCILFAIL`, `STENCILZPASS`, `STENCILZFAIL`.
    StencilOp {
        KEEP      = 0 "" "as it is";
        ZERO      = 1 "" "0";
        REPLACE   = 2 "" "the reference value";
        INCR      = 3 "" "+ 1, at most the greatest value";
        DECR      = 4 "" "- 1, at least 0";
        INVERT    = 5 "" "all bits inverted";
        INCR_WRAP = 6 "" "+ 1, the greatest value becomes 0";
        DECR_WRAP = 7 "" "- 1, 0 becomes the greatest value";
    }

    /// `ZB_FORMAT.DEPTHFORMAT`.
    DepthFormat {
        Z16      = 0 "" "16-bit integer";
        Z16_13E3 = 1 "" "16-bit float: 13 bits of mantissa, 3 of exponent";
        Z24S8    = 2 "" "24-bit integer and 8 bits of stencil";
    }
}

/// Defines the two values of a flag whose states each have a meaning.
macro_rules! flags {
    ($( $id:ident $field:literal $off:literal $on:literal; )*) => {$(
        #[doc = concat!("`", $field, "`: 0: ", $off, "; 1: ", $on, ".")]
        pub const $id: &[Value] =
            &[Value { code: 0, name: "", meaning: $off }, Value { code: 1, name: "", meaning: $on }];
    )*};
}

#[rustfmt::skip]
flags! {
    CLIP_SPACE     "VAP_CNTL.DX_CLIP_SPACE_DEF" "-w <= z, as OpenGL" "0 <= z, as Direct3D";
    INDEX_SIZE     "VAP_VF_CNTL.INDEX_SIZE" "16 bits" "32 bits";
    SUPER_TILE     "GB_TILE_CONFIG.SUPER_TILE" "the A tiles" "the B tiles";
    SUBPIXEL       "GB_TILE_CONFIG.SUBPIXEL" "1/12 pixel" "1/16 pixel";
    BB_SCAN        "GB_TILE_CONFIG.BB_SCAN" "by intercepts" "by bounding box";
    ALT_SCAN       "GB_TILE_CONFIG.ALT_SCAN_EN" "each row from left to right" "rows in alternating directions";
    DEPTH_SELECT   "GB_SELECT.DEPTH_SELECT" "z" "w, as 1 / (1/w)";
    W_SELECT       "GB_SELECT.W_SELECT" "w" "1";
    Z_PEQ_SIZE     "GB_Z_PEQ_CONFIG.Z_PEQ_SIZE" "4x4 pixels" "8x8 pixels";
    LINE_SORT      "GA_LINE_CNTL.SORT" "as they come" "by x, then y";
    COLOR_CLAMP    "GA_ROUND_MODE.RGB_CLAMP, ALPHA_CLAMP" "clamped to 0..1" "a float of 20 bits";
    FRONT_FACE     "SU_CULL_MODE.FACE" "positive cross product: counter-clockwise" "negative cross product: clockwise";
    HZ_MAX         "SC_HYPERZ_EN.HZ_MAX" "the least" "the greatest";
    RESOLVE_GAMMA  "RB3D_AARESOLVE_CTL.AARESOLVE_GAMMA" "1" "2.2";
    RESOLVE_ALPHA  "RB3D_AARESOLVE_CTL.AARESOLVE_ALPHA" "of sample 0" "the mean";
    SIGNED_DEPTH   "ZB_CNTL.ZSIGNED_MAGNITUDE" "two's complement" "sign and magnitude";
    HIZ_MIN        "ZB_BW_CNTL.HIZ_MIN" "the greatest" "the least";
    HIZ_INVERT     "ZB_BW_CNTL.HIZ_FP_INVERT" "counts leading ones" "counts leading zeros";
}

impl From<DestBlend> for SrcBlend {
    fn from(factor: DestBlend) -> Self {
        Self::new(factor.code())
    }
}

impl PrimType {
    /// Returns how many points, lines, triangles or quads `vertices` vertices form; a polygon is one.
    #[must_use]
    pub const fn primitives(self, vertices: u32) -> u32 {
        match self {
            Self::POINTS => vertices,
            Self::LINES => vertices / 2,
            Self::LINE_STRIP => vertices.saturating_sub(1),
            Self::LINE_LOOP if vertices < 2 => 0,
            Self::LINE_LOOP => vertices,
            Self::TRIANGLES | Self::TRIANGLES_W_FLAGS => vertices / 3,
            Self::TRIANGLE_FAN | Self::TRIANGLE_STRIP => vertices.saturating_sub(2),
            Self::QUADS => vertices / 4,
            Self::QUAD_STRIP => (vertices / 2).saturating_sub(1),
            Self::POLYGON => (vertices >= 3) as u32,
            _ => 0,
        }
    }
}
