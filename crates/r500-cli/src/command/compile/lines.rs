//! What each line of a shader costs: its instructions, next to the source.

use std::io::{self, Write};

use r500::compile;
use r500_mesa::Stage;
use r500_stream::counted;

use crate::command::compiler::Verdict;

/// Prints the shaders of a verdict, with the instructions that compute each line.
///
/// # Errors
/// If it cannot be written.
pub(super) fn print(out: &mut impl Write, verdict: &Verdict) -> io::Result<()> {
    let stages = [Stage::Vertex, Stage::Fragment];
    let mut first = true;
    for stage in stages.into_iter().filter(|stage| verdict.shader(Some(*stage)).is_some()) {
        if !std::mem::take(&mut first) {
            writeln!(out)?;
        }
        print_stage(out, verdict, stage)?;
    }
    Ok(())
}

fn print_stage(out: &mut impl Write, verdict: &Verdict, stage: Stage) -> io::Result<()> {
    let Some(shader) = verdict.shader(Some(stage)) else { return Ok(()) };
    let spans = verdict.spans_of(stage);
    if spans.is_empty() {
        let why = if verdict.is_fine() {
            "does not say which line an instruction is of"
        } else {
            "gives no program"
        };
        return writeln!(out, "{}: {} {why}", shader.file, verdict.version);
    }
    let total = counted(spans.len(), "instruction");
    writeln!(
        out,
        "{}: {}, {total}; one that computes several lines counts for each",
        shader.file, verdict.version
    )?;
    let of_lines = compile::instructions_of(&shader.text, spans);
    let lines: Vec<&str> = shader.text.lines().collect();
    let digits = lines.len().to_string().len();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default().min(72);
    for (n, line) in lines.iter().enumerate() {
        let Some(instructions) = of_lines.get(&(n + 1)) else {
            writeln!(out, "{:>digits$} | {line}", n + 1)?;
            continue;
        };
        let ranges = ranges(instructions);
        writeln!(out, "{:>digits$} | {line:<width$} {:>4}  {ranges}", n + 1, instructions.len())?;
    }
    Ok(())
}

/// Returns numbers as ranges: `3, 7-9`.
fn ranges(numbers: &[usize]) -> String {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match all.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => all.push((number, number)),
        }
    }
    let text = |(first, last): (usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    all.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
