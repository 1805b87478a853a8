//! Search for a difference of two programs.
//!
//! Both programs draw pictures in which every quad has other values of the shared inputs and constants, textures and
//! integer and boolean constants that are missing, and some pixels are not covered. [`plan`] chooses the values. A pixel that differs
//! is drawn again by the reference engine, as a picture of its quad alone: that is the [`Counterexample`].
//!
//! Registers that correspond to nothing in the other program have different random values in the two. If a result depends
//! on them, the programs are compared with the same value in all of them, whatever corresponds to what; a difference
//! then is one under every correspondence. Where one program has literals and the file of the other lacks constants, these may be the
//! literals: a difference must then be the same for all values.
//!
//! | module | concept |
//! | --- | --- |
//! | [`edges`] | edge values |
//! | [`plan`] | the values of a picture |
//! | [`constants_as_inputs`] | programs that read constants from inputs, for many values in a picture |
//! | [`side`] | one of the programs with its bindings |

mod constants_as_inputs;
mod edges;
mod plan;
mod side;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::time::Instant;

use r500_check::ExternalReads;
use r500_exec::reference::Reference;
use r500_exec::{Engine, Options, RunError};
use r500_program::Job;

use self::edges::Edges;
use self::plan::{Plan, SIZE, Slot, pixels};
use self::side::SideState;
use super::legal::LegalConstants;
use super::pixel_paths::{Executable, executable};
use super::{
    Comparison, Difference, Exercise, Incomparable, InterfaceMatch, Pair, Random, Unexercised,
    differences, is_same,
};

/// A search.
#[derive(Clone)]
pub struct Search<'a> {
    /// How the interfaces of the programs correspond.
    pub interface: &'a InterfaceMatch,
    /// The engine that draws pictures; the reference engine confirms what differs.
    pub engine: &'a dyn Engine,
    /// Options of all runs.
    pub options: Options<'a>,
    /// Seed of the random values.
    pub seed: u64,
    /// Difference that counts as none. With one, no edge values are tried.
    pub tolerance: Option<f32>,
    /// Number of pictures of 4,096 pixels: at least those that the plan needs up to this number.
    pub frames: u64,
    /// Number of pictures with random values that the plan is followed by.
    pub random: u64,
    /// Instructions that all pixels of the search together may execute.
    pub work: u64,
    /// When the search ends without a result.
    pub deadline: Option<Instant>,
    /// Part of the pictures: this one of that many.
    pub shard: [u64; 2],
}

/// Greatest number of pictures that a search takes by default.
pub const FRAMES: u64 = 192;
/// Pictures of random values after the plan.
pub const RANDOM: u64 = 48;
/// Instructions that the pixels of a search may execute by default.
pub const WORK: u64 = 6_000_000_000;
/// Pictures without an end after which all have the same constants in all quads.
const ENDLESS: u64 = 8;
/// An instruction of the reference engine counts as this many.
const REFERENCE: u64 = 48;
/// Instruction limit of a group of pixels.
const INSTRUCTIONS: u64 = 1 << 16;
/// The same in pictures in which all quads have the same constants: where these end loops, few are long.
const INSTRUCTIONS_OF_UNIFORM: u64 = 1 << 18;
/// Number of pictures of which some groups are followed for the coverage of instructions.
const FOLLOWED: u64 = 12;
/// Pictures between changes of textures and of integer and boolean constants.
const STEADY: u64 = 8;
/// Differing quads of a picture that are drawn again.
const CONFIRMED: usize = 24;

/// The result of a search.
#[derive(Debug)]
pub struct Searched {
    /// Number of pictures.
    pub frames: u64,
    /// Number of compared pixels.
    pub pixels: u64,
    /// Number of pictures that were left out because a program did not end.
    pub endless: u64,
    /// Unexecuted instructions of A and B.
    pub unexercised: [Unexercised; 2],
    /// Whether every value of the plan was tried.
    pub complete: bool,
    /// The verdict.
    pub end: SearchEnd,
}

/// The verdict of a search.
#[derive(Debug)]
pub enum SearchEnd {
    /// All compared pixels are equal.
    Equal,
    /// A pixel differs.
    Different(Box<Counterexample>),
    /// A result depends on registers that correspond to nothing in the other program.
    Depends,
    /// No picture ended.
    Endless,
    /// The deadline passed.
    Time,
}

/// Two jobs that differ, and where.
#[derive(Debug)]
pub struct Counterexample {
    /// The picture of the search, from 0.
    pub frame: u64,
    /// The programs with the values of a quad.
    pub pair: Pair,
    /// The result of the reference engine.
    pub comparison: Comparison,
}

