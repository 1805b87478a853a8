//! Lifts statements: branches, loops, calls. The checker derives their meaning for independent pixels from
//! `reference/flow.rs` ([`Facts::structured`](r500_check::Facts)).

use r500_check::graph::Statement;
use r500_exec::{Fc, Op};
use r500_ir::{ALL, If, Loop, LoopParam, NONE, Operand, Phi, Range, Stmt, Type};
use r500_isa::state::UsFcIntConst;
use r500_isa::values::{FcOp, PredSel};
use r500_isa::{JumpInput, TEMPORARIES};

use crate::alu::moved;
use crate::state::{LoopExitState, RegState};
use crate::{Lift, LiftError, UnknownConstant};

/// The number of attempts to lift a loop with assumed ranges of its parameters, before ranges are unbounded.
const TRIES: usize = 3;

/// The nesting depth above which nothing is assumed: attempts multiply.
const NESTED: usize = 2;

/// The depth of nested selects through which an induction variable is tracked.
const CHOICES: usize = 6;

/// An enclosing loop.
#[derive(Debug)]
pub(crate) struct LoopScope {
    /// The registers that its body may modify: indices into [`RegState::registers`].
    modified: Vec<usize>,
}

/// Whether a subroutine returned.
type Returned = bool;

impl Lift<'_> {
    pub(crate) fn statements(&mut self, list: &[Statement]) -> Result<Returned, LiftError> {
        for statement in list {
            if self.active == NONE {
                break;
            }
            if self.statement(statement)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Returned, LiftError> {
        match statement {
            Statement::Straight { first, last } => {
                self.spend(*first, last - first + 1);
                (*first..=*last).for_each(|index| self.instruction(index));
                self.check_length()?;
            }
            Statement::If { at, then, otherwise, .. }
            | Statement::UniformIf { at, then, otherwise, .. } => {
                self.spend(*at, 1);
                let jump_mask = self.jump_mask(*at)?;
                return self.branch(jump_mask, then, otherwise);
            }
            Statement::Loop { at, body, end } => self.repeat(*at, body, *end)?,
            Statement::Break(at) => self.lower_exit(*at, true)?,
            Statement::Continue(at) => self.lower_exit(*at, false)?,
            Statement::Call { at, sub } => {
                self.spend(*at, 1);
                let jump_mask = self.jump_mask(*at)?;
                self.branch(jump_mask, &[], &self.analysis.structure.subs[*sub].body)?;
            }
            Statement::Return(at) => return Ok(self.jump_mask(*at)? != NONE),
            Statement::Skip { at, .. } => self.spend(*at, 1),
        }
        Ok(false)
    }

    fn instruction(&mut self, index: usize) {
        let shader = self.input.shader;
        let address = self.address(index);
        self.builder.set_source_loc(address);
        match shader.ops().get(index) {
            Some(Op::Alu(alu)) => self.alu(alu),
            Some(Op::Tex(tex)) => self.tex(address, tex),
            _ => {}
        }
    }

    fn address(&self, index: usize) -> u32 {
        self.input.shader.offset() + u32::try_from(index).expect("programs have 32-bit addresses")
    }

    fn spend(&mut self, index: usize, instructions: usize) {
        let address = self.address(index);
        self.builder.set_source_loc(address);
        let instructions = u32::try_from(instructions).expect("programs have 32-bit addresses");
        self.builder.push(Stmt::ConsumeFuel { instructions, address });
    }

    fn fc(&self, index: usize) -> Option<Fc> {
        match self.input.shader.ops().get(index) {
            Some(Op::Fc(fc)) => Some(*fc),
            _ => None,
        }
    }

    /// Returns the mask of lanes that jump: JUMP_FUNC of ALU result, predicate and boolean constant.
    fn jump_mask(&mut self, index: usize) -> Result<Operand, LiftError> {
        let Some(fc) = self.fc(index) else { return Ok(NONE) };
        let number = fc.addr.bool_addr();
        let boolean = match self.input.bool_constants {
            Some(bools) => bools.kbool() >> u32::from(number) & 1 != 0,
            // The table has the same entries for both values.
            None if !fc.inst.depends_on(JumpInput::Boolean) => false,
            None => return Err(LiftError::Unknown(UnknownConstant::Boolean(number))),
        };
        let pred = fc.pred();
        let bits = self.regs.predicate;
        let selected = match pred.sel {
            PredSel::RGBA | PredSel::RRRR => bits[0],
            PredSel::GGGG => bits[1],
            PredSel::BBBB => bits[2],
            PredSel::AAAA => bits[3],
            _ => ALL,
        };
        let table = fc.inst.jump_func();
        let jump_mask = |alu_result: u8, predicate: bool| {
            let predicate = predicate != pred.inv;
            let row = alu_result << 2 | u8::from(predicate) << 1 | u8::from(boolean);
            Operand::mask(table >> row & 1 != 0)
        };
        let [without, with] = [0, 1].map(|alu_result| {
            self.builder.select(
                Type::Mask,
                selected,
                jump_mask(alu_result, true),
                jump_mask(alu_result, false),
            )
        });
        if with == without {
            return Ok(with);
        }
        let alu_result = self.regs.alu_result;
        let with = self.builder.and(with, alu_result);
        let without = self.builder.and_not(without, alu_result);
        Ok(self.builder.or(with, without))
    }

    /// Lifts a branch: lanes that jump take `otherwise`.
    fn branch(
        &mut self,
        jump_mask: Operand,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Result<Returned, LiftError> {
        let staying = self.builder.and_not(self.active, jump_mask);
        let jumping = self.builder.and(self.active, jump_mask);
        match (staying, jumping) {
            (_, NONE) => return self.statements(then),
            (NONE, _) => return self.statements(otherwise),
            _ => {}
        }
        self.watch(staying);
        self.watch(jumping);
        let (before, around) = (self.regs.clone(), self.active);
        if self.quad_visible.contains(&true) {
            // One arm after the other: the second may read registers that the first wrote in other lanes of a quad.
            self.lower_arms([(then, staying), (&[], NONE)])?;
            self.lower_arms([(otherwise, jumping), (&[], NONE)])?;
        } else {
            self.lower_arms([(then, staying), (otherwise, jumping)])?;
        }
        let slept =
            |pixel: &RegState| pixel.loop_exits.last().map(|loop_exits| loop_exits.inactive);
        self.active = around;
        if let Some(inactive) = slept(&self.regs)
            && Some(inactive) != slept(&before)
        {
            self.active = self.builder.and_not(around, inactive);
        }
        Ok(false)
    }

    /// Lifts two independent arms and their phis. Cheap arms are flattened (if-conversion).
    fn lower_arms(&mut self, both: [(&[Statement], Operand); 2]) -> Result<(), LiftError> {
        let before = self.regs.clone();
        let mut ends: [RegState; 2] = [before.clone(), before.clone()];
        let mut arms = [None, None];
        for (arm, (statements, active)) in both.into_iter().enumerate() {
            self.regs.clone_from(&before);
            self.active = active;
            self.builder.open_region();
            self.statements(statements)?;
            if self.builder.is_cheap() {
                self.builder.flatten_region();
            } else {
                arms[arm] = Some(self.builder.close_region());
            }
            ends[arm].clone_from(&self.regs);
        }
        let masks = both.map(|(_, active)| active);
        let phis = self.merge_arms(&before, &ends, masks, arms.each_ref().map(Option::is_some));
        if arms.iter().any(Option::is_some) {
            let arms = arms.map(Option::unwrap_or_default);
            self.builder.push(Stmt::If(Box::new(If { masks, arms, phis })));
        }
        Ok(())
    }

    /// Merges the register states of two arms: phis for arms that are regions (`apart`), selects for flattened arms.
    fn merge_arms(
        &mut self,
        before: &RegState,
        ends: &[RegState; 2],
        masks: [Operand; 2],
        apart: [bool; 2],
    ) -> Vec<Phi> {
        let mut phis = Vec::new();
        let [then, otherwise] = ends;
        let mut pixel = before.clone();
        let sides = before.vars().zip(then.vars()).zip(otherwise.vars());
        for (place, (slot, ((before, a), b))) in pixel.vars_mut().zip(sides).enumerate() {
            let changes = [a != before, b != before];
            let ty = self.var_type(place);
            *slot = match changes {
                [false, false] => continue,
                // A flattened arm: a select.
                [true, _] if !apart[0] && (!changes[1] || !apart[1]) => {
                    let rest =
                        if changes[1] { self.select_kept(ty, masks[1], b, before) } else { before };
                    if changes[1] && place < RegState::REGISTERS && !self.quad_visible[place] {
                        self.builder.select(ty, masks[0], a, b)
                    } else {
                        self.select_kept(ty, masks[0], a, rest)
                    }
                }
                [false, true] if !apart[1] => self.select_kept(ty, masks[1], b, before),
                _ => {
                    let arms = [a, b].map(|arm| (arm != before).then_some(arm));
                    // In lanes that take neither arm, only quad-visible registers and the state of loops are used.
                    let keeps = place >= RegState::REGISTERS
                        || self.quad_visible[place]
                        || arms.contains(&None);
                    let range = [a, b].map(|arm| self.builder.range(arm));
                    let range = range[0].join(range[1]).join(self.builder.range(before));
                    let before = keeps.then_some(before);
                    // Deduplicate identical phis, except all-constant ones, whose type is unknown.
                    let alike = |phi: &&Phi| {
                        (phi.incoming, phi.arms) == (before, arms)
                            && arms.into_iter().flatten().any(|arm| arm.value().is_some())
                    };
                    let value = match phis.iter().find(alike) {
                        Some(phi) => phi.value,
                        None => {
                            let value = self.builder.fresh(ty, range);
                            phis.push(Phi { value, incoming: before, arms });
                            value
                        }
                    };
                    Operand::Value(value)
                }
            };
        }
        self.regs = pixel;
        phis
    }

    /// Returns `mask ? new : old`. A mask of inactive lanes grows only by lanes of the arm, so `new` is right in all lanes.
    fn select_kept(&mut self, ty: Type, mask: Operand, new: Operand, old: Operand) -> Operand {
        if self.builder.is_or_of(old, new) { new } else { self.builder.select(ty, mask, new, old) }
    }

    /// Returns the type of a variable, by its index in [`RegState::vars`].
    fn var_type(&self, place: usize) -> Type {
        let Some(mut place) = place.checked_sub(RegState::REGISTERS) else {
            return RegState::register_type(place);
        };
        // Each open loop has two masks, then the exit values of the registers that it modifies.
        for scope in &self.loops {
            match place.checked_sub(2) {
                None => return Type::Mask,
                Some(exit) if exit < scope.modified.len() => {
                    return RegState::register_type(scope.modified[exit]);
                }
                Some(exit) => place = exit - scope.modified.len(),
            }
        }
        unreachable!("a variable of a loop that is not open")
    }

    /// Emits a group hazard, if groups may behave differently from independent pixels.
    fn watch(&mut self, mask: Operand) {
        if self.needs_group_check && mask != NONE && mask != ALL {
            self.builder.push(Stmt::GroupHazard(mask));
        }
    }

    /// Lifts BREAK or CONTINUE.
    fn lower_exit(&mut self, index: usize, breaks: bool) -> Result<(), LiftError> {
        self.spend(index, 1);
        let jump_mask = self.jump_mask(index)?;
        let leaving = self.builder.and(self.active, jump_mask);
        if leaving == NONE {
            return Ok(());
        }
        let now = self.regs.registers();
        let loop_exits = self.regs.loop_exits.last_mut().expect("an exit is in a loop");
        let running = self.loops.last().expect("an exit is in a loop");
        loop_exits.inactive = self.builder.or(loop_exits.inactive, leaving);
        if breaks {
            loop_exits.exited = self.builder.or(loop_exits.exited, leaving);
        }
        for (exit_values, &place) in loop_exits.exit_values.iter_mut().zip(&running.modified) {
            let ty = RegState::register_type(place);
            *exit_values = self.builder.select(ty, leaving, now[place], *exit_values);
        }
        self.active = self.builder.and_not(self.active, leaving);
        self.watch(self.active);
        Ok(())
    }

    /// Lifts LOOP or REP.
    fn repeat(&mut self, at: usize, body: &[Statement], end: usize) -> Result<(), LiftError> {
        let Some(fc) = self.fc(at) else { return Ok(()) };
        let constant = self.int_constant(&fc)?;
        let passes = u32::from(constant.kr());
        self.spend(at, 1);
        if passes == 0 {
            return Ok(());
        }
        let around = (self.active, self.al);
        let counts = fc.inst.op() == FcOp::LOOP;
        if counts {
            self.al = i32::from(constant.kg());
        }
        let als = self.loop_register_values(at, end, &[self.al])?;
        let mut write_set = WriteSet { lift: self, als, modified: Vec::new(), relative: false };
        write_set.statements(body)?;
        let WriteSet { modified, relative, .. } = write_set;
        let modified = (0..modified.len()).filter(|&place| modified[place]).collect();
        self.loops.push(LoopScope { modified });
        let leaves = leaves(body);
        if passes == 1 || relative {
            let step = self.loop_register_step(end)?;
            for _ in 0..passes {
                self.lower_iteration(body, leaves)?;
                if counts {
                    self.al = self.al.saturating_add(step);
                }
            }
        } else {
            self.lower_loop(passes, body, leaves)?;
        }
        self.loops.pop();
        (self.active, self.al) = around;
        Ok(())
    }

    /// Lifts a loop to a [`Loop`].
    ///
    /// The ranges of its parameters are computed by fixed-point iteration: assumed from their initial values, then widened until they
    /// contain the next values.
    fn lower_loop(
        &mut self,
        passes: u32,
        body: &[Statement],
        leaves: bool,
    ) -> Result<(), LiftError> {
        let modified = self.modified().to_vec();
        let before = (self.regs.clone(), self.active);
        let plain = self.regs.registers();
        let begins: Vec<Range> =
            modified.iter().map(|&place| self.builder.range(plain[place])).collect();
        let mut assumed: Vec<Range> = begins.iter().map(|range| range.widen()).collect();
        let tries = if self.loops.len() > NESTED { 0 } else { TRIES };
        for attempt in 0..=tries {
            if attempt == tries {
                assumed.fill(Range::ANY);
            }
            let checkpoint = self.builder.checkpoint();
            let repeat = self.loop_assuming(&assumed, passes, body, leaves)?;
            let mut holds = true;
            for ((assumed, begin), param) in assumed.iter_mut().zip(&begins).zip(&repeat.params) {
                let next = self.builder.range(param.next);
                // An induction variable is bounded by the number of iterations.
                let counts = self.builder.step(Operand::Value(param.value), param.next, CHOICES);
                let reach = counts.map(|step| begin.advance(passes, step));
                let next = reach.map_or(next, |Range { lo, hi, .. }| Range { lo, hi, ..next });
                if !assumed.contains(next) {
                    holds = false;
                    let either = assumed.join(next);
                    *assumed = if reach.is_some() { either } else { either.widen() };
                }
            }
            if holds {
                self.builder.push(Stmt::Loop(Box::new(repeat)));
                return Ok(());
            }
            self.builder.rollback(checkpoint);
            (self.regs, self.active) = before.clone();
        }
        Ok(())
    }

    /// Lifts the loop with assumed ranges of its parameters.
    fn loop_assuming(
        &mut self,
        assumed: &[Range],
        passes: u32,
        body: &[Statement],
        leaves: bool,
    ) -> Result<Loop, LiftError> {
        let modified = self.modified().to_vec();
        let mut params = Vec::with_capacity(modified.len() + 1);
        let mut places = self.regs.vars_mut().collect::<Vec<_>>();
        for (&place, range) in modified.iter().zip(assumed) {
            let value = self.builder.fresh(RegState::register_type(place), *range);
            let slot = &mut places[place];
            params.push(LoopParam { value, init: **slot, next: NONE });
            **slot = Operand::Value(value);
        }
        if leaves {
            let value = self.builder.fresh(Type::Mask, Range::ANY);
            params.push(LoopParam { value, init: self.active, next: NONE });
            self.active = Operand::Value(value);
        }
        let after = self.regs.clone();
        self.builder.open_region();
        self.lower_iteration(body, leaves)?;
        let now = self.regs.registers();
        let next = modified.iter().map(|&place| now[place]).chain([self.active]);
        for (param, next) in params.iter_mut().zip(next) {
            param.next = next;
        }
        let continue_mask = leaves.then_some(self.active);
        let body = self.builder.close_region();
        self.regs = after;
        Ok(Loop { max_trips: passes, params, body, continue_mask })
    }

    /// Lifts one iteration; afterwards the continuing lanes are active.
    fn lower_iteration(&mut self, body: &[Statement], leaves: bool) -> Result<(), LiftError> {
        let start = self.active;
        let modified = self.modified().to_vec();
        let now = self.regs.registers();
        let exit_values = modified.iter().map(|&place| now[place]).collect();
        self.regs.loop_exits.push(LoopExitState { exited: NONE, inactive: NONE, exit_values });
        self.builder.push(Stmt::ConsumeFuel { instructions: 1, address: 0 });
        self.statements(body)?;
        let loop_exits = self.regs.loop_exits.pop();
        let Some(LoopExitState { exited, inactive, exit_values }) = loop_exits.filter(|_| leaves)
        else {
            self.active = start;
            return Ok(());
        };
        let awake = self.active;
        let mut vars = self.regs.vars_mut().collect::<Vec<_>>();
        for (&place, exit_values) in modified.iter().zip(exit_values) {
            let ty = RegState::register_type(place);
            *vars[place] = self.builder.select(ty, awake, *vars[place], exit_values);
        }
        // If all inactive lanes have left the loop, the active ones continue.
        self.active = if exited == inactive { awake } else { self.builder.and_not(start, exited) };
        // Lanes that waited for the end of the iteration continue; a group whose covered lanes have all left does not continue for the
        // others.
        self.watch(self.active);
        Ok(())
    }

    /// Returns the registers that the innermost loop may modify.
    fn modified(&self) -> &[usize] {
        &self.loops.last().expect("a loop is being lifted").modified
    }

    /// Returns the values of aL in the iterations of the loop at an index, given those outside of it.
    fn loop_register_values(
        &self,
        at: usize,
        end: usize,
        around: &[i32],
    ) -> Result<Vec<i32>, LiftError> {
        let Some(fc) = self.fc(at).filter(|fc| fc.inst.op() == FcOp::LOOP) else {
            return Ok(around.to_vec());
        };
        let constant = self.int_constant(&fc)?;
        let step = self.loop_register_step(end)?;
        let first = i32::from(constant.kg());
        Ok((0..i32::from(constant.kr())).map(|pass| first + pass * step).collect())
    }

    /// Returns the step of aL that the end of a loop at an index adds.
    fn loop_register_step(&self, end: usize) -> Result<i32, LiftError> {
        match self.fc(end) {
            Some(fc) => Ok(i32::from(self.int_constant(&fc)?.kb())),
            None => Ok(0),
        }
    }

    fn int_constant(&self, fc: &Fc) -> Result<UsFcIntConst, LiftError> {
        let number = fc.addr.int_addr();
        let constant = self.input.int_constants.get(usize::from(number)).copied().flatten();
        constant.ok_or(LiftError::Unknown(UnknownConstant::Integer(number)))
    }
}

/// Returns whether lanes may leave an iteration early.
fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break(_) | Statement::Continue(_) => true,
        Statement::If { then, otherwise, .. } | Statement::UniformIf { then, otherwise, .. } => {
            leaves(then) || leaves(otherwise)
        }
        _ => false,
    })
}

