//! Textures for fetches, and their semantics.

#![allow(clippy::unwrap_used)]

use r500_fast::codegen::{
    AxisDesc, ChannelSource, Footprint, LodDesc, TexelView, TextureDesc, WrapMode,
};
use r500_ir::Fetch;
use r500_isa::values::TexOp;
use r500_numerics::{Arith, compare, kernels};

use super::generate::Random;

/// Units with textures.
pub(super) const UNITS: [u8; 4] = [0, 3, 4, 15];

/// Textures of all kinds, one for each unit, and the numbers in them.
pub(super) struct Textures {
    pub(super) tables: Vec<(u8, TextureDesc)>,
    pub(super) texels: Vec<Vec<[f32; 4]>>,
    pub(super) footprints: Vec<Vec<Footprint>>,
}

impl Textures {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut all = Self { tables: Vec::new(), texels: Vec::new(), footprints: Vec::new() };
        for unit in UNITS {
            let linear = random.below(2) == 0;
            let levels = random.below(2) == 0;
            let axes = [9, 4].map(|powers| {
                let wrap = random.of(&[WrapMode::Repeat, WrapMode::Mirror, WrapMode::Clamp]);
                let size = match wrap {
                    _ if !levels && random.below(2) == 0 => 1 + random.below(9),
                    _ => 1 << random.below(if levels { 6 } else { powers }),
                };
                AxisDesc { wrap, size, scale: random.of(&[1.0_f32, 4.0, 7.0, 0.3]).to_bits() }
            });
            let [width, height] = axes.map(|axis| axis.size);
            let coarsest = if levels { width.max(height).ilog2() } else { 0 };
            let finest = random.below(coarsest + 1);
            let tiny = !linear && !levels && random.below(2) == 0;
            let mut kept = TextureBuilder {
                linear,
                levels,
                tiny,
                channels: TextureBuilder::channels(random),
                texels: Vec::new(),
                footprints: Vec::new(),
            };
            let mut origins = [0; 13];
            let mut row = 0;
            for level in 0..=coarsest {
                (origins[level as usize], row) = kept.add(random, axes, level);
            }
            let fixed = random.below(2) == 0;
            let detail = levels.then(|| LodDesc {
                bias: random.of(&[0.0_f32, 0.4, -1.5]).to_bits(),
                finest: finest as u8,
                coarsest: coarsest as u8,
                trilinear: random.below(2) == 0,
                mip_shift: axes.map(|axis| if fixed { axis.size.ilog2() as u8 } else { 15 }),
                origins,
            });
            let (origin, cells) = (origins[0], kept.texels.len() as u32);
            let channels = kept.channels;
            let table = TextureDesc {
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
            all.footprints.push(kept.footprints);
            all.texels.push(kept.texels);
        }
        all
    }

    pub(super) fn cells(&self) -> [TexelView<'_>; 16] {
        let mut cells = [TexelView::NONE; 16];
        for (n, (unit, table)) in self.tables.iter().enumerate() {
            cells[usize::from(*unit)] = match table.linear {
                true => TexelView::Footprints(&self.footprints[n]),
                false => TexelView::Texels(&self.texels[n]),
            };
        }
        cells
    }

