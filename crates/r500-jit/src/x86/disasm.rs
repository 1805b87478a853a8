//! Listings of machine code.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
use r500_exec::RunError;
use r500_fast::codegen::{
    Batch, ColorStore, CompileUnit, Compiler, Kernel, PhiMove, ResourceLayout,
};
use r500_fast::{NativeCode, Simd};
use r500_ir::Function;

use crate::x86::compile::{Assembly, CompiledForms, Level, PendingForm, compile_forms};
use crate::{Effort, Groups, Unavailable};

/// Returns the machine code of a function as text, for each unit: the values that it reads from slots and writes to them, its phi moves,
/// the colours that it stores, the textures that it fetches from, its instructions with the text of `describe` for the address that they
/// come from, and its constants. The level need not be that of this processor.
///
/// # Errors
/// [`Unavailable`] if there is no machine code for these instructions.
pub fn listing(
    function: &Function,
    sources: &ResourceLayout,
    simd: Simd,
    effort: Effort,
    describe: &mut dyn FnMut(u32) -> Option<String>,
) -> Result<String, Unavailable> {
    let level = Level::of(simd).ok_or(Unavailable::Level)?;
    // Code does not depend on the values of uniforms.
    let uniforms = vec![0.0; function.uniforms.len()];
    let lister = Lister { level, effort, units: Mutex::default() };
    let code = NativeCode::compile(function, &uniforms, sources, simd, &lister);
    let (compiled, all) = code.coverage();
    let mut text = format!("; {compiled} of {all} operations are machine code ({})\n", simd.name());
    let units = lister.units.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (n, Listed { head, baseline, challengers }) in units.iter().enumerate() {
        let mut unit = |assembly: &Assembly, end: &str| {
            let (bytes, lanes) = (assembly.code.len(), assembly.lanes);
            let _ = writeln!(text, "\n; unit {n}: {bytes} bytes, {lanes} pixels at a time{end}");
            text.push_str(head);
            text.push_str(&instructions(assembly, describe));
        };
        match challengers.as_slice() {
            [] => unit(baseline, ""),
            [_] => unit(baseline, ", the first of two forms: the faster one stays"),
            _ => unit(baseline, ", the first of three forms: the fastest one stays"),
        }
        for (challenger, end) in challengers.iter().zip([", the second form", ", the third form"]) {
            unit(challenger, end);
        }
    }
    Ok(text)
}

/// A compiler that keeps the code for the listing.
struct Lister {
    level: Level,
    effort: Effort,
    units: Mutex<Vec<Listed>>,
}

/// A compiled unit.
struct Listed {
    /// The header of its listing.
    head: String,
    baseline: Assembly,
    challengers: Vec<Assembly>,
}

impl Compiler for Lister {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let CompiledForms { baseline, challengers } =
            compile_forms(unit, self.level, self.effort, Groups::Contest).ok()?;
        let challengers =
            challengers.into_iter().map(PendingForm::compile).collect::<Result<_, _>>().ok()?;
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        units.push(Listed { head: head(unit), baseline, challengers });
        Some(Arc::new(Unused))
    }
}

/// A kernel that never runs.
struct Unused;

impl Kernel for Unused {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        Ok(())
    }
}

