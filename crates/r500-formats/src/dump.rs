//! Dumps of other tools as dwords: `xxd`, `hexdump`, `od`, gdb's `x/4wx`, lines of the kernel, and numbered dwords.
//!
//! ```text
//! 00000000: 0580 0700 0000 0208 0000 0208 2002 db00  ............ ...      xxd: bytes
//! 00000000: 00078005 08020000 08020000 00db0220  ............ ...          xxd -e: dwords
//! 00000000  05 80 07 00 00 00 02 08  00 00 02 08 20 02 db 00  |......|    hexdump -C: bytes
//! 0000000 8005 0007 0000 0802 0000 0802 0220 00db                          hexdump: two bytes as a number
//! 0000000 00078005 08020000 08020000 00db0220                              od -t x4: dwords
//! 0x7fffffffe000: 0x00078005 0x08020000 0x08020000 0x00db0220              gdb
//! [  123.456789] radeon 0000:01:00.0: 00000000: 00078005 08020000          the kernel
//! [  123.456789]  0x00078005
//! 3: 0x00db0220                                                             numbered dwords
//! ```
//!
//! A text is a dump if each of its lines is. Offsets must continue: a line that is missing is an error, not a gap. Lines with `*`
//! repeat the line before them up to the next offset, as these tools print equal lines.

use r500_program::Job;

use crate::dword_program::DwordReader;
use crate::{ReadError, hex};

/// Most dwords of a dump.
const MOST: usize = 1 << 22;

/// The parts of a line.
struct Line<'a> {
    /// The offset, as printed.
    offset: Option<&'a str>,
    groups: Vec<&'a str>,
}

/// How the numbers of a line are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    /// Two digits, or four of two bytes in the order of memory.
    Bytes,
    /// Four digits of a number of 16 bits.
    Words,
    /// Eight digits, or `0x` and up to eight.
    Dwords,
}

/// Returns whether a text begins as a dump does, and is not hex text: its lines have offsets or what the kernel prints before messages.
#[must_use]
pub fn is_dump(head: &str) -> bool {
    let mut lines = head.lines().filter(|line| !line.trim().is_empty()).take(4);
    let Some(first) = lines.next() else { return false };
    let has_place = |line: &str| {
        let (rest, of_kernel) = without_kernel(line);
        split(rest)
            .is_some_and(|line| (of_kernel || line.offset.is_some()) && !line.groups.is_empty())
    };
    has_place(first)
        && lines.all(|line| has_place(line) || line.trim() == "*" || hex_digits(line.trim()))
}

/// Reads a program in a dump.
pub(crate) fn read(text: &str, reader: DwordReader<'_>) -> Result<Job, ReadError> {
    let bytes = bytes(text).ok_or_else(|| {
        ReadError::syntax("this begins as a dump does, but not all of its lines are of one kind, or some are missing")
            .with_help("of a dump all lines are needed, with offsets that continue")
    })?;
    match bytes.len() as u64 > reader.most_bytes() {
        true => Err(reader.too_long()),
        false => reader.job(&bytes),
    }
}

