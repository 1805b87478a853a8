#![allow(clippy::unwrap_used)]

use std::io::Cursor;
use std::time::{Duration, Instant};

use arbitrary::{Result, Unstructured};

use super::*;
use crate::{Buffer, BufferId, OutOfTime, Relocation, Submission, Tiling};

fn any_record(u: &mut Unstructured<'_>) -> Result<Record> {
    let buffer = BufferId(u.arbitrary()?);
    Ok(match u.int_in_range(0..=10)? {
        0 => Record::Info(Info {
            chip: u.arbitrary()?,
            driver: u.arbitrary()?,
            program: u.arbitrary()?,
            readings: u.arbitrary()?,
        }),
        1 => Record::Create { buffer, size: u.arbitrary()?, domain: u.arbitrary()? },
        2 => Record::Close { buffer },
        3 => Record::Map { buffer },
        4 => Record::Tiling {
            buffer,
            tiling: Tiling { flags: u.arbitrary()?, pitch: u.arbitrary()? },
        },
        5 => {
            // Long enough to be compressed, now and then.
            let bytes = vec![u.arbitrary()?; u.int_in_range(0..=2000)?];
            Record::Contents { buffer, block: u.arbitrary()?, bytes }
        }
        6 => Record::Submission {
            flags: u.arbitrary()?,
            words: u.arbitrary()?,
            relocations: (0..u.int_in_range(0..=3)?)
                .map(|_| {
                    Ok(NamedRelocation {
                        buffer: BufferId(u.arbitrary()?),
                        read_domains: u.arbitrary()?,
                        write_domain: u.arbitrary()?,
                        flags: u.arbitrary()?,
                    })
                })
                .collect::<Result<_>>()?,
        },
        7 => Record::Hashes(vec![(buffer, u.arbitrary()?), (BufferId(0), u.arbitrary()?)]),
        8 => Record::Wait { buffer },
        9 => Record::Flip(Picture {
            buffer,
            width: u.arbitrary()?,
            height: u.arbitrary()?,
            pitch: u.arbitrary()?,
            offset: u.arbitrary()?,
            format: u.arbitrary()?,
        }),
        _ => Record::Unknown { tag: u.int_in_range(100..=255)?, bytes: u.arbitrary()? },
    })
}

fn any_records(u: &mut Unstructured<'_>) -> Result<Vec<Record>> {
    (0..u.int_in_range(0..=8)?).map(|_| any_record(u)).collect()
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.into_inner()
}

fn read(bytes: &[u8]) -> (Vec<Record>, bool) {
    let mut reader = Reader::new(bytes).unwrap();
    let records = reader.by_ref().collect::<std::result::Result<_, _>>().unwrap();
    (records, reader.truncated())
}

#[test]
fn records_survive_writing_and_reading() {
    arbtest::arbtest(|u| {
        let records = any_records(u)?;
        assert_eq!(read(&written(&records)), (records, false));
        Ok(())
    });
}

#[test]
fn a_truncated_file_keeps_its_whole_records() {
    arbtest::arbtest(|u| {
        let records = any_records(u)?;
        // Where each record ends.
        let ends: Vec<usize> = (0..=records.len()).map(|n| written(&records[..n]).len()).collect();
        let bytes = written(&records);
        let cut = u.int_in_range(12..=bytes.len())?;
        let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        let (kept, truncated) = read(&bytes[..cut]);
        assert_eq!(kept, records[..whole]);
        assert_eq!(truncated, !ends.contains(&cut));
        Ok(())
    });
}

#[test]
fn a_changed_byte_is_an_error_or_harmless() {
    arbtest::arbtest(|u| {
        let records = any_records(u)?;
        let mut bytes = written(&records);
        let at = u.choose_index(bytes.len())?;
        bytes[at] ^= u.int_in_range(1..=255)?;
        let Ok(reader) = Reader::new(&*bytes) else {
            assert!(at < 12);
            return Ok(());
        };
        for record in reader {
            match record {
                // Contents are guarded by the checksum, the tag is not.
                Ok(record) => drop(record),
                Err(error) => assert!(error.offset <= at as u64, "{error}"),
            }
        }
        Ok(())
    });
}

