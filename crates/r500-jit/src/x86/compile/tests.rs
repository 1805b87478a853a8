//! Random units: their code computes their results, on each level that this processor has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::sync::Arc;

use r500_exec::Options;
use r500_fast::codegen::Batch;

use super::*;
use crate::memory_bounds::MemoryBounds;
use crate::random_units::{Numbers, check, count, with_budget, with_unit};
use crate::x86::emulated::EmulatedCode;
use crate::x86::exec_memory::ExecMemory;
use r500_lir::TableEntry;
use r500_lir::known_bugs::{KnownBug, inject};

const LEVELS: [Level; 2] = [Level::Avx2, Level::Avx512];

/// The code of a unit, natively or in the emulator.
enum Runnable {
    Native(ExecMemory),
    Emulated(Box<EmulatedCode>),
}

impl Runnable {
    fn new(assembly: &Assembly, unit: &CompileUnit<'_>, level: Level, emulated: bool) -> Self {
        match emulated {
            true => Self::Emulated(Box::new(EmulatedCode::new(assembly, unit, Arc::default()))),
            false => {
                Self::Native(ExecMemory::new(assembly, MemoryBounds::of(unit), level).unwrap())
            }
        }
    }

    fn call(&self, batch: &mut Batch<'_, '_>) {
        let run = (0, batch.covered.len());
        let done = match self {
            Self::Native(pages) => pages.call(batch, run, false),
            Self::Emulated(code) => code.call(batch, run, false),
        };
        done.unwrap();
    }
}

/// The parameters of a check.
#[derive(Clone, Copy, Debug)]
struct Setup {
    level: Level,
    effort: Effort,
    emulated: bool,
    bug: Option<KnownBug>,
    /// Whether register allocation is checked.
    checked: bool,
}

impl Setup {
    /// Checks a unit with the number of interleaved groups doubled by `doublings`.
    fn check(self, seed: u64, doublings: &dyn Fn(&LirFunction, Level) -> u32) {
        let Self { level, effort, emulated, bug, checked } = self;
        let make = |unit: &CompileUnit<'_>| {
            let assembly =
                inject(bug, checked, || compile_doubled(unit, level, effort, doublings).unwrap());
            (assembly.lanes as usize, Runnable::new(&assembly, unit, level, emulated))
        };
        check(
            seed,
            Numbers::All,
            true,
            &self,
            make,
            |code, slots, covered, texels, interpolants, targets| {
                with_budget(&Options::default(), |fuel| {
                    code.call(&mut Batch { slots, covered, texels, interpolants, targets, fuel });
                });
            },
        );
    }
}

/// Checks units with the number of interleaved groups doubled by `doublings`: on the processor, if it has the level, and every
/// `emulated`-th unit in the emulator.
fn check_units(units: u64, emulated: usize, doublings: &dyn Fn(&LirFunction, Level) -> u32) {
    for level in LEVELS {
        for effort in [Effort::Quick, Effort::Full] {
            let native = Setup { level, effort, emulated: false, bug: None, checked: true };
            if level.is_available() {
                (0..units).for_each(|seed| native.check(seed, doublings));
            }
            let setup = Setup { emulated: true, ..native };
            (0..units).step_by(emulated).for_each(|seed| setup.check(seed, doublings));
        }
    }
}

#[test]
fn random_units_compute_what_they_say() {
    for doublings in [0, 1] {
        check_units(count(250), 8, &|_, _| doublings);
    }
}

/// The last of three chunks is interleaved with itself.
#[test]
fn two_chunks_go_together() {
    check_units(count(150), 8, &|_, level| match level {
        Level::Avx2 => 2,
        Level::Avx512 => 1,
    });
}

/// The fourth of four interleaved chunks is the first one again.
#[test]
fn four_chunks_go_together() {
    check_units(count(150), 8, &|_, level| match level {
        Level::Avx2 => 3,
        Level::Avx512 => 2,
    });
}

/// Random units cover tables with one loop counter and with two.
#[test]
fn random_units_have_tables() {
    let mut entries = [0, 0];
    for seed in 0..400 {
        with_unit(seed, |unit| {
            lower_unit(unit, Level::Avx512).each_op(|op| {
                if let Opcode::Tabulated(TableEntry { outer, .. }) = op.opcode {
                    entries[usize::from(outer.is_some())] += 1;
                }
            });
        });
    }
    println!("tables by one and by two iterations: {entries:?}");
    assert!(entries[0] > 200 && entries[1] > 10, "{entries:?}");
}

/// Code for levels that this processor lacks compiles, too.
#[test]
fn every_unit_has_code_for_every_level() {
    for seed in 0..200 {
        with_unit(seed, |unit| {
            for level in [Level::Avx2, Level::Avx512] {
                let made = compile(unit, level, Effort::Full);
                assert!(made.is_ok(), "seed {seed}, {level:?}: {made:?}");
            }
        });
    }
}

/// Returns the first unit in which a bug of AVX-512 code is detected, and its message.
fn first_failure(bug: KnownBug, checked: bool) -> (u64, String) {
    let (level, effort) = (Level::Avx512, Effort::Full);
    let setup = Setup { level, effort, emulated: true, bug: Some(bug), checked };
    let mut failures = (0..400).filter_map(|seed| {
        let panic = std::panic::catch_unwind(|| setup.check(seed, &baseline_doublings)).err()?;
        Some((seed, panic.downcast_ref::<String>().cloned().unwrap_or_default()))
    });
    let (seed, text) = failures.next().unwrap_or_else(|| panic!("{bug:?} shows nowhere"));
    println!("{bug:?}, unit {seed}: {text}");
    (seed, text)
}

/// Runs on any machine.
#[test]
fn the_emulator_finds_known_bugs() {
    for (bug, what) in [
        (KnownBug::MovesByClass, ": wrong "),
        (KnownBug::TexelOffsetsInPool, "outside of all regions"),
        (KnownBug::AlignedMaskedMove, "is not a multiple of 64"),
    ] {
        let (seed, text) = first_failure(bug, false);
        assert!(text.contains(what), "{bug:?}, unit {seed}: {text}");
    }
}

#[test]
fn the_checker_of_register_allocation_finds_known_bugs() {
    for bug in [KnownBug::MovesByClass, KnownBug::TexelOffsetsInPool] {
        let (seed, text) = first_failure(bug, true);
        assert!(text.contains("register allocation"), "{bug:?}, unit {seed}: {text}");
    }
}
