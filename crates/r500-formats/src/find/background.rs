//! How many bits dwords take as ordinary data.

use super::code_length::{BIT, Cost};

/// Earlier dwords that a dword is compared with.
pub(super) const BEFORE: usize = 8;

/// Returns the bits of the dwords from `start` on; those before are known.
pub(super) fn cost(words: &[u32], start: usize) -> Cost {
    (start..words.len()).map(|n| bits(&words[n.saturating_sub(BEFORE)..n], words[n]) * BIT).sum()
}

fn bits(before: &[u32], value: u32) -> Cost {
    const SMALL: u32 = 1 << 8;
    let is_text = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r' | 0);
    // A number near an earlier one: addresses, counters, offsets, colours of a smooth picture.
    let near = |other: &u32| value.wrapping_sub(*other).wrapping_add(SMALL) < 2 * SMALL;
    let half = |other: &u32| (value ^ other) >> 16 == 0 || (value ^ other) & 0xffff == 0;
    // A table of numbers with the same step.
    let is_next =
        |[earlier, last]: &[u32; 2]| value.wrapping_sub(*last) == last.wrapping_sub(*earlier);
    // A table of 16-bit numbers.
    let is_pair_near = |last: &u32| {
        [0, 16].iter().all(|shift| ((value >> shift) as u16).abs_diff((last >> shift) as u16) < 128)
    };
    // A table of small bytes.
    let is_small_bytes = |word: u32| word.to_le_bytes().iter().all(|byte| *byte < 32);
    let bytes = value.to_le_bytes();
    if value == 0 {
        2
    } else if before.contains(&value) || before.last_chunk().is_some_and(is_next) {
        5
    } else if !(SMALL..=u32::MAX - SMALL).contains(&value) {
        11
    } else if bytes[1..] == bytes[..3] {
        12
    } else if before.iter().any(near) {
        14
    } else if before.last().is_some_and(is_pair_near) {
        18
    } else if is_small_bytes(value) && before.iter().rev().take(2).all(|word| is_small_bytes(*word))
    {
        20
    } else if value < 1 << 16 || before.iter().any(half) {
        21
    } else if bytes.iter().all(|byte| is_text(*byte)) {
        26
    } else {
        32
    }
}
