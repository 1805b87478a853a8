//! Surfaces: pixels of a render target or depth buffer in a buffer object, with tiling and byte order.

mod pairs;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use r500_chip::tiling::{Layout, Tiling};
use r500_chip::values::Endian;
use r500_stream::Buffer;

pub(crate) use pairs::{Offsets, Pairs};

/// A surface in memory.
#[derive(Debug)]
pub(crate) struct Surface {
    pub(crate) buffer: Buffer,
    /// Byte offset of the first pixel.
    pub(crate) base: u32,
    /// Pixels from row to row.
    pub(crate) pitch: u32,
    tiling: Tiling,
    layout: Layout,
    pub(crate) endian: Endian,
    /// Number of samples of a pixel, at least 1.
    pub(crate) samples: u32,
    /// The bytes that were written.
    written: Written,
}

/// The smallest range of bytes with all stored pixels. Threads add to it.
#[derive(Debug)]
pub(crate) struct Written {
    first: AtomicUsize,
    end: AtomicUsize,
}

impl Default for Written {
    fn default() -> Self {
        Self { first: AtomicUsize::new(usize::MAX), end: AtomicUsize::new(0) }
    }
}

impl Written {
    fn add(&self, start: usize, bytes: usize) {
        let end = start.saturating_add(bytes);
        if start < self.first.load(Ordering::Relaxed) {
            self.first.fetch_min(start, Ordering::Relaxed);
        }
        if end > self.end.load(Ordering::Relaxed) {
            self.end.fetch_max(end, Ordering::Relaxed);
        }
    }
}

impl Surface {
    /// Returns a surface with one sample a pixel that nothing has written.
    pub(crate) fn new(
        buffer: Buffer,
        base: u32,
        pitch: u32,
        tiling: Tiling,
        endian: Endian,
    ) -> Self {
        let layout = Layout::new(tiling, pitch);
        Self {
            buffer,
            base,
            pitch,
            tiling,
            layout,
            endian,
            samples: 1,
            written: Written::default(),
        }
    }

    /// Returns the same surface with another number of samples a pixel.
    pub(crate) fn with_samples(self, samples: usize) -> Self {
        Self { samples: samples as u32, ..self }
    }

    /// Changes the layout.
    pub(crate) fn set_tiling(&mut self, tiling: Tiling) {
        self.tiling = tiling;
        self.layout = Layout::new(tiling, self.pitch);
    }

    /// Returns the bytes in which the pixels up to a last one are; `None` if the rows are shorter, so that pixels share bytes.
    pub(crate) fn bytes_to(&self, [x, y]: [u32; 2]) -> Option<Range<u64>> {
        let (row, height) = self.row_of_tiles();
        let rows = u64::from(y / height) + 1;
        let base = u64::from(self.base);
        (x < self.pitch).then(|| base..base + rows * row)
    }

    /// Returns the bytes of a row of tiles, or of units without tiles, and its pixels downward.
    fn row_of_tiles(&self) -> (u64, u32) {
        let [width, height] = self.tiling.alignment();
        let pixels = u64::from(self.pitch.div_ceil(width)) * u64::from(width * height);
        (pixels * u64::from(self.tiling.bytes()) * u64::from(self.samples), height)
    }

    /// Returns the layout.
    pub(crate) fn tiling(&self) -> Tiling {
        self.tiling
    }

    /// Returns the smallest range of bytes with all stored pixels; `None` if none was stored.
    pub(crate) fn written(&self) -> Option<Range<u64>> {
        let (first, end) = (&self.written.first, &self.written.end);
        let (first, end) = (first.load(Ordering::Relaxed), end.load(Ordering::Relaxed));
        (first < end).then_some(first as u64..end as u64)
    }

    /// Returns the number of rows of pixels that fit in the buffer, ignoring tiles.
    pub(crate) fn rows(&self) -> u32 {
        let row = u64::from(self.pitch) * u64::from(self.tiling.bytes()) * u64::from(self.samples);
        let bytes = (self.buffer.size() as u64).saturating_sub(self.base.into());
        bytes.checked_div(row).map_or(0, |rows| u32::try_from(rows).unwrap_or(u32::MAX))
    }

