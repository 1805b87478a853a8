//! Surfaces: memory of the caller that a drawing is stored to, in the formats of the card.

use r500_isa::TARGETS;
use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};

use crate::frame::{Band, BandPixels, Pixel};
use crate::output::color;
use crate::{PixelRect, RunError};

/// A rectangle of a picture, and the memory that its colours, depth and coverage are stored to. The first row of each
/// surface is the lowest one of the rectangle (y counts upward, as in a [`Frame`](crate::Frame)).
///
/// As on the card, pixels that are not covered or that are killed keep their previous colours and depth.
#[derive(Debug)]
pub struct Surfaces<'s> {
    /// The part of the picture to draw.
    pub area: PixelRect,
    /// Colours of targets A to D. A target that the program never writes stores 0 where pixels are covered.
    pub colors: [Option<ColorSurface<'s>>; TARGETS],
    /// Depth as the program wrote it. Unchanged if the program never writes it.
    pub depth: Option<Plane<'s, f32>>,
    /// Whether a pixel is covered and not killed.
    pub coverage: Option<Plane<'s, bool>>,
}

/// A colour surface.
#[derive(Debug)]
pub struct ColorSurface<'s> {
    /// The format of a pixel. A format that stores nothing (`UNUSED`, reserved codes) leaves the bytes unchanged.
    pub format: UsOutFmt,
    /// The pixels.
    pub bytes: &'s mut [u8],
    /// Bytes from the start of a row to that of the next.
    pub pitch: usize,
}

/// A surface of plain values.
#[derive(Debug)]
pub struct Plane<'s, T> {
    /// The values.
    pub values: &'s mut [T],
    /// Values from the start of a row to that of the next.
    pub pitch: usize,
}

impl<'s> ColorSurface<'s> {
    /// Returns a surface with red, green, blue and alpha in a byte each, in this order in memory.
    #[must_use]
    pub fn rgba8(bytes: &'s mut [u8], pitch: usize) -> Self {
        let format = eight_bit([OutSel::R, OutSel::G, OutSel::B, OutSel::A]);
        Self { format, bytes, pitch }
    }

    /// Returns a surface with blue, green, red and alpha in a byte each, in this order in memory: ARGB8888 in drivers.
    #[must_use]
    pub fn bgra8(bytes: &'s mut [u8], pitch: usize) -> Self {
        let format = eight_bit([OutSel::B, OutSel::G, OutSel::R, OutSel::A]);
        Self { format, bytes, pitch }
    }
}

fn eight_bit([c0, c1, c2, c3]: [OutSel; 4]) -> UsOutFmt {
    UsOutFmt(0)
        .with(UsOutFmt::OUT_FMT, OutFormat::C4_8)
        .with(UsOutFmt::C0_SEL, c0)
        .with(UsOutFmt::C1_SEL, c1)
        .with(UsOutFmt::C2_SEL, c2)
        .with(UsOutFmt::C3_SEL, c3)
}

impl<'s> Surfaces<'s> {
    /// Returns surfaces with target A only.
    #[must_use]
    pub fn color(area: PixelRect, surface: ColorSurface<'s>) -> Self {
        Self { area, colors: [Some(surface), None, None, None], depth: None, coverage: None }
    }

    /// Checks that the memory holds the rectangle.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let PixelRect { width, height: rows, .. } = self.area;
        let width = width as usize;
        let holds = |what, unit, given: usize, row: usize, pitch: usize| {
            let last = pitch.checked_mul(rows.saturating_sub(1) as usize);
            let needed = last.and_then(|last| last.checked_add(row));
            match needed {
                Some(needed) if given >= needed && (pitch >= row || rows <= 1) => Ok(()),
                _ => Err(RunError::SurfaceTooSmall { what, unit, given, rows, row, pitch }),
            }
        };
        const TARGET: [&str; TARGETS] =
            ["colour target 0", "colour target 1", "colour target 2", "colour target 3"];
        for (what, surface) in TARGET.into_iter().zip(&self.colors) {
            if let Some(ColorSurface { format, bytes, pitch }) = surface {
                // A row of a format that stores nothing is empty.
                let size = color::bytes_per_pixel(*format);
                let row = size.map_or(0, |size| width.saturating_mul(size));
                holds(what, "bytes", bytes.len(), row, *pitch)?;
            }
        }
        if let Some(Plane { values, pitch }) = &self.depth {
            holds("depth", "values", values.len(), width, *pitch)?;
        }
        if let Some(Plane { values, pitch }) = &self.coverage {
            holds("coverage", "values", values.len(), width, *pitch)?;
        }
        Ok(())
    }

    /// Cuts the surfaces into bands of `rows` rows, aligned to y = 0 of the picture, lowest first.
    pub(crate) fn bands(&mut self, rows: u32) -> SurfaceBands<'_> {
        let colors = self.colors.each_mut().map(|surface| {
            surface.as_mut().map(|ColorSurface { format, bytes, pitch }| ColorSurface {
                format: *format,
                bytes,
                pitch: *pitch,
            })
        });
        SurfaceBands {
            rest: Surfaces {
                area: self.area,
                colors,
                depth: self.depth.as_mut().map(Plane::reborrow),
                coverage: self.coverage.as_mut().map(Plane::reborrow),
            },
            rows,
        }
    }

    /// Stores the pixels of a band that lies in the rectangle.
    pub(crate) fn store(&mut self, band: &Band<'_>) {
        let rect = band.rect();
        let width = rect.width as usize;
        let (left, low) = ((rect.x - self.area.x) as usize, (rect.y - self.area.y) as usize);
        for row in 0..rect.height as usize {
            let pixels = row * width..(row + 1) * width;
            let BandPixels { colors, depth, coverage: covered } = band.pixels(pixels);
            let (all, any) = (!covered.contains(&false), covered.contains(&true));
            if let Some(plane) = &mut self.coverage {
                plane.row(low + row, left, width).copy_from_slice(covered);
            }
            if !any {
                continue;
            }
            for (surface, colors) in self.colors.iter_mut().zip(colors) {
                let Some(ColorSurface { format, bytes, pitch }) = surface else { continue };
                let Some(size) = color::bytes_per_pixel(*format) else { continue };
                let start = (low + row) * *pitch + left * size;
                let bytes = &mut bytes[start..start + width * size];
                let colors = colors.unwrap_or_default();
                color::store_row(*format, colors, (!all).then_some(covered), bytes);
            }
            if let (Some(plane), Some(depth)) = (&mut self.depth, depth) {
                let to = plane.row(low + row, left, width).iter_mut();
                for ((to, depth), covered) in to.zip(depth).zip(covered) {
                    if *covered {
                        *to = *depth;
                    }
                }
            }
        }
    }
}

