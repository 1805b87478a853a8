//! Whether two programs compute the same.
//!
//! [`Pair`] runs two jobs, each with the bindings that it carries, and compares what the card would
//! store of every pixel that both cover. [`Sharing`] finds the inputs and constants that both have
//! under the same name, wherever they lie, so that both can be given the same random values. [`Fill`] gives
//! both the same values of what they read and their jobs do not provide; [`Exercise`] says what was executed.
//! [`Divergence`] follows a pixel through both and finds the instructions where they part. [`Trial`] compares every bit under
//! made-up values, and [`prove()`] shows equality for all values, by value numbering. [`Known`] narrows "all
//! values" to what captures tell.

mod divergence;
mod exercise;
mod fill;
mod interface_match;
mod known;
mod prove;
mod random;
mod trial;

use r500_exec::output::{color, depth};
use r500_exec::{BindError, Bindings, Engine, Frame, Options, RunError, Shader, ShaderError, draw};
use r500_isa::TARGETS;
use r500_program::{Compare, Job, State};

use crate::expectation::agree;

pub use divergence::{Divergence, Place};
pub use exercise::{Exercise, Unexercised};
pub use fill::Fill;
pub use interface_match::{Shared, Sharing};
pub use known::Known;
use known::{Symbol, TextureKind};
pub use prove::{Proof, Unknown, prove, prove_with};
pub use random::Random;
pub use trial::Trial;

/// One of two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// One cannot run at all.
    #[error("{side} cannot run: {error}")]
    Shader {
        /// Which.
        side: Side,
        /// Why.
        error: ShaderError,
    },
    /// What one carries cannot be bound.
    #[error("{side}: {error}")]
    Bind {
        /// Which.
        side: Side,
        /// Why.
        error: BindError,
    },
    /// The run of one ended early.
    #[error("{side}: {error}")]
    Run {
        /// Which.
        side: Side,
        /// Why.
        error: RunError,
    },
    /// Their pictures have different sizes.
    #[error("A draws {}x{} pixels, B {}x{}", a[0], a[1], b[0], b[1])]
    Size {
        /// Of A.
        a: [u32; 2],
        /// Of B.
        b: [u32; 2],
    },
    /// No pixel is covered in both.
    #[error("there is not a pixel that both cover")]
    NoPixels,
    /// Random values were asked for, and no input and no constant has the same name in both.
    #[error("no input and no constant has the same name in both")]
    NothingShared,
}

/// Two jobs, ready to run.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The jobs, A and B.
    pub jobs: [Job; 2],
    shaders: [Shader; 2],
    size: [u32; 2],
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Pixels compared: those that both cover.
    pub pixels: usize,
    /// Pixels that differ.
    pub differing: usize,
    /// The first that differs, row by row from the bottom.
    pub first: Option<Difference>,
}

/// A pixel that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Column, and row from the bottom.
    pub pixel: [u32; 2],
    /// What differs there.
    pub parts: Vec<Part>,
}

/// What differs of a pixel.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A colour.
    Color {
        /// The target, 0 to 3 for A to D.
        target: usize,
        /// What the programs wrote.
        written: [[f32; 4]; 2],
        /// What the card would store of it.
        stored: [Vec<u8>; 2],
    },
    /// Depth.
    Depth {
        /// What the programs wrote.
        written: [f32; 2],
    },
    /// One kills the pixel.
    Coverage {
        /// Whether it is drawn.
        drawn: [bool; 2],
    },
}

const SIDES: [Side; 2] = [Side::A, Side::B];

impl Pair {
    /// Prepares two jobs. They run at their own size, or at `size`; 256x256 by default.
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

    /// Width and height of the pictures.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Returns the programs, decoded.
    #[must_use]
    pub fn shaders(&self) -> &[Shader; 2] {
        &self.shaders
    }

    /// Follows some of the pixels of both programs with what `jobs` carry, to know what they execute.
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

    /// Returns what a side reads.
    fn bind(&self, n: usize, job: &Job) -> Result<Bindings, Incomparable> {
        Bindings::new(job, self.size).map_err(|error| Incomparable::Bind { side: SIDES[n], error })
    }

    /// Runs both with what `jobs` carry and compares every pixel that both cover: what `US_OUT_FMT`
    /// and `US_W_FMT` leave of it, bit for bit, or as values within a tolerance (relative above 1,
    /// +0 equal to -0, any NaN equal to any other).
    ///
    /// # Errors
    /// [`Incomparable`] if a run fails, or there is not a pixel to compare.
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
                let parts = differences(&frames, states, index, tolerance);
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

fn differences(
    frames: &[Frame; 2],
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
        let stored = [0, 1].map(|n| {
            let mut bytes = Vec::new();
            color::store(states[n].out_fmt_or_default(target), written[n], &mut bytes);
            bytes
        });
        let formats = [0, 1].map(|n| states[n].out_fmt_or_default(target));
        let same = match tolerance {
            None if formats[0] == formats[1] => stored[0] == stored[1],
            // Different formats, or a tolerance: what a picture in them shows.
            _ => {
                let shown = [0, 1].map(|n| color::load(formats[n], &stored[n]));
                match shown {
                    [Some(a), Some(b)] => a
                        .iter()
                        .zip(b)
                        .all(|(&a, b)| agree(Compare::Values, tolerance.unwrap_or(0.0), a, b)),
                    [None, None] => true,
                    _ => false,
                }
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
