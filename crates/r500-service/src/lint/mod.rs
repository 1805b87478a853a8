//! The checker's lints in the source of a program.
//!
//! [`r500_check`] refers to instructions and fields. This module adds
//! the assumptions about sources ([`assumptions`]), their source spans ([`span`]),
//! suppression comments ([`Allows`]), safe fixes as text edits ([`fix`]), correction of assembler errors ([`correct`]),
//! and the reference page of each code ([`page`]).

mod correct;
mod field_spans;
mod fix;
mod page;
mod source;
mod suppress;

pub use correct::{Corrected, correct};
pub use field_spans::{locate, span};
pub use fix::{Fixed, Unfixed, fix, fix_program, text_edits};
pub use page::{has_fix, page};
pub use source::{assumptions, assumptions_of_source, check_source};
pub use suppress::{Allow, Allows, Covers};
