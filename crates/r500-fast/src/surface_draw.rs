//! Draws to surfaces: machine code stores colours in the surfaces' formats.
//!
//! If a batch is inside the surfaces and all of its pixels are covered at the start, code stores to them directly: by rows of batches
//! ([`direct`](super::direct)), or batch by batch. Otherwise it stores to a staging buffer in the same format, from which the covered
//! pixels inside the surfaces are copied.

use r500_exec::output::color::PixelEncoding;
use r500_exec::{BandStats, Draw, RunError, SurfacePainter, Surfaces};
use r500_simd::Simd;
use r500_simd::level::Portable;

use super::band_target::{BandTarget, SurfaceBand};
use super::batch_io::{LoadInputs, init_coverage};
use super::bytecode::Op;
use super::chunk_stores::CoverageBits;
use super::code_version::{CodeVersion, SurfaceCode};
use super::draw::FastDraw;
use super::interp::{Interpreter, Scratch};
use super::native_code::NativeCode;
use super::output_lines::OutputLines;
use super::render_targets::TARGETS;
use super::tile::Tile;
use r500_lanes::LANES;

impl NativeCode {
    /// Returns whether machine code stores all colours and no group needs a replay: the reference engine, which replays groups, cannot
    /// store to surfaces.
    #[must_use]
    pub fn stores_surfaces(&self) -> bool {
        let hazard = |op: &Op| matches!(op, Op::GroupHazard(_));
        self.code.stores_colors() && !self.code.ops.iter().any(hazard)
    }
}

impl FastDraw {
    /// Sets the code for surfaces with these encodings. It must have been compiled for them, and [store](NativeCode::stores_surfaces) them.
    pub fn set_surface_code(
        &mut self,
        encodings: [Option<PixelEncoding>; TARGETS],
        mut code: NativeCode,
        simd: Simd,
    ) {
        // The code may have been compiled with the values of an earlier draw.
        code.code.set_uniforms(self.uniforms.values());
        let version = CodeVersion::new(code, simd);
        self.surfaces = Some(SurfaceCode { encodings, version });
    }

    /// Draws one tile, and counts the discarded pixels.
    fn draw_surface_tile(
        tile: &Tile<'_>,
        interp: &mut Interpreter<'_>,
        band: &mut SurfaceBand<'_, '_>,
    ) -> Result<(), RunError> {
        let simd = interp.simd;
        let mut staging = std::mem::take(&mut interp.scratch.staging);
        let covered = init_coverage(tile, interp, band.rect());
        let in_place = tile.inside(band.rect())
            && interp.draw.bindings.covers_all()
            && band.has_offsets(&mut staging, tile);
        let mut result = Ok(());
        if covered {
            interp.begin(tile);
            simd.run_plain(LoadInputs { tile, interp });
            let targets = match in_place {
                true => band.targets(&staging, tile),
                false => staging.staged_encoded(tile, band.encodings),
            };
            result = interp.run_with(targets, OutputLines::NONE);
        }
        interp.scratch.staging = staging;
        result?;
        let discards = interp.code.discards;
        let Scratch { covered, killed, staging, .. } = &interp.scratch;
        for (number, (x, y)) in tile.chunks().enumerate() {
            let bits = CoverageBits::of(Portable, &covered[number]);
            if discards {
                interp.counters.killed += u64::from(killed[number] - bits.count());
            }
            if !interp.coverage_stored {
                band.copy_coverage([x, y], bits);
            }
            if in_place || bits.count() == 0 {
                continue;
            }
            for (target, pixels) in staging.encoded.iter().enumerate() {
                let Some(encoding) = band.encodings[target] else { continue };
                let size = LANES * usize::from(encoding.bytes);
                band.copy_chunk(target, [x, y], bits, &pixels[number * size..][..size]);
            }
        }
        Ok(())
    }
}

impl SurfacePainter for FastDraw {
    fn draw_surfaces(
        &self,
        draw: &Draw<'_>,
        surfaces: &mut Surfaces<'_>,
    ) -> Result<BandStats, RunError> {
        let SurfaceCode { encodings, version } =
            self.surfaces.as_ref().expect("a painter has code for its surfaces");
        let mut band = SurfaceBand { surfaces, encodings };
        self.draw_batches(version, draw, &mut band, Self::draw_surface_tile)
    }
}
