//! Our own compiler.

use r500::compile::{self, Diagnostic, vertex};
use r500_mesa::compiled::{Compiled, FragmentProgram, Input, Varying, VertexProgram};
use r500_mesa::messages::Message;
use r500_mesa::shader::Shader;
use r500_mesa::{ShaderPair, Stage};

use super::verdict::Verdict;
use crate::command::shader_variables::CompiledProgram;

/// Compiles a pair, or the shader that there is. The vertex shader of a pair gives what the fragment shader reads.
pub(super) fn compile(pair: &ShaderPair) -> Verdict {
    let mut verdict = Verdict::of_own(pair, concat!("r500 ", env!("CARGO_PKG_VERSION")));
    let fragment = pair.fragment.as_ref().map(|shader| fragment(shader, &mut verdict));
    let reads = match &fragment {
        Some(Some(compiled)) => Some(vertex::reads_of(compiled)),
        _ => None,
    };
    // With errors in the fragment shader those of the vertex shader are reported, too.
    let vertex = pair.vertex.as_ref().map(|shader| vertex(shader, reads.as_deref(), &mut verdict));
    let is_complete = !matches!(fragment, Some(None)) && !matches!(vertex, Some(None));
    verdict.linked = is_complete;
    if is_complete {
        let fragment = fragment.flatten().map(|mut compiled| {
            verdict.spans.push((Stage::Fragment, std::mem::take(&mut compiled.spans)));
            let own = CompiledProgram::Fragment(Box::new(compiled.clone()));
            verdict.own.push((Stage::Fragment, own));
            fragment_program(compiled)
        });
        let vertex = vertex.flatten().map(|mut compiled| {
            verdict.spans.push((Stage::Vertex, std::mem::take(&mut compiled.spans)));
            let own = CompiledProgram::Vertex(Box::new(compiled.clone()));
            verdict.own.push((Stage::Vertex, own));
            vertex_program(compiled)
        });
        verdict.set_compiled(Compiled::undrawn(fragment, vertex));
    }
    verdict
}

fn fragment(shader: &Shader, verdict: &mut Verdict) -> Option<compile::Compiled> {
    let compiled = compile::compile(&shader.text);
    let warnings = compiled.as_ref().map_or_else(|errors| errors, |compiled| &compiled.warnings);
    report(verdict, Stage::Fragment, shader, warnings);
    compiled.ok()
}

fn vertex(
    shader: &Shader,
    reads: Option<&[vertex::Output]>,
    verdict: &mut Verdict,
) -> Option<vertex::Compiled> {
    let compiled = vertex::compile(&shader.text, reads);
    let warnings = compiled.as_ref().map_or_else(|errors| errors, |compiled| &compiled.warnings);
    report(verdict, Stage::Vertex, shader, warnings);
    compiled.ok()
}

fn report(verdict: &mut Verdict, stage: Stage, shader: &Shader, diagnostics: &[Diagnostic]) {
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
    verdict
        .messages
        .extend(diagnostics.iter().map(|diagnostic| (Some(stage), message(diagnostic))));
}

fn fragment_program(compiled: compile::Compiled) -> FragmentProgram {
    let varyings = compiled.inputs.iter().map(|(temp, vector)| Varying {
        name: vector.name.clone(),
        component: 0,
        temp: *temp,
        channel: 0,
        channels: vector.size,
    });
    let samplers = compiled.sampler_names();
    FragmentProgram::undrawn(compiled.job, varyings.collect(), samplers)
}

fn vertex_program(compiled: vertex::Compiled) -> VertexProgram {
    let inputs = compiled
        .attributes
        .iter()
        .map(|attribute| Input { input: attribute.input, name: attribute.name.clone() })
        .collect();
    let constants = compiled.source.constants.into_iter().collect();
    VertexProgram::undrawn(compiled.source.program, compiled.uniforms, constants, inputs)
}
