//! Printing of ALU and output instructions.

use std::sync::LazyLock;

use r500_isa::instruction::Operand;
use r500_isa::values::{InstType, Mod, Omod, Sel, Swiz};
use r500_isa::words::{AluRgbAddr, AluRgbInst, CmnInst};
use r500_isa::{Half, InlineConst, Instruction, Slot, Source};

use super::{TextBuffer, compare, flags, index, predicates, result_tag};
use crate::names;

/// The inline constants as text.
static INLINE: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..128).map(|c| format!("{:?}", InlineConst::new(c).value())).collect());

const ZERO_RGB: Operand<3> = Operand { sel: Sel::SRC0, swiz: [Swiz::R; 3], modifier: Mod::NOP };
const ZERO_ALPHA: Operand<1> = Operand { sel: Sel::SRC0, swiz: [Swiz::R], modifier: Mod::NOP };

pub(super) fn alu(out: &mut TextBuffer, inst: Instruction) {
    let cmn = inst.cmn();
    if inst.ty() == InstType::OUT {
        out.text("OUT ");
    }
    flags(out, cmn);
    predicates(out, cmn, true);
    let result = inst.rgb_inst().alu_wmask();
    if !result {
        result_tag(out, cmn);
    }
    source_bindings(out, inst);
    out.text(":");

    let result_alpha = result && cmn.alu_result_sel().code() != 0;
    let result_red = result && !result_alpha;
    let rgb = result_red || rgb_named(inst);
    let alpha = result_alpha || alpha_named(inst);
    let rgb_clear = result_red
        || cmn.rgb_wmask().code() | cmn.rgb_omask().code() != 0
        || names::RGB_ONLY[usize::from(inst.rgba_inst().rgb_op().code() & 15)];
    let alpha_clear = result_alpha
        || cmn.alpha_wmask()
        || cmn.alpha_omask()
        || inst.alpha_inst().w_omask()
        || names::ALPHA_ONLY[usize::from(inst.alpha_inst().alpha_op().code() & 15)];
    if rgb {
        let suffix = !(rgb_clear || alpha && alpha_clear);
        rgb_half(out, inst, result_red, suffix);
    }
    if alpha {
        if rgb {
            out.push(b',');
        }
        alpha_half(out, inst, result_alpha, !alpha_clear && !rgb);
    }
    out.text(" ;");
}

// Source bindings.

fn source_bindings(out: &mut TextBuffer, inst: Instruction) {
    let unused = AluRgbAddr(0)
        .with_source(0, Source::UNUSED)
        .with_source(1, Source::UNUSED)
        .with_source(2, Source::UNUSED)
        .bits();
    let mut first = true;
    if inst.0[1] != unused {
        half_lets(out, Half::Rgb, inst.sources(Half::Rgb), inst, &mut first);
    }
    if inst.0[2] != unused {
        half_lets(out, Half::Alpha, inst.sources(Half::Alpha), inst, &mut first);
    }
    if !first {
        out.push(b' ');
    }
}

fn half_lets(
    out: &mut TextBuffer,
    half: Half,
    sources: [Source; 3],
    inst: Instruction,
    first: &mut bool,
) {
    let suffix = if half == Half::Rgb { ".rgb = " } else { ".a = " };
    for (name, source) in ["src0", "src1", "src2"].into_iter().zip(sources) {
        if source == Source::UNUSED {
            continue;
        }
        comma(out, first);
        out.text(name);
        out.text(suffix);
        self::source(out, source);
    }
    let op = inst.srcp_op(half);
    if op.code() != 0 {
        comma(out, first);
        out.text("srcp");
        out.text(suffix);
        out.text(names::SRCP_OPS[usize::from(op.code() & 3)].0.text());
    }
}

pub(super) fn source(out: &mut TextBuffer, source: Source) {
    if source.constant {
        out.text("const");
        index(out, source.addr, source.relative);
    } else if source.addr < 0x80 {
        out.text("temp");
        index(out, source.addr, source.relative);
    } else {
        out.text(&INLINE[usize::from(source.addr & 0x7f)]);
        if source.relative {
            out.text("+aL");
        }
    }
}

fn comma(out: &mut TextBuffer, first: &mut bool) {
    if !*first {
        out.text(", ");
    }
    *first = false;
}

// Halves.

/// Returns whether any field of the RGB half is set.
fn rgb_named(inst: Instruction) -> bool {
    let (cmn, w5) = (inst.cmn(), inst.rgba_inst());
    inst.rgb_inst().with(AluRgbInst::ALU_WMASK, false).bits() != 0
        || cmn.rgb_wmask().code() | cmn.rgb_omask().code() | w5.rgb_op().code() | w5.rgb_addrd()
            != 0
        || cmn.rgb_clamp()
        || w5.rgb_addrd_rel()
        || inst.rgb_operand(Slot::C) != ZERO_RGB
}

/// Returns whether any field of the alpha half is set.
fn alpha_named(inst: Instruction) -> bool {
    let cmn = inst.cmn();
    inst.0[4] != 0
        || cmn.alpha_wmask()
        || cmn.alpha_omask()
        || cmn.alpha_clamp()
        || inst.alpha_operand(Slot::C) != ZERO_ALPHA
}

