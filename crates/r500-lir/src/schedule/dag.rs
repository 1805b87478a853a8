//! Dependence DAG of a basic block.

use std::collections::{HashMap, HashSet};

use crate::{LirFunction, MemOperand, Op, Opcode, VReg};

/// The operations of a basic block, with their dependences.
pub(super) struct Dag<'a> {
    pub(super) ops: &'a [Op],
    /// For each operation, those that depend on it: they use its result, or must not precede it.
    pub(super) users: Vec<Vec<usize>>,
    /// For each operation, the number of operations that it depends on.
    pub(super) waits: Vec<u32>,
    /// Values that say where texels are: they are read from memory, and take no registers.
    pub(super) offsets: HashSet<VReg>,
}

impl<'a> Dag<'a> {
    pub(super) fn new(ops: &'a [Op], function: &LirFunction) -> Self {
        let mut graph = Self {
            ops,
            users: vec![Vec::new(); ops.len()],
            waits: vec![0; ops.len()],
            offsets: HashSet::new(),
        };
        let mut def_sites = HashMap::new();
        let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
        let mut coverage = None;
        for (at, op) in ops.iter().enumerate() {
            // A store depends on the reads of its slot by all groups: two groups may be the same pixels.
            if let Opcode::Store(slot, _) = op.opcode {
                for &reader in readers.get(&slot).into_iter().flatten() {
                    graph.edge(reader, at);
                }
            }
            // Accesses of the coverage keep their order.
            if let Opcode::LoadCoverage(_) | Opcode::StoreCoverage(_) = op.opcode
                && let Some(before) = coverage.replace(at)
            {
                graph.edge(before, at);
            }
            for v in op.args() {
                if let Some(MemOperand::Slot(slot, _)) = function.mem_operand(v) {
                    readers.entry(slot).or_default().push(at);
                }
                if let Some(&def_site) = def_sites.get(&v) {
                    graph.edge(def_site, at);
                }
            }
            if let Opcode::LoadTexel(_) = op.opcode {
                graph.offsets.extend(op.args());
            }
            if let Some(dst) = op.dst {
                def_sites.insert(dst, at);
            }
        }
        graph
    }

    fn edge(&mut self, before: usize, at: usize) {
        if self.users[before].last() != Some(&at) {
            self.users[before].push(at);
            self.waits[at] += 1;
        }
    }

    /// Returns the operations without dependences.
    pub(super) fn ready(&self) -> Vec<usize> {
        (0..self.ops.len()).filter(|at| self.waits[*at] == 0).collect()
    }
}
