//! Tests of the texture unit's interface: registers and bytes in, colours out. Expected values were
//! worked out by hand; the tests explain how.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::unusual_byte_groupings, reason = "binary texels are grouped by component")]

mod anisotropy;
mod batch;
mod bind;
mod block_formats;
mod clamp_modes;
mod cubes;
mod formats;
mod levels;
mod numbers;
mod random;
mod speed;
mod volumes;

use r500_isa::texture::{TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500_isa::values::{ClampMode, CoordType, TexOp, TexelFilter, TxFormat, TxFormatMsb, TxSel};
use r500_isa::{BitField, FieldValue, Word};
use r500_program::{Level, Texture};

use super::{QuadFetch, Sampler, TexReadings};

const REFERENCE: TexReadings = TexReadings::REFERENCE;

/// A register of textures.
trait TextureWord: Word + 'static {
    fn of(texture: &mut Texture) -> &mut Self;
}

macro_rules! texture_words {
    ($($word:ident $field:ident),*) => {$(
        impl TextureWord for $word {
            fn of(texture: &mut Texture) -> &mut Self {
                &mut texture.$field
            }
        }
    )*};
}

texture_words!(TxFilter0 filter0, TxFilter1 filter1, TxFormat0 format0, TxFormat1 format1);
texture_words!(TxFormat2 format2, TxOffset offset);

/// Sets fields of a texture, in the registers that have them.
trait SetField: Sized {
    fn set<W: TextureWord, T: FieldValue>(&mut self, field: BitField<W, T>, value: T);

    fn with<W: TextureWord, T: FieldValue>(mut self, field: BitField<W, T>, value: T) -> Self {
        self.set(field, value);
        self
    }
}

impl SetField for Texture {
    fn set<W: TextureWord, T: FieldValue>(&mut self, field: BitField<W, T>, value: T) {
        let word = W::of(self);
        *word = field.set(*word, value);
    }
}

/// Returns a 2D texture of one level: point filters, coordinates clamped, component n in channel n.
fn texture(format: TxFormat, [width, height]: [u32; 2], bytes: &[u8]) -> Texture {
    Texture {
        filter0: TxFilter0::default()
            .with(TxFilter0::MAG_FILTER, TexelFilter::POINT)
            .with(TxFilter0::MIN_FILTER, TexelFilter::POINT)
            .with(TxFilter0::CLAMP_S, ClampMode::CLAMP)
            .with(TxFilter0::CLAMP_T, ClampMode::CLAMP)
            .with(TxFilter0::CLAMP_R, ClampMode::CLAMP),
        format0: TxFormat0::default()
            .with(TxFormat0::TXWIDTH, width as u16 - 1)
            .with(TxFormat0::TXHEIGHT, height as u16 - 1),
        format1: TxFormat1::default()
            .with(TxFormat1::TXFORMAT, format)
            .with(TxFormat1::SEL_RED, TxSel::C0)
            .with(TxFormat1::SEL_GREEN, TxSel::C1)
            .with(TxFormat1::SEL_BLUE, TxSel::C2)
            .with(TxFormat1::SEL_ALPHA, TxSel::C3),
        levels: vec![Level { width, height, layers: 1, bytes: bytes.to_vec() }],
        ..Texture::default()
    }
}

/// Returns the same with a format with `TXFORMAT_MSB` set.
fn texture_msb(format: TxFormatMsb, size: [u32; 2], bytes: &[u8]) -> Texture {
    texture(TxFormat::new(format.code()), size, bytes).with(TxFormat2::TXFORMAT_MSB, true)
}

/// Adds levels.
fn with_levels(mut texture: Texture, levels: &[([u32; 2], &[u8])]) -> Texture {
    for &([width, height], bytes) in levels {
        texture.levels.push(Level { width, height, layers: 1, bytes: bytes.to_vec() });
    }
    let num_levels = texture.levels.len() as u8 - 1;
    texture.with(TxFormat0::NUM_LEVELS, num_levels)
}

/// Converts a texture to a volume of 2^`log2` layers.
fn volume(mut texture: Texture, log2: u8) -> Texture {
    texture.levels[0].layers = 1 << log2;
    texture.with(TxFormat0::TXDEPTH, log2).with(TxFormat1::TEX_COORD_TYPE, CoordType::D3)
}

/// Converts a texture to a cube.
fn cube(mut texture: Texture) -> Texture {
    texture.levels[0].layers = 6;
    texture.with(TxFormat1::TEX_COORD_TYPE, CoordType::CUBE)
}

/// Sets `MAG_FILTER` and `MIN_FILTER` to linear.
fn linear(texture: Texture) -> Texture {
    let linear = TexelFilter::LINEAR;
    texture.with(TxFilter0::MAG_FILTER, linear).with(TxFilter0::MIN_FILTER, linear)
}

/// Sets components to k/256, so that interpolations in quarters are exact.
fn in_256ths(texture: Texture) -> Texture {
    texture.with(TxFormat2::POW2FIX2FLT, true)
}

fn bind(texture: &Texture) -> Sampler {
    Sampler::bind(texture, None).unwrap()
}

/// Returns the colour at a position in texels of level 0, magnified: all four pixels have that
/// position.
fn at(texture: &Texture, uvw: [f32; 3]) -> [f32; 4] {
    at_by(texture, uvw, &REFERENCE)
}

/// Returns the same under other readings.
fn at_by(texture: &Texture, [u, v, w]: [f32; 3], readings: &TexReadings) -> [f32; 4] {
    let quad = QuadFetch { unscaled: true, ..QuadFetch::new(TexOp::LD, [[u, v, w, 1.0]; 4]) };
    bind(texture).fetch(&quad, readings)[0]
}

/// Returns the colour of the first texel.
fn first(texture: &Texture) -> [f32; 4] {
    at(texture, [0.5; 3])
}

/// Returns the colour at the centre of the texture at a level of detail.
fn at_lod(texture: &Texture, lod: f32) -> [f32; 4] {
    let quad = QuadFetch::new(TexOp::LOD, [[0.5, 0.5, 0.5, lod]; 4]);
    bind(texture).fetch(&quad, &REFERENCE)[0]
}
