//! Random segments, with more values than registers and branches and loops inside each other: what
//! their code leaves in slots is what an interpreter of the intermediate form computes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Debug;

use r500_fast::codegen::{
    Axis, BatchOffsets, Channel, Chunk, ColorStore, ColorTargets, CompileUnit, Detail, Four, LANES,
    LinearInterpolant, PhiMove, PixelOffsets, Table, TexelView, Wrap,
};
use r500_ir::{
    ALL, AddSign, DenormalMode, Fetch, If, Inst, Loop, LoopParam, MulFlags, Opcode, Operand, Phi,
    Stmt, Type, Value, ValueData, Values,
};
use r500_isa::values::TexOp;
use r500_numerics::{Arith, canonical_nan, compare, kernels};

/// Chunks of a slot.
const CHUNKS: usize = 3;
/// Values from before.
const READS: u32 = 6;

/// Numbers one after the other.
struct Random {
    state: u64,
    numbers: Numbers,
}

/// Exponents of numbers that are tiny by themselves, as products, quotients, or beside each other.
const SIZES: [u32; 20] =
    [1, 1, 2, 3, 8, 14, 18, 22, 24, 25, 26, 27, 63, 64, 64, 102, 127, 127, 128, 254];

/// Which numbers there are in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Of usual size.
    Plain,
    /// All kinds, denormals too, in long segments.
    All,
    /// Those beside which products and sums begin to be tiny, in short segments.
    Edges,
}

impl Random {
    fn next(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 24) as u32
    }

    fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    /// Numbers of all kinds, those of usual size most often.
    fn float(&mut self) -> f32 {
        if self.numbers == Numbers::Edges {
            let size = self.of(&SIZES) << 23;
            let bits = size.wrapping_add(self.below(5)).wrapping_sub(2);
            return f32::from_bits(bits | self.below(2) << 31);
        }
        match self.below(12) {
            0 => self.of(&[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0, -1.0, 0.5]),
            1 if self.numbers == Numbers::All => f32::from_bits(self.next() & 0x807f_ffff),
            2 if self.numbers == Numbers::All => f32::from_bits(self.next() ^ self.next() << 8),
            _ => self.below(2000) as f32 / 64.0 - 15.0,
        }
    }
}

/// A segment on its way.
struct Maker {
    random: Random,
    /// Values that can be looked at here, and masks.
    floats: Vec<Operand>,
    masks: Vec<Operand>,
    values: Values,
    /// Statements left.
    left: u32,
    /// Whether inputs are computed.
    inputs: bool,
}

/// So many floats and a mask from before.
fn read_values(floats: usize) -> Values {
    let mut values = Values::filled(floats, ValueData::new(Type::F32));
    values.push(ValueData::new(Type::Mask));
    values
}

fn type_of(is_mask: bool) -> Type {
    if is_mask { Type::Mask } else { Type::F32 }
}

/// Channels of inputs, by the numbers of their ramps.
const INPUTS: [[u8; 2]; 3] = [[0, 0], [0, 3], [2, 1]];

impl Maker {
    fn fresh(&mut self, ty: Type) -> Value {
        self.values.push(ValueData::new(ty))
    }

    fn float(&mut self) -> Operand {
        match self.random.below(5) {
            0 => Operand::float(self.random.float()),
            1 => self.random.of(&self.floats),
            // What is young, so that chains get long.
            _ => {
                let young = self.floats.len().saturating_sub(24);
                self.random.of(&self.floats[young..])
            }
        }
    }

    fn mask(&mut self) -> Operand {
        self.random.of(&self.masks)
    }

    fn def(&mut self, opcode: Opcode, args: &[Operand], to: &mut Vec<Stmt>) -> Operand {
        // A select here is of floats.
        let value = self.fresh(opcode.result_type().unwrap_or(Type::F32));
        to.push(Stmt::Def(value, Inst::new(opcode, args)));
        Operand::Value(value)
    }

