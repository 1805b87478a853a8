//! Prepared draws: the loop over the batches of a band.

use std::sync::{Arc, Mutex, PoisonError};

use super::band_target::BandTarget;
use super::batch_io::{LoadInputs, StoreOutputs, init_coverage};
use super::code_version::{CodeVersion, SurfaceCode, lock};
use super::interp::{Interpreter, Scratch};
use super::native_code::NativeCode;
use super::tile::{ChunkOrder, PixelCenters, ROWS, Tile};
use super::uniforms::Uniforms;
use r500_exec::reference::Group;
use r500_exec::{Band, BandStats, Draw, DrawKey, PixelRect, PreparedDraw, RunError, RunInfo};
use r500_ir::Function;
use r500_lift::SymbolicConstants;
use r500_simd::Simd;

/// A prepared draw, run batch by batch.
pub struct FastDraw {
    pub(super) key: DrawKey,
    pub(super) uniforms: Uniforms,
    pub(super) centers: PixelCenters,
    version: Mutex<Arc<CodeVersion>>,
    /// Code for surfaces.
    pub(super) surfaces: Option<SurfaceCode>,
}

impl FastDraw {
    /// Returns a draw with its code, which must be compiled from the draw's function.
    #[must_use]
    pub fn new(draw: &Draw<'_>, code: NativeCode, simd: Simd) -> Self {
        Self {
            key: DrawKey::of(draw),
            uniforms: Uniforms::default(),
            centers: PixelCenters::new(draw.bindings.size()),
            version: Mutex::new(Arc::new(CodeVersion::new(code, simd))),
            surfaces: None,
        }
    }

    /// Adds the symbolic constants of the lifted function, whose values [`update`](PreparedDraw::update) changes.
    #[must_use]
    pub fn with_uniforms(
        self,
        symbolic: SymbolicConstants,
        function: &Function,
        draw: &Draw<'_>,
    ) -> Self {
        Self { uniforms: Uniforms::new(symbolic, function, draw), ..self }
    }

    /// Replaces the code by other code of the same function, for bands that start later.
    pub fn replace_code(&self, mut code: NativeCode, simd: Simd) {
        // The code may have been compiled with the values of an earlier draw.
        code.code.set_uniforms(self.uniforms.values());
        *lock(&self.version) = Arc::new(CodeVersion::new(code, simd));
    }
}

impl FastDraw {
    /// Draws a band batch by batch, from left to right: rows of batches by machine code alone where possible, other batches by
    /// `draw_tile`.
    pub(super) fn draw_batches<C: BandTarget>(
        &self,
        version: &CodeVersion,
        draw: &Draw<'_>,
        band: &mut C,
        mut draw_tile: impl FnMut(&Tile<'_>, &mut Interpreter<'_>, &mut C) -> Result<(), RunError>,
    ) -> Result<BandStats, RunError> {
        let CodeVersion { simd, code, batch_width, scratch_pool } = version;
        let chunks = (batch_width * (ROWS / 4)) as usize;
        let scratch = lock(scratch_pool).pop().unwrap_or_else(|| Scratch::new(code, chunks));
        let mut interp = Interpreter::new(draw, code, *simd, scratch);
        let rect = band.rect();
        if !code.discards && draw.bindings.covers_all() {
            // Once, in long stores, instead of for each row of each batch.
            band.init_coverage();
            interp.coverage_stored = true;
        }
        let (mut x, y) = (rect.x - rect.x % 4, rect.y - rect.y % ROWS);
        let single_unit_draw = code.single_unit_draw();
        // Bytecode executes adjacent chunks that take the same branch together; machine code branches on its own.
        let order = if single_unit_draw.is_some() { ChunkOrder::Rows } else { ChunkOrder::Squares };
        while x < rect.x + rect.width {
            let tile = Tile { x, y, columns: *batch_width, order, centers: &self.centers };
            let mut drawn = 0;
            if let Some(single_unit) = single_unit_draw {
                drawn = single_unit.draw(&tile, &mut interp, band)?;
            }
            if drawn == 0 {
                draw_tile(&tile, &mut interp, band)?;
                drawn = 1;
            }
            x += drawn * batch_width * 4;
        }
        let (counters, scratch) = interp.finish();
        lock(scratch_pool).push(scratch);
        Ok(BandStats { counters, ..BandStats::default() })
    }

    /// Replays chunks with a group hazard in the reference engine.
    fn replay_as_groups(
        draw: &Draw<'_>,
        tile: &Tile<'_>,
        interp: &mut Interpreter<'_>,
        band: &mut Band<'_>,
    ) -> Result<(), RunError> {
        if !std::mem::take(&mut interp.any_replay) {
            return Ok(());
        }
        for (chunk, (x, y)) in tile.chunks().enumerate() {
            if !std::mem::take(&mut interp.scratch.needs_replay[chunk]) {
                continue;
            }
            interp.counters.killed -= u64::from(interp.scratch.killed[chunk]);
            let mut group = Group::new(draw, PixelRect { x, y, width: 4, height: 4 });
            group.run()?;
            for lane in group.state().lanes() {
                band.clear_pixel(lane.x, lane.y);
                band.store_pixel(lane.x, lane.y, &lane.output());
            }
            interp.counters.merge(group.state().counters());
        }
        Ok(())
    }
}

impl PreparedDraw for FastDraw {
    fn band_rows(&self) -> u32 {
        ROWS
    }

    fn accepts(&self, draw: &Draw<'_>) -> bool {
        self.key.matches(draw)
    }

    fn update(&mut self, draw: &Draw<'_>) -> bool {
        if !self.key.matches_but_constants(draw) || !self.uniforms.allow(&self.key, draw) {
            return false;
        }
        if self.key.changed_constants(draw).next().is_some() {
            self.key.set_constants(draw);
            self.uniforms.set(draw);
            let version = self.version.get_mut().unwrap_or_else(PoisonError::into_inner);
            // No band is being drawn, so this is the only reference to the version.
            let Some(version) = Arc::get_mut(version) else { return false };
            version.set_uniforms(self.uniforms.values());
            if let Some(surfaces) = &mut self.surfaces {
                surfaces.version.set_uniforms(self.uniforms.values());
            }
        }
        true
    }

    fn draw_band(&self, draw: &Draw<'_>, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        let version = Arc::clone(&lock(&self.version));
        self.draw_batches(&version, draw, band, |tile, interp, band| {
            let simd = interp.simd;
            if init_coverage(tile, interp, band.rect()) {
                interp.begin(tile);
                simd.run_plain(LoadInputs { tile, interp });
                interp.run(tile, band)?;
            }
            simd.run_plain(StoreOutputs { tile, interp, band });
            Self::replay_as_groups(draw, tile, interp, band)
        })
    }

    fn run_info(&self) -> RunInfo {
        RunInfo { simd: Some(lock(&self.version).simd.name()), ..RunInfo::of("fast") }
    }
}
