//! Counted loops: constant trip counts, and conditions that a counter decides.
//!
//! Drivers end a loop by comparing a counter that starts with a constant, so the result is uniform. The pass evaluates the backward slice
//! of a loop's continue mask, iteration by iteration, as far as it does not depend on lanes; for masks, one known operand may decide.
//! Values of the slice that are equal in all iterations become constants. If only the counter ends the loop, it runs without a test, and
//! all lanes are active:
//!
//! ```text
//! loop 255 (%0 = 0, %2 = all) {          loop 3 (%0 = 0) {
//!   %3 = %0 >= 3.0                         ..
//!   %4 = %2 & !%3                    →     %6 = %0 + 1.0
//!   ..                                   } next (%6)
//!   %6 = %0 + 1.0
//! } next (%6, %4) while %4
//! ```
//!
//! If lanes leave the loop for other reasons, too, the test remains, and the trip count limits the loop:
//!
//! ```text
//! loop 255 (%0 = 0, %2 = all) {          loop 3 (%2 = all) {
//!   %3 = %0 >= 3.0                         ..
//!   %4 = %2 & !%3                    →     %5 = %2 & !%9
//!   %5 = %4 & !%9                        } next (%5) while %5
//! } next (%0 + 1.0, %5) while %5
//! ```
//!
//! The [remainder](super::last_iteration) of the last iteration follows the loop. If that iteration only finds that it is the last, the
//! remainder is its fuel, charged also if all lanes left before.

use super::Pass;
use super::analyses::{Analyses, UseCounts};
use super::dce::{fuel_of, has_effects};
use super::identities::unchanged_operand;
use super::last_iteration::Residual;
use crate::{
    EntityMap, Function, Inst, Loop, LoopParam, Opcode, Operand, Stmt, Value, Values,
    evaluate_partially,
};

pub(super) const PASS: Pass = Pass { name: "trip_count", run };

/// Specialises counted loops. Returns whether anything changed.
fn run(function: &mut Function, analyses: &Analyses<'_>) -> bool {
    let used_after = params_used_after(function, analyses.uses(function));
    let mut body = std::mem::take(&mut function.body);
    let changed = each_loop(&mut body, &used_after, &mut function.values);
    function.body = body;
    changed
}

/// Returns whether a function has a loop with a continue mask.
pub(super) fn has_conditional_loop(function: &Function) -> bool {
    let conditional =
        |stmt: &Stmt| matches!(stmt, Stmt::Loop(repeat) if repeat.continue_mask.is_some());
    function.body.iter().any(|stmt| stmt.any(&mut { conditional }))
}

/// Returns which loop parameters are used outside of their loops. This pass adds no such use.
fn params_used_after(function: &Function, uses: &UseCounts) -> EntityMap<Value, bool> {
    let mut used_after = EntityMap::filled(function.values.len(), false);
    function.each(&mut |stmt| {
        if let Stmt::Loop(repeat) = stmt {
            let inside = uses.in_loop(repeat);
            for LoopParam { value, .. } in &repeat.params {
                used_after[*value] = uses.of_value(*value) != inside.of_value(*value);
            }
        }
    });
    used_after
}

fn each_loop(
    list: &mut Vec<Stmt>,
    used_after: &EntityMap<Value, bool>,
    values: &mut Values,
) -> bool {
    let mut changed = false;
    let mut all = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        let mut after = Vec::new();
        match &mut stmt {
            Stmt::If(branch) => {
                for arm in &mut branch.arms {
                    changed |= each_loop(arm, used_after, values);
                }
            }
            Stmt::Loop(repeat) => {
                changed |= each_loop(&mut repeat.body, used_after, values);
                if let Some(trip_count) = TripCount::of(repeat, values.len()) {
                    changed |= trip_count.apply(repeat, used_after, values, &mut after);
                }
            }
            _ => {}
        }
        all.push(stmt);
        all.extend(after);
    }
    *list = all;
    changed
}

/// The maximum number of evaluated operations; a loop that needs more is not changed.
const MAX_EVALUATIONS: usize = 1 << 14;

/// The bits of values; `None` for values that are unknown or depend on the lane.
type Bits = EntityMap<Value, Option<u32>>;

/// The iterations of a counted loop.
struct TripCount {
    /// The maximum number of iterations.
    iterations: u32,
    /// Whether no lane continues after the last one: the counter ends the loop before its limit.
    ends: bool,
    /// Whether all lanes continue until then: only the counter ends the loop.
    uniform: bool,
    /// The values of the slice with equal bits in all iterations; in all except the last one if the loop ends.
    loop_constants: Bits,
    /// The values of the loop's body in the last iteration.
    last: Bits,
    /// The operations of the loop's body, by value.
    defs: EntityMap<Value, Option<Inst>>,
}

