//! Property: the checker accepts any program, random or near-valid, without a panic; its findings can be printed and
//! its fixes applied; and a clean program causes no hard run-time warning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_check::{Severity, Verdict, check_job};
use r500_exec::reference::Reference;
use r500_exec::{Bindings, Options, Shader, draw};
use r500_fuzz::LIMITS;
use r500_gen::{Bytes, Choices, raw_programs};
use r500_isa::state::UsFcIntConst;
use r500_program::{Job, Program};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let length = 1 + bytes.below(24) as u16;
    let mut job = if bytes.chance(1, 4) {
        let code = (0..length).map(|_| raw_programs::uniform(&mut bytes)).collect();
        Job::from_program(Program::from_code(code))
    } else {
        raw_programs::job(&mut bytes, length)
    };
    if bytes.chance(7, 8) {
        // The engine uses 0 for constants that are not given; the checker does not.
        for int in &mut job.program.state.fc_int_const {
            int.get_or_insert(UsFcIntConst(0));
        }
    }
    let report = check_job(&job);
    for finding in &report.lints {
        assert!(!finding.to_string().is_empty());
        if let Some(fix) = &finding.fix {
            let mut fixed = job.clone();
            fix.apply(&mut fixed.program);
        }
    }
    let error = |finding: &r500_check::Lint| finding.severity() == Severity::Error;
    let Verdict::Clean(_) = report.verdict else { return };
    assert!(!report.lints.iter().any(error), "clean, with errors");
    let size = [8, 8];
    let Ok(shader) = Shader::new(&job.program) else { panic!("clean, and nothing to run") };
    let Ok(bindings) = Bindings::new(&job, size) else { return };
    let options = Options { threads: 1, limits: LIMITS, warnings: true, ..Options::default() };
    let Ok(frame) = draw(&Reference, &shader, &bindings, &options) else { return };
    let hard = frame.warnings.iter().filter(|finding| finding.kind.is_hard());
    let hard: Vec<String> = hard.map(|finding| finding.to_string()).collect();
    assert!(hard.is_empty(), "clean, but {hard:?}\n{:#?}", job.program);
});
