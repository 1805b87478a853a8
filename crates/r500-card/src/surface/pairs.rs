//! Pixels of common surfaces, two side by side at a time: fills, and the batches of many quads.

use std::sync::atomic::{AtomicU32, Ordering};

use r500_chip::tiling::UNIT;
use r500_chip::values::Endian;
use r500_simd::SimdLevel;

use super::Surface;
use crate::batch::{Batch, LANES, Lane, QUADS};
use crate::quad::{FillArea, Quad};

/// Where the quads of a batch are in a surface.
pub(crate) struct Offsets {
    /// The byte offsets of the pairs in the first rows of the quads, and of those below.
    rows: [[u32; QUADS]; 2],
    /// Whether all are inside of the buffer. Otherwise the offsets do not count.
    inside: bool,
}

impl Offsets {
    pub(crate) const NONE: Self = Self { rows: [[0; QUADS]; 2], inside: false };
}

/// The mask of a quad that is stored entirely, a byte for each pixel.
const ALL: u32 = 0x0101_0101;

/// How many units of a layout a fill prefetches ahead, and how many it addresses at once.
const PREFETCHED: u32 = 16;
const UNITS: usize = PREFETCHED as usize;

/// A surface whose pixels are accessed in horizontal pairs, the first in an even column: one sample a pixel, 16 or 32 bits, in memory's
/// byte order.
pub(crate) struct Pairs<'a> {
    surface: &'a Surface,
    words: &'a [AtomicU32],
    /// Whether a pixel is a dword, so that a pair is two.
    dwords: bool,
    /// What is added to the places of quads.
    moved: [u32; 2],
    /// Columns and rows whose pixels are all inside of the buffer, at offsets of 32 bits.
    inside: [u32; 2],
    /// Where stored pixels begin and end.
    written: (usize, usize),
}

impl Surface {
    /// Returns access by pairs, to quads that are moved by a number of pixels; `None` if the surface has another kind of pixels.
    pub(crate) fn pairs(&self, moved: [u32; 2]) -> Option<Pairs<'_>> {
        let is_common = self.samples == 1
            && self.endian == Endian::NONE
            && self.base.is_multiple_of(8)
            && moved.iter().all(|by| by.is_multiple_of(2));
        if !is_common {
            return None;
        }
        let words = self.buffer.words();
        let dwords = match self.tiling.bytes() {
            2 => false,
            4 => true,
            _ => return None,
        };
        let size = self.buffer.size().min(u32::MAX as usize) as u32;
        let (row, height) = self.row_of_tiles();
        let rows = match u32::try_from(row) {
            Ok(row @ 1..) => size.saturating_sub(self.base) / row,
            // A pitch of 0, or a row that is longer than any buffer: no pixel is surely inside.
            _ => 0,
        };
        let inside = [self.pitch, rows * height];
        Some(Pairs { surface: self, words, dwords, moved, inside, written: (usize::MAX, 0) })
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
        let bytes = self.bytes();
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

    /// Returns the bytes of a pixel.
    #[inline(always)]
    fn bytes(&self) -> usize {
        if self.dwords { 4 } else { 2 }
    }

    /// Replaces the pixels of an area but for the bits of `kept`.
    #[inline(always)]
    pub(crate) fn fill<L: SimdLevel>(&mut self, level: L, area: FillArea, value: u32, kept: u32) {
        let [dx, dy] = self.moved;
        match area {
            FillArea::Full { first: [x, y], count } => {
                self.fill_rows(level, [x + dx, y + dy], 2 * count, value, kept);
            }
            FillArea::Part(quad) => {
                let [x, y] = quad.pixel(0);
                self.fill_quad([x + dx, y + dy], quad, value, kept);
            }
        }
    }

