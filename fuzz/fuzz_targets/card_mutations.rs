//! Property: real submissions with some dwords changed, and with buffers that are too small, end on the virtual card without a panic,
//! within limits.
#![no_main]

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use libfuzzer_sys::fuzz_target;
use r500_card::{Card, Limits};
use r500_exec::Engine;
use r500_exec::reference::Reference;
use r500_gen::packets::mutate;
use r500_gen::{Bytes, Choices};
use r500_stream::capture::{Event, Limits as PlayerLimits, Player, Reader};
use r500_stream::{Buffer, Relocation, Submission};

const LIMITS: Limits = Limits {
    time: Some(Limits::TIME),
    draws: 1 << 8,
    vertices: 1 << 12,
    vertex_instructions: 1 << 16,
    pixels: 1 << 16,
    quads: 1 << 13,
    group_instructions: 1 << 12,
    fragment_instructions: 1 << 20,
    texture_bytes: 1 << 22,
};

fuzz_target!(|bytes: &[u8]| {
    let captured = captured();
    let mut choices = Bytes::new(bytes);
    let engine: Box<dyn Engine + Send> = match choices.below(4) {
        0 => Box::new(Reference),
        1 => Box::new(r500_jit::Jit::new()),
        _ => Box::new(r500_fast::Fast::new()),
    };
    let mut card = Card::with_engine(engine);
    card.set_limits(LIMITS);
    // Registers keep their values between submissions.
    for _ in 0..=choices.below(3) {
        let first = choices.below(captured.len() as u32);
        let mut submission = copy(&captured[first as usize], choices.pick(1, &[1, 1, 16, 4096]));
        mutate(&mut submission.words, &mut choices);
        if let Err(error) = card.submit(&submission) {
            assert!(!error.to_string().is_empty());
        }
        assert!(
            card.report().notes().all(|(note, count)| count > 0 && !note.to_string().is_empty())
        );
    }
});

/// Returns the submissions of the captures in `tests/captures`, with the buffer contents at that point of the capture.
fn captured() -> &'static [Submission] {
    static SUBMISSIONS: OnceLock<Vec<Submission>> = OnceLock::new();
    SUBMISSIONS.get_or_init(|| {
        let captures: [&[u8]; 3] = [
            include_bytes!("../../tests/captures/triangle.r5cs"),
            include_bytes!("../../tests/captures/texture.r5cs"),
            include_bytes!("../../tests/captures/scenes.r5cs"),
        ];
        let mut submissions = Vec::new();
        for capture in captures {
            let mut player = Player::new(PlayerLimits::default());
            for record in Reader::new(capture).expect("a capture") {
                let event =
                    player.apply(record.expect("a whole record")).expect("records in order");
                if let Some(Event::Submission(submission)) = event {
                    submissions.push(submission);
                }
            }
        }
        submissions
    })
}

/// Returns a submission with separate buffers, smaller by the factor `shrink`.
fn copy(submission: &Submission, shrink: usize) -> Submission {
    let relocations = submission.relocations.iter().map(|relocation| {
        let buffer = Buffer::zeroed(relocation.id(), relocation.buffer.size() / shrink);
        for (to, from) in buffer.words().iter().zip(relocation.buffer.words()) {
            to.store(from.load(Relaxed), Relaxed);
        }
        Relocation { buffer, ..relocation.clone() }
    });
    Submission {
        words: submission.words.clone(),
        flags: submission.flags,
        relocations: relocations.collect(),
    }
}
