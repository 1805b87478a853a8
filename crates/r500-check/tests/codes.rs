//! Tests every lint code: its bad example triggers it, its good example does not, and the table is
//! consistent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_check::{
    Assumptions, Lint, LintCode, Severity, Verdict, analyze, analyze_errors, check_job,
};
use r500_program::Executable;

#[test]
fn bad_example_triggers_its_lint() {
    for &code in LintCode::ALL {
        let report = check_job(&code.bad());
        assert!(report.with_code(code).next().is_some(), "{code:?} not found: {:#?}", report.lints);
        let error = code.info().severity == Severity::Error;
        assert!(!error || report.verdict == Verdict::Broken, "{code:?}");
    }
}

#[test]
fn good_example_does_not_trigger_its_lint() {
    for &code in LintCode::ALL {
        let report = check_job(&code.good());
        let found: Vec<String> = report.lints.iter().map(ToString::to_string).collect();
        assert!(report.with_code(code).next().is_none(), "{code:?} found: {found:#?}");
    }
}

/// The good example differs from the bad one in few instructions and state registers.
#[test]
fn good_examples_are_near_misses() {
    for &code in LintCode::ALL {
        let (bad, good) = (code.bad().program, code.good().program);
        let differing = bad.code.iter().zip(&good.code).filter(|(a, b)| a != b).count();
        let grown = matches!(
            code,
            LintCode::NoInstructions
                | LintCode::TooTangled
                | LintCode::BranchOverflow
                | LintCode::LoopOverflow
                | LintCode::CallOverflow
        );
        assert!(
            grown || (bad.code.len() == good.code.len() && differing <= 2),
            "{code:?}: {differing}"
        );
        assert_ne!(code.bad(), code.good(), "{code:?}");
    }
}

/// A good example may trigger other lints, but no error.
#[test]
fn good_examples_are_free_of_errors() {
    for &code in LintCode::ALL {
        let report = check_job(&code.good());
        let errors: Vec<String> = report
            .lints
            .iter()
            .filter(|finding| finding.severity() == Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert!(errors.is_empty(), "{code:?}: {errors:#?}");
    }
}

/// Runs the bad and the good example of every code.
#[test]
fn analyze_errors_reports_all_errors_and_no_other_lint() {
    for &code in LintCode::ALL {
        for program in [code.bad().program, code.good().program] {
            let all = analyze(&program, &Assumptions::default()).report;
            // The number of float constants does not affect execution.
            let Ok(executable) = Executable::of(&program) else { continue };
            if all.with_code(LintCode::TooManyConstants).next().is_some() {
                continue;
            }
            let errors_only = analyze_errors(&executable).report;
            let error = |finding: &&Lint| finding.severity() == Severity::Error;
            let errors: Vec<&Lint> = all.lints.iter().filter(error).collect();
            assert_eq!(errors_only.lints.iter().collect::<Vec<_>>(), errors, "{code:?}");
            assert_eq!(errors_only.verdict, all.verdict, "{code:?}");
        }
    }
}

#[test]
fn numbers_and_names_are_unique_and_ordered() {
    let infos: Vec<_> = LintCode::ALL.iter().map(|code| code.info()).collect();
    for pair in infos.windows(2) {
        assert!(pair[0].number < pair[1].number, "{} {}", pair[0].number, pair[1].number);
    }
    for (i, info) in infos.iter().enumerate() {
        assert!(info.number.len() == 5 && info.number.starts_with("R5"), "{}", info.number);
        assert!(infos[..i].iter().all(|other| other.name != info.name), "{}", info.name);
        assert!([info.meaning, info.evidence, info.remedy].iter().all(|text| text.len() > 5));
        let tagged = ["documented", "ctm", "observed", "derived"];
        assert!(tagged.iter().any(|tag| info.evidence.contains(tag)), "{}: evidence", info.name);
        assert_eq!(LintCode::find(info.name).map(LintCode::info), Some(*info));
        assert_eq!(LintCode::find(&info.number.to_lowercase()).map(LintCode::info), Some(*info));
    }
}

/// Applying a fix removes its lint and adds no error.
#[test]
fn fixes_remove_their_lint() {
    let mut fixed = 0;
    for &code in LintCode::ALL {
        let mut job = code.bad();
        let report = check_job(&job);
        let Some(fix) = report.with_code(code).find_map(|finding| finding.fix.clone()) else {
            continue;
        };
        fix.apply(&mut job.program);
        let after = check_job(&job);
        assert!(
            after.with_code(code).count() < report.with_code(code).count(),
            "{code:?}: {fix:?}"
        );
        assert!(report.has_errors() || !after.has_errors(), "{code:?}: {fix:?}");
        fixed += 1;
    }
    assert_eq!(fixed, 10, "codes with a fix in their example");
}

/// A program far longer than a card holds: ten thousand errors are kept, and the verdict is
/// unchanged.
#[test]
fn lints_of_long_programs_are_limited() {
    use r500_check::limits::LINTS;
    let mut job = LintCode::ReservedRgbOp.bad();
    let inst = *job
        .program
        .code
        .iter()
        .zip(&LintCode::ReservedRgbOp.good().program.code)
        .find_map(|(bad, good)| (bad != good).then_some(bad))
        .unwrap();
    job.program.code = vec![inst; LINTS + 5];
    // Without a window every instruction can run.
    (job.program.state.code_range, job.program.state.code_addr) = (None, None);
    let report = check_job(&job);
    assert_eq!(report.verdict, Verdict::Broken);
    let errors = report.lints.iter().filter(|lint| lint.severity() == Severity::Error).count();
    assert_eq!(errors, LINTS);
    assert!(report.lints.len() <= 2 * LINTS);
    // One of the errors is about the length.
    let reserved = report.with_code(LintCode::ReservedRgbOp).count();
    assert!(reserved >= LINTS - 1 && report.omitted >= LINTS + 5 - reserved, "{}", report.omitted);
    // A program of the usual length has no omitted lints.
    assert_eq!(check_job(&LintCode::ReservedRgbOp.bad()).omitted, 0);
}
