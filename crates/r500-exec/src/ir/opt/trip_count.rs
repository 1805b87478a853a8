//! Loops whose number of passes does not depend on pixels.
//!
//! Drivers end a loop by a comparison that all pixels answer alike: of a counter that begins with a
//! constant. Such a loop is run here for what its end depends on. It then makes so many passes without
//! asking, and the pixels that execute one are all of them.

use std::collections::HashMap;

use super::dce::{eliminate_dead_code, fuel_of, has_effects};
use super::use_counts::UseCounts;
use crate::ir::{
    ALL, Function, Inst, Loop, LoopParam, NONE, Opcode, Operand, Stmt, Value, evaluate,
};

/// The function with such loops counted; `None` if it has none.
pub(crate) fn specialize_counted_loops(function: &Function) -> Option<Function> {
    if !function.body.iter().any(has_conditional_loop) {
        return None;
    }
    let uses = UseCounts::of(function);
    let mut counted = function.clone();
    let changed = each_loop(&mut counted.body, &uses);
    if changed {
        eliminate_dead_code(&mut counted);
    }
    changed.then_some(counted)
}

/// Whether there is a loop that asks after each pass.
fn has_conditional_loop(stmt: &Stmt) -> bool {
    stmt.any(&mut |stmt| matches!(stmt, Stmt::Loop(repeat) if repeat.continue_mask.is_some()))
}

