//! Application of the assembler's fix-it hints to a source.

use r500_asm::{Assembly, Diagnostic};

/// A source with corrected errors.
#[derive(Clone, Debug)]
pub struct Corrected {
    /// The text. It may still have errors without a hint.
    pub text: Vec<u8>,
    /// The corrected errors, in order. Each location refers to the text at the time of its correction.
    pub errors: Vec<Diagnostic>,
}

/// Limit of rounds: a correction may uncover another error.
const ROUNDS: usize = 16;

/// Applies the fixes of errors of a source. Warnings stay: a source that assembles has a meaning, which their fixes
/// would change. A round that does not lower the number of errors is undone.
///
/// `assemble` assembles a text; it should read the same included files each time.
pub fn correct(source: &[u8], mut assemble: impl FnMut(&[u8]) -> Assembly) -> Corrected {
    let mut corrected = Corrected { text: source.to_vec(), errors: Vec::new() };
    let mut assembly = assemble(source);
    for _ in 0..ROUNDS {
        let mut errors: Vec<&Diagnostic> =
            assembly.errors().filter(|error| error.span.file == 0 && error.fix.is_some()).collect();
        errors.sort_by_key(|error| error.span.start);
        // Of overlapping errors only the first is corrected; the others may be consequences.
        let mut end = 0;
        errors.retain(|error| {
            let apart = error.span.start >= end;
            if apart {
                end = error.span.end;
            }
            apart
        });
        if errors.is_empty() {
            break;
        }
        let mut text = corrected.text.clone();
        for error in errors.iter().rev() {
            let place = error.span.start as usize..error.span.end as usize;
            text.splice(place, error.fix.iter().flat_map(|fix| fix.bytes()));
        }
        let next = assemble(&text);
        if next.errors().count() >= assembly.errors().count() {
            break;
        }
        corrected.errors.extend(errors.into_iter().cloned());
        corrected.text = text;
        assembly = next;
    }
    corrected
}
