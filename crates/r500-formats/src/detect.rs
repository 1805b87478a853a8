//! Format detection from content and file name.

use std::io::Read;

use serde::de::IgnoredAny;

use crate::dump;
use crate::format::{Format, HEAD};
use crate::gzip;
use crate::head_text::{as_text, without_comments};
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
