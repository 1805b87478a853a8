//! Render targets that machine code stores to, and the offsets of a batch's pixels in them.

use super::interpolants::LinearInterpolant;
use super::tile::Tile;
use r500_exec::Pixel;
use r500_exec::output::color::PixelEncoding;
use r500_simd::chunk::SIDE as CHUNK;

/// Colour targets per draw.
pub const TARGETS: usize = 4;

/// Planes of pixels, and the offsets of a batch in them.
#[derive(Debug)]
pub struct ColorTargets<'p> {
    /// The plane of each target.
    pub planes: [TargetPlane<'p>; TARGETS],
    /// The offsets of the chunks in interpolants.
    pub offsets: &'p BatchOffsets,
}

/// The plane of a target.
#[derive(Debug)]
pub struct TargetPlane<'p> {
    /// Its pixels, starting at the first pixel of the batch; empty for targets without a plane.
    pub pixels: PlanePixels<'p>,
    /// The offsets of the batch's chunks in it.
    pub offsets: &'p BatchOffsets,
}

/// Pixels of a plane.
#[derive(Debug)]
pub enum PlanePixels<'p> {
    /// Floats of a frame.
    Floats(&'p mut [Pixel]),
    /// Bytes of a surface, and the bytes per pixel.
    Encoded(&'p mut [u8], usize),
}

impl PlanePixels<'_> {
    /// Returns the size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Floats(pixels) => size_of_val(*pixels),
            Self::Encoded(bytes, _) => bytes.len(),
        }
    }

    /// Returns the bytes per pixel.
    #[must_use]
    pub fn pixel_bytes(&self) -> usize {
        match self {
            Self::Floats(_) => size_of::<Pixel>(),
            Self::Encoded(_, pixel_bytes) => *pixel_bytes,
        }
    }

    /// Returns the address of the first pixel.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        match self {
            Self::Floats(pixels) => pixels.as_mut_ptr().cast(),
            Self::Encoded(bytes, _) => bytes.as_mut_ptr(),
        }
    }

    /// Reborrows the pixels from an index on.
    fn reborrow_from(&mut self, pixel: usize) -> PlanePixels<'_> {
        match self {
            Self::Floats(pixels) => {
                let first = pixel.min(pixels.len());
                PlanePixels::Floats(&mut pixels[first..])
            }
            Self::Encoded(bytes, size) => {
                let first = (pixel * *size).min(bytes.len());
                PlanePixels::Encoded(&mut bytes[first..], *size)
            }
        }
    }
}

impl<'p> TargetPlane<'p> {
    /// Returns a plane of floats.
    #[must_use]
    pub fn floats(pixels: &'p mut [Pixel], offsets: &'p BatchOffsets) -> Self {
        Self { pixels: PlanePixels::Floats(pixels), offsets }
    }

    /// Returns an empty plane.
    #[must_use]
    pub fn none() -> Self {
        Self::floats(&mut [], BatchOffsets::NONE)
    }
}

impl ColorTargets<'_> {
    /// Returns targets without planes.
    #[must_use]
    pub fn none() -> Self {
        Self { planes: [(); TARGETS].map(|()| TargetPlane::none()), offsets: BatchOffsets::NONE }
    }

    /// Reborrows the targets.
    pub fn reborrow(&mut self) -> ColorTargets<'_> {
        self.reborrow_from(0)
    }

    /// Reborrows the targets for a batch that starts `pixel` pixels later.
    pub fn reborrow_from(&mut self, pixel: usize) -> ColorTargets<'_> {
        let planes = self.planes.each_mut().map(|plane| TargetPlane {
            pixels: plane.pixels.reborrow_from(pixel),
            offsets: plane.offsets,
        });
        ColorTargets { planes, offsets: self.offsets }
    }
}

/// The offsets of a batch's chunks.
#[derive(Clone, Debug, Default)]
pub struct BatchOffsets {
    chunks: Vec<[PixelOffsets; 2]>,
    bytes: usize,
}

