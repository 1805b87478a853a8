//! Random registers, bytes and coordinates: no panic, and `fetch` and `look_up` of a sampler agree.

use r500_isa::state::UsFormat;
use r500_isa::texture::{
    TxChromaKey, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset,
};
use r500_isa::values::{ChromaKeyMode, LayerFilter, TexOp, TexelFilter, TxFormat, YuvToRgb};
use r500_numerics::{Arith, Denormals};
use r500_program::{Level, Texture};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::super::{
    AnisotropicFilter, BindError, CubeTies, DepthStencil, GammaBorder, Gradients, LodBias,
    LodFraction, Magnification, TexReadings, Weights, WideBorder,
};
use super::*;

/// A generator of registers, texels and coordinates of all kinds.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(super) fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.word() % n
    }

    pub(super) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Returns random bits, a coordinate near a texture, or a special value.
    pub(super) fn float(&mut self) -> f32 {
        match self.below(4) {
            0 => f32::from_bits(self.word()),
            1 => [0.0, -0.0, f32::NAN, f32::INFINITY, -f32::INFINITY, f32::MAX, -1e-40, 1.0]
                [self.below(8) as usize],
            _ => self.word() as f32 / 2_f32.powi(29) - 4.0,
        }
    }

    pub(super) fn vector(&mut self) -> [f32; 4] {
        [(); 4].map(|()| self.float())
    }
}

/// Returns a texture with random bits in its registers and mostly small sizes.
pub(super) fn arbitrary_texture(random: &mut Random) -> Texture {
    let mut format0 = TxFormat0(random.word());
    let mut format2 = TxFormat2(random.word());
    if !random.one_in(16) {
        format0 = format0
            .with(TxFormat0::TXWIDTH, random.below(9) as u16)
            .with(TxFormat0::TXHEIGHT, random.below(9) as u16)
            .with(TxFormat0::TXDEPTH, random.below(4) as u8);
        format2 = format2
            .with(TxFormat2::TXWIDTH_11, false)
            .with(TxFormat2::TXHEIGHT_11, false)
            .with(TxFormat2::TXPITCH, random.below(20) as u16);
    }
    let levels = (0..random.below(4)).map(|_| Level {
        width: random.below(9),
        height: random.below(9),
        layers: random.below(7),
        bytes: vec![0; random.below(99) as usize],
    });
    let levels = levels.collect();
    Texture {
        filter0: TxFilter0(random.word()),
        filter1: TxFilter1(random.word()),
        format0,
        format1: TxFormat1(random.word()),
        format2,
        offset: TxOffset(random.word()),
        border_color: random.word(),
        chroma_key: TxChromaKey(random.word()),
        levels,
    }
}

/// Repairs the fields that errors name until the texture binds. `None` if a level would take more bytes
/// than `most`.
pub(super) fn repair(
    mut texture: Texture,
    random: &mut Random,
    most: u64,
) -> Option<(Texture, Sampler)> {
    for _ in 0..99 {
        let error = match Sampler::bind(&texture, Some(UsFormat(random.word()))) {
            Ok(sampler) => return Some((texture, sampler)),
            Err(error) => error,
        };
        assert!(!error.to_string().is_empty());
        match error {
            BindError::NotModelled { setting, .. } | BindError::Reserved { setting, .. } => {
                clear(&mut texture, setting.field, random);
            }
            BindError::ReservedFormat { .. } => {
                texture.set(TxFormat1::TXFORMAT, TxFormat::new(random.below(7) as u8));
            }
            BindError::MissingLevels { .. } => texture.levels.push(Level::default()),
            BindError::LevelSize { level, wanted, .. } => {
                let level = &mut texture.levels[level];
                [level.width, level.height, level.layers] = wanted;
            }
            BindError::LevelBytes { level, wanted, .. } => {
                if wanted > most {
                    return None;
                }
                let bytes = (0..wanted).map(|_| random.word() as u8);
                texture.levels[level].bytes = bytes.collect();
            }
            BindError::SwapUnit { .. } => texture.offset = TxOffset(0),
        }
    }
    panic!("cannot be repaired: {texture:?}")
}

/// Sets a field to a value that can be bound.
fn clear(t: &mut Texture, field: &str, random: &mut Random) {
    let filter = TexelFilter::new(1 + random.below(3) as u8);
    let layers = LayerFilter::new(random.below(3) as u8);
    match field {
        "MAG_FILTER" => t.set(TxFilter0::MAG_FILTER, filter),
        "MIN_FILTER" => t.set(TxFilter0::MIN_FILTER, filter),
        "MIP_FILTER" => t.set(TxFilter0::MIP_FILTER, layers),
        "VOL_FILTER" => t.set(TxFilter0::VOL_FILTER, layers),
        "CHROMA_KEY_MODE" => t.set(TxFilter1::CHROMA_KEY_MODE, ChromaKeyMode::DISABLE),
        "MC_ROUND" => t.set(TxFilter1::MC_ROUND, false),
        "MC_COORD_TRUNCATE" => t.set(TxFilter1::MC_COORD_TRUNCATE, false),
        "YUV_TO_RGB" => t.set(TxFormat1::YUV_TO_RGB, YuvToRgb::OFF),
        "SWAP_YUV" => t.set(TxFormat1::SWAP_YUV, false),
        "TEX_COORD_TYPE" => t.set(TxFormat1::TEX_COORD_TYPE, CoordType::new(random.below(3) as u8)),
        "TXFORMAT" => t.set(TxFormat1::TXFORMAT, TxFormat::new(random.below(32) as u8)),
        "MACRO_TILE" => t.set(TxOffset::MACRO_TILE, false),
        "MICRO_TILE" => t.set(TxOffset::MICRO_TILE, 0),
        field => panic!("no repair of {field}"),
    }
}

