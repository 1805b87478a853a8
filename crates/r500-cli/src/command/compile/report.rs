//! Answers as text and JSON.

use std::io::{self, Write};

use r500::check::Stats;
use r500::program::{Outcome as Ended, Uniform};
use r500_mesa::Stage;
use r500_mesa::compiled::{FragmentProgram, VertexProgram};
use r500_stream::counted;
use serde_json::{Value as Json, json};

use crate::command::compilation;
use crate::command::compiler::{Verdict, place, span};

/// A pair, and what each compiler makes of it.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) verdicts: Vec<Verdict>,
}

/// All pairs.
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// Whether there are several, which are a table.
    pub(super) several: bool,
}

impl Rows {
    /// Prints the answer.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.several {
            for verdict in self.rows.iter().flat_map(|row| &row.verdicts) {
                print_one(out, verdict)?;
            }
            return Ok(());
        }
        self.print_table(out)
    }

    /// A line for each pair: what each compiler makes of the fragment program, or why there is none.
    fn print_table(&self, out: &mut impl Write) -> io::Result<()> {
        let versions: Vec<String> = self.rows.first().map_or(Vec::new(), |row| {
            row.verdicts.iter().map(|verdict| verdict.version.clone()).collect()
        });
        let cells: Vec<(String, Vec<String>)> = self
            .rows
            .iter()
            .map(|row| (row.name.clone(), row.verdicts.iter().map(cell).collect()))
            .collect();
        let name = cells.iter().map(|(name, _)| name.chars().count()).chain([6]).max().unwrap_or(6);
        let widths: Vec<usize> = versions
            .iter()
            .enumerate()
            .map(|(n, version)| {
                let cells = cells.iter().map(|(_, cells)| cells[n].chars().count().min(MOST_CELL));
                cells.chain([version.chars().count()]).max().unwrap_or_default()
            })
            .collect();
        let line = |name_text: &str, cells: &[String]| {
            let mut text = format!("{name_text:name$}");
            for (cell, width) in cells.iter().zip(&widths) {
                text += &format!("  {cell:width$}");
            }
            text.trim_end().to_owned()
        };
        writeln!(out, "{}", line("shader", &versions))?;
        for (name, cells) in &cells {
            writeln!(out, "{}", line(name, cells))?;
        }
        let fine = |n: usize| self.rows.iter().filter(|row| row.verdicts[n].is_fine()).count();
        let totals: Vec<String> = (0..versions.len())
            .map(|n| format!("{} of {} fit", fine(n), self.rows.len()))
            .collect();
        writeln!(out, "{}", line("", &totals))
    }

    /// Returns the answer as JSON.
    pub(super) fn json(&self) -> Json {
        let shaders: Vec<Json> = self
            .rows
            .iter()
            .map(|row| {
                let compilers: Vec<Json> = row.verdicts.iter().map(verdict_json).collect();
                json!({ "name": row.name, "compilers": compilers })
            })
            .collect();
        json!({ "version": 1, "shaders": shaders })
    }
}

/// Widest column of a table.
const MOST_CELL: usize = 60;

