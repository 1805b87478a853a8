//! Guard placement: the values of a function that are checked for subnormals, so that all others need no check.
//!
//! A value is checked at its definition. If a guarded value is neither zero nor as large as its guard requires, the group is deoptimised.

use std::collections::{BTreeSet, HashMap};

use super::ftz_analysis::{FpFact, RequiredGuard, Size, of_result};
use r500_lir::{Class, LirFunction, MemOperand, Op, Opcode, Region, VReg};

/// The guarded values and their guards.
#[derive(Debug, Default)]
pub(super) struct GuardSet(HashMap<VReg, GuardKind>);

/// A guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct GuardKind {
    pub(super) size: Size,
    /// Whether the value is not negative, which makes the check cheaper.
    pub(super) positive: bool,
}

impl GuardSet {
    /// Places the guards of a function.
    pub(super) fn of(function: &LirFunction) -> Self {
        let operands = function.mem_operands.iter().map(|operand| match operand {
            Some(MemOperand::Const(bits)) => FpFact::of(*bits),
            _ => FpFact::BITS,
        });
        let mut analysis =
            GuardAnalysis { function, facts: operands.collect(), guards: Self::default() };
        analysis.nodes(&function.body);
        analysis.guards
    }

    /// Returns the guard of a value, if it has one.
    pub(super) fn get(&self, v: VReg) -> Option<GuardKind> {
        self.0.get(&v).copied()
    }

    /// Returns the distinct guards.
    pub(super) fn kinds(&self) -> BTreeSet<GuardKind> {
        self.0.values().copied().collect()
    }
}

struct GuardAnalysis<'a> {
    function: &'a LirFunction,
    facts: Vec<FpFact>,
    guards: GuardSet,
}

impl GuardAnalysis<'_> {
    fn fact(&self, v: VReg) -> FpFact {
        self.facts[v.index()]
    }

    fn set(&mut self, v: VReg, fact: FpFact) {
        self.facts[v.index()] = fact;
    }

    fn guard(&mut self, v: VReg, size: Size) {
        let fact = self.fact(v);
        let guard = self.guards.0.entry(v).or_insert(GuardKind { size, positive: fact.positive });
        guard.size = guard.size.max(size);
        self.set(v, fact.guarded(size));
    }

    fn nodes(&mut self, nodes: &[Region]) {
        for node in nodes {
            match node {
                Region::Ops(ops) => ops.iter().for_each(|op| self.op(op)),
                Region::ConsumeFuel(_) => {}
                // All values of a phi or parameter must satisfy the same fact.
                Region::Branch(branch) => {
                    for phi in &branch.phis {
                        phi.incoming.into_iter().for_each(|before| self.keep(before));
                        self.set(phi.var, FpFact::KEPT);
                    }
                    for arm in &branch.arms {
                        self.nodes(&arm.body);
                        for assign in &arm.assign {
                            self.keep(assign.from);
                            self.set(assign.new, FpFact::KEPT);
                        }
                    }
                }
                Region::Loop(repeat) => {
                    for param in &repeat.params {
                        self.keep(param.init);
                        self.set(param.var, FpFact::KEPT);
                        self.set(param.out, FpFact::KEPT);
                    }
                    self.nodes(&repeat.body);
                    repeat.params.iter().for_each(|param| self.keep(param.next));
                }
            }
        }
    }

    fn keep(&mut self, v: VReg) {
        if self.function.class(v) == Class::Vector && !self.fact(v).is_kept() {
            self.guard(v, Size::Large);
        }
    }

    fn op(&mut self, op: &Op) {
        let square = op.opcode == Opcode::Mul && op.args[0] == op.args[1];
        loop {
            let facts: Vec<FpFact> = op.args().map(|v| self.fact(v)).collect();
            let (fact, is_guarded) = match of_result(op.opcode, &facts) {
                Ok(fact) => (fact, false),
                Err(RequiredGuard::Result) => (FpFact { positive: true, ..FpFact::BITS }, true),
                Err(RequiredGuard::Argument(n, size)) => {
                    // After the guard, the argument satisfies the requirement.
                    let Some(v) = op.args[n] else { return };
                    self.guard(v, size);
                    continue;
                }
            };
            let Some(dst) = op.dst else { return };
            let fact = match self.function.magnitude_bounds.get(&dst) {
                Some(&least) if fact.exact => FpFact::power(least),
                _ => fact,
            };
            self.set(dst, FpFact { positive: fact.positive || square, ..fact });
            if is_guarded {
                self.guard(dst, Size::Large);
            }
            return;
        }
    }
}
