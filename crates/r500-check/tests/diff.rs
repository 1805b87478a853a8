//! Hand-written diffs, and properties of every diff.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_check::LintCode;
use r500_check::diff::{Change, Diff, compare};
use r500_gen::{Case, Choices, Rng, Shape, raw_programs};
use r500_isa::Instruction;
use r500_isa::words::{AluRgbaInst, CmnInst, FcAddr};
use r500_program::Program;

fn program(code: &[Instruction]) -> Program {
    Program::from_code(code.to_vec())
}

#[test]
fn a_program_equals_itself() {
    for seed in 0..50 {
        let program = Case::generate(&mut Rng::new(seed), &Shape::default()).tree.lower();
        assert!(Diff::of(&program, &program).is_empty());
    }
}

#[test]
fn an_inserted_instruction_moves_targets_but_changes_no_jump() {
    // mov LOOP test IF BREAK ENDIF ENDLOOP OUT, with an instruction inserted before the loop.
    let a = LintCode::BreakDepth.good().program;
    let mut b = a.clone();
    b.code.insert(1, Instruction([0x800, 0, 0, 0, 0, 5]));
    for inst in &mut b.code {
        if inst.ty() == r500_isa::values::InstType::FC {
            let addr = inst.fc_addr();
            inst.0[3] = addr.with(FcAddr::JUMP_ADDR, addr.jump_addr() + 1).bits();
        }
    }
    let diff = Diff::of(&a, &b);
    let others: Vec<&Change> =
        diff.changes.iter().filter(|change| !matches!(change, Change::Same { .. })).collect();
    assert_eq!(others, [&Change::Added(1)]);
}

#[test]
fn changed_opcode_and_mask_are_reported_as_fields() {
    let a = LintCode::NeverWritten.good().program;
    let mut b = a.clone();
    b.code[0].0[5] =
        AluRgbaInst(b.code[0].0[5]).with(AluRgbaInst::RGB_OP, r500_isa::values::RgbOp::MAX).bits();
    b.code[0].0[0] = CmnInst(b.code[0].0[0]).with(CmnInst::ALPHA_WMASK, false).bits();
    let diff = Diff::of(&a, &b);
    let Change::Changed { a: 0, b: 0, fields } = &diff.changes[0] else { panic!("{diff:?}") };
    let names: Vec<(&str, u32, u32)> =
        fields.iter().map(|f| (f.field.unwrap().name, f.a, f.b)).collect();
    assert_eq!(names, [("ALPHA_WMASK", 1, 0), ("RGB_OP", 0, 5)]);
    assert_eq!(diff.changes[1], Change::Same { a: 1, b: 1 });
}

#[test]
fn state_and_unnamed_bits_are_reported() {
    let a = LintCode::NeverWritten.good().program;
    let mut b = a.clone();
    b.state.pixsize = None;
    b.state.constants[0][2] = 0;
    let diff = Diff::of(&a, &b);
    let names: Vec<&str> = diff.state.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["US_PIXSIZE", "const[0].b"]);
    assert!(!diff.is_empty());
    // Bit 3 of US_FC_INST has no name, dword 5 of flow control no meaning.
    let fields = compare(Instruction([2, 0, 0, 0, 0, 0]), Instruction([2, 0, 8, 0, 0, 9]));
    assert!(fields.len() == 2 && fields.iter().all(|f| f.field.is_none()));
}

/// Every instruction of both programs occurs once, in order, and entries reported as equal are
/// equal.
#[test]
fn diff_lists_every_instruction_once() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut a: Vec<Instruction> =
            (0..rng.between(0, 40)).map(|_| raw_programs::near_valid(&mut rng)).collect();
        let mut b = a.clone();
        for _ in 0..rng.between(0, 6) {
            let at = rng.below(u32::try_from(b.len() + 1).unwrap()) as usize;
            match rng.below(3) {
                0 => b.insert(at, raw_programs::near_valid(&mut rng)),
                1 if at < b.len() => drop(b.remove(at)),
                _ if at < b.len() => b[at].0[rng.below(6) as usize] ^= 1 << rng.below(32),
                _ => {}
            }
        }
        if rng.chance(1, 10) {
            a.reverse();
        }
        let diff = Diff::of(&program(&a), &program(&b));
        let (mut i, mut j, mut same) = (0, 0, 0);
        for change in &diff.changes {
            match change {
                Change::Same { a: x, b: y } => {
                    assert_eq!((*x, *y), (i, j));
                    let fields = compare(a[i], b[j]);
                    assert!(fields.iter().all(|f| f.field == Some(FcAddr::JUMP_ADDR.describe())));
                    same += 1;
                }
                Change::Changed { a: x, b: y, fields } => {
                    assert!((*x, *y) == (i, j) && !fields.is_empty());
                }
                Change::Removed(x) => assert_eq!(*x, i),
                Change::Added(y) => assert_eq!(*y, j),
            }
            i += usize::from(!matches!(change, Change::Added(_)));
            j += usize::from(!matches!(change, Change::Removed(_)));
        }
        assert_eq!((i, j), (a.len(), b.len()), "seed {seed}");
        let untouched = a.iter().filter(|inst| b.contains(inst)).count();
        assert!(a.len() < 2 || same > 0 || untouched == 0 || diff.changes.len() < 2 * a.len());
    }
}
