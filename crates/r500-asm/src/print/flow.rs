//! Flow control: finds the nest that a program's jumps form, and prints it as such.

use r500_isa::values::{AddrOp, BranchOp, FcOp, InstType, PredSel};
use r500_isa::words::{CmnInst, FcAddr};
use r500_isa::{FieldValue, Instruction};

use super::{Out, flags, predicates, spare_bits, unused_masks};
use crate::flow::{Kind, encode};
use crate::names::{self, Kw};

/// How the flow-control instructions of a program print.
pub(super) struct Nest {
    pub(super) plans: Vec<Plan>,
    /// Which addresses have a label; jump addresses have nine bits.
    pub(super) labels: [bool; 512],
}

/// How a flow-control instruction prints.
pub(super) struct Plan {
    pub(super) at: usize,
    kind: Kind,
    target: Target,
    /// The integer constant that follows from the nest.
    int: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The one that follows from the nest.
    Usual,
    Label(u16),
    Address(u16),
}

impl Plan {
    pub(super) const fn opens(&self) -> bool {
        matches!(self.kind, Kind::If { .. } | Kind::Else | Kind::Loop { .. })
    }

    pub(super) const fn closes(&self) -> bool {
        matches!(self.kind, Kind::Else | Kind::Endif | Kind::Endloop { .. })
    }
}

/// An open block while the nest is found: numbers are those of plans.
struct Open {
    plan: usize,
    else_plan: Option<usize>,
}

/// The usual target of a statement that belongs to no nest.
const NO_TARGET: usize = 0;

