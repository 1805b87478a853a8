//! Counting of executed instructions by interleaved groups.

use crate::Region;

/// Returns whether interleaved groups, counted together, count as much as the group with the largest count does alone. Then a batch is
/// charged the same for every number of interleaved groups.
///
/// Interleaved groups execute the union of their control flow. This counts as much as each group alone if counting does not depend on
/// pixels, and the maximum if a single loop or arm depends on them. With two such loops, each may run longer for another group; and a loop
/// inside a loop runs, in each outer iteration, as often as any group needs.
pub fn fuel_is_uniform(body: &[Region]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arm, Branch, Loop, VReg};

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
