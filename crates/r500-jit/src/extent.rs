//! The memory that a segment's code may touch, and whether a batch has it.

use std::ptr;

use r500_exec::native::{Batch, Canvas, Cells, Chunk, Segment, Table};

/// Texture units.
pub(crate) const UNITS: usize = 16;

/// What code reads and writes: chunks of slots and of coverage, cells of tables, ramps, pixels of planes.
#[derive(Debug)]
pub(crate) struct Extent {
    /// Chunks in a slot.
    chunks: usize,
    /// Slots that there must be.
    slots: usize,
    /// Tables that there must be.
    tables: Vec<(u8, Table)>,
    /// Ramps that there must be.
    ramps: usize,
    /// Planes of colours that there must be.
    targets: Vec<u8>,
}

impl Extent {
    /// Of a segment's code.
    pub(crate) fn of(segment: &Segment<'_>) -> Self {
        let used = segment.reads.iter().chain(segment.writes).map(|(_, slot)| *slot);
        let used = used.chain(segment.moves.iter().map(|moved| moved.slot));
        Self {
            chunks: segment.stride as usize / size_of::<Chunk>(),
            slots: used.map(|slot| slot as usize + 1).max().unwrap_or(0),
            tables: segment.tables.to_vec(),
            ramps: segment.ramps.len(),
            targets: segment.colors.iter().map(|color| color.target).collect(),
        }
    }

    /// Makes sure that all of it is there for a run of chunks. Where the cells of each unit begin comes
    /// back: so many of them as the segment's tables say, borrowed as long as the batch.
    ///
    /// # Panics
    /// If slots, coverage, cells, ramps or planes are not those of the segment: a mistake of the engine, not of any
    /// input.
    pub(crate) fn demand(
        &self,
        batch: &Batch<'_, '_>,
        (first, end): (usize, usize),
    ) -> [*const u8; UNITS] {
        assert!(first <= end && end <= self.chunks, "chunks {first} to {end} of {}", self.chunks);
        assert!(batch.slots.len() >= self.slots * self.chunks, "there are slots missing");
        assert!(batch.covered.len() >= self.chunks, "there is coverage missing");
        let Canvas { planes, places } = &batch.canvas;
        let drawn = self.targets.iter().map(|target| planes[usize::from(*target)].len());
        assert!(batch.ramps.len() >= self.ramps, "there are ramps missing");
        let placed = self.ramps > 0 || !self.targets.is_empty();
        assert!(!placed || places.chunks().len() >= self.chunks, "there are places missing");
        for pixels in drawn {
            assert!(pixels >= places.pixels(), "there are pixels missing");
        }
        let mut places = [ptr::null(); UNITS];
        for (unit, table) in &self.tables {
            let unit = usize::from(*unit);
            let cells = batch.cells.get(unit).copied().unwrap_or(Cells::NONE);
            assert!(cells.len() >= table.cells as usize, "there are cells missing");
            let (linear, place) = match cells {
                Cells::Texels(texels) => (false, texels.as_ptr().cast()),
                Cells::Fours(fours) => (true, fours.as_ptr().cast()),
            };
            assert_eq!(linear, table.linear, "cells of another filter");
            places[unit] = place;
        }
        places
    }
}
