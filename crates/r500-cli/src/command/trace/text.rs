//! Traces as text.

use std::io::{self, Write};

use r500::exec::reference::{Event, EventKind, Group, Lane, Lookup, Step, Write as Wrote};
use r500::exec::{Bindings, Op, Shader};
use r500::trace::InstructionTexts;
use r500_stream::counted;

use super::state_name;
use crate::command::engine_args::finding_weight;
use crate::command::float_format::{letters, text, vector};

/// Prints a trace.
pub(super) struct Printer<'a> {
    pub(super) shader: &'a Shader,
    pub(super) texts: &'a InstructionTexts,
    pub(super) colors: bool,
}

impl Printer<'_> {
    /// Prints the start of the trace.
    pub(super) fn start(
        &self,
        out: &mut impl Write,
        group: &Group<'_>,
        lane: usize,
        bindings: &Bindings,
    ) -> io::Result<()> {
        let pixel = &group.state().lanes()[lane];
        let [width, height] = bindings.size();
        let block = group.state().rect();
        let covered = group.state().lanes().iter().filter(|lane| lane.covered).count();
        writeln!(
            out,
            "pixel {},{} of {width}x{height}{}, in the group of {}x{} pixels at {},{} ({covered} covered)",
            pixel.x,
            pixel.y,
            if pixel.covered { "" } else { " (not covered)" },
            block.width,
            block.height,
            block.x,
            block.y,
        )?;
        for input in bindings.inputs() {
            let value = pixel.temps.get(usize::from(input.temp)).copied().unwrap_or_default();
            writeln!(out, "  temp[{}] = {}", input.temp, vector(&value))?;
        }
        Ok(())
    }

    /// Prints an instruction.
    pub(super) fn step(
        &self,
        out: &mut impl Write,
        number: u64,
        step: &Step,
        before: &Lane,
        group: &Group<'_>,
        lane: usize,
    ) -> io::Result<()> {
        let listed = self.texts.get(step.address);
        let (Some(_), Some(listed)) = (self.shader.instruction(step.address), listed) else {
            return writeln!(out, "{number:>5}  @{} is outside the code window", step.address);
        };
        let (bold, dim, plain) =
            if self.colors { ("\x1b[1m", "\x1b[2m", "\x1b[0m") } else { ("", "", "") };
        let active = step.event.as_ref().is_some_and(|event| event.active);
        let style = if active { bold } else { dim };
        writeln!(out, "{number:>5}  {style}@{:<3} {listed}{plain}", step.address)?;
        if let Some(event) = &step.event {
            print_effects(out, event, step.address)?;
        }
        let after = &group.state().lanes()[lane];
        if before.state != after.state {
            let (from, to) = (state_name(before.state), state_name(after.state));
            writeln!(out, "             pixel: {from} -> {to}")?;
        } else if !active {
            writeln!(out, "             pixel is inactive: {}", state_name(after.state))?;
        }
        if matches!(self.shader.op(step.address), Some(Op::Fc(_))) {
            self.stacks(out, group)?;
        }
        Ok(())
    }

    /// Prints the end of the trace.
    pub(super) fn end(
        &self,
        out: &mut impl Write,
        steps: u64,
        group: &Group<'_>,
        lane: usize,
    ) -> io::Result<()> {
        let pixel = &group.state().lanes()[lane];
        let output = pixel.output();
        let fate = match (pixel.killed, output.covered) {
            (true, _) => "killed: nothing is delivered",
            (false, false) => "not covered: nothing is delivered",
            (false, true) => "delivered",
        };
        writeln!(out, "end after {}; {fate}", counted(steps, "instruction"))?;
        for (n, (color, mask)) in output.color.iter().zip(output.written).enumerate() {
            if mask != 0 {
                writeln!(out, "  out[{n}].{} = {}", letters(mask), vector(color))?;
            }
        }
        if let Some(depth) = output.depth {
            writeln!(out, "  depth = {}", text(depth))?;
        }
        for finding in group.state().warnings().iter() {
            writeln!(
                out,
                "  {}[{}]: {finding}",
                finding_weight(finding.kind),
                finding.kind.name()
            )?;
        }
        Ok(())
    }

    fn stacks(&self, out: &mut impl Write, group: &Group<'_>) -> io::Result<()> {
        if let Some(frame) = group.state().loops().last() {
            let depth = group.state().loops().len();
            let (count, al) = (frame.count, frame.al);
            let left = counted(count, "iteration");
            writeln!(out, "             loop   depth {depth}, {left} left, aL {al}")?;
        }
        if !group.state().calls().is_empty() {
            let calls: Vec<String> =
                group.state().calls().iter().map(|a| format!("@{a}")).collect();
            writeln!(out, "             calls  {}", calls.join(" "))?;
        }
        Ok(())
    }
}

