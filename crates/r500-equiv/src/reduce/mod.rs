//! Reduction of a differing pair: the smallest two programs that still differ, by delta debugging.
//!
//! The values that show the difference are fixed: the reference engine draws both programs with them after each change, and a
//! change stays if the programs still differ in the same [way](Signature) and the checker finds nothing new. Passes, repeated
//! until none removes anything:
//!
//! | module | removes |
//! | --- | --- |
//! | `picture` | pixels: the quad of the pixel that differs remains |
//! | `removal` | instructions, in ever smaller parts (ddmin, Zeller and Hildebrandt 2002) |
//! | `fields` | operands, channels, modifiers |
//! | `bindings` | constants, inputs, textures, state; what remains gets simple values |
//!
//! Programs that agree nearly everywhere must still do so (`controls`).
//!
//! Instructions that are aligned in both programs are removed from both. If both computed the same values, the register
//! becomes an input with these values (`recorded`), so that what follows needs no instruction before it.

mod bindings;
mod controls;
mod fields;
mod picture;
mod recorded;
mod removal;
mod signature;
mod vertices;

use std::collections::BTreeSet;
use std::time::Instant;

use r500_check::{LintCode, Severity, check_job};
use r500_exec::Options;
use r500_exec::reference::Reference;
use r500_program::{InputData, Job, Plane};

pub use signature::{Output, Signature, Way};
pub use vertices::{ReducedVertices, VertexReduction};

use super::{Difference, Incomparable, Pair};
use r500_service::lint;

/// Limit of instructions that a group of pixels may execute.
const INSTRUCTIONS: u64 = 1 << 18;

/// How a pair is reduced.
pub struct Reduction<'a> {
    /// Options of the runs: readings and limits.
    pub options: Options<'a>,
    /// Difference that counts as none; `None` if stored bits are compared.
    pub tolerance: Option<f32>,
    /// When the reduction ends with what it has.
    pub deadline: Option<Instant>,
    /// Called after each change that stays: with the number of instructions of A and B, and that of runs.
    pub progress: &'a dyn Fn([usize; 2], u64),
}

/// A reduced pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// The programs with the values that show the difference.
    pub jobs: [Job; 2],
    /// The first pixel that differs.
    pub difference: Difference,
    /// Number of runs.
    pub runs: u64,
    /// Whether no removal that is known is left: not if the deadline passed.
    pub complete: bool,
}

/// Why a pair cannot be reduced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Irreducible {
    /// It cannot be run.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// It does not differ with the given values.
    #[error("the programs write the same with these values")]
    Equal,
}

impl Reduction<'_> {
    /// Reduces two jobs that differ with their own values, in a picture of `size`.
    ///
    /// # Errors
    /// [`Irreducible`] if they do not differ, or cannot run.
    pub fn run(&self, jobs: &[Job; 2], size: [u32; 2]) -> Result<Reduced, Irreducible> {
        let mut jobs = jobs.clone();
        for job in &mut jobs {
            job.size = Some(size);
            // Expectations are those of the whole picture.
            job.expect = Default::default();
            job.share = None;
        }
        let mut options = self.options.clone();
        options.limits.instructions = options.limits.instructions.min(INSTRUCTIONS);
        options.progress = None;
        let mut state = State {
            of: self,
            options,
            allowed: jobs.each_ref().map(codes),
            signature: Signature::default(),
            difference: None,
            is_edge: false,
            runs: 0,
            jobs,
        };
        let first = state.compare(&state.jobs.clone())?.ok_or(Irreducible::Equal)?;
        state.signature = Signature::of(&first);
        state.difference = Some(first);
        state.is_edge = state.agrees_elsewhere();
        state.run_passes();
        let complete = !state.is_late();
        let difference = state.difference.ok_or(Irreducible::Equal)?;
        Ok(Reduced { jobs: state.jobs, difference, runs: state.runs, complete })
    }
}

/// The pair so far.
struct State<'a> {
    of: &'a Reduction<'a>,
    options: Options<'a>,
    /// Errors and warnings that a program may have.
    allowed: [BTreeSet<LintCode>; 2],
    signature: Signature,
    difference: Option<Difference>,
    /// Whether the programs agree with all control values.
    is_edge: bool,
    runs: u64,
    jobs: [Job; 2],
}

