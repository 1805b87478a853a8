//! Batches of quads: inputs and results are slots.
//!
//! The colours of the function become its results, which stay in their slots: no pixel is moved between rows and lanes.

use std::sync::{Arc, Mutex};

use r500_exec::{
    BandStats, Draw, GROUP_QUADS, Lanes, PreparedQuads, QuadGroup, QuadPixels, QuadStream,
    RunError, RunInfo, repeat_last,
};
use r500_ir::Function;
use r500_isa::TARGETS;
use r500_lanes::{Chunk, LANES};
use r500_simd::Simd;

use super::arg::Arg;
use super::code_version::{CodeVersion, lock};
use super::codegen::ColorTargets;
use super::interp::{Interpreter, Scratch};
use super::native_code::NativeCode;
use super::output_lines::OutputLines;
use super::tile::batch_chunks;

/// Returns a function whose results are the colours of another: the four channels of each target that it writes.
#[must_use]
pub fn quad_function(function: &Function) -> Function {
    let mut quads = function.clone();
    debug_assert!(quads.results.is_empty(), "a fragment function has no results");
    quads.results = function.colors.iter().flatten().flatten().copied().collect();
    quads.colors = [None; TARGETS];
    quads.non_nan = [[false; 4]; TARGETS];
    quads
}

/// A prepared draw of quads, run batch by batch.
pub struct FastQuads {
    /// The number of the first result of each target.
    targets: [Option<usize>; TARGETS],
    version: Mutex<Arc<CodeVersion>>,
}

impl FastQuads {
    /// Returns a draw with its code, compiled from the [`quad_function`] of the draw's function.
    #[must_use]
    pub fn new(function: &Function, code: NativeCode, simd: Simd) -> Self {
        let mut results = (0..).step_by(4);
        let targets = function.colors.map(|color| color.and_then(|_| results.next()));
        Self { targets, version: Mutex::new(Arc::new(CodeVersion::new(code, simd))) }
    }

    /// Replaces the code by other code of the same function and for the same constants, for draws that start later.
    pub fn replace_code(&self, code: NativeCode, simd: Simd) {
        *lock(&self.version) = Arc::new(CodeVersion::new(code, simd));
    }
}

/// Number of groups of a batch of the fast engine's slots.
fn batch_groups(version: &CodeVersion) -> [usize; 2] {
    let all = batch_chunks(version.batch_width, !version.code.results.is_empty()) as usize;
    // Multiples of sixteen quads suit what follows.
    [all, if all > 4 { all - all % 4 } else { all }]
}

impl PreparedQuads for FastQuads {
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        let version = Arc::clone(&lock(&self.version));
        let CodeVersion { simd, code, scratch_pool, .. } = &*version;
        let [all, groups] = batch_groups(&version);
        let scratch = lock(scratch_pool).pop().unwrap_or_else(|| Scratch::new(code, all));
        let mut interp = Interpreter::new(draw, code, *simd, scratch);
        let mut replays = None;
        for first in (0..count).step_by(GROUP_QUADS * groups) {
            let quads = first..count.min(first + GROUP_QUADS * groups);
            self.draw_batch(draw, &mut interp, quads, stream, &mut replays)?;
        }
        let (mut counters, scratch) = interp.finish();
        lock(scratch_pool).push(scratch);
        if let Some(group) = &replays {
            counters.merge(group.counters());
        }
        Ok(BandStats { counters, ..BandStats::default() })
    }

    fn run_info(&self) -> RunInfo {
        RunInfo { simd: Some(lock(&self.version).simd.name()), ..RunInfo::of("fast") }
    }
}

