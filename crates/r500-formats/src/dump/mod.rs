//! Dumps of other tools as dwords: `xxd`, `hexdump`, `od`, gdb's `x`, lines of the kernel, numbered dwords, plain bytes, decimal numbers.
//!
//! ```text
//! 00000000: 0580 0700 0000 0208 0000 0208 2002 db00  ............ ...      xxd: bytes
//! 00000000: 00078005 08020000 08020000 00db0220  ............ ...          xxd -e: dwords
//! 00000000  05 80 07 00 00 00 02 08  00 00 02 08 20 02 db 00  |......|    hexdump -C: bytes
//! 0000000 8005 0007 0000 0802 0000 0802 0220 00db                          hexdump: two bytes as a number
//! 0000000 100005 000007 000000 004002 000000 004002 001040 000333          od: two bytes as an octal number
//! 0000000 00078005 08020000 08020000 00db0220                              od -t x4: dwords
//! 0000000     491525  134348800  134348800   14352928                      od -t u4: dwords in decimal
//! 0x7fffffffe000: 0x00078005 0x08020000 0x08020000 0x00db0220              gdb, also its bytes, halves, pairs and decimals
//! [  123.456789] radeon 0000:01:00.0: 00000000: 00078005 08020000          the kernel
//! [  123.456789]  0x00078005
//! 3: 0x00db0220                                                             numbered dwords, also in decimal
//! ib[3] = 0x00db0220;
//! 0580070000000208000002082002db00                                          xxd -p: bytes
//! 491525, 134348800, 134348800, 14352928                                    decimal numbers
//! ```
//!
//! A text is a dump if each of its lines is. Offsets must continue: a line that is missing is an error, not a gap. Lines with `*`
//! repeat the line before them up to the next offset, as these tools print equal lines.

mod bare;
mod group;
mod line;

use r500_program::Job;

use crate::ReadError;
use crate::dword_program::DwordReader;
use group::Group;
use line::{Line, Mark, Offset, hex_digits, split, without_kernel};

/// Most dwords of a dump.
const MOST: usize = 1 << 22;

/// Returns whether a text begins as a dump does, and is not hex text: its lines have offsets or what the kernel prints before messages, or
/// it has nothing but bytes, or decimal numbers.
#[must_use]
pub fn is_dump(head: &str) -> bool {
    if bare::group(head).is_some() {
        return true;
    }
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
            .with_help(match text.lines().any(|line| line.trim() == "*") {
                true => "of a dump all lines are needed, with offsets that continue; print it without `*` (-v of hexdump and od)",
                false => "of a dump all lines are needed, with offsets that continue",
            })
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
    if let Some(group) = bare::group(text) {
        return bare::bytes(text, group);
    }
    Group::ALL.into_iter().find_map(|group| bytes_of_groups(text, group))
}

/// Returns the bytes of a dump with numbers that are printed in this way, and offsets that continue; `None` if they are not.
fn bytes_of_groups(text: &str, group: Group) -> Option<Vec<u8>> {
    let first = split(without_kernel(text.lines().find(|line| !line.trim().is_empty())?).0)?;
    let ways: &[(u32, u64)] = match first.offset {
        Some(offset) => offset.mark.ways(),
        // Lines of the kernel without offsets.
        None => &[(16, 1)],
    };
    let mut results = ways
        .iter()
        .filter(|way| group.has_offsets(&first, **way))
        .filter_map(|&way| bytes_of_way(text, group, way));
    let bytes = results.next()?;
    // How often a line is repeated depends on the radix of the offsets, which `hexdump` and `od` do not say.
    results.all(|other| other == bytes).then_some(bytes)
}

