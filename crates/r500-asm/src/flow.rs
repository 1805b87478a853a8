//! Encodings of the structured flow-control statements, shared by parser and printer.
//!
//! `IF` to `BREAK` are as in compiled programs (observed), with one difference: `LOOP` here jumps with `JUMP_ANY` to
//! the instruction after its `ENDLOOP`, as the field's description advises, so that a loop reached by no active pixel
//! is skipped. `CONTINUE` is as the driver's source would emit it; `CALL` and `RETURN` follow the vendor's manual (ctm,
//! derived).

use r500_isa::values::{AddrOp, BranchOp, FcOp};
use r500_isa::words::{FcAddr, FcInst};

/// A flow-control statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowKind {
    /// `FC`: all fields are explicit, and zero by default.
    General(FcOp),
    /// `IF`. With an `ELSE`, the target is the instruction after it.
    If {
        has_else: bool,
    },
    Else,
    Endif,
    Loop {
        rep: bool,
    },
    Endloop {
        rep: bool,
    },
    /// `BREAK`, out of `depth` branches.
    Break {
        rep: bool,
        depth: u8,
    },
    /// `CONTINUE`, out of `depth` branches.
    Continue {
        depth: u8,
    },
    Call,
    Return,
    /// A jump that does not change the branch counters.
    Jump,
}

/// Returns the words of a statement without modifiers. The caller sets targets and constants.
pub(crate) fn encode(kind: FlowKind) -> (FcInst, FcAddr) {
    const ALWAYS: u8 = 0xff;
    let fc = |op, func, any| {
        FcInst(0).with(FcInst::OP, op).with(FcInst::JUMP_FUNC, func).with(FcInst::JUMP_ANY, any)
    };
    let ops = |w: FcInst, b_op0, b_op1, pop: u8| {
        w.with(FcInst::B_OP0, b_op0).with(FcInst::B_OP1, b_op1).with(FcInst::B_POP_CNT, pop)
    };
    let (none, decr, incr) = (BranchOp::NONE, BranchOp::DECR, BranchOp::INCR);
    // Outside of branches there is no counter to decrement.
    let leave = |depth| if depth == 0 { none } else { decr };
    let word = match kind {
        FlowKind::General(op) => fc(op, 0, false),
        FlowKind::If { has_else } => {
            ops(fc(FcOp::JUMP, 0, false), incr, if has_else { incr } else { none }, 0)
        }
        FlowKind::Else => ops(fc(FcOp::JUMP, 0, false), none, decr, 1).with(FcInst::B_ELSE, true),
        FlowKind::Endif => ops(fc(FcOp::JUMP, 0, true), decr, none, 1),
        FlowKind::Loop { rep } => fc(if rep { FcOp::REP } else { FcOp::LOOP }, 0, true),
        FlowKind::Endloop { rep } => {
            fc(if rep { FcOp::ENDREP } else { FcOp::ENDLOOP }, ALWAYS, true)
        }
        FlowKind::Break { rep, depth } => {
            let op = if rep { FcOp::BREAKREP } else { FcOp::BREAKLOOP };
            ops(fc(op, ALWAYS, false), none, leave(depth), depth)
        }
        FlowKind::Continue { depth } => {
            ops(fc(FcOp::CONTINUE, ALWAYS, false), none, leave(depth), depth)
        }
        FlowKind::Call => {
            ops(fc(FcOp::JUMP, ALWAYS, true), none, incr, 0).with(FcInst::A_OP, AddrOp::PUSH)
        }
        FlowKind::Return => {
            ops(fc(FcOp::JUMP, ALWAYS, false), none, decr, 1).with(FcInst::A_OP, AddrOp::POP)
        }
        FlowKind::Jump => fc(FcOp::JUMP, ALWAYS, false),
    };
    (word, FcAddr(0))
}