    fn offset(&self, at: [u32; 2], sample: u32) -> usize {
        let offset = match self.samples {
            1 => self.layout.offset(at),
            samples => self.tiling.sample_offset(self.pitch, at, sample, samples),
        };
        usize::try_from(u64::from(self.base) + offset).unwrap_or(usize::MAX / 2)
    }

    /// Loads a sample of a pixel; 0 outside of the buffer.
    pub(crate) fn load(&self, at: [u32; 2], sample: u32) -> u128 {
        let offset = self.offset(at, sample);
        let bytes = self.tiling.bytes() as usize;
        if bytes == 4 {
            return swap(self.endian, self.buffer.dword(offset).into(), 4);
        }
        let mut raw = [0; 16];
        self.buffer.read(offset, &mut raw[..bytes]);
        swap(self.endian, u128::from_le_bytes(raw), bytes)
    }

    /// Stores a sample of a pixel; without effect outside of the buffer.
    pub(crate) fn store(&self, at: [u32; 2], sample: u32, value: u128) {
        let offset = self.offset(at, sample);
        let bytes = self.tiling.bytes() as usize;
        self.written.add(offset, bytes);
        let value = swap(self.endian, value, bytes);
        if bytes == 4 {
            self.buffer.store(offset, value as u32);
        } else {
            self.buffer.write(offset, &value.to_le_bytes()[..bytes]);
        }
    }
}

/// Swaps the bytes of a pixel. Swaps work on 16-bit or 32-bit units, and have no effect on smaller pixels.
fn swap(endian: Endian, value: u128, bytes: usize) -> u128 {
    let (differ, unit) = match endian {
        Endian::WORD => (1, 2),
        Endian::DWORD => (3, 4),
        Endian::HALF_DWORD => (2, 4),
        _ => return value,
    };
    if bytes < unit {
        return value;
    }
    let raw = value.to_le_bytes();
    u128::from_le_bytes(std::array::from_fn(|i| raw[i ^ differ]))
}

/// Swaps the bytes of a dword.
pub(crate) fn swap_dword(endian: Endian, dword: u32) -> u32 {
    swap(endian, dword.into(), 4) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_chip::values::MicroTile;
    use r500_stream::BufferId;

    fn surface(log2_bytes: u8, endian: Endian) -> Surface {
        let tiling = Tiling { log2_bytes, macro_tiled: true, micro: MicroTile::TILED };
        Surface::new(Buffer::zeroed(BufferId(0), 4096), 64, 32, tiling, endian)
    }

    #[test]
    fn stored_pixels_load_back() {
        for log2_bytes in 0..5 {
            for endian in [Endian::NONE, Endian::WORD, Endian::DWORD, Endian::HALF_DWORD] {
                let surface = surface(log2_bytes, endian);
                let mask = u128::MAX >> (128 - (8 << log2_bytes));
                let value = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210 & mask;
                surface.store([3, 2], 0, value);
                assert_eq!(surface.load([3, 2], 0), value);
                assert_eq!(surface.load([2, 2], 0), 0);
            }
        }
    }

    #[test]
    fn a_swapped_dword_lies_reversed_in_memory() {
        let mut surface = surface(2, Endian::DWORD);
        surface.set_tiling(Tiling::linear(2));
        surface.store([1, 0], 0, 0x0102_0304);
        assert_eq!(surface.buffer.load(68), Some(0x0403_0201));
    }

    #[test]
    fn the_written_range_has_all_stored_pixels() {
        let mut surface = surface(2, Endian::NONE);
        surface.set_tiling(Tiling::linear(2));
        assert_eq!(surface.written(), None);
        surface.store([3, 1], 0, 1);
        assert_eq!(surface.written(), Some(64 + 140..64 + 144));
        surface.store([1, 1], 0, 1);
        surface.store([2, 1], 0, 1);
        assert_eq!(surface.written(), Some(64 + 132..64 + 144));
    }

    #[test]
    fn pixels_outside_the_buffer_are_dropped() {
        let surface = Surface { base: !31, ..surface(3, Endian::NONE) };
        surface.store([5, 5], 0, 7);
        assert_eq!(surface.load([5, 5], 0), 0);
    }
}
