//! New findings: lints of the second of two programs that the first does not have.
//!
//! Two programs can write the same values although one of them is worse: an instruction that no longer waits for a
//! texture reads too early on a card. [`new_findings`] lists what the checker finds in B alone.
//!
//! A lint of B is old if A has the same lint at the same place. Places correspond by
//! [`r500_check::diff`]; an instruction that moved, or uses other registers there, is the same place as one with the same
//! operations. Lints about constants that are not provided name no place: as many are old as A has.

use r500_check::diff::{Change, Diff};
use r500_check::{Assumptions, Lint, LintCode, Location, Severity, check};
use r500_isa::Instruction;
use r500_isa::values::{AlphaOp, FcOp, InstType, RgbOp, TexOp};
use r500_isa::words::FcAddr;
use r500_program::{Job, Program};

/// Returns the errors and warnings of B that A does not have, by address. Both are checked with the assumptions that
/// their jobs imply. The dummy of a compilation that failed has none: they would not be about the shader.
#[must_use]
pub fn new_findings(a: &Job, b: &Job) -> Vec<Lint> {
    let is_dummy = |job: &Job| {
        job.compilation.as_ref().is_some_and(|compilation| !compilation.outcome.is_compiled())
    };
    if is_dummy(a) || is_dummy(b) {
        return Vec::new();
    }
    new_lints([&a.program, &b.program], [a, b].map(Assumptions::of_job))
}

/// Returns the errors and warnings of B that A does not have, by address.
#[must_use]
pub fn new_lints([a, b]: [&Program; 2], assumptions: [Assumptions; 2]) -> Vec<Lint> {
    let found = |program: &Program, assumptions: &Assumptions| -> Vec<Lint> {
        let lints = check(program, assumptions).lints.into_iter();
        lints.filter(|lint| lint.severity() != Severity::Note).collect()
    };
    let mut old = found(a, &assumptions[0]);
    let mut new = found(b, &assumptions[1]);
    if new.is_empty() {
        return new;
    }
    let mut partner = vec![None; b.code.len()];
    for change in Diff::of(a, b).changes {
        if let Change::Same { a, b } | Change::Changed { a, b, .. } = change {
            partner[b] = Some(a);
        }
    }
    let aligned = |x: &Lint, y: &Lint| match (x.location.index(), y.location.index()) {
        (Some(x), Some(y)) => partner.get(y).copied().flatten() == Some(x),
        (None, None) => x.location == y.location,
        _ => false,
    };
    let at = |program: &Program, lint: &Lint| {
        lint.location.index().and_then(|index| program.code.get(index)).copied()
    };
    let both = |x: &Lint, y: &Lint| at(a, x).zip(at(b, y));
    let moved = |x: &Lint, y: &Lint| {
        both(x, y).is_some_and(|(x, y)| without_target(x) == without_target(y))
    };
    let renamed =
        |x: &Lint, y: &Lint| both(x, y).is_some_and(|(x, y)| operations(x) == operations(y));
    let about_resources = |x: &Lint, _: &Lint| is_about_resources(x.code);
    // The more certain a correspondence, the earlier.
    for same in [&aligned as &dyn Fn(&Lint, &Lint) -> bool, &moved, &renamed, &about_resources] {
        new.retain(|y| {
            let known = old.iter().position(|x| x.code == y.code && same(x, y) && same_field(x, y));
            known.map(|index| old.swap_remove(index)).is_none()
        });
    }
    new
}

/// Returns whether a lint is about what the program is given, at whichever instruction.
fn is_about_resources(code: LintCode) -> bool {
    matches!(
        code,
        LintCode::NoConstant
            | LintCode::NoIntConstant
            | LintCode::NoBoolConstant
            | LintCode::UnitDisabled
    )
}

/// Returns whether two lints of a code name the same field. Operands may be in other fields.
fn same_field(x: &Lint, y: &Lint) -> bool {
    let word = |lint: &Lint| match lint.location {
        Location::Instruction { field, .. } => Some(field.map(|(word, _)| word)),
        _ => None,
    };
    is_about_resources(x.code) || word(x) == word(y)
}

