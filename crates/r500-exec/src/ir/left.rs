//! What pixels hold that have left a loop.
//!
//! A loop keeps for each pixel what it held when it left. Where nobody looks at that, neither behind the
//! loop nor in it, it need not be kept: a pass then writes what it computes for every pixel, and what
//! counts the passes is the same for all of them.

use std::collections::{HashMap, HashSet};

use super::{Code, Function, Loop, NONE, Op, Operand, Stmt, Value};

/// Has loops forget what nobody looks at. For functions that read nothing across a quad.
pub(super) fn forget(function: &mut Function) {
    let mut facts = Facts { looks: vec![0; function.values as usize], ..Facts::default() };
    facts.collect(&function.body);
    function.outputs().for_each(|operand| facts.look(operand));
    each_loop(&mut function.body, &facts);
}

fn each_loop(list: &mut [Stmt], facts: &Facts) {
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

fn forget_in(repeat: &mut Loop, facts: &Facts) {
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
        while let Some(Op { code: Code::Select, args: [mask, chosen, _] }) =
            facts.made(carried.next)
            && facts.is_within(again, *mask)
        {
            carried.next = *chosen;
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
#[derive(Default)]
struct Facts {
    made: HashMap<Value, Op>,
    /// Pixels that execute passes are among those that began the loop.
    began: HashMap<Value, Operand>,
    /// How often each value is looked at.
    looks: Vec<u32>,
}

/// How far parts of parts are followed.
const DEEP: usize = 16;

/// How often a mask of two is followed both ways.
const FORKS: usize = 5;

impl Facts {
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            stmt.operands(&mut |operand| self.look(operand));
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

    fn look(&mut self, operand: Operand) {
        if let Some(looks) = operand.value().and_then(|value| self.looks.get_mut(value.index())) {
            *looks += 1;
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
        let mut inside: HashMap<Value, u32> = HashMap::new();
        let mut count = |operand: Operand| {
            operand.value().into_iter().for_each(|value| *inside.entry(value).or_default() += 1);
        };
        repeat.carried.iter().for_each(|carried| count(carried.next));
        repeat.again.into_iter().for_each(&mut count);
        each_operand(&repeat.body, &mut count);
        for carried in &repeat.carried {
            let looks = self.facts.looks.get(carried.value.index()).copied().unwrap_or(0);
            if looks > inside.get(&carried.value).copied().unwrap_or(0) {
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

/// Calls `f` with everything that statements look at.
fn each_operand(list: &[Stmt], f: &mut impl FnMut(Operand)) {
    list.iter().for_each(|stmt| stmt.each(&mut |stmt| stmt.operands(f)));
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
}
