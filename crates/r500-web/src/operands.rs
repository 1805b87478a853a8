//! The operands of an ALU or OUT instruction in words: which source each one reads, and which register that is.

use r500::asm::{operand_text, operation_text, source_text};
use r500::isa::values::{AlphaOp, InstType, RgbOp, Sel, Swiz};
use r500::isa::{Half, Instruction, Slot, Source};
use serde::Serialize;

/// A half of an ALU or OUT instruction.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "HalfInWords"))]
pub(crate) struct HalfShown {
    /// `rgb` or `alpha`.
    #[cfg_attr(test, ts(type = "\"rgb\" | \"alpha\""))]
    half: &'static str,
    /// Whether its result is neither written nor forwarded by the other half.
    idle: bool,
    /// The operation with its modifiers: `clamp MAD`.
    operation: String,
    /// The operands that the operation uses.
    operands: Vec<OperandShown>,
}

/// An operand.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "OperandInWords"))]
pub(crate) struct OperandShown {
    /// 0 to 2: A to C.
    slot: usize,
    /// The operand as it is written: `-src0.rg0`.
    text: String,
    /// The same with the registers of its sources: `-temp[2].rg0`.
    register: String,
    /// The temporaries that it reads: number, and channels by bit.
    reads: Vec<(u8, u8)>,
}

/// Returns the halves of an ALU or OUT instruction; none of other instructions.
pub(crate) fn halves(instruction: Instruction) -> Vec<HalfShown> {
    if !matches!(instruction.ty(), InstType::ALU | InstType::OUT) {
        return Vec::new();
    }
    let [rgb, alpha] = instruction.active_halves();
    [(Half::Rgb, rgb), (Half::Alpha, alpha)]
        .map(|(half, active)| shown(instruction, half, active))
        .into()
}

fn shown(instruction: Instruction, half: Half, active: bool) -> HalfShown {
    let (rgb, alpha): (RgbOp, AlphaOp) =
        (instruction.rgba_inst().rgb_op(), instruction.alpha_inst().alpha_op());
    let uses = |slot: Slot| match half {
        Half::Rgb => rgb.uses(slot),
        Half::Alpha => alpha.uses(slot),
    };
    let operands = Slot::ALL.into_iter().enumerate().filter(|(_, slot)| uses(*slot));
    HalfShown {
        half: if half == Half::Rgb { "rgb" } else { "alpha" },
        idle: !active,
        operation: operation_text(instruction, half),
        operands: operands.map(|(n, slot)| operand(instruction, half, n, slot)).collect(),
    }
}

fn operand(instruction: Instruction, half: Half, n: usize, slot: Slot) -> OperandShown {
    let text = operand_text(instruction, half, slot);
    let (sel, swiz) = match half {
        Half::Rgb => {
            let operand = instruction.rgb_operand(slot);
            (operand.sel, operand.swiz.to_vec())
        }
        Half::Alpha => {
            let operand = instruction.alpha_operand(slot);
            (operand.sel, operand.swiz.to_vec())
        }
    };
    let mut reads: Vec<(u8, u8)> = Vec::new();
    for channel in swiz.iter().filter(|channel| channel.code() < Swiz::ZERO.code()) {
        let of = if *channel == Swiz::A { Half::Alpha } else { Half::Rgb };
        for source in sources(instruction, of, sel) {
            let Some(temp) = source.temporary() else { continue };
            match reads.iter_mut().find(|(known, _)| *known == temp) {
                Some((_, channels)) => *channels |= 1 << channel.code(),
                None => reads.push((temp, 1 << channel.code())),
            }
        }
    }
    OperandShown { slot: n, register: register(instruction, sel, &swiz, &text), text, reads }
}

/// Returns the sources that a select reads: one, or those of the presubtract unit.
fn sources(instruction: Instruction, half: Half, sel: Sel) -> Vec<Source> {
    let all = instruction.sources(half);
    match usize::from(sel.code()) {
        n @ 0..=2 => vec![all[n]],
        _ => {
            let formula = instruction.srcp_op(half).describe().map_or("", |op| op.meaning);
            let named = all.into_iter().take(2).enumerate();
            named
                .filter(|(n, _)| formula.contains(&format!("src{n}")))
                .map(|(_, source)| source)
                .collect()
        }
    }
}

