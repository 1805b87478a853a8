//! Property: a generated shader without errors draws what the evaluator gives, or exceeds a limit of the chip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::compile::verify::verify;
use r500_gen::Bytes;

fuzz_target!(|bytes: &[u8]| {
    let source = r500_gen::glsl::shader(&mut Bytes::new(bytes));
    let (shader, warnings) =
        r500::compile::parse(&source).unwrap_or_else(|errors| panic!("{}\n{source}", errors[0]));
    match r500::compile::compile_tree(&source, &shader, warnings) {
        Ok(compiled) => {
            if let Err(mismatch) = verify(&shader, &compiled, 1, bytes.len() as u64) {
                panic!("{mismatch}\n{source}");
            }
        }
        Err(errors) => {
            let is_limit = errors.iter().any(|error| error.message.contains("the chip has"));
            assert!(is_limit, "{}\n{source}", errors[0]);
        }
    }
});