    fn operation(&mut self, to: &mut Vec<Stmt>) {
        let product = MulFlags {
            negate: self.random.below(2) == 0,
            zero_a: self.random.below(3) == 0,
            zero_b: self.random.below(3) == 0,
        };
        let (a, b, c, m, n) = (self.float(), self.float(), self.float(), self.mask(), self.mask());
        let bits = self.random.of(&[Opcode::Neg, Opcode::Abs, Opcode::NegAbs, Opcode::Flush]);
        let quotient = self.random.of(&[Opcode::Frc, Opcode::Rcp, Opcode::Rsq]);
        let power = self.random.of(&[Opcode::Ex2, Opcode::Ln2]);
        let wave = self.random.of(&[Opcode::Sin, Opcode::Cos]);
        let corner = Opcode::QuadBroadcast(self.random.below(3) as u8);
        let made = match self.random.below(26) {
            0..=4 => {
                let sign = self.random.of(&[AddSign::Plus, AddSign::Minus]);
                self.def(Opcode::Mad(product, sign), &[a, b, c], to)
            }
            5 => self.def(Opcode::Mul(product), &[a, b], to),
            6 => self.def(Opcode::Add, &[a, b], to),
            7 => self.def(Opcode::Sub, &[a, b], to),
            8 => self.def(bits, &[a], to),
            9 => {
                let code = self.random.of(&[Opcode::Min, Opcode::Max])(DenormalMode::Kept);
                self.def(code, &[a, b], to)
            }
            10 => {
                let sum = self.def(Opcode::Add, &[a, b], to);
                let product = self.def(Opcode::Mul(product), &[a, c], to);
                let code = self.random.of(&[Opcode::Min, Opcode::Max])(DenormalMode::Excluded);
                self.def(code, &[sum, product], to)
            }
            11 => self.def(Opcode::Select, &[m, a, b], to),
            12 => self.def(Opcode::Clamp01, &[a], to),
            13 => self.def(quotient, &[a], to),
            14 => self.def(power, &[a], to),
            15 => self.def(wave, &[a], to),
            16 => self.def(corner, &[a], to),
            17 => self.def(Opcode::Select, &[m, a, Operand::Const(0)], to),
            18 => self.def(Opcode::Select, &[m, Operand::Const(0), a], to),
            other => {
                let mask = match other {
                    19 => self.def(Opcode::And, &[m, n], to),
                    20 => self.def(Opcode::Or, &[m, n], to),
                    21 => self.def(Opcode::AndNot, &[m, n], to),
                    22 => {
                        let value = self.fresh(Type::Mask);
                        let args = [m, n, self.masks[0]];
                        to.push(Stmt::Def(value, Inst::new(Opcode::Select, &args)));
                        Operand::Value(value)
                    }
                    _ => {
                        let code =
                            self.random.of(&[Opcode::Lt, Opcode::Ge, Opcode::Eq, Opcode::Ne]);
                        self.def(code, &[a, b], to)
                    }
                };
                self.masks.push(mask);
                return;
            }
        };
        self.floats.push(made);
    }

    /// Some colours.
    fn colors(&mut self) -> Vec<ColorStore> {
        let targets = self.random.below(16) as u8;
        let targets = (0..4).filter(|target| targets >> target & 1 != 0);
        targets
            .map(|target| {
                let channels = [(); 4].map(|()| self.float());
                let covered = self.random.below(2) == 0;
                ColorStore { target, channels, non_nan: [false; 4], covered }
            })
            .collect()
    }