/// Returns an operand's text with registers in place of the names of sources.
fn register(instruction: Instruction, sel: Sel, swiz: &[Swiz], text: &str) -> String {
    let of = |half: Half| -> String {
        let all = instruction.sources(half);
        match usize::from(sel.code()) {
            n @ 0..=2 => source_text(all[n]),
            _ => {
                let formula = instruction.srcp_op(half).describe().map_or("", |op| op.meaning);
                let replaced = formula
                    .replace("src0", &source_text(all[0]))
                    .replace("src1", &source_text(all[1]));
                format!("({replaced})")
            }
        }
    };
    let is_inline = |half: Half| {
        let n = usize::from(sel.code());
        n < 3 && instruction.sources(half)[n].inline().is_some()
    };
    let is_alpha = |channel: &Swiz| *channel == Swiz::A;
    let is_color = |channel: &Swiz| channel.code() < Swiz::A.code();
    let (colors, alphas) = (swiz.iter().any(is_color), swiz.iter().any(is_alpha));
    // `-src0.rg0`: what is before the name, the name, the channels, what follows them.
    let Some((head, tail)) = text.split_once("src") else { return text.to_owned() };
    let Some((_, channels)) = tail.split_once('.') else { return text.to_owned() };
    let whole = |half: Half| match is_inline(half)
        && swiz.iter().all(|c| c.code() <= Swiz::A.code())
    {
        true => format!("{head}{}{}", of(half), channels.trim_start_matches(|c: char| c != '|')),
        false => format!("{head}{}.{channels}", of(half)),
    };
    match (colors, alphas) {
        (true, false) => whole(Half::Rgb),
        (false, true) => whole(Half::Alpha),
        // Constants alone: each channel by itself.
        (false, false) => {
            let number = |channel: &Swiz| match *channel {
                Swiz::HALF => "1/2",
                Swiz::ONE => "1",
                _ => "0",
            };
            let numbers: Vec<&str> = swiz.iter().map(number).collect();
            let same = numbers.iter().all(|number| *number == numbers[0]);
            let end = if head.contains('|') { "|" } else { "" };
            match same {
                true => format!("{head}{}{end}", numbers[0]),
                false => format!("{head}({}){end}", numbers.join(", ")),
            }
        }
        (true, true) => {
            let of_channel = |half: Half, letter: char| match is_inline(half) {
                true => of(half),
                false => format!("{}.{letter}", of(half)),
            };
            let part =
                |(channel, letter): (&Swiz, char)| match (is_color(channel), is_alpha(channel)) {
                    (true, _) => of_channel(Half::Rgb, letter),
                    (_, true) => of_channel(Half::Alpha, letter),
                    _ => letter.to_string(),
                };
            let parts: Vec<String> = swiz.iter().zip(channels.chars()).map(part).collect();
            format!("{head}({}){}", parts.join(", "), if head.contains('|') { "|" } else { "" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns for each operand the half, its text, and its registers.
    fn told(source: &str) -> Vec<String> {
        let assembly = r500::asm::assemble(source.as_bytes(), r500::asm::Options::default());
        assert!(assembly.is_ok(), "{source}");
        let halves = halves(assembly.job.program.code[0]);
        let operand = |half: &HalfShown, one: &OperandShown| {
            let idle = if half.idle { " idle" } else { "" };
            format!(
                "{}{idle} {} {} = {} {:?}",
                half.half,
                ["A", "B", "C"][one.slot],
                one.text,
                one.register,
                one.reads
            )
        };
        halves
            .iter()
            .flat_map(|half| half.operands.iter().map(move |one| operand(half, one)))
            .collect()
    }

    #[test]
    fn operands_name_the_registers_of_their_sources() {
        assert_eq!(
            told(
                "src0.rgb = temp[2], src1.rgb = const[3], src0.a = temp[5] : temp[1].rgb = MAD -src0.rg0 src1.bbb src0.aaa, temp[1].a = MAX |src0.a| src0.h ;"
            ),
            [
                "rgb A -src0.rg0 = -temp[2].rg0 [(2, 3)]",
                "rgb B src1.bbb = const[3].bbb []",
                "rgb C src0.aaa = temp[5].aaa [(5, 8)]",
                "alpha A |src0.a| = |temp[5].a| [(5, 8)]",
                "alpha B src0.h = 1/2 []",
            ]
        );
    }

    #[test]
    fn operands_with_colours_and_alpha_name_both_registers() {
        let told =
            told("src0.rgb = temp[2], src0.a = 0.25 : temp[1].rgb = MAX src0.ra1 src0.aaa ;");
        assert_eq!(
            told[..2],
            ["rgb A src0.ra1 = (temp[2].r, 0.25, 1) [(2, 1)]", "rgb B src0.aaa = 0.25 []"]
        );
    }

    #[test]
    fn a_half_without_effect_is_idle() {
        let idle = |source: &str| -> Vec<bool> {
            let assembly = r500::asm::assemble(source.as_bytes(), r500::asm::Options::default());
            halves(assembly.job.program.code[0]).iter().map(|half| half.idle).collect()
        };
        assert_eq!(
            idle("src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;"),
            [false, true]
        );
        assert_eq!(idle("src0.a = temp[0] : temp[1].a = RCP src0.a ;"), [true, false]);
        // DP forwards the RGB half, whose result is not written.
        assert_eq!(
            idle("src0.rgb = temp[2] : DP3.rgb src0.rg0 src0.rg0, temp[2].a = DP ;"),
            [false, false]
        );
        assert!(idle("TEX temp[0].rgba = LD tex[0].rgba temp[0].rggg ;").is_empty());
    }

    #[test]
    fn presubtract_results_are_their_formula() {
        assert_eq!(
            told(
                "src0.rgb = temp[1], src1.rgb = temp[2], srcp.rgb = sub : temp[0].rgb = MAX srcp.rgb srcp.rgb ;"
            )[0],
            "rgb A srcp.rgb = (temp[2] - temp[1]).rgb [(1, 7), (2, 7)]"
        );
    }
}
