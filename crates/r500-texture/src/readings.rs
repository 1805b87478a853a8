//! Readings: the options of the texture unit where its rules are open.

use r500_isa::values::TexOp;
use r500_numerics::Arith;

/// The options of a sampler: [`TexReadings::REFERENCE`] is this project's choice; other combinations are for
/// comparison with a card.
///
/// The evidence is given at the type of each field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexReadings {
    /// The arithmetic of coordinates, levels of detail and filters, denormals above all. Its zero rule and fusing
    /// do not apply to the texture unit.
    pub arith: Arith,
    /// Which levels of detail the unit's own bias is added to.
    pub lod_bias: LodBias,
    /// The precision of the level of detail that selects filter and levels.
    pub lod_fraction: LodFraction,
    /// When a texture counts as magnified.
    pub magnification: Magnification,
    /// The precision of the weights of linear filters.
    pub weights: Weights,
    /// Which face a direction between faces selects.
    pub cube_ties: CubeTies,
    /// Which component of `TX_FMT_24_8` is which.
    pub depth_stencil: DepthStencil,
    /// The border colour of formats without texels of 32 bits.
    pub wide_border: WideBorder,
    /// Whether the border colour of a texture with `GAMMA` is converted.
    pub gamma_border: GammaBorder,
    /// The number of probes of an anisotropic filter.
    pub anisotropic_filter: AnisotropicFilter,
}

/// Which level of detail `TX_FILTER1.LOD_BIAS` is added to.
///
/// Documented: it is added to the computed level of detail before that is clamped. Open: whether a level of detail
/// that the program gives counts as "computed".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LodBias {
    /// To every level of detail.
    Always,
    /// Not to that of LOD, which is given as a number.
    NotLod,
    /// Only to those computed from the quad's differences: not with LOD, not with DXDY.
    Implicit,
}

impl LodBias {
    /// Returns whether the bias is added to the level of detail of an instruction.
    pub(crate) fn applies_to(self, op: TexOp) -> bool {
        match self {
            Self::Always => true,
            Self::NotLod => op != TexOp::LOD,
            Self::Implicit => op != TexOp::LOD && op != TexOp::DXDY,
        }
    }
}

/// The fraction of the level of detail, bias included, that selects the filter and the levels.
///
/// Observed: Mesa's r300 driver adds 1/32 to every `LOD_BIAS`, and a card (RV530) that draws a level at exactly its
/// size blends in nothing of the next one, so a fraction of 1/32 has no effect. Derived: 1/32 is half of 1/16, so
/// the bias turns truncation to four bits into rounding to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LodFraction {
    /// Rounded toward minus infinity to multiples of 1/16.
    FourBits,
    /// Rounded toward minus infinity to multiples of 1/32, the unit of `LOD_BIAS`.
    FiveBits,
    /// As computed.
    Exact,
}

impl LodFraction {
    /// Returns the unit of the level of detail; `None` if it is exact.
    #[must_use]
    pub fn unit(self) -> Option<f32> {
        match self {
            Self::FourBits => Some(1.0 / 16.0),
            Self::FiveBits => Some(1.0 / 32.0),
            Self::Exact => None,
        }
    }

    /// Returns the level of detail truncated to this fraction.
    pub(crate) fn truncate(self, lod: f32, arith: Arith) -> f32 {
        let Some(unit) = self.unit() else { return lod };
        arith.mul(arith.floor(arith.mul(lod, 1.0 / unit)), unit)
    }
}

/// When `MAG_FILTER` is used instead of `MIN_FILTER` and `MIP_FILTER`.
///
/// Open: the documents name the filters and give no threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Magnification {
    /// If the level of detail, bias included, is 0 or less.
    Zero,
    /// If it is 1/2 or less.
    Half,
    /// If the level of detail without `LOD_BIAS` is 0 or less.
    Unbiased,
}

/// The weights of linear filters within a level.
///
/// Observed: with weights of 8 bits, a picture that uses a fetched colour as a coordinate fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// The exact fraction of the coordinate.
    Exact,
    /// The fraction truncated to multiples of 1/256.
    EightBits,
}

/// Which face a direction with two or three largest components selects.
///
/// Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CubeTies {
    /// The first of X, Y, Z.
    XThenY,
    /// The first of Z, Y, X.
    ZThenY,
}

/// The components of `TX_FMT_24_8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DepthStencil {
    /// Component 0 is depth, 1 is stencil; the bits are ordered as in every other format, stencil lowest. Observed:
    /// Mesa's r300 driver selects component 0 as depth, and piglit's tests of depth textures, which pass on a card,
    /// pass only with this reading.
    DepthFirst,
    /// Component 0 is stencil, 1 is depth, as in every other format: numbered from the right of the name and the
    /// lowest bit upward (documented for formats in general).
    LowestFirst,
}

/// The border colour of block formats and of formats wider than its register of 32 bits.
///
/// Documented: it has the format of the texture, which is impossible for these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideBorder {
    /// Four components of 8 bits, signed where the texture's are, as Mesa's r300 driver writes it. The byte is
    /// repeated (observed).
    EightBits,
    /// The lowest dword of a texel whose other dwords are 0. Block formats as [`Self::EightBits`].
    LowestDword,
}

/// The border colour of a texture whose texels are converted from gamma to linear values.
///
/// Observed: Mesa's r300 driver writes the border in gamma, and piglit's tests of the border colours of sRGB formats,
/// compressed ones too, fail on cards (RV515, RV530), as they do if the border is used as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GammaBorder {
    /// It is not converted.
    Stored,
    /// It is converted as texels are.
    Converted,
}

/// The number of probes of an anisotropic filter.
///
/// Open: the documents reserve the code that drivers write for it, and no test with known results on a card enables
/// it. The other rules of the filter are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnisotropicFilter {
    /// The ratio of the axes of a pixel's footprint, rounded to nearest.
    Nearest,
    /// The same, rounded up.
    Up,
    /// One: the filter is linear.
    Linear,
}

impl TexReadings {
    /// The project's choices.
    pub const REFERENCE: Self = Self {
        arith: Arith::REFERENCE,
        lod_bias: LodBias::Always,
        lod_fraction: LodFraction::FourBits,
        magnification: Magnification::Zero,
        weights: Weights::Exact,
        cube_ties: CubeTies::XThenY,
        depth_stencil: DepthStencil::DepthFirst,
        wide_border: WideBorder::EightBits,
        gamma_border: GammaBorder::Stored,
        anisotropic_filter: AnisotropicFilter::Nearest,
    };
}

impl Default for TexReadings {
    fn default() -> Self {
        Self::REFERENCE
    }
}
