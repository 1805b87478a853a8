//! Texels from tables: [`TextureDesc`] says what is computed, and `r500_exec`'s sampler is the law.
//!
//! The processor's own rule makes denormals zeros, so every step is the law's. What lies in the table is
//! found whatever the coordinates are: numbers that are none, too.

use r500_numerics::branchless;

use r500_fast::codegen::{AxisDesc, ChannelSource, LodDesc, TextureDesc, WrapMode};
use r500_ir::Fetch;
use r500_isa::values::TexOp;

use super::Lower;
use crate::lir::{
    GatherChannel, IntRange, LoadTexel, MemOperand, Opcode, Relation, Rounding, VReg,
};

/// Coordinates are limited to this many texels.
const FARTHEST: f32 = (1 << 30) as f32;

/// Channels that are looked up number by number, where the processor can: what is saved is the work on
/// the others, and putting pixels' channels in channels of pixels.
const FEW: usize = 1;

/// A level, the same for all pixels or one for each.
#[derive(Clone, Copy)]
struct Level {
    /// What coordinates are multiplied by, unless it is 1.
    factors: Option<[VReg; 2]>,
    /// Numbers of the last texels along S and T, as integers.
    last: [VReg; 2],
    /// Cells from one row to the next.
    row: VReg,
    /// The cell of column 0 and row 0.
    origin: VReg,
}