/// Returns the dwords of a dump; `None` if the text is something else, lines are missing, or the last dword is not whole.
pub(crate) fn dwords(text: &str) -> Option<Vec<u32>> {
    let bytes = bytes(text)?;
    let (dwords, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| dwords.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

/// Returns the bytes of a dump in the order of memory; `None` if the text is something else, or lines are missing.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut group = None;
    let mut offsets: Vec<(String, usize)> = Vec::new();
    let mut last = 0..0;
    let mut repeats = false;
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    for (n, line) in lines.iter().enumerate() {
        if line.trim() == "*" {
            repeats = true;
            continue;
        }
        let (rest, of_kernel) = without_kernel(line);
        let is_end = n + 1 == lines.len() && n > 0 && hex_digits(rest.trim());
        let line = match is_end {
            // The length, which `hexdump` and `od` print last.
            true => Line { offset: Some(rest.trim()), groups: Vec::new() },
            false => split(rest)?,
        };
        if line.groups.is_empty() && !is_end || line.offset.is_none() && !of_kernel {
            return None;
        }
        if repeats {
            repeats = false;
            let next = usize::from_str_radix(line.offset?.trim_start_matches("0x"), 16).ok()?;
            if last.is_empty() || next > MOST * 4 {
                return None;
            }
            while bytes.len() + last.len() <= next {
                bytes.extend_from_within(last.clone());
            }
        }
        if let Some(offset) = line.offset {
            offsets.push((offset.to_owned(), bytes.len()));
        }
        if is_end && line.groups.is_empty() {
            break;
        }
        let found = *group.get_or_insert(kind(&line, rest)?);
        let begin = bytes.len();
        for token in line.groups {
            append(&mut bytes, token, found)?;
        }
        last = begin..bytes.len();
        if bytes.len() > MOST * 4 {
            return None;
        }
    }
    let first = lines.first().map_or("", |line| without_kernel(line).0);
    if !continues(&offsets, first.contains(':')) {
        return None;
    }
    (!bytes.is_empty()).then_some(bytes)
}

fn hex_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns a line without what the kernel puts before messages, and whether it has that.
fn without_kernel(line: &str) -> (&str, bool) {
    let stamp = || {
        let (stamp, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
        let (seconds, fraction) = stamp.trim().split_once('.')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        (digits(seconds) && digits(fraction)).then_some(rest)
    };
    let Some(rest) = stamp() else { return (line, false) };
    // `radeon 0000:01:00.0: ` and the like.
    let device = rest.split_once(": ").filter(|(device, _)| {
        let first = device.split_whitespace().next().unwrap_or_default();
        !hex_digits(first.trim_end_matches(':')) && !first.starts_with("0x")
    });
    (device.map_or(rest, |(_, rest)| rest), true)
}

/// Splits a line into its offset and the groups of digits; `None` for other lines.
fn split(line: &str) -> Option<Line<'_>> {
    let line = line.trim_start();
    // `hexdump -C` has the characters between bars.
    let (line, has_bars) = match line.split_once('|') {
        Some((line, rest)) if rest.ends_with('|') || rest.is_empty() => (line, true),
        _ => (line, false),
    };
    let (offset, rest) = match line.split_once(':') {
        Some((offset, rest)) => {
            // gdb: `0x401000 <main+4>:`.
            let number = offset.split_whitespace().next()?;
            let is_symbol = offset.trim_end().ends_with('>');
            if !(is_symbol || number == offset.trim()) || !is_number(number) {
                return None;
            }
            (Some(number), rest)
        }
        None => {
            let end = line.find(char::is_whitespace).unwrap_or(line.len());
            let (first, rest) = line.split_at(end);
            // A dword of hex text is as long as the offsets of `hexdump -C`, which has bytes after them.
            let next = rest.split_whitespace().next().map_or(0, str::len);
            match hex_digits(first) && next > 0 && (first.len() != 8 || next == 2) {
                true => (Some(first), rest),
                false => (None, line),
            }
        }
    };
    // `xxd` has the characters after two blanks.
    let rest = rest.trim_start();
    let digits = match has_bars || offset.is_none() {
        true => rest,
        false => rest.split_once("  ").map_or(rest, |(digits, _)| digits),
    };
    let groups: Vec<&str> =
        digits.split([' ', '\t', ',']).filter(|token| !token.is_empty()).collect();
    let is_group = |token: &&str| match token.strip_prefix("0x") {
        Some(digits) => hex_digits(digits) && digits.len() <= 8,
        None => hex_digits(token) && matches!(token.len(), 2 | 4 | 8),
    };
    groups.iter().all(is_group).then_some(Line { offset, groups })
}

fn is_number(text: &str) -> bool {
    hex_digits(text.strip_prefix("0x").unwrap_or(text))
}

/// Returns how the numbers of a line are printed.
fn kind(line: &Line<'_>, text: &str) -> Option<Group> {
    let first = line.groups.first()?;
    Some(match first.len() {
        _ if first.starts_with("0x") => Group::Dwords,
        8 => Group::Dwords,
        // `xxd` has a colon after the offset.
        4 if text.contains(':') => Group::Bytes,
        4 => Group::Words,
        _ => Group::Bytes,
    })
}

/// Appends the bytes of a group in the order of memory.
fn append(bytes: &mut Vec<u8>, token: &str, group: Group) -> Option<()> {
    match group {
        Group::Dwords => bytes.extend(hex::dword(token)?.to_le_bytes()),
        Group::Words if token.len() == 4 => {
            bytes.extend(u16::from_str_radix(token, 16).ok()?.to_le_bytes());
        }
        Group::Bytes if token.len() <= 4 => {
            for n in (0..token.len()).step_by(2) {
                bytes.push(u8::from_str_radix(token.get(n..n + 2)?, 16).ok()?);
            }
        }
        Group::Words | Group::Bytes => return None,
    }
    Some(())
}

/// Returns whether offsets continue: as bytes in hex, in octal if no colon follows them (`od`), or as numbers of dwords.
fn continues(offsets: &[(String, usize)], has_colons: bool) -> bool {
    let Some((first, begin)) = offsets.first() else { return true };
    let ways = if has_colons { [(16, 1), (10, 4), (16, 4)] } else { [(16, 1), (8, 1), (10, 4)] };
    ways.iter().any(|&(radix, unit)| {
        let parse = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), radix).ok();
        let Some(first) = parse(first) else { return false };
        offsets.iter().all(|(offset, at)| {
            let moved = parse(offset).and_then(|offset| offset.checked_sub(first));
            // The last offset may be the length.
            moved.is_some_and(|moved| moved.checked_mul(unit) == Some((at - begin) as u64))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [u32; 6] =
        [0x0007_8005, 0x0802_0000, 0x0802_0000, 0x00db_0220, 0x00c0_c000, 0x2049_0000];

    /// The six dwords as the tools of Debian 12 print them.
    const DUMPS: [&str; 11] = [
        "00000000: 0580 0700 0000 0208 0000 0208 2002 db00  ............ ...\n00000010: 00c0 c000 0000 4920                      ......I \n",
        "00000000: 00078005 08020000 08020000 00db0220  ............ ...\n00000010: 00c0c000 20490000                    ......I \n",
        "00000000: 05 80 07 00 00 00 02 08 00 00 02 08 20 02 db 00  ............ ...\n00000010: 00 c0 c0 00 00 00 49 20                          ......I \n",
        "00000000  05 80 07 00 00 00 02 08  00 00 02 08 20 02 db 00  |............ ...|\n00000010  00 c0 c0 00 00 00 49 20                           |......I |\n00000018\n",
        "0000000 8005 0007 0000 0802 0000 0802 0220 00db\n0000010 c000 00c0 0000 2049                    \n0000018\n",
        "0000000 00078005 08020000 08020000 00db0220\n0000020 00c0c000 20490000\n0000030\n",
        "000000 00078005 08020000 08020000 00db0220\n000010 00c0c000 20490000\n000018\n",
        "0x7fffffffe000:\t0x00078005\t0x08020000\t0x08020000\t0x00db0220\n0x7fffffffe010:\t0x00c0c000\t0x20490000\n",
        "[  123.456789] radeon 0000:01:00.0: 00000000: 00078005 08020000 08020000 00db0220\n[  123.456789] radeon 0000:01:00.0: 00000010: 00c0c000 20490000\n",
        "[  100.000000] \t0x00078005\n[  100.000001] \t0x08020000\n[  100.000002] \t0x08020000\n[  100.000003] \t0x00db0220\n[  100.000004] \t0x00c0c000\n[  100.000005] \t0x20490000\n",
        "0: 0x00078005\n1: 0x08020000\n2: 0x08020000\n3: 0x00db0220\n4: 0x00c0c000\n5: 0x20490000\n",
    ];

    #[test]
    fn dumps_of_tools_are_the_same_dwords() {
        for dump in DUMPS {
            assert!(is_dump(dump), "{dump}");
            assert_eq!(dwords(dump).as_deref(), Some(&WORDS[..]), "{dump}");
        }
    }

    #[test]
    fn equal_lines_are_repeated() {
        let dump = "00000000  01 00 00 00 02 00 00 00  03 00 00 00 04 00 00 00  |................|\n*\n00000030  05 00 00 00  |....|\n00000034\n";
        assert_eq!(dwords(dump).unwrap_or_default(), [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn other_texts_are_not_dumps() {
        for text in [
            "",
            "00078005 08020000 08020000 00db0220 00c0c000 20490000\n",
            "[1, 2, 3]\n",
            "0x00078005\n0x08020000\n",
            "VAP_CNTL = 5\n",
            "OUT : out[0].rgb = MAD src0.rgb ;\n",
            "note: this is prose\n",
        ] {
            assert!(!is_dump(text), "{text}");
        }
        // A line is missing.
        let gap = "00000000: 00078005 08020000\n00000010: 00c0c000 20490000\n";
        assert!(is_dump(gap) && dwords(gap).is_none());
        // Half of a dword.
        assert_eq!(dwords("00000000: 0580 07\n"), None);
    }
}
