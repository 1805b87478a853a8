//! The compiled sampler: decoded texels, levels and modes in the form that batch fetches use.

use r500_isa::values::{CoordType, LayerFilter, TriPerf};

use super::address_mode::AddressMode;
use super::channel_source::ChannelSource;
use super::footprints::BilinearFootprints;
use super::texel_cache::TexelCache;
use crate::anisotropy::Anisotropy;
use crate::format::Layout;
use crate::readings::{
    AnisotropicFilter, CubeTies, LodBias, LodFraction, Magnification, TexReadings, Weights,
};
use crate::scalar_sampler::{Filter, ScalarSampler};
use r500_simd::{Chunk, LANES};

/// A sampler compiled for batch fetches.
#[derive(Debug)]
pub(crate) struct CompiledSampler {
    pub(super) kind: CoordType,
    pub(super) scale: [f32; 3],
    pub(super) lod_bias: f32,
    pub(super) anisotropy: Option<Anisotropy>,
    /// Whether its number of probes is rounded up, else to nearest.
    pub(super) rounds_up: bool,
    /// The fetches that it is added to.
    pub(super) biased: LodBias,
    pub(super) lod_fraction: LodFraction,
    /// Pixels with a level of detail below this are magnified.
    pub(super) magnified_below: f32,
    pub(super) address_modes: [AddressMode; 3],
    /// Whether a fetch may read the border colour.
    pub(super) may_use_border: bool,
    pub(super) mag: Filter,
    pub(super) min: Filter,
    pub(super) mip: LayerFilter,
    pub(super) tri_perf: TriPerf,
    pub(super) finest: usize,
    pub(super) coarsest: usize,
    /// Whether the level of detail has no effect: always the finest level with the same filter.
    pub(super) single_level: bool,
    /// Whether fetches take the [fast path](super::fast_path).
    pub(super) has_fast_path: bool,
    pub(super) levels: Vec<LaneMipLevel>,
    pub(super) store: TexelCache,
    /// The footprints of the bilinear filter, for small textures.
    pub(super) footprints: Option<BilinearFootprints>,
    /// Whether all texels are finite and none is -0 or denormal, so that interpolating with weight 0 returns the
    /// first texel.
    pub(super) plain: bool,
    /// Whether a step of a filter within a level can underflow.
    pub(super) may_underflow: bool,
    /// The sources of the channels of all texels except the border colour.
    pub(super) channels: [ChannelSource; 4],
}

/// The mip level of each lane, as floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneMipLevel {
    /// Width, height, depth, and their reciprocals.
    pub(super) size: [Chunk; 3],
    pub(super) inverse: [Chunk; 3],
    /// Factor from texels of level 0 to texels of this level, a power of two.
    pub(super) factor: [Chunk; 3],
    /// The smallest coordinate that is not denormal after scaling.
    pub(super) least: [Chunk; 3],
    /// The number of the first texel.
    pub(super) base: Chunk,
    /// Whether every factor is 1.
    pub(super) full_size: bool,
    /// The layout of its [`BilinearFootprints`].
    pub(super) origin: Chunk,
    pub(super) row: Chunk,
    pub(super) layer: Chunk,
}

impl LaneMipLevel {
    /// Returns one level for all lanes, from its size, the halvings of each axis, its first texel.
    fn new(size: [u32; 3], mip_shift: [u32; 3], base: u32) -> Self {
        let factor = mip_shift.map(|n| 1.0 / (1_u32 << n) as f32);
        Self {
            size: size.map(|n| [n as f32; LANES]),
            inverse: size.map(|n| [1.0 / n as f32; LANES]),
            factor: factor.map(|factor| [factor; LANES]),
            least: factor.map(|factor| [f32::MIN_POSITIVE / factor; LANES]),
            base: [base as f32; LANES],
            full_size: factor == [1.0; 3],
            origin: [0.0; LANES],
            row: [0.0; LANES],
            layer: [0.0; LANES],
        }
    }

    /// Scales coordinates in texels of level 0 to texels of this level.
    #[inline(always)]
    pub(super) fn coordinates(&self, axis: usize, u: &Chunk, x: &mut Chunk) {
        if self.full_size {
            *x = *u;
            return;
        }
        let (least, factor) = (&self.least[axis], &self.factor[axis]);
        for lane in 0..LANES {
            // A product with a power of two is exact unless it is denormal.
            let flushed = if u[lane].abs() < least[lane] { 0.0 } else { u[lane] };
            x[lane] = flushed * factor[lane];
        }
    }

