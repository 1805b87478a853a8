//! Property: any dwords print as text that assembles to the same dwords, each instruction alone and
//! all of them as a program.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_asm::{Options, assemble, print_code, print_instruction};
use r500_isa::Instruction;

fuzz_target!(|bytes: &[u8]| {
    let Some((offset, bytes)) = bytes.split_first_chunk() else { return };
    let offset = u16::from_le_bytes(*offset) % 512;
    let code: Vec<_> = bytes.as_chunks().0.iter().map(Instruction::from_le_bytes).collect();
    for instruction in &code {
        assert_eq!(assembled(&print_instruction(*instruction)), [*instruction]);
    }
    let text = print_code(&code, offset);
    assert_eq!(assembled(&format!("US_CODE_OFFSET = {offset} ;\n{text}")), code);
});

fn assembled(text: &str) -> Vec<Instruction> {
    let assembly = assemble(text.as_bytes(), Options::default());
    assert!(assembly.is_ok(), "{text}\n{}", assembly.render(Default::default()));
    assembly.job.program.code
}
