//! Readings: rules around the fragment processor that the documents leave open, each a named choice.
//!
//! The first value of each is this project's. The rules of the fragment processor itself have readings of their own in
//! [`r500_exec::reading`].

pub use r500_exec::reading::{ReadingError, ReadingInfo};

#[rustfmt::skip]
r500_exec::readings! {
    "subpixel" subpixel: SubpixelGrid =
        "The grid that vertex positions are rounded to.",
        "Documented: 1/12 pixel, or 1/16 with GB_TILE_CONFIG.SUBPIXEL. 1/256 is the grid of software renderers, to compare with them."
    {
        Register "register" "1/12 pixel, or 1/16 if the register says so";
        Fine "256" "1/256 pixel";
    }
    "position-ties" position_ties: PositionTies =
        "How positions half way between two points of the grid are rounded to nearest.",
        "Open."
    {
        Away "away" "away from zero";
        Even "even" "to the even point";
    }
    "guard-band" guard_band: GuardBand =
        "Where primitives are clipped in x and y.",
        "Observed: drivers leave the adjust registers at 1, documented as no guard band, and the RV530 then draws nothing outside the viewport: it passes piglit's triangle-guardband-viewport, and all 602 clipping tests of dEQP-GLES2 have its results (with a band of 16, 547 fail that pass there). Lines end at the viewport before they are widened, so the card fails line_strip_wide and line_loop_wide."
    {
        Registers "registers" "where VAP_GB_*_CLIP_ADJ say";
        Wide "wide" "at 16 times the view volume, or further out if the registers say so";
    }
    "line-ends" line_ends: LineEnds =
        "The shape of a line.",
        "Open. Widened along the minor axis lines agree with software renderers but for 164 pixels of 60 lines."
    {
        MinorAxis "minor-axis" "a parallelogram, widened along y if the line is flat, else along x";
        RightAngle "right-angle" "a rectangle along the line if END_TYPE is COMPUTED, else as minor-axis";
    }
    "quad-split" quad_split: QuadSplit =
        "Along which diagonal quads are divided into triangles.",
        "Open: seen where a quad is not convex or not flat. Drivers that divide quads themselves leave the last vertex, which provokes, in both parts."
    {
        OneToThree "1-3" "from vertex 1 to 3: both parts have the last vertex last";
        ZeroToTwo "0-2" "from vertex 0 to 2";
    }
    "polygon-offset-unit" polygon_offset_unit: PolygonOffsetUnit =
        "What SU_POLY_OFFSET_*_OFFSET counts in.",
        "Observed: Mesa writes twice the units for 24-bit buffers and four times for 16-bit ones, as if the step were the buffer's, and the RV515 and RV530 fail dEQP-GLES2's polygon_offset.fixed16_displacement_with_units and fixed16_render_with_units (RV370 and R480 the first), but pass the same tests with 24 bits: in a 16-bit buffer the offset is too small."
    {
        Step24 "step-24" "1/2 of a step of 24 bits, whatever the buffer";
        PartOfStep "part-of-step" "1/2 of a step of a 24-bit buffer, 1/4 of a step of a 16-bit one";
    }
    "depth-16" depth_16: Depth16 =
        "How 24 bits of depth become 16.",
        "Observed: the upper 16 bits pass the comparisons of conformance tests."
    {
        Upper "upper" "the upper 16 bits";
        Nearest "nearest" "rounded to nearest";
    }
    "target-rounding" target_rounding: TargetRounding =
        "How components that US_OUT_FMT sends become components of fewer bits, where RB3D_DITHER_CTL says neither round nor dither.",
        "Documented: the register names the mode truncate. Pictures in 5:6:5 then agree with software renderers, which truncate, too."
    {
        Truncate "truncate" "the lower bits are cut off";
        Nearest "nearest" "to nearest";
    }
    "blend-source" blend_source: BlendSource =
        "The precision of the source colour that is blended into fixed-point targets.",
        "Derived: US_OUT_FMT makes the colour fixed-point before the render backend receives it."
    {
        OutFormat "out-format" "that of US_OUT_FMT";
        Float "float" "as the program wrote it, clamped";
    }
    "fog-factor" fog_factor: FogFactor =
        "What the fog factor is the weight of.",
        "Open. Derived: in Direct3D and OpenGL a factor of 1 leaves the colour as it is."
    {
        Color "color" "the colour of the fragment; the fog has the rest";
        Fog "fog" "the colour of the fog; the fragment has the rest";
    }
    "fog-exponential" fog_exponential: FogExponential =
        "The base of the exponential fog functions.",
        "Open: scale and offset of the fog value make any base of any other. Direct3D and OpenGL define the functions with e."
    {
        E "e" "e";
        Two "2" "2";
    }
    "cube-size" cube_size: CubeSize =
        "What rows, faces and coordinates count of a cube map whose size is not a power of two.",
        "Observed: of dEQP-GLES2's cube maps of such sizes a card (RV530) fails 41, and passes those of 63 texels of 8 bits with a gradient (teximage2d_align.cube_l8_63). Where Mesa's rows are shorter than a power of two (39, 47, 51 texels), a whole picture is wrong; where they are as long (15, 63 texels), only fine patterns are. Other cube maps pass."
    {
        PowerOfTwo "power-of-two" "the next power of two";
        AsGiven "as-given" "the size";
    }
    "alpha-test" alpha_test: AlphaTest =
        "Which bits the alpha test of 8 or 10 bits compares, where US_OUT_FMT has more than 10 bits a component or signs.",
        "Observed: Mesa tests 8 bits for all targets but four float16 components. Cards (RV515, RV530) then pass piglit's fbo-alphatest-formats for targets of 8 and 10 bits a component and for LUMINANCE16_ALPHA16, whose second component is alpha, and fail for all others of 16 and 32 bits and all with signs: exactly those for which bits 31:24 of the pixel are not an alpha of 8 bits."
    {
        Packed "packed" "the upper bits of the first dword of the pixel that US sends, where 8 bits a component have alpha";
        Alpha "alpha" "alpha as the program wrote it, rounded to 8 or 10 bits";
    }
    "alpha-mask" alpha_mask: AlphaMask =
        "Which samples alpha to mask keeps.",
        "Open: only the number of masks is documented."
    {
        Lowest "lowest" "the samples of the lowest numbers, alpha times their count, rounded";
        Rotated "rotated" "as lowest, counted from another sample in each pixel of a quad";
    }
    "intensity-alpha" intensity_alpha: IntensityAlpha =
        "What blending reads as the destination's alpha of a target of one component of 8 bits (I8).",
        "Observed: a card (RV530) passes piglit's fbo-blending-formats with GL_DST_ALPHA for alpha textures, which needs the stored value, and for red and luminance textures, where the stored value, rounded to nearest, is 0.05/255 beyond the test's tolerance. If blending does not round to nearest, stored is possible, too."
    {
        Selected "selected" "the stored value if C2_SEL of US_OUT_FMT is alpha, else that of a missing component";
        Stored "stored" "the stored value";
    }
    "missing-component" missing_component: MissingComponent =
        "What blending reads of a component that the target does not store.",
        "Open: drivers avoid the case by other blend factors."
    {
        One "one" "alpha 1, colours 0";
        Zero "zero" "0";
    }
}
