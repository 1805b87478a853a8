//! Loops: passes by the chip, or each pass by itself. Those of vertex shaders that are not unrolled are in [`flat_loop`](super::flat_loop).

use std::collections::HashSet;

use r500_glsl::tree::{Expr, ExprKind, Loop, StmtKind, VariableId};
use r500_glsl::{Binary, Diagnostic, Span};

use r500_isa::limits::LOOP_LEVELS;

use super::statement::has_exits;
use super::{Lower, Open};
use crate::code::{Component, Condition, Node, Value};
use crate::points::Origin;

/// Most operations of all passes of a loop that is unrolled although it need not be.
const MOST_UNROLLED: usize = 24;
/// Most passes that are unrolled because an index needs it.
const MOST_INDEXED: usize = 256;
/// Most passes that are counted: those of a loop of loops.
const MOST_PASSES: usize = CHIP_PASSES * CHIP_PASSES;
/// Most passes of a loop of the chip.
pub(super) const CHIP_PASSES: usize = 255;

/// What holds before something that may be undone.
pub(super) struct Checkpoint {
    values: Vec<Option<Value>>,
    count: usize,
    left: bool,
    samplers: usize,
    messages: usize,
}

impl<'a> Lower<'a> {
    pub(super) fn repeat(&mut self, of: &'a Loop, span: Span) {
        self.block(&of.init);
        let passes = self.passes(of);
        if passes == Some(0) {
            return;
        }
        if self.is_vertex() {
            return self.repeat_flat(of, passes, span);
        }
        if let Some(passes) = passes {
            let must = passes <= MOST_INDEXED && self.indexes_by_pass(of);
            let small = passes * self.size(of) <= MOST_UNROLLED && !has_exits(&of.body);
            if must || small || passes == 1 {
                let is_whole = self.unroll(of, Some(passes), usize::MAX, span);
                debug_assert!(
                    is_whole,
                    "the number of passes is known, and that of operations open"
                );
                return;
            }
        }
        self.roll(of, passes, span);
    }

    /// Returns the number of passes, if values that are known decide it, and nothing but `break` ends it earlier.
    fn passes(&mut self, of: &'a Loop) -> Option<usize> {
        self.passes_by(of, of.test.as_ref()?)
    }

    /// Returns a number of passes after which a loop has ended, if a part of its test that is always computed decides it.
    pub(super) fn bound(&mut self, of: &'a Loop) -> Option<usize> {
        let mut parts = vec![of.test.as_ref()?];
        let mut bound: Option<usize> = None;
        while let Some(part) = parts.pop() {
            if let ExprKind::Binary(Binary::And, a, b) = &part.kind {
                parts.extend([&**a, &**b]);
                continue;
            }
            let passes = self.passes_by(of, part);
            bound = bound.into_iter().chain(passes).min();
        }
        bound
    }

    /// Returns the number of passes with a part of the test instead of it.
    fn passes_by(&mut self, of: &'a Loop, test: &'a Expr) -> Option<usize> {
        let mut in_test = HashSet::new();
        test.each(&mut |expr| {
            if let ExprKind::Variable(id) = expr.kind {
                in_test.insert(id);
            }
        });
        let mut in_body = HashSet::new();
        self.assigned(&of.body, &mut in_body);
        of.test.iter().for_each(|whole| self.assigned_by(whole, &mut in_body));
        if in_test.intersection(&in_body).next().is_some() || self.has_effects(test) {
            return None;
        }
        self.trial(|lower| {
            // `do` has a first pass in any case.
            let mut count = usize::from(!of.test_first);
            while count <= MOST_PASSES {
                match lower.condition(test).value() {
                    Some(true) => {}
                    Some(false) => return Some(count),
                    None => return None,
                }
                if let Some(step) = &of.step {
                    lower.expr(step);
                }
                count += 1;
            }
            None
        })
    }

