//! Colour stores: four channels are transposed to pixels.

use r500_fast::codegen::ColorStore;
use r500_ir::Operand;
use r500_numerics::CANONICAL_NAN;

use super::Lower;
use crate::lir::{MemOperand, Op, Opcode, Relation, StoreColor, VReg};

impl Lower<'_> {
    pub(super) fn color(&mut self, color: &ColorStore) {
        let covered = color.covered.then(|| self.covered());
        let channels =
            [0, 1, 2, 3].map(|i| self.channel(color.channels[i], color.non_nan[i], covered));
        self.paint(color.target, channels);
    }

    /// Zeros everywhere.
    pub(super) fn no_color(&mut self, target: u8) {
        let zero = self.bits(0);
        let zero = self.op(Opcode::Copy, &[zero]);
        for row in 0..2 {
            self.paint_row(StoreColor { target, row, part: 0 }, [zero; 2]);
        }
    }

    fn paint(&mut self, target: u8, channels: [VReg; 4]) {
        if self.rows {
            let [r, g, b, a] = channels;
            for (row, zip) in (0..).zip([Opcode::UnpackLo32, Opcode::UnpackHi32]) {
                let (rg, ba) = (self.op(zip, &[r, g]), self.op(zip, &[b, a]));
                let halves =
                    [Opcode::Permute2Lo, Opcode::Permute2Hi].map(|half| self.op(half, &[rg, ba]));
                self.paint_row(StoreColor { target, row, part: 0 }, halves);
            }
            return;
        }
        let [Some(a), Some(b), Some(c), Some(d)] = self.transpose4x4(channels, [true; 4]) else {
            return;
        };
        for (row, [left, right]) in (0..).zip([[a, b], [c, d]]) {
            let halves = [Opcode::Permute128Lo, Opcode::Permute128Hi]
                .map(|half| self.op(half, &[left, right]));
            self.paint_row(StoreColor { target, row, part: 0 }, halves);
        }
    }

    fn paint_row(&mut self, paint: StoreColor, [first, other]: [VReg; 2]) {
        let args = [Some(first), Some(other), None];
        self.push(Op { opcode: Opcode::StoreColor(paint), dst: None, args, origin: self.origin });
    }

    /// A channel with no NaN but the canonical one, and zeros for pixels that are not covered.
    fn channel(&mut self, channel: Operand, number: bool, covered: Option<VReg>) -> VReg {
        let x = self.vector(channel);
        let x = self.spread(x);
        let x = match self.function.given(x) {
            Some(MemOperand::Const(bits)) if f32::from_bits(bits).is_nan() => {
                self.float(CANONICAL_NAN)
            }
            Some(MemOperand::Const(_)) => x,
            _ if number => x,
            _ => {
                let none = self.compare(Relation::Ne, x, x);
                let canonical = self.float(CANONICAL_NAN);
                self.choose(none, canonical, x)
            }
        };
        match covered {
            Some(covered) => self.op(Opcode::And, &[x, covered]),
            None => x,
        }
    }
}