/// Collects the registers that a loop's body may modify, and whether it uses relative addresses.
struct WriteSet<'a, 'b> {
    lift: &'a Lift<'b>,
    /// The possible values of aL.
    als: Vec<i32>,
    modified: Vec<bool>,
    relative: bool,
}

impl WriteSet<'_, '_> {
    fn statements(&mut self, list: &[Statement]) -> Result<(), LiftError> {
        for statement in list {
            match statement {
                Statement::Straight { first, last } => {
                    (*first..=*last).for_each(|index| self.instruction(index));
                }
                Statement::If { then, otherwise, .. }
                | Statement::UniformIf { then, otherwise, .. } => {
                    self.statements(then)?;
                    self.statements(otherwise)?;
                }
                Statement::Loop { at, body, end } => {
                    let inside = self.lift.loop_register_values(*at, *end, &self.als)?;
                    let around = std::mem::replace(&mut self.als, inside);
                    self.statements(body)?;
                    self.als = around;
                }
                Statement::Call { sub, .. } => {
                    let subs = &self.lift.analysis.structure.subs;
                    self.statements(&subs[*sub].body)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn instruction(&mut self, index: usize) {
        let info = self.lift.analysis.info(index);
        let reads = info.reads.iter().chain(info.constants.iter());
        self.relative |= reads.chain(info.writes.iter()).any(|access| access.relative);
        for access in info.writes.iter() {
            let als = if access.relative { self.als.clone() } else { vec![0] };
            for al in als {
                self.change(RegState::temp(moved(access.addr, al, TEMPORARIES)), access.may);
            }
        }
        for (target, mask) in info.outputs {
            self.change(RegState::color(target), mask);
        }
        self.change(RegState::DEPTH, if info.depth { 0b11 } else { 0 });
        self.change(RegState::PREDICATE, info.predicate_writes);
        self.change(RegState::ALU_RESULT, info.alu_result_write.into());
    }

    fn change(&mut self, first: usize, mask: u8) {
        for place in (0..4).filter(|i| mask >> i & 1 != 0).map(|i| first + i) {
            if place >= self.modified.len() {
                self.modified.resize(place + 1, false);
            }
            self.modified[place] = true;
        }
    }
}
