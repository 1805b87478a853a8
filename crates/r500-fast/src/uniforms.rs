//! Constants that change between draws: uniforms, and the draw of the fast engine, which finds out which ones do.

use r500_exec::{Band, BandStats, Draw, DrawKey, PreparedDraw, RunError, RunInfo};
use r500_ir::{ConstantChannel, Function, Range, SymbolicConstants, lift_symbolic};

use crate::codegen::NativeCode;
use crate::{FastDraw, Simd};

/// The uniforms of a function with their values, and what they may become.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uniforms {
    symbolic: SymbolicConstants,
    sources: Vec<ConstantChannel>,
    values: Vec<f32>,
}

impl Uniforms {
    /// Those of a function that was lifted with these symbolic constants.
    pub(crate) fn new(symbolic: SymbolicConstants, function: &Function, draw: &Draw<'_>) -> Self {
        let sources = function.uniforms.iter().map(|uniform| uniform.source).collect();
        Self { symbolic, sources, values: function.uniform_values(draw.bindings) }
    }

    /// The values, in the order of the function.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns whether the function holds for the constants of a draw: each that changes is symbolic, and in its range.
    pub(crate) fn allow(&self, key: &DrawKey, draw: &Draw<'_>) -> bool {
        changed_channels(key, draw).all(|(source, _, now)| {
            self.symbolic.range(source).is_some_and(|range| range.contains(Range::of(now)))
        })
    }

    /// Takes over the values of a draw.
    pub(crate) fn set(&mut self, draw: &Draw<'_>) {
        for (value, source) in self.values.iter_mut().zip(&self.sources) {
            *value = source.value(draw.bindings);
        }
    }
}

/// Returns the channels of constants that a draw has other values of, with the values of the key and of the draw.
fn changed_channels(
    key: &DrawKey,
    draw: &Draw<'_>,
) -> impl Iterator<Item = (ConstantChannel, f32, f32)> {
    key.changed_constants(draw).flat_map(|(constant, last, now)| {
        let constant = u8::try_from(constant).expect("bindings have 256 constants at most");
        (0..4u8).filter_map(move |channel| {
            let (last, now) = (last[usize::from(channel)], now[usize::from(channel)]);
            let source = ConstantChannel { constant, channel };
            (last.to_bits() != now.to_bits()).then_some((source, last, now))
        })
    })
}

/// A draw of the fast engine. A constant that changes becomes a uniform: the program is lifted again then, and no more.
pub(crate) struct BatchDraw {
    batches: FastDraw,
    simd: Simd,
}

impl BatchDraw {
    pub(crate) fn new(batches: FastDraw, simd: Simd) -> Self {
        Self { batches, simd }
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
        let Ok(function) = lift_symbolic(draw, &symbolic) else { return false };
        let code = NativeCode::batch(&function, &function.uniform_values(draw.bindings), self.simd);
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
