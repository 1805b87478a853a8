//! Stores of chunks to the planes of a band: permutes lane order (quad by quad) to row order.

use r500_simd::chunk::{LANES_BY_ROW, SIDE};
use r500_simd::level::lane_ops::{LaneOps, bits_by_row};
use r500_simd::{Chunk, LANES, SimdLevel, inhibit_outer_vectorization};

use r500_exec::PixelRect;
use r500_exec::{Band, Pixel};

/// Stores a target's colours of horizontally adjacent chunks inside the band, 0 in lanes outside of the coverage, if it is given; `at` is
/// the lower left pixel of the first chunk.
#[inline(always)]
pub(super) fn store_colors<'c, L: SimdLevel>(
    level: L,
    band: &mut Band<'_>,
    target: usize,
    at: [u32; 2],
    chunks: &[u8],
    channels: impl Fn(usize) -> [&'c Chunk; 4],
    covered: Option<&[Chunk]>,
) {
    let rect = band.rect();
    let Some(plane) = band.color_mut(target) else { return };
    let Some(rows) = rows(rect, at, chunks.len() as u32 * SIDE, plane) else { return };
    let [a, b, c, d] = rows.map(|row| &mut row.as_chunks_mut::<4>().0[..chunks.len()]);
    // By index: iterator adapters are not always inlined, and then not compiled for the level.
    for (i, &chunk) in chunks.iter().enumerate() {
        inhibit_outer_vectorization();
        let channels = channels(usize::from(chunk));
        [a[i], b[i], c[i], d[i]] = match covered {
            None => level.pixel_rows(channels),
            Some(covered) => {
                let masked = covered_channels(channels, &covered[usize::from(chunk)]);
                level.pixel_rows(masked.each_ref())
            }
        };
    }
}

/// Stores a target's colours of a chunk, clipped to the band.
#[inline(always)]
pub(super) fn store_color(
    band: &mut Band<'_>,
    target: usize,
    at: [u32; 2],
    pixel: impl Fn(usize) -> Pixel,
) {
    let rect = band.rect();
    let Some(plane) = band.color_mut(target) else { return };
    store_chunk(rect, at, plane, pixel);
}

/// Returns the colours of each target from a pixel of the band on; empty for targets without a plane.
pub(super) fn colors_from<'b>(band: &'b mut Band<'_>, [x, y]: [u32; 2]) -> [&'b mut [Pixel]; 4] {
    let first = band.rect().index(x, y);
    band.colors_mut().map(|plane| {
        let plane = plane.zip(first).and_then(|(plane, first)| plane.get_mut(first..));
        plane.unwrap_or_default()
    })
}

/// Stores the depth of a chunk in covered lanes that wrote it, 0 elsewhere, clipped to the band.
#[inline(always)]
pub(super) fn store_depth(
    band: &mut Band<'_>,
    at: [u32; 2],
    covered: &Chunk,
    written: &Chunk,
    depth: &Chunk,
) {
    let rect = band.rect();
    let Some(plane) = band.depth_mut() else { return };
    let mut pixels = *depth;
    for (lane, pixel) in pixels.iter_mut().enumerate() {
        let mask = covered[lane].to_bits() & written[lane].to_bits();
        *pixel = f32::from_bits(pixel.to_bits() & mask);
    }
    store_chunk(rect, at, plane, |lane| pixels[lane]);
}

/// Stores the coverage of horizontally adjacent chunks inside the band.
#[inline(always)]
pub(super) fn store_coverages(
    level: impl LaneOps,
    band: &mut Band<'_>,
    at: [u32; 2],
    covered: &[CoverageBits],
) {
    let rows = rows(band.rect(), at, covered.len() as u32 * SIDE, band.coverage_mut());
    let Some(mut rows) = rows else { return };
    let (fours, rest) = covered.as_chunks::<4>();
    let [a, b, c, d] = rows.each_mut().map(|row| &mut row.as_chunks_mut().0[..fours.len()]);
    for (i, covered) in fours.iter().enumerate() {
        inhibit_outer_vectorization();
        [a[i], b[i], c[i], d[i]] = level.bits_by_row_of_four(covered.map(|covered| covered.0));
    }
    let [a, b, c, d] = rows.map(|row| &mut row.as_chunks_mut().0[4 * fours.len()..covered.len()]);
    for (i, covered) in rest.iter().enumerate() {
        [a[i], b[i], c[i], d[i]] = covered.rows();
    }
}

