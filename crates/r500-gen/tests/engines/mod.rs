//! Draws with several engines and compares frames, bit for bit, and counters; once more with the pixels given as quads.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod quads;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, Counters, Draw, Engine, Frame, Options, PixelRect, Shader, draw, draw_into,
};
use r500_fast::{Fast, Simd};
use r500_jit::{Constants, Effort, Execution, Groups, Jit, Settings, When};
use r500_program::Job;

/// Result of comparing the engines on a program.
pub(crate) enum Outcome {
    /// Equal frames; the number of operations in machine code, and of all that could be.
    Same([u64; 2]),
    /// The fast engine fell back to the reference engine; the reason.
    Fallback(String),
    /// A difference.
    Different(String),
}

/// Statistics of the fast engine: how often it drew, and reasons for fallback.
#[derive(Default)]
pub(crate) struct Seen {
    /// Programs that the fast engine drew.
    pub drawn: u64,
    /// Operations in machine code where it is available, and all operations.
    pub compiled: [u64; 2],
    /// Number of fallbacks by reason.
    pub instead: BTreeMap<String, u64>,
}

impl Seen {
    /// Counts a program. Returns the difference, if any.
    pub(crate) fn add(&mut self, outcome: Outcome) -> Option<String> {
        match outcome {
            Outcome::Same(compiled) => {
                self.drawn += 1;
                self.compiled = [0, 1].map(|i| self.compiled[i] + compiled[i]);
            }
            Outcome::Fallback(why) => *self.instead.entry(why).or_default() += 1,
            Outcome::Different(what) => return Some(what),
        }
        None
    }

    /// A lower bound, because with fallbacks only, the reference engine would be compared with itself.
    pub(crate) fn demand(&self, percent: u64) {
        let all = self.drawn + self.instead.values().sum::<u64>();
        let [compiled, operations] = self.compiled;
        eprintln!(
            "{} of {all} programs drawn by the fast engine, {compiled} of {operations} operations \
             machine code; else {:#?}",
            self.drawn, self.instead
        );
        // Not by a macro of the standard library: that is shown of failed tests only.
        let names: Vec<_> = candidates().into_iter().map(|candidate| candidate.name).collect();
        let line = format!("{all} programs by {}\n", summary(&names));
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        assert_eq!(compiled, operations, "some segments were not compiled");
        let expected = |why: &&String| FALLBACKS.iter().any(|start| why.starts_with(start));
        let unexpected: Vec<_> = self.instead.keys().filter(|why| !expected(why)).collect();
        assert!(unexpected.is_empty(), "for other reasons: {unexpected:?}");
        assert!(self.drawn * 100 >= all * percent, "only {} of {all}", self.drawn);
    }
}

/// How the reasons begin for which a program is not drawn, or only by the reference engine.
const FALLBACKS: [&str; 6] = [
    "no shader",
    "not bound: ",
    "the checker finds an error: ",
    "flow control is not structured: ",
    "something has WRITE_INACTIVE, ",
    "STAT_WE counts, ",
];

/// Draws with all engines, with the fast one at every level, with the jit one at those that it has
/// code for, compiled quickly and well.
pub(crate) fn compare(job: &Job, options: &Options<'_>) -> Outcome {
    compare_with(job, options, candidates())
}

