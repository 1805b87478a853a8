//! The frame: colours, depth, coverage and counters of a drawing.

mod cache_lines;

use crate::available::check_available;
use crate::numerics::canonical_nan;
use crate::{Bindings, Options, PixelRect, RunError, RuntimeWarnings, Shader};
use cache_lines::AlignedPixels;

/// A drawn picture. Rows count from y = 0, the bottom of the upright picture.
///
/// Values are as the program wrote them, before `US_OUT_FMT` and `US_W_FMT`; NaN is the canonical one. Pixels that are killed,
/// uncovered or never written are 0 in every channel, alpha included.
#[derive(Clone, Debug)]
pub struct Frame {
    area: PixelRect,
    color: [Option<AlignedPixels>; 4],
    depth: Option<Vec<f32>>,
    coverage: Vec<bool>,
    /// Run-time warnings, if [`Options::warnings`] was set.
    pub warnings: RuntimeWarnings,
    /// Counters.
    pub counters: Counters,
    /// The engine that drew it.
    pub run_info: RunInfo,
}

/// The engine that drew a frame, and its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// The engine.
    pub engine: &'static str,
    /// The vector instruction set that it used, if it selects one.
    pub simd: Option<&'static str>,
    /// Why it is not the requested engine.
    pub fallback_reason: Option<String>,
    /// For an engine that compiles: operations executed as machine code, and all operations.
    pub compiled: Option<[usize; 2]>,
}

impl RunInfo {
    /// Returns the named engine, without further information.
    #[must_use]
    pub fn of(engine: &'static str) -> Self {
        Self { engine, simd: None, fallback_reason: None, compiled: None }
    }

    /// Checks that an engine drew. A test that compares engines checks this of each: else it may compare an engine with itself.
    ///
    /// # Errors
    /// [`AnotherEngine`] if another one drew.
    pub fn drawn_by(&self, engine: &str) -> Result<(), AnotherEngine> {
        if self.engine == engine {
            return Ok(());
        }
        let reason = self.fallback_reason.clone();
        Err(AnotherEngine { wanted: engine.to_owned(), engine: self.engine, reason })
    }
}

/// Another engine drew than the wanted one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {engine} engine drew, not the {wanted} engine: {}", .reason.as_deref().unwrap_or("it was requested"))]
pub struct AnotherEngine {
    /// The engine that should have drawn.
    pub wanted: String,
    /// The engine that drew.
    pub engine: &'static str,
    /// Why.
    pub reason: Option<String>,
}

/// Counters of a run. They do not depend on group size, threads or engine, except `instructions`, which
/// counts per group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions executed, one for each group of pixels.
    pub instructions: u64,
    /// `STAT_WE`: for each channel, how often a covered pixel inside the picture executed an ALU, OUT or TEX instruction that
    /// counts the channel and whose predicate enables it.
    ///
    /// Open: the documents say that the bits select what contributes to the count, not what is counted.
    pub stat: [u64; 4],
    /// Pixels inside the picture that TEXKILL killed.
    pub killed: u64,
}

/// Results of a band other than its pixels.
#[derive(Debug, Default)]
pub struct BandStats {
    /// Run-time warnings, if [`Options::warnings`] is set.
    pub warnings: RuntimeWarnings,
    /// Counters.
    pub counters: Counters,
}

impl BandStats {
    /// Adds the results of another band.
    pub fn merge(&mut self, other: &Self) {
        self.warnings.merge(&other.warnings);
        self.counters.merge(&other.counters);
    }
}

/// The outputs of one pixel.
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
    /// Returns the pixel as a [`Frame`] holds it: all 0 if it is not covered, every NaN canonical.
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
pub type Pixel = [f32; 4];

