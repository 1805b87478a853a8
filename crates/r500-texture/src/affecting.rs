//! Which readings affect the fetches of a sampler.

use r500_isa::values::{ClampMode, CoordType};

use super::format::Layout;
use super::readings::TexReadings;
use super::scalar_sampler::ScalarSampler;
use r500_numerics::Arith;

impl ScalarSampler {
    /// Returns the readings that affect a fetch of this sampler; those that do not have the project's value. A reading of the texture
    /// unit needs a row here.
    pub(super) fn affecting(&self, readings: &TexReadings) -> TexReadings {
        let TexReadings {
            arith,
            lod_bias,
            lod_fraction,
            magnification,
            weights,
            cube_ties,
            depth_stencil,
            wide_border,
            gamma_border,
            anisotropic_filter,
        } = *readings;
        let own = TexReadings::REFERENCE;
        let lod = self.depends_on_lod();
        let linear = self.mag_filter.contains(&true) || self.min_filter.contains(&true);
        // A block is read as eight bits a component in any case.
        let layout = self.texels.layout();
        let wide = layout.unit_bits() > 32 && !matches!(layout, Layout::Blocks(_));
        TexReadings {
            // The zero rule and fusing do not apply to the texture unit, and it clamps no NaN.
            arith: Arith { denormals: arith.denormals, ..own.arith },
            lod_bias: if lod && self.space.lod_bias != 0.0 { lod_bias } else { own.lod_bias },
            lod_fraction: if lod { lod_fraction } else { own.lod_fraction },
            magnification: if lod { magnification } else { own.magnification },
            weights: if linear { weights } else { own.weights },
            cube_ties: match self.space.kind {
                CoordType::CUBE => cube_ties,
                _ => own.cube_ties,
            },
            depth_stencil: match layout {
                Layout::DepthStencil => depth_stencil,
                _ => own.depth_stencil,
            },
            wide_border: if wide && self.may_use_border() { wide_border } else { own.wide_border },
            gamma_border: match self.texels.has_gamma() && self.may_use_border() {
                true => gamma_border,
                false => own.gamma_border,
            },
            anisotropic_filter: match self.space.anisotropy {
                Some(_) => anisotropic_filter,
                None => own.anisotropic_filter,
            },
        }
    }

    /// Returns whether a fetch may read the border colour.
    fn may_use_border(&self) -> bool {
        let axes = if self.space.kind == CoordType::D3 { 3 } else { 2 };
        self.clamp[..axes].iter().any(|mode| {
            !matches!(
                *mode,
                ClampMode::WRAP | ClampMode::MIRROR | ClampMode::CLAMP | ClampMode::MIRROR_ONCE
            )
        })
    }
}
