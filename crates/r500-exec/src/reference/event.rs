//! What an instruction did to a watched pixel.

use crate::texture;

/// One executed instruction as one pixel saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Absolute address of the instruction.
    pub address: u32,
    /// Whether the pixel was active. An inactive one sees flow control, and writes of
    /// `WRITE_INACTIVE`.
    pub active: bool,
    /// What was computed.
    pub kind: EventKind,
    /// What was written, in order.
    pub writes: Vec<Write>,
}

/// What was computed.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Nothing: the pixel slept.
    Skipped,
    /// An ALU or OUT instruction.
    Alu {
        /// Operands A, B, C of the RGB half, modifiers applied. For MDH and MDV, A and C are the
        /// corners'.
        rgb: [[f32; 3]; 3],
        /// Operands A, B, C of the alpha half, modifiers applied.
        alpha: [f32; 3],
        /// Results before OMOD and clamp: red, green, blue, alpha.
        raw: [f32; 4],
        /// Finished results.
        result: [f32; 4],
        /// Channels that the predicates let through, red in bit 0.
        enabled: u8,
    },
    /// A texture instruction.
    Tex {
        /// S, T, R, Q.
        coord: [f32; 4],
        /// What the unit returned, before the destination swizzle; `None` for NOP and TEXKILL.
        texel: Option<[f32; 4]>,
        /// How it was looked up.
        lookup: Option<Lookup>,
        /// Channels that the predicates let through, red in bit 0.
        enabled: u8,
        /// Whether TEXKILL killed the pixel.
        killed: bool,
    },
    /// A flow-control instruction.
    Flow(Jump),
}

/// How a texel came about.
pub type Lookup = texture::Lookup;

/// A flow-control decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Whether this pixel wanted to jump (also told of one that had no say).
    pub wants: bool,
    /// Whether it had a say: active, and covered or not ignored.
    pub voted: bool,
    /// Voters of the group.
    pub voters: usize,
    /// Voters that wanted to jump.
    pub in_favour: usize,
    /// Whether the group jumped.
    pub taken: bool,
    /// Where the group went on.
    pub next: u32,
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Channels of a temporary.
    Temp {
        /// Its number, aL added.
        temp: u8,
        /// Channels, red in bit 0.
        mask: u8,
        /// The register afterwards.
        value: [f32; 4],
    },
    /// Channels of an output.
    Output {
        /// 0 to 3: A to D.
        target: u8,
        /// Channels, red in bit 0.
        mask: u8,
        /// The output afterwards.
        value: [f32; 4],
    },
    /// Depth.
    Depth(f32),
    /// Predicate bits, R in bit 0.
    Predicate {
        /// Which were set.
        mask: u8,
        /// All four afterwards.
        bits: u8,
    },
    /// The ALU result.
    AluResult(bool),
}
