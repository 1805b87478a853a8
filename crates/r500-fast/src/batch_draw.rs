//! The draw of the fast engine, which detects constants that change.

use r500_exec::{Band, BandStats, Draw, PreparedDraw, RunError, RunInfo};
use r500_lift::{LiftInput, ProgramAnalysis, lift_symbolic};
use r500_simd::Simd;

use super::draw::FastDraw;
use super::native_code::NativeCode;
use super::uniforms::changed_channels;

/// A draw of the fast engine. A constant that changes becomes a uniform: the program is lifted again once, not for further changes.
pub(crate) struct BatchDraw {
    batches: FastDraw,
    analysis: ProgramAnalysis,
    simd: Simd,
}

impl BatchDraw {
    pub(crate) fn new(batches: FastDraw, analysis: ProgramAnalysis, simd: Simd) -> Self {
        Self { batches, analysis, simd }
    }
}

impl PreparedDraw for BatchDraw {
    fn band_rows(&self) -> u32 {
        self.batches.band_rows()
    }

    fn accepts(&self, draw: &Draw<'_>) -> bool {
        self.batches.accepts(draw)
    }

    fn update(&mut self, draw: &Draw<'_>) -> bool {
        if self.batches.update(draw) {
            return true;
        }
        let FastDraw { key, uniforms, .. } = &self.batches;
        if !key.matches_but_constants(draw) {
            return false;
        }
        let mut symbolic = uniforms.symbolic.clone();
        for (source, last, now) in changed_channels(key, draw) {
            symbolic.widen(source, last, now);
        }
        // The key has the program and its integer and boolean constants, so the analysis holds.
        let Ok(input) = LiftInput::of_draw(draw) else { return false };
        let Ok(function) = lift_symbolic(&input, &self.analysis, &symbolic) else { return false };
        let values = function.uniform_values(input.constants);
        let code = NativeCode::batch(&function, &values, self.simd);
        let batches = FastDraw::new(draw, code, self.simd);
        self.batches = batches.with_uniforms(symbolic, &function, draw);
        true
    }

    fn draw_band(&self, draw: &Draw<'_>, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        self.batches.draw_band(draw, band)
    }

    fn run_info(&self) -> RunInfo {
        self.batches.run_info()
    }
}
