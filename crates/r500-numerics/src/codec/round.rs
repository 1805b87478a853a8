//! Round to nearest even, for all codecs.

/// Returns `value / 2^shift` rounded to the nearest integer, ties to even.
///
/// `value` is below 2^63, so every shift of 64 or more gives less than one half.
#[inline]
pub(super) const fn shift_round_even(value: u64, shift: u32) -> u64 {
    if shift == 0 {
        return value;
    }
    if shift >= 64 {
        return 0;
    }
    let floor = value >> shift;
    let rest = value & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    let up = rest > half || (rest == half && floor & 1 == 1);
    floor + up as u64
}

#[cfg(test)]
mod tests {
    use super::shift_round_even;

    #[test]
    fn halves_go_to_the_even_neighbour() {
        // In quarters: 0, 1/4, 1/2, 3/4, 1, 5/4, 3/2, 7/4, 2.
        let rounded: Vec<u64> = (0..=8).map(|v| shift_round_even(v, 2)).collect();
        assert_eq!(rounded, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn every_shift_is_defined() {
        assert_eq!(shift_round_even(5, 0), 5);
        // 2^62 / 2^63 is a tie: the even 0. Just above it: 1.
        assert_eq!(shift_round_even(1 << 62, 63), 0);
        assert_eq!(shift_round_even((1 << 62) + 1, 63), 1);
        assert_eq!(shift_round_even(u64::MAX >> 1, 64), 0);
        assert_eq!(shift_round_even(u64::MAX >> 1, 1000), 0);
    }
}