fn rgb_half(out: &mut TextBuffer, inst: Instruction, result: bool, suffix: bool) {
    let (cmn, w3, w5) = (inst.cmn(), inst.rgb_inst(), inst.rgba_inst());
    let op = w5.rgb_op();
    target(out, inst, w3.target().code(), cmn.rgb_omask().code());
    if cmn.rgb_wmask().code() != 0 || w5.rgb_addrd() != 0 || w5.rgb_addrd_rel() {
        temp(out, w5.rgb_addrd(), w5.rgb_addrd_rel(), cmn.rgb_wmask().code());
    }
    if result {
        alu_result(out, cmn, "].r =");
    }
    modifiers(out, cmn.rgb_clamp(), w3.omod());
    opcode(out, &names::RGB_OPS, op.code());
    if suffix {
        out.text(".rgb");
    }
    let operands = Slot::ALL.map(|slot| inst.rgb_operand(slot));
    let mut count = Slot::ALL.into_iter().filter(|s| op.uses(*s)).map(|s| s as usize + 1).max();
    let written = operands.iter().rposition(|o| *o != ZERO_RGB).map(|i| i + 1);
    count = count.max(written);
    for operand in &operands[..count.unwrap_or(0)] {
        let letters = operand.swiz.map(|s| names::SWIZZLES[usize::from(s.code() & 7)]);
        write_operand(out, operand.sel, operand.modifier, &letters);
    }
}

fn alpha_half(out: &mut TextBuffer, inst: Instruction, result: bool, suffix: bool) {
    let (cmn, w4) = (inst.cmn(), inst.alpha_inst());
    let op = w4.alpha_op();
    let mask = |on: bool| u8::from(on) << 3;
    target(out, inst, w4.target().code(), mask(cmn.alpha_omask()));
    if cmn.alpha_wmask() || w4.alpha_addrd() != 0 || w4.alpha_addrd_rel() {
        temp(out, w4.alpha_addrd(), w4.alpha_addrd_rel(), mask(cmn.alpha_wmask()));
    }
    if result {
        alu_result(out, cmn, "].a =");
    }
    if w4.w_omask() {
        out.text(" depth =");
    }
    modifiers(out, cmn.alpha_clamp(), w4.omod());
    opcode(out, &names::ALPHA_OPS, op.code());
    if suffix {
        out.text(".a");
    }
    let operands = Slot::ALL.map(|slot| inst.alpha_operand(slot));
    let mut count = Slot::ALL.into_iter().filter(|s| op.uses(*s)).map(|s| s as usize + 1).max();
    let written = operands.iter().rposition(|o| *o != ZERO_ALPHA).map(|i| i + 1);
    count = count.max(written);
    for operand in &operands[..count.unwrap_or(0)] {
        let letters = operand.swiz.map(|s| names::SWIZZLES[usize::from(s.code() & 7)]);
        write_operand(out, operand.sel, operand.modifier, &letters);
    }
}

/// Prints ` out[n].mask =`, or ` pred[lt].mask =` on ALU instructions.
fn target(out: &mut TextBuffer, inst: Instruction, target: u8, mask: u8) {
    if target == 0 && mask == 0 {
        return;
    }
    if inst.ty() == InstType::OUT {
        out.text(" out[");
        out.small(target);
    } else {
        out.text(" pred[");
        out.text(names::COMPARES[usize::from(target & 3)].0.text());
    }
    out.text("].");
    out.text(names::MASKS[usize::from(mask & 15)]);
    out.text(" =");
}

fn temp(out: &mut TextBuffer, n: u8, relative: bool, mask: u8) {
    out.text(" temp");
    index(out, n, relative);
    out.push(b'.');
    out.text(names::MASKS[usize::from(mask & 15)]);
    out.text(" =");
}

fn alu_result(out: &mut TextBuffer, cmn: CmnInst, tail: &str) {
    out.text(" alu[");
    out.text(compare(cmn.alu_result_op()));
    out.text(tail);
}

fn modifiers(out: &mut TextBuffer, clamp: bool, omod: Omod) {
    if clamp {
        out.text(" clamp");
    }
    match names::OMODS.get(usize::from(omod.code())) {
        Some(_) if omod.code() == 0 => {}
        Some((whole, part)) => {
            out.push(b' ');
            out.text(whole);
            out.push(b'.');
            out.text(part);
            out.text(" *");
        }
        None => out.text(" raw"),
    }
}

fn opcode(out: &mut TextBuffer, words: &[&str; 16], code: u8) {
    out.push(b' ');
    match words[usize::from(code & 15)] {
        "" => {
            out.text("OP(");
            out.small(code);
            out.push(b')');
        }
        word => out.text(word),
    }
}

pub(super) fn operand(out: &mut TextBuffer, inst: Instruction, half: Half, slot: Slot) {
    let letter = |swiz: Swiz| names::SWIZZLES[usize::from(swiz.code() & 7)];
    match half {
        Half::Rgb => {
            let operand = inst.rgb_operand(slot);
            write_operand(out, operand.sel, operand.modifier, &operand.swiz.map(letter));
        }
        Half::Alpha => {
            let operand = inst.alpha_operand(slot);
            write_operand(out, operand.sel, operand.modifier, &operand.swiz.map(letter));
        }
    }
}

pub(super) fn operation(out: &mut TextBuffer, inst: Instruction, half: Half) {
    let cmn = inst.cmn();
    let omod = inst.omod(half);
    match half {
        Half::Rgb => {
            modifiers(out, cmn.rgb_clamp(), omod);
            opcode(out, &names::RGB_OPS, inst.rgba_inst().rgb_op().code());
        }
        Half::Alpha => {
            modifiers(out, cmn.alpha_clamp(), omod);
            opcode(out, &names::ALPHA_OPS, inst.alpha_inst().alpha_op().code());
        }
    }
}

fn write_operand(out: &mut TextBuffer, sel: Sel, modifier: Mod, letters: &[u8]) {
    let absolute = modifier.code() & 2 != 0;
    out.text(match modifier.code() & 3 {
        0 => " ",
        1 => " -",
        2 => " |",
        _ => " -|",
    });
    out.text(["src0.", "src1.", "src2.", "srcp."][usize::from(sel.code() & 3)]);
    out.bytes(letters);
    if absolute {
        out.push(b'|');
    }
}
