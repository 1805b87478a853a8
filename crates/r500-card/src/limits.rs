//! Resource limits: every submission terminates.
//!
//! The limits count work, not time, so that a submission is aborted at the same point on every machine. A replay of
//! many submissions also has a deadline ([`Card::set_deadline`](crate::Card::set_deadline)).

use std::time::{Duration, Instant};

use r500_exec::RunError;

/// Limits of a submission. The defaults end the longest submission after about ten seconds of work of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of draws.
    pub draws: u64,
    /// Number of vertices or indices.
    pub vertices: u64,
    /// Number of instructions that vertex programs execute.
    pub vertex_instructions: u64,
    /// Number of pixels in the bounding boxes of primitives.
    pub pixels: u64,
    /// Number of shaded quads of 2x2 pixels.
    pub quads: u64,
    /// Number of instructions that a group of pixels may execute in the fragment processor.
    pub group_instructions: u64,
    /// Number of instructions that all groups of pixels may execute; preparing a program counts as
    /// [`PREPARE`](Self::PREPARE) for each of its instructions.
    pub fragment_instructions: u64,
    /// Bytes of textures that draws read; each level of each texture counts once a draw.
    pub texture_bytes: u64,
}

impl Limits {
    /// The cost of preparing an instruction of a fragment program, in instructions that a group executes.
    pub const PREPARE: u64 = 256;
}

impl Default for Limits {
    /// Returns 2^16 draws, 2^24 vertices, 2^27 vertex instructions, 2^30 pixels, 2^24 quads, 4 million instructions a
    /// group and 2^30 in total, 4 GiB of textures.
    fn default() -> Self {
        Self {
            draws: 1 << 16,
            vertices: 1 << 24,
            vertex_instructions: 1 << 27,
            pixels: 1 << 30,
            quads: 1 << 24,
            group_instructions: 4_000_000,
            fragment_instructions: 1 << 30,
            texture_bytes: 4 << 30,
        }
    }
}

/// Why a submission was aborted. Earlier draws stay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// Too many draws.
    #[error("a submission of more than {limit} draws")]
    Draws {
        /// [`Limits::draws`].
        limit: u64,
    },
    /// Too many vertices.
    #[error("the draws have more than {limit} vertices")]
    Vertices {
        /// [`Limits::vertices`].
        limit: u64,
    },
    /// Vertex programs executed too many instructions.
    #[error("vertex programs have executed {limit} instructions; one of them seems endless")]
    VertexInstructions {
        /// [`Limits::vertex_instructions`].
        limit: u64,
    },
    /// Primitives cover too many pixels.
    #[error("the primitives cover more than {limit} pixels")]
    Pixels {
        /// [`Limits::pixels`].
        limit: u64,
    },
    /// Too many quads are shaded.
    #[error("the draws shade more than {limit} squares of 2x2 pixels")]
    Quads {
        /// [`Limits::quads`].
        limit: u64,
    },
    /// Fragment programs executed too many instructions.
    #[error("fragment programs have executed {limit} instructions; one of them seems endless")]
    FragmentInstructions {
        /// [`Limits::fragment_instructions`].
        limit: u64,
    },
    /// Textures have too many bytes.
    #[error("the draws read more than {limit} bytes of textures")]
    TextureBytes {
        /// [`Limits::texture_bytes`].
        limit: u64,
    },
    /// The deadline of the card has passed.
    #[error("the time limit has passed")]
    Time,
    /// A recorded draw is too large.
    #[error("the recorded draw shades more than {limit} pixels")]
    Recording {
        /// Limit of the pixels of a recorded picture.
        limit: u64,
    },
    /// Resources of the fragment program cannot be bound.
    #[error("fragment program: {0}")]
    Bindings(String),
    /// The fragment program failed.
    #[error("fragment program: {0}")]
    Fragment(#[from] RunError),
}

/// The remaining limits of a submission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    left: Limits,
    deadline: Option<Instant>,
}

/// Defines a method that consumes one of the limits.
macro_rules! take {
    ($(#[$doc:meta])* $name:ident, $error:ident) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name(&mut self, count: u64) -> Result<(), CardError> {
            match self.left.$name.checked_sub(count) {
                Some(left) => {
                    self.left.$name = left;
                    Ok(())
                }
                None => Err(CardError::$error { limit: self.limits.$name }),
            }
        }
    };
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, left: limits, deadline: None }
    }

    /// Adds a deadline.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Checks the deadline. Called before work of some microseconds.
    pub(crate) fn time(&self) -> Result<(), CardError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(CardError::Time),
            _ => Ok(()),
        }
    }

    /// Returns the remaining time, if there is a deadline.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    take!(
        /// Takes draws.
        draws, Draws
    );
    take!(
        /// Takes vertices of a draw.
        vertices, Vertices
    );
    take!(
        /// Takes instructions of a vertex program.
        vertex_instructions, VertexInstructions
    );
    take!(
        /// Takes the pixels of a bounding box.
        pixels, Pixels
    );
    take!(
        /// Takes quads that are shaded.
        quads, Quads
    );
    take!(
        /// Takes instructions of fragment programs.
        fragment_instructions, FragmentInstructions
    );
    take!(
        /// Takes bytes of textures.
        texture_bytes, TextureBytes
    );

    /// Returns how many instructions each of some groups of pixels may execute, and whether that is less than
    /// [`Limits::group_instructions`] because of the limit for all groups together.
    pub(crate) fn group_instructions(&self, groups: u64) -> (u64, bool) {
        let share = self.left.fragment_instructions / groups.max(1);
        (share.min(self.limits.group_instructions), share < self.limits.group_instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_end_at_their_limit() {
        let mut budget = Budget::new(Limits { pixels: 10, ..Limits::default() });
        assert_eq!(budget.pixels(10), Ok(()));
        assert_eq!(budget.pixels(0), Ok(()));
        assert_eq!(budget.pixels(1), Err(CardError::Pixels { limit: 10 }));
    }

    #[test]
    fn groups_share_what_is_left() {
        let limits =
            Limits { group_instructions: 100, fragment_instructions: 1000, ..Limits::default() };
        let mut budget = Budget::new(limits);
        assert_eq!(budget.group_instructions(10), (100, false));
        assert_eq!(budget.group_instructions(20), (50, true));
        assert_eq!(budget.fragment_instructions(900), Ok(()));
        assert_eq!(budget.group_instructions(10), (10, true));
    }
}
