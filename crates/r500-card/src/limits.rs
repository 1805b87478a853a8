//! Resource limits: every submission ends, whatever it asks for.

use r500_exec::RunError;

/// Bounds on what a submission may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Vertices or indices of a draw.
    pub vertices: u64,
    /// Instructions that the vertex programs of a submission execute.
    pub vertex_instructions: u64,
    /// Pixels that the bounding boxes of a submission's primitives hold.
    pub pixels: u64,
    /// Instructions that a group of pixels may execute in the fragment processor.
    pub fragment_instructions: u64,
}

impl Default for Limits {
    /// 2^21 vertices a draw, 2^32 vertex instructions and pixels a submission, 4 million instructions a group.
    fn default() -> Self {
        Self {
            vertices: 1 << 21,
            vertex_instructions: 1 << 32,
            pixels: 1 << 32,
            fragment_instructions: 4_000_000,
        }
    }
}

/// Why a submission was given up. What it had drawn before stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CardError {
    /// A draw of too many vertices.
    #[error("a draw of {vertices} vertices, the limit is {limit}")]
    Vertices {
        /// Vertices or indices of the draw.
        vertices: u64,
        /// [`Limits::vertices`].
        limit: u64,
    },
    /// Vertex programs ran for too long.
    #[error("vertex programs have executed {limit} instructions; one of them seems endless")]
    VertexInstructions {
        /// [`Limits::vertex_instructions`].
        limit: u64,
    },
    /// Primitives cover too much.
    #[error("the primitives cover more than {limit} pixels")]
    Pixels {
        /// [`Limits::pixels`].
        limit: u64,
    },
    /// A recorded draw is too large.
    #[error("the recorded draw shades more than {limit} pixels")]
    Recording {
        /// Most pixels of a recorded picture.
        limit: u64,
    },
    /// What the fragment program reads does not fit.
    #[error("fragment program: {0}")]
    Bindings(String),
    /// The fragment program failed.
    #[error("fragment program: {0}")]
    Fragment(#[from] RunError),
}

/// What is left of the limits in a submission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limits: Limits,
    vertex_instructions: u64,
    pixels: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, vertex_instructions: limits.vertex_instructions, pixels: limits.pixels }
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Takes an instruction of a vertex program.
    #[inline]
    pub(crate) fn vertex_instruction(&mut self) -> Result<(), CardError> {
        match self.vertex_instructions.checked_sub(1) {
            Some(left) => {
                self.vertex_instructions = left;
                Ok(())
            }
            None => Err(CardError::VertexInstructions { limit: self.limits.vertex_instructions }),
        }
    }

    /// Takes the pixels of a bounding box.
    pub(crate) fn pixels(&mut self, count: u64) -> Result<(), CardError> {
        match self.pixels.checked_sub(count) {
            Some(left) => {
                self.pixels = left;
                Ok(())
            }
            None => Err(CardError::Pixels { limit: self.limits.pixels }),
        }
    }
}
