//! Near-valid command streams.

/// Changes random dwords, so that most of them begin packets that exist: short packets of type 0 to registers from VAP to ZB, packets
/// of type 2, draws, arrays, indices and relocations. Others stay as they are.
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
