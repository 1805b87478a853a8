//! The checker's findings in the text that a program was written in.
//!
//! [`check`](crate::check) knows instructions and fields; here stands where those are in a source
//! ([`span`]), which findings the source allows ([`Allows`]), how safe fixes become small edits of the
//! text ([`fix`]), and the page of each code ([`page`]).

mod allow;
mod fix;
mod page;
mod place;

pub use allow::{Allow, Allows, Covers};
pub use fix::{Fixed, Unfixed, fix, fix_program, text_edits};
pub use page::page;
pub use place::{locate, span};