impl TripCount {
    /// Evaluates the slice of a loop's continue mask; `None` if no comparison in it is known.
    fn of(repeat: &Loop, values: usize) -> Option<Self> {
        let continue_mask = repeat.continue_mask?;
        let body = || {
            repeat.body.iter().filter_map(|stmt| match stmt {
                Stmt::Def(value, inst) => Some((*value, *inst)),
                _ => None,
            })
        };
        let mut defs = EntityMap::filled(values, None);
        body().for_each(|(value, inst)| defs[value] = Some(inst));
        let slice = backward_slice(repeat, &defs, continue_mask);
        let knowable = knowable(repeat, body, slice);
        let order: Vec<_> = body().filter(|(value, _)| knowable[*value]).collect();
        let compares =
            |inst: &Inst| matches!(inst.opcode, Opcode::Lt | Opcode::Ge | Opcode::Eq | Opcode::Ne);
        if !order.iter().any(|(_, inst)| compares(inst)) {
            return None;
        }
        let params: Vec<_> =
            repeat.params.iter().filter(|param| knowable[param.value]).copied().collect();
        let evaluation = Evaluation { order, params, bits: EntityMap::filled(values, None) };
        let mut trip_count = evaluation.run(repeat.max_trips, continue_mask)?;
        body().for_each(|(value, inst)| trip_count.last[value] = evaluate(&inst, &trip_count.last));
        trip_count.defs = defs;
        Some(trip_count)
    }

    /// Folds known values into the loop. Returns whether anything changed. If the last iteration does little, the remainder and its fuel
    /// follow the loop.
    fn apply(
        mut self,
        repeat: &mut Loop,
        used_after: &EntityMap<Value, bool>,
        values: &mut Values,
        after: &mut Vec<Stmt>,
    ) -> bool {
        let last = match self.ends && self.iterations > 1 && !has_effects(&repeat.body) {
            true => Residual::of(repeat, &self.defs, &self.last, |it| used_after[it], values),
            false => None,
        };
        if self.ends && last.is_none() {
            // The last iteration stays in the loop: only values that it shares with the others are constant.
            let last = &self.last;
            self.loop_constants = (self.loop_constants.iter())
                .map(|(value, bits)| bits.filter(|_| *bits == last[value]))
                .collect();
        }
        let max_trips = self.iterations - u32::from(last.is_some());
        let mut changed = max_trips != repeat.max_trips || self.uniform;
        repeat.max_trips = max_trips;
        let instructions = fuel_of(&repeat.body);
        changed |= fold(repeat, self.loop_constants);
        if self.uniform {
            repeat.continue_mask = None;
        }
        if let Some(last) = last {
            after.push(Stmt::ConsumeFuel { instructions, address: 0 });
            last.apply(repeat, values, after);
        }
        changed
    }
}

/// Returns the values of a loop that its continue mask depends on, through operations and parameters.
fn backward_slice(
    repeat: &Loop,
    defs: &EntityMap<Value, Option<Inst>>,
    continue_mask: Operand,
) -> EntityMap<Value, bool> {
    let mut contained = EntityMap::filled(defs.len(), false);
    let mut pending = vec![continue_mask];
    while let Some(operand) = pending.pop() {
        let Some(value) = operand.value().filter(|value| !contained[*value]) else { continue };
        if let Some(inst) = defs[value] {
            pending.extend(inst.args());
        } else if let Some(param) = repeat.params.iter().find(|param| param.value == value) {
            pending.push(param.next);
        } else {
            continue;
        }
        contained[value] = true;
    }
    contained
}

/// Returns the values of a slice that may be known in some iteration: parameters with a constant initial value, and operations on known
/// operands. Optimistic assumptions are refuted until a fixed point.
fn knowable<I: Iterator<Item = (Value, Inst)>>(
    repeat: &Loop,
    body: impl Fn() -> I,
    slice: EntityMap<Value, bool>,
) -> EntityMap<Value, bool> {
    let mut knowable = slice;
    loop {
        let mut changed = false;
        let holds = |knowable: &EntityMap<Value, bool>, operand: Operand| {
            operand.value().is_none_or(|value| knowable[value])
        };
        for (value, inst) in body().filter(|(value, _)| knowable[*value]).collect::<Vec<_>>() {
            let mut args = inst.args().iter().map(|arg| holds(&knowable, *arg));
            let holds = match inst.opcode {
                Opcode::And | Opcode::Or | Opcode::AndNot | Opcode::Select => args.any(|it| it),
                Opcode::Input { .. } | Opcode::LoadConstant { .. } | Opcode::QuadBroadcast(_) => {
                    false
                }
                _ => args.all(|it| it),
            };
            changed |= !holds;
            knowable[value] = holds;
        }
        for param in &repeat.params {
            let holds = param.init.value().is_none() && holds(&knowable, param.next);
            changed |= knowable[param.value] && !holds;
            knowable[param.value] &= holds;
        }
        if !changed {
            return knowable;
        }
    }
}

