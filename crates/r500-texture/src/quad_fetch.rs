//! A texture instruction as a quad of pixels issues it.

use r500_isa::values::TexOp;

/// The result of a unit that is not enabled: colours 0, alpha 1 (documented).
pub const DISABLED_UNIT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// A texture instruction as a quad of pixels issues it.
///
/// Pixels are in the order top left, top right, bottom left, bottom right, where top is the smaller
/// y. All four are required, active and covered or not: their differences determine the level of
/// detail of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuadFetch {
    /// `US_TEX_INST.INST`: LD, PROJ, LODBIAS, LOD or DXDY. The other codes fetch nothing, so no
    /// engine passes them; here they act as LD.
    pub op: TexOp,
    /// `US_TEX_INST.UNSCALED`: S, T, R are texels of level 0 instead of fractions of its size.
    pub unscaled: bool,
    /// S, T, R, Q of each pixel, swizzled.
    pub strq: [[f32; 4]; 4],
    /// The gradients of each pixel. Only DXDY reads them.
    pub gradients: [Gradients; 4],
}

/// The differences of S, T, R, Q to the neighbouring pixels, as given by the program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gradients {
    /// To the right.
    pub dx: [f32; 4],
    /// Downward in the quad, to the greater y.
    pub dy: [f32; 4],
}

impl QuadFetch {
    /// Returns a fetch at S, T, R scaled by the texture's size.
    #[must_use]
    pub fn new(op: TexOp, strq: [[f32; 4]; 4]) -> Self {
        Self { op, unscaled: false, strq, gradients: [Gradients::default(); 4] }
    }
}
