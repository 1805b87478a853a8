//! Escaping of characters that would change how a terminal shows other text.

use std::borrow::Cow;

/// Returns whether a character would disturb a terminal: control characters except line end and tab, C1 (U+0080 to
/// U+009F) included, line and paragraph separators, and overrides of text direction.
#[must_use]
pub fn disturbs_terminal(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces each such character by an escape such as `\u009b`. In a JSON string, the result is equivalent.
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
            // All of them are in the basic multilingual plane.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}
