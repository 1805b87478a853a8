//! Band targets: the memory that batches are stored to, a band of a frame or of surfaces.

use r500_exec::output::color::PixelEncoding;
use r500_exec::{Band, ColorSurface, PixelRect, Plane, Surfaces};
use r500_simd::chunk::SIDE as CHUNK;
use r500_simd::level::lane_ops::LaneOps;

use super::chunk_stores::{CoverageBits, colors_from, store_coverages};
use super::render_targets::{ColorTargets, PlanePixels, Staging, TARGETS, TargetPlane};
use super::tile::Tile;

/// The memory of a part of a picture.
pub(super) trait BandTarget {
    /// Returns the rectangle of its pixels.
    fn rect(&self) -> PixelRect;

    /// Computes and caches the offsets of a tile inside the band. Returns false if an offset does not fit.
    fn has_offsets(&self, staging: &mut Staging, tile: &Tile<'_>) -> bool;

    /// Returns the planes for a tile inside the band that [`has_offsets`](Self::has_offsets).
    fn targets<'c>(&'c mut self, staging: &'c Staging, tile: &Tile<'_>) -> ColorTargets<'c>;

    /// Marks all pixels as covered.
    fn init_coverage(&mut self);

    /// Stores the coverage of horizontally adjacent chunks inside the band.
    fn store_coverages(&mut self, level: impl LaneOps, at: [u32; 2], covered: &[CoverageBits]);
}

impl BandTarget for Band<'_> {
    fn rect(&self) -> PixelRect {
        Band::rect(self)
    }

    fn has_offsets(&self, staging: &mut Staging, tile: &Tile<'_>) -> bool {
        staging.has_offsets_in_rows(tile, Band::rect(self).width)
    }

    fn targets<'c>(&'c mut self, staging: &'c Staging, tile: &Tile<'_>) -> ColorTargets<'c> {
        let offsets = staging.in_rows();
        let planes = colors_from(self, [tile.x, tile.y]);
        ColorTargets { planes: planes.map(|plane| TargetPlane::floats(plane, offsets)), offsets }
    }

    fn init_coverage(&mut self) {
        self.coverage_mut().fill(true);
    }

    #[inline(always)]
    fn store_coverages(&mut self, level: impl LaneOps, at: [u32; 2], covered: &[CoverageBits]) {
        store_coverages(level, self, at, covered);
    }
}

/// A band of surfaces, in formats that machine code stores.
pub(super) struct SurfaceBand<'b, 's> {
    pub(super) surfaces: &'b mut Surfaces<'s>,
    pub(super) encodings: &'b [Option<PixelEncoding>; TARGETS],
}

impl SurfaceBand<'_, '_> {
    /// Returns the pitch and the pixel size of a target that is stored.
    fn layout(&self, target: usize) -> Option<(usize, usize)> {
        let encoding = self.encodings[target]?;
        Some((self.surfaces.colors[target].as_ref()?.pitch, usize::from(encoding.bytes)))
    }

    /// Copies the covered pixels of a chunk that are inside the surface from a buffer in row order.
    pub(super) fn copy_chunk(
        &mut self,
        target: usize,
        [x, y]: [u32; 2],
        covered: CoverageBits,
        pixels: &[u8],
    ) {
        let Some((pitch, size)) = self.layout(target) else { return };
        let (rect, full) = (self.rect(), covered.is_full());
        let Some(ColorSurface { bytes, .. }) = &mut self.surfaces.colors[target] else { return };
        let columns = columns_inside(rect, x);
        let rows = (y..).zip(covered.rows()).zip(pixels.chunks_exact(4 * size));
        for ((y, covered), pixels) in rows {
            if y < rect.y || y >= rect.y + rect.height || columns.is_empty() {
                continue;
            }
            let left = (x + columns.start as u32 - rect.x) as usize;
            let first = (y - rect.y) as usize * pitch + left * size;
            let to = &mut bytes[first..first + columns.len() * size];
            let from = &pixels[columns.start * size..columns.end * size];
            if full {
                to.copy_from_slice(from);
                continue;
            }
            let pixels = to.chunks_exact_mut(size).zip(from.chunks_exact(size));
            for ((to, from), covered) in pixels.zip(&covered[columns.clone()]) {
                if *covered {
                    to.copy_from_slice(from);
                }
            }
        }
    }

    /// Stores the coverage of a chunk, clipped to the surface.
    pub(super) fn copy_coverage(&mut self, [x, y]: [u32; 2], covered: CoverageBits) {
        let rect = self.rect();
        let Some(Plane { values, pitch }) = &mut self.surfaces.coverage else { return };
        let columns = columns_inside(rect, x);
        for (y, covered) in (y..).zip(covered.rows()) {
            if y < rect.y || y >= rect.y + rect.height || columns.is_empty() {
                continue;
            }
            let left = (x + columns.start as u32 - rect.x) as usize;
            let first = (y - rect.y) as usize * *pitch + left;
            values[first..first + columns.len()].copy_from_slice(&covered[columns.clone()]);
        }
    }
}

/// Returns the columns of a chunk that are inside a rectangle.
fn columns_inside(rect: PixelRect, x: u32) -> std::ops::Range<usize> {
    let first = rect.x.saturating_sub(x).min(CHUNK);
    let end = (rect.x + rect.width).saturating_sub(x).min(CHUNK);
    first as usize..end.max(first) as usize
}

impl BandTarget for SurfaceBand<'_, '_> {
    fn rect(&self) -> PixelRect {
        self.surfaces.area
    }

    fn has_offsets(&self, staging: &mut Staging, tile: &Tile<'_>) -> bool {
        staging.has_offsets_with_pitch(tile, [0, 1, 2, 3].map(|target| self.layout(target)))
    }

    fn targets<'c>(&'c mut self, staging: &'c Staging, tile: &Tile<'_>) -> ColorTargets<'c> {
        let PixelRect { x, y, .. } = self.rect();
        let mut targets = ColorTargets::none();
        targets.offsets = staging.in_interpolants();
        let layouts = [0, 1, 2, 3].map(|target| self.layout(target));
        let surfaces = self.surfaces.colors.iter_mut().zip(layouts);
        for (target, (plane, surface)) in targets.planes.iter_mut().zip(surfaces).enumerate() {
            let (Some(ColorSurface { bytes, .. }), Some((pitch, size))) = surface else { continue };
            let first = (tile.y - y) as usize * pitch + (tile.x - x) as usize * size;
            let pixels = PlanePixels::Encoded(&mut bytes[first..], size);
            *plane = TargetPlane { pixels, offsets: staging.with_pitch(target) };
        }
        targets
    }

    fn init_coverage(&mut self) {
        let PixelRect { width, height, .. } = self.rect();
        let Some(Plane { values, pitch }) = &mut self.surfaces.coverage else { return };
        for row in 0..height as usize {
            values[row * *pitch..][..width as usize].fill(true);
        }
    }

    #[inline(always)]
    fn store_coverages(&mut self, _: impl LaneOps, [x, y]: [u32; 2], covered: &[CoverageBits]) {
        if self.surfaces.coverage.is_some() {
            for (x, covered) in (x..).step_by(CHUNK as usize).zip(covered) {
                self.copy_coverage([x, y], *covered);
            }
        }
    }
}
