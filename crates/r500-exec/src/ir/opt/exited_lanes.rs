//! What pixels hold that have left a loop.
//!
//! A loop keeps for each pixel what it held when it left. Where nobody looks at that, neither behind the
//! loop nor in it, it need not be kept: a pass then writes what it computes for every pixel, and what
//! counts the passes is the same for all of them.

use std::collections::{HashMap, HashSet};

use super::use_counts::UseCounts;
use crate::ir::{Function, Inst, Loop, NONE, Opcode, Operand, Stmt, Value};

/// Has loops forget what nobody looks at. For functions that read nothing across a quad.
pub(super) fn eliminate_exit_selects(function: &mut Function) {
    let mut facts =
        Facts { defs: HashMap::new(), entry_mask: HashMap::new(), uses: UseCounts::of(function) };
    facts.collect(&function.body);
    each_loop(&mut function.body, &mut facts);
}

fn each_loop(list: &mut [Stmt], facts: &mut Facts) {
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

fn eliminate_in_loop(repeat: &mut Loop, facts: &mut Facts) {
    let Some((active, continue_mask)) = active_masks(repeat) else { return };
    if !facts.implies(continue_mask, active) {
        return;
    }
    let mut demand = Demand {
        facts,
        active,
        operands: HashMap::new(),
        demanded_by_exited: HashSet::new(),
        work: Vec::new(),
    };
    demand.demand_uses_after_loop(repeat);
    demand.root(continue_mask);
    demand.collect(&repeat.body);
    for param in &repeat.params {
        demand.depends(param.value, param.next);
    }
    demand.propagate();
    let Demand { demanded_by_exited, .. } = demand;
    for param in repeat.params.iter_mut().filter(|param| !demanded_by_exited.contains(&param.value))
    {
        // Pixels that go on count alone: what is chosen for all of them is what they hold.
        while let Some(&Inst { opcode: Opcode::Select, args: [mask, chosen, _] }) =
            facts.def_of(param.next)
            && facts.implies(continue_mask, mask)
        {
            param.next = chosen;
            // Loops around this one count it, too.
            facts.uses.add(chosen);
        }
    }
}

/// The pixels that execute a pass, and those that will execute the next.
fn active_masks(repeat: &Loop) -> Option<(Operand, Operand)> {
    let continue_mask = repeat.continue_mask?;
    let param = repeat.params.iter().find(|param| param.next == continue_mask)?;
    Some((Operand::Value(param.value), continue_mask))
}

/// What is known of the values of a function.
struct Facts {
    defs: HashMap<Value, Inst>,
    /// Pixels that execute passes are among those that entry_mask the loop.
    entry_mask: HashMap<Value, Operand>,
    uses: UseCounts,
}

/// How far parts of parts are followed.
const MAX_DEPTH: usize = 16;

/// How often a mask of two is followed both ways.
const MAX_FORKS: usize = 5;

impl Facts {
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, inst) => _ = self.defs.insert(*value, *inst),
                Stmt::If(branch) => branch.arms.iter().for_each(|arm| self.collect(arm)),
                Stmt::Loop(repeat) => {
                    self.collect(&repeat.body);
                    if let Some((Operand::Value(value), continue_mask)) = active_masks(repeat)
                        && self.implies(continue_mask, Operand::Value(value))
                    {
                        let param = repeat.params.iter().find(|param| param.value == value);
                        self.entry_mask.extend(param.map(|param| (value, param.init)));
                    }
                }
                _ => {}
            }
        }
    }

    fn def_of(&self, operand: Operand) -> Option<&Inst> {
        self.defs.get(&operand.value()?)
    }

    /// Whether a mask is known to be a part of another.
    fn implies(&self, part: Operand, whole: Operand) -> bool {
        self.implies_within(part, whole, MAX_FORKS)
    }

    fn implies_within(&self, part: Operand, whole: Operand, forks: usize) -> bool {
        let mut part = part;
        for _ in 0..MAX_DEPTH {
            if part == whole || part == NONE {
                return true;
            }
            part = match self.def_of(part) {
                Some(Inst { opcode: Opcode::AndNot, args: [a, ..] }) => *a,
                Some(Inst { opcode: Opcode::And, args: [a, b, _] }) => {
                    if forks > 0 && self.implies_within(*b, whole, forks - 1) {
                        return true;
                    }
                    *a
                }
                Some(_) => return false,
                None => match part.value().and_then(|value| self.entry_mask.get(&value)) {
                    Some(entry_mask) => *entry_mask,
                    None => return false,
                },
            };
        }
        false
    }
}

/// Who looks at what pixels hold that do not execute a pass.
struct Demand<'a> {
    facts: &'a Facts,
    /// The pixels that execute it.
    active: Operand,
    /// What each value shows of others for such pixels.
    operands: HashMap<Value, Vec<Value>>,
    /// Values that count for every pixel.
    demanded_by_exited: HashSet<Value>,
    work: Vec<Value>,
}

