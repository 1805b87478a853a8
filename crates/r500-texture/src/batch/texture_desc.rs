//! Textures as machine code reads them: tables of texels, and where a place is in them.

use r500_isa::values::{ClampMode, CoordType, LayerFilter, TriPerf};

use super::channel_source::ChannelSource;
use super::compiled_sampler::{CompiledSampler, LaneMipLevel};
use super::footprints::Footprint;
use super::texel_cache::TexelCache;
use crate::scalar_sampler::ScalarSampler;

/// How a texture is looked up that has two dimensions and one filter, and is clamped or repeated.
///
/// A coordinate (divided by Q by PROJ) times the axis's `scale`, and in level k by 2^-[mip_shift](
/// LodDesc::mip_shift), is limited to ±2^30, NaN to 0. From there nearest takes its floor as the number of a
/// texel; [`linear`](Self::linear) takes a half off, the floor of that as the number of the first of two
/// texels, and what the floor cuts off as the weight of the second one. The numbers of column and row,
/// each within its axis as [`WrapMode`] says, give the cell `origin + row * self.row + column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureDesc {
    /// The filter: of four texels, a cell holding all of them; or of one, which is the cell.
    pub linear: bool,
    /// S and T.
    pub axes: [AxisDesc; 2],
    /// The cell of column 0 and row 0.
    pub origin: u32,
    /// Cells from one row to the next.
    pub row: u32,
    /// How many cells there are, of all levels; at least one.
    pub cells: u32,
    /// What the channels of texels have in common.
    pub channels: [ChannelSource; 4],
    /// Whether there may be texels that are finite but no multiples of 2^-[`GRID`](Self::GRID). There
    /// are none with the linear filter, so that no step of it makes a tiny number.
    pub may_underflow: bool,
    /// Levels, if there are several that can be seen. Their axes have 2^n texels.
    pub lod: Option<LodDesc>,
}

impl TextureDesc {
    /// All numbers that a texel can be are multiples of 2^-47, but for those of float32: of float16 2^-24 is
    /// the smallest, of the 24-bit float 2^-34, of fixed-point numbers and sRGB nothing is below 2^-24,
    /// the last place of which is 2^-47.
    pub const GRID: i32 = 47;
}

/// Levels of lod.
///
/// The level of lod is that of [`Sampler`], `LOD_BIAS` included, NaN made 0, limited to finest and
/// coarsest. LaneMipLevel k has `(size - 1 >> k) + 1` texels along an axis, and as many cells from one row to
/// the next; with the linear filter twice as many if columns are mirrored, one more if they are clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LodDesc {
    /// Bits of `LOD_BIAS`.
    pub bias: u32,
    /// The first level.
    pub finest: u8,
    /// The last level, less than 13.
    pub coarsest: u8,
    /// Whether two levels are trilinear; else the nearest one is taken.
    pub trilinear: bool,
    /// How often an axis is halved at most for its coordinates: once a level.
    pub mip_shift: [u8; 2],
    /// The cell of column 0 and row 0 of each level.
    pub origins: [u32; 13],
}

/// A coordinate's way to the number of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisDesc {
    /// What becomes of numbers beyond the texture.
    pub wrap: WrapMode,
    /// Texels of the level that there is, at most 2^12; of level 0, if there are several.
    pub size: u32,
    /// Bits of the factor that coordinates are scaled by; not if they come `UNSCALED`.
    pub scale: u32,
}

/// What becomes of the number of a texel, or of the first one of two, along an axis of n texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrapMode {
    /// Modulo n.
    Repeat,
    /// Modulo 2n; of one texel, m of n and above counts as 2n - 1 - m.
    Mirror,
    /// At least 0 and less than n; the first of two texels at least -1.
    Clamp,
}

/// The cells of a table.
#[derive(Clone, Copy, Debug)]
pub enum TexelView<'a> {
    /// One texel each: red, green, blue, alpha.
    Texels(&'a [[f32; 4]]),
    /// Footprint: first column and row, second column, second row, both second.
    Footprints(&'a [Footprint]),
}

impl TexelView<'_> {
    /// No cells.
    pub const NONE: Self = Self::Texels(&[]);

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Texels(cells) => cells.len(),
            Self::Footprints(cells) => cells.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TextureDesc {
    /// Describes the fetches of a sampler; `None` if they are not that simple.
    pub(crate) fn new(scalar: &ScalarSampler, compiled: &CompiledSampler) -> Option<Self> {
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
        let plain = one && powers && compiled.tri_perf == TriPerf::OFF;
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
    /// What its filter looks up, if that is kept.
    pub(crate) fn texel_view(&self) -> TexelView<'_> {
        match (self.mag[0], &self.footprints, &self.store) {
            (true, Some(footprints), _) => TexelView::Footprints(footprints.all()),
            (false, _, TexelCache::Decoded(texels)) => TexelView::Texels(texels),
            _ => TexelView::NONE,
        }
    }

    /// The cell of column 0 and row 0 of a level.
    fn origin(&self, level: &LaneMipLevel) -> u32 {
        let origin = if self.mag[0] { level.origin[0] } else { level.base[0] };
        origin as u32
    }

    /// A table with the finest level.
    fn finest_level_desc(&self) -> Option<TextureDesc> {
        let level = self.levels.get(self.finest)?;
        let linear = self.mag[0];
        let axis = |axis: usize| {
            let wrap = match self.address_modes[axis].mode {
                ClampMode::WRAP => WrapMode::Repeat,
                ClampMode::MIRROR => WrapMode::Mirror,
                ClampMode::CLAMP => WrapMode::Clamp,
                _ => return None,
            };
            Some(AxisDesc {
                wrap,
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
