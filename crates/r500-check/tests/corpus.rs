//! Lints of programs from a real driver and of hand-written cases, with reasons.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use r500_check::dataflow::{ChannelSet, Dataflow, DefiniteInit, Liveness};
use r500_check::diff::compare;
use r500_check::graph::{Graph, Structure};
use r500_check::{LintCode, Severity, Verdict, check_job};
use r500_exec::reference::Reference;
use r500_exec::{Bindings, Options, Shader, WarningKind, draw};
use r500_formats::{Limits, read};
use r500_gen::{Rng, forget_waits};
use r500_isa::state::UsPixsize;
use r500_program::Job;

/// The lints of the captures, with reasons. Other codes must not occur.
const CAPTURES: &[(LintCode, &str)] = &[
    (
        LintCode::LoopHazard,
        "The driver's LOOP has no JUMP_ANY and leads onto its ENDLOOP. By the letter one shader breaks \
         if this jumps while nobody is active.",
    ),
    (
        LintCode::SilentLimit,
        "Every loop of the driver has 255 iterations and is left by BREAK: GLSL loops have no such limit.",
    ),
    (
        LintCode::DivergentQuad,
        "The shaders sample inside branches and loops, where GLSL 1.20 leaves implicit levels of \
         detail undefined; the driver does not move the fetch.",
    ),
    (
        LintCode::OutWithoutOutput,
        "A program whose outputs lie in branches gets an empty OUT at its end.",
    ),
    (
        LintCode::DeadWrite,
        "discard_branch alone: it computes red and alpha of a register of which green and blue are \
         read.",
    ),
    (
        LintCode::MaybeUnwritten,
        "GLSL `return` became a flag: return_early and return_loop compute under it and read the result \
         in any case. The engine meets those reads too, and the picture is right all the same. In \
         loop_nested_outer no pixel of the picture takes the path.",
    ),
];

/// The lints of the piglit programs, which carry no state.
const PIGLIT: &[(LintCode, &str)] = &[
    (LintCode::LoopHazard, "as for the captures"),
    (LintCode::DivergentQuad, "tests that sample in branches on purpose"),
    (
        LintCode::OutWithoutOutput,
        "as for the captures; and tests whose colour is undefined, so nothing is left to write",
    ),
    (LintCode::NoOutput, "the same: tests of discard alone, and of undefined colours"),
];

/// The lints of the hand-written cases, which do unusual things on purpose.
const CASES: &[(&str, &[LintCode])] = &[
    ("alures_kept", &[LintCode::DeadWrite, LintCode::UnitDisabled]), // instructions that must have no effect
    ("alures_nan", &[LintCode::NanConstant, LintCode::Unbalanced, LintCode::Unstructured]), // NaN; IFs jump to ENDIF
    ("bool_jump", &[LintCode::Unreachable]), // the booleans are given
    ("break_divergent", &[LintCode::LoopHazard]), // the driver's form
    ("break_if_no_bop", &[LintCode::BreakDepth, LintCode::Unbalanced, LintCode::Unstructured]), // the subject of the case
    ("end_addr", &[LintCode::Unstructured]), // jumps back to END_ADDR
    ("jump_func_nopred", &[LintCode::Unreachable]), // no predicate reads as 1
    ("jump_func_table", &[LintCode::DeadWrite, LintCode::Unbalanced, LintCode::Unstructured]), // all tables, with unusual counts
    ("jump_global", &[LintCode::Unreachable]), // jumped over
    ("kill_helper", &[LintCode::MissingNop]), // a derivative directly after the write of its source
    ("kill_not_counted", &[LintCode::Unstructured]), // a bare jump by vote
    ("last_hint", &[LintCode::DeadWrite, LintCode::OutWithoutOutput]), // LAST, then dead writes and an empty OUT
    ("loop_al_dest", &[LintCode::DeadWrite]), // writes all channels, reads red
    ("loop_jump_back", &[LintCode::BranchOverflow, LintCode::Unbalanced, LintCode::Unstructured]), // a loop of jumps that count up
    ("op_mdh", &[LintCode::DerivativeOperands]), // selections that must be ignored
    ("op_mdh_inactive", &[LintCode::DivergentQuad]), // a derivative among inactive pixels
    ("out_divergent", &[LintCode::OutWithoutOutput]), // ends like the driver's programs
    ("out_last_wins", &[LintCode::DeadOutput]),  // the subject of the case
    ("rep_zero", &[LintCode::Unreachable]),      // a loop of zero iterations
    ("tex_disabled", &[LintCode::UnitDisabled]), // the subject of the case
    ("uncovered_any", &[LintCode::Unstructured]), // a bare jump by vote
    ("zero_rule_off", &[LintCode::DeadWrite, LintCode::NanConstant]), // 0 times infinity
    ("zero_rule_on", &[LintCode::DeadWrite, LintCode::DpWithoutDotProduct]), // an alpha DP whose result is not written
];

