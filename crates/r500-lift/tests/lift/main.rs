//! Golden files of the lift: a program, and the IR that it becomes, in comments, so that the files are programs. `NAME.r5` are fragment
//! programs with what they are bound to, `NAME.vs.r5` vertex programs. They show the effect of a change; that the IR computes what the
//! interpreter does is tested with the engines.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;

use r500_exec::{Bindings, Draw, Options, Shader};
use r500_lift::{LiftInput, lift, lift_vertex};
use r500_pvs::Source;

/// Precedes the IR in a file.
const RESULT: &str = "-- IR:\n";

/// Returns the IR of a fragment program, or why there is none.
fn fragment(text: &str) -> String {
    let assembly = r500_asm::assemble(text.as_bytes(), r500_asm::Options::default());
    assert!(assembly.is_ok(), "{}", assembly.render(r500_asm::RenderOptions::default()));
    let job = assembly.job;
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [16, 16]).unwrap();
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    match LiftInput::of_draw(&draw).and_then(|input| lift(&input)) {
        Ok(function) => function.to_string(),
        Err(error) => format!("none: {error}\n"),
    }
}

/// Returns the IR of a vertex program, or why there is none.
fn vertex(text: &str) -> String {
    let source = Source::parse(text, &mut |_| Err(String::new()));
    let program = source.unwrap_or_else(|errors| panic!("{errors:?}")).program;
    match lift_vertex(&program) {
        Ok(lifted) => lifted.function.to_string(),
        Err(error) => format!("none: {error}\n"),
    }
}

/// Lifts every file. `BLESS=1` rewrites the results in the files.
#[test]
fn programs_lift_as_the_files_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lift");
    let (mut fragments, mut vertices) = (0, 0);
    r500_golden::check_files(
        folder,
        |name| name.ends_with(".r5"),
        |path, text| {
            let input = text.split(RESULT).next().unwrap();
            let ir = if path.to_str().unwrap().ends_with(".vs.r5") {
                vertices += 1;
                vertex(input)
            } else {
                fragments += 1;
                fragment(input)
            };
            let mut result = format!("{input}{RESULT}");
            for line in ir.lines() {
                let _ = writeln!(result, "--   {line}");
            }
            result
        },
    );
    assert!(
        fragments > 0 && vertices > 0,
        "{fragments} fragment programs, {vertices} vertex programs"
    );
}
