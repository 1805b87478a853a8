//! Lines of dumps: an offset and groups of digits.

/// The parts of a line.
pub(super) struct Line<'a> {
    pub(super) offset: Option<Offset<'a>>,
    pub(super) groups: Vec<&'a str>,
}

/// The offset of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offset<'a> {
    /// As printed.
    pub(super) text: &'a str,
    pub(super) mark: Mark,
}

/// What shows that a number is an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    /// A colon after it: `xxd`, gdb, the kernel, numbered dwords.
    Colon,
    /// Nothing, but its length: `hexdump`, `od`.
    Length,
    /// Brackets, as an index has: `ib[3] =`.
    Brackets,
}

impl Mark {
    /// Returns how offsets with this mark count: the radix of their digits, and the bytes of one.
    pub(super) fn ways(self) -> &'static [(u32, u64)] {
        match self {
            Self::Colon => &[(16, 1), (10, 4), (16, 4)],
            // `od -A d` has decimal ones.
            Self::Length => &[(16, 1), (8, 1), (10, 1), (10, 4)],
            Self::Brackets => &[(10, 4), (16, 4)],
        }
    }
}

pub(super) fn hex_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns whether a text is a decimal number as tools print it: without zeros before it.
pub(super) fn decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (1..=10).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (!digits.starts_with('0') || text == "0")
}

/// Returns a line without what the kernel puts before messages, and whether it has that.
pub(super) fn without_kernel(line: &str) -> (&str, bool) {
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
pub(super) fn split(line: &str) -> Option<Line<'_>> {
    let line = line.trim();
    // `hexdump -C` has the characters between bars, `od -t x1z` between angle brackets.
    let (line, has_end) = match line.split_once('|').or_else(|| line.split_once("  >")) {
        Some((line, rest)) if rest.ends_with(['|', '<']) || rest.is_empty() => (line, true),
        _ => (line, false),
    };
    let (offset, rest) = match (index(line), line.split_once(':')) {
        (Some((offset, rest)), _) => (Some(offset), rest),
        (None, Some((offset, rest))) => {
            // gdb: `0x401000 <main+4>:`.
            let text = offset.split_whitespace().next()?;
            let is_symbol = offset.trim_end().ends_with('>');
            if !(is_symbol || text == offset.trim()) || !is_number(text) {
                return None;
            }
            (Some(Offset { text, mark: Mark::Colon }), rest)
        }
        (None, None) => {
            let end = line.find(char::is_whitespace).unwrap_or(line.len());
            let (text, rest) = line.split_at(end);
            // A dword of hex text is as long as the offsets of `hexdump -C`, which has bytes after them; bytes alone are shorter.
            let second = rest.split_whitespace().next().unwrap_or_default();
            let next = second.len();
            let is_offset = match text.len() {
                1..=6 if second.starts_with("0x") => true,
                // A number, of a dword.
                1..=5 => next == 8,
                6 => matches!(next, 2 | 4 | 8),
                7 => next > 0,
                8 => next == 2,
                _ => next > 0,
            };
            match hex_digits(text) && is_offset {
                true => (Some(Offset { text, mark: Mark::Length }), rest),
                false => (None, line),
            }
        }
    };
    // `xxd` has the characters after two blanks; the columns of other tools are apart by any number.
    let rest = rest.trim_start();
    let digits = match offset {
        Some(Offset { mark: Mark::Colon, .. }) if !has_end && !rest.starts_with("0x") => {
            rest.split_once("  ").map_or(rest, |(digits, _)| digits)
        }
        _ => rest,
    };
    let groups: Vec<&str> =
        digits.split([' ', '\t', ',', ';']).filter(|token| !token.is_empty()).collect();
    // Only what says that it is an offset, and the blanks of `od`, may have any decimal numbers after it.
    let is_group = |token: &&str| match token.strip_prefix("0x") {
        Some(digits) => hex_digits(digits) && digits.len() <= 16,
        None => {
            hex_digits(token) && matches!(token.len(), 2 | 3 | 4 | 6 | 8 | 16)
                || offset.is_some() && decimal(token)
        }
    };
    groups.iter().all(is_group).then_some(Line { offset, groups })
}

/// Splits a line with an index: `[3] 0x5`, `[3]: 5`, `ib[3] = 0x5;`.
fn index(line: &str) -> Option<(Offset<'_>, &str)> {
    let (name, rest) = line.split_once('[')?;
    let (text, rest) = rest.split_once(']')?;
    let name = name.trim();
    // Registers and the language's own arrays are not memory: `TX_FILTER0[0] = 5`, `int[0] = 5`.
    let is_name = name.is_empty()
        || name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'>' | b'-'))
            && name.bytes().any(|b| b.is_ascii_lowercase())
            && !matches!(name, "temp" | "const" | "int" | "bool" | "tex" | "out" | "input");
    let text = text.trim();
    if !is_name || !is_number(text) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix([':', '=']).unwrap_or(rest);
    Some((Offset { text, mark: Mark::Brackets }, rest))
}

fn is_number(text: &str) -> bool {
    hex_digits(text.strip_prefix("0x").unwrap_or(text))
}
