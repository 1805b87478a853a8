//! What a drawing leaves: colours, depth, coverage, counters.

use crate::numerics::canonical_nan;
use crate::{Bindings, Options, PixelRect, RunError, RunInfo, RuntimeWarnings, Shader};

/// A drawn picture. Rows count from y = 0, the bottom of the upright picture.
///
/// Values are as the program wrote them, before `US_OUT_FMT` and `US_W_FMT`; NaN is the canonical
/// one. Killed, uncovered and never written is 0 in every channel, alpha too.
#[derive(Clone, Debug)]
pub struct Frame {
    area: PixelRect,
    color: [Option<Vec<[f32; 4]>>; 4],
    depth: Option<Vec<f32>>,
    coverage: Vec<bool>,
    /// What the run met, if warnings were asked for.
    pub warnings: RuntimeWarnings,
    /// What the run counted.
    pub counters: Counters,
    /// Who drew it.
    pub run_info: RunInfo,
}

/// What a run counts. The counts do not depend on group size, threads or engine, except
/// `instructions`, which counts what groups execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions executed, one for each group of pixels.
    pub instructions: u64,
    /// `STAT_WE`: for each channel, how often a covered pixel inside the picture executed an
    /// ALU, OUT or TEX instruction that counts it and whose predicate lets that channel through.
    ///
    /// Open: the documents say that the bits select what contributes to the count, not of what.
    pub stat: [u64; 4],
    /// Pixels inside the picture that TEXKILL killed.
    pub killed: u64,
}

/// What the program left in one pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PixelOut {
    /// Colours of targets A to D, 0 where nothing was written.
    pub color: [[f32; 4]; 4],
    /// Channels written of each target, red lowest.
    pub written: [u8; 4],
    /// Depth, if written.
    pub depth: Option<f32>,
    /// Covered and not killed.
    pub covered: bool,
}

impl PixelOut {
    /// What a [`Frame`] holds of it: nothing of a pixel that is not covered, and NaN as the canonical
    /// one.
    #[must_use]
    pub fn delivered(&self) -> Self {
        if !self.covered {
            return Self::default();
        }
        Self {
            color: self.color.map(|color| color.map(canonical_nan)),
            depth: self.depth.map(canonical_nan),
            ..*self
        }
    }
}

/// A colour of a pixel: red, green, blue and alpha.
pub(crate) type Pixel = [f32; 4];

impl Frame {
    /// An empty frame for a shader.
    ///
    /// # Errors
    /// [`RunError`] if the picture has no pixels or is too large.
    pub fn new(
        shader: &Shader,
        bindings: &Bindings,
        options: &Options<'_>,
    ) -> Result<Self, RunError> {
        let [width, height] = bindings.size();
        if width == 0 || height == 0 {
            return Err(RunError::NoPixels { width, height });
        }
        let area = options.area.unwrap_or(PixelRect { x: 0, y: 0, width, height });
        let mut targets = shader.targets();
        targets[0] = true;
        let depth = shader.writes_depth();
        let planes = targets.iter().filter(|&&on| on).count() as u64;
        let bytes = planes * 16 + if depth { 4 } else { 0 } + 1;
        let pixels = area.pixels_in([width, height], bytes, options.limits.memory)?;
        Ok(Self {
            area,
            color: targets.map(|on| on.then(|| vec![[0.0; 4]; pixels])),
            depth: depth.then(|| vec![0.0; pixels]),
            coverage: vec![false; pixels],
            warnings: RuntimeWarnings::default(),
            counters: Counters::default(),
            run_info: RunInfo::of(""),
        })
    }

    /// The part of the picture that was drawn.
    #[must_use]
    pub fn area(&self) -> PixelRect {
        self.area
    }

