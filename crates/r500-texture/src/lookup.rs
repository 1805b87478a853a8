//! The record of a fetch, for traces.

/// The steps of the fetch of one pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Red, green, blue, alpha before the destination swizzle.
    pub color: [f32; 4],
    /// u, v, w in texels of level 0; w of a 2D texture is unused.
    pub coordinates: [f32; 3],
    /// The face of a cube: +X, -X, +Y, -Y, +Z, -Z.
    pub face: Option<u32>,
    /// The level of detail, bias included.
    pub lod: f32,
    /// Whether `MAG_FILTER` was used.
    pub magnified: bool,
    /// The number of fetches whose mean is the colour; more than 1 with an anisotropic filter.
    pub probes: u32,
    /// The levels read by each of these fetches: one, or two that are blended.
    pub levels: Vec<LevelLookup>,
    /// The weight of the second level.
    pub level_weight: f32,
}

/// The reads in one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelLookup {
    /// The level; 0 is the finest.
    pub level: usize,
    /// u, v, w in texels of this level, as they are filtered.
    pub coordinates: [f32; 3],
    /// The weights of the second texels along S, T, R; 0 where the filter reads one texel.
    pub weights: [f32; 3],
    /// The texels, S fastest, then T, then R.
    pub texels: Vec<TexelLookup>,
}

/// One texel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TexelLookup {
    /// Column, row and layer (face); `None` is the border.
    pub at: Option<[u32; 3]>,
    /// Its colour: red, green, blue, alpha.
    pub color: [f32; 4],
}

/// An observer of a fetch; observing with `()` costs nothing.
pub(super) trait FetchObserver {
    /// Called before a level is read.
    fn level(&mut self, level: usize, coordinates: [f32; 3], weights: [f32; 3]);
    /// Called after a texel is read.
    fn texel(&mut self, at: Option<[u32; 3]>, color: [f32; 4]);
    /// Called when two levels are blended.
    fn levels_blended(&mut self, weight: f32);
}

/// Observes nothing.
impl FetchObserver for () {
    fn level(&mut self, _: usize, _: [f32; 3], _: [f32; 3]) {}
    fn texel(&mut self, _: Option<[u32; 3]>, _: [f32; 4]) {}
    fn levels_blended(&mut self, _: f32) {}
}

impl FetchObserver for Lookup {
    fn level(&mut self, level: usize, coordinates: [f32; 3], weights: [f32; 3]) {
        self.levels.push(LevelLookup { level, coordinates, weights, texels: Vec::new() });
    }

    fn texel(&mut self, at: Option<[u32; 3]>, color: [f32; 4]) {
        if let Some(level) = self.levels.last_mut() {
            level.texels.push(TexelLookup { at, color });
        }
    }

    fn levels_blended(&mut self, weight: f32) {
        self.level_weight = weight;
    }
}