/// The offsets of half a chunk, two adjacent quads: bytes from the first pixel of the batch to the left pixel of each row, of which there
/// are four.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelOffsets {
    /// The row of the quads' first two pixels, and that of the other two.
    pub rows: [u32; 2],
    /// Byte offsets of its x terms and y terms in a [`LinearInterpolant`].
    pub interpolants: [u32; 2],
}

impl BatchOffsets {
    /// No chunks.
    pub const NONE: &'static Self = &Self { chunks: Vec::new(), bytes: 0 };

    /// Returns the offsets of chunks in planes of floats of a width, given the columns and rows of their lower left pixels from the first
    /// pixel; `None` if an offset overflows.
    pub fn in_rows(chunks: impl Iterator<Item = [u32; 2]>, width: u32) -> Option<Self> {
        let size = size_of::<Pixel>();
        Self::with_pitch(chunks, (width as usize).checked_mul(size)?, size)
    }

    /// Returns the offsets of such chunks in planes with a pitch and a pixel size in bytes; `None` if one overflows.
    pub fn with_pitch(
        chunks: impl Iterator<Item = [u32; 2]>,
        pitch: usize,
        pixel_bytes: usize,
    ) -> Option<Self> {
        let pitch = u32::try_from(pitch).ok()?;
        let rows = chunks.map(|[x, y]| {
            let row = |row: u32| {
                let left = x.checked_mul(pixel_bytes as u32)?;
                y.checked_add(row)?.checked_mul(pitch)?.checked_add(left)
            };
            ([x, y], [0, 1, 2, 3].map(row))
        });
        Self::new(rows, pixel_bytes)
    }

    /// Returns the offsets of such chunks in a buffer of consecutive chunks, each in row order.
    pub fn contiguous(chunks: impl Iterator<Item = [u32; 2]>, pixel_bytes: usize) -> Option<Self> {
        let size = pixel_bytes as u32;
        let row =
            |chunk: u32, row: u32| chunk.checked_mul(16)?.checked_add(4 * row)?.checked_mul(size);
        let rows = |chunk: u32| [0, 1, 2, 3].map(|number| row(chunk, number));
        Self::new((0..).zip(chunks).map(|(number, chunk)| (chunk, rows(number))), pixel_bytes)
    }

    /// Returns the offsets of chunks, given those of their rows.
    fn new(
        chunks: impl Iterator<Item = ([u32; 2], [Option<u32>; 4])>,
        pixel_bytes: usize,
    ) -> Option<Self> {
        let mut bytes = 0;
        let mut row = |first: Option<u32>| {
            let first = first?;
            bytes = bytes.max(first as usize + 4 * pixel_bytes);
            Some(first)
        };
        let chunks = chunks
            .map(|(chunk, rows)| {
                let [a, b, c, d] = rows.map(&mut row);
                let [first, other] = LinearInterpolant::offsets(chunk.map(|at| at / CHUNK))?;
                let first = PixelOffsets { rows: [a?, b?], interpolants: first };
                Some([first, PixelOffsets { rows: [c?, d?], interpolants: other }])
            })
            .collect::<Option<_>>()?;
        Some(Self { chunks, bytes })
    }

    /// Returns the offsets of each chunk's halves.
    #[must_use]
    pub fn chunks(&self) -> &[[PixelOffsets; 2]] {
        &self.chunks
    }

    /// Returns the minimum size of a plane in bytes, from the first pixel on: it contains all pixels at these offsets.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Offsets of batches of one width, cached with their pitch and pixel size.
#[derive(Default)]
struct CachedOffsets(Option<([usize; 2], BatchOffsets)>);

impl CachedOffsets {
    /// Computes the offsets, unless they are cached. Returns whether there are any.
    fn update(
        &mut self,
        layout: [usize; 2],
        compute: impl FnOnce() -> Option<BatchOffsets>,
    ) -> bool {
        if self.0.as_ref().is_none_or(|(of, _)| *of != layout) {
            self.0 = compute().map(|offsets| (layout, offsets));
        }
        self.0.is_some()
    }

