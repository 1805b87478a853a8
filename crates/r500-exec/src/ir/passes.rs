//! Loops whose number of passes does not depend on pixels.
//!
//! Drivers end a loop by a comparison that all pixels answer alike: of a counter that begins with a
//! constant. Such a loop is run here for what its end depends on. It then makes so many passes without
//! asking, and the pixels that execute one are all of them.

use std::collections::HashMap;

use super::looks::Looks;
use super::tidy::{has_effects, spent, sweep};
use super::{ALL, Carried, Code, Function, Loop, NONE, Op, Operand, Stmt, Value, evaluate};

/// The function with such loops counted; `None` if it has none.
pub(crate) fn count(function: &Function) -> Option<Function> {
    if !function.body.iter().any(asks) {
        return None;
    }
    let looks = Looks::of(function);
    let mut counted = function.clone();
    let changed = each_loop(&mut counted.body, &looks);
    if changed {
        sweep(&mut counted);
    }
    changed.then_some(counted)
}

/// Whether there is a loop that asks after each pass.
fn asks(stmt: &Stmt) -> bool {
    stmt.any(&mut |stmt| matches!(stmt, Stmt::Loop(repeat) if repeat.again.is_some()))
}

fn each_loop(list: &mut Vec<Stmt>, looks: &Looks) -> bool {
    let mut changed = false;
    let mut all = Vec::with_capacity(list.len());
    for mut stmt in list.drain(..) {
        let mut last = None;
        match &mut stmt {
            Stmt::If(branch) => {
                for arm in &mut branch.arms {
                    changed |= each_loop(arm, looks);
                }
            }
            Stmt::Loop(repeat) => {
                changed |= each_loop(&mut repeat.body, looks);
                if let Some(course) = Course::of(repeat) {
                    last = course.settle(repeat, looks);
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
const MOST: usize = 48;

/// What the end of a loop depends on, pass by pass.
struct Course {
    passes: u32,
    /// Whether the last pass asked for none.
    ends: bool,
    /// What is the same in every pass; in every pass but the last if the loop ends.
    steady: HashMap<Value, u32>,
    /// What the last pass made.
    last: HashMap<Value, u32>,
}

impl Course {
    /// `None` if pixels decide.
    fn of(repeat: &Loop) -> Option<Self> {
        let again = repeat.again?;
        let mut course =
            Needs { repeat, defs: HashMap::new(), order: Vec::new(), carried: Vec::new() };
        for stmt in &repeat.body {
            if let Stmt::Def(value, op) = stmt {
                course.defs.insert(*value, op);
            }
        }
        course.need(again)?;
        // What a value becomes is needed where it is; more may come to light meanwhile.
        let mut at = 0;
        while let Some(carried) = course.carried.get(at).copied() {
            course.need(carried.next)?;
            at += 1;
        }
        course.run(again)
    }

    /// The loop makes its passes without asking. Gives what is left of a pass that did nothing.
    fn settle(mut self, repeat: &mut Loop, looks: &Looks) -> Option<Stmt> {
        let idle = self.ends && self.passes > 1 && self.is_idle(repeat, looks);
        if self.ends && !idle {
            // What the last pass has otherwise is to be computed.
            let last = &self.last;
            self.steady.retain(|value, bits| last.get(value) == Some(bits));
        }
        repeat.passes = self.passes - u32::from(idle);
        repeat.again = None;
        let instructions = spent(&repeat.body);
        fold(repeat, &self.steady);
        idle.then_some(Stmt::Spend { instructions, address: 0 })
    }

    /// Whether the last pass leaves everything as it was.
    fn is_idle(&self, repeat: &Loop, looks: &Looks) -> bool {
        let plain = |stmt: &Stmt| !matches!(stmt, Stmt::Loop(_));
        if has_effects(&repeat.body) || !repeat.body.iter().all(plain) {
            return false;
        }
        let defs: HashMap<Value, &Op> = (repeat.body.iter())
            .filter_map(|stmt| match stmt {
                Stmt::Def(value, op) => Some((*value, op)),
                _ => None,
            })
            .collect();
        let inside = Looks::inside(repeat, looks);
        repeat.carried.iter().all(|carried| {
            let value = carried.value;
            self.keeps(carried, &defs) || looks.at(value) == inside.at(value)
        })
    }

    /// Whether a value is the same before and behind the last pass.
    fn keeps(&self, carried: &Carried, defs: &HashMap<Value, &Op>) -> bool {
        let mut next = carried.next;
        for _ in 0..MOST {
            let Operand::Value(value) = next else { return false };
            if value == carried.value {
                return true;
            }
            let now = self.last.get(&carried.value);
            if now.is_some() && now == self.last.get(&value) {
                return true;
            }
            let Some(Op { code: Code::Select, args: [mask, a, b] }) = defs.get(&value) else {
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
struct Needs<'a> {
    repeat: &'a Loop,
    defs: HashMap<Value, &'a Op>,
    /// Those that are needed, in order.
    order: Vec<(Value, &'a Op)>,
    carried: Vec<Carried>,
}

impl<'a> Needs<'a> {
    /// Adds an operand with all that it is made of; `None` if that is not the same for all pixels.
    fn need(&mut self, operand: Operand) -> Option<()> {
        let Operand::Value(value) = operand else { return Some(()) };
        let known = self.order.iter().any(|(other, _)| *other == value)
            || self.carried.iter().any(|other| other.value == value);
        if known {
            return Some(());
        }
        if self.order.len() + self.carried.len() >= MOST {
            return None;
        }
        if let Some(carried) = self.repeat.carried.iter().find(|other| other.value == value) {
            carried.init.value().is_none().then_some(())?;
            self.carried.push(*carried);
            return Some(());
        }
        let op: &'a Op = self.defs.get(&value)?;
        op.args().iter().try_for_each(|arg| self.need(*arg))?;
        self.order.push((value, op));
        Some(())
    }

    fn run(&self, again: Operand) -> Option<Course> {
        let mut now: HashMap<Value, u32> = HashMap::new();
        for carried in &self.carried {
            now.insert(carried.value, constant(carried.init, &now)?);
        }
        let mut steady: Option<HashMap<Value, u32>> = None;
        for pass in 1..=self.repeat.passes {
            for (value, op) in &self.order {
                let mut args = [0; 3];
                for (to, from) in args.iter_mut().zip(op.args()) {
                    *to = constant(*from, &now)?;
                }
                now.insert(*value, compute(op.code, args)?);
            }
            let ends = match constant(again, &now)? {
                0 => true,
                u32::MAX => false,
                _ => return None,
            };
            if !ends {
                match &mut steady {
                    None => steady = Some(now.clone()),
                    Some(steady) => steady.retain(|value, bits| now.get(value) == Some(bits)),
                }
            }
            if ends || pass == self.repeat.passes {
                let steady = steady.unwrap_or_default();
                return Some(Course { passes: pass, ends, steady, last: now });
            }
            let next: Option<Vec<u32>> =
                self.carried.iter().map(|carried| constant(carried.next, &now)).collect();
            for (carried, bits) in self.carried.iter().zip(next?) {
                now.insert(carried.value, bits);
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
fn compute(code: Code, [a, b, c]: [u32; 3]) -> Option<u32> {
    match code {
        Code::Select => Some(if a == 0 { c } else { b }),
        Code::And => Some(a & b),
        Code::Or => Some(a | b),
        Code::AndNot => Some(a & !b),
        code => evaluate(code, [a, b, c]),
    }
}

/// Has the operations of a loop look at what is the same in every pass.
fn fold(repeat: &mut Loop, steady: &HashMap<Value, u32>) {
    let mut same: HashMap<Value, Operand> = HashMap::new();
    fold_list(&mut repeat.body, steady, &mut same);
    for carried in &mut repeat.carried {
        carried.next = replaced(carried.next, &same);
    }
}

/// `same`: values that turned out to be others.
fn fold_list(list: &mut [Stmt], steady: &HashMap<Value, u32>, same: &mut HashMap<Value, Operand>) {
    for stmt in list {
        match stmt {
            Stmt::If(branch) => {
                branch.arms.iter_mut().for_each(|arm| fold_list(arm, steady, same));
            }
            Stmt::Loop(inner) => fold_list(&mut inner.body, steady, same),
            _ => {}
        }
        stmt.operands_mut(&mut |operand| *operand = replaced(*operand, same));
        if let Stmt::Def(value, op) = stmt {
            let arity = op.code.arity();
            for arg in &mut op.args[..arity] {
                if let Some(bits) = arg.value().and_then(|from| steady.get(&from)) {
                    *arg = Operand::Const(*bits);
                }
            }
            if let Some(other @ Operand::Value(_)) = chosen(op) {
                same.insert(*value, other);
            }
        }
    }
}

fn replaced(operand: Operand, same: &HashMap<Value, Operand>) -> Operand {
    operand.value().and_then(|value| same.get(&value).copied()).unwrap_or(operand)
}

/// What an operation leaves as it is.
fn chosen(op: &Op) -> Option<Operand> {
    match (op.code, op.args) {
        (Code::Select, [ALL, a, _]) | (Code::Select, [NONE, _, a]) => Some(a),
        (Code::And, [ALL, a, _] | [a, ALL, _]) | (Code::Or, [NONE, a, _] | [a, NONE, _]) => Some(a),
        (Code::AndNot, [a, NONE, _]) => Some(a),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V: fn(u32) -> Operand = |number| Operand::Value(Value(number));

    fn def(value: u32, code: Code, args: &[Operand]) -> Stmt {
        Stmt::Def(Value(value), Op::new(code, args))
    }

    /// while (i < 3) { sum += x; i += 1 }, as it is lifted: pixels that do not execute keep what they hold.
    fn sum(x: Operand) -> Function {
        let body = vec![
            Stmt::Spend { instructions: 7, address: 0 },
            def(3, Code::Ge, &[V(0), Operand::float(3.0)]),
            def(4, Code::AndNot, &[V(2), V(3)]),
            def(5, Code::Add, &[V(1), x]),
            def(6, Code::Add, &[V(0), Operand::float(1.0)]),
            def(7, Code::Select, &[V(4), V(5), V(1)]),
            def(8, Code::Select, &[V(4), V(6), V(0)]),
        ];
        let carried = [(0, NONE, V(8)), (1, NONE, V(7)), (2, ALL, V(4))]
            .map(|(value, init, next)| Carried { value: Value(value), init, next });
        let repeat = Loop { passes: 255, carried: carried.to_vec(), body, again: Some(V(4)) };
        Function {
            values: 10,
            body: vec![
                def(9, Code::Input { input: 0, channel: 0 }, &[]),
                Stmt::Loop(Box::new(repeat)),
            ],
            colors: [Some([V(1); 4]), None, None, None],
            numbers: [[false; 4]; 4],
            depth: None,
            origins: vec![0; 10],
        }
    }

    #[test]
    fn a_counter_ends_a_loop() {
        let counted = count(&sum(V(9))).unwrap_or_else(|| sum(V(9)));
        let [_, Stmt::Loop(repeat), Stmt::Spend { instructions: 7, .. }] = &*counted.body else {
            unreachable!("{counted}")
        };
        // The fourth pass would have found that it is the last.
        assert_eq!((repeat.passes, repeat.again), (3, None));
        assert_eq!(
            repeat.body,
            [Stmt::Spend { instructions: 7, address: 0 }, def(5, Code::Add, &[V(1), V(9)])]
        );
        assert_eq!(repeat.carried, [Carried { value: Value(1), init: NONE, next: V(5) }]);
    }

    #[test]
    fn pixels_that_decide_are_asked() {
        let mut function = sum(V(9));
        let Some(Stmt::Loop(repeat)) = function.body.last_mut() else { unreachable!() };
        repeat.body[1] = def(3, Code::Ge, &[V(0), V(9)]);
        assert_eq!(count(&function), None);
    }
}
