//! Lowering of texture fetches from the layout of a [`TextureDesc`]; the reference sampler defines the results.
//!
//! The processor flushes denormals (MXCSR), so every step matches the reference arithmetic. Every lookup stays inside the table, for any
//! coordinates, NaN included.

use r500_fast::codegen::texel_math::{self, TexelBuilder};
use r500_fast::codegen::{AxisDesc, ChannelSource, LodDesc, TextureDesc, WrapMode};
use r500_ir::Fetch;
use r500_isa::values::TexOp;

use super::Lower;
use crate::{
    Class, GatherChannel, IntRange, LoadTexel, Lookup, MemOperand, Opcode, Relation, Rounding, VReg,
};

/// The magnitude that coordinates are clamped to, in texels.
const FARTHEST: f32 = (1 << 30) as f32;

/// The bits of 1.
const ONE: u32 = 0x3f80_0000;

/// Channels that are looked up number by number, where the processor can: what is saved is the work on
/// the others, and putting pixels' channels in channels of pixels.
const FEW: usize = 1;

/// A mip level, uniform or for each pixel.
#[derive(Clone, Copy)]
struct Level {
    /// The scale of coordinates, unless it is 1.
    factors: Option<[VReg; 2]>,
    /// Indices of the last texels along S and T, as integers.
    last: [VReg; 2],
    /// Cells between rows.
    row: VReg,
    /// The cell of column 0 and row 0.
    origin: VReg,
}

/// An axis of a level.
#[derive(Clone, Copy)]
pub(super) struct AxisAt {
    desc: AxisDesc,
    /// The index of the last texel, as an integer.
    last: VReg,
    /// Whether the filter is linear.
    linear: bool,
}

impl AxisAt {
    /// Returns the range of the floors of clamped coordinates, which are converted to texel indices.
    fn reach(self) -> IntRange {
        match (self.desc.wrap, self.desc.size) {
            (WrapMode::Clamp, _) => IntRange::FewWhole,
            // Magnitudes above 2^30 are multiples of 128, or convert to 2^31: with few texels, the index is 0.
            (WrapMode::Repeat, size) if self.any_period() && size <= 128 => IntRange::All,
            (WrapMode::Mirror, size) if self.any_period() && size <= 64 => IntRange::All,
            (WrapMode::Repeat | WrapMode::Mirror, _) => IntRange::Integers,
        }
    }

    /// Returns whether an out-of-range coordinate selects only a texel, which is the same for -2^30 and 0: the nearest filter with 2^n
    /// texels.
    fn any_period(self) -> bool {
        !self.linear && self.desc.size.is_power_of_two()
    }
}

impl TexelBuilder for Lower<'_> {
    type Number = VReg;
    type Axis = AxisAt;

    fn floor(&mut self, a: VReg) -> VReg {
        self.op(Opcode::Round(Rounding::Floor), &[a])
    }

    fn eq(&mut self, a: VReg, b: VReg) -> VReg {
        self.compare(Relation::Eq, a, b)
    }

    /// The processor flushes sums.
    fn flush(&mut self, sum: VReg) -> VReg {
        sum
    }

    fn square(&mut self, a: VReg) -> VReg {
        self.op(Opcode::Mul, &[a, a])
    }

    fn limit_repeating(&mut self, axis: AxisAt, x: VReg) -> VReg {
        match axis.reach() {
            IntRange::All => x,
            // A maximum gives its second argument for NaN.
            _ if axis.any_period() => self.clamp_coord(x),
            _ => {
                let x = texel_math::nan_to_zero(self, x);
                self.clamp_coord(x)
            }
        }
    }

    fn after_last(&mut self, axis: AxisAt, beyond: f32) -> VReg {
        match self.constant(axis.last) {
            Some(last) => self.float(last as f32 + beyond),
            None => {
                let (last, beyond) = (self.op(Opcode::ToFloat, &[axis.last]), self.float(beyond));
                self.op(Opcode::Add, &[last, beyond])
            }
        }
    }

    /// The float is not used for a number outside of the integers' range.
    fn texel(&mut self, axis: AxisAt, x: VReg) -> (VReg, VReg) {
        if self.caps.floors {
            // In one step. For -0 the float is 0, which is not observable: a weight is x - floor, where x was a difference
            // from 1/2, which is never -0.
            let number = self.op(Opcode::FloorToInt, &[x]);
            return (number, self.op(Opcode::ToFloat, &[number]));
        }
        let floor = self.op(Opcode::Round(Rounding::Floor), &[x]);
        (self.op(Opcode::Truncate(axis.reach()), &[floor]), floor)
    }

    fn last_of_period(&mut self, axis: AxisAt, mirrored: bool) -> VReg {
        match self.constant(axis.last) {
            _ if !mirrored => axis.last,
            Some(last) => self.bits(2 * last + 1),
            None => {
                let twice = self.op(Opcode::Shl(1), &[axis.last]);
                self.plus(twice, 1)
            }
        }
    }

    fn modulo(
        &mut self,
        axis: AxisAt,
        mirrored: bool,
        last: VReg,
        (number, floor): (VReg, VReg),
    ) -> VReg {
        let period = if mirrored { 2 * axis.desc.size } else { axis.desc.size };
        self.remainder(period, last, floor, number)
    }

    fn fold_back(&mut self, last: VReg, number: VReg) -> VReg {
        let back = self.op(Opcode::IntSub, &[last, number]);
        self.op(Opcode::IntMin, &[number, back])
    }
}

