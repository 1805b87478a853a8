//! The register file of a batch, and the execution stack, which selects the executing chunks.

use std::cell::Cell;
use std::ops::{Deref, DerefMut, Range};

use super::arg::Arg;
use super::constant_load::ConstantLoad;
use r500_lanes::{Chunk, LANES, Slot};

/// Chunks aligned to a cache line.
pub(super) struct AlignedChunks {
    /// Padding, then the chunks.
    floats: Vec<f32>,
    /// Index of the first chunk's first float.
    first: usize,
}

/// Bytes of a cache line, and of a chunk.
const LINE: usize = size_of::<Chunk>();

impl AlignedChunks {
    /// Returns chunks of zeros.
    pub(super) fn new(chunks: usize) -> Self {
        let mut floats = vec![0.0_f32; (chunks + 1) * LANES];
        let first = floats.as_ptr().align_offset(LINE);
        // Misalignment only costs speed.
        let first = if first < LANES { first } else { 0 };
        floats.truncate(first + chunks * LANES);
        Self { floats, first }
    }
}

impl Deref for AlignedChunks {
    type Target = [Chunk];

    #[inline(always)]
    fn deref(&self) -> &[Chunk] {
        self.floats[self.first..].as_chunks().0
    }
}

impl DerefMut for AlignedChunks {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Chunk] {
        self.floats[self.first..].as_chunks_mut().0
    }
}

/// All slots, consecutively, and the execution stack.
pub(super) struct RegFile {
    all: AlignedChunks,
    /// Chunks per slot.
    pub(super) chunks: usize,
    pub(super) exec: ExecStack,
    /// The table of program constants; those beyond its end are 0.
    pub(super) table: Vec<[f32; 4]>,
}

impl RegFile {
    pub(super) fn new(slots: u32, chunks: usize) -> Self {
        let all = AlignedChunks::new(slots as usize * chunks);
        Self { all, chunks, exec: ExecStack::new(chunks), table: Vec::new() }
    }

    /// Returns all slots, consecutively.
    #[inline(always)]
    pub(super) fn all(&self) -> &[Chunk] {
        &self.all
    }

    /// Returns all slots, consecutively, to write.
    #[inline(always)]
    pub(super) fn all_mut(&mut self) -> &mut [Chunk] {
        &mut self.all
    }

    fn span(&self, slot: u32) -> Range<usize> {
        let start = slot as usize * self.chunks;
        start..start + self.chunks
    }

    /// Returns a slot.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &[Chunk] {
        &self.all[self.span(slot)]
    }

    /// Returns a slot to write.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut [Chunk] {
        let span = self.span(slot);
        &mut self.all[span]
    }

    /// Returns a chunk of an argument.
    #[inline(always)]
    pub(super) fn chunk(&self, arg: Arg, i: usize) -> Chunk {
        match arg {
            Arg::Slot(slot) => self.get(slot)[i],
            Arg::Const(x) => [x; LANES],
        }
    }

    /// Loads constants of the table.
    pub(super) fn load_constants(&mut self, load: &ConstantLoad) {
        let ConstantLoad { dst, index, base, channel } = *load;
        let table = std::mem::take(&mut self.table);
        let constant = |index: f32| {
            // The conversion saturates, and gives 0 for NaN.
            let number = (index as i32).saturating_add(base.into());
            let number = u8::try_from(number).ok()?;
            Some(table.get(usize::from(number))?[usize::from(channel)])
        };
        for &(first, end) in self.exec.current() {
            for chunk in first..end {
                let indices = match index {
                    Arg::Slot(slot) => self.all[slot as usize * self.chunks + chunk],
                    Arg::Const(x) => [x; LANES],
                };
                self.all[dst as usize * self.chunks + chunk] =
                    indices.map(|index| constant(index).unwrap_or_default());
            }
        }
        self.table = table;
    }

    /// Returns all slots to read and write, and the ranges of executing chunks.
    #[inline(always)]
    pub(super) fn cells(&mut self) -> (SlotCells<'_>, &[ChunkRange]) {
        let cells = Cell::from_mut(&mut *self.all).as_slice_of_cells();
        (SlotCells { cells, chunks: self.chunks }, self.exec.current())
    }

    /// Returns up to four distinct slots to write, the others to read, and the ranges of executing chunks; slots that are not given are
    /// empty. `ascending` is their order.
    pub(super) fn split_four(
        &mut self,
        dsts: [Option<u32>; 4],
        ascending: [u8; 4],
    ) -> ([&mut [Chunk]; 4], RegsBetween<'_>, &[ChunkRange]) {
        let chunks = self.chunks;
        let mut slots: [&mut [Chunk]; 4] = Default::default();
        let mut pieces: [(usize, &[Chunk]); 5] = [(0, &[]); 5];
        let (mut first, mut rest): (usize, &mut [Chunk]) = (0, &mut self.all);
        let (last, others) = pieces.split_last_mut().expect("there are five");
        for (i, piece) in ascending.into_iter().zip(others) {
            let i = usize::from(i);
            let Some(dst) = dsts[i] else { continue };
            let below = (dst as usize - first) * chunks;
            let (below, above) = std::mem::take(&mut rest).split_at_mut(below);
            *piece = (first, below);
            (slots[i], rest) = above.split_at_mut(chunks);
            first = dst as usize + 1;
        }
        *last = (first, rest);
        (slots, RegsBetween { pieces, chunks }, self.exec.current())
    }

    /// Calls `f` for each range of executing chunks, with all slots, until an error.
    pub(super) fn try_each_range<E>(
        &mut self,
        mut f: impl FnMut(&mut [Chunk], ChunkRange) -> Result<(), E>,
    ) -> Result<(), E> {
        let slots: &mut [Chunk] = &mut self.all;
        self.exec.current().iter().try_for_each(|&range| f(slots, range))
    }

    /// Calls `f` for each executing chunk.
    #[inline(always)]
    pub(super) fn each_chunk(&self, mut f: impl FnMut(usize)) {
        for &(first, end) in self.exec.current() {
            for chunk in first..end {
                f(chunk);
            }
        }
    }
}

