//! What pixels hold that have left a loop.
//!
//! A loop keeps for each pixel what it held when it left. Where nobody looks at that, neither behind the
//! loop nor in it, it need not be kept: a pass then writes what it computes for every pixel, and what
//! counts the passes is the same for all of them.

use std::collections::{HashMap, HashSet};

use super::looks::Looks;
use super::{Code, Function, Loop, NONE, Op, Operand, Stmt, Value};

/// Has loops forget what nobody looks at. For functions that read nothing across a quad.
pub(super) fn forget(function: &mut Function) {
    let mut facts =
        Facts { made: HashMap::new(), began: HashMap::new(), looks: Looks::of(function) };
    facts.collect(&function.body);
    each_loop(&mut function.body, &mut facts);
}

fn each_loop(list: &mut [Stmt], facts: &mut Facts) {
    for stmt in list {
        match stmt {
            Stmt::If(branch) => branch.arms.iter_mut().for_each(|arm| each_loop(arm, facts)),
            Stmt::Loop(repeat) => {
                each_loop(&mut repeat.body, facts);
                forget_in(repeat, facts);
            }
            _ => {}
        }
    }
}

fn forget_in(repeat: &mut Loop, facts: &mut Facts) {
    let Some((active, again)) = active(repeat) else { return };
    if !facts.is_within(again, active) {
        return;
    }
    let mut seen =
        Seen { facts, active, behind: HashMap::new(), by_all: HashSet::new(), work: Vec::new() };
    seen.looked_at_behind(repeat);
    seen.root(again);
    seen.collect(&repeat.body);
    for carried in &repeat.carried {
        seen.depends(carried.value, carried.next);
    }
    seen.mark();
    let Seen { by_all, .. } = seen;
    for carried in repeat.carried.iter_mut().filter(|carried| !by_all.contains(&carried.value)) {
        // Pixels that go on count alone: what is chosen for all of them is what they hold.
        while let Some(&Op { code: Code::Select, args: [mask, chosen, _] }) =
            facts.made(carried.next)
            && facts.is_within(again, mask)
        {
            carried.next = chosen;
            // Loops around this one count it, too.
            facts.looks.add(chosen);
        }
    }
}

/// The pixels that execute a pass, and those that will execute the next.
fn active(repeat: &Loop) -> Option<(Operand, Operand)> {
    let again = repeat.again?;
    let carried = repeat.carried.iter().find(|carried| carried.next == again)?;
    Some((Operand::Value(carried.value), again))
}

/// What is known of the values of a function.
struct Facts {
    made: HashMap<Value, Op>,
    /// Pixels that execute passes are among those that began the loop.
    began: HashMap<Value, Operand>,
    looks: Looks,
}

/// How far parts of parts are followed.
const DEEP: usize = 16;

/// How often a mask of two is followed both ways.
const FORKS: usize = 5;

impl Facts {
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, op) => _ = self.made.insert(*value, *op),
                Stmt::If(branch) => branch.arms.iter().for_each(|arm| self.collect(arm)),
                Stmt::Loop(repeat) => {
                    self.collect(&repeat.body);
                    if let Some((Operand::Value(value), again)) = active(repeat)
                        && self.is_within(again, Operand::Value(value))
                    {
                        let carried = repeat.carried.iter().find(|carried| carried.value == value);
                        self.began.extend(carried.map(|carried| (value, carried.init)));
                    }
                }
                _ => {}
            }
        }
    }

    fn made(&self, operand: Operand) -> Option<&Op> {
        self.made.get(&operand.value()?)
    }

    /// Whether a mask is known to be a part of another.
    fn is_within(&self, part: Operand, whole: Operand) -> bool {
        self.is_part(part, whole, FORKS)
    }

    fn is_part(&self, part: Operand, whole: Operand, forks: usize) -> bool {
        let mut part = part;
        for _ in 0..DEEP {
            if part == whole || part == NONE {
                return true;
            }
            part = match self.made(part) {
                Some(Op { code: Code::AndNot, args: [a, ..] }) => *a,
                Some(Op { code: Code::And, args: [a, b, _] }) => {
                    if forks > 0 && self.is_part(*b, whole, forks - 1) {
                        return true;
                    }
                    *a
                }
                Some(_) => return false,
                None => match part.value().and_then(|value| self.began.get(&value)) {
                    Some(began) => *began,
                    None => return false,
                },
            };
        }
        false
    }
}

/// Who looks at what pixels hold that do not execute a pass.
struct Seen<'a> {
    facts: &'a Facts,
    /// The pixels that execute it.
    active: Operand,
    /// What each value shows of others for such pixels.
    behind: HashMap<Value, Vec<Value>>,
    /// Values that count for every pixel.
    by_all: HashSet<Value>,
    work: Vec<Value>,
}