/// Returns the project's readings, others that lanes implement, or any.
pub(super) fn readings(random: &mut Random) -> TexReadings {
    let kind = random.below(4);
    if kind < 2 {
        return REFERENCE;
    }
    let any = kind == 2;
    let magnifications = [Magnification::Zero, Magnification::Half, Magnification::Unbiased];
    TexReadings {
        lod_bias: [LodBias::Always, LodBias::NotLod, LodBias::Implicit][random.below(3) as usize],
        lod_fraction: [LodFraction::FourBits, LodFraction::FiveBits, LodFraction::Exact]
            [random.below(3) as usize],
        magnification: magnifications[random.below(if any { 3 } else { 2 }) as usize],
        depth_stencil: [DepthStencil::DepthFirst, DepthStencil::LowestFirst]
            [random.below(2) as usize],
        wide_border: [WideBorder::EightBits, WideBorder::LowestDword][random.below(2) as usize],
        weights: [Weights::Exact, Weights::EightBits][usize::from(any && random.one_in(2))],
        cube_ties: [CubeTies::XThenY, CubeTies::ZThenY][usize::from(any && random.one_in(2))],
        arith: Arith {
            denormals: [Denormals::Flush, Denormals::Keep][usize::from(any && random.one_in(4))],
            ..REFERENCE.arith
        },
        gamma_border: [GammaBorder::Stored, GammaBorder::Converted][random.below(2) as usize],
        anisotropic_filter: [
            AnisotropicFilter::Nearest,
            AnisotropicFilter::Up,
            AnisotropicFilter::Linear,
        ][random.below(3) as usize],
    }
}

fn quad(random: &mut Random) -> QuadFetch {
    QuadFetch {
        op: TexOp::new(random.below(8) as u8),
        unscaled: random.one_in(2),
        strq: [(); 4].map(|()| random.vector()),
        gradients: [(); 4].map(|()| Gradients { dx: random.vector(), dy: random.vector() }),
    }
}

#[test]
fn random_registers_and_coordinates_do_not_panic() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let (mut bound, mut kinds, mut formats) = (0, [0; 3], [false; 64]);
    for _ in 0..4000 {
        let texture = arbitrary_texture(&mut random);
        // Without repair, most textures do not bind.
        let _ = Sampler::bind(&texture, None);
        let Some((texture, sampler)) = repair(texture, &mut random, 1 << 16) else { continue };
        bound += 1;
        kinds[usize::from(texture.format1.tex_coord_type().code())] += 1;
        let msb = usize::from(texture.format2.txformat_msb()) << 5;
        formats[usize::from(texture.format1.txformat().code()) | msb] = true;
        for _ in 0..8 {
            let (quad, readings) = (quad(&mut random), readings(&mut random));
            let colors = sampler.fetch(&quad, &readings);
            let lookups = sampler.look_up(&quad, &readings);
            for (color, lookup) in colors.iter().zip(&lookups) {
                assert_eq!(color.map(f32::to_bits), lookup.color.map(f32::to_bits));
                check(lookup, &sampler, &readings);
            }
        }
        let [level, x, y, layer] = [(); 4].map(|()| random.below(12));
        let _ = sampler.texel(level as usize, [x, y, layer], &REFERENCE);
    }
    // The test must have covered its subject: every kind, all 36 formats.
    assert!(bound > 3000, "{bound}");
    assert!(kinds.iter().all(|&n| n > 500), "{kinds:?}");
    assert_eq!(formats.iter().filter(|&&met| met).count(), 29 + 7);
}

/// Checks the invariants of a lookup.
fn check(lookup: &super::super::Lookup, sampler: &Sampler, readings: &TexReadings) {
    assert!(!lookup.lod.is_nan());
    assert!((0.0..=1.0).contains(&lookup.level_weight));
    assert!((1..=16).contains(&lookup.probes));
    assert!(matches!(lookup.levels.len() / lookup.probes as usize, 1 | 2));
    for level in &lookup.levels {
        assert!(level.level < sampler.levels());
        assert!(level.weights.iter().all(|weight| (0.0..1.0).contains(weight)), "{level:?}");
        assert!(matches!(level.texels.len(), 1 | 2 | 4 | 8));
        for texel in &level.texels {
            if let Some(at) = texel.at {
                let color = sampler.texel(level.level, at, readings).map(f32::to_bits);
                assert_eq!(color, texel.color.map(f32::to_bits));
                let size = sampler.level_size(level.level);
                assert!(at.iter().zip(size).all(|(&i, n)| i < n), "{at:?} of {size:?}");
            }
        }
    }
}
