//! Golden files of instruction selection, `*.ir`: a small function, and its low-level IR for targets with four lanes (AArch64) and for AVX-512.
//! They show the effect of a change of the compiler; other tests check that code is right.
//!
//! A line `; then: interleave schedule` names passes that follow.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use r500_exec::Bindings;
use r500_exec::texture::TexReadings;
use r500_fast::codegen::{CompileUnit, Compiler, Kernel, ResourceLayout};
use r500_fast::{NativeCode, Simd};
use r500_golden::directive;
use r500_ir::{parse, verify};
use r500_lir::{Class, TargetCaps, interleave, lower, schedule};
use r500_program::Job;

/// A target: the line that starts its text, its level, its capabilities, and its numbers of vector and mask registers.
struct Target {
    head: &'static str,
    simd: Simd,
    caps: TargetCaps,
    registers: [usize; 2],
}

const TARGETS: [Target; 2] = [
    Target {
        head: ";; four lanes\n",
        simd: Simd::Portable,
        caps: TargetCaps::quads(Class::Vector),
        registers: [32, 0],
    },
    Target {
        head: ";; avx512\n",
        simd: Simd::Avx512,
        caps: TargetCaps {
            mask_class: Class::Mask,
            numbers: false,
            rows: true,
            floors: true,
            fixups: true,
            fused: true,
            tables: true,
            single_quad: false,
            speculative: false,
        },
        registers: [32, 7],
    },
];

/// A compiler that prints units instead of compiling them.
struct Printer<'a> {
    target: &'a Target,
    passes: Vec<&'a str>,
    text: Mutex<String>,
}

impl Compiler for Printer<'_> {
    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        let Target { caps, registers, .. } = self.target;
        let mut function = lower(unit, *caps);
        for pass in &self.passes {
            match *pass {
                "interleave" => function = interleave(function, caps.mask_class, false),
                "schedule" => schedule(&mut function, *registers, false),
                other => panic!("there is no pass `{other}`"),
            }
        }
        let _ = write!(self.text.lock().unwrap(), "; unit\n{function}");
        None
    }
}

/// Returns the bindings of a function: the inputs and textures of the capture in a line `; bind: NAME`, else u and v as channels 0 and 1 of
/// input 0.
fn bindings(text: &str) -> Bindings {
    let job = directive(text, "bind:").map_or_else(Job::default, |name| {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/");
        let bytes = std::fs::read(format!("{root}{name}.json")).unwrap();
        r500_formats::read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0)
    });
    Bindings::new(&job, job.size.unwrap_or([64, 64])).unwrap()
}

/// Returns the low-level IR of a function for all targets.
fn lowered(text: &str) -> String {
    let function = parse(text).unwrap().function;
    verify(&function, "the file").unwrap();
    let resources = ResourceLayout::of(&function, &bindings(text), &TexReadings::REFERENCE);
    let passes: Vec<&str> =
        directive(text, "then:").unwrap_or_default().split_whitespace().collect();
    let uniforms = vec![0.0; function.uniforms.len()];
    let mut result = String::new();
    for target in &TARGETS {
        let printer = Printer { target, passes: passes.clone(), text: Mutex::default() };
        let _ = NativeCode::compile(&function, &uniforms, &resources, target.simd, &printer);
        let units = printer.text.into_inner().unwrap();
        assert!(!units.is_empty(), "nothing was lowered");
        let _ = write!(result, "{}{units}", target.head);
    }
    result
}

/// Lowers every file. `BLESS=1` rewrites the results in the files.
#[test]
fn functions_lower_as_the_files_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lower");
    r500_golden::check_files(
        folder,
        |name| name.ends_with(".ir"),
        |_, text| {
            let input = text.split(TARGETS[0].head).next().unwrap();
            format!("{input}{}", lowered(input))
        },
    );
}