    /// Width of the drawn part.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.area.width
    }

    /// Height of the drawn part.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.area.height
    }

    /// The colours of target 0 to 3 (A to D), row by row from y = 0; `None` if no instruction can
    /// write it. Target A is always there.
    #[must_use]
    pub fn target(&self, target: usize) -> Option<&[[f32; 4]]> {
        self.color.get(target)?.as_deref()
    }

    /// Depth, row by row from y = 0; `None` if no instruction can write it.
    #[must_use]
    pub fn depth(&self) -> Option<&[f32]> {
        self.depth.as_deref()
    }

    /// Which pixels are covered and not killed, row by row from y = 0.
    #[must_use]
    pub fn coverage(&self) -> &[bool] {
        &self.coverage
    }

    /// The colour of a pixel; x and y count from the corner of the drawn part. 0 where there is
    /// none.
    #[must_use]
    pub fn color(&self, target: usize, x: u32, y: u32) -> [f32; 4] {
        if x >= self.area.width || y >= self.area.height {
            return [0.0; 4];
        }
        let index = y as usize * self.area.width as usize + x as usize;
        self.target(target).map_or([0.0; 4], |plane| plane[index])
    }

    /// The frame cut into bands of whole rows that end where rows of that many do, counted from
    /// y = 0 of the picture.
    pub(crate) fn bands(&mut self, rows: u32) -> Vec<Band<'_>> {
        let area = self.area;
        let width = area.width as usize;
        let mut color = self.color.each_mut().map(|plane| plane.as_deref_mut());
        let mut depth = self.depth.as_deref_mut();
        let mut coverage = self.coverage.as_mut_slice();
        let mut bands = Vec::new();
        let (mut y, top) = (area.y, area.y + area.height);
        while y < top {
            let height = (rows - y % rows).min(top - y);
            let pixels = width * height as usize;
            bands.push(Band {
                rect: PixelRect { y, height, ..area },
                color: color.each_mut().map(|plane| cut(plane, pixels)),
                depth: cut(&mut depth, pixels),
                coverage: cut_slice(&mut coverage, pixels),
            });
            y += height;
        }
        bands
    }
}

/// Some rows of a frame, to be filled.
#[derive(Debug)]
pub struct Band<'a> {
    rect: PixelRect,
    color: [Option<&'a mut [[f32; 4]]>; 4],
    depth: Option<&'a mut [f32]>,
    coverage: &'a mut [bool],
}

impl Band<'_> {
    /// The pixels to draw.
    #[must_use]
    pub fn rect(&self) -> PixelRect {
        self.rect
    }

    /// Its lowest row.
    #[must_use]
    pub fn first_row(&self) -> u32 {
        self.rect.y
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rect.height
    }

    /// Makes every pixel one that nothing was drawn to.
    pub fn clear(&mut self) {
        self.color.iter_mut().flatten().for_each(|plane| plane.fill([0.0; 4]));
        if let Some(plane) = &mut self.depth {
            plane.fill(0.0);
        }
        self.coverage.fill(false);
    }

    /// Makes a pixel one that nothing was drawn to, if it lies in the band.
    pub(crate) fn clear_pixel(&mut self, x: u32, y: u32) {
        let Some(index) = self.rect.index(x, y) else { return };
        self.color.iter_mut().flatten().for_each(|plane| plane[index] = [0.0; 4]);
        if let Some(plane) = &mut self.depth {
            plane[index] = 0.0;
        }
        self.coverage[index] = false;
    }

    /// Delivers one pixel, if it lies in the band.
    pub fn put_pixel(&mut self, x: u32, y: u32, pixel: &PixelOut) {
        let Some(index) = self.rect.index(x, y).filter(|_| pixel.covered) else { return };
        let pixel = pixel.delivered();
        for (plane, color) in self.color.iter_mut().zip(pixel.color) {
            if let Some(plane) = plane {
                plane[index] = color;
            }
        }
        if let (Some(plane), Some(depth)) = (&mut self.depth, pixel.depth) {
            plane[index] = depth;
        }
        self.coverage[index] = true;
    }
}

/// Columns and rows of a chunk: sixteen pixels, quad by quad.
pub(crate) const CHUNK: u32 = 4;

