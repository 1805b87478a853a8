//! Real submissions with random changes: every stream ends without a panic, within limits, and inside its buffers. To
//! run longer: `ARBTEST_BUDGET_MS=300000 cargo test -p r500-card --test mutations -- --nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use r500_card::{Card, Limits};
use r500_gen::Bytes;
use r500_gen::packets::{make_near_valid, mutate};
use r500_stream::capture::{Event, Limits as PlayerLimits, Player, Reader};
use r500_stream::{Buffer, BufferId, Relocation, Submission};

/// Returns the submissions of a capture, with buffers as at its end.
fn submissions(path: &Path) -> Vec<Submission> {
    let mut player = Player::new(PlayerLimits::default());
    let mut found = Vec::new();
    for record in Reader::new(fs::File::open(path).unwrap()).unwrap() {
        if let Some(Event::Submission(submission)) = player.apply(record.unwrap()).unwrap() {
            found.push(submission);
        }
    }
    found
}

const LIMITS: Limits = Limits {
    time: Some(Limits::TIME),
    draws: 1 << 8,
    vertices: 1 << 12,
    vertex_instructions: 1 << 16,
    pixels: 1 << 18,
    quads: 1 << 14,
    group_instructions: 1 << 12,
    fragment_instructions: 1 << 22,
    texture_bytes: 1 << 24,
};

/// Returns the search time: the variable of `arbtest`, which it uses itself only if a test sets no time.
fn budget_ms(usual: u64) -> u64 {
    std::env::var("ARBTEST_BUDGET_MS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn mutated_submissions_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let mut captures = Vec::new();
    for name in ["scenes.r5cs", "texture.r5cs", "triangle.r5cs"] {
        captures.extend(submissions(&folder.join(name)));
    }
    let (mut runs, mut given_up, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
    arbtest::arbtest(|u| {
        let Submission { mut words, flags, relocations } = u.choose(&captures)?.clone();
        mutate(&mut words, &mut Bytes::new(u.bytes(u.len().min(64))?));
        // Separate buffers, some of them much too small.
        let shrink = *u.choose(&[1, 1, 1, 16, 4096])?;
        let relocations = relocations.into_iter().map(|relocation| {
            let buffer = Buffer::zeroed(relocation.id(), relocation.buffer.size() / shrink);
            for (to, from) in buffer.words().iter().zip(relocation.buffer.words()) {
                use std::sync::atomic::Ordering::Relaxed;
                to.store(from.load(Relaxed), Relaxed);
            }
            Relocation { buffer, ..relocation }
        });
        let submission = Submission { words, flags, relocations: relocations.collect() };
        let mut card = Card::new();
        card.set_limits(LIMITS);
        let start = Instant::now();
        if let Err(error) = card.submit(&submission) {
            assert!(!error.to_string().is_empty());
            given_up += 1;
        }
        for (note, count) in card.report().notes() {
            assert!(count > 0 && !note.to_string().is_empty());
        }
        slowest = slowest.max(start.elapsed());
        runs += 1;
        Ok(())
    })
    .budget_ms(budget_ms(2_000));
    eprintln!("{runs} submissions, {given_up} given up, the slowest took {slowest:?}");
}

/// Random dwords, most of which begin valid packets.
#[test]
fn random_streams_end() {
    arbtest::arbtest(|u| {
        let mut words: Vec<u32> = u.arbitrary()?;
        make_near_valid(&mut words);
        let relocations = (0..3).map(|n| Relocation {
            buffer: Buffer::zeroed(BufferId(n), 1 << (10 + 3 * n)),
            read_domains: 4,
            write_domain: 4,
            flags: 0,
            tiling: Default::default(),
        });
        let submission = Submission { words, flags: 1, relocations: relocations.collect() };
        let mut card = Card::new();
        card.set_limits(LIMITS);
        let _ = card.submit(&submission);
        Ok(())
    })
    .budget_ms(budget_ms(500));
}
