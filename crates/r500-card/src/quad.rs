//! Quads: two by two pixels.

/// A quad: the pixels at (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1), x and y even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quad {
    pub(crate) x: u16,
    pub(crate) y: u16,
    /// Mask of covered samples of each pixel, sample 0 in bit 0.
    pub(crate) masks: [u8; 4],
}

/// Quads, each with the index of its primitive.
pub(crate) type QuadList = [(u32, Quad)];

impl Quad {
    /// Returns column and row of a pixel.
    pub(crate) fn pixel(&self, corner: usize) -> [u32; 2] {
        [u32::from(self.x) + corner as u32 % 2, u32::from(self.y) + corner as u32 / 2]
    }
}
