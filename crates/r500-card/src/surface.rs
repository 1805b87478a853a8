//! Surfaces: pixels of a render target or depth buffer in a buffer object, with tiling and byte order.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use r500_chip::tiling::{Layout, Tiling};
use r500_chip::values::Endian;
use r500_stream::Buffer;

use crate::batch::{Batch, LANES, Lane, ROWS};
use crate::quad::{FillArea, Quad};

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
        let [width, height] = self.tiling.alignment();
        let rows = u64::from(y / height) + 1;
        let row = u64::from(self.pitch.div_ceil(width)) * u64::from(width * height);
        let bytes = rows * row * u64::from(self.tiling.bytes()) * u64::from(self.samples);
        let base = u64::from(self.base);
        (x < self.pitch).then(|| base..base + bytes)
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

/// The byte offsets of the rows of a batch.
pub(crate) struct Offsets {
    rows: [usize; ROWS],
    /// Whether these are rows of four dwords, all inside of the buffer.
    whole: bool,
}

/// How many units of a layout a fill prefetches ahead.
const PREFETCHED: u32 = 16;

/// A surface whose pixels are accessed in horizontal pairs, the first in an even column: one sample a pixel, 16 or 32 bits, in memory's
/// byte order.
pub(crate) struct Pairs<'a> {
    surface: &'a Surface,
    words: &'a [AtomicU32],
    /// Whether a pixel is a dword, so that a pair is two.
    dwords: bool,
    /// Where stored pixels begin and end.
    written: (usize, usize),
}

impl Surface {
    /// Returns access by pairs; `None` if the surface has another kind of pixels.
    pub(crate) fn pairs(&self) -> Option<Pairs<'_>> {
        let dwords = match self.tiling.bytes() {
            2 => false,
            4 => true,
            _ => return None,
        };
        if self.samples != 1 || self.endian != Endian::NONE {
            return None;
        }
        let words = self.buffer.words();
        Some(Pairs { surface: self, words, dwords, written: (usize::MAX, 0) })
    }
}

