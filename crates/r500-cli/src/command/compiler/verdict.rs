//! Whether a pair fits, and why it does not.

use std::path::Path;

use r500::compile::Span;
use r500::program::{Job, Outcome as Ended, Uniform};
use r500::pvs::{Fill, Source};
use r500_mesa::compiled::VertexProgram;
use r500_mesa::messages::{self, Message};
use r500_mesa::request::{Report, Step};
use r500_mesa::shader::{Complete, Shader, ShaderPair};
use r500_mesa::{Compiled, Stage};
use r500_stream::counted;

use crate::command::exit::{Failure, Outcome};
use crate::command::shader_variables::CompiledProgram;

/// What a compiler makes of a pair.
#[derive(Debug)]
pub(in crate::command) struct Verdict {
    /// The name of the pair.
    pub(in crate::command) name: String,
    /// `OpenGL ES 2.0 Mesa 22.3.6`.
    pub(in crate::command) version: String,
    /// `ATI RV530`.
    pub(in crate::command) renderer: String,
    /// The stage that was made for the other one.
    pub(in crate::command) made: Option<Stage>,
    /// Messages of the GLSL compiler, with their shader; of the linker without.
    pub(in crate::command) messages: Vec<(Option<Stage>, Message)>,
    /// The shaders, for messages.
    pub(in crate::command) shaders: Vec<(Stage, Shader)>,
    /// Whether both shaders compiled and linked.
    pub(in crate::command) linked: bool,
    /// The programs; `None` if the driver did not come to them.
    pub(in crate::command) compiled: Option<Compiled>,
    /// The driver's log.
    pub(in crate::command) log: Vec<u8>,
    /// For each instruction of a stage's program the places in the shader that it computes, if the compiler says them.
    pub(in crate::command) spans: Vec<(Stage, Vec<Vec<Span>>)>,
    /// What our own compiler knows of each program.
    pub(in crate::command) own: Vec<(Stage, CompiledProgram)>,
}

impl Verdict {
    pub(in crate::command) fn new(
        pair: &ShaderPair,
        complete: &Complete,
        report: Report,
        compiled: Option<Compiled>,
        log: Vec<u8>,
    ) -> Self {
        let mut all = Vec::new();
        for (stage, step) in steps(&report) {
            all.extend(messages::parse(&step.log).into_iter().map(|message| {
                // Only errors stop a shader.
                let is_error = message.is_error && !step.ok;
                (Some(stage), Message { is_error, ..message })
            }));
        }
        let linked = report.link.as_ref().is_some_and(|link| link.ok);
        if let Some(link) = &report.link {
            let found = messages::parse(&link.log).into_iter();
            all.extend(found.map(|message| {
                (None, Message { is_error: !link.ok && message.is_error, ..message })
            }));
        }
        let name = pair.name.clone();
        Self {
            name,
            version: match report.version.starts_with("OpenGL") {
                true => report.version,
                false => format!("OpenGL {}", report.version),
            },
            renderer: report.renderer,
            made: complete.made,
            messages: all,
            shaders: shaders(pair),
            linked,
            compiled: None,
            log,
            spans: Vec::new(),
            own: Vec::new(),
        }
        .with(compiled)
    }

    /// Returns the verdict of our own compiler on a pair before it has compiled: nothing fits yet.
    pub(super) fn of_own(pair: &ShaderPair, version: &str) -> Self {
        Self {
            name: pair.name.clone(),
            version: version.to_owned(),
            renderer: "R500".to_owned(),
            made: None,
            messages: Vec::new(),
            shaders: shaders(pair),
            linked: false,
            compiled: None,
            log: Vec::new(),
            spans: Vec::new(),
            own: Vec::new(),
        }
    }

    fn with(mut self, compiled: Option<Compiled>) -> Self {
        if let Some(compiled) = compiled {
            self.set_compiled(compiled);
        }
        self
    }

    /// Sets the programs, which get the name of the pair.
    pub(super) fn set_compiled(&mut self, mut compiled: Compiled) {
        if let Some(fragment) = &mut compiled.fragment {
            let file =
                Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            fragment.job.name = file.unwrap_or_default();
            fragment.job.origin = format!("{}, {}, {}", self.name, self.version, self.renderer);
        }
        self.compiled = Some(compiled);
    }

    /// Returns whether both shaders compiled, linked and fit.
    pub(in crate::command) fn is_fine(&self) -> bool {
        self.linked && self.failures().is_empty() && self.compiled.is_some()
    }

    /// Returns why programs are missing, by stage.
    pub(in crate::command) fn failures(&self) -> Vec<(Stage, &Ended)> {
        let Some(compiled) = &self.compiled else { return Vec::new() };
        let fragment =
            compiled.fragment.as_ref().and_then(|fragment| fragment.job.compilation.as_deref());
        let fragment = fragment.map(|compilation| (Stage::Fragment, &compilation.outcome));
        let vertex = compiled.vertex.as_ref().map(|vertex| (Stage::Vertex, &vertex.outcome));
        let all = [vertex, fragment].into_iter().flatten();
        all.filter(|(_, outcome)| matches!(outcome, Ended::Failed(_))).collect()
    }