/// The same, with offsets of this radix that count this many bytes each.
fn bytes_of_way(text: &str, group: Group, (radix, unit): (u32, u64)) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut last = 0..0;
    let mut repeats = false;
    let mut begin = None;
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        if line == "*" {
            repeats = true;
            continue;
        }
        let (rest, of_kernel) = without_kernel(line);
        // The length, which `hexdump` and `od` print last.
        let is_end = lines.peek().is_none() && begin.is_some() && hex_digits(rest.trim());
        let line = match is_end {
            true => Line {
                offset: Some(Offset { text: rest.trim(), mark: Mark::Length }),
                groups: Vec::new(),
            },
            false => split(rest)?,
        };
        if line.groups.is_empty() && !is_end || line.offset.is_none() && !of_kernel {
            return None;
        }
        if let Some(offset) = line.offset {
            let digits = offset.text.trim_start_matches("0x");
            let place = u64::from_str_radix(digits, radix).ok()?.checked_mul(unit)?;
            let at = place.checked_sub(*begin.get_or_insert(place))?;
            let at = usize::try_from(at).ok().filter(|at| *at <= MOST * 4)?;
            while repeats && !last.is_empty() && bytes.len() + last.len() <= at {
                bytes.extend_from_within(last.clone());
            }
            if at != bytes.len() {
                return None;
            }
        }
        repeats = false;
        if is_end {
            break;
        }
        if !group.fits(&line) {
            return None;
        }
        last = bytes.len()..bytes.len();
        for token in line.groups {
            group.append(&mut bytes, token)?;
        }
        last.end = bytes.len();
        if bytes.len() > MOST * 4 {
            return None;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [u32; 6] =
        [0x0007_8005, 0x0802_0000, 0x0802_0000, 0x00db_0220, 0x00c0_c000, 0x2049_0000];

    /// The six dwords as the tools of Debian 12 print them.
    const DUMPS: [&str; 35] = [
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
        "0000000 100005 000007 000000 004002 000000 004002 001040 000333\n0000020 140000 000300 000000 020111\n0000030\n",
        "0000000 005 200 007 000 000 000 002 010 000 000 002 010 040 002 333 000\n0000020 000 300 300 000 000 000 111 040\n0000030\n",
        "0000000     491525  134348800  134348800   14352928\n0000020   12632064  541655040\n0000030\n",
        "0000000      491525   134348800   134348800    14352928\n0000020    12632064   541655040\n0000030\n",
        "0000000 00078005 08020000 08020000 00db0220\n0000016 00c0c000 20490000\n0000024\n",
        "0000000 0802000000078005 00db022008020000\n0000020 2049000000c0c000\n0000030\n",
        "0000000 05 80 07 00 00 00 02 08 00 00 02 08 20 02 db 00  >............ ...<\n0000020 00 c0 c0 00 00 00 49 20                          >......I <\n0000030\n",
        "0000000    8005    0007    0000    0802    0000    0802    0220    00db\n0000010    c000    00c0    0000    2049                                \n0000018\n",
        "0000000 005 200 007 000 000 000 002 010 000 000 002 010 040 002 333 000\n0000010 000 300 300 000 000 000 111 040                                \n0000018\n",
        "0000000  100005  000007  000000  004002  000000  004002  001040  000333\n0000010  140000  000300  000000  020111                                \n0000018\n",
        "0580070000000208000002082002db0000c0c00000004920\n",
        " 05 80 07 00 00 00 02 08 00 00 02 08 20 02 db 00\n 00 c0 c0 00 00 00 49 20\n",
        "0000000 8005 0007 0000 0802 0000 0802 0220 00db\n0000020 c000 00c0 0000 2049\n0000030\n",
        "00000000: 0580 0700 0000 0208  ........\n00000008: 0000 0208 2002 db00  .... ...\n00000010: 00c0 c000 0000 4920  ......I \n",
        "0x4010 <w>:\t0x05\t0x80\t0x07\t0x00\t0x00\t0x00\t0x02\t0x08\n0x4018 <w+8>:\t0x00\t0x00\t0x02\t0x08\t0x20\t0x02\t0xdb\t0x00\n0x4020 <w+16>:\t0x00\t0xc0\t0xc0\t0x00\t0x00\t0x00\t0x49\t0x20\n",
        "0x4010 <w>:\t0x8005\t0x0007\t0x0000\t0x0802\t0x0000\t0x0802\t0x0220\t0x00db\n0x4020 <w+16>:\t0xc000\t0x00c0\t0x0000\t0x2049\n",
        "0x4010 <w>:\t0x0802000000078005\t0x00db022008020000\n0x4020 <w+16>:\t0x2049000000c0c000\n",
        "0x4010 <w>:\t491525\t134348800\t134348800\t14352928\n0x4020 <w+16>:\t12632064\t541655040\n",
        "[0] = 0x00078005\n[1] = 0x08020000\n[2] = 0x08020000\n[3] = 0x00db0220\n[4] = 0x00c0c000\n[5] = 0x20490000\n",
        "ib[8]: 0x00078005;\nib[9]: 0x08020000;\nib[10]: 0x08020000;\nib[11]: 0x00db0220;\nib[12]: 0x00c0c000;\nib[13]: 0x20490000;\n",
        "0: 491525\n1: 134348800\n2: 134348800\n3: 14352928\n4: 12632064\n5: 541655040\n",
        "491525\n134348800\n134348800\n14352928\n12632064\n541655040\n",
        "491525, 134348800, 134348800, 14352928, 12632064, 541655040\n",
        "491525 134348800 134348800 14352928 12632064 541655040\n",
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
        let repeated = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5];
        assert_eq!(dwords(dump).unwrap_or_default(), repeated);
        // `od -t x4 -j 8`: offsets are octal, and begin where the dump does.
        let dump = "0000010 00000001 00000002 00000003 00000004\n*\n0000070 00000005\n0000074\n";
        assert_eq!(dwords(dump).unwrap_or_default(), repeated);
    }

    /// Prints bytes as a tool does: `numbers` of a line of at most sixteen bytes, after an offset, with `*` for equal lines.
    fn printed(
        bytes: &[u8],
        offset: impl Fn(usize) -> String,
        numbers: impl Fn(&[u8]) -> String,
        stars: bool,
    ) -> String {
        let mut text = String::new();
        let mut before: Option<&[u8]> = None;
        let mut starred = false;
        for (n, line) in bytes.chunks(16).enumerate() {
            if stars && before == Some(line) {
                if !starred {
                    text += "*\n";
                }
                starred = true;
                continue;
            }
            (before, starred) = (Some(line), false);
            text += &format!("{}{}\n", offset(16 * n), numbers(line));
        }
        if stars {
            text += &format!("{}\n", offset(bytes.len()));
        }
        text
    }

    /// The numbers of `N` bytes each of a line, with a blank before each.
    fn each<const N: usize>(line: &[u8], number: impl Fn([u8; N]) -> String) -> String {
        line.as_chunks().0.iter().map(|bytes| format!(" {}", number(*bytes))).collect()
    }

    #[test]
    fn what_tools_print_is_read_as_the_same_bytes() {
        arbtest::arbtest(|u| {
            let mut bytes = Vec::new();
            for _ in 0..u.int_in_range(1..=3)? {
                let line: [u8; 16] = u.arbitrary()?;
                let times = u.int_in_range(1..=5)?;
                bytes.extend((0..times).flat_map(|_| line));
            }
            let whole = bytes.len() - 8 * u.int_in_range(0..=1)?;
            bytes.truncate(whole);
            let octal = |at: usize| format!("{at:07o}");
            let hex = |at: usize| format!("{at:07x}");
            let address = |at: usize| format!("0x{:x}:", 0x7fff_0000 + at);
            let word = |bytes| format!("{:04x}", u16::from_le_bytes(bytes));
            let dword = |bytes| format!("{:08x}", u32::from_le_bytes(bytes));
            let texts = [
                printed(
                    &bytes,
                    |at| format!("{at:08x}:"),
                    |line| each(line, |[a, b]| format!("{a:02x}{b:02x}")),
                    false,
                ),
                printed(
                    &bytes,
                    |at| format!("{at:08x} "),
                    |line| each(line, |[a]| format!("{a:02x}")) + "  |.|",
                    false,
                ),
                printed(&bytes, hex, |line| each(line, word), false),
                printed(&bytes, octal, |line| each(line, word), false),
                printed(
                    &bytes,
                    octal,
                    |line| each(line, |two| format!("{:06o}", u16::from_le_bytes(two))),
                    false,
                ),
                printed(&bytes, octal, |line| each(line, |[a]| format!("{a:03o}")), false),
                printed(&bytes, octal, |line| each(line, dword), true),
                printed(
                    &bytes,
                    octal,
                    |line| each(line, |four| format!("{:>10}", u32::from_le_bytes(four))),
                    true,
                ),
                printed(
                    &bytes,
                    octal,
                    |line| each(line, |four| format!("{:>11}", i32::from_le_bytes(four))),
                    true,
                ),
                printed(
                    &bytes,
                    octal,
                    |line| each(line, |eight| format!("{:016x}", u64::from_le_bytes(eight))),
                    true,
                ),
                printed(&bytes, address, |line| each(line, |[a]| format!("0x{a:02x}")), false),
                printed(
                    &bytes,
                    address,
                    |line| each(line, |two| format!("0x{}", word(two))),
                    false,
                ),
                printed(
                    &bytes,
                    address,
                    |line| each(line, |four| format!("0x{}", dword(four))),
                    false,
                ),
                printed(
                    &bytes,
                    |_| String::new(),
                    |line| each(line, |[a]| format!("{a:02x}")),
                    false,
                ),
            ];
            for text in texts {
                assert!(is_dump(&text), "{text}");
                match super::bytes(&text) {
                    Some(read) => assert_eq!(read, bytes, "{text}"),
                    // Decimal numbers that could be hexadecimal ones, and repetitions with two lengths.
                    None => assert!(text.contains('*'), "{text}"),
                }
            }
            Ok(())
        });
    }

    #[test]
    fn any_text_is_a_dump_or_is_not() {
        arbtest::arbtest(|u| {
            let pieces = [
                "0", "00000010", ":", " ", "  ", "\n", "*", "0x", "ff", "[", "]", "=", "|", "-",
                ",", "12345", "0000020", "07", "ib[1]", "é",
            ];
            let count = u.int_in_range(0..=40)?;
            let text: String =
                (0..count).map(|_| u.choose(&pieces).copied()).collect::<Result<_, _>>()?;
            let _ = (is_dump(&text), dwords(&text));
            Ok(())
        });
    }

    #[test]
    fn other_texts_are_not_dumps() {
        for text in [
            "",
            "00078005 08020000 08020000 00db0220 00c0c000 20490000\n",
            "[1, 2, 3]\n",
            "[5]\n",
            "int[0] = 5 ;\nbool[0] = 1 ;\n",
            "US_CODE_ADDR[0] = 5\n",
            // Eight digits without `0x` are hex, and so are all numbers with a zero before them.
            "12345678 23456789 34567890\n",
            "00001234 1234567\n",
            "2026\n",
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
        // Bytes without offsets: none of them is one.
        assert_eq!(dwords("05 80 07 00\n"), Some(vec![0x0007_8005]));
        // Printed by `hexdump`, or by `od -t x2`, which differ in how often the line is repeated.
        assert_eq!(
            dwords("0000000 0001 0002 0003 0004 0005 0006 0007 0008\n*\n0000060 0001 0002\n"),
            None
        );
        // A number too large for a dword.
        assert_eq!(dwords("1 4294967296\n"), None);
        // Half of a dword.
        assert_eq!(dwords("00000000: 0580 07\n"), None);
    }
}
