//! Dead-code elimination.
//!
//! A value is live if an output, a discard, a counter or a live value depends on it. The pass removes definitions of dead values, uniforms,
//! phis and loop parameters among them, then branches without statements. A loop without live parameters that only consumes fuel is
//! replaced by that fuel.

use super::Pass;
use super::demand::{Bits, DemandGraph};
use crate::{EntityMap, Function, Stmt, Value};

pub(super) const PASS: Pass = Pass { name: "dce", run: |function, _| run(function) };

/// Removes dead definitions. Returns whether there were any.
fn run(function: &mut Function) -> bool {
    let mut sweep = Sweep { live: liveness(function), changed: false };
    sweep.retain(&mut function.uniforms, |uniform| uniform.value);
    sweep.list(&mut function.body);
    sweep.changed
}

/// Returns whether each value of a function is live.
fn liveness(function: &Function) -> EntityMap<Value, bool> {
    let mut graph = DemandGraph::new(function.values.len());
    collect(&function.body, &mut graph);
    function.outputs().for_each(|operand| graph.demand(operand, LIVE));
    graph.solve().items().iter().map(|bits| *bits == LIVE).collect()
}

/// The demand on live values.
const LIVE: Bits = 1;

/// Adds the operands of each value to the graph, and demands the operands of effects.
fn collect(list: &[Stmt], graph: &mut DemandGraph) {
    for stmt in list {
        match stmt {
            Stmt::Def(..) | Stmt::Fetch(_) => stmt.defs(&mut |value| {
                stmt.operands(&mut |operand| graph.forward(value, operand, LIVE));
            }),
            Stmt::Discard(mask) | Stmt::Stat { mask, .. } | Stmt::GroupHazard(mask) => {
                graph.demand(*mask, LIVE);
            }
            Stmt::ConsumeFuel { .. } => {}
            Stmt::If(branch) => {
                for phi in &branch.phis {
                    let from = phi.incoming.into_iter().chain(phi.arms.into_iter().flatten());
                    from.chain(branch.masks).for_each(|from| graph.forward(phi.value, from, LIVE));
                }
                if branch.arms.iter().any(|arm| has_effects(arm)) {
                    branch.masks.into_iter().for_each(|mask| graph.demand(mask, LIVE));
                }
                branch.arms.iter().for_each(|arm| collect(arm, graph));
            }
            Stmt::Loop(repeat) => {
                for param in &repeat.params {
                    // Every value that the loop computes depends on the number of iterations.
                    let from = [param.init, param.next].into_iter().chain(repeat.continue_mask);
                    from.for_each(|from| graph.forward(param.value, from, LIVE));
                }
                if has_effects(&repeat.body) {
                    repeat.continue_mask.iter().for_each(|mask| graph.demand(*mask, LIVE));
                }
                collect(&repeat.body, graph);
            }
        }
    }
}

/// Returns whether statements have effects other than values.
pub(super) fn has_effects(list: &[Stmt]) -> bool {
    let has =
        |stmt: &Stmt| matches!(stmt, Stmt::Discard(_) | Stmt::Stat { .. } | Stmt::GroupHazard(_));
    list.iter().any(|stmt| stmt.any(&mut { has }))
}

/// Returns whether statements only consume fuel.
fn only_consumes_fuel(list: &[Stmt]) -> bool {
    list.iter().all(|stmt| matches!(stmt, Stmt::ConsumeFuel { .. }))
}

/// Returns the fuel that the statements of a list consume, regions excluded.
pub(super) fn fuel_of(list: &[Stmt]) -> u32 {
    list.iter().fold(0u32, |sum, stmt| match stmt {
        Stmt::ConsumeFuel { instructions, .. } => sum.saturating_add(*instructions),
        _ => sum,
    })
}

/// Removes dead definitions.
struct Sweep {
    live: EntityMap<Value, bool>,
    changed: bool,
}

impl Sweep {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        let before = list.len();
        list.retain_mut(|stmt| self.keeps(stmt));
        self.changed |= list.len() != before;
    }

    fn retain<T>(&mut self, list: &mut Vec<T>, value: impl Fn(&T) -> Value) {
        let before = list.len();
        list.retain(|item| self.live[value(item)]);
        self.changed |= list.len() != before;
    }

    /// Sweeps the regions of a statement. Returns whether to keep the statement.
    fn keeps(&mut self, stmt: &mut Stmt) -> bool {
        match stmt {
            Stmt::Def(value, _) => self.live[*value],
            Stmt::Fetch(fetch) => {
                for texel in &mut fetch.texel {
                    let live = texel.filter(|value| self.live[*value]);
                    self.changed |= live != *texel;
                    *texel = live;
                }
                fetch.texel.iter().any(Option::is_some)
            }
            Stmt::If(branch) => {
                self.retain(&mut branch.phis, |phi| phi.value);
                for arm in &mut branch.arms {
                    self.list(arm);
                    if only_consumes_fuel(arm) {
                        self.changed |= !arm.is_empty();
                        arm.clear();
                    }
                }
                !branch.phis.is_empty() || branch.arms.iter().any(|arm| !arm.is_empty())
            }
            Stmt::Loop(repeat) => {
                self.retain(&mut repeat.params, |param| param.value);
                self.list(&mut repeat.body);
                if repeat.params.is_empty() && only_consumes_fuel(&repeat.body) {
                    let instructions = fuel_of(&repeat.body).saturating_mul(repeat.max_trips);
                    *stmt = Stmt::ConsumeFuel { instructions, address: 0 };
                    self.changed = true;
                }
                true
            }
            Stmt::Discard(_)
            | Stmt::Stat { .. }
            | Stmt::GroupHazard(_)
            | Stmt::ConsumeFuel { .. } => true,
        }
    }
}
