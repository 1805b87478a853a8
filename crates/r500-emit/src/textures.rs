//! The textures of a job: their dimensions, and what of them an exact shader computes.

use r500_exec::texture::{Sampler, SamplerKind, SamplerSettings, TexReadings};
use r500_isa::TEXTURE_UNITS;
use r500_isa::values::{CoordType, TexOp, TexelFilter};
use r500_program::{Job, Texture};

use crate::interface::{Dimensions, ShaderTexels};
use crate::{Arithmetic, EmitError, ExactFetchReason};

/// The textures of a job, as shaders of one arithmetic fetch from them.
pub(crate) struct Textures<'a> {
    job: &'a Job,
    /// By unit, for an exact shader.
    exact: Option<[Result<ExactTexture, ExactFetchReason>; TEXTURE_UNITS]>,
}

/// A texture that an exact shader fetches from.
pub(crate) struct ExactTexture {
    sampler: Sampler,
    pub settings: SamplerSettings,
    pub border: [f32; 4],
}

impl ExactTexture {
    fn of(job: &Job, unit: usize) -> Result<Self, ExactFetchReason> {
        let sampler = bound(job, unit)?;
        let settings = sampler.settings();
        let [width, height, depth] = settings.size;
        let most = 1 + width.max(height).max(depth).ilog2();
        let given = u32::try_from(sampler.levels()).expect("at most 16 levels");
        if given > most {
            return Err(ExactFetchReason::Levels { given, most });
        }
        // A texel outside of the texture.
        let border = sampler.texel(0, [u32::MAX; 3], &TexReadings::REFERENCE);
        Ok(Self { sampler, settings, border })
    }

    /// Returns whether a fetch needs a level of detail.
    pub(crate) fn depends_on_lod(&self) -> bool {
        self.sampler.depends_on_lod()
    }

    /// Returns the number of axes of a position: two, and one for the depth of a volume.
    pub(crate) fn axes(&self) -> u8 {
        if self.settings.kind == CoordType::D3 { 3 } else { 2 }
    }
}

/// Returns a unit's texture with its registers.
///
/// # Errors
/// [`ExactFetchReason`], if the job has no texture for the unit or it cannot be bound.
pub(crate) fn bound(job: &Job, unit: usize) -> Result<Sampler, ExactFetchReason> {
    let texture = job.textures.get(unit).and_then(Option::as_ref);
    let texture = texture.ok_or(ExactFetchReason::NoTexture)?;
    let format = job.program.state.format.get(unit).copied().flatten();
    Sampler::bind(texture, format).map_err(|error| ExactFetchReason::Unbound(error.to_string()))
}

impl<'a> Textures<'a> {
    pub(crate) fn of(job: &'a Job, arithmetic: Arithmetic) -> Self {
        let exact = (arithmetic == Arithmetic::Exact)
            .then(|| std::array::from_fn(|unit| ExactTexture::of(job, unit)));
        Self { job, exact }
    }

    fn texture(&self, unit: u8) -> Option<&Texture> {
        self.job.textures.get(usize::from(unit)).and_then(Option::as_ref)
    }

    /// Returns the dimensions of a unit's texture: two for a unit without one.
    pub(crate) fn dimensions(&self, unit: u8) -> Dimensions {
        match self.texture(unit).map(|texture| texture.format1.tex_coord_type()) {
            Some(CoordType::D3) => Dimensions::Three,
            Some(CoordType::CUBE) if self.exact.is_some() => Dimensions::Faces,
            Some(CoordType::CUBE) => Dimensions::Cube,
            _ => Dimensions::Two,
        }
    }

    /// Returns whether the job has no texture for a unit.
    pub(crate) fn is_assumed(&self, unit: u8) -> bool {
        self.texture(unit).is_none()
    }

    /// Returns whether a unit may choose texels without a filter; one without a texture may.
    pub(crate) fn may_be_nearest(&self, unit: u8) -> bool {
        self.texture(unit).is_none_or(|texture| {
            let filter = texture.filter0;
            [filter.mag_filter(), filter.min_filter()].contains(&TexelFilter::POINT)
        })
    }

    /// Returns whether a unit's fetches may need the differences of coordinates in the quad.
    pub(crate) fn may_depend_on_lod(&self, unit: u8) -> bool {
        match &self.exact {
            Some(units) => {
                matches!(units.get(usize::from(unit)), Some(Ok(texture)) if texture.depends_on_lod())
            }
            None => true,
        }
    }

    /// Returns the kind of a unit's sampler for the lift.
    pub(crate) fn kind(&self, unit: u8) -> SamplerKind {
        let axes = if self.dimensions(unit) == Dimensions::Two { 0b011 } else { 0b111 };
        SamplerKind {
            axes,
            depends_on_lod: self.may_depend_on_lod(unit),
            bounds: None,
            readings: TexReadings::REFERENCE,
        }
    }

    /// Returns a unit's texture for an exact shader.
    ///
    /// # Errors
    /// [`EmitError::ExactFetch`] with the address of the fetch, if it cannot be exact.
    pub(crate) fn exact(&self, unit: u8, address: u32) -> Result<&ExactTexture, EmitError> {
        let units = self.exact.as_ref().expect("only exact shaders ask");
        let texture = units.get(usize::from(unit)).expect("an instruction names 16 units");
        texture.as_ref().map_err(|reason| EmitError::ExactFetch {
            address,
            unit,
            reason: reason.clone(),
        })
    }

    /// Returns a unit's texture that an exact shader fetches from.
    pub(crate) fn known(&self, unit: u8) -> &ExactTexture {
        match self.exact.as_ref().and_then(|units| units.get(usize::from(unit))) {
            Some(Ok(texture)) => texture,
            _ => unreachable!("fetches that cannot be exact are refused before"),
        }
    }

    /// Returns the texels that an exact shader expects.
    pub(crate) fn texels(&self, unit: u8) -> Option<ShaderTexels> {
        let texture = self.exact.as_ref()?.get(usize::from(unit))?.as_ref().ok()?;
        let levels = u32::try_from(texture.sampler.levels()).expect("at most 16 levels");
        Some(ShaderTexels { size: texture.sampler.level_size(0), levels })
    }
}

/// Returns whether an instruction computes its level of detail from the differences in the quad.
pub(crate) fn is_implicit(op: TexOp) -> bool {
    !matches!(op, TexOp::LOD | TexOp::DXDY)
}

/// The texels of a level as programs see them: after the selection of components, without gamma.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureLevel {
    /// Width, height and layers: the depth of a volume, the faces +X, -X, +Y, -Y, +Z, -Z of a cube.
    pub size: [u32; 3],
    /// Red, green, blue, alpha: row by row, layer by layer.
    pub texels: Vec<[f32; 4]>,
}

/// Returns the levels of a unit's texture, the finest first, as an exact shader must load them, 16 bytes a texel.
///
/// # Errors
/// [`ExactFetchReason`], if the job has no texture for the unit or it cannot be bound.
pub fn texels(job: &Job, unit: u8) -> Result<Vec<TextureLevel>, ExactFetchReason> {
    let sampler = bound(job, usize::from(unit))?;
    let level = |level: usize| {
        let size @ [width, height, layers] = sampler.level_size(level);
        let all = (0..layers).flat_map(|layer| {
            (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, layer]))
        });
        let texels = all.map(|at| sampler.texel(level, at, &TexReadings::REFERENCE)).collect();
        TextureLevel { size, texels }
    };
    Ok((0..sampler.levels()).map(level).collect())
}
