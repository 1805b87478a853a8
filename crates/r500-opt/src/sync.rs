//! Synchronisation: insertion of NOPs, texture semaphores and waits, by the checker's rules.

use r500_check::{Assumptions, LintCode, check};
use r500_isa::InstInfo;
use r500_isa::values::InstType;
use r500_isa::words::{CmnInst, TexInst};
use r500_program::Program;

/// The lints whose fixes set synchronisation bits.
const RULES: [LintCode; 5] = [
    LintCode::NeverAcquired,
    LintCode::NotAwaited,
    LintCode::PendingOverwrite,
    LintCode::MissingNop,
    LintCode::MissingAluWait,
];

/// Recomputes the synchronisation bits of a program. As in driver output, the last of consecutive fetches acquires the
/// semaphore and waits for it; the last instruction waits if it did in `like`. All other bits come from fixes of the
/// checker's lints.
pub(crate) fn synchronize(program: &mut Program, like: &Program) {
    let fetches: Vec<bool> = program.code.iter().map(|&inst| InstInfo::new(inst).fetch).collect();
    for (at, inst) in program.code.iter_mut().enumerate() {
        let ends_row = fetches[at] && !fetches.get(at + 1).copied().unwrap_or(false);
        let cmn = inst.cmn().with(CmnInst::NOP, false);
        inst.0[0] = cmn.with(CmnInst::TEX_SEM_WAIT, ends_row).bits();
        if inst.ty() == InstType::TEX {
            inst.0[1] = inst.tex_inst().with(TexInst::TEX_SEM_ACQUIRE, ends_row).bits();
        }
    }
    let waits_last = like.code.last().is_some_and(|inst| inst.cmn().tex_sem_wait());
    if let Some(last) = program.code.last_mut()
        && waits_last
    {
        last.0[0] = last.cmn().with(CmnInst::TEX_SEM_WAIT, true).bits();
    }
    // An instruction has three of these bits, and each fix sets at least one.
    for _ in 0..program.code.len() * 3 + 1 {
        let report = check(program, &Assumptions::default());
        let mut fixes = Vec::new();
        // A wait covers the rest of its straight code: apply one a row, then check again.
        let mut waited = None;
        for lint in report.lints.into_iter().filter(|lint| RULES.contains(&lint.code)) {
            let (Some(at), Some(fix)) = (lint.location.index(), lint.fix) else { continue };
            if !matches!(lint.code, LintCode::MissingNop | LintCode::MissingAluWait) {
                let row = row_of(program, at);
                if waited.replace(row) == Some(row) {
                    continue;
                }
            }
            fixes.push(fix);
        }
        if fixes.is_empty() {
            break;
        }
        for fix in fixes {
            fix.apply(program);
        }
    }
}

/// Returns the first instruction of the straight code around an instruction: the code between flow control and fetches.
fn row_of(program: &Program, at: usize) -> usize {
    let ends = |&at: &usize| matches!(program.code[at].ty(), InstType::FC | InstType::TEX);
    (0..at).rev().find(ends).map_or(0, |before| before + 1)
}
