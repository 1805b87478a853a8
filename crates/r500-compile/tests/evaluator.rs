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
            let (shader, warnings) = r500_glsl::parse(&source).unwrap();
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
