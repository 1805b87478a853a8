//! Planes of pixels aligned to cache lines.
//!
//! Engines store sixteen or more bytes at a time, in blocks of a few rows. An allocator returns addresses of large blocks that are
//! sixteen bytes after the start of a page: every store of 64 bytes then crosses a cache line, and each line is fetched from a distant
//! cache twice.

use std::ops::{Deref, DerefMut};

use super::Pixel;

/// Bytes of a cache line.
const LINE: usize = 64;
/// The maximum number of pixels before the first one.
const SLACK: usize = LINE / size_of::<Pixel>() - 1;

/// Pixels, the first of which is at the start of a cache line (unless the allocator's addresses are not multiples of a pixel's size).
#[derive(Debug)]
pub(crate) struct AlignedPixels {
    /// The pixels, and [`SLACK`] more in total before and after them.
    memory: Vec<Pixel>,
    first: usize,
}

impl AlignedPixels {
    /// Returns a number of pixels, all 0.
    pub(crate) fn zeroed(pixels: usize) -> Self {
        // Memory that the system has zeroed is not written.
        Self::aligned(vec![[0.0; 4]; pixels + SLACK])
    }

    /// Changes to a number of pixels, all 0, reusing the memory if it suffices.
    pub(crate) fn clear_to(&mut self, pixels: usize) {
        let mut memory = std::mem::take(&mut self.memory);
        memory.clear();
        memory.resize(pixels + SLACK, [0.0; 4]);
        *self = Self::aligned(memory);
    }

    fn aligned(memory: Vec<Pixel>) -> Self {
        let first = memory.as_ptr().align_offset(LINE);
        Self { memory, first: if first <= SLACK { first } else { 0 } }
    }

    #[inline]
    fn len(&self) -> usize {
        self.memory.len() - SLACK
    }
}

impl Clone for AlignedPixels {
    fn clone(&self) -> Self {
        let mut clone = Self::zeroed(self.len());
        clone.copy_from_slice(self);
        clone
    }
}

impl Deref for AlignedPixels {
    type Target = [Pixel];

    #[inline]
    fn deref(&self) -> &[Pixel] {
        &self.memory[self.first..][..self.len()]
    }
}

impl DerefMut for AlignedPixels {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Pixel] {
        let pixels = self.len();
        &mut self.memory[self.first..][..pixels]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_begin_at_a_line_and_are_as_many_as_asked_for() {
        for pixels in [0, 1, 3, 4, 5, 1000, 1 << 20] {
            let mut plane = AlignedPixels::zeroed(pixels);
            assert_eq!(plane.len(), pixels);
            assert!(plane.iter().all(|pixel| *pixel == [0.0; 4]));
            // Allocators of 64-bit systems return multiples of 16.
            #[cfg(target_pointer_width = "64")]
            assert!(plane.as_ptr().addr().is_multiple_of(LINE));
            plane.fill([1.0, 2.0, 3.0, 4.0]);
            let clone = plane.clone();
            assert_eq!(*plane, *clone);
            for other in [pixels / 2, pixels + 7] {
                plane.clear_to(other);
                assert_eq!(plane.len(), other);
                assert!(plane.iter().all(|pixel| *pixel == [0.0; 4]));
            }
        }
    }
}
