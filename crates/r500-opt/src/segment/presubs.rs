//! Presubtract selection: sums of two registers, 1 - x and 1 - 2x become presubtract operands of their readers.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `t = MAD x 1 y; z = f t` | `z = f (x + y)` | the sums differ in the sign of a zero only, where no reader [demands](super::demand) it |
//! | `t = MAD x 1 -y; z = f t` | `z = f (x - y)` | likewise |
//! | `t = MAD 1 1 -x; z = f t` | `z = f (1 - x)` | the same operations in the same order |
//! | `t = MAD -x 2 1; z = f t` | `z = f (1 - 2x)` | likewise |
//!
//! Both registers are read in the channel of the result. The rewrite applies only if all readers find source addresses,
//! so that the sum is dead.

use r500_isa::InlineConst;
use r500_isa::values::SrcpOp;

use super::copies::is_operand;
use super::demand::ZeroSigns;
use super::encode::{Register, RegisterAssignment, fits};
use super::ir::{Arg, Atom, Finish, LaneOp, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// Selects presubtract results. Returns whether anything changed.
pub(crate) fn select(ir: &mut SegmentIr) -> bool {
    let mut changed = false;
    let mut signs = ZeroSigns::of(ir);
    for at in 0..ir.ops.len() {
        if let Some(readers) = readers_of_sum(ir, &signs, at) {
            for (reader, op) in readers {
                ir.ops[reader] = op;
            }
            signs = ZeroSigns::of(ir);
            changed = true;
        }
    }
    changed
}

/// Registers of values in the original program.
struct Homes;

impl RegisterAssignment for Homes {
    fn place(&self, ir: &SegmentIr, value: ValId) -> (Register, u8) {
        let data = &ir.values[value];
        (data.home.map_or(Register::Set(value), Register::Temp), data.lane)
    }
}

/// Returns the rewritten readers of a sum; `None` if one of them cannot read it as a presubtract operand.
fn readers_of_sum(ir: &SegmentIr, signs: &ZeroSigns, at: OpId) -> Option<Vec<(OpId, Op)>> {
    let op = &ir.ops[at];
    if op.dead || op.kind != OpKind::Lanes(LaneOp::Mad) {
        return None;
    }
    let mut sums: Vec<(ValId, Sum)> = Vec::new();
    for lane in 0..4 {
        let Some(value) = op.results[lane] else { continue };
        let plain = op.finish[usize::from(lane == 3)] == Finish::PLAIN;
        if !plain || !ir.values[value].sinks.is_empty() {
            return None;
        }
        sums.push((value, Sum::of(ir, op, lane)?));
    }
    let mut readers = Vec::new();
    for (reader, op) in ir.ops.iter().enumerate().filter(|(_, op)| !op.dead) {
        let read = |read: &Read| match *read {
            Read::Atom(Atom::Value(value)) => {
                sums.iter().find(|sum| sum.0 == value).map(|sum| sum.1)
            }
            _ => None,
        };
        let in_presub = op.args.iter().flat_map(|arg| arg.lanes).flatten().any(|read| {
            let of = |atom| sums.iter().any(|sum| atom == Atom::Value(sum.0));
            matches!(read, Read::Presub(_, a, b) if of(a) || of(b))
        });
        if in_presub {
            return None;
        }
        if !op
            .args
            .iter()
            .flat_map(|arg| arg.lanes.iter().flatten())
            .any(|lane| read(lane).is_some())
        {
            continue;
        }
        let mut new = op.clone();
        for (index, arg) in new.args.iter_mut().enumerate() {
            if !arg.lanes.iter().flatten().any(|lane| read(lane).is_some()) {
                continue;
            }
            for (lane, slot) in arg.lanes.iter_mut().enumerate() {
                let Some(sum) = slot.as_ref().and_then(read) else { continue };
                if !sum.exact && signs.shows(op, index, lane) {
                    return None;
                }
                *slot = Some(sum.read);
            }
        }
        let legal = !op.is_texture()
            && new.args.iter().all(|arg| is_operand(ir, &new, arg))
            && fits(ir, &Homes, &[&new]);
        if !legal {
            return None;
        }
        readers.push((reader, new));
    }
    (!readers.is_empty()).then_some(readers)
}

/// A sum that the presubtract unit computes.
#[derive(Clone, Copy, Debug)]
struct Sum {
    read: Read,
    /// Whether the signs of zeros are the same.
    exact: bool,
}

impl Sum {
    fn of(ir: &SegmentIr, op: &Op, lane: usize) -> Option<Self> {
        let term = |arg: &Arg| match arg.lanes[lane] {
            Some(Read::Atom(atom)) if !arg.modifier.abs => Some((atom, arg.modifier.neg)),
            _ => None,
        };
        let [a, b, c] = &op.args[..] else { return None };
        let (a, b, c) = (term(a)?, term(b)?, term(c)?);
        let (x, factor) = if literal(b.0).is_some() { (a, b) } else { (b, a) };
        let negative = x.1 != factor.1;
        let exact = |op: SrcpOp, atom| {
            let read = Read::Presub(op.code(), atom, Atom::Zero);
            channel(ir, atom).map(|_| Self { read, exact: true })
        };
        match (literal(x.0), literal(factor.0)?, literal(c.0)) {
            (None, 1.0, None) => {
                let channels = [channel(ir, x.0)?, channel(ir, c.0)?];
                let (op, first, second) = match (negative, c.1) {
                    (false, false) => (SrcpOp::ADD, x.0, c.0),
                    (false, true) => (SrcpOp::SUB, c.0, x.0),
                    (true, false) => (SrcpOp::SUB, x.0, c.0),
                    (true, true) => return None,
                };
                let read = Read::Presub(op.code(), first, second);
                (channels[0] == channels[1]).then_some(Self { read, exact: false })
            }
            (None, 1.0, Some(1.0)) if negative && !c.1 => exact(SrcpOp::NEG, x.0),
            (Some(1.0), 1.0, None) if !negative && c.1 => exact(SrcpOp::NEG, c.0),
            (None, 2.0, Some(1.0)) if negative && !c.1 => exact(SrcpOp::NEG2, x.0),
            _ => None,
        }
    }
}

/// Returns the value of a literal or inline constant.
fn literal(atom: Atom) -> Option<f32> {
    match atom {
        Atom::Zero => Some(0.0),
        Atom::Half => Some(0.5),
        Atom::One => Some(1.0),
        Atom::Inline(code) => Some(InlineConst::new(code).value()),
        _ => None,
    }
}

/// Returns the channel of an atom that is in a register.
fn channel(ir: &SegmentIr, atom: Atom) -> Option<u8> {
    match atom {
        Atom::Entry(_, channel) | Atom::Constant(_, channel) => Some(channel),
        Atom::Value(value) => {
            let data = &ir.values[value];
            data.home.map(|_| data.lane)
        }
        _ => None,
    }
}
