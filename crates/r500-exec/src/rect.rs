//! A rectangle of pixels.

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// Left column.
    pub x: u32,
    /// Lowest row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl PixelRect {
    /// Splits off the lowest rows, up to the next multiple of `rows`; `None` if no rows remain.
    pub(crate) fn take_rows(&mut self, rows: u32) -> Option<Self> {
        let height = (rows - self.y % rows).min(self.height);
        let low = Self { height, ..*self };
        self.y += height;
        self.height -= height;
        (height != 0).then_some(low)
    }

    /// Splits off the highest rows, down to the next multiple of `rows`; `None` if no rows remain.
    pub(crate) fn take_top_rows(&mut self, rows: u32) -> Option<Self> {
        let last = (self.y + self.height).checked_sub(1)?;
        let y = (last - last % rows).max(self.y);
        let height = last + 1 - y;
        let high = Self { y, height: height.min(self.height), ..*self };
        self.height -= high.height;
        (high.height != 0).then_some(high)
    }

    /// Returns the index of a pixel in a plane stored row by row from the lowest; `None` if it lies outside.
    #[must_use]
    #[inline]
    pub fn index(self, x: u32, y: u32) -> Option<usize> {
        let (x, y) = (x.checked_sub(self.x)?, y.checked_sub(self.y)?);
        let inside = x < self.width && y < self.height;
        inside.then_some(y as usize * self.width as usize + x as usize)
    }
}