/// All slots, to read and write.
#[derive(Clone, Copy)]
pub(super) struct SlotCells<'a> {
    cells: Slot<'a>,
    chunks: usize,
}

impl<'a> SlotCells<'a> {
    /// Returns a range of chunks of a slot.
    #[inline(always)]
    pub(super) fn get(self, slot: u32, (first, end): ChunkRange) -> Slot<'a> {
        let start = slot as usize * self.chunks;
        &self.cells[start + first..start + end]
    }
}

/// Returns the ascending order of slots to write, for [`RegFile::split_four`].
pub(super) fn ascending(dsts: [Option<u32>; 4]) -> [u8; 4] {
    let mut order = [0, 1, 2, 3];
    order.sort_unstable_by_key(|&i| dsts[usize::from(i)]);
    order
}

/// All slots except those that are written.
pub(super) struct RegsBetween<'a> {
    /// Runs of consecutive slots, with the index of the first, in ascending order.
    pieces: [(usize, &'a [Chunk]); 5],
    chunks: usize,
}

impl<'a> RegsBetween<'a> {
    /// Returns a slot.
    pub(super) fn get(&self, slot: u32) -> &'a [Chunk] {
        let slot = slot as usize;
        let piece = self.pieces.iter().rev().find(|(first, _)| *first <= slot);
        let (first, memory) = piece.expect("the first piece begins at 0");
        &memory[(slot - first) * self.chunks..][..self.chunks]
    }
}

/// The execution stack: the ranges of executing chunks, for each open region.
#[derive(Default)]
pub(super) struct ExecStack {
    ranges: Vec<ChunkRange>,
    /// The index of the first range of the innermost region.
    start: usize,
    /// The same for the enclosing regions, outermost first.
    outer: Vec<usize>,
}

/// The maximum number of inactive chunks between two ranges that are merged.
const MERGE_GAP: usize = 5;

/// A range of chunks, without its end.
pub(super) type ChunkRange = (usize, usize);

impl ExecStack {
    fn new(chunks: usize) -> Self {
        Self { ranges: vec![(0, chunks)], start: 0, outer: Vec::new() }
    }

    /// Resets to all chunks and no open region.
    pub(super) fn reset(&mut self, chunks: usize) {
        self.ranges.clear();
        self.ranges.push((0, chunks));
        self.start = 0;
        self.outer.clear();
    }

    /// Returns the ranges of the innermost region.
    #[inline(always)]
    pub(super) fn current(&self) -> &[ChunkRange] {
        &self.ranges[self.start..]
    }

