//! Texture layout for machine code: the cells of a texture, and the address of a texel in them.

use r500_isa::values::{CoordType, LayerFilter, TriPerf};

use super::channel_source::ChannelSource;
use super::compiled_sampler::{CompiledSampler, LaneMipLevel};
use super::footprints::Footprint;
use super::texel_cache::TexelCache;
use super::texel_math::WrapMode;
use crate::readings::{LodBias, LodFraction};
use crate::scalar_sampler::ScalarSampler;

/// The layout of a two-dimensional texture with one filter, clamped, repeated or mirrored.
///
/// A coordinate (divided by Q for PROJ) is multiplied by the axis's `scale`, in level k also by
/// 2^-[mip_shift](LodDesc::mip_shift), and limited to ±2^30, NaN to 0. The point filter takes its floor as the
/// texel number. The [`linear`](Self::linear) filter subtracts a half, takes the floor as the number of the
/// first of two texels, and the fraction as the weight of the second. The numbers of column and row, mapped
/// into their axes by [`WrapMode`], give the cell `origin + row * self.row + column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDesc {
    /// The filter: linear, where a cell holds the four texels of a footprint, or point, where it holds one texel.
    pub linear: bool,
    /// S and T.
    pub axes: [AxisDesc; 2],
    /// The cell of column 0 and row 0.
    pub origin: u32,
    /// Cells from one row to the next.
    pub row: u32,
    /// The number of cells of all levels; at least one.
    pub cells: u32,
    /// The sources of the channels.
    pub channels: [ChannelSource; 4],
    /// Whether finite texels may not be multiples of 2^-[`GRID`](Self::GRID). Never set with the linear filter,
    /// so that no step of it underflows.
    pub may_underflow: bool,
    /// The levels, if several can be read. Their axes have 2^n texels.
    pub lod: Option<LodDesc>,
}

impl TextureDesc {
    /// All texel values except float32 are multiples of 2^-47: the smallest float16 is 2^-24, the smallest 24-bit
    /// float 2^-34, and no fixed-point or sRGB value is below 2^-24, the last place of which is 2^-47.
    pub const GRID: i32 = 47;
}

/// The mip levels of a texture.
///
/// The level of detail is that of [`Sampler`](crate::Sampler) with `LOD_BIAS`, NaN as 0, limited to finest and
/// coarsest, and cut to the [`fraction`](Self::fraction). Level k has `(size - 1 >> k) + 1`
/// texels along an axis, and as many cells from one row to the next; with the linear filter twice as many if columns
/// are mirrored, one more if they are clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LodDesc {
    /// Bits of `LOD_BIAS`.
    pub bias: u32,
    /// The fraction of the level of detail.
    pub fraction: LodFraction,
    /// The first level.
    pub finest: u8,
    /// The last level, less than 13.
    pub coarsest: u8,
    /// Whether two levels are blended; else the nearest one is taken.
    pub trilinear: bool,
    /// The maximum number of halvings of each axis for coordinates: at most one a level.
    pub mip_shift: [u8; 2],
    /// The cell of column 0 and row 0 of each level.
    pub origins: [u32; 13],
}

/// The layout of one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisDesc {
    /// The wrap mode.
    pub wrap: WrapMode,
    /// Texels of the only level, at most 2^12; of level 0 if there are several.
    pub size: u32,
    /// Bits of the scale of coordinates; not applied to `UNSCALED` ones.
    pub scale: u32,
}