    /// Returns the offsets; an empty list if there are none.
    fn get(&self) -> &BatchOffsets {
        self.0.as_ref().map_or(BatchOffsets::NONE, |(_, offsets)| offsets)
    }
}

/// Cached offsets of batches, and staging buffers.
#[derive(Default)]
pub(super) struct Staging {
    /// Staged pixels of each target that are not stored to the picture directly, in consecutive chunks.
    pub(super) staged: [Vec<Pixel>; TARGETS],
    /// The same for encoded pixels of surfaces.
    pub(super) encoded: [Vec<u8>; TARGETS],
    /// Offsets in the staging buffers of floats, and in interpolants.
    contiguous: CachedOffsets,
    /// Offsets in the staging buffers of encoded pixels.
    encoded_contiguous: [CachedOffsets; TARGETS],
    /// Offsets in a frame.
    in_rows: CachedOffsets,
    /// Offsets in surfaces.
    with_pitch: [CachedOffsets; TARGETS],
}

impl Staging {
    /// Returns whether there are offsets for a tile in rows of a width; computes them.
    pub(super) fn has_offsets_in_rows(&mut self, tile: &Tile<'_>, width: u32) -> bool {
        let compute = || BatchOffsets::in_rows(tile.chunk_origins(), width);
        self.in_rows.update([width as usize, size_of::<Pixel>()], compute)
    }

    /// Returns the offsets of a tile in rows; [`has_offsets_in_rows`](Self::has_offsets_in_rows) computes them.
    pub(super) fn in_rows(&self) -> &BatchOffsets {
        self.in_rows.get()
    }

    /// Returns whether there are offsets for a tile in the planes of surfaces with these pitches and pixel sizes; computes them.
    pub(super) fn has_offsets_with_pitch(
        &mut self,
        tile: &Tile<'_>,
        planes: [Option<(usize, usize)>; TARGETS],
    ) -> bool {
        self.interpolants(tile);
        self.with_pitch.iter_mut().zip(planes).all(|(known, plane)| {
            plane.is_none_or(|(pitch, size)| {
                let compute = || BatchOffsets::with_pitch(tile.chunk_origins(), pitch, size);
                known.update([pitch, size], compute)
            })
        })
    }

    /// Returns the offsets of a tile in a target's plane; [`has_offsets_with_pitch`](Self::has_offsets_with_pitch) computes them.
    pub(super) fn with_pitch(&self, target: usize) -> &BatchOffsets {
        self.with_pitch[target].get()
    }

    /// Returns the offsets of a tile in interpolants; [`has_offsets_with_pitch`](Self::has_offsets_with_pitch) computes them.
    pub(super) fn in_interpolants(&self) -> &BatchOffsets {
        self.contiguous.get()
    }

    /// Computes the offsets of a tile in interpolants.
    fn interpolants(&mut self, tile: &Tile<'_>) {
        let size = size_of::<Pixel>();
        let compute = || BatchOffsets::contiguous(tile.chunk_origins(), size);
        self.contiguous.update([0, size], compute);
    }

