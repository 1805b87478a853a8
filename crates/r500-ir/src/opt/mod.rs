//! The optimisation pipeline: ordered lists of passes over a [`Function`].
//!
//! A pass is a [`Pass`] in a file of its own, and a line in one of the lists here. What passes know of a function
//! beyond its text is in [`Analyses`], computed once and shared until a pass changes the function. In builds with
//! debug assertions the [verifier](super::verify) checks the function after the lift and after every pass.

#[cfg(test)]
mod abs_of_neg;
mod analyses;
mod dce;
mod demand;
mod exited_lanes;
mod fp_demand;
mod gvn;
mod identities;
mod lane_paths;
mod last_iteration;
mod merge_fuel;
mod trip_count;

use super::{Function, verify};

pub(super) use analyses::Analyses;
pub use fp_demand::{DENORMAL, DemandedFp, NOTHING, OperandDemand, SIGN, operand_demands};

/// The passes that run once, after the lift, for every engine.
pub(super) const AFTER_LIFT: &[Pass] =
    &[dce::PASS, fp_demand::PASS, dce::PASS, exited_lanes::PASS, dce::PASS, merge_fuel::PASS];

/// The passes that run before code is made that is used for long: machine code, and the bytecode of the fast engine.
pub(super) const BEFORE_CODEGEN: &[Pass] = &[trip_count::PASS, gvn::PASS, dce::PASS];

/// A pass: a rewrite of a function that leaves every observable bit as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// Its name, as tests and the verifier's errors spell it: that of its file.
    pub(super) name: &'static str,
    /// Rewrites a function; returns whether anything changed.
    pub(super) run: fn(&mut Function, &Analyses<'_>) -> bool,
}

/// Returns the pass of a name; that of the guide's example is one too.
#[cfg(test)]
pub(super) fn pass(name: &str) -> Option<Pass> {
    let all = AFTER_LIFT.iter().chain(BEFORE_CODEGEN).chain(&[abs_of_neg::PASS]);
    all.copied().find(|pass| pass.name == name)
}

/// Runs passes in order; returns whether any changed the function.
pub(super) fn run(function: &mut Function, analyses: &mut Analyses<'_>, passes: &[Pass]) -> bool {
    let mut changed = false;
    for pass in passes {
        if (pass.run)(function, analyses) {
            changed = true;
            analyses.invalidate();
        }
        verify::assert_valid(function, pass.name);
    }
    changed
}

/// Optimises a function that was just lifted.
pub(super) fn optimize(function: &mut Function, mut analyses: Analyses<'_>) {
    verify::assert_valid(function, "lift");
    run(function, &mut analyses, AFTER_LIFT);
}

/// Returns the function as machine code is made of it, and the fast engine's bytecode; `None` if that is the function as it is.
pub fn optimize_for_codegen(function: &Function) -> Option<Function> {
    if !trip_count::has_conditional_loop(function) {
        return None;
    }
    let mut optimized = function.clone();
    run(&mut optimized, &mut Analyses::default(), BEFORE_CODEGEN).then_some(optimized)
}
