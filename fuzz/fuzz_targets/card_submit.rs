//! Property: any dwords submitted to the virtual card, and any capture played on it, end without a panic, within
//! limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_card::{Card, Limits};
use r500_stream::capture::{Event, Limits as PlayerLimits, Player, Reader, is_capture};
use r500_stream::{Buffer, BufferId, Relocation, Submission, Tiling};

fuzz_target!(|bytes: &[u8]| {
    let mut card = Card::new();
    card.set_limits(Limits {
        time: Some(Limits::TIME),
        draws: 1 << 10,
        vertices: 1 << 10,
        vertex_instructions: 1 << 14,
        pixels: 1 << 16,
        quads: 1 << 14,
        group_instructions: 1 << 10,
        fragment_instructions: 1 << 22,
        texture_bytes: 1 << 22,
    });
    if is_capture(bytes) {
        let Ok(reader) = Reader::new(bytes) else { return };
        let mut player = Player::new(PlayerLimits { bytes: 1 << 20 });
        for record in reader.flatten() {
            if let Ok(Some(Event::Submission(submission))) = player.apply(record) {
                submit(&mut card, &submission);
            }
        }
        return;
    }
    // The first byte selects flags; the rest are dwords, which may refer to three buffers.
    let Some((flags, bytes)) = bytes.split_first() else { return };
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let relocations = (0..3).map(|n| Relocation {
        buffer: Buffer::zeroed(BufferId(n), 1 << (10 + 3 * n)),
        read_domains: 4,
        write_domain: 4,
        flags: 0,
        tiling: Tiling { flags: u32::from(flags >> 2), pitch: 256 },
    });
    let relocations = relocations.collect();
    let submission = Submission { words, flags: u32::from(flags & 1), relocations };
    submit(&mut card, &submission);
    // Registers keep their values for the next submission.
    if flags & 2 != 0 {
        submit(&mut card, &submission);
    }
});

fn submit(card: &mut Card, submission: &Submission) {
    if let Err(error) = card.submit(submission) {
        assert!(!error.to_string().is_empty());
    }
    assert!(card.report().notes().all(|(note, count)| count > 0 && !note.to_string().is_empty()));
}