impl Counterexample {
    /// Returns the pixel that differs.
    #[must_use]
    pub fn difference(&self) -> &Difference {
        // A counterexample has one; an empty one would be a bug of the search, not of the input.
        static NONE: Difference = Difference { pixel: [0, 0], parts: Vec::new() };
        self.comparison.first.as_ref().unwrap_or(&NONE)
    }
}

impl Search<'_> {
    /// Searches for a difference.
    ///
    /// # Errors
    /// [`Incomparable`] if a program cannot run.
    pub fn run(&self, jobs: &[Job; 2]) -> Result<Searched, Incomparable> {
        let reads = jobs.each_ref().map(|job| ExternalReads::of(&job.program));
        let slots = slots(self.interface, &reads);
        let edges = Edges::of([&jobs[0], &jobs[1]]);
        let ordinary = self.tolerance.is_some_and(|tolerance| tolerance > 0.0);
        let mut plan = Plan::new(slots, edges, self.seed, self.frames, ordinary);
        let mut options = self.options.clone();
        options.progress = None;
        let most = options.limits.instructions;
        options.limits.instructions = most.min(INSTRUCTIONS);
        let (mut sides, by_quad) =
            side::prepare(jobs, &plan, self.interface, self.engine, &options)?;
        let mut values = vec![vec![0.0; SIZE * SIZE]; plan.slots().len()];
        let mut result = Searched {
            frames: 0,
            pixels: 0,
            endless: 0,
            unexercised: [0, 1].map(|n| Exercise::default().unexercised(&jobs[n].program)),
            complete: false,
            end: SearchEnd::Equal,
        };
        let lacks_literals = self.interface.lacks_literals(jobs);
        let missing = &self.interface.missing;
        let programs = [&jobs[0].program, &jobs[1].program];
        let legal = LegalConstants::new(programs, missing.int_constants, missing.bool_constants);
        let mut exercises: [Exercise; 2] = Default::default();
        // The same in all pictures, and often not needed.
        let executables: [OnceCell<Option<Executable>>; 2] = Default::default();
        let open: [BTreeSet<_>; 2] = [0, 1].map(|n: usize| {
            let constants = plan.slots().iter().filter(|slot| slot.is_constant);
            constants.flat_map(|slot| slot.places[n].iter().copied()).collect()
        });
        let (mut work, mut alike, mut after, mut followed) = (0_u64, false, 0, 0);
        let mut frame = 0;
        let is_open = !plan.slots().is_empty() || !self.interface.missing.is_empty();
        // Nothing is open: one picture for each set of texels and mask says it all.
        let least = if is_open { self.random } else { 2 * STEADY };
        let masked = least.div_ceil(4).max(4);
        while !plan.is_complete() || after < least + masked {
            if (frame > 0 && work > self.work) || frame >= self.frames.max(1) + least + masked {
                break;
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                result.end = SearchEnd::Time;
                break;
            }
            let current = frame;
            frame += 1;
            if plan.is_complete() {
                after += 1;
            }
            plan.fill(current, alike, &mut values);
            // Constants that end loops: with other ones in each quad, no picture ends.
            let is_uniform = result.endless > result.frames || result.endless >= ENDLESS;
            if !by_quad || is_uniform {
                plan.unify_constants(current, &mut values);
            }
            let limit = if is_uniform { INSTRUCTIONS_OF_UNIFORM } else { INSTRUCTIONS };
            sides.iter_mut().for_each(|side| side.set_instructions(most.min(limit)));
            let [part, parts] = self.shard;
            if current % parts.max(1) != part {
                continue;
            }
            if current % STEADY == 0 {
                self.change_resources(&mut sides, &legal, current)?;
            }
            let mask = after > least;
            let mask = match (is_uniform, mask) {
                (true, _) => Some(first_rows()),
                (false, true) => Some(random_mask(self.seed, current)),
                (false, false) => None,
            };
            for side in &mut sides {
                side.set_values(&values, by_quad);
                side.set_mask(mask.clone());
            }
            if let Some(deadline) = self.deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                sides.iter_mut().for_each(|side| side.set_time(left));
            }
            for side in &mut sides {
                let drawn = side.draw();
                work = work.saturating_add(side.work(REFERENCE));
                match drawn {
                    Ok(()) => continue,
                    Err(RunError::Instructions { .. }) => side.ended = false,
                    Err(RunError::Time { .. }) => result.end = SearchEnd::Time,
                    Err(error) => return Err(Incomparable::Run { side: side.side, error }),
                }
                // There is nothing to compare.
                break;
            }
            if matches!(result.end, SearchEnd::Time) {
                break;
            }
            let has_ended = sides.iter().all(|side| side.ended);
            if is_uniform || !has_ended {
                // Long loops, to their end or their limit.
                work = work.saturating_add(self.work / 64);
            }
            if !has_ended {
                result.endless += 1;
                continue;
            }
            result.frames += 1;
            let is_open = followed == 0 || !result.unexercised.iter().all(Unexercised::is_empty);
            if is_open && (followed < FOLLOWED || is_uniform) {
                followed += 1;
                for (side, exercise) in sides.iter_mut().zip(&mut exercises) {
                    side.exercise(exercise, is_uniform);
                }
                let missing = &self.interface.missing;
                let is_fixed = missing.int_constants == 0 && missing.bool_constants == 0;
                result.unexercised = [0, 1].map(|n| {
                    let program = &sides[n].job.program;
                    if is_fixed {
                        let job = || sides[n].quad(plan.slots(), pixels(0), &|_, _| 0.0);
                        let executable = || executable(&job(), &open[n], &self.options);
                        exercises[n].unexercised_of(program, || {
                            executables[n].get_or_init(executable).as_ref()
                        })
                    } else {
                        exercises[n].unexercised(program)
                    }
                });
            }
            let before = result.pixels;
            let differing = self.differing(&sides, &mut result.pixels);
            let mut depends = false;
            for quad in differing {
                match self.confirm(&sides, &plan, &values, quad, (alike, lacks_literals))? {
                    Confirmed::Not => {}
                    Confirmed::Depends if lacks_literals => {
                        (result.frames, result.pixels) = (result.frames - 1, before);
                        result.end = SearchEnd::Depends;
                        return Ok(result);
                    }
                    Confirmed::Depends => depends = true,
                    Confirmed::Different(found) => {
                        let (pair, comparison) = *found;
                        let found = Counterexample { frame: current, pair, comparison };
                        result.end = SearchEnd::Different(Box::new(found));
                        return Ok(result);
                    }
                }
            }
            if depends {
                // From now on all of them have the same value.
                alike = true;
            }
        }
        result.complete = plan.is_complete() && self.shard[1] <= 1;
        if matches!(result.end, SearchEnd::Equal) {
            if alike {
                result.end = SearchEnd::Depends;
            } else if result.frames == 0 && result.endless > 0 {
                result.end = SearchEnd::Endless;
            }
        }
        Ok(result)
    }

    /// Returns quads of the last picture that differ.
    fn differing(&self, sides: &[SideState<'_>; 2], compared: &mut u64) -> Vec<usize> {
        let mut quads = BTreeSet::new();
        let frames = [sides[0].frame(), sides[1].frame()];
        let states = [&sides[0].job.program.state, &sides[1].job.program.state];
        // With other formats, equal floats may be stored differently.
        let alike = states[0].out_fmt == states[1].out_fmt && states[0].w_fmt == states[1].w_fmt;
        for index in 0..SIZE * SIZE {
            if !sides[0].covers(index) {
                continue;
            }
            *compared += 1;
            if quads.len() < CONFIRMED
                && (!alike || !is_same(frames, index))
                && !differences(frames, states, index, self.tolerance).is_empty()
            {
                quads.insert(index / SIZE / 2 * plan::QUADS + index % SIZE / 2);
            }
        }
        quads.into_iter().collect()
    }

    /// Draws a quad with the original programs in the reference engine.
    fn confirm(
        &self,
        sides: &[SideState<'_>; 2],
        plan: &Plan,
        values: &[Vec<f32>],
        quad: usize,
        (alike, lacks_literals): (bool, bool),
    ) -> Result<Confirmed, Incomparable> {
        let at = pixels(quad);
        let compare = |values: &dyn Fn(usize, usize) -> f32| {
            let jobs = [0, 1].map(|n| sides[n].quad(plan.slots(), at, values));
            let [a, b] = jobs.clone();
            let pair = Pair::new(a, b, Some([2, 2]))?;
            let mut options = self.options.clone();
            options.progress = None;
            let comparison = pair.compare(&jobs, &Reference, &options, self.tolerance);
            Ok((pair, comparison))
        };
        let differs = |compared: Result<(Pair, Result<Comparison, Incomparable>), Incomparable>| {
            let (pair, comparison) = compared?;
            Ok(match comparison {
                Ok(comparison) if comparison.first.is_some() => Some((pair, comparison)),
                _ => None,
            })
        };
        let Some((pair, comparison)) = differs(compare(&|slot, pixel| values[slot][pixel]))? else {
            return Ok(Confirmed::Not);
        };
        let is_unmatched = |slot: usize| plan.slots()[slot].is_unmatched;
        if !(0..plan.slots().len()).any(is_unmatched) || alike && !lacks_literals {
            return Ok(Confirmed::Different(Box::new((pair, comparison))));
        }
        let with_same = |same: f32| {
            let value = |slot: usize, pixel: usize| {
                if is_unmatched(slot) { same } else { values[slot][pixel] }
            };
            differs(compare(&value))
        };
        if lacks_literals {
            // The same difference, whatever these values are.
            for same in CONFIRMING {
                if with_same(same)?.is_none_or(|(_, other)| other.first != comparison.first) {
                    return Ok(Confirmed::Depends);
                }
            }
            return Ok(Confirmed::Different(Box::new((pair, comparison))));
        }
        for same in CONFIRMING {
            if let Some((pair, comparison)) = with_same(same)? {
                return Ok(Confirmed::Different(Box::new((pair, comparison))));
            }
        }
        Ok(Confirmed::Depends)
    }

    /// Sets textures and integer and boolean constants for the next pictures: the same in both programs.
    fn change_resources(
        &self,
        sides: &mut [SideState<'_>; 2],
        legal: &LegalConstants,
        frame: u64,
    ) -> Result<(), Incomparable> {
        let mut random = Random::new(self.seed ^ RESOURCES, frame);
        let missing = &self.interface.missing;
        let constants = legal.choose(&mut random, frame).ok_or(Incomparable::NoLegalConstants)?;
        for side in sides.iter_mut() {
            constants.ints.iter().try_for_each(|&(n, value)| side.set_int(n, value))?;
            constants.bools.iter().try_for_each(|&(n, value)| side.set_bool(n, value))?;
        }
        for unit in 0..16 {
            let is_missing = missing.textures >> unit & 1 != 0;
            let texture = if is_missing {
                random.texture()
            } else {
                let [a, b] = [&sides[0], &sides[1]].map(|side| side.original(unit));
                // The texels are any; the state is that of both.
                let is_same = a.is_some() && a == b;
                let other = a.or(b).cloned();
                match other {
                    Some(mut texture) if is_same && frame / STEADY % 2 == 1 => {
                        let bytes = texture.levels.iter_mut().flat_map(|level| &mut level.bytes);
                        bytes.for_each(|byte| *byte = random.word() as u8);
                        Some(texture)
                    }
                    Some(texture) if is_same || a.is_none() || b.is_none() => Some(texture),
                    _ => None,
                }
            };
            let Some(texture) = texture else { continue };
            for side in sides.iter_mut() {
                side.set_texture(unit, &texture)?;
            }
        }
        Ok(())
    }
}

/// Equal values of what corresponds to nothing, with which a difference is confirmed.
pub(super) const CONFIRMING: [f32; 3] = [0.0, 1.0, 0.375];

/// Makes the values of resources differ from those of slots under the same seed.
const RESOURCES: u64 = 0x7265_736f;

enum Confirmed {
    Not,
    Depends,
    Different(Box<(Pair, Comparison)>),
}

/// Returns the values that are searched: what both programs share and at least one reads, and what only one reads.
fn slots(interface: &InterfaceMatch, reads: &[ExternalReads; 2]) -> Vec<Slot> {
    let constants = reads.each_ref().map(|reads| {
        super::interface_match::constant_channels(reads).collect::<BTreeSet<(u8, u8)>>()
    });
    let temps = reads
        .each_ref()
        .map(|reads| super::interface_match::temp_channels(reads).collect::<BTreeSet<(u8, u8)>>());
    let mut slots = Vec::new();
    let mut add = |places: [Vec<(u8, u8)>; 2], is_constant: bool, is_unmatched: bool| {
        let read = if is_constant { &constants } else { &temps };
        let is_read = |n: usize| places[n].iter().any(|place| read[n].contains(place));
        if is_read(0) || is_read(1) {
            slots.push(Slot { places, is_constant, is_unmatched });
        }
    };
    for shared in &interface.inputs {
        add(shared.places.clone(), false, false);
    }
    for shared in &interface.constants {
        let channels = shared.places.iter().map(Vec::len).max().unwrap_or(0);
        for channel in 0..channels {
            let places =
                [0, 1].map(|n| shared.places[n].get(channel).copied().into_iter().collect());
            add(places, true, false);
        }
    }
    for (n, unmatched) in interface.unmatched.iter().enumerate() {
        let own = |place: (u8, u8)| {
            let mut places = [Vec::new(), Vec::new()];
            places[n].push(place);
            places
        };
        unmatched.constants.iter().for_each(|&place| add(own(place), true, true));
        unmatched.temps.iter().for_each(|&place| add(own(place), false, true));
    }
    slots
}

/// Covered rows of a picture in which all quads have the same constants.
const ROWS_OF_UNIFORM: usize = 2;

/// Returns the mask of a picture in which all quads have the same constants: fewer pixels say as much, sooner.
fn first_rows() -> Vec<bool> {
    (0..SIZE * SIZE).map(|pixel| pixel / SIZE < ROWS_OF_UNIFORM).collect()
}

/// Returns which pixels are covered: about half, in all combinations in a quad.
fn random_mask(seed: u64, frame: u64) -> Vec<bool> {
    let mut random = Random::new(seed ^ RESOURCES, !frame);
    (0..SIZE * SIZE).map(|_| random.below(2) == 0).collect()
}
