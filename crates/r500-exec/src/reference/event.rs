//! Trace events: the effect of an instruction on a watched pixel.

use crate::texture;

/// The effect of an executed instruction on one pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Absolute address of the instruction.
    pub address: u32,
    /// Whether the pixel was active. An inactive pixel takes part in flow control and in writes of
    /// `WRITE_INACTIVE`.
    pub active: bool,
    /// The computation.
    pub kind: EventKind,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

/// The computation of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Nothing: the pixel was inactive.
    Skipped,
    /// An ALU or OUT instruction.
    Alu {
        /// Operands A, B, C of the RGB half, modifiers applied. For MDH and MDV, A and C are those
        /// of the corners.
        rgb: [[f32; 3]; 3],
        /// Operands A, B, C of the alpha half, modifiers applied.
        alpha: [f32; 3],
        /// Results before OMOD and clamp: red, green, blue, alpha.
        raw: [f32; 4],
        /// Results after OMOD and clamp.
        result: [f32; 4],
        /// Channels that the predicates enable, red in bit 0.
        enabled: u8,
    },
    /// A texture instruction.
    Tex {
        /// S, T, R, Q.
        coord: [f32; 4],
        /// The texel before the destination swizzle; `None` for NOP and TEXKILL.
        texel: Option<[f32; 4]>,
        /// The steps of the fetch.
        lookup: Option<Lookup>,
        /// Channels that the predicates enable, red in bit 0.
        enabled: u8,
        /// Whether TEXKILL killed the pixel.
        killed: bool,
    },
    /// A flow-control instruction.
    Flow(Jump),
}

/// The steps of a texture fetch.
pub type Lookup = texture::Lookup;

/// A flow-control decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Whether the jump function of this pixel is true (also set if it did not vote).
    pub jumps: bool,
    /// Whether it voted: active, and covered or `IGNORE_UNCOVERED` clear.
    pub voted: bool,
    /// Voters of the group.
    pub voters: usize,
    /// Voters whose jump function is true.
    pub votes_for: usize,
    /// Whether the group jumped.
    pub taken: bool,
    /// Address of the next instruction.
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
        /// The bits that were set.
        mask: u8,
        /// All four bits afterwards.
        bits: u8,
    },
    /// The ALU result.
    AluResult(bool),
}
