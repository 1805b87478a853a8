//! Property: a capture whose records are changed, repeated, reordered and resized replays within its limits: player,
//! submissions, frames, hashes and readings. What an engine draws without an error, the reference engine draws, too: the
//! buffers have the same hashes, and frames the same pixels.
#![no_main]

use std::time::{Duration, Instant};

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use r500_card::{Card, CardError, Limits};
use r500_exec::Engine;
use r500_exec::reference::Reference;
use r500_fuzz::captures;
use r500_stream::capture::{
    Event, Limits as PlayerLimits, Picture, PlayError, Player, Record, buffer_hash,
};
use r500_stream::{Buffer, BufferId, FrameError, Tiling, frame_rgb};

const LIMITS: Limits = Limits {
    time: Some(Limits::TIME),
    draws: 1 << 6,
    vertices: 1 << 12,
    vertex_instructions: 1 << 16,
    pixels: 1 << 14,
    quads: 1 << 11,
    group_instructions: 1 << 12,
    fragment_instructions: 1 << 18,
    texture_bytes: 1 << 20,
};

/// Time of a replay; with a sanitizer the limits alone allow a minute.
const REPLAY_TIME: Duration = Duration::from_secs(3);

/// Bytes of all buffers at one time.
const MEMORY: u64 = 4 << 20;

/// Bytes that are hashed in a replay: a submission may name every buffer, and a capture has any number of submissions.
const HASHED: u64 = 32 << 20;

/// Pixels of all frames of a replay; a frame may have 4096x4096, which takes long with a sanitizer.
const FRAME_PIXELS: u64 = 1 << 18;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    captures::mutate(data, size, max_size, seed)
});

