//! The beginning of an input as text.

/// Returns the head as text, if it is mostly UTF-8. Text has no control characters except white space (and escapes, in
/// coloured logs), which nearly every binary program has. A few letters of older encodings are accepted.
pub(crate) fn as_text(head: &[u8]) -> Option<&str> {
    if head.iter().any(|&b| b < b' ' && !b"\t\n\r\x0c\x1b".contains(&b)) {
        return None;
    }
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => {
            let ascii = head.iter().filter(|b| b.is_ascii()).count();
            let (good, _) = head.split_at(error.valid_up_to());
            let cut_off = error.error_len().is_none();
            std::str::from_utf8(good).ok().filter(|_| cut_off || ascii > head.len() / 4 * 3)?
        }
    };
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Returns the text without comments: those of C, `#` lines, and `--` to the end of the line, as in assembly and hex
/// text. Quoted text is kept.
pub(crate) fn without_comments(mut text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut line_is_empty = true;
    while let Some(c) = text.chars().next() {
        let end_of_line = |text: &str| text.find('\n').unwrap_or(text.len());
        let to_end_of_line = text.starts_with("//")
            || text.starts_with("--")
            || (text.starts_with('#') && line_is_empty);
        let comment = if to_end_of_line {
            end_of_line(text)
        } else if let Some(inside) = text.strip_prefix("/*") {
            inside.find("*/").map_or(text.len(), |n| n + 4)
        } else {
            0
        };
        if comment > 0 {
            text = &text[comment..];
            kept.push(' ');
            continue;
        }
        let length = if c == '"' { quoted(text) } else { c.len_utf8() };
        let (taken, rest) = text.split_at(length);
        kept.push_str(taken);
        line_is_empty = c == '\n' || (line_is_empty && c.is_whitespace());
        text = rest;
    }
    kept
}

/// Returns the length of the quotation at the front of a text, which ends on its line.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}
