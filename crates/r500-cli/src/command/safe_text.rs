//! Escaping of terminal output: text of an input must not control the terminal.

use std::io::{self, Write};

use r500::asm::visible;

/// A writer of UTF-8 text that escapes characters which would disturb a terminal, such as `\u001b`, and replaces
/// invalid UTF-8 by U+FFFD. With colours, escapes that only set the colour or weight of letters pass, because this
/// command writes them.
///
/// In a JSON string, `\u001b` denotes the character itself, so JSON keeps its meaning.
pub(super) struct SafeText<W: Write> {
    out: W,
    colors: bool,
    /// The incomplete start of a character, a line end or an escape.
    held: Vec<u8>,
}

impl<W: Write> SafeText<W> {
    pub(super) fn new(out: W, colors: bool) -> Self {
        Self { out, colors, held: Vec::new() }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(['\r', '\x1b']) {
            let (before, from) = rest.split_at(at);
            self.out.write_all(visible(before).as_bytes())?;
            let raw = match from.as_bytes() {
                [b'\r', b'\n', ..] => 2,
                [b'\x1b', ..] if self.colors => style_length(from),
                _ => 0,
            };
            let length = raw.max(1);
            if raw > 0 {
                self.out.write_all(&from.as_bytes()[..raw])?;
            } else {
                self.out.write_all(visible(&from[..length]).as_bytes())?;
            }
            rest = &from[length..];
        }
        self.out.write_all(visible(rest).as_bytes())
    }

    fn release(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        self.put(&String::from_utf8_lossy(&held))
    }
}

impl<W: Write> Write for SafeText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined;
        let mut rest = if self.held.is_empty() {
            bytes
        } else {
            joined = [&std::mem::take(&mut self.held), bytes].concat();
            &joined
        };
        let end = rest.len() - unfinished(rest, self.colors);
        self.held = rest[end..].to_vec();
        rest = &rest[..end];
        for chunk in rest.utf8_chunks() {
            self.put(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                self.put("\u{fffd}")?;
            }
        }
        Ok(bytes.len())
    }

    /// Does not flush the incomplete start: a flush may occur inside a character.
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for SafeText<W> {
    fn drop(&mut self) {
        // An error here cannot be reported.
        let _ = self.release();
    }
}

/// An upper bound of the longest permitted escape, `ESC [ 1 ; 97 m`.
const LONGEST_STYLE: usize = 12;

/// Returns the length of an escape that only sets colour or weight of letters; 0 for any other.
fn style_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let Some((codes, _)) = rest.split_once('m') else { return 0 };
    // No concealed or black letters, and no other background.
    let harmless =
        |code: &str| matches!(code.parse::<u8>(), Ok(0..=2 | 31..=36 | 91..=96)) && code.len() <= 2;
    let length = "\x1b[".len() + codes.len() + "m".len();
    if length <= LONGEST_STYLE && codes.split(';').all(harmless) { length } else { 0 }
}

/// Returns the number of bytes at the end that may be an incomplete start.
fn unfinished(bytes: &[u8], colors: bool) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(LONGEST_STYLE)..];
    if colors && let Some(at) = tail.iter().rposition(|&b| b == 0x1b) {
        let begun = &tail[at + 1..];
        let inside = |(n, b): (usize, &u8)| match n {
            0 => *b == b'[',
            _ => b.is_ascii_digit() || *b == b';',
        };
        if tail.len() - at < LONGEST_STYLE && begun.iter().enumerate().all(inside) {
            return tail.len() - at;
        }
    }
    if bytes.last() == Some(&b'\r') {
        return 1;
    }
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    (1..=tail.len())
        .find(|&n| {
            let start = &tail[tail.len() - n..];
            std::str::from_utf8(start)
                .is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn filtered(parts: &[&[u8]], colors: bool) -> String {
        let mut out = Vec::new();
        let mut text = SafeText::new(&mut out, colors);
        for part in parts {
            text.write_all(part).unwrap();
            text.flush().unwrap();
        }
        drop(text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn controls_are_written_as_escapes() {
        let wanted = "a\\u001b[2J\tb\r\nc\\u000d\\u009b1m \\u202e\u{fffd}\\u007f";
        let input = "a\u{1b}[2J\tb\r\nc\r\u{9b}1m \u{202e}".as_bytes();
        assert_eq!(filtered(&[input, b"\xff\x7f"], false), wanted);
        // For any division into writes.
        let bytes: Vec<&[u8]> = input.chunks(1).chain([&b"\xff"[..], b"\x7f"]).collect();
        assert_eq!(filtered(&bytes, false), wanted);
        assert_eq!(filtered(&bytes, true), wanted);
    }

    #[test]
    fn colours_pass_where_they_are_wanted_and_nothing_else_does() {
        let own = "\u{1b}[1;31merror\u{1b}[0m";
        let split: Vec<&[u8]> = own.as_bytes().chunks(1).collect();
        assert_eq!(filtered(&[own.as_bytes()], true), own);
        assert_eq!(filtered(&split, true), own);
        assert_eq!(filtered(&[own.as_bytes()], false), "\\u001b[1;31merror\\u001b[0m");
        for hostile in [
            "\u{1b}[8m",
            "\u{1b}[30m",
            "\u{1b}[41m",
            "\u{1b}[2J",
            "\u{1b}]0;x\u{7}",
            "\u{1b}[38;5;0m",
        ] {
            assert!(!filtered(&[hostile.as_bytes()], true).contains('\u{1b}'), "{hostile:?}");
        }
        // At the end, and before an invalid continuation.
        assert_eq!(filtered(&[b"\x1b[1"], true), "\\u001b[1");
        assert_eq!(filtered(&[b"\x1b", b"[", b"1", b"x"], true), "\\u001b[1x");
    }

    /// The library's coloured messages pass.
    #[test]
    fn coloured_messages_stay_coloured() {
        let source = b"-- \x1b[2J\nDEF a = temp[0] ; DEF a = temp[1] ;\nRAW 1 2 ;\n: ; ;";
        let assembly = r500::asm::assemble(source, r500::asm::Options::default());
        let text = assembly.render(r500::asm::RenderOptions { color: true });
        assert!(text.matches('\x1b').count() > 20);
        assert_eq!(filtered(&[text.as_bytes()], true), text);
    }

    #[test]
    fn characters_may_be_cut_anywhere() {
        let text = "é€😀\r\n";
        let split: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(filtered(&split, false), text);
        assert_eq!(filtered(&[b"\xf0\x9f"], false), "\u{fffd}");
    }
}
