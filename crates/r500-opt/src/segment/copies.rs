//! Copy propagation and value numbering.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `y = MAX x x; … y` | `… x` | the bits are the same |
//! | `y = MAD x 1 0; … y` | `… x` | they differ in the sign of a zero only, which the reader does not [demand](super::demand) |
//! | `y = f x; z = f x; … z` | `… y` | equal operations on equal operands give equal bits; so do fetches, where all pixels of a quad execute them |
//!
//! An operand must remain encodable: one register for its colours, one for its alpha, one modifier.

use std::collections::BTreeMap;

use r500_isa::words::TexInst;

use super::demand::{ZeroSigns, has_no_negative_zero};
use super::encode::Register;
use super::ir::{Arg, Atom, Finish, LaneOp, Modifier, Op, OpKind, Read, SegmentIr, ValId};

/// The source of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) atom: Atom,
    pub(crate) modifier: Modifier,
    /// Whether the sign of a zero equals that of the source.
    exact: bool,
}

impl Copy {
    /// Marks a copy as exact if its source is never -0.
    fn sharpened(self, ir: &SegmentIr) -> Self {
        let positive = match self.atom {
            _ if self.modifier.abs && !self.modifier.neg => true,
            Atom::Value(value) if self.modifier == Modifier::default() => {
                let data = &ir.values[value];
                has_no_negative_zero(&ir.ops[data.op], usize::from(data.lane))
            }
            _ => false,
        };
        Self { exact: self.exact || positive, ..self }
    }
}

/// Replaces reads of copies and of redundant computations. Returns whether anything changed.
pub(crate) fn propagate(ir: &mut SegmentIr) -> bool {
    let signs = ZeroSigns::of(ir);
    let mut copies: Vec<Option<Copy>> = vec![None; ir.values.len()];
    let mut known: BTreeMap<Key, ValId> = BTreeMap::new();
    let mut changed = false;
    for at in 0..ir.ops.len() {
        if ir.ops[at].dead {
            continue;
        }
        for index in 0..ir.ops[at].args.len() {
            if let Some(arg) = replaced(ir, &signs, &copies, at, index) {
                ir.ops[at].args[index] = arg;
                changed = true;
            }
        }
        let op = &ir.ops[at];
        for lane in 0..4 {
            let Some(value) = op.results[lane] else { continue };
            copies[value] = copy_of(op, lane).map(|copy| copy.sharpened(ir));
            if let Some(key) = key_of(ir, op, lane) {
                let first = *known.entry(key).or_insert(value);
                if first != value && copies[value].is_none() {
                    let modifier = Modifier::default();
                    copies[value] = Some(Copy { atom: Atom::Value(first), modifier, exact: true });
                }
            }
        }
    }
    changed
}

/// Returns an operand with its reads replaced, if the result is encodable.
fn replaced(
    ir: &SegmentIr,
    signs: &ZeroSigns,
    copies: &[Option<Copy>],
    at: usize,
    index: usize,
) -> Option<Arg> {
    let op = &ir.ops[at];
    let arg = &op.args[index];
    let raw = matches!(op.kind, OpKind::Lanes(lanes) if lanes.selects())
        && op.finish.iter().any(|finish| finish.omod == 7);
    if raw || op.is_texture() && ir.divergent {
        return None;
    }
    let mut new = *arg;
    let mut modifier = None;
    let mut changed = false;
    for (lane, slot) in new.lanes.iter_mut().enumerate() {
        let Some(read) = *slot else { continue };
        let Read::Atom(atom) = read else { return None };
        let mut own = arg.modifier;
        if let Atom::Value(value) = atom
            && let Some(copy) = copies[value]
            && (copy.exact || !signs.shows(op, index, lane))
        {
            *slot = Some(Read::Atom(copy.atom));
            own = arg.modifier.after(copy.modifier);
            changed = true;
        }
        if *modifier.get_or_insert(own) != own {
            return None;
        }
    }
    new.modifier = modifier?;
    (changed && is_operand(ir, op, &new)).then_some(new)
}

/// Returns whether reads form an encodable operand: one register for colours and one for alpha, or one pair of each for
/// presubtract results. The registers are those of the original program.
pub(crate) fn is_operand(ir: &SegmentIr, op: &Op, arg: &Arg) -> bool {
    let (mut colours, mut alphas, mut inlines) = (Vec::new(), Vec::new(), Vec::new());
    let presub = arg.lanes.iter().flatten().any(|read| matches!(read, Read::Presub(..)));
    for read in arg.lanes.iter().flatten() {
        let (code, atoms) = match *read {
            Read::Atom(atom) => (None, [Some(atom), None]),
            Read::Presub(code, a, b) => (Some(code), [Some(a), Some(b)]),
        };
        let places = atoms.map(|atom| atom.map(|atom| place_of(ir, atom)));
        let [Some(first), second] = places else { return false };
        let second = second.unwrap_or(CopyLocation::Literal);
        let channels = [first, second].map(CopyLocation::channel);
        match (first, second) {
            (CopyLocation::Nowhere, _) | (_, CopyLocation::Nowhere) => return false,
            (CopyLocation::Inline(inline), _) if code.is_none() => inlines.push(inline),
            (CopyLocation::Literal, _) if op.is_texture() => return false,
            (CopyLocation::Literal, CopyLocation::Literal) => {}
            // A direct read cannot be combined with presubtract results.
            _ if presub && code.is_none() => return false,
            _ => {
                let channel = match channels {
                    [Some(a), Some(b)] if a != b => return false,
                    [Some(channel), _] | [None, Some(channel)] => channel,
                    [None, None] => return false,
                };
                let list = if channel < 3 { &mut colours } else { &mut alphas };
                list.push((code, first.register(), second.register()));
            }
        }
    }
    for list in [&mut colours, &mut alphas] {
        list.sort_unstable();
        list.dedup();
    }
    inlines.sort_unstable();
    inlines.dedup();
    if op.is_texture() {
        let mut all = [colours, alphas].concat();
        all.dedup();
        let plain = arg.modifier == Modifier::default();
        let temporary = matches!(all[..], [(None, Some(Register::Temp(_)), _)]);
        return plain && inlines.is_empty() && temporary;
    }
    let free = 2 - usize::from(!colours.is_empty()) - usize::from(!alphas.is_empty());
    colours.len() <= 1 && alphas.len() <= 1 && inlines.len() <= free
}

