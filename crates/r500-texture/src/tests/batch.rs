//! Compares batch fetches with [`Sampler::fetch`], bit for bit.

use r500_isa::texture::{TxFilter1, TxFormat0};
use r500_isa::values::{LayerFilter, TexOp, TriPerf};

use super::super::batch::{BatchFetch, ChannelSource, TexelView, TextureDesc};
use super::super::{Gradients, TexReadings};
use super::random::{Random, arbitrary_texture, readings, repair};
use super::*;
use r500_simd::{Chunk, Simd, SimdLevel, SimdTask};

/// The operands of a batch fetch, owned.
struct Batch {
    op: TexOp,
    unscaled: bool,
    strq: [Vec<Chunk>; 4],
    dx: [Vec<Chunk>; 4],
    dy: [Vec<Chunk>; 4],
    active: Option<Vec<Chunk>>,
    wanted: u8,
    ranges: Vec<(usize, usize)>,
    readings: TexReadings,
    /// The SIMD level of the fetch.
    simd: Simd,
}

/// A batch fetch, as a task for a SIMD level.
pub(super) struct FetchBatch<'a> {
    pub(super) sampler: &'a Sampler,
    pub(super) fetch: &'a BatchFetch<'a>,
    pub(super) out: &'a mut [Vec<Chunk>; 4],
}

impl SimdTask for FetchBatch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, level: L) {
        let [r, g, b, a] = self.out;
        self.sampler.fetch_batch(level, self.fetch, [r, g, b, a]);
    }
}

const CHUNKS: usize = 3;

impl Batch {
    /// Returns a batch with coordinates from `float`; its other operands are random.
    fn new(random: &mut Random, float: impl FnMut(&mut Random) -> f32) -> Self {
        Self::of(CHUNKS, random, float)
    }

    /// As [`new`](Self::new), with a given number of chunks.
    fn of(chunks: usize, random: &mut Random, mut float: impl FnMut(&mut Random) -> f32) -> Self {
        let mut channels = |random: &mut Random| {
            [(); 4].map(|()| {
                (0..chunks).map(|_| [(); 16].map(|()| float(random))).collect::<Vec<Chunk>>()
            })
        };
        let op = TexOp::new(random.below(8) as u8);
        let strq = channels(random);
        let [dx, dy] = match op {
            TexOp::DXDY => [channels(random), channels(random)],
            _ => [const { [const { Vec::new() }; 4] }; 2],
        };
        let density = random.below(5);
        let active = (density != 4).then(|| {
            let lane = |random: &mut Random| {
                if random.below(3) < density { f32::from_bits(u32::MAX) } else { 0.0 }
            };
            (0..chunks).map(|_| [(); 16].map(|()| lane(random))).collect()
        });
        let wanted = if random.one_in(2) { 0b1111 } else { random.below(16) as u8 };
        // Sometimes with a gap, which must not be fetched.
        let ranges = match chunks {
            3.. if random.one_in(4) => vec![(0, 1), (2, chunks)],
            _ => vec![(0, chunks)],
        };
        let levels: Vec<_> = Simd::available().collect();
        let simd = levels[random.below(levels.len() as u32) as usize];
        let unscaled = random.one_in(4);
        let readings = readings(random);
        Self { op, unscaled, strq, dx, dy, active, wanted, ranges, readings, simd }
    }

