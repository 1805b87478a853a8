//! The optimisation pipeline: an ordered list of passes over a [`Function`].
//!
//! | pass | rewrite |
//! | --- | --- |
//! | `dce` | dead-code elimination |
//! | `fp_demand` | drops operations that only change zero signs and denormals that no use observes |
//! | `exited_lanes` | drops selects that keep the values of lanes that have left a loop |
//! | `trip_count` | specialises loops whose trip count is a constant |

mod dce;
mod exited_lanes;
mod fp_demand;
mod trip_count;
mod use_counts;

use super::{Function, Range};

pub(crate) use trip_count::specialize_counted_loops;

/// Optimises a function. `ranges` has the value range of each value; `reads_quads` says whether the
/// function reads across quads.
pub(super) fn optimize(function: &mut Function, ranges: &[Range], reads_quads: bool) {
    dce::eliminate_dead_code(function);
    fp_demand::simplify_zeros_and_denormals(function, ranges);
    dce::eliminate_dead_code(function);
    if !reads_quads {
        exited_lanes::eliminate_exit_selects(function);
        dce::eliminate_dead_code(function);
    }
    dce::merge_fuel(&mut function.body);
}
