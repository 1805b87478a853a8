//! The interface of engines, and drawing a frame in bands of rows over threads.

use r500_isa::TARGETS;
use r500_isa::state::UsOutFmt;

use crate::frame::{Band, BandStats, Frame, RunInfo, check_area};
use crate::parallel::{for_each_band, task_count};
use crate::quads::PreparedQuads;
use crate::{Bindings, Draw, DrawKey, Options, PixelRect, RunError, Shader, Surfaces};

/// An engine: runs shaders over pixels.
///
/// The [`reference`](crate::reference) engine defines the semantics; every other engine gives the same
/// frame bit for bit. The engines of this project implement it; an embedder passes one to [`draw`] or to
/// [`Drawing`](crate::Drawing).
pub trait Engine: Send + Sync {
    /// Returns the name, as `--engine` spells it.
    fn name(&self) -> &'static str;

    /// Compiles a draw, which can then be drawn any number of times. The result borrows nothing from the draw. An embedder uses
    /// [`Drawing::new`](crate::Drawing::new).
    #[doc(hidden)]
    fn prepare(&self, draw: Draw<'_>) -> Box<dyn PreparedDraw>;

    /// Compiles a draw of quads, whose inputs have values for each pixel. An embedder uses [`QuadDrawing::new`](crate::QuadDrawing::new). An engine
    /// without a form of its own returns [`ReferenceQuads`](crate::ReferenceQuads), with the reason.
    #[doc(hidden)]
    fn prepare_quads(&self, draw: Draw<'_>) -> Box<dyn PreparedQuads>;

    /// Returns how often programs were prepared and reused; `None` if the engine prepares none.
    fn program_use(&self) -> Option<ProgramUse> {
        None
    }
}

/// How often an engine prepared programs, and how often it reused one: for the same program with other constants, inputs or textures of the same
/// kind, in a picture of any size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramUse {
    /// Programs that were translated and compiled.
    pub prepared: u64,
    /// Draws that used a prepared program.
    pub reused: u64,
}

impl std::ops::Add for ProgramUse {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { prepared: self.prepared + other.prepared, reused: self.reused + other.reused }
    }
}

impl std::fmt::Display for ProgramUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fragment programs: {} prepared, {} reused", self.prepared, self.reused)
    }
}

/// A draw compiled by an engine. An embedder uses a [`Drawing`](crate::Drawing), which contains one.
pub trait PreparedDraw: Send + Sync {
    /// Returns the height of the bands that a frame is cut into: even, and a multiple of the group's height
    /// where the group size is visible.
    fn band_rows(&self) -> u32;

    /// Returns whether it is valid for a draw. Compiled code may depend on all that [`DrawKey`](crate::DrawKey) lists.
    fn accepts(&self, draw: &Draw<'_>) -> bool;

    /// Adapts to the constants of a draw without compiling. Returns whether it then [`accepts`](Self::accepts) the
    /// draw; if not, the draw has to be prepared again.
    fn update(&mut self, draw: &Draw<'_>) -> bool {
        self.accepts(draw)
    }

    /// Draws one band of a draw that it [`accepts`](Self::accepts). Every pixel of the band is overwritten.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn draw_band(&self, draw: &Draw<'_>, band: &mut Band<'_>) -> Result<BandStats, RunError>;

    /// Returns a painter to surfaces of given formats, without an intermediate frame of floats, for a draw that this
    /// [`accepts`](Self::accepts); `None` if there is none, or not yet. Formats are by target; `None` where there is no surface.
    fn surface_painter(
        &mut self,
        draw: &Draw<'_>,
        formats: &[Option<UsOutFmt>; TARGETS],
    ) -> Option<&dyn SurfacePainter> {
        let _ = (draw, formats);
        None
    }

    /// Returns which engine draws, and why if it is not the requested one.
    fn run_info(&self) -> RunInfo;
}

/// A draw compiled for the formats of surfaces.
pub trait SurfacePainter: Sync {
    /// Draws a band of surfaces of these formats. The result is that of a frame of floats converted with
    /// [`color::store`](crate::output::color::store): pixels that are not covered keep their bytes. Depth is not stored.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn draw_surfaces(
        &self,
        draw: &Draw<'_>,
        surfaces: &mut Surfaces<'_>,
    ) -> Result<BandStats, RunError>;
}

