//! Generation of statements: branches, loops, calls, and straight code between them.

use r500_isa::INT_CONSTANTS;
use r500_isa::values::PredSel;

use super::{Context, Generator, Stmt};
use crate::Choices;
use crate::tree::{
    BRANCH_LEVELS, CALLS, Call, Cond, Endif, If, IfForm, IfShape, LOOP_FRAMES, Leave, Loop,
    LoopForm, LoopKind, Pred, Return, Trim,
};

impl<E: Choices> Generator<'_, E> {
    /// Returns a list of statements, within the remaining room and work.
    pub(super) fn block(&mut self, context: Context, work: &mut u32, most: u32) -> Vec<Stmt> {
        let mut list = Vec::new();
        // The main program is mostly long, other lists short.
        let few = if context.depth == 0 { most / 3 } else { 5 };
        // The greater of two draws, because short lists test little.
        let count = self.choices.below(few + 1).max(self.choices.below(few + 1));
        for _ in 0..count {
            if self.room < 8 || *work < 8 {
                break;
            }
            self.statement(&mut list, context, work);
        }
        list
    }

    fn statement(&mut self, list: &mut Vec<Stmt>, context: Context, work: &mut u32) {
        let deeper = u32::from(context.depth < self.shape.depth);
        let if_weight = 5 * deeper * u32::from(context.levels < BRANCH_LEVELS);
        let loops = self.shape.loops && context.loops < LOOP_FRAMES;
        let callee = context.body.map_or(0, |body| body + 1);
        let calls = callee < self.plans.len();
        let weights = [
            9,
            3,
            if_weight,
            3 * deeper * u32::from(loops),
            4 * u32::from(context.leaves),
            2 * u32::from(context.leaves),
            2 * u32::from(calls),
            u32::from(context.returns),
        ];
        match self.choices.weighted(&weights) {
            0 => {
                let stmt = self.instruction(context);
                self.push(list, stmt, work);
            }
            1 => {
                let stmt = self.count_up(context);
                self.push(list, stmt, work);
            }
            2 => self.branch(list, context, work),
            3 => self.repeat(list, context, work),
            n @ (4 | 5) => {
                let when = self.when(list, context, work);
                let leave = Leave { when, any: self.choices.chance(1, 4), trim: self.trim() };
                let stmt = if n == 4 { Stmt::Break(leave) } else { Stmt::Continue(leave) };
                self.push(list, stmt, work);
            }
            6 => self.call(list, context, work, callee),
            _ => {
                let when = self.choices.chance(3, 4).then(|| self.static_condition());
                let stmt = Stmt::Return(Return { when, trim: self.trim() });
                self.push(list, stmt, work);
            }
        }
    }

    /// Adds a statement of one instruction.
    pub(super) fn push(&mut self, list: &mut Vec<Stmt>, stmt: Stmt, work: &mut u32) {
        self.room = self.room.saturating_sub(1);
        *work = work.saturating_sub(1);
        list.push(stmt);
    }

    fn branch(&mut self, list: &mut Vec<Stmt>, context: Context, work: &mut u32) {
        let cond = self.condition(list, context, work);
        let kept = self.keep_room();
        let fixed = cond.is_static();
        let shape = match self.choices.weighted(&[4, 2, if fixed { 4 } else { 0 }]) {
            0 => IfShape::Usual,
            1 => IfShape::Through,
            _ => IfShape::Plain,
        };
        self.room = self.room.saturating_sub(3);
        *work = work.saturating_sub(3);
        let inside = Context {
            levels: context.levels + u32::from(shape != IfShape::Plain),
            depth: context.depth + 1,
            uniform: context.uniform && fixed,
            returns: context.returns && fixed,
            ..context
        };
        let mut then = self.arm(inside, work);
        let else_any = self.choices.chance(1, 4);
        let idle_else = else_any && shape != IfShape::Plain;
        let in_else = Context { returns: inside.returns && !idle_else, ..inside };
        let mut otherwise = self.choices.chance(1, 2).then(|| self.arm(in_else, work));
        if shape == IfShape::Usual {
            merge(self.choices, otherwise.as_mut().unwrap_or(&mut then));
        }
        let endif = match self.choices.weighted(&[4, 1, 1]) {
            0 => Endif::Never,
            1 => Endif::Always,
            _ => Endif::Either {
                table: self.choices.below(256) as u8,
                any: self.choices.chance(1, 2),
            },
        };
        let trims = [self.trim(), self.trim(), self.trim()];
        let form = IfForm { shape, else_any, endif, trims };
        list.push(Stmt::If(If { cond, then, otherwise, form }));
        self.room += kept;
    }

    /// Returns an arm of a branch, sometimes with a BREAK, CONTINUE or return at its end.
    fn arm(&mut self, context: Context, work: &mut u32) -> Vec<Stmt> {
        let mut list = self.block(context, work, 0);
        if context.leaves && self.choices.chance(2, 5) {
            let leave = Leave { when: None, any: self.choices.chance(1, 4), trim: self.trim() };
            let stmt =
                if self.choices.chance(1, 3) { Stmt::Continue(leave) } else { Stmt::Break(leave) };
            self.push(&mut list, stmt, work);
        }
        list
    }

    fn repeat(&mut self, list: &mut Vec<Stmt>, context: Context, work: &mut u32) {
        let kind = if self.choices.chance(1, 3) { LoopKind::Rep } else { LoopKind::Loop };
        let int = self.choices.below(INT_CONSTANTS as u32) as u8;
        let passes = u32::from(self.tree.int(int).kr());
        let each = *work / passes.max(1);
        if each < 12 {
            return;
        }
        let kept = self.keep_room();
        self.room = self.room.saturating_sub(2);
        let leaves = self.choices.chance(4, 5);
        let inside = Context {
            al: self.tree.al_range(kind, int, context.al),
            loops: context.loops + 1,
            depth: context.depth + 1,
            uniform: context.uniform && !leaves,
            leaves,
            returns: false,
            ..context
        };
        let mut left = each - 2;
        let mut body = Vec::new();
        if self.choices.chance(2, 3) {
            let stmt = self.count_up(inside);
            self.push(&mut body, stmt, &mut left);
        }
        if leaves && self.choices.chance(1, 2) {
            // Exits when the counter passes an input, so that pixels leave one after the other.
            let stmt = self.compare(inside);
            self.push(&mut body, stmt, &mut left);
            let when = Some(Cond::ALU_RESULT);
            let leave = Leave { when, any: self.choices.chance(1, 4), trim: self.trim() };
            self.push(&mut body, Stmt::Break(leave), &mut left);
        }
        body.append(&mut self.block(inside, &mut left, 0));
        *work = work.saturating_sub((each - left) * passes);
        let any = self.choices.chance(1, 2);
        let past_end = passes == 0 || self.choices.chance(1, 2);
        let end_any = !self.choices.chance(1, 4);
        let form = LoopForm { any, past_end, end_any, trims: [self.trim(), self.trim()] };
        list.push(Stmt::Loop(Loop { kind, int, body, form }));
        self.room += kept;
    }

    /// Reserves a quarter of the room, for the statements that follow.
    fn keep_room(&mut self) -> u32 {
        let kept = self.room / 4;
        self.room -= kept;
        kept
    }

    fn call(&mut self, list: &mut Vec<Stmt>, context: Context, work: &mut u32, first: usize) {
        let choices = (self.plans.len() - first) as u32;
        let n = first + self.choices.below(choices) as usize;
        let plan = self.plans[n];
        let deep = context.levels >= BRANCH_LEVELS || self.plans.len() > CALLS as usize;
        if *work < plan.work + 2 || deep || (plan.uniform && !context.uniform) {
            return;
        }
        let conditional = plan.counted && !plan.uniform && self.choices.chance(2, 3);
        let when = conditional.then(|| self.condition(list, context, work));
        let any = conditional || self.choices.chance(2, 3);
        let call = Call { sub: n as u8, when, any, trim: self.trim() };
        self.push(list, Stmt::Call(call), work);
        *work = work.saturating_sub(plan.work);
        let here = Context { levels: context.levels + u32::from(plan.counted), ..context };
        let callers =
            plan.callers.map_or(Context { uniform: plan.uniform, ..here }, |other| Context {
                al: (here.al.0.min(other.al.0), here.al.1.max(other.al.1)),
                levels: here.levels.max(other.levels),
                loops: here.loops.max(other.loops),
                ..other
            });
        self.plans[n].callers = Some(callers);
    }

    /// Returns an optional condition, and the instruction that sets it.
    fn when(&mut self, list: &mut Vec<Stmt>, context: Context, work: &mut u32) -> Option<Cond> {
        let conditional = !self.choices.chance(1, 8);
        conditional.then(|| self.condition(list, context, work))
    }

    /// Returns a condition, mostly preceded by an instruction that sets its input.
    fn condition(&mut self, list: &mut Vec<Stmt>, context: Context, work: &mut u32) -> Cond {
        let bit = self.choices.below(4) as u8;
        let pred = Pred { inv: self.choices.chance(1, 3), ..Pred::bit(bit) };
        let boolean = self.choices.below(32) as u8;
        let kind = self.choices.weighted(&[5, 4, 2, 3]);
        let cond = match kind {
            0 => Cond { boolean: 0, ..Cond::ALU_RESULT },
            1 => Cond::predicate(pred),
            2 => return self.static_condition(),
            _ => {
                let sel = self.choices.pick(pred.sel, &[PredSel::NONE, PredSel::RGBA]);
                let table = self.choices.below(256) as u8;
                Cond { table, pred: Pred { sel, ..pred }, boolean }
            }
        };
        if kind != 1 && self.choices.chance(11, 12) {
            let stmt = self.compare(context);
            self.push(list, stmt, work);
        }
        if kind != 0 && self.choices.chance(2, 3) {
            let stmt = self.set_predicate(context);
            self.push(list, stmt, work);
        }
        if self.choices.chance(1, 3) { cond.not() } else { cond }
    }

    /// Returns a condition that is uniform.
    fn static_condition(&mut self) -> Cond {
        let cond = Cond::boolean(self.choices.below(32) as u8);
        match self.choices.weighted(&[4, 4, 1]) {
            0 => cond,
            1 => cond.not(),
            // Table bits for predicate 0 have no effect: PRED_SEL NONE reads as 1.
            _ => Cond { table: 0x88 | (0x11 * self.choices.below(2) as u8), ..cond },
        }
    }

    pub(super) fn trim(&mut self) -> Trim {
        Trim {
            ignore_uncovered: self.ignores(),
            global: self.choices.chance(1, 6),
            hints: self.hints(true),
        }
    }
}

/// Sometimes lets the last statement share the ENDIF after it.
fn merge(choices: &mut impl Choices, arm: &mut [Stmt]) {
    if let Some(Stmt::If(last)) = arm.last_mut()
        && last.form.shape == IfShape::Usual
        && choices.chance(1, 2)
    {
        last.form.shape = IfShape::Merged;
    }
}
