//! The scalar sampler: defines the semantics of a fetch, quad by quad.

use r500_isa::state::UsFormat;
use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat1, TxOffset};
use r500_isa::values::{
    ChromaKeyMode, ClampMode, CoordType, LayerFilter, TexelFilter, TriPerf, YuvToRgb,
};
use r500_program::Texture;

use super::address::{Taps, taps};
use super::anisotropy::Anisotropy;
use super::coordinates::{CoordSpace, Lod, TexelPosition, nan_to_zero};
use super::error::{BindError, Setting};
use super::lookup::{FetchObserver, Lookup};
use super::quad_fetch::QuadFetch;
use super::readings::TexReadings;
use super::texels::{Texels, registered_size};
use r500_numerics::{Arith, compare};

/// The scalar form of a [`Sampler`](crate::Sampler).
#[derive(Clone, Debug)]
pub(crate) struct ScalarSampler {
    pub(super) texels: Texels,
    /// Width, height, depth of level 0.
    pub(super) size: [u32; 3],
    pub(super) space: CoordSpace,
    pub(super) clamp: [ClampMode; 3],
    pub(super) mag_filter: Filter,
    pub(super) min_filter: Filter,
    pub(super) mip_filter: LayerFilter,
    /// `MAX_MIP_LEVEL`, and the last existing level.
    pub(super) finest: usize,
    pub(super) coarsest: usize,
    pub(super) tri_perf: TriPerf,
    border_fix: bool,
}

/// Whether a filter is linear along S, T, R.
pub(super) type Filter = [bool; 3];

impl ScalarSampler {
    /// See [`Sampler::bind`](crate::Sampler::bind).
    pub(super) fn bind(texture: &Texture, us_format: Option<UsFormat>) -> Result<Self, BindError> {
        let Texture { filter0, filter1, format0, format1, format2, .. } = *texture;
        check_modes(texture)?;
        let kind = format1.tex_coord_type();
        let vol_filter = match kind {
            CoordType::D3 => vol_filter(filter0)?,
            _ => None,
        };
        let mag_filter =
            texel_filter(filter0.mag_filter(), Setting::of(TxFilter0::MAG_FILTER, filter0))?;
        let min_filter =
            texel_filter(filter0.min_filter(), Setting::of(TxFilter0::MIN_FILTER, filter0))?;
        let volume = |linear: bool| [linear, linear, vol_filter.unwrap_or(linear)];

        let size = registered_size(format0, format1, format2);
        let texels = Texels::bind(texture, size)?;
        let scale = us_format.map_or(size, scale_size);
        let coarsest = texels.levels() - 1;
        Ok(Self {
            size,
            space: CoordSpace {
                kind,
                scale: scale.map(|texels| texels as f32),
                lod_bias: lod_bias(filter1),
                anisotropy: Anisotropy::of(filter0, filter1, kind),
            },
            clamp: [filter0.clamp_s(), filter0.clamp_t(), filter0.clamp_r()],
            mag_filter: volume(mag_filter),
            min_filter: volume(min_filter),
            mip_filter: filter0.mip_filter(),
            // Documented: MAX_MIP_LEVEL is at most NUM_LEVELS. A greater value is limited to it (open).
            finest: usize::from(filter0.max_mip_level()).min(coarsest),
            coarsest,
            tri_perf: filter1.tri_perf(),
            border_fix: filter1.border_fix(),
            texels,
        })
    }

    /// See [`Sampler::axes`](crate::Sampler::axes).
    pub(super) fn axes(&self) -> u8 {
        if self.space.kind == CoordType::D2 { 0b011 } else { 0b111 }
    }

    /// See [`Sampler::depends_on_lod`](crate::Sampler::depends_on_lod).
    pub(super) fn depends_on_lod(&self) -> bool {
        !(self.has_one_level() && self.mag_filter == self.min_filter)
            || self.space.anisotropy.is_some()
    }

    /// Returns whether the level of detail only selects a filter. False with a linear mip filter, which blends
    /// the only level with itself and so turns an infinite texel into NaN.
    pub(super) fn has_one_level(&self) -> bool {
        self.mip_filter == LayerFilter::NONE
            || self.finest == self.coarsest
                && (!self.texels.is_float() || self.mip_filter != LayerFilter::LINEAR)
    }

