//! Printer of vertex instructions: one line each, with every bit visible.

use std::fmt::{self, Write as _};

use r500_chip::pvs::{Addressing, Component, Dst, DualMath, MathOp, Op, Src};

use super::names::{COMPONENTS, DESTINATIONS, SOURCES, SWIZZLES, spelling};
use crate::Instruction;

/// Prints the instruction as a line of assembly, or as `.dwords` if a code is reserved or a bit has no notation.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Line::new(*self) {
            Some(line) => line.print(f),
            None => {
                let [a, b, c, d] = self.0;
                write!(f, ".dwords {a:#010x} {b:#010x} {c:#010x} {d:#010x}")
            }
        }
    }
}

/// An instruction in which every bit has a notation.
struct Line {
    inst: Instruction,
    name: &'static str,
    dual: Option<(DualMath, &'static str)>,
}

impl Line {
    fn new(inst: Instruction) -> Option<Self> {
        let dst = inst.dst();
        let name = dst.op().name()?;
        let addressing = dst.reg_type().is_named() && plain(dst.addressing(), dst.addr_sel());
        // MATH_INST with MACRO_INST, and PRED_SENSE without PRED_ENABLE, have no notation.
        let flags =
            !(dst.macro_inst() && dst.math_inst()) && (dst.pred_enable() || !dst.pred_sense());
        let sources = &inst.sources()[..if dst.dual_math_op() { 2 } else { 3 }];
        if !addressing || !flags || !sources.iter().all(|src| has_notation(*src)) {
            return None;
        }
        let dual = match inst.dual_math() {
            None => None,
            Some(dual) if has_notation(dual.source()) => Some((dual, Op::Math(dual.op()).name()?)),
            Some(_) => return None,
        };
        Some(Self { inst, name, dual })
    }

    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dst = self.inst.dst();
        if dst.pred_enable() {
            f.write_str(if dst.pred_sense() { "(p) " } else { "(!p) " })?;
        }
        f.write_str(self.name)?;
        if dst.ve_sat() {
            f.write_str(".ve_sat")?;
        }
        if dst.me_sat() {
            f.write_str(".me_sat")?;
        }
        destination(f, dst)?;
        let sources = self.inst.sources();
        let all = if self.dual.is_some() { 2 } else { 3 };
        // Sources that the operation does not read are printed up to the last one that is not 0.
        let shown = sources[..all].iter().rposition(|src| src.0 != 0).map_or(0, |last| last + 1);
        for src in &sources[..shown.max(dst.op().sources().min(all))] {
            f.write_str(", ")?;
            source(f, *src, 4)?;
        }
        if let Some((dual, name)) = self.dual {
            let component = name_of(dual.dst_we_sel());
            write!(f, " + {name} alt[{}].{component}, ", dual.dst_offset())?;
            source(f, dual.source(), 2)?;
        }
        Ok(())
    }
}

fn plain(addressing: Addressing, select: Component) -> bool {
    match addressing {
        Addressing::Absolute | Addressing::LoopIndex => select == Component::X,
        Addressing::A0(_) => true,
        Addressing::Reserved => false,
    }
}

/// Returns whether every bit of the source has a notation; bit 2 has no name.
fn has_notation(src: Src) -> bool {
    src.0 & 4 == 0
        && plain(src.addressing(), src.addr_sel())
        && src.swizzle().iter().all(|swizzle| spelling(&SWIZZLES, *swizzle).is_some())
}

fn destination(f: &mut fmt::Formatter<'_>, dst: Dst) -> fmt::Result {
    let kind = spelling(&DESTINATIONS, dst.reg_type()).unwrap_or_default();
    write!(f, " {kind}")?;
    address(f, dst.addressing(), dst.offset())?;
    f.write_char('.')?;
    let mask = dst.write_mask();
    for (name, _) in ['x', 'y', 'z', 'w'].iter().zip(mask).filter(|(_, write)| *write) {
        f.write_char(*name)?;
    }
    if mask == [false; 4] { f.write_char('_') } else { Ok(()) }
}

fn source(f: &mut fmt::Formatter<'_>, src: Src, components: usize) -> fmt::Result {
    let negate = src.negate();
    let all = negate[..components].iter().all(|negate| *negate);
    if all {
        f.write_char('-')?;
    }
    if src.abs_xyzw() {
        f.write_char('|')?;
    }
    f.write_str(spelling(&SOURCES, src.reg_type()).unwrap_or_default())?;
    address(f, src.addressing(), src.offset())?;
    if src.abs_xyzw() {
        f.write_char('|')?;
    }
    f.write_char('.')?;
    for (swizzle, negate) in src.swizzle().iter().zip(negate).take(components) {
        if negate && !all {
            f.write_char('-')?;
        }
        f.write_str(spelling(&SWIZZLES, *swizzle).unwrap_or_default())?;
    }
    Ok(())
}

fn address(f: &mut fmt::Formatter<'_>, addressing: Addressing, offset: u8) -> fmt::Result {
    match addressing {
        Addressing::Absolute | Addressing::Reserved => write!(f, "[{offset}]"),
        Addressing::A0(component) => write!(f, "[a0.{}+{offset}]", name_of(component)),
        Addressing::LoopIndex => write!(f, "[aL+{offset}]"),
    }
}

fn name_of(component: Component) -> &'static str {
    spelling(&COMPONENTS, component).unwrap_or_default()
}

/// Returns the operation of the math engine with a mnemonic, for the parser of dual instructions.
pub(super) fn math_op(name: &str) -> Option<MathOp> {
    (0..32).map(MathOp::new).find(|op| Op::Math(*op).name() == Some(name))
}