    fn list(&mut self, depth: u32, most: u32) -> Vec<Stmt> {
        let mut list = Vec::new();
        for _ in 0..=self.random.below(most) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            match self.random.below(24) {
                0 if depth > 0 => self.branch(depth, &mut list),
                1 if depth > 0 => self.repeat(depth, &mut list),
                2 => self.fetch(&mut list),
                4 if self.inputs => {
                    let [input, channel] = self.random.of(&INPUTS);
                    let made = self.def(Opcode::Input { input, channel }, &[], &mut list);
                    self.floats.push(made);
                }
                3 if self.random.below(4) == 0 => list.push(Stmt::Discard(self.mask())),
                _ => self.operation(&mut list),
            }
        }
        list
    }

    fn fetch(&mut self, to: &mut Vec<Stmt>) {
        let texel = [(); 4].map(|()| (self.random.below(3) > 0).then(|| self.fresh(Type::F32)));
        let fetch = Fetch {
            unit: self.random.of(&UNITS),
            op: self.random.of(&[TexOp::LD, TexOp::PROJ, TexOp::LODBIAS, TexOp::LOD, TexOp::DXDY]),
            unscaled: self.random.below(3) == 0,
            strq: [(); 4].map(|()| self.float()),
            dx: [(); 4].map(|()| self.float()),
            dy: [(); 4].map(|()| self.float()),
            active: self.mask(),
            texel,
            address: 0,
        };
        to.push(Stmt::Fetch(Box::new(fetch)));
        self.floats.extend(texel.into_iter().flatten().map(Operand::Value));
    }

    /// What is done inside is not seen outside.
    fn inside<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (floats, masks) = (self.floats.len(), self.masks.len());
        let result = f(self);
        self.floats.truncate(floats);
        self.masks.truncate(masks);
        result
    }

    fn branch(&mut self, depth: u32, to: &mut Vec<Stmt>) {
        let (m, n) = (self.mask(), self.mask());
        let other = self.def(Opcode::AndNot, &[n, m], to);
        // No pixel takes both arms.
        let mut merges: Vec<(Phi, bool)> = (0..self.random.below(6))
            .map(|_| {
                let is_mask = self.random.below(3) == 0;
                let before = if is_mask { self.mask() } else { self.float() };
                (
                    Phi {
                        value: self.fresh(type_of(is_mask)),
                        incoming: Some(before),
                        arms: [None; 2],
                    },
                    is_mask,
                )
            })
            .collect();
        let mut arm = |maker: &mut Self, number: usize| {
            maker.inside(|maker| {
                let stmts = maker.list(depth - 1, 12);
                for (merge, is_mask) in &mut merges {
                    if maker.random.below(4) > 0 {
                        let from = if *is_mask { maker.mask() } else { maker.float() };
                        merge.arms[number] = Some(from);
                    }
                }
                stmts
            })
        };
        let arms = [arm(self, 0), arm(self, 1)];
        for (merge, is_mask) in &merges {
            let list = if *is_mask { &mut self.masks } else { &mut self.floats };
            list.push(Operand::Value(merge.value));
        }
        let phis = merges.into_iter().map(|(merge, _)| merge).collect();
        to.push(Stmt::If(Box::new(If { masks: [m, other], arms, phis })));
    }

    fn repeat(&mut self, depth: u32, to: &mut Vec<Stmt>) {
        let mut carried: Vec<(LoopParam, bool)> = (0..1 + self.random.below(7))
            .map(|_| {
                let is_mask = self.random.below(3) == 0;
                let init = if is_mask { self.mask() } else { self.float() };
                (LoopParam { value: self.fresh(type_of(is_mask)), init, next: init }, is_mask)
            })
            .collect();
        let see = |maker: &mut Self, carried: &[(LoopParam, bool)]| {
            for (carried, is_mask) in carried {
                let list = if *is_mask { &mut maker.masks } else { &mut maker.floats };
                list.push(Operand::Value(carried.value));
            }
        };
        let (body, again) = self.inside(|maker| {
            see(maker, &carried);
            let body = maker.list(depth - 1, 16);
            for (carried, is_mask) in &mut carried {
                carried.next = if *is_mask { maker.mask() } else { maker.float() };
            }
            (body, (maker.random.below(3) > 0).then(|| maker.mask()))
        });
        see(self, &carried);
        let params = carried.into_iter().map(|(carried, _)| carried).collect();
        let passes = 1 + self.random.below(4);
        to.push(Stmt::Loop(Box::new(Loop {
            max_trips: passes,
            params,
            body,
            continue_mask: again,
        })));
    }
}

/// Values of a group of pixels.
type Lanes = Vec<u32>;

/// Units with textures.
const UNITS: [u8; 4] = [0, 3, 4, 15];

/// Textures of all kinds, one for each unit, and the numbers in them.
struct Textures {
    tables: Vec<(u8, Table)>,
    texels: Vec<Vec<[f32; 4]>>,
    fours: Vec<Vec<Four>>,
}

impl Textures {
    fn new(random: &mut Random) -> Self {
        let mut all = Self { tables: Vec::new(), texels: Vec::new(), fours: Vec::new() };
        for unit in UNITS {
            let linear = random.below(2) == 0;
            let levels = random.below(2) == 0;
            let axes = [9, 4].map(|powers| {
                let wrap = random.of(&[Wrap::Repeat, Wrap::Mirror, Wrap::Clamp]);
                let size = match wrap {
                    _ if !levels && random.below(2) == 0 => 1 + random.below(9),
                    _ => 1 << random.below(if levels { 6 } else { powers }),
                };
                Axis { wrap, size, scale: random.of(&[1.0_f32, 4.0, 7.0, 0.3]).to_bits() }
            });
            let [width, height] = axes.map(|axis| axis.size);
            let coarsest = if levels { width.max(height).ilog2() } else { 0 };
            let finest = random.below(coarsest + 1);
            let tiny = !linear && !levels && random.below(2) == 0;
            let mut kept = Kept {
                linear,
                levels,
                tiny,
                channels: Kept::channels(random),
                texels: Vec::new(),
                fours: Vec::new(),
            };
            let mut origins = [0; 13];
            let mut row = 0;
            for level in 0..=coarsest {
                (origins[level as usize], row) = kept.add(random, axes, level);
            }
            let fixed = random.below(2) == 0;
            let detail = levels.then(|| Detail {
                bias: random.of(&[0.0_f32, 0.4, -1.5]).to_bits(),
                finest: finest as u8,
                coarsest: coarsest as u8,
                trilinear: random.below(2) == 0,
                mip_shift: axes.map(|axis| if fixed { axis.size.ilog2() as u8 } else { 15 }),
                origins,
            });
            let (origin, cells) = (origins[0], kept.texels.len() as u32);
            let channels = kept.channels;
            let table = Table {
                linear,
                axes,
                origin,
                row,
                cells,
                channels,
                may_underflow: tiny,
                lod: detail,
            };
            all.tables.push((unit, table));
            all.fours.push(kept.fours);
            all.texels.push(kept.texels);
        }
        all
    }