/// Returns the cells per row of a level as a shift and a summand: `(last << shift) + more`.
fn row_size(table: &TextureDesc) -> (u32, u32) {
    match (table.axes[0].wrap, table.linear) {
        (WrapMode::Mirror, true) => (1, 2),
        (WrapMode::Clamp, true) => (0, 2),
        _ => (0, 1),
    }
}

impl Lower<'_> {
    /// Lowers a fetch from the texture of its unit.
    pub(super) fn fetch(&mut self, fetch: &Fetch) {
        let table = self.tables.iter().find(|(unit, _)| *unit == fetch.unit);
        // Units contain no fetches from textures without a layout.
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

    /// Returns the colours of a mipmapped fetch.
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
            let k = texel_math::nearest_level(self, lod);
            let level = self.level(table, detail, k);
            return self.colors(unit, table, level, places, wanted);
        }
        let (levels, weight) = texel_math::two_levels(self, lod, f32::from(detail.coarsest));
        let [first, second] = levels.map(|k| {
            let level = self.level(table, detail, k);
            self.colors(unit, table, level, places, wanted)
        });
        [0, 1, 2, 3].map(|c| match (first[c], second[c]) {
            (Some(a), Some(b)) => Some(texel_math::lerp(self, a, b, weight)),
            _ => None,
        })
    }

    /// Returns the level of detail, clamped from the finest to the coarsest level.
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
                let [right, down] = steps;
                let square = texel_math::longer_square(self, right, down);
                texel_math::lod_of_square(self, square)
            }
        };
        if fetch.op == TexOp::LODBIAS {
            let q = self.vector(fetch.strq[3]);
            lod = self.op(Opcode::Add, &[lod, q]);
        }
        let lod = texel_math::bias_lod(self, lod, detail.bias);
        let [finest, coarsest] = [detail.finest, detail.coarsest].map(f32::from);
        texel_math::cut_lod(self, lod, detail.fraction, finest, coarsest)
    }

    /// Returns the level of each pixel, given as an integral float.
    fn level(&mut self, table: &TextureDesc, detail: &LodDesc, k: VReg) -> Level {
        let number = self.op(Opcode::Truncate(IntRange::FewWhole), &[k]);
        if usize::from(detail.coarsest) < self.table_size() {
            return self.tabulated_level(table, detail, number);
        }
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
        let (shift, more) = row_size(table);
        let row = self.shifted(last_s, shift);
        let row = self.plus(row, more);
        let (finest, coarsest) = (usize::from(detail.finest), usize::from(detail.coarsest));
        let mut origin = self.bits(detail.origins[finest]);
        for level in finest + 1..=coarsest {
            let (from, other) = (self.float(level as f32), self.bits(detail.origins[level]));
            let reached = self.compare(Relation::Ge, k, from);
            origin = self.choose(reached, other, origin);
        }
        Level { factors: Some([factor_s, factor_t]), last: [last_s, last_t], row, origin }
    }

    /// Returns the number of entries of a lookup table; 0 if the target has none.
    fn table_size(&self) -> usize {
        match self.caps.mask_class {
            _ if !self.caps.tables => 0,
            Class::Vector => 8,
            Class::Mask => 16,
        }
    }

    /// Returns the level of each pixel from lookup tables, by its number.
    fn tabulated_level(&mut self, table: &TextureDesc, detail: &LodDesc, number: VReg) -> Level {
        let [finest, coarsest] = [detail.finest, detail.coarsest].map(usize::from);
        let last = |axis: usize, k: usize| (table.axes[axis].size - 1) >> k;
        let [(factor_s, last_s), (factor_t, last_t)] = [0, 1].map(|axis| {
            let most = usize::from(detail.mip_shift[axis]);
            let factor = |k: usize| ONE - ((k.min(most) as u32) << 23);
            let factor = self.by_level(number, coarsest, factor);
            (factor, self.by_level(number, coarsest, |k| last(axis, k)))
        });
        let (shift, more) = row_size(table);
        let row = self.by_level(number, coarsest, |k| (last(0, k) << shift) + more);
        let origin = self.by_level(number, coarsest, |k| detail.origins[k.max(finest)]);
        Level { factors: Some([factor_s, factor_t]), last: [last_s, last_t], row, origin }
    }

    /// Returns a property of levels by their number, from a lookup table up to the coarsest level.
    fn by_level(&mut self, number: VReg, coarsest: usize, of: impl Fn(usize) -> u32) -> VReg {
        let numbers: Vec<u32> = (0..self.table_size()).map(|k| of(k.min(coarsest))).collect();
        if let Some(k) = self.constant(number) {
            return self.bits(of(k as usize));
        }
        let tables = &mut self.loop_tables.numbers;
        let first = tables.windows(numbers.len()).position(|table| table == numbers);
        let first = first.unwrap_or_else(|| {
            tables.extend(&numbers);
            tables.len() - numbers.len()
        });
        let first = u32::try_from(first).expect("tables are small");
        self.op(Opcode::Lookup(Lookup { first }), &[number])
    }

    /// Returns 2^-n for an integer n of at most 15.
    fn power(&mut self, number: VReg) -> VReg {
        let exponent = self.op(Opcode::Shl(23), &[number]);
        let one = self.float(1.0);
        let power = self.op(Opcode::IntSub, &[one, exponent]);
        self.function.magnitude_bounds.insert(power, -15);
        power
    }

    /// Returns the colours from a level.
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
            let desc = table.axes[axis];
            let at = AxisAt { desc, last: level.last[axis], linear: table.linear };
            texel_math::address(self, at, desc.wrap, table.linear, x)
        });
        let ranges =
            [0, 1].map(|axis| self.range(table.axes[axis], level.last[axis], table.linear));
        let cell = self.cell(table, level, [column, row], ranges);
        let (tiny, few) =
            (table.may_underflow, wanted.iter().filter(|wanted| **wanted).count() <= FEW);
        if self.caps.numbers && few {
            let number = |offset| Opcode::GatherChannel(GatherChannel { unit, offset, tiny });
            return [0, 1, 2, 3].map(|channel| {
                let offset = 4 * channel;
                wanted[usize::from(channel)].then(|| match (s, t) {
                    (Some(s), Some(t)) => {
                        let texels =
                            [0, 16, 32, 48].map(|at| self.op(number(at + offset), &[cell]));
                        texel_math::bilerp(self, texels, s, t)
                    }
                    _ => self.op(number(offset), &[cell]),
                })
            });
        }
        let texel = |pixel, offset| Opcode::LoadTexel(LoadTexel { unit, pixel, offset, tiny });
        let pixels = [0, 1, 2, 3].map(|pixel| match (s, t) {
            (Some(s), Some(t)) => {
                let texels = [0, 16, 32, 48].map(|at| self.op(texel(pixel, at), &[cell]));
                let [s, t] = [s, t].map(|weight| self.op(Opcode::QuadBroadcast(pixel), &[weight]));
                texel_math::bilerp(self, texels, s, t)
            }
            _ => self.op(texel(pixel, 0), &[cell]),
        });
        self.transpose4x4(pixels, wanted)
    }

    /// What `size` leaves of a whole number of at most 2^30 in size, given as a float and as an integer, too; `last` is
    /// `size` less one, or if sizes are powers of two that of each pixel.
    fn remainder(&mut self, size: u32, last: VReg, whole: VReg, number: VReg) -> VReg {
        if size.is_power_of_two() {
            return self.op(Opcode::And, &[number, last]);
        }
        let size_of = self.bits(size);
        // Each quotient has a relative rounding error of up to 2^-23: at most 2^7 / size at first, so the remainder is less than 2^8 and
        // two sizes; the second time so little that its floor is off by one at most.
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
        // A negative remainder is a large unsigned number.
        let more = self.op(Opcode::IntAdd, &[rest, size_of]);
        let rest = self.op(Opcode::IntMin, &[rest, more]);
        let less = self.op(Opcode::IntSub, &[rest, size_of]);
        self.op(Opcode::IntMin, &[rest, less])
    }

    /// Clamps the magnitude to 2^30.
    fn clamp_coord(&mut self, x: VReg) -> VReg {
        let (least, most) = (self.float(-FARTHEST), self.float(FARTHEST));
        let x = self.op(Opcode::Max, &[x, least]);
        self.op(Opcode::Min, &[x, most])
    }

    /// Returns the range of [`texel_math::address`] for an axis and any coordinate, if a mask or the clamp of the coordinate bounds it.
    fn range(&self, axis: AxisDesc, last: VReg, linear: bool) -> Option<[i64; 2]> {
        let last = i64::from(self.constant(last)?);
        match axis.wrap {
            WrapMode::Clamp => Some([if linear { -1 } else { 0 }, last]),
            _ if !axis.size.is_power_of_two() => None,
            WrapMode::Mirror if linear => Some([0, 2 * last + 1]),
            WrapMode::Repeat | WrapMode::Mirror => Some([0, last]),
        }
    }

    /// Returns the byte offset of a cell in the table. `ranges`: the ranges of column and row, if known.
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
        let row = match self.function.mem_operand(level.row) {
            Some(MemOperand::Const(cells)) if cells.is_power_of_two() => {
                self.shifted(row, cells.trailing_zeros())
            }
            _ => self.op(Opcode::IntMul, &[row, level.row]),
        };
        let mut cell = self.op(Opcode::IntAdd, &[row, column]);
        if self.function.mem_operand(level.origin) != Some(MemOperand::Const(0)) {
            cell = self.op(Opcode::IntAdd, &[cell, level.origin]);
        }
        // A bounds check: nothing outside of the table is ever read.
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

    /// Transposes four vectors, one for each pixel of the quads with its channels, to one vector for each channel; or the other way round.
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
