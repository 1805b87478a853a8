//! Register-pressure scheduling of blocks with texture fetches.
//!
//! Programs fetch texels long before they use them, as the chip prefers. Without registers for all texels, the allocator would spill them.
//! So clusters of operations are scheduled bottom-up: among the clusters whose results are all demanded, the one that adds the fewest live
//! values.
//!
//! Texel offsets are an exception. They are read from memory, so they occupy no register, but the latency from offset to texel is long:
//! they are scheduled well before their fetches.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::dag::Dag;
use super::takes_register;
use crate::{LirFunction, Op, Opcode, VReg};

/// The distance between offsets and their fetches, in operations.
const AHEAD: usize = 250;

/// Returns the operations in such an order, if they fetch more texels than there are registers. `uses`: use counts in the whole function.
pub(super) fn order(
    graph: &Dag<'_>,
    function: &LirFunction,
    uses: &[u32],
    registers: usize,
) -> Option<Vec<Op>> {
    let texels = graph.ops.iter().filter(|op| matches!(op.opcode, Opcode::LoadTexel(_)));
    if texels.count() <= registers {
        return None;
    }
    let clusters = Clusters::new(graph, function, uses);
    let ops = clusters.order().into_iter().flat_map(|cluster| &clusters.all[cluster].ops);
    Some(ops.map(|at| graph.ops[*at]).collect())
}

/// The operations of one R500 instruction, which stay together.
#[derive(Default)]
struct Cluster {
    ops: Vec<usize>,
    /// Whether the cluster computes texel offsets.
    offsets: bool,
    /// Values that occupy registers: `defs`, results that others use; `uses`, results of others that it uses.
    defs: HashSet<VReg>,
    uses: HashSet<VReg>,
    /// Clusters that it depends on.
    deps: HashSet<usize>,
    /// Number of clusters that depend on it.
    users: usize,
}

/// All clusters, in program order.
struct Clusters {
    all: Vec<Cluster>,
    /// Values that are live out of the block.
    live_out: HashSet<VReg>,
}

impl Clusters {
    fn new(graph: &Dag<'_>, function: &LirFunction, uses: &[u32]) -> Self {
        let (mut all, numbers) = split(graph);
        let mut def_sites: HashMap<VReg, usize> = HashMap::new();
        let mut remaining: HashMap<VReg, u32> = HashMap::new();
        let counts = |v: &VReg| takes_register(function, *v) && !graph.offsets.contains(v);
        for (op, &number) in graph.ops.iter().zip(&numbers) {
            for v in op.args().filter(counts) {
                *remaining.entry(v).or_insert(uses[v.index()]) -= 1;
                let def_site = def_sites.get(&v).copied();
                if def_site != Some(number) {
                    all[number].uses.insert(v);
                    def_site.map(|def_site| all[def_site].defs.insert(v));
                }
            }
            if let Some(dst) = op.dst.filter(counts) {
                def_sites.insert(dst, number);
                remaining.insert(dst, uses[dst.index()]);
            }
        }
        for (users, &number) in graph.users.iter().zip(&numbers) {
            for user in users.iter().map(|user| numbers[*user]).filter(|user| *user != number) {
                if all[user].deps.insert(number) {
                    all[number].users += 1;
                }
            }
        }
        remaining.retain(|_, remaining| *remaining > 0);
        let live_out: HashSet<VReg> = remaining.into_keys().collect();
        for v in &live_out {
            if let Some(&def_site) = def_sites.get(v) {
                all[def_site].defs.insert(*v);
            }
        }
        Self { all, live_out }
    }

    /// Returns the indices of the clusters in the new order.
    fn order(&self) -> Vec<usize> {
        let mut live = self.live_out.clone();
        let mut users: Vec<usize> = self.all.iter().map(|cluster| cluster.users).collect();
        let mut ready: Vec<usize> =
            (0..users.len()).filter(|cluster| users[*cluster] == 0).collect();
        // Operations scheduled so far, and the number of them after which each cluster of offsets is due.
        let mut now = 0;
        let mut times = vec![0; users.len()];
        let mut result = Vec::with_capacity(users.len());
        while let Some(place) = (0..ready.len()).min_by_key(|place| {
            let number = ready[*place];
            let cluster = &self.all[number];
            let turn = match cluster.offsets {
                true if times[number] <= now => 0,
                true => 2,
                false => 1,
            };
            let more = cluster.uses.difference(&live).count() as i64;
            let fewer = cluster.defs.intersection(&live).count() as i64;
            (turn, more - fewer, Reverse(number))
        }) {
            let number = ready.swap_remove(place);
            let cluster = &self.all[number];
            for v in &cluster.defs {
                live.remove(v);
            }
            live.extend(&cluster.uses);
            now += cluster.ops.len();
            for &before in &cluster.deps {
                times[before] = now + AHEAD;
                users[before] -= 1;
                if users[before] == 0 {
                    ready.push(before);
                }
            }
            result.push(number);
        }
        result.reverse();
        result
    }
}

