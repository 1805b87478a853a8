//! Lints about control flow: code window, stacks, branch levels, loops, unreachable code, infinite
//! loops.

use r500_isa::values::{AddrOp, BranchOp, FcOp, InstType};
use r500_isa::words::{FcAddr, FcInst};

use super::Checker;
use crate::LintCode;
use crate::graph::{AbstractState, EdgeKind, Node, Role, Trap, UnstructuredReason};
use crate::lint::{Edit, Fix};
use r500_isa::BranchInfo;
use r500_isa::limits::{BRANCH_LEVELS, CALL_LEVELS, LOOP_LEVELS, PARTIAL_BRANCH_LEVELS};

impl Checker<'_> {
    pub(super) fn check_flow(&mut self) {
        for index in self.reached() {
            let Some(&visit) = self.graph.abstract_state(index) else { continue };
            if !visit.traps.is_empty() {
                self.check_traps(index, &visit);
            }
            if let Some((a, b)) = visit.unbalanced {
                let place = self.at(index);
                let message = format!(
                    "some paths reach this instruction with {a} branch levels open, some with {b}"
                );
                self.add(LintCode::Unbalanced, place, message);
            }
            if let Some(flow) = self.graph.flows[index] {
                self.check_jump(index, &flow, &visit);
            }
            if self.graph.infos[index].reads_quad {
                let apart = match self.recovered() {
                    Some(structure) => structure.divergent[index],
                    None => visit.levels.max > 0,
                };
                if apart {
                    let place = self.at(index);
                    let message = "pixels of the quad may be inactive here".to_owned();
                    self.add(LintCode::DivergentQuad, place, message);
                }
            }
        }
        if !self.graph.gave_up() {
            self.check_ends();
            self.check_unreachable();
        }
        if let Some(Err(unstructured)) = self.structure {
            let place = self.at(unstructured.index);
            if unstructured.reason == UnstructuredReason::ReturnInDivergentCode {
                let message =
                    "this RETURN also returns for pixels that are inactive here".to_owned();
                self.add(LintCode::DivergentReturn, place, message);
            }
            self.add(LintCode::Unstructured, place, unstructured.reason.to_string());
        }
    }

    fn check_traps(&mut self, index: usize, visit: &AbstractState) {
        let address = |place: u32| format!("address {place}");
        let target = self.graph.flows[index].map_or(0, |flow| flow.target);
        let next = self.graph.window().address(index + 1);
        let levels = if self.program.full_fc { BRANCH_LEVELS } else { PARTIAL_BRANCH_LEVELS };
        let mut add = |trap: Trap, code: LintCode, place, message: String| {
            if visit.traps.has(trap) {
                self.add(code, place, message);
            }
        };
        let here = crate::lint::Location::Instruction {
            index,
            address: next.saturating_sub(1),
            field: None,
        };
        let field = |word: u8, field| crate::lint::Location::Instruction {
            index,
            address: next.saturating_sub(1),
            field: Some((word, field)),
        };
        add(
            Trap::RunsOut,
            LintCode::RunsOut,
            here,
            format!("continues at {}, which cannot run", address(next)),
        );
        let jump_addr = field(3, FcAddr::JUMP_ADDR.describe());
        add(
            Trap::JumpsOut,
            LintCode::JumpsOut,
            jump_addr,
            format!("jumps to {}, which cannot run", address(target)),
        );
        add(
            Trap::BranchOverflow,
            LintCode::BranchOverflow,
            here,
            format!("opens a branch level where {levels}, all there are, may be open"),
        );
        add(
            Trap::LoopOverflow,
            LintCode::LoopOverflow,
            here,
            format!("begins a loop where {LOOP_LEVELS}, all there can be, may be running"),
        );
        let op = field(2, FcInst::OP.describe());
        add(Trap::LoopUnderflow, LintCode::LoopUnderflow, op, "no loop may be running here".into());
        let a_op = field(2, FcInst::A_OP.describe());
        add(
            Trap::CallOverflow,
            LintCode::CallOverflow,
            a_op,
            format!("calls where {CALL_LEVELS} calls, all there can be, may be open"),
        );
        add(Trap::CallUnderflow, LintCode::CallUnderflow, a_op, "no call may be open here".into());
        add(Trap::ReservedAddrOp, LintCode::ReservedAddrOp, a_op, "A_OP 3 is reserved".into());
        let b_op0 = field(2, FcInst::B_OP0.describe());
        add(
            Trap::ReservedBranchOp0,
            LintCode::ReservedBranchOp,
            b_op0,
            "B_OP0 3 is reserved".into(),
        );
        let b_op1 = field(2, FcInst::B_OP1.describe());
        add(
            Trap::ReservedBranchOp1,
            LintCode::ReservedBranchOp,
            b_op1,
            "B_OP1 3 is reserved".into(),
        );
        let b_else = field(2, FcInst::B_ELSE.describe());
        add(
            Trap::ElseWithoutLevel,
            LintCode::ElseWithoutIf,
            b_else,
            "no branch level may be open here".into(),
        );
        add(
            Trap::EndsInBranch,
            LintCode::EndsInBranch,
            here,
            "branch levels are open at the end".into(),
        );
        add(
            Trap::EndsInLoop,
            LintCode::EndsInLoop,
            here,
            "a loop may be running at the end".into(),
        );
    }

    fn check_jump(&mut self, index: usize, flow: &BranchInfo, visit: &AbstractState) {
        if let Some(levels) = visit.should_close {
            let op = if levels == 0 { BranchOp::NONE } else { BranchOp::DECR };
            let edits = vec![
                Edit::word(index, 2, FcInst::B_OP1, op),
                Edit::word(index, 2, FcInst::B_POP_CNT, levels),
            ];
            let text = format!("close {levels} levels when jumping");
            let place = self.field(index, 2, FcInst::B_POP_CNT);
            let message = format!(
                "{levels} levels are open in the loop, and a taken jump closes a different number"
            );
            self.add_fixed(LintCode::BreakDepth, place, message, Fix { text, safe: false, edits });
        }
        if flow.is_loop_begin() {
            self.check_loop(index, flow);
        }
        if flow.op == FcOp::JUMP {
            self.check_endless(index, flow);
        }
    }

    fn check_loop(&mut self, index: usize, flow: &BranchInfo) {
        let constant = self.graph.int_constant(flow.int);
        let target = self.graph.window().index(flow.target);
        let onto_end = target
            .and_then(|target| self.graph.flows[target])
            .is_some_and(|word| word.is_loop_end());
        let some_pass = constant.is_none_or(|constant| constant.kr() != 0);
        if !flow.any && onto_end && some_pass {
            let address = self.program.code[index].fc_addr().jump_addr();
            let mut edits = vec![Edit::word(index, 2, FcInst::JUMP_ANY, true)];
            if address < 511 {
                edits.push(Edit::word(index, 3, FcAddr::JUMP_ADDR, address + 1));
            }
            let text =
                "set JUMP_ANY and jump to the instruction after the end of the loop".to_owned();
            let place = self.field(index, 2, FcInst::JUMP_ANY);
            let message = format!("{:?} without JUMP_ANY jumps to the end of a loop", flow.op);
            self.add_fixed(LintCode::LoopHazard, place, message, Fix { text, safe: false, edits });
        }
        let Some(structure) = self.recovered() else { return };
        let Some(Role::Loop { exit }) = structure.roles[index] else { return };
        let left = structure.roles.iter().flatten().any(|role| *role == Role::Break { exit });
        if left && constant.is_some_and(|constant| constant.kr() == 255) {
            let place = self.field(index, 3, FcAddr::INT_ADDR);
            let message = "the loop is left by BREAK, or silently after 255 iterations".to_owned();
            self.add(LintCode::SilentLimit, place, message);
        }
    }

    /// Reports a backward jump over instructions that do not change its condition.
    fn check_endless(&mut self, index: usize, flow: &BranchInfo) {
        let Some(target) = self.graph.window().index(flow.target).filter(|&t| t <= index) else {
            return;
        };
        let ends = self.graph.window().end.is_some_and(|end| (target..=index).contains(&end));
        let plain = flow.a_op == AddrOp::NONE && !flow.b_else;
        if ends || !plain || flow.outcome.never() {
            return;
        }
        let own = self.graph.infos[index];
        let changed = self.graph.infos[target..index].iter().enumerate().any(|(n, step)| {
            self.graph.flows[target + n].is_some()
                || (own.alu_result_read && step.alu_result_write)
                || own.predicate_reads & step.predicate_writes != 0
                // A killed pixel may lose its vote.
                || (flow.ignore_uncovered && step.ty == InstType::TEX)
        });
        let back = self.graph.edges_from(index).iter().any(|edge| edge.kind == EdgeKind::Jump);
        if !changed && back {
            let place = self.field(index, 3, FcAddr::JUMP_ADDR);
            let message = format!(
                "no instruction from address {} on changes the condition of this backward jump",
                flow.target
            );
            self.add(LintCode::EndlessJump, place, message);
        }
    }

    /// Reports instructions from which the end is unreachable.
    fn check_ends(&mut self) {
        let mut ends = vec![false; self.graph.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for edge in self.graph.edges().iter().rev() {
                let leads = match edge.to {
                    Node::Instruction(to) => ends[to],
                    Node::End | Node::Outside(_) => true,
                };
                if leads && !std::mem::replace(&mut ends[edge.from], true) {
                    changed = true;
                }
            }
        }
        if let Some(index) = self.reached().find(|&index| !ends[index]) {
            let place = self.at(index);
            self.add(LintCode::NeverEnds, place, "no path leads from here to the end".into());
        }
    }

    fn check_unreachable(&mut self) {
        let window = self.graph.window();
        let mut index = window.first;
        while index <= window.last {
            let first = index;
            while index <= window.last && !self.graph.reaches(index) {
                index += 1;
            }
            if index > first {
                let place = self.at(first);
                let message = match index - first {
                    1 => "this instruction is never reached".to_owned(),
                    n => format!("{n} instructions from here on are never reached"),
                };
                self.add(LintCode::Unreachable, place, message);
            }
            index += 1;
        }
    }
}
