//! Bounds check of the memory that the code of a unit accesses.

use std::ptr;

use r500_exec::Pixel;
#[cfg(target_arch = "x86_64")]
use r500_fast::codegen::TARGETS;
use r500_fast::codegen::{
    AdjacentBatches, Batch, Chunk, ColorStore, ColorTargets, CompileUnit, TargetPlane, TexelView,
    TextureDesc,
};

/// Texture units.
pub(crate) const UNITS: usize = 16;

/// The accessed memory: chunks of slots and of coverage, texels of textures, interpolants, pixels of planes.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBounds {
    /// Chunks per slot.
    chunks: usize,
    /// Required slots.
    slots: usize,
    /// Required textures.
    tables: Vec<(u8, TextureDesc)>,
    /// Required interpolants.
    interpolants: usize,
    /// Required colour planes, and the bytes per pixel of each.
    targets: Vec<(u8, usize)>,
}

/// Returns the bytes per pixel of a plane.
fn pixel_bytes(color: &ColorStore) -> usize {
    color.encoding.map_or(size_of::<Pixel>(), |encoding| usize::from(encoding.bytes))
}

impl MemoryBounds {
    /// Returns the bounds of a unit's code.
    pub(crate) fn of(unit: &CompileUnit<'_>) -> Self {
        let used = unit.reads.iter().chain(unit.writes).map(|(_, slot)| *slot);
        let used = used.chain(unit.moves.iter().map(|moved| moved.slot));
        Self {
            chunks: unit.stride as usize / size_of::<Chunk>(),
            slots: used.map(|slot| slot as usize + 1).max().unwrap_or(0),
            tables: unit.tables.to_vec(),
            interpolants: unit.interpolants.len(),
            targets: unit.colors.iter().map(|color| (color.target, pixel_bytes(color))).collect(),
        }
    }

    /// Checks that a batch has the memory that a run over some chunks accesses. Returns the start of each unit's texels: as many as the
    /// unit's texture has, borrowed as long as the batch.
    ///
    /// # Panics
    /// If slots, coverage, texels, interpolants or planes do not match the unit: a bug of the engine, whatever the input.
    pub(crate) fn check(
        &self,
        batch: &Batch<'_, '_>,
        (first, end): (usize, usize),
    ) -> [*const u8; UNITS] {
        self.check_with(
            batch,
            (first, end),
            AdjacentBatches { chunks: end, count: 1, pixels: 0, covered: 0 },
        )
    }

    /// Checks the same for all chunks of adjacent batches, which run one by one elsewhere.
    ///
    /// # Panics
    /// As [`check`](Self::check).
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn check_adjacent(
        &self,
        batch: &Batch<'_, '_>,
        adjacent: AdjacentBatches,
    ) -> [*const u8; UNITS] {
        self.check_with(batch, (0, adjacent.chunks), adjacent)
    }

    /// Returns the bytes between a batch and one that begins `pixels` later, by target.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn steps(&self, pixels: usize) -> [usize; TARGETS] {
        let mut steps = [0; TARGETS];
        self.targets.iter().for_each(|&(target, size)| steps[usize::from(target)] = pixels * size);
        steps
    }

    /// Returns the number of interpolants of a batch.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn interpolants(&self) -> usize {
        self.interpolants
    }

    fn check_with(
        &self,
        batch: &Batch<'_, '_>,
        (first, end): (usize, usize),
        AdjacentBatches { count, pixels: step, covered, .. }: AdjacentBatches,
    ) -> [*const u8; UNITS] {
        assert!(first <= end && end <= self.chunks, "chunks {first} to {end} of {}", self.chunks);
        assert!(batch.slots.len() >= self.slots * self.chunks, "there are slots missing");
        let last = count.saturating_sub(1).checked_mul(covered);
        let covered = last.and_then(|last| last.checked_add(self.chunks));
        assert!(
            covered.is_some_and(|covered| batch.covered.len() >= covered),
            "there is coverage missing"
        );
        let ColorTargets { planes, offsets } = &batch.targets;
        assert!(
            batch.interpolants.len() >= count * self.interpolants,
            "there are interpolants missing"
        );
        let placed = self.interpolants > 0 || !self.targets.is_empty();
        assert!(!placed || offsets.chunks().len() >= self.chunks, "there are offsets missing");
        for &(target, size) in &self.targets {
            let TargetPlane { pixels, offsets } = &planes[usize::from(target)];
            assert_eq!(pixels.pixel_bytes(), size, "pixels of another format");
            assert!(offsets.chunks().len() >= self.chunks, "there are offsets missing");
            let last = count.saturating_sub(1).checked_mul(step).and_then(|n| n.checked_mul(size));
            let needed = last.and_then(|last| last.checked_add(offsets.bytes()));
            let given = pixels.bytes();
            assert!(needed.is_some_and(|needed| given >= needed), "there are pixels missing");
        }
        let mut offsets = [ptr::null(); UNITS];
        for (unit, table) in &self.tables {
            let unit = usize::from(*unit);
            let cells = batch.texels[unit];
            assert!(cells.len() >= table.cells as usize, "there are cells missing");
            let (linear, place) = match cells {
                TexelView::Texels(texels) => (false, texels.as_ptr().cast()),
                TexelView::Footprints(footprints) => (true, footprints.as_ptr().cast()),
            };
            assert_eq!(linear, table.linear, "cells of another filter");
            offsets[unit] = place;
        }
        offsets
    }
}