/// Returns what a table says of a pair.
fn cell(verdict: &Verdict) -> String {
    if !verdict.is_fine() {
        return verdict.reason();
    }
    let compiled = verdict.compiled.as_ref();
    let fragment = compiled.and_then(|compiled| compiled.fragment.as_ref());
    let fragment =
        fragment.filter(|_| verdict.made != Some(Stage::Fragment)).map(|fragment| match Stats::of(
            &fragment.job.program,
        ) {
            Ok(stats) => format!(
                "{}, {}",
                counted(stats.instructions, "instruction"),
                counted(stats.temporaries, "temporary").replace("temporarys", "temporaries")
            ),
            Err(error) => error.to_string(),
        });
    let vertex = compiled.and_then(|compiled| compiled.vertex.as_ref());
    let vertex = vertex.filter(|_| verdict.made != Some(Stage::Vertex)).map(|vertex| {
        format!("vertex {}", counted(vertex.program.window().count(), "instruction"))
    });
    [fragment, vertex].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn print_one(out: &mut impl Write, verdict: &Verdict) -> io::Result<()> {
    writeln!(out, "{}: {} on {}", verdict.name, verdict.version, verdict.renderer)?;
    if !verdict.linked && verdict.failures().is_empty() {
        return writeln!(out, "  not compiled: {}", verdict.reason());
    }
    let Some(compiled) = &verdict.compiled else {
        return writeln!(out, "  not compiled: {}", verdict.reason());
    };
    if let Some(fragment) =
        compiled.fragment.as_ref().filter(|_| verdict.made != Some(Stage::Fragment))
    {
        print_fragment(out, fragment)?;
    }
    if let Some(vertex) = compiled.vertex.as_ref().filter(|_| verdict.made != Some(Stage::Vertex)) {
        print_vertex(out, vertex)?;
    }
    Ok(())
}

fn print_fragment(out: &mut impl Write, fragment: &FragmentProgram) -> io::Result<()> {
    let job = &fragment.job;
    if let Some(why) = compilation::not_compiled(job) {
        writeln!(out, "  fragment program: {why}")?;
        let help = job.compilation.as_deref().and_then(compilation::remedy);
        return help.map_or(Ok(()), |help| writeln!(out, "    help: {help}"));
    }
    match Stats::of(&job.program) {
        Ok(stats) => writeln!(
            out,
            "  fragment program: {} ({} ALU, {} texture, {} flow control), {} temporaries, {} constants",
            counted(stats.instructions, "instruction"),
            stats.alu,
            stats.textures + stats.kills,
            stats.flow,
            stats.temporaries,
            stats.constants
        )?,
        Err(error) => writeln!(out, "  fragment program: {error}")?,
    }
    let uniforms = job.uniforms.iter().map(|uniform| named(uniform, "rgba")).collect();
    list(out, "uniforms", uniforms)?;
    let samplers = fragment.samplers.iter();
    list(
        out,
        "samplers",
        samplers.map(|(unit, name)| (name.clone(), format!("tex[{unit}]"))).collect(),
    )?;
    let inputs = fragment.varyings.iter().map(|varying| {
        let components =
            "xyzw".chars().skip(varying.component.into()).take(varying.channels.into());
        let name = format!("{}.{}", varying.name, components.collect::<String>());
        (name, place("temp", varying.temp, varying.channel, varying.channels, "rgba"))
    });
    list(out, "inputs", inputs.collect())
}

fn print_vertex(out: &mut impl Write, vertex: &VertexProgram) -> io::Result<()> {
    if !vertex.outcome.is_compiled() {
        return writeln!(out, "  vertex program: {}", vertex.outcome);
    }
    let (count, findings) = (vertex.program.window().count(), vertex.program.check().len());
    let findings =
        if findings == 0 { String::new() } else { format!("; {}", counted(findings, "finding")) };
    writeln!(out, "  vertex program: {}{findings}", counted(count, "instruction"))?;
    list(out, "uniforms", vertex.uniforms.iter().map(|uniform| named(uniform, "xyzw")).collect())?;
    let inputs = vertex.inputs.iter();
    list(
        out,
        "inputs",
        inputs.map(|input| (input.name.clone(), format!("input[{}]", input.input))).collect(),
    )
}

/// Prints names and places, one to a line.
fn list(out: &mut impl Write, title: &str, rows: Vec<(String, String)>) -> io::Result<()> {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let mut title = title;
    for (name, place) in rows {
        writeln!(out, "    {title:<9} {name:<width$}  {place}")?;
        title = "";
    }
    Ok(())
}

fn named(uniform: &Uniform, letters: &str) -> (String, String) {
    let place = place("const", uniform.constant, uniform.channel, uniform.channels, letters);
    (uniform.name.clone(), place)
}

fn verdict_json(verdict: &Verdict) -> Json {
    let messages: Vec<Json> = verdict
        .messages
        .iter()
        .map(|(stage, message)| {
            let shader = verdict.shader(*stage);
            let line = message
                .place
                .map(|(line, _)| shader.map_or(line, |shader| line + shader.first_line - 1));
            let column = shader.zip(message.place).and_then(|(shader, (line, _))| {
                let before: usize = shader
                    .text
                    .split_inclusive('\n')
                    .take(line.checked_sub(1)? as usize)
                    .map(str::len)
                    .sum();
                Some(span(shader, message)?.start - before + 1)
            });
            json!({
                "stage": stage,
                "severity": if message.is_error { "error" } else { "warning" },
                "file": shader.map(|shader| shader.file.as_str()),
                "line": line,
                "column": column,
                "text": message.text,
            })
        })
        .collect();
    let compiled = verdict.compiled.as_ref();
    let fragment = compiled.and_then(|compiled| compiled.fragment.as_ref());
    let vertex = compiled.and_then(|compiled| compiled.vertex.as_ref());
    json!({
        "compiler": verdict.version,
        "chip": verdict.renderer,
        "fits": verdict.is_fine(),
        "linked": verdict.linked,
        "made": verdict.made,
        "messages": messages,
        "fragment": fragment.map(fragment_json),
        "vertex": vertex.map(vertex_json),
    })
}

fn uniforms_json(uniforms: &[Uniform]) -> Vec<Json> {
    let uniforms = uniforms.iter();
    uniforms
        .map(|uniform| {
            json!({
                "name": uniform.name,
                "constant": uniform.constant,
                "channel": uniform.channel,
                "channels": uniform.channels,
            })
        })
        .collect()
}

fn fragment_json(fragment: &FragmentProgram) -> Json {
    let job = &fragment.job;
    let compiled = compilation::not_compiled(job).is_none();
    let stats = Stats::of(&job.program).ok().filter(|_| compiled).map(|stats| {
        let values = Stats::NAMES.iter().zip(stats.values());
        values
            .map(|(name, value)| ((*name).to_owned(), Json::from(value)))
            .collect::<serde_json::Map<_, _>>()
    });
    let samplers: Vec<Json> = fragment
        .samplers
        .iter()
        .map(|(unit, name)| json!({ "name": name, "unit": unit }))
        .collect();
    let inputs: Vec<Json> = fragment
        .varyings
        .iter()
        .map(|varying| {
            json!({
                "name": varying.name,
                "component": varying.component,
                "temp": varying.temp,
                "channel": varying.channel,
                "channels": varying.channels,
            })
        })
        .collect();
    json!({
        "compilation": compilation::json(job),
        "drawn": fragment.drawn,
        "stats": stats,
        "uniforms": uniforms_json(&job.uniforms),
        "samplers": samplers,
        "inputs": inputs,
    })
}

fn vertex_json(vertex: &VertexProgram) -> Json {
    let reason = match &vertex.outcome {
        Ended::Failed(failure) => Some(failure.reason.as_str()),
        Ended::Compiled | Ended::Dummy => None,
    };
    let inputs: Vec<Json> = vertex
        .inputs
        .iter()
        .map(|input| json!({ "name": input.name, "input": input.input }))
        .collect();
    json!({
        "outcome": vertex.outcome.name(),
        "reason": reason,
        "drawn": vertex.drawn,
        "instructions": vertex.program.window().count(),
        "uniforms": uniforms_json(&vertex.uniforms),
        "inputs": inputs,
    })
}
