//! Copies from several registers to one render target become one instruction.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `o.r = MAX x x; o.g = MAX y y; o.b = MAX z z` | `o.rgb = MAD x10 1y0 00z` | they differ in the sign of a zero only: there is no -0, or it is not [demanded](super::demand) |
//!
//! Each operand reads one register, so that the three lanes may come from three.

use super::copies::copy_of;
use super::demand::{ZeroSigns, has_no_negative_zero};
use super::ir::{Arg, Atom, Finish, LaneOp, Modifier, OpId, OpKind, Read, SegmentIr};

/// Gathers the copies to each render target. Returns whether anything changed.
pub(crate) fn gather(ir: &mut SegmentIr) -> bool {
    let signs = ZeroSigns::of(ir);
    let mut changed = false;
    for at in (0..ir.ops.len()).rev() {
        let Some(copy) = copy_to_output(ir, &signs, at) else { continue };
        let mut lanes = copy.lanes;
        let mut sources = Sources::default();
        if !sources.add(ir, &lanes) {
            continue;
        }
        let mut gone = Vec::new();
        for other in (0..at).rev() {
            let Some(earlier) = copy_to_output(ir, &signs, other) else { continue };
            let is_free =
                |(lane, atom): (usize, &Option<Atom>)| atom.is_none() || lanes[lane].is_none();
            if earlier.target != copy.target || !earlier.lanes.iter().enumerate().all(is_free) {
                continue;
            }
            let mut with = sources.clone();
            if with.add(ir, &earlier.lanes) {
                sources = with;
                for (lane, atom) in lanes.iter_mut().zip(earlier.lanes) {
                    *lane = lane.or(atom);
                }
                gone.push(other);
            }
        }
        // One source is a copy.
        if sources.count() < 2 || ir.ops[at].kind == OpKind::Lanes(LaneOp::Mad) && gone.is_empty() {
            continue;
        }
        for other in gone {
            for lane in 0..3 {
                if let Some(value) = ir.ops[other].results[lane].take() {
                    ir.ops[at].results[lane] = Some(value);
                    ir.values[value].op = at;
                }
            }
            ir.ops[other].dead = true;
        }
        let args = sources.args(ir, &lanes);
        let op = &mut ir.ops[at];
        op.kind = OpKind::Lanes(LaneOp::Mad);
        op.args = args;
        changed = true;
    }
    changed
}

/// A copy to lanes of a render target.
struct OutputCopy {
    target: u8,
    /// What each lane gets.
    lanes: [Option<Atom>; 3],
}

fn copy_to_output(ir: &SegmentIr, signs: &ZeroSigns, at: OpId) -> Option<OutputCopy> {
    let op = &ir.ops[at];
    if op.dead || op.mask() == 0 || op.mask() & 8 != 0 {
        return None;
    }
    let finish = op.finish[0];
    if finish != Finish::PLAIN {
        return None;
    }
    let mut lanes = [None; 3];
    let mut target = None;
    for (lane, slot) in lanes.iter_mut().enumerate() {
        let Some(value) = op.results[lane] else { continue };
        let copy = copy_of(op, lane).filter(|copy| copy.modifier == Modifier::default())?;
        let sinks = ir.values[value].sinks;
        let is_only_output = !sinks.live_out && !sinks.depth && sinks.alu_result.is_none();
        let is_exact = !signs.demands(value) || is_positive(ir, copy.atom);
        let of = sinks.output.filter(|_| is_only_output && is_exact)?;
        if *target.get_or_insert(of) != of || ir.ops.iter().any(|op| !op.dead && op.reads(value)) {
            return None;
        }
        *slot = Some(copy.atom);
    }
    Some(OutputCopy { target: target?, lanes })
}

/// Returns whether an atom is never -0.
fn is_positive(ir: &SegmentIr, atom: Atom) -> bool {
    match atom {
        Atom::Value(value) => {
            let data = &ir.values[value];
            has_no_negative_zero(&ir.ops[data.op], usize::from(data.lane))
        }
        Atom::Zero | Atom::Half | Atom::One => true,
        Atom::Entry(..) | Atom::Constant(..) | Atom::Inline(_) => false,
    }
}

/// The registers that an instruction's operands read: up to three of the colours, and up to three of alpha.
#[derive(Clone, Default)]
struct Sources {
    colours: Vec<Source>,
    alphas: Vec<Source>,
}

/// What is known to be one register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Entry(u8),
    Result(OpId),
    Constant(u8),
    Inline(u8),
}

impl Sources {
    /// Returns what an atom is read from, and whether that is alpha; `None` for what a swizzle has.
    fn of(ir: &SegmentIr, atom: Atom) -> Option<(Source, bool)> {
        match atom {
            Atom::Entry(temp, channel) => Some((Source::Entry(temp), channel == 3)),
            Atom::Value(value) => {
                let data = &ir.values[value];
                Some((Source::Result(data.op), data.lane == 3))
            }
            Atom::Constant(constant, channel) => Some((Source::Constant(constant), channel == 3)),
            Atom::Inline(code) => Some((Source::Inline(code), false)),
            Atom::Zero | Atom::Half | Atom::One => None,
        }
    }

    /// Adds what lanes read. Returns whether there are operands for all.
    fn add(&mut self, ir: &SegmentIr, lanes: &[Option<Atom>; 3]) -> bool {
        for (source, is_alpha) in lanes.iter().flatten().filter_map(|atom| Self::of(ir, *atom)) {
            let list = if is_alpha { &mut self.alphas } else { &mut self.colours };
            if !list.contains(&source) {
                list.push(source);
            }
        }
        self.count() <= 3
    }

    fn count(&self) -> usize {
        self.colours.len().max(self.alphas.len())
    }

    /// Returns the operands of MAD: what a lane copies is a factor of one, or the summand.
    #[expect(clippy::expect_used, reason = "a lane without an operand must not be encoded")]
    fn args(&self, ir: &SegmentIr, lanes: &[Option<Atom>; 3]) -> Vec<Arg> {
        let mut args = vec![Arg::default(); 3];
        for (lane, atom) in lanes.iter().enumerate() {
            let Some(atom) = *atom else { continue };
            let place = Self::of(ir, atom).map(|(source, is_alpha)| {
                let list = if is_alpha { &self.alphas } else { &self.colours };
                let place = list.iter().position(|other| *other == source);
                place.expect("`add` was given each lane")
            });
            let reads = match place {
                // Any operand has the numbers of a swizzle.
                None | Some(0) => [atom, Atom::One, Atom::Zero],
                Some(1) => [Atom::One, atom, Atom::Zero],
                Some(_) => [Atom::Zero, Atom::Zero, atom],
            };
            for (arg, read) in args.iter_mut().zip(reads) {
                arg.lanes[lane] = Some(Read::Atom(read));
            }
        }
        args
    }
}