fn each_loop(list: &mut Vec<Stmt>, uses: &UseCounts) -> bool {
    let mut changed = false;
    let mut all = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        let mut last = None;
        match &mut stmt {
            Stmt::If(branch) => {
                for arm in &mut branch.arms {
                    changed |= each_loop(arm, uses);
                }
            }
            Stmt::Loop(repeat) => {
                changed |= each_loop(&mut repeat.body, uses);
                if let Some(trip_count) = TripCount::of(repeat) {
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

/// Values that the end of a loop may depend on.
const MAX_SLICE: usize = 48;

/// What the end of a loop depends on, pass by pass.
struct TripCount {
    iterations: u32,
    /// Whether the last pass asked for none.
    ends: bool,
    /// What is the same in every pass; in every pass but the last if the loop ends.
    loop_constants: HashMap<Value, u32>,
    /// What the last pass made.
    last: HashMap<Value, u32>,
}

impl TripCount {
    /// `None` if pixels decide.
    fn of(repeat: &Loop) -> Option<Self> {
        let continue_mask = repeat.continue_mask?;
        let mut slice =
            BackwardSlice { repeat, defs: HashMap::new(), order: Vec::new(), param: Vec::new() };
        for stmt in &repeat.body {
            if let Stmt::Def(value, inst) = stmt {
                slice.defs.insert(*value, inst);
            }
        }
        slice.add(continue_mask)?;
        // What a value becomes is needed where it is; more may come to light meanwhile.
        let mut at = 0;
        while let Some(param) = slice.param.get(at).copied() {
            slice.add(param.next)?;
            at += 1;
        }
        slice.run(continue_mask)
    }

    /// The loop makes its passes without asking. Gives what is left of a pass that did nothing.
    fn apply(mut self, repeat: &mut Loop, uses: &UseCounts) -> Option<Stmt> {
        let idle = self.ends && self.iterations > 1 && self.last_iteration_is_noop(repeat, uses);
        if self.ends && !idle {
            // What the last pass has otherwise is to be computed.
            let last = &self.last;
            self.loop_constants.retain(|value, bits| last.get(value) == Some(bits));
        }
        repeat.max_trips = self.iterations - u32::from(idle);
        repeat.continue_mask = None;
        let instructions = fuel_of(&repeat.body);
        fold(repeat, &self.loop_constants);
        idle.then_some(Stmt::ConsumeFuel { instructions, address: 0 })
    }

    /// Whether the last pass leaves everything as it was.
    fn last_iteration_is_noop(&self, repeat: &Loop, uses: &UseCounts) -> bool {
        let plain = |stmt: &Stmt| !matches!(stmt, Stmt::Loop(_));
        if has_effects(&repeat.body) || !repeat.body.iter().all(plain) {
            return false;
        }
        let defs: HashMap<Value, &Inst> = (repeat.body.iter())
            .filter_map(|stmt| match stmt {
                Stmt::Def(value, inst) => Some((*value, inst)),
                _ => None,
            })
            .collect();
        let inside = UseCounts::in_loop(repeat, uses);
        repeat.params.iter().all(|param| {
            let value = param.value;
            self.is_unchanged(param, &defs) || uses.of_value(value) == inside.of_value(value)
        })
    }

    /// Whether a value is the same before and behind the last pass.
    fn is_unchanged(&self, param: &LoopParam, defs: &HashMap<Value, &Inst>) -> bool {
        let mut next = param.next;
        for _ in 0..MAX_SLICE {
            let Operand::Value(value) = next else { return false };
            if value == param.value {
                return true;
            }
            let now = self.last.get(&param.value);
            if now.is_some() && now == self.last.get(&value) {
                return true;
            }
            let Some(Inst { opcode: Opcode::Select, args: [mask, a, b] }) = defs.get(&value) else {
                return false;
            };
            next = match mask.value().and_then(|mask| self.last.get(&mask)) {
                Some(0) => *b,
                Some(_) => *a,
                None => return false,
            };
        }
        false
    }
}

/// The operations that the end of a loop depends on.
struct BackwardSlice<'a> {
    repeat: &'a Loop,
    defs: HashMap<Value, &'a Inst>,
    /// Those that are needed, in order.
    order: Vec<(Value, &'a Inst)>,
    param: Vec<LoopParam>,
}

impl<'a> BackwardSlice<'a> {
    /// Adds an operand with all that it is made of; `None` if that is not the same for all pixels.
    fn add(&mut self, operand: Operand) -> Option<()> {
        let Operand::Value(value) = operand else { return Some(()) };
        let present = self.order.iter().any(|(other, _)| *other == value)
            || self.param.iter().any(|other| other.value == value);
        if present {
            return Some(());
        }
        if self.order.len() + self.param.len() >= MAX_SLICE {
            return None;
        }
        if let Some(param) = self.repeat.params.iter().find(|other| other.value == value) {
            param.init.value().is_none().then_some(())?;
            self.param.push(*param);
            return Some(());
        }
        let inst: &'a Inst = self.defs.get(&value)?;
        inst.args().iter().try_for_each(|arg| self.add(*arg))?;
        self.order.push((value, inst));
        Some(())
    }

    fn run(&self, continue_mask: Operand) -> Option<TripCount> {
        let mut now: HashMap<Value, u32> = HashMap::new();
        for param in &self.param {
            now.insert(param.value, constant(param.init, &now)?);
        }
        let mut loop_constants: Option<HashMap<Value, u32>> = None;
        for iteration in 1..=self.repeat.max_trips {
            for (value, inst) in &self.order {
                let mut args = [0; 3];
                for (to, from) in args.iter_mut().zip(inst.args()) {
                    *to = constant(*from, &now)?;
                }
                now.insert(*value, compute(inst.opcode, args)?);
            }
            let ends = match constant(continue_mask, &now)? {
                0 => true,
                u32::MAX => false,
                _ => return None,
            };
            if !ends {
                match &mut loop_constants {
                    None => loop_constants = Some(now.clone()),
                    Some(loop_constants) => {
                        loop_constants.retain(|value, bits| now.get(value) == Some(bits))
                    }
                }
            }
            if ends || iteration == self.repeat.max_trips {
                let loop_constants = loop_constants.unwrap_or_default();
                return Some(TripCount { iterations: iteration, ends, loop_constants, last: now });
            }
            let next: Option<Vec<u32>> =
                self.param.iter().map(|param| constant(param.next, &now)).collect();
            for (param, bits) in self.param.iter().zip(next?) {
                now.insert(param.value, bits);
            }
        }
        None
    }
}

fn constant(operand: Operand, now: &HashMap<Value, u32>) -> Option<u32> {
    match operand {
        Operand::Const(bits) => Some(bits),
        Operand::Value(value) => now.get(&value).copied(),
    }
}

/// An operation that all pixels do alike.
fn compute(opcode: Opcode, [a, b, c]: [u32; 3]) -> Option<u32> {
    match opcode {
        Opcode::Select => Some(if a == 0 { c } else { b }),
        Opcode::And => Some(a & b),
        Opcode::Or => Some(a | b),
        Opcode::AndNot => Some(a & !b),
        opcode => evaluate(opcode, [a, b, c]),
    }
}

/// Has the operations of a loop look at what is the same in every pass.
fn fold(repeat: &mut Loop, loop_constants: &HashMap<Value, u32>) {
    let mut same: HashMap<Value, Operand> = HashMap::new();
    fold_list(&mut repeat.body, loop_constants, &mut same);
    for param in &mut repeat.params {
        param.next = replaced(param.next, &same);
    }
}

/// `same`: values that turned out to be others.
fn fold_list(
    list: &mut [Stmt],
    loop_constants: &HashMap<Value, u32>,
    same: &mut HashMap<Value, Operand>,
) {
    for stmt in list {
        match stmt {
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(|arm| fold_list(arm, loop_constants, same));
            }
            Stmt::Loop(inner) => fold_list(&mut inner.body, loop_constants, same),
            _ => {}
        }
        stmt.operands_mut(&mut |operand| *operand = replaced(*operand, same));
        if let Stmt::Def(value, inst) = stmt {
            let arity = inst.opcode.arity();
            for arg in &mut inst.args[..arity] {
                if let Some(bits) = arg.value().and_then(|from| loop_constants.get(&from)) {
                    *arg = Operand::Const(*bits);
                }
            }
            if let Some(other @ Operand::Value(_)) = chosen(inst) {
                same.insert(*value, other);
            }
        }
    }
}

fn replaced(operand: Operand, same: &HashMap<Value, Operand>) -> Operand {
    operand.value().and_then(|value| same.get(&value).copied()).unwrap_or(operand)
}

/// What an operation leaves as it is.
fn chosen(inst: &Inst) -> Option<Operand> {
    match (inst.opcode, inst.args) {
        (Opcode::Select, [ALL, a, _]) | (Opcode::Select, [NONE, _, a]) => Some(a),
        (Opcode::And, [ALL, a, _] | [a, ALL, _]) | (Opcode::Or, [NONE, a, _] | [a, NONE, _]) => {
            Some(a)
        }
        (Opcode::AndNot, [a, NONE, _]) => Some(a),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V: fn(u32) -> Operand = |number| Operand::Value(Value(number));

    fn def(value: u32, opcode: Opcode, args: &[Operand]) -> Stmt {
        Stmt::Def(Value(value), Inst::new(opcode, args))
    }

    /// while (i < 3) { sum += x; i += 1 }, as it is lifted: pixels that do not execute keep what they hold.
    fn sum(x: Operand) -> Function {
        let body = vec![
            Stmt::ConsumeFuel { instructions: 7, address: 0 },
            def(3, Opcode::Ge, &[V(0), Operand::float(3.0)]),
            def(4, Opcode::AndNot, &[V(2), V(3)]),
            def(5, Opcode::Add, &[V(1), x]),
            def(6, Opcode::Add, &[V(0), Operand::float(1.0)]),
            def(7, Opcode::Select, &[V(4), V(5), V(1)]),
            def(8, Opcode::Select, &[V(4), V(6), V(0)]),
        ];
        let param = [(0, NONE, V(8)), (1, NONE, V(7)), (2, ALL, V(4))]
            .map(|(value, init, next)| LoopParam { value: Value(value), init, next });
        let repeat =
            Loop { max_trips: 255, params: param.to_vec(), body, continue_mask: Some(V(4)) };
        Function {
            values: 10,
            body: vec![
                def(9, Opcode::Input { input: 0, channel: 0 }, &[]),
                Stmt::Loop(Box::new(repeat)),
            ],
            colors: [Some([V(1); 4]), None, None, None],
            non_nan: [[false; 4]; 4],
            depth: None,
            source_locs: vec![0; 10],
        }
    }

    #[test]
    fn a_counter_ends_a_loop() {
        let counted = specialize_counted_loops(&sum(V(9))).unwrap_or_else(|| sum(V(9)));
        let [_, Stmt::Loop(repeat), Stmt::ConsumeFuel { instructions: 7, .. }] = &*counted.body
        else {
            unreachable!("{counted}")
        };
        // The fourth pass would have found that it is the last.
        assert_eq!((repeat.max_trips, repeat.continue_mask), (3, None));
        assert_eq!(
            repeat.body,
            [Stmt::ConsumeFuel { instructions: 7, address: 0 }, def(5, Opcode::Add, &[V(1), V(9)])]
        );
        assert_eq!(repeat.params, [LoopParam { value: Value(1), init: NONE, next: V(5) }]);
    }

    #[test]
    fn pixels_that_decide_are_asked() {
        let mut function = sum(V(9));
        let Some(Stmt::Loop(repeat)) = function.body.last_mut() else { unreachable!() };
        repeat.body[1] = def(3, Opcode::Ge, &[V(0), V(9)]);
        assert_eq!(specialize_counted_loops(&function), None);
    }
}
