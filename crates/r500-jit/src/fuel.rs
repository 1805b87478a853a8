//! Fuel: counting and limiting of the instructions that machine code executes.
//!
//! Code receives a grant of fuel for each group of pixels. When it is used up, the code asks for more, and the meter charges the fuel of
//! the draw.

use r500_exec::RunError;
use r500_fast::codegen::Fuel;

use crate::lir::Region;

/// The grant, in instructions: code asks for more after some milliseconds at most.
const GRANT: u64 = 10_000;

/// Returns the grant if `left` instructions may still be executed.
pub(crate) fn grant(left: u64) -> i64 {
    left.min(GRANT).try_into().unwrap_or(i64::MAX)
}

/// Returns whether interleaved groups, counted together, count as much as the group with the largest count does alone. Then a batch is
/// charged the same for every number of interleaved groups.
///
/// Interleaved groups execute the union of their control flow. This counts as much as each group alone if counting does not depend on
/// pixels, and the maximum if a single loop or arm depends on them. With two such loops, each may run longer for another group; and a loop
/// inside a loop runs, in each outer iteration, as often as any group needs.
pub(crate) fn fuel_is_uniform(body: &[Region]) -> bool {
    varying(body) <= 1
}

/// Returns the number of regions whose count depends on the group, 0 or 1; 2 stands for more.
fn varying(regions: &[Region]) -> usize {
    let region = |region: &Region| match region {
        Region::Ops(_) | Region::ConsumeFuel(_) => 0,
        Region::Branch(branch) => {
            let counting = branch.arms.iter().filter(|arm| counts(&arm.body));
            counting.map(|arm| varying(&arm.body).max(1)).sum()
        }
        Region::Loop(repeat) => match varying(&repeat.body) {
            0 => usize::from(repeat.continue_mask.is_some() && counts(&repeat.body)),
            _ => 2,
        },
    };
    regions.iter().map(region).sum()
}

/// Returns whether regions count instructions.
fn counts(regions: &[Region]) -> bool {
    regions.iter().any(|region| match region {
        Region::Ops(_) => false,
        Region::ConsumeFuel(_) => true,
        Region::Branch(branch) => branch.arms.iter().any(|arm| counts(&arm.body)),
        Region::Loop(repeat) => counts(&repeat.body),
    })
}

/// Accounts for the fuel of a call of native code.
pub(crate) struct FuelMeter<'m> {
    fuel: Option<&'m Fuel<'m>>,
    /// The initial fuel of each group of pixels.
    grant: i64,
    stopped: Option<RunError>,
}

impl<'m> FuelMeter<'m> {
    pub(crate) fn new(fuel: Option<&'m Fuel<'m>>, grant: i64) -> Self {
        Self { fuel, grant, stopped: None }
    }

    /// Returns whether the code had to stop.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Returns the fuel to add for a group that has `left` (less than 0) and was given `added` beyond its grant; `None` if there is none,
    /// with the reason stored. Does not panic.
    pub(crate) fn refill(&mut self, left: i64, added: i64, address: u32) -> Option<i64> {
        let Some(fuel) = self.fuel else { return Some(i64::MAX.saturating_sub(left)) };
        let used = self.used(added.saturating_sub(left));
        let result = match used > fuel.remaining() {
            true => Err(fuel.exceeded(address)),
            false => fuel.check(),
        };
        match result {
            Ok(()) => Some(grant(fuel.remaining() - used).saturating_sub(left)),
            Err(error) => {
                self.stopped = Some(error);
                None
            }
        }
    }

    /// Returns the instructions of the group that executed most, given the maximum of its use beyond the grant.
    ///
    /// # Errors
    /// The reason why the code had to stop.
    pub(crate) fn finish(self, most: i64) -> Result<u64, RunError> {
        let used = self.used(most);
        match self.stopped {
            Some(error) => Err(error),
            None => Ok(used),
        }
    }

    fn used(&self, beyond: i64) -> u64 {
        // `i64::MIN` if no group executed.
        self.grant.saturating_add(beyond).max(0).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Arm, Branch, Loop, VReg};

    const COUNT: Region = Region::ConsumeFuel(3);

    fn arm(body: Vec<Region>) -> Region {
        let arms = vec![Arm { mask: VReg(0), body, assign: Vec::new() }];
        Region::Branch(Branch { phis: Vec::new(), arms })
    }

    /// Returns a loop that pixels leave (`left`), or one with the same trip count for all of them.
    fn looped(left: bool, body: Vec<Region>) -> Region {
        let continue_mask = left.then_some(VReg(0));
        Region::Loop(Loop { max_trips: 9, params: Vec::new(), body, continue_mask, address: 0 })
    }

    #[test]
    fn groups_count_alike_where_one_region_at_most_depends_on_pixels() {
        let left = || looped(true, vec![COUNT]);
        let same = || looped(false, vec![COUNT]);
        for (body, wanted) in [
            (vec![], true),
            (vec![COUNT, same(), same()], true),
            (vec![left(), COUNT, same()], true),
            (vec![left(), left()], false),
            (vec![looped(true, vec![left()])], false),
            (vec![looped(false, vec![left()])], false),
            (vec![looped(true, vec![same(), arm(vec![])])], true),
            (vec![looped(true, vec![arm(vec![COUNT])])], false),
            (vec![arm(vec![left(), COUNT])], true),
            (vec![arm(vec![same()]), arm(vec![same()])], false),
            // Loops that count nothing are irrelevant.
            (vec![looped(true, vec![]), looped(true, vec![]), left()], true),
        ] {
            assert_eq!(fuel_is_uniform(&body), wanted, "{body:?}");
        }
    }
}
