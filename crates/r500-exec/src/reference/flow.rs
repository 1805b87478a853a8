//! Flow control: the state machine of branches, loops and calls.
//!
//! The pixels of a group share a program counter; a pixel that does not follow it is inactive. A branch
//! deactivates a pixel with a counter of the levels that must close to reactivate it; a break or continue with
//! the number of running loops nested in the loop that it left or waits in. Pixels deactivated by a loop take
//! no part in branches: they were branch-active before, and the branch levels opened and closed until their
//! reactivation are balanced.

use r500_isa::JumpInput;
use r500_isa::limits::{BRANCH_LEVELS, CALL_LEVELS, LOOP_LEVELS, PARTIAL_BRANCH_LEVELS};
use r500_isa::values::{AddrOp, BranchOp, FcOp, PredSel};
use r500_isa::words::FcInst;

use super::event::{EventKind, Jump};
use super::group::{Group, saturate};
use super::lane::LaneState;
use super::state::LoopFrame;
use crate::reading::{
    AOp3, AluResultAfterFc, BOp3, BreakRule, FcPredNone, FcPredRgba, IdleLoop, StackLimits,
};
use crate::shader::{Fc, Op, Predicate};
use crate::warning::WarningKind;

/// The votes of a group on a jump.
struct Vote {
    /// Whether the jump function of each lane is true, voter or not.
    jumps: Vec<bool>,
    /// Which lanes vote: active, and covered or `IGNORE_UNCOVERED` clear.
    voters: Vec<bool>,
}