    /// Fetches the batch, and compares every pixel of each quad with an active lane.
    #[track_caller]
    fn check(&self, sampler: &Sampler, what: &Texture) {
        let chunks = self.strq[0].len();
        let mut out = [0, 1, 2, 3].map(|c| {
            let n = if self.wanted >> c & 1 != 0 { chunks } else { 0 };
            vec![[0.125_f32; 16]; n]
        });
        let fetch = BatchFetch {
            op: self.op,
            unscaled: self.unscaled,
            strq: self.strq.each_ref().map(Vec::as_slice),
            dx: self.dx.each_ref().map(Vec::as_slice),
            dy: self.dy.each_ref().map(Vec::as_slice),
            active: self.active.as_deref(),
            wanted: self.wanted,
            ranges: &self.ranges,
            readings: &self.readings,
        };
        self.simd.run_plain(FetchBatch { sampler, fetch: &fetch, out: &mut out });
        for k in self.ranges.iter().flat_map(|&(first, end)| first..end) {
            for first in [0, 4, 8, 12] {
                let lanes = [first, first + 1, first + 2, first + 3];
                let active = |&lane: &usize| {
                    self.active.as_ref().is_none_or(|active| active[k][lane].to_bits() != 0)
                };
                if !lanes.iter().any(active) {
                    continue;
                }
                let at = |from: &[Vec<Chunk>; 4], lane: usize| {
                    [0, 1, 2, 3].map(|c| from[c].get(k).map_or(0.0, |chunk| chunk[lane]))
                };
                let quad = QuadFetch {
                    op: self.op,
                    unscaled: self.unscaled,
                    strq: lanes.map(|lane| at(&self.strq, lane)),
                    gradients: lanes
                        .map(|lane| Gradients { dx: at(&self.dx, lane), dy: at(&self.dy, lane) }),
                };
                let colors = sampler.fetch(&quad, &self.readings);
                for (i, lane) in lanes.into_iter().enumerate() {
                    for c in (0..4).filter(|c| self.wanted >> c & 1 != 0) {
                        let (got, want) = (out[c][k][lane], colors[i][c]);
                        assert!(
                            got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                            "got {got:e}, want {want:e}: pixel {i}, channel {c} of {quad:?} with {:?}, {:?}, in {:?}",
                            self.simd,
                            self.readings,
                            Texture { levels: Vec::new(), ..what.clone() },
                        );
                    }
                }
            }
        }
    }
}

/// Random bits in registers, every format, coordinates of all kinds, any readings.
#[test]
fn any_registers_and_coordinates() {
    let mut random = Random::new(0x0123_4567_89ab_cdef);
    let mut bound = 0;
    for _ in 0..6000 {
        let texture = arbitrary_texture(&mut random);
        let Some((texture, sampler)) = repair(texture, &mut random, 1 << 16) else { continue };
        bound += 1;
        for _ in 0..3 {
            Batch::new(&mut random, Random::float).check(&sampler, &texture);
        }
    }
    assert!(bound > 5000, "{bound}");
}

/// Returns a texture of random size with all its levels, random filters, modes and texels.
fn valid_texture(random: &mut Random, kind: CoordType) -> Texture {
    let format =
        [TxFormat::X8_8_8_8, TxFormat::X8, TxFormat::F32, TxFormat::F16_16, TxFormat::DXT5]
            [random.below(5) as usize];
    let side = |random: &mut Random| match random.below(3) {
        0 => 1 << random.below(8),
        1 => 1 + random.below(9),
        _ => 1 + random.below(150),
    };
    let (width, height) = (side(random), side(random));
    let depth = if kind == CoordType::D3 { 1 << random.below(4) } else { 1_u32 };
    let mut texture = texture(format, [width, height], &[]);
    let last = if random.one_in(3) { 0 } else { random.below(1 + width.max(height).ilog2()) };
    let filter = |random: &mut Random| TexelFilter::new(1 + random.below(3) as u8);
    let mode = |random: &mut Random| ClampMode::new(random.below(8) as u8);
    texture.filter0 = TxFilter0::default()
        .with(TxFilter0::MAG_FILTER, filter(random))
        .with(TxFilter0::MIN_FILTER, filter(random))
        .with(TxFilter0::MIP_FILTER, LayerFilter::new(random.below(3) as u8))
        .with(TxFilter0::VOL_FILTER, LayerFilter::new(random.below(3) as u8))
        .with(TxFilter0::CLAMP_S, mode(random))
        .with(TxFilter0::CLAMP_T, mode(random))
        .with(TxFilter0::CLAMP_R, mode(random))
        .with(TxFilter0::MAX_MIP_LEVEL, random.below(3) as u8 * random.below(2) as u8)
        .with(TxFilter0::MAX_ANISO, random.below(8) as u8);
    texture.filter1 = TxFilter1::default()
        .with(TxFilter1::TRI_PERF, TriPerf::new(random.below(4) as u8))
        .with(TxFilter1::BORDER_FIX, random.one_in(2))
        .with(TxFilter1::MAX_ANISO, random.below(64) as u8)
        .with(TxFilter1::ANISO_HIGH_QUALITY, random.one_in(4))
        .with(TxFilter1::LOD_BIAS, if random.one_in(3) { random.below(1024) as u16 } else { 0 });
    texture.set(TxFormat0::TXDEPTH, depth.ilog2() as u8);
    texture.set(TxFormat0::NUM_LEVELS, last as u8);
    texture.set(TxFormat1::TEX_COORD_TYPE, kind);
    texture.set(TxFormat1::GAMMA, random.one_in(4));
    texture.border_color = random.word();
    texture.levels.clear();
    repair(texture, random, u64::MAX).expect("it may take any memory").0
}