#[test]
fn files_of_other_kinds_and_versions_are_refused() {
    for other in [&b""[..], b"\x89PNG\r\n\x1a\n", b"\x89R5CS\r\n\x1a"] {
        let error = Reader::new(other).unwrap_err();
        assert!(matches!(error.kind, CaptureErrorKind::NotACapture), "{error}");
    }
    let mut next = written(&[]);
    next[8] = VERSION as u8 + 1;
    let error = Reader::new(&*next).unwrap_err();
    assert!(matches!(error.kind, CaptureErrorKind::Version(2)), "{error}");
}

#[test]
fn a_checksum_guards_contents() {
    let mut bytes = written(&[Record::Close { buffer: BufferId(7) }]);
    *bytes.last_mut().unwrap() ^= 1;
    let error = Reader::new(&*bytes).unwrap().next().unwrap().unwrap_err();
    assert!(matches!(error.kind, CaptureErrorKind::Checksum { tag: 3, .. }), "{error}");
    assert_eq!(error.offset, 12);
}

fn submission(buffers: &[&Buffer]) -> Submission {
    let relocations = buffers.iter().map(|buffer| Relocation {
        buffer: (*buffer).clone(),
        read_domains: 4,
        write_domain: 4,
        flags: 0,
        tiling: Tiling::default(),
    });
    Submission { words: vec![0x8000_0000], flags: 1, relocations: relocations.collect() }
}

/// A program writes anywhere, a stand-in for the card writes anywhere, both seen by the recorder;
/// a player with the same stand-in arrives at the same bytes.
#[test]
fn playing_a_recording_gives_the_same_buffers() {
    arbtest::arbtest(|u| {
        let sizes = [u.int_in_range(1..=3 * BLOCK_BYTES)?, u.int_in_range(1..=100)?];
        let buffers: Vec<Buffer> =
            sizes.iter().zip(0..).map(|(size, id)| Buffer::zeroed(BufferId(id), *size)).collect();
        let mut recorder = Recorder::new(Vec::new(), Info::default()).unwrap();
        buffers.iter().for_each(|b| recorder.create(b, 4).unwrap());
        let mut by_card = Vec::new();
        let mut states = Vec::new();
        for _ in 0..u.int_in_range(1..=4)? {
            for buffer in &buffers {
                let offset = u.choose_index(buffer.size())?;
                buffer.write(offset, &u.arbitrary::<[u8; 8]>()?);
            }
            let submitted = submission(&[&buffers[0], &buffers[1], &buffers[0]]);
            recorder.submission(&submitted).unwrap();
            let target = &buffers[usize::from(u.arbitrary::<bool>()?)];
            let write = (target.id(), u.choose_index(target.size())?, u.arbitrary::<[u8; 8]>()?);
            target.write(write.1, &write.2);
            by_card.push(write);
            recorder.executed(&submitted).unwrap();
            states.push(buffers.iter().map(Buffer::to_vec).collect::<Vec<_>>());
        }

        let bytes = recorder.into_inner();
        let mut player = Player::new(Limits::default());
        let (mut writes, mut states) = (by_card.into_iter(), states.into_iter());
        for record in Reader::new(&*bytes).unwrap() {
            match player.apply(record.unwrap()).unwrap() {
                Some(Event::Submission(submission)) => {
                    assert_eq!(submission.relocations.len(), 3);
                    let (id, offset, bytes) = writes.next().unwrap();
                    player.buffer(id).unwrap().write(offset, &bytes);
                }
                Some(Event::Hashes(hashes)) => {
                    assert_eq!(hashes.len(), 2);
                    assert_eq!(player.mismatches(&hashes, None), Ok(vec![]));
                    let wanted = states.next().unwrap();
                    let found = (0..2).map(|id| player.buffer(BufferId(id)).unwrap().to_vec());
                    assert_eq!(found.collect::<Vec<_>>(), wanted);
                }
                Some(event) => unreachable!("{event:?}"),
                None => {}
            }
        }
        assert!(states.next().is_none());
        Ok(())
    });
}