/// Draws with some engines. Each must draw itself.
pub(crate) fn compare_with(
    job: &Job,
    options: &Options<'_>,
    candidates: Vec<Candidate>,
) -> Outcome {
    let Ok(shader) = Shader::new(&job.program) else {
        return Outcome::Fallback("no shader".into());
    };
    let bindings = match Bindings::new(job, job.size.unwrap()) {
        Ok(bindings) => bindings,
        Err(error) => return Outcome::Fallback(format!("not bound: {error}")),
    };
    let prepare = |simd| Fast::with(simd).prepare(Draw::new(&shader, &bindings, options).unwrap());
    if let Some(instead) = prepare(Simd::Portable).run_info().fallback_reason {
        return Outcome::Fallback(kind(&instead));
    }
    let wanted = draw(&Reference, &shader, &bindings, options);
    if let Ok(wanted) = &wanted
        && let Some(what) =
            quads::difference(&Reference, &["reference"], &shader, &bindings, options, wanted)
    {
        return Outcome::Different(format!("reference, quads: {what}"));
    }
    let mut compiled = [0, 0];
    for Candidate { name: level, simd, draws, engine } in candidates {
        let drawing = Draw::new(&shader, &bindings, options).unwrap();
        let mut frame = match Frame::new(&shader, &bindings, options) {
            Ok(frame) => frame,
            Err(error) => return Outcome::Different(format!("{level}: {error}")),
        };
        let prepared = engine.prepare(drawing);
        if let Some(share) = prepared.run_info().compiled {
            compiled = [0, 1].map(|i| compiled[i] + share[i] as u64);
        }
        // Twice: the second frame is drawn over the first.
        for time in ["first", "second"] {
            // A panic is a difference too, and can be shrunk as one.
            let drawn =
                catch_unwind(AssertUnwindSafe(|| draw_into(&*prepared, &drawing, &mut frame)));
            let drawn = match drawn {
                Ok(drawn) => drawn,
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().map_or("", String::as_str);
                    return Outcome::Different(format!("{level} panics: {text}"));
                }
            };
            match (&wanted, drawn) {
                (Ok(wanted), Ok(())) => {
                    assert_eq!(frame.run_info.simd, Some(simd.name()));
                    // Else an engine is compared with itself.
                    let drawn = draws.iter().map(|engine| frame.run_info.drawn_by(engine));
                    let errors: Vec<_> = drawn.filter_map(Result::err).collect();
                    if let (true, [error, ..]) = (errors.len() == draws.len(), &errors[..]) {
                        return Outcome::Different(format!("{level}: {error}"));
                    }
                    if let Some(what) = difference(&frame, wanted) {
                        return Outcome::Different(format!("{level}, {time} frame: {what}"));
                    }
                }
                // Of endless programs only that they are has to be the same.
                (Err(_), Err(_)) => break,
                (Ok(_), Err(error)) => return Outcome::Different(format!("{level}: {error}")),
                (Err(error), Ok(())) => {
                    return Outcome::Different(format!("{level}: no {error}"));
                }
            }
        }
        if let Ok(wanted) = &wanted
            && let Some(what) =
                quads::difference(&*engine, draws, &shader, &bindings, options, wanted)
        {
            return Outcome::Different(format!("{level}, quads: {what}"));
        }
    }
    Outcome::Same(compiled)
}

/// Which engines ran where: natively at which levels, and in the emulator.
fn summary(names: &[String]) -> String {
    let of = |kind: &str| {
        let levels = names.iter().filter_map(|name| name.strip_prefix(kind)?.split(' ').nth(1));
        let mut levels: Vec<_> = levels.collect();
        levels.dedup();
        if levels.is_empty() { "nowhere".to_owned() } else { levels.join(", ") }
    };
    let [fast, jit, emulated] = ["fast", "jit", "emulated"].map(of);
    format!(
        "fast engine: {fast}; machine code natively: {jit}; machine code in the emulator: {emulated}"
    )
}

/// An engine to try.
pub(crate) struct Candidate {
    /// What it is, for messages.
    pub(crate) name: String,
    /// The level of the vector instructions that batches run with.
    simd: Simd,
    /// The engines that may draw: the engine itself, and for the jit engine in the background the fast one, as which it begins.
    draws: &'static [&'static str],
    engine: Box<dyn Engine>,
}

/// Returns the fast engine, and machine code that is compiled quickly, of the best level that this machine has.
pub(crate) fn fast_and_jit() -> Vec<Candidate> {
    let simd = Simd::detect();
    let quick = (When::Before(Effort::Quick), Constants::Specialized, Groups::One);
    [Some(fast(simd)), jit(simd, quick, Execution::Native)].into_iter().flatten().collect()
}

fn fast(simd: Simd) -> Candidate {
    let name = format!("fast {}", simd.name());
    Candidate { name, simd, draws: &["fast"], engine: Box::new(Fast::with(simd)) }
}

