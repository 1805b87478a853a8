//! Property: any text is compiled, as either shader, or gives errors with places inside of it, and fixes that can be applied.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::compile::{Diagnostic, compile, vertex};

fuzz_target!(|text: &str| {
    // The assembly languages, whose header a mutation would seldom keep.
    for header in ["", "!!ARBfp1.0\n", "!!ARBvp1.0\nOPTION ARB_position_invariant;\n"] {
        compiled(&format!("{header}{text}"));
    }
});

fn compiled(text: &str) {
    match compile(text) {
        Ok(compiled) => assert_eq!(compiled.spans.len(), compiled.job.program.code.len()),
        Err(errors) => check(text, &errors),
    }
    match vertex::compile(text, None) {
        Ok(compiled) => {
            assert_eq!(compiled.spans.len(), compiled.source.program.window().count());
            assert!(compiled.source.program.check().is_empty());
        }
        Err(errors) => check(text, &errors),
    }
}

fn check(text: &str, errors: &[Diagnostic]) {
    assert!(!errors.is_empty());
    for error in errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        assert!(!error.message.contains("wrong program"), "{error}");
        if let Some(fix) = &error.fix {
            assert!(text.get(fix.span.range()).is_some(), "{fix:?}");
        }
    }
}