impl Band<'_> {
    /// Delivers a target's colours of chunks beside each other inside the band: of each chunk, its pixels
    /// by their lanes.
    #[inline(always)]
    pub(crate) fn put_colors<F: Fn(usize) -> [f32; 4]>(
        &mut self,
        target: usize,
        at: [u32; 2],
        chunks: impl ExactSizeIterator<Item = F>,
    ) {
        put_chunks(self.rect, at, self.color.get_mut(target).and_then(Option::as_mut), chunks);
    }

    /// The planes of colours from a pixel of the band on.
    pub(crate) fn planes(&mut self, [x, y]: [u32; 2]) -> [&mut [Pixel]; 4] {
        let first = self.rect.index(x, y);
        self.color.each_mut().map(|plane| {
            let plane = plane.as_mut().zip(first).and_then(|(plane, first)| plane.get_mut(first..));
            plane.unwrap_or_default()
        })
    }

    /// Delivers a target's colours of a chunk as far as it lies in the band.
    #[inline(always)]
    pub(crate) fn put_color(
        &mut self,
        target: usize,
        at: [u32; 2],
        pixel: impl Fn(usize) -> [f32; 4],
    ) {
        let rect = self.rect;
        let Some(plane) = self.color.get_mut(target).and_then(Option::as_mut) else { return };
        put_rows(rect, at, plane, pixel);
    }

    /// Delivers the depth of a chunk where it is covered and written.
    #[inline(always)]
    pub(crate) fn put_depth(
        &mut self,
        at: [u32; 2],
        covered: &[f32; 16],
        written: &[f32; 16],
        depth: &[f32; 16],
    ) {
        let rect = self.rect;
        let Some(plane) = &mut self.depth else { return };
        let mut pixels = *depth;
        for (lane, pixel) in pixels.iter_mut().enumerate() {
            let mask = covered[lane].to_bits() & written[lane].to_bits();
            *pixel = f32::from_bits(pixel.to_bits() & mask);
        }
        put_rows(rect, at, plane, |lane| pixels[lane]);
    }

    /// Delivers the coverage of chunks beside each other inside the band.
    #[inline(always)]
    pub(crate) fn put_coverages(
        &mut self,
        at: [u32; 2],
        covered: impl ExactSizeIterator<Item = Covered>,
    ) {
        let rows = rows(self.rect, at, covered.len() as u32 * CHUNK, self.coverage);
        let Some(rows) = rows else { return };
        let [a, b, c, d] = rows.map(|row| row.as_chunks_mut::<4>().0.iter_mut());
        for ((((a, b), c), d), covered) in a.zip(b).zip(c).zip(d).zip(covered) {
            [*a, *b, *c, *d] = covered.rows();
        }
    }

    /// Delivers the coverage of a chunk.
    #[inline(always)]
    pub(crate) fn put_coverage(&mut self, at: [u32; 2], covered: &[f32; 16]) {
        put_rows(self.rect, at, self.coverage, |lane| covered[lane].to_bits() != 0);
    }

    /// Makes the colours of chunks beside each other inside the band, as wide as that, those of pixels that
    /// nothing was drawn to.
    #[inline(always)]
    pub(crate) fn clear_colors(&mut self, at: [u32; 2], width: u32) {
        for plane in self.color.iter_mut().flatten() {
            let rows = rows(self.rect, at, width, plane);
            rows.into_iter().flatten().for_each(|row| row.fill([0.0; 4]));
        }
    }

    /// Covers all of the chunks beside each other inside the band, as wide as that, or none.
    #[inline(always)]
    pub(crate) fn cover(&mut self, at: [u32; 2], width: u32, covered: bool) {
        let rows = rows(self.rect, at, width, self.coverage);
        rows.into_iter().flatten().for_each(|row| row.fill(covered));
    }
}

/// Which pixels of a chunk are covered: of each row a word, of each of its pixels a byte, 1 or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covered([u32; 4]);

impl Covered {
    const WHOLE: u32 = 0x0101_0101;

    /// As a mask says.
    #[inline(always)]
    pub(crate) fn of(mask: &[f32; 16]) -> Self {
        // Two pixels beside each other at once: of the bits of either, one.
        let pair = |lane: usize, bits: u64| {
            let [left, right] = [mask[lane], mask[lane + 1]].map(|lane| u64::from(lane.to_bits()));
            (left | right << 32) & bits
        };
        let row = |[left, _, right, _]: [usize; 4]| {
            let four = pair(left, 0x0000_0100_0000_0001) | pair(right, 0x0100_0000_0001_0000);
            (four | four >> 32) as u32
        };
        let [a, b, c, d] = LANES;
        Self([row(a), row(b), row(c), row(d)])
    }

    /// Whether every pixel is covered.
    #[inline(always)]
    pub(crate) fn is_whole(self) -> bool {
        let [a, b, c, d] = self.0;
        a & b & c & d == Self::WHOLE
    }

    /// How many are.
    #[inline(always)]
    pub(crate) fn count(self) -> u32 {
        let [a, b, c, d] = self.0;
        // The sum of all bytes is in the last one.
        (a + b + c + d).wrapping_mul(Self::WHOLE) >> 24
    }

    #[inline(always)]
    fn rows(self) -> [[bool; 4]; 4] {
        let [a, b, c, d] = self.0;
        let row = |row: u32| row.to_le_bytes().map(|covered| covered & 1 != 0);
        [row(a), row(b), row(c), row(d)]
    }
}

/// What the pixels of a chunk are in a picture, by the channels of their colours.
#[inline(always)]
pub(crate) fn pixels<'c>(color: [&'c [f32; 16]; 4]) -> impl Fn(usize) -> [f32; 4] + use<'c> {
    move |lane| color.map(|channel| canonical_nan(channel[lane]))
}

