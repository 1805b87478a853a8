//! Equivalence of two R500 programs, and comparison of a frame with expectations.
//!
//! [`Pair`] runs two jobs, each with its own bindings, and compares the stored values of every pixel that both cover.
//! [`InterfaceMatch`] matches inputs and constants, in whichever registers they are. [`Search`] draws both with the same values
//! of these, edge values first, and finds a pixel that differs; [`prove()`] proves equality for all values, by value numbering.
//! [`Known`] restricts "all values" by what captures provide. [`Exercise`] records execution coverage, [`Divergence`] finds
//! the instructions at which the runs of a pixel diverge. [`VertexSearch`] compares two vertex programs by vertices.

#![forbid(unsafe_code)]

mod claim;
mod difference;
mod divergence;
mod exercise;
pub mod expectation;
mod fill;
mod findings;
mod interface_match;
mod known;
mod legal;
mod pixel_paths;
mod prove;
mod random;
pub mod reduce;
mod search;
mod trial;
mod verdict;
mod vertex;

use r500_exec::output::{color, depth};
use r500_exec::{BindError, Bindings, Engine, Frame, Options, RunError, Shader, ShaderError, draw};
use r500_isa::TARGETS;
use r500_isa::state::UsOutFmt;
use r500_program::{Compare, Job, State};

use crate::expectation::agree;

pub use claim::Claim;
pub use difference::{Difference, Part};
pub use divergence::{Divergence, ExecutedInst};
pub use exercise::{Exercise, Unexercised};
pub use fill::{Fill, UnmatchedValues};
pub use findings::{new_findings, new_lints};
pub use interface_match::{InterfaceMatch, Literals, Shared, Unmatched};
pub use known::Known;
use known::{Symbol, TextureKind};
pub use prove::{Proof, Unknown, prove, prove_with, state_difference};
pub use random::Random;
pub use search::{Counterexample, FRAMES, RANDOM, Search, SearchEnd, Searched, WORK};
pub use trial::Trial;
pub use verdict::PairVerdict;
pub use vertex::{VertexDifference, VertexSearch, VertexVerdict};

/// One of two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// Why two programs cannot be compared by running them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Incomparable {
    /// A program cannot run at all.
    #[error("{side} cannot run: {error}")]
    Shader {
        /// Which program.
        side: Side,
        /// Why.
        error: ShaderError,
    },
    /// Resources of a job cannot be bound.
    #[error("{side}: {error}")]
    Bind {
        /// Which program.
        side: Side,
        /// Why.
        error: BindError,
    },
    /// A run ended early.
    #[error("{side}: {error}")]
    Run {
        /// Which program.
        side: Side,
        /// Why.
        error: RunError,
    },
    /// Their pictures have different sizes.
    #[error("A draws {}x{} pixels, B {}x{}", a[0], a[1], b[0], b[1])]
    Size {
        /// Size of A.
        a: [u32; 2],
        /// Size of B.
        b: [u32; 2],
    },
    /// No pixel is covered by both.
    #[error("there is not a pixel that both cover")]
    NoPixels,
    /// No integer and boolean constants were found with which the checker accepts both programs.
    #[error("no integer and boolean constants were found with which the checker finds no error")]
    NoLegalConstants,
}

/// Two jobs with decoded programs.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The jobs, A and B.
    pub jobs: [Job; 2],
    shaders: [Shader; 2],
    size: [u32; 2],
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of compared pixels: those that both cover.
    pub pixels: usize,
    /// Number of pixels that differ.
    pub differing: usize,
    /// The first pixel that differs, row by row from the bottom.
    pub first: Option<Difference>,
}

/// Both sides, in order.
pub const SIDES: [Side; 2] = [Side::A, Side::B];

impl Pair {
    /// Prepares two jobs. They run at `size`, else at their own size, else at 256x256.
    ///
    /// # Errors
    /// [`Incomparable`] if one cannot run, or their sizes differ.
    pub fn new(a: Job, b: Job, size: Option<[u32; 2]>) -> Result<Self, Incomparable> {
        let own = |job: &Job| size.or(job.size).unwrap_or([256, 256]);
        let (size_a, size_b) = (own(&a), own(&b));
        if size_a != size_b {
            return Err(Incomparable::Size { a: size_a, b: size_b });
        }
        let shader = |job: &Job, side| {
            Shader::new(&job.program).map_err(|error| Incomparable::Shader { side, error })
        };
        let shaders = [shader(&a, Side::A)?, shader(&b, Side::B)?];
        Ok(Self { jobs: [a, b], shaders, size: size_a })
    }

    /// Returns width and height of the pictures.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Returns the programs, decoded.
    #[must_use]
    pub fn shaders(&self) -> &[Shader; 2] {
        &self.shaders
    }

    /// Follows some pixels of both programs with the bindings of `jobs`, and returns the execution coverage.
    ///
    /// # Errors
    /// [`Incomparable`] if a run cannot begin.
    pub fn exercise(
        &self,
        jobs: &[Job; 2],
        options: &Options<'_>,
        exercises: &mut [Exercise; 2],
    ) -> Result<(), Incomparable> {
        for (n, exercise) in exercises.iter_mut().enumerate() {
            let bindings = self.bind(n, &jobs[n])?;
            let recorded = exercise.record(&self.shaders[n], &bindings, options);
            recorded.map_err(|error| Incomparable::Run { side: SIDES[n], error })?;
        }
        Ok(())
    }

