//! Milliseconds of the card for a frame of captures: by the rules of each block alone, and with the paths for common states. Buffers are
//! compared with the hashes of the capture, outside of the measured time.
//!
//! ```text
//! cargo bench -p r500-card --bench replay -- [--engine fast|jit] [--fast-only] [--repeat N] CAPTURE…
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use r500_card::Card;
use r500_exec::Engine;
use r500_fast::{Fast, Simd};
use r500_jit::{Effort, Jit, Settings, When};
use r500_stream::capture::Event;

fn engine(name: &str) -> Box<dyn Engine + Send> {
    let settings = Settings { when: When::Before(Effort::Full), ..Settings::default() };
    match name {
        "fast" => Box::new(Fast::new()),
        "jit" => Box::new(Jit::with(Simd::detect(), settings)),
        _ => panic!("--engine {name}: fast or jit"),
    }
}

/// Executes a capture. Returns the time of its submissions, and the numbers of submissions, buffers that differ and quads by lanes.
fn replay(path: &Path, engine_name: &str, rules_only: bool) -> (Duration, usize, usize, u64) {
    let mut card = Card::with_engine(engine(engine_name));
    card.set_rules_only(rules_only);
    let (mut time, mut submissions, mut differ) = (Duration::ZERO, 0, 0);
    common::replay(path, &mut card, |card, player, event| match event {
        Event::Submission(submission) => {
            let start = Instant::now();
            card.submit(&submission).unwrap();
            time += start.elapsed();
            submissions += 1;
        }
        Event::Hashes(hashes) => differ += player.mismatches(&hashes, None).unwrap().len(),
        _ => {}
    });
    (time, submissions, differ, card.report().statistics.quads_by_lanes)
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut engine, mut fast_only, mut repeat, mut captures) =
        ("jit".to_owned(), false, 3, Vec::new());
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--engine" => engine = arguments.next().unwrap(),
            "--fast-only" => fast_only = true,
            "--repeat" => repeat = arguments.next().unwrap().parse().unwrap(),
            _ => captures.push(argument),
        }
    }
    if captures.is_empty() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
        captures.push(folder.join("scenes.r5cs").display().to_string());
    }
    println!("| capture | submissions | rules, ms | paths, ms | ratio |");
    println!("| --- | --- | --- | --- | --- |");
    for capture in captures {
        let path = Path::new(&capture);
        let least = |rules_only| {
            let runs = (0..repeat).map(|_| {
                let (time, submissions, differ, by_lanes) = replay(path, &engine, rules_only);
                assert_eq!(differ, 0, "{capture}: buffers differ");
                assert_eq!(by_lanes == 0, rules_only, "{capture}");
                (time, submissions)
            });
            let (time, submissions) = runs.min().unwrap();
            (time.as_secs_f64() * 1e3 / submissions as f64, submissions)
        };
        let (fast, submissions) = least(false);
        let name = path.file_stem().unwrap().to_string_lossy();
        if fast_only {
            println!("| {name} | {submissions} | | {fast:.1} | |");
        } else {
            let (rules, _) = least(true);
            println!("| {name} | {submissions} | {rules:.1} | {fast:.1} | {:.2} |", rules / fast);
        }
    }
}
