//! Elimination of selects that preserve the values of lanes that have left a loop.
//!
//! The lift preserves for every lane the values that it had when it left a loop: each parameter's next value is `active ? computed : kept`.
//! Precondition: the kept value of a parameter is not demanded, neither after the loop nor by a demanded value. Then only continuing lanes
//! matter, all of which are in `active`, and the select's true operand replaces it:
//!
//! ```text
//! %4 = %2 & !%3          %4 = %2 & !%3
//! %6 = %0 + 1.0      →   %6 = %0 + 1.0
//! %8 = %4 ? %6 : %0
//! next %0 = %8           next %0 = %6
//! ```
//!
//! If all continuing lanes add the same constant to such a parameter, on [different paths](super::lane_paths) through an iteration, the sum
//! becomes its next value.
//!
//! The counter of a loop is then uniform, which `trip_count` needs. The pass does nothing for functions that read inactive lanes of a quad.

use std::collections::HashMap;

use super::Pass;
use super::analyses::{Analyses, Defs, Phis, UseCounts};
use super::demand::{Bits, DemandGraph};
use super::lane_paths;
use crate::mask_algebra::{conjuncts, implies};
use crate::{EntityMap, Function, Inst, Loop, LoopParam, Opcode, Operand, Stmt, Value, Values};

pub(super) const PASS: Pass = Pass { name: "exited_lanes", run };

/// Eliminates such selects. Returns whether there were any.
fn run(function: &mut Function, analyses: &Analyses<'_>) -> bool {
    if analyses.reads_quads {
        return false;
    }
    let mut facts = Facts {
        defs: analyses.defs(function),
        entry_mask: EntityMap::filled(function.values.len(), None),
        uses: analyses.uses(function).clone(),
        phis: Phis::default(),
        steps: HashMap::new(),
        changed: false,
    };
    facts.collect(&function.body);
    each_loop(&mut function.body, &mut facts);
    let Facts { steps, changed, .. } = facts;
    if steps.is_empty() {
        return changed;
    }
    apply_steps(&mut function.body, &steps, &mut function.values);
    true
}

/// Makes the sums the next values of parameters with a step.
fn apply_steps(list: &mut [Stmt], steps: &HashMap<Value, f32>, values: &mut Values) {
    for stmt in list {
        match stmt {
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(|arm| apply_steps(arm, steps, values));
            }
            Stmt::Loop(repeat) => {
                apply_steps(&mut repeat.body, steps, values);
                for param in &mut repeat.params {
                    if let (Some(step), Operand::Value(next)) =
                        (steps.get(&param.value), param.next)
                    {
                        let sum = values.push(values[next]);
                        let args = [Operand::Value(param.value), Operand::float(*step)];
                        repeat.body.push(Stmt::Def(sum, Inst::new(Opcode::Add, &args)));
                        param.next = Operand::Value(sum);
                    }
                }
            }
            _ => {}
        }
    }
}

fn each_loop(list: &mut [Stmt], facts: &mut Facts<'_>) {
    for stmt in list {
        match stmt {
            Stmt::If(branch) => branch.arms.iter_mut().for_each(|arm| each_loop(arm, facts)),
            Stmt::Loop(repeat) => {
                each_loop(&mut repeat.body, facts);
                eliminate_in_loop(repeat, facts);
            }
            _ => {}
        }
    }
}

fn eliminate_in_loop(repeat: &mut Loop, facts: &mut Facts<'_>) {
    let Some((active, continue_mask)) = active_masks(repeat) else { return };
    if !facts.implies(continue_mask, active) {
        return;
    }
    let demanded = Demand::by_exited(repeat, facts, active, continue_mask);
    for param in repeat.params.iter_mut().filter(|param| demanded[param.value] != EXITED) {
        while let Some(&Inst { opcode: Opcode::Select, args: [mask, chosen, _] }) =
            facts.defs.of_operand(param.next)
            && facts.implies(continue_mask, mask)
        {
            param.next = chosen;
            facts.changed = true;
            // Enclosing loops count the use, too.
            facts.uses.add(chosen);
        }
        if let Some(step) = facts.step(param, continue_mask) {
            facts.steps.insert(param.value, step);
        }
    }
}

/// Returns the masks of lanes that execute an iteration and the next one, if a parameter holds them.
fn active_masks(repeat: &Loop) -> Option<(Operand, Operand)> {
    let continue_mask = repeat.continue_mask?;
    let param = repeat.params.iter().find(|param| param.next == continue_mask)?;
    Some((Operand::Value(param.value), continue_mask))
}

/// Analyses of a function.
struct Facts<'a> {
    defs: &'a Defs,
    /// For the mask of lanes that execute an iteration: the mask of lanes that entered the loop, which it implies.
    entry_mask: EntityMap<Value, Option<Operand>>,
    uses: UseCounts,
    phis: Phis,
    /// The constants that all continuing lanes add to parameters.
    steps: HashMap<Value, f32>,
    changed: bool,
}

/// The maximum number of `and`s of which both operands are followed.
const MAX_FORKS: usize = 5;

