//! Hex text: dwords between white space or commas, with or without `0x`. `#`, `//`, `;` and `--`
//! start comments.

use std::io::{self, Write};

use r500_isa::Instruction;
use r500_program::Job;

use crate::ReadError;
use crate::dword_program::{DwordReader, Words};
use crate::excerpt::excerpt;

/// Parses a dword in hex: eight digits, or `0x` and one to eight. Without `0x` all eight are required, so that a lost
/// digit is detected.
pub(crate) fn dword(text: &str) -> Option<u32> {
    let digits = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if (1..=8).contains(&digits.len()) => digits,
        None if text.len() == 8 => text,
        _ => return None,
    };
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

pub(crate) fn read(text: &str, reader: DwordReader<'_>) -> Result<Job, ReadError> {
    let mut words = Words::new(reader);
    for (n, line) in text.lines().enumerate() {
        let end = ["#", "//", ";", "--"].iter().filter_map(|mark| line.find(mark)).min();
        let line = &line[..end.unwrap_or(line.len())];
        for token in line.split(|c: char| c.is_whitespace() || c == ',') {
            if token.is_empty() {
                continue;
            }
            let column = token.as_ptr() as usize - line.as_ptr() as usize + 1;
            let at = |e: ReadError| e.at_line(n as u64 + 1).at_column(column as u64);
            let word = dword(token).ok_or_else(|| {
                at(ReadError::syntax(format!("`{}` is not a dword in hex", excerpt(token))))
                    .with_help("write eight hex digits, or 0x and up to eight")
            })?;
            words.push(word).map_err(at)?;
        }
    }
    words.finish().map_err(|e| e.at_line(text.lines().count() as u64))
}

pub(crate) fn write(code: &[Instruction], out: &mut impl Write) -> io::Result<()> {
    for Instruction([a, b, c, d, e, f]) in code {
        writeln!(out, "{a:08x} {b:08x} {c:08x} {d:08x} {e:08x} {f:08x}")?;
    }
    Ok(())
}
