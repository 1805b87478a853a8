//! Flow-control printing: matches jumps to structured statements and prints those.

use r500_isa::values::{AddrOp, BranchOp, FcOp, InstType, PredSel};
use r500_isa::words::{CmnInst, FcAddr};
use r500_isa::{FieldValue, Instruction};

use super::{TextBuffer, flags, predicates, spare_bits, unused_masks};
use crate::flow::{FlowKind, encode};
use crate::names::{self, Kw};

/// The control structure of a program, for printing.
pub(super) struct ControlTree {
    pub(super) statements: Vec<FlowStmt>,
    /// Which addresses have a label; jump addresses have nine bits.
    pub(super) labels: [bool; 512],
}

/// The printed form of a flow-control instruction.
pub(super) struct FlowStmt {
    pub(super) at: usize,
    kind: FlowKind,
    target: Target,
    /// The integer constant that follows from the nesting.
    int: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The target that follows from the nesting.
    Usual,
    Label(u16),
    Address(u16),
}

impl FlowStmt {
    pub(super) const fn opens(&self) -> bool {
        matches!(self.kind, FlowKind::If { .. } | FlowKind::Else | FlowKind::Loop { .. })
    }

    pub(super) const fn closes(&self) -> bool {
        matches!(self.kind, FlowKind::Else | FlowKind::Endif | FlowKind::Endloop { .. })
    }
}

/// An open block during matching: numbers are statement indices.
struct OpenBlock {
    plan: usize,
    else_plan: Option<usize>,
}

/// The standard target of a statement outside of blocks.
const NO_TARGET: usize = 0;

impl ControlTree {
    pub(super) fn new(code: &[Instruction], offset: u16) -> Self {
        let mut plans: Vec<FlowStmt> = Vec::new();
        for (at, inst) in code.iter().enumerate() {
            if inst.ty() == InstType::FC {
                plans.push(FlowStmt { at, kind: classify(*inst), target: Target::Usual, int: 0 });
            }
        }
        let mut usual = vec![NO_TARGET; plans.len()];
        match_blocks(&mut plans, &mut usual, code);
        match_loop_exits(&mut plans, &mut usual);

        let mut labels = [false; 512];
        for (plan, usual) in plans.iter_mut().zip(usual) {
            let addr = code[plan.at].fc_addr();
            let base = if addr.jump_global() { usize::from(offset) } else { 0 };
            let actual = usize::from(addr.jump_addr());
            let general = matches!(plan.kind, FlowKind::General(_));
            let usual = if general { 0 } else { usual + base };
            let named = matches!(plan.kind, FlowKind::Call | FlowKind::Jump);
            if actual == usual && !named {
                continue;
            }
            plan.target = match actual.checked_sub(base) {
                Some(at) if at <= code.len() => {
                    labels[at] = true;
                    Target::Label(u16::try_from(at).unwrap_or(0))
                }
                _ => Target::Address(addr.jump_addr()),
            };
        }
        Self { statements: plans, labels }
    }
}

/// Classifies an instruction by its branch-counter operations. Votes, targets and constants may differ from the
/// standard.
fn classify(inst: Instruction) -> FlowKind {
    let w = inst.fc_inst();
    let general = FlowKind::General(w.op());
    let (none, incr, decr) = (BranchOp::NONE, BranchOp::INCR, BranchOp::DECR);
    let counters = (w.b_op0(), w.b_op1(), w.b_pop_cnt());
    let quiet = counters == (none, none, 0);
    if w.op() == FcOp::JUMP {
        return match (w.b_else(), w.a_op(), counters) {
            (false, AddrOp::NONE, (op, BranchOp::NONE | BranchOp::INCR, 0)) if op == incr => {
                FlowKind::If { has_else: false }
            }
            (true, AddrOp::NONE, all) if all == (none, decr, 1) && w.jump_func() == 0 => {
                FlowKind::Else
            }
            (false, AddrOp::NONE, all) if all == (decr, none, 1) && w.jump_func() == 0 => {
                FlowKind::Endif
            }
            (false, AddrOp::PUSH, (op, ..)) if op == none => FlowKind::Call,
            (false, AddrOp::POP, (op, ..)) if op == none => FlowKind::Return,
            (false, AddrOp::NONE, _) if quiet => FlowKind::Jump,
            _ => general,
        };
    }
    if w.b_else() || w.a_op() != AddrOp::NONE || w.b_op0() != none {
        return general;
    }
    match (w.op(), w.jump_func()) {
        (FcOp::LOOP, 0) if quiet => FlowKind::Loop { rep: false },
        (FcOp::REP, 0) if quiet => FlowKind::Loop { rep: true },
        (FcOp::ENDLOOP, 0xff) if quiet => FlowKind::Endloop { rep: false },
        (FcOp::ENDREP, 0xff) if quiet => FlowKind::Endloop { rep: true },
        (FcOp::BREAKLOOP, _) => FlowKind::Break { rep: false, depth: 0 },
        (FcOp::BREAKREP, _) => FlowKind::Break { rep: true, depth: 0 },
        (FcOp::CONTINUE, _) => FlowKind::Continue { depth: 0 },
        _ => general,
    }
}