    /// Lowers something to learn from it; nothing is kept.
    fn trial<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        self.is_trial += 1;
        let before = self.checkpoint();
        let result = lower(self);
        self.restore(before);
        self.is_trial -= 1;
        result
    }

    /// Begins what may be undone.
    pub(super) fn checkpoint(&mut self) -> Checkpoint {
        self.builder.open();
        Checkpoint {
            values: self.values.clone(),
            count: self.builder.count,
            left: self.left,
            samplers: self.samplers.len(),
            messages: self.diagnostics.len(),
        }
    }

    /// Undoes all since the checkpoint.
    pub(super) fn restore(&mut self, before: Checkpoint) {
        self.builder.close();
        self.samplers.truncate(before.samplers);
        self.diagnostics.truncate(before.messages);
        (self.values, self.builder.count, self.left) = (before.values, before.count, before.left);
    }

    /// Returns the number of operations of a pass.
    fn size(&mut self, of: &'a Loop) -> usize {
        self.trial(|lower| {
            let before = lower.builder.count;
            let flags = [lower.hidden(zero()), lower.hidden(zero())];
            lower.loops.push(Open::Unrolled { broken: flags[0], continued: flags[1] });
            lower.block(&of.body);
            lower.loops.pop();
            lower.builder.count - before
        })
    }

    /// Returns whether an index depends on what changes from pass to pass by itself, so that it is known in each pass.
    fn indexes_by_pass(&self, of: &'a Loop) -> bool {
        let mut counters = HashSet::new();
        if let Some(step) = &of.step {
            self.assigned_by(step, &mut counters);
        }
        let mut found = false;
        let mut look = |expr: &'a Expr| {
            expr.each(&mut |expr| {
                if let ExprKind::Index(_, index) = &expr.kind {
                    index.each(&mut |part| {
                        found |= matches!(part.kind, ExprKind::Variable(id) if counters.contains(&id));
                    });
                }
                // An argument may become an index.
                if let ExprKind::Call(_, arguments) = &expr.kind {
                    found |= arguments.iter().any(|argument| {
                        let is_counter = argument.root().is_some_and(|id| counters.contains(&id));
                        is_counter && argument.ty == r500_glsl::types::Type::INT
                    });
                }
            });
        };
        for statement in &of.body {
            statement.each(&mut |statement| statement.expressions(&mut look));
        }
        found
    }

    /// Each pass by itself: so many, or as long as the test is known to hold, once the passes before are lowered. Returns false if the
    /// test is not known, or if there are more than `most` operations.
    pub(super) fn unroll(
        &mut self,
        of: &'a Loop,
        passes: Option<usize>,
        most: usize,
        span: Span,
    ) -> bool {
        let most = self.builder.count.saturating_add(most);
        let mut is_whole = true;
        let broken = self.hidden(zero());
        let continued = self.hidden(zero());
        self.loops.push(Open::Unrolled { broken, continued });
        let returned = self.frames.last().map(|frame| frame.returned);
        let flags: Vec<VariableId> = [Some(broken), returned].into_iter().flatten().collect();
        let mut pass = 0;
        let (origin, loop_part) = (self.builder.origin(), self.parts.passes(of));
        while passes.is_none_or(|passes| pass < passes) && !self.left && !self.is_full() {
            let around = self.points.enter_pass(loop_part, pass);
            self.at(self.parts.test(of));
            let condition = self.none_of(&flags);
            let has_pass = match passes {
                _ if condition.value() == Some(false) => Some(false),
                Some(_) => Some(true),
                None => self.has_pass(of, pass, condition),
            };
            is_whole = has_pass == Some(false) && condition.value() == Some(false)
                || has_pass.is_some() && self.builder.count <= most;
            if is_whole && has_pass == Some(true) {
                self.values[continued] = Some(zero());
                self.branch(condition, span, |lower| lower.block(&of.body), |_| {});
                self.step_unrolled(of, &flags, span);
                pass += 1;
            }
            self.points.leave(around);
            if !is_whole || has_pass == Some(false) {
                break;
            }
        }
        self.builder.set_origin(origin);
        self.loops.pop();
        is_whole
    }

    /// The step of a pass that is lowered by itself. The counter is stepped for all pixels if nothing after the loop sees it.
    fn step_unrolled(&mut self, of: &'a Loop, flags: &[VariableId], span: Span) {
        let Some(step) = &of.step else { return };
        self.at(self.parts.step(of));
        let condition = self.none_of(flags);
        if self.is_declared_by(of, step) || condition.value() == Some(true) {
            self.expr(step);
        } else if condition.value() != Some(false) {
            self.branch(condition, span, |lower| drop(lower.expr(step)), |_| {});
        }
    }

    /// Returns whether there is a pass of that number, for those that `active` holds for, if that is known.
    fn has_pass(&mut self, of: &'a Loop, pass: usize, active: Condition) -> Option<bool> {
        // `do` has a first pass in any case.
        let Some(test) = of.test.as_ref().filter(|_| of.test_first || pass > 0) else {
            return Some(true);
        };
        let for_some = active.value().is_none() && self.has_effects(test);
        if for_some { None } else { self.condition(test).value() }
    }

    /// Returns whether all that a step sets is declared by the loop, so that nothing after the loop sees it.
    pub(super) fn is_declared_by(&self, of: &'a Loop, step: &'a Expr) -> bool {
        let mut set = HashSet::new();
        self.assigned_by(step, &mut set);
        set.iter().all(|id| {
            of.init.iter().any(|statement| matches!(statement.kind, StmtKind::Declare(declared, _) if declared == *id))
        })
    }

    fn roll(&mut self, of: &'a Loop, passes: Option<usize>, span: Span) {
        let open = self.loops.iter().filter(|open| matches!(open, Open::Rolled { .. })).count();
        if open >= LOOP_LEVELS {
            let message = format!("loops are nested too deep; the chip has {LOOP_LEVELS} levels");
            return self.error(Diagnostic::error(span, message));
        }
        // More passes than a loop of the chip has: a loop of loops, each pass with its test.
        let outer = passes
            .filter(|passes| *passes > CHIP_PASSES)
            .map(|passes| passes.div_ceil(CHIP_PASSES));
        let count = match passes {
            Some(passes) if outer.is_none() => passes,
            Some(_) => CHIP_PASSES,
            None => self.chip_passes(of, span),
        };
        let ended = outer.map(|_| self.hidden(zero()));
        let is_counted = passes.is_some() && outer.is_none();
        // Flags of loops around, which an exit inside sets.
        let mut flags = Vec::new();
        for open in &self.loops {
            if let Open::Unrolled { broken, continued } = open {
                flags.extend([*broken, *continued]);
            }
        }
        let point = self.builder.point;
        let held = self.put_into_registers(self.held_over(of, flags).into_iter().chain(ended));
        self.loops.push(Open::Rolled { held: held.clone(), of, ended });
        self.builder.open();
        let inner = outer.map(|_| CHIP_PASSES);
        let around = self.points.enter_chip_loop(self.parts.passes(of), inner);
        self.at(self.parts.test(of));
        if !is_counted && of.test_first {
            self.test(of, span);
        }
        self.block(&of.body);
        if !self.left {
            self.end_of_pass(of, is_counted, span);
        }
        let nodes = self.builder.close();
        self.loops.pop();
        self.left = false;
        self.points.leave(around);
        let origin = Origin { span, point };
        self.builder.set_origin(origin);
        let mut node = Node::Loop(count as u8, nodes, origin);
        for (id, register) in held {
            self.values[id] = Some(register);
        }
        if let (Some(outer), Some(ended)) = (outer, ended) {
            let over = self.is_zero(ended).not();
            let leave = Node::If(over, vec![Node::Break(origin)], Vec::new(), origin);
            node = Node::Loop(u8::try_from(outer).unwrap_or(u8::MAX), vec![node, leave], origin);
        }
        self.builder.node(node);
    }

    /// Returns how many passes of the chip a loop has whose own number is not known: those that end it, or as many as the chip has, with a
    /// warning.
    pub(super) fn chip_passes(&mut self, of: &'a Loop, span: Span) -> usize {
        if let Some(bound) = self.bound(of).filter(|bound| *bound <= CHIP_PASSES) {
            return bound;
        }
        let message = format!(
            "the number of passes is not known: the chip's loop ends after {CHIP_PASSES} at the latest"
        );
        self.error(Diagnostic::warning(span, message));
        CHIP_PASSES
    }

    /// Gives variables registers that hold them from pass to pass.
    pub(super) fn put_into_registers(
        &mut self,
        variables: impl Iterator<Item = VariableId>,
    ) -> Vec<(VariableId, Value)> {
        let mut held: Vec<(VariableId, Value)> = Vec::new();
        let mut set = Vec::new();
        for id in variables {
            let Some(value) = self.values[id].clone() else { continue };
            let register = self.builder.variable(value.len());
            set.extend(register.iter().copied().zip(value));
            held.push((id, register));
        }
        self.builder.set(&set);
        for (id, register) in &held {
            self.values[*id] = Some(register.clone());
        }
        held
    }

    /// The variables that live before a loop and that it sets, and flags, in order.
    pub(super) fn held_over(&self, of: &'a Loop, flags: Vec<VariableId>) -> Vec<VariableId> {
        let mut set: HashSet<VariableId> = flags.into_iter().collect();
        self.assigned(&of.body, &mut set);
        of.test.iter().chain(&of.step).for_each(|expr| self.assigned_by(expr, &mut set));
        // Variables of the loop's own blocks, and of functions that it calls, begin in each pass.
        let mut own = HashSet::new();
        self.declared(&of.body, &mut own);
        let mut returns = false;
        for statement in &of.body {
            statement
                .each(&mut |statement| returns |= matches!(statement.kind, StmtKind::Return(_)));
        }
        if let Some(frame) = self.frames.last().filter(|_| returns) {
            set.extend([frame.returned, frame.result]);
        }
        let mut all: Vec<VariableId> = set
            .into_iter()
            .filter(|id| !own.contains(id) && self.values.get(*id).is_some_and(Option::is_some))
            .collect();
        all.sort_unstable();
        all
    }

    /// Leaves the loop where its test fails.
    fn test(&mut self, of: &'a Loop, span: Span) {
        let Some(test) = &of.test else { return };
        let condition = self.condition(test);
        if condition.value() == Some(true) {
            return;
        }
        self.branch(condition.not(), span, |lower| lower.leave_loop(span), |_| {});
    }

    /// What is at the end of a pass: the step, the test of `do`, and the variables for the next pass.
    fn end_of_pass(&mut self, of: &'a Loop, is_counted: bool, span: Span) {
        if let Some(step) = &of.step {
            self.at(self.parts.step(of));
            self.expr(step);
        }
        if !of.test_first && !is_counted {
            self.test(of, span);
        }
        if !self.left {
            self.hold();
        }
    }

    /// Sets the registers that hold variables from pass to pass.
    fn hold(&mut self) {
        let Some(Open::Rolled { held, .. }) = self.loops.last() else { return };
        self.builder.set(&self.register_values(held));
    }

    /// Returns the registers that hold variables from pass to pass, with the values that they get.
    pub(super) fn register_values(
        &self,
        held: &[(VariableId, Value)],
    ) -> Vec<(Component, Component)> {
        let of = |(id, register): &(VariableId, Value)| {
            register.iter().copied().zip(self.held_value(*id)).collect::<Vec<_>>()
        };
        held.iter().flat_map(of).collect()
    }

    pub(super) fn leave_loop(&mut self, span: Span) {
        if let Some(Open::Rolled { ended: Some(ended), .. }) = self.loops.last() {
            let ended = *ended;
            self.set_flag(ended);
        }
        self.hold();
        let origin = self.origin(span);
        self.builder.node(Node::Break(origin));
        self.left = true;
    }

    /// `continue`
    pub(super) fn end_pass(&mut self, span: Span) {
        let Some(Open::Rolled { of, .. }) = self.loops.last() else { return };
        let of = *of;
        self.end_of_pass(of, false, span);
        if !self.left {
            let origin = self.origin(span);
            self.builder.node(Node::Continue(origin));
            self.left = true;
        }
    }
}

pub(super) fn zero() -> Value {
    vec![Component::literal(0.0)]
}
