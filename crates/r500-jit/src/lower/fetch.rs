//! Texels from tables: [`Table`] says what is computed, and `r500_exec`'s sampler is the law.
//!
//! The processor's own rule makes denormals zeros, so every step is the law's. What lies in the table is
//! found whatever the coordinates are: numbers that are none, too.

use r500_exec::ir::Fetch;
use r500_exec::native::{Axis, Table, Wrap};
use r500_isa::values::TexOp;

use super::Lower;
use crate::op::{Kind, Relation, Rounding, Texel, V};

/// Coordinates are limited to this many texels.
const FARTHEST: f32 = (1 << 30) as f32;

impl Lower<'_> {
    /// A fetch from the table of its unit.
    pub(super) fn fetch(&mut self, fetch: &Fetch) {
        let table = self.tables.iter().find(|(unit, _)| *unit == fetch.unit);
        // A fetch without a table does not come in a segment.
        let Some(&(unit, table)) = table else { return };
        let q = (fetch.op == TexOp::PROJ).then(|| self.vector(fetch.strq[3]));
        let along = [0, 1].map(|axis| {
            let mut x = self.vector(fetch.strq[axis]);
            if let Some(q) = q {
                x = self.op(Kind::Div, &[x, q]);
            }
            let scale = match fetch.unscaled {
                true => self.float(1.0),
                false => self.bits(table.axes[axis].scale),
            };
            let x = self.op(Kind::Mul, &[x, scale]);
            self.along(table.axes[axis], table.linear, x)
        });
        let [(column, s), (row, t)] = along;
        let offset = self.cell(&table, column, row);
        let wanted = fetch.texel.map(|texel| texel.is_some());
        let colors = match (s, t) {
            (Some(s), Some(t)) => {
                let mixed = [0, 1, 2, 3].map(|pixel| self.mixed(unit, pixel, offset, s, t));
                self.channels(mixed, wanted)
            }
            _ => {
                let texels = [0, 1, 2, 3].map(|pixel| self.texel(unit, pixel, 0, offset));
                self.channels(texels, wanted)
            }
        };
        for (value, v) in fetch.texel.iter().zip(colors) {
            if let (Some(value), Some(v)) = (value, v) {
                self.give(*value, v);
            }
        }
    }

    /// The number of the texel at a coordinate, or of the first of two and the share of the second.
    fn along(&mut self, axis: Axis, linear: bool, x: V) -> (V, Option<V>) {
        let Axis { wrap, size, .. } = axis;
        let texels = size as f32;
        let half = self.float(0.5);
        // A maximum gives its second argument for what is no number.
        let (least, most) = match (wrap, linear) {
            // Farther out both texels are the same.
            (Wrap::Clamp, true) => (-0.5, texels + 0.25),
            (Wrap::Clamp, false) => (0.0, texels - 0.5),
            (Wrap::Repeat | Wrap::Mirror, _) => (-FARTHEST, FARTHEST),
        };
        // -2^30 and 0 are the same texel where there are 2^n, but not the same share.
        let x = match (wrap, linear) {
            (Wrap::Repeat | Wrap::Mirror, true) => {
                let number = self.compare(Relation::Eq, x, x);
                let zero = self.bits(0);
                self.choose(number, x, zero)
            }
            _ => x,
        };
        // What is farther off than 2^30 is a multiple of 128, or becomes 2^31: of one texel in few, 0.
        let few = matches!(wrap, Wrap::Repeat if size <= 128)
            || matches!(wrap, Wrap::Mirror if size <= 64);
        let x = if few && !linear {
            x
        } else {
            let (least, most) = (self.float(least), self.float(most));
            let x = self.op(Kind::Max, &[x, least]);
            self.op(Kind::Min, &[x, most])
        };
        let x = if linear { self.op(Kind::Sub, &[x, half]) } else { x };
        let floor = self.op(Kind::Round(Rounding::Floor), &[x]);
        let share = linear.then(|| self.op(Kind::Sub, &[x, floor]));
        let number = self.op(Kind::Truncate, &[floor]);
        let number = match wrap {
            Wrap::Clamp => number,
            Wrap::Repeat => {
                let rest = self.bits(size - 1);
                self.op(Kind::And, &[number, rest])
            }
            Wrap::Mirror => {
                let rest = self.bits(2 * size - 1);
                let number = self.op(Kind::And, &[number, rest]);
                // Cells of four are there for the way back, too.
                if linear {
                    number
                } else {
                    let back = self.op(Kind::Xor, &[number, rest]);
                    self.op(Kind::IntMin, &[number, back])
                }
            }
        };
        (number, share)
    }

    /// Where a cell begins in the table, in bytes.
    fn cell(&mut self, table: &Table, column: V, row: V) -> V {
        let row = match table.row.is_power_of_two() {
            true => self.shifted(row, table.row.trailing_zeros()),
            false => {
                let cells = self.bits(table.row);
                self.op(Kind::IntMul, &[row, cells])
            }
        };
        let mut cell = self.op(Kind::IntAdd, &[row, column]);
        if table.origin != 0 {
            let origin = self.bits(table.origin);
            cell = self.op(Kind::IntAdd, &[cell, origin]);
        }
        // So that nothing else in memory is ever read.
        let last = self.bits(table.cells - 1);
        let cell = self.op(Kind::IntMin, &[cell, last]);
        self.shifted(cell, if table.linear { 6 } else { 4 })
    }

    fn shifted(&mut self, v: V, bits: u32) -> V {
        match u8::try_from(bits) {
            Ok(bits) if bits > 0 => self.op(Kind::Shl(bits), &[v]),
            _ => v,
        }
    }

    /// A texel for a pixel of each quad: the number of the texel in its cell.
    fn texel(&mut self, unit: u8, pixel: u8, number: u8, cell: V) -> V {
        self.op(Kind::Texel(Texel { unit, pixel, offset: 16 * number }), &[cell])
    }

    /// The mixture of four texels for a pixel of each quad.
    fn mixed(&mut self, unit: u8, pixel: u8, cell: V, s: V, t: V) -> V {
        let [a, b, c, d] = [0, 1, 2, 3].map(|number| self.texel(unit, pixel, number, cell));
        let (s, t) = (self.op(Kind::Corner(pixel), &[s]), self.op(Kind::Corner(pixel), &[t]));
        let above = self.mix(a, b, s);
        let below = self.mix(c, d, s);
        self.mix(above, below, t)
    }

    fn mix(&mut self, a: V, b: V, share: V) -> V {
        let step = self.op(Kind::Sub, &[b, a]);
        let step = self.op(Kind::Mul, &[step, share]);
        self.op(Kind::Add, &[a, step])
    }

    /// From the channels of each pixel to the pixels of each channel.
    fn channels(&mut self, [a, b, c, d]: [V; 4], wanted: [bool; 4]) -> [Option<V>; 4] {
        let mut half = |zip: Kind, pairs: [Kind; 2], wanted: [bool; 2]| {
            if wanted == [false; 2] {
                return [None; 2];
            }
            let (ab, cd) = (self.op(zip, &[a, b]), self.op(zip, &[c, d]));
            [0, 1].map(|i| wanted[i].then(|| self.op(pairs[i], &[ab, cd])))
        };
        let pairs = [Kind::PairLow, Kind::PairHigh];
        let [red, green] = half(Kind::ZipLow, pairs, [wanted[0], wanted[1]]);
        let [blue, alpha] = half(Kind::ZipHigh, pairs, [wanted[2], wanted[3]]);
        [red, green, blue, alpha]
    }
}
