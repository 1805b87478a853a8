//! Proofs: what is proved equal computes the same, for random programs with changes; what compilers write differently is proved.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use std::collections::BTreeMap;

use common::{instruction, program, run_alone, vector};
use r500_chip::pvs::INPUTS;
use r500_pvs::{Equality, GivenConstants, Interpreter, Program, Source, prove_equal};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn source(text: &str) -> Source {
    Source::parse(text, &mut |_| Err(String::new())).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn prove(a: &str, b: &str) -> Equality {
    let [a, b] = [source(a), source(b)];
    prove_equal([(&a.program, &a.constants), (&b.program, &b.constants)])
}

/// Changes one thing of a program: a bit, the order of two instructions, or an instruction.
fn changed(program: &Program, rng: &mut SplitMix64) -> Program {
    let (base, code) = program.instructions();
    let mut code = code.to_vec();
    let at = rng.next_u64() as usize % code.len();
    match rng.next_u64() % 4 {
        0 => code[at].0[rng.next_u64() as usize % 4] ^= 1 << (rng.next_u64() % 32),
        1 => code[at] = instruction(rng),
        _ => code.swap(at, (at + 1) % program.instructions().1.len()),
    }
    Program::from_code(program.controls().clone(), base, code)
}

#[test]
fn proved_programs_compute_the_same() {
    let count = std::env::var("R500_PROGRAMS").map_or(3_000, |text| text.parse().unwrap());
    let (mut proved, mut refuted, mut known) = (0, 0, 0);
    for seed in 0..count {
        let mut rng = SplitMix64::seed_from_u64(seed ^ 0x5eed_0000);
        let a = program(&mut rng);
        let b = changed(&a, &mut rng);
        // Some constants have values, for both or for one.
        let mut given = GivenConstants::new();
        if rng.next_u64().is_multiple_of(2) {
            given.insert(1, vector(&mut rng).map(f32::to_bits));
        }
        let verdict = prove_equal([(&a, &given), (&b, &given)]);
        let is_proved = verdict == Equality::Proved;
        proved += u64::from(is_proved);
        known += u64::from(!matches!(verdict, Equality::Unknown { .. }));
        let mut differs = false;
        for _ in 0..6 {
            let mut constants: Vec<[f32; 4]> = (0..8).map(|_| vector(&mut rng)).collect();
            for (n, bits) in &given {
                constants[usize::from(*n)] = bits.map(f32::from_bits);
            }
            let inputs: [[f32; 4]; INPUTS] = std::array::from_fn(|_| vector(&mut rng));
            let [x, y] =
                [&a, &b].map(|program| run_alone(&Interpreter::new(program, &constants), &inputs));
            let (Some(x), Some(y)) = (x, y) else { continue };
            differs |= x != y;
            assert!(!is_proved || x == y, "seed {seed}:\n{a}\n{b}");
        }
        refuted += u64::from(differs);
    }
    println!("{count} pairs: {known} decided, {proved} proved, {refuted} differ");
    // The comparison means something: many pairs are proved, and many of the others differ.
    assert!(proved * 10 > count && refuted * 10 > count, "{proved} proved, {refuted} differ");
}

#[test]
fn a_program_equals_itself() {
    for seed in 0..500 {
        let mut rng = SplitMix64::seed_from_u64(seed);
        let program = program(&mut rng);
        let none = BTreeMap::new();
        let verdict = prove_equal([(&program, &none), (&program, &none)]);
        assert!(
            !matches!(verdict, Equality::Unproved { .. }),
            "seed {seed}: {verdict:?}\n{program}"
        );
    }
}

#[test]
fn other_registers_and_other_orders_are_proved() {
    let a = "
        temp[0].xyzw = VE_MUL input[0].xyzw const[0].xyzw ;
        temp[1].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
        out[0].xyzw  = VE_MAD temp[0].xyzw const[1].xyzw temp[1].xyzw ;
        out[1].x     = VE_ADD temp[1].xxxx temp[1].0000 ;";
    // Temporaries with other numbers, factors and instructions in another order, a copy that is dead.
    let b = "
        temp[5].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
        out[1].x     = VE_ADD temp[5].x___  temp[5].0___ ;
        temp[6].xyzw = VE_ADD input[1].xyzw input[1].0000 ;
        temp[2].xyzw = VE_MUL const[0].xyzw input[0].xyzw ;
        out[0].xyzw  = VE_MAD const[1].xyzw temp[2].xyzw temp[5].xyzw ;";
    assert_eq!(prove(a, b), Equality::Proved);
    // Another component; the products of a dot product have an order.
    let c = b.replace("temp[5].x___  temp[5].0___", "temp[5].y___  temp[5].0___");
    assert_eq!(prove(a, &c), Equality::Unproved { outputs: vec![1] });
}

#[test]
fn constants_count_by_their_values() {
    let line = "out[0].xyzw = VE_MUL input[0].xyzw const[N].xyzw ;";
    let given = |n: &str, value: &str| format!("const[{n}] = {value} ;\n{}", line.replace('N', n));
    assert_eq!(prove(&given("0", "(1, 2, 3, 4)"), &given("5", "(1, 2, 3, 4)")), Equality::Proved);
    let other = prove(&given("0", "(1, 2, 3, 4)"), &given("0", "(1, 2, 3, 5)"));
    assert_eq!(other, Equality::Unproved { outputs: vec![0] });
    // One without a value may have any.
    let other = prove(&given("0", "(1, 2, 3, 4)"), &line.replace('N', "0"));
    assert_eq!(other, Equality::Unproved { outputs: vec![0] });
}

#[test]
fn predicates_select() {
    let head = "temp[0].w = ME_PRED_SET_GT input[0].xxxx ;\n";
    let a = format!(
        "{head}out[0].x = VE_ADD input[1].x___ input[1].0___ ;\n(p) out[0].x = VE_ADD input[2].x___ input[2].0___ ;"
    );
    let b = format!(
        "{head}(!p) out[0].x = VE_ADD input[1].x___ input[1].0___ ;\n(p) out[0].x = VE_ADD input[2].x___ input[2].0___ ;"
    );
    // Without the predicate both write input 1, with it input 2; the expressions differ, since one of them has the old value inside.
    assert_ne!(prove(&a, &b), Equality::Proved);
    assert_eq!(prove(&a, &a.replace("temp[0].w", "temp[3].w")), Equality::Proved);
    let c = a.replace("(p)", "(!p)");
    assert_eq!(prove(&a, &c), Equality::Unproved { outputs: vec![0] });
}
