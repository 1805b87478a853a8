//! Draws with both engines and compares: the frames, bit for bit, and what was counted.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use r500_exec::fast::{Fast, Simd};
use r500_exec::reference::Reference;
use r500_exec::{
    Bindings, Counters, Draw, Engine, Frame, Options, PixelRect, Shader, draw, draw_into,
};
use r500_jit::{Effort, Jit, Settings, When};
use r500_program::Job;

/// What came of a program.
pub(crate) enum Outcome {
    /// The engines drew the same; operations that were machine code, and all that could be.
    Same([u64; 2]),
    /// The fast engine gave it to the reference engine, and why.
    Fallback(String),
    /// Something differs.
    Different(String),
}

/// How often the fast engine drew, and why it did not.
#[derive(Default)]
pub(crate) struct Seen {
    /// Programs that the fast engine drew.
    pub drawn: u64,
    /// Operations that were machine code where there can be such, and all.
    pub compiled: [u64; 2],
    /// Those that it did not, by reason.
    pub instead: BTreeMap<String, u64>,
}

impl Seen {
    /// Counts a program. What differs comes back.
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

    /// Without a floor, the reference engine might have been compared with itself.
    pub(crate) fn demand(&self, percent: u64) {
        let all = self.drawn + self.instead.values().sum::<u64>();
        let [compiled, operations] = self.compiled;
        eprintln!(
            "{} of {all} programs drawn by the fast engine, {compiled} of {operations} operations \
             machine code; else {:#?}",
            self.drawn, self.instead
        );
        assert_eq!(compiled, operations, "some segments were not compiled");
        assert!(self.drawn * 100 >= all * percent, "only {} of {all}", self.drawn);
    }
}

/// Draws with all engines, with the fast one at every level, with the jit one at those that it has
/// code for, compiled quickly and well.
pub(crate) fn compare(job: &Job, options: &Options<'_>) -> Outcome {
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
    let mut compiled = [0, 0];
    for (simd, engine) in levels().into_iter().flat_map(engines) {
        let level = format!("{} {}", engine.name(), simd.name());
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
            let Ok(drawn) = drawn else { return Outcome::Different(format!("{level} panics")) };
            match (&wanted, drawn) {
                (Ok(wanted), Ok(())) => {
                    assert_eq!(frame.run_info.simd, Some(simd.name()));
                    assert!(frame.run_info.fallback_reason.is_none(), "{:?}", frame.run_info);
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
    }
    Outcome::Same(compiled)
}

/// The engines to try at a level.
fn engines(simd: Simd) -> Vec<(Simd, Box<dyn Engine>)> {
    let asked = std::env::var("R500_ENGINE").ok();
    let jit = |effort| {
        let engine =
            Jit::with(simd, Settings { when: When::Before(effort), ..Settings::default() });
        engine.unavailable().is_none().then_some(Box::new(engine) as Box<dyn Engine>)
    };
    let fast: Box<dyn Engine> = Box::new(Fast::with(simd));
    let all = [Some(fast), jit(Effort::Quick), jit(Effort::Full)].into_iter().flatten();
    all.filter(|engine| asked.as_ref().is_none_or(|asked| asked == engine.name()))
        .map(|engine| (simd, engine))
        .collect()
}

/// The first difference between a frame and the reference engine's.
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

/// A reason without the place and the numbers in it.
fn kind(reason: &str) -> String {
    let words =
        reason.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// The levels asked for that this machine has; all if not said.
pub(crate) fn levels() -> Vec<Simd> {
    let asked = std::env::var("R500_SIMD").ok();
    let wanted = |simd: &Simd| {
        asked.as_ref().is_none_or(|asked| asked.split(',').any(|name| name == simd.name()))
    };
    let levels: Vec<_> = Simd::available().filter(wanted).collect();
    assert!(!levels.is_empty(), "no such level here");
    levels
}