    fn cells(&self) -> [TexelView<'_>; 16] {
        let mut cells = [TexelView::NONE; 16];
        for (n, (unit, table)) in self.tables.iter().enumerate() {
            cells[usize::from(*unit)] = match table.linear {
                true => TexelView::Footprints(&self.fours[n]),
                false => TexelView::Texels(&self.texels[n]),
            };
        }
        cells
    }

    /// What [`Table`] says of a group's pixels, which come with S, T, R, Q and how these change.
    fn fetch(&self, fetch: &Fetch, strq: &[[f32; 4]], steps: &[[[f32; 4]; 2]]) -> Vec<[f32; 4]> {
        let n = UNITS.iter().position(|unit| *unit == fetch.unit).unwrap();
        let table = self.tables[n].1;
        let scaled = |x: f32, axis: usize| {
            let scale = f32::from_bits(table.axes[axis].scale);
            LAW.mul(x, if fetch.unscaled { 1.0 } else { scale })
        };
        let places: Vec<[f32; 2]> = strq
            .iter()
            .map(|strq| {
                [0, 1].map(|axis| match fetch.op {
                    TexOp::PROJ => scaled(LAW.div(strq[axis], strq[3]), axis),
                    _ => scaled(strq[axis], axis),
                })
            })
            .collect();
        let lane = |lane: usize| {
            let Some(detail) = table.lod else {
                let row = table.row;
                return self.level(
                    n,
                    table.axes.map(|axis| axis.size),
                    table.origin,
                    row,
                    places[lane],
                );
            };
            let quad = |corner: usize| places[lane / 4 * 4 + corner];
            let minus = |a: [f32; 2], b: [f32; 2]| [0, 1].map(|axis| LAW.sub(a[axis], b[axis]));
            let [right, down] = match fetch.op {
                TexOp::DXDY => steps[lane].map(|step| [0, 1].map(|axis| scaled(step[axis], axis))),
                _ => [minus(quad(1), quad(0)), minus(quad(2), quad(0))],
            };
            let squared = |[s, t]: [f32; 2]| LAW.add(LAW.mul(s, s), LAW.mul(t, t));
            let longest = compare::max(squared(right), squared(down));
            let lod = match fetch.op {
                TexOp::LOD => strq[lane][3],
                TexOp::LODBIAS => LAW.add(LAW.mul(kernels::ln2(longest), 0.5), strq[lane][3]),
                _ => LAW.mul(kernels::ln2(longest), 0.5),
            };
            let lod = LAW.add(lod, f32::from_bits(detail.bias));
            let lod = if lod.is_nan() { 0.0 } else { lod };
            let lod = lod.clamp(detail.finest.into(), detail.coarsest.into());
            let lod = (lod * 16.0).floor() / 16.0;
            let level = |k: u32| {
                let place = [0, 1].map(|axis| {
                    let halvings = k.min(detail.mip_shift[axis].into());
                    LAW.mul(places[lane][axis], 1.0 / (1_u32 << halvings) as f32)
                });
                let sizes = table.axes.map(|axis| ((axis.size - 1) >> k) + 1);
                let row = match table.axes[0].wrap {
                    Wrap::Mirror if table.linear => 2 * sizes[0],
                    Wrap::Clamp if table.linear => sizes[0] + 1,
                    _ => sizes[0],
                };
                self.level(n, sizes, detail.origins[k as usize], row, place)
            };
            if !detail.trilinear {
                return level(LAW.add(lod, 0.5).floor() as u32);
            }
            let first = lod.floor();
            let (a, b) =
                (level(first as u32), level((first as u32 + 1).min(detail.coarsest.into())));
            std::array::from_fn(|i| mix(a[i], b[i], LAW.sub(lod, first)))
        };
        (0..strq.len()).map(lane).collect()
    }