impl Pairs<'_> {
    /// Returns the byte offset of the pair that begins at a pixel.
    #[inline(always)]
    pub(crate) fn offset(&self, at: [u32; 2]) -> usize {
        let offset = u64::from(self.surface.base) + self.surface.layout.offset(at);
        usize::try_from(offset).unwrap_or(usize::MAX / 2)
    }

    /// Loads a pair; pixels outside of the buffer are 0.
    #[inline(always)]
    pub(crate) fn load(&self, offset: usize) -> [u32; 2] {
        let word = |n: usize| self.words.get(n).map_or(0, |word| word.load(Ordering::Relaxed));
        match self.dwords {
            true => [word(offset / 4), word(offset / 4 + 1)],
            false => {
                let word = word(offset / 4);
                [word & 0xffff, word >> 16]
            }
        }
    }

    /// Stores pixels of a pair; without effect outside of the buffer.
    #[inline(always)]
    pub(crate) fn store(&mut self, offset: usize, values: [u32; 2], stored: [bool; 2]) {
        if stored == [false; 2] {
            return;
        }
        let bytes = if self.dwords { 4 } else { 2 };
        let (first, last) = &mut self.written;
        *first = (*first).min(offset + if stored[0] { 0 } else { bytes });
        *last = (*last).max(offset + if stored[1] { 2 * bytes } else { bytes });
        let store = |n: usize, value| {
            if let Some(word) = self.words.get(n) {
                word.store(value, Ordering::Relaxed);
            }
        };
        if self.dwords {
            for n in 0..2 {
                if stored[n] {
                    store(offset / 4 + n, values[n]);
                }
            }
        } else {
            let old = match stored {
                [true, true] => [0; 2],
                _ => self.load(offset),
            };
            let [a, b] = [0, 1].map(|n| if stored[n] { values[n] & 0xffff } else { old[n] });
            store(offset / 4, a | b << 16);
        }
    }

    /// Replaces the pixels of an area, moved by an offset, but for the bits of `kept`.
    #[inline(always)]
    pub(crate) fn fill(&mut self, area: FillArea, [dx, dy]: [u32; 2], value: u32, kept: u32) {
        match area {
            FillArea::Full { first: [x, y], count } => {
                self.fill_rows([x + dx, y + dy], 2 * count, value, kept);
            }
            FillArea::Part(quad) => {
                let [x, y] = quad.pixel(0);
                self.fill_quad([x + dx, y + dy], quad, value, kept);
            }
        }
    }

    /// Replaces the pixels of two rows, from an even row on, in columns from an even one on, but for the bits of `kept`.
    #[inline(always)]
    fn fill_rows(&mut self, [x, y]: [u32; 2], columns: u32, value: u32, kept: u32) {
        let tiling = self.surface.tiling;
        let bytes = if self.dwords { 4 } else { 2 };
        let [value, kept] = [value, kept].map(|bits| match self.dwords {
            true => bits,
            false => bits & 0xffff | bits << 16,
        });
        let end = x + columns;
        let [width, height] = tiling.unit();
        if height == 1 && !tiling.macro_tiled {
            // Units of a row follow one another.
            for y in [y, y + 1] {
                self.fill_bytes(self.offset([x, y]), columns as usize * bytes, value, kept);
            }
            return;
        }
        let mut x = x;
        while x < end {
            let next = end.min((x / width + 1) * width);
            self.prefetch_at([x + PREFETCHED * width, y]);
            let length = (next - x) as usize * bytes;
            let first = self.offset([x, y]);
            match self.surface.layout.row_in_unit() {
                // All of a unit of two rows.
                Some(row) if height == 2 && length == row as usize => {
                    self.fill_bytes(first, 2 * length, value, kept);
                }
                Some(row) => {
                    self.fill_bytes(first, length, value, kept);
                    self.fill_bytes(first + row as usize, length, value, kept);
                }
                None => {
                    self.fill_bytes(first, length, value, kept);
                    self.fill_bytes(self.offset([x, y + 1]), length, value, kept);
                }
            }
            x = next;
        }
    }

    /// Replaces the dwords in bytes of the buffer, but for the bits of `kept`.
    #[inline(always)]
    fn fill_bytes(&mut self, first: usize, length: usize, value: u32, kept: u32) {
        let (written_first, written_end) = &mut self.written;
        *written_first = (*written_first).min(first);
        *written_end = (*written_end).max(first + length);
        let end = ((first + length) / 4).min(self.words.len());
        let words = &self.words[(first / 4).min(end)..end];
        if kept == 0 {
            words.iter().for_each(|word| word.store(value, Ordering::Relaxed));
        } else {
            let stored = |old: u32| value & !kept | old & kept;
            for word in words {
                word.store(stored(word.load(Ordering::Relaxed)), Ordering::Relaxed);
            }
        }
    }

    /// Replaces the covered pixels of a quad, whose first pixel is at `at` in the surface, but for the bits of `kept`.
    #[inline(always)]
    fn fill_quad(&mut self, [x, y]: [u32; 2], quad: Quad, value: u32, kept: u32) {
        let [a, b, c, d] = quad.masks.map(|mask| mask != 0);
        for (y, stored) in [(y, [a, b]), (y + 1, [c, d])] {
            let offset = self.offset([x, y]);
            let values = self.load(offset).map(|old| value & !kept | old & kept);
            self.store(offset, values, stored);
        }
    }

    /// Asks for the pixels of a batch to be in the cache when it is loaded and stored. Often another processor stored them last.
    #[inline(always)]
    pub(crate) fn prefetch(&self, batch: &Batch, [dx, dy]: [u32; 2]) {
        for quad in 0..batch.len() {
            let [x, y] = batch.place(4 * quad);
            self.prefetch_at([x + dx, y + dy]);
        }
    }

    #[inline(always)]
    fn prefetch_at(&self, at: [u32; 2]) {
        if let Some(word) = self.words.get(self.offset(at) / 4) {
            r500_simd::prefetch(word);
        }
    }

    /// Returns the offsets of the rows of a batch.
    #[inline(always)]
    pub(crate) fn offsets(&self, batch: &Batch, [dx, dy]: [u32; 2]) -> Offsets {
        let mut rows = [0; ROWS];
        // The second row of a quad is in the same unit, if that has several.
        let below = self.surface.layout.row_in_unit();
        let mut last = 0;
        let pairs = rows.as_chunks_mut::<2>().0.iter_mut().zip(batch.rows().as_chunks::<2>().0);
        for (rows, [(lane, _), _]) in pairs {
            let [x, y] = batch.place(*lane);
            let [x, y] = [x + dx, y + dy];
            let first = self.offset([x, y]);
            let second = match below {
                Some(bytes) => first + bytes as usize,
                None => self.offset([x, y + 1]),
            };
            *rows = [first, second];
            last = last.max(second);
        }
        let inside = last / 4 + 4 <= self.words.len();
        Offsets { rows, whole: batch.is_squares() && self.dwords && inside }
    }

    /// Loads the pixels of a batch.
    #[inline(always)]
    pub(crate) fn gather(&self, batch: &Batch, offsets: &Offsets) -> Lane<u32> {
        let mut values = [0; LANES];
        for (offset, (lane, is_four)) in offsets.rows.iter().zip(batch.rows()) {
            let lane = *lane;
            if let Some(words) = self.words.get(offset / 4..offset / 4 + 4)
                && offsets.whole
            {
                let lane = lane.min(LANES - 6);
                for (word, at) in words.iter().zip([0, 1, 4, 5]) {
                    values[lane + at] = word.load(Ordering::Relaxed);
                }
                continue;
            }
            values[lane..lane + 2].copy_from_slice(&self.load(*offset));
            if *is_four {
                let second = self.load(offset + self.pair_bytes());
                values[lane + 4..lane + 6].copy_from_slice(&second);
            }
        }
        values
    }

    /// Stores pixels of a batch.
    #[inline(always)]
    pub(crate) fn scatter(
        &mut self,
        batch: &Batch,
        offsets: &Offsets,
        values: &Lane<u32>,
        stored: &Lane<bool>,
    ) {
        if offsets.whole && *stored == [true; LANES] {
            let (mut first, mut last) = self.written;
            for (offset, (lane, _)) in offsets.rows.iter().zip(batch.rows()) {
                let lane = (*lane).min(LANES - 6);
                first = first.min(*offset);
                last = last.max(*offset + 16);
                if let Some(words) = self.words.get(offset / 4..offset / 4 + 4) {
                    for (word, at) in words.iter().zip([0, 1, 4, 5]) {
                        word.store(values[lane + at], Ordering::Relaxed);
                    }
                }
            }
            self.written = (first, last);
            return;
        }
        for (offset, (lane, is_four)) in offsets.rows.iter().zip(batch.rows()) {
            let a = *lane;
            self.store(*offset, [values[a], values[a + 1]], [stored[a], stored[a + 1]]);
            if *is_four {
                let (b, second) = (a + 4, offset + self.pair_bytes());
                self.store(second, [values[b], values[b + 1]], [stored[b], stored[b + 1]]);
            }
        }
    }

    /// Returns the bytes of a pair.
    #[inline(always)]
    fn pair_bytes(&self) -> usize {
        if self.dwords { 8 } else { 4 }
    }

    /// Adds the stored pixels to those of the surface.
    pub(crate) fn finish(self) {
        let (first, last) = self.written;
        if first < last {
            self.surface.written.add(first, last - first);
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
