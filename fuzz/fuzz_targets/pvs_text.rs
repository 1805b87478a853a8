//! Property: any four dwords print as a vertex instruction that parses back to the same dwords; any text is a statement that prints and
//! parses back, or is reported with a place inside it; any text is a program whose print parses and prints the same, or is reported so.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_pvs::{Fill, Instruction, Source, SyntaxError};

/// Checks that an error lies in the text.
fn check_place(text: &str, error: &SyntaxError) {
    assert!(error.span.start <= error.span.end, "{error}");
    assert!(text.get(error.span.clone()).is_some(), "{error}");
}

fuzz_target!(|input: ([u32; 4], &str)| {
    let (words, text) = input;
    let inst = Instruction(words);
    for fill in [Fill::Unused, Fill::Zero, Fill::Clear] {
        let printed = inst.with_fill(fill).to_string();
        assert_eq!(Instruction::parse(&printed, fill), Ok(inst), "{printed}");
    }
    match text.parse::<Instruction>() {
        Ok(inst) => assert_eq!(inst.to_string().parse(), Ok(inst), "{text}"),
        Err(error) => check_place(text, &error),
    }
    // A file that includes the whole again and another that is not there.
    let mut include = |name: &str| match name {
        "again" => Ok(text.to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    match Source::parse(text, &mut include) {
        Ok(source) => {
            let printed = source.program.to_string();
            let again = Source::parse(&printed, &mut |_| Err(String::new()));
            assert_eq!(
                again.expect("a printed program parses").program,
                source.program,
                "{printed}"
            );
        }
        Err(errors) => errors.iter().for_each(|error| check_place(text, error)),
    }
});