    /// See [`Sampler::bounds`](crate::Sampler::bounds).
    pub(super) fn bounds(&self) -> Option<[f32; 2]> {
        // Components are in -1..1 or 0..1; rounding may take filtered ones slightly beyond. Interpolating
        // a + (b - a) * weight with a >= 0 and b >= 0 gives no less than 0, and zeros are +0.
        let lowest = if self.texels.is_signed() { -2.0 } else { 0.0 };
        (!self.texels.is_float()).then_some([lowest, 2.0])
    }

    /// See [`Sampler::levels`](crate::Sampler::levels).
    pub(super) fn levels(&self) -> usize {
        self.texels.levels()
    }

    /// See [`Sampler::level_size`](crate::Sampler::level_size).
    pub(super) fn level_size(&self, level: usize) -> [u32; 3] {
        self.texels.size(level)
    }

    /// See [`Sampler::texel`](crate::Sampler::texel).
    pub(super) fn texel(&self, level: usize, at: [u32; 3], readings: &TexReadings) -> [f32; 4] {
        self.texels.texel(level, at, readings)
    }

    /// See [`Sampler::fetch`](crate::Sampler::fetch).
    pub(super) fn fetch(&self, quad: &QuadFetch, readings: &TexReadings) -> [[f32; 4]; 4] {
        let positions = self.space.positions(quad, readings);
        let lods = self.space.lods(quad, &positions, readings);
        [0, 1, 2, 3].map(|i| self.pixel(positions[i], lods[i], readings, &mut ()))
    }

    /// Fetches as [`fetch`](Self::fetch) does, and returns every step.
    pub(super) fn look_up(&self, quad: &QuadFetch, readings: &TexReadings) -> [Lookup; 4] {
        let positions = self.space.positions(quad, readings);
        let lods = self.space.lods(quad, &positions, readings);
        [0, 1, 2, 3].map(|i| {
            let mut lookup = Lookup {
                color: [0.0; 4],
                coordinates: positions[i].uvw,
                face: (self.space.kind == CoordType::CUBE).then_some(positions[i].face),
                lod: lods[i].lod,
                magnified: lods[i].magnified,
                probes: lods[i].probes.count,
                levels: Vec::new(),
                level_weight: 0.0,
            };
            lookup.color = self.pixel(positions[i], lods[i], readings, &mut lookup);
            lookup
        })
    }

    /// Fetches the colour of a pixel: the mean of its probes.
    fn pixel(
        &self,
        position: TexelPosition,
        lod: Lod,
        readings: &TexReadings,
        observer: &mut impl FetchObserver,
    ) -> [f32; 4] {
        let arith = readings.arith;
        let mut probe = |i| {
            let uvw = lod.probes.position(i, position.uvw, arith);
            self.probe(TexelPosition { uvw, ..position }, lod, readings, observer)
        };
        // The mean of n + 1 colours is that of the first n, interpolated by 1 / (n + 1) to the last.
        let mut mean = probe(0);
        for i in 1..lod.probes.count {
            mean = lerp(mean, probe(i), arith.div(1.0, (i + 1) as f32), arith);
        }
        mean
    }

    /// Fetches the colour at a position: selects levels and filters.
    fn probe(
        &self,
        position: TexelPosition,
        Lod { truncated: lod, magnified, .. }: Lod,
        readings: &TexReadings,
        observer: &mut impl FetchObserver,
    ) -> [f32; 4] {
        let arith = readings.arith;
        if magnified {
            return self.level(self.finest, position, self.mag_filter, readings, observer);
        }
        let mut level = |k| self.level(k, position, self.min_filter, readings, observer);
        let lod = limit(lod, self.finest as f32, self.coarsest as f32);
        match self.mip_filter {
            LayerFilter::LINEAR => {
                let floor = arith.floor(lod);
                let first = floor as usize;
                // Blended even with weight 0: an infinite texel then gives NaN.
                let weight = self.level_weight(arith.sub(lod, floor), arith);
                let (a, b) = (level(first), level((first + 1).min(self.coarsest)));
                observer.levels_blended(weight);
                lerp(a, b, weight, arith)
            }
            LayerFilter::POINT => level(arith.floor(arith.add(lod, 0.5)) as usize),
            _ => level(self.finest),
        }
    }

    /// Returns the weight of the second level for a fraction of the level of detail.
    fn level_weight(&self, fraction: f32, arith: Arith) -> f32 {
        match self.tri_perf_line() {
            Some((slope, bias)) => arith.clamp01(arith.sub(arith.mul(slope, fraction), bias)),
            None => fraction,
        }
    }

