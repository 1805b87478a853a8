//! Captures of submissions: three engines leave the same buffers as the card when the capture was made, every register
//! and command has a name, and the text of every submission assembles to the same dwords.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod common;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use r500_card::Card;
use r500_exec::reference::Reference;
use r500_exec::{Draw, Engine, PreparedDraw, PreparedQuads, ProgramKey, ProgramUse};
use r500_fast::{Fast, Simd, VertexEngine};
use r500_jit::{Effort, Jit, Settings, When};
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

/// Executes a capture by an engine, which must run every fragment program itself. Returns the number of buffers that were compared with its
/// hashes, and that of draws.
fn replay(path: &Path, name: &str, engine: Box<dyn Engine + Send>) -> (usize, u64) {
    let (compared, draws, by_lanes) = replay_by(path, name, engine, false);
    assert!(by_lanes > 0, "{}: {name}", path.display());
    (compared, draws)
}

/// The same, with or without the paths for common states; returns how many quads took them, too.
fn replay_by(
    path: &Path,
    name: &str,
    engine: Box<dyn Engine + Send>,
    rules_only: bool,
) -> (usize, u64, u64) {
    let mut card = Card::with_engine(engine);
    card.set_rules_only(rules_only);
    replay_on(path, name, &mut card)
}

/// The same on a card, whose engine for fragment programs is named.
fn replay_on(path: &Path, name: &str, card: &mut Card) -> (usize, u64, u64) {
    let (mut submissions, mut compared) = (0, 0);
    common::replay(path, card, |card, player, event| match event {
        Event::Submission(submission) => {
            submissions += 1;
            card.submit(&submission).unwrap();
        }
        Event::Hashes(hashes) => {
            compared += hashes.len();
            let differ = player.mismatches(&hashes, None).unwrap();
            let path = path.display();
            assert!(differ.is_empty(), "{path}, {name}, submission {submissions}: {differ:?}");
        }
        _ => {}
    });
    let notes: Vec<_> = card.report().notes().map(|(note, _)| note.to_string()).collect();
    assert_eq!(notes, Vec::<String>::new(), "{}", path.display());
    let draws = card.report().drawn_by(name);
    let draws = draws.unwrap_or_else(|another| panic!("{}: {another}", path.display()));
    (compared, draws, card.report().statistics.quads_by_lanes)
}

/// A draw with a prepared program needs no preparation, whatever its constants, inputs, texels and number of quads. Each program is prepared for
/// its first draw, and again where a constant first changes or a texture of another kind is bound.
#[test]
fn draws_of_scenes_reuse_prepared_programs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/scenes.r5cs");
    let settings = Settings { when: When::Before(Effort::Quick), ..Settings::default() };
    let jit = Jit::with(Simd::detect(), settings);
    let mut engines: Vec<Arc<dyn Engine>> = vec![Arc::new(Fast::new())];
    match jit.unavailable() {
        None => engines.push(Arc::new(jit)),
        Some(reason) => eprintln!("not by the jit engine: {reason}"),
    }
    for engine in engines {
        let shared = Shared { engine: Arc::clone(&engine), programs: Arc::default() };
        let (_, draws) = replay(&path, engine.name(), Box::new(shared.clone()));
        let first = engine.program_use().unwrap();
        let programs = shared.programs.lock().unwrap().len() as u64;
        eprintln!("{}: {draws} draws of {programs} programs; {first}", engine.name());
        assert_eq!(first.prepared + first.reused, draws);
        assert!(programs <= first.prepared && first.prepared <= 3 * programs);
        // The same draws again, on another card: nothing is prepared.
        replay(&path, engine.name(), Box::new(shared));
        let ProgramUse { prepared, reused } = engine.program_use().unwrap();
        assert_eq!((prepared, reused), (first.prepared, first.reused + draws));
    }
}

/// An engine that several cards use, and the programs that it was asked for.
#[derive(Clone)]
struct Shared {
    engine: Arc<dyn Engine>,
    programs: Arc<Mutex<HashSet<ProgramKey>>>,
}

impl Engine for Shared {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn prepare(&self, draw: Draw<'_>) -> Box<dyn PreparedDraw> {
        self.programs.lock().unwrap().insert(draw.shader.key().clone());
        self.engine.prepare(draw)
    }

    fn prepare_quads(&self, draw: Draw<'_>) -> Box<dyn PreparedQuads> {
        self.programs.lock().unwrap().insert(draw.shader.key().clone());
        self.engine.prepare_quads(draw)
    }

    fn program_use(&self) -> Option<ProgramUse> {
        self.engine.program_use()
    }
}

/// Captures with the project's readings and with others.
#[test]
fn captures_have_default_readings_and_others() {
    let readings = |path: &PathBuf| {
        let mut records = Reader::new(fs::File::open(path).unwrap()).unwrap();
        records.find_map(|record| match record.unwrap() {
            Record::Info(info) => Some(info.readings),
            _ => None,
        })
    };
    let all: Vec<_> = captures().iter().filter_map(readings).collect();
    assert!(
        all.iter().any(Vec::is_empty) && all.iter().any(|readings| readings.len() > 1),
        "{all:?}"
    );
}

#[test]
fn all_engines_leave_the_buffers_of_the_capture() {
    for path in captures() {
        let (compared, draws) = replay(&path, "reference", Box::new(Reference));
        assert!(compared > 0 && draws > 0, "{}: {compared} buffers, {draws} draws", path.display());
        let mut engines: Vec<(&str, Box<dyn Engine + Send>)> =
            vec![("fast", Box::new(Fast::new()))];
        // Machine code from the first picture on.
        let settings = Settings { when: When::Before(Effort::Quick), ..Settings::default() };
        let jit = Jit::with(Simd::detect(), settings);
        match jit.unavailable() {
            None => engines.push(("jit", Box::new(jit))),
            Some(reason) => eprintln!("not by the jit engine: {reason}"),
        }
        for (name, engine) in engines {
            assert_eq!(
                replay(&path, name, engine),
                (compared, draws),
                "{}, {name}",
                path.display()
            );
        }
    }
}

/// Every draw's vertices by the code of an engine, whatever their number.
#[test]
fn vertex_programs_as_code_leave_the_buffers_of_the_capture() {
    let engine = |name: &str| -> Box<dyn VertexEngine> {
        match name {
            "jit" => Box::new(Jit::new()),
            _ => Box::new(Fast::new()),
        }
    };
    for name in ["fast", "jit"] {
        if engine(name).vertex_engine() != name {
            eprintln!("not by the {name} engine");
            continue;
        }
        let mut vertices = 0;
        for path in captures() {
            let mut card = Card::new();
            card.set_vertex_engine(Some(engine(name)));
            card.set_vertex_compilation(0);
            let (compared, ..) = replay_on(&path, "fast", &mut card);
            assert!(compared > 0, "{}", path.display());
            for (choice, count) in card.report().vertex_engines() {
                assert_eq!((choice.engine, &choice.fallback_reason), (name, &None));
                vertices += count;
            }
        }
        eprintln!("{vertices} vertices by the {name} engine");
        assert!(vertices > 1000, "{vertices} vertices");
    }
}

/// The hashes of captures were made by the rules of each block.
#[test]
fn the_rules_alone_leave_the_buffers_of_the_capture() {
    for path in captures() {
        let (compared, draws, by_lanes) = replay_by(&path, "fast", Box::new(Fast::new()), true);
        assert!(compared > 0 && draws > 0 && by_lanes == 0, "{}", path.display());
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
