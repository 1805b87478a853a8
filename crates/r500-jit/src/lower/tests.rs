//! Masks are masks and numbers are vectors, wherever an operation looks at one: with AVX-512 they have
//! registers of their own, and what is of the wrong class is some other value. Over corpus, cases and
//! generated programs, on any x86-64.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use r500_exec::{Bindings, Draw, Options, Shader};
use r500_fast::Simd;
use r500_fast::codegen::{Capabilities, CompileUnit, Compiler, Kernel, NativeCode, ResourceLayout};
use r500_gen::{Case, Entropy, Rng, Shape};
use r500_program::Job;

use super::*;

/// Looks at segments instead of compiling them.
#[derive(Default)]
struct Checker {
    operations: AtomicUsize,
}

impl Compiler for Checker {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let program = lower(unit, Means { mask_class: Class::Mask, numbers: true, rows: true });
        let operations = nodes(&program, &program.body);
        self.operations.fetch_add(operations, Ordering::Relaxed);
        None
    }
}

/// Checks nodes; how many operations there were.
fn nodes(program: &Program, all: &[Node]) -> usize {
    let mut operations = 0;
    let is = |v: V, class: Class, what: &dyn Debug| {
        assert_eq!(program.class(v), class, "{v:?} in {what:?}");
    };
    for node in all {
        match node {
            Node::Ops(ops) => {
                operations += ops.len();
                for op in ops {
                    self::op(program, op);
                }
            }
            Node::Branch(branch) => {
                for Merge { var, before } in &branch.merges {
                    before.inspect(|before| is(*before, program.class(*var), branch));
                }
                for arm in &branch.arms {
                    is(arm.mask, Class::Mask, arm);
                    operations += nodes(program, &arm.body);
                    for assign in &arm.assign {
                        for v in [assign.new, assign.from] {
                            is(v, program.class(assign.old), assign);
                        }
                    }
                }
            }
            Node::Repeat(repeat) => {
                operations += nodes(program, &repeat.body);
                repeat.again.inspect(|again| is(*again, Class::Mask, repeat));
                for carried in &repeat.carried {
                    for v in [carried.init, carried.next, carried.out] {
                        is(v, program.class(carried.var), carried);
                    }
                }
            }
            Node::Spend(_) => {}
        }
    }
    operations
}

/// Checks what an operation takes and gives.
fn op(program: &Program, op: &Op) {
    const V: Class = Class::Vector;
    const M: Class = Class::Mask;
    let (takes, gives): (&[Class], _) = match op.kind {
        Kind::Add
        | Kind::Sub
        | Kind::Mul
        | Kind::Div
        | Kind::Min
        | Kind::Max
        | Kind::And
        | Kind::Or
        | Kind::Xor
        | Kind::AndNot
        | Kind::IntAdd
        | Kind::IntSub
        | Kind::IntMin
        | Kind::IntMul
        | Kind::ZipLow
        | Kind::ZipHigh
        | Kind::PairLow
        | Kind::PairHigh
        | Kind::BesideLow
        | Kind::BesideHigh
        | Kind::RowLow
        | Kind::RowHigh => (&[V, V], Some(V)),
        Kind::Sqrt
        | Kind::Copy
        | Kind::Round(_)
        | Kind::ToFloat
        | Kind::Shl(_)
        | Kind::Sar(_)
        | Kind::Truncate(_)
        | Kind::Texel(_)
        | Kind::Number(_)
        | Kind::Corner(_) => (&[V], Some(V)),
        Kind::Cmp(_) => (&[V, V], Some(M)),
        Kind::MaskAnd | Kind::MaskOr | Kind::MaskAndNot => (&[M, M], Some(M)),
        Kind::MaskAll | Kind::MaskNone => (&[], Some(M)),
        Kind::Blend | Kind::MulKeep => (&[M, V, V], Some(V)),
        Kind::Keep => (&[M, V], Some(V)),
        Kind::ToMask => (&[V], Some(M)),
        Kind::FromMask => (&[M], Some(V)),
        Kind::Covered(_) | Kind::Ramp(_) => (&[], Some(V)),
        Kind::Store(..) | Kind::Uncover(_) => (&[V], None),
        Kind::Paint(_) => (&[V, V], None),
    };
    let args: Vec<Class> = op.args().map(|arg| program.class(arg)).collect();
    assert_eq!(args, takes, "{op:?}");
    assert_eq!(op.dst.map(|dst| program.class(dst)), gives, "{op:?}");
}

/// Checks the program of a job; how many operations it has, none if it does not become operations.
fn check(job: &Job) -> usize {
    let Ok(shader) = Shader::new(&job.program) else { return 0 };
    let Ok(bindings) = Bindings::new(job, job.size.unwrap_or([16, 16])) else { return 0 };
    let options = Options::default();
    let Ok(draw) = Draw::new(&shader, &bindings, &options) else { return 0 };
    let Ok(function) = r500_ir::lift(&draw) else { return 0 };
    let checker = Checker::default();
    let sources = ResourceLayout::of(&function, &bindings);
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
