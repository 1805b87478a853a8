#![allow(clippy::unwrap_used, clippy::panic)]

use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// Two instructions of a compiler: a texture fetch and an output.
const FETCH: [u32; 12] = [
    0x0000_7807,
    0x0240_0000,
    0xe400_f400,
    0,
    0,
    0,
    0x0007_8005,
    0x0802_0000,
    0x0802_0000,
    0x1c44_0220,
    0x1cc1_8003,
    0x0000_0005,
];

fn find(bytes: &[u8], least_score: u32) -> Vec<Found> {
    let mut finder = Finder::new(FindOptions { least_score, ..FindOptions::default() });
    finder.feed(bytes);
    finder.finish().programs
}

fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn random(seed: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    Xoshiro256StarStar::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}

#[test]
fn a_program_is_found_where_it_is_in_both_orders() {
    for is_big_endian in [false, true] {
        let words = match is_big_endian {
            true => FETCH.map(u32::swap_bytes),
            false => FETCH,
        };
        for offset in [0, 4, 20, 400] {
            let mut bytes = random(1, 1000);
            bytes[offset..offset + 48].copy_from_slice(&little(&words));
            let found = find(&bytes, 60);
            let [found] = found.as_slice() else { panic!("{found:?}") };
            assert_eq!((found.offset, found.is_big_endian), (offset as u64, is_big_endian));
            assert_eq!(
                (found.kind, found.dwords.as_slice()),
                (FoundKind::Fragment, FETCH.as_slice())
            );
            assert_eq!((found.instructions(), found.end()), (2, offset as u64 + 48));
        }
        // Not at another alignment.
        let mut bytes = random(1, 1000);
        bytes[402..450].copy_from_slice(&little(&words));
        assert!(find(&bytes, 60).is_empty());
        // But there, if it is asked for, and in pieces of any size.
        for (alignment, at) in
            [(Alignment::Word, 402), (Alignment::Byte, 402), (Alignment::Byte, 403)]
        {
            let mut bytes = random(1, 1000);
            bytes[at..at + 48].copy_from_slice(&little(&words));
            for size in [1, 2, 3, 7, 1000] {
                let mut finder = Finder::new(FindOptions { least_score: 60, alignment });
                bytes.chunks(size).for_each(|piece| finder.feed(piece));
                let found = finder.finish().programs;
                let [found] = found.as_slice() else { panic!("{found:?}") };
                assert_eq!((found.offset, found.is_big_endian), (at as u64, is_big_endian));
                assert_eq!(found.dwords, FETCH);
            }
        }
    }
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let mut bytes = random(2, 3001);
    bytes[1200..1248].copy_from_slice(&little(&FETCH));
    let whole = find(&bytes, 60);
    assert_eq!(whole.len(), 1);
    for size in [1, 3, 5, 7, 64, 1000] {
        let mut finder = Finder::new(FindOptions { least_score: 60, ..FindOptions::default() });
        bytes.chunks(size).for_each(|piece| finder.feed(piece));
        assert_eq!(finder.finish().programs, whole, "{size}");
    }
}

/// The claim of the module's documentation, measured: among N offsets at most N * 2^-score have this score.
#[test]
fn random_bytes_score_as_rarely_as_the_code_promises() {
    let bytes = random(3, 4 << 20);
    let offsets = 2.0 * f64::from(4 << 18);
    for score in [8, 12, 16, 40] {
        let count = find(&bytes, score).len() as f64;
        // Two languages; a run may reach its score with any of its instructions.
        assert!(count <= 2.0 * offsets * (-f64::from(score)).exp2() + 3.0, "{score}: {count}");
    }
}

#[test]
fn one_score_wins_where_two_overlap() {
    let found = |offset, count, score| Found {
        offset,
        kind: FoundKind::Vertex,
        is_big_endian: false,
        dwords: vec![0; count],
        score,
    };
    // The second overlaps the first and the third; the last two overlap the third and each other.
    let all =
        vec![found(0, 4, 5), found(12, 4, 9), found(24, 4, 7), found(40, 4, 3), found(44, 1, 99)];
    let kept: Vec<(u64, u32)> =
        without_overlaps(all).iter().map(|found| (found.offset, found.score)).collect();
    assert_eq!(kept, [(12, 9), (44, 99)]);
}

#[test]
fn neighbours_with_the_flag_last_are_two_programs() {
    let mut last = FETCH;
    last[6] |= 0x100;
    let bytes = little(&[last, last].concat());
    let found = find(&bytes, 60);
    assert_eq!(
        found.iter().map(|found| (found.offset, found.instructions())).collect::<Vec<_>>(),
        [(0, 2), (48, 2)]
    );
    // Without it they are one.
    let found = find(&little(&[FETCH, FETCH].concat()), 60);
    assert_eq!(
        found.iter().map(|found| (found.offset, found.instructions())).collect::<Vec<_>>(),
        [(0, 4)]
    );
}

#[test]
fn reads_of_what_nothing_has_set_are_no_program() {
    let mut unset = FETCH;
    // Temporary 40 as coordinates: the rasteriser has no such one.
    unset[2] |= 40;
    assert!(find(&little(&unset), 60).iter().all(|found| found.offset != 0));
    assert!(find(&little(&[0; 600]), 1).is_empty());
    assert!(find(&little(&[u32::MAX; 600]), 1).is_empty());
}
