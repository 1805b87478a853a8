//! The optimisation pipeline: ordered lists of passes over a [`Function`].
//!
//! A pass is a [`Pass`] in its own file, and an entry of one of the lists here. Passes share the [`Analyses`] of a function, which are
//! computed once and kept until a pass changes the function. In builds with debug assertions the [verifier](super::verify) checks the
//! function after the lift and after every pass.

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

use crate::{EntityMap, Function, Range, Value, verify};

pub(super) use analyses::Analyses;
pub use fp_demand::{DENORMAL, DemandedFp, NOTHING, OperandDemand, SIGN, operand_demands};

/// The passes that run once, after the lift, for all engines.
pub(super) const AFTER_LIFT: &[Pass] =
    &[dce::PASS, fp_demand::PASS, dce::PASS, exited_lanes::PASS, dce::PASS, merge_fuel::PASS];

/// The passes that run before code generation: machine code, and the bytecode of the fast engine.
pub(super) const BEFORE_CODEGEN: &[Pass] = &[trip_count::PASS, gvn::PASS, dce::PASS];

/// A pass: a rewrite of a function that preserves every observable bit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// The name in tests and in errors of the verifier: that of the file.
    pub(super) name: &'static str,
    /// Rewrites a function. Returns whether anything changed.
    pub(super) run: fn(&mut Function, &Analyses<'_>) -> bool,
}

/// Returns the pass with a name, including the example of the guide.
#[cfg(test)]
pub(super) fn pass(name: &str) -> Option<Pass> {
    let all = AFTER_LIFT.iter().chain(BEFORE_CODEGEN).chain(&[abs_of_neg::PASS]);
    all.copied().find(|pass| pass.name == name)
}

/// Runs passes in order. Returns whether any changed the function.
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

/// Optimises a function that a [builder](crate::Builder) returned, with the ranges of its values. `reads_quads`: operations or fetches read
/// other lanes of their quad. In builds with debug assertions the function is verified before and after every pass.
pub fn optimize(function: &mut Function, ranges: &EntityMap<Value, Range>, reads_quads: bool) {
    verify::assert_valid(function, "build");
    run(function, &mut Analyses::new(ranges, reads_quads), AFTER_LIFT);
}

/// Returns the function optimised for code generation; `None` if it does not change.
pub fn optimize_for_codegen(function: &Function) -> Option<Function> {
    if !trip_count::has_conditional_loop(function) {
        return None;
    }
    let mut optimized = function.clone();
    run(&mut optimized, &mut Analyses::default(), BEFORE_CODEGEN).then_some(optimized)
}
