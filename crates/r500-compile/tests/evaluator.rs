//! Programs draw what the evaluator gives: for the shaders of the corpus with many inputs, and for generated ones.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by them")]

use std::path::Path;

use r500_compile::verify::verify;

#[test]
fn shaders_of_the_corpus_draw_what_the_evaluator_gives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut pixels, mut open, mut shaders) = (0, 0, 0);
    let only = std::env::var("R500_ONLY").ok();
    let mut failures = Vec::new();
    for folder in ["benches/shaders", "tests/corpus/mesa"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.extension().is_none_or(|extension| extension != "frag")
                || only.as_ref().is_some_and(|only| *only != name)
            {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let (shader, warnings) = r500_glsl::parse(&source, r500_glsl::Stage::Fragment).unwrap();
            let compiled = r500_compile::compile_tree(&source, &shader, warnings).unwrap();
            match verify(&shader, &compiled, 8, 7) {
                Ok(checked) => {
                    pixels += checked.pixels;
                    open += checked.open;
                    shaders += 1;
                }
                Err(mismatch) => failures.push(format!("{name}: {mismatch}")),
            }
        }
    }
    eprintln!("{shaders} shaders, {pixels} pixels, {open} open");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(only.is_some() || shaders > 100 && pixels > 10 * open, "{shaders} {pixels} {open}");
}

/// `R500_CASES` shaders from seed `R500_SEED` on.
#[test]
fn generated_shaders_draw_what_the_evaluator_gives() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let (cases, first) = (number("R500_CASES", 300), number("R500_SEED", 0));
    let (mut pixels, mut open, mut limits, mut drawn) = (0, 0, 0, 0);
    // Seeds that once showed an error: the order of operands with effects, the component of a scalar product,
    // `return` in the last statement of a pass,
    // a coalesced operation of several instructions that reads what it sets.
    for seed in [6517, 11345, 12429, 20879].into_iter().chain(first..first + cases) {
        let source = r500_gen::glsl::shader(&mut r500_gen::Rng::new(seed));
        let (shader, warnings) = match r500_glsl::parse(&source, r500_glsl::Stage::Fragment) {
            Ok(read) => read,
            Err(errors) => {
                let (line, _) = errors[0].line_column(&source);
                panic!("seed {seed}, line {line}: {}\n{source}", errors[0]);
            }
        };
        let compiled = match r500_compile::compile_tree(&source, &shader, warnings) {
            Ok(compiled) => compiled,
            // Only the chip's limits may stop it.
            Err(errors) => {
                assert!(
                    errors.iter().any(|error| error.message.contains("the chip has")),
                    "seed {seed}: {}\n{source}",
                    errors[0]
                );
                limits += 1;
                continue;
            }
        };
        match verify(&shader, &compiled, 3, seed) {
            Ok(checked) => {
                pixels += checked.pixels;
                open += checked.open;
                drawn += 1;
            }
            Err(mismatch) => panic!("seed {seed}: {mismatch}\n{source}"),
        }
    }
    eprintln!("{drawn} shaders, {pixels} pixels, {open} open; {limits} do not fit");
    assert!(drawn * 10 > cases * 8 && pixels > open, "{drawn} of {cases}, {pixels}, {open}");
}
