//! The draws of a stream: as a list, and their vertex programs.

use std::io::Write;

use r500::pvs::Program;
use r500_stream::{CommandProcessor, DrawCall, DrawSummary, Effect, State, counted};
use serde_json::{Value as Json, json};

use super::Stream;
use super::source::Source;
use crate::command::capture_args::out_of_range;
use crate::command::exit::{Outcome, Status};
use crate::command::format::Format;
use crate::command::terminal;

impl Stream {
    /// Lists draws.
    pub(super) fn list(&self, source: &Source, out: &mut dyn Write) -> Outcome {
        let json = self.format == Format::Json;
        // Rows are written as they are read: a capture may have any number of draws.
        let mut rows = 0_u64;
        if json {
            write!(out, "{{\n  \"draws\": [")?;
        }
        let status = draws(source, |draw| {
            if !self.wants(draw.submission) {
                return Ok(());
            }
            let summary = DrawSummary::new(draw.state, draw.call);
            let Draw { number, submission, call, .. } = draw;
            match self.format {
                Format::Text => writeln!(out, "{number:>6}  {submission}:{}  {summary}", call.at)?,
                Format::Json => {
                    let mut row = draw_json(&summary);
                    row["draw"] = json!(number);
                    row["submission"] = json!(submission);
                    row["dword"] = json!(call.at);
                    let row = format!("{row:#}").replace('\n', "\n    ");
                    write!(out, "{}\n    {row}", if rows == 0 { "" } else { "," })?;
                    rows += 1;
                }
            }
            Ok(())
        })?;
        if json {
            let end = if rows == 0 { "]" } else { "\n  ]" };
            writeln!(out, "{end},\n  \"version\": 1\n}}")?;
        }
        Ok(status)
    }
}

/// A draw of a capture.
pub(super) struct Draw<'a> {
    pub(super) number: u64,
    pub(super) submission: u64,
    pub(super) state: &'a State,
    pub(super) call: &'a DrawCall<'a>,
}

/// Calls `each` with every draw. Failed: packets have errors, which are printed to stderr.
pub(super) fn draws(source: &Source, mut each: impl FnMut(&Draw<'_>) -> Outcome<()>) -> Outcome {
    let mut state = State::default();
    let (mut number, mut errors) = (0, 0_u64);
    let status = source.submissions(|submission_number, submission| {
        let mut cp = CommandProcessor::new(&mut state, submission);
        while let Some(effect) = cp.next_effect() {
            match effect {
                Ok(Effect::Draw(call)) => {
                    source.limits.check()?;
                    let state = cp.state();
                    each(&Draw { number, submission: submission_number, state, call: &call })?;
                    number += 1;
                }
                Ok(_) => {}
                Err(error) => {
                    if errors < SHOWN_ERRORS {
                        terminal::warn(&format!("submission {submission_number}, {error}"));
                    }
                    errors += 1;
                }
            }
        }
        Ok(())
    })?;
    if errors > SHOWN_ERRORS {
        let more = counted(errors - SHOWN_ERRORS, "more packet");
        terminal::warn(&format!("{more} in error"));
    }
    Ok(if errors == 0 { status } else { Status::Failed })
}

/// Packets in error that are named.
const SHOWN_ERRORS: u64 = 8;

/// Returns the vertex program of a draw; `None` if the draw bypasses vertex programs.
pub(super) fn vertex_program(source: &Source, wanted: u64) -> Outcome<Option<Program>> {
    let (mut program, mut count) = (None, 0);
    draws(source, |draw| {
        if draw.number == wanted {
            program = Some(draw.state.vertex_program());
        }
        count += 1;
        Ok(())
    })?;
    program.ok_or_else(|| out_of_range("draw", wanted, count))
}

/// Prints a vertex program and what is likely wrong with it.
pub(super) fn print_vertex_program(program: Option<&Program>, out: &mut dyn Write) -> Outcome {
    let Some(program) = program else {
        writeln!(out, "# no vertex program: VAP_CNTL_STATUS.PVS_BYPASS is set")?;
        return Ok(Status::Fine);
    };
    write!(out, "{program}")?;
    let lints = program.check();
    for lint in &lints {
        match lint.instruction {
            Some(n) => writeln!(out, "# instruction {n}: {}", lint.kind)?,
            None => writeln!(out, "# {}", lint.kind)?,
        }
    }
    Ok(if lints.is_empty() { Status::Fine } else { Status::Failed })
}

fn draw_json(summary: &DrawSummary) -> Json {
    let textures: Vec<Json> = summary
        .textures
        .iter()
        .map(|texture| {
            json!({
                "unit": texture.unit, "size": texture.size, "levels": texture.levels,
                "format": texture.format, "buffer": texture.buffer.map(|id| id.0),
            })
        })
        .collect();
    let targets: Vec<Json> = summary
        .targets
        .iter()
        .map(|target| {
            json!({
                "target": target.target, "buffer": target.buffer.map(|id| id.0),
                "offset": target.offset, "pitch": target.pitch,
                "format": target.format.describe().map(|value| value.name),
            })
        })
        .collect();
    json!({
        "primitives": summary.prim_type.describe().map(|value| value.meaning),
        "vertices": summary.vertices, "vertex_program": summary.vertex_program,
        "fragment_program": summary.fragment_program, "textures": textures, "targets": targets,
        "depth": summary.depth.map(|id| id.0),
    })
}
