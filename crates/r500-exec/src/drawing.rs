//! A drawing: a shader prepared for an engine, for any number of pictures with changing bindings.

use std::sync::{Arc, Mutex};

use crate::engine::tasks_for;
use crate::frame::check_area;
use crate::parallel::{for_each_band, lock};
use crate::surface::Tile;
use crate::{
    Band, BandStats, Bindings, Draw, Engine, Frame, Options, PixelRect, PreparedDraw, RunError,
    RunInfo, Shader, Surfaces, draw_into,
};

/// A shader prepared for an engine. Bindings are given for each picture and not kept.
///
/// Between pictures, float constants, the values of inputs that are given pixel by pixel, and coverage masks can change without
/// another compilation; the [setters](Bindings::set_constant) document the cost of other changes. The first pictures after a change
/// may take longer, and allocate; then [`draw_to`](Self::draw_to) and [`draw_into`](Self::draw_into) allocate nothing themselves.
/// (Rayon's queue occasionally allocates a block, and the fast engine allocates a text for its
/// [fallback reason](RunInfo::fallback_reason) if it uses another engine.)
///
/// ```
/// use r500_exec::{Bindings, ColorSurface, Drawing, Options, PixelRect, Shader, Surfaces, reference::Reference};
/// use r500_isa::Instruction;
/// use r500_program::{Job, Program};
///
/// // OUT LAST src0.rgb = const[0], src0.a = const[0] : out[0].rgb = MAD src0.rgb 1 0, out[0].a = MAX src0.a src0.a ;
/// let code = vec![Instruction([0x78101, 0x4_0100, 0x4_0100, 0x00db_0220, 0x0000_c003, 0x0049_0000])];
/// let job = Job::from_program(Program::from_code(code));
/// let mut bindings = Bindings::new(&job, [4, 4])?;
/// let mut drawing = Drawing::new(&Reference, Shader::new(&job.program)?, &bindings, Options::default())?;
///
/// let mut pixels = [0; 4 * 4 * 4];
/// for brightness in [0.25, 1.0] {
///     bindings.set_constant(0, [brightness; 4])?;
///     let surface = ColorSurface::rgba8(&mut pixels, 16);
///     let area = PixelRect { x: 0, y: 0, width: 4, height: 4 };
///     drawing.draw_to(&bindings, &mut Surfaces::color(area, surface))?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Drawing<'a> {
    engine: &'a dyn Engine,
    shader: Arc<Shader>,
    options: Options<'a>,
    prepared: Box<dyn PreparedDraw>,
    /// The unused tiles of [`draw_to`](Self::draw_to), a free list.
    tiles: Mutex<Vec<Tile>>,
}

impl<'a> Drawing<'a> {
    /// Prepares a drawing, specialised for the current bindings.
    ///
    /// # Errors
    /// [`RunError::NoPixels`] and [`RunError::OddGroup`].
    pub fn new(
        engine: &'a dyn Engine,
        shader: impl Into<Arc<Shader>>,
        bindings: &Bindings,
        options: Options<'a>,
    ) -> Result<Self, RunError> {
        let shader = shader.into();
        let [width, height] = bindings.size();
        check_area(PixelRect { x: 0, y: 0, width, height }, bindings.size())?;
        let prepared = engine.prepare(Draw::new(&shader, bindings, &options)?);
        Ok(Self { engine, shader, options, prepared, tiles: Mutex::default() })
    }

    /// Returns the shader.
    #[must_use]
    pub fn shader(&self) -> &Shader {
        &self.shader
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &Options<'a> {
        &self.options
    }