    /// A colour from a level of these sizes.
    fn level(&self, n: usize, sizes: [u32; 2], origin: u32, row: u32, place: [f32; 2]) -> [f32; 4] {
        let table = self.tables[n].1;
        let found = [0, 1].map(|axis| {
            let size = i64::from(sizes[axis]);
            let x = place[axis];
            let x = if x.is_nan() { 0.0 } else { x.clamp(-1_073_741_824.0, 1_073_741_824.0) };
            let x = if table.linear { LAW.sub(x, 0.5) } else { x };
            let first = LAW.floor(x) as i64;
            let number = match table.axes[axis].wrap {
                Wrap::Repeat => first.rem_euclid(size),
                Wrap::Mirror => match first.rem_euclid(2 * size) {
                    back if !table.linear && back >= size => 2 * size - 1 - back,
                    number => number,
                },
                Wrap::Clamp => first.clamp(-i64::from(table.linear), size - 1),
            };
            (number, LAW.sub(x, LAW.floor(x)))
        });
        let [(column, s), (line, t)] = found;
        let cell = (i64::from(origin) + line * i64::from(row) + column) as usize;
        if !table.linear {
            return self.texels[n][cell];
        }
        let [a, b, c, d] = *self.fours[n][cell].texels();
        std::array::from_fn(|i| mix(mix(a[i], b[i], s), mix(c[i], d[i], s), t))
    }
}

const LAW: Arith = Arith::LAW;

fn mix(a: f32, b: f32, share: f32) -> f32 {
    LAW.add(a, LAW.mul(LAW.sub(b, a), share))
}

/// The cells of a texture on its way.
struct Kept {
    linear: bool,
    /// Whether there are several levels, which only textures of usual numbers have here.
    levels: bool,
    /// What [`Table`] says.
    tiny: bool,
    channels: [Channel; 4],
    texels: Vec<[f32; 4]>,
    fours: Vec<Four>,
}

impl Kept {
    /// Some that are others, or constant.
    fn channels(random: &mut Random) -> [Channel; 4] {
        let mut channels = [Channel::Of(0); 4];
        for c in 0..4 {
            channels[usize::from(c)] = match random.below(4) {
                0 => Channel::Constant(random.of(&[0.0_f32, 1.0, 0.3]).to_bits()),
                1 if c > 0 => channels[random.below(c.into()) as usize],
                _ => Channel::Of(c),
            };
        }
        channels
    }

    /// A number of a texel.
    fn number(&self, random: &mut Random) -> f32 {
        /// 2^47: see [`Table::GRID`].
        const LARGE: f32 = (1_u64 << Table::GRID) as f32;
        if self.levels {
            return random.below(256) as f32 / 255.0;
        }
        match random.float() {
            _ if !self.tiny && random.below(4) == 0 => (random.below(9) as f32 - 4.0) / LARGE,
            x if !self.tiny && x.abs() < 1.0 => (x * LARGE).round() / LARGE,
            x => x,
        }
    }

    /// Adds a level of random texels; its origin and its cells from row to row.
    fn add(&mut self, random: &mut Random, axes: [Axis; 2], level: u32) -> (u32, u32) {
        let axes = axes.map(|axis| Axis { size: ((axis.size - 1) >> level) + 1, ..axis });
        // What the first of two texels can be: see `Wrap`.
        let [columns, rows] = axes.map(|Axis { wrap, size, .. }| match wrap {
            Wrap::Mirror if self.linear => 2 * size,
            Wrap::Clamp if self.linear => size + 1,
            _ => size,
        });
        let [left, top] = axes.map(|axis| i64::from(self.linear && axis.wrap == Wrap::Clamp));
        let mut texel = || {
            let own = [(); 4].map(|()| self.number(random));
            self.channels.map(|channel| match channel {
                Channel::Of(c) => own[usize::from(c)],
                Channel::Constant(bits) => f32::from_bits(bits),
            })
        };
        let [width, height] = axes.map(|axis| axis.size);
        let grid: Vec<_> = (0..width * height).map(|_| texel()).collect();
        let at = |column: i64, row: i64| {
            let [x, y] = [(axes[0], column), (axes[1], row)].map(|(axis, i)| within(axis, i));
            grid[(y * i64::from(width) + x) as usize]
        };
        // Others lie between levels.
        for _ in 0..random.below(3) {
            self.texels.push([f32::NAN; 4]);
            self.fours.push(Four::new([[f32::NAN; 4]; 4]));
        }
        let origin = self.texels.len() as i64 + left + top * i64::from(columns);
        for y in -top..i64::from(rows) - top {
            for x in -left..i64::from(columns) - left {
                self.texels.push(at(x, y));
                self.fours.push(Four::new([
                    at(x, y),
                    at(x + 1, y),
                    at(x, y + 1),
                    at(x + 1, y + 1),
                ]));
            }
        }
        (origin as u32, columns)
    }
}

/// The texel that a number stands for.
fn within(Axis { wrap, size, .. }: Axis, i: i64) -> i64 {
    let size = i64::from(size);
    match wrap {
        Wrap::Repeat => i.rem_euclid(size),
        Wrap::Mirror => match i.rem_euclid(2 * size) {
            back if back >= size => 2 * size - 1 - back,
            number => number,
        },
        Wrap::Clamp => i.clamp(0, size - 1),
    }
}