/// Matches the instructions of blocks and sets their standard targets; other instructions print in the general form.
fn match_blocks(plans: &mut [FlowStmt], usual: &mut [usize], code: &[Instruction]) {
    let mut open: Vec<OpenBlock> = Vec::new();
    for i in 0..plans.len() {
        let at = plans[i].at;
        let top = open.last_mut();
        let top_kind = top.as_ref().map(|o| plans[o.plan].kind);
        match (plans[i].kind, top, top_kind) {
            (FlowKind::If { .. } | FlowKind::Loop { .. }, ..) => {
                open.push(OpenBlock { plan: i, else_plan: None });
            }
            (FlowKind::Else, Some(top), Some(FlowKind::If { .. })) if top.else_plan.is_none() => {
                top.else_plan = Some(i);
            }
            (FlowKind::Endif, Some(top), Some(FlowKind::If { .. })) => {
                let (first, middle) = (top.plan, top.else_plan);
                open.pop();
                usual[i] = at + 1;
                if let Some(middle) = middle {
                    plans[first].kind = FlowKind::If { has_else: true };
                    usual[first] = plans[middle].at + 1;
                    usual[middle] = at + 1;
                } else {
                    usual[first] = at + 1;
                }
            }
            (FlowKind::Endloop { rep }, Some(top), Some(FlowKind::Loop { rep: opened }))
                if rep == opened =>
            {
                let first = top.plan;
                open.pop();
                usual[first] = at + 1;
                usual[i] = plans[first].at + 1;
                plans[i].int = code[plans[first].at].fc_addr().int_addr();
            }
            (FlowKind::Else | FlowKind::Endif | FlowKind::Endloop { .. }, ..) => {
                make_general(&mut plans[i], code)
            }
            _ => {}
        }
    }
    for block in open {
        make_general(&mut plans[block.plan], code);
        if let Some(middle) = block.else_plan {
            make_general(&mut plans[middle], code);
        }
    }
}

fn make_general(plan: &mut FlowStmt, code: &[Instruction]) {
    plan.kind = FlowKind::General(code[plan.at].fc_inst().op());
}

/// Sets depth and standard target of breaks and continues; those outside of a loop of their kind become general.
fn match_loop_exits(plans: &mut [FlowStmt], usual: &mut [usize]) {
    /// A loop: whether `REP`, the address of its end, and the number of open branches in it.
    struct Loop {
        rep: bool,
        end: usize,
        branches: usize,
    }
    let mut loops: Vec<Loop> = Vec::new();
    for i in 0..plans.len() {
        match plans[i].kind {
            FlowKind::If { .. } => {
                if let Some(inner) = loops.last_mut() {
                    inner.branches += 1;
                }
            }
            FlowKind::Endif => {
                if let Some(inner) = loops.last_mut() {
                    inner.branches = inner.branches.saturating_sub(1);
                }
            }
            // The standard target of a loop is after its end.
            FlowKind::Loop { rep } => loops.push(Loop { rep, end: usual[i] - 1, branches: 0 }),
            FlowKind::Endloop { .. } => {
                loops.pop();
            }
            FlowKind::Break { rep: of_rep, .. } => match loops.last() {
                Some(Loop { rep, end, branches }) if *rep == of_rep && *branches < 32 => {
                    let depth = u8::try_from(*branches).unwrap_or(31);
                    plans[i].kind = FlowKind::Break { rep: of_rep, depth };
                    usual[i] = end + 1;
                }
                _ => {
                    let op = if of_rep { FcOp::BREAKREP } else { FcOp::BREAKLOOP };
                    plans[i].kind = FlowKind::General(op);
                }
            },
            FlowKind::Continue { .. } => match loops.last() {
                Some(Loop { end, branches, .. }) if *branches < 32 => {
                    let depth = u8::try_from(*branches).unwrap_or(31);
                    plans[i].kind = FlowKind::Continue { depth };
                    usual[i] = *end;
                }
                _ => plans[i].kind = FlowKind::General(FcOp::CONTINUE),
            },
            _ => {}
        }
    }
}

