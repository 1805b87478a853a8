//! `r500 trace` of vertex programs.

use std::io::{self, Write};

use r500::compile::variables::Place;
use r500::pvs::{DstType, Execution, Instruction, Interpreter, Program, Step, Write as Written};
use r500::vertex_run;
use r500_stream::counted;
use serde_json::{Value, json};

use super::Trace;
use super::lines::ShaderLines;
use super::watch::WatchFilter;
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::float_format::{json_all, vector};
use crate::command::format::Format;
use crate::command::terminal;
use crate::command::vertex::{Limit, VertexSet};

impl Trace {
    /// Traces a vertex of a set.
    pub(super) fn trace_vertex(&self, set: &VertexSet) -> Outcome {
        if self.pixel.is_some() {
            return Err(Failure::usage(
                "--pixel is for fragment programs; --vertex N traces a vertex",
            ));
        }
        self.refuse_watches(WatchFilter::is_of_vertices, "a vertex has no")?;
        let number = self.vertex.unwrap_or(0);
        let limits = self.machine.options()?.limits;
        let none = |why| Failure::usage(format!("--vertex {number}: {why}"));
        let setup = set.setup(number, limits).map_err(none)?;
        if let Some(missing) = set.missing(number) {
            terminal::warn(&missing);
        }
        let interpreter = Interpreter::new(&setup.program, &setup.constants);
        let mut execution = interpreter.start(&setup.inputs);
        let (base, code) = setup.program.instructions();
        let outputs = setup.program.written_outputs();
        let mut limit = Limit::of(limits);
        let mut out = io::BufWriter::new(terminal::out());
        let colors = terminal::colors(&io::stdout());
        let mut lines = ShaderLines::new(set.shader());
        if self.variables {
            let mut copy = interpreter.start(&setup.inputs);
            let run = std::iter::from_fn(|| Some(vertex_run::address(copy.observe()?.address)));
            let most = usize::try_from(limits.instructions).unwrap_or(usize::MAX);
            lines.with_variables(
                run.take(most),
                vertex_run::address(base_of(&setup.program)),
                &|inspector, stops| {
                    inspector.of_vertex_run(&setup.inputs, |n| interpreter.constant_at(n), stops)
                },
            )?;
        }
        let mut steps = 0u64;
        if self.format == Format::Text {
            writeln!(out, "vertex {number}")?;
            for input in set.given_inputs(number) {
                let value = setup.inputs[usize::from(input)];
                let name = set.attribute(input);
                writeln!(
                    out,
                    "{}",
                    format!("  input[{input}] = {}  {name}", vector(&value)).trim_end()
                )?;
            }
        }
        loop {
            let index = execution.loop_index();
            limit.instruction()?;
            let before = self.variables.then(|| execution.state().clone());
            let Some(step) = execution.observe() else { break };
            steps += 1;
            if let Some(state) = &before {
                let now = |place: Place| place.of_vertex(state, &|n| interpreter.constant_at(n));
                lines.step(vertex_run::address(step.address), VERTEX_LETTERS, &now);
            }
            let executed = step.executed || !self.active;
            if !executed || !self.watch.is_empty() && !self.watch.iter().any(|w| sees(*w, &step)) {
                continue;
            }
            let address = vertex_run::address(step.address);
            let inst = step.address.checked_sub(base).and_then(|n| code.get(n));
            match self.format {
                Format::Text => {
                    lines.print(&mut out, address)?;
                    text(&mut out, steps, &step, inst, index, &execution, colors)?;
                }
                Format::Json => {
                    let mut value = step_json(steps, &step, inst, index, &execution);
                    lines.add(&mut value, address);
                    writeln!(out, "{value}")?;
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
}

/// The letters of the components of a vertex's registers.
const VERTEX_LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

/// Returns the number of the first instruction.
fn base_of(program: &Program) -> usize {
    program.instructions().0
}

/// Returns whether an instruction wrote what is watched.
fn sees(watch: WatchFilter, step: &Step) -> bool {
    let wrote = |is_kind: &dyn Fn(DstType) -> bool, n: u8, channels: u8| {
        step.writes.iter().any(|write| {
            is_kind(write.ty) && write.register == usize::from(n) && write.bits() & channels != 0
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

/// Returns the name of the written register, with the components.
fn destination(write: &Written) -> String {
    let letters: String =
        "xyzw".chars().zip(write.mask).filter(|(_, set)| *set).map(|(letter, _)| letter).collect();
    format!("{}.{letters}", write.name())
}

/// Returns what an instruction read and wrote, one a line.
pub(in crate::command) fn vertex_effects(inst: &Instruction, step: &Step) -> Vec<String> {
    if !step.executed {
        return vec![format!("not executed: the predicate is {}", !inst.dst().pred_sense())];
    }
    let sources = inst.read_sources();
    let read = sources.iter().zip(&step.sources).filter(|(source, _)| source.is_some());
    let read = read.map(|(_, value)| vector(value));
    let read: Vec<String> = read.chain(step.dual_source.map(|value| vector(&value[..1]))).collect();
    let mut lines = vec![format!("reads {}", read.join(", "))];
    let write = |write: &Written| format!("{} = {}", destination(write), vector(&write.value));
    lines.extend(step.writes.iter().map(write));
    lines.extend(step.predicate.map(|predicate| format!("predicate = {predicate}")));
    lines
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
    for line in vertex_effects(inst, step) {
        writeln!(out, "             {line}")?;
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