    /// Binds the resources of a job for one of the programs.
    fn bind(&self, n: usize, job: &Job) -> Result<Bindings, Incomparable> {
        Bindings::new(job, self.size).map_err(|error| Incomparable::Bind { side: SIDES[n], error })
    }

    /// Runs both programs with the bindings of `jobs` and compares every pixel that both cover, as `US_OUT_FMT` and
    /// `US_W_FMT` store it (as floats where not both give the format): bit for bit, or as values within a tolerance (relative above 1, +0 equal to -0, any NaN
    /// equal to any other).
    ///
    /// # Errors
    /// [`Incomparable`] if a run fails, or no pixel is covered by both.
    pub fn compare(
        &self,
        jobs: &[Job; 2],
        engine: &dyn Engine,
        options: &Options<'_>,
        tolerance: Option<f32>,
    ) -> Result<Comparison, Incomparable> {
        let bindings = [self.bind(0, &jobs[0])?, self.bind(1, &jobs[1])?];
        let run = |n: usize| {
            draw(engine, &self.shaders[n], &bindings[n], options)
                .map_err(|error| Incomparable::Run { side: SIDES[n], error })
        };
        let frames = [run(0)?, run(1)?];
        let states = [&jobs[0].program.state, &jobs[1].program.state];
        let mut found = Comparison { pixels: 0, differing: 0, first: None };
        for y in 0..self.size[1] {
            for x in 0..self.size[0] {
                if !bindings.iter().all(|bindings| bindings.covers(x, y)) {
                    continue;
                }
                found.pixels += 1;
                let index = y as usize * self.size[0] as usize + x as usize;
                let parts = differences([&frames[0], &frames[1]], states, index, tolerance);
                if parts.is_empty() {
                    continue;
                }
                found.differing += 1;
                found.first.get_or_insert(Difference { pixel: [x, y], parts });
            }
        }
        if found.pixels == 0 { Err(Incomparable::NoPixels) } else { Ok(found) }
    }
}

/// Returns whether both programs write the same bits in a pixel.
fn is_same(frames: [&Frame; 2], index: usize) -> bool {
    let color = |n: usize, target: usize| {
        let color = frames[n].target(target).map_or([0.0; 4], |colors| colors[index]);
        color.map(f32::to_bits)
    };
    let depth = |n: usize| frames[n].depth().map_or(0, |depth| depth[index].to_bits());
    frames[0].coverage()[index] == frames[1].coverage()[index]
        && (0..TARGETS).all(|target| color(0, target) == color(1, target))
        && depth(0) == depth(1)
}

fn differences(
    frames: [&Frame; 2],
    states: [&State; 2],
    index: usize,
    tolerance: Option<f32>,
) -> Vec<Part> {
    let drawn = [frames[0].coverage()[index], frames[1].coverage()[index]];
    if drawn[0] != drawn[1] {
        return vec![Part::Coverage { drawn }];
    }
    let mut parts = Vec::new();
    for target in 0..TARGETS {
        if frames.iter().all(|frame| frame.target(target).is_none()) {
            continue;
        }
        let color = |n: usize| frames[n].target(target).map_or([0.0; 4], |colors| colors[index]);
        let written = [color(0), color(1)];
        let formats = [0, 1].map(|n| states[n].out_fmt[target]);
        let is_stored = formats.iter().all(Option::is_some);
        let stored = [0, 1].map(|n| {
            let mut bytes = Vec::new();
            if let Some(format) = formats[n].filter(|_| is_stored) {
                color::store(format, written[n], &mut bytes);
            }
            bytes
        });
        let shown = |formats: [UsOutFmt; 2]| {
            let shown = [0, 1].map(|n| color::load(formats[n], &stored[n]));
            match shown {
                [Some(a), Some(b)] => a
                    .iter()
                    .zip(b)
                    .all(|(&a, b)| agree(Compare::Values, tolerance.unwrap_or(0.0), a, b)),
                [None, None] => true,
                _ => false,
            }
        };
        let same = match (formats, tolerance) {
            // The order of components is part of what is stored.
            ([Some(a), Some(b)], None) if a.out_fmt() == b.out_fmt() => stored[0] == stored[1],
            // With different formats or a tolerance, the displayed values are compared.
            ([Some(a), Some(b)], _) => shown([a, b]),
            // Without a format for both, the floats.
            (_, None) => written[0].map(f32::to_bits) == written[1].map(f32::to_bits),
            (_, Some(tolerance)) => {
                let pairs = written[0].iter().zip(written[1]);
                pairs.into_iter().all(|(&a, b)| agree(Compare::Values, tolerance, a, b))
            }
        };
        if !same {
            parts.push(Part::Color { target, written, stored });
        }
    }
    if frames.iter().any(|frame| frame.depth().is_some()) {
        let written = [0, 1].map(|n| frames[n].depth().map_or(0.0, |depth| depth[index]));
        let stored = |n: usize| match states[n].w_fmt {
            Some(format) => depth::store_depth(format, written[n]),
            None => written[n].to_bits(),
        };
        let same = match tolerance {
            None => stored(0) == stored(1),
            Some(tolerance) => agree(Compare::Values, tolerance, written[0], written[1]),
        };
        if !same {
            parts.push(Part::Depth { written });
        }
    }
    parts
}
