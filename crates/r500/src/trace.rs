//! Instruction traces of one pixel.
//!
//! [`exec::reference::Group`](crate::exec::reference::Group) steps a group of pixels and reports more details;
//! [`exec::record`](crate::exec::record) also steps backward.

use r500_exec::reference::{EventKind, Group, Write};
use r500_exec::{Bindings, Draw, Options, PixelRect, RunError, Shader};

/// The instructions of a program as text, in the context of their program: `IF alu ;`, not the fields of a jump.
#[derive(Clone, Debug)]
pub struct InstructionTexts {
    offset: u32,
    lines: Vec<String>,
}

impl InstructionTexts {
    /// Prints all instructions of a shader.
    #[must_use]
    pub fn new(shader: &Shader) -> Self {
        let offset = shader.offset();
        // `US_CODE_OFFSET.OFFSET_ADDR` has nine bits.
        let lines = r500_asm::print_lines(shader.code(), u16::try_from(offset).unwrap_or(u16::MAX));
        Self { offset, lines }
    }

    /// Prints all instructions of a vertex program.
    #[must_use]
    pub fn of_vertices(program: &r500_pvs::Program) -> Self {
        let (first, code) = program.instructions();
        let lines = code.iter().map(ToString::to_string).collect();
        Self { offset: u32::try_from(first).unwrap_or(u32::MAX), lines }
    }

    /// Returns the text of the instruction at an absolute address; `None` if there is none.
    #[must_use]
    pub fn get(&self, address: u32) -> Option<&str> {
        let index = address.checked_sub(self.offset)?;
        self.lines.get(usize::try_from(index).ok()?).map(String::as_str)
    }
}

/// An executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// Its absolute address.
    pub address: u32,
    /// Its text, in the assembly language.
    pub text: String,
    /// Whether the pixel was active.
    pub active: bool,
    /// Whether TEXKILL killed the pixel.
    pub killed: bool,
    /// Its writes, in order.
    pub writes: Vec<TraceWrite>,
}

/// A write.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceWrite {
    /// The written register: `temp[3]`, `out[0]`, `depth`, `predicate`, `alu`.
    pub register: String,
    /// The written channels, red in bit 0; 0 for registers without channels.
    pub mask: u8,
    /// The register after the write, all of its channels. Predicate bits and the ALU result are 0 or 1; depth and the
    /// ALU result are one value.
    pub value: Vec<f32>,
}

/// Runs the group of a pixel in the reference engine and returns its trace.
///
/// # Errors
/// [`RunError::AreaOutside`] if the picture has no such pixel; [`RunError`] if a limit is exceeded.
pub fn trace(
    shader: &Shader,
    bindings: &Bindings,
    options: &Options<'_>,
    [x, y]: [u32; 2],
) -> Result<Vec<TraceStep>, RunError> {
    let [width, height] = bindings.size();
    let outside =
        || RunError::AreaOutside { area: PixelRect { x, y, width: 1, height: 1 }, width, height };
    if x >= width || y >= height {
        return Err(outside());
    }
    let draw = Draw::new(shader, bindings, options)?;
    let [columns, rows] = options.group;
    let rect = PixelRect { x: x - x % columns, y: y - y % rows, width: columns, height: rows };
    let mut group = Group::new(&draw, rect);
    group.watch(Some(group.state().lane_at(x, y).ok_or_else(outside)?));
    let mut steps = Vec::new();
    let texts = InstructionTexts::new(shader);
    while !group.ended() {
        let step = group.step()?;
        let text = shader.instruction(step.address).and_then(|_| texts.get(step.address));
        let event = step.event.as_ref();
        steps.push(TraceStep {
            address: step.address,
            text: text.unwrap_or_default().to_owned(),
            active: event.is_some_and(|event| event.active),
            killed: event
                .is_some_and(|event| matches!(event.kind, EventKind::Tex { killed: true, .. })),
            writes: event.map(|event| event.writes.iter().map(of).collect()).unwrap_or_default(),
        });
    }
    Ok(steps)
}

fn of(write: &Write) -> TraceWrite {
    let (register, mask, value) = match *write {
        Write::Temp { temp, mask, value } => (format!("temp[{temp}]"), mask, value.to_vec()),
        Write::Output { target, mask, value } => (format!("out[{target}]"), mask, value.to_vec()),
        Write::Depth(depth) => ("depth".to_owned(), 0, vec![depth]),
        Write::Predicate { mask, bits } => {
            let bit = |n: u8| f32::from(bits >> n & 1);
            ("predicate".to_owned(), mask, [0, 1, 2, 3].map(bit).to_vec())
        }
        Write::AluResult(result) => ("alu".to_owned(), 0, vec![f32::from(u8::from(result))]),
    };
    TraceWrite { register, mask, value }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::reader::{Language, read};

    #[test]
    fn each_step_has_its_text_and_what_it_wrote() {
        let source = b"src0.rgb = temp[0] : temp[1].rg = MAD src0.rg0 src0.110 src0.000 ;
            OUT LAST src0.rgb = temp[1] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;";
        let limits = Default::default();
        let job = read(source, None, Some(Language::Assembly), &limits).unwrap().remove(0);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [2, 2]).unwrap();
        let run = |pixel| trace(&shader, &bindings, &Options::default(), pixel);
        let steps = run([1, 0]).unwrap();
        assert_eq!(steps.iter().map(|step| step.address).collect::<Vec<_>>(), [0, 1]);
        assert!(steps[1].text.starts_with("OUT"), "{}", steps[1].text);
        // By default, temp[0] is (u, v, 0, 1): the centre of the pixel is at (3/4, 1/4).
        let write = TraceWrite {
            register: "temp[1]".to_owned(),
            mask: 0b11,
            value: vec![0.75, 0.25, 0.0, 0.0],
        };
        assert_eq!(steps[0].writes, [write]);
        assert!(matches!(run([2, 0]), Err(RunError::AreaOutside { .. })));
    }
}