/// Stores the coverage of a chunk, clipped to the band.
#[inline(always)]
pub(super) fn store_coverage(band: &mut Band<'_>, at: [u32; 2], covered: &Chunk) {
    store_chunk(band.rect(), at, band.coverage_mut(), |lane| covered[lane].to_bits() != 0);
}

/// Clears the colours of a row of chunks inside the band, `width` pixels in total.
#[inline(always)]
pub(super) fn clear_colors(band: &mut Band<'_>, at: [u32; 2], width: u32) {
    let rect = band.rect();
    for plane in band.colors_mut().into_iter().flatten() {
        let rows = rows(rect, at, width, plane);
        rows.into_iter().flatten().for_each(|row| row.fill([0.0; 4]));
    }
}

/// The covered pixels of a chunk: a bit for each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CoverageBits(u16);

impl CoverageBits {
    /// Returns the lanes that are set in a mask.
    #[inline(always)]
    pub(super) fn of(level: impl LaneOps, mask: &Chunk) -> Self {
        Self(level.sign_bits(mask))
    }

    /// Returns whether every pixel is covered.
    #[inline(always)]
    pub(super) fn is_full(self) -> bool {
        self.0 == u16::MAX
    }

    /// Returns the number of covered pixels.
    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the coverage in row order.
    #[inline(always)]
    pub(super) fn rows(self) -> [[bool; 4]; 4] {
        bits_by_row(self.0)
    }
}

/// Returns the channels of a chunk, with 0 in uncovered lanes.
#[inline(always)]
pub(super) fn covered_channels(channels: [&Chunk; 4], covered: &Chunk) -> [Chunk; 4] {
    let mut masked = [[0.0; LANES]; 4];
    for channel in 0..4 {
        inhibit_outer_vectorization();
        for lane in 0..LANES {
            let bits = channels[channel][lane].to_bits() & covered[lane].to_bits();
            masked[channel][lane] = f32::from_bits(bits);
        }
    }
    masked
}

/// Returns the colour of each covered lane, and 0 for the others.
#[inline(always)]
pub(super) fn masked(pixels: impl Fn(usize) -> Pixel, covered: &Chunk) -> impl Fn(usize) -> Pixel {
    move |lane| pixels(lane).map(|x| f32::from_bits(x.to_bits() & covered[lane].to_bits()))
}

/// Returns the four rows of a plane that contain a row of chunks, restricted to the chunks; `None` if they exceed the plane.
#[inline(always)]
fn rows<T>(
    rect: PixelRect,
    [x, y]: [u32; 2],
    width: u32,
    plane: &mut [T],
) -> Option<[&mut [T]; 4]> {
    let (x, y) = (x.checked_sub(rect.x)?, y.checked_sub(rect.y)?);
    if x.checked_add(width)? > rect.width || y.checked_add(SIDE)? > rect.height {
        return None;
    }
    let pitch = rect.width as usize;
    let mut rows = plane.get_mut(y as usize * pitch..)?.chunks_exact_mut(pitch);
    let mut row = || rows.next()?.get_mut(x as usize..(x + width) as usize);
    Some([row()?, row()?, row()?, row()?])
}

/// Stores the pixels of a chunk, clipped to the plane.
#[inline(always)]
fn store_chunk<T: Copy>(
    rect: PixelRect,
    [x, y]: [u32; 2],
    plane: &mut [T],
    pixel: impl Fn(usize) -> T,
) {
    let full_width = x >= rect.x && x + SIDE <= rect.x + rect.width;
    let width = rect.width as usize;
    if full_width && y >= rect.y && y + SIDE <= rect.y + rect.height {
        let start = (y - rect.y) as usize * width + (x - rect.x) as usize;
        for (row, lanes) in LANES_BY_ROW.iter().enumerate() {
            let start = start + row * width;
            let Some(to) = plane.get_mut(start..start + 4) else { return };
            for (to, &lane) in to.iter_mut().zip(lanes) {
                *to = pixel(lane);
            }
        }
        return;
    }
    for (row, lanes) in (y..).zip(LANES_BY_ROW) {
        for (column, lane) in (x..).zip(lanes) {
            if let Some(to) = rect.index(column, row).and_then(|at| plane.get_mut(at)) {
                *to = pixel(lane);
            }
        }
    }
}
