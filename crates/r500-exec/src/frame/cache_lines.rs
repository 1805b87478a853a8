//! Planes of pixels that begin at a cache line.
//!
//! Engines store sixteen or more bytes at a time, in blocks of a few rows. An allocator of large blocks returns addresses sixteen bytes
//! after a page's: stores of 64 bytes then all lie across two lines, each of which is fetched from a distant cache twice.

use std::ops::{Deref, DerefMut};

use super::Pixel;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Pixels by which the first one is moved at most.
const SLACK: usize = LINE / size_of::<Pixel>() - 1;

/// Pixels, the first of which begins a cache line (unless the allocator's addresses are not multiples of a pixel's size).
#[derive(Debug)]
pub(crate) struct AlignedPixels {
    /// The pixels, and before and after them [`SLACK`] others in all.
    memory: Vec<Pixel>,
    first: usize,
}

impl AlignedPixels {
    /// So many pixels, all 0.
    pub(crate) fn zeroed(pixels: usize) -> Self {
        // Zeros that the system has made need no writing.
        Self::aligned(vec![[0.0; 4]; pixels + SLACK])
    }

    /// Becomes so many pixels, all 0, in the memory that there is, if that suffices.
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

    fn deref(&self) -> &[Pixel] {
        &self.memory[self.first..][..self.len()]
    }
}

impl DerefMut for AlignedPixels {
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
