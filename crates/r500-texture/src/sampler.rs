//! The sampler: a texture bound to a unit, which quads or batches fetch from.

use std::sync::Arc;

use r500_isa::state::UsFormat;
use r500_program::Texture;
use r500_simd::Chunk;
use r500_simd::level::lane_ops::LaneOps;

use super::batch::{BatchFetch, CompiledSampler, TexelView, TextureDesc, fetch_batch};
use super::compiled_forms::CompiledForms;
use super::error::BindError;
use super::lookup::Lookup;
use super::quad_fetch::QuadFetch;
use super::readings::TexReadings;
use super::scalar_sampler::ScalarSampler;
use super::settings::SamplerSettings;

/// The kind of a sampler: what a compiler of programs needs, without texels and sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerKind {
    /// Which of S, T, R a fetch reads: S in bit 0.
    pub axes: u8,
    /// Whether a fetch depends on the level of detail, and so, for instructions that do not give it, on the coordinates of the whole quad.
    pub depends_on_lod: bool,
    /// Bounds of all fetched components; `None` if they may be any floats. With a lower bound of 0, no component is -0 or a denormal.
    pub bounds: Option<[f32; 2]>,
    /// The readings that affect its fetches; those that do not have the value of [`TexReadings::REFERENCE`].
    pub readings: TexReadings,
}

/// A texture that can be sampled.
///
/// Clones share the texels, which take as much memory as the bytes they came from. The first batch fetch (with
/// readings that affect the sampler, each first one) adds decoded texels: 16 bytes a texel, or 4 if there are many (32 MiB at most), and 64 bytes a texel for
/// linear filters of small textures (2 MiB at most).
#[derive(Clone, Debug)]
pub struct Sampler {
    scalar: ScalarSampler,
    /// Compiled by the first batch fetch with given readings.
    compiled: Arc<CompiledForms>,
}

impl Sampler {
    /// Binds a texture.
    ///
    /// `us_format` is the unit's `US_FORMAT`, which scales the program's coordinates; without it, the size
    /// of the texture does. Everything after that (address modes, levels) follows the `TX_*` registers.
    ///
    /// Registers without a meaning for a single texture are ignored: `ID`, `CACHE`, `TXOFFSET`,
    /// `MACRO_SWITCH`, and `PROJECTED` (observed: drivers leave it 0 and project by instruction).
    ///
    /// # Errors
    /// [`BindError`], with register, field and value, if the registers ask for a mode that is not modelled
    /// (`Filter4`, chroma keys, MPEG modes, YUV, tiling), have a reserved value, or disagree with the levels.
    pub fn bind(texture: &Texture, us_format: Option<UsFormat>) -> Result<Self, BindError> {
        let scalar = ScalarSampler::bind(texture, us_format)?;
        Ok(Self { scalar, compiled: Arc::default() })
    }

    /// Returns whether both are clones of one sampler.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.compiled, &other.compiled)
    }

    /// Returns which of S, T, R a fetch reads: S in bit 0. A 2D texture does not read R.
    #[must_use]
    pub fn axes(&self) -> u8 {
        self.scalar.axes()
    }

    /// Returns whether a fetch depends on the level of detail, and so, for instructions that do not give it,
    /// on the coordinates of the whole quad.
    #[must_use]
    pub fn depends_on_lod(&self) -> bool {
        self.scalar.depends_on_lod()
    }

    /// Returns bounds of all fetched components, if the format has some. With a lower bound of 0, no
    /// component is -0 or a denormal.
    #[must_use]
    pub fn bounds(&self) -> Option<[f32; 2]> {
        self.scalar.bounds()
    }

    /// Returns the number of levels, at least one.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.scalar.levels()
    }

    /// Returns width, height and layers (faces of a cube) of a level; 0 if there is no such level.
    #[must_use]
    pub fn level_size(&self, level: usize) -> [u32; 3] {
        self.scalar.level_size(level)
    }

    /// Returns a texel as the filters get it: red, green, blue, alpha, selected and without gamma. `at` is
    /// column, row and layer (face); outside the level it is the border colour.
    #[must_use]
    pub fn texel(&self, level: usize, at: [u32; 3], readings: &TexReadings) -> [f32; 4] {
        self.scalar.texel(level, at, readings)
    }

    /// Fetches for the four pixels of a quad: red, green, blue, alpha before the destination swizzle.
    #[must_use]
    pub fn fetch(&self, quad: &QuadFetch, readings: &TexReadings) -> [[f32; 4]; 4] {
        self.scalar.fetch(quad, readings)
    }

    /// Fetches as [`fetch`](Self::fetch) does, and returns every step that led to the colours.
    #[must_use]
    pub fn look_up(&self, quad: &QuadFetch, readings: &TexReadings) -> [Lookup; 4] {
        self.scalar.look_up(quad, readings)
    }

    /// Fetches for a batch: red, green, blue, alpha before the destination swizzle, into the same number of
    /// chunks. A channel that is not wanted may be empty. The results are those of [`fetch`](Self::fetch)
    /// under the readings of the fetch, bit for bit. `simd` is the level that the caller is compiled for.
    #[inline(always)]
    pub fn fetch_batch(&self, simd: impl LaneOps, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
        fetch_batch(simd, &self.scalar, self.compiled(fetch.readings), fetch, out);
    }

    /// Returns the layout of the texels for machine code under given readings; `None` for samplers and readings
    /// that machine code does not support.
    #[must_use]
    pub fn texture_desc(&self, readings: &TexReadings) -> Option<TextureDesc> {
        self.compiled(readings).and_then(|compiled| TextureDesc::new(&self.scalar, compiled))
    }

    /// Returns the texels in that layout; empty without one.
    #[must_use]
    pub fn texel_view(&self, readings: &TexReadings) -> TexelView<'_> {
        self.compiled(readings).map_or(TexelView::NONE, CompiledSampler::texel_view)
    }

    /// Returns the readings that affect a fetch; those that do not have the project's value.
    #[must_use]
    pub fn affecting(&self, readings: &TexReadings) -> TexReadings {
        self.scalar.affecting(readings)
    }

    /// Returns what its registers select.
    #[must_use]
    pub fn settings(&self) -> SamplerSettings {
        SamplerSettings::of(&self.scalar)
    }

    /// Returns its kind under some readings.
    #[must_use]
    pub fn kind(&self, readings: &TexReadings) -> SamplerKind {
        SamplerKind {
            axes: self.axes(),
            depends_on_lod: self.depends_on_lod(),
            bounds: self.bounds(),
            readings: self.affecting(readings),
        }
    }

    #[inline(always)]
    fn compiled(&self, readings: &TexReadings) -> Option<&CompiledSampler> {
        self.compiled.get(&self.scalar, readings)
    }
}
