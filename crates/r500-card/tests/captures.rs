//! Captures of submissions: three engines leave the same buffers as the card when the capture was made, every register
//! and command has a name, and the text of every submission assembles to the same dwords.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::fs;
use std::path::{Path, PathBuf};

use r500_card::Card;
use r500_exec::Engine;
use r500_exec::reference::Reference;
use r500_fast::Fast;
use r500_jit::Jit;
use r500_stream::capture::{Event, Limits, Player, Reader, Record};
use r500_stream::text::{Printer, parse};
use r500_stream::{State, Statistics};

/// The captures in the repository, and those in the folder that `R500_CAPTURES` names.
fn captures() -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    let more = std::env::var_os("R500_CAPTURES").map(PathBuf::from);
    let mut found = Vec::new();
    for folder in [Some(ours), more].into_iter().flatten() {
        let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "r5cs")));
    }
    found.sort();
    assert!(found.len() >= 3, "captures belong to the repository");
    found
}

/// Executes a capture. Returns the number of buffers that were compared with its hashes.
fn replay(path: &Path, name: &str, engine: Box<dyn Engine + Send>) -> usize {
    let mut card = Card::with_engine(engine);
    let mut player = Player::new(Limits::default());
    let (mut submissions, mut compared) = (0, 0);
    for record in Reader::new(fs::File::open(path).unwrap()).unwrap() {
        let record = record.unwrap();
        if let Record::Info(info) = &record {
            for reading in &info.readings {
                let (name, value) = reading.split_once('=').unwrap();
                card.set_reading(name, value).unwrap();
            }
        }
        match player.apply(record).unwrap() {
            Some(Event::Submission(submission)) => {
                submissions += 1;
                card.submit(&submission).unwrap();
            }
            Some(Event::Hashes(hashes)) => {
                compared += hashes.len();
                let differ = player.mismatches(&hashes, None).unwrap();
                let path = path.display();
                assert!(differ.is_empty(), "{path}, {name}, submission {submissions}: {differ:?}");
            }
            _ => {}
        }
    }
    let notes: Vec<_> = card.report().notes().map(|(note, _)| note.to_string()).collect();
    assert_eq!(notes, Vec::<String>::new(), "{}", path.display());
    compared
}

#[test]
fn all_engines_leave_the_buffers_of_the_capture() {
    for path in captures() {
        for (name, engine) in [
            ("reference", Box::new(Reference) as Box<dyn Engine + Send>),
            ("fast", Box::new(Fast::new())),
            ("jit", Box::new(Jit::new())),
        ] {
            assert!(replay(&path, name, engine) > 0, "{}: no hashes", path.display());
        }
    }
}

#[test]
fn every_register_and_command_has_a_name() {
    for path in captures() {
        let (mut statistics, mut state) = (Statistics::default(), State::default());
        each_submission(&path, |submission| {
            let errors = statistics.add(&mut state, submission);
            assert_eq!(errors, [], "{}", path.display());
        });
        let registers: Vec<_> = statistics.unknown_registers().collect();
        let commands: Vec<_> = statistics.unknown_commands().collect();
        assert_eq!((registers, commands), (vec![], vec![]), "{}", path.display());
        assert!(statistics.total().draws > 0, "{}", path.display());
    }
}

#[test]
fn text_of_submissions_assembles_back() {
    for path in captures() {
        each_submission(&path, |submission| {
            let text = Printer::default().print(&submission.words);
            assert_eq!(parse(&text).as_ref(), Ok(&submission.words), "{}", path.display());
            assert!(!text.contains("\ndwords "), "{}: {text}", path.display());
        });
    }
}

fn each_submission(path: &Path, mut each: impl FnMut(&r500_stream::Submission)) {
    let mut player = Player::new(Limits::default());
    for record in Reader::new(fs::File::open(path).unwrap()).unwrap() {
        if let Some(Event::Submission(submission)) = player.apply(record.unwrap()).unwrap() {
            each(&submission);
        }
    }
}
