//! Format detection from content and file name.

use std::io::Read;

use serde::de::IgnoredAny;

use crate::dump;
use crate::format::{Format, HEAD};
use crate::gzip;
use crate::hex;
use crate::mesa_log;

/// Detects the format of an input from its beginning and, if that is ambiguous, from its name. `None` for anything
/// else, such as assembly.
///
/// The beginning may be cut anywhere; 256 KiB are enough. (Of a log that begins with something else,
/// the end helps.)
///
/// ```
/// use r500_formats::{Format, detect};
///
/// assert_eq!(detect(b"0x00001800,\n0x08000100,\n", None), Some(Format::CArray));
/// assert_eq!(detect(b"OUT : out[0].rgb = MAD src0.rgb ;", Some("plasma.r5")), None);
/// ```
#[must_use]
pub fn detect(bytes: &[u8], name: Option<&str>) -> Option<Format> {
    if gzip::is_gzip(bytes) {
        let mut head = Vec::new();
        // Uses the data that can be decompressed, even if the rest is truncated or damaged.
        let _ = gzip::reader(bytes).take(HEAD as u64).read_to_end(&mut head);
        return detect_plain(&head, name);
    }
    detect_plain(bytes, name)
}

fn detect_plain(bytes: &[u8], name: Option<&str>) -> Option<Format> {
    let suggested = name.and_then(Format::from_file_name);
    let head = &bytes[..bytes.len().min(HEAD)];
    let Some(text) = as_text(head) else {
        let raw = if mesa_log::is_log(bytes) { Format::MesaLog } else { Format::Raw };
        return Some(raw);
    };
    // Characters of a dump may look like comments, and stamps of the kernel like a list.
    if dump::is_dump(text) {
        return Some(Format::Hex);
    }
    // Comments are ignored.
    let text = without_comments(text);
    let text = text.trim_start();
    if is_json_object(text) {
        return Some(if is_json_lines(text) || suggested == Some(Format::JsonLines) {
            Format::JsonLines
        } else {
            Format::Json
        });
    }
    if mesa_log::is_log(bytes) {
        return Some(Format::MesaLog);
    }
    if text.starts_with('[') {
        let lines = is_json_lines(text) || suggested == Some(Format::JsonLines);
        return Some(if lines { Format::JsonLines } else { Format::Json });
    }
    dwords(text).or(suggested)
}

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

fn is_json_object(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(['"', '}']))
}

/// Returns whether the first line is a value of its own and something follows.
fn is_json_lines(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(first, rest)| {
        !rest.trim_start().is_empty() && serde_json::from_str::<IgnoredAny>(first).is_ok()
    })
}

/// C array or hex text, from what comes first: a dword, or a declaration that becomes one.
fn dwords(text: &str) -> Option<Format> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (token, rest) = text.split_at(end);
    if hex::dword(token).is_some() {
        let comma = token.starts_with("0x") && rest.trim_start().starts_with(',');
        return Some(if comma { Format::CArray } else { Format::Hex });
    }
    // `= {` or a bare `{`, and a number.
    let mut opened = text.match_indices('{').map(|(n, _)| (&text[..n], &text[n + 1..]));
    let array = opened.any(|(before, inside)| {
        let starts = before.trim().is_empty() || before.trim_end().ends_with('=');
        let first = || inside.trim_start_matches(['{', ' ', '\t', '\r', '\n']);
        starts && first().starts_with(|c: char| c.is_ascii_digit())
    });
    array.then_some(Format::CArray)
}
