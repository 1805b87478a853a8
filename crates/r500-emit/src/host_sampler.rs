//! The samplers of hosts that fast shaders fetch with: what registers of a unit become.

use r500_exec::texture::SamplerSettings;
use r500_isa::values::{ClampMode, CoordType, LayerFilter};
use r500_program::Job;

use crate::ExactFetchReason;
use crate::textures::bound;

/// A sampler of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostSampler {
    /// The address modes along S, T, R.
    pub address: [HostAddress; 3],
    /// Whether the filter of magnified textures is linear, else nearest.
    pub magnified_linear: bool,
    /// Likewise for minified ones.
    pub minified_linear: bool,
    /// Whether two levels are blended, else the nearest one is read.
    pub levels_linear: bool,
    /// The least and the greatest level of detail.
    pub lod: [f32; 2],
    /// The maximum number of probes of an anisotropic filter; 1 without one.
    pub max_anisotropy: u16,
}

/// An address mode of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAddress {
    /// Repeats.
    Repeat,
    /// Repeats, every other time mirrored.
    MirrorRepeat,
    /// Clamps to the last texel.
    ClampToEdge,
}

/// The reason why no sampler of a host fetches, approximately, what the registers of a texture say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostSamplerReason {
    /// The texture cannot be bound at all, or not on a host.
    #[error("{0}")]
    Texture(#[from] ExactFetchReason),
    /// An address mode that not every host has.
    #[error("hosts have no address mode \"{0}\"")]
    Address(&'static str),
    /// The filter of the third axis is another one.
    #[error("hosts have one filter for all axes of a volume")]
    VolumeFilter,
    /// `LOD_BIAS`.
    #[error("samplers of hosts have no bias of the level of detail")]
    LodBias,
    /// `TRI_PERF`.
    #[error("hosts blend levels by the whole fraction of the level of detail")]
    TriPerf,
}

/// Returns the sampler with which a fast shader fetches from a unit's texture.
///
/// # Errors
/// [`HostSamplerReason`], if the job has no texture for the unit, or hosts have no such sampler. An [exact](crate::Arithmetic::Exact) shader needs none.
pub fn host_sampler(job: &Job, unit: u8) -> Result<HostSampler, HostSamplerReason> {
    let settings = bound(job, usize::from(unit))?.settings();
    let axes = if settings.kind == CoordType::D3 { 3 } else { 2 };
    let mut address = [HostAddress::ClampToEdge; 3];
    // Faces of a cube are joined by hosts, whatever the modes are.
    if settings.kind != CoordType::CUBE {
        for (to, mode) in address.iter_mut().zip(&settings.clamp[..axes]) {
            *to = host_address(*mode)?;
        }
    }
    if settings.lod_bias != 0.0 {
        return Err(HostSamplerReason::LodBias);
    }
    let levels_linear = settings.mip_filter == LayerFilter::LINEAR;
    if levels_linear && settings.tri_perf.is_some() {
        return Err(HostSamplerReason::TriPerf);
    }
    let of_axes = |filter: [bool; 3]| {
        let [first, rest @ ..] = &filter[..axes] else { return Ok(false) };
        let is_one = rest.iter().all(|linear| linear == first);
        is_one.then_some(*first).ok_or(HostSamplerReason::VolumeFilter)
    };
    Ok(HostSampler {
        address,
        magnified_linear: of_axes(settings.mag_filter)?,
        minified_linear: of_axes(settings.min_filter)?,
        levels_linear,
        lod: lod(&settings),
        max_anisotropy: settings
            .anisotropy
            .map_or(1, |filter| u16::try_from(filter.most).expect("at most 16 probes")),
    })
}

fn host_address(mode: ClampMode) -> Result<HostAddress, HostSamplerReason> {
    Ok(match mode {
        ClampMode::WRAP => HostAddress::Repeat,
        ClampMode::MIRROR => HostAddress::MirrorRepeat,
        ClampMode::CLAMP => HostAddress::ClampToEdge,
        ClampMode::MIRROR_ONCE => return Err(HostSamplerReason::Address("mirror once")),
        _ => return Err(HostSamplerReason::Address("border")),
    })
}

/// Returns the limits of the level of detail. Without a filter of levels only the finest one is read: its limits leave room for a level of detail
/// above it, by which hosts choose the filter of minified textures, and round to it.
fn lod(settings: &SamplerSettings) -> [f32; 2] {
    let [finest, coarsest] = settings.levels.map(|level| level as f32);
    match settings.mip_filter {
        LayerFilter::NONE => [finest, finest + 0.25],
        _ => [finest, coarsest.max(finest + 0.25)],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn job(texture: &str) -> Job {
        let source = format!(
            "TEXTURE tex[0] = {texture} ;\nOUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;"
        );
        let assembly = r500_asm::assemble(source.as_bytes(), r500_asm::Options::default());
        assert!(assembly.is_ok(), "{source}");
        assembly.job
    }

    #[test]
    fn filters_and_address_modes_are_those_of_the_registers() {
        let of = |texture: &str| host_sampler(&job(texture), 0);
        let sampler = of("noise(8, 8, 3) linear wrap").unwrap();
        assert_eq!(sampler.address[..2], [HostAddress::Repeat; 2]);
        assert!(sampler.magnified_linear && sampler.minified_linear);
        // One level: the nearest one of a level of detail up to 0.25 is level 0.
        assert_eq!(sampler.lod, [0.0, 0.25]);
        let sampler = of("noise(8, 8, 3) nearest clamp").unwrap();
        assert_eq!(sampler.address[..2], [HostAddress::ClampToEdge; 2]);
        assert!(!sampler.magnified_linear && !sampler.minified_linear);
        let none = host_sampler(&Job::default(), 3);
        assert_eq!(none, Err(HostSamplerReason::Texture(ExactFetchReason::NoTexture)));
    }
}