impl Lower<'_> {
    /// A fetch from the table of its unit.
    pub(super) fn fetch(&mut self, fetch: &Fetch) {
        let table = self.tables.iter().find(|(unit, _)| *unit == fetch.unit);
        // A fetch without a table does not come in a unit.
        let Some(&(unit, table)) = table else { return };
        let q = (fetch.op == TexOp::PROJ).then(|| self.vector(fetch.strq[3]));
        let places = [0, 1].map(|axis| {
            let mut x = self.vector(fetch.strq[axis]);
            if let Some(q) = q {
                x = self.op(Opcode::Div, &[x, q]);
            }
            self.scaled(fetch, &table, axis, x)
        });
        let mut wanted = [false; 4];
        for (texel, channel) in fetch.texel.iter().zip(table.channels) {
            if let (Some(_), ChannelSource::Of(c)) = (texel, channel) {
                wanted[usize::from(c & 3)] = true;
            }
        }
        let colors = match table.lod {
            _ if wanted == [false; 4] => [None; 4],
            None => {
                let level = Level {
                    factors: None,
                    last: table.axes.map(|axis| self.bits(axis.size - 1)),
                    row: self.bits(table.row),
                    origin: self.bits(table.origin),
                };
                self.colors(unit, &table, level, places, wanted)
            }
            Some(detail) => self.mipmapped(fetch, unit, &table, &detail, places, wanted),
        };
        for (value, channel) in fetch.texel.iter().zip(table.channels) {
            let v = match channel {
                ChannelSource::Of(c) => colors[usize::from(c & 3)],
                ChannelSource::Constant(bits) => Some(self.bits(bits)),
            };
            if let (Some(value), Some(v)) = (value, v) {
                self.define(*value, v);
            }
        }
    }

    /// A coordinate or a step of one, in texels of level 0.
    fn scaled(&mut self, fetch: &Fetch, table: &TextureDesc, axis: usize, x: VReg) -> VReg {
        let scale = match fetch.unscaled {
            true => self.float(1.0),
            false => self.bits(table.axes[axis].scale),
        };
        self.op(Opcode::Mul, &[x, scale])
    }

    /// Colours by level of detail.
    fn mipmapped(
        &mut self,
        fetch: &Fetch,
        unit: u8,
        table: &TextureDesc,
        detail: &LodDesc,
        places: [VReg; 2],
        wanted: [bool; 4],
    ) -> [Option<VReg>; 4] {
        let lod = self.lod(fetch, table, detail, places);
        if !detail.trilinear {
            let half = self.float(0.5);
            let lod = self.op(Opcode::Add, &[lod, half]);
            let k = self.op(Opcode::Round(Rounding::Floor), &[lod]);
            let level = self.level(table, detail, k);
            return self.colors(unit, table, level, places, wanted);
        }
        let first = self.op(Opcode::Round(Rounding::Floor), &[lod]);
        let share = self.op(Opcode::Sub, &[lod, first]);
        let (one, last) = (self.float(1.0), self.float(f32::from(detail.coarsest)));
        let second = self.op(Opcode::Add, &[first, one]);
        let second = self.op(Opcode::Min, &[second, last]);
        let [first, second] = [first, second].map(|k| {
            let level = self.level(table, detail, k);
            self.colors(unit, table, level, places, wanted)
        });
        [0, 1, 2, 3].map(|c| match (first[c], second[c]) {
            (Some(a), Some(b)) => Some(self.lerp(a, b, share)),
            _ => None,
        })
    }

    /// The level of detail, from the finest to the coarsest.
    fn lod(
        &mut self,
        fetch: &Fetch,
        table: &TextureDesc,
        detail: &LodDesc,
        places: [VReg; 2],
    ) -> VReg {
        let steps = match fetch.op {
            TexOp::LOD => None,
            TexOp::DXDY => Some([fetch.dx, fetch.dy].map(|step| {
                [0, 1].map(|axis| {
                    let x = self.vector(step[axis]);
                    self.scaled(fetch, table, axis, x)
                })
            })),
            // Those of the quad's left column and upper row.
            _ => Some([1, 2].map(|corner| {
                places.map(|x| {
                    let (to, from) = (
                        self.op(Opcode::QuadBroadcast(corner), &[x]),
                        self.op(Opcode::QuadBroadcast(0), &[x]),
                    );
                    self.op(Opcode::Sub, &[to, from])
                })
            })),
        };
        let mut lod = match steps {
            None => self.vector(fetch.strq[3]),
            Some(steps) => {
                let [right, down] = steps.map(|step| {
                    let [s, t] = step.map(|x| self.op(Opcode::Mul, &[x, x]));
                    self.op(Opcode::Add, &[s, t])
                });
                let longer = self.compare(Relation::Ge, right, down);
                let longer = self.choose(longer, right, down);
                let log = branchless::ln2(self, longer);
                let half = self.float(0.5);
                self.op(Opcode::Mul, &[log, half])
            }
        };
        if fetch.op == TexOp::LODBIAS {
            let q = self.vector(fetch.strq[3]);
            lod = self.op(Opcode::Add, &[lod, q]);
        }
        let bias = self.bits(detail.bias);
        let lod = self.op(Opcode::Add, &[lod, bias]);
        let lod = self.nan_to_zero(lod);
        let [finest, coarsest] = [detail.finest, detail.coarsest].map(f32::from);
        let (finest, coarsest) = (self.float(finest), self.float(coarsest));
        let lod = self.op(Opcode::Max, &[lod, finest]);
        let lod = self.op(Opcode::Min, &[lod, coarsest]);
        // Powers of two scale exactly, and a product that underflows has the floor 0 in any case.
        let (steps, unit) = (self.float(LodDesc::LOD_STEPS), self.float(1.0 / LodDesc::LOD_STEPS));
        let lod = self.op(Opcode::Mul, &[lod, steps]);
        let lod = self.op(Opcode::Round(Rounding::Floor), &[lod]);
        self.op(Opcode::Mul, &[lod, unit])
    }

    /// The level of each pixel, a whole number.
    fn level(&mut self, table: &TextureDesc, detail: &LodDesc, k: VReg) -> Level {
        let number = self.op(Opcode::Truncate(IntRange::FewWhole), &[k]);
        let size = self.power(number);
        let axis = |lower: &mut Self, axis: usize| {
            let most = detail.mip_shift[axis];
            let halvings = match most < detail.coarsest {
                true => {
                    let most = lower.bits(most.into());
                    lower.op(Opcode::IntMin, &[number, most])
                }
                false => number,
            };
            let last = lower.float((table.axes[axis].size - 1) as f32);
            let last = lower.op(Opcode::Mul, &[last, size]);
            (lower.power(halvings), lower.op(Opcode::Truncate(IntRange::Integers), &[last]))
        };
        let [(factor_s, last_s), (factor_t, last_t)] = [axis(self, 0), axis(self, 1)];
        let row = match (table.axes[0].wrap, table.linear) {
            (WrapMode::Mirror, true) => {
                let twice = self.op(Opcode::Shl(1), &[last_s]);
                self.plus(twice, 2)
            }
            (WrapMode::Clamp, true) => self.plus(last_s, 2),
            _ => self.plus(last_s, 1),
        };
        let (finest, coarsest) = (usize::from(detail.finest), usize::from(detail.coarsest));
        let mut origin = self.bits(detail.origins[finest]);
        for level in finest + 1..=coarsest {
            let (from, other) = (self.float(level as f32), self.bits(detail.origins[level]));
            let reached = self.compare(Relation::Ge, k, from);
            origin = self.choose(reached, other, origin);
        }
        Level { factors: Some([factor_s, factor_t]), last: [last_s, last_t], row, origin }
    }

    /// 2 to the power of as much less than 0 as a whole number says, at most 15.
    fn power(&mut self, number: VReg) -> VReg {
        let exponent = self.op(Opcode::Shl(23), &[number]);
        let one = self.float(1.0);
        let power = self.op(Opcode::IntSub, &[one, exponent]);
        self.function.magnitude_bounds.insert(power, -15);
        power
    }

    /// Colours from a level.
    fn colors(
        &mut self,
        unit: u8,
        table: &TextureDesc,
        level: Level,
        places: [VReg; 2],
        wanted: [bool; 4],
    ) -> [Option<VReg>; 4] {
        let [(column, s), (row, t)] = [0, 1].map(|axis| {
            let x = match level.factors {
                Some(factors) => self.op(Opcode::Mul, &[places[axis], factors[axis]]),
                None => places[axis],
            };
            self.address_axis(table.axes[axis], level.last[axis], table.linear, x)
        });
        let ranges =
            [0, 1].map(|axis| self.range(table.axes[axis], level.last[axis], table.linear));
        let cell = self.cell(table, level, [column, row], ranges);
        let (tiny, few) =
            (table.may_underflow, wanted.iter().filter(|wanted| **wanted).count() <= FEW);
        if self.numbers && few {
            let number = |offset| Opcode::GatherChannel(GatherChannel { unit, offset, tiny });
            return [0, 1, 2, 3].map(|channel| {
                let offset = 4 * channel;
                wanted[usize::from(channel)].then(|| match (s, t) {
                    (Some(s), Some(t)) => {
                        let texels =
                            [0, 16, 32, 48].map(|at| self.op(number(at + offset), &[cell]));
                        self.bilerp(texels, s, t)
                    }
                    _ => self.op(number(offset), &[cell]),
                })
            });
        }
        let texel = |pixel, offset| Opcode::LoadTexel(LoadTexel { unit, pixel, offset, tiny });
        let pixels = [0, 1, 2, 3].map(|pixel| match (s, t) {
            (Some(s), Some(t)) => {
                let texels = [0, 16, 32, 48].map(|at| self.op(texel(pixel, at), &[cell]));
                let [s, t] = [s, t].map(|share| self.op(Opcode::QuadBroadcast(pixel), &[share]));
                self.bilerp(texels, s, t)
            }
            _ => self.op(texel(pixel, 0), &[cell]),
        });
        self.transpose4x4(pixels, wanted)
    }

    /// The number of the texel at a coordinate, or of the first of two and the share of the second.
    fn address_axis(
        &mut self,
        axis: AxisDesc,
        last: VReg,
        linear: bool,
        x: VReg,
    ) -> (VReg, Option<VReg>) {
        // A maximum gives its second argument for NaN. That value does not matter here to
        // the nearest of 2^n texels, for -2^30 and 0 meet the same one.
        let (x, reach) = match axis.wrap {
            WrapMode::Repeat | WrapMode::Mirror if linear || !axis.size.is_power_of_two() => {
                let x = self.nan_to_zero(x);
                (self.clamp_coord(x), IntRange::Integers)
            }
            // What is farther off than 2^30 is a multiple of 128, or becomes 2^31: of one texel in few, 0.
            WrapMode::Repeat if axis.size <= 128 => (x, IntRange::All),
            WrapMode::Mirror if axis.size <= 64 => (x, IntRange::All),
            WrapMode::Repeat | WrapMode::Mirror => (self.clamp_coord(x), IntRange::Integers),
            // Farther out both texels are the same.
            WrapMode::Clamp => {
                let (least, beyond) = if linear { (-0.5, 1.25) } else { (0.0, 0.5) };
                let end = match self.function.given(last) {
                    Some(MemOperand::Const(last)) => self.float(last as f32 + beyond),
                    _ => {
                        let (last, beyond) =
                            (self.op(Opcode::ToFloat, &[last]), self.float(beyond));
                        self.op(Opcode::Add, &[last, beyond])
                    }
                };
                let least = self.float(least);
                let x = self.op(Opcode::Max, &[x, least]);
                (self.op(Opcode::Min, &[x, end]), IntRange::FewWhole)
            }
        };
        let half = self.float(0.5);
        let x = if linear { self.op(Opcode::Sub, &[x, half]) } else { x };
        let (number, floor) = self.floor(x, reach);
        let share = linear.then(|| self.op(Opcode::Sub, &[x, floor]));
        let number = match axis.wrap {
            WrapMode::Clamp => number,
            WrapMode::Repeat => self.modulo(axis.size, last, floor, number),
            WrapMode::Mirror => {
                let end = match self.function.given(last) {
                    Some(MemOperand::Const(last)) => self.bits(2 * last + 1),
                    _ => {
                        let twice = self.op(Opcode::Shl(1), &[last]);
                        self.plus(twice, 1)
                    }
                };
                let number = self.modulo(2 * axis.size, end, floor, number);
                // Cells of four are there for the way back, too.
                if linear {
                    number
                } else {
                    let back = self.op(Opcode::IntSub, &[end, number]);
                    self.op(Opcode::IntMin, &[number, back])
                }
            }
        };
        (number, share)
    }

    /// The floor of a coordinate, as an integer and as a float. The float is not needed of what is out of the integers' range.
    fn floor(&mut self, x: VReg, reach: IntRange) -> (VReg, VReg) {
        if self.floors {
            // In one step. Of -0 the float is 0 this way, which makes no difference to what is computed of it: a share of x
            // is x - floor, where x was a difference from 1/2, which is never -0.
            let number = self.op(Opcode::FloorToInt, &[x]);
            return (number, self.op(Opcode::ToFloat, &[number]));
        }
        let floor = self.op(Opcode::Round(Rounding::Floor), &[x]);
        (self.op(Opcode::Truncate(reach), &[floor]), floor)
    }

    /// What `size` leaves of a whole number of at most 2^30 in size, given as a float and as an integer, too; `last` is
    /// `size` less one, or if sizes are magnitude_bounds of two that of each pixel.
    fn modulo(&mut self, size: u32, last: VReg, whole: VReg, number: VReg) -> VReg {
        if size.is_power_of_two() {
            return self.op(Opcode::And, &[number, last]);
        }
        let size_of = self.bits(size);
        // A quotient is rounded twice, by 2^-23 of it: at most 2^7 / size at first, which leaves less
        // than 2^8 and two sizes; then by so little that its floor is off by one at most.
        let mut rest = number;
        for whole in [Some(whole), None] {
            let whole = whole.unwrap_or_else(|| self.op(Opcode::ToFloat, &[rest]));
            let inverse = self.float(1.0 / size as f32);
            let times = self.op(Opcode::Mul, &[whole, inverse]);
            let times = self.op(Opcode::Round(Rounding::Floor), &[times]);
            let times = self.op(Opcode::Truncate(IntRange::Integers), &[times]);
            let taken = self.op(Opcode::IntMul, &[times, size_of]);
            rest = self.op(Opcode::IntSub, &[rest, taken]);
        }
        // Below zero is large without sign.
        let more = self.op(Opcode::IntAdd, &[rest, size_of]);
        let rest = self.op(Opcode::IntMin, &[rest, more]);
        let less = self.op(Opcode::IntSub, &[rest, size_of]);
        self.op(Opcode::IntMin, &[rest, less])
    }

    /// 0 for NaN.
    fn nan_to_zero(&mut self, x: VReg) -> VReg {
        let (number, zero) = (self.compare(Relation::Eq, x, x), self.bits(0));
        self.choose(number, x, zero)
    }

    /// At most 2^30 in size.
    fn clamp_coord(&mut self, x: VReg) -> VReg {
        let (least, most) = (self.float(-FARTHEST), self.float(FARTHEST));
        let x = self.op(Opcode::Max, &[x, least]);
        self.op(Opcode::Min, &[x, most])
    }

    /// The range of what [`address_axis`](Self::address_axis) gives for an axis, whatever the coordinate is, where a mask or
    /// the limits of the coordinate show it.
    fn range(&self, axis: AxisDesc, last: VReg, linear: bool) -> Option<[i64; 2]> {
        let last = i64::from(self.constant(last)?);
        match axis.wrap {
            WrapMode::Clamp => Some([if linear { -1 } else { 0 }, last]),
            _ if !axis.size.is_power_of_two() => None,
            WrapMode::Mirror if linear => Some([0, 2 * last + 1]),
            WrapMode::Repeat | WrapMode::Mirror => Some([0, last]),
        }
    }

    /// Where a cell begins in the table, in bytes. Columns and rows are in ranges, if those are known.
    fn cell(
        &mut self,
        table: &TextureDesc,
        level: Level,
        [column, row]: [VReg; 2],
        ranges: [Option<[i64; 2]>; 2],
    ) -> VReg {
        let constants = self.constant(level.row).zip(self.constant(level.origin));
        let inside = match (ranges, constants) {
            ([Some(columns), Some(rows)], Some((cells, origin))) => {
                let [least, most] =
                    [0, 1].map(|i| i64::from(origin) + rows[i] * i64::from(cells) + columns[i]);
                least >= 0 && most < i64::from(table.cells)
            }
            _ => false,
        };
        let row = match self.function.given(level.row) {
            Some(MemOperand::Const(cells)) if cells.is_power_of_two() => {
                self.shifted(row, cells.trailing_zeros())
            }
            _ => self.op(Opcode::IntMul, &[row, level.row]),
        };
        let mut cell = self.op(Opcode::IntAdd, &[row, column]);
        if self.function.given(level.origin) != Some(MemOperand::Const(0)) {
            cell = self.op(Opcode::IntAdd, &[cell, level.origin]);
        }
        // So that nothing else in memory is ever read.
        if !inside {
            let last = self.bits(table.cells - 1);
            cell = self.op(Opcode::IntMin, &[cell, last]);
        }
        self.shifted(cell, if table.linear { 6 } else { 4 })
    }

    fn shifted(&mut self, v: VReg, bits: u32) -> VReg {
        match u8::try_from(bits) {
            Ok(bits) if bits > 0 => self.op(Opcode::Shl(bits), &[v]),
            _ => v,
        }
    }

    fn plus(&mut self, v: VReg, n: u32) -> VReg {
        let n = self.bits(n);
        self.op(Opcode::IntAdd, &[v, n])
    }

    /// The mixture of the four texels of a cell.
    fn bilerp(&mut self, [a, b, c, d]: [VReg; 4], s: VReg, t: VReg) -> VReg {
        let above = self.lerp(a, b, s);
        let below = self.lerp(c, d, s);
        self.lerp(above, below, t)
    }

    fn lerp(&mut self, a: VReg, b: VReg, share: VReg) -> VReg {
        let step = self.op(Opcode::Sub, &[b, a]);
        let step = self.op(Opcode::Mul, &[step, share]);
        self.op(Opcode::Add, &[a, step])
    }

    /// From the channels of each pixel to the pixels of each channel: a vector for each corner of quads
    /// becomes one for each channel. Or the other way round.
    pub(super) fn transpose4x4(
        &mut self,
        [a, b, c, d]: [VReg; 4],
        wanted: [bool; 4],
    ) -> [Option<VReg>; 4] {
        let mut half = |zip: Opcode, wanted: [bool; 2]| {
            if wanted == [false; 2] {
                return [None; 2];
            }
            let (ab, cd) = (self.op(zip, &[a, b]), self.op(zip, &[c, d]));
            let pairs = [Opcode::UnpackLo64, Opcode::UnpackHi64];
            [0, 1].map(|i| wanted[i].then(|| self.op(pairs[i], &[ab, cd])))
        };
        let [red, green] = half(Opcode::UnpackLo32, [wanted[0], wanted[1]]);
        let [blue, alpha] = half(Opcode::UnpackHi32, [wanted[2], wanted[3]]);
        [red, green, blue, alpha]
    }
}
