//! The checker's findings in the text that a program was written in.
//!
//! [`check`](crate::check) knows instructions and fields; here stands where those are in a source
//! ([`span`]), which findings the source allows ([`Allows`]), how safe fixes become small edits of the
//! text ([`fix`]), how errors of the assembler are corrected ([`correct`]), and the page of each code ([`page`]).

mod correct;
mod field_spans;
mod fix;
mod page;
mod suppress;

pub use correct::{Corrected, correct};
pub use field_spans::{locate, span};
pub use fix::{Fixed, Unfixed, fix, fix_program, text_edits};
pub use page::page;
pub use suppress::{Allow, Allows, Covers};
