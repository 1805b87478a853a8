//! Why a submission is refused.

use std::fmt;

/// Why the kernel answers `EINVAL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The index of the dword in the stream.
    pub at: usize,
    /// The reason.
    pub reason: Reason,
}

/// What a program must own, or what is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needed {
    /// The memory that compresses depth.
    HyperZ,
    /// The memory that compresses colour.
    Cmask,
    /// A screen that is on: a wait for one of its lines.
    ScreenLine,
    /// The buffers, whose sizes are not known.
    Buffers,
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HyperZ => "HyperZ (the request RADEON_INFO with WANT_HYPERZ)",
            Self::Cmask => "the colour mask (the request RADEON_INFO with WANT_CMASK)",
            Self::Buffers => "buffers that are large enough: a capture has them, dwords do not",
            Self::ScreenLine => "a screen for its wait for a line, which is not checked",
        })
    }
}

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A packet is expected after the end of the stream.
    NoPacket {
        /// The dwords of the stream.
        dwords: usize,
    },
    /// A packet of type 1.
    PacketType {
        /// The header.
        header: u32,
    },
    /// The packet ends after the stream.
    PacketEnd {
        /// The header.
        header: u32,
        /// Dwords of its body.
        needs: usize,
        /// Dwords that follow.
        has: usize,
    },
    /// A command that needs more dwords than its packet has.
    Short {
        /// Dwords of its body.
        dwords: usize,
    },
    /// An unknown command.
    Command {
        /// The opcode.
        opcode: u8,
    },
    /// A register that programs may not write.
    Register {
        /// The address.
        address: u32,
    },
    /// The submission has no list of relocations.
    NoRelocationList,
    /// Something with an address is not followed by a relocation.
    NoRelocation,
    /// Something with an address has none because of this.
    Address {
        /// What has the address.
        what: &'static str,
        /// The dword where the relocation is expected.
        expected: usize,
        /// Why there is none.
        because: Box<Reason>,
    },
    /// A relocation outside of the list.
    RelocationIndex {
        /// The dword of the relocation: 4 times the index.
        dword: u32,
        /// Entries of the list.
        entries: usize,
    },
    /// The program does not own what the stream uses.
    Owner(Needed),
    /// A format of a target that the kernel does not know.
    ColorFormat {
        /// The code.
        code: u32,
    },
    /// A format of the depth buffer that the kernel does not know.
    DepthFormat {
        /// The code.
        code: u32,
    },
    /// A format of a texture that the kernel does not know.
    TextureFormat {
        /// The code.
        code: u32,
    },
    /// More than 16 vertex arrays.
    VertexArrays {
        /// Their number.
        count: u32,
    },
    /// Vertices in the packet, and a control word that says otherwise.
    ImmediateWalk,
    /// The size of the vertices in the packet.
    Immediate {
        /// Dwords of the vertices in the packet.
        has: u64,
        /// Vertices.
        vertices: u32,
        /// Dwords of a vertex.
        size: u32,
    },
    /// A source of vertices that does not exist.
    Walk {
        /// The code.
        code: u32,
    },
    /// A buffer of indices that is too small.
    Indices {
        /// What the kernel compares with the size.
        needs: u64,
        /// Bytes of the buffer.
        has: usize,
    },
    /// Nothing is bound.
    Unbound(Use),
    /// A buffer that is too small.
    TooSmall {
        /// What it is used as.
        used: Use,
        /// Bytes that are needed.
        needs: u64,
        /// Bytes of the buffer.
        has: usize,
        /// How the number comes about.
        how: String,
    },
    /// The coordinates of a texture are of a reserved kind.
    TextureCoordinates {
        /// The unit.
        unit: usize,
    },
}

/// What a buffer is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Render target 0 to 3.
    Target(usize),
    /// Depth and stencil.
    Depth,
    /// The target of a resolve.
    Resolve,
    /// A texture unit.
    Texture(usize),
    /// A vertex array.
    VertexArray(usize),
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(n) => write!(f, "colour target {n}"),
            Self::Depth => f.write_str("the depth buffer"),
            Self::Resolve => f.write_str("the target of a resolve"),
            Self::Texture(unit) => write!(f, "the texture of unit {unit}"),
            Self::VertexArray(n) => write!(f, "vertex array {n}"),
        }
    }
}

impl Rejection {
    /// Names what a missing relocation is for, with the dword that has the address.
    pub(super) fn for_address(self, at: usize, what: &'static str) -> Self {
        let because = Box::new(self.reason);
        Self { at, reason: Reason::Address { what, expected: self.at, because } }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dword {}: {}", self.at, self.reason)
    }
}

impl std::error::Error for Rejection {}

fn register(address: u32) -> String {
    match r500_chip::at(address) {
        Some(register) => format!("{register} ({address:#06x})"),
        None => format!("the register {address:#06x}"),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPacket { dwords } => {
                write!(f, "a packet is expected, and the stream ends after {dwords} dwords")
            }
            Self::PacketType { header } => {
                write!(f, "{header:#010x} is a packet of type 1, which the kernel does not take")
            }
            Self::PacketEnd { header, needs, has } => {
                write!(
                    f,
                    "the packet {header:#010x} ends after the stream: it has {needs} dwords, {has} follow"
                )
            }
            Self::Short { dwords } => {
                write!(f, "the command needs more than the {dwords} dwords of its packet")
            }
            Self::Command { opcode } => write!(f, "{opcode:#04x} is an unknown command"),
            Self::Register { address } => {
                write!(f, "programs may not write {}", register(*address))
            }
            Self::NoRelocationList => f.write_str("the submission has no list of relocations"),
            Self::NoRelocation => f.write_str("this packet is not a relocation (NOP)"),
            Self::Address { what, expected, because } => {
                write!(f, "{what} needs a relocation at dword {expected}: {because}")
            }
            Self::RelocationIndex { dword, entries } => write!(
                f,
                "the relocation has {dword}, and the list {entries} entries: it is 4 times the number of an entry"
            ),
            Self::Owner(needed) => write!(f, "the program does not own {needed}"),
            Self::ColorFormat { code } => {
                write!(f, "COLORFORMAT {code} is not a format of a target")
            }
            Self::DepthFormat { code } => {
                write!(f, "DEPTHFORMAT {code} is not a format of a depth buffer")
            }
            Self::TextureFormat { code } => {
                write!(f, "TXFORMAT {code} is not a format of a texture")
            }
            Self::VertexArrays { count } => write!(f, "{count} vertex arrays; there are 16"),
            Self::ImmediateWalk => {
                f.write_str("PRIM_WALK is not VERTEX_DATA, and the vertices are in the packet")
            }
            Self::Immediate { has, vertices, size } => write!(
                f,
                "the packet has {has} dwords of vertices; {vertices} vertices (NUM_VERTICES) of {size} dwords (VAP_VTX_SIZE) are {}",
                u64::from(*vertices) * u64::from(*size)
            ),
            Self::Walk { code } => write!(f, "PRIM_WALK {code} does not draw"),
            Self::Indices { needs, has } => {
                write!(f, "the indices need {needs}, and their buffer has {has} bytes")
            }
            Self::Unbound(used) => {
                write!(f, "{used} is used, and this submission binds no buffer to it")
            }
            Self::TooSmall { used, needs, has, how } => {
                write!(f, "{used} needs {needs} bytes ({how}), and its buffer has {has}")
            }
            Self::TextureCoordinates { unit } => {
                write!(f, "the texture of unit {unit} has coordinates of a reserved kind")
            }
        }
    }
}
