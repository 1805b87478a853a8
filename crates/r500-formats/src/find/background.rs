//! How many bits a dword takes as ordinary data.

use super::code_length::{BIT, Cost};

/// Earlier dwords that a dword is compared with.
const BEFORE: usize = 8;

/// The dwords before, in a ring.
#[derive(Debug, Default)]
pub(super) struct Background {
    before: [u32; BEFORE],
    next: usize,
}

impl Background {
    /// Returns the bits of the next dword.
    pub(super) fn cost(&mut self, value: u32) -> Cost {
        let cost = self.bits(value) * BIT;
        self.before[self.next] = value;
        self.next = (self.next + 1) % BEFORE;
        cost
    }

    fn bits(&self, value: u32) -> Cost {
        const SMALL: u32 = 1 << 8;
        let is_text = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r' | 0);
        // A number near an earlier one: addresses, counters, offsets, colours of a smooth picture.
        let near = |other: &u32| value.wrapping_sub(*other).wrapping_add(SMALL) < 2 * SMALL;
        let same_half = |other: &u32| (value ^ other) >> 16 == 0;
        let same_low = |other: &u32| (value ^ other) & 0xffff == 0;
        let bytes = value.to_le_bytes();
        if value == 0 {
            2
        } else if self.before.contains(&value) {
            5
        } else if value < SMALL || value > u32::MAX - SMALL {
            11
        } else if self.before.iter().any(near) {
            14
        } else if bytes[1..] == bytes[..3] {
            12
        } else if value < 1 << 16 || self.before.iter().any(same_half) || self.before.iter().any(same_low) {
            21
        } else if bytes.iter().all(|byte| is_text(*byte)) {
            26
        } else {
            32
        }
    }
}