impl Facts<'_> {
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::If(branch) => {
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                    self.phis.add(branch);
                }
                Stmt::Loop(repeat) => {
                    self.collect(&repeat.body);
                    if let Some((active @ Operand::Value(value), continue_mask)) =
                        active_masks(repeat)
                        && self.implies(continue_mask, active)
                    {
                        let param = repeat.params.iter().find(|param| param.value == value);
                        self.entry_mask[value] = param.map(|param| param.init);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the constant that all continuing lanes add to a parameter with a constant initial value, unless its next value is already
    /// such a sum.
    fn step(&self, param: &LoopParam, continue_mask: Operand) -> Option<f32> {
        param.init.as_float()?;
        let is_choice = match self.defs.of_operand(param.next) {
            Some(inst) => inst.opcode == Opcode::Select,
            None => self.phis.get(param.next.value()?).is_some(),
        };
        is_choice.then(|| {
            lane_paths::step(self.defs, &self.phis, param.value, param.next, continue_mask)
        })?
    }

    /// Returns whether `part` is known to imply `whole`.
    fn implies(&self, part: Operand, whole: Operand) -> bool {
        let conjuncts = |mask| match self.defs.of_operand(mask) {
            Some(Inst { opcode, args }) => conjuncts(*opcode, *args),
            None => [mask.value().and_then(|value| self.entry_mask[value]), None],
        };
        implies(part, whole, MAX_FORKS, &conjuncts)
    }
}

/// The demand on values that are used in lanes that do not execute an iteration of a loop.
const EXITED: Bits = 1;

/// Demand analysis of exited lanes.
struct Demand<'a> {
    facts: &'a Facts<'a>,
    /// The lanes that execute the iteration.
    active: Operand,
    /// The dependences of values in lanes that do not execute.
    graph: DemandGraph,
}

impl<'a> Demand<'a> {
    /// Returns the demand of a loop's exited lanes on each value.
    fn by_exited(
        repeat: &Loop,
        facts: &'a Facts<'a>,
        active: Operand,
        continue_mask: Operand,
    ) -> EntityMap<Value, Bits> {
        let graph = DemandGraph::new(facts.entry_mask.len());
        let mut demand = Self { facts, active, graph };
        demand.uses_after_loop(repeat);
        demand.root(continue_mask);
        demand.collect(&repeat.body);
        for param in &repeat.params {
            demand.depends(param.value, param.next);
        }
        demand.graph.solve()
    }

    /// Demands parameters with uses after the loop: those with more uses than in the loop.
    fn uses_after_loop(&mut self, repeat: &Loop) {
        let inside = self.facts.uses.in_loop(repeat);
        for param in &repeat.params {
            if self.facts.uses.of_value(param.value) > inside.of_value(param.value) {
                self.root(Operand::Value(param.value));
            }
        }
    }

    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, inst) => self.inst(*value, inst),
                Stmt::Fetch(fetch) => {
                    self.root(fetch.active);
                    if !self.only_active(fetch.active) {
                        let from = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy);
                        from.for_each(|operand| self.root(*operand));
                    }
                }
                Stmt::Discard(mask) | Stmt::Stat { mask, .. } | Stmt::GroupHazard(mask) => {
                    self.root(*mask);
                }
                Stmt::ConsumeFuel { .. } => {}
                Stmt::If(branch) => {
                    branch.masks.into_iter().for_each(|mask| self.root(mask));
                    let only_active = branch.masks.map(|mask| self.only_active(mask));
                    for phi in &branch.phis {
                        phi.incoming.into_iter().for_each(|from| self.depends(phi.value, from));
                        for (arm, only_active) in phi.arms.into_iter().zip(only_active) {
                            arm.filter(|_| !only_active)
                                .into_iter()
                                .for_each(|from| self.depends(phi.value, from));
                        }
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    repeat.continue_mask.into_iter().for_each(|mask| self.root(mask));
                    for param in &repeat.params {
                        self.depends(param.value, param.init);
                        self.depends(param.value, param.next);
                    }
                    self.collect(&repeat.body);
                }
            }
        }
    }

    fn inst(&mut self, value: Value, inst: &Inst) {
        let [a, b, c] = inst.args;
        // A mask of executing lanes makes operands irrelevant in the other lanes.
        let hidden = match inst.opcode {
            Opcode::Select => [false, self.only_active(a), false],
            Opcode::And => [self.only_active(b), self.only_active(a), false],
            Opcode::AndNot => [false, self.only_active(a), false],
            _ => [false; 3],
        };
        for (arg, hidden) in [a, b, c].into_iter().zip(hidden).take(inst.opcode.arity()) {
            match inst.opcode {
                // Lanes of a quad read each other.
                Opcode::QuadBroadcast(_) => self.root(arg),
                _ if hidden => {}
                _ => self.depends(value, arg),
            }
        }
    }

    /// Returns whether a mask has executing lanes only.
    fn only_active(&self, mask: Operand) -> bool {
        self.facts.implies(mask, self.active)
    }

    fn depends(&mut self, value: Value, from: Operand) {
        self.graph.forward(value, from, EXITED);
    }

    fn root(&mut self, operand: Operand) {
        self.graph.demand(operand, EXITED);
    }
}