/// The same of those that are covered, and for others what nothing was drawn to.
#[inline(always)]
pub(crate) fn covered(
    pixels: impl Fn(usize) -> [f32; 4],
    covered: &[f32; 16],
) -> impl Fn(usize) -> [f32; 4] {
    move |lane| pixels(lane).map(|x| f32::from_bits(x.to_bits() & covered[lane].to_bits()))
}

/// Column and row of a lane in its chunk.
pub(crate) fn place(lane: usize) -> (u32, u32) {
    let (quad, corner) = (lane as u32 / 4, lane as u32 % 4);
    (quad % 2 * 2 + corner % 2, quad / 2 * 2 + corner / 2)
}

/// The pixels of a chunk, row by row: quads are two rows of two pixels.
const LANES: [[usize; 4]; 4] = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]];

/// The rows of a band that chunks lie in, as far as these do; `None` if they leave it.
#[inline(always)]
fn rows<T>(
    rect: PixelRect,
    [x, y]: [u32; 2],
    width: u32,
    plane: &mut [T],
) -> Option<[&mut [T]; 4]> {
    let (x, y) = (x.checked_sub(rect.x)?, y.checked_sub(rect.y)?);
    if x.checked_add(width)? > rect.width || y.checked_add(CHUNK)? > rect.height {
        return None;
    }
    let across = rect.width as usize;
    let mut rows = plane.get_mut(y as usize * across..)?.chunks_exact_mut(across);
    let mut row = || rows.next()?.get_mut(x as usize..(x + width) as usize);
    Some([row()?, row()?, row()?, row()?])
}

/// Puts the pixels of chunks beside each other, by their lanes, into the rows of a band, in which they lie.
#[inline(always)]
fn put_chunks<T, F: Fn(usize) -> T>(
    rect: PixelRect,
    at: [u32; 2],
    plane: Option<&mut &mut [T]>,
    chunks: impl ExactSizeIterator<Item = F>,
) {
    let Some(plane) = plane else { return };
    let Some([a, b, c, d]) = rows(rect, at, chunks.len() as u32 * CHUNK, plane) else { return };
    let four = |row| <[_]>::as_chunks_mut::<4>(row).0.iter_mut();
    for ((((a, b), c), d), pixel) in four(a).zip(four(b)).zip(four(c)).zip(four(d)).zip(chunks) {
        *a = LANES[0].map(&pixel);
        *b = LANES[1].map(&pixel);
        *c = LANES[2].map(&pixel);
        *d = LANES[3].map(&pixel);
    }
}

/// Puts the pixels of a chunk into the rows of a band, as far as they lie in it.
#[inline(always)]
fn put_rows<T: Copy>(
    rect: PixelRect,
    [x, y]: [u32; 2],
    plane: &mut [T],
    pixel: impl Fn(usize) -> T,
) {
    let whole = x >= rect.x && x + CHUNK <= rect.x + rect.width;
    let width = rect.width as usize;
    if whole && y >= rect.y && y + CHUNK <= rect.y + rect.height {
        let start = (y - rect.y) as usize * width + (x - rect.x) as usize;
        for (row, lanes) in LANES.iter().enumerate() {
            let start = start + row * width;
            let Some(to) = plane.get_mut(start..start + 4) else { return };
            for (to, &lane) in to.iter_mut().zip(lanes) {
                *to = pixel(lane);
            }
        }
        return;
    }
    for (row, lanes) in (y..).zip(LANES) {
        for (column, lane) in (x..).zip(lanes) {
            let inside = (rect.x..rect.x + rect.width).contains(&column)
                && (rect.y..rect.y + rect.height).contains(&row);
            if inside {
                let at = (row - rect.y) as usize * width + (column - rect.x) as usize;
                if let Some(to) = plane.get_mut(at) {
                    *to = pixel(lane);
                }
            }
        }
    }
}

impl Counters {
    /// Adds those of another part of the picture.
    pub fn merge(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.killed += other.killed;
        for (mine, theirs) in self.stat.iter_mut().zip(other.stat) {
            *mine += theirs;
        }
    }
}

fn cut<'a, T>(plane: &mut Option<&'a mut [T]>, pixels: usize) -> Option<&'a mut [T]> {
    plane.as_mut().map(|rest| cut_slice(rest, pixels))
}

fn cut_slice<'a, T>(rest: &mut &'a mut [T], pixels: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(rest).split_at_mut(pixels);
    *rest = tail;
    head
}
