//! Sixteen quads at a time: one pixel is a lane of vectors.
//!
//! Lanes of a batch are tested and stored in no particular order, so a batch has each pixel of the target once at most. Everything is
//! as in [`by_rules`](super::Output::by_rules), for one sample a pixel and common states of the blocks.

use r500_isa::TARGETS;
use r500_isa::values::WSource;
use r500_simd::{Simd, SimdLevel, SimdTask};

use super::{Output, Quads, depth_code};
use crate::batch::{Batch, LANES, Lane};
use crate::quad::{FillArea, QuadList, by_primitive};
use crate::rb3d::RenderLanes;
use crate::sc::Samples;
use crate::su::Primitive;
use crate::surface::Offsets;
use crate::us::Shaded;
use crate::zb::{DepthFill, DepthLanes};

/// The blocks after the fragment program in a state for which they can run by lanes.
pub(super) struct Lanes<'a> {
    output: &'a Output,
    depth: DepthLanes<'a>,
    render: RenderLanes<'a>,
}

/// A depth and colours that replace what is stored.
#[derive(Clone, Copy)]
struct Fill {
    /// The depth, if it is stored.
    depth: Option<u32>,
    colors: [u32; TARGETS],
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

    /// Prepares a fill, if all quads have the same fragment and replace what is stored.
    fn fill(&self, quads: &Quads<'_>) -> Option<Fill> {
        let Shaded::Same(fragment) = quads.shaded else { return None };
        let Output { fg, zb, .. } = self.output;
        if !fragment.alive || fg.tests() || self.output.depth_from_program() {
            return None;
        }
        let depth = match self.depth.fills() {
            DepthFill::Tested => return None,
            DepthFill::Nothing => None,
            DepthFill::Value(value) => Some(value),
            DepthFill::Depth => {
                let mut depths = quads.work.primitives.iter().map(Primitive::uniform_depth);
                let depth = depths.next()??;
                depths.all(|other| other == Some(depth)).then_some(())?;
                Some(depth)
            }
        };
        let colors = match zb.no_colors {
            true => [0; TARGETS],
            false => self.render.fill(&fragment.colors)?,
        };
        Some(Fill { depth, colors })
    }

    /// Stores quads without a test. Returns the number of their pixels.
    #[inline(always)]
    fn fill_quads<L: SimdLevel>(
        &mut self,
        level: L,
        mut quads: &QuadList,
        Fill { depth, colors }: Fill,
    ) -> u64 {
        let no_colors = self.output.zb.no_colors;
        let mut filled = 0;
        while let Some((area, rest)) = FillArea::take(quads) {
            if let Some(depth) = depth {
                self.depth.fill(level, area, depth);
            }
            if !no_colors {
                for (target, color) in self.render.targets().zip(colors) {
                    target.fill(level, area, color);
                }
            }
            filled += area.pixels();
            quads = rest;
        }
        filled
    }

    /// Tests and stores quads. Returns the number of pixels that passed.
    pub(super) fn write(&mut self, quads: &Quads<'_>) -> u64 {
        let fill = self.fill(quads);
        Simd::detect().run_plain(Write { lanes: self, quads, fill })
    }

    /// Notes the bytes that were written.
    pub(super) fn finish(self) {
        self.depth.finish();
        self.render.finish();
    }
}

/// A batch, and where its pixels are in the depth buffer and in the targets.
struct Prepared {
    batch: Batch,
    depth: Offsets,
    colors: [Offsets; TARGETS],
}

impl Prepared {
    const NONE: Self =
        Self { batch: Batch::EMPTY, depth: Offsets::NONE, colors: [Offsets::NONE; TARGETS] };
}

/// Tests and stores quads.
struct Write<'a, 'q> {
    lanes: &'q mut Lanes<'a>,
    quads: &'q Quads<'q>,
    fill: Option<Fill>,
}

impl SimdTask for Write<'_, '_> {
    type Output = u64;

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) -> u64 {
        let Self { lanes, quads, fill } = self;
        if let Some(fill) = fill {
            return lanes.fill_quads(level, quads.quads, fill);
        }
        let mut passed = 0;
        let mut batches = [Prepared::NONE; 2];
        let [mut prepared, mut next] = batches.each_mut();
        let count = quads.quads.len();
        let mut n = if count > 0 { lanes.prepare(next, quads.quads, 0) } else { 0 };
        let mut is_last = count == 0;
        while !is_last {
            std::mem::swap(&mut prepared, &mut next);
            is_last = n == count;
            if !is_last {
                n += lanes.prepare(next, quads.quads, n);
            }
            passed += lanes.batch(level, prepared, quads);
        }
        passed
    }
}

