//! `r500 trace` of vertex programs.

use std::io::{self, Write};

use r500::pvs::{DstType, Execution, Instruction, Step, Write as Written};
use r500_stream::counted;
use serde_json::{Value, json};

use super::Trace;
use super::watch::WatchFilter;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::float_format::{json_all, vector};
use crate::command::format::Format;
use crate::command::rows::{self, Names, Row};
use crate::command::terminal;
use crate::command::vertex::{Limit, VertexFile};

impl Trace {
    /// Traces a vertex.
    pub(super) fn trace_vertex(&self, file: &VertexFile) -> Outcome {
        file.sound()?;
        if self.pixel.is_some() {
            return Err(Failure::usage(
                "--pixel is for fragment programs; --vertex N traces a row of --input",
            ));
        }
        self.refuse_watches(WatchFilter::is_of_vertices, "a vertex has no")?;
        let number = self.vertex.unwrap_or(0);
        let row = self.row(number)?;
        let mut vertices = file.vertices(&self.state.constants)?;
        let (base, code) = vertices.program().instructions();
        let code = code.to_vec();
        let outputs = vertices.program().written_outputs();
        let mut execution = vertices.start(&row);
        let mut limit = Limit::new(&self.machine)?;
        let mut out = io::BufWriter::new(terminal::out());
        let colors = terminal::colors(&io::stdout());
        let mut steps = 0u64;
        if self.format == Format::Text {
            writeln!(out, "vertex {number}")?;
            for (input, value) in execution.inputs().iter().enumerate() {
                if row.inputs.contains_key(&(input as u8)) || file.gives_input(input as u8) {
                    writeln!(out, "  input[{input}] = {}", vector(value))?;
                }
            }
        }
        loop {
            let index = execution.loop_index();
            limit.instruction()?;
            let Some(step) = execution.observe() else { break };
            steps += 1;
            let executed = step.executed || !self.active;
            if !executed || !self.watch.is_empty() && !self.watch.iter().any(|w| sees(*w, &step)) {
                continue;
            }
            let inst = step.address.checked_sub(base).and_then(|n| code.get(n));
            match self.format {
                Format::Text => text(&mut out, steps, &step, inst, index, &execution, colors)?,
                Format::Json => {
                    writeln!(out, "{}", step_json(steps, &step, inst, index, &execution))?;
                }
            }
        }
        let written = outputs.iter().map(|&output| (output, execution.outputs()[output]));
        match self.format {
            Format::Text => {
                writeln!(out, "end after {}", counted(steps, "instruction"))?;
                for (output, value) in written {
                    writeln!(out, "  out[{output}] = {}", vector(&value))?;
                }
            }
            Format::Json => {
                let outputs: serde_json::Map<String, Value> = written
                    .map(|(output, value)| (format!("out[{output}]"), json_all(&value)))
                    .collect();
                let end = json!({ "version": 1, "end": true, "steps": steps, "outputs": outputs });
                writeln!(out, "{end}")?;
            }
        }
        out.flush()?;
        Ok(Status::Fine)
    }

    /// Returns a row of `--input`.
    fn row(&self, wanted: u64) -> Outcome<Row> {
        let (mut rows, mut found) = (0u64, None);
        rows::all(&self.state.input, Names::Vertex, &mut |row| {
            if rows == wanted {
                found = Some(row);
            }
            rows += 1;
            Ok(())
        })?;
        found.ok_or_else(|| {
            let last = rows - 1;
            Failure::usage(match last {
                0 => format!("--vertex {wanted}: there is one vertex, 0"),
                _ => format!("--vertex {wanted}: there are vertices 0 to {last}"),
            })
        })
    }
}

/// Returns whether an instruction wrote what is watched.
fn sees(watch: WatchFilter, step: &Step) -> bool {
    let wrote = |is_kind: &dyn Fn(DstType) -> bool, n: u8, channels: u8| {
        step.writes.iter().any(|write| {
            is_kind(write.ty)
                && write.register == usize::from(n)
                && bits(write.mask) & channels != 0
        })
    };
    match watch {
        WatchFilter::Temp(n, channels) => wrote(&|ty| ty == DstType::TEMPORARY, n, channels),
        WatchFilter::Out(n, channels) => {
            wrote(&|ty| matches!(ty, DstType::OUT | DstType::OUT_REPL_X), n, channels)
        }
        WatchFilter::Predicate => step.predicate.is_some(),
        WatchFilter::Depth | WatchFilter::AluResult | WatchFilter::Kill => false,
    }
}

fn bits(mask: [bool; 4]) -> u8 {
    mask.iter().zip(0..).fold(0, |bits, (set, n)| bits | u8::from(*set) << n)
}

/// Returns the name of the written register, with the components.
fn destination(write: &Written) -> String {
    let letters: String =
        "xyzw".chars().zip(write.mask).filter(|(_, set)| *set).map(|(letter, _)| letter).collect();
    match write.ty {
        DstType::A0 => format!("a0.{letters}"),
        DstType::OUT | DstType::OUT_REPL_X => format!("out[{}].{letters}", write.register),
        DstType::ALT_TEMPORARY => format!("alt_temp[{}].{letters}", write.register),
        _ => format!("temp[{}].{letters}", write.register),
    }
}

fn text(
    out: &mut impl Write,
    number: u64,
    step: &Step,
    inst: Option<&Instruction>,
    index: i32,
    after: &Execution<'_>,
    colors: bool,
) -> io::Result<()> {
    let (bold, dim, plain) = if colors { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
    let Some(inst) = inst else {
        return writeln!(out, "{number:>5}  @{} holds no instruction", step.address);
    };
    let style = if step.executed { bold } else { dim };
    writeln!(out, "{number:>5}  {style}@{:<3} {inst}{plain}", step.address)?;
    if !step.executed {
        writeln!(out, "             not executed: the predicate is {}", after.predicate())?;
    }
    if step.executed {
        let read: Vec<String> = inst
            .read_sources()
            .iter()
            .zip(&step.sources)
            .filter(|(source, _)| source.is_some())
            .map(|(_, value)| vector(value))
            .chain(step.dual_source.map(|value| vector(&value[..1])))
            .collect();
        writeln!(out, "             reads {}", read.join(", "))?;
    }
    for write in &step.writes {
        writeln!(out, "             {} = {}", destination(write), vector(&write.value))?;
    }
    if let Some(predicate) = step.predicate {
        writeln!(out, "             predicate = {predicate}")?;
    }
    match after.address() {
        Some(next) if next != step.address + 1 => writeln!(out, "             -> @{next}")?,
        _ => {}
    }
    if after.address().is_some() && after.loop_index() != index {
        writeln!(out, "             aL = {}", after.loop_index())?;
    }
    Ok(())
}

fn step_json(
    number: u64,
    step: &Step,
    inst: Option<&Instruction>,
    index: i32,
    after: &Execution<'_>,
) -> Value {
    let writes: Vec<Value> = step
        .writes
        .iter()
        .map(|write| json!({ "register": destination(write), "value": json_all(&write.value) }))
        .collect();
    let sources: Vec<Value> = step.sources.iter().map(|source| json_all(source)).collect();
    json!({
        "version": 1,
        "step": number,
        "address": step.address,
        "text": inst.map(Instruction::to_string),
        "words": inst.map(|inst| inst.0.map(|word| format!("{word:08x}"))),
        "executed": step.executed,
        "sources": step.executed.then_some(sources),
        "second_source": step.dual_source.map(|source| json_all(&source)),
        "writes": writes,
        "predicate": after.predicate(),
        "al": index,
        "next": after.address(),
    })
}