fn jobs(folder: &str) -> Vec<(String, Job)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/");
    let entries = std::fs::read_dir(format!("{root}{folder}")).unwrap();
    let files: BTreeSet<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    let mut jobs = Vec::new();
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        for job in read(&bytes, None, &Limits::default()).unwrap() {
            let stem = path.file_stem().unwrap().to_string_lossy();
            jobs.push((format!("{stem} {}", job.name), job));
        }
    }
    jobs
}

fn only_allowed(jobs: &[(String, Job)], allowed: &[(LintCode, &str)]) -> BTreeMap<LintCode, usize> {
    let mut counts = BTreeMap::new();
    for (name, job) in jobs {
        for finding in check_job(job).lints {
            assert_ne!(finding.severity(), Severity::Error, "{name}: {finding}");
            let known = allowed.iter().any(|(code, why)| *code == finding.code && !why.is_empty());
            assert!(known, "{name}: {finding}");
            *counts.entry(finding.code).or_insert(0) += 1;
        }
    }
    for (code, _) in allowed {
        assert!(counts.contains_key(code), "{code:?} no longer comes up");
    }
    counts
}

#[test]
fn captures_are_structured_without_errors() {
    let jobs = jobs("mesa");
    assert_eq!(jobs.len(), 53);
    only_allowed(&jobs, CAPTURES);
    for (name, job) in &jobs {
        let Verdict::Clean(facts) = check_job(job).verdict else { panic!("{name} is not clean") };
        assert!(facts.structured && facts.group_size_invisible_if_covered | facts.kills, "{name}");
        assert!(facts.no_inactive_writes && facts.call_levels == 0 && !facts.uses_relative);
        // Observed: the driver writes the index of the highest temporary.
        let pixsize = job.program.state.pixsize.unwrap().pix_size();
        assert!(facts.temporaries <= pixsize + 1, "{name}: {} {pixsize}", facts.temporaries);
    }
}

/// Compiled code of this Mesa version leaves OMOD 7 in halves that write nothing.
#[test]
fn captures_of_mesa_25_are_structured_without_errors() {
    let jobs = jobs("mesa25");
    assert_eq!(jobs.len(), 53);
    for (name, job) in &jobs {
        let report = check_job(job);
        let mut errors =
            report.lints.iter().filter(|finding| finding.severity() == Severity::Error);
        assert_eq!(errors.next(), None, "{name}");
        let Verdict::Clean(facts) = report.verdict else { panic!("{name} is not clean") };
        assert!(facts.structured, "{name}");
    }
}

#[test]
fn piglit_programs_are_free_of_errors_and_structured() {
    let jobs = jobs("piglit");
    assert_eq!(jobs.len(), 546);
    only_allowed(&jobs, PIGLIT);
    for (name, job) in &jobs {
        match check_job(job).verdict {
            Verdict::Clean(facts) => assert!(facts.structured, "{name}"),
            // Their loops use integer constant 0, which bare dwords do not give.
            Verdict::Incomplete { int_constants } => assert_eq!(int_constants, 1, "{name}"),
            Verdict::Broken => panic!("{name}"),
        }
    }
}

#[test]
fn cases_trigger_their_listed_lints() {
    let mut seen = BTreeSet::new();
    for (_, job) in jobs("cases") {
        let codes: BTreeSet<LintCode> =
            check_job(&job).lints.iter().map(|finding| finding.code).collect();
        let wanted: BTreeSet<LintCode> = CASES
            .iter()
            .filter(|(name, _)| *name == job.name)
            .flat_map(|(_, codes)| codes.iter().copied())
            .collect();
        assert_eq!(codes, wanted, "{}", job.name);
        seen.insert(job.name);
    }
    assert!(CASES.iter().all(|(name, _)| seen.contains(*name)));
}

