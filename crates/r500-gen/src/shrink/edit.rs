//! Simplification of statements and their parts.
//!
//! Every edit leads towards a simplest form and none back, so that shrinking terminates.

use r500_isa::state::UsFcIntConst;
use r500_isa::values::{AlphaOp, Channel, Mod, Omod, RgbOp, Sel, SrcpOp, Swiz, Target};
use r500_isa::{Operand, Source};

use crate::tree::{
    Alu, Call, Cond, Half, Hints, If, IfForm, IfShape, Leave, Loop, LoopForm, LoopKind, Pred, Stmt,
    Tex, TexReg, Tree, Trim,
};

/// Number of versions of [`integer`].
pub(super) const INTEGERS: usize = 6;

/// Simplifies an integer constant: fewer iterations (at least one), aL from 0, no step.
pub(super) fn integer(int: &mut UsFcIntConst, version: usize) {
    let (passes, step) = (int.kr(), int.kb());
    *int = match version {
        0 => int.with(UsFcIntConst::KR, passes.min(1)),
        1 => int.with(UsFcIntConst::KR, passes.min(2)),
        2 => int.with(UsFcIntConst::KR, (passes / 2).max(passes.min(1))),
        3 => int.with(UsFcIntConst::KR, passes.saturating_sub(1).max(passes.min(1))),
        4 => int.with(UsFcIntConst::KG, 0),
        _ => int.with(UsFcIntConst::KB, if step == 1 { 0 } else { step.signum() }),
    };
}

/// Applies simplification `version` to statement `i` of list `n`; returns `false` after the last.
pub(super) fn simplify(tree: &mut Tree, n: usize, i: usize, version: usize) -> bool {
    let subs: Vec<_> = tree.subs.iter().map(|sub| sub.body.clone()).collect();
    let Some(list) = tree.list_mut(n) else { return false };
    let Some(stmt) = list.get_mut(i) else { return false };
    match version {
        // Replaces the statement by its body.
        0 | 1 => {
            let inner = match stmt {
                Stmt::Call(call) if version == 0 => subs.get(usize::from(call.sub)).cloned(),
                stmt => stmt.lists()[version].cloned(),
            };
            if let Some(inner) = inner {
                list.splice(i..=i, inner);
            }
            true
        }
        _ => match stmt {
            Stmt::Alu(alu) => self::alu(alu, version - 2),
            Stmt::Tex(tex) => self::tex(tex, version - 2),
            Stmt::If(node) => branch(node, version - 2),
            Stmt::Loop(node) => repeat(node, version - 2),
            Stmt::Break(node) | Stmt::Continue(node) => leave(node, version - 2),
            Stmt::Call(node) => call(node, version - 2),
            Stmt::Return(node) => {
                edits(node, version - 2, &[|node| node.when = None, |node| node.trim = Trim::USUAL])
            }
        },
    }
}

/// Renumbers calls after the removal of a subroutine.
pub(super) fn renumber(tree: &mut Tree, removed: usize) {
    let mut n = 0;
    while let Some(list) = tree.list_mut(n) {
        for stmt in list {
            if let Stmt::Call(call) = stmt
                && usize::from(call.sub) > removed
            {
                call.sub -= 1;
            }
        }
        n += 1;
    }
}

/// Applies one of a list of edits; returns `false` if there is none with that number.
fn edits<T>(value: &mut T, version: usize, list: &[fn(&mut T)]) -> bool {
    list.get(version).map(|edit| edit(value)).is_some()
}

fn branch(node: &mut If, version: usize) -> bool {
    edits(
        node,
        version,
        &[
            |node| node.otherwise = None,
            |node| node.form.shape = IfShape::Usual,
            |node| node.form = IfForm { shape: node.form.shape, ..IfForm::USUAL },
            |node| node.form.trims = [Trim::USUAL; 3],
            |node| node.form.else_any = false,
            |node| node.form.endif = IfForm::USUAL.endif,
            |node| condition(&mut node.cond),
            |node| node.cond.boolean = 0,
            |node| node.cond.pred.inv = false,
        ],
    )
}

fn condition(cond: &mut Cond) {
    if *cond != Cond::ALU_RESULT.not() {
        *cond = Cond::ALU_RESULT;
    }
}

fn repeat(node: &mut Loop, version: usize) -> bool {
    edits(
        node,
        version,
        &[
            |node| node.form = LoopForm::SAFE,
            |node| node.form.trims = [Trim::USUAL; 2],
            |node| node.form.any = true,
            |node| node.form.past_end = true,
            |node| node.form.end_any = true,
            |node| node.kind = LoopKind::Rep,
        ],
    )
}

fn leave(node: &mut Leave, version: usize) -> bool {
    edits(
        node,
        version,
        &[
            |node| node.when = None,
            |node| node.any = false,
            |node| node.trim = Trim::USUAL,
            |node| node.when.iter_mut().for_each(condition),
        ],
    )
}