    /// Returns a level for each lane.
    #[inline(always)]
    pub(super) fn gather(levels: &[Self], ks: &[u32; LANES]) -> Self {
        let mut all = levels[0];
        all.full_size = false;
        for lane in 0..LANES {
            let level = &levels[ks[lane] as usize];
            for axis in 0..3 {
                all.size[axis][lane] = level.size[axis][0];
                all.inverse[axis][lane] = level.inverse[axis][0];
                all.factor[axis][lane] = level.factor[axis][0];
                all.least[axis][lane] = level.least[axis][0];
            }
            all.base[lane] = level.base[0];
            all.origin[lane] = level.origin[0];
            all.row[lane] = level.row[0];
            all.layer[lane] = level.layer[0];
        }
        all
    }
}

impl CompiledSampler {
    /// Returns whether lanes implement readings that affect a sampler. A reading of the texture unit needs a row here.
    fn implements(readings: &TexReadings) -> bool {
        let TexReadings {
            arith,
            lod_bias: _,
            lod_fraction: _,
            magnification,
            weights,
            cube_ties,
            depth_stencil: _,
            wide_border: _,
            gamma_border: _,
            anisotropic_filter: _,
        } = *readings;
        arith == TexReadings::REFERENCE.arith
            && magnification != Magnification::Unbiased
            && weights == Weights::Exact
            && cube_ties == CubeTies::XThenY
    }

    /// Compiles a sampler for readings that affect it; `None` if its texture is too large or lanes do not implement
    /// the readings.
    #[cold]
    pub(crate) fn new(sampler: &ScalarSampler, readings: &TexReadings) -> Option<Self> {
        if !Self::implements(readings) {
            return None;
        }
        let source = &sampler.texels;
        let store = TexelCache::new(source, readings)?;
        let (mut levels, mut base) = (Vec::new(), 0);
        for k in 0..source.levels() {
            let size = source.size(k);
            levels.push(LaneMipLevel::new(
                size,
                [0, 1, 2].map(|axis| sampler.mip_shift(axis, k)),
                base,
            ));
            base += size.into_iter().product::<u32>();
        }
        let layout = source.layout();
        let kind = sampler.space.kind;
        let address_modes = [0, 1, 2].map(|axis| AddressMode {
            mode: sampler.clamp[axis],
            power_of_two: sampler.size[axis].is_power_of_two(),
        });
        let axes = if kind == CoordType::D3 { 3 } else { 2 };
        let may_underflow = matches!(layout, Layout::Float(_)) && store.may_underflow();
        let linear = sampler.mag_filter[0] || sampler.min_filter[0];
        let mut footprints = None;
        if linear && !may_underflow && kind != CoordType::D3 {
            let sizes: Vec<_> = (0..source.levels()).map(|k| source.size(k)).collect();
            if let Some((found, layouts)) = BilinearFootprints::new(&sizes, &address_modes, &store)
            {
                for (level, layout) in levels.iter_mut().zip(layouts) {
                    level.origin = [layout.origin; LANES];
                    level.row = [layout.row; LANES];
                    level.layer = [layout.layer; LANES];
                }
                footprints = Some(found);
            }
        }
        let plain = !matches!(layout, Layout::Half(_) | Layout::Float(_));
        let mut compiled = Self {
            kind,
            scale: sampler.space.scale,
            lod_bias: sampler.space.lod_bias,
            anisotropy: sampler
                .space
                .anisotropy
                .filter(|_| readings.anisotropic_filter != AnisotropicFilter::Linear),
            rounds_up: readings.anisotropic_filter == AnisotropicFilter::Up,
            biased: readings.lod_bias,
            lod_fraction: readings.lod_fraction,
            magnified_below: magnified_below(readings),
            address_modes,
            may_use_border: address_modes[..axes].iter().any(|axis| axis.uses_border()),
            mag: sampler.mag_filter,
            min: sampler.min_filter,
            mip: sampler.mip_filter,
            tri_perf: sampler.tri_perf,
            finest: sampler.finest,
            coarsest: sampler.coarsest,
            single_level: !sampler.depends_on_lod(),
            levels,
            plain,
            may_underflow,
            channels: store.channels(),
            store,
            footprints,
            has_fast_path: false,
        };
        compiled.has_fast_path = compiled.supports_fast_path();
        Some(compiled)
    }
}

/// Returns the smallest level of detail that is minified: the next one after the threshold of magnification. Levels of detail are
/// never denormal.
fn magnified_below(readings: &TexReadings) -> f32 {
    let threshold = if readings.magnification == Magnification::Half { 0.5_f32 } else { 0.0 };
    match readings.lod_fraction.unit() {
        Some(unit) => threshold + unit,
        None => threshold.next_up().max(f32::MIN_POSITIVE),
    }
}
