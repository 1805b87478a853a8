//! Statements: branches, loops, calls. What they mean for one pixel that goes its own way is derived
//! from `reference/flow.rs` by the checker ([`Facts::structured`](r500_check::Facts)).

use r500_check::graph::Statement;
use r500_isa::TEMPORARIES;
use r500_isa::state::UsFcIntConst;
use r500_isa::values::{FcOp, PredSel};

use super::alu::moved;
use super::state::{Kept, Pixel};
use super::{Lift, NotLifted};
use crate::ir::build::mask;
use crate::ir::{ALL, Carried, If, Loop, Merge, NONE, Operand, Range, Stmt};
use crate::shader::{Fc, Op};

/// How often the passes of a loop are lifted to find what they keep to.
const TRIES: usize = 3;

/// Loops inside so many others are taken to keep to nothing: trying would multiply.
const NESTED: usize = 2;

/// Choices that are looked through for what counts passes.
const CHOICES: usize = 6;

/// A loop around.
#[derive(Debug)]
pub(super) struct Running {
    /// What its body may change: places in [`Pixel::plain`].
    modified: Vec<usize>,
}

/// Whether a subroutine returned inside.
type Returned = bool;

impl Lift<'_> {
    pub(super) fn statements(&mut self, list: &[Statement]) -> Result<Returned, NotLifted> {
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

    fn statement(&mut self, statement: &Statement) -> Result<Returned, NotLifted> {
        match statement {
            Statement::Straight { first, last } => {
                self.spend(*first, last - first + 1);
                (*first..=*last).for_each(|index| self.instruction(index));
                self.check_length()?;
            }
            Statement::If { at, then, otherwise, .. }
            | Statement::Choice { at, then, otherwise, .. } => {
                self.spend(*at, 1);
                let wants = self.wants(*at);
                return self.branch(wants, then, otherwise);
            }
            Statement::Loop { at, body, end } => self.repeat(*at, body, *end)?,
            Statement::Break(at) => self.leave(*at, true),
            Statement::Continue(at) => self.leave(*at, false),
            Statement::Call { at, sub } => {
                self.spend(*at, 1);
                let structure = self.structure;
                let Some(sub) = structure.subs.get(*sub) else { return Ok(false) };
                let wants = self.wants(*at);
                self.branch(wants, &[], &sub.body)?;
            }
            Statement::Return(at) => return Ok(self.wants(*at) != NONE),
            Statement::Over { at, .. } => self.spend(*at, 1),
        }
        Ok(false)
    }

    fn instruction(&mut self, index: usize) {
        let shader = self.draw.shader;
        self.build.address = self.address(index);
        match shader.ops().get(index) {
            Some(Op::Alu(alu)) => self.alu(alu),
            Some(Op::Tex(tex)) => self.tex(self.build.address, tex),
            _ => {}
        }
    }

    fn address(&self, index: usize) -> u32 {
        self.draw.shader.offset().saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }

    fn spend(&mut self, index: usize, instructions: usize) {
        let address = self.address(index);
        self.build.address = address;
        let instructions = u32::try_from(instructions).unwrap_or(u32::MAX);
        self.build.push(Stmt::Spend { instructions, address });
    }

    fn fc(&self, index: usize) -> Option<Fc> {
        match self.draw.shader.ops().get(index) {
            Some(Op::Fc(fc)) => Some(*fc),
            _ => None,
        }
    }

    /// The pixels that want a jump: JUMP_FUNC of ALU result, predicate and boolean constant.
    fn wants(&mut self, index: usize) -> Operand {
        let Some(fc) = self.fc(index) else { return NONE };
        let bools = self.draw.bindings.bool_constants();
        let number = u32::from(fc.addr.bool_addr());
        let boolean = bools.is_some_and(|bools| bools.kbool() >> number & 1 != 0);
        let pred = fc.pred();
        let bits = self.pixel.predicate;
        let selected = match pred.sel {
            PredSel::RGBA | PredSel::RRRR => bits[0],
            PredSel::GGGG => bits[1],
            PredSel::BBBB => bits[2],
            PredSel::AAAA => bits[3],
            _ => ALL,
        };
        let table = fc.inst.jump_func();
        let wants = |alu_result: u8, predicate: bool| {
            let predicate = predicate != pred.inv;
            let row = alu_result << 2 | u8::from(predicate) << 1 | u8::from(boolean);
            mask(table >> row & 1 != 0)
        };
        let [without, with] = [0, 1].map(|alu_result| {
            self.build.select(selected, wants(alu_result, true), wants(alu_result, false))
        });
        if with == without {
            return with;
        }
        let alu_result = self.pixel.alu_result;
        let with = self.build.and(with, alu_result);
        let without = self.build.and_not(without, alu_result);
        self.build.or(with, without)
    }

    /// A branch: pixels that want to jump take `otherwise`.
    fn branch(
        &mut self,
        wants: Operand,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Result<Returned, NotLifted> {
        let staying = self.build.and_not(self.active, wants);
        let jumping = self.build.and(self.active, wants);
        match (staying, jumping) {
            (_, NONE) => return self.statements(then),
            (NONE, _) => return self.statements(otherwise),
            _ => {}
        }
        self.watch(staying);
        self.watch(jumping);
        let (before, around) = (self.pixel.clone(), self.active);
        if self.exact.contains(&true) {
            // One arm after the other: the second reads what the first left in neighbours.
            self.arms([(then, staying), (&[], NONE)])?;
            self.arms([(otherwise, jumping), (&[], NONE)])?;
        } else {
            self.arms([(then, staying), (otherwise, jumping)])?;
        }
        let slept = |pixel: &Pixel| pixel.kept.last().map(|kept| kept.asleep);
        self.active = around;
        if let Some(asleep) = slept(&self.pixel)
            && Some(asleep) != slept(&before)
        {
            self.active = self.build.and_not(around, asleep);
        }
        Ok(false)
    }

    /// Two arms that know nothing of each other, and what is different behind them. Short ones run for
    /// every pixel.
    fn arms(&mut self, both: [(&[Statement], Operand); 2]) -> Result<(), NotLifted> {
        let before = self.pixel.clone();
        let mut ends: [Pixel; 2] = [before.clone(), before.clone()];
        let mut arms = [None, None];
        for (arm, (statements, active)) in both.into_iter().enumerate() {
            self.pixel.clone_from(&before);
            self.active = active;
            self.build.open();
            self.statements(statements)?;
            if self.build.is_short() {
                self.build.splice();
            } else {
                arms[arm] = Some(self.build.close());
            }
            ends[arm].clone_from(&self.pixel);
        }
        let masks = both.map(|(_, active)| active);
        let merges = self.merge(&before, &ends, masks, arms.each_ref().map(Option::is_some));
        if arms.iter().any(Option::is_some) {
            let arms = arms.map(Option::unwrap_or_default);
            self.build.push(Stmt::If(Box::new(If { masks, arms, merges })));
        }
        Ok(())
    }

    /// What is different behind a branch; the arms that are `apart` are regions of their own.
    fn merge(
        &mut self,
        before: &Pixel,
        ends: &[Pixel; 2],
        masks: [Operand; 2],
        apart: [bool; 2],
    ) -> Vec<Merge> {
        let mut merges = Vec::new();
        let [then, otherwise] = ends;
        let mut pixel = before.clone();
        let sides = before.slots().zip(then.slots()).zip(otherwise.slots());
        for (place, (slot, ((before, a), b))) in pixel.slots_mut().zip(sides).enumerate() {
            let changes = [a != before, b != before];
            *slot = match changes {
                [false, false] => continue,
                // Statements that run for every pixel leave a selection.
                [true, _] if !apart[0] && (!changes[1] || !apart[1]) => {
                    let rest =
                        if changes[1] { self.select_kept(masks[1], b, before) } else { before };
                    if changes[1] && place < Pixel::PLAIN && !self.exact[place] {
                        self.build.select(masks[0], a, b)
                    } else {
                        self.select_kept(masks[0], a, rest)
                    }
                }
                [false, true] if !apart[1] => self.select_kept(masks[1], b, before),
                _ => {
                    let arms = [a, b].map(|arm| (arm != before).then_some(arm));
                    // Pixels that take neither arm have registers that nobody reads, unless their
                    // neighbours do; what loops keep is kept for them.
                    let keeps = place >= Pixel::PLAIN || self.exact[place] || arms.contains(&None);
                    let range = [a, b].map(|arm| self.build.range(arm));
                    let range = range[0].or(range[1]).or(self.build.range(before));
                    let before = keeps.then_some(before);
                    // What is different in the same way is the same (of constants alone it shows elsewhere
                    // whether they are masks).
                    let alike = |merge: &&Merge| {
                        (merge.before, merge.arms) == (before, arms)
                            && arms.into_iter().flatten().any(|arm| arm.value().is_some())
                    };
                    let value = match merges.iter().find(alike) {
                        Some(merge) => merge.value,
                        None => {
                            let value = self.build.fresh(range);
                            merges.push(Merge { value, before, arms });
                            value
                        }
                    };
                    Operand::Value(value)
                }
            };
        }
        self.pixel = pixel;
        merges
    }

    /// mask ? new : old. A mask of pixels that fell asleep only grows, by pixels of the arm: where the
    /// arm ran for every pixel, it is right for every pixel.
    fn select_kept(&mut self, mask: Operand, new: Operand, old: Operand) -> Operand {
        if self.build.grows(old, new) { new } else { self.build.select(mask, new, old) }
    }

    /// Notes who executes, where that could tell groups from pixels.
    fn watch(&mut self, mask: Operand) {
        if self.watches && mask != NONE && mask != ALL {
            self.build.push(Stmt::Watch(mask));
        }
    }

    /// BREAK or CONTINUE.
    fn leave(&mut self, index: usize, breaks: bool) {
        self.spend(index, 1);
        let wants = self.wants(index);
        let leaving = self.build.and(self.active, wants);
        if leaving == NONE {
            return;
        }
        let now = self.pixel.plain();
        let (Some(kept), Some(running)) = (self.pixel.kept.last_mut(), self.loops.last()) else {
            return;
        };
        kept.asleep = self.build.or(kept.asleep, leaving);
        if breaks {
            kept.left = self.build.or(kept.left, leaving);
        }
        for (frozen, &place) in kept.frozen.iter_mut().zip(&running.modified) {
            *frozen = self.build.select(leaving, now[place], *frozen);
        }
        self.active = self.build.and_not(self.active, leaving);
        self.watch(self.active);
    }

    /// LOOP or REP.
    fn repeat(&mut self, at: usize, body: &[Statement], end: usize) -> Result<(), NotLifted> {
        let Some(fc) = self.fc(at) else { return Ok(()) };
        let constant = self.int_constant(&fc);
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
        let als = self.al_values(at, end, &[self.al]);
        let mut survey = Survey { lift: self, als, modified: Vec::new(), relative: false };
        survey.statements(body);
        let Survey { modified, relative, .. } = survey;
        let modified = (0..modified.len()).filter(|&place| modified[place]).collect();
        self.loops.push(Running { modified });
        let leaves = leaves(body);
        if passes == 1 || relative {
            let step = self.fc(end).map_or(0, |fc| i32::from(self.int_constant(&fc).kb()));
            for _ in 0..passes {
                self.pass(body, leaves)?;
                if counts {
                    self.al = self.al.saturating_add(step);
                }
            }
        } else {
            self.loop_passes(passes, body, leaves)?;
        }
        self.loops.pop();
        (self.active, self.al) = around;
        Ok(())
    }

    /// A loop's passes, one after the other in a loop of its own.
    ///
    /// What is known of a value in every pass is assumed first from what is known of it before the
    /// loop, and widened until the passes keep to it.
    fn loop_passes(
        &mut self,
        passes: u32,
        body: &[Statement],
        leaves: bool,
    ) -> Result<(), NotLifted> {
        let modified = self.modified();
        let before = (self.pixel.clone(), self.active);
        let plain = self.pixel.plain();
        let begins: Vec<Range> =
            modified.iter().map(|&place| self.build.range(plain[place])).collect();
        let mut assumed: Vec<Range> = begins.iter().map(|range| range.endless()).collect();
        let tries = if self.loops.len() > NESTED { 0 } else { TRIES };
        for attempt in 0..=tries {
            if attempt == tries {
                assumed.fill(Range::ANY);
            }
            let mark = self.build.mark();
            let repeat = self.passes_from(&assumed, passes, body, leaves)?;
            let mut holds = true;
            for ((assumed, begin), carried) in assumed.iter_mut().zip(&begins).zip(&repeat.carried)
            {
                let next = self.build.range(carried.next);
                // What counts passes goes no further than there are passes.
                let counts = self.build.step(Operand::Value(carried.value), carried.next, CHOICES);
                let reach = counts.map(|step| begin.after(passes, step));
                let next = reach.map_or(next, |Range { lo, hi, .. }| Range { lo, hi, ..next });
                if !assumed.holds(next) {
                    holds = false;
                    let either = assumed.or(next);
                    *assumed = if reach.is_some() { either } else { either.endless() };
                }
            }
            if holds {
                self.build.push(Stmt::Loop(Box::new(repeat)));
                return Ok(());
            }
            self.build.take_back(mark);
            (self.pixel, self.active) = before.clone();
        }
        Ok(())
    }

    /// The loop, if that is what is known of what goes from pass to pass.
    fn passes_from(
        &mut self,
        assumed: &[Range],
        passes: u32,
        body: &[Statement],
        leaves: bool,
    ) -> Result<Loop, NotLifted> {
        let modified = self.modified();
        let mut carried = Vec::with_capacity(modified.len() + 1);
        let mut places = self.pixel.slots_mut().collect::<Vec<_>>();
        for (&place, range) in modified.iter().zip(assumed) {
            let value = self.build.fresh(*range);
            let slot = &mut places[place];
            carried.push(Carried { value, init: **slot, next: NONE });
            **slot = Operand::Value(value);
        }
        if leaves {
            let value = self.build.fresh(Range::ANY);
            carried.push(Carried { value, init: self.active, next: NONE });
            self.active = Operand::Value(value);
        }
        let behind = self.pixel.clone();
        self.build.open();
        self.pass(body, leaves)?;
        let now = self.pixel.plain();
        let next = modified.iter().map(|&place| now[place]).chain([self.active]);
        for (carried, next) in carried.iter_mut().zip(next) {
            carried.next = next;
        }
        let again = leaves.then_some(self.active);
        let body = self.build.close();
        self.pixel = behind;
        Ok(Loop { passes, carried, body, again })
    }

    /// One pass; the pixels that want another are active behind it.
    fn pass(&mut self, body: &[Statement], leaves: bool) -> Result<(), NotLifted> {
        let start = self.active;
        let modified = self.modified();
        let now = self.pixel.plain();
        let frozen = modified.iter().map(|&place| now[place]).collect();
        self.pixel.kept.push(Kept { left: NONE, asleep: NONE, frozen });
        self.build.push(Stmt::Spend { instructions: 1, address: 0 });
        self.statements(body)?;
        let kept = self.pixel.kept.pop();
        let Some(Kept { left, asleep, frozen }) = kept.filter(|_| leaves) else {
            self.active = start;
            return Ok(());
        };
        let awake = self.active;
        let mut slots = self.pixel.slots_mut().collect::<Vec<_>>();
        for (&place, frozen) in modified.iter().zip(frozen) {
            *slots[place] = self.build.select(awake, *slots[place], frozen);
        }
        // If all that sleep have left, those awake are the ones who go on.
        self.active = if left == asleep { awake } else { self.build.and_not(start, left) };
        // Whoever waited for the end of the pass goes on; a group whose covered pixels have all left
        // does not go on for the others.
        self.watch(self.active);
        Ok(())
    }

    fn modified(&self) -> Vec<usize> {
        self.loops.last().map(|running| running.modified.clone()).unwrap_or_default()
    }

    /// What aL is in the passes of the loop from one index to another, given what it is around.
    fn al_values(&self, at: usize, end: usize, around: &[i32]) -> Vec<i32> {
        let Some(fc) = self.fc(at).filter(|fc| fc.inst.op() == FcOp::LOOP) else {
            return around.to_vec();
        };
        let constant = self.int_constant(&fc);
        let step = self.fc(end).map_or(0, |fc| i32::from(self.int_constant(&fc).kb()));
        let first = i32::from(constant.kg());
        (0..i32::from(constant.kr())).map(|pass| first + pass * step).collect()
    }

    fn int_constant(&self, fc: &Fc) -> UsFcIntConst {
        let number = usize::from(fc.addr.int_addr());
        self.draw.bindings.int_constant(number).unwrap_or_default()
    }
}

/// Whether pixels may leave a pass of this body early.
fn leaves(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break(_) | Statement::Continue(_) => true,
        Statement::If { then, otherwise, .. } | Statement::Choice { then, otherwise, .. } => {
            leaves(then) || leaves(otherwise)
        }
        _ => false,
    })
}

