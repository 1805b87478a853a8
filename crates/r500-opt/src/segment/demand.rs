//! Demanded signs of zeros: which lanes of which operands may read +0 for -0 without a change to any result.
//!
//! A copy by `MAD x*1 + 0` gives +0 for -0, and x otherwise; so its readers may read x itself exactly where they
//! do not demand the sign. The rules are those of the reference arithmetic: sums with +0, comparisons and the
//! clamp lose the sign of a zero, RCP and RSQ show it.

use r500_isa::values::{AlphaOp, SrcpOp, TexOp};

use super::form::{Atom, Form, Kind, LaneOp, Op, Read};

/// The values whose sign of zero shows.
pub(crate) struct ZeroSigns {
    demanded: Vec<bool>,
}

impl ZeroSigns {
    /// Computes the demand, from the last operation to the first.
    pub(crate) fn of(form: &Form) -> Self {
        let mut signs = Self { demanded: vec![false; form.values.len()] };
        for (value, demanded) in form.values.iter().zip(&mut signs.demanded) {
            *demanded = value.sinks.live_out || value.sinks.is_output() || value.pinned;
        }
        for op in form.ops.iter().rev().filter(|op| !op.dead) {
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

    fn demand(&mut self, read: Read) {
        let atoms = match read {
            Read::Atom(atom) => [Some(atom), None],
            // 1 - x and 1 - 2x lose the sign.
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

    /// Returns whether the sign of a zero that a lane of an operand reads may show. The demand of the results
    /// must be known.
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
            Kind::Lanes(LaneOp::Mad) => {
                let c = &op.args[2];
                let plus_zero = c.lanes[lane] == Some(Read::Atom(Atom::Zero)) && !c.modifier.neg;
                result(lane) && (arg == 2 || !plus_zero)
            }
            Kind::Lanes(LaneOp::Cnd | LaneOp::Cmp) => arg != 2 && result(lane),
            Kind::Lanes(LaneOp::Min | LaneOp::Max) => result(lane),
            Kind::Lanes(LaneOp::Frc) => false,
            Kind::Dot(_) => any,
            Kind::Function(code) => match AlphaOp::new(code) {
                AlphaOp::EX2 | AlphaOp::LN2 | AlphaOp::COS => false,
                AlphaOp::SIN => any,
                _ => true,
            },
            Kind::Texture => op.inst.tex_inst().inst() != TexOp::TEXKILL,
        }
    }
}