    /// Returns the options, to be changed for the next picture. Changes of limits, threads and the area cost nothing; other changes
    /// make the engine compile again.
    pub fn options_mut(&mut self) -> &mut Options<'a> {
        &mut self.options
    }

    /// Returns which engine draws, and why if it is not the requested one.
    #[must_use]
    pub fn run_info(&self) -> RunInfo {
        self.prepared.run_info()
    }

    /// Returns a frame for the pictures, of [`Options::area`].
    ///
    /// # Errors
    /// [`RunError`] if the picture is empty or too large.
    pub fn frame(&self, bindings: &Bindings) -> Result<Frame, RunError> {
        Frame::new(&self.shader, bindings, &self.options)
    }

    /// Draws into a frame that [`frame`](Self::frame) returned, and overwrites it.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded; the frame then holds parts of both pictures.
    pub fn draw_into(&mut self, bindings: &Bindings, frame: &mut Frame) -> Result<(), RunError> {
        let BandPainter { prepared, draw } = self.painter(bindings)?;
        draw_into(prepared, &draw, frame)
    }

    /// Draws into memory of the caller: the rectangle [`Surfaces::area`], in the surfaces' formats. Pixels that are not covered
    /// keep their colours.
    ///
    /// # Errors
    /// [`RunError::SurfaceTooSmall`] and [`RunError::AreaOutside`]: nothing is stored; [`RunError`] if a limit is exceeded: the
    /// picture is stored in part.
    pub fn draw_to(
        &mut self,
        bindings: &Bindings,
        surfaces: &mut Surfaces<'_>,
    ) -> Result<BandStats, RunError> {
        check_area(surfaces.area, bindings.size())?;
        surfaces.check()?;
        self.update_prepared(bindings)?;
        let draw = Draw::new(&self.shader, bindings, &self.options)?;
        let (targets, depth) = (self.shader.frame_targets(), self.shader.writes_depth());
        let rows = self.prepared.band_rows().max(2);
        let area = surfaces.area;
        let tasks = tasks_for(area, rows, &self.options);
        // Machine code stores colours in the surfaces' formats, but not depth.
        let formats = surfaces.colors.each_ref().map(|surface| Some(surface.as_ref()?.format));
        if !(depth && surfaces.depth.is_some())
            && let Some(painter) = self.prepared.surface_painter(&draw, &formats)
        {
            return for_each_band(
                surfaces.bands(rows),
                |band| band.area,
                tasks,
                area.height.into(),
                &self.options,
                || (),
                |(), mut surfaces| painter.draw_surfaces(&draw, &mut surfaces),
            );
        }
        let paint = |tile: &mut PooledTile<'_>, mut surfaces: Surfaces<'_>| {
            let mut stats = BandStats::default();
            for rect in Tile::cut(surfaces.area, self.options.group[0]) {
                let mut band = tile.tile.band(rect, targets, depth);
                stats.merge(&self.prepared.draw_band(&draw, &mut band)?);
                surfaces.store(&band);
            }
            Ok(stats)
        };
        let tile =
            || PooledTile { tile: lock(&self.tiles).pop().unwrap_or_default(), pool: &self.tiles };
        let bands = surfaces.bands(rows);
        for_each_band(
            bands,
            |band| band.area,
            tasks,
            area.height.into(),
            &self.options,
            tile,
            paint,
        )
    }

    /// Returns a painter of single bands, for a caller with its own scheduler. The time limit counts from here.
    ///
    /// ```
    /// # use r500_exec::{Bindings, Drawing, Options, Shader, reference::Reference};
    /// # use r500_isa::Instruction;
    /// # use r500_program::{Job, Program};
    /// # let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
    /// # let job = Job::from_program(Program::from_code(code));
    /// # let bindings = Bindings::new(&job, [64, 64])?;
    /// let mut drawing = Drawing::new(&Reference, Shader::new(&job.program)?, &bindings, Options::default())?;
    /// let mut frame = drawing.frame(&bindings)?;
    /// let painter = drawing.painter(&bindings)?;
    /// std::thread::scope(|scope| {
    ///     for mut band in frame.bands(painter.band_rows()) {
    ///         let painter = &painter;
    ///         scope.spawn(move || painter.draw_band(&mut band));
    ///     }
    /// });
    /// # assert_eq!(frame.color(0, 0, 0), [1.0 / 128.0, 1.0 / 128.0, 0.0, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError::OddGroup`].
    pub fn painter<'d>(&'d mut self, bindings: &'d Bindings) -> Result<BandPainter<'d>, RunError> {
        let (prepared, draw) = self.prepared_draw(bindings)?;
        Ok(BandPainter { prepared, draw })
    }

    /// Returns the prepared draw, valid for these bindings, and the draw.
    pub(crate) fn prepared_draw<'d>(
        &'d mut self,
        bindings: &'d Bindings,
    ) -> Result<(&'d dyn PreparedDraw, Draw<'d>), RunError> {
        self.update_prepared(bindings)?;
        let draw = Draw::new(&self.shader, bindings, &self.options)?;
        Ok((&*self.prepared, draw))
    }

    /// Updates the prepared draw for these bindings, or prepares it again.
    fn update_prepared(&mut self, bindings: &Bindings) -> Result<(), RunError> {
        let draw = Draw::new(&self.shader, bindings, &self.options)?;
        if !self.prepared.update(&draw) {
            self.prepared = self.engine.prepare(draw);
        }
        Ok(())
    }
}

impl std::fmt::Debug for Drawing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawing").field("run_info", &self.run_info()).finish_non_exhaustive()
    }
}

/// A tile of a drawing's free list, returned to it when dropped.
struct PooledTile<'p> {
    tile: Tile,
    pool: &'p Mutex<Vec<Tile>>,
}

impl Drop for PooledTile<'_> {
    fn drop(&mut self) {
        lock(self.pool).push(std::mem::take(&mut self.tile));
    }
}

/// A painter of single bands of a picture, for any thread.
pub struct BandPainter<'d> {
    prepared: &'d dyn PreparedDraw,
    draw: Draw<'d>,
}

impl BandPainter<'_> {
    /// Returns the height of the [bands](Frame::bands) to cut a frame into.
    #[must_use]
    pub fn band_rows(&self) -> u32 {
        self.prepared.band_rows().max(2)
    }

    /// Draws one band. Every pixel of it is overwritten.
    ///
    /// # Errors
    /// [`RunError::AreaOutside`] if the band is not of a picture of this size; [`RunError`] if a limit is exceeded.
    pub fn draw_band(&self, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        check_area(band.rect(), self.draw.bindings.size())?;
        self.prepared.draw_band(&self.draw, band)
    }
}
