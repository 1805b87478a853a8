//! Frames: limits, errors, and independence from threads and groups.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::time::Duration;

use common::{Inst, corpus, job, run};
use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, Cancel, Limits, Options, PixelRect, RunError, Shader, ShaderError, draw,
};
use r500_isa::state::{UsCodeAddr, UsCodeRange};
use r500_isa::{Instruction, values::FcOp};
use r500_program::{Job, Program};

fn fails(job: &Job, size: [u32; 2], options: &Options<'_>) -> RunError {
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, size).unwrap();
    draw(&Reference, &shader, &bindings, options).unwrap_err()
}

/// Returns an endless program: a jump to itself.
fn endless() -> Job {
    job(&[Inst::jump(0xff, 0), Inst::out(0)])
}

#[test]
fn an_endless_program_ends_with_an_error() {
    let options = Options {
        limits: Limits { instructions: 1000, ..Limits::default() },
        ..Options::default()
    };
    let error = fails(&endless(), [4, 4], &options);
    assert_eq!(error, RunError::Instructions { address: 0, pixel: [0, 0], limit: 1000 });
}

#[test]
fn time_and_cancellation_end_it_too() {
    let limits = Limits {
        instructions: u64::MAX,
        time: Some(Duration::from_millis(5)),
        ..Limits::default()
    };
    let error = fails(&endless(), [4, 4], &Options { limits, ..Options::default() });
    assert_eq!(error, RunError::Time { limit: Duration::from_millis(5) });

    let cancel = Cancel::default();
    cancel.cancel();
    let options = Options { cancel: Some(&cancel), ..Options::default() };
    assert_eq!(fails(&endless(), [4, 4], &options), RunError::Cancelled);
}

#[test]
fn frames_of_no_pixels_and_of_too_many_are_refused() {
    let job = job(&[Inst::out(0)]);
    let options = Options::default();
    assert_eq!(fails(&job, [0, 4], &options), RunError::NoPixels { width: 0, height: 4 });
    let error = fails(&job, [65_536, 65_536], &options);
    // One target of 16 bytes and a byte of coverage a pixel.
    let expected =
        RunError::TooLarge { width: 65_536, height: 65_536, bytes: 17 << 32, limit: 4 << 30 };
    assert_eq!(error, expected);
}

#[test]
fn a_part_of_a_picture_is_that_part() {
    let job = job(&[Inst::out(0)]);
    let whole = run(&job, &Options::default());
    let area = PixelRect { x: 1, y: 2, width: 3, height: 1 };
    let part = run(&job, &Options { area: Some(area), ..Options::default() });
    assert_eq!((part.width(), part.height()), (3, 1));
    for x in 0..3 {
        assert_eq!(part.color(0, x, 0), whole.color(0, x + 1, 2));
    }
    let outside = PixelRect { x: 2, ..area };
    let error = fails(&job, [4, 4], &Options { area: Some(outside), ..Options::default() });
    assert!(matches!(error, RunError::AreaOutside { .. }), "{error}");
}

#[test]
fn groups_are_made_of_quads() {
    let options = Options { group: [4, 3], ..Options::default() };
    let error = fails(&job(&[Inst::out(0)]), [4, 4], &options);
    assert_eq!(error, RunError::OddGroup { width: 4, height: 3 });
}

#[test]
fn programs_that_cannot_start_are_refused() {
    assert_eq!(Shader::new(&Program::default()).unwrap_err(), ShaderError::Empty);
    let mut program = Program::from_code(vec![Instruction::default(); 3]);
    program.state.code_range = Some(UsCodeRange::default().with(UsCodeRange::CODE_ADDR, 3));
    assert!(matches!(Shader::new(&program).unwrap_err(), ShaderError::EmptyWindow { .. }));
    program.state.code_range = None;
    program.state.code_addr = Some(UsCodeAddr::default().with(UsCodeAddr::START_ADDR, 3));
    assert!(matches!(Shader::new(&program).unwrap_err(), ShaderError::StartOutside { .. }));
}

#[test]
fn program_ends_after_end_addr() {
    // END_ADDR = 0: the program ends after the instruction at address 0; OUT is not executed.
    let mut job = job(&[Inst::fc(FcOp::JUMP), Inst::out(0)]);
    job.program.state.code_addr = Some(UsCodeAddr::default());
    let frame = run(&job, &Options::default());
    assert_eq!(frame.counters.instructions, 1);
    assert_eq!(frame.color(0, 3, 3), [0.0; 4]);
}

/// Compares every capture, in float32, under different thread counts and group sizes. The size of a
/// group is not observable in structured programs (observed).
#[test]
fn captures_depend_neither_on_threads_nor_on_the_group() {
    for (name, mut job) in corpus("mesa") {
        job.size = Some([20, 12]);
        let bits = |options: &Options<'_>| -> Vec<[u32; 4]> {
            let frame = run(&job, options);
            frame.target(0).unwrap().iter().map(|color| color.map(f32::to_bits)).collect()
        };
        let reference = bits(&Options { threads: 1, ..Options::default() });
        for (threads, group) in [(3, [4, 4]), (1, [2, 2]), (2, [8, 2]), (1, [20, 12])] {
            let other = bits(&Options { threads, group, ..Options::default() });
            assert!(reference == other, "{name}: {threads} threads, group {group:?}");
        }
    }
}