    /// Opens a region for the selected chunks of the innermost one. Returns false if there are none.
    ///
    /// Up to [`MERGE_GAP`] inactive chunks between them may be included, which costs less than another range: no mask of the region has a
    /// lane in them, so their results are not used.
    #[inline(always)]
    pub(super) fn push(&mut self, mut selects: impl FnMut(usize) -> bool) -> bool {
        let start = self.ranges.len();
        // Branch-free, because the selection is hard to predict.
        let mut selected = 0_u64;
        for &(from, to) in &self.ranges[self.start..] {
            for chunk in from..to {
                selected |= u64::from(selects(chunk)) << chunk;
            }
        }
        while selected != 0 {
            let first = selected.trailing_zeros() as usize;
            let end = first + (selected >> first).trailing_ones() as usize;
            match self.ranges[start..].last_mut() {
                Some((_, last)) if first - *last <= MERGE_GAP => *last = end,
                _ => self.ranges.push((first, end)),
            }
            // The carry clears the lowest run of bits.
            selected &= selected.wrapping_add(1 << first);
        }
        let any = self.ranges.len() > start;
        if any {
            self.outer.push(std::mem::replace(&mut self.start, start));
        }
        any
    }

    /// Closes the innermost region.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.ranges.truncate(self.start);
        self.start = self.outer.pop().expect("a region is open");
    }

    /// Restricts the innermost region to the selected chunks. Returns false if there are none.
    #[inline(always)]
    pub(super) fn restrict(&mut self, selects: impl FnMut(usize) -> bool) -> bool {
        let any = self.push(selects);
        if any {
            let before = self.outer.pop().expect("the region around the one just opened");
            self.ranges.drain(before..self.start);
            self.start = before;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::super::tile::CHUNKS;
    use super::*;

    /// Returns a register file whose slots contain their indices.
    fn numbered(slots: u32) -> RegFile {
        let mut memory = RegFile::new(slots, 2);
        for slot in 0..slots {
            memory.get_mut(slot).fill([slot as f32; LANES]);
        }
        memory
    }

    #[test]
    fn split_four_gives_each_slot_once() {
        for dsts in [
            [Some(7), None, Some(0), Some(3)],
            [Some(1), Some(2), Some(8), Some(9)],
            [None, None, Some(4), None],
            [None; 4],
        ] {
            let mut memory = numbered(10);
            let (written, others, ranges) = memory.split_four(dsts, ascending(dsts));
            assert_eq!(ranges, [(0, 2)]);
            for (slot, chunks) in dsts.into_iter().zip(&written) {
                let expected = slot.map(|slot| [[slot as f32; LANES]; 2]);
                assert_eq!(**chunks, *expected.as_slice().as_flattened(), "{dsts:?}");
            }
            for slot in (0..10).filter(|slot| !dsts.contains(&Some(*slot))) {
                assert_eq!(*others.get(slot), [[slot as f32; LANES]; 2], "{slot} {dsts:?}");
            }
        }
    }

    #[test]
    fn regions_restore_the_ranges_around_them() {
        let mut exec = ExecStack::new(40);
        assert!(exec.push(|chunk| !(3..=20).contains(&chunk)));
        assert_eq!(exec.current(), [(0, 3), (21, 40)]);
        assert!(!exec.push(|chunk| chunk == 10));
        assert!(exec.push(|chunk| chunk % 20 == 2));
        assert_eq!(exec.current(), [(2, 3), (22, 23)]);
        exec.pop();
        assert!(exec.restrict(|chunk| chunk == 2 || chunk == 30));
        assert_eq!(exec.current(), [(2, 3), (30, 31)]);
        assert!(!exec.restrict(|_| false));
        exec.pop();
        assert_eq!(exec.current(), [(0, 40)]);
    }

    #[test]
    fn ranges_have_the_selected_chunks_and_short_gaps() {
        let mut exec = ExecStack::new(CHUNKS);
        assert!(exec.push(|chunk| [0, 6, 13, 62, 63].contains(&chunk)));
        // Five idle chunks are included, six are not.
        assert_eq!(exec.current(), [(0, 7), (13, 14), (62, 64)]);
        assert!(exec.push(|_| true));
        assert_eq!(exec.current(), [(0, 7), (13, 14), (62, 64)]);
        assert!(exec.restrict(|chunk| chunk == 63));
        assert_eq!(exec.current(), [(63, 64)]);
    }
}