#[test]
fn only_changed_blocks_are_written() {
    let buffer = Buffer::zeroed(BufferId(1), 4 * BLOCK_BYTES + 8);
    let mut recorder = Recorder::new(Vec::new(), Info::default()).unwrap();
    recorder.create(&buffer, 4).unwrap();
    buffer.store(BLOCK_BYTES + 12, 5);
    recorder.submission(&submission(&[&buffer])).unwrap();
    recorder.submission(&submission(&[&buffer])).unwrap();
    buffer.store(4 * BLOCK_BYTES + 4, 6);
    recorder.submission(&submission(&[&buffer])).unwrap();
    let bytes = recorder.into_inner();
    let blocks: Vec<(u32, usize)> = read(&bytes)
        .0
        .into_iter()
        .filter_map(|record| match record {
            Record::Contents { block, bytes, .. } => Some((block, bytes.len())),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, [(1, BLOCK_BYTES), (4, 8)]);
}

#[test]
fn another_result_is_a_mismatch() {
    let mut player = Player::new(Limits::default());
    let id = BufferId(9);
    player.apply(Record::Create { buffer: id, size: 64, domain: 2 }).unwrap();
    let hash = buffer_hash(player.buffer(id).unwrap());
    assert_eq!(player.mismatches(&[(id, hash)], None), Ok(vec![]));
    player.buffer(id).unwrap().store(0, 1);
    let found = buffer_hash(player.buffer(id).unwrap());
    assert_eq!(
        player.mismatches(&[(id, hash), (BufferId(1), hash)], None),
        Ok(vec![(id, Some(found)), (BufferId(1), None)])
    );
}

#[test]
fn contradictions_are_errors() {
    let (a, b) = (BufferId(1), BufferId(2));
    let create = |buffer, size| Record::Create { buffer, size, domain: 4 };
    let contents = |block, bytes| Record::Contents { buffer: a, block, bytes: vec![1; bytes] };
    let limits = Limits { bytes: 8 + BLOCK_BYTES as u64 };
    let after_create = |record| {
        let mut player = Player::new(limits);
        player.apply(create(a, 4 + BLOCK_BYTES as u64)).unwrap();
        player.apply(record).map(|_| ()).unwrap_err()
    };
    assert_eq!(after_create(create(a, 4)), PlayError::Exists(a));
    assert!(matches!(after_create(create(b, 4)), PlayError::TooLarge { .. }));
    assert!(matches!(after_create(create(b, u64::MAX)), PlayError::TooLarge { .. }));
    assert_eq!(after_create(Record::Close { buffer: b }), PlayError::NoBuffer(b));
    assert_eq!(after_create(Record::Wait { buffer: b }), PlayError::NoBuffer(b));
    for (block, bytes) in [(0, 4), (1, 5), (1, 0), (2, 0), (u32::MAX, 4)] {
        let error = PlayError::Block { buffer: a, block, bytes };
        assert_eq!(after_create(contents(block, bytes)), error);
    }
}

/// Any bytes after a valid head: records or errors, never a panic, and bounded memory.
#[test]
fn any_bytes_read_and_play() {
    arbtest::arbtest(|u| {
        let mut bytes = written(&any_records(u)?);
        bytes.extend(u.arbitrary::<Vec<u8>>()?);
        let mut player = Player::new(Limits { bytes: 1 << 16 });
        for record in Reader::new(Cursor::new(bytes)).unwrap().flatten() {
            if let Err(error) = player.apply(record) {
                assert!(!error.to_string().is_empty());
            }
        }
        Ok(())
    });
}

/// Buffers of 2 GiB take no time and no memory until they are used, and hashes of them end at the deadline.
#[test]
fn large_buffers_cost_what_is_used_of_them() {
    let mut player = Player::new(Limits::default());
    let id = BufferId(1);
    for _ in 0..100 {
        player.apply(Record::Create { buffer: id, size: (2 << 30) - 8, domain: 2 }).unwrap();
        player.apply(Record::Close { buffer: id }).unwrap();
    }
    player.apply(Record::Create { buffer: id, size: (2 << 30) - 8, domain: 2 }).unwrap();
    let second = Record::Create { buffer: BufferId(2), size: 8192, domain: 2 };
    assert!(matches!(player.apply(second), Err(PlayError::TooLarge { .. })));
    let hashes = vec![(id, 0); 1 << 16];
    let soon = Instant::now() + Duration::from_millis(50);
    assert_eq!(player.mismatches(&hashes, Some(soon)), Err(OutOfTime));
}

/// Records of no length would otherwise create buffers without end.
#[test]
fn empty_buffers_count_as_a_page() {
    let mut player = Player::new(Limits { bytes: 3 * Limits::LEAST });
    let create = |n| Record::Create { buffer: BufferId(n), size: 0, domain: 2 };
    for n in 0..3 {
        player.apply(create(n)).unwrap();
    }
    assert!(matches!(player.apply(create(3)), Err(PlayError::TooLarge { .. })));
    player.apply(Record::Close { buffer: BufferId(0) }).unwrap();
    player.apply(create(3)).unwrap();
}