/// Returns the header of a unit, a line for each of its resources.
fn head(unit: &CompileUnit<'_>) -> String {
    let CompileUnit { reads, writes, moves, colors, tables, .. } = *unit;
    let mut text = format!("; reads {}\n; writes {}\n", slots(reads), slots(writes));
    for PhiMove { value, slot, mask, from } in moves {
        let _ = write!(text, "; then {value} in slot {slot} = {from}");
        let _ = match mask {
            Some(mask) => writeln!(text, " where {mask}"),
            None => writeln!(text),
        };
    }
    for ColorStore { target, channels, encoding, .. } in colors {
        let channels = channels.map(|channel| channel.to_string()).join(", ");
        let _ = write!(text, "; paints target {target}: {channels}");
        let _ = match encoding {
            Some(encoding) => writeln!(text, ", in {} bytes a pixel", encoding.bytes),
            None => writeln!(text),
        };
    }
    for (unit, table) in tables {
        let [s, t] = table.axes;
        let filter = match (table.linear, table.lod) {
            (false, None) => "nearest".to_owned(),
            (true, None) => "linear".to_owned(),
            (linear, Some(detail)) => format!(
                "{}, levels {} to {}, {}",
                if linear { "linear" } else { "nearest" },
                detail.finest,
                detail.coarsest,
                if detail.trilinear { "mixed" } else { "the nearest" }
            ),
        };
        let _ = writeln!(
            text,
            "; fetches from unit {unit}: {} x {} texels, {:?} and {:?}, {filter}",
            s.size, t.size, s.wrap, t.wrap
        );
    }
    text
}

fn slots(values: &[(r500_ir::Value, u32)]) -> String {
    let text: Vec<_> =
        values.iter().map(|(value, slot)| format!("{value} in slot {slot}")).collect();
    if text.is_empty() { "nothing".to_owned() } else { text.join(", ") }
}

/// Returns the instructions, with their offsets and addresses, and the constants.
fn instructions(assembly: &Assembly, describe: &mut dyn FnMut(u32) -> Option<String>) -> String {
    let end = match assembly.constants {
        0 => assembly.code.len(),
        constants => constants.min(assembly.code.len()),
    };
    let (code, constants) = assembly.code.split_at(end);
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.options_mut().set_hex_prefix("0x");
    formatter.options_mut().set_hex_suffix("");
    formatter.options_mut().set_uppercase_hex(false);
    let mut lines = assembly.lines.iter().peekable();
    let (mut text, mut last) = (String::new(), None);
    for instruction in &mut decoder {
        let mut address = last;
        while let Some(line) = lines.next_if(|line| u64::from(line.offset) <= instruction.ip()) {
            address = Some(line.address);
        }
        if address != last {
            last = address;
            if let Some(what) = address.and_then(&mut *describe) {
                let _ = writeln!(text, "; {what}");
            }
        }
        let mut listed = String::new();
        formatter.format(&instruction, &mut listed);
        let _ = writeln!(text, "{:6x}  {listed}", instruction.ip());
    }
    for (n, constant) in constants.as_chunks::<4>().0.iter().enumerate() {
        let bits = u32::from_le_bytes(*constant);
        let _ =
            writeln!(text, "{:6x}  .long 0x{bits:08x} ; {:?}", end + 4 * n, f32::from_bits(bits));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use iced_x86::code_asm::*;

    use super::*;
    use crate::x86::compile::Line;

    #[test]
    fn instructions_are_listed_with_what_they_come_from() {
        let mut a = CodeAssembler::new(64).unwrap();
        a.vmovups(ymm1, ymmword_ptr(rax + rcx)).unwrap();
        a.vaddps(ymm0, ymm1, ymm2).unwrap();
        a.vmulps(ymm0, ymm0, ymm0).unwrap();
        a.ret().unwrap();
        let mut code = a.assemble(0).unwrap();
        let constants = code.len();
        code.extend(1.5_f32.to_le_bytes());
        let lines = [(5, 3), (9, 4), (13, 4)].map(|(offset, address)| Line { offset, address });
        let assembly = Assembly { code, constants, lines: lines.to_vec(), lanes: 8 };
        let text = instructions(&assembly, &mut |address| Some(format!("address {address}")));
        let wanted = "     0  vmovups ymm1, [rax+rcx]\n; address 3\n     5  vaddps ymm0, ymm1, ymm2\n\
                      ; address 4\n     9  vmulps ymm0, ymm0, ymm0\n     d  ret\n     \
                      e  .long 0x3fc00000 ; 1.5\n";
        assert_eq!(text, wanted);
    }
}