    /// Returns staging buffers for the chunks of a tile.
    pub(super) fn staged(&mut self, tile: &Tile<'_>, stored: [bool; TARGETS]) -> ColorTargets<'_> {
        self.interpolants(tile);
        let offsets = self.contiguous.get();
        let pixels = offsets.bytes() / size_of::<Pixel>();
        for (plane, stored) in self.staged.iter_mut().zip(stored) {
            plane.resize(if stored { pixels } else { 0 }, [0.0; 4]);
        }
        let planes = self.staged.each_mut().map(|plane| TargetPlane::floats(plane, offsets));
        ColorTargets { planes, offsets }
    }

    /// Returns staging buffers of encoded pixels for the chunks of a tile.
    pub(super) fn staged_encoded(
        &mut self,
        tile: &Tile<'_>,
        encodings: &[Option<PixelEncoding>; TARGETS],
    ) -> ColorTargets<'_> {
        self.interpolants(tile);
        let mut targets = ColorTargets::none();
        targets.offsets = self.contiguous.get();
        let planes = self.encoded.iter_mut().zip(&mut self.encoded_contiguous).zip(encodings);
        for (target, ((plane, known), encoding)) in targets.planes.iter_mut().zip(planes) {
            let Some(encoding) = encoding else { continue };
            let size = usize::from(encoding.bytes);
            let compute = || BatchOffsets::contiguous(tile.chunk_origins(), size);
            if known.update([0, size], compute) {
                let offsets = known.get();
                plane.resize(offsets.bytes(), 0);
                *target = TargetPlane { pixels: PlanePixels::Encoded(plane, size), offsets };
            }
        }
        targets
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn chunks_lie_in_rows_of_four() {
        // Pixels of 16 bytes, ten per row; the chunk at (4, 4) starts 44 pixels after the first.
        let offsets = BatchOffsets::in_rows([[0, 0], [4, 4]].into_iter(), 10).unwrap();
        let rows =
            |chunk: usize| offsets.chunks()[chunk].map(|offset| offset.rows.map(|row| row / 16));
        assert_eq!(rows(0), [[0, 10], [20, 30]]);
        assert_eq!(rows(1), [[44, 54], [64, 74]]);
        assert_eq!(offsets.bytes(), 78 * 16);
        assert_eq!(size_of::<[PixelOffsets; 2]>(), 64);
    }

    #[test]
    fn chunks_lie_one_by_one() {
        let offsets = BatchOffsets::contiguous([[4, 4], [0, 8]].into_iter(), 16).unwrap();
        assert_eq!(offsets.chunks()[1].map(|offset| offset.rows[0] / 16), [16, 24]);
        assert_eq!(offsets.chunks()[1].map(|offset| offset.rows[1] / 16), [20, 28]);
        assert_eq!(offsets.bytes(), 32 * 16);
        // x terms have 32 bytes per column of chunks, y terms 64 per row, after 16 columns, in halves.
        assert_eq!(offsets.chunks()[0].map(|offset| offset.interpolants), [[32, 576], [32, 608]]);
        assert_eq!(offsets.chunks()[1].map(|offset| offset.interpolants), [[0, 640], [0, 672]]);
    }

    #[test]
    fn chunks_of_a_surface_lie_in_rows_of_its_pitch() {
        // Pixels of two bytes in rows of 13 bytes: the last row ends after its own pixels.
        let offsets = BatchOffsets::with_pitch([[0, 0], [4, 4]].into_iter(), 13, 2).unwrap();
        assert_eq!(offsets.chunks()[1].map(|offset| offset.rows), [[60, 73], [86, 99]]);
        assert_eq!(offsets.bytes(), 107);
        assert!(BatchOffsets::with_pitch([[0, 0]].into_iter(), 1 << 33, 2).is_none());
        assert!(BatchOffsets::with_pitch([[0, 4]].into_iter(), 1 << 30, 2).is_none());
    }

    #[test]
    fn unrepresentable_offsets_are_none() {
        assert!(BatchOffsets::in_rows([[0, 12]].into_iter(), 1 << 28).is_none());
        assert!(BatchOffsets::in_rows([[0, 12]].into_iter(), 1 << 25).is_none());
        assert!(BatchOffsets::in_rows([[0, 12]].into_iter(), 1 << 20).is_some());
        assert!(BatchOffsets::in_rows([[0, 16]].into_iter(), 100).is_none());
        assert!(BatchOffsets::in_rows([[64, 0]].into_iter(), 100).is_none());
    }
}
