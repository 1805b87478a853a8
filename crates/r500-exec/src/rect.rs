//! A rectangle of pixels.

use crate::RunError;

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
    /// Checks that the rectangle has pixels and lies in a picture of this width and height.
    ///
    /// # Errors
    /// [`RunError::NoPixels`] and [`RunError::AreaOutside`].
    pub fn check_inside(self, [width, height]: [u32; 2]) -> Result<(), RunError> {
        if self.width == 0 || self.height == 0 {
            return Err(RunError::NoPixels { width: self.width, height: self.height });
        }
        let fits = |start: u32, length: u32, size: u32| {
            start.checked_add(length).is_some_and(|end| end <= size)
        };
        if !fits(self.x, self.width, width) || !fits(self.y, self.height, height) {
            return Err(RunError::AreaOutside { area: self, width, height });
        }
        Ok(())
    }

    /// Splits off the lowest rows, up to the next multiple of `rows`; `None` if none are left.
    pub(crate) fn take_rows(&mut self, rows: u32) -> Option<Self> {
        let height = (rows - self.y % rows).min(self.height);
        let low = Self { height, ..*self };
        self.y += height;
        self.height -= height;
        (height != 0).then_some(low)
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