fn call(node: &mut Call, version: usize) -> bool {
    edits(
        node,
        version,
        &[
            |node| node.when = None,
            |node| node.any = true,
            |node| node.trim = Trim::USUAL,
            |node| node.when.iter_mut().for_each(condition),
        ],
    )
}

fn tex(tex: &mut Tex, version: usize) -> bool {
    edits(
        tex,
        version,
        &[
            |tex| *tex = Tex { op: tex.op, wmask: tex.wmask, ..Tex::IDLE },
            |tex| tex.hints = Hints::NONE,
            |tex| tex.rgb_pred = Pred::NONE,
            |tex| tex.alpha_pred = Pred::NONE,
            |tex| tex.coord.relative = false,
            |tex| tex.dest.relative = false,
            |tex| tex.coord = TexReg { swiz: TexReg::temp(0).swiz, ..tex.coord },
            |tex| {
                let [first, ..] = tex.coord.swiz;
                if tex.coord.swiz != TexReg::temp(0).swiz {
                    tex.coord.swiz = [first; 4];
                }
            },
            |tex| tex.swiz = [Channel::R, Channel::G, Channel::B, Channel::A],
            |tex| tex.gradients = Tex::IDLE.gradients,
            |tex| (tex.unit, tex.unscaled) = (0, false),
            |tex| (tex.ignore_uncovered, tex.acquire) = (false, false),
            |tex| tex.wmask = 0,
        ],
    )
}

fn alu(alu: &mut Alu, version: usize) -> bool {
    const WHOLE: &[fn(&mut Alu)] = &[
        |alu| alu.hints = Hints::NONE,
        |alu| {
            // An instruction without visible results may be simplified beyond an idle half.
            if alu.rgb.wmask | alu.rgb.omask != 0 || alu.rgb.op != RgbOp::MAD {
                alu.rgb = Half::<RgbOp, 3>::IDLE;
            }
        },
        |alu| {
            if alu.alpha.wmask | alu.alpha.omask != 0 || alu.alpha.op != AlphaOp::MAD {
                alu.alpha = Half::<AlphaOp, 1>::IDLE;
            }
        },
        |alu| alu.result = None,
        |alu| alu.depth = false,
        |alu| alu.out = false,
        |alu| alu.rgb.op = RgbOp::MAD,
        |alu| alu.alpha.op = AlphaOp::MAD,
    ];
    if edits(alu, version, WHOLE) {
        return true;
    }
    let version = version - WHOLE.len();
    const HALF: usize = HALF_EDITS + 3 * (SOURCE_EDITS + OPERAND_EDITS);
    match version / HALF {
        0 => half(&mut alu.rgb, version),
        1 => half(&mut alu.alpha, version - HALF),
        _ => return false,
    }
    true
}

const HALF_EDITS: usize = 14;
const SOURCE_EDITS: usize = 2;
const OPERAND_EDITS: usize = 5;

fn half<Op, const N: usize>(half: &mut Half<Op, N>, version: usize) {
    if let Some(version) = version.checked_sub(HALF_EDITS) {
        let (kind, n) = (version / 3, version % 3);
        match kind.checked_sub(SOURCE_EDITS) {
            None => source(&mut half.sources[n], kind),
            Some(kind) => operand(&mut half.operands[n], kind),
        }
        return;
    }
    match version {
        0 => half.pred = Pred::NONE,
        1 => half.pred.inv = false,
        2 => half.clamp = false,
        3 => half.omod = Omod::MUL1,
        4 => half.srcp = SrcpOp::NEG2,
        5 => half.target = Target::A,
        6 => half.dest.relative = false,
        7 => half.wmask = 0,
        8 => half.omask = 0,
        9 => half.wmask &= 6,
        10 => half.wmask &= 5,
        11 => half.wmask &= 3,
        12 => half.omask &= if half.omask & 1 != 0 { 1 } else { 2 },
        _ => half.dest.addr = half.dest.addr.min(8),
    }
}

fn source(source: &mut Source, version: usize) {
    match version {
        0 => *source = Source::UNUSED,
        _ => source.relative = false,
    }
}

fn operand<const N: usize>(operand: &mut Operand<N>, version: usize) {
    let plain = std::array::from_fn(|i| match N {
        1 => Swiz::A,
        _ => [Swiz::R, Swiz::G, Swiz::B][i % 3],
    });
    let simpler = [[Swiz::ZERO; N], [Swiz::ONE; N], plain];
    let now = simpler.iter().position(|swiz| *swiz == operand.swiz).unwrap_or(simpler.len());
    match version {
        0 => operand.modifier = Mod::NOP,
        1 => operand.sel = Sel::SRC0,
        _ if version - 2 < now => operand.swiz = simpler[version - 2],
        _ => {}
    }
}
