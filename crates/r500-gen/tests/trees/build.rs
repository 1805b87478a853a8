//! Constructors of statements in the style of the corpus: t1 accumulates, t0 distinguishes pixels.

use r500_gen::tree::{
    Alu, Call, Cond, Dest, Half, Hints, If, IfForm, Leave, Loop, LoopForm, LoopKind, Pred, Return,
    Stmt, Trim,
};
use r500_isa::values::{AluResultSel, Compare, Mod, Sel, Swiz, Target};
use r500_isa::{InlineConst, Operand, Source};

/// Temporary `addr`.
pub(crate) const fn t(addr: u8) -> Source {
    Source { addr, constant: false, relative: false }
}

/// Returns an inline constant, which must exist.
pub(crate) fn inline(value: f32) -> Source {
    let code = InlineConst::exact(value).expect("an inline constant").code();
    Source { addr: 0x80 | code, constant: false, relative: false }
}

/// Returns an operand of the RGB half: `rgb(Sel::SRC0, "r00")`.
pub(crate) fn rgb(sel: Sel, letters: &str) -> Operand<3> {
    let swiz: Vec<_> = letters.chars().map(swiz).collect();
    Operand { sel, swiz: [swiz[0], swiz[1], swiz[2]], modifier: Mod::NOP }
}

/// Returns an operand of the alpha half.
pub(crate) fn alpha(sel: Sel, letter: char) -> Operand<1> {
    Operand { sel, swiz: [swiz(letter)], modifier: Mod::NOP }
}

fn swiz(letter: char) -> Swiz {
    match letter {
        'r' => Swiz::R,
        'g' => Swiz::G,
        'b' => Swiz::B,
        'a' => Swiz::A,
        '0' => Swiz::ZERO,
        'h' => Swiz::HALF,
        _ => Swiz::ONE,
    }
}

fn negated<const N: usize>(operand: Operand<N>) -> Operand<N> {
    Operand { modifier: Mod::NEG, ..operand }
}

pub(crate) fn stmt(alu: Alu) -> Stmt {
    Stmt::Alu(Box::new(alu))
}

/// t1 = 0 in every channel.
pub(crate) fn clear() -> Stmt {
    let mut alu = copy(inline(0.0));
    (alu.rgb.wmask, alu.alpha.wmask) = (7, 1);
    (alu.rgb.dest, alu.alpha.dest) = (Dest::temp(1), Dest::temp(1));
    stmt(alu)
}

/// OUT: target A = t1.
pub(crate) fn show() -> Stmt {
    let mut alu = copy(t(1));
    alu.out = true;
    (alu.rgb.omask, alu.alpha.omask) = (7, 1);
    alu.hints = Hints { tex_sem_wait: true, ..Hints::NONE };
    stmt(alu)
}

/// MAD of a source, 1 and 0, without destination.
fn copy(source: Source) -> Alu {
    let mut alu = Alu::IDLE;
    alu.rgb.sources[0] = source;
    alu.alpha.sources[0] = source;
    alu.rgb.operands = ["rgb", "111", "000"].map(|letters| rgb(Sel::SRC0, letters));
    alu.alpha.operands = ['a', '1', '0'].map(|letter| alpha(Sel::SRC0, letter));
    alu
}

/// t1 += `step` in the channels of `mask`.
pub(crate) fn add(mask: u8, step: Source) -> Stmt {
    let mut alu = Alu::IDLE;
    alu.rgb.sources = [t(1), step, Source::UNUSED];
    alu.rgb.operands = [rgb(Sel::SRC0, "rgb"), rgb(Sel::SRC0, "111"), rgb(Sel::SRC1, "rgb")];
    (alu.rgb.wmask, alu.rgb.dest) = (mask, Dest::temp(1));
    stmt(alu)
}

/// t1 += 1 in the channels of `mask`.
pub(crate) fn count(mask: u8) -> Stmt {
    add(mask, inline(1.0))
}

/// Returns the ALU result: `a.channel - b.r` compared with zero.
pub(crate) fn compare(a: Source, channel: char, b: Source, op: Compare) -> Stmt {
    let mut alu = Alu::IDLE;
    alu.rgb.sources = [a, b, Source::UNUSED];
    alu.alpha.sources[0] = a;
    alu.rgb.operands = [
        rgb(Sel::SRC0, &format!("{channel}00")),
        rgb(Sel::SRC0, "111"),
        negated(rgb(Sel::SRC1, "r00")),
    ];
    alu.result = Some((AluResultSel::RED, op));
    stmt(alu)
}

/// Returns the ALU result: t0's channel below `limit`.
pub(crate) fn below(channel: char, limit: f32) -> Stmt {
    compare(t(0), channel, inline(limit), Compare::LT)
}

/// Predicate bits: (`a.r` - `b.r`) below 0. All four, or those of `mask` without alpha.
pub(crate) fn predicate(a: Source, b: Source, mask: u8) -> Stmt {
    let mut alu = Alu::IDLE;
    alu.rgb.sources = [a, b, Source::UNUSED];
    alu.rgb.operands =
        [rgb(Sel::SRC0, "rrr"), rgb(Sel::SRC0, "111"), negated(rgb(Sel::SRC1, "rrr"))];
    (alu.rgb.omask, alu.rgb.target) = (mask & 7, Target::B);
    if mask > 7 {
        alu.alpha = Half {
            sources: [a, Source::UNUSED, Source::UNUSED],
            operands: [
                alpha(Sel::SRC0, 'r'),
                alpha(Sel::SRC0, '1'),
                negated(alpha(Sel::SRC1, 'r')),
            ],
            omask: 1,
            target: Target::B,
            ..alu.alpha
        };
    }
    stmt(alu)
}

/// IF, as drivers encode it.
pub(crate) fn branch(cond: Cond, then: Vec<Stmt>, otherwise: Option<Vec<Stmt>>) -> If {
    If { cond, then, otherwise, form: IfForm::USUAL }
}

/// LOOP or REP, as the documents describe it.
pub(crate) fn repeat(kind: LoopKind, int: u8, body: Vec<Stmt>) -> Loop {
    Loop { kind, int, body, form: LoopForm::SAFE }
}

pub(crate) fn brk() -> Stmt {
    Stmt::Break(Leave::ALWAYS)
}

pub(crate) fn call(sub: u8, when: Option<Cond>) -> Stmt {
    Stmt::Call(Call { sub, when, any: true, trim: Trim::USUAL })
}

pub(crate) fn ret(when: Option<Cond>) -> Stmt {
    Stmt::Return(Return { when, trim: Trim::USUAL })
}

/// The R predicate bit.
pub(crate) const P_R: Cond = Cond::predicate(Pred::bit(0));
