//! Front end of GLSL for vertex and fragment shaders: GLSL ES 1.00, GLSL 1.10 and 1.20, what of ES 3.00 maps to the chip, and ShaderToy's
//! `mainImage`.
//!
//! [`parse`] gives a [typed tree](tree::Shader), or all errors with their places and what to do about them. It knows nothing of the
//! chip's instructions.
//!
//! | module | content |
//! | --- | --- |
//! | [`lexer`](self), [`preprocess`](self) | tokens; macros and conditions |
//! | [`parse`](self), [`ast`](self) | syntax |
//! | [`check`](self), [`tree`] | names and types; the typed tree |
//! | [`types`], [`builtins`] | types and functions of the language |
//! | [`diagnostic`] | errors and warnings |
//! | [`format`](mod@format) | the formatter |
//!
//! ```
//! use r500_glsl::Stage;
//!
//! let source = "void main() { gl_FragColor = vec4(smoothstp(0.0, 1.0, 0.5)); }";
//! let error = r500_glsl::parse(source, Stage::Fragment).unwrap_err();
//! assert_eq!(error[0].to_string(), "there is no function `smoothstp`; did you mean `smoothstep`?");
//! ```
#![forbid(unsafe_code)]

mod ast;
pub mod builtins;
mod check;
mod constant;
pub mod diagnostic;
pub mod format;
mod lexer;
mod parse;
mod preprocess;
pub mod tree;
pub mod types;
mod version;

pub use ast::{Binary, Unary};
pub use builtins::Builtin;
pub use diagnostic::{Diagnostic, Fix, Severity, Span};
pub use tree::Stage;
pub use version::Version;

/// Longest source, 1 MiB.
pub const MAX_SOURCE: usize = 1 << 20;

/// Reads a shader. Also returns warnings.
///
/// # Errors
/// All errors of the source, and its warnings, in the order of their places.
pub fn parse(
    source: &str,
    stage: Stage,
) -> Result<(tree::Shader, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut diagnostics = diagnostic::Diagnostics::default();
    if source.len() > MAX_SOURCE {
        let span = Span::default();
        return Err(vec![Diagnostic::error(span, "the source is longer than 1 MiB")]);
    }
    let (tokens, version) = preprocess::preprocess(source, &mut diagnostics);
    let has_errors = |found: &diagnostic::Diagnostics| found.all.iter().any(Diagnostic::is_error);
    let preprocessed = !has_errors(&diagnostics);
    let source = parse::parse(&tokens, &mut diagnostics);
    // Names that a broken statement would declare must not count as unknown.
    let parsed = !has_errors(&diagnostics);
    let shader = if preprocessed && parsed {
        check::check(&source, stage, version, &mut diagnostics)
    } else {
        None
    };
    let mut all = diagnostics.all;
    all.sort_by_key(|diagnostic| diagnostic.span.start);
    match shader {
        Some(shader) if !all.iter().any(Diagnostic::is_error) => Ok((shader, all)),
        _ => Err(all),
    }
}

/// Returns what a text in GLSL is for, `None` if it is none: outside of comments a shader defines `main` or `mainImage`; a vertex shader
/// sets the position.
#[must_use]
pub fn stage_of(text: &str) -> Option<Stage> {
    let mut ignored = diagnostic::Diagnostics::default();
    let tokens = lexer::tokens(text.get(..MAX_SOURCE).unwrap_or(text), &mut ignored);
    let name = |at: usize| tokens.get(at).and_then(lexer::Token::ident);
    let defines = |at: usize| {
        name(at) == Some("void")
            && matches!(name(at + 1), Some("main" | "mainImage"))
            && tokens.get(at + 2).is_some_and(|token| token.is("("))
    };
    let is_vertex = tokens.iter().any(|token| token.ident() == Some("gl_Position"));
    let stage = if is_vertex { Stage::Vertex } else { Stage::Fragment };
    (0..tokens.len()).any(defines).then_some(stage)
}