impl Group<'_> {
    /// Executes a flow-control instruction.
    pub(super) fn flow(&mut self, address: u32, fc: &Fc) {
        let inst = fc.inst;
        self.check_flow(address, fc);
        if inst.b_else() {
            self.invert_branch();
        }
        let op = inst.op();
        let ends_iteration = matches!(op, FcOp::ENDLOOP | FcOp::ENDREP);
        if ends_iteration {
            self.reactivate_continuing();
        }
        let vote = self.vote(address, fc);
        let mut jump = vote.decide(inst.jump_any());
        match op {
            FcOp::LOOP | FcOp::REP => jump = self.begin_loop(address, fc, &vote, jump),
            FcOp::ENDLOOP | FcOp::ENDREP => jump = self.end_iteration(address, fc, jump),
            FcOp::BREAKLOOP | FcOp::BREAKREP => {
                jump = self.break_loop(address, inst, &vote, jump);
            }
            FcOp::CONTINUE => jump = self.continue_loop(address, inst, &vote, jump),
            _ => {}
        }
        let branch_op = if jump { inst.b_op1() } else { inst.b_op0() };
        self.branch(address, inst, branch_op, &vote, jump);
        if jump {
            self.jump(address, fc, vote.is_empty());
        }
        if self.draw.options.readings.alu_result_after_fc == AluResultAfterFc::Clear {
            self.state.lanes.iter_mut().for_each(|lane| lane.alu_result = false);
        }
        self.emit_event(&vote, jump);
    }

    /// B_ELSE (documented): exchanges active pixels and those with branch counter zero. Other counters are
    /// unchanged (observed).
    fn invert_branch(&mut self) {
        for lane in &mut self.state.lanes {
            lane.state = match lane.state {
                LaneState::Active => LaneState::Branch(0),
                LaneState::Branch(0) => LaneState::Active,
                other => other,
            };
        }
    }

    /// Reactivates, at the end of an iteration, the pixels that continued; before the vote (derived).
    fn reactivate_continuing(&mut self) {
        let flat = self.draw.options.readings.break_rule == BreakRule::Flat;
        for lane in &mut self.state.lanes {
            if let LaneState::Continue(n) = lane.state
                && (n == 0 || flat)
            {
                lane.state = LaneState::Active;
            }
        }
    }

    /// Evaluates JUMP_FUNC for each lane (documented): bit 4*alu_result + 2*predicate + boolean.
    fn vote(&mut self, address: u32, fc: &Fc) -> Vote {
        let inst = fc.inst;
        let number = u32::from(fc.addr.bool_addr());
        let bools = self.draw.bindings.bool_constants();
        let boolean = bools.is_some_and(|bools| bools.kbool() >> number & 1 != 0);
        let lanes = self.state.lanes.len();
        let mut vote = Vote { jumps: Vec::with_capacity(lanes), voters: Vec::with_capacity(lanes) };
        for lane in &self.state.lanes {
            let predicate = self.flow_predicate(fc.pred(), lane.predicate);
            let index =
                u8::from(lane.alu_result) << 2 | u8::from(predicate) << 1 | u8::from(boolean);
            vote.jumps.push(inst.jump_func() >> index & 1 != 0);
            let votes = self.votes(lane, inst.ignore_uncovered());
            vote.voters.push(votes && self.executes(lane));
        }
        if self.draw.options.warnings && bools.is_none() && inst.depends_on(JumpInput::Boolean) {
            self.warn_group(WarningKind::NoBoolConstant, address, 0);
        }
        vote
    }

    /// Returns the predicate of a flow-control instruction, from RGB_PRED_SEL and RGB_PRED_INV (documented,
    /// ctm). NONE reads as 1, inverted as 0 (open).
    fn flow_predicate(&self, pred: Predicate, bits: u8) -> bool {
        let readings = &self.draw.options.readings;
        let bit = |n: u8| bits >> n & 1 != 0;
        let selected = match pred.sel {
            PredSel::RGBA => bit(if readings.fc_pred_rgba == FcPredRgba::Red { 0 } else { 3 }),
            PredSel::RRRR => bit(0),
            PredSel::GGGG => bit(1),
            PredSel::BBBB => bit(2),
            PredSel::AAAA => bit(3),
            _ => readings.fc_pred_none == FcPredNone::One,
        };
        selected != pred.inv
    }

    /// LOOP, REP: starts a loop of KR iterations; 0 skips it (documented). Pushes only if it does not jump
    /// (documented, ctm). Returns whether it jumps.
    fn begin_loop(&mut self, address: u32, fc: &Fc, vote: &Vote, voted: bool) -> bool {
        let mut jump = voted;
        // Observed: by the literal rule, a LOOP without voters would jump without a push.
        let idle = !fc.inst.jump_any() && vote.is_empty();
        if idle && self.draw.options.readings.idle_loop == IdleLoop::Stay {
            jump = false;
        }
        let constant = self.int_constant(address, fc);
        if constant.kr() == 0 {
            jump = true;
        }
        if jump {
            return true;
        }
        if self.state.loops.len() >= LOOP_LEVELS && self.bounded() {
            self.warn_group(WarningKind::LoopOverflow, address, saturate(LOOP_LEVELS));
            return false;
        }
        // REP keeps aL (documented).
        let al = if fc.inst.op() == FcOp::LOOP { i32::from(constant.kg()) } else { self.al() };
        let entered = self.state.lanes.iter().map(|lane| self.executes(lane)).collect();
        self.state.loops.push(LoopFrame { count: u32::from(constant.kr()), al, entered });
        for lane in &mut self.state.lanes {
            lane.state = match lane.state {
                LaneState::Break(n) => LaneState::Break(n.saturating_add(1)),
                LaneState::Continue(n) => LaneState::Continue(n.saturating_add(1)),
                other => other,
            };
        }
        false
    }

    /// ENDLOOP, ENDREP: starts the next iteration or leaves the loop (documented). ENDREP keeps aL. Returns
    /// whether it jumps.
    fn end_iteration(&mut self, address: u32, fc: &Fc, voted: bool) -> bool {
        let step = if fc.inst.op() == FcOp::ENDLOOP {
            i32::from(self.int_constant(address, fc).kb())
        } else {
            0
        };
        let Some(frame) = self.state.loops.last_mut() else {
            self.warn_group(WarningKind::LoopUnderflow, address, 0);
            return voted;
        };
        frame.count = frame.count.saturating_sub(1);
        let jump = voted && frame.count != 0;
        if jump {
            frame.al = frame.al.saturating_add(step);
        } else {
            self.pop_loop();
        }
        jump
    }

    /// BREAKLOOP, BREAKREP: deactivates the lanes whose jump function is true; the group jumps when none of
    /// the lanes that entered the loop remains in it, and then pops it (ctm: "pop loop stack if jump";
    /// observed).
    fn break_loop(&mut self, address: u32, inst: FcInst, vote: &Vote, voted: bool) -> bool {
        let rule = self.draw.options.readings.break_rule;
        let jump = if rule == BreakRule::Literal && voted {
            true
        } else {
            self.deactivate(vote, LaneState::Break(0));
            self.may_leave(address, inst, voted, |state| {
                matches!(state, LaneState::Active | LaneState::Branch(_) | LaneState::Continue(0))
            })
        };
        if jump {
            self.pop_loop();
        }
        jump
    }

    /// CONTINUE: deactivates the lanes whose jump function is true until the end of the iteration; the group
    /// jumps there when none of the lanes that entered the loop remains in the iteration.
    fn continue_loop(&mut self, address: u32, inst: FcInst, vote: &Vote, voted: bool) -> bool {
        if self.draw.options.readings.break_rule == BreakRule::Literal && voted {
            return true;
        }
        self.deactivate(vote, LaneState::Continue(0));
        self.may_leave(address, inst, voted, |state| {
            matches!(state, LaneState::Active | LaneState::Branch(_))
        })
    }

    /// Returns whether a break or continue takes its jump. `voted` is the result of the vote; `remains`
    /// returns whether a lane in a state remains in the loop.
    fn may_leave(
        &mut self,
        address: u32,
        inst: FcInst,
        voted: bool,
        remains: impl Fn(LaneState) -> bool,
    ) -> bool {
        let Some(frame) = self.state.loops.last() else {
            self.warn_group(WarningKind::LoopUnderflow, address, 0);
            return voted;
        };
        let ignore = inst.ignore_uncovered();
        let voters = || {
            let lanes = self.state.lanes.iter().zip(&frame.entered);
            lanes.filter(|(lane, entered)| **entered && self.votes(lane, ignore))
        };
        match self.draw.options.readings.break_rule {
            BreakRule::Mask | BreakRule::Flat => {
                voted && !voters().any(|(lane, _)| remains(lane.state))
            }
            BreakRule::PopCnt => {
                let decrement = match inst.b_op1() {
                    BranchOp::DECR => u32::from(inst.b_pop_cnt()),
                    _ => 0,
                };
                let held = |state| match state {
                    LaneState::Branch(n) => n < decrement,
                    other => remains(other),
                };
                voted && !voters().any(|(lane, _)| held(lane.state))
            }
            BreakRule::Never => false,
            BreakRule::Literal => voted,
        }
    }

    fn deactivate(&mut self, vote: &Vote, state: LaneState) {
        for i in 0..self.state.lanes.len() {
            if vote.jumps[i] && self.executes(&self.state.lanes[i]) {
                self.state.lanes[i].state = state;
            }
        }
    }

    /// Pops the innermost loop: reactivates the lanes that left it, decrements the counts of those that left
    /// an outer one.
    fn pop_loop(&mut self) {
        let Some(frame) = self.state.loops.pop() else { return };
        self.state.last_al = frame.al;
        let flat = self.draw.options.readings.break_rule == BreakRule::Flat;
        for lane in &mut self.state.lanes {
            lane.state = match lane.state {
                LaneState::Break(_) | LaneState::Continue(_) if flat => LaneState::Active,
                LaneState::Break(0) | LaneState::Continue(0) => LaneState::Active,
                LaneState::Break(n) => LaneState::Break(n - 1),
                LaneState::Continue(n) => LaneState::Continue(n - 1),
                other => other,
            };
        }
    }

    /// Applies B_OP0 or B_OP1 (documented).
    fn branch(&mut self, address: u32, inst: FcInst, op: BranchOp, vote: &Vote, jump: bool) {
        let readings = &self.draw.options.readings;
        match op {
            BranchOp::NONE => {}
            BranchOp::DECR => self.decrement(u32::from(inst.b_pop_cnt())),
            BranchOp::INCR => self.increment(address, vote, jump),
            _ => {
                let as_increment = readings.b_op_3 == BOp3::Incr;
                self.warn_group(WarningKind::ReservedBranchOp, address, i32::from(op.code()));
                if as_increment {
                    self.increment(address, vote, jump);
                }
            }
        }
    }

    /// DECR: subtracts B_POP_CNT from the branch counters; a pixel whose counter falls below zero becomes
    /// active.
    fn decrement(&mut self, amount: u32) {
        for lane in &mut self.state.lanes {
            if let LaneState::Branch(n) = lane.state {
                lane.state = n.checked_sub(amount).map_or(LaneState::Active, LaneState::Branch);
            }
        }
    }

    /// INCR: increments the branch counters; active pixels that voted against the group's decision become
    /// inactive with counter zero.
    fn increment(&mut self, address: u32, vote: &Vote, jump: bool) {
        let levels = if self.draw.shader.full_fc() { BRANCH_LEVELS } else { PARTIAL_BRANCH_LEVELS };
        let levels = u32::from(levels);
        let bounded = self.bounded();
        for i in 0..self.state.lanes.len() {
            let executes = self.executes(&self.state.lanes[i]);
            match self.state.lanes[i].state {
                LaneState::Branch(n) if bounded && n + 1 >= levels => {
                    self.warn(i, WarningKind::BranchOverflow, address, saturate(levels));
                }
                LaneState::Branch(n) => {
                    self.state.lanes[i].state = LaneState::Branch(n.saturating_add(1))
                }
                LaneState::Active if executes && vote.jumps[i] != jump => {
                    self.state.lanes[i].state = LaneState::Branch(0);
                }
                _ => {}
            }
        }
    }

    /// Takes a jump: A_OP on the address stack, then to the target (documented). PUSH stores the address after
    /// this instruction (derived: otherwise a return would repeat the call).
    fn jump(&mut self, address: u32, fc: &Fc, idle: bool) {
        let next = self.state.pc;
        let mut target = self.jump_target(fc);
        let op = fc.inst.op();
        let behind = self.draw.options.readings.idle_loop == IdleLoop::Behind;
        let begins = matches!(op, FcOp::LOOP | FcOp::REP) && !fc.inst.jump_any();
        if begins && idle && behind && self.ends_iteration(target) {
            target = target.wrapping_add(1);
        }
        match fc.inst.a_op() {
            AddrOp::NONE => self.state.pc = target,
            AddrOp::POP => self.state.pc = self.pop_call(address, next),
            AddrOp::PUSH => {
                self.push_call(address, next);
                self.state.pc = target;
            }
            op => {
                self.warn_group(WarningKind::ReservedAddrOp, address, i32::from(op.code()));
                self.state.pc = match self.draw.options.readings.a_op_3 {
                    AOp3::None => target,
                    AOp3::PopPush => {
                        let popped = self.pop_call(address, next);
                        self.push_call(address, next);
                        popped
                    }
                };
            }
        }
    }

    /// Returns JUMP_ADDR, relative to US_CODE_OFFSET unless JUMP_GLOBAL (documented).
    fn jump_target(&self, fc: &Fc) -> u32 {
        let offset = if fc.addr.jump_global() { 0 } else { self.draw.shader.offset() };
        u32::from(fc.addr.jump_addr()).wrapping_add(offset)
    }

    fn pop_call(&mut self, address: u32, next: u32) -> u32 {
        self.state.calls.pop().unwrap_or_else(|| {
            self.warn_group(WarningKind::CallUnderflow, address, 0);
            next
        })
    }

    fn push_call(&mut self, address: u32, next: u32) {
        if self.state.calls.len() >= CALL_LEVELS && self.bounded() {
            self.warn_group(WarningKind::CallOverflow, address, saturate(CALL_LEVELS));
        } else {
            self.state.calls.push(next);
        }
    }

    fn ends_iteration(&self, address: u32) -> bool {
        matches!(self.draw.shader.op(address),
            Some(Op::Fc(fc)) if matches!(fc.inst.op(), FcOp::ENDLOOP | FcOp::ENDREP))
    }

    fn bounded(&self) -> bool {
        self.draw.options.readings.stack_limits == StackLimits::Bounded
    }

    fn int_constant(&mut self, address: u32, fc: &Fc) -> r500_isa::state::UsFcIntConst {
        let number = usize::from(fc.addr.int_addr());
        self.draw.bindings.int_constant(number).unwrap_or_else(|| {
            self.warn_group(WarningKind::NoIntConstant, address, saturate(number));
            r500_isa::state::UsFcIntConst::default()
        })
    }

    fn check_flow(&mut self, address: u32, fc: &Fc) {
        if !self.draw.options.warnings {
            return;
        }
        let inst = fc.inst;
        let full = self.draw.shader.full_fc();
        let needs_full = inst.op() != FcOp::JUMP || inst.a_op() != AddrOp::NONE;
        if needs_full && !full {
            self.warn_group(WarningKind::PartialFlowControl, address, 0);
        }
        let predicate = inst.depends_on(JumpInput::Predicate);
        if predicate && fc.pred().sel == PredSel::RGBA {
            self.warn_group(WarningKind::FcPredicateRgba, address, 0);
        }
        for lane in 0..self.state.lanes.len() {
            if !self.executes(&self.state.lanes[lane]) {
                continue;
            }
            if predicate {
                self.check_predicate(lane, address, fc.pred(), 1);
            }
            if inst.depends_on(JumpInput::AluResult) && !self.state.lanes[lane].alu_result_set {
                self.warn(lane, WarningKind::AluResultNotSet, address, 0);
            }
        }
    }

    /// Emits the event of the watched pixel, if there is one.
    fn emit_event(&mut self, vote: &Vote, taken: bool) {
        if self.event.is_none() {
            return;
        }
        let next = self.state.pc;
        let voters = vote.voters.iter().filter(|&&voter| voter).count();
        let votes_for = vote.votes().filter(|&jumps| jumps).count();
        for lane in 0..self.state.lanes.len() {
            let (jumps, voted) = (vote.jumps[lane], vote.voters[lane]);
            if let Some(event) = self.event_of(lane) {
                let jump = Jump { jumps, voted, voters, votes_for, taken, next };
                event.kind = EventKind::Flow(jump);
            }
        }
    }
}

impl Vote {
    /// Decides the vote: with JUMP_ANY, whether any voter jumps; else whether all do. Without voters: false
    /// with JUMP_ANY, else true (documented).
    fn decide(&self, any: bool) -> bool {
        if any { self.votes().any(|jumps| jumps) } else { self.votes().all(|jumps| jumps) }
    }

    fn is_empty(&self) -> bool {
        !self.voters.contains(&true)
    }

    fn votes(&self) -> impl Iterator<Item = bool> + '_ {
        self.jumps.iter().zip(&self.voters).filter(|(_, voter)| **voter).map(|(jumps, _)| *jumps)
    }
}
