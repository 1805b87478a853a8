//! Resource limits: every submission terminates.
//!
//! By default a submission may take a time, whatever its work is: honest programs execute any number of instructions. The
//! other limits count work, so that a submission is aborted at the same point on every machine; fuzzing and tests set them.
//! A replay of many submissions also has a deadline ([`Card::set_deadline`](crate::Card::set_deadline)).

use std::time::{Duration, Instant};

use r500_exec::RunError;

/// Limits of a submission. By default only its time is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from its first packet to its end; `None` for any time.
    pub time: Option<Duration>,
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
    /// The usual time of a submission.
    pub const TIME: Duration = Duration::from_secs(120);
}

impl Default for Limits {
    /// Returns [`TIME`](Self::TIME), and any work in it.
    fn default() -> Self {
        Self {
            time: Some(Self::TIME),
            draws: u64::MAX,
            vertices: u64::MAX,
            vertex_instructions: u64::MAX,
            pixels: u64::MAX,
            quads: u64::MAX,
            group_instructions: u64::MAX,
            fragment_instructions: u64::MAX,
            texture_bytes: u64::MAX,
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
    /// The submission takes too long.
    #[error("the submission takes more than {limit:?}; a program in it seems endless")]
    SubmissionTime {
        /// [`Limits::time`].
        limit: Duration,
    },
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
    /// The end of the submission's time, or the card's deadline if that is earlier.
    end: Option<Instant>,
    /// Whether the end is the card's deadline.
    of_card: bool,
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
    /// Starts a submission.
    pub(crate) fn new(limits: Limits) -> Self {
        let end = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { limits, left: limits, end, of_card: false }
    }

    /// Adds the deadline of the card.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        match (deadline, self.end) {
            (None, _) => self,
            (Some(deadline), Some(end)) if end < deadline => self,
            (deadline, _) => Self { end: deadline, of_card: true, ..self },
        }
    }

    /// Checks the time. Called before work of some microseconds.
    pub(crate) fn time(&self) -> Result<(), CardError> {
        match self.end {
            Some(end) if Instant::now() >= end => Err(self.out_of_time()),
            _ => Ok(()),
        }
    }

    /// Returns the error of a submission whose time has passed.
    pub(crate) fn out_of_time(&self) -> CardError {
        match self.limits.time {
            Some(limit) if !self.of_card => CardError::SubmissionTime { limit },
            _ => CardError::Time,
        }
    }

    /// Returns the remaining time, if it is limited.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
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

    /// Returns whether the instructions of fragment programs are limited together, not only those of a group of pixels.
    pub(crate) fn counts_fragment_instructions(&self) -> bool {
        self.limits.fragment_instructions != u64::MAX
    }

    /// Returns how many instructions each of some vertices may execute.
    pub(crate) fn instructions_of_vertex(&self, vertices: u64) -> u64 {
        self.left.vertex_instructions / vertices.max(1)
    }

    /// Returns how many instructions each of some groups of pixels may execute.
    pub(crate) fn group_instructions(&self, groups: u64) -> u64 {
        let share = self.left.fragment_instructions / groups.max(1);
        share.min(self.limits.group_instructions)
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
    fn the_earlier_of_two_ends_is_named() {
        let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(1000));
        let limit = Duration::ZERO;
        let ended = Budget::new(Limits { time: Some(limit), ..Limits::default() });
        assert_eq!(ended.until(Some(later)).time(), Err(CardError::SubmissionTime { limit }));
        let budget = Budget::new(Limits::default());
        assert_eq!((budget.time(), budget.until(Some(now)).time()), (Ok(()), Err(CardError::Time)));
        let unlimited = Budget::new(Limits { time: None, ..Limits::default() });
        assert_eq!((unlimited.time(), unlimited.time_left()), (Ok(()), None));
        assert_eq!(unlimited.until(Some(now)).time(), Err(CardError::Time));
    }

    #[test]
    fn groups_share_what_is_left() {
        let limits =
            Limits { group_instructions: 100, fragment_instructions: 1000, ..Limits::default() };
        let mut budget = Budget::new(limits);
        assert_eq!(budget.group_instructions(10), 100);
        assert_eq!(budget.group_instructions(20), 50);
        assert_eq!(budget.fragment_instructions(900), Ok(()));
        assert_eq!(budget.group_instructions(10), 10);
    }
}
