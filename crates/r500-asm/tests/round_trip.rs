//! Dwords to text to dwords is the identity.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Random;
use r500_asm::{Options, assemble, print_code, print_instruction};
use r500_isa::Instruction;

#[track_caller]
fn check(name: &str, code: &[Instruction], offset: u16) {
    let mut text = print_code(code, offset);
    if offset != 0 {
        text.insert_str(0, &format!("US_CODE_OFFSET = {offset} ;\n"));
    }
    let assembly = assemble(text.as_bytes(), Options::default());
    assert!(assembly.is_ok(), "{name}\n{}", assembly.render(Default::default()));
    let back = &assembly.job.program.code;
    for (i, (a, b)) in code.iter().zip(back).enumerate() {
        assert!(
            a == b,
            "{name}, instruction {i}: {:08x?} became {:08x?}\n{}",
            a.0,
            b.0,
            print_instruction(*a)
        );
    }
    assert_eq!(code.len(), back.len(), "{name}");
}

#[test]
fn corpus() {
    for (name, code) in common::programs() {
        check(&name, &code, 0);
    }
}

#[test]
fn uniform_dwords() {
    let mut random = Random::new(0x5eed_0001);
    for _ in 0..50 {
        let code: Vec<_> = (0..10_000).map(|_| random.uniform()).collect();
        check("uniform", &code, 0);
    }
}

#[test]
fn near_valid_dwords() {
    let mut random = Random::new(0x5eed_0002);
    for _ in 0..50 {
        let code: Vec<_> = (0..10_000).map(|_| random.near_valid()).collect();
        check("near valid", &code, 0);
    }
}

#[test]
fn nests() {
    let mut random = Random::new(0x5eed_0003);
    for _ in 0..20_000 {
        let code: Vec<_> = (0..=random.below(24)).map(|_| random.flow()).collect();
        let offset = if random.below(4) == 0 { random.below(512) as u16 } else { 0 };
        check("nest", &code, offset);
    }
}

#[test]
fn single_instructions() {
    let mut random = Random::new(0x5eed_0004);
    for _ in 0..20_000 {
        let inst = if random.below(2) == 0 { random.uniform() } else { random.near_valid() };
        let text = print_instruction(inst);
        let assembly = assemble(text.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{}", assembly.render(Default::default()));
        assert_eq!(assembly.job.program.code, [inst], "{text}");
    }
}
