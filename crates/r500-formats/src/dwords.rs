//! Dwords of texts that have nothing else: hex text, C arrays, dumps of other tools.

use crate::{dump, hex};

/// Returns the dwords of hex text, of the first list in braces of a C source, or of a dump (`xxd`, `hexdump`, `od`, gdb, the kernel's log);
/// `None` for other texts, and for more than `most` dwords.
#[must_use]
pub fn dwords_of_text(text: &str, most: usize) -> Option<Vec<u32>> {
    if dump::is_dump(text) {
        return dump::dwords(text).filter(|dwords| dwords.len() <= most);
    }
    let list = match text.split_once('{') {
        Some((_, list)) => list.split_once('}')?.0,
        None => text,
    };
    let mut dwords = Vec::new();
    for line in list.lines() {
        let end = ["#", "//", "/*", ";", "--"].iter().filter_map(|mark| line.find(mark)).min();
        for token in
            line[..end.unwrap_or(line.len())].split(|c: char| c.is_whitespace() || c == ',')
        {
            if !token.is_empty() {
                dwords.push(hex::dword(token)?);
            }
            if dwords.len() > most {
                return None;
            }
        }
    }
    Some(dwords)
}