    /// Returns the line of `TRI_PERF`, slope and negated intercept: a steeper one than the fraction, so that one level is sufficient
    /// more often (documented).
    pub(super) fn tri_perf_line(&self) -> Option<(f32, f32)> {
        match self.tri_perf {
            TriPerf::ONE_EIGHTH => Some((4.0 / 3.0, 1.0 / 6.0)),
            TriPerf::ONE_QUARTER => Some((2.0, 0.5)),
            TriPerf::THREE_8THS => Some((4.0, 1.5)),
            _ => None,
        }
    }

    /// Returns the colour at a position in level `k`: texels interpolated along S, then T, then R.
    fn level(
        &self,
        k: usize,
        position: TexelPosition,
        filter: Filter,
        readings: &TexReadings,
        observer: &mut impl FetchObserver,
    ) -> [f32; 4] {
        let arith = readings.arith;
        let size = self.texels.size(k);
        let uvw = self.in_level(position.uvw, k, arith);
        let along =
            |axis: usize| taps(self.clamp[axis], uvw[axis], size[axis], filter[axis], readings);
        let layers = match self.space.kind {
            CoordType::D3 => along(2),
            _ => Taps::Point(Some(position.face)),
        };
        let (columns, rows) = (along(0), along(1));
        observer.level(k, uvw, [columns.weight(), rows.weight(), layers.weight()]);

        let mut texel = |at: [Option<u32>; 3]| {
            let at = match at {
                [Some(x), Some(y), Some(layer)] => Some([x, y, layer]),
                _ => None,
            };
            let color = match at {
                Some(at) => self.texels.texel(k, at, readings),
                None => self.texels.border(readings),
            };
            observer.texel(at, color);
            color
        };
        layers.mix(arith, |layer| {
            rows.mix(arith, |row| columns.mix(arith, |column| texel([column, row, layer])))
        })
    }

    /// Returns coordinates in texels of level `k`, limited to the range of texel numbers.
    fn in_level(&self, uvw: [f32; 3], k: usize, arith: Arith) -> [f32; 3] {
        [0, 1, 2].map(|axis| {
            let shrunk = arith.mul(uvw[axis], 1.0 / (1_u32 << self.mip_shift(axis, k)) as f32);
            limit(nan_to_zero(shrunk), -FARTHEST, FARTHEST)
        })
    }

    /// Returns the number of halvings of an axis from level 0 to level `k`.
    ///
    /// Documented: `BORDER_FIX` stops shifting once the axis is one texel long.
    pub(super) fn mip_shift(&self, axis: usize, k: usize) -> u32 {
        match self.border_fix {
            true => (k as u32).min(self.size[axis].ilog2()),
            false => k as u32,
        }
    }
}

/// Coordinates are limited to this magnitude, in texels.
const FARTHEST: f32 = (1 << 30) as f32;

impl Taps {
    /// Returns the weight of the second texel.
    fn weight(self) -> f32 {
        match self {
            Self::Point(_) => 0.0,
            Self::Linear(_, _, weight) => weight,
        }
    }

    /// Returns the interpolated colour of the texels along this axis; `color` returns the colour of one texel.
    fn mix(self, arith: Arith, mut color: impl FnMut(Option<u32>) -> [f32; 4]) -> [f32; 4] {
        match self {
            Self::Point(only) => color(only),
            Self::Linear(first, second, weight) => {
                let (first, second) = (color(first), color(second));
                lerp(first, second, weight, arith)
            }
        }
    }
}

/// Returns a + (b - a) * weight, each step rounded.
fn lerp(a: [f32; 4], b: [f32; 4], weight: f32, arith: Arith) -> [f32; 4] {
    [0, 1, 2, 3].map(|c| arith.add(a[c], arith.mul(arith.sub(b[c], a[c]), weight)))
}

/// Returns `x` (not NaN) limited to `min`..`max`.
fn limit(x: f32, min: f32, max: f32) -> f32 {
    if compare::lt(x, min) {
        min
    } else if compare::gt(x, max) {
        max
    } else {
        x
    }
}

/// Returns `LOD_BIAS` in levels: ten bits, signed, five of them fraction bits.
fn lod_bias(filter1: TxFilter1) -> f32 {
    let code = filter1.lod_bias() as i16;
    f32::from(if code >= 512 { code - 1024 } else { code }) / 32.0
}