impl Frame {
    /// Creates an empty frame for a shader.
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
        let bytes = bytes_per_pixel(shader);
        pixels_in(area, [width, height], bytes, options.limits.memory)?;
        check_frame(area, bytes)?;
        Ok(Self::of_area(shader, area))
    }

    /// Creates an empty frame of a rectangle that is known to fit in memory.
    pub(crate) fn of_area(shader: &Shader, area: PixelRect) -> Self {
        let pixels = area.width as usize * area.height as usize;
        let depth = shader.writes_depth();
        Self {
            area,
            color: shader.frame_targets().map(|on| on.then(|| AlignedPixels::zeroed(pixels))),
            depth: depth.then(|| vec![0.0; pixels]),
            coverage: vec![false; pixels],
            warnings: RuntimeWarnings::default(),
            counters: Counters::default(),
            run_info: RunInfo::of(""),
        }
    }

    /// Makes this an empty frame of another rectangle, reusing its memory.
    pub(crate) fn clear_to(&mut self, area: PixelRect) {
        fn clear<T: Copy>(plane: &mut Vec<T>, pixels: usize, zero: T) {
            plane.clear();
            plane.resize(pixels, zero);
        }
        let pixels = area.width as usize * area.height as usize;
        self.area = area;
        self.color.iter_mut().flatten().for_each(|plane| plane.clear_to(pixels));
        self.depth.iter_mut().for_each(|plane| clear(plane, pixels, 0.0));
        clear(&mut self.coverage, pixels, false);
        self.warnings = RuntimeWarnings::default();
        self.counters = Counters::default();
    }

    /// Returns the part of the picture that was drawn.
    #[must_use]
    pub fn area(&self) -> PixelRect {
        self.area
    }

    /// Returns the width of the drawn part.
    #[must_use]
    #[inline]
    pub fn width(&self) -> u32 {
        self.area.width
    }

    /// Returns the height of the drawn part.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.area.height
    }

    /// Returns the colours of target 0 to 3 (A to D), row by row from y = 0; `None` if no instruction can write the target.
    /// Target A always exists.
    #[must_use]
    #[inline]
    pub fn target(&self, target: usize) -> Option<&[[f32; 4]]> {
        self.color.get(target)?.as_deref()
    }

    /// Returns depth, row by row from y = 0; `None` if no instruction can write it.
    #[must_use]
    #[inline]
    pub fn depth(&self) -> Option<&[f32]> {
        self.depth.as_deref()
    }

    /// Returns which pixels are covered and not killed, row by row from y = 0.
    #[must_use]
    #[inline]
    pub fn coverage(&self) -> &[bool] {
        &self.coverage
    }

    /// Returns the colour of a pixel; x and y count from the corner of the drawn part. 0 for a pixel or target that does not
    /// exist.
    #[must_use]
    pub fn color(&self, target: usize, x: u32, y: u32) -> [f32; 4] {
        if x >= self.area.width || y >= self.area.height {
            return [0.0; 4];
        }
        let index = y as usize * self.area.width as usize + x as usize;
        self.target(target).map_or([0.0; 4], |plane| plane[index])
    }

    /// Cuts the frame into bands of `rows` rows (at least one), aligned to y = 0 of the picture, lowest first. For a caller
    /// with its own scheduler; [`BandPainter::band_rows`](crate::BandPainter::band_rows) returns the height.
    pub fn bands(&mut self, rows: u32) -> Bands<'_> {
        Bands {
            area: self.area,
            rows: rows.max(1),
            color: self.color.each_mut().map(|plane| plane.as_deref_mut()),
            depth: self.depth.as_deref_mut(),
            coverage: self.coverage.as_mut_slice(),
        }
    }
}

/// The remaining bands of a frame.
#[derive(Debug)]
pub struct Bands<'a> {
    area: PixelRect,
    rows: u32,
    color: [Option<&'a mut [Pixel]>; 4],
    depth: Option<&'a mut [f32]>,
    coverage: &'a mut [bool],
}

impl<'a> Iterator for Bands<'a> {
    type Item = Band<'a>;

    fn next(&mut self) -> Option<Band<'a>> {
        let rect = self.area.take_rows(self.rows)?;
        let pixels = rect.width as usize * rect.height as usize;
        Some(Band {
            rect,
            color: self.color.each_mut().map(|plane| cut(plane, pixels)),
            depth: cut(&mut self.depth, pixels),
            coverage: cut_slice(&mut self.coverage, pixels),
        })
    }
}

/// A band: some rows of a frame, to be drawn.
#[derive(Debug)]
pub struct Band<'a> {
    rect: PixelRect,
    color: [Option<&'a mut [[f32; 4]]>; 4],
    depth: Option<&'a mut [f32]>,
    coverage: &'a mut [bool],
}

impl<'a> Band<'a> {
    /// Returns a band of planes with the pixels of `rect`, row by row.
    pub(crate) fn new(
        rect: PixelRect,
        color: [Option<&'a mut [Pixel]>; 4],
        depth: Option<&'a mut [f32]>,
        coverage: &'a mut [bool],
    ) -> Self {
        Self { rect, color, depth, coverage }
    }

    /// Returns a range of its pixels.
    pub(crate) fn pixels(&self, range: std::ops::Range<usize>) -> BandPixels<'_> {
        let colors = self.color.each_ref();
        BandPixels {
            colors: colors.map(|plane| plane.as_deref().map(|plane| &plane[range.clone()])),
            depth: self.depth.as_deref().map(|plane| &plane[range.clone()]),
            coverage: &self.coverage[range],
        }
    }
}

/// Colours, depth and coverage of some pixels of a band.
pub(crate) struct BandPixels<'b> {
    pub(crate) colors: [Option<&'b [Pixel]>; 4],
    pub(crate) depth: Option<&'b [f32]>,
    pub(crate) coverage: &'b [bool],
}

