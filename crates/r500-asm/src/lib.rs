//! Assembler and disassembler of the R500 assembly language: text to [`Job`](r500_program::Job) and
//! back without loss.
//!
//! [`assemble`] reads a source and everything it includes, and reports all errors in one run, each [`Diagnostic`] with
//! its code, location, message and fix. [`print()`] writes any job as text that assembles to the same job: any six
//! dwords have a spelling. The language is a superset of the dialect of the public `*.fs.asm` sources; its grammar is
//! on the guide's page "The language".
//!
//! This crate opens no files: a [`Loader`] provides included files, and the caller loads the texture files of the
//! [`TextureRequest`]s.
//!
//! Structure: `lexer` produces tokens, `parse` is a recursive-descent parser that builds a job,
//! `print` is the disassembler, and `names` holds the spelling of every keyword for both.
#![forbid(unsafe_code)]

mod assemble;
pub mod diagnostic;
mod flow;
mod foreign_ops;
pub mod format;
pub mod ide;
mod items;
mod lexer;
mod names;
mod parse;
mod print;
mod source;

pub use assemble::{Assembly, Options, assemble};
pub use diagnostic::{
    Diagnostic, DiagnosticCode, RenderOptions, Severity, disturbs_terminal, visible,
};
pub use format::format;
pub use items::{
    ComputedIndex, Constant, Expansion, ExpectedPixels, ExpectedQuantity, Include, Reference,
    Register, Symbol, SymbolKind, TextureRequest, TextureSource,
};
pub use lexer::MAX_SOURCE;
pub use names::closest;
pub use print::{
    PrintOptions, Printed, TextureFile, operand_text, operation_text, print, print_code,
    print_instruction, print_lines, source_text,
};
pub use r500_text::macros::ExpansionLimits;
pub use source::{File, Files, IncludeLimits, Loaded, Loader, NoFiles, Position, Span};
