//! Loops with a constant trip count.
//!
//! Drivers end a loop by a comparison of a counter that begins with a constant, which gives the same for all lanes.
//! The backward slice of such a loop's continue mask is evaluated here, iteration by iteration. The loop then runs
//! its iterations without a test, values of the slice that are the same in every iteration become constants, and
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
//! If the last iteration only finds that it is the last, its fuel is all that is left of it.

use super::Pass;
use super::analyses::{Analyses, UseCounts};
use super::dce::{fuel_of, has_effects};
use crate::{
    ALL, EntityMap, Function, Inst, Loop, LoopParam, NONE, Opcode, Operand, Stmt, Value, evaluate,
};

pub(super) const PASS: Pass = Pass { name: "trip_count", run };

/// Specialises loops with a constant trip count; returns whether there were any.
fn run(function: &mut Function, analyses: &Analyses<'_>) -> bool {
    let uses = analyses.uses(function);
    each_loop(&mut function.body, uses, function.values.len())
}

/// Returns whether a function has a loop that tests whether to continue.
pub(super) fn has_conditional_loop(function: &Function) -> bool {
    let conditional =
        |stmt: &Stmt| matches!(stmt, Stmt::Loop(repeat) if repeat.continue_mask.is_some());
    function.body.iter().any(|stmt| stmt.any(&mut { conditional }))
}

fn each_loop(list: &mut Vec<Stmt>, uses: &UseCounts, values: usize) -> bool {
    let mut changed = false;
    let mut all = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        let mut last = None;
        match &mut stmt {
            Stmt::If(branch) => {
                for arm in &mut branch.arms {
                    changed |= each_loop(arm, uses, values);
                }
            }
            Stmt::Loop(repeat) => {
                changed |= each_loop(&mut repeat.body, uses, values);
                if let Some(trip_count) = TripCount::of(repeat, values) {
                    last = trip_count.apply(repeat, uses);
                    changed = true;
                }
            }
            _ => {}
        }
        all.push(stmt);
        all.extend(last);
    }
    *list = all;
    changed
}

/// Values that a slice may have; with more, a loop is left as it is.
const MAX_SLICE: usize = 48;

/// The bits of the values of a slice; `None` for other values.
type Bits = EntityMap<Value, Option<u32>>;

/// The iterations of a loop.
struct TripCount {
    iterations: u32,
    /// Whether no lane continues after the last: the loop does not run into its limit.
    ends: bool,
    /// The values of the slice with the same bits in every iteration; in every iteration but the last if the loop
    /// ends.
    loop_constants: Bits,
    /// The values of the slice in the last iteration.
    last: Bits,
    /// The operations of the loop's body, by their values.
    defs: EntityMap<Value, Option<Inst>>,
}

impl TripCount {
    /// Evaluates the slice of a loop's continue mask; `None` if that depends on lanes.
    fn of(repeat: &Loop, values: usize) -> Option<Self> {
        let continue_mask = repeat.continue_mask?;
        let mut defs = EntityMap::filled(values, None);
        for stmt in &repeat.body {
            if let Stmt::Def(value, inst) = stmt {
                defs[*value] = Some(*inst);
            }
        }
        let mut slice = BackwardSlice {
            repeat,
            defs: &defs,
            order: Vec::new(),
            params: Vec::new(),
            contained: EntityMap::filled(values, false),
        };
        slice.add(continue_mask)?;
        // The next value of each parameter of the slice belongs to it, which may add parameters.
        let mut at = 0;
        while let Some(param) = slice.params.get(at).copied() {
            slice.add(param.next)?;
            at += 1;
        }
        let BackwardSlice { order, params, .. } = slice;
        let evaluation = Evaluation { order, params, bits: EntityMap::filled(values, None) };
        let (iterations, ends, loop_constants, last) =
            evaluation.run(repeat.max_trips, continue_mask)?;
        Some(Self { iterations, ends, loop_constants, last, defs })
    }

    /// Makes the loop run its iterations without a test. Returns the fuel of the last iteration if that did nothing
    /// else and is left out.
    fn apply(mut self, repeat: &mut Loop, uses: &UseCounts) -> Option<Stmt> {
        let drop_last =
            self.ends && self.iterations > 1 && self.last_iteration_is_noop(repeat, uses);
        if self.ends && !drop_last {
            // The last iteration runs too: only what it has in common is constant.
            let last = &self.last;
            self.loop_constants = (self.loop_constants.iter())
                .map(|(value, bits)| bits.filter(|_| *bits == last[value]))
                .collect();
        }
        repeat.max_trips = self.iterations - u32::from(drop_last);
        repeat.continue_mask = None;
        let instructions = fuel_of(&repeat.body);
        fold(repeat, &self.loop_constants);
        drop_last.then_some(Stmt::ConsumeFuel { instructions, address: 0 })
    }

    /// Returns whether the last iteration leaves all parameters as they were, or those that nothing uses after it.
    fn last_iteration_is_noop(&self, repeat: &Loop, uses: &UseCounts) -> bool {
        let has_loops = repeat.body.iter().any(|stmt| matches!(stmt, Stmt::Loop(_)));
        if has_effects(&repeat.body) || has_loops {
            return false;
        }
        let inside = uses.in_loop(repeat);
        repeat.params.iter().all(|param| {
            let value = param.value;
            self.is_unchanged(param) || uses.of_value(value) == inside.of_value(value)
        })
    }