impl<T> Plane<'_, T> {
    fn reborrow(&mut self) -> Plane<'_, T> {
        Plane { values: self.values, pitch: self.pitch }
    }

    fn row(&mut self, row: usize, left: usize, width: usize) -> &mut [T] {
        let start = row * self.pitch + left;
        &mut self.values[start..start + width]
    }
}

/// The remaining bands of surfaces.
pub(crate) struct SurfaceBands<'s> {
    rest: Surfaces<'s>,
    rows: u32,
}

impl<'s> Iterator for SurfaceBands<'s> {
    type Item = Surfaces<'s>;

    fn next(&mut self) -> Option<Surfaces<'s>> {
        let area = self.rest.area.take_rows(self.rows)?;
        // The last band takes the rest of the memory: with a single row, the pitch may be smaller than the row.
        let rows = (self.rest.area.height > 0).then_some(area.height as usize);
        let colors = self.rest.colors.each_mut().map(|surface| {
            surface.as_mut().map(|ColorSurface { format, bytes, pitch }| ColorSurface {
                format: *format,
                bytes: cut(bytes, rows.map(|rows| rows * *pitch)),
                pitch: *pitch,
            })
        });
        let depth = self.rest.depth.as_mut().map(|plane| plane.cut(rows));
        let coverage = self.rest.coverage.as_mut().map(|plane| plane.cut(rows));
        Some(Surfaces { area, colors, depth, coverage })
    }
}

impl<'s, T> Plane<'s, T> {
    fn cut(&mut self, rows: Option<usize>) -> Self {
        let count = rows.map(|rows| rows * self.pitch);
        Self { values: cut(&mut self.values, count), pitch: self.pitch }
    }
}

/// Splits off the first `count` elements, or all.
fn cut<'a, T>(rest: &mut &'a mut [T], count: Option<usize>) -> &'a mut [T] {
    let count = count.unwrap_or(rest.len());
    let (head, tail) = std::mem::take(rest).split_at_mut(count);
    *rest = tail;
    head
}

/// Columns of a tile, as a multiple of 64: with the rows of a band a few hundred kilobytes of floats, which stay in
/// the second-level cache until they are converted.
const TILE_COLUMNS: u32 = 512;

/// A tile: the floats of a part of a band, before they are stored to a surface.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    color: [Vec<Pixel>; TARGETS],
    depth: Vec<f32>,
    coverage: Vec<bool>,
}

impl Tile {
    /// Returns the rectangles of a band that tiles cover; cuts no group of `group` columns.
    pub(crate) fn cut(band: PixelRect, group: u32) -> impl Iterator<Item = PixelRect> {
        let columns =
            if group <= TILE_COLUMNS { TILE_COLUMNS - TILE_COLUMNS % group } else { group };
        let end = band.x + band.width;
        let mut x = band.x;
        std::iter::from_fn(move || {
            let width = (columns - x % columns).min(end - x);
            let rect = PixelRect { x, width, ..band };
            x += width;
            (width != 0).then_some(rect)
        })
    }

    /// Returns the tile as a band with certain targets.
    pub(crate) fn band(
        &mut self,
        rect: PixelRect,
        targets: [bool; TARGETS],
        depth: bool,
    ) -> Band<'_> {
        let pixels = rect.width as usize * rect.height as usize;
        let mut target = 0;
        let color = self.color.each_mut().map(|plane| {
            let on = targets[target];
            target += 1;
            on.then(|| resized(plane, pixels))
        });
        let depth = depth.then(|| resized(&mut self.depth, pixels));
        Band::new(rect, color, depth, resized(&mut self.coverage, pixels))
    }
}

/// Returns the first `count` elements, after growing the vector if necessary. Their values are arbitrary.
fn resized<T: Clone + Default>(plane: &mut Vec<T>, count: usize) -> &mut [T] {
    if plane.len() < count {
        plane.resize(count, T::default());
    }
    &mut plane[..count]
}
