//! Statements: branches, and exits from functions and loops.
//!
//! An exit that the chip does not have (`return`, and those of loops that are unrolled) sets a variable, and what follows is under the
//! condition that it is not set.

use r500_glsl::tree::{Stmt, StmtKind, VariableId};
use r500_glsl::{Diagnostic, Span};

use super::{Lower, Open};
use crate::code::{Component, Condition, Node, Value};
use crate::points::Origin;

/// Most operations of both ways of a branch that are computed for all pixels, with selections instead of a branch.
const MOST_FLAT: usize = 16;

/// Most branches inside of each other, also of those that become selections.
const MOST_NESTED: usize = 128;

/// Which exits statements have: of the function, of the loop around them, of its pass.
#[derive(Clone, Copy, Default)]
struct Exits {
    returns: bool,
    /// `return` in a loop that the statements contain.
    returns_inside: bool,
    breaks: bool,
    continues: bool,
}

impl<'a> Lower<'a> {
    pub(super) fn block(&mut self, list: &'a [Stmt]) {
        for (at, statement) in list.iter().enumerate() {
            if self.left || self.is_over() || self.is_full() {
                return;
            }
            let rest = &list[at + 1..];
            let by_chip = matches!(self.loop_of_frame(), Some(Open::Rolled { .. }));
            if let StmtKind::If(test, then, otherwise) = &statement.kind
                && !rest.is_empty()
                && !by_chip
                && (always_exits(then) || always_exits(otherwise))
            {
                // What follows belongs to the way that does not exit.
                self.builder.span = statement.span;
                self.at(self.parts.statement(statement));
                let condition = self.condition(test);
                let way = |lower: &mut Self, list: &'a [Stmt]| {
                    lower.block(list);
                    if !always_exits(list) {
                        lower.block(rest);
                    }
                };
                self.branch(
                    condition,
                    statement.span,
                    |lower| way(lower, then),
                    |lower| way(lower, otherwise),
                );
                return;
            }
            self.statement(statement);
            if self.left {
                return;
            }
            let exits = exits(std::slice::from_ref(statement));
            let mut flags: Vec<VariableId> = Vec::new();
            match self.loop_of_frame() {
                // Also after the last statement: a pass would follow.
                Some(Open::Rolled { .. }) => {
                    if exits.returns_inside {
                        self.leave_if_returned(statement.span);
                    }
                    continue;
                }
                Some(Open::Unrolled { broken, continued }) => {
                    flags.extend([*broken, *continued]);
                    flags.extend(self.frames.last().map(|frame| frame.returned));
                }
                None => flags.extend(self.frames.last().map(|frame| frame.returned)),
            }
            if rest.is_empty() {
                continue;
            }
            let may_exit = exits.returns || exits.breaks || exits.continues;
            if !may_exit {
                continue;
            }
            let condition = self.none_of(&flags);
            match condition.value() {
                Some(true) => {}
                Some(false) => return,
                None => {
                    self.branch(condition, statement.span, |lower| lower.block(rest), |_| {});
                    return;
                }
            }
        }
    }

    /// The innermost open loop of this function.
    fn loop_of_frame(&self) -> Option<&Open<'a>> {
        let base = self.frames.last().map_or(0, |frame| frame.loops);
        self.loops[base..].last()
    }

    /// Returns whether every pixel has left what is executed.
    fn is_over(&mut self) -> bool {
        let mut flags: Vec<VariableId> =
            self.frames.last().map(|frame| frame.returned).into_iter().collect();
        if let Some(Open::Unrolled { broken, continued }) = self.loop_of_frame() {
            flags.extend([*broken, *continued]);
        }
        flags.iter().any(|flag| self.is_zero(*flag).value() == Some(false))
    }

    /// The condition that none of some variables of 0 or 1 is set.
    pub(super) fn none_of(&mut self, flags: &[VariableId]) -> Condition {
        let mut all: Option<Value> = None;
        for flag in flags {
            let value = self.held_value(*flag);
            match value.first().and_then(|c| c.value()) {
                Some(0.0) => {}
                Some(_) => return Condition::known(false),
                None => {
                    all = Some(match all {
                        None => value,
                        Some(other) => {
                            use crate::arithmetic::{Alu, Arithmetic};
                            self.builder.alu(Alu::Max, &[&other, &value])
                        }
                    });
                }
            }
        }
        match all {
            None => Condition::known(true),
            Some(value) => Condition { test: value[0].absolute().negated(), negated: false },
        }
    }

    pub(super) fn set_flag(&mut self, flag: VariableId) {
        self.values[flag] = Some(vec![Component::literal(1.0)]);
    }

    fn statement(&mut self, statement: &'a Stmt) {
        self.builder.span = statement.span;
        self.at(self.parts.statement(statement));
        match &statement.kind {
            StmtKind::Declare(id, init) => {
                let value = match init {
                    Some(init) => self.expr(init),
                    None => self.zeros(&self.shader.variables[*id].ty),
                };
                self.values[*id] = Some(value);
            }
            StmtKind::Expr(expr) => {
                self.expr(expr);
            }
            StmtKind::If(test, then, otherwise) => {
                let condition = self.condition(test);
                self.builder.span = statement.span;
                if let ([Stmt { kind: StmtKind::Discard, .. }], []) = (&then[..], &otherwise[..]) {
                    self.discard(condition);
                    return;
                }
                self.branch(
                    condition,
                    statement.span,
                    |lower| lower.block(then),
                    |lower| lower.block(otherwise),
                );
            }
            StmtKind::Loop(of) => self.repeat(of, statement.span),
            StmtKind::Return(value) => {
                let Some((returned, result)) =
                    self.frames.last().map(|frame| (frame.returned, frame.result))
                else {
                    return;
                };
                if let Some(value) = value {
                    let value = self.expr(value);
                    self.values[result] = Some(value);
                }
                self.set_flag(returned);
                if matches!(self.loop_of_frame(), Some(Open::Rolled { .. })) {
                    self.leave_loop(statement.span);
                }
            }
            StmtKind::Break => match self.loop_of_frame() {
                Some(Open::Unrolled { broken, .. }) => {
                    let broken = *broken;
                    self.set_flag(broken);
                }
                _ => self.leave_loop(statement.span),
            },
            StmtKind::Continue => match self.loop_of_frame() {
                Some(Open::Unrolled { continued, .. }) => {
                    let continued = *continued;
                    self.set_flag(continued);
                }
                _ => self.end_pass(statement.span),
            },
            StmtKind::Discard => self.discard(Condition::known(true)),
        }
    }

    fn discard(&mut self, condition: Condition) {
        let (yes, no) = (vec![Component::literal(-1.0)], vec![Component::literal(1.0)]);
        match condition.value() {
            Some(false) => {}
            Some(true) => self.builder.kill(&yes),
            // What is tested is below 0 where the pixel ends.
            None if condition.negated => self.builder.kill(&vec![condition.test]),
            None => {
                let value = self.builder.choose(condition, &yes, &no);
                self.builder.kill(&value);
            }
        }
    }

    /// After a loop inside of this one: pixels that returned in it leave this one, too.
    fn leave_if_returned(&mut self, span: Span) {
        let Some(returned) = self.frames.last().map(|frame| frame.returned) else { return };
        let condition = self.is_zero(returned).not();
        if condition.value() == Some(false) {
            return;
        }
        self.branch(condition, span, |lower| lower.leave_loop(span), |_| {});
    }

    /// Lowers both ways of a decision, and joins what they set.
    pub(super) fn branch(
        &mut self,
        condition: Condition,
        span: Span,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        match condition.value() {
            Some(true) => return then(self),
            Some(false) => return otherwise(self),
            None => {}
        }
        if self.nesting >= MOST_NESTED {
            let message = format!("more than {MOST_NESTED} branches are inside of each other");
            let help = "combine conditions with `&&`, or leave functions and loops in fewer places";
            return self.error(Diagnostic::error(span, message).help(help));
        }
        self.nesting += 1;
        self.branch_inside(condition, span, then, otherwise);
        self.nesting -= 1;
    }

    fn branch_inside(
        &mut self,
        condition: Condition,
        span: Span,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let before = self.values.clone();
        let count = self.builder.count;
        let point = self.builder.point;
        let (yes, yes_values, yes_left) = self.way(&before, then);
        self.builder.point = point;
        let (no, no_values, no_left) = self.way(&before, otherwise);
        let cost = self.builder.count - count;
        self.builder.set_origin(Origin { span, point });
        // Vertices take both ways: their programs have no branches that differ from vertex to vertex.
        let is_flat = (cost <= MOST_FLAT || self.is_vertex())
            && yes.iter().chain(&no).all(|node| match node {
                Node::Op(_) => true,
                // Its passes are the same whatever the vertex does.
                Node::Loop(..) => self.is_vertex(),
                _ => false,
            });
        if is_flat {
            self.builder.splice(yes);
            self.builder.splice(no);
            self.values = before;
            self.values.resize(yes_values.len().max(no_values.len()), None);
            for id in 0..self.values.len() {
                let old = self.values[id].take();
                let side = |values: &[Option<Value>]| values.get(id).cloned().flatten();
                self.values[id] = match (side(&yes_values), side(&no_values)) {
                    (Some(yes), Some(no)) if yes == no => Some(yes),
                    (Some(yes), Some(no)) if yes.len() == no.len() => {
                        Some(self.builder.choose(condition, &yes, &no))
                    }
                    _ => old,
                };
            }
            return;
        }
        let joined = self.join(&before, [(yes, yes_values, yes_left), (no, no_values, no_left)]);
        let [yes, no] = joined;
        self.builder.node(Node::If(condition, yes, no, Origin { span, point }));
        self.left = yes_left && no_left;
    }

    /// Lowers one way in a list of its own. Returns its nodes, the values at its end, and whether its end is not reached.
    fn way(
        &mut self,
        before: &[Option<Value>],
        lower: impl FnOnce(&mut Self),
    ) -> (Vec<Node>, Vec<Option<Value>>, bool) {
        self.values.clear();
        self.values.extend_from_slice(before);
        self.left = false;
        self.builder.open();
        lower(self);
        let nodes = self.builder.close();
        let left = std::mem::take(&mut self.left);
        (nodes, std::mem::take(&mut self.values), left)
    }

    /// Makes registers of what two ways set differently.
    fn join(
        &mut self,
        before: &[Option<Value>],
        [(yes, yes_values, yes_left), (no, no_values, no_left)]: [(Vec<Node>, Vec<Option<Value>>, bool);
            2],
    ) -> [Vec<Node>; 2] {
        if yes_left || no_left {
            self.values = if yes_left { no_values } else { yes_values };
            return [yes, no];
        }
        self.values.clear();
        self.values.extend_from_slice(before);
        self.values.resize(yes_values.len().max(no_values.len()), None);
        let (mut set_yes, mut set_no) = (Vec::new(), Vec::new());
        for id in 0..self.values.len() {
            let side = |values: &[Option<Value>]| values.get(id).cloned().flatten();
            let (Some(mut value), Some(other)) = (side(&yes_values), side(&no_values)) else {
                continue;
            };
            if value.len() != other.len() {
                continue;
            }
            let differing: Vec<usize> =
                (0..value.len()).filter(|n| value[*n] != other[*n]).collect();
            let held = self.builder.variable(differing.len());
            for (n, register) in differing.iter().zip(held) {
                set_yes.push((register, value[*n]));
                set_no.push((register, other[*n]));
                value[*n] = register;
            }
            self.values[id] = Some(value);
        }
        [(yes, set_yes), (no, set_no)].map(|(nodes, set)| {
            self.builder.open();
            self.builder.splice(nodes);
            self.builder.set(&set);
            self.builder.close()
        })
    }
}