impl Band<'_> {
    /// Returns the pixels to draw.
    #[must_use]
    #[inline]
    pub fn rect(&self) -> PixelRect {
        self.rect
    }

    /// Returns the colours of each target, row by row from the lowest; `None` for a target that the frame
    /// does not have.
    #[must_use]
    #[inline]
    pub fn colors_mut(&mut self) -> [Option<&mut [Pixel]>; 4] {
        self.color.each_mut().map(|plane| plane.as_deref_mut())
    }

    /// Returns the colours of a target, row by row from the lowest; `None` if the frame does not have it.
    #[must_use]
    #[inline]
    pub fn color(&self, target: usize) -> Option<&[Pixel]> {
        self.color.get(target)?.as_deref()
    }

    /// Returns the colours of a target mutably.
    #[must_use]
    #[inline]
    pub fn color_mut(&mut self, target: usize) -> Option<&mut [Pixel]> {
        self.color.get_mut(target)?.as_deref_mut()
    }

    /// Returns depth, row by row from the lowest; `None` if the frame has none.
    #[must_use]
    #[inline]
    pub fn depth_mut(&mut self) -> Option<&mut [f32]> {
        self.depth.as_deref_mut()
    }

    /// Returns which pixels are covered, row by row from the lowest.
    #[must_use]
    #[inline]
    pub fn coverage_mut(&mut self) -> &mut [bool] {
        self.coverage
    }

    /// Clears every pixel: colours and depth 0, not covered.
    pub fn clear(&mut self) {
        self.color.iter_mut().flatten().for_each(|plane| plane.fill([0.0; 4]));
        if let Some(plane) = &mut self.depth {
            plane.fill(0.0);
        }
        self.coverage.fill(false);
    }

    /// Clears a pixel, if it lies in the band.
    pub fn clear_pixel(&mut self, x: u32, y: u32) {
        let Some(index) = self.rect.index(x, y) else { return };
        self.color.iter_mut().flatten().for_each(|plane| plane[index] = [0.0; 4]);
        if let Some(plane) = &mut self.depth {
            plane[index] = 0.0;
        }
        self.coverage[index] = false;
    }

    /// Stores one pixel, if it is covered and lies in the band.
    pub fn store_pixel(&mut self, x: u32, y: u32, pixel: &PixelOut) {
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

impl Counters {
    /// Adds the counters of another part of the picture.
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

/// Returns the bytes that a pixel takes in a frame of a shader.
pub(crate) fn bytes_per_pixel(shader: &Shader) -> u64 {
    let planes = shader.frame_targets().into_iter().filter(|on| *on).count() as u64;
    planes * 16 + if shader.writes_depth() { 4 } else { 0 } + 1
}

/// Returns the number of pixels of a rectangle that lies in a picture and fits a limit of memory at
/// `bytes` bytes a pixel.
///
/// # Errors
/// [`RunError::NoPixels`], [`RunError::AreaOutside`], [`RunError::TooLarge`].
pub(crate) fn pixels_in(
    rect: PixelRect,
    [width, height]: [u32; 2],
    bytes: u64,
    limit: u64,
) -> Result<usize, RunError> {
    check_area(rect, [width, height])?;
    let pixels = u64::from(rect.width) * u64::from(rect.height);
    let bytes = pixels.saturating_mul(bytes);
    usize::try_from(pixels).ok().filter(|_| bytes <= limit).ok_or(RunError::TooLarge {
        width: rect.width,
        height: rect.height,
        bytes,
        limit,
    })
}

/// Checks that a frame of a rectangle can be allocated.
///
/// # Errors
/// [`RunError::Allocation`].
pub(crate) fn check_frame(area: PixelRect, bytes_per_pixel: u64) -> Result<(), RunError> {
    let PixelRect { width, height, .. } = area;
    let bytes = (u64::from(width) * u64::from(height)).saturating_mul(bytes_per_pixel);
    check_available(bytes, || format!("a frame of {width}x{height}"))
}

/// Checks that a rectangle has pixels and lies in a picture of this width and height.
///
/// # Errors
/// [`RunError::NoPixels`] and [`RunError::AreaOutside`].
pub(crate) fn check_area(rect: PixelRect, [width, height]: [u32; 2]) -> Result<(), RunError> {
    if rect.width == 0 || rect.height == 0 {
        return Err(RunError::NoPixels { width: rect.width, height: rect.height });
    }
    let fits = |start: u32, length: u32, size: u32| {
        start.checked_add(length).is_some_and(|end| end <= size)
    };
    if !fits(rect.x, rect.width, width) || !fits(rect.y, rect.height, height) {
        return Err(RunError::AreaOutside { area: rect, width, height });
    }
    Ok(())
}
