//! The program cache: what a program is lifted again for, and what is data.

#![allow(clippy::unwrap_used, missing_docs)]

use r500_exec::{Bindings, Draw, Options, ProgramUse, Shader};
use r500_lift::{LiftInput, ProgramCache, SymbolicConstants};
use r500_program::{Component, Input, InputData, Job, Plane};

/// Adds an input and a constant.
const SUM: &str = "
OUT LAST src0.rgb = temp[0], src0.a = temp[0], src1.rgb = const[1], src1.a = const[1] :
    out[0].rgb = MAD src0.rgb src0.111 src1.rgb, out[0].a = MAD src0.a src0.1 src1.a ;
";

fn job(source: &str) -> Job {
    let assembly = r500_asm::assemble(source.as_bytes(), r500_asm::Options::default());
    assert!(assembly.is_ok(), "{}", assembly.render(r500_asm::RenderOptions::default()));
    let mut job = assembly.job;
    job.program.state.constants = vec![[0; 4], [1.5f32.to_bits(); 4]];
    job.inputs = Some(vec![plane(0.25, 0.5)]);
    job
}

/// Returns an input whose channels are a plane along u.
fn plane(c: f32, du: f32) -> Input {
    // The zero of the same sign leaves a sum unchanged.
    let dv = 0.0_f32.copysign(du);
    let component = Component { plane: Plane { c, du, dv }, ..Component::default() };
    Input { temp: 0, data: InputData::Planes(std::array::from_fn(|_| component.clone())) }
}

/// Prepares the program of a job for a picture. Returns the text of the function.
fn prepare(cache: &ProgramCache<()>, job: &Job, size: [u32; 2]) -> String {
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, size).unwrap();
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    let input = LiftInput::of_draw(&draw).unwrap();
    let program = cache.get(&input, &SymbolicConstants::none(), |_, _| ()).unwrap();
    program.function.to_string()
}

fn set_constant(job: &mut Job, number: usize, value: f32) {
    job.program.state.constants[number] = [value.to_bits(); 4];
}

fn counts(prepared: u64, reused: u64) -> ProgramUse {
    ProgramUse { prepared, reused }
}

#[test]
fn size_and_unread_constants_of_a_picture_are_data() {
    let (cache, mut job) = (ProgramCache::new(), job(SUM));
    let first = prepare(&cache, &job, [4, 4]);
    assert_eq!(cache.counts(), counts(1, 0));
    set_constant(&mut job, 0, 7.0);
    // Each draw decodes the program anew: its content identifies it.
    assert_eq!(prepare(&cache, &job, [7, 5]), first);
    assert_eq!(cache.counts(), counts(1, 1));
}

#[test]
fn values_of_a_constant_are_data_after_its_first_change() {
    let (cache, mut job) = (ProgramCache::new(), job(SUM));
    let folded = prepare(&cache, &job, [4, 4]);
    assert!(folded.contains("+ 1.5") && !folded.contains("uniform"), "{folded}");
    set_constant(&mut job, 1, 2.5);
    let symbolic = prepare(&cache, &job, [4, 4]);
    assert!(symbolic.contains("uniform"), "{symbolic}");
    for value in [0.125, 1e9, 1.5, 2.5] {
        set_constant(&mut job, 1, value);
        assert_eq!(prepare(&cache, &job, [4, 4]), symbolic);
    }
    assert_eq!(cache.counts(), counts(2, 4));
    // A value of another class: the function may rely on the classes that were seen.
    set_constant(&mut job, 1, f32::INFINITY);
    prepare(&cache, &job, [4, 4]);
    set_constant(&mut job, 1, 3.5);
    prepare(&cache, &job, [4, 4]);
    assert_eq!(cache.counts(), counts(3, 5));
}

#[test]
fn planes_are_data_within_the_signs_and_classes_that_were_seen() {
    let (cache, mut job) = (ProgramCache::new(), job(SUM));
    prepare(&cache, &job, [4, 4]);
    for (c, du) in [(0.5, 0.25), (3.0, 100.0), (0.25, 0.5)] {
        job.inputs = Some(vec![plane(c, du)]);
        prepare(&cache, &job, [4, 4]);
    }
    // The second plane widens the range, the others are within.
    assert_eq!(cache.counts(), counts(2, 2));
}

/// An input that is the same number everywhere is folded. The other zero is another number.
#[test]
fn folded_inputs_of_either_zero_are_not_confused() {
    let zeros = |cache: &ProgramCache<()>, value: f32| {
        let mut job = job("OUT LAST src0.rgb = temp[0], src0.a = temp[0] :
            out[0].rgb = raw MAX src0.rgb src0.rgb, out[0].a = raw MAX src0.a src0.a ;");
        job.inputs = Some(vec![plane(value, value)]);
        prepare(cache, &job, [4, 4])
    };
    for (first, second) in [(0.0, -0.0), (-0.0, 0.0)] {
        let cache = ProgramCache::new();
        assert!(!zeros(&cache, first).contains("input"));
        let both = zeros(&cache, second);
        assert!(both.contains("input"), "{both}");
        assert_eq!(zeros(&cache, first), both);
        assert_eq!(cache.counts(), counts(2, 1));
    }
}

/// The least recently used program is dropped when there are too many.
#[test]
fn cache_is_bounded() {
    let cache = ProgramCache::new();
    let programs: Vec<Job> = (0..80)
        .map(|n| {
            let mut job = job(SUM);
            // Programs that differ in an unused source.
            let code = &mut job.program.code[0].0;
            code[1] = code[1] & !(0xff << 20) | n << 20;
            job
        })
        .collect();
    for program in programs.iter().chain(&programs[70..]) {
        prepare(&cache, program, [4, 4]);
    }
    assert_eq!(cache.counts(), counts(80, 10));
    prepare(&cache, &programs[0], [4, 4]);
    assert_eq!(cache.counts(), counts(81, 10));
}