/// Returns the exits of statements: `break` and `continue` of the loop around them.
fn exits(list: &[Stmt]) -> Exits {
    let mut all = Exits::default();
    for statement in list {
        match &statement.kind {
            StmtKind::Return(_) => all.returns = true,
            StmtKind::Break => all.breaks = true,
            StmtKind::Continue => all.continues = true,
            StmtKind::If(_, then, otherwise) => {
                for inside in [exits(then), exits(otherwise)] {
                    all.returns |= inside.returns;
                    all.returns_inside |= inside.returns_inside;
                    all.breaks |= inside.breaks;
                    all.continues |= inside.continues;
                }
            }
            StmtKind::Loop(of) => {
                let inside = exits(&of.body);
                all.returns |= inside.returns;
                all.returns_inside |= inside.returns;
            }
            _ => {}
        }
    }
    all
}

/// Returns whether statements leave what is executed on every way.
fn always_exits(list: &[Stmt]) -> bool {
    list.iter().any(|statement| match &statement.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If(_, then, otherwise) => always_exits(then) && always_exits(otherwise),
        _ => false,
    })
}

/// Returns whether statements leave the loop around them or its pass, or return.
pub(super) fn has_exits(list: &[Stmt]) -> bool {
    let exits = exits(list);
    exits.returns || exits.breaks || exits.continues
}