/// The location of an atom in the original program.
#[derive(Clone, Copy, Debug)]
enum CopyLocation {
    Register(Register, u8),
    Inline(u8),
    /// Provided by swizzles.
    Literal,
    /// Not written to a register.
    Nowhere,
}

impl CopyLocation {
    fn channel(self) -> Option<u8> {
        if let Self::Register(_, channel) = self { Some(channel) } else { None }
    }

    fn register(self) -> Option<Register> {
        match self {
            Self::Register(register, _) => Some(register),
            Self::Inline(code) => Some(Register::Inline(code)),
            _ => None,
        }
    }
}

fn place_of(ir: &SegmentIr, atom: Atom) -> CopyLocation {
    match atom {
        Atom::Entry(temp, channel) => CopyLocation::Register(Register::Temp(temp), channel),
        Atom::Constant(constant, channel) => {
            CopyLocation::Register(Register::Constant(constant), channel)
        }
        Atom::Value(value) => {
            let value = &ir.values[value];
            let home = value.home.map(Register::Temp);
            home.map_or(CopyLocation::Nowhere, |home| CopyLocation::Register(home, value.lane))
        }
        Atom::Inline(code) => CopyLocation::Inline(code),
        _ => CopyLocation::Literal,
    }
}

/// Returns the source of a result that is a copy.
pub(crate) fn copy_of(op: &Op, lane: usize) -> Option<Copy> {
    let OpKind::Lanes(lanes) = op.kind else { return None };
    if op.finish[usize::from(lane == 3)] != Finish::PLAIN {
        return None;
    }
    let read = |index: usize| match op.args[index].lanes[lane] {
        Some(Read::Atom(atom)) => Some((atom, op.args[index].modifier)),
        _ => None,
    };
    match lanes {
        LaneOp::Mad => {
            let (a, b, c) = (read(0)?, read(1)?, read(2)?);
            let one = |(atom, modifier): (Atom, Modifier)| {
                let plain = Modifier { neg: modifier.neg, abs: false };
                (atom == Atom::One || atom == Atom::Inline(ONE)).then_some(plain)
            };
            let copy = |(atom, modifier): (Atom, Modifier), sign: Modifier| Copy {
                atom,
                modifier: sign.after(modifier),
                exact: false,
            };
            if c.0 == Atom::Zero {
                return match (one(a), one(b)) {
                    (_, Some(sign)) => Some(copy(a, sign)),
                    (Some(sign), _) => Some(copy(b, sign)),
                    _ => None,
                };
            }
            let literal = |atom| matches!(atom, Atom::Zero | Atom::Half | Atom::One);
            let product_is_zero =
                literal(a.0) && literal(b.0) && (a.0 == Atom::Zero || b.0 == Atom::Zero);
            product_is_zero.then(|| copy(c, Modifier::default()))
        }
        LaneOp::Min | LaneOp::Max | LaneOp::Cmp | LaneOp::Cnd => {
            let (a, b) = (read(0)?, read(1)?);
            (a == b).then_some(Copy { atom: a.0, modifier: a.1, exact: true })
        }
        LaneOp::Frc => None,
    }
}

/// The inline constant 1.
const ONE: u8 = 0x38;

/// The hash key of a computation, for value numbering.
pub(crate) type Key = (OpKind, Finish, Vec<(Option<Read>, Modifier)>, [u32; 2]);

/// Returns the key of a result; `None` if equal operations may have different results. Factors are sorted, because
/// products commute. Equal fetches have equal results if all pixels of the quad fetch.
pub(crate) fn key_of(ir: &SegmentIr, op: &Op, lane: usize) -> Option<Key> {
    let finish = op.finish[usize::from(lane == 3)];
    let mut texel = [0; 2];
    let mut reads: Vec<(Option<Read>, Modifier)> = match op.kind {
        OpKind::Lanes(_) => op.args.iter().map(|arg| (arg.lanes[lane], arg.modifier)).collect(),
        OpKind::Function(_) => vec![(op.args[0].lanes[3], op.args[0].modifier)],
        OpKind::Dot(_) => all_lanes(op),
        OpKind::Texture if ir.divergent || op.is_kill() => return None,
        OpKind::Texture => {
            let (inst, addr) = (op.inst.tex_inst(), op.inst.tex_addr());
            // A pixel that is killed in between may execute the first fetch only.
            if inst.ignore_uncovered() {
                return None;
            }
            let swizzles =
                [addr.dst_r_swiz(), addr.dst_g_swiz(), addr.dst_b_swiz(), addr.dst_a_swiz()];
            let fetch = inst.with(TexInst::TEX_SEM_ACQUIRE, false);
            texel = [fetch.bits(), u32::from(swizzles[lane].code())];
            all_lanes(op)
        }
    };
    if op.kind == OpKind::Lanes(LaneOp::Mad) && reads[1] < reads[0] {
        reads.swap(0, 1);
    }
    Some((op.kind, finish, reads, texel))
}

fn all_lanes(op: &Op) -> Vec<(Option<Read>, Modifier)> {
    op.args.iter().flat_map(|arg| arg.lanes.map(|read| (read, arg.modifier))).collect()
}
