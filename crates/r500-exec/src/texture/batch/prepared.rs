//! A sampler made ready for batches: texels decoded, levels and modes in tables.

use r500_isa::values::{CoordType, LayerFilter, TriPerf};

use super::super::format::Layout;
use super::super::sampler::{Filter, Sampler};
use super::axis::Wrapping;
use super::channels::Channel;
use super::corners::Corners;
use super::store::Store;
use super::{Chunk, LANES};

/// All that a fetch looks up.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) kind: CoordType,
    pub(super) scale: [f32; 3],
    pub(super) lod_bias: f32,
    pub(super) wrapping: [Wrapping; 3],
    /// Whether a coordinate may meet the border.
    pub(super) bordered: bool,
    pub(super) mag: Filter,
    pub(super) min: Filter,
    pub(super) mip: LayerFilter,
    pub(super) tri_perf: TriPerf,
    pub(super) finest: usize,
    pub(super) coarsest: usize,
    /// Whether the level of detail cannot be seen: always the finest level by the same filter.
    pub(super) single: bool,
    /// Whether fetches are [simple](super::simple).
    pub(super) simple: bool,
    pub(super) levels: Vec<Level>,
    pub(super) store: Store,
    /// What linear filters mix, if it is worth keeping.
    pub(super) corners: Option<Corners>,
    /// Whether texels are finite and none is -0 or denormal, so that a mixture of two with share 0
    /// is the first.
    pub(super) plain: bool,
    /// Whether a step within a level can be tiny.
    pub(super) tiny: bool,
    /// What the channels of texels have in common, the border aside.
    pub(super) channels: [Channel; 4],
}

/// The level of each lane, in floats as the lanes compute with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// Width, height, depth, and 1 divided by them.
    pub(super) size: [Chunk; 3],
    pub(super) inverse: [Chunk; 3],
    /// From texels of level 0 to texels of this one, a power of two.
    pub(super) factor: [Chunk; 3],
    /// The smallest coordinate that is not denormal after that.
    pub(super) least: [Chunk; 3],
    /// The first texel.
    pub(super) base: Chunk,
    /// Whether every factor is 1.
    pub(super) whole: bool,
    /// Where its [`Corners`] are.
    pub(super) origin: Chunk,
    pub(super) row: Chunk,
    pub(super) layer: Chunk,
}

impl Level {
    /// All lanes in one level: its size, how often each axis was halved, its first texel.
    fn new(size: [u32; 3], halvings: [u32; 3], base: u32) -> Self {
        let factor = halvings.map(|n| 1.0 / (1_u32 << n) as f32);
        Self {
            size: size.map(|n| [n as f32; LANES]),
            inverse: size.map(|n| [1.0 / n as f32; LANES]),
            factor: factor.map(|factor| [factor; LANES]),
            least: factor.map(|factor| [f32::MIN_POSITIVE / factor; LANES]),
            base: [base as f32; LANES],
            whole: factor == [1.0; 3],
            origin: [0.0; LANES],
            row: [0.0; LANES],
            layer: [0.0; LANES],
        }
    }

    /// Coordinates in texels of level 0 as those of this one.
    #[inline(always)]
    pub(super) fn coordinates(&self, axis: usize, u: &Chunk, x: &mut Chunk) {
        if self.whole {
            *x = *u;
            return;
        }
        let (least, factor) = (&self.least[axis], &self.factor[axis]);
        for lane in 0..LANES {
            // A product with a power of two is exact, but must not be denormal.
            let flushed = if u[lane].abs() < least[lane] { 0.0 } else { u[lane] };
            x[lane] = flushed * factor[lane];
        }
    }

    /// A level for each lane.
    #[inline(always)]
    pub(super) fn gather(levels: &[Self], ks: &[u32; LANES]) -> Self {
        let mut all = levels[0];
        all.whole = false;
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

impl Prepared {
    /// Decodes a texture; `None` if it is too large.
    #[cold]
    pub(super) fn new(sampler: &Sampler) -> Option<Self> {
        let source = &sampler.texels;
        let store = Store::new(source)?;
        let (mut levels, mut base) = (Vec::new(), 0);
        for k in 0..source.levels() {
            let size = source.size(k);
            levels.push(Level::new(size, [0, 1, 2].map(|axis| sampler.halvings(axis, k)), base));
            base += size.into_iter().product::<u32>();
        }
        let layout = source.layout();
        let kind = sampler.space.kind;
        let wrapping = [0, 1, 2].map(|axis| Wrapping {
            mode: sampler.clamp[axis],
            power_of_two: sampler.size[axis].is_power_of_two(),
        });
        let axes = if kind == CoordType::D3 { 3 } else { 2 };
        let tiny = matches!(layout, Layout::Float(_)) && store.tiny();
        let linear = sampler.mag_filter[0] || sampler.min_filter[0];
        let mut corners = None;
        if linear && !tiny && kind != CoordType::D3 {
            let sizes: Vec<_> = (0..source.levels()).map(|k| source.size(k)).collect();
            if let Some((found, places)) = Corners::new(&sizes, &wrapping, &store) {
                for (level, place) in levels.iter_mut().zip(places) {
                    level.origin = [place.origin; LANES];
                    level.row = [place.row; LANES];
                    level.layer = [place.layer; LANES];
                }
                corners = Some(found);
            }
        }
        let plain = !matches!(layout, Layout::Half(_) | Layout::Float(_));
        let mut prepared = Self {
            kind,
            scale: sampler.space.scale,
            lod_bias: sampler.space.lod_bias,
            wrapping,
            bordered: wrapping[..axes].iter().any(|axis| axis.meets_border()),
            mag: sampler.mag_filter,
            min: sampler.min_filter,
            mip: sampler.mip_filter,
            tri_perf: sampler.tri_perf,
            finest: sampler.finest,
            coarsest: sampler.coarsest,
            single: !sampler.looks_at_detail(),
            levels,
            plain,
            tiny,
            channels: store.channels(),
            store,
            corners,
            simple: false,
        };
        prepared.simple = prepared.looks_simple();
        Some(prepared)
    }
}