    /// What [`TextureDesc`] says of a group's pixels, which come with S, T, R, Q and how these change.
    pub(super) fn fetch(
        &self,
        fetch: &Fetch,
        strq: &[[f32; 4]],
        steps: &[[[f32; 4]; 2]],
    ) -> Vec<[f32; 4]> {
        let n = UNITS.iter().position(|unit| *unit == fetch.unit).unwrap();
        let table = self.tables[n].1;
        let scaled = |x: f32, axis: usize| {
            let scale = f32::from_bits(table.axes[axis].scale);
            REFERENCE.mul(x, if fetch.unscaled { 1.0 } else { scale })
        };
        let places: Vec<[f32; 2]> = strq
            .iter()
            .map(|strq| {
                [0, 1].map(|axis| match fetch.op {
                    TexOp::PROJ => scaled(REFERENCE.div(strq[axis], strq[3]), axis),
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
            let minus =
                |a: [f32; 2], b: [f32; 2]| [0, 1].map(|axis| REFERENCE.sub(a[axis], b[axis]));
            let [right, down] = match fetch.op {
                TexOp::DXDY => steps[lane].map(|step| [0, 1].map(|axis| scaled(step[axis], axis))),
                _ => [minus(quad(1), quad(0)), minus(quad(2), quad(0))],
            };
            let squared =
                |[s, t]: [f32; 2]| REFERENCE.add(REFERENCE.mul(s, s), REFERENCE.mul(t, t));
            let longest = compare::max(squared(right), squared(down));
            let lod = match fetch.op {
                TexOp::LOD => strq[lane][3],
                TexOp::LODBIAS => {
                    REFERENCE.add(REFERENCE.mul(kernels::ln2(longest), 0.5), strq[lane][3])
                }
                _ => REFERENCE.mul(kernels::ln2(longest), 0.5),
            };
            let lod = REFERENCE.add(lod, f32::from_bits(detail.bias));
            let lod = if lod.is_nan() { 0.0 } else { lod };
            let lod = lod.clamp(detail.finest.into(), detail.coarsest.into());
            let lod = (lod * 16.0).floor() / 16.0;
            let level = |k: u32| {
                let place = [0, 1].map(|axis| {
                    let halvings = k.min(detail.mip_shift[axis].into());
                    REFERENCE.mul(places[lane][axis], 1.0 / (1_u32 << halvings) as f32)
                });
                let sizes = table.axes.map(|axis| ((axis.size - 1) >> k) + 1);
                let row = match table.axes[0].wrap {
                    WrapMode::Mirror if table.linear => 2 * sizes[0],
                    WrapMode::Clamp if table.linear => sizes[0] + 1,
                    _ => sizes[0],
                };
                self.level(n, sizes, detail.origins[k as usize], row, place)
            };
            if !detail.trilinear {
                return level(REFERENCE.add(lod, 0.5).floor() as u32);
            }
            let first = lod.floor();
            let (a, b) =
                (level(first as u32), level((first as u32 + 1).min(detail.coarsest.into())));
            std::array::from_fn(|i| mix(a[i], b[i], REFERENCE.sub(lod, first)))
        };
        (0..strq.len()).map(lane).collect()
    }

    /// A colour from a level of these sizes.
    pub(super) fn level(
        &self,
        n: usize,
        sizes: [u32; 2],
        origin: u32,
        row: u32,
        place: [f32; 2],
    ) -> [f32; 4] {
        let table = self.tables[n].1;
        let found = [0, 1].map(|axis| {
            let size = i64::from(sizes[axis]);
            let x = place[axis];
            let x = if x.is_nan() { 0.0 } else { x.clamp(-1_073_741_824.0, 1_073_741_824.0) };
            let x = if table.linear { REFERENCE.sub(x, 0.5) } else { x };
            let first = REFERENCE.floor(x) as i64;
            let number = match table.axes[axis].wrap {
                WrapMode::Repeat => first.rem_euclid(size),
                WrapMode::Mirror => match first.rem_euclid(2 * size) {
                    back if !table.linear && back >= size => 2 * size - 1 - back,
                    number => number,
                },
                WrapMode::Clamp => first.clamp(-i64::from(table.linear), size - 1),
            };
            (number, REFERENCE.sub(x, REFERENCE.floor(x)))
        });
        let [(column, s), (line, t)] = found;
        let cell = (i64::from(origin) + line * i64::from(row) + column) as usize;
        if !table.linear {
            return self.texels[n][cell];
        }
        let [a, b, c, d] = *self.footprints[n][cell].texels();
        std::array::from_fn(|i| mix(mix(a[i], b[i], s), mix(c[i], d[i], s), t))
    }
}

pub(super) const REFERENCE: Arith = Arith::REFERENCE;

pub(super) fn mix(a: f32, b: f32, share: f32) -> f32 {
    REFERENCE.add(a, REFERENCE.mul(REFERENCE.sub(b, a), share))
}

/// The cells of a texture on its way.
pub(super) struct TextureBuilder {
    pub(super) linear: bool,
    /// Whether there are several levels, which only textures of usual numbers have here.
    pub(super) levels: bool,
    /// What [`TextureDesc`] says.
    pub(super) tiny: bool,
    pub(super) channels: [ChannelSource; 4],
    pub(super) texels: Vec<[f32; 4]>,
    pub(super) footprints: Vec<Footprint>,
}

impl TextureBuilder {
    /// Some that are others, or constant.
    pub(super) fn channels(random: &mut Random) -> [ChannelSource; 4] {
        let mut channels = [ChannelSource::Of(0); 4];
        for c in 0..4 {
            channels[usize::from(c)] = match random.below(4) {
                0 => ChannelSource::Constant(random.of(&[0.0_f32, 1.0, 0.3]).to_bits()),
                1 if c > 0 => channels[random.below(c.into()) as usize],
                _ => ChannelSource::Of(c),
            };
        }
        channels
    }

    /// A number of a texel.
    pub(super) fn number(&self, random: &mut Random) -> f32 {
        /// 2^47: see [`TextureDesc::GRID`].
        const LARGE: f32 = (1_u64 << TextureDesc::GRID) as f32;
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
    pub(super) fn add(
        &mut self,
        random: &mut Random,
        axes: [AxisDesc; 2],
        level: u32,
    ) -> (u32, u32) {
        let axes = axes.map(|axis| AxisDesc { size: ((axis.size - 1) >> level) + 1, ..axis });
        // What the first of two texels can be: see `WrapMode`.
        let [columns, rows] = axes.map(|AxisDesc { wrap, size, .. }| match wrap {
            WrapMode::Mirror if self.linear => 2 * size,
            WrapMode::Clamp if self.linear => size + 1,
            _ => size,
        });
        let [left, top] = axes.map(|axis| i64::from(self.linear && axis.wrap == WrapMode::Clamp));
        let mut texel = || {
            let own = [(); 4].map(|()| self.number(random));
            self.channels.map(|channel| match channel {
                ChannelSource::Of(c) => own[usize::from(c)],
                ChannelSource::Constant(bits) => f32::from_bits(bits),
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
            self.footprints.push(Footprint::new([[f32::NAN; 4]; 4]));
        }
        let origin = self.texels.len() as i64 + left + top * i64::from(columns);
        for y in -top..i64::from(rows) - top {
            for x in -left..i64::from(columns) - left {
                self.texels.push(at(x, y));
                self.footprints.push(Footprint::new([
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
pub(super) fn within(AxisDesc { wrap, size, .. }: AxisDesc, i: i64) -> i64 {
    let size = i64::from(size);
    match wrap {
        WrapMode::Repeat => i.rem_euclid(size),
        WrapMode::Mirror => match i.rem_euclid(2 * size) {
            back if back >= size => 2 * size - 1 - back,
            number => number,
        },
        WrapMode::Clamp => i.clamp(0, size - 1),
    }
}
