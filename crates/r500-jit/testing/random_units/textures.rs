//! Random textures that machine code can fetch from.

#![allow(clippy::unwrap_used)]

use r500_exec::texture::{Sampler, TexReadings, storage};
use r500_fast::codegen::{TexelView, TextureDesc};
use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1};
use r500_isa::values::{ClampMode, LayerFilter, TexelFilter, TxFormat, TxSel};
use r500_program::{Level, Texture};

use super::generate::Random;

/// Texture units in use.
pub(super) const UNITS: [u8; 4] = [0, 3, 4, 15];

/// The sampler of each unit.
pub(super) type Samplers = [Option<Sampler>; 16];

/// Returns random textures of all kinds that have a layout for machine code.
pub(super) fn samplers(random: &mut Random) -> Samplers {
    let mut samplers = [const { None }; 16];
    for unit in UNITS {
        let sampler = std::iter::repeat_with(|| Sampler::bind(&texture(random), None).unwrap());
        samplers[usize::from(unit)] = sampler
            .into_iter()
            .find(|sampler| sampler.texture_desc(&TexReadings::REFERENCE).is_some());
    }
    samplers
}

/// Returns the layouts of textures, by ascending unit.
pub(super) fn tables(samplers: &Samplers) -> Vec<(u8, TextureDesc)> {
    let table = |unit: u8| {
        let sampler = samplers[usize::from(unit)].as_ref()?;
        Some((unit, sampler.texture_desc(&TexReadings::REFERENCE)?))
    };
    UNITS.into_iter().filter_map(table).collect()
}

/// Returns the texels of textures in these layouts.
pub(super) fn texel_views(samplers: &Samplers) -> [TexelView<'_>; 16] {
    samplers
        .each_ref()
        .map(|s| s.as_ref().map_or(TexelView::NONE, |s| s.texel_view(&TexReadings::REFERENCE)))
}

/// Returns a texture with a random format, size, filter and address modes.
fn texture(random: &mut Random) -> Texture {
    let mipmapped = random.below(2) == 0;
    let mut size = |sizes: &[u32]| match mipmapped {
        true => 1 << random.below(6),
        false => random.of(sizes),
    };
    let [width, height] = [size(&[1, 1, 2, 3, 5, 8, 64, 256]), size(&[1, 1, 2, 4, 7, 8])];
    let format = random.of(&[
        TxFormat::X8_8_8_8,
        TxFormat::X5_6_5,
        TxFormat::X2_10_10_10,
        TxFormat::X16_16,
        TxFormat::F16_16_16_16,
        TxFormat::F32,
        TxFormat::F32_32_32_32,
    ]);
    let wrap = [ClampMode::WRAP, ClampMode::MIRROR, ClampMode::CLAMP];
    let filter = random.of(&[TexelFilter::POINT, TexelFilter::LINEAR]);
    let layers = random.of(&[LayerFilter::POINT, LayerFilter::LINEAR]);
    let select = [TxSel::C0, TxSel::C1, TxSel::C2, TxSel::C3, TxSel::ZERO, TxSel::ONE];
    let last = if mipmapped { width.max(height).ilog2() } else { 0 };
    let format1 = TxFormat1::default()
        .with(TxFormat1::TXFORMAT, format)
        .with(TxFormat1::SEL_RED, random.of(&select))
        .with(TxFormat1::SEL_GREEN, random.of(&select))
        .with(TxFormat1::SEL_BLUE, random.of(&select))
        .with(TxFormat1::SEL_ALPHA, random.of(&select));
    let filter0 = TxFilter0::default()
        .with(TxFilter0::MAG_FILTER, filter)
        .with(TxFilter0::MIN_FILTER, filter)
        .with(TxFilter0::MIP_FILTER, if mipmapped { layers } else { LayerFilter::NONE })
        .with(TxFilter0::MAX_MIP_LEVEL, random.below(last + 1) as u8)
        .with(TxFilter0::CLAMP_S, random.of(&wrap))
        .with(TxFilter0::CLAMP_T, random.of(&wrap));
    let (bits, _) = storage(format1, Default::default()).unwrap();
    let levels = (0..=last).map(|level| {
        let [width, height] = [width, height].map(|size: u32| (size >> level).max(1));
        let mut bytes = Vec::new();
        while bytes.len() < (width * height * bits / 8) as usize {
            match format {
                TxFormat::F32 | TxFormat::F32_32_32_32 => {
                    bytes.extend(random.float().to_le_bytes());
                }
                // Half floats must be finite.
                TxFormat::F16_16_16_16 => bytes.extend((random.next() & 0xbfff_bfff).to_le_bytes()),
                _ => bytes.extend(random.next().to_le_bytes()),
            }
        }
        bytes.truncate((width * height * bits / 8) as usize);
        Level { width, height, layers: 1, bytes }
    });
    let levels = levels.collect();
    // Signed, in units of 1/32.
    let bias = random.of(&[0, 13, (-48_i16).cast_unsigned() & 0x3ff]);
    Texture {
        filter0,
        filter1: TxFilter1::default()
            .with(TxFilter1::LOD_BIAS, bias)
            .with(TxFilter1::BORDER_FIX, random.below(2) == 0),
        format0: TxFormat0::default()
            .with(TxFormat0::TXWIDTH, width as u16 - 1)
            .with(TxFormat0::TXHEIGHT, height as u16 - 1)
            .with(TxFormat0::NUM_LEVELS, last as u8),
        format1,
        levels,
        ..Texture::default()
    }
}
