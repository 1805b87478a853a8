//! The text of instructions: a statement each, which parses back to the same dwords.
//!
//! ```text
//! temp[1].yz    = VE_MUL.SAT  input[0]._-zz_  |temp[3]._xy_| ,
//! alt_temp[3].w = ME_COS      temp[0].y_ ;
//! ```
//!
//! A statement has a destination, an operation and its sources, and perhaps a second operation, of the math engine. Beyond what people
//! write it can say every bit:
//!
//! | text | meaning |
//! | --- | --- |
//! | `(p)`, `(!p)` before the destination | `PRED_ENABLE`: executes if the predicate is set, is not set |
//! | `const[a0.y+3]`, `temp[aL+1]`, `const[a0.x+aL+3]` | relative to a component of A0, to the loop index, both (reserved) |
//! | `_` as mask | writes no component |
//! | `.1CLK`, `.2CLK` after `VE_MAD` or `VE_MULTIPLYX2_ADD` | not the macro, or the macro, where the sources do not say so |
//! | `.ME_SAT`, `.VE_SAT` | the bit of the engine that does not execute |
//! | a source in brackets | one that the operation does not read, where it is not what [`Fill`] says |
//! | `VE_30`, `ME_31`, `MACRO_2`, `reg7[0]` | reserved operations and kinds of destinations |
//! | `.bits 0 4 0 0` | bits of each dword that have no notation |

mod error;
mod names;
mod numbers;
mod operands;
mod parse;
mod print;
mod source;
mod values;

pub use error::SyntaxError;
pub use operands::Fill;
pub use source::{Include, Source};
pub use values::{Expectation, Expected};