impl Seen<'_> {
    /// What is looked at more often than in the loop is looked at behind it.
    fn looked_at_behind(&mut self, repeat: &Loop) {
        let inside = Looks::inside(repeat, &self.facts.looks);
        for carried in &repeat.carried {
            if self.facts.looks.at(carried.value) > inside.at(carried.value) {
                self.root(Operand::Value(carried.value));
            }
        }
    }

    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, op) => self.op(*value, op),
                Stmt::Fetch(fetch) => {
                    self.root(fetch.active);
                    if !self.is_inside(fetch.active) {
                        let from = fetch.strq.iter().chain(&fetch.dx).chain(&fetch.dy);
                        from.for_each(|operand| self.root(*operand));
                    }
                }
                Stmt::Kill(mask) | Stmt::Stat { mask, .. } | Stmt::Watch(mask) => self.root(*mask),
                Stmt::Spend { .. } => {}
                Stmt::If(branch) => {
                    branch.masks.into_iter().for_each(|mask| self.root(mask));
                    let inside = branch.masks.map(|mask| self.is_inside(mask));
                    for merge in &branch.merges {
                        merge.before.into_iter().for_each(|from| self.depends(merge.value, from));
                        for (arm, inside) in merge.arms.into_iter().zip(inside) {
                            arm.filter(|_| !inside)
                                .into_iter()
                                .for_each(|from| self.depends(merge.value, from));
                        }
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    repeat.again.into_iter().for_each(|again| self.root(again));
                    for carried in &repeat.carried {
                        self.depends(carried.value, carried.init);
                        self.depends(carried.value, carried.next);
                    }
                    self.collect(&repeat.body);
                }
            }
        }
    }

    fn op(&mut self, value: Value, op: &Op) {
        let [a, b, c] = op.args;
        // What a mask hides of pixels that do not execute nobody sees.
        let hidden = match op.code {
            Code::Select => [false, self.is_inside(a), false],
            Code::And => [self.is_inside(b), self.is_inside(a), false],
            Code::AndNot => [false, self.is_inside(a), false],
            _ => [false; 3],
        };
        for (arg, hidden) in [a, b, c].into_iter().zip(hidden).take(op.code.arity()) {
            match op.code {
                // Pixels see each other.
                Code::Corner(_) => self.root(arg),
                _ if hidden => {}
                _ => self.depends(value, arg),
            }
        }
    }

    /// Whether only pixels that execute are in a mask.
    fn is_inside(&self, mask: Operand) -> bool {
        self.facts.is_within(mask, self.active)
    }

    fn depends(&mut self, value: Value, from: Operand) {
        self.behind.entry(value).or_default().extend(from.value());
    }

    fn root(&mut self, operand: Operand) {
        if let Some(value) = operand.value()
            && self.by_all.insert(value)
        {
            self.work.push(value);
        }
    }

    fn mark(&mut self) {
        while let Some(value) = self.work.pop() {
            for value in self.behind.remove(&value).unwrap_or_default() {
                self.root(Operand::Value(value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{ALL, Carried};

    const V: fn(u32) -> Operand = |number| Operand::Value(Value(number));

    fn def(value: u32, code: Code, args: &[Operand]) -> Stmt {
        Stmt::Def(Value(value), Op::new(code, args))
    }

    /// A loop that pixels leave by what input 0 says of a counter (0); another value (1) goes with it.
    fn counting(shown: Operand) -> Function {
        let body = vec![
            def(3, Code::Ge, &[V(0), V(9)]),
            def(4, Code::AndNot, &[V(2), V(3)]),
            def(5, Code::Add, &[V(1), V(0)]),
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
            colors: [Some([shown; 4]), None, None, None],
            numbers: [[false; 4]; 4],
            depth: None,
            origins: vec![0; 10],
        }
    }

    fn nexts(function: &mut Function) -> Vec<Operand> {
        forget(function);
        let Some(Stmt::Loop(repeat)) = function.body.last() else { unreachable!() };
        repeat.carried.iter().map(|carried| carried.next).collect()
    }

    #[test]
    fn what_is_shown_is_kept() {
        // The sum is the colour; the counter only tells who goes on.
        assert_eq!(nexts(&mut counting(V(1))), [V(6), V(7), V(4)]);
        assert_eq!(nexts(&mut counting(V(0))), [V(8), V(5), V(4)]);
    }

    #[test]
    fn what_others_show_is_kept() {
        // Pixels that have left add the counter, too, and that shows.
        let mut function = counting(V(1));
        let Some(Stmt::Loop(repeat)) = function.body.last_mut() else { unreachable!() };
        repeat.carried[1].next = V(5);
        assert_eq!(nexts(&mut function), [V(8), V(5), V(4)]);
    }

    /// A loop in a loop that pixels leave one by one, in which what the outer one carries is chosen: what is
    /// chosen there is looked at once more, and behind the outer loop it is looked at still.
    #[test]
    fn what_an_inner_loop_chooses_is_seen_behind_the_outer() {
        let select = |value, mask, x, y| def(value, Code::Select, &[V(mask), V(x), V(y)]);
        let carry = |list: &[(u32, Operand, Operand)]| -> Vec<Carried> {
            let carried = |&(value, init, next)| Carried { value: Value(value), init, next };
            list.iter().map(carried).collect()
        };
        // 0: carried by the outer; 1: pixels in it; 2: carried by the inner; 3: pixels in that.
        let inner = Loop {
            passes: 9,
            carried: carry(&[(2, NONE, V(11)), (3, V(1), V(10))]),
            body: vec![def(10, Code::AndNot, &[V(3), V(20)]), select(11, 10, 0, 2)],
            again: Some(V(10)),
        };
        let body = vec![
            Stmt::Loop(Box::new(inner)),
            def(12, Code::AndNot, &[V(1), V(21)]),
            def(13, Code::Add, &[V(0), Operand::float(1.0)]),
            select(14, 12, 13, 0),
        ];
        let outer = Loop {
            passes: 9,
            carried: carry(&[(0, NONE, V(14)), (1, ALL, V(12))]),
            body,
            again: Some(V(12)),
        };
        let mut function = Function {
            values: 22,
            body: vec![Stmt::Loop(Box::new(outer))],
            colors: [Some([V(0), NONE, NONE, NONE]), None, None, None],
            numbers: [[false; 4]; 4],
            depth: None,
            origins: vec![0; 22],
        };
        forget(&mut function);
        let Stmt::Loop(outer) = &function.body[0] else { unreachable!() };
        assert_eq!(outer.carried[0].next, V(14));
    }
}
