//! How the numbers of a dump are printed.

use super::line::{Line, Mark, decimal};
use crate::hex;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    /// Two digits, or four of two bytes in the order of memory.
    Bytes,
    /// Four digits of a number of 16 bits.
    Words,
    /// Eight digits, or `0x` and up to eight.
    Dwords,
    /// Sixteen digits of a number of 64 bits.
    Pairs,
    /// Six octal digits of a number of 16 bits.
    OctalWords,
    /// Three octal digits of a byte.
    OctalBytes,
    /// A decimal number of 32 bits, with or without sign.
    Decimals,
}

impl Group {
    /// All, in the order in which they are tried: numbers whose digits show their size come first.
    pub(super) const ALL: [Self; 7] = [
        Self::Bytes,
        Self::Words,
        Self::Dwords,
        Self::Pairs,
        Self::OctalWords,
        Self::OctalBytes,
        Self::Decimals,
    ];

    /// Returns whether the numbers of a line can be of this kind.
    pub(super) fn fits(self, line: &Line<'_>) -> bool {
        let mark = line.offset.map(|offset| offset.mark);
        // gdb prints bytes, halves and pairs with all their digits. One alone may be a short dword.
        let of_gdb = |digits: usize| {
            let address = line.offset.is_some_and(|offset| offset.text.starts_with("0x"));
            let sized = |token: &&str| token.strip_prefix("0x").map(str::len) == Some(digits);
            address && (line.groups.len() > 1 || digits > 8) && line.groups.iter().all(sized)
        };
        let long = |length: usize| {
            line.groups.iter().all(|token| token.len() == length && !token.starts_with("0x"))
        };
        match self {
            // `xxd` has a colon after the offset.
            Self::Bytes => of_gdb(2) || long(2) || mark == Some(Mark::Colon) && all_even(line),
            Self::Words => of_gdb(4) || long(4) && mark != Some(Mark::Colon),
            Self::Dwords => line.groups.iter().all(|token| hex::dword(token).is_some()),
            Self::Pairs => of_gdb(16) || long(16),
            Self::OctalWords => long(6) && mark == Some(Mark::Length),
            Self::OctalBytes => long(3) && mark == Some(Mark::Length),
            Self::Decimals => line.groups.iter().all(|token| decimal(token)),
        }
    }

    /// Returns whether offsets count in this way where numbers of this kind are: seven digits are the octal or decimal ones of `od`, but for the
    /// numbers that `hexdump` prints, too.
    pub(super) fn has_offsets(self, line: &Line<'_>, (radix, _): (u32, u64)) -> bool {
        let digits = line.offset.map_or(0, |offset| offset.text.len());
        let of_od = matches!(self, Self::Dwords | Self::Pairs | Self::Decimals);
        !(of_od && digits == 7 && radix == 16)
    }

    /// Appends the bytes of a group in the order of memory; `None` if its number is too large.
    pub(super) fn append(self, bytes: &mut Vec<u8>, token: &str) -> Option<()> {
        let digits = token.strip_prefix("0x").unwrap_or(token);
        match self {
            Self::Bytes => {
                for n in (0..digits.len()).step_by(2) {
                    bytes.push(u8::from_str_radix(digits.get(n..n + 2)?, 16).ok()?);
                }
            }
            Self::Words => bytes.extend(u16::from_str_radix(digits, 16).ok()?.to_le_bytes()),
            Self::Dwords => bytes.extend(hex::dword(token)?.to_le_bytes()),
            Self::Pairs => bytes.extend(u64::from_str_radix(digits, 16).ok()?.to_le_bytes()),
            Self::OctalWords => bytes.extend(u16::from_str_radix(digits, 8).ok()?.to_le_bytes()),
            Self::OctalBytes => bytes.push(u8::from_str_radix(digits, 8).ok()?),
            Self::Decimals => bytes.extend(decimal_dword(token)?.to_le_bytes()),
        }
        Some(())
    }
}

/// Returns whether groups are bytes without blanks between two: all are of four digits but the last, which may be of two.
fn all_even(line: &Line<'_>) -> bool {
    let last = line.groups.len().saturating_sub(1);
    line.groups
        .iter()
        .enumerate()
        .all(|(n, token)| token.len() == 4 || token.len() == 2 && n == last)
}

/// Parses a decimal number of 32 bits, with or without sign.
fn decimal_dword(token: &str) -> Option<u32> {
    match token.starts_with('-') {
        true => token.parse::<i32>().ok().map(i32::cast_unsigned),
        false => token.parse().ok(),
    }
}
