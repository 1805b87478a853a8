//! Errors in command streams.

use r500_chip::RegisterRef;
use r500_chip::pm4::Opcode;

use crate::packet::Truncated;

/// An error in a stream. Execution may continue after the packet, except for [`StreamErrorKind::Truncated`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dword {at}: {kind}")]
pub struct StreamError {
    /// Index of the packet's header in the stream.
    pub at: usize,
    /// The problem.
    pub kind: StreamErrorKind,
}

/// Kinds of packet errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamErrorKind {
    /// The stream ends inside the packet.
    #[error("the packet {header:#010x} needs {needs} dwords, {has} follow")]
    Truncated {
        /// The header.
        header: u32,
        /// Dwords of the body.
        needs: usize,
        /// Remaining dwords of the stream.
        has: usize,
    },
    /// A packet of type 1.
    #[error("packets of type 1 ({0:#010x}) are not supported")]
    Type1(u32),
    /// An unknown command.
    #[error("unknown command {:#04x}", .0.code())]
    UnknownCommand(Opcode),
    /// A body shorter than its command needs.
    #[error("the body of {} is too short", opcode_name(*.0))]
    ShortBody(Opcode),
    /// A relocation outside the submission's list.
    #[error("relocation {index} of {entries}")]
    NoSuchRelocation {
        /// Index of the entry.
        index: u32,
        /// Entries of the list.
        entries: usize,
    },
    /// A register with an address, without a relocation after it.
    #[error("no relocation follows {0}")]
    NoRelocation(RelocationTarget),
    /// An indexed draw without indices and without `INDX_BUFFER` after it.
    #[error("no indices follow the draw")]
    NoIndices,
    /// `INDX_BUFFER` without a draw before it.
    #[error("INDX_BUFFER without a draw that needs it")]
    StrayIndices,
    /// A draw started by a write of `VAP_VF_CNTL`, with missing vertices or indices.
    #[error("the draw through registers needs {needs} dwords, the port registers got {has}")]
    ShortPortDraw {
        /// Dwords of its vertices or indices.
        needs: usize,
        /// Dwords that were written.
        has: usize,
    },
}

/// The destination of a relocation's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// A register.
    Register(RegisterRef),
    /// A vertex array of `3D_LOAD_VBPNTR`.
    VertexArray(usize),
    /// Indices of `INDX_BUFFER`.
    Indices,
}

impl std::fmt::Display for RelocationTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Register(place) => write!(f, "{place}"),
            Self::VertexArray(index) => write!(f, "vertex array {index}"),
            Self::Indices => f.write_str("INDX_BUFFER"),
        }
    }
}

impl From<Truncated> for StreamError {
    fn from(error: Truncated) -> Self {
        let Truncated { at, header, needs, has } = error;
        Self { at, kind: StreamErrorKind::Truncated { header, needs, has } }
    }
}

fn opcode_name(opcode: Opcode) -> &'static str {
    opcode.describe().map_or("a command", |value| value.name)
}
