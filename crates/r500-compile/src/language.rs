//! The languages that are compiled: GLSL, and the assembly languages of OpenGL. Both give the same tree.

use r500_glsl::tree::Shader;
use r500_glsl::{Diagnostic, Span, Stage};

/// Reads a shader in GLSL, or a program of `ARB_vertex_program` or `ARB_fragment_program`, which its first line names. Also returns
/// warnings.
///
/// # Errors
/// All errors of the source, and its warnings, in the order of their places; also if it is a program of the other stage.
pub fn parse(source: &str, stage: Stage) -> Result<(Shader, Vec<Diagnostic>), Vec<Diagnostic>> {
    match r500_arb::stage_of(source) {
        Some(found) if found != stage => {
            let message = format!("this is a {found} program; a {stage} program is wanted");
            Err(vec![Diagnostic::error(Span::default(), message)])
        }
        Some(_) => r500_arb::parse(source),
        None => r500_glsl::parse(source, stage),
    }
}

/// Returns what a text in one of the languages is for, `None` if it is in none.
#[must_use]
pub fn stage_of(text: &str) -> Option<Stage> {
    r500_arb::stage_of(text).or_else(|| r500_glsl::stage_of(text))
}

/// Returns whether a text is a program in one of the assembly languages of OpenGL.
#[must_use]
pub fn is_assembly(text: &str) -> bool {
    r500_arb::stage_of(text).is_some()
}
