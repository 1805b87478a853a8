//! What a sampler's registers select, for compilers that write a fetch as code of another machine.

use r500_isa::values::{ClampMode, CoordType, LayerFilter};

use super::scalar_sampler::ScalarSampler;

/// What a sampler's registers select. Together with the texels it determines every fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplerSettings {
    /// `TEX_COORD_TYPE`.
    pub kind: CoordType,
    /// Width, height, depth of level 0 in texels.
    pub size: [u32; 3],
    /// What scales S, T, R to texels of level 0.
    pub scale: [f32; 3],
    /// The address modes along S, T, R.
    pub clamp: [ClampMode; 3],
    /// Whether the filter of magnified textures is linear along S, T, R.
    pub mag_filter: [bool; 3],
    /// Likewise for others.
    pub min_filter: [bool; 3],
    /// How levels are chosen.
    pub mip_filter: LayerFilter,
    /// The first and the last level that fetches read.
    pub levels: [u32; 2],
    /// The maximum number of halvings of each axis: at most one a level.
    pub mip_shift: [u32; 3],
    /// `LOD_BIAS`, in levels.
    pub lod_bias: f32,
    /// The slope and the negated intercept of the line from the fraction of the level of detail to the weight of the second level, which is clamped
    /// to 0..1; `None` if the weight is the fraction.
    pub tri_perf: Option<(f32, f32)>,
    /// The anisotropic filter, if one is selected: fetches may be the mean of several probes.
    pub anisotropy: Option<AnisotropySettings>,
}

/// An anisotropic filter, as [`Sampler::fetch`](crate::Sampler::fetch) computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnisotropySettings {
    /// The maximum number of probes: 2 to 16.
    pub most: u32,
    /// Its base-2 logarithm.
    pub log2_most: f32,
    /// Whether a magnified texture is filtered so, too.
    pub magnified: bool,
}

impl SamplerSettings {
    pub(crate) fn of(scalar: &ScalarSampler) -> Self {
        // No texture has 2^32 levels.
        let level = |level: usize| u32::try_from(level).unwrap_or(u32::MAX);
        Self {
            kind: scalar.space.kind,
            size: scalar.size,
            scale: scalar.space.scale,
            clamp: scalar.clamp,
            mag_filter: scalar.mag_filter,
            min_filter: scalar.min_filter,
            mip_filter: scalar.mip_filter,
            levels: [level(scalar.finest), level(scalar.coarsest)],
            mip_shift: [0, 1, 2].map(|axis| scalar.mip_shift(axis, scalar.coarsest)),
            lod_bias: scalar.space.lod_bias,
            tri_perf: scalar.tri_perf_line(),
            anisotropy: scalar.space.anisotropy.map(|filter| AnisotropySettings {
                most: filter.most,
                log2_most: filter.log2_most,
                magnified: filter.magnified,
            }),
        }
    }
}