/// Returns a typical coordinate: near others, on the edges of texels and of the texture.
fn near(random: &mut Random) -> f32 {
    match random.below(12) {
        0 => random.float(),
        1 => random.below(9) as f32 - 4.0,
        2 => (random.below(2048) as f32 - 1024.0) / 256.0,
        3 => f32::from_bits((random.below(9) as f32 - 4.0).to_bits() ^ 1),
        4 => f32::from_bits(random.word() & 0x80ff_ffff),
        5 => random.word() as f32 - 2_f32.powi(31),
        _ => random.word() as f32 / 2_f32.powi(31) - 0.5,
    }
}

/// Textures that are too large to be decoded, or that only the scalar sampler supports.
#[test]
fn large_textures() {
    let mut random = Random::new(0x5555_1234_aaaa_4321);
    let side = |random: &mut Random| 600 + random.below(40);
    for round in 0..6 {
        let size = [side(&mut random), side(&mut random)];
        let bytes: Vec<u8> = (0..size[0] * size[1] * 4).map(|_| random.word() as u8).collect();
        let mut texture = linear(texture(TxFormat::X8_8_8_8, size, &bytes));
        let swizzle = [TxSel::C2, TxSel::C1, TxSel::C0, [TxSel::ONE, TxSel::C3][round % 2]];
        texture.set(TxFormat1::SEL_RED, swizzle[0]);
        texture.set(TxFormat1::SEL_GREEN, swizzle[1]);
        texture.set(TxFormat1::SEL_BLUE, swizzle[2]);
        texture.set(TxFormat1::SEL_ALPHA, swizzle[3]);
        texture.set(TxFormat1::SIGNED_COMP0, round == 3);
        texture.set(TxFormat1::GAMMA, round > 3);
        texture.set(TxFilter0::CLAMP_S, ClampMode::new(round as u8));
        texture.set(TxFilter0::CLAMP_T, ClampMode::BORDER);
        texture.border_color = random.word();
        let sampler = bind(&texture);
        for _ in 0..40 {
            Batch::new(&mut random, near).check(&sampler, &texture);
        }
    }
    let huge = texture(TxFormat::X4_4_4_4, [2048; 2], &vec![0x5a; 2048 * 2048 * 2]);
    let sampler = bind(&huge);
    Batch::new(&mut random, near).check(&sampler, &huge);
}

