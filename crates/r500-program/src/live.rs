//! Textures whose texels the host gives for each picture.

use alloc::vec;
use alloc::vec::Vec;

use r500_isa::texture::{TxFormat0, TxFormat1, TxFormat2};
use r500_isa::values::{TxFormat, TxSel};

use crate::{Level, Texture};

/// A texture whose texels the host gives for each picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveTexture {
    /// Its unit.
    pub unit: u8,
    /// Where its texels come from.
    pub source: LiveSource,
}

/// Where the texels of a [`LiveTexture`] come from. A host that has no such source leaves them 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveSource {
    /// What the program wrote to this output in the picture before: a texel for each pixel, row 0 at the bottom, 4 floats of 32 bits.
    Previous(u8),
    /// Keys, 256 in a row: row 0 while they are down, row 1 in the picture in which they went down, row 2 each other time. The red of a key is
    /// then 1.
    Keyboard,
    /// Pictures of a camera.
    Camera,
    /// Pictures of a video.
    Video,
}

impl LiveSource {
    /// Width and height of the texture of keys.
    pub const KEYBOARD: [u32; 2] = [256, 3];

    /// Returns how the sources are called that are a word.
    #[must_use]
    pub const fn named() -> [(&'static str, Self); 3] {
        [("keyboard", Self::Keyboard), ("camera", Self::Camera), ("video", Self::Video)]
    }

    /// Returns whether its texels are 4 floats of 32 bits, not 4 bytes.
    #[must_use]
    pub const fn has_floats(self) -> bool {
        matches!(self, Self::Previous(_))
    }

    /// Returns a texture of texels 0, row 0 first, whose sampling is not set.
    #[must_use]
    pub fn zeros(self, size: [u32; 2]) -> Texture {
        let bytes = if self.has_floats() { 16 } else { 4 };
        self.texture(size, vec![0; size[0] as usize * size[1] as usize * bytes])
    }

    /// Returns a texture of texels, row 0 first, whose sampling is not set: little-endian floats, or bytes, of red, green, blue and alpha.
    #[must_use]
    pub fn texture(self, [width, height]: [u32; 2], bytes: Vec<u8>) -> Texture {
        let last = [width, height].map(|side| side.saturating_sub(1));
        let low = last.map(|side| (side & 0x7ff) as u16);
        let format = if self.has_floats() { TxFormat::F32_32_32_32 } else { TxFormat::X8_8_8_8 };
        Texture {
            format0: TxFormat0(0)
                .with(TxFormat0::TXWIDTH, low[0])
                .with(TxFormat0::TXHEIGHT, low[1]),
            format1: TxFormat1(0)
                .with(TxFormat1::TXFORMAT, format)
                .with(TxFormat1::SEL_RED, TxSel::C0)
                .with(TxFormat1::SEL_GREEN, TxSel::C1)
                .with(TxFormat1::SEL_BLUE, TxSel::C2)
                .with(TxFormat1::SEL_ALPHA, TxSel::C3),
            format2: TxFormat2(0)
                .with(TxFormat2::TXWIDTH_11, last[0] & 0x800 != 0)
                .with(TxFormat2::TXHEIGHT_11, last[1] & 0x800 != 0),
            levels: vec![Level { width, height, layers: 1, bytes }],
            ..Texture::default()
        }
    }
}

impl LiveTexture {
    /// Returns the texture of this unit with other texels, sampled as `now`.
    #[must_use]
    pub fn with_texels(self, now: &Texture, size: [u32; 2], bytes: Vec<u8>) -> Texture {
        let Texture { filter0, filter1, border_color, .. } = *now;
        Texture { filter0, filter1, border_color, ..self.source.texture(size, bytes) }
    }
}