    /// Replaces the pixels of two rows, from an even row on, in columns from an even one on, but for the bits of `kept`.
    #[inline(always)]
    fn fill_rows<L: SimdLevel>(
        &mut self,
        level: L,
        [x, y]: [u32; 2],
        columns: u32,
        value: u32,
        kept: u32,
    ) {
        let tiling = self.surface.tiling;
        let bytes = self.bytes();
        let [value, kept] = [value, kept].map(|bits| match bytes {
            4 => bits,
            _ => bits & 0xffff | bits << 16,
        });
        let end = x + columns;
        let [width, height] = tiling.unit();
        if height == 1 && !tiling.macro_tiled {
            // Units of a row follow one another.
            for y in [y, y + 1] {
                self.fill_bytes(level, self.offset([x, y]), columns as usize * bytes, value, kept);
            }
            return;
        }
        let is_inside = end <= self.inside[0] && y + 1 < self.inside[1];
        let whole = (x.next_multiple_of(width), end & !(width - 1));
        if is_inside && height == 2 && whole.0 < whole.1 {
            self.fill_parts(level, [x, y], whole.0, value, kept);
            self.fill_units(level, whole, y, value, kept);
            self.fill_parts(level, [whole.1, y], end, value, kept);
            return;
        }
        self.fill_parts(level, [x, y], end, value, kept);
    }

    /// Replaces two rows of pixels up to a column, unit by unit.
    #[inline(always)]
    fn fill_parts<L: SimdLevel>(
        &mut self,
        level: L,
        [mut x, y]: [u32; 2],
        end: u32,
        value: u32,
        kept: u32,
    ) {
        let bytes = self.bytes();
        let [width, height] = self.surface.tiling.unit();
        while x < end {
            let next = end.min((x | (width - 1)) + 1);
            self.prefetch_at([x + PREFETCHED * width, y]);
            let length = (next - x) as usize * bytes;
            let first = self.offset([x, y]);
            match self.surface.layout.row_in_unit() {
                // All of a unit of two rows.
                Some(row) if height == 2 && length == row as usize => {
                    self.fill_bytes(level, first, 2 * length, value, kept);
                }
                Some(row) => {
                    self.fill_bytes(level, first, length, value, kept);
                    self.fill_bytes(level, first + row as usize, length, value, kept);
                }
                None => {
                    self.fill_bytes(level, first, length, value, kept);
                    self.fill_bytes(level, self.offset([x, y + 1]), length, value, kept);
                }
            }
            x = next;
        }
    }

    /// Replaces whole units of two rows, which are inside of the buffer.
    #[inline(always)]
    fn fill_units<L: SimdLevel>(
        &mut self,
        level: L,
        (from, to): (u32, u32),
        y: u32,
        value: u32,
        kept: u32,
    ) {
        let [width, _] = self.surface.tiling.unit();
        let [mut begin, mut end] = [u32::MAX, 0];
        let mut next = self.units([from, to - width], y);
        let mut x = from;
        while x < to {
            let units = next;
            let count = ((to - x) / width).min(UNITS as u32);
            x += count * width;
            if x < to {
                next = self.units([x, to - width], y);
                self.prefetch_each(&next);
            }
            for offset in &units {
                begin = begin.min(*offset);
                end = end.max(*offset + UNIT);
            }
            for offset in &units[..count as usize] {
                let unit = self.words.get(*offset as usize / 4..);
                let unit = unit.and_then(|words| words.first_chunk::<{ UNIT as usize / 4 }>());
                unit.into_iter().for_each(|unit| replace(level, unit, value, kept));
            }
        }
        self.written = (self.written.0.min(begin as usize), self.written.1.max(end as usize));
    }

    /// Returns the offsets of units side by side, from a column on. Those after the last are the last one.
    #[inline(always)]
    fn units(&self, [from, last]: [u32; 2], y: u32) -> [u32; UNITS] {
        let [width, _] = self.surface.tiling.unit();
        let mut x = [0; UNITS];
        for (n, x) in x.iter_mut().enumerate() {
            *x = (from + n as u32 * width).min(last);
        }
        self.addresses([x, [y; UNITS]])
    }

    /// Returns the lowest 32 bits of the byte offsets of pixels, x and y.
    #[inline(always)]
    fn addresses<const N: usize>(&self, at: [[u32; N]; 2]) -> [u32; N] {
        let Surface { layout, base, .. } = *self.surface;
        let mut offsets = layout.offsets(at);
        for offset in &mut offsets {
            *offset = offset.wrapping_add(base);
        }
        offsets
    }

