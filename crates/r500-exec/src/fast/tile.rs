//! Batches of pixels: where they lie in the picture, what is delivered to them, what they leave.
//!
//! A batch is some chunks beside each other, some rows of chunks high. A chunk is four by four
//! pixels: four quads, row by row; in a quad top left, top right, bottom left, bottom right, as in the
//! reference engine.

use r500_program::{InputData, Plane};

use super::lanes::{Chunk, LANES};
use super::machine::Machine;
use super::simd::{Job, Level};
use crate::frame::{Band, CHUNK};
use crate::numerics;

/// Rows of pixels in a batch.
pub(super) const ROWS: u32 = 16;

/// Where a batch lies.
pub(super) struct Tile<'a> {
    /// Column of its lower left pixel, a multiple of 4.
    pub(super) x: u32,
    /// Row of it.
    pub(super) y: u32,
    /// Chunks beside each other.
    pub(super) columns: u32,
    pub(super) centres: &'a Centres,
}

/// Where the centres of pixels lie, as fractions of the picture.
#[derive(Debug)]
pub(super) struct Centres {
    u: Vec<f32>,
    v: Vec<f32>,
}

impl Centres {
    /// Of the pixels of a picture and those that batches at its borders have beyond it.
    pub(super) fn new([width, height]: [u32; 2]) -> Self {
        let along = |size: u32| {
            let past = size.saturating_add(64);
            (0..past).map(|pixel| numerics::centre(pixel, size)).collect()
        };
        Self { u: along(width), v: along(height) }
    }

    /// Of four pixels in a row, or in a column.
    fn four(centres: &[f32], first: u32) -> [f32; 4] {
        let first = first as usize;
        match centres.get(first..first + 4) {
            Some(four) => [four[0], four[1], four[2], four[3]],
            None => [0.0; 4],
        }
    }
}

impl Tile<'_> {
    /// The lower left pixels of its chunks.
    pub(super) fn chunks(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (x, y, columns) = (self.x, self.y, self.columns);
        // In squares of squares, as far as they go: chunks near each other do alike.
        let square = columns.min(ROWS / CHUNK);
        let bits = |i: u32| i & 1 | i >> 1 & 2;
        (0..columns * (ROWS / CHUNK)).map(move |i| {
            let (block, place) = (i / (square * square), i % (square * square));
            let (column, row) = (bits(place), bits(place >> 1));
            // Blocks stand beside each other, or, if they are narrower than high, on each other.
            let (right, up) = if square == ROWS / CHUNK { (block, 0) } else { (0, block) };
            (x + (right * square + column) * CHUNK, y + (up * square + row) * CHUNK)
        })
    }

    /// Marks the covered pixels of chunks that a band has pixels of, and counts them; false if there
    /// is none.
    pub(super) fn cover(&self, machine: &mut Machine<'_>, band: &Band<'_>) -> bool {
        let bindings = machine.draw.bindings;
        let block = band.block();
        let [width, height] = bindings.size();
        let mut any = false;
        let memory = machine.covered.iter_mut().zip(&mut machine.killed);
        for ((x, y), (covered, count)) in self.chunks().zip(memory) {
            let meets = x < block.x + block.width
                && x + CHUNK > block.x
                && y < block.y + block.height
                && y + CHUNK > block.y;
            let whole = bindings.covers_all() && x + CHUNK <= width && y + CHUNK <= height;
            *covered = [f32::from_bits(if meets && whole { !0 } else { 0 }); LANES];
            if meets && !whole {
                for (lane, covered) in covered.iter_mut().enumerate() {
                    let (dx, dy) = place(lane);
                    let covers = bindings.covers(x + dx, y + dy);
                    *covered = f32::from_bits(if covers { !0 } else { 0 });
                }
            }
            *count = ones(covered);
            any |= *count != 0;
        }
        any
    }
}

/// How many lanes of a mask are set.
#[inline(always)]
fn ones(mask: &Chunk) -> u32 {
    mask.iter().fold(0, |sum, lane| sum + (lane.to_bits() >> 31))
}

/// Column and row of a lane in its chunk.
fn place(lane: usize) -> (u32, u32) {
    let (quad, corner) = (lane as u32 / 4, lane as u32 % 4);
    (quad % 2 * 2 + corner % 2, quad / 2 * 2 + corner / 2)
}

/// Four values along x for each pixel of a chunk.
#[inline(always)]
fn along_x([a, b, c, d]: [f32; 4]) -> Chunk {
    [a, b, a, b, c, d, c, d, a, b, a, b, c, d, c, d]
}

/// Four values along y for each pixel of a chunk.
#[inline(always)]
fn along_y([a, b, c, d]: [f32; 4]) -> Chunk {
    [a, a, b, b, a, a, b, b, c, c, d, d, c, c, d, d]
}

/// Delivers the inputs of a batch to their slots, in plain arithmetic: nothing is flushed.
pub(super) struct Deliver<'m, 'a, 't> {
    pub(super) tile: &'t Tile<'t>,
    pub(super) machine: &'m mut Machine<'a>,
}

impl Job for Deliver<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let Self { tile, machine } = self;
        let bindings = machine.draw.bindings;
        for &(input, channel, slot) in &machine.code.inputs {
            let Some(input) = bindings.inputs().get(usize::from(input)) else { continue };
            let channel = usize::from(channel);
            let slot = machine.memory.get_mut(slot);
            match &input.data {
                InputData::Planes(components) => {
                    let Plane { c, du, dv } = components[channel].plane;
                    for ((x, y), chunk) in tile.chunks().zip(slot) {
                        let u = Centres::four(&tile.centres.u, x).map(|u| c + du * u);
                        let v = Centres::four(&tile.centres.v, y).map(|v| dv * v);
                        let (u, v) = (along_x(u), along_y(v));
                        *chunk = std::array::from_fn(|i| u[i] + v[i]);
                    }
                }
                InputData::Values { .. } => {
                    for ((x, y), chunk) in tile.chunks().zip(slot) {
                        for (lane, value) in chunk.iter_mut().enumerate() {
                            let (dx, dy) = place(lane);
                            *value = bindings.input(input, x + dx, y + dy)[channel];
                        }
                    }
                }
            }
        }
    }
}

/// Takes what a batch leaves to the picture.
pub(super) struct Leave<'m, 'a, 't, 'b, 'c> {
    pub(super) tile: &'t Tile<'t>,
    pub(super) machine: &'m mut Machine<'a>,
    pub(super) band: &'b mut Band<'c>,
}

impl Job for Leave<'_, '_, '_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L) {
        let Self { tile, machine, band } = self;
        let slots = &machine.memory;
        for (i, (x, y)) in tile.chunks().enumerate() {
            let covered = machine.covered[i];
            for (target, channels) in machine.code.colors.iter().enumerate() {
                if let Some(channels) = channels {
                    let color = channels
                        .map(|channel| slots.chunk(channel, i).map(numerics::canonical_nan));
                    band.put_color(target, [x, y], &covered, &color);
                }
            }
            if let Some((depth, written)) = machine.code.depth {
                let depth = slots.chunk(depth, i).map(numerics::canonical_nan);
                band.put_depth([x, y], &covered, &slots.chunk(written, i), &depth);
            }
            band.put_coverage([x, y], &covered);
            machine.killed[i] -= ones(&covered);
            machine.counters.killed += u64::from(machine.killed[i]);
        }
    }
}