/// Returns the values of a batch of a channel, those of other lanes 0; `memory` is for channels that do not have them side by side.
#[inline(always)]
fn batch_lanes<'m>(
    channel: r500_exec::Lanes<'m>,
    first: usize,
    memory: &'m mut Lane<f32>,
) -> &'m Lane<f32> {
    match channel {
        r500_exec::Lanes::Same(value) => *memory = [value; LANES],
        r500_exec::Lanes::Each(values) => {
            let values = &values[first..];
            if let Some(lanes) = values.first_chunk() {
                return lanes;
            }
            *memory = [0.0; LANES];
            memory[..values.len()].copy_from_slice(values);
        }
    }
    memory
}

impl Lanes<'_> {
    /// Takes the next batch, and asks for what it tests and stores to be in the cache soon. Returns its number of quads.
    #[inline(always)]
    fn prepare(&mut self, prepared: &mut Prepared, quads: &QuadList, first: usize) -> usize {
        let Prepared { batch, depth, colors } = prepared;
        let taken = batch.take(quads, first);
        *depth = self.depth.prepare(batch);
        if !self.output.zb.no_colors {
            for (offsets, target) in colors.iter_mut().zip(self.render.targets()) {
                *offsets = target.prepare(batch);
            }
        }
        taken
    }

    /// Tests and stores a batch. Returns the number of pixels that passed.
    #[inline(always)]
    fn batch<L: SimdLevel>(&mut self, level: L, prepared: &Prepared, quads: &Quads<'_>) -> u64 {
        let Prepared { batch, depth: depth_offsets, colors } = prepared;
        let Output { fg, zb, .. } = self.output;
        let shaded = quads.shaded;
        let numbers = batch.first()..batch.first() + batch.len();
        let covered = batch.covered();
        let lanes = 4 * batch.first();
        let mut tested = covered;
        let mut memory = [0.0; LANES];
        let alive = batch_lanes(shaded.alive(), lanes, &mut memory);
        for (tested, alive) in tested.iter_mut().zip(alive) {
            *tested &= alive.to_bits() != 0;
        }
        if fg.tests() {
            for (lane, tested) in tested[..4 * batch.len()].iter_mut().enumerate() {
                let color = shaded.fragment(lanes + lane).colors[0];
                *tested &= fg.samples(color, lane % 4, 1) & 1 != 0;
            }
        }
        let before = if zb.early { &covered } else { &tested };
        let mut left = *before;
        if self.depth.tests() {
            let mut depths: Lane<u32> = [0; LANES];
            let mut back: Lane<bool> = [false; LANES];
            if self.output.depth_from_program() {
                for (lane, depth) in depths[..4 * batch.len()].iter_mut().enumerate() {
                    *depth = depth_code(shaded.fragment(lanes + lane).depth);
                }
            }
            let mut centers = None;
            for (primitive, _, run) in by_primitive(&quads.quads[numbers]) {
                let primitive = quads.work.primitives.get(primitive).primitive;
                back[run.clone()].fill(primitive.back);
                if self.output.depth_from_program() {
                    continue;
                }
                if let Some(depth) = primitive.uniform_depth() {
                    depths[run].fill(depth);
                    continue;
                }
                let [x, y]: &mut [_; 2] =
                    centers.get_or_insert_with(|| batch_centers(batch, quads.work.samples));
                let points = [&x[run.clone()], &y[run.clone()]];
                primitive.depths(points, &mut depths[run]);
            }
            self.depth.test(level, zb, batch, depth_offsets, &depths, &back, &mut left);
        }
        // A batch has fewer than 256 pixels.
        let passed: u8 = left.iter().map(|passes| u8::from(*passes)).sum();
        let mut any = false;
        for (left, tested) in left.iter_mut().zip(tested) {
            *left &= tested;
            any |= *left;
        }
        if any && !zb.no_colors {
            let mut memory = [[0.0; LANES]; 4];
            for (target, offsets) in self.render.targets().zip(colors) {
                let [r, g, b, a] = &mut memory;
                let channel =
                    |n, memory| batch_lanes(shaded.channel(target.color, n), lanes, memory);
                let rgba = [channel(0, r), channel(1, g), channel(2, b), channel(3, a)];
                target.write(level, batch, offsets, &left, rgba);
            }
        }
        passed.into()
    }
}

/// Returns x and y of the centres of a batch's pixels.
#[inline(always)]
fn batch_centers(batch: &Batch, samples: &Samples) -> [Lane<f64>; 2] {
    let [mut x, mut y] = [[0.0; LANES]; 2];
    let centers = x.as_chunks_mut::<4>().0.iter_mut().zip(y.as_chunks_mut::<4>().0);
    let [columns, rows] = batch.corners();
    for ((x, y), at) in centers.zip(columns.into_iter().zip(rows)) {
        [*x, *y] = samples.quad_centers(at.into());
    }
    [x, y]
}
