//! Statements: which pixels execute.

use r500_glsl::tree::{Expr, Stmt, StmtKind};

use super::{CHIP_PASSES, Evaluator, MOST_STEPS, Mask, Open, Value, and, any, not, or, zeros};

impl<'a> Evaluator<'a> {
    /// The pixels that execute now.
    pub(super) fn active(&self) -> Mask {
        let mut mask = and(self.mask, not(self.returned));
        if let Some(open) = self.loops.last() {
            mask = and(mask, not(or(open.broken, open.continued)));
        }
        mask
    }

    pub(super) fn block(&mut self, list: &'a [Stmt]) {
        for statement in list {
            if !any(self.active()) || self.steps > MOST_STEPS {
                return;
            }
            self.steps += 1;
            self.statement(statement);
        }
    }

    pub(super) fn under(&mut self, mask: Mask, run: impl FnOnce(&mut Self)) {
        let before = self.mask;
        self.mask = and(before, mask);
        run(self);
        self.mask = before;
    }

    pub(super) fn statement(&mut self, statement: &'a Stmt) {
        self.visit(|parts| parts.statement(statement));
        match &statement.kind {
            StmtKind::Declare(id, init) => {
                let ty = &self.shader.variables[*id].ty;
                let value = init.as_ref().map_or_else(|| zeros(ty), |init| self.expr(init));
                let places: Vec<usize> = (0..value.len()).collect();
                let active = self.active();
                self.set(*id, active, &places, &value);
                self.note_set(*id, active, init.is_some());
            }
            StmtKind::Expr(expr) => drop(self.expr(expr)),
            StmtKind::If(test, then, otherwise) => {
                let test = self.truth(test);
                self.under(test, |evaluator| evaluator.block(then));
                self.under(not(test), |evaluator| evaluator.block(otherwise));
            }
            StmtKind::Loop(of) => {
                self.block(&of.init);
                let outer = self.mask;
                self.mask = self.active();
                self.loops.push(Open { broken: [false; 4], continued: [false; 4] });
                self.enter(|parts| parts.passes(of));
                let mut is_first = true;
                let mut passes = 0_usize;
                loop {
                    self.begin_pass(passes);
                    self.visit(|parts| parts.test(of));
                    if !is_first || of.test_first {
                        self.leave_where_false(of.test.as_ref());
                    }
                    is_first = false;
                    self.steps += 1;
                    if !any(self.active()) || self.steps > MOST_STEPS {
                        break;
                    }
                    passes += 1;
                    if passes > CHIP_PASSES {
                        // The chip leaves loops whose number of passes is not known.
                        self.open = or(self.open, self.active());
                    }
                    self.block(&of.body);
                    if let Some(open) = self.loops.last_mut() {
                        open.continued = [false; 4];
                    }
                    if let Some(step) = &of.step
                        && any(self.active())
                    {
                        self.visit(|parts| parts.step(of));
                        self.expr(step);
                    }
                }
                self.leave();
                self.loops.pop();
                self.mask = outer;
            }
            StmtKind::Return(value) => {
                let active = self.active();
                if let Some(value) = value {
                    let value = self.expr(value);
                    self.result.resize(value.len(), [0.0; 4]);
                    for (to, from) in self.result.iter_mut().zip(&value) {
                        for lane in 0..4 {
                            if active[lane] {
                                to[lane] = from[lane];
                            }
                        }
                    }
                }
                self.returned = or(self.returned, active);
            }
            StmtKind::Break | StmtKind::Continue => {
                let active = self.active();
                let is_break = matches!(statement.kind, StmtKind::Break);
                if let Some(open) = self.loops.last_mut() {
                    let set = if is_break { &mut open.broken } else { &mut open.continued };
                    *set = or(*set, active);
                }
            }
            StmtKind::Discard => self.discarded = or(self.discarded, self.active()),
        }
    }

    pub(super) fn leave_where_false(&mut self, test: Option<&'a Expr>) {
        let Some(test) = test else { return };
        if !any(self.active()) {
            return;
        }
        let holds = self.truth(test);
        let active = self.active();
        if let Some(open) = self.loops.last_mut() {
            open.broken = or(open.broken, and(active, not(holds)));
        }
    }

    pub(super) fn call(&mut self, function: usize, arguments: Vec<Option<Value>>) -> Value {
        let shader = self.shader;
        let of = &shader.functions[function];
        for (parameter, argument) in of.parameters.iter().zip(arguments) {
            let ty = &shader.variables[*parameter].ty;
            let active = self.active();
            self.note_set(*parameter, active, argument.is_some());
            self.values[*parameter] = Some(argument.unwrap_or_else(|| zeros(ty)));
        }
        let mask = self.active();
        let outer = (
            self.mask,
            self.returned,
            std::mem::take(&mut self.loops),
            std::mem::take(&mut self.result),
        );
        (self.mask, self.returned, self.result) = (mask, [false; 4], zeros(&of.returns));
        self.block(&of.body);
        let result = std::mem::take(&mut self.result);
        (self.mask, self.returned, self.loops, self.result) = outer;
        result
    }
}
