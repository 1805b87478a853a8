//! Recall and precision of the search for programs: real programs in random bytes and in executables, and files without programs.
//!
//! `cargo test -p r500-formats --test find -- --nocapture` prints the numbers of the guide.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use r500_formats::{FindOptions, Finder, Found, FoundKind, Limits, read};
use r500_stream::capture::{Event, Limits as PlayerLimits, Player, Reader};
use r500_stream::{CommandProcessor, State};
use rand_xoshiro::Xoshiro256StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn find(bytes: &[u8]) -> Vec<Found> {
    let mut finder = Finder::new(FindOptions::default());
    finder.feed(bytes);
    finder.finish().programs
}

/// The fragment programs of the corpora, each once.
fn fragment_programs() -> BTreeSet<Vec<u32>> {
    let mut all = BTreeSet::new();
    let piglit: BTreeMap<String, Vec<String>> =
        serde_json::from_slice(&fs::read(root("tests/corpus/piglit/programs.json")).unwrap())
            .unwrap();
    for words in piglit.values() {
        all.insert(words.iter().map(|word| u32::from_str_radix(word, 16).unwrap()).collect());
    }
    for folder in ["mesa", "mesa25", "pairs/noopt", "pairs/opt"] {
        for entry in fs::read_dir(root(&format!("tests/corpus/{folder}"))).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let jobs = read(&fs::read(&path).unwrap(), None, &Limits::default()).unwrap();
                all.extend(
                    jobs.iter()
                        .map(|job| job.program.code.iter().flat_map(|inst| inst.0).collect()),
                );
            }
        }
    }
    all
}

/// The vertex programs that Mesa's driver uploaded in the captures, each once.
fn vertex_programs() -> BTreeSet<Vec<u32>> {
    let mut all = BTreeSet::new();
    for name in ["scenes", "readings"] {
        let bytes = fs::read(root(&format!("tests/captures/{name}.r5cs"))).unwrap();
        let mut player = Player::new(PlayerLimits::default());
        let mut state = State::default();
        for record in Reader::new(bytes.as_slice()).unwrap() {
            let Some(Event::Submission(submission)) = player.apply(record.unwrap()).unwrap() else {
                continue;
            };
            let mut processor = CommandProcessor::new(&mut state, &submission);
            while let Some(effect) = processor.next_effect() {
                if !matches!(effect, Ok(r500_stream::Effect::Draw(_))) {
                    continue;
                }
                if let Some(program) = processor.state().vertex_program() {
                    let code = program.window().flat_map(|(_, inst)| inst.0).collect::<Vec<u32>>();
                    all.insert(code);
                }
            }
        }
    }
    all
}

/// How many of the programs are found with exactly their dwords, by the number of instructions: found, all.
type Recall = BTreeMap<usize, (usize, usize)>;

fn class(instructions: usize) -> usize {
    match instructions {
        0..=4 => instructions,
        5..=8 => 8,
        _ => 512,
    }
}

fn recall(
    programs: &BTreeSet<Vec<u32>>,
    kind: FoundKind,
    data: &[u8],
    is_big_endian: bool,
) -> Recall {
    let mut recall = Recall::new();
    let mut random = Xoshiro256StarStar::seed_from_u64(5);
    for program in programs {
        let window = 4096 + program.len() * 4;
        let start = (random.next_u64() as usize % (data.len() - window)) & !3;
        let mut bytes = data[start..start + window].to_vec();
        let offset = (random.next_u64() as usize % 4096) & !3;
        for (to, word) in bytes[offset..].as_chunks_mut::<4>().0.iter_mut().zip(program) {
            *to = if is_big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
        }
        let found = find(&bytes);
        let is_found = found.iter().any(|found| {
            found.offset == offset as u64
                && found.kind == kind
                && found.is_big_endian == is_big_endian
                && found.dwords == *program
        });
        let (hits, all) =
            recall.entry(class(program.len() / kind.instruction_dwords())).or_default();
        *hits += usize::from(is_found);
        *all += 1;
    }
    recall
}

fn random_bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    Xoshiro256StarStar::seed_from_u64(9).fill_bytes(&mut bytes);
    bytes
}

fn executable() -> Vec<u8> {
    fs::read(std::env::current_exe().unwrap()).unwrap()
}

/// Asserts a part of each class, in per cent, and of all programs that are longer than the shortest classes.
fn check(what: &str, recall: &Recall, least: &[(usize, usize)]) {
    println!("{what}: {recall:?}");
    for (class, percent) in least {
        let Some((hits, all)) = recall.get(class) else { continue };
        assert!(hits * 100 >= all * percent, "{what}, {class} instructions: {hits} of {all}");
    }
}

#[test]
fn programs_of_compilers_are_found_in_random_bytes_and_in_executables() {
    let (fragments, vertices) = (fragment_programs(), vertex_programs());
    assert!(fragments.len() > 500 && vertices.len() > 20, "{} {}", fragments.len(), vertices.len());
    for (place, data) in [("random bytes", random_bytes(1 << 20)), ("an executable", executable())]
    {
        for is_big_endian in [false, true] {
            let order = if is_big_endian { "big-endian" } else { "little-endian" };
            let found = recall(&fragments, FoundKind::Fragment, &data, is_big_endian);
            check(&format!("fragment programs, {order}, in {place}"), &found, &FRAGMENTS);
            let found = recall(&vertices, FoundKind::Vertex, &data, is_big_endian);
            check(&format!("vertex programs, {order}, in {place}"), &found, &VERTICES);
        }
    }
}

const FRAGMENTS: [(usize, usize); 5] = [(2, 70), (3, 85), (4, 90), (8, 97), (512, 97)];
const VERTICES: [(usize, usize); 3] = [(3, 60), (8, 90), (512, 90)];

#[test]
fn nothing_is_found_where_there_are_no_programs() {
    assert_eq!(find(&random_bytes(8 << 20)), []);
    assert_eq!(find(&executable()), []);
    let mut count = 0;
    let mut folders = vec![
        root("docs"),
        root("examples"),
        root("crates/r500-formats"),
        root("tests/corpus/mesa"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // Text and pictures; JSON has its dwords as text.
            assert_eq!(find(&fs::read(&path).unwrap()), [], "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}
