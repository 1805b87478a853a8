//! Command streams as text that assembles back to the same dwords.
//!
//! ```text
//! # one register a packet; several registers of one packet: the others follow with +
//! VAP_VPORT_XSCALE = 0x43800000            # 256
//! + VAP_VPORT_XOFFSET = 0x43800000         # 256
//! SU_CULL_MODE = { CULL_BACK, FACE 1 }     # fields by name, too
//! @0x1234 = 7                              # a register without a name; 0x1234 = 7 is the same
//! GA_US_VECTOR_DATA <- 0x4 0x08020080      # all dwords to one register
//! + 0x08020080 0x1c9b04d8 0 5
//! 3D_DRAW_VBUF_2 0x00030024                # a command and its body
//! command 0x77 1 2                         # a command without a name
//! fill 3                                   # packets of type 2
//! dwords 0x40000000 1                      # anything else
//! ```
//!
//! Calls of the macros with which drivers write registers are read, too: `OUT_CS_REG(R300_GB_ENABLE, 0x10);`. What they write is printed as above.
//!
//! A value is hexadecimal (`0x…`), decimal, a float with a point (`-1.5`, `2.0`), or fields in braces. `#` begins a
//! comment. Any dwords can be printed, including streams that end inside a packet.

mod atoms;
mod error;
mod macros;
mod parse;
mod print;
mod state;

pub use error::{MAX_WORDS, TextError, TextErrorKind};
pub use parse::parse;
pub use print::{Printer, print};
pub use state::{StateEntry, StatePart, state_entries};

/// Words of the notation.
mod words {
    pub(super) const COMMAND: &str = "command";
    pub(super) const DWORDS: &str = "dwords";
    pub(super) const FILL: &str = "fill";
    /// Limit of the packets of a `fill`, so that short texts cannot make long streams.
    pub(super) const MAX_FILL: usize = 4096;
}