impl Nest {
    pub(super) fn new(code: &[Instruction], offset: u16) -> Self {
        let mut plans: Vec<Plan> = Vec::new();
        for (at, inst) in code.iter().enumerate() {
            if inst.ty() == InstType::FC {
                plans.push(Plan { at, kind: shape(*inst), target: Target::Usual, int: 0 });
            }
        }
        let mut usual = vec![NO_TARGET; plans.len()];
        pair(&mut plans, &mut usual, code);
        exits(&mut plans, &mut usual);

        let mut labels = [false; 512];
        for (plan, usual) in plans.iter_mut().zip(usual) {
            let addr = code[plan.at].fc_addr();
            let base = if addr.jump_global() { usize::from(offset) } else { 0 };
            let actual = usize::from(addr.jump_addr());
            let general = matches!(plan.kind, Kind::General(_));
            let usual = if general { 0 } else { usual + base };
            let named = matches!(plan.kind, Kind::Call | Kind::Jump);
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
        Self { plans, labels }
    }
}

/// What an instruction would be if it stood in the right place. What a statement says about the
/// branch counters must be there; votes, targets and constants may differ from the usual.
fn shape(inst: Instruction) -> Kind {
    let w = inst.fc_inst();
    let general = Kind::General(w.op());
    let (none, incr, decr) = (BranchOp::NONE, BranchOp::INCR, BranchOp::DECR);
    let counters = (w.b_op0(), w.b_op1(), w.b_pop_cnt());
    let quiet = counters == (none, none, 0);
    if w.op() == FcOp::JUMP {
        return match (w.b_else(), w.a_op(), counters) {
            (false, AddrOp::NONE, (op, BranchOp::NONE | BranchOp::INCR, 0)) if op == incr => {
                Kind::If { has_else: false }
            }
            (true, AddrOp::NONE, all) if all == (none, decr, 1) && w.jump_func() == 0 => Kind::Else,
            (false, AddrOp::NONE, all) if all == (decr, none, 1) && w.jump_func() == 0 => {
                Kind::Endif
            }
            (false, AddrOp::PUSH, (op, ..)) if op == none => Kind::Call,
            (false, AddrOp::POP, (op, ..)) if op == none => Kind::Return,
            (false, AddrOp::NONE, _) if quiet => Kind::Jump,
            _ => general,
        };
    }
    if w.b_else() || w.a_op() != AddrOp::NONE || w.b_op0() != none {
        return general;
    }
    match (w.op(), w.jump_func()) {
        (FcOp::LOOP, 0) if quiet => Kind::Loop { rep: false },
        (FcOp::REP, 0) if quiet => Kind::Loop { rep: true },
        (FcOp::ENDLOOP, 0xff) if quiet => Kind::Endloop { rep: false },
        (FcOp::ENDREP, 0xff) if quiet => Kind::Endloop { rep: true },
        (FcOp::BREAKLOOP, _) => Kind::Break { rep: false, depth: 0 },
        (FcOp::BREAKREP, _) => Kind::Break { rep: true, depth: 0 },
        (FcOp::CONTINUE, _) => Kind::Continue { depth: 0 },
        _ => general,
    }
}

/// Finds which blocks belong together, with their usual targets; all others become general.
fn pair(plans: &mut [Plan], usual: &mut [usize], code: &[Instruction]) {
    let mut open: Vec<Open> = Vec::new();
    for i in 0..plans.len() {
        let at = plans[i].at;
        let top = open.last_mut();
        let top_kind = top.as_ref().map(|o| plans[o.plan].kind);
        match (plans[i].kind, top, top_kind) {
            (Kind::If { .. } | Kind::Loop { .. }, ..) => {
                open.push(Open { plan: i, else_plan: None });
            }
            (Kind::Else, Some(top), Some(Kind::If { .. })) if top.else_plan.is_none() => {
                top.else_plan = Some(i);
            }
            (Kind::Endif, Some(top), Some(Kind::If { .. })) => {
                let (first, middle) = (top.plan, top.else_plan);
                open.pop();
                usual[i] = at + 1;
                if let Some(middle) = middle {
                    plans[first].kind = Kind::If { has_else: true };
                    usual[first] = plans[middle].at + 1;
                    usual[middle] = at + 1;
                } else {
                    usual[first] = at + 1;
                }
            }
            (Kind::Endloop { rep }, Some(top), Some(Kind::Loop { rep: opened }))
                if rep == opened =>
            {
                let first = top.plan;
                open.pop();
                usual[first] = at + 1;
                usual[i] = plans[first].at + 1;
                plans[i].int = code[plans[first].at].fc_addr().int_addr();
            }
            (Kind::Else | Kind::Endif | Kind::Endloop { .. }, ..) => {
                generalise(&mut plans[i], code)
            }
            _ => {}
        }
    }
    for block in open {
        generalise(&mut plans[block.plan], code);
        if let Some(middle) = block.else_plan {
            generalise(&mut plans[middle], code);
        }
    }
}

fn generalise(plan: &mut Plan, code: &[Instruction]) {
    plan.kind = Kind::General(code[plan.at].fc_inst().op());
}

/// Gives breaks and continues their depth and usual target; those outside of a loop of their kind
/// become general.
fn exits(plans: &mut [Plan], usual: &mut [usize]) {
    /// A loop: whether `REP`, the address of its end, and the branches open in it.
    struct Loop {
        rep: bool,
        end: usize,
        branches: usize,
    }
    let mut loops: Vec<Loop> = Vec::new();
    for i in 0..plans.len() {
        match plans[i].kind {
            Kind::If { .. } => {
                if let Some(inner) = loops.last_mut() {
                    inner.branches += 1;
                }
            }
            Kind::Endif => {
                if let Some(inner) = loops.last_mut() {
                    inner.branches = inner.branches.saturating_sub(1);
                }
            }
            // The usual target of a loop lies behind its end.
            Kind::Loop { rep } => loops.push(Loop { rep, end: usual[i] - 1, branches: 0 }),
            Kind::Endloop { .. } => {
                loops.pop();
            }
            Kind::Break { rep: of_rep, .. } => match loops.last() {
                Some(Loop { rep, end, branches }) if *rep == of_rep && *branches < 32 => {
                    let depth = u8::try_from(*branches).unwrap_or(31);
                    plans[i].kind = Kind::Break { rep: of_rep, depth };
                    usual[i] = end + 1;
                }
                _ => {
                    let op = if of_rep { FcOp::BREAKREP } else { FcOp::BREAKLOOP };
                    plans[i].kind = Kind::General(op);
                }
            },
            Kind::Continue { .. } => match loops.last() {
                Some(Loop { end, branches, .. }) if *branches < 32 => {
                    let depth = u8::try_from(*branches).unwrap_or(31);
                    plans[i].kind = Kind::Continue { depth };
                    usual[i] = *end;
                }
                _ => plans[i].kind = Kind::General(FcOp::CONTINUE),
            },
            _ => {}
        }
    }
}

// Printing.

/// A flow-control instruction as planned.
pub(super) fn planned(out: &mut Out, inst: Instruction, plan: &Plan) {
    let (w, a) = (inst.fc_inst(), inst.fc_addr());
    let word = match plan.kind {
        Kind::General(_) => return fields(out, inst, plan.target),
        Kind::If { .. } => "IF",
        Kind::Else => "ELSE",
        Kind::Endif => "ENDIF",
        Kind::Loop { rep: false } => "LOOP",
        Kind::Loop { rep: true } => "REP",
        Kind::Endloop { rep: false } => "ENDLOOP",
        Kind::Endloop { rep: true } => "ENDREP",
        Kind::Break { .. } => "BREAK",
        Kind::Continue { .. } => "CONTINUE",
        Kind::Call => "CALL",
        Kind::Return => "RETURN",
        Kind::Jump => "JUMP",
    };
    out.text(word);
    out.push(b' ');
    let named_target = matches!(plan.kind, Kind::Call | Kind::Jump);
    if named_target {
        target(out, plan.target);
    }
    if matches!(plan.kind, Kind::Loop { .. }) {
        constant(out, "int[", a.int_addr());
    }
    let conditional = matches!(
        plan.kind,
        Kind::If { .. }
            | Kind::Break { .. }
            | Kind::Continue { .. }
            | Kind::Call
            | Kind::Return
            | Kind::Jump
    );
    let (mut predicate, mut boolean) = (false, false);
    if matches!(plan.kind, Kind::If { .. }) {
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
    if a.int_addr() != plan.int && !matches!(plan.kind, Kind::Loop { .. }) {
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

/// A flow-control instruction by its fields, its target by number.
pub(super) fn general(out: &mut Out, inst: Instruction) {
    let address = inst.fc_addr().jump_addr();
    fields(out, inst, if address == 0 { Target::Usual } else { Target::Address(address) });
}

fn fields(out: &mut Out, inst: Instruction, to: Target) {
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

/// What does not depend on the kind of statement.
fn common(out: &mut Out, inst: Instruction, a: FcAddr, rgb_predicate: bool) {
    let cmn = inst.cmn();
    if a.jump_global() {
        out.text("JUMP_GLOBAL ");
    }
    flags(out, cmn);
    predicates(out, cmn, rgb_predicate);
    unused_masks(out, cmn, true);
    spare_bits(out, inst);
}

/// The condition with that table, and whether it tells the predicate and the boolean.
fn condition(out: &mut Out, table: u8, cmn: CmnInst, a: FcAddr) -> (bool, bool) {
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
    let bang = |out: &mut Out| {
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

fn constant(out: &mut Out, head: &str, n: u8) {
    out.text(head);
    out.small(n);
    out.text("] ");
}

fn constant_field(out: &mut Out, head: &str, n: u8) {
    out.text(head);
    out.small(n);
    out.text(") ");
}

fn branch_op(out: &mut Out, head: &str, op: BranchOp) {
    out.text(head);
    coded(out, names::BRANCH_OPS, op);
}

/// A word for a value, or its code, and the bracket behind it.
fn coded<T: FieldValue + PartialEq>(out: &mut Out, table: &[(Kw, T)], value: T) {
    match names::word_of(table, value) {
        Some(word) => out.text(word),
        None => out.number(value.code()),
    }
    out.text(") ");
}

fn target(out: &mut Out, target: Target) {
    match target {
        Target::Usual => return,
        Target::Label(at) => out.label(usize::from(at)),
        Target::Address(at) => out.number(u32::from(at)),
    }
    out.push(b' ');
}

fn arrow(out: &mut Out, to: Target) {
    if to != Target::Usual {
        out.text("-> ");
        target(out, to);
    }
}
