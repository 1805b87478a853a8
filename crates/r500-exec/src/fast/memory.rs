//! The memory of a batch: a slot for each value in use, and which chunks execute.

use std::ops::Range;

use super::code::Arg;
use super::lanes::{Chunk, LANES};

/// Slots, one after the other, and the regions that are open.
pub(super) struct Memory {
    floats: Vec<f32>,
    /// Where the first slot begins: at a line of the processor's cache.
    first: usize,
    /// Chunks in a slot.
    pub(super) chunks: usize,
    pub(super) regions: Regions,
}

/// Bytes of a line of the cache, and of a chunk.
const LINE: usize = size_of::<Chunk>();

impl Memory {
    pub(super) fn new(slots: u32, chunks: usize) -> Self {
        let floats = vec![0.0_f32; (slots as usize * chunks + 1) * LANES];
        let first = floats.as_ptr().align_offset(LINE);
        Self {
            // An allocator may leave it unaligned, which costs time and nothing else.
            first: if first < LANES { first } else { 0 },
            floats,
            chunks,
            regions: Regions::new(chunks),
        }
    }

    #[inline(always)]
    fn all(&self) -> &[Chunk] {
        self.floats[self.first..].as_chunks().0
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [Chunk] {
        self.floats[self.first..].as_chunks_mut().0
    }

    fn span(&self, slot: u32) -> Range<usize> {
        let start = slot as usize * self.chunks;
        start..start + self.chunks
    }

    /// A slot.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &[Chunk] {
        &self.all()[self.span(slot)]
    }

    /// A slot to write.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut [Chunk] {
        let span = self.span(slot);
        &mut self.all_mut()[span]
    }

    /// One chunk of an argument.
    #[inline(always)]
    pub(super) fn chunk(&self, arg: Arg, i: usize) -> Chunk {
        match arg {
            Arg::Slot(slot) => self.get(slot)[i],
            Arg::Const(x) => [x; LANES],
        }
    }

    /// Calls `f` for each run of chunks that execute, with the slot to write and the others to read.
    #[inline(always)]
    pub(super) fn each_run(&mut self, dst: u32, mut f: impl FnMut(&mut [Chunk], Others<'_>)) {
        let (dst, chunks) = (dst as usize, self.chunks);
        let memory: &mut [Chunk] = self.floats[self.first..].as_chunks_mut().0;
        let (below, rest) = memory.split_at_mut(dst * chunks);
        let (slot, above) = rest.split_at_mut(chunks);
        for &run in &self.regions.runs[self.regions.current()] {
            let others = Others { below, above, dst, chunks, run };
            f(&mut slot[run.0..run.1], others);
        }
    }

    /// Calls `f` for each run of chunks that execute, with all slots, until an error.
    pub(super) fn each_native_run<E>(
        &mut self,
        mut f: impl FnMut(&mut [Chunk], Run) -> Result<(), E>,
    ) -> Result<(), E> {
        let slots: &mut [Chunk] = self.floats[self.first..].as_chunks_mut().0;
        let runs = &self.regions.runs[self.regions.current()];
        runs.iter().try_for_each(|&run| f(slots, run))
    }

    /// Calls `f` for each chunk that executes.
    #[inline(always)]
    pub(super) fn each_chunk(&self, mut f: impl FnMut(usize)) {
        for &(first, end) in &self.regions.runs[self.regions.current()] {
            (first..end).for_each(&mut f);
        }
    }
}

/// A run of all slots but one.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    below: &'a [Chunk],
    above: &'a [Chunk],
    dst: usize,
    chunks: usize,
    run: Run,
}

impl<'a> Others<'a> {
    /// A slot.
    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> &'a [Chunk] {
        let slot = slot as usize;
        let (memory, at) =
            if slot < self.dst { (self.below, slot) } else { (self.above, slot - self.dst - 1) };
        &memory[at * self.chunks + self.run.0..at * self.chunks + self.run.1]
    }
}

/// Which chunks execute: runs of neighbours, for each open region.
#[derive(Default)]
pub(super) struct Regions {
    pub(super) runs: Vec<Run>,
    /// Where the runs of each open region begin, the innermost last.
    starts: Vec<usize>,
}

/// Chunks between two runs that are not worth a second one.
const GAP: usize = 5;

/// Chunks from one to before another.
pub(super) type Run = (usize, usize);

impl Regions {
    fn new(chunks: usize) -> Self {
        Self { runs: vec![(0, chunks)], starts: vec![0] }
    }

    /// All chunks, and no region open.
    pub(super) fn reset(&mut self, chunks: usize) {
        self.runs.clear();
        self.runs.push((0, chunks));
        self.starts.clear();
        self.starts.push(0);
    }

    /// Where the runs of the innermost region are.
    #[inline(always)]
    pub(super) fn current(&self) -> Range<usize> {
        self.starts.last().copied().unwrap_or(0)..self.runs.len()
    }

    /// Opens a region for the chunks of the innermost one that `wants` says; false if there is none.
    ///
    /// A few others between them may run along, which is cheaper than another run: no mask of the
    /// region has a pixel of theirs, so they change nothing that counts.
    #[inline(always)]
    pub(super) fn enter(&mut self, mut wants: impl FnMut(usize) -> bool) -> bool {
        let start = self.runs.len();
        for at in self.current() {
            let (first, end) = self.runs[at];
            for chunk in (first..end).filter(|&chunk| wants(chunk)) {
                match self.runs.get_mut(start..).and_then(<[Run]>::last_mut) {
                    Some(last) if last.1 + GAP >= chunk => last.1 = chunk + 1,
                    _ => self.runs.push((chunk, chunk + 1)),
                }
            }
        }
        let any = self.runs.len() > start;
        if any {
            self.starts.push(start);
        }
        any
    }

    /// Closes the innermost region.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.runs.truncate(start);
        }
    }

    /// Goes on in the innermost region with the chunks that `wants` says; false if there is none.
    #[inline(always)]
    pub(super) fn narrow(&mut self, wants: impl FnMut(usize) -> bool) -> bool {
        let current = self.current();
        let any = self.enter(wants);
        if any {
            self.starts.pop();
            self.runs.drain(current);
        }
        any
    }
}