/// Returns the engines to try: at each level that is asked for and that this machine has, the fast
/// engine and machine code; and machine code of every level in the emulator.
/// `R500_ENGINE=jit,emulated` says which of these.
pub(crate) fn candidates() -> Vec<Candidate> {
    // Interpreted functions with uniforms: nothing here is drawn so often that it is compiled.
    let variants = [
        (When::Before(Effort::Quick), Constants::Specialized, Groups::Contest),
        (When::Before(Effort::Full), Constants::Specialized, Groups::One),
        (When::Before(Effort::Full), Constants::Specialized, Groups::Two),
        (When::Before(Effort::Full), Constants::Symbolic, Groups::Four),
        (When::Background, Constants::Symbolic, Groups::Contest),
    ];
    let native = Simd::available().flat_map(|simd| {
        let jit = variants.into_iter().filter_map(move |v| jit(simd, v, Execution::Native));
        std::iter::once(fast(simd)).chain(jit)
    });
    let emulated = [Simd::Avx512, Simd::Avx2].into_iter().flat_map(|simd| {
        let compiled = variants.into_iter().filter(|(when, ..)| *when != When::Background);
        compiled.filter_map(move |v| jit(simd, v, Execution::Emulated))
    });
    let asked = |candidate: &Candidate| {
        let mut words = candidate.name.split(' ');
        ["R500_ENGINE", "R500_SIMD"].into_iter().all(|variable| is_asked(variable, words.next()))
    };
    let all: Vec<_> = native.chain(emulated).filter(asked).collect();
    assert!(!all.is_empty(), "no such engine or level here");
    all
}

/// Machine code of a level, if there is any.
fn jit(
    simd: Simd,
    (when, constants, groups): (When, Constants, Groups),
    execution: Execution,
) -> Option<Candidate> {
    let settings = Settings { when, constants, groups, execution, ..Settings::default() };
    let engine = Jit::with(simd, settings);
    let kind = match execution {
        Execution::Native => "jit",
        Execution::Emulated => "emulated",
    };
    let name = format!("{kind} {} {when:?} {constants:?} {groups:?}", simd.name());
    let there = engine.unavailable().is_none();
    let draws: &[_] = if when == When::Background { &["fast", "jit"] } else { &["jit"] };
    there.then(|| Candidate { name, simd: engine.simd(), draws, engine: Box::new(engine) })
}

/// Returns whether a variable asks for a name; for every one if it is not set.
fn is_asked(variable: &str, name: Option<&str>) -> bool {
    let asked = std::env::var(variable).ok();
    asked.is_none_or(|asked| asked.split(',').any(|asked| Some(asked) == name))
}

/// Returns the first difference between a frame and the reference engine's.
pub(crate) fn difference(got: &Frame, wanted: &Frame) -> Option<String> {
    let place = |n: usize| {
        let PixelRect { x, y, width, .. } = wanted.area();
        format!("pixel {},{}", x + n as u32 % width, y + n as u32 / width)
    };
    if got.area() != wanted.area() {
        return Some(format!("area {:?}, wanted {:?}", got.area(), wanted.area()));
    }
    for (n, (got, wanted)) in got.coverage().iter().zip(wanted.coverage()).enumerate() {
        if got != wanted {
            return Some(format!("{}: covered {got}, wanted {wanted}", place(n)));
        }
    }
    for target in 0..4 {
        let (Some(got), Some(wanted)) = (got.target(target), wanted.target(target)) else {
            if got.target(target).is_some() != wanted.target(target).is_some() {
                return Some(format!("target {target}: there or not there"));
            }
            continue;
        };
        for (n, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            if got.map(f32::to_bits) != wanted.map(f32::to_bits) {
                let place = place(n);
                return Some(format!("{place}: target {target}: {got:?}, wanted {wanted:?}"));
            }
        }
    }
    match (got.depth(), wanted.depth()) {
        (None, None) => {}
        (Some(got), Some(wanted)) => {
            for (n, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                if got.to_bits() != wanted.to_bits() {
                    return Some(format!("{}: depth {got:?}, wanted {wanted:?}", place(n)));
                }
            }
        }
        _ => return Some("depth: there or not there".to_owned()),
    }
    // `instructions` counts what groups execute, and these are others.
    let Counters { stat, killed, .. } = got.counters;
    (stat != wanted.counters.stat || killed != wanted.counters.killed).then(|| {
        let wanted = wanted.counters;
        format!("stat {stat:?}, killed {killed}, wanted {:?}, {}", wanted.stat, wanted.killed)
    })
}

/// Returns a reason without the place and the numbers in it.
fn kind(reason: &str) -> String {
    let words =
        reason.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