/// The cells of a texture.
#[derive(Clone, Copy, Debug)]
pub enum TexelView<'a> {
    /// One texel each: red, green, blue, alpha.
    Texels(&'a [[f32; 4]]),
    /// Four texels each: first column and row, second column, second row, both second.
    Footprints(&'a [Footprint]),
}

impl TexelView<'_> {
    /// No cells.
    pub const NONE: Self = Self::Texels(&[]);

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Texels(cells) => cells.len(),
            Self::Footprints(cells) => cells.len(),
        }
    }

    /// Returns whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TextureDesc {
    /// Describes the fetches of a sampler; `None` if they have no description.
    pub(crate) fn new(scalar: &ScalarSampler, compiled: &CompiledSampler) -> Option<Self> {
        if compiled.anisotropy.is_some() {
            return None;
        }
        match compiled.single_level {
            true => compiled.finest_level_desc().filter(|_| compiled.has_fast_path),
            false => Self::mipmapped(scalar, compiled),
        }
    }

    /// Describes a texture with all its levels.
    fn mipmapped(scalar: &ScalarSampler, compiled: &CompiledSampler) -> Option<Self> {
        let trilinear = match scalar.mip_filter {
            LayerFilter::LINEAR => true,
            LayerFilter::POINT => false,
            _ => return None,
        };
        let powers = scalar.size[..2].iter().all(|size| size.is_power_of_two());
        // With equal filters, magnification is the finest level blended with weight 0 of the next: the same
        // number if texels are finite and none is -0.
        let one = compiled.mag == compiled.min && compiled.plain && compiled.kind == CoordType::D2;
        // Products with the weight of an exact level of detail may underflow.
        let plain = one && powers && compiled.tri_perf == TriPerf::OFF && compiled.has_usual_lod();
        let desc = compiled.finest_level_desc().filter(|_| plain)?;
        let mut origins = [0; 13];
        for (origin, level) in origins.iter_mut().zip(&compiled.levels) {
            *origin = compiled.origin(level);
        }
        let mip_shift = [0, 1].map(|axis| scalar.mip_shift(axis, 15) as u8);
        let axis = |axis: usize| AxisDesc { size: scalar.size[axis], ..desc.axes[axis] };
        Some(Self {
            axes: [axis(0), axis(1)],
            lod: Some(LodDesc {
                bias: compiled.lod_bias.to_bits(),
                fraction: compiled.lod_fraction,
                finest: u8::try_from(compiled.finest).ok()?,
                coarsest: u8::try_from(compiled.coarsest).ok().filter(|level| *level < 13)?,
                trilinear,
                mip_shift,
                origins,
            }),
            ..desc
        })
    }
}

impl CompiledSampler {
    /// Returns the cells that the filter reads, if they are stored.
    pub(crate) fn texel_view(&self) -> TexelView<'_> {
        match (self.mag[0], &self.footprints, &self.store) {
            (true, Some(footprints), _) => TexelView::Footprints(footprints.all()),
            (false, _, TexelCache::Decoded(texels)) => TexelView::Texels(texels),
            _ => TexelView::NONE,
        }
    }

    /// Returns whether levels of detail are biased, cut and magnified as machine code implements it.
    fn has_usual_lod(&self) -> bool {
        let threshold = self.lod_fraction.unit();
        self.biased == LodBias::Always && threshold == Some(self.magnified_below)
    }

    /// Returns the cell of column 0 and row 0 of a level.
    fn origin(&self, level: &LaneMipLevel) -> u32 {
        let origin = if self.mag[0] { level.origin[0] } else { level.base[0] };
        origin as u32
    }

    /// Describes the finest level.
    fn finest_level_desc(&self) -> Option<TextureDesc> {
        let level = self.levels.get(self.finest)?;
        let linear = self.mag[0];
        let axis = |axis: usize| {
            Some(AxisDesc {
                wrap: self.address_modes[axis].wrap()?,
                size: level.size[axis][0] as u32,
                scale: self.scale[axis].to_bits(),
            })
        };
        let cells = self.texel_view().len();
        let row = if linear { level.row[0] } else { level.size[0][0] };
        Some(TextureDesc {
            linear,
            axes: [axis(0)?, axis(1)?],
            origin: self.origin(level),
            row: row as u32,
            cells: u32::try_from(cells).ok().filter(|cells| *cells > 0)?,
            channels: self.channels,
            may_underflow: self.may_underflow,
            lod: None,
        })
    }
}
