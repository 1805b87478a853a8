//! Random near-valid command streams.

use crate::Choices;

/// Changes random dwords, so that most of them begin valid packets: short packets of type 0 to registers from VAP to
/// ZB, packets of type 2, draws, arrays, indices and relocations. Others stay.
pub fn make_near_valid(words: &mut [u32]) {
    for word in words {
        match *word >> 29 {
            0..=2 => *word = *word & 0x0003_9fff | 0x400,
            3 => *word = 0x8000_0000,
            4 => *word = 0xc000_0000 | *word & 0x0003_0f00 | 0x3000,
            5 => *word = 0xc000_1000,
            _ => {}
        }
    }
}

/// Applies one to eight mutations: bits, values, register numbers, copies of a few dwords, truncation.
pub fn mutate(words: &mut Vec<u32>, choices: &mut impl Choices) {
    for _ in 0..=choices.below(8) {
        let Ok(len) = u32::try_from(words.len()) else { return };
        if len == 0 {
            return;
        }
        let at = choices.below(len) as usize;
        match choices.below(8) {
            0..=2 => words[at] ^= 1 << choices.below(32),
            3 => words[at] = choices.bits(),
            4 => words[at] = choices.pick(0, &[1, u32::MAX, 0x7f80_0000, 0x7fc0_0000, 0x8000_0000]),
            // Another register, or another command.
            5 => words[at] = words[at] & !0x1fff | (0x400 + choices.below(0x1c00)),
            6 => {
                let from = choices.below(len) as usize;
                let count = (1 + choices.below(16) as usize).min(words.len() - from.max(at));
                words.copy_within(from..from + count, at);
            }
            _ => words.truncate(at),
        }
    }
}