/// Prints the effect of an instruction on a pixel.
pub(in crate::command) fn print_effects(
    out: &mut impl Write,
    event: &Event,
    address: u32,
) -> io::Result<()> {
    for line in effects(event, address) {
        writeln!(out, "             {line}")?;
    }
    Ok(())
}

/// Returns the effect of an instruction on a pixel: operands, result, writes, one a line.
pub(in crate::command) fn effects(event: &Event, address: u32) -> Vec<String> {
    let mut lines = Vec::new();
    match &event.kind {
        EventKind::Skipped => {}
        EventKind::Alu { rgb, alpha, raw, result, enabled } => {
            let [a, b, c] = rgb.each_ref().map(|operand| vector(operand));
            lines.push(format!("rgb    A {a}  B {b}  C {c}"));
            let [a, b, c] = alpha.map(text);
            lines.push(format!("alpha  A {a}  B {b}  C {c}"));
            let finished = if same(raw, result) {
                String::new()
            } else {
                format!(", finished {}", vector(result))
            };
            lines.push(format!("result {}{finished}{}", vector(raw), predicated(*enabled)));
        }
        EventKind::Tex { coord, texel, lookup, enabled, killed } => {
            lines.push(format!("STRQ   {}{}", vector(coord), predicated(*enabled)));
            if let Some(lookup) = lookup {
                lines.extend(lookup_lines(lookup));
            }
            if let Some(texel) = texel {
                lines.push(format!("texel  {}", vector(texel)));
            }
            if *killed {
                lines.push("kills the pixel".to_owned());
            }
        }
        EventKind::Flow(jump) => {
            let wish = if jump.jumps { "wants to jump" } else { "does not want to jump" };
            let say = if jump.voted { "" } else { " (has no say)" };
            let next = jump.next;
            let jumps = match (jump.taken, next == address + 1) {
                (true, _) => format!("jump to @{next}"),
                (false, true) => "no jump".to_owned(),
                (false, false) => format!("no jump, on to @{next}"),
            };
            lines.push(format!(
                "pixel {wish}{say}; {} of {} voters do: {jumps}",
                jump.votes_for, jump.voters
            ));
        }
    }
    lines.extend(event.writes.iter().map(write_line));
    lines
}

fn write_line(write: &Wrote) -> String {
    match write {
        Wrote::Temp { temp, mask, value } => {
            format!("temp[{temp}].{} <- {}", letters(*mask), vector(value))
        }
        Wrote::Output { target, mask, value } => {
            format!("out[{target}].{} <- {}", letters(*mask), vector(value))
        }
        Wrote::Depth(value) => format!("depth <- {}", text(*value)),
        Wrote::Predicate { mask, bits } => {
            let set = letters(*bits);
            let set = if set.is_empty() { "none" } else { &set };
            format!("predicate.{} <- {set} set", letters(*mask))
        }
        Wrote::AluResult(value) => format!("ALU result <- {value}"),
    }
}

/// Returns what a texture lookup reads.
fn lookup_lines(lookup: &Lookup) -> Vec<String> {
    let how = if lookup.magnified { "magnified" } else { "minified" };
    let face = lookup.face.map_or(String::new(), |face| {
        let faces = ["+X", "-X", "+Y", "-Y", "+Z", "-Z"];
        format!(", face {}", faces.get(face as usize).unwrap_or(&"?"))
    });
    let coordinates = vector(&lookup.coordinates);
    let mut lines =
        vec![format!("uvw    {coordinates}{face}, level of detail {} ({how})", text(lookup.lod))];
    for level in &lookup.levels {
        let texels: Vec<String> = level
            .texels
            .iter()
            .map(|texel| match texel.at {
                Some([x, y, 0]) => format!("{x},{y}"),
                Some([x, y, layer]) => format!("{x},{y},{layer}"),
                None => "border".to_owned(),
            })
            .collect();
        let weights = vector(&level.weights);
        lines.push(format!("level  {} texels {} shares {weights}", level.level, texels.join(" ")));
    }
    if lookup.probes > 1 {
        lines.push(format!("mean   of {} fetches along the longer step", lookup.probes));
    }
    if lookup.levels.len() > lookup.probes as usize {
        lines.push(format!("mixed  {} of the second level", text(lookup.level_weight)));
    }
    lines
}

/// Returns the channels that predicates enable, if not all.
fn predicated(enabled: u8) -> String {
    match enabled {
        0b1111 => String::new(),
        0 => " (predicates let nothing through)".to_owned(),
        mask => format!(" (predicates let {} through)", letters(mask)),
    }
}

fn same(a: &[f32; 4], b: &[f32; 4]) -> bool {
    a.map(f32::to_bits) == b.map(f32::to_bits)
}