    /// Returns for each instruction of a stage's program the places in the shader that it computes; none if the compiler does not say them.
    pub(in crate::command) fn spans_of(&self, stage: Stage) -> &[Vec<Span>] {
        self.spans.iter().find(|(other, _)| *other == stage).map_or(&[], |(_, spans)| spans)
    }

    /// Returns the names of the samplers of the fragment program, by unit.
    pub(in crate::command) fn samplers(&self) -> &[(u8, String)] {
        let fragment = self.compiled.as_ref().and_then(|compiled| compiled.fragment.as_ref());
        fragment.map_or(&[], |fragment| &fragment.samplers)
    }

    /// Returns the shader of a stage, if it is the user's.
    pub(in crate::command) fn shader(&self, stage: Option<Stage>) -> Option<&Shader> {
        self.shaders.iter().find(|(other, _)| Some(*other) == stage).map(|(_, shader)| shader)
    }

    /// Returns whether there is a program of a stage that is the user's.
    pub(in crate::command) fn has(&self, stage: Stage) -> bool {
        let Some(compiled) = &self.compiled else { return false };
        let there = match stage {
            Stage::Vertex => compiled.vertex.is_some(),
            Stage::Fragment => compiled.fragment.is_some(),
        };
        there && self.made != Some(stage)
    }

    /// Returns the fragment program.
    ///
    /// # Errors
    /// If there is none.
    pub(in crate::command) fn fragment(&self) -> Outcome<&Job> {
        let fragment = self.compiled.as_ref().and_then(|compiled| compiled.fragment.as_ref());
        let missing = || Failure::input(anyhow::anyhow!("{}: no fragment program", self.name));
        Ok(&fragment.ok_or_else(missing)?.job)
    }

    fn vertex(&self) -> Outcome<&VertexProgram> {
        let vertex = self.compiled.as_ref().and_then(|compiled| compiled.vertex.as_ref());
        // What a driver's log alone has lacks registers and constants.
        let found = vertex.filter(|vertex| vertex.drawn || self.log.is_empty());
        found.ok_or_else(|| Failure::input(anyhow::anyhow!("{}: no vertex program", self.name)))
    }

    /// Returns the vertex program with the constants that are not uniforms.
    ///
    /// # Errors
    /// If there is none.
    pub(in crate::command) fn vertex_source(&self) -> Outcome<Source> {
        let vertex = self.vertex()?;
        let mut source = Source::from(vertex.program.clone());
        source.constants = vertex.constants.iter().copied().collect();
        source.name =
            Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        source.fill = Fill::Zero;
        Ok(source)
    }

    /// Returns the names of the vertex program's constants; none if there is no vertex program.
    pub(in crate::command) fn vertex_uniforms(&self) -> &[Uniform] {
        self.vertex().map_or(&[], |vertex| &vertex.uniforms)
    }

    /// Returns the names of the vertex program's inputs; none if there is no vertex program.
    pub(in crate::command) fn attributes(&self) -> Vec<(u8, String)> {
        let inputs = self.vertex().map_or(&[][..], |vertex| &vertex.inputs);
        inputs.iter().map(|input| (input.input, input.name.clone())).collect()
    }

    /// Returns the vertex program as text, with the names of its constants and inputs as comments.
    pub(in crate::command) fn vertex_text(&self) -> Outcome<String> {
        let vertex = self.vertex()?;
        let mut text = format!("-- {}, {}, {}\n", self.name, self.version, self.renderer);
        for uniform in &vertex.uniforms {
            text += &format!(
                "-- {} = {}\n",
                place("const", uniform.constant, uniform.channel, uniform.channels, "xyzw"),
                uniform.name
            );
        }
        for input in &vertex.inputs {
            text += &format!("-- input[{}] = {}\n", input.input, input.name);
        }
        Ok(text + &self.vertex_source()?.to_string())
    }

    /// Returns the clause that says why a pair is not a program: of the compiler, the linker, or the driver.
    pub(in crate::command) fn reason(&self) -> String {
        if let Some((stage, outcome)) = self.failures().first() {
            return format!("the {stage} shader does not fit the chip: {outcome}");
        }
        let errors = self.messages.iter().filter(|(_, message)| message.is_error).count();
        match self.linked {
            true => "the driver compiled no program".to_owned(),
            false => format!("{} of the compiler", counted(errors, "error")),
        }
    }
}

/// Returns a register with its channels: `const[3].rgb`, `temp[0]` for all four.
pub(in crate::command) fn place(
    file: &str,
    number: u8,
    channel: u8,
    channels: u8,
    letters: &str,
) -> String {
    let letters: String = letters.chars().skip(channel.into()).take(channels.into()).collect();
    match channels {
        4 => format!("{file}[{number}]"),
        _ => format!("{file}[{number}].{letters}"),
    }
}

/// Returns the shaders of a pair.
fn shaders(pair: &ShaderPair) -> Vec<(Stage, Shader)> {
    let both = [(Stage::Vertex, &pair.vertex), (Stage::Fragment, &pair.fragment)];
    both.into_iter().filter_map(|(stage, shader)| Some((stage, shader.clone()?))).collect()
}

/// Which stage a report's step is of.
fn steps(report: &Report) -> [(Stage, &Step); 2] {
    [(Stage::Vertex, &report.vertex), (Stage::Fragment, &report.fragment)]
}
