//! Checks of vertex programs: likely errors.

use r500_chip::pvs::{Addressing, DstType, Src, SrcType};
use r500_chip::values::FlowOp;

use crate::instruction::reads_register;
use crate::{Controls, Program};

/// A likely error in a vertex program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lint {
    /// The instruction; `None` for the whole program.
    pub instruction: Option<usize>,
    /// The problem.
    pub kind: LintKind,
}

/// Kinds of likely errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LintKind {
    /// `PVS_LAST_INST` is before `PVS_FIRST_INST`.
    #[error("PVS_LAST_INST lies before PVS_FIRST_INST")]
    EmptyRange,
    /// An operation that the documents reserve.
    #[error("reserved operation")]
    ReservedOperation,
    /// A kind of operand, swizzle or addressing that the documents reserve.
    #[error("reserved operand")]
    ReservedOperand,
    /// A read of a temporary that no earlier instruction writes (with flow control: no instruction at all).
    #[error("temp[{0}] is read before any instruction writes it")]
    NeverWritten(u8),
    /// A constant beyond `PVS_MAX_CONST_ADDR`.
    #[error("const[{constant}] is beyond PVS_MAX_CONST_ADDR = {max}")]
    BeyondConstants {
        /// The constant.
        constant: u8,
        /// The register's value.
        max: u8,
    },
    /// Two different constants, or two different inputs, in one instruction: drivers of this family move one into a
    /// temporary first.
    #[error("two different {0} in one instruction")]
    TwoAddresses(&'static str),
    /// The position is an output, and no instruction writes `out[0]`.
    #[error("the position (out[0]) is never written")]
    NoPosition,
    /// A flow control instruction refers to an instruction outside the program.
    #[error("flow control {0} refers to an instruction outside the program")]
    FlowOutside(u8),
}

impl Program {
    /// Returns likely errors, in the order of instructions.
    #[must_use]
    pub fn check(&self) -> Vec<Lint> {
        let Controls { range, constants, outputs, flow: flow_control, .. } = self.controls();
        let mut lints = Vec::new();
        let mut find = |instruction, kind| lints.push(Lint { instruction, kind });
        if self.window().next().is_none() {
            find(None, LintKind::EmptyRange);
            return lints;
        }
        let mut written = [false; 256];
        if !flow_control.is_empty() {
            // Loops and calls change the order: all written temporaries count as initialised.
            for (_, inst) in self.window() {
                let dst = inst.dst();
                if dst.reg_type() == DstType::TEMPORARY {
                    written[usize::from(dst.offset())] = true;
                }
            }
        }
        let mut position = false;
        for (n, inst) in self.window() {
            let dst = inst.dst();
            if inst.op().name().is_none() {
                find(Some(n), LintKind::ReservedOperation);
                continue;
            }
            let sources = inst.read_sources();
            let reserved = |src: &Src| {
                src.addressing() == Addressing::Reserved
                    || src.swizzle().iter().any(|swizzle| !swizzle.is_named())
            };
            if !dst.reg_type().is_named()
                || dst.addressing() == Addressing::Reserved
                || sources.iter().flatten().any(reserved)
            {
                find(Some(n), LintKind::ReservedOperand);
            }
            for src in sources.iter().flatten().filter(|src| reads_register(src)) {
                if src.addressing() != Addressing::Absolute {
                    continue;
                }
                let (number, max) = (src.offset(), constants.pvs_max_const_addr());
                match src.reg_type() {
                    SrcType::TEMPORARY if !written[usize::from(number)] => {
                        find(Some(n), LintKind::NeverWritten(number));
                        // Reported once.
                        written[usize::from(number)] = true;
                    }
                    SrcType::CONSTANT if number > max => {
                        let kind = LintKind::BeyondConstants { constant: number, max };
                        find(Some(n), kind);
                    }
                    _ => {}
                }
            }
            for (kind, name) in [(SrcType::CONSTANT, "constants"), (SrcType::INPUT, "inputs")] {
                let addresses =
                    sources.iter().flatten().filter(|s| reads_register(s) && s.reg_type() == kind);
                let mut addresses = addresses.map(|src| (src.addressing(), src.offset()));
                let first = addresses.next();
                if addresses.any(|address| Some(address) != first) {
                    find(Some(n), LintKind::TwoAddresses(name));
                }
            }
            match dst.reg_type() {
                DstType::TEMPORARY if dst.addressing() == Addressing::Absolute => {
                    written[usize::from(dst.offset())] = true;
                }
                // Any temporary may be the one.
                DstType::TEMPORARY => written = [true; 256],
                DstType::OUT | DstType::OUT_REPL_X => {
                    position |= dst.offset() == 0 || dst.addressing() != Addressing::Absolute;
                }
                _ => {}
            }
        }
        if outputs.vtx_pos_present() && !position {
            find(None, LintKind::NoPosition);
        }
        let inside = |n: u16| (range.pvs_first_inst()..=range.pvs_last_inst()).contains(&n);
        for flow in flow_control {
            let (low, high) = (flow.low, flow.high);
            let target = match flow.op {
                FlowOp::LOOP => high.rtn_inst(),
                _ => low.loop_cnt_jmp_inst(),
            };
            let last = if flow.op == FlowOp::JUMP { low.act_adrs() } else { high.last_inst() };
            if ![low.act_adrs(), target, last].into_iter().all(inside) {
                find(None, LintKind::FlowOutside(flow.number));
            }
        }
        lints
    }
}
