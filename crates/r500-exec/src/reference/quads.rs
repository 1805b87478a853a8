//! Quads, group by group.

use r500_isa::TARGETS;
use r500_simd::chunk::{LANES, SIDE, lane_xy};

use super::group::Group;
use crate::quads::{GROUP_QUADS, Lanes, PreparedQuads, QuadPixels, QuadStream, repeat_last};
use crate::{BandStats, Bindings, Counters, Draw, PixelRect, RunError, RunInfo};

/// A group of quads in the reference engine.
pub struct QuadGroup {
    bindings: Bindings,
    results: QuadResults,
    counters: Counters,
}

/// The results of a group.
#[derive(Clone, Debug, Default)]
struct QuadResults {
    colors: [[[f32; LANES]; 4]; TARGETS],
    depth: [f32; LANES],
    alive: [f32; LANES],
}

impl QuadGroup {
    /// Returns a group of a draw of quads.
    #[must_use]
    pub fn new(draw: &Draw<'_>) -> Self {
        let bindings = draw.bindings.clone();
        Self { bindings, results: QuadResults::default(), counters: Counters::default() }
    }

    /// Runs the program for a group, with the inputs that `load` stores for a temporary and a channel.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    ///
    /// # Panics
    /// If the draw is not one of a [`QuadDrawing`](crate::QuadDrawing).
    #[expect(clippy::expect_used, reason = "`QuadDrawing::new` binds values and a mask")]
    pub fn run(
        &mut self,
        draw: &Draw<'_>,
        covered: &[f32; LANES],
        mut load: impl FnMut(u8, u8, &mut [f32; LANES]),
    ) -> Result<(), RunError> {
        draw.check()?;
        let pixel = |lane: usize| {
            let (x, y) = lane_xy(lane);
            (y * SIDE + x) as usize
        };
        let mut lanes = [0.0; LANES];
        for input in draw.bindings.inputs() {
            for channel in 0..4 {
                load(input.temp, channel, &mut lanes);
                let values = self.bindings.input_values_mut(input.temp);
                let values = values.expect("the inputs of quads have values");
                for (lane, value) in lanes.iter().enumerate() {
                    values[pixel(lane)][usize::from(channel)] = *value;
                }
            }
        }
        let mask = self.bindings.coverage_mut().expect("quads have a mask");
        for (lane, covered) in covered.iter().enumerate() {
            mask[pixel(lane)] = covered.to_bits() != 0;
        }
        let draw = draw.with_bindings(&self.bindings);
        let mut group = Group::new(&draw, PixelRect { x: 0, y: 0, width: SIDE, height: SIDE });
        group.run()?;
        self.counters.merge(group.state().counters());
        for (lane, pixel) in group.state().lanes().iter().enumerate() {
            let pixel = pixel.output();
            for (target, color) in self.results.colors.iter_mut().zip(pixel.color) {
                for (channel, value) in target.iter_mut().zip(color) {
                    channel[lane] = value;
                }
            }
            self.results.depth[lane] = pixel.depth.unwrap_or_default();
            self.results.alive[lane] = f32::from_bits(if pixel.covered { !0 } else { 0 });
        }
        Ok(())
    }

    /// Returns a channel of a target of the last run.
    #[must_use]
    pub fn color(&self, target: usize, channel: usize) -> &[f32; LANES] {
        &self.results.colors[target][channel]
    }

    /// Returns the depth of the last run, 0 where none was written.
    #[must_use]
    pub fn depth(&self) -> &[f32; LANES] {
        &self.results.depth
    }

    /// Returns which pixels are covered and not killed after the last run.
    #[must_use]
    pub fn alive(&self) -> &[f32; LANES] {
        &self.results.alive
    }

    /// Returns the counters of all runs.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// Quads in the reference engine, group by group.
pub struct ReferenceQuads {
    /// Why another engine does not draw them.
    pub fallback_reason: Option<String>,
}

impl PreparedQuads for ReferenceQuads {
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        let mut group = QuadGroup::new(draw);
        let targets = draw.shader.targets();
        for first in (0..count).step_by(GROUP_QUADS) {
            let quads = first..count.min(first + GROUP_QUADS);
            let (count, lanes) = (quads.len(), 4 * quads.len());
            let mut covered = [0.0; LANES];
            stream.begin(quads, &mut covered[..lanes]);
            group.run(draw, &covered, |temp, channel, to| {
                stream.load(temp, channel, &mut to[..lanes]);
                repeat_last(to, count);
            })?;
            let channels = |target: usize| {
                [0, 1, 2, 3].map(|channel| Lanes::Each(&group.color(target, channel)[..lanes]))
            };
            stream.store(&QuadPixels {
                colors: std::array::from_fn(|n| targets[n].then(|| channels(n))),
                depth: draw.shader.writes_depth().then(|| &group.depth()[..lanes]),
                alive: &group.alive()[..lanes],
            });
        }
        Ok(BandStats { counters: *group.counters(), ..BandStats::default() })
    }

    fn run_info(&self) -> RunInfo {
        RunInfo { fallback_reason: self.fallback_reason.clone(), ..RunInfo::of("reference") }
    }
}
