//! Structurizer: a recursive-descent parser of loops, calls and plain jumps.

use r500_isa::values::{AddrOp, BranchOp, FcOp};

use super::{Statement, Unstructured, UnstructuredReason as Reason};
use crate::graph::{Graph, Role};
use r500_isa::BranchInfo;

/// The context of a statement.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) sub: Option<usize>,
    pub(super) enclosing_loop: Option<EnclosingLoop>,
    /// Branch levels opened since the loop, or the function, began.
    pub(super) levels: u8,
    /// Whether the list is not the outermost one of its function.
    pub(super) nested: bool,
    /// Whether all pixels that entered the function together are active together here.
    pub(super) convergent: bool,
}

#[derive(Clone, Copy)]
pub(super) struct EnclosingLoop {
    pub(super) end: usize,
    pub(super) rep: bool,
}

/// Statements, and the branch levels that the ENDIF after them must close for the last statement.
pub(super) struct StatementList {
    pub(super) statements: Vec<Statement>,
    pub(super) pending: u8,
    pub(super) returned: bool,
}

pub(super) struct Parser<'a> {
    pub(super) graph: &'a Graph,
    pub(super) trip_count: &'a dyn Fn(u8) -> Option<u8>,
    pub(super) roles: Vec<Option<Role>>,
    pub(super) subs: Vec<(usize, bool)>,
    pub(super) calls: Vec<(Option<usize>, usize)>,
}

pub(super) type Parsed<T> = Result<T, Unstructured>;

pub(super) fn refuse<T>(index: usize, reason: Reason) -> Parsed<T> {
    Err(Unstructured { index, reason })
}