/// Evaluation of a slice.
struct Evaluation {
    order: Vec<(Value, Inst)>,
    params: Vec<LoopParam>,
    /// The current bits of the slice's values.
    bits: Bits,
}

impl Evaluation {
    /// Evaluates the iterations; `None` if there are too many.
    fn run(mut self, max_trips: u32, continue_mask: Operand) -> Option<TripCount> {
        for param in &self.params {
            self.bits[param.value] = get(param.init, &self.bits);
        }
        let slice: Vec<Value> = (self.params.iter().map(|param| param.value))
            .chain(self.order.iter().map(|(value, _)| *value))
            .collect();
        let mut loop_constants: Option<Bits> = None;
        let mut uniform = true;
        let mut left = MAX_EVALUATIONS;
        for iteration in 1..=max_trips {
            left = left.checked_sub(self.order.len())?;
            for (value, inst) in &self.order {
                self.bits[*value] = evaluate(inst, &self.bits);
            }
            let continues = get(continue_mask, &self.bits);
            let ends = continues == Some(0);
            if !ends {
                uniform &= continues == Some(!0);
                match &mut loop_constants {
                    None => loop_constants = Some(self.bits.clone()),
                    Some(constants) => {
                        for value in &slice {
                            let now = self.bits[*value];
                            constants[*value] = constants[*value].filter(|bits| now == Some(*bits));
                        }
                    }
                }
            }
            if ends || iteration == max_trips {
                let none = || EntityMap::filled(self.bits.len(), None);
                let loop_constants = loop_constants.unwrap_or_else(none);
                return Some(TripCount {
                    iterations: iteration,
                    ends,
                    uniform,
                    loop_constants,
                    last: self.bits,
                    defs: EntityMap::default(),
                });
            }
            let next: Vec<_> =
                self.params.iter().map(|param| get(param.next, &self.bits)).collect();
            for (param, bits) in self.params.iter().zip(next) {
                self.bits[param.value] = bits;
            }
        }
        None
    }
}

fn get(operand: Operand, bits: &Bits) -> Option<u32> {
    match operand {
        Operand::Const(bits) => Some(bits),
        Operand::Value(value) => bits[value],
    }
}

fn evaluate(inst: &Inst, bits: &Bits) -> Option<u32> {
    evaluate_partially(inst, |operand| get(operand, bits))
}

/// Propagates constants through the operations of a loop. Returns whether anything changed.
fn fold(repeat: &mut Loop, constants: Bits) -> bool {
    let equal = EntityMap::filled(constants.len(), None);
    let mut folding = Folding { constants, equal, changed: false };
    folding.list(&mut repeat.body);
    for param in &mut repeat.params {
        param.next = folding.equal_operand(param.next);
    }
    repeat.continue_mask = repeat.continue_mask.map(|mask| folding.equal_operand(mask));
    folding.changed
}

struct Folding {
    /// The values that are constants.
    constants: Bits,
    /// The operands that replace values.
    equal: EntityMap<Value, Option<Operand>>,
    changed: bool,
}

impl Folding {
    fn list(&mut self, list: &mut [Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::If(branch) => branch.arms.iter_mut().for_each(|arm| self.list(arm)),
                Stmt::Loop(inner) => self.list(&mut inner.body),
                _ => {}
            }
            stmt.operands_mut(&mut |operand| {
                let other = self.equal_operand(*operand);
                self.changed |= other != *operand;
                *operand = other;
            });
            if let Stmt::Def(value, inst) = stmt {
                let arity = inst.opcode.arity();
                for arg in &mut inst.args[..arity] {
                    if let Some(bits) = arg.value().and_then(|from| self.constants[from]) {
                        *arg = Operand::Const(bits);
                        self.changed = true;
                    }
                }
                self.constants[*value] = self.constants[*value].or(evaluate(inst, &self.constants));
                if let Some(other @ Operand::Value(_)) = unchanged_operand(inst) {
                    self.equal[*value] = Some(other);
                }
            }
        }
    }

    fn equal_operand(&self, operand: Operand) -> Operand {
        operand.value().and_then(|value| self.equal[value]).unwrap_or(operand)
    }
}
