//! Printer of vertex instructions: one statement each, with every bit visible.

use std::fmt::{self, Write as _};

use r500_chip::pvs::{Addressing, Component, Dst, DualMath, Op, Src};

use super::names::{DESTINATIONS, SELECTS, SOURCE_KINDS, name_of, spelling};
use super::operands::{Fill, is_macro, read_slots};
use crate::Instruction;

/// Prints the instruction as a statement, without a semicolon.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_fill(Fill::Unused).fmt(f)
    }
}

impl Instruction {
    /// Returns what prints the instruction where sources that it does not read are by default as `fill` says.
    #[must_use]
    pub fn with_fill(self, fill: Fill) -> impl fmt::Display {
        Statement { inst: self, fill }
    }
}

struct Statement {
    inst: Instruction,
    fill: Fill,
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inst, fill } = *self;
        let dst = inst.dst();
        match (dst.pred_enable(), dst.pred_sense()) {
            (true, true) => f.write_str("(p) ")?,
            (true, false) => f.write_str("(!p) ")?,
            (false, _) => {}
        }
        destination(f, dst)?;
        write!(f, " = {}", name_of(inst.op()))?;
        if let Some(clocks) = clocks(inst) {
            f.write_str(clocks)?;
        }
        let is_math = matches!(inst.op(), Op::Math(_));
        let dual = inst.dual_math();
        // Each engine has a bit for saturation; that of the other engine belongs to the second operation, if there is one.
        let (own, other, suffix) = match is_math {
            true => (dst.me_sat(), dst.ve_sat(), ".VE_SAT"),
            false => (dst.ve_sat(), dst.me_sat() && dual.is_none(), ".ME_SAT"),
        };
        if own {
            f.write_str(".SAT")?;
        }
        if other {
            f.write_str(suffix)?;
        }
        let slots = if dual.is_some() { 2 } else { 3 };
        let read = read_slots(inst.op());
        let words = inst.sources();
        let shown = fill.shown(inst);
        for (slot, src) in words.iter().enumerate().take(slots) {
            if read[slot] {
                f.write_char(' ')?;
                source(f, *src, 4)?;
            } else if shown[slot] {
                f.write_str(" (")?;
                source(f, *src, 4)?;
                f.write_char(')')?;
            }
        }
        if let Some(dual) = dual {
            second(f, dual, dst, is_math)?;
        }
        unnamed(f, inst)
    }
}

/// Returns how many clocks an operation of the vector engine takes, where its name and its sources do not say it.
fn clocks(inst: Instruction) -> Option<&'static str> {
    let is_macro_word = matches!(inst.op(), Op::Macro(op) if op.is_named());
    let has_macro = is_macro(inst.op(), &inst.sources()) && inst.dual_math().is_none();
    match (is_macro_word, has_macro, inst.op()) {
        (true, false, _) => Some(".2CLK"),
        (false, true, Op::Vector(_)) => Some(".1CLK"),
        _ => None,
    }
}

fn second(
    f: &mut fmt::Formatter<'_>,
    dual: DualMath,
    dst: Dst,
    first_is_math: bool,
) -> fmt::Result {
    let component = name_of_component(dual.dst_we_sel());
    write!(f, ", alt_temp[{}].{component} = {}", dual.dst_offset(), name_of(Op::Math(dual.op())))?;
    if dst.me_sat() && !first_is_math {
        f.write_str(".SAT")?;
    }
    let src = dual.source();
    if Op::Math(dual.op()).sources() > 0 {
        f.write_char(' ')?;
        source(f, src, 2)
    } else if src.0 & !DUAL_FILL != 0 {
        f.write_str(" (")?;
        source(f, src, 2)?;
        f.write_char(')')
    } else {
        Ok(())
    }
}

/// The bits of a second operation's source that its own word does not have: z and w, which read 0.
const DUAL_FILL: u32 = 4 << 19 | 4 << 22;

fn destination(f: &mut fmt::Formatter<'_>, dst: Dst) -> fmt::Result {
    match spelling(&DESTINATIONS, dst.reg_type()) {
        Some(kind) => f.write_str(kind)?,
        None => write!(f, "reg{}", dst.reg_type().code())?,
    }
    address(f, dst.addressing(), dst.addr_sel(), dst.offset())?;
    f.write_char('.')?;
    let mask = dst.write_mask();
    for (name, _) in ['x', 'y', 'z', 'w'].iter().zip(mask).filter(|(_, write)| *write) {
        f.write_char(*name)?;
    }
    if mask == [false; 4] { f.write_char('_') } else { Ok(()) }
}

fn source(f: &mut fmt::Formatter<'_>, src: Src, components: usize) -> fmt::Result {
    if src.abs_xyzw() {
        f.write_char('|')?;
    }
    f.write_str(SOURCE_KINDS[usize::from(src.reg_type().code() & 3)])?;
    address(f, src.addressing(), src.addr_sel(), src.offset())?;
    f.write_char('.')?;
    for (swizzle, negate) in src.swizzle().iter().zip(src.negate()).take(components) {
        if negate {
            f.write_char('-')?;
        }
        f.write_char(SELECTS[usize::from(swizzle.code() & 7)])?;
    }
    if src.abs_xyzw() { f.write_char('|') } else { Ok(()) }
}

fn address(
    f: &mut fmt::Formatter<'_>,
    addressing: Addressing,
    select: Component,
    offset: u8,
) -> fmt::Result {
    let select = name_of_component(select);
    match addressing {
        Addressing::Absolute => write!(f, "[{offset}]"),
        Addressing::A0(_) => write!(f, "[a0.{select}+{offset}]"),
        Addressing::LoopIndex => write!(f, "[aL+{offset}]"),
        Addressing::Reserved => write!(f, "[a0.{select}+aL+{offset}]"),
    }
}

fn name_of_component(component: Component) -> char {
    SELECTS[usize::from(component.code() & 3)]
}

/// Prints the bits without a notation: those that reading the statement up to here would leave clear.
fn unnamed(f: &mut fmt::Formatter<'_>, inst: Instruction) -> fmt::Result {
    let dst = inst.dst();
    let stray = |addressing: Addressing, select: Component| match addressing {
        Addressing::Absolute | Addressing::LoopIndex => u32::from(select.code()) << 29,
        Addressing::A0(_) | Addressing::Reserved => 0,
    };
    let mut bits = [0_u32; 4];
    bits[0] = stray(dst.addressing(), dst.addr_sel());
    if dst.macro_inst() && dst.math_inst() {
        bits[0] |= Dst(0).with(Dst::MATH_INST, true).0;
    }
    if dst.pred_sense() && !dst.pred_enable() {
        bits[0] |= Dst(0).with(Dst::PRED_SENSE, true).0;
    }
    let sources = if inst.dual_math().is_some() { 2 } else { 3 };
    for (slot, src) in inst.sources().iter().enumerate().take(sources) {
        bits[slot + 1] = src.0 & 4 | stray(src.addressing(), src.addr_sel());
    }
    if let Some(dual) = inst.dual_math() {
        let src = dual.source();
        bits[3] = stray(src.addressing(), src.addr_sel());
    }
    if bits == [0; 4] {
        return Ok(());
    }
    let [a, b, c, d] = bits;
    write!(f, " .bits {a:#x} {b:#x} {c:#x} {d:#x}")
}
