//! Loops.
//!
//! A loop whose instructions use a loop index that changes is unrolled, and so is a short one. Others become loops. A vertex leaves the loop after an
//! iteration in which its predicate let no instruction execute: nothing has changed, so further iterations would not execute any, either. Compilers
//! make such loops: a `while` loop runs its 255 iterations under a predicate that the loop's condition clears.

use r500_ir::{ALL, Loop, LoopParam, NONE, Operand, Range, Stmt, Type};
use r500_pvs::{Addressing, DstType, FlowLoop, FlowNode, Instruction, Op};

use super::state::{File, State};
use super::{VertexLift, VertexLiftError};

/// The number of executed instructions up to which a loop is unrolled.
const SHORT: u64 = 32;

/// Returns the number of instructions that nodes execute.
pub(super) fn executed(nodes: &[FlowNode]) -> u64 {
    nodes.iter().fold(0, |sum: u64, node| {
        sum.saturating_add(match node {
            FlowNode::Instruction(_) => 1,
            FlowNode::Loop(FlowLoop { trips, body, .. }) => {
                executed(body).saturating_mul(u64::from(*trips))
            }
        })
    })
}

impl VertexLift<'_> {
    pub(super) fn repeat(&mut self, repeat: &FlowLoop) -> Result<(), VertexLiftError> {
        let FlowLoop { trips, init, step, body } = repeat;
        let outside = self.loop_index;
        self.loop_index = init.unwrap_or(outside);
        let is_short = executed(body).saturating_mul(u64::from(*trips)) <= SHORT;
        let is_indexed = *step != 0 && self.any(body, &mut |inst| uses_loop_index(inst));
        if *trips == 1 || is_short || is_indexed {
            for _ in 0..*trips {
                self.nodes(body)?;
                self.loop_index = self.loop_index.saturating_add(*step);
            }
        } else {
            self.lower_loop(*trips, body)?;
        }
        self.loop_index = outside;
        Ok(())
    }

    /// Returns whether `f` holds for an instruction of nodes.
    pub(super) fn any(&self, nodes: &[FlowNode], f: &mut impl FnMut(Instruction) -> bool) -> bool {
        nodes.iter().any(|node| match node {
            FlowNode::Instruction(number) => {
                number.checked_sub(self.base).and_then(|n| self.code.get(n)).is_some_and(|i| f(*i))
            }
            FlowNode::Loop(repeat) => self.any(&repeat.body, f),
        })
    }

    /// Lifts a loop whose iterations are equal.
    fn lower_loop(&mut self, trips: u16, body: &[FlowNode]) -> Result<(), VertexLiftError> {
        self.consume_fuel();
        let around = std::mem::replace(&mut self.executed, NONE);
        let mut params: Vec<(usize, LoopParam)> = Vec::new();
        for variable in self.modified(body) {
            let init = self.state.get(variable);
            let value = self.builder.fresh(State::type_of(variable), Range::ANY);
            self.state.set(variable, Operand::Value(value));
            params.push((variable, LoopParam { value, init, next: init }));
        }
        // The vertices that continue, and those that have executed an instruction in any iteration.
        let [active, ever] = [(); 2].map(|()| self.builder.fresh(Type::Mask, Range::ANY));
        self.builder.open_region();
        let lifted = self.nodes(body);
        self.consume_fuel();
        let now = self.executed;
        let next_active = self.builder.and(Operand::Value(active), now);
        let next_ever = self.builder.or(Operand::Value(ever), now);
        let stmts = self.builder.close_region();
        lifted?;
        for (variable, param) in &mut params {
            param.next = self.state.get(*variable);
            self.state.set(*variable, Operand::Value(param.value));
        }
        let mut params: Vec<LoopParam> = params.into_iter().map(|(_, param)| param).collect();
        let (mut continue_mask, mut after) = (None, None);
        if now == ALL {
            self.executed = ALL;
        } else {
            params.push(LoopParam { value: active, init: ALL, next: next_active });
            params.push(LoopParam { value: ever, init: NONE, next: next_ever });
            continue_mask = Some(next_active);
            after = Some(ever);
        }
        let max_trips = u32::from(trips);
        self.builder.push(Stmt::Loop(Box::new(Loop {
            max_trips,
            params,
            body: stmts,
            continue_mask,
        })));
        if let Some(ever) = after {
            self.executed = self.builder.or(around, Operand::Value(ever));
        }
        Ok(())
    }

    /// Returns the variables that nodes may modify, ascending.
    fn modified(&self, nodes: &[FlowNode]) -> Vec<usize> {
        let mut modified = [false; State::VARIABLES];
        self.any(nodes, &mut |inst| {
            mark_modified(inst, &mut modified);
            false
        });
        (0..State::VARIABLES).filter(|variable| modified[*variable]).collect()
    }
}

/// Returns whether an operand of an instruction is relative to aL.
fn uses_loop_index(inst: Instruction) -> bool {
    let sources = inst.sources().map(|src| src.addressing());
    let dual = inst.dual_math().map(|dual| dual.source().addressing());
    let mut modes = sources.into_iter().chain(dual).chain([inst.dst().addressing()]);
    modes.any(|mode| mode == Addressing::LoopIndex)
}

/// Marks the variables that an instruction may modify.
fn mark_modified(inst: Instruction, modified: &mut [bool]) {
    let dst = inst.dst();
    modified[State::PREDICATE] |= inst.op().sets_predicate();
    if let Some(dual) = inst.dual_math() {
        modified[State::PREDICATE] |= Op::Math(dual.op()).sets_predicate();
        let (register, component) = (dual.dst_offset(), dual.dst_we_sel().code() & 3);
        modified[File::Alternate.variable(register.into(), component.into())] = true;
    }
    let components = || (0..4).zip(dst.write_mask()).filter(|(_, write)| *write).map(|(n, _)| n);
    let file = match dst.reg_type() {
        DstType::A0 => {
            components().for_each(|n| modified[State::ADDRESS + n] = true);
            return;
        }
        DstType::OUT | DstType::OUT_REPL_X => File::Output,
        DstType::ALT_TEMPORARY => File::Alternate,
        DstType::INPUT => return,
        _ => File::Temporary,
    };
    let registers = match dst.addressing() {
        Addressing::Absolute | Addressing::Reserved => {
            let register = usize::from(dst.offset());
            register..(register + 1).min(file.size())
        }
        _ => 0..file.size(),
    };
    for register in registers {
        components().for_each(|n| modified[file.variable(register, n)] = true);
    }
}
