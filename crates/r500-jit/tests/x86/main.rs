//! Golden files of machine code, `*.ir`: a small function, and its listings for AVX2 and AVX-512. They show the effect of a change of the
//! compiler; other tests check that code is right. Listings do not need a processor with these instructions.

#![cfg(all(target_arch = "x86_64", any(unix, windows)))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

use std::fmt::Write;

use common::capture;
use r500_exec::Bindings;
use r500_exec::texture::TexReadings;
use r500_fast::Simd;
use r500_fast::codegen::ResourceLayout;
use r500_ir::{parse, verify};
use r500_jit::{Effort, listing};
use r500_program::Job;

/// The levels, with the line that starts each listing.
const LEVELS: [(Simd, &str); 2] = [(Simd::Avx2, ";; avx2\n"), (Simd::Avx512, ";; avx512\n")];

/// Returns the bindings of a function: the inputs and textures of the capture in a line `; bind: NAME`, else u and v as channels 0 and 1 of
/// input 0.
fn bindings(text: &str) -> Bindings {
    let job = r500_golden::directive(text, "bind:").map_or_else(Job::default, capture);
    Bindings::new(&job, job.size.unwrap_or([64, 64])).unwrap()
}

/// Returns the listings of a function for all levels.
fn listings(text: &str) -> String {
    let function = parse(text).unwrap().function;
    verify(&function, "the file").unwrap();
    let resources = ResourceLayout::of(&function, &bindings(text), &TexReadings::REFERENCE);
    let mut result = String::new();
    for (simd, head) in LEVELS {
        let code = listing(&function, &resources, simd, Effort::Full, &mut |_| None).unwrap();
        let _ = write!(result, "{head}{}", without_offsets(&code));
    }
    result
}

/// Returns a listing without parts that are common to all kernels or depend on the length of the code: offsets (labels for branch targets),
/// padding, and the prologue and epilogue except for the size of the frame. Equal adjacent constants become one line.
fn without_offsets(code: &str) -> String {
    let instruction = |line: &'_ str| {
        let (offset, text) = line.trim_start().split_once("  ")?;
        Some((u64::from_str_radix(offset, 16).ok()?, text.to_owned()))
    };
    let target = |text: &str| {
        let number = text.starts_with('j').then(|| text.rsplit(' ').next())??;
        u64::from_str_radix(number.strip_prefix("0x")?, 16).ok()
    };
    let mut targets: Vec<u64> =
        code.lines().filter_map(|line| target(&instruction(line)?.1)).collect();
    targets.sort_unstable();
    targets.dedup();
    let label = |offset: u64| targets.binary_search(&offset).ok().map(|n| format!("L{}", n + 1));
    let (mut result, mut inside, mut last) = (String::new(), false, (String::new(), 0));
    for line in code.lines() {
        let Some((offset, mut text)) = instruction(line) else {
            let _ = writeln!(result, "{line}");
            continue;
        };
        if text.starts_with(".long") {
            if last.0 == text {
                last.1 += 1;
                continue;
            }
            let before = std::mem::replace(&mut last, (text, 1));
            constant(&mut result, &before);
            continue;
        }
        if let Some(label) = label(offset) {
            let _ = writeln!(result, "{label}:");
        }
        if text.starts_with("lea r14, [") {
            "lea r14, [constants]".clone_into(&mut text);
            inside = true;
        }
        if let Some(label) = target(&text).and_then(label) {
            text.replace_range(text.rfind(' ').unwrap() + 1.., &label);
        }
        inside &= text != "vzeroupper";
        if inside && text != "nop" || text.starts_with("sub rsp") {
            let _ = writeln!(result, "    {text}");
        }
    }
    constant(&mut result, &last);
    result
}

/// Writes a constant and its number of repetitions.
fn constant(result: &mut String, (text, count): &(String, usize)) {
    let _ = match count {
        0 => Ok(()),
        1 => writeln!(result, "    {text}"),
        _ => writeln!(result, "    {text}, {count} times"),
    };
}

/// Compiles every file. `BLESS=1` rewrites the listings in the files.
#[test]
fn functions_compile_to_the_listings_of_the_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/x86");
    r500_golden::check_files(
        folder,
        |name| name.ends_with(".ir"),
        |_, text| {
            let input = text.split(LEVELS[0].1).next().unwrap();
            format!("{input}{}", listings(input))
        },
    );
}
