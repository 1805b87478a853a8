//! Random words: every code of every field occurs, most programs are plausible, and engines do not fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Limits, Options, RunError, Shader, draw};
use r500_gen::{Bytes, Choices, Rng, raw_programs};
use r500_isa::values::{FcOp, InstType};
use r500_isa::{Field, Instruction};

/// Observed codes of each narrow field, by instruction type and position.
type Codes = BTreeMap<(u8, usize, &'static str), BTreeSet<u32>>;

fn codes(make: impl Fn(&mut Rng) -> Instruction) -> Codes {
    let mut seen = Codes::new();
    let mut rng = Rng::new(5);
    for _ in 0..30_000 {
        let inst = make(&mut rng);
        for (field, place) in narrow(inst) {
            let codes = seen.entry((inst.ty().code(), place, field.name)).or_default();
            codes.insert(field.extract(inst.0[place]));
        }
    }
    seen
}

/// Fields of up to five bits. Those of word 0 are the same for every type.
fn narrow(inst: Instruction) -> impl Iterator<Item = (&'static Field, usize)> {
    let words = inst.layout().into_iter().enumerate();
    words
        .filter_map(|(place, register)| Some((register?, place)))
        .flat_map(|(register, place)| register.fields.iter().map(move |field| (field, place)))
        .filter(|(field, _)| field.width() <= 5)
}

#[test]
fn every_code_of_every_field_comes_up() {
    // INT_ADDR is below 8, because only few loops are not endless.
    let free = |name: &str| name != "TYPE" && name != "INT_ADDR";
    let makes: [fn(&mut Rng) -> Instruction; 2] =
        [|rng| raw_programs::uniform(rng), |rng| raw_programs::near_valid(rng)];
    for make in makes {
        for ((ty, place, name), codes) in codes(make) {
            let inst = Instruction([u32::from(ty), 0, 0, 0, 0, 0]);
            let (field, _) = narrow(inst).find(|(f, p)| f.name == name && *p == place).unwrap();
            let all = if free(name) { field.max() as usize + 1 } else { 1 };
            assert!(codes.len() >= all, "type {ty}, word {place}, {name}: {codes:?}");
        }
    }
}

#[test]
fn near_valid_words_are_mostly_sensible() {
    let mut rng = Rng::new(6);
    let (mut flow, mut near, mut named) = (0, 0, 0);
    for _ in 0..10_000 {
        let inst = raw_programs::near_valid(&mut rng);
        match inst.ty() {
            InstType::FC => {
                flow += 1;
                near += u32::from(inst.fc_addr().jump_addr() < 64);
                named += 1;
            }
            InstType::TEX => named += u32::from(inst.tex_inst().inst().is_named()),
            _ => {
                let (rgb, alpha) = (inst.rgba_inst().rgb_op(), inst.alpha_inst().alpha_op());
                named += u32::from(rgb.is_named() && alpha.is_named());
            }
        }
    }
    assert!((1500..2500).contains(&flow), "{flow}");
    assert!(near * 10 > flow * 9 && named > 8000, "{near} of {flow} near, {named} named");
}

#[test]
fn the_machine_survives_random_programs() {
    let (mut frames, mut endless, mut loops) = (0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let length = 1 + rng.below(100) as u16;
        let job = raw_programs::job(&mut rng, length);
        assert_eq!(job.program.code.len(), usize::from(length));
        loops += job
            .program
            .code
            .iter()
            .filter(|inst| inst.ty() == InstType::FC)
            .filter(|inst| inst.fc_inst().op() == FcOp::LOOP)
            .count();
        let limits = Limits { instructions: 3000, ..Limits::default() };
        let options = Options { warnings: true, threads: 1, limits, ..Options::default() };
        let Ok(shader) = Shader::new(&job.program) else { continue };
        // Every generated texture can be bound.
        let bindings = Bindings::new(&job, job.size.unwrap()).unwrap();
        match draw(&Reference, &shader, &bindings, &options) {
            Ok(_) => frames += 1,
            Err(RunError::Instructions { .. }) => endless += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(frames > 200 && endless > 10 && loops > 100, "{frames} {endless} {loops}");
}

#[test]
fn the_same_choices_give_the_same_job() {
    let text = |job| format!("{job:?}");
    for seed in 0..20 {
        let job = |seed| text(raw_programs::job(&mut Rng::new(seed), 30));
        assert_eq!(job(seed), job(seed));
        assert_ne!(job(seed), job(seed + 1));
    }
    let bytes: Vec<u8> = (0..255).collect();
    assert_eq!(
        text(raw_programs::job(&mut Bytes::new(&bytes), 10)),
        text(raw_programs::job(&mut Bytes::new(&bytes), 10))
    );
    // Without bytes all choices are the first ones, but the program has its length.
    assert_eq!(raw_programs::job(&mut Bytes::new(&[]), 10).program.code.len(), 10);
    assert_eq!(raw_programs::job(&mut Bytes::new(&[]), 0).program.code.len(), 0);
}
