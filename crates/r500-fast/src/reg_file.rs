//! The register file of a batch, and the execution stack: which chunks execute.

use std::ops::{Deref, DerefMut, Range};

use super::arg::Arg;
use super::lanes::{Chunk, LANES};

/// Chunks that begin at a cache line.
pub(super) struct AlignedChunks {
    floats: Vec<f32>,
    /// The floats of the chunks among them.
    aligned: Range<usize>,
}

/// Bytes of a cache line, and of a chunk.
const LINE: usize = size_of::<Chunk>();

impl AlignedChunks {
    /// So many chunks of zeros.
    pub(super) fn new(chunks: usize) -> Self {
        let floats = vec![0.0_f32; (chunks + 1) * LANES];
        let first = floats.as_ptr().align_offset(LINE);
        // Without alignment only speed suffers.
        let first = if first < LANES { first } else { 0 };
        Self { aligned: first..first + chunks * LANES, floats }
    }
}

impl Deref for AlignedChunks {
    type Target = [Chunk];

    #[inline(always)]
    fn deref(&self) -> &[Chunk] {
        self.floats[self.aligned.clone()].as_chunks().0
    }
}

impl DerefMut for AlignedChunks {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Chunk] {
        self.floats[self.aligned.clone()].as_chunks_mut().0
    }
}

/// The slots, one after the other, and the execution stack.
pub(super) struct RegFile {
    all: AlignedChunks,
    /// Chunks in a slot.
    pub(super) chunks: usize,
    pub(super) exec: ExecStack,
}

impl RegFile {
    pub(super) fn new(slots: u32, chunks: usize) -> Self {
        let all = AlignedChunks::new(slots as usize * chunks);
        Self { all, chunks, exec: ExecStack::new(chunks) }
    }

    /// All slots, one after the other.
    #[inline(always)]
    pub(super) fn all_mut(&mut self) -> &mut [Chunk] {
        &mut self.all
    }

    fn span(&self, slot: u32) -> Range<usize> {
        let start = slot as usize * self.chunks;
        start..start + self.chunks
    }

    /// A slot.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &[Chunk] {
        &self.all[self.span(slot)]
    }

    /// A slot to write.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut [Chunk] {
        let span = self.span(slot);
        &mut self.all[span]
    }

    /// One chunk of an argument.
    #[inline(always)]
    pub(super) fn chunk(&self, arg: Arg, i: usize) -> Chunk {
        match arg {
            Arg::Slot(slot) => self.get(slot)[i],
            Arg::Const(x) => [x; LANES],
        }
    }

    /// Calls `f` for each range of chunks that execute, with the slot to write and the others to read.
    #[inline(always)]
    pub(super) fn each_range(&mut self, dst: u32, mut f: impl FnMut(&mut [Chunk], OtherRegs<'_>)) {
        let (dst, chunks) = (dst as usize, self.chunks);
        let memory: &mut [Chunk] = &mut self.all;
        let (below, rest) = memory.split_at_mut(dst * chunks);
        let (slot, above) = rest.split_at_mut(chunks);
        for &range in &self.exec.ranges[self.exec.current()] {
            let others = OtherRegs { below, above, dst, chunks, range };
            f(&mut slot[range.0..range.1], others);
        }
    }

    /// Calls `f` for each range of chunks that execute, with all slots, until an error.
    pub(super) fn try_each_range<E>(
        &mut self,
        mut f: impl FnMut(&mut [Chunk], ChunkRange) -> Result<(), E>,
    ) -> Result<(), E> {
        let slots: &mut [Chunk] = &mut self.all;
        let ranges = &self.exec.ranges[self.exec.current()];
        ranges.iter().try_for_each(|&range| f(slots, range))
    }

    /// Calls `f` for each chunk that executes.
    #[inline(always)]
    pub(super) fn each_chunk(&self, mut f: impl FnMut(usize)) {
        for &(first, end) in &self.exec.ranges[self.exec.current()] {
            (first..end).for_each(&mut f);
        }
    }
}

/// A range of all slots but one.
#[derive(Clone, Copy)]
pub(super) struct OtherRegs<'a> {
    below: &'a [Chunk],
    above: &'a [Chunk],
    dst: usize,
    chunks: usize,
    range: ChunkRange,
}

impl<'a> OtherRegs<'a> {
    /// A slot.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &'a [Chunk] {
        let slot = slot as usize;
        let (memory, at) =
            if slot < self.dst { (self.below, slot) } else { (self.above, slot - self.dst - 1) };
        &memory[at * self.chunks + self.range.0..at * self.chunks + self.range.1]
    }
}

/// The execution stack: the ranges of chunks that execute, for each open region.
#[derive(Default)]
pub(super) struct ExecStack {
    pub(super) ranges: Vec<ChunkRange>,
    /// The index of the first range of each open region, the innermost last.
    starts: Vec<usize>,
}

/// The number of idle chunks up to which two ranges are merged.
const MERGE_GAP: usize = 5;

/// Chunks from one to before another.
pub(super) type ChunkRange = (usize, usize);

impl ExecStack {
    fn new(chunks: usize) -> Self {
        Self { ranges: vec![(0, chunks)], starts: vec![0] }
    }

    /// All chunks, and no region open.
    pub(super) fn reset(&mut self, chunks: usize) {
        self.ranges.clear();
        self.ranges.push((0, chunks));
        self.starts.clear();
        self.starts.push(0);
    }

    /// Where the ranges of the innermost region are.
    #[inline(always)]
    pub(super) fn current(&self) -> Range<usize> {
        self.starts.last().copied().unwrap_or(0)..self.ranges.len()
    }

    /// Opens a region for the selected chunks of the innermost one. Returns false if there are none.
    ///
    /// A few idle chunks between them may be included, which costs less than another range: no mask of the region has a
    /// lane of theirs, so that their results are not used.
    #[inline(always)]
    pub(super) fn push(&mut self, mut selects: impl FnMut(usize) -> bool) -> bool {
        let start = self.ranges.len();
        for at in self.current() {
            let (first, end) = self.ranges[at];
            for chunk in (first..end).filter(|&chunk| selects(chunk)) {
                match self.ranges.get_mut(start..).and_then(<[ChunkRange]>::last_mut) {
                    Some(last) if last.1 + MERGE_GAP >= chunk => last.1 = chunk + 1,
                    _ => self.ranges.push((chunk, chunk + 1)),
                }
            }
        }
        let any = self.ranges.len() > start;
        if any {
            self.starts.push(start);
        }
        any
    }

    /// Closes the innermost region.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.ranges.truncate(start);
        }
    }

    /// Restricts the innermost region to the selected chunks. Returns false if there are none.
    #[inline(always)]
    pub(super) fn restrict(&mut self, selects: impl FnMut(usize) -> bool) -> bool {
        let current = self.current();
        let any = self.push(selects);
        if any {
            self.starts.pop();
            self.ranges.drain(current);
        }
        any
    }
}
