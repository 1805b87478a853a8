//! Legal flow-control constants: integer and boolean constants with which the checker finds no error.
//!
//! Two programs that are equal for all constants that the checker accepts may differ for others. With an integer constant of
//! zero iterations, for example, a LOOP may jump to its own end, which underflows the loop stack: what happens then is
//! undefined, and the choice of the reference engine depends on the shape of the code.

use std::collections::BTreeSet;

use r500_check::{ExternalReads, LintCode, Severity, analyze_errors};
use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_program::{Executable, Job, Program, State};

use crate::Random;

/// The integer and boolean constants that two programs read and neither provides.
#[derive(Clone, Debug)]
pub(crate) struct LegalConstants {
    programs: [Program; 2],
    /// Integer constants, by bit.
    ints: u32,
    /// Boolean constants, by bit.
    bools: u32,
    /// The errors of each program for any values.
    errors: [Errors; 2],
}

/// Values of these constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowConstants {
    /// Integer constants by number.
    pub(crate) ints: Vec<(usize, UsFcIntConst)>,
    /// Boolean constants by number.
    pub(crate) bools: Vec<(usize, bool)>,
}

/// Errors of a program: codes and indices of instructions.
type Errors = BTreeSet<(LintCode, Option<usize>)>;

/// How often random values are tried.
const TRIES: usize = 16;

/// Counts, starts and steps that are tried after that: first those that most programs accept.
const PLAIN: [(u8, u8, i8); 5] = [(1, 0, 0), (4, 0, 1), (255, 0, 0), (1, 0, 1), (0, 0, 0)];

impl LegalConstants {
    /// Describes the constants with these bits of two programs.
    pub(crate) fn new(programs: [&Program; 2], ints: u32, bools: u32) -> Self {
        let errors = programs.map(errors);
        Self { programs: programs.map(Program::clone), ints, bools, errors }
    }

    /// Describes the constants that either job reads and neither provides.
    pub(crate) fn missing(jobs: &[Job; 2]) -> Self {
        let reads = jobs.each_ref().map(|job| ExternalReads::of(&job.program));
        let both = reads[0].union(&reads[1]);
        let [a, b] = jobs.each_ref().map(|job| both.missing(job));
        let programs = [&jobs[0].program, &jobs[1].program];
        let ints = a.int_constants & b.int_constants;
        Self::new(programs, ints, a.bool_constants & b.bool_constants)
    }

    /// Returns legal values for a round: random ones, if some of those that are tried are legal. Returns `None` if no
    /// legal values are found; a run then says nothing.
    pub(crate) fn choose(&self, random: &mut Random, round: u64) -> Option<FlowConstants> {
        if self.ints == 0 && self.bools == 0 {
            return Some(FlowConstants { ints: Vec::new(), bools: Vec::new() });
        }
        let numbers = |set: u32| (0..32).filter(move |n| set >> n & 1 != 0);
        let mut second_best = None;
        for n in 0..TRIES + 2 * PLAIN.len() {
            let plain = n.checked_sub(TRIES).map(|n| (int_constant(PLAIN[n / 2]), n % 2 == 1));
            let mut int = || plain.map_or_else(|| random.int_constant(round), |(int, _)| int);
            let ints = numbers(self.ints).map(|n| (n, int())).collect();
            let word = random.word();
            let bool = |n: usize| plain.map_or(word >> n & 1 != 0, |(_, all)| all);
            let bools = numbers(self.bools).map(|n| (n, bool(n))).collect();
            let values = FlowConstants { ints, bools };
            let found = self.programs.each_ref().map(|program| {
                let mut program = program.clone();
                values.store(&mut program.state);
                errors(&program)
            });
            if found.iter().all(BTreeSet::is_empty) {
                return Some(values);
            }
            // A program that has errors for any values has them for these, too.
            if found.iter().zip(&self.errors).all(|(found, any)| found.is_subset(any)) {
                second_best.get_or_insert(values);
            }
        }
        second_best
    }
}

impl FlowConstants {
    /// Stores the values in both jobs.
    pub(crate) fn apply(&self, jobs: &mut [Job; 2]) {
        jobs.iter_mut().for_each(|job| self.store(&mut job.program.state));
    }

    fn store(&self, state: &mut State) {
        for &(n, value) in &self.ints {
            state.fc_int_const[n] = Some(value);
        }
        for &(n, value) in &self.bools {
            let bits = state.fc_bool_const.unwrap_or_default().kbool();
            let bits = if value { bits | 1 << n } else { bits & !(1 << n) };
            state.fc_bool_const = Some(UsFcBoolConst::default().with(UsFcBoolConst::KBOOL, bits));
        }
    }
}

fn int_constant((count, start, step): (u8, u8, i8)) -> UsFcIntConst {
    UsFcIntConst::default()
        .with(UsFcIntConst::KR, count)
        .with(UsFcIntConst::KG, start)
        .with(UsFcIntConst::KB, step)
}

/// Returns the errors that the checker finds in a program with its constants.
fn errors(program: &Program) -> Errors {
    let Ok(executable) = Executable::of(program) else { return Errors::new() };
    let lints = analyze_errors(&executable).report.lints.into_iter();
    let errors = lints.filter(|lint| lint.severity() == Severity::Error);
    errors.map(|lint| (lint.code, lint.location.index())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use r500_asm::{Options, assemble};

    use super::*;

    fn program(source: &str) -> Program {
        let assembly = assemble(source.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{:?}", assembly.diagnostics);
        assembly.job.program
    }

    const OUT: &str = "OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;";

    /// A loop of zero iterations that jumps to its own end: ENDLOOP then runs outside every loop.
    #[test]
    fn a_loop_that_jumps_to_its_end_has_iterations() {
        let source = format!(
            "LOOP int[3] all -> @e ; src0.rgb = temp[0] : temp[0].r = MAD src0.rrr src0.111 src0.111 ; @e ENDLOOP ; {OUT}"
        );
        let program = program(&source);
        let legal = LegalConstants::new([&program, &program], 1 << 3, 0);
        for round in 0..200 {
            let values = legal.choose(&mut Random::new(7, round), round).unwrap();
            let [(3, value)] = values.ints[..] else { panic!("{values:?}") };
            assert_ne!(value.kr(), 0);
        }
        // Without the checker, some rounds have no iterations.
        let mut rounds = 0..200_u64;
        assert!(rounds.any(|round| Random::new(7, round).int_constant(round).kr() == 0));
    }

    /// const[250 + aL] is a constant up to aL = 5.
    #[test]
    fn addresses_stay_in_the_constants() {
        let source = format!(
            "LOOP int[0] ; src0.rgb = const[250 + aL] : temp[0].rgb = MAX src0.rgb src0.rgb ; ENDLOOP ; {OUT}"
        );
        let program = program(&source);
        let legal = LegalConstants::new([&program, &program], 1, 0);
        for round in 0..200 {
            let values = legal.choose(&mut Random::new(7, round), round).unwrap();
            let (start, step) =
                (i32::from(values.ints[0].1.kg()), i32::from(values.ints[0].1.kb()));
            let last = start + step * (i32::from(values.ints[0].1.kr()) - 1).max(0);
            assert!((0..=5).contains(&start) && last <= 5, "{values:?}");
        }
    }
}