/// What the body of a loop may change, and whether it adds aL to an address.
struct Survey<'a, 'b> {
    lift: &'a Lift<'b>,
    /// What aL may be.
    als: Vec<i32>,
    modified: Vec<bool>,
    relative: bool,
}

impl Survey<'_, '_> {
    fn statements(&mut self, list: &[Statement]) {
        for statement in list {
            match statement {
                Statement::Straight { first, last } => {
                    (*first..=*last).for_each(|index| self.instruction(index));
                }
                Statement::If { then, otherwise, .. }
                | Statement::Choice { then, otherwise, .. } => {
                    self.statements(then);
                    self.statements(otherwise);
                }
                Statement::Loop { at, body, end } => {
                    let inside = self.lift.al_values(*at, *end, &self.als);
                    let around = std::mem::replace(&mut self.als, inside);
                    self.statements(body);
                    self.als = around;
                }
                Statement::Call { sub, .. } => {
                    let structure = self.lift.structure;
                    if let Some(sub) = structure.subs.get(*sub) {
                        self.statements(&sub.body);
                    }
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, index: usize) {
        match self.lift.draw.shader.ops().get(index) {
            Some(Op::Alu(alu)) => {
                let sources = alu.rgb.sources.iter().chain(&alu.alpha.sources);
                self.relative |= sources.into_iter().any(|source| source.relative);
                self.temp(alu.rgb.dest.addr, alu.rgb.dest.relative, alu.rgb.wmask);
                let wmask = alu.alpha.wmask << 3;
                self.temp(alu.alpha.dest.addr, alu.alpha.dest.relative, wmask);
                if alu.out {
                    self.change(Pixel::color(alu.rgb.target.code()), alu.rgb.omask);
                    self.change(Pixel::color(alu.alpha.target.code()), alu.alpha.omask << 3);
                    self.change(Pixel::DEPTH, if alu.depth { 0b11 } else { 0 });
                } else {
                    self.change(Pixel::PREDICATE, alu.rgb.omask | alu.alpha.omask << 3);
                }
                self.change(Pixel::ALU_RESULT, u8::from(alu.alu_result.is_some()));
            }
            Some(Op::Tex(tex)) => {
                let read = [tex.coord, tex.dx, tex.dy];
                self.relative |= read.iter().any(|reg| reg.relative);
                self.temp(tex.dest.addr, tex.dest.relative, tex.wmask);
            }
            _ => {}
        }
    }

    fn temp(&mut self, addr: u8, relative: bool, mask: u8) {
        self.relative |= relative;
        let als = if relative { self.als.clone() } else { vec![0] };
        for al in als {
            self.change(Pixel::temp(moved(addr, al, TEMPORARIES)), mask);
        }
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
