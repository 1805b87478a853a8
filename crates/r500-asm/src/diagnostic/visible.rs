//! Terminal escapes: characters of an input that would change how a terminal shows other text.

use std::borrow::Cow;

/// Returns whether a character would disturb a terminal: control characters but line end and tab, those of C1 (U+0080
/// to U+009F) included, line and paragraph separators, and what overrides the direction of text.
#[must_use]
pub fn disturbs_terminal(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns text with `\u009b` in place of such a character. In a string of JSON this is the same string.
///
/// ```
/// assert_eq!(r500_asm::visible("a\u{1b}[2Jb\n"), "a\\u001b[2Jb\n");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(disturbs_terminal) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if disturbs_terminal(c) {
            // All of them are in the basic plane.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}