    /// Returns whether a parameter has the same value before and after the last iteration.
    fn is_unchanged(&self, param: &LoopParam) -> bool {
        let mut next = param.next;
        for _ in 0..MAX_SLICE {
            let Operand::Value(value) = next else { return false };
            if value == param.value {
                return true;
            }
            let now = self.last[param.value];
            if now.is_some() && now == self.last[value] {
                return true;
            }
            let Some(Inst { opcode: Opcode::Select, args: [mask, a, b] }) = self.defs[value] else {
                return false;
            };
            next = match mask.value().and_then(|mask| self.last[mask]) {
                Some(0) => b,
                Some(_) => a,
                None => return false,
            };
        }
        false
    }
}

/// The operations of a loop's body that its continue mask depends on.
struct BackwardSlice<'a> {
    repeat: &'a Loop,
    defs: &'a EntityMap<Value, Option<Inst>>,
    /// Its operations, in program order.
    order: Vec<(Value, Inst)>,
    params: Vec<LoopParam>,
    contained: EntityMap<Value, bool>,
}

impl BackwardSlice<'_> {
    /// Adds an operand with all that it depends on; `None` if that is not the same for all lanes.
    fn add(&mut self, operand: Operand) -> Option<()> {
        let Operand::Value(value) = operand else { return Some(()) };
        if self.contained[value] {
            return Some(());
        }
        if self.order.len() + self.params.len() >= MAX_SLICE {
            return None;
        }
        if let Some(param) = self.repeat.params.iter().find(|other| other.value == value) {
            param.init.value().is_none().then_some(())?;
            self.params.push(*param);
        } else {
            let inst = self.defs[value]?;
            inst.args().iter().try_for_each(|arg| self.add(*arg))?;
            self.order.push((value, inst));
        }
        self.contained[value] = true;
        Some(())
    }
}

/// Runs a slice.
struct Evaluation {
    order: Vec<(Value, Inst)>,
    params: Vec<LoopParam>,
    /// The current bits of the slice's values.
    bits: Bits,
}

impl Evaluation {
    /// Returns the number of iterations, whether the loop ends by itself, the loop constants, and the bits in the
    /// last iteration; `None` if an operation cannot be evaluated.
    fn run(mut self, max_trips: u32, continue_mask: Operand) -> Option<(u32, bool, Bits, Bits)> {
        for param in &self.params {
            self.bits[param.value] = Some(self.constant(param.init)?);
        }
        let slice: Vec<Value> = (self.params.iter().map(|param| param.value))
            .chain(self.order.iter().map(|(value, _)| *value))
            .collect();
        let mut loop_constants: Option<Bits> = None;
        for iteration in 1..=max_trips {
            for (value, inst) in &self.order {
                let mut args = [0; 3];
                for (to, from) in args.iter_mut().zip(inst.args()) {
                    *to = self.constant(*from)?;
                }
                self.bits[*value] = Some(evaluate_uniform(inst.opcode, args)?);
            }
            let ends = match self.constant(continue_mask)? {
                0 => true,
                u32::MAX => false,
                _ => return None,
            };
            if !ends {
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
                return Some((iteration, ends, loop_constants, self.bits));
            }
            let next: Option<Vec<u32>> =
                self.params.iter().map(|param| self.constant(param.next)).collect();
            for (param, bits) in self.params.iter().zip(next?) {
                self.bits[param.value] = Some(bits);
            }
        }
        None
    }

    fn constant(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Const(bits) => Some(bits),
            Operand::Value(value) => self.bits[value],
        }
    }
}

/// Evaluates an operation whose operands are the same for all lanes.
fn evaluate_uniform(opcode: Opcode, [a, b, c]: [u32; 3]) -> Option<u32> {
    match opcode {
        Opcode::Select => Some(if a == 0 { c } else { b }),
        Opcode::And => Some(a & b),
        Opcode::Or => Some(a | b),
        Opcode::AndNot => Some(a & !b),
        opcode => evaluate(opcode, [a, b, c]),
    }
}

/// Replaces the loop constants in the operations of a loop.
fn fold(repeat: &mut Loop, loop_constants: &Bits) {
    let mut equal = EntityMap::filled(loop_constants.len(), None);
    fold_list(&mut repeat.body, loop_constants, &mut equal);
    for param in &mut repeat.params {
        param.next = replaced(param.next, &equal);
    }
}

/// `equal`: the operands that values turned out to be equal to.
fn fold_list(
    list: &mut [Stmt],
    loop_constants: &Bits,
    equal: &mut EntityMap<Value, Option<Operand>>,
) {
    for stmt in list {
        match stmt {
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(|arm| fold_list(arm, loop_constants, equal));
            }
            Stmt::Loop(inner) => fold_list(&mut inner.body, loop_constants, equal),
            _ => {}
        }
        stmt.operands_mut(&mut |operand| *operand = replaced(*operand, equal));
        if let Stmt::Def(value, inst) = stmt {
            let arity = inst.opcode.arity();
            for arg in &mut inst.args[..arity] {
                if let Some(bits) = arg.value().and_then(|from| loop_constants[from]) {
                    *arg = Operand::Const(bits);
                }
            }
            if let Some(other @ Operand::Value(_)) = equal_operand(inst) {
                equal[*value] = Some(other);
            }
        }
    }
}

fn replaced(operand: Operand, equal: &EntityMap<Value, Option<Operand>>) -> Operand {
    operand.value().and_then(|value| equal[value]).unwrap_or(operand)
}

/// Returns the operand that an operation on constant masks gives unchanged.
fn equal_operand(inst: &Inst) -> Option<Operand> {
    match (inst.opcode, inst.args) {
        (Opcode::Select, [ALL, a, _]) | (Opcode::Select, [NONE, _, a]) => Some(a),
        (Opcode::And, [ALL, a, _] | [a, ALL, _]) | (Opcode::Or, [NONE, a, _] | [a, NONE, _]) => {
            Some(a)
        }
        (Opcode::AndNot, [a, NONE, _]) => Some(a),
        _ => None,
    }
}