impl State<'_> {
    fn run_passes(&mut self) {
        loop {
            let before = self.jobs.clone();
            self.reduce_picture();
            self.remove_instructions();
            self.simplify_fields();
            self.simplify_bindings();
            if is_same_pair(&self.jobs, &before) || self.is_late() {
                break;
            }
        }
        self.remove_dead_writes();
    }

    fn is_late(&self) -> bool {
        self.of.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the first pixel that differs.
    fn compare(&mut self, jobs: &[Job; 2]) -> Result<Option<Difference>, Incomparable> {
        self.runs += 1;
        let [a, b] = jobs.clone();
        let pair = Pair::new(a, b, None)?;
        let compared = pair.compare(jobs, &Reference, &self.options, self.of.tolerance)?;
        Ok(compared.first)
    }

    /// Keeps a candidate if it differs in the same way and the checker finds nothing new. Returns whether it was kept.
    fn try_jobs(&mut self, mut jobs: [Job; 2]) -> bool {
        if is_same_pair(&jobs, &self.jobs) || self.is_late() {
            return false;
        }
        for (job, allowed) in jobs.iter_mut().zip(&self.allowed) {
            // What remains waits for what it reads.
            lint::fix_program(job, |lint| !allowed.contains(&lint.code));
            if codes(job).difference(allowed).any(|code| !is_transient(*code)) {
                return false;
            }
        }
        if is_same_pair(&jobs, &self.jobs) {
            return false;
        }
        let Ok(Some(difference)) = self.compare(&jobs) else { return false };
        if !self.signature.matches(&difference) || !self.passes_controls(&jobs) {
            return false;
        }
        self.jobs = jobs;
        self.difference = Some(difference);
        (self.of.progress)(self.jobs.each_ref().map(|job| job.program.code.len()), self.runs);
        true
    }

    /// Removes writes that nothing reads any more.
    fn remove_dead_writes(&mut self) {
        for side in 0..2 {
            loop {
                let mut jobs = self.jobs.clone();
                let lints = check_job(&jobs[side]).lints.into_iter();
                let dead = lints.filter(|lint| is_transient(lint.code));
                let fixes: Vec<_> = dead.filter_map(|lint| lint.fix).collect();
                fixes.iter().for_each(|fix| fix.apply(&mut jobs[side].program));
                if fixes.is_empty() || !self.try_jobs(jobs) {
                    break;
                }
            }
        }
    }
}

/// Returns whether two pairs are the same, inputs bit for bit: a NaN is the same as itself.
fn is_same_pair(a: &[Job; 2], b: &[Job; 2]) -> bool {
    a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

fn is_same(a: &Job, b: &Job) -> bool {
    let rest = |job: &Job| Job { inputs: None, ..job.clone() };
    input_bits(a) == input_bits(b) && (a == b || rest(a) == rest(b))
}

/// Returns the inputs of a job, names and the bits of all numbers.
fn input_bits(job: &Job) -> Vec<(u8, Vec<&str>, Vec<u32>)> {
    let inputs = job.inputs.iter().flatten();
    let bits = inputs.map(|input| match &input.data {
        InputData::Planes(components) => {
            let numbers = components.iter().flat_map(|component| {
                let Plane { c, du, dv } = component.plane;
                [c, du, dv].map(f32::to_bits)
            });
            let names = components.iter().map(|component| component.name.as_str());
            (input.temp, names.collect(), numbers.collect())
        }
        InputData::Values { width, values } => {
            let numbers = values.iter().flatten().map(|value| value.to_bits());
            (input.temp, Vec::new(), std::iter::once(*width).chain(numbers).collect())
        }
    });
    bits.collect()
}

/// Returns the errors and warnings of a job, as codes.
fn codes(job: &Job) -> BTreeSet<LintCode> {
    let lints = check_job(job).lints.into_iter();
    lints.filter(|lint| lint.severity() != Severity::Note).map(|lint| lint.code).collect()
}

/// Returns whether a finding may appear between passes: later removals resolve it.
fn is_transient(code: LintCode) -> bool {
    matches!(code, LintCode::DeadWrite | LintCode::DeadOutput)
}