impl Demand<'_> {
    /// What is looked at more often than in the loop is looked at behind it.
    fn demand_uses_after_loop(&mut self, repeat: &Loop) {
        let inside = UseCounts::in_loop(repeat, &self.facts.uses);
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
                    self.root(*mask)
                }
                Stmt::ConsumeFuel { .. } => {}
                Stmt::If(branch) => {
                    branch.masks.into_iter().for_each(|mask| self.root(mask));
                    let inside = branch.masks.map(|mask| self.only_active(mask));
                    for phi in &branch.phis {
                        phi.incoming.into_iter().for_each(|from| self.depends(phi.value, from));
                        for (arm, inside) in phi.arms.into_iter().zip(inside) {
                            arm.filter(|_| !inside)
                                .into_iter()
                                .for_each(|from| self.depends(phi.value, from));
                        }
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    repeat
                        .continue_mask
                        .into_iter()
                        .for_each(|continue_mask| self.root(continue_mask));
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
        // What a mask hides of pixels that do not execute nobody sees.
        let hidden = match inst.opcode {
            Opcode::Select => [false, self.only_active(a), false],
            Opcode::And => [self.only_active(b), self.only_active(a), false],
            Opcode::AndNot => [false, self.only_active(a), false],
            _ => [false; 3],
        };
        for (arg, hidden) in [a, b, c].into_iter().zip(hidden).take(inst.opcode.arity()) {
            match inst.opcode {
                // Pixels see each other.
                Opcode::QuadBroadcast(_) => self.root(arg),
                _ if hidden => {}
                _ => self.depends(value, arg),
            }
        }
    }

    /// Whether only pixels that execute are in a mask.
    fn only_active(&self, mask: Operand) -> bool {
        self.facts.implies(mask, self.active)
    }

    fn depends(&mut self, value: Value, from: Operand) {
        self.operands.entry(value).or_default().extend(from.value());
    }

    fn root(&mut self, operand: Operand) {
        if let Some(value) = operand.value()
            && self.demanded_by_exited.insert(value)
        {
            self.work.push(value);
        }
    }

    fn propagate(&mut self) {
        while let Some(value) = self.work.pop() {
            for value in self.operands.remove(&value).unwrap_or_default() {
                self.root(Operand::Value(value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{ALL, LoopParam};

    const V: fn(u32) -> Operand = |number| Operand::Value(Value(number));

    fn def(value: u32, opcode: Opcode, args: &[Operand]) -> Stmt {
        Stmt::Def(Value(value), Inst::new(opcode, args))
    }

    /// A loop that pixels leave by what input 0 says of a counter (0); another value (1) goes with it.
    fn counting(shown: Operand) -> Function {
        let body = vec![
            def(3, Opcode::Ge, &[V(0), V(9)]),
            def(4, Opcode::AndNot, &[V(2), V(3)]),
            def(5, Opcode::Add, &[V(1), V(0)]),
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
            colors: [Some([shown; 4]), None, None, None],
            non_nan: [[false; 4]; 4],
            depth: None,
            source_locs: vec![0; 10],
        }
    }

    fn nexts(function: &mut Function) -> Vec<Operand> {
        eliminate_exit_selects(function);
        let Some(Stmt::Loop(repeat)) = function.body.last() else { unreachable!() };
        repeat.params.iter().map(|param| param.next).collect()
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
        repeat.params[1].next = V(5);
        assert_eq!(nexts(&mut function), [V(8), V(5), V(4)]);
    }

    /// A loop in a loop that pixels leave one by one, in which what the outer one carries is chosen: what is
    /// chosen there is looked at once more, and behind the outer loop it is looked at still.
    #[test]
    fn what_an_inner_loop_chooses_is_seen_behind_the_outer() {
        let select = |value, mask, x, y| def(value, Opcode::Select, &[V(mask), V(x), V(y)]);
        let carry = |list: &[(u32, Operand, Operand)]| -> Vec<LoopParam> {
            let param = |&(value, init, next)| LoopParam { value: Value(value), init, next };
            list.iter().map(param).collect()
        };
        // 0: param by the outer; 1: pixels in it; 2: param by the inner; 3: pixels in that.
        let inner = Loop {
            max_trips: 9,
            params: carry(&[(2, NONE, V(11)), (3, V(1), V(10))]),
            body: vec![def(10, Opcode::AndNot, &[V(3), V(20)]), select(11, 10, 0, 2)],
            continue_mask: Some(V(10)),
        };
        let body = vec![
            Stmt::Loop(Box::new(inner)),
            def(12, Opcode::AndNot, &[V(1), V(21)]),
            def(13, Opcode::Add, &[V(0), Operand::float(1.0)]),
            select(14, 12, 13, 0),
        ];
        let outer = Loop {
            max_trips: 9,
            params: carry(&[(0, NONE, V(14)), (1, ALL, V(12))]),
            body,
            continue_mask: Some(V(12)),
        };
        let mut function = Function {
            values: 22,
            body: vec![Stmt::Loop(Box::new(outer))],
            colors: [Some([V(0), NONE, NONE, NONE]), None, None, None],
            non_nan: [[false; 4]; 4],
            depth: None,
            source_locs: vec![0; 22],
        };
        eliminate_exit_selects(&mut function);
        let Stmt::Loop(outer) = &function.body[0] else { unreachable!() };
        assert_eq!(outer.params[0].next, V(14));
    }
}