impl FastQuads {
    fn draw_batch(
        &self,
        draw: &Draw<'_>,
        interp: &mut Interpreter<'_>,
        quads: std::ops::Range<usize>,
        stream: &mut dyn QuadStream,
        replays: &mut Option<QuadGroup>,
    ) -> Result<(), RunError> {
        let count = quads.len();
        let (lanes, groups) = (4 * count, count.div_ceil(GROUP_QUADS));
        let covered = interp.scratch.covered[..groups].as_flattened_mut();
        covered[lanes..].fill(0.0);
        stream.begin(quads, &mut covered[..lanes]);
        interp.scratch.started.clear();
        interp.scratch.started.extend_from_slice(&interp.scratch.covered[..groups]);
        let inputs = draw.bindings.inputs();
        for &(input, channel, slot) in &interp.code.inputs {
            let temp = inputs[usize::from(input)].temp;
            let to = interp.scratch.memory.get_mut(slot)[..groups].as_flattened_mut();
            stream.load(temp, channel, &mut to[..lanes]);
            repeat_last(to, count);
        }
        interp.begin_groups(groups);
        interp.run_with(ColorTargets::none(), OutputLines::NONE)?;
        let code = interp.code;
        let Scratch { memory, covered, started, needs_replay, depths, .. } = &mut interp.scratch;
        if code.discards {
            // The reference engine counts those of the groups that it runs.
            let chunks = started.iter().zip(covered.iter()).zip(needs_replay.iter());
            let killed = chunks.filter(|(_, replayed)| !**replayed).map(|(it, _)| killed(it));
            interp.counters.killed += killed.sum::<u64>();
        }
        if let Some((depth, written)) = code.depth {
            depths.clear();
            depths.extend(
                (0..groups).map(|i| masked(memory.chunk(depth, i), memory.chunk(written, i))),
            );
        }
        let mut patched = None;
        if std::mem::take(&mut interp.any_replay) {
            let group = replays.get_or_insert_with(|| QuadGroup::new(draw));
            patched = Some(self.replay(draw, interp, count, stream, group)?);
        }
        let Scratch { memory, covered, depths, .. } = &interp.scratch;
        let cut = |chunks| used(chunks, count);
        let channel = |number: usize| match (&patched, code.results[number]) {
            (Some(results), _) => Lanes::Each(cut(&results[number])),
            (None, Arg::Slot(slot)) => Lanes::Each(cut(memory.get(slot))),
            (None, Arg::Const(value)) => Lanes::Same(value),
        };
        let color = |first: usize| [0, 1, 2, 3].map(|c| channel(first + c));
        stream.store(&QuadPixels {
            colors: self.targets.map(|first| first.map(color)),
            depth: code.depth.map(|_| cut(depths)),
            alive: cut(covered),
        });
        Ok(())
    }

    /// Runs groups with a hazard in the reference engine. Their depth and coverage replace those of the batch; returns its results with theirs.
    #[cold]
    fn replay(
        &self,
        draw: &Draw<'_>,
        interp: &mut Interpreter<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
        group: &mut QuadGroup,
    ) -> Result<Vec<Vec<Chunk>>, RunError> {
        let (lanes, groups) = (4 * count, count.div_ceil(GROUP_QUADS));
        let Scratch { memory, covered, started, needs_replay, depths, .. } = &mut interp.scratch;
        let all = |result: &Arg| (0..groups).map(|i| memory.chunk(*result, i)).collect();
        let mut results: Vec<Vec<Chunk>> = interp.code.results.iter().map(all).collect();
        // A run may have overwritten inputs.
        let inputs: Vec<(u8, [Vec<f32>; 4])> = (draw.bindings.inputs().iter())
            .map(|input| {
                let channel = |channel: u8| {
                    let mut to = vec![0.0; LANES * groups];
                    stream.load(input.temp, channel, &mut to[..lanes]);
                    repeat_last(&mut to, count);
                    to
                };
                (input.temp, [0, 1, 2, 3].map(channel))
            })
            .collect();
        for i in 0..groups {
            if !std::mem::take(&mut needs_replay[i]) {
                continue;
            }
            group.run(draw, &started[i], |temp, channel, to| {
                let channels = inputs.iter().find(|(other, _)| *other == temp);
                let (_, channels) = channels.expect("all inputs were loaded");
                to.copy_from_slice(&channels[usize::from(channel)][LANES * i..][..LANES]);
            })?;
            covered[i] = *group.alive();
            for (target, first) in self.targets.iter().enumerate() {
                let Some(first) = *first else { continue };
                for channel in 0..4 {
                    results[first + channel][i] = *group.color(target, channel);
                }
            }
            if interp.code.depth.is_some() {
                depths[i] = *group.depth();
            }
        }
        Ok(results)
    }
}

/// Returns the lanes of the quads of a batch.
fn used(chunks: &[Chunk], quads: usize) -> &[f32] {
    &chunks.as_flattened()[..4 * quads]
}

/// Returns values in the lanes of a mask, 0 elsewhere.
fn masked(values: Chunk, mask: Chunk) -> Chunk {
    std::array::from_fn(|lane| f32::from_bits(values[lane].to_bits() & mask[lane].to_bits()))
}

/// Returns how many lanes of a mask are not in another.
fn killed((started, covered): (&Chunk, &Chunk)) -> u64 {
    let lanes = started.iter().zip(covered);
    lanes.map(|(a, b)| u64::from((a.to_bits() & !b.to_bits()) >> 31)).sum()
}
