//! Property: generated shaders without errors draw, or write, what the evaluator gives, or exceed a limit of the chip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::compile::{Diagnostic, Stage, compile_tree, parse, verify, vertex};
use r500_gen::Bytes;

fuzz_target!(|bytes: &[u8]| {
    let seed = bytes.len() as u64;
    let source = r500_gen::glsl::shader(&mut Bytes::new(bytes));
    let (shader, warnings) = read(&source, Stage::Fragment);
    match compile_tree(&source, &shader, warnings) {
        Ok(compiled) => {
            if let Err(mismatch) = verify::verify(&shader, &compiled, 1, seed) {
                panic!("{mismatch}\n{source}");
            }
        }
        Err(errors) => exceeds_a_limit(&source, &errors),
    }
    let source = r500_gen::glsl::vertex_shader(&mut Bytes::new(bytes));
    let (shader, warnings) = read(&source, Stage::Vertex);
    match vertex::compile_tree(&shader, None, warnings) {
        Ok(compiled) => {
            if let Err(mismatch) = vertex::verify::verify(&shader, &compiled, 1, seed) {
                panic!("{mismatch}\n{source}");
            }
        }
        Err(errors) => exceeds_a_limit(&source, &errors),
    }
});

fn read(source: &str, stage: Stage) -> (r500::compile::tree::Shader, Vec<Diagnostic>) {
    parse(source, stage).unwrap_or_else(|errors| panic!("{}\n{source}", errors[0]))
}

fn exceeds_a_limit(source: &str, errors: &[Diagnostic]) {
    let is_limit = |error: &Diagnostic| {
        error.message.contains("the chip has") || error.message.contains("number of passes")
    };
    assert!(errors.iter().any(is_limit), "{}\n{source}", errors[0]);
}