// Printing.

/// Prints a flow-control instruction as classified.
pub(super) fn print_statement(out: &mut TextBuffer, inst: Instruction, plan: &FlowStmt) {
    let (w, a) = (inst.fc_inst(), inst.fc_addr());
    let word = match plan.kind {
        FlowKind::General(_) => return fields(out, inst, plan.target),
        FlowKind::If { .. } => "IF",
        FlowKind::Else => "ELSE",
        FlowKind::Endif => "ENDIF",
        FlowKind::Loop { rep: false } => "LOOP",
        FlowKind::Loop { rep: true } => "REP",
        FlowKind::Endloop { rep: false } => "ENDLOOP",
        FlowKind::Endloop { rep: true } => "ENDREP",
        FlowKind::Break { .. } => "BREAK",
        FlowKind::Continue { .. } => "CONTINUE",
        FlowKind::Call => "CALL",
        FlowKind::Return => "RETURN",
        FlowKind::Jump => "JUMP",
    };
    out.text(word);
    out.push(b' ');
    let named_target = matches!(plan.kind, FlowKind::Call | FlowKind::Jump);
    if named_target {
        target(out, plan.target);
    }
    if matches!(plan.kind, FlowKind::Loop { .. }) {
        constant(out, "int[", a.int_addr());
    }
    let conditional = matches!(
        plan.kind,
        FlowKind::If { .. }
            | FlowKind::Break { .. }
            | FlowKind::Continue { .. }
            | FlowKind::Call
            | FlowKind::Return
            | FlowKind::Jump
    );
    let (mut predicate, mut boolean) = (false, false);
    if matches!(plan.kind, FlowKind::If { .. }) {
        (predicate, boolean) = condition(out, !w.jump_func(), inst.cmn(), a);
    } else if conditional && w.jump_func() != 0xff {
        out.text("IF ");
        (predicate, boolean) = condition(out, w.jump_func(), inst.cmn(), a);
    }
    let usual = encode(plan.kind).0;
    if w.jump_any() != usual.jump_any() {
        out.text(if w.jump_any() { "any " } else { "all " });
    }
    if w.b_op1() != usual.b_op1() {
        branch_op(out, "B_OP1(", w.b_op1());
    }
    if w.b_pop_cnt() != usual.b_pop_cnt() {
        constant_field(out, "B_POP_CNT(", w.b_pop_cnt());
    }
    if a.bool_addr() != 0 && !boolean {
        constant(out, "bool[", a.bool_addr());
    }
    if a.int_addr() != plan.int && !matches!(plan.kind, FlowKind::Loop { .. }) {
        constant(out, "int[", a.int_addr());
    }
    if w.ignore_uncovered() {
        out.text("IGNORE_UNCOVERED ");
    }
    common(out, inst, a, !predicate);
    if !named_target {
        arrow(out, plan.target);
    }
    out.push(b';');
}

/// Prints a flow-control instruction by its fields, its target by number.
pub(super) fn print_general(out: &mut TextBuffer, inst: Instruction) {
    let address = inst.fc_addr().jump_addr();
    fields(out, inst, if address == 0 { Target::Usual } else { Target::Address(address) });
}

