//! Fix-it hints of the assembler, applied to the text: what it is certain of in place of an error.

use r500_asm::{Assembly, Diagnostic};

/// A source with errors corrected.
#[derive(Clone, Debug)]
pub struct Corrected {
    /// The text; it may have other errors, without a hint.
    pub text: Vec<u8>,
    /// The errors that were corrected, in the order in which that was done. Their places are those of the text then.
    pub errors: Vec<Diagnostic>,
}

/// Rounds after which correcting ends: a correction may uncover another error.
const ROUNDS: usize = 16;

/// Applies the fixes of errors of a source. Warnings are left: a source that assembles has a meaning that their fixes
/// would change. A round that does not lower the number of errors is taken back.
///
/// `assemble` makes a program of a text; it should read the same included files each time.
pub fn correct(source: &[u8], mut assemble: impl FnMut(&[u8]) -> Assembly) -> Corrected {
    let mut corrected = Corrected { text: source.to_vec(), errors: Vec::new() };
    let mut assembly = assemble(source);
    for _ in 0..ROUNDS {
        let mut errors: Vec<&Diagnostic> =
            assembly.errors().filter(|error| error.span.file == 0 && error.fix.is_some()).collect();
        errors.sort_by_key(|error| error.span.start);
        // Of errors at one place the first is corrected; the others may be consequences.
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