/// A draw prepared by another engine than the requested one.
#[doc(hidden)]
pub struct Fallback {
    /// The prepared draw.
    pub prepared: Box<dyn PreparedDraw>,
    /// The key of the draw that caused the fallback: with other bindings the requested engine may draw.
    pub key: DrawKey,
    /// Why the requested engine does not draw; if the other engine falls back, too, its reason is reported.
    pub reason: String,
}

impl PreparedDraw for Fallback {
    fn band_rows(&self) -> u32 {
        self.prepared.band_rows()
    }

    fn accepts(&self, draw: &Draw<'_>) -> bool {
        self.key.matches_but_constants(draw) && self.prepared.accepts(draw)
    }

    fn update(&mut self, draw: &Draw<'_>) -> bool {
        self.key.matches_but_constants(draw) && self.prepared.update(draw)
    }

    fn draw_band(&self, draw: &Draw<'_>, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        self.prepared.draw_band(draw, band)
    }

    fn surface_painter(
        &mut self,
        draw: &Draw<'_>,
        formats: &[Option<UsOutFmt>; TARGETS],
    ) -> Option<&dyn SurfacePainter> {
        self.prepared.surface_painter(draw, formats)
    }

    fn run_info(&self) -> RunInfo {
        let run_info = self.prepared.run_info();
        let fallback_reason = run_info.fallback_reason.or(Some(self.reason.clone()));
        RunInfo { fallback_reason, ..run_info }
    }
}

/// Draws a picture with an engine.
///
/// The frame does not depend on the engine or the number of threads.
///
/// # Errors
/// [`RunError`] if the picture is empty or too large, or a limit is exceeded.
pub fn draw(
    engine: &dyn Engine,
    shader: &Shader,
    bindings: &Bindings,
    options: &Options<'_>,
) -> Result<Frame, RunError> {
    let draw = Draw::new(shader, bindings, options)?;
    let mut frame = Frame::new(shader, bindings, options)?;
    draw_into(&*engine.prepare(draw), &draw, &mut frame)?;
    Ok(frame)
}

/// Draws a prepared draw into a frame that [`Frame::new`] returned for the same shader, and overwrites it. For sequences of
/// pictures with the same bindings; a [`Drawing`](crate::Drawing) takes new bindings for each picture.
///
/// # Errors
/// [`RunError::NotPrepared`] if the draw was prepared for another shader, other options or other bindings; [`RunError`] if a
/// limit is exceeded; the frame then holds parts of both pictures.
#[doc(hidden)]
pub fn draw_into(
    prepared: &dyn PreparedDraw,
    draw: &Draw<'_>,
    frame: &mut Frame,
) -> Result<(), RunError> {
    if !prepared.accepts(draw) {
        return Err(RunError::NotPrepared);
    }
    let area = frame.area();
    check_area(area, draw.bindings.size())?;
    let rows = prepared.band_rows().max(2);
    let stats = for_each_band(
        frame.bands(rows),
        Band::rect,
        tasks_for(area, rows, draw.options),
        area.height.into(),
        draw.options,
        || (),
        |(), mut band| {
            draw.check()?;
            prepared.draw_band(draw, &mut band)
        },
    )?;
    frame.warnings = stats.warnings;
    frame.counters = stats.counters;
    frame.run_info = prepared.run_info();
    Ok(())
}

/// Number of pixels below which a second thread does not pay off.
const PARALLEL_PIXELS: u64 = 4096;

/// Returns how many tasks draw an area in bands of `rows` rows.
pub(crate) fn tasks_for(area: PixelRect, rows: u32, options: &Options<'_>) -> usize {
    if u64::from(area.width) * u64::from(area.height) < PARALLEL_PIXELS || area.height <= rows {
        return 1;
    }
    task_count(options.threads).clamp(1, area.height.div_ceil(rows) as usize + 1)
}