/// Returns an instruction without the address that it jumps to, which relocation changes.
fn without_target(mut inst: Instruction) -> Instruction {
    if inst.ty() == InstType::FC {
        inst.0[3] = inst.fc_addr().with(FcAddr::JUMP_ADDR, 0).bits();
    }
    inst
}

/// The operations of an instruction, without registers, swizzles and masks.
#[derive(PartialEq, Eq)]
enum Operations {
    /// Opcodes of both halves.
    Alu(RgbOp, AlphaOp),
    /// Opcode and texture unit.
    Tex(TexOp, u8),
    /// The statement.
    Flow(FcOp),
}

fn operations(inst: Instruction) -> Operations {
    match inst.ty() {
        InstType::FC => Operations::Flow(inst.fc_inst().op()),
        InstType::TEX => Operations::Tex(inst.tex_inst().inst(), inst.tex_inst().tex_id()),
        _ => Operations::Alu(inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use r500_asm::{Options, assemble};

    use super::*;

    fn job(source: &str) -> Job {
        let assembly = assemble(source.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{source}: {:?}", assembly.diagnostics);
        assembly.job
    }

    fn new(a: &str, b: &str) -> Vec<(LintCode, Option<usize>)> {
        let lints = new_findings(&job(a), &job(b)).into_iter();
        // Both halves of an instruction may have the same finding.
        let mut found: Vec<_> = lints.map(|lint| (lint.code, lint.location.index())).collect();
        found.dedup();
        found
    }

    const FETCH: &str = "TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;";
    const OUT: &str = "src0.rgb = temp[1], src0.a = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;";

    #[test]
    fn a_dropped_wait_is_new() {
        let waits = format!("{FETCH} OUT LAST TEX_SEM_WAIT {OUT}");
        let hurries = format!("{FETCH} OUT LAST {OUT}");
        assert_eq!(new(&waits, &hurries), [(LintCode::NotAwaited, Some(1))]);
        assert_eq!(new(&hurries, &waits), []);
        assert_eq!(new(&hurries, &hurries), []);
    }

    #[test]
    fn a_moved_instruction_has_its_old_finding() {
        let other = "src0.rgb = temp[0] : temp[2].rgb = MAX src0.rgb src0.rgb ;";
        let late = format!("{other} {FETCH} OUT LAST {OUT}");
        let early = format!("{FETCH} {other} OUT LAST {OUT}");
        // The dead write to temp[2] moves, too.
        assert_eq!(new(&late, &early), []);
        assert_eq!(new(&early, &late), []);
    }

    #[test]
    fn an_instruction_with_other_registers_has_its_old_finding() {
        let fetch = "TEX TEX_SEM_ACQUIRE temp[9].rgba = LD tex[0].rgba temp[0].rgba ;";
        let out = OUT.replace("temp[1]", "temp[9]");
        let other = "src0.rgb = temp[0] : temp[0].rgb = MAX src0.rgb src0.rgb ;";
        assert_eq!(
            new(&format!("{FETCH} OUT LAST {OUT}"), &format!("{other} {fetch} OUT LAST {out}")),
            []
        );
    }

    #[test]
    fn a_second_finding_of_the_same_kind_is_new() {
        let two = format!("{FETCH} OUT {OUT} {FETCH} OUT LAST {}", OUT.replace("out[0]", "out[1]"));
        let one = two.replacen("OUT LAST", "OUT LAST TEX_SEM_WAIT", 1);
        assert_eq!(new(&one, &two).len(), 1, "{:?}", new(&one, &two));
    }

    #[test]
    fn missing_constants_are_counted_and_not_placed() {
        let out = |n: u8| {
            format!(
                "const[0] = (1, 1, 1, 1) ; OUT LAST src0.rgb = const[{n}] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;"
            )
        };
        assert_eq!(new(&out(2), &out(3)), []);
        assert_eq!(new(&out(0), &out(3)), [(LintCode::NoConstant, Some(0))]);
    }
}