/// Splits a block into clusters. Returns them, and the cluster of each operation.
fn split(graph: &Dag<'_>) -> (Vec<Cluster>, Vec<usize>) {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut numbers = vec![0; graph.ops.len()];
    let mut start = 0;
    for ops in graph.ops.chunk_by(|a, b| a.origin == b.origin) {
        // The operations that offsets are computed from are scheduled before the texels.
        let mut wanted = HashSet::new();
        let mut early = vec![false; ops.len()];
        for (op, early) in ops.iter().zip(&mut early).rev() {
            let def = |dst: VReg| graph.offsets.contains(&dst) || wanted.contains(&dst);
            if op.dst.is_some_and(def) {
                wanted.extend(op.args());
                *early = true;
            }
        }
        for offsets in [true, false] {
            let all = (start..).zip(&early).filter(|(_, early)| **early == offsets);
            let ops: Vec<usize> = all.map(|(at, _)| at).collect();
            for &at in &ops {
                numbers[at] = clusters.len();
            }
            if !ops.is_empty() {
                clusters.push(Cluster { ops, offsets, ..Cluster::default() });
            }
        }
        start += ops.len();
    }
    (clusters, numbers)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Class, LoadTexel, MemOperand, Region};

    const REGISTERS: usize = 16;

    /// Schedules `count` fetches in a row, followed by the sum of their results.
    fn fetched_first(count: u32) -> Option<Vec<Op>> {
        let mut function = LirFunction::default();
        let place = function.fresh_in_memory(Class::Vector, Some(MemOperand::Slot(0, 0)));
        let mut ops = Vec::new();
        let mut op = |opcode, args: [Option<VReg>; 3], origin| {
            let dst = function.fresh(Class::Vector);
            ops.push(Op { opcode, dst: Some(dst), args, origin });
            dst
        };
        let texel = Opcode::LoadTexel(LoadTexel { unit: 0, pixel: 0, offset: 0, tiny: false });
        let texels = (0..count).map(|fetch| {
            let offset = op(Opcode::Shl(4), [Some(place), None, None], fetch);
            op(texel, [Some(offset), None, None], fetch)
        });
        let texels: Vec<VReg> = texels.collect();
        let mut sum = texels[0];
        for (origin, texel) in (count..).zip(&texels[1..]) {
            sum = op(Opcode::Add, [Some(sum), Some(*texel), None], origin);
        }
        ops.push(Op {
            opcode: Opcode::Store(1, 0),
            dst: None,
            args: [Some(sum), None, None],
            origin: 2 * count,
        });
        let mut uses = vec![0; function.classes.len()];
        super::super::count(&[Region::Ops(ops.clone())], &mut uses);
        let ordered = order(&Dag::new(&ops, &function), &function, &uses, REGISTERS);
        assert!(ordered.iter().all(|ordered| ordered.len() == ops.len()));
        ordered
    }

    #[test]
    fn texels_come_when_they_are_wanted_and_offsets_well_before() {
        let ops = fetched_first(20).unwrap();
        let def_of = |v: VReg| ops.iter().position(|op| op.dst == Some(v));
        for (at, op) in ops.iter().enumerate() {
            // Slots are available from the start.
            for def in op.args().filter_map(def_of) {
                assert!(def < at, "{op:?} comes before its argument");
                match op.opcode {
                    Opcode::LoadTexel(_) => assert!(def < 20, "an offset comes late, at {def}"),
                    // The first sum demands two texels.
                    Opcode::Add => assert!(at - def <= 2, "{op:?} comes long after its argument"),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn registers_last_for_few_texels() {
        assert!(fetched_first(REGISTERS as u32).is_none());
        assert!(fetched_first(REGISTERS as u32 + 1).is_some());
    }
}
