//! Vertex shaders: what their programs are and write, errors, and generated ones against the evaluator.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by them")]

use r500_compile::vertex::{self, verify::verify};
use r500_compile::{Stage, parse};

/// `R500_CASES` shaders from seed `R500_SEED` on.
#[test]
fn generated_shaders_write_what_the_evaluator_gives() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let (cases, first) = (number("R500_CASES", 300), number("R500_SEED", 0));
    let (mut vertices, mut open, mut limits, mut run) = (0, 0, 0, 0);
    for seed in first..first + cases {
        let source = r500_gen::glsl::vertex_shader(&mut r500_gen::Rng::new(seed));
        let (shader, warnings) = parse(&source, Stage::Vertex).unwrap_or_else(|errors| {
            let (line, _) = errors[0].line_column(&source);
            panic!("seed {seed}, line {line}: {}\n{source}", errors[0]);
        });
        let compiled = match vertex::compile_tree(&shader, None, warnings) {
            Ok(compiled) => compiled,
            Err(errors) => {
                let of_chip = |message: &str| {
                    message.contains("the chip has") || message.contains("number of passes")
                };
                let fits = errors.iter().any(|error| of_chip(&error.message));
                assert!(fits, "seed {seed}: {}\n{source}", errors[0]);
                limits += 1;
                continue;
            }
        };
        let lints = compiled.source.program.check();
        assert!(lints.is_empty(), "seed {seed}: {lints:?}\n{}", compiled.source);
        match verify(&shader, &compiled, 3, seed) {
            Ok(checked) => {
                vertices += checked.vertices;
                open += checked.open;
                run += 1;
            }
            Err(mismatch) => panic!("seed {seed}: {mismatch}\n{source}\n{}", compiled.source),
        }
    }
    eprintln!("{run} shaders, {vertices} vertices, {open} open; {limits} do not fit");
    assert!(run * 10 > cases * 7 && vertices > open, "{run} of {cases}, {vertices}, {open}");
}
