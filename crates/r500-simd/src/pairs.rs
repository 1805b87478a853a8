//! Shared memory by pairs of dwords.

#![allow(unsafe_code, reason = "a slice of dwords is one of pairs")]

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Returns shared memory as pairs of dwords, the first at the lower address; `None` if it does not begin at a multiple of 8 bytes. A last dword
/// without another one is left out.
#[must_use]
pub fn as_pairs(words: &[AtomicU32]) -> Option<&[AtomicU64]> {
    // SAFETY: both types allow any bits and shared writes. Pairs begin where their alignment allows.
    let (before, pairs, _) = unsafe { words.align_to::<AtomicU64>() };
    before.is_empty().then_some(pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn pairs_are_two_dwords_each() {
        let words: Vec<AtomicU32> = (1..=9).map(AtomicU32::new).collect();
        // One of the two begins at a multiple of 8.
        let first = usize::from(as_pairs(&words).is_none());
        let words = &words[first..first + 7];
        let pairs = as_pairs(words).unwrap();
        assert_eq!(pairs.len(), 3);
        pairs[1].store(u64::from_ne_bytes([7, 7, 7, 7, 8, 8, 8, 8]), Ordering::Relaxed);
        let dwords: Vec<u32> = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        let n = first as u32;
        let expected = [1 + n, 2 + n, 0x0707_0707, 0x0808_0808, 5 + n, 6 + n, 7 + n];
        assert_eq!(dwords, expected);
        assert!(as_pairs(&words[1..]).is_none());
    }
}
