//! Synchronisation: NOPs, texture semaphores and waits, set anew by the rules of the checker.

use r500_check::{Assumptions, LintCode, check};
use r500_isa::InstInfo;
use r500_isa::values::InstType;
use r500_isa::words::{CmnInst, TexInst};
use r500_program::Program;

/// The lints whose fixes are the synchronisation of a program.
const RULES: [LintCode; 5] = [
    LintCode::NeverAcquired,
    LintCode::NotAwaited,
    LintCode::PendingOverwrite,
    LintCode::MissingNop,
    LintCode::MissingAluWait,
];

/// Sets the synchronisation of a program anew. The last fetch of a row of them acquires the semaphore and waits
/// for it to be free, and so does the last instruction if it did in `like`: the driver's habits. The rest is what
/// the checker asks for.
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
    // Each fix sets bits, and there are three an instruction.
    for _ in 0..program.code.len() * 3 + 1 {
        let report = check(program, &Assumptions::default());
        let fixes: Vec<_> = report
            .lints
            .into_iter()
            .filter(|lint| RULES.contains(&lint.code))
            .filter_map(|lint| lint.fix)
            .collect();
        if fixes.is_empty() {
            break;
        }
        for fix in fixes {
            fix.apply(program);
        }
    }
}
