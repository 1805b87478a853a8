//! Property: for any text that assembles, findings have spans inside it, checker comments are read, and the source
//! after safe fixes assembles to the program with these fixes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::asm::{Assembly, Options, assemble};
use r500::check::check_job;
use r500::lint::{self, Allows};

fuzz_target!(|text: &[u8]| {
    let again = |text: &[u8]| assemble(text, Options::default());
    let assembly = again(text);
    let allows = Allows::of(&assembly);
    for span in allows.wrong.iter().map(|wrong| wrong.0).chain(allows.list.iter().map(|a| a.span)) {
        inside(&assembly, span);
    }
    if !assembly.is_ok() {
        return;
    }
    for finding in check_job(&assembly.job).lints {
        if let Some(span) = lint::span(&assembly, &finding.location) {
            inside(&assembly, span);
        }
        let _ = allows.covering(finding.code, &finding.location, &assembly);
    }
    let mut job = assembly.job.clone();
    let fixed = lint::fix(text, again, |_, _| true);
    assert!(fixed.assembly.is_ok());
    for fix in fixed.resolved.iter().filter_map(|finding| finding.fix.as_ref()) {
        fix.apply(&mut job.program);
    }
    // Only the code is compared: the job may contain NaN, which is not equal to itself.
    assert_eq!(fixed.assembly.job.program.code, job.program.code);
    assert_eq!(again(&fixed.text).job.program.code, job.program.code);
});

fn inside(assembly: &Assembly, span: r500::asm::Span) {
    let length = assembly.files.list.get(span.file as usize).map_or(0, |file| file.bytes.len());
    assert!(span.start <= span.end && span.end as usize <= length, "{span:?} of {length}");
}
