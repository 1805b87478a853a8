//! Register classes: operations read and define masks in mask registers and floats in vectors. Checked for corpus, cases and generated
//! programs, on any x86-64.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use r500_exec::texture::TexReadings;
use r500_exec::{Bindings, Draw, Options, Shader};
use r500_fast::codegen::{CompileUnit, Compiler, Kernel, ResourceLayout};
use r500_fast::{NativeCode, Simd};
use r500_gen::{Case, Choices, Rng, Shape};
use r500_program::Job;

use super::*;
use crate::Phi;

/// A compiler that checks units instead of compiling them.
#[derive(Default)]
struct Checker {
    operations: AtomicUsize,
}

impl Compiler for Checker {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let function = lower(
            unit,
            TargetCaps {
                mask_class: Class::Mask,
                numbers: true,
                rows: true,
                floors: true,
                fixups: true,
                fused: true,
                tables: true,
                single_quad: false,
                speculative: true,
            },
        );
        let operations = nodes(&function, &function.body);
        self.operations.fetch_add(operations, Ordering::Relaxed);
        None
    }
}

/// Checks regions. Returns the number of operations.
fn nodes(function: &LirFunction, all: &[Region]) -> usize {
    let mut operations = 0;
    let is = |v: VReg, class: Class, what: &dyn Debug| {
        assert_eq!(function.class(v), class, "{v:?} in {what:?}");
    };
    for node in all {
        match node {
            Region::Ops(ops) => {
                operations += ops.len();
                for op in ops {
                    self::op(function, op);
                }
            }
            Region::Branch(branch) => {
                for Phi { var, incoming: before } in &branch.phis {
                    before.inspect(|before| is(*before, function.class(*var), branch));
                }
                for arm in &branch.arms {
                    is(arm.mask, Class::Mask, arm);
                    operations += nodes(function, &arm.body);
                    for assign in &arm.assign {
                        for v in [assign.new, assign.from] {
                            is(v, function.class(assign.old), assign);
                        }
                    }
                }
            }
            Region::Loop(repeat) => {
                operations += nodes(function, &repeat.body);
                repeat.continue_mask.inspect(|again| is(*again, Class::Mask, repeat));
                for param in &repeat.params {
                    for v in [param.init, param.next, param.out] {
                        is(v, function.class(param.var), param);
                    }
                }
            }
            Region::ConsumeFuel(_) => {}
        }
    }
    operations
}

/// Checks the classes of an operation's arguments and result.
fn op(function: &LirFunction, op: &Op) {
    const VEC: Class = Class::Vector;
    const M: Class = Class::Mask;
    let (takes, gives): (&[Class], _) = match op.opcode {
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::Div
        | Opcode::Min
        | Opcode::Max
        | Opcode::And
        | Opcode::Or
        | Opcode::Xor
        | Opcode::AndNot
        | Opcode::IntAdd
        | Opcode::IntSub
        | Opcode::IntMin
        | Opcode::IntMul
        | Opcode::Scale
        | Opcode::UnpackLo32
        | Opcode::UnpackHi32
        | Opcode::UnpackLo64
        | Opcode::UnpackHi64
        | Opcode::Permute128Lo
        | Opcode::Permute128Hi
        | Opcode::Permute2Lo
        | Opcode::Permute2Hi => (&[VEC, VEC], Some(VEC)),
        Opcode::Sqrt
        | Opcode::Copy
        | Opcode::Round(_)
        | Opcode::ToFloat
        | Opcode::Shl(_)
        | Opcode::Sar(_)
        | Opcode::Truncate(_)
        | Opcode::FloorToInt
        | Opcode::Remainder
        | Opcode::LoadTexel(_)
        | Opcode::GatherChannel(_)
        | Opcode::ToHalf
        | Opcode::PermuteQuads
        | Opcode::Narrow(_)
        | Opcode::Lookup(_)
        | Opcode::QuadBroadcast(_) => (&[VEC], Some(VEC)),
        Opcode::Cmp(_) => (&[VEC, VEC], Some(M)),
        Opcode::MaskAnd | Opcode::MaskOr | Opcode::MaskAndNot => (&[M, M], Some(M)),
        Opcode::FixUp | Opcode::MulAdd | Opcode::NegMulAdd => (&[VEC, VEC, VEC], Some(VEC)),
        Opcode::CountFuel(_) => (&[M, M], None),
        Opcode::MaskAll | Opcode::MaskNone => (&[], Some(M)),
        Opcode::Blend | Opcode::MaskedMul => (&[M, VEC, VEC], Some(VEC)),
        Opcode::MaskedMove => (&[M, VEC], Some(VEC)),
        Opcode::ToMask => (&[VEC], Some(M)),
        Opcode::FromMask => (&[M], Some(VEC)),
        Opcode::LoadCoverage(_)
        | Opcode::Interpolant(_)
        | Opcode::Tabulated(_)
        | Opcode::LoadPixels(_) => (&[], Some(VEC)),
        Opcode::Store(..) | Opcode::StoreCoverage(_) | Opcode::StorePixels(_) => (&[VEC], None),
        Opcode::StoreColor(_) => (&[VEC, VEC], None),
    };
    let args: Vec<Class> = op.args().map(|arg| function.class(arg)).collect();
    assert_eq!(args, takes, "{op:?}");
    assert_eq!(op.dst.map(|dst| function.class(dst)), gives, "{op:?}");
}

/// Checks the program of a job. Returns the number of operations, 0 if the program has no function.
fn check(job: &Job) -> usize {
    let Ok(shader) = Shader::new(&job.program) else { return 0 };
    let Ok(bindings) = Bindings::new(job, job.size.unwrap_or([16, 16])) else { return 0 };
    let options = Options::default();
    let Ok(draw) = Draw::new(&shader, &bindings, &options) else { return 0 };
    let input = r500_lift::LiftInput::of_draw(&draw).unwrap();
    let Ok(function) = r500_lift::lift(&input) else { return 0 };
    let checker = Checker::default();
    let sources = ResourceLayout::of(&function, &bindings, &TexReadings::REFERENCE);
    let code = NativeCode::compile(&function, &[], &sources, Simd::Avx512, &checker);
    assert_eq!(code.coverage().0, 0, "nothing was compiled");
    checker.operations.into_inner()
}

#[test]
fn classes_fit_in_what_files_hold() {
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests"));
    let mut operations = 0;
    for folder in ["corpus/mesa", "corpus/cases", "cases"] {
        for file in std::fs::read_dir(tests.join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let bytes = std::fs::read(&path).unwrap();
                let limits = r500_formats::Limits::default();
                for job in r500_formats::read(&bytes, None, &limits).unwrap() {
                    operations += check(&job);
                }
            }
        }
    }
    assert!(operations > 1000, "{operations}");
}

#[test]
fn classes_fit_in_generated_programs() {
    let mut operations = 0;
    for n in 0..300 {
        let mut random = Rng::new(n);
        random.below(2);
        operations += check(&Case::generate(&mut random, &Shape::default()).bare_job(""));
    }
    assert!(operations > 1000, "{operations}");
}

/// The lowering of reciprocals of reciprocal roots computes each fraction's quotient.
#[test]
fn a_reciprocal_of_a_reciprocal_is_a_fused_correction_of_the_root() {
    for fraction in 0..1_u32 << 23 {
        let root = f32::from_bits(127 << 23 | fraction);
        let reciprocal = 1.0 / root;
        let error = (-root).mul_add(reciprocal, 1.0);
        let corrected = root.mul_add(error, root);
        assert_eq!(corrected.to_bits(), (1.0 / reciprocal).to_bits(), "{root:e}");
    }
}
