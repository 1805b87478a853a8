//! Front end of the assembly languages of OpenGL: `ARB_vertex_program` and `ARB_fragment_program`.
//!
//! [`parse`] gives a typed tree as [`r500_glsl::parse`] does, so that a compiler and an evaluator of GLSL take these programs: a temporary
//! is a variable of four floats, an instruction an assignment. Attributes and results are the variables of GLSL that fixed-function drawing
//! shares with these programs (`gl_Vertex`, `gl_TexCoord[0]`), so that programs link with shaders; parameters are uniforms with the
//! names of the language (`program.local[2]`, `state.matrix.mvp.row[3]`), samplers are `texture[0]` to `texture[15]`.
//!
//! | module | content |
//! | --- | --- |
//! | [`lexer`](self) | tokens |
//! | [`path`](self), [`bindings`](self) | dotted names; attributes, results and state by their names |
//! | [`program`](self) | statements, and what is known between them |
//! | [`declaration`](self), [`name`](self), [`variables`](self) | declarations; what names mean; variables of the tree |
//! | [`option`](self) | options, and what they do at the end |
//! | [`operand`](self), [`instruction`](self) | operands with their swizzles; instructions |
//! | [`opcodes`](self), [`build`](self) | what each instruction computes; expressions |
//!
//! ```
//! let source = "!!ARBfp1.0\nTEMP a;\nMULL a, fragment.color, 0.5;\nMOV result.color, a;\nEND";
//! let errors = r500_arb::parse(source).unwrap_err();
//! assert_eq!(errors[0].to_string(), "there is no instruction `MULL`; did you mean `MUL`?");
//! ```
#![forbid(unsafe_code)]

mod bindings;
mod build;
mod declaration;
mod instruction;
mod lexer;
mod name;
mod opcodes;
mod operand;
mod option;
mod path;
mod program;
mod variables;

use r500_glsl::tree::Shader;
use r500_glsl::{Diagnostic, MAX_SOURCE, Span, Stage};

/// The first lines of programs.
const HEADERS: [(&str, Stage); 2] =
    [("!!ARBfp1.0", Stage::Fragment), ("!!ARBvp1.0", Stage::Vertex)];

/// Returns what a program is for, `None` if the text does not begin as one.
#[must_use]
pub fn stage_of(text: &str) -> Option<Stage> {
    let text = text.trim_start();
    HEADERS.iter().find(|(header, _)| text.starts_with(header)).map(|(_, stage)| *stage)
}

/// Reads a program. Also returns warnings.
///
/// # Errors
/// All errors of the source, and its warnings, in the order of their places.
pub fn parse(source: &str) -> Result<(Shader, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Some(stage) = stage_of(source) else {
        let error = Diagnostic::error(Span::default(), "a program begins with its language");
        return Err(vec![error.help("write `!!ARBfp1.0` or `!!ARBvp1.0` into the first line")]);
    };
    if source.len() > MAX_SOURCE {
        return Err(vec![Diagnostic::error(Span::default(), "the source is longer than 1 MiB")]);
    }
    let (shader, mut all) = program::read(source, stage);
    all.sort_by_key(|diagnostic| diagnostic.span.start);
    if all.iter().any(Diagnostic::is_error) { Err(all) } else { Ok((shader, all)) }
}