    /// Replaces the dwords in bytes of the buffer, but for the bits of `kept`.
    #[inline(always)]
    fn fill_bytes<L: SimdLevel>(
        &mut self,
        level: L,
        first: usize,
        length: usize,
        value: u32,
        kept: u32,
    ) {
        let (written_first, written_end) = &mut self.written;
        *written_first = (*written_first).min(first);
        *written_end = (*written_end).max(first + length);
        let end = ((first + length) / 4).min(self.words.len());
        replace(level, &self.words[(first / 4).min(end)..end], value, kept);
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

    #[inline(always)]
    fn prefetch_at(&self, at: [u32; 2]) {
        if let Some(word) = self.words.get(self.offset(at) / 4) {
            r500_simd::prefetch(word);
        }
    }

    /// Returns the offsets of the quads of a batch.
    #[inline(always)]
    pub(crate) fn offsets(&self, batch: &Batch) -> Offsets {
        let [dx, dy] = self.moved;
        let [x, y] = batch.corners();
        let (x, y) = (x.map(|x| x + dx), y.map(|y| y + dy));
        let [mut last_x, mut last_y] = [0; 2];
        for (x, y) in x.iter().zip(&y) {
            last_x = last_x.max(*x);
            last_y = last_y.max(*y);
        }
        let inside = last_x + 1 < self.inside[0] && last_y + 1 < self.inside[1];
        let first = self.addresses([x, y]);
        // The second row of a quad is in the same unit, if that has several.
        let below = match self.surface.layout.row_in_unit() {
            Some(bytes) => first.map(|offset| offset.wrapping_add(bytes)),
            None => self.addresses([x, y.map(|y| y + 1)]),
        };
        Offsets { rows: [first, below], inside }
    }

    /// Asks for the pixels of a batch to be in the cache when it is loaded and stored. Often another processor stored them last.
    #[inline(always)]
    pub(crate) fn prefetch(&self, batch: &Batch, offsets: &Offsets) {
        if offsets.inside {
            self.prefetch_each(&offsets.rows[0][..batch.len()]);
        }
    }

    #[inline(always)]
    fn prefetch_each(&self, offsets: &[u32]) {
        for offset in offsets {
            if let Some(word) = self.words.get(*offset as usize / 4) {
                r500_simd::prefetch(word);
            }
        }
    }

    /// Returns the byte offsets of the two pairs of a quad.
    #[inline(always)]
    fn quad(&self, batch: &Batch, offsets: &Offsets, quad: usize) -> [usize; 2] {
        if offsets.inside {
            return offsets.rows.each_ref().map(|row| row[quad] as usize);
        }
        let ([x, y], [dx, dy]) = (batch.corners(), self.moved);
        [0, 1].map(|row| self.offset([x[quad] + dx, y[quad] + dy + row]))
    }

    /// Returns the dwords of a pair of pixels.
    #[inline(always)]
    fn pair(&self, offset: u32) -> Option<&[AtomicU32; 2]> {
        self.words.get(offset as usize / 4..).and_then(|words| words.first_chunk())
    }

    /// Loads the pixels of a batch.
    #[inline(always)]
    pub(crate) fn gather<L: SimdLevel>(
        &self,
        level: L,
        batch: &Batch,
        offsets: &Offsets,
    ) -> Lane<u32> {
        let mut values = [0; LANES];
        if offsets.inside && self.dwords {
            let [first, below] = offsets.rows.each_ref().map(|row| row.as_chunks::<2>().0);
            let halves = values.as_chunks_mut::<8>().0.iter_mut().zip(first.iter().zip(below));
            for (values, ([a, b], [c, d])) in halves {
                if let [Some(a), Some(c), Some(b), Some(d)] = [a, c, b, d].map(|at| self.pair(*at))
                {
                    *values = level.load_pairs([a, c, b, d]);
                }
            }
            return values;
        }
        for (quad, values) in values.as_chunks_mut::<4>().0[..batch.len()].iter_mut().enumerate() {
            let [[a, b], [c, d]] = self.quad(batch, offsets, quad).map(|offset| self.load(offset));
            *values = [a, b, c, d];
        }
        values
    }

    /// Stores pixels of a batch.
    #[inline(always)]
    pub(crate) fn scatter<L: SimdLevel>(
        &mut self,
        level: L,
        batch: &Batch,
        offsets: &Offsets,
        values: &Lane<u32>,
        stored: &Lane<bool>,
    ) {
        let values = values.as_chunks::<4>().0;
        let mut masks = [0; QUADS];
        for (mask, stored) in masks.iter_mut().zip(stored.as_chunks::<4>().0) {
            *mask = u32::from_le_bytes(stored.map(u8::from));
        }
        if !(offsets.inside && self.dwords) {
            for quad in (0..batch.len()).filter(|quad| masks[*quad] != 0) {
                let [first, below] = self.quad(batch, offsets, quad);
                self.store_quad([first, below], values[quad], masks[quad]);
            }
            return;
        }
        let [first, below] = &offsets.rows;
        let [mut begin, mut end] = [u32::MAX, 0];
        for ((first, below), mask) in first.iter().zip(below).zip(&masks) {
            begin = begin.min(if *mask != 0 { *first } else { u32::MAX });
            end = end.max(if *mask != 0 { *below + 8 } else { 0 });
        }
        if end == 0 {
            return;
        }
        self.written = (self.written.0.min(begin as usize), self.written.1.max(end as usize));
        for ((mask, values), (first, below)) in
            masks.iter().zip(values).zip(first.iter().zip(below))
        {
            if *mask == 0 {
                continue;
            }
            let (Some(first), Some(below)) = (self.pair(*first), self.pair(*below)) else {
                continue;
            };
            if *mask == ALL {
                level.store_pairs([first, below], *values);
                continue;
            }
            let to = first.iter().chain(below).zip(values);
            for (stored, (to, value)) in mask.to_le_bytes().into_iter().zip(to) {
                if stored != 0 {
                    to.store(*value, Ordering::Relaxed);
                }
            }
        }
    }

    /// Stores the pixels of a quad that a mask has, a byte each.
    #[inline(always)]
    fn store_quad(&mut self, [first, below]: [usize; 2], [a, b, c, d]: [u32; 4], mask: u32) {
        let stored = mask.to_le_bytes().map(|stored| stored != 0);
        self.store(first, [a, b], [stored[0], stored[1]]);
        self.store(below, [c, d], [stored[2], stored[3]]);
    }

    /// Adds the stored pixels to those of the surface.
    pub(crate) fn finish(self) {
        let (first, last) = self.written;
        if first < last {
            self.surface.written.add(first, last - first);
        }
    }
}

/// Replaces dwords, but for the bits of `kept`.
#[inline(always)]
fn replace<L: SimdLevel>(level: L, words: &[AtomicU32], value: u32, kept: u32) {
    if kept == 0 {
        let (units, rest) = words.as_chunks();
        units.iter().for_each(|unit| level.store_in_all(unit, value));
        rest.iter().for_each(|word| word.store(value, Ordering::Relaxed));
        return;
    }
    for word in words {
        let old = word.load(Ordering::Relaxed);
        word.store(value & !kept | old & kept, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_chip::tiling::Tiling;
    use r500_chip::values::MicroTile;
    use r500_simd::{Simd, SimdTask};
    use r500_stream::{Buffer, BufferId};

    use super::*;

    struct Access<'a, 'b> {
        pairs: &'a mut Pairs<'b>,
        batch: &'a Batch,
        values: Lane<u32>,
        stored: Lane<bool>,
    }

    impl SimdTask for Access<'_, '_> {
        type Output = Lane<u32>;

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) -> Lane<u32> {
            let offsets = self.pairs.offsets(self.batch);
            let before = self.pairs.gather(level, self.batch, &offsets);
            self.pairs.scatter(level, self.batch, &offsets, &self.values, &self.stored);
            before
        }
    }

    struct FillTask<'a, 'b> {
        pairs: &'a mut Pairs<'b>,
        area: FillArea,
        value: u32,
        kept: u32,
    }

    impl SimdTask for FillTask<'_, '_> {
        type Output = ();

        #[inline(always)]
        fn run<L: SimdLevel>(self, level: L) {
            self.pairs.fill(level, self.area, self.value, self.kept);
        }
    }

    /// Areas and batches in every layout, in buffers that hold all of the surface or end inside it: the bytes are those of pixels that are stored
    /// one by one.
    #[test]
    fn pairs_of_pixels_are_stored_as_pixels_are() {
        const SIZE: u32 = 64;
        arbtest::arbtest(|u| {
            let levels: Vec<Simd> = Simd::available().collect();
            let simd = *u.choose(&levels)?;
            let log2_bytes = u.int_in_range(1..=2)?;
            let (macro_tiled, micro) = (u.arbitrary()?, MicroTile::new(u.int_in_range(0..=2)?));
            let tiling = Tiling { log2_bytes, macro_tiled, micro };
            let size = *u.choose(&[64, 4096, 8004, 16_448, 20_004])?;
            let pitch = *u.choose(&[48, 64, 96])?;
            let buffers = [0, 1].map(|id| Buffer::zeroed(BufferId(id), size));
            for n in 0..size / 4 {
                for buffer in &buffers {
                    buffer.store(4 * n, (n as u32).wrapping_mul(0x9e37_79b9));
                }
            }
            let [fast, slow] = buffers
                .each_ref()
                .map(|buffer| Surface::new(buffer.clone(), 64, pitch, tiling, Endian::NONE));
            let moved = [2 * u.int_in_range(0..=2)?, 2 * u.int_in_range(0..=2)?];
            let mut pairs = fast.pairs(moved).unwrap();
            let mask = u32::MAX >> (32 - (8 << log2_bytes));
            let put = |[x, y]: [u32; 2], value: u32, kept: u32| {
                let at = [x + moved[0], y + moved[1]];
                let old = slow.load(at, 0) as u32;
                slow.store(at, 0, ((value & !kept | old & kept) & mask).into());
            };
            let place = |u: &mut arbtest::arbitrary::Unstructured<'_>| {
                Ok([2 * u.int_in_range(0..=SIZE / 2 - 1)?, 2 * u.int_in_range(0..=SIZE / 2 - 1)?])
            };
            for _ in 0..3 {
                let (value, kept) = (u.arbitrary()?, *u.choose(&[0, 0xff])?);
                let [x, y] = place(u)?;
                let count = u.int_in_range(1..=(SIZE - x) / 2)?;
                let area = FillArea::Full { first: [x, y], count };
                simd.run_plain(FillTask { pairs: &mut pairs, area, value, kept });
                for n in 0..4 * count {
                    put([x + n / 2, y + n % 2], value, kept);
                }
            }
            let mut quads = Vec::new();
            for _ in 0..u.int_in_range(1..=QUADS)? {
                let [x, y] = place(u)?.map(|at| at as u16);
                let masks = std::array::from_fn(|_| u8::from(u.ratio(3, 4).unwrap_or(true)));
                quads.push((quads.len() as u32, Quad { x, y, masks }));
            }
            let mut batch = Batch::EMPTY;
            batch.take(&quads, 0);
            let values: Lane<u32> = std::array::from_fn(|n| (n as u32 * 0x0101_0101) & mask);
            let stored = batch.covered();
            let [columns, rows] = batch.corners();
            let at = |lane: usize| {
                let n = lane as u32 % 4;
                [columns[lane / 4] + n % 2, rows[lane / 4] + n / 2]
            };
            let lanes = 0..4 * batch.len();
            let before: Vec<u32> = lanes
                .clone()
                .map(|lane| {
                    let [x, y] = at(lane);
                    slow.load([x + moved[0], y + moved[1]], 0) as u32
                })
                .collect();
            let access = Access { pairs: &mut pairs, batch: &batch, values, stored };
            let got = simd.run_plain(access);
            assert_eq!(got[..before.len()], before);
            for lane in lanes.filter(|lane| stored[*lane]) {
                put(at(lane), values[lane], 0);
            }
            pairs.finish();
            let [a, b] = buffers.map(|buffer| buffer.to_vec());
            assert_eq!(a, b, "{tiling:?}, pitch {pitch}, {size} bytes");
            let written = |surface: &Surface| surface.written().unwrap_or_default();
            let (wide, exact) = (written(&fast), written(&slow));
            assert!(wide.start <= exact.start && exact.end <= wide.end, "{wide:?} {exact:?}");
            Ok(())
        })
        .budget_ms(2000);
    }
}
