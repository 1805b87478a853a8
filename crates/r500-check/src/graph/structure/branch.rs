//! Branches: IF, ELSE, ENDIF.

use r500_isa::values::{AddrOp, BranchOp, FcOp};

use super::recover::{Parsed, Parser, Scope, refuse};
use super::{Statement, UnstructuredReason as Reason};
use crate::graph::Role;
use r500_isa::BranchInfo;

/// How the jump of IF or ELSE leaves a branch.
#[derive(Clone, Copy)]
enum BranchExit {
    /// Onto an ENDIF, with the levels open that it closes.
    OntoEndIf(usize),
    /// Behind an ENDIF, having closed so many levels itself; `None` where nobody ever jumps.
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
    /// IF with its arms; what follows it, and the levels that are still to close there.
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
                // An ELSE that does not jump where nobody wants its arm leads the group into it all
                // the same, while all sleep.
                let entered = self.graph.flows[middle].is_some_and(|flow| !flow.any);
                let arm = Scope { convergent: inner.convergent && entered, ..inner };
                last = self.parse_list(target, end, arm)?;
                otherwise = last.statements;
                // ELSE stands where the branch's own level is open.
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

    /// How an ELSE leads on; its second arm begins at `first`.
    fn else_exit(&self, at: usize, first: usize) -> Parsed<BranchExit> {
        let Some(flow) = self.graph.flows[at] else { return refuse(at, Reason::ElseExit) };
        let Some(target) = self.graph.window().index(flow.target).filter(|&target| target >= first)
        else {
            return refuse(at, Reason::ElseTarget);
        };
        let behind = target > first && self.closes(target - 1).is_some();
        match flow.levels_closed_by_jump() {
            Some(0) if flow.any && behind && self.closes(target).is_none() => {
                Ok(BranchExit::AfterEndIf(target - 1, None))
            }
            Some(0) => Ok(BranchExit::OntoEndIf(target)),
            Some(levels) if behind => {
                Ok(BranchExit::AfterEndIf(target - 1, (!flow.any).then_some(levels)))
            }
            _ => refuse(at, Reason::ElseExit),
        }
    }

    /// The ENDIF that IF or ELSE leads to or behind: in this list, or the one that ends it.
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

    /// Whoever jumps behind ENDIF must have closed what it closes, but for the levels that are only
    /// open in the last arm.
    fn check_exit(&self, at: usize, end: usize, out: BranchExit, pending: u8) -> Parsed<()> {
        let BranchExit::AfterEndIf(_, Some(closed)) = out else { return Ok(()) };
        match self.closes(end) {
            Some(levels) if levels.saturating_sub(pending) == closed => Ok(()),
            _ => refuse(at, Reason::BranchLevels),
        }
    }

    /// Levels that an ENDIF closes on every way that it can go; `None` for other instructions.
    pub(super) fn closes(&self, at: usize) -> Option<u8> {
        let flow = self.graph.flows.get(at).copied().flatten()?;
        if flow.op != FcOp::JUMP || flow.a_op != AddrOp::NONE || flow.b_else {
            return None;
        }
        // Where all sleep, "all" jumps and "any" does not.
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
