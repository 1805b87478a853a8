//! Stores of whole chunks into the planes of a band: from lane order (quad by quad) to row order.

use r500_simd::Chunk;
use r500_simd::chunk::{LANES_BY_ROW, SIDE};

use r500_exec::PixelRect;
use r500_exec::{Band, Pixel};
use r500_numerics::canonical_nan;

/// Chunk-wise stores into a [`Band`]; `at` is the lowest left pixel of the first chunk.
pub(super) trait ChunkStores {
    /// Stores a target's colours of horizontally adjacent chunks that lie in the band. Each item maps a
    /// lane of its chunk to a colour.
    fn store_colors<F: Fn(usize) -> Pixel>(
        &mut self,
        target: usize,
        at: [u32; 2],
        chunks: impl ExactSizeIterator<Item = F>,
    );

    /// Stores a target's colours of a chunk, clipped to the band.
    fn store_color(&mut self, target: usize, at: [u32; 2], pixel: impl Fn(usize) -> Pixel);

    /// Returns the colours of each target from a pixel of the band on; empty where there are none.
    fn colors_from(&mut self, at: [u32; 2]) -> [&mut [Pixel]; 4];

    /// Stores the depth of a chunk where it is covered and written, 0 elsewhere, clipped to the band.
    fn store_depth(&mut self, at: [u32; 2], covered: &Chunk, written: &Chunk, depth: &Chunk);

    /// Stores the coverage of horizontally adjacent chunks that lie in the band.
    fn store_coverages(
        &mut self,
        at: [u32; 2],
        covered: impl ExactSizeIterator<Item = CoverageBits>,
    );

    /// Stores the coverage of a chunk, clipped to the band.
    fn store_coverage(&mut self, at: [u32; 2], covered: &Chunk);

    /// Clears the colours of a row of chunks, `width` pixels in all, that lies in the band.
    fn clear_colors(&mut self, at: [u32; 2], width: u32);

    /// Sets the coverage of a row of chunks, `width` pixels in all, that lies in the band.
    fn fill_coverage(&mut self, at: [u32; 2], width: u32, covered: bool);
}

impl ChunkStores for Band<'_> {
    #[inline(always)]
    fn store_colors<F: Fn(usize) -> Pixel>(
        &mut self,
        target: usize,
        at: [u32; 2],
        chunks: impl ExactSizeIterator<Item = F>,
    ) {
        let rect = self.rect();
        let Some(plane) = self.color_mut(target) else { return };
        let Some([a, b, c, d]) = rows(rect, at, chunks.len() as u32 * SIDE, plane) else { return };
        let four = |row| <[_]>::as_chunks_mut::<4>(row).0.iter_mut();
        let [r0, r1, r2, r3] = LANES_BY_ROW;
        for ((((a, b), c), d), pixel) in four(a).zip(four(b)).zip(four(c)).zip(four(d)).zip(chunks)
        {
            *a = r0.map(&pixel);
            *b = r1.map(&pixel);
            *c = r2.map(&pixel);
            *d = r3.map(&pixel);
        }
    }

    #[inline(always)]
    fn store_color(&mut self, target: usize, at: [u32; 2], pixel: impl Fn(usize) -> Pixel) {
        let rect = self.rect();
        let Some(plane) = self.color_mut(target) else { return };
        store_chunk(rect, at, plane, pixel);
    }

    fn colors_from(&mut self, [x, y]: [u32; 2]) -> [&mut [Pixel]; 4] {
        let first = self.rect().index(x, y);
        self.colors_mut().map(|plane| {
            let plane = plane.zip(first).and_then(|(plane, first)| plane.get_mut(first..));
            plane.unwrap_or_default()
        })
    }

    #[inline(always)]
    fn store_depth(&mut self, at: [u32; 2], covered: &Chunk, written: &Chunk, depth: &Chunk) {
        let rect = self.rect();
        let Some(plane) = self.depth_mut() else { return };
        let mut pixels = *depth;
        for (lane, pixel) in pixels.iter_mut().enumerate() {
            let mask = covered[lane].to_bits() & written[lane].to_bits();
            *pixel = f32::from_bits(pixel.to_bits() & mask);
        }
        store_chunk(rect, at, plane, |lane| pixels[lane]);
    }

    #[inline(always)]
    fn store_coverages(
        &mut self,
        at: [u32; 2],
        covered: impl ExactSizeIterator<Item = CoverageBits>,
    ) {
        let rows = rows(self.rect(), at, covered.len() as u32 * SIDE, self.coverage_mut());
        let Some(rows) = rows else { return };
        let [a, b, c, d] = rows.map(|row| row.as_chunks_mut::<4>().0.iter_mut());
        for ((((a, b), c), d), covered) in a.zip(b).zip(c).zip(d).zip(covered) {
            [*a, *b, *c, *d] = covered.rows();
        }
    }

    #[inline(always)]
    fn store_coverage(&mut self, at: [u32; 2], covered: &Chunk) {
        store_chunk(self.rect(), at, self.coverage_mut(), |lane| covered[lane].to_bits() != 0);
    }

    #[inline(always)]
    fn clear_colors(&mut self, at: [u32; 2], width: u32) {
        let rect = self.rect();
        for plane in self.colors_mut().into_iter().flatten() {
            let rows = rows(rect, at, width, plane);
            rows.into_iter().flatten().for_each(|row| row.fill([0.0; 4]));
        }
    }

    #[inline(always)]
    fn fill_coverage(&mut self, at: [u32; 2], width: u32, covered: bool) {
        let rows = rows(self.rect(), at, width, self.coverage_mut());
        rows.into_iter().flatten().for_each(|row| row.fill(covered));
    }
}

