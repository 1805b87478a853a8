//! The smallest single edit that turns the source into another text.

use super::{Analysis, TextEdit};
use crate::source::Span;

impl Analysis {
    /// Returns an edit that replaces the source by another text. It covers only the differing part, so that cursors
    /// stay. `None` if the texts are equal.
    #[must_use]
    pub fn edit_to(&self, text: &[u8]) -> Option<TextEdit> {
        let before = self.text();
        if before == text {
            return None;
        }
        // Characters are not split.
        let boundary =
            |text: &[u8], at: usize| text.get(at).is_none_or(|b| !(0x80..=0xbf).contains(b));
        let mut head = before.iter().zip(text).take_while(|(a, b)| a == b).count();
        while head > 0 && !(boundary(before, head) && boundary(text, head)) {
            head -= 1;
        }
        let (a, b) = (&before[head..], &text[head..]);
        let mut tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        while tail > 0 && !boundary(a, a.len() - tail) {
            tail -= 1;
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { file: 0, start: offset(head), end: offset(before.len() - tail) };
        let text = String::from_utf8_lossy(&text[head..text.len() - tail]).into_owned();
        Some(TextEdit { span, text })
    }
}
