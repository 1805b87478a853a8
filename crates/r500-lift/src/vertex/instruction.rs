//! Instructions: predicates, pairs of operations, macros.

use r500_ir::{NONE, Opcode, Operand};
use r500_pvs::{Dst, DstType, Instruction, MacroOp, MathOp, Op, VectorOp};

use super::VertexLift;
use super::math::Scalars;
use super::outcome::Outcome;
use super::state::{File, State};

const ZERO: Operand = Operand::Const(0);

impl VertexLift<'_> {
    pub(super) fn instruction(&mut self, inst: Instruction) {
        let enabled = self.enabled(inst);
        if enabled == NONE || does_nothing(inst) {
            return;
        }
        self.executed = self.builder.or(self.executed, enabled);
        let (dst, sources) = (inst.dst(), inst.sources());
        // The second operation's operands are read before the first one writes.
        let dual = inst.dual_math().map(|dual| {
            let source = dual.source();
            let scalars = [0, 1].map(|n| self.source(source, n));
            (dual, Scalars::of_dual(scalars))
        });
        let wanted = wanted(dst);
        let (outcome, saturate) = match inst.op() {
            Op::Vector(op) => (self.vector(op, sources, wanted), dst.ve_sat()),
            Op::Math(op) => {
                let scalars = self.instruction_scalars(sources);
                (self.math(op, scalars), dst.me_sat())
            }
            Op::Macro(MacroOp::MADD) => {
                (self.vector(VectorOp::MULTIPLY_ADD, sources, wanted), dst.ve_sat())
            }
            Op::Macro(MacroOp::M2X_ADD) => {
                (self.vector(VectorOp::MULTIPLYX2_ADD, sources, wanted), dst.ve_sat())
            }
            // Reserved macros give 0.
            Op::Macro(_) => (Outcome::of([ZERO; 4]), dst.ve_sat()),
        };
        self.finish(dst, enabled, outcome, saturate);
        if let Some((dual, scalars)) = dual {
            let outcome = self.math(dual.op(), scalars);
            self.set_predicate(enabled, outcome.predicate);
            let channel = usize::from(dual.dst_we_sel().code() & 3);
            // Also an operation that does nothing writes, its 0.
            let value = self.saturated(outcome.values[channel], dst.me_sat());
            let register = usize::from(dual.dst_offset());
            self.assign(File::Alternate.variable(register, channel), enabled, value);
        }
    }

    /// Sets the predicate and writes the destination, where the instruction is enabled.
    fn finish(&mut self, dst: Dst, enabled: Operand, outcome: Outcome, saturate: bool) {
        self.set_predicate(enabled, outcome.predicate);
        let mask = dst.write_mask();
        let (mut values, mut masks) = (outcome.values, [NONE; 4]);
        if dst.reg_type() == DstType::OUT_REPL_X {
            values = [values[0]; 4];
        }
        for n in (0..4).filter(|n| mask[*n]) {
            masks[n] = self.builder.and(enabled, outcome.writes[n]);
            if masks[n] != NONE {
                values[n] = self.saturated(values[n], saturate);
            }
        }
        self.write(dst, masks, values);
    }

    fn saturated(&mut self, value: Operand, saturate: bool) -> Operand {
        if saturate { self.builder.unary(Opcode::Clamp01, value.into()) } else { value }
    }

    fn set_predicate(&mut self, enabled: Operand, predicate: Option<Operand>) {
        if let Some(predicate) = predicate {
            self.assign(State::PREDICATE, enabled, predicate);
        }
    }
}

/// Returns whether an instruction changes nothing, whatever its operands are.
fn does_nothing(inst: Instruction) -> bool {
    let is_nop = matches!(inst.op(), Op::Vector(VectorOp::NOP) | Op::Math(MathOp::NOP));
    is_nop && inst.dual_math().is_none()
}

/// Returns the components of results that the destination takes.
fn wanted(dst: Dst) -> [bool; 4] {
    let mask = dst.write_mask();
    match dst.reg_type() {
        // Conditions are those of each component.
        DstType::OUT_REPL_X => [true, mask[1], mask[2], mask[3]],
        DstType::INPUT => [false; 4],
        _ => mask,
    }
}