#[test]
fn every_kind_of_texture() {
    let mut random = Random::new(0xfedc_ba98_7654_3210);
    for kind in [CoordType::D2, CoordType::CUBE, CoordType::D3] {
        for _ in 0..800 {
            let texture = valid_texture(&mut random, kind);
            let sampler = bind(&texture);
            for _ in 0..6 {
                Batch::new(&mut random, near).check(&sampler, &texture);
            }
            // Levels of detail of all kinds, by different steps from pixel to pixel.
            let step = 2_f32.powi(-(random.below(12) as i32));
            let start = random.below(5) as f32 - 2.0;
            Batch::new(&mut random, |random| {
                start + step * (random.word() as f32 / 2_f32.powi(32))
            })
            .check(&sampler, &texture);
        }
    }
}

/// Planes of directions that cross the edges of a cube, so that pixels of a quad have different faces.
#[test]
fn quads_across_the_edges_of_a_cube() {
    let mut random = Random::new(0x2468_ace0_1357_9bdf);
    let (mut across, mut within) = (0, 0);
    for _ in 0..600 {
        let mut texture = valid_texture(&mut random, CoordType::CUBE);
        texture.set(TxFilter0::MIP_FILTER, LayerFilter::new(1 + random.below(2) as u8));
        let sampler = bind(&texture);
        let mut batch = Batch::new(&mut random, near);
        let vector = |random: &mut Random, length: f32| {
            [(); 3].map(|()| length * (random.word() as f32 / 2_f32.powi(31) - 1.0))
        };
        let step = 2_f32.powi(-(random.below(9) as i32));
        let [right, down] = [(); 2].map(|()| vector(&mut random, step));
        // An edge or a corner of the cube, or any direction.
        let start = match random.below(3) {
            0 => vector(&mut random, 1.0),
            1 => [1.0, -1.0, random.below(9) as f32 / 8.0],
            _ => [-1.0, 1.0, -1.0],
        };
        for k in 0..CHUNKS {
            for quad in 0..4 {
                let origin = (2 * (4 * k + quad)) as f32 - 12.0;
                let directions = [0, 1, 2, 3].map(|i| {
                    let (x, y) = (origin + (i & 1) as f32, (i >> 1) as f32);
                    [0, 1, 2].map(|axis| start[axis] + x * right[axis] + y * down[axis])
                });
                let faces = directions.map(|direction| {
                    let largest = direction.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
                    direction.map(|c| if c.abs() == largest { c.signum() } else { 0.0 })
                });
                let differ = faces.iter().any(|face| face != &faces[0]);
                *(if differ { &mut across } else { &mut within }) += 1;
                for (i, direction) in directions.iter().enumerate() {
                    for (channel, c) in batch.strq.iter_mut().zip(direction) {
                        channel[k][4 * quad + i] = *c;
                    }
                }
            }
        }
        batch.check(&sampler, &texture);
    }
    assert!(across > 1000 && within > 1000, "{across} {within}");
}

