//! The instruction set of the R500 fragment processor ("US" block) as data.
//!
//! Each bit is described once, in a table that reads like the register documents: [`words`] holds
//! the eleven words of which instructions consist, [`state`] the registers around them (`US_*`,
//! `RS_*`, `FG_*`, `GA_*`), [`texture`] the `TX_*` registers and [`values`] the named values of
//! their fields. Each row defines
//!
//! * a typed view (`inst.rgba_inst().rgb_op()`),
//! * an encoder (`word.with(AluRgbaInst::RGB_OP, RgbOp::DP3)`),
//! * the description that `explain`, the printer and the reference pages use
//!   ([`Register`], [`Field`], [`Value`], reachable by name through [`register`]).
//!
//! Decoding never fails: every 32-bit value decodes. Reserved codes are valid values, bits that no
//! field names are kept, and decoding followed by encoding gives the same bits. A field that
//! overlaps another, or a value that does not fit its field, does not compile.
//!
//! ```
//! use r500_isa::{words::AluRgbaInst, values::RgbOp, Word};
//!
//! let word = AluRgbaInst::from_bits(0x0049_0010);
//! assert_eq!(word.rgb_op(), RgbOp::MAD);
//! assert_eq!(word.rgb_addrd(), 1);
//! assert_eq!(word.with(AluRgbaInst::RGB_OP, RgbOp::MAX).bits(), 0x0049_0015);
//! ```
//!
//! Source of all names, bit positions and values: the field tables of the R5xx register documents
//! that AMD published. Rows for encodings that the documents reserve but drivers use say so.
#![no_std]
#![forbid(unsafe_code)]

mod table;

pub mod dataflow;
pub mod inline;
pub mod inst_info;
pub mod instruction;
pub mod limits;
pub mod state;
pub mod texture;
pub mod values;
pub mod words;

pub use inline::InlineConst;
pub use inst_info::{Access, BranchInfo, InstInfo, JumpInput, JumpOutcome, OperandField};
pub use instruction::{Half, Instruction, Operand, Slot, Source};
pub use table::{BitField, Field, FieldKind, FieldValue, Register, Value, Word};

/// Instruction slots of the processor (`US_CODE_ADDR` and jump addresses have nine bits).
pub const INSTRUCTION_SLOTS: usize = 512;
/// Temporaries of a pixel ("pixel stack frame"): addresses have seven bits.
pub const TEMPORARIES: usize = 128;
/// Float constants: addresses have eight bits.
pub const CONSTANTS: usize = 256;
/// Integer constants (`US_FC_INT_CONST`): `INT_ADDR` has five bits.
pub const INT_CONSTANTS: usize = 32;
/// Boolean constants (`US_FC_BOOL_CONST.KBOOL`): `BOOL_ADDR` has five bits.
pub const BOOL_CONSTANTS: usize = 32;
/// Texture units: `TEX_ID` has four bits.
pub const TEXTURE_UNITS: usize = 16;
/// Render targets A to D: `TARGET` has two bits.
pub const TARGETS: usize = 4;

/// Returns every register and instruction word of the tables, in reading order.
pub fn registers() -> impl Iterator<Item = &'static Register> {
    words::REGISTERS.iter().chain(state::REGISTERS).chain(texture::REGISTERS).copied()
}

/// Returns the register with a documented name. Case is ignored.
///
/// ```
/// assert_eq!(r500_isa::register("us_fc_inst").unwrap().field("JUMP_ANY").unwrap().lo, 5);
/// ```
#[must_use]
pub fn register(name: &str) -> Option<&'static Register> {
    registers().find(|r| r.name.eq_ignore_ascii_case(name))
}