impl Parser<'_> {
    /// Parses the statements from `from` to before `to`.
    pub(super) fn parse_list(
        &mut self,
        from: usize,
        to: usize,
        scope: Scope,
    ) -> Parsed<StatementList> {
        let mut list = StatementList { statements: Vec::new(), pending: 0, returned: false };
        let mut at = from;
        while at < to {
            list.pending = 0;
            if scope.sub.is_some() && self.graph.window.end == Some(at) {
                return refuse(at, Reason::EndsInSubroutine);
            }
            let Some(flow) = self.graph.flows[at] else {
                self.assign_role(at, Role::Straight)?;
                match list.statements.last_mut() {
                    Some(Statement::Straight { last, .. }) => *last = at,
                    _ => list.statements.push(Statement::Straight { first: at, last: at }),
                }
                at += 1;
                continue;
            };
            let (statement, next) = match flow.op {
                FcOp::JUMP => match flow.a_op {
                    AddrOp::NONE if self.is_idle(at, &flow) => {
                        self.assign_role(at, Role::Straight)?;
                        (Statement::Straight { first: at, last: at }, at + 1)
                    }
                    AddrOp::NONE if flow.b_op0 == BranchOp::INCR => {
                        let (statement, next, pending) = self.parse_if(at, to, &flow, scope)?;
                        list.pending = pending;
                        (statement, next)
                    }
                    AddrOp::NONE => self.parse_plain_jump(at, to, &flow, scope)?,
                    AddrOp::PUSH => self.parse_call(at, &flow, scope)?,
                    AddrOp::POP => {
                        let last = self.parse_return(at, &flow, scope)?;
                        if last && !scope.nested {
                            list.statements.push(Statement::Return(at));
                            list.returned = true;
                            return Ok(list);
                        }
                        (Statement::Return(at), at + 1)
                    }
                    _ => return refuse(at, Reason::ReservedAddrOp),
                },
                FcOp::LOOP | FcOp::REP => self.parse_loop(at, to, &flow, scope)?,
                FcOp::BREAKLOOP | FcOp::BREAKREP | FcOp::CONTINUE => {
                    self.parse_loop_exit(at, &flow, scope)?
                }
                _ => return refuse(at, Reason::UnmatchedLoopEnd),
            };
            list.statements.push(statement);
            at = next;
        }
        Ok(list)
    }

    /// Parses a forward jump that counts nothing and has a uniform condition.
    fn parse_plain_jump(
        &mut self,
        at: usize,
        to: usize,
        flow: &BranchInfo,
        scope: Scope,
    ) -> Parsed<(Statement, usize)> {
        if flow.b_else || flow.b_op0 != BranchOp::NONE || flow.levels_closed_by_jump() != Some(0) {
            return refuse(at, Reason::PlainJumpCounts);
        }
        if !flow.uniform {
            return refuse(at, Reason::DivergentJump);
        }
        let target = self.forward_target(at, to, flow)?;
        self.assign_role(at, Role::Skip { to: target })?;
        if flow.outcome.always() && !flow.any {
            return Ok((Statement::Skip { at, to: target }, target));
        }
        let inner = Scope { nested: true, ..scope };
        let last = target - 1;
        let over = self.graph.flows[last].filter(|word| {
            last > at
                && word.op == FcOp::JUMP
                && word.a_op == AddrOp::NONE
                && !word.b_else
                && word.outcome.always()
                && word.levels_closed_by_jump() == Some(0)
                && self.graph.window().index(word.target) > Some(target)
        });
        let Some(word) = over else {
            let then = self.parse_closed(at + 1, target, inner)?;
            let (over, otherwise) = (None, Vec::new());
            return Ok((Statement::UniformIf { at, then, over, otherwise }, target));
        };
        let join = self.forward_target(last, to, &word)?;
        let then = self.parse_closed(at + 1, last, inner)?;
        self.assign_role(last, Role::Skip { to: join })?;
        let otherwise = self.parse_closed(target, join, inner)?;
        Ok((Statement::UniformIf { at, then, over: Some(last), otherwise }, join))
    }

    fn parse_loop(
        &mut self,
        at: usize,
        to: usize,
        flow: &BranchInfo,
        scope: Scope,
    ) -> Parsed<(Statement, usize)> {
        if flow.b_else || flow.a_op != AddrOp::NONE || flow.b_op0 != BranchOp::NONE {
            return refuse(at, Reason::LoopCounts);
        }
        if !flow.outcome.never() || flow.levels_closed_by_jump() != Some(0) {
            return refuse(at, Reason::ConditionalLoop);
        }
        let target =
            self.graph.window.index(flow.target).filter(|&target| target > at && target <= to);
        let Some(target) = target else {
            return refuse(at, Reason::LoopTarget);
        };
        let ends = |index: usize| {
            self.graph.flows[index].is_some_and(|word| {
                word.is_loop_end() && self.graph.window.index(word.target) == Some(at + 1)
            })
        };
        let none = (self.trip_count)(flow.int) == Some(0);
        let end = if target - 1 > at && ends(target - 1) {
            target - 1
        } else if target < to && ends(target) && !none {
            target
        } else {
            return refuse(at, Reason::LoopEnd);
        };
        let Some(word) = self.graph.flows[end] else { return refuse(end, Reason::LoopEnd) };
        let rep = flow.op == FcOp::REP;
        let plain = !word.b_else
            && word.a_op == AddrOp::NONE
            && word.b_op0 == BranchOp::NONE
            && word.levels_closed_by_jump() == Some(0)
            && word.outcome.always();
        if !plain || rep != (word.op == FcOp::ENDREP) {
            return refuse(end, Reason::LoopEndForm);
        }
        if self.graph.window.end == Some(end) {
            return refuse(end, Reason::EndsInLoop);
        }
        let running = Some(EnclosingLoop { end, rep });
        let body = self.parse_closed(
            at + 1,
            end,
            Scope { enclosing_loop: running, levels: 0, nested: true, ..scope },
        )?;
        self.assign_role(at, Role::Loop { exit: end + 1 })?;
        self.assign_role(end, Role::EndLoop { body: at + 1 })?;
        Ok((Statement::Loop { at, body, end }, end + 1))
    }

    fn parse_loop_exit(
        &mut self,
        at: usize,
        flow: &BranchInfo,
        scope: Scope,
    ) -> Parsed<(Statement, usize)> {
        let Some(EnclosingLoop { end, rep }) = scope.enclosing_loop else {
            return refuse(at, Reason::ExitOutsideLoop);
        };
        if flow.b_else || flow.a_op != AddrOp::NONE || flow.b_op0 != BranchOp::NONE {
            return refuse(at, Reason::ExitCounts);
        }
        if flow.levels_closed_by_jump() != Some(scope.levels) {
            return refuse(at, Reason::ExitLevels);
        }
        let target = self.graph.window.index(flow.target);
        let (role, statement, wanted) = if flow.op == FcOp::CONTINUE {
            (Role::Continue { end }, Statement::Continue(at), end)
        } else {
            if rep != (flow.op == FcOp::BREAKREP) {
                return refuse(at, Reason::BreakKind);
            }
            (Role::Break { exit: end + 1 }, Statement::Break(at), end + 1)
        };
        if target != Some(wanted) {
            return refuse(at, Reason::ExitTarget);
        }
        self.assign_role(at, role)?;
        Ok((statement, at + 1))
    }

    fn parse_call(
        &mut self,
        at: usize,
        flow: &BranchInfo,
        scope: Scope,
    ) -> Parsed<(Statement, usize)> {
        let counted = flow.b_op1 == BranchOp::INCR;
        if flow.b_else || (!counted && flow.levels_closed_by_jump() != Some(0)) {
            return refuse(at, Reason::CallCloses);
        }
        if !flow.outcome.always() && flow.b_op0 != BranchOp::NONE {
            return refuse(at, Reason::CallCounts);
        }
        if !(flow.uniform || flow.any && counted) {
            return refuse(at, Reason::ConditionalCall);
        }
        let Some(entry) = self.graph.window.index(flow.target) else {
            return refuse(at, Reason::CallTarget);
        };
        let known = self.subs.iter().position(|sub| sub.0 == entry);
        let sub = known.unwrap_or_else(|| {
            self.subs.push((entry, counted));
            self.subs.len() - 1
        });
        if self.subs[sub].1 != counted {
            return refuse(at, Reason::MixedCalls);
        }
        self.calls.push((scope.sub, sub));
        self.assign_role(at, Role::Call { sub })?;
        Ok((Statement::Call { at, sub }, at + 1))
    }

    /// Parses RETURN. Returns whether it is unconditional.
    fn parse_return(&mut self, at: usize, flow: &BranchInfo, scope: Scope) -> Parsed<bool> {
        let Some(sub) = scope.sub else { return refuse(at, Reason::ReturnOutsideSubroutine) };
        if scope.enclosing_loop.is_some() || !scope.convergent {
            return refuse(at, Reason::ReturnInDivergentCode);
        }
        let open = scope.levels.saturating_add(u8::from(self.subs[sub].1));
        if flow.b_else || flow.levels_closed_by_jump() != Some(open) {
            return refuse(at, Reason::ReturnLevels);
        }
        let always = flow.outcome.always() && !flow.any;
        if !always && (!flow.uniform || flow.b_op0 != BranchOp::NONE) {
            return refuse(at, Reason::DivergentReturn);
        }
        self.assign_role(at, Role::Return { sub })?;
        Ok(always)
    }

    /// Parses a list that leaves no levels to close.
    fn parse_closed(&mut self, from: usize, to: usize, scope: Scope) -> Parsed<Vec<Statement>> {
        let list = self.parse_list(from, to, scope)?;
        if list.pending != 0 {
            return refuse(to, Reason::NoEndIf);
        }
        Ok(list.statements)
    }

    pub(super) fn assign_role(&mut self, at: usize, role: Role) -> Parsed<()> {
        match &mut self.roles[at] {
            Some(_) => refuse(at, Reason::OverlappingStatements),
            empty => {
                *empty = Some(role);
                Ok(())
            }
        }
    }

    /// Returns the target of a jump that must lead forward, neither past `to` nor past the end of
    /// the program.
    fn forward_target(&self, at: usize, to: usize, flow: &BranchInfo) -> Parsed<usize> {
        let target = self.graph.window.index(flow.target);
        let target = target.filter(|&target| target > at && target <= to);
        match target.filter(|target| self.graph.window.end != target.checked_sub(1)) {
            Some(target) => Ok(target),
            None => refuse(at, Reason::JumpTarget),
        }
    }

    /// Returns whether a jump has no effect, taken or not.
    fn is_idle(&self, at: usize, flow: &BranchInfo) -> bool {
        let counts = |op: BranchOp| op == BranchOp::INCR || (op == BranchOp::DECR && flow.pop != 0);
        let never = flow.outcome.never() && flow.any;
        let next = self.graph.window.index(flow.target) == Some(at + 1);
        !flow.b_else && (never || next) && !(counts(flow.b_op0) || (counts(flow.b_op1) && !never))
    }

    pub(super) fn refuse_recursion(&self) -> Parsed<()> {
        // The call height of a subroutine: one more than the heights of its callees.
        let mut height = vec![0usize; self.subs.len()];
        for _ in 0..=self.subs.len() {
            let mut grown = false;
            for &(from, to) in &self.calls {
                if let Some(from) = from
                    && height[from] <= height[to]
                {
                    height[from] = height[to] + 1;
                    grown = true;
                }
            }
            if !grown {
                return Ok(());
            }
        }
        refuse(self.subs.first().map_or(0, |sub| sub.0), Reason::Recursion)
    }
}
