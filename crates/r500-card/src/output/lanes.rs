//! Sixteen quads at a time: one pixel is a lane of vectors.
//!
//! Lanes of a batch are tested and stored in no particular order, so a batch has each pixel of the target once at most. Everything is
//! as in [`by_rules`](super::Output::by_rules), for one sample a pixel and common states of the blocks.

use r500_isa::values::WSource;
use r500_simd::{Simd, SimdLevel, SimdTask};

use super::{Output, Quads};
use crate::rb3d::RenderLanes;
use crate::sc::{Quad, Samples};
use crate::su::DEPTH_MAX;
use crate::zb::DepthLanes;

/// Number of quads in a batch.
const QUADS: usize = 16;
/// Number of lanes: pixels of a batch, quad by quad.
pub(crate) const LANES: usize = 4 * QUADS;
/// A value for each lane.
pub(crate) type Lane<T> = [T; LANES];

/// The blocks after the fragment program in a state for which they can run by lanes.
pub(super) struct Lanes<'a> {
    output: &'a Output,
    depth: DepthLanes<'a>,
    render: RenderLanes<'a>,
}

/// The pixels of a batch.
pub(crate) struct Batch {
    /// Number of quads.
    len: usize,
    quads: [Quad; QUADS],
    /// The index of each quad among all.
    numbers: [usize; QUADS],
    /// Pixels that the quads cover, quad by quad.
    masks: [u8; QUADS],
}

impl Batch {
    const EMPTY: Self = Self {
        len: 0,
        quads: [Quad { x: 0, y: 0, masks: [0; 4] }; QUADS],
        numbers: [0; QUADS],
        masks: [0; QUADS],
    };

    /// Adds a quad. Returns false if the batch is full or has a pixel of it already.
    #[inline(always)]
    fn add(&mut self, number: usize, quad: Quad) -> bool {
        let bit = |corner: usize| u8::from(quad.masks[corner] != 0) << corner;
        let mask = bit(0) | bit(1) | bit(2) | bit(3);
        let mut shared = 0;
        for (other, taken) in self.quads.iter().zip(&self.masks) {
            shared |= if (other.x, other.y) == (quad.x, quad.y) { *taken } else { 0 };
        }
        if self.len == QUADS || shared & mask != 0 {
            return false;
        }
        self.quads[self.len] = quad;
        self.numbers[self.len] = number;
        self.masks[self.len] = mask;
        self.len += 1;
        true
    }

    /// Empties the batch.
    #[inline(always)]
    fn clear(&mut self) {
        self.len = 0;
        self.masks = [0; QUADS];
    }

    /// Returns the quads.
    #[inline(always)]
    pub(crate) fn quads(&self) -> &[Quad] {
        &self.quads[..self.len]
    }
}

impl<'a> Lanes<'a> {
    /// Returns the blocks; `None` if one has a state that only the rules implement.
    pub(super) fn new(output: &'a Output, samples: &Samples) -> Option<Self> {
        let common = samples.count == 1
            && output.fog.is_none()
            && !(output.depth_from_program() && output.w_source == WSource::RAS);
        let depth = output.zb.lanes();
        let render = output.rb3d.lanes();
        match (common, depth, render) {
            (true, Some(depth), Some(render)) => Some(Self { output, depth, render }),
            _ => None,
        }
    }

    /// Tests and stores quads. Returns the number of pixels that passed.
    pub(super) fn write(self, quads: &Quads<'_>) -> u64 {
        Simd::detect().run_plain(Write { lanes: self, quads })
    }
}

/// Tests and stores quads.
struct Write<'a, 'q> {
    lanes: Lanes<'a>,
    quads: &'q Quads<'q>,
}

impl SimdTask for Write<'_, '_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) -> u64 {
        let Self { mut lanes, quads } = self;
        let mut batch = Batch::EMPTY;
        let (mut passed, mut n) = (0, 0);
        while n < quads.quads.len() {
            batch.clear();
            while let Some((_, quad)) = quads.quads.get(n)
                && batch.add(n, *quad)
            {
                n += 1;
            }
            passed += lanes.batch(&batch, quads);
        }
        lanes.depth.finish();
        lanes.render.finish();
        passed
    }
}

impl Lanes<'_> {
    /// Tests and stores a batch. Returns the number of pixels that passed.
    #[inline(always)]
    fn batch(&mut self, batch: &Batch, quads: &Quads<'_>) -> u64 {
        let Output { fg, zb, .. } = self.output;
        let shaded = quads.shaded;
        let mut covered: Lane<bool> = [false; LANES];
        let mut tested: Lane<bool> = [false; LANES];
        for (n, mask) in batch.masks[..batch.len].iter().enumerate() {
            let alive = shaded.alive(batch.numbers[n]);
            for corner in 0..4 {
                let lane = 4 * n + corner;
                covered[lane] = mask >> corner & 1 != 0;
                tested[lane] = covered[lane] && alive[corner];
            }
        }
        if fg.tests() {
            for (n, number) in batch.numbers[..batch.len].iter().enumerate() {
                let colors = shaded.colors(*number, 0);
                for (corner, color) in colors.into_iter().enumerate() {
                    let lane = 4 * n + corner;
                    tested[lane] &= fg.samples(color, corner, 1) & 1 != 0;
                }
            }
        }
        let before = if zb.early { &covered } else { &tested };
        let mut left = *before;
        if self.depth.tests() {
            let mut depths: Lane<u32> = [0; LANES];
            let mut back: Lane<bool> = [false; LANES];
            let from_program = self.output.depth_from_program();
            for (n, number) in batch.numbers[..batch.len].iter().enumerate() {
                let (primitive, quad) = &quads.quads[*number];
                let primitive = &quads.work.primitives[*primitive as usize];
                let depths = &mut depths[4 * n..4 * n + 4];
                if from_program {
                    for (to, depth) in depths.iter_mut().zip(shaded.depths(*number)) {
                        let depth = r500_numerics::Arith::REFERENCE.clamp01(depth);
                        *to = (f64::from(depth) * DEPTH_MAX).round() as u32;
                    }
                } else {
                    let centers = quads.work.samples.quad(quad);
                    depths.copy_from_slice(&primitive.quad_depths(centers));
                }
                back[4 * n..4 * n + 4].fill(primitive.back);
            }
            self.depth.test(zb, batch, &depths, &back, &mut left);
        }
        let passed = left.iter().map(|passes| u64::from(*passes)).sum();
        let mut any = false;
        for (left, tested) in left.iter_mut().zip(tested) {
            *left &= tested;
            any |= *left;
        }
        if any && !zb.no_colors {
            self.render.write(batch, &left, |color, selects, components| {
                for (n, number) in batch.numbers[..batch.len].iter().enumerate() {
                    let pixels = shaded.colors(*number, color);
                    for (corner, pixel) in pixels.into_iter().enumerate() {
                        for (component, select) in selects.iter().enumerate() {
                            components[component][4 * n + corner] = pixel[*select];
                        }
                    }
                }
            });
        }
        passed
    }
}
