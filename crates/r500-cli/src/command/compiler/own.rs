//! Our own compiler.

use r500::compile::{self, Diagnostic};
use r500_mesa::compiled::{Compiled, FragmentProgram, Varying};
use r500_mesa::messages::Message;
use r500_mesa::{ShaderPair, Stage};

use super::verdict::Verdict;
use crate::command::exit::{Failure, Outcome};
use crate::command::terminal;

/// Compiles the fragment shader of a pair.
///
/// # Errors
/// If there is none.
pub(super) fn compile(pair: &ShaderPair) -> Outcome<Verdict> {
    let Some(shader) = &pair.fragment else {
        return Err(Failure::usage(format!(
            "{}: our own compiler takes fragment shaders; --with mesa compiles vertex shaders",
            pair.name
        )));
    };
    if pair.vertex.is_some() {
        terminal::note(&format!(
            "{}: the vertex shader is left out; --with mesa compiles pairs",
            pair.name
        ));
    }
    let mut verdict = Verdict::of_own(pair, concat!("r500 ", env!("CARGO_PKG_VERSION")));
    let message = |diagnostic: &Diagnostic| {
        let (line, column) = diagnostic.line_column(&shader.text);
        let place =
            (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX));
        let is_placed = diagnostic.span != compile::Span::default();
        Message {
            place: is_placed.then_some(place),
            is_error: diagnostic.is_error(),
            text: diagnostic.message.clone(),
            span: is_placed.then(|| diagnostic.span.range()),
            help: diagnostic.help.clone(),
        }
    };
    match compile::compile(&shader.text) {
        Ok(compiled) => {
            let warnings =
                compiled.warnings.iter().map(|warning| (Some(Stage::Fragment), message(warning)));
            verdict.messages.extend(warnings);
            verdict.linked = true;
            let varyings = compiled.inputs.iter().map(|(temp, vector)| Varying {
                name: vector.name.clone(),
                component: 0,
                temp: *temp,
                channel: 0,
                channels: vector.size,
            });
            let samplers = (0..).zip(compiled.samplers.iter().map(|unit| unit.name.clone()));
            let fragment =
                FragmentProgram::undrawn(compiled.job, varyings.collect(), samplers.collect());
            verdict.set_compiled(Compiled::of_fragment(fragment));
            verdict.spans = compiled.spans;
        }
        Err(errors) => {
            verdict
                .messages
                .extend(errors.iter().map(|error| (Some(Stage::Fragment), message(error))));
        }
    }
    Ok(verdict)
}
