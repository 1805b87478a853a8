//! The end of the pipeline: alpha test, depth and stencil tests, fog, blending, and stores of shaded quads.
//!
//! Two paths leave the same bits: [`by_rules`](Output::by_rules) takes one sample after another through the blocks, for every state;
//! [`lanes`] takes sixteen quads at a time, for common states.

mod lanes;

use std::ops::Range;

use r500_isa::state::UsWFmt;
use r500_isa::values::WSource;
use r500_stream::{BufferId, State};

use crate::fg::Fg;
use crate::fog::Fog;
use crate::quad::QuadList;
use crate::rb3d::Rb3d;
use crate::reading::Readings;
use crate::rs::Work;
use crate::su::DEPTH_MAX;
use crate::surface::Surface;
use crate::us::Shaded;
use crate::varyings::Varyings;
use crate::zb::Zb;

/// The blocks after the fragment program.
pub(crate) struct Output {
    fg: Fg,
    /// Fog, if it is enabled.
    fog: Option<Fog>,
    /// The source of depth.
    w_source: WSource,
    zb: Zb,
    rb3d: Rb3d,
}

/// Shaded quads, in the order of their primitives.
struct Quads<'a> {
    work: Work<'a>,
    quads: &'a QuadList,
    shaded: Shaded<'a>,
}

impl Output {
    pub(crate) fn new(
        state: &State,
        zb: Zb,
        rb3d: Rb3d,
        varyings: &mut Varyings,
        readings: &Readings,
    ) -> Self {
        Self {
            fg: Fg::new(state, readings),
            fog: Fog::new(state, varyings, readings),
            w_source: state.registers.get::<UsWFmt>().w_src(),
            zb,
            rb3d,
        }
    }

    /// Returns the surfaces that are written.
    pub(crate) fn surfaces(&self) -> impl Iterator<Item = &Surface> {
        self.rb3d.surfaces().chain(self.zb.surface())
    }

    /// Returns whether pixels up to a last one may share bytes with other pixels, of the same or of another surface: then the order of all
    /// accesses matters.
    pub(crate) fn shares_bytes(&self, last: [u32; 2]) -> bool {
        let [dx, dy] = self.zb.offset();
        let colors = self.rb3d.surfaces().map(|surface| (surface, last));
        // A buffer of earlier draws may still be bound.
        let depth = self.zb.surface().filter(|_| self.zb.is_used());
        let depth = depth.map(|surface| (surface, [last[0] + dx, last[1] + dy]));
        let mut before: Vec<(BufferId, Range<u64>)> = Vec::new();
        for (surface, last) in colors.chain(depth) {
            let Some(bytes) = surface.bytes_to(last) else { return true };
            let id = surface.buffer.id();
            let shared = before.iter().any(|(other, range)| {
                *other == id && range.start < bytes.end && bytes.start < range.end
            });
            if shared {
                return true;
            }
            before.push((id, bytes));
        }
        false
    }

    /// Returns what tests and stores quads, by rules if that is wanted or only they implement the state.
    pub(crate) fn writer<'a>(&'a self, work: Work<'a>, rules_only: bool) -> Writer<'a> {
        let lanes = lanes::Lanes::new(self, work.samples).filter(|_| !rules_only);
        Writer { output: self, work, lanes, passed: 0 }
    }

    /// Tests and stores quads sample by sample. Returns the number of samples that passed.
    fn by_rules(&self, Quads { work, quads, shaded }: &Quads<'_>) -> u64 {
        let Work { rs, samples, primitives } = *work;
        let mut passed = 0;
        for (n, (primitive, quad)) in quads.iter().enumerate() {
            let of = primitives.get(*primitive as usize);
            let primitive = of.primitive;
            for (corner, &mask) in quad.masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                let at = quad.pixel(corner);
                let fragment = shaded.fragment(4 * n + corner);
                let mut tested = mask;
                if fragment.alive {
                    tested &= self.fg.samples(fragment.colors[0], corner, samples.count);
                } else {
                    tested = 0;
                }
                // Early tests use the samples before the program and the alpha test drop any.
                let before = if self.zb.early { mask } else { tested };
                let program_depth = self.depth_from_program().then(|| {
                    let depth = match self.w_source {
                        WSource::RAS => rs.w(primitive, samples.center(at)),
                        _ => fragment.depth,
                    };
                    depth_code(depth)
                });
                let mut left = 0;
                for sample in 0..samples.count {
                    if before >> sample & 1 == 0 {
                        continue;
                    }
                    let depth = program_depth
                        .unwrap_or_else(|| primitive.depth(samples.position(at, sample)));
                    if self.zb.sample(at, sample as u32, depth, primitive.back) {
                        left |= 1 << sample;
                        passed += 1;
                    }
                }
                left &= tested;
                if left != 0 && !self.zb.no_colors {
                    let mut colors = fragment.colors;
                    if let Some(fog) = &self.fog {
                        colors[0] = fog.blend(colors[0], of, samples.center(at));
                    }
                    self.rb3d.write(at, left, &colors);
                }
            }
        }
        passed
    }

    /// Returns whether the results of fragment programs that kill no pixel change nothing.
    pub(crate) fn ignores_fragments(&self) -> bool {
        (self.zb.no_colors || self.rb3d.ignores_colors())
            && !self.fg.tests()
            && !self.depth_from_program()
    }

    /// Returns whether depth is not that of the primitive.
    fn depth_from_program(&self) -> bool {
        self.fg.depth_from_program && !self.zb.early
    }
}

/// Returns 24 bits of a depth that is not that of the primitive.
fn depth_code(depth: f32) -> u32 {
    let depth = r500_numerics::Arith::REFERENCE.clamp01(depth);
    (f64::from(depth) * DEPTH_MAX).round() as u32
}

/// Tests and stores quads, in the order of their primitives.
pub(crate) struct Writer<'a> {
    output: &'a Output,
    work: Work<'a>,
    /// The blocks by lanes, if their state is a common one.
    lanes: Option<lanes::Lanes<'a>>,
    passed: u64,
}

impl Writer<'_> {
    /// Tests and stores the next quads.
    pub(crate) fn write(&mut self, quads: &QuadList, shaded: Shaded<'_>) {
        let quads = Quads { work: self.work, quads, shaded };
        self.passed += match &mut self.lanes {
            Some(lanes) => lanes.write(&quads),
            None => self.output.by_rules(&quads),
        };
    }

    /// Notes the bytes that were written, and returns what became of the quads.
    pub(crate) fn finish(self) -> Written {
        let by_lanes = self.lanes.is_some();
        if let Some(lanes) = self.lanes {
            lanes.finish();
        }
        Written { passed: self.passed, by_lanes }
    }
}

/// What became of quads.
pub(crate) struct Written {
    /// Number of samples that passed depth and stencil tests.
    pub(crate) passed: u64,
    /// Whether they were written by lanes.
    pub(crate) by_lanes: bool,
}
