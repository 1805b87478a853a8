//! Structurizer: IF, ELSE, ENDIF.

use r500_isa::values::{AddrOp, BranchOp, FcOp};

use super::recover::{Parsed, Parser, Scope, refuse};
use super::{Statement, UnstructuredReason as Reason};
use crate::graph::Role;
use r500_isa::BranchInfo;

/// The target of the jump of IF or ELSE.
#[derive(Clone, Copy)]
enum BranchExit {
    /// An ENDIF, reached with the levels that it closes still open.
    OntoEndIf(usize),
    /// The instruction after an ENDIF. The jump itself closes this number of levels; `None` if it
    /// is never taken.
    AfterEndIf(usize, Option<u8>),
}

impl BranchExit {
    fn endif(self) -> usize {
        match self {
            Self::OntoEndIf(at) | Self::AfterEndIf(at, _) => at,
        }
    }
}

impl Parser<'_> {
    /// Parses IF with its arms. Returns the statement, the next instruction, and the levels that
    /// remain to close there.
    pub(super) fn parse_if(
        &mut self,
        at: usize,
        to: usize,
        flow: &BranchInfo,
        scope: Scope,
    ) -> Parsed<(Statement, usize, u8)> {
        if flow.any || flow.b_else {
            return refuse(at, Reason::IfWithAnyOrElse);
        }
        let Some(target) = self.graph.window().index(flow.target).filter(|&target| target > at)
        else {
            return refuse(at, Reason::IfTarget);
        };
        let inner = Scope {
            levels: scope.levels.saturating_add(1),
            nested: true,
            convergent: scope.convergent && flow.uniform,
            ..scope
        };
        let opens = flow.b_op1 == BranchOp::INCR;
        let middle = if opens { self.else_before(at, target) } else { None };
        let (then, otherwise, out, last);
        match middle {
            Some(middle) => {
                let list = self.parse_list(at + 1, middle, inner)?;
                if list.pending != 0 {
                    return refuse(middle, Reason::ElseInsideOpenBranch);
                }
                then = list.statements;
                out = self.else_exit(middle, target)?;
                let end = self.endif_of(middle, target, to, out)?;
                // Without JUMP_ANY, ELSE falls into its arm even if no pixel takes it; all are
                // inactive there.
                let entered = self.graph.flows[middle].is_some_and(|flow| !flow.any);
                let arm = Scope { convergent: inner.convergent && entered, ..inner };
                last = self.parse_list(target, end, arm)?;
                otherwise = last.statements;
                // The branch's own level is open at ELSE.
                self.check_exit(middle, end, out, last.pending)?;
                self.assign_role(middle, Role::Else { after: end })?;
                self.assign_role(at, Role::If { other: target })?;
            }
            None => {
                out = match flow.levels_closed_by_jump() {
                    Some(levels) => {
                        BranchExit::AfterEndIf(target - 1, Some(levels.saturating_add(1)))
                    }
                    None if opens => BranchExit::OntoEndIf(target),
                    None => return refuse(at, Reason::ReservedBranchOp),
                };
                let end = self.endif_of(at, at + 1, to, out)?;
                last = self.parse_list(at + 1, end, inner)?;
                (then, otherwise) = (last.statements, Vec::new());
                self.check_exit(at, end, out, last.pending)?;
                self.assign_role(at, Role::If { other: end })?;
            }
        }
        let end = out.endif();
        let own = end < to;
        let (next, pending) = if own {
            if self.closes(end) != Some(last.pending.saturating_add(1)) {
                return refuse(end, Reason::EndIfLevels);
            }
            self.assign_role(end, Role::EndIf)?;
            (end + 1, 0)
        } else {
            (to, last.pending.saturating_add(1))
        };
        let (else_at, endif) = (middle, own.then_some(end));
        Ok((Statement::If { at, then, else_at, otherwise, endif }, next, pending))
    }

    /// Returns the exit of an ELSE whose second arm begins at `first`.
    fn else_exit(&self, at: usize, first: usize) -> Parsed<BranchExit> {
        let Some(flow) = self.graph.flows[at] else { return refuse(at, Reason::ElseExit) };
        let Some(target) = self.graph.window().index(flow.target).filter(|&target| target >= first)
        else {
            return refuse(at, Reason::ElseTarget);
        };
        let past_endif = target > first && self.closes(target - 1).is_some();
        match flow.levels_closed_by_jump() {
            Some(0) if flow.any && past_endif && self.closes(target).is_none() => {
                Ok(BranchExit::AfterEndIf(target - 1, None))
            }
            Some(0) => Ok(BranchExit::OntoEndIf(target)),
            Some(levels) if past_endif => {
                Ok(BranchExit::AfterEndIf(target - 1, (!flow.any).then_some(levels)))
            }
            _ => refuse(at, Reason::ElseExit),
        }
    }

    /// Returns the ENDIF to which, or past which, IF or ELSE jumps: the one in this list, or the
    /// one that ends it.
    fn endif_of(&self, at: usize, first: usize, to: usize, out: BranchExit) -> Parsed<usize> {
        let end = out.endif();
        let here = (first..=to).contains(&end);
        let ends = here && (end == to || self.closes(end).is_some());
        let past =
            matches!(out, BranchExit::AfterEndIf(end, _) if self.graph.window().end == Some(end));
        if !ends || past {
            return refuse(at, Reason::BranchExit);
        }
        Ok(end)
    }

    /// Checks the levels of a jump. A jump past ENDIF must close the levels that ENDIF closes,
    /// except those that are open in the last arm only. A jump to ENDIF closes none of these, so
    /// there must be none.
    fn check_exit(&self, at: usize, end: usize, out: BranchExit, pending: u8) -> Parsed<()> {
        let closed = match out {
            BranchExit::AfterEndIf(_, Some(closed)) => closed,
            BranchExit::AfterEndIf(_, None) => return Ok(()),
            BranchExit::OntoEndIf(_) if pending == 0 => return Ok(()),
            BranchExit::OntoEndIf(_) => return refuse(at, Reason::BranchLevels),
        };
        match self.closes(end) {
            Some(levels) if levels.saturating_sub(pending) == closed => Ok(()),
            _ => refuse(at, Reason::BranchLevels),
        }
    }

    /// Returns the levels that an ENDIF closes on each of its edges; `None` for other instructions.
    pub(super) fn closes(&self, at: usize) -> Option<u8> {
        let flow = self.graph.flows.get(at).copied().flatten()?;
        if flow.op != FcOp::JUMP || flow.a_op != AddrOp::NONE || flow.b_else {
            return None;
        }
        // With all pixels inactive, a vote of "all" passes and a vote of "any" fails.
        let jumps = flow.outcome.may_jump || !flow.any;
        let stays = flow.outcome.may_fall_through || flow.any;
        let leads = self.graph.window.index(flow.target) == Some(at + 1);
        let here = self.graph.window.end == Some(at);
        let sound = (!jumps || (flow.b_op1 == BranchOp::DECR && (leads || here)))
            && (!stays || flow.b_op0 == BranchOp::DECR);
        (sound && flow.pop != 0).then_some(flow.pop)
    }

    fn else_before(&self, at: usize, target: usize) -> Option<usize> {
        let middle = target.checked_sub(1).filter(|&middle| middle > at)?;
        let flow = self.graph.flows[middle]?;
        let fits = flow.op == FcOp::JUMP
            && flow.a_op == AddrOp::NONE
            && flow.b_else
            && flow.outcome.never()
            && flow.b_op0 == BranchOp::NONE;
        fits.then_some(middle)
    }
}