/// Returns width, height and depth of a `US_FORMAT`. Documented: codes 13 to 15 of the depth are not depths, but
/// say which of width and height exceed 2048.
fn scale_size(format: UsFormat) -> [u32; 3] {
    let (width, height) = (u32::from(format.txwidth()) + 1, u32::from(format.txheight()) + 1);
    match format.txdepth() {
        13 => [width + 2048, height, 1],
        14 => [width, height + 2048, 1],
        15 => [width + 2048, height + 2048, 1],
        log2 => [width, height, 1 << log2],
    }
}

/// Returns whether a filter within a level is linear.
fn texel_filter(filter: TexelFilter, setting: Setting) -> Result<bool, BindError> {
    match filter {
        TexelFilter::POINT => Ok(false),
        TexelFilter::LINEAR | TexelFilter::ANISOTROPIC => Ok(true),
        // The two-bit field has no other code.
        _ => Err(setting.not_modelled("use 1 (Point) or 2 (Linear)")),
    }
}

/// Returns whether the filter between the layers of a volume is linear; `None` if the filter within a layer
/// applies.
fn vol_filter(filter0: TxFilter0) -> Result<Option<bool>, BindError> {
    match filter0.vol_filter() {
        LayerFilter::NONE => Ok(None),
        LayerFilter::POINT => Ok(Some(false)),
        LayerFilter::LINEAR => Ok(Some(true)),
        _ => Err(Setting::of(TxFilter0::VOL_FILTER, filter0)
            .reserved("use 0 (None), 1 (Point) or 2 (Linear)")),
    }
}

/// Rejects modes that are reserved or not modelled. Formats and filters within a level are checked where they
/// are used.
fn check_modes(texture: &Texture) -> Result<(), BindError> {
    let Texture { filter0, filter1, format1, offset, .. } = *texture;
    if filter0.mip_filter().code() > LayerFilter::LINEAR.code() {
        return Err(Setting::of(TxFilter0::MIP_FILTER, filter0)
            .reserved("use 0 (None), 1 (Point) or 2 (Linear)"));
    }
    if filter1.chroma_key_mode() != ChromaKeyMode::DISABLE {
        let setting = Setting::of(TxFilter1::CHROMA_KEY_MODE, filter1);
        return Err(match filter1.chroma_key_mode() {
            ChromaKeyMode::KILL | ChromaKeyMode::BLEND => {
                setting.not_modelled("use 0 and compare colours in the program")
            }
            _ => setting.reserved("use 0 (Disable)"),
        });
    }
    if filter1.mc_round() {
        return Err(Setting::of(TxFilter1::MC_ROUND, filter1).not_modelled("clear it"));
    }
    if filter1.mc_coord_truncate() {
        return Err(Setting::of(TxFilter1::MC_COORD_TRUNCATE, filter1).not_modelled("clear it"));
    }
    if format1.yuv_to_rgb() != YuvToRgb::OFF {
        let setting = Setting::of(TxFormat1::YUV_TO_RGB, format1);
        return Err(match format1.yuv_to_rgb() {
            YuvToRgb::CLAMPED | YuvToRgb::UNLIMITED => {
                setting.not_modelled("use 0 and convert the texels to RGB")
            }
            _ => setting.reserved("use 0 and convert the texels to RGB"),
        });
    }
    if format1.swap_yuv() {
        return Err(Setting::of(TxFormat1::SWAP_YUV, format1).not_modelled("clear it"));
    }
    if !matches!(format1.tex_coord_type(), CoordType::D2 | CoordType::D3 | CoordType::CUBE) {
        return Err(Setting::of(TxFormat1::TEX_COORD_TYPE, format1)
            .reserved("use 0 (2D), 1 (3D) or 2 (Cube)"));
    }
    if offset.macro_tile() {
        return Err(Setting::of(TxOffset::MACRO_TILE, offset)
            .not_modelled("give the texels row by row and clear it"));
    }
    if offset.micro_tile() != 0 {
        let setting = Setting::of(TxOffset::MICRO_TILE, offset);
        let remedy = "give the texels row by row and use 0 (linear)";
        return Err(match offset.micro_tile() {
            1 | 2 => setting.not_modelled(remedy),
            _ => setting.reserved(remedy),
        });
    }
    Ok(())
}
