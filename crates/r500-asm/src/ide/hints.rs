//! Inlay hints: the address of each instruction and its dwords.

use std::collections::HashMap;

use r500_isa::Instruction;

use super::Analysis;
use super::registers::numbers;
use crate::source::Span;

/// A hint: text that is displayed, but not part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The byte before which it is displayed.
    pub at: usize,
    /// The text.
    pub text: String,
    /// The kind.
    pub kind: HintKind,
    /// The instruction that it describes.
    pub instruction: usize,
}

/// The kind of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// An instruction's address, displayed before it.
    Address,
    /// Its six dwords, displayed after it.
    Words,
}

impl Analysis {
    /// Returns address and dwords of every instruction that overlaps a range of the source.
    #[must_use]
    pub fn hints(&self, part: std::ops::Range<usize>) -> Vec<Hint> {
        let code = &self.assembly.job.program.code;
        let mut hints = Vec::new();
        // A body that is used more than once has several instructions at one place.
        let mut shared: HashMap<Span, Vec<usize>> = HashMap::new();
        for (index, span) in self.assembly.spans.iter().enumerate() {
            shared.entry(*span).or_default().push(index);
        }
        for (index, (span, words)) in self.assembly.spans.iter().zip(code).enumerate() {
            let Span { file, start, end } = *span;
            let (start, end) = (start as usize, end as usize);
            if file != 0 || start > part.end || end < part.start {
                continue;
            }
            let hint = |at, text, kind| Hint { at, text, kind, instruction: index };
            let all = shared.get(span).map_or(&[][..], Vec::as_slice);
            if all.len() > 1 {
                if all.first() == Some(&index) {
                    hints.push(hint(start, numbers(all), HintKind::Address));
                }
                continue;
            }
            hints.push(hint(start, index.to_string(), HintKind::Address));
            hints.push(hint(end, dwords(*words), HintKind::Words));
        }
        hints
    }
}

/// Returns six dwords in the format of the program printers.
pub(super) fn dwords(instruction: Instruction) -> String {
    instruction.0.map(|word| format!("{word:08x}")).join(" ")
}
