//! Property: near-valid and structured programs are shaders in every language, or are refused; the same program gives the same shader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::emit::{Arithmetic, Inputs, Language, Options, emit};
use r500_gen::{Bytes, Case, Choices, Shape, raw_programs};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let job = if bytes.below(2) == 0 {
        let length = 1 + bytes.below(48) as u16;
        raw_programs::job(&mut bytes, length)
    } else {
        Case::generate(&mut bytes, &Shape::default()).bare_job("generated")
    };
    for language in Language::ALL {
        for arithmetic in [Arithmetic::Fast, Arithmetic::Exact] {
            for inputs in [Inputs::Varyings, Inputs::Planes] {
                let options = Options { arithmetic, inputs, ..Options::new(language) };
                assert_eq!(emit(&job, &options), emit(&job, &options));
            }
        }
    }
});