/// The description of a texture agrees with its texels, in every format.
#[test]
fn tables_know_their_numbers() {
    let mut random = Random::new(0x1357_9bdf_0246_8ace);
    let (mut large, mut tiny, mut shared) = (0, 0, 0);
    for round in 0..20_000 {
        let mut texture = arbitrary_texture(&mut random);
        let any = [ClampMode::WRAP, ClampMode::MIRROR, ClampMode::CLAMP];
        // `repair` adds random levels instead.
        texture.levels.clear();
        if random.one_in(8) {
            texture.set(TxFormat1::TXFORMAT, TxFormat::F32);
            texture.set(TxFormat2::TXFORMAT_MSB, false);
        }
        let filter = [TexelFilter::POINT, TexelFilter::LINEAR][round % 2];
        texture.set(TxFilter0::MAG_FILTER, filter);
        texture.set(TxFilter0::MIN_FILTER, filter);
        texture.set(TxFilter0::MIP_FILTER, LayerFilter::new(random.below(3) as u8));
        texture.set(TxFilter0::CLAMP_S, any[random.below(3) as usize]);
        texture.set(TxFilter0::CLAMP_T, any[random.below(3) as usize]);
        texture.set(TxFormat1::TEX_COORD_TYPE, CoordType::D2);
        let Some((texture, sampler)) = repair(texture, &mut random, 1 << 16) else { continue };
        let Some(table) = sampler.texture_desc(&REFERENCE) else { continue };
        let texels = match sampler.texel_view(&REFERENCE) {
            TexelView::Texels(texels) => texels.to_vec(),
            TexelView::Footprints(footprints) => {
                footprints.iter().flat_map(|footprint| *footprint.texels()).collect()
            }
        };
        // After the last texel is the border colour, which no coordinate selects.
        let texels = if table.linear { &texels[..] } else { &texels[..texels.len() - 1] };
        let grid = 2_f64.powi(-TextureDesc::GRID);
        let off_grid = |x: f32| x.is_finite() && (f64::from(x) / grid).fract() != 0.0;
        assert!(!(table.linear && table.may_underflow), "{texture:?}");
        assert!(
            table.may_underflow || !texels.iter().flatten().any(|x| off_grid(*x)),
            "{texture:?}"
        );
        for (c, channel) in table.channels.into_iter().enumerate() {
            let wanted = |texel: &[f32; 4]| match channel {
                ChannelSource::Of(other) => texel[usize::from(other)].to_bits(),
                ChannelSource::Constant(bits) => bits,
            };
            assert!(texels.iter().all(|texel| texel[c].to_bits() == wanted(texel)), "{texture:?}");
            shared += usize::from(channel != ChannelSource::Of(c as u8));
        }
        *(if table.may_underflow { &mut tiny } else { &mut large }) += 1;
    }
    assert!(large > 600 && tiny > 20 && shared > 1500, "{large} {tiny} {shared}");
}

/// Textures of the fast path: two dimensions, one level, clamped, repeated or mirrored; several groups of
/// chunks, some quads with coordinates that need the slow path.
#[test]
fn simple_textures() {
    let mut random = Random::new(0x0f1e_2d3c_4b5a_6978);
    let formats = [TxFormat::X8_8_8_8, TxFormat::X8, TxFormat::F16_16, TxFormat::F32];
    let modes = [ClampMode::WRAP, ClampMode::MIRROR, ClampMode::CLAMP];
    for round in 0..600_usize {
        let side = |random: &mut Random| match random.below(3) {
            0 => 1 << random.below(8),
            _ => 1 + random.below(200),
        };
        let size = [side(&mut random), side(&mut random)];
        let format = formats[round % 4];
        // At most four bytes a texel.
        let bytes: Vec<u8> = (0..size[0] * size[1] * 4).map(|_| random.word() as u8).collect();
        let given = match format {
            TxFormat::X8 => bytes.len() / 4,
            _ => bytes.len(),
        };
        let texture = texture(format, size, &bytes[..given]);
        let mut texture = if round % 3 == 0 { texture } else { linear(texture) };
        texture.set(TxFilter0::CLAMP_S, modes[random.below(3) as usize]);
        texture.set(TxFilter0::CLAMP_T, modes[random.below(3) as usize]);
        let sampler = bind(&texture);
        assert!(!sampler.depends_on_lod());
        let last = size[0].max(size[1]) as f32;
        let chunks = 1 + random.below(11) as usize;
        for edge in [0.0, 0.5, 1.0] {
            // Around integral texel coordinates and centres, far outside, and arbitrary.
            Batch::of(chunks, &mut random, |random| match random.below(4) {
                0 => near(random),
                1 => (random.below(3 * size[0] + 9) as f32 - 4.0 + edge) / size[0] as f32,
                2 => (random.below(3 * size[1] + 9) as f32 - last + edge) / size[1] as f32,
                _ => random.below(4096) as f32 / 1024.0 - 2.0,
            })
            .check(&sampler, &texture);
        }
    }
}