fuzz_crossover!(|one: &[u8], two: &[u8], out: &mut [u8], seed: u32| {
    captures::cross_over(one, two, out, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let records = captures::records(bytes);
    if records.is_empty() {
        return;
    }
    assert_eq!(captures::records(&captures::encoded(&records)), records);
    // Any choice that an input determines: the capture's own bytes have no room for it.
    let choice = bytes.iter().fold(0u32, |sum, &byte| sum.wrapping_mul(31) ^ u32::from(byte));
    let engine: Box<dyn Engine + Send> = match choice % 4 {
        0 => Box::new(r500_jit::Jit::new()),
        _ => Box::new(r500_fast::Fast::new()),
    };
    let last = (choice / 4 % 4 == 0).then_some(u64::from(choice / 16 % 8));
    let drawn = replay(&records, engine, last);
    let wanted = replay(&records, Box::new(Reference), last);
    // Limits of work end engines at different pixels.
    if drawn.complete && wanted.complete {
        assert_eq!(drawn.hashes, wanted.hashes);
        assert_eq!(drawn.frames, wanted.frames);
    }
});

/// What a replay left.
#[derive(Default)]
struct Replayed {
    /// No submission was given up.
    complete: bool,
    /// Hashes of the buffers of each submission after it.
    hashes: Vec<Vec<(BufferId, u64)>>,
    frames: Vec<Vec<u8>>,
}

/// Replays records up to a draw, if one is given.
fn replay(records: &[Record], engine: Box<dyn Engine + Send>, last: Option<u64>) -> Replayed {
    let mut card = Card::with_engine(engine);
    card.set_limits(LIMITS);
    // A capture has any number of submissions, each with these limits.
    card.set_deadline(Instant::now().checked_add(REPLAY_TIME));
    let mut player = Player::new(PlayerLimits { bytes: MEMORY });
    let mut replayed = Replayed { complete: true, ..Replayed::default() };
    let end = Instant::now().checked_add(REPLAY_TIME);
    let (mut pixels, mut hashed) = (0, 0);
    for record in records {
        if let Record::Info(info) = record {
            for reading in &info.readings {
                let Some((name, value)) = reading.split_once('=') else { continue };
                if let Err(error) = card.set_reading(name, value) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
        match player.apply(record.clone()) {
            Ok(Some(Event::Submission(submission))) => {
                let result = match last {
                    Some(draw) => card.submit_through(&submission, draw),
                    None => card.submit(&submission).map(|()| false),
                };
                match &result {
                    // The time limit of a replay ends it.
                    Err(CardError::Time) => return Replayed::default(),
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        replayed.complete = false;
                    }
                    Ok(_) => {}
                }
                let buffers = submission.buffers();
                hashed += buffers.iter().map(|buffer| buffer.size() as u64).sum::<u64>();
                if hashed > HASHED {
                    return replayed;
                }
                let hashes: Vec<(BufferId, u64)> =
                    buffers.iter().map(|buffer| (buffer.id(), buffer_hash(buffer))).collect();
                check_hashes(&player, &hashes);
                replayed.hashes.push(hashes);
                if let Ok(true) = result {
                    if let Some(target) = card.target(0) {
                        let [width, height] = target.size;
                        assert_eq!(target.colors.len(), width as usize * height as usize);
                    }
                    return replayed;
                }
            }
            Ok(Some(Event::Hashes(hashes))) => {
                // A record may name a buffer any number of times.
                let Ok(different) = player.mismatches(&hashes, end) else {
                    return Replayed::default();
                };
                assert!(different.len() <= hashes.len());
                let whole =
                    different.iter().filter_map(|(id, found)| Some((player.buffer(*id)?, found)));
                for (buffer, found) in whole.take(8) {
                    assert_eq!(*found, Some(buffer_hash(buffer)));
                }
            }
            Ok(Some(Event::Flip { buffer, picture, tiling })) => {
                let size = u64::from(picture.width) * u64::from(picture.height);
                if pixels + size <= FRAME_PIXELS || size > 1 << 24 {
                    pixels += size.min(1 << 24);
                    replayed.frames.extend(frame(&buffer, &picture, tiling));
                }
            }
            Ok(_) => {}
            Err(PlayError::TooLarge { bytes, limit }) => assert!(bytes > limit && limit == MEMORY),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if matches!(record, Record::Create { .. }) {
            assert!(held(records, &player) <= MEMORY);
        }
    }
    let notes = card.report().notes();
    assert!({ notes }.all(|(note, count)| count > 0 && !note.to_string().is_empty()));
    replayed
}

/// Returns the bytes of the buffers that exist.
fn held(records: &[Record], player: &Player) -> u64 {
    let names = records.iter().filter_map(|record| match record {
        Record::Create { buffer, .. } => Some(*buffer),
        _ => None,
    });
    let names: std::collections::BTreeSet<BufferId> = names.collect();
    let buffers = names.into_iter().filter_map(|name| player.buffer(name));
    buffers.map(|buffer| (buffer.size() as u64).max(PlayerLimits::LEAST)).sum()
}

/// The hashes of what buffers hold do not differ from them; at a deadline nothing is hashed.
fn check_hashes(player: &Player, hashes: &[(BufferId, u64)]) {
    let same = |(id, hash): &(BufferId, u64)| player.buffer(*id).map(buffer_hash) == Some(*hash);
    assert!(hashes.iter().all(same));
    assert_eq!(player.mismatches(hashes, None).ok(), Some(Vec::new()));
    let late = player.mismatches(hashes, Some(Instant::now()));
    assert_eq!(late.is_err(), !hashes.is_empty());
}

/// Returns the pixels of a frame, if it is one.
fn frame(buffer: &Buffer, picture: &Picture, tiling: Tiling) -> Option<Vec<u8>> {
    match frame_rgb(buffer, picture, tiling, None) {
        Ok(rgb) => {
            assert_eq!(rgb.len(), picture.width as usize * picture.height as usize * 3);
            let late = frame_rgb(buffer, picture, tiling, Some(Instant::now()));
            assert!(matches!(late, Err(FrameError::Time(_))), "{late:?}");
            Some(rgb)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}
