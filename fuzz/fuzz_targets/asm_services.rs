//! Property: for any text, complete or incomplete, the editor services return positions inside it, and fixes and
//! renamings are edits that can be applied.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::asm::ide::lines::{Encoding, Lines};
use r500::asm::ide::{Analysis, TextEdit};
use r500::asm::{Options, Span};
use r500::service;

fuzz_target!(|text: &[u8]| {
    let analysis = Analysis::new(text, Options::default());
    let inside = |span: Span| {
        assert!(span.file == 0 && span.start <= span.end && span.end as usize <= text.len());
    };
    let apply = |edits: &[TextEdit]| {
        let mut edits: Vec<&TextEdit> = edits.iter().collect();
        edits.sort_by_key(|edit| edit.span);
        edits.iter().for_each(|edit| inside(edit.span));
        assert!(edits.windows(2).all(|two| two[0].span.end <= two[1].span.start));
    };
    for problem in service::diagnostics(&analysis) {
        inside(problem.span);
        problem.related.iter().for_each(|(span, _)| inside(*span));
        problem.repairs.iter().for_each(|repair| apply(&repair.edits));
    }
    analysis.outline().iter().for_each(|entry| inside(entry.span));
    assert!(analysis.hints(0..text.len()).iter().all(|hint| hint.at <= text.len()));
    let tokens = analysis.tokens(0..text.len());
    tokens.iter().for_each(|token| inside(token.span));
    assert!(tokens.windows(2).all(|two| two[0].span.end <= two[1].span.start));
    analysis.folds().iter().for_each(|fold| inside(fold.span));
    (0..16).filter_map(|unit| analysis.texture_statement(unit)).for_each(inside);
    let lines = Lines::new(text);
    // Some positions of long texts, all positions of short ones.
    for at in (0..=text.len()).step_by(1 + text.len() / 200) {
        if let Some(hover) = service::hover(&analysis, at) {
            inside(hover.span);
        }
        if let Some(signature) = analysis.signature(at) {
            assert!(signature.active.is_none_or(|active| active < signature.parts.len()));
        }
        service::completions(&analysis, at).iter().for_each(|item| inside(item.replace));
        if let Ok(edits) = analysis.rename(at, "another") {
            apply(&edits);
        }
        if let Some(span) = analysis.definition(at) {
            inside(span);
        }
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let place = lines.position(text, at, encoding);
            assert!(lines.offset(text, place, encoding) <= text.len());
        }
    }
});
