//! Run errors: why a run ended without a frame.

use std::time::Duration;

use crate::PixelRect;

/// Why a run ended without a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The picture has no pixels.
    #[error("a picture of {width}x{height} has no pixels")]
    NoPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The area to draw leaves the picture.
    #[error("the area {}x{} at {},{} is not inside the picture of {width}x{height}",
        area.width, area.height, area.x, area.y)]
    AreaOutside {
        /// The area.
        area: PixelRect,
        /// Width of the picture.
        width: u32,
        /// Height of the picture.
        height: u32,
    },
    /// The group of pixels cannot be made of quads.
    #[error("a group of {width}x{height} pixels is not made of whole quads: both must be even")]
    OddGroup {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The frame would take too much memory.
    #[error("a frame of {width}x{height} takes {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// Bytes that it would take.
        bytes: u64,
        /// [`Limits::memory`](crate::Limits::memory).
        limit: u64,
    },
    /// Data other than the frame would take too much memory.
    #[error("{what} takes {bytes} bytes, the limit is {limit}")]
    Memory {
        /// The data, in words.
        what: String,
        /// Bytes that it would take.
        bytes: u64,
        /// [`Limits::memory`](crate::Limits::memory).
        limit: u64,
    },
    /// Memory within the limit cannot be allocated.
    #[error("{what} takes {bytes} bytes, which the system does not provide")]
    Allocation {
        /// The data, in words.
        what: String,
        /// Bytes that it would take.
        bytes: u64,
    },
    /// The program ran for too long.
    #[error(
        "after {limit} instructions the group at pixel {},{} is still at address {address}: \
         the program seems endless (raise the instruction limit if it is not)", pixel[0], pixel[1]
    )]
    Instructions {
        /// Address of the next instruction.
        address: u32,
        /// Lower left pixel of the group.
        pixel: [u32; 2],
        /// [`Limits::instructions`](crate::Limits::instructions).
        limit: u64,
    },
    /// The program of a vertex ran for too long.
    #[error(
        "after {limit} instructions the vertex is still at address {address}: \
         the program seems endless (raise the instruction limit if it is not)"
    )]
    VertexInstructions {
        /// Address of the next instruction.
        address: u32,
        /// [`Limits::instructions`](crate::Limits::instructions).
        limit: u64,
    },
    /// The time limit was exceeded.
    #[error("the drawing took longer than its limit of {limit:?}")]
    Time {
        /// [`Limits::time`](crate::Limits::time).
        limit: Duration,
    },
    /// The memory of a surface is too small.
    #[error(
        "{what}: {given} {unit} do not hold {rows} rows of {row} {unit}, {pitch} from one to the next"
    )]
    SurfaceTooSmall {
        /// The surface: `colour target 0` to `3`, `depth`, `coverage`.
        what: &'static str,
        /// The unit: bytes of colours; elements of depth and coverage.
        unit: &'static str,
        /// The units given.
        given: usize,
        /// Rows of the area.
        rows: u32,
        /// The units of a row.
        row: usize,
        /// The units from a row to the next.
        pitch: usize,
    },
    /// A prepared draw is used with another shader, other options or other bindings.
    #[error(
        "the draw was prepared for another shader, other options or other bindings: prepare it again, or use a Drawing"
    )]
    NotPrepared,
    /// [`Cancel`](crate::Cancel) was called.
    #[error("the drawing was cancelled")]
    Cancelled,
}
