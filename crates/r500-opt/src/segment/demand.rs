//! Demanded signs of zeros: which lanes of which operands may read +0 for -0 without a change of any result.
//!
//! A copy by `MAD x*1 + 0` turns -0 into +0 and keeps other values. Its readers may read x itself if they do not demand
//! the sign. The rules follow from the reference arithmetic: sums with +0, comparisons and the clamp lose the sign of a
//! zero; RCP and RSQ preserve it.

use r500_isa::values::{AlphaOp, Omod, SrcpOp, TexOp};

use super::ir::{Arg, Atom, LaneOp, Op, OpKind, Read, SegmentIr, ValId};

/// The values whose sign of zero is observable.
pub(crate) struct ZeroSigns {
    demanded: Vec<bool>,
}

impl ZeroSigns {
    /// Computes the demand, from the last operation to the first.
    pub(crate) fn of(ir: &SegmentIr) -> Self {
        let mut signs = Self { demanded: vec![false; ir.values.len()] };
        for (value, demanded) in ir.values.iter().zip(&mut signs.demanded) {
            let is_output = value.sinks.is_output() && !ir.ignore_zero_signs;
            *demanded = value.sinks.live_out || is_output || value.pinned;
        }
        for op in ir.ops.iter().rev().filter(|op| !op.dead) {
            for (index, arg) in op.args.iter().enumerate() {
                for (lane, read) in arg.lanes.iter().enumerate() {
                    if let Some(read) = read
                        && signs.shows(op, index, lane)
                    {
                        signs.demand(*read);
                    }
                }
            }
        }
        signs
    }

    /// Returns whether the sign of a zero of a value is observable.
    pub(crate) fn demands(&self, value: ValId) -> bool {
        self.demanded[value]
    }

    fn demand(&mut self, read: Read) {
        let atoms = match read {
            Read::Atom(atom) => [Some(atom), None],
            // 1 - x and 1 - 2x do not depend on the sign.
            Read::Presub(op, a, b)
                if [SrcpOp::SUB, SrcpOp::ADD].map(SrcpOp::code).contains(&op) =>
            {
                [Some(a), Some(b)]
            }
            Read::Presub(..) => [None, None],
        };
        for atom in atoms.into_iter().flatten() {
            if let Atom::Value(value) = atom {
                self.demanded[value] = true;
            }
        }
    }

    /// Returns whether the sign of a zero that a lane of an operand reads is observable. Requires the demand of the
    /// results.
    pub(crate) fn shows(&self, op: &Op, arg: usize, lane: usize) -> bool {
        if op.args[arg].modifier.abs {
            return false;
        }
        let result = |lane: usize| {
            op.results[lane].is_some_and(|value| {
                let clamps = op.finish[usize::from(lane == 3)].clamp;
                self.demanded[value] && !clamps
            })
        };
        let any = (0..4).any(result);
        match op.kind {
            OpKind::Lanes(LaneOp::Mad) => {
                let c = &op.args[2];
                let plus_zero = c.lanes[lane] == Some(Read::Atom(Atom::Zero)) && !c.modifier.neg;
                result(lane) && (arg == 2 || !plus_zero)
            }
            OpKind::Lanes(LaneOp::Cnd | LaneOp::Cmp) => arg != 2 && result(lane),
            OpKind::Lanes(LaneOp::Min | LaneOp::Max) => result(lane),
            OpKind::Lanes(LaneOp::Frc) => false,
            OpKind::Dot(_) => any,
            OpKind::Function(code) => match AlphaOp::new(code) {
                AlphaOp::EX2 | AlphaOp::LN2 | AlphaOp::COS => false,
                AlphaOp::SIN => any,
                _ => true,
            },
            OpKind::Texture => op.inst.tex_inst().inst() != TexOp::TEXKILL,
        }
    }
}

/// Returns whether a lane of an operand is never -0: it reads an absolute value or a literal other than -0.
pub(crate) fn is_never_negative_zero(arg: &Arg, lane: usize) -> bool {
    match arg.lanes[lane] {
        _ if arg.modifier.abs && !arg.modifier.neg => true,
        Some(Read::Atom(Atom::Zero)) => !arg.modifier.neg,
        Some(Read::Atom(Atom::Half | Atom::One)) => true,
        Some(Read::Atom(Atom::Inline(code))) => code != 0,
        _ => false,
    }
}

/// Returns whether a lane of an operation is never -0. A sum is -0 if both terms are, or by underflow; neither happens
/// if a term is a literal other than -0.
pub(crate) fn has_no_negative_zero(op: &Op, lane: usize) -> bool {
    let literal = |arg: &Arg| {
        let literal = matches!(
            arg.lanes[lane],
            Some(Read::Atom(Atom::Zero | Atom::Half | Atom::One | Atom::Inline(_)))
        );
        literal && is_never_negative_zero(arg, lane)
    };
    let finish = op.finish[usize::from(lane == 3)];
    let raw = finish.omod == Omod::DISABLED.code();
    !raw && match op.kind {
        _ if finish.clamp => true,
        OpKind::Lanes(LaneOp::Mad) => literal(&op.args[2]),
        OpKind::Lanes(LaneOp::Frc) => true,
        OpKind::Lanes(_) => op.args[..2].iter().all(|arg| is_never_negative_zero(arg, lane)),
        OpKind::Function(code) => matches!(AlphaOp::new(code), AlphaOp::EX2 | AlphaOp::RSQ),
        OpKind::Dot(_) | OpKind::Texture => false,
    }
}