/// Computes what a segment says, for a group.
struct Interpreter<'a> {
    values: Vec<Lanes>,
    lanes: usize,
    textures: &'a Textures,
    covered: Lanes,
    interpolants: &'a [LinearInterpolant],
    places: &'a [[PixelOffsets; 2]],
    /// The first of its lanes.
    first: usize,
}

impl Interpreter<'_> {
    fn get(&self, operand: Operand) -> Lanes {
        match operand {
            Operand::Const(bits) => vec![bits; self.lanes],
            Operand::Value(value) => self.values[value.0 as usize].clone(),
        }
    }

    fn set(&mut self, value: Value, lanes: Lanes) {
        self.values[value.0 as usize] = lanes;
    }

    fn any(&self, mask: Operand) -> bool {
        self.get(mask).iter().any(|lane| *lane != 0)
    }

    fn choose(&self, mask: Operand, a: Operand, b: Operand) -> Lanes {
        let (mask, a, b) = (self.get(mask), self.get(a), self.get(b));
        (0..self.lanes).map(|i| mask[i] & a[i] | !mask[i] & b[i]).collect()
    }

    fn list(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Def(value, Inst { opcode: Opcode::Input { input, channel }, .. }) => {
                    let number = INPUTS.binary_search(&[*input, *channel]).unwrap();
                    let LinearInterpolant { x_terms: along, y_terms: across } =
                        &self.interpolants[number];
                    let lanes = (self.first..self.first + self.lanes).map(|lane| {
                        let half = self.places[lane / LANES][lane % LANES / 8];
                        let [column, row] = half.interpolants.map(|at| at as usize / 4);
                        let along = along.as_flattened()[column + lane % 8];
                        // These stand behind those.
                        let across = across.as_flattened()[row - 16 * 8 + lane % 8];
                        LAW.add(along, across).to_bits()
                    });
                    self.set(*value, lanes.collect());
                }
                Stmt::Def(value, inst) => {
                    let args = inst.args.map(|arg| self.get(arg));
                    let lanes = (0..self.lanes).map(|lane| evaluate(inst.opcode, &args, lane));
                    self.set(*value, lanes.collect());
                }
                Stmt::If(branch) => {
                    for merge in &branch.phis {
                        self.set(merge.value, self.get(merge.incoming.unwrap()));
                    }
                    for (arm, stmts) in branch.arms.iter().enumerate() {
                        let mask = branch.masks[arm];
                        if !self.any(mask) {
                            continue;
                        }
                        self.list(stmts);
                        for merge in &branch.phis {
                            let Some(from) = merge.arms[arm] else { continue };
                            let value = Operand::Value(merge.value);
                            self.set(merge.value, self.choose(mask, from, value));
                        }
                    }
                }
                Stmt::Loop(repeat) => {
                    for carried in &repeat.params {
                        self.set(carried.value, self.get(carried.init));
                    }
                    for _ in 0..repeat.max_trips {
                        self.list(&repeat.body);
                        let again = repeat.continue_mask.is_none_or(|again| self.any(again));
                        let next: Vec<_> =
                            repeat.params.iter().map(|carried| self.get(carried.next)).collect();
                        for (carried, next) in repeat.params.iter().zip(next) {
                            self.set(carried.value, next);
                        }
                        if !again {
                            break;
                        }
                    }
                }
                Stmt::Fetch(fetch) => {
                    let of = |from: [Operand; 4]| from.map(|operand| self.get(operand));
                    let (strq, dx, dy) = (of(fetch.strq), of(fetch.dx), of(fetch.dy));
                    let lane = |all: &[Lanes; 4], lane: usize| {
                        [0, 1, 2, 3].map(|i| f32::from_bits(all[i][lane]))
                    };
                    let places: Vec<_> = (0..self.lanes).map(|i| lane(&strq, i)).collect();
                    let steps: Vec<_> =
                        (0..self.lanes).map(|i| [lane(&dx, i), lane(&dy, i)]).collect();
                    let texels = self.textures.fetch(fetch, &places, &steps);
                    for (channel, value) in fetch.texel.iter().enumerate() {
                        if let Some(value) = value {
                            let lanes = texels.iter().map(|texel| texel[channel].to_bits());
                            self.set(*value, lanes.collect());
                        }
                    }
                }
                Stmt::Discard(mask) => {
                    let mask = self.get(*mask);
                    self.covered.iter_mut().zip(mask).for_each(|(covered, mask)| *covered &= !mask);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

fn evaluate(opcode: Opcode, args: &[Lanes; 3], lane: usize) -> u32 {
    let bits = [args[0][lane], args[1][lane], args[2][lane]];
    match opcode {
        Opcode::QuadBroadcast(corner) => args[0][lane / 4 * 4 + usize::from(corner)],
        Opcode::And => bits[0] & bits[1],
        Opcode::Or => bits[0] | bits[1],
        Opcode::AndNot => bits[0] & !bits[1],
        Opcode::Select => bits[0] & bits[1] | !bits[0] & bits[2],
        opcode => r500_ir::evaluate(opcode, bits).expect("an operation of a unit"),
    }
}

/// The same number, or both none.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Makes a segment, with numbers for it, which paints and computes inputs or not, has code made of it, which says how many
/// pixels decide together (that shows here, while programs do not let it show), has that run, and checks
/// what was left.
pub(crate) fn check<T>(
    seed: u64,
    numbers: Numbers,
    placed: bool,
    what: &dyn Debug,
    make: impl FnOnce(&CompileUnit<'_>) -> (usize, T),
    run: impl FnOnce(
        T,
        &mut [Chunk],
        &mut [Chunk],
        &[TexelView<'_>],
        &[LinearInterpolant],
        ColorTargets<'_>,
    ),
) {
    let mut maker = Maker {
        random: Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, numbers },
        floats: (0..READS).map(|value| Operand::Value(Value(value))).collect(),
        masks: vec![Operand::Value(Value(READS)), ALL],
        values: read_values(READS as usize),
        left: match numbers {
            Numbers::Edges => 1 + (seed % 12) as u32,
            _ => 40 + (seed % 7) as u32 * 60,
        },
        inputs: placed,
    };
    let textures = Textures::new(&mut maker.random);
    let body = maker.list(3, 400);
    let reads: Vec<_> = (0..=READS).map(|value| (Value(value), value)).collect();
    let seen = |list: &[Operand]| -> Vec<Value> {
        list.iter().filter_map(|operand| operand.value()).filter(|value| value.0 > READS).collect()
    };
    let (floats, masks) = (seen(&maker.floats), seen(&maker.masks));
    let mut slot = READS;
    let mut place = |value: &Value| {
        slot += 1;
        (*value, slot)
    };
    // Half of them go to slots; others are moved to slots that are read.
    let writes: Vec<_> = (floats.iter().chain(&masks).step_by(2)).map(&mut place).collect();
    let moves: Vec<PhiMove> = (0..maker.random.below(5))
        .map(|_| {
            let to = maker.random.below(READS);
            let from = maker.float();
            // Another variable may take the slot of what colours alone look at behind.
            if maker.random.below(3) == 0 {
                return PhiMove { value: maker.fresh(Type::F32), slot: to, mask: None, from };
            }
            let mask = (maker.random.below(2) == 0).then(|| maker.mask());
            PhiMove { value: Value(to), slot: to, mask, from }
        })
        .collect();
    let colors: Vec<ColorStore> = if placed { maker.colors() } else { Vec::new() };
    let body: Vec<&Stmt> = body.iter().collect();
    let unit = CompileUnit {
        body: &body,
        reads: &reads,
        writes: &writes,
        moves: &moves,
        colors: &colors,
        stride: (CHUNKS * size_of::<Chunk>()) as u32,
        fuel_checked: seed.is_multiple_of(3),
        tables: &textures.tables,
        interpolants: if placed { &INPUTS } else { &[] },
        values: &maker.values,
    };
    let (lanes, made) = make(&unit);

    let mut slots = vec![[0.0; LANES]; (slot as usize + 1) * CHUNKS];
    for (i, chunk) in slots[..READS as usize * CHUNKS].iter_mut().enumerate() {
        // In some chunks all lanes are alike, so that masks are all or nothing.
        let one = maker.random.float();
        *chunk = std::array::from_fn(|_| if i % 3 == 0 { one } else { maker.random.float() });
    }
    for chunk in &mut slots[READS as usize * CHUNKS..][..CHUNKS] {
        *chunk = std::array::from_fn(|_| f32::from_bits([0, !0][maker.random.below(2) as usize]));
    }
    let all = |_: usize| f32::from_bits(!0);
    let mut covered = vec![std::array::from_fn(all); CHUNKS];
    let (mut wanted, mut wanted_covered) = (slots.clone(), covered.clone());
    let places = [[4, 8], [8, 0], [0, 4]].into_iter();
    let places = BatchOffsets::in_rows(places, 14).expect("they are near");
    let interpolants = INPUTS.map(|_| LinearInterpolant {
        x_terms: [(); 16].map(|()| [(); 8].map(|()| maker.random.float())),
        y_terms: [(); 4].map(|()| [(); LANES].map(|()| maker.random.float())),
    });
    let mut planes = [(); 4].map(|()| vec![[-7.0; 4]; places.pixels()]);
    let mut wanted_planes = planes.clone();
    // The last group may be smaller.
    for first in (0..CHUNKS * LANES).step_by(lanes) {
        let group = first..(first + lanes).min(CHUNKS * LANES);
        let lanes = group.len();
        let of_slot = |slot: u32| {
            let slot = slot as usize * CHUNKS * LANES;
            slot + group.start..slot + group.end
        };
        let values = vec![vec![0; lanes]; maker.values.len()];
        let covered = &mut wanted_covered.as_flattened_mut()[group.clone()];
        let before = covered.iter().map(|lane| lane.to_bits()).collect();
        let (textures, interpolants, places) = (&textures, &interpolants, places.chunks());
        let mut interpreter =
            Interpreter { values, lanes, textures, covered: before, interpolants, places, first };
        for &(value, slot) in &reads {
            let from = &wanted.as_flattened()[of_slot(slot)];
            interpreter.set(value, from.iter().map(|lane| lane.to_bits()).collect());
        }
        for stmt in &body {
            interpreter.list(std::slice::from_ref(stmt));
        }
        for (to, bits) in covered.iter_mut().zip(&interpreter.covered) {
            *to = f32::from_bits(*bits);
        }
        let mut left = Vec::new();
        for &(value, slot) in &writes {
            left.push((slot, interpreter.get(Operand::Value(value))));
        }
        for moved in &moves {
            let old = Operand::Value(moved.value);
            let new = interpreter.choose(moved.mask.unwrap_or(ALL), moved.from, old);
            interpreter.set(moved.value, new.clone());
            left.push((moved.slot, new));
        }
        for &ColorStore { target, channels, covered, .. } in &colors {
            let channels = channels.map(|channel| interpreter.get(channel));
            for lane in 0..lanes {
                let there = !covered || interpreter.covered[lane] != 0;
                let pixel = channels.each_ref().map(|channel| f32::from_bits(channel[lane]));
                let pixel = pixel.map(|x| if there { canonical_nan(x) } else { 0.0 });
                // Halves of two rows of four pixels of 16 bytes: two quads.
                let (chunk, lane) = ((first + lane) / LANES, (first + lane) % LANES);
                let half = places[chunk][lane / 8];
                let left = lane / 4 % 2 * 2;
                let at = half.rows[lane / 2 % 2] as usize / 16 + left + lane % 2;
                wanted_planes[usize::from(target)][at] = pixel;
            }
        }
        for (slot, lanes_of) in left {
            let to = &mut wanted.as_flattened_mut()[of_slot(slot)];
            for (to, bits) in to.iter_mut().zip(lanes_of) {
                *to = f32::from_bits(bits);
            }
        }
    }
    let targets =
        ColorTargets { planes: planes.each_mut().map(Vec::as_mut_slice), offsets: &places };
    run(made, &mut slots, &mut covered, &textures.cells(), &interpolants, targets);
    let bits = |plane: &Vec<[f32; 4]>| -> Vec<_> {
        plane.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
    };
    for (got, wanted) in planes.iter().zip(&wanted_planes) {
        assert_eq!(bits(got), bits(wanted), "seed {seed}, {what:?}: pixels");
    }
    for (got, wanted) in covered.iter().zip(&wanted_covered) {
        assert_eq!(got.map(f32::to_bits), wanted.map(f32::to_bits), "seed {seed}: coverage");
    }
    for (i, (got, wanted)) in slots.iter().zip(&wanted).enumerate() {
        for lane in 0..LANES {
            assert!(
                same(got[lane], wanted[lane]),
                "seed {seed}, {what:?}: slot {}, chunk {}, lane {lane}: {:e}, not {:e}",
                i / CHUNKS,
                i % CHUNKS,
                got[lane],
                wanted[lane],
            );
        }
    }
}

/// Makes a segment whose numbers do not matter.
pub(crate) fn with_segment<T>(seed: u64, f: impl FnOnce(&CompileUnit<'_>) -> T) -> T {
    let mut maker = Maker {
        random: Random { state: seed | 1, numbers: Numbers::All },
        floats: vec![Operand::Value(Value(0))],
        masks: vec![Operand::Value(Value(1)), ALL],
        values: read_values(1),
        left: 200,
        inputs: false,
    };
    let textures = Textures::new(&mut maker.random);
    let body = maker.list(3, 200);
    let body: Vec<&Stmt> = body.iter().collect();
    f(&CompileUnit {
        body: &body,
        reads: &[(Value(0), 0), (Value(1), 1)],
        writes: &[],
        moves: &[],
        colors: &[],
        stride: 64,
        fuel_checked: true,
        tables: &textures.tables,
        interpolants: &[],
        values: &maker.values,
    })
}

/// How many segments to try: R500_PROGRAMS, if that is set.
pub(crate) fn count(usual: u64) -> u64 {
    let count = std::env::var("R500_PROGRAMS").ok().and_then(|count| count.parse().ok());
    count.unwrap_or(usual)
}
