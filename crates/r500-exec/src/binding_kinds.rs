//! Kinds of bindings: the facts about a draw, besides values, that decide what a program may do.

use r500_isa::TEXTURE_UNITS;

use crate::Draw;
use crate::texture::SamplerKind;

/// The kinds of textures and of groups of pixels that a program is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BindingKinds {
    /// The sampler of each unit; `None` for units that are not enabled.
    pub samplers: [Option<SamplerKind>; TEXTURE_UNITS],
    /// The groups of pixels.
    pub groups: GroupKind,
}

/// The facts about the groups of pixels of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupKind {
    /// Width and height of a group.
    pub size: [u32; 2],
    /// Whether the rasteriser covers every pixel of the picture.
    pub cover_picture: bool,
    /// Whether no quad with a pixel in the picture reaches beyond it.
    pub quads_inside: bool,
    /// Whether no group with a pixel in the picture reaches beyond it.
    pub groups_inside: bool,
}

impl GroupKind {
    /// Returns whether every quad with a pixel in the picture is known to be fully covered.
    #[must_use]
    pub fn cover_quads(&self) -> bool {
        self.cover_picture && self.quads_inside
    }
}

impl BindingKinds {
    /// Returns the kinds of a draw's bindings.
    #[must_use]
    pub fn of(draw: &Draw<'_>) -> Self {
        let Draw { bindings, options, .. } = *draw;
        let readings = options.readings.texture();
        let [width, height] = bindings.size();
        let [columns, rows] = options.group;
        Self {
            samplers: std::array::from_fn(|unit| Some(bindings.sampler(unit)?.kind(&readings))),
            groups: GroupKind {
                size: options.group,
                cover_picture: bindings.covers_all(),
                quads_inside: width.is_multiple_of(2) && height.is_multiple_of(2),
                groups_inside: width.is_multiple_of(columns) && height.is_multiple_of(rows),
            },
        }
    }

    /// Returns the kind of a unit's sampler.
    #[must_use]
    pub fn sampler(&self, unit: u8) -> Option<&SamplerKind> {
        self.samplers.get(usize::from(unit))?.as_ref()
    }
}