fn fields(out: &mut TextBuffer, inst: Instruction, to: Target) {
    let (w, a) = (inst.fc_inst(), inst.fc_addr());
    out.text("FC ");
    out.text(names::FC_OPS[usize::from(w.op().code() & 7)].0.text());
    out.push(b' ');
    if w.jump_func() != 0 {
        out.text("JUMP_FUNC(");
        out.hex2(w.jump_func());
        out.text(") ");
    }
    if w.jump_any() {
        out.text("any ");
    }
    if w.b_else() {
        out.text("B_ELSE ");
    }
    if w.a_op() != AddrOp::NONE {
        out.text("A_OP(");
        coded(out, names::ADDR_OPS, w.a_op());
    }
    if w.b_op0() != BranchOp::NONE {
        branch_op(out, "B_OP0(", w.b_op0());
    }
    if w.b_op1() != BranchOp::NONE {
        branch_op(out, "B_OP1(", w.b_op1());
    }
    if w.b_pop_cnt() != 0 {
        constant_field(out, "B_POP_CNT(", w.b_pop_cnt());
    }
    if a.bool_addr() != 0 {
        constant(out, "bool[", a.bool_addr());
    }
    if a.int_addr() != 0 {
        constant(out, "int[", a.int_addr());
    }
    if w.ignore_uncovered() {
        out.text("IGNORE_UNCOVERED ");
    }
    common(out, inst, a, true);
    arrow(out, to);
    out.push(b';');
}

/// Prints fields that do not depend on the kind of statement.
fn common(out: &mut TextBuffer, inst: Instruction, a: FcAddr, rgb_predicate: bool) {
    let cmn = inst.cmn();
    if a.jump_global() {
        out.text("JUMP_GLOBAL ");
    }
    flags(out, cmn);
    predicates(out, cmn, rgb_predicate);
    unused_masks(out, cmn, true);
    spare_bits(out, inst);
}

/// Prints the condition of a truth table. Returns whether it determines the predicate and the boolean.
fn condition(out: &mut TextBuffer, table: u8, cmn: CmnInst, a: FcAddr) -> (bool, bool) {
    use crate::parse::condition::{ALU, BOOLEAN, PREDICATE};
    let inverted = matches!(!table, ALU | BOOLEAN | PREDICATE);
    let plain = if inverted { !table } else { table };
    let channel = match cmn.rgb_pred_sel() {
        _ if cmn.rgb_pred_inv() => None,
        PredSel::RRRR => Some("pred.r "),
        PredSel::GGGG => Some("pred.g "),
        PredSel::BBBB => Some("pred.b "),
        PredSel::AAAA => Some("pred.a "),
        _ => None,
    };
    let bang = |out: &mut TextBuffer| {
        if inverted {
            out.push(b'!');
        }
    };
    match (plain, channel) {
        (ALU, _) => {
            bang(out);
            out.text("alu ");
            (false, false)
        }
        (BOOLEAN, _) => {
            bang(out);
            constant(out, "bool[", a.bool_addr());
            (false, true)
        }
        (PREDICATE, Some(channel)) => {
            bang(out);
            out.text(channel);
            (true, false)
        }
        _ => {
            out.text("table(");
            out.hex2(table);
            out.text(") ");
            (false, false)
        }
    }
}

fn constant(out: &mut TextBuffer, head: &str, n: u8) {
    out.text(head);
    out.small(n);
    out.text("] ");
}

fn constant_field(out: &mut TextBuffer, head: &str, n: u8) {
    out.text(head);
    out.small(n);
    out.text(") ");
}

fn branch_op(out: &mut TextBuffer, head: &str, op: BranchOp) {
    out.text(head);
    coded(out, names::BRANCH_OPS, op);
}

/// Prints the word of a value, or its code, and the closing bracket.
fn coded<T: FieldValue + PartialEq>(out: &mut TextBuffer, table: &[(Kw, T)], value: T) {
    match names::word_of(table, value) {
        Some(word) => out.text(word),
        None => out.number(value.code()),
    }
    out.text(") ");
}

fn target(out: &mut TextBuffer, target: Target) {
    match target {
        Target::Usual => return,
        Target::Label(at) => out.label(usize::from(at)),
        Target::Address(at) => out.number(u32::from(at)),
    }
    out.push(b' ');
}

fn arrow(out: &mut TextBuffer, to: Target) {
    if to != Target::Usual {
        out.text("-> ");
        target(out, to);
    }
}