/// Which pixels of a chunk are covered: a dword for each row, a byte (1 or 0) for each pixel of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CoverageBits([u32; 4]);

impl CoverageBits {
    const FULL: u32 = 0x0101_0101;

    /// Returns the lanes that are set in a mask.
    #[inline(always)]
    pub(super) fn of(mask: &Chunk) -> Self {
        // Two adjacent pixels in one 64-bit operation: a bit of each.
        let pair = |lane: usize, bits: u64| {
            let [left, right] = [mask[lane], mask[lane + 1]].map(|lane| u64::from(lane.to_bits()));
            (left | right << 32) & bits
        };
        let row = |[left, _, right, _]: [usize; 4]| {
            let four = pair(left, 0x0000_0100_0000_0001) | pair(right, 0x0100_0000_0001_0000);
            (four | four >> 32) as u32
        };
        let [a, b, c, d] = LANES_BY_ROW;
        Self([row(a), row(b), row(c), row(d)])
    }

    /// Returns whether every pixel is covered.
    #[inline(always)]
    pub(super) fn is_full(self) -> bool {
        let [a, b, c, d] = self.0;
        a & b & c & d == Self::FULL
    }

    /// Returns the number of covered pixels.
    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        let [a, b, c, d] = self.0;
        // The product has the sum of all bytes in its top byte.
        (a + b + c + d).wrapping_mul(Self::FULL) >> 24
    }

    #[inline(always)]
    fn rows(self) -> [[bool; 4]; 4] {
        let [a, b, c, d] = self.0;
        let row = |row: u32| row.to_le_bytes().map(|covered| covered & 1 != 0);
        [row(a), row(b), row(c), row(d)]
    }
}

/// Returns the colour of each lane, as a frame holds it, from the channels of a chunk.
#[inline(always)]
pub(super) fn frame_colors<'c>(color: [&'c Chunk; 4]) -> impl Fn(usize) -> Pixel + use<'c> {
    move |lane| color.map(|channel| canonical_nan(channel[lane]))
}

/// Returns the colour of each covered lane, and 0 for the others.
#[inline(always)]
pub(super) fn masked(pixels: impl Fn(usize) -> Pixel, covered: &Chunk) -> impl Fn(usize) -> Pixel {
    move |lane| pixels(lane).map(|x| f32::from_bits(x.to_bits() & covered[lane].to_bits()))
}

/// Returns the four rows of a plane that a row of chunks lies in, cut to the chunks; `None` if they leave
/// the plane.
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
