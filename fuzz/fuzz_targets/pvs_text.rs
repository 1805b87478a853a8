//! Property: any four dwords print as a vertex instruction that parses back to the same dwords; any text parses, or is reported with a
//! position inside it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_pvs::Instruction;

fuzz_target!(|input: ([u32; 4], &str)| {
    let (words, text) = input;
    let inst = Instruction(words);
    assert_eq!(inst.to_string().parse(), Ok(inst), "{inst}");
    match text.parse::<Instruction>() {
        Ok(inst) => assert_eq!(inst.to_string().parse(), Ok(inst), "{text}"),
        Err(error) => assert!(text.is_char_boundary(error.at), "{error}"),
    }
});
