//! Excerpts of an input, for messages: never longer than a line.

/// Returns the beginning of a token, for a message.
pub(crate) fn excerpt(token: &str) -> String {
    beginning(token, 24)
}

/// Returns the beginning of a text that quotes a part of the input, for a message.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let mut start: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}