/// If reads are reported as defined, a run reads nothing undefined. This is the case for most
/// captures.
#[test]
fn programs_with_defined_reads_read_nothing_undefined() {
    let mut defined = 0;
    for (name, mut job) in jobs("mesa") {
        let Verdict::Clean(facts) = check_job(&job).verdict else { panic!("{name}") };
        if !facts.reads_are_defined {
            continue;
        }
        defined += 1;
        job.size = Some([8, 8]);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [8, 8]).unwrap();
        let options = Options { warnings: true, ..Options::default() };
        let frame = draw(&Reference, &shader, &bindings, &options).unwrap();
        let kinds = [
            WarningKind::NeverWritten,
            WarningKind::PredicateNotSet,
            WarningKind::AluResultNotSet,
            WarningKind::NotAwaited,
        ];
        let found: Vec<_> = frame.warnings.iter().filter(|f| kinds.contains(&f.kind)).collect();
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    assert!(defined >= 30, "{defined} of 53");
}

/// A channel is live at the start exactly if the program may read it before it writes it.
#[test]
fn live_in_at_start_equals_maybe_unwritten_reads() {
    for (name, job) in jobs("mesa") {
        let graph = Graph::new(&job.program).unwrap();
        let structure = Structure::recover(&graph).unwrap();
        let flow = Dataflow::new(&graph, Some(&structure));
        let live = *Liveness::of_covered(&flow).live_in(graph.window().start);
        let written = DefiniteInit::of(&flow, &ChannelSet::EMPTY);
        let mut exposed = ChannelSet::EMPTY;
        for at in (0..graph.len()).filter(|&at| flow.reaches(at)) {
            exposed.union(&flow.effects(at).may_read.without(written.always(at)));
        }
        // The driver writes nothing under a predicate, so both analyses agree on temporaries,
        // except those that are live because those of an inactive pixel may be read.
        for temp in 0..128 {
            let near = flow.neighbours().temp(temp);
            let (live, exposed) = (live.temp(temp) & !near, exposed.temp(temp) & !near);
            assert_eq!(live, exposed, "{name}: temp[{temp}]");
        }
    }
}

/// If waits, NOPs and semaphores are removed at random, the safe fixes restore them, change nothing
/// else, and leave no lint with a fix.
#[test]
fn safe_fixes_restore_removed_waits_and_nops() {
    let timing = [
        LintCode::NotAwaited,
        LintCode::NeverAcquired,
        LintCode::MissingNop,
        LintCode::MissingAluWait,
    ];
    let mut rng = Rng::new(5);
    let mut fixed = 0;
    for (name, job) in jobs("mesa") {
        for _ in 0..4 {
            let mut broken = job.clone();
            forget_waits(&mut broken.program.code, &mut rng);
            broken.program.state.pixsize = Some(UsPixsize(0));
            let mut rounds = 0;
            loop {
                let report = check_job(&broken);
                let fixes: Vec<_> =
                    report.lints.iter().filter_map(|f| f.fix.as_ref()).filter(|f| f.safe).collect();
                if fixes.is_empty() {
                    assert!(timing.iter().all(|&code| report.with_code(code).next().is_none()));
                    assert!(!report.has_errors(), "{name}");
                    break;
                }
                fixed += fixes.len();
                fixes.iter().for_each(|fix| fix.apply(&mut broken.program));
                rounds += 1;
                assert!(rounds < 5, "{name}: fixes lead to fixes");
            }
            for (before, after) in job.program.code.iter().zip(&broken.program.code) {
                for change in compare(*before, *after) {
                    let field = change.field.unwrap().name;
                    let timing = ["NOP", "ALU_WAIT", "TEX_SEM_WAIT", "TEX_SEM_ACQUIRE"];
                    assert!(timing.contains(&field), "{name}: {field}");
                }
            }
        }
    }
    assert!(fixed > 500, "{fixed}");
}
