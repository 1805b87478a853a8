//! Colour stores to a frame: transposes four channels to pixels.

use r500_fast::codegen::ColorStore;
use r500_ir::Operand;
use r500_numerics::CANONICAL_NAN;

use super::Lower;
use crate::{MemOperand, Op, Opcode, Relation, StoreColor, VReg};

impl Lower<'_> {
    pub(super) fn color(&mut self, color: &ColorStore) {
        if let Some(encoding) = &color.encoding {
            return self.surface_color(color, encoding);
        }
        let covered = color.covered.then(|| self.covered());
        let channels =
            [0, 1, 2, 3].map(|i| self.channel(color.channels[i], color.non_nan[i], covered));
        self.store_color(color.target, channels);
    }

    /// Stores the colours of uncovered pixels: zeros in a frame; surfaces keep their contents.
    pub(super) fn no_color(&mut self, color: &ColorStore) {
        if color.encoding.is_some() {
            return;
        }
        let zero = self.bits(0);
        let zero = self.op(Opcode::Copy, &[zero]);
        for row in 0..2 {
            self.store_row(StoreColor { target: color.target, row, part: 0 }, [zero; 2]);
        }
    }

    fn store_color(&mut self, target: u8, channels: [VReg; 4]) {
        for (row, halves) in (0..).zip(self.float_rows(channels)) {
            self.store_row(StoreColor { target, row, part: 0 }, halves);
        }
    }

    /// Returns the first and the second row of each quad, each as two vectors for the halves of the quads; of a single quad, its left and
    /// its right pixel.
    pub(super) fn float_rows(&mut self, channels: [VReg; 4]) -> [[VReg; 2]; 2] {
        if self.caps.rows {
            let [r, g, b, a] = channels;
            return [Opcode::UnpackLo32, Opcode::UnpackHi32].map(|zip| {
                let (rg, ba) = (self.op(zip, &[r, g]), self.op(zip, &[b, a]));
                [Opcode::Permute2Lo, Opcode::Permute2Hi].map(|half| self.op(half, &[rg, ba]))
            });
        }
        let pixels = self.transpose4x4(channels, [true; 4]);
        let [a, b, c, d] = pixels.map(|pixel| pixel.expect("all pixels are asked for"));
        let rows = [[a, b], [c, d]];
        if self.caps.single_quad {
            return rows;
        }
        rows.map(|[left, right]| {
            [Opcode::Permute128Lo, Opcode::Permute128Hi].map(|half| self.op(half, &[left, right]))
        })
    }

    fn store_row(&mut self, paint: StoreColor, [first, other]: [VReg; 2]) {
        let args = [Some(first), Some(other), None];
        self.push(Op { opcode: Opcode::StoreColor(paint), dst: None, args, origin: self.origin });
    }

    /// Returns a channel with canonical NaN, and zeros for uncovered pixels.
    pub(super) fn channel(
        &mut self,
        channel: Operand,
        number: bool,
        covered: Option<VReg>,
    ) -> VReg {
        let x = self.vector(channel);
        let x = self.vector_of(x);
        let x = match self.function.mem_operand(x) {
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
