//! The texel cache: texels decoded for batch fetches.

use super::channel_source::ChannelSource;
use crate::format::{EIGHT_BITS, Layout};
use crate::readings::TexReadings;
use crate::texels::Texels;

/// Texels by number: all levels, layers and rows in order, and after them the border colour.
pub(super) trait Texel {
    fn texel(&self, index: u32) -> [f32; 4];
}

/// The texels of a texture.
#[derive(Debug)]
pub(super) enum TexelCache {
    /// Decoded: 16 bytes each.
    Decoded(Vec<[f32; 4]>),
    /// Four components of 8 bits, for textures that would be too large decoded.
    Bytes(Bytes),
    /// Four components of 8 bits, where every byte k means k/255.
    Unorm(Unorm),
}

/// Texels of 8 bits a channel, and a table of the values of the bytes.
#[derive(Debug)]
pub(super) struct Bytes {
    /// Red in the lowest byte.
    texels: Vec<u32>,
    /// The value of each byte as red, green, blue, alpha.
    values: Box<[[f32; 4]; 256]>,
    border: [f32; 4],
}

/// Texels of 8 bits a channel, all unsigned normalised.
#[derive(Debug)]
pub(super) struct Unorm {
    /// Red in the lowest byte.
    texels: Vec<u32>,
    border: [f32; 4],
}

impl TexelCache {
    /// Maximum number of decoded texels: 4 MiB of them.
    const DECODED: u64 = 1 << 18;
    /// Maximum number of texels stored as bytes, and of decoded ones of other formats: their numbers are exact as
    /// floats.
    const BYTES: u64 = (1 << 23) - 1;
    const OTHERS: u64 = 1 << 21;

    /// Decodes the texels of all levels; `None` if there are too many.
    pub(super) fn new(source: &Texels, readings: &TexReadings) -> Option<Self> {
        let sizes = (0..source.levels()).map(|k| source.size(k).map(u64::from));
        let count: u64 = sizes.map(|[width, height, layers]| width * height * layers).sum();
        let bytes = source.layout() == Layout::Fixed(32, EIGHT_BITS);
        if count > if bytes { Self::BYTES } else { Self::OTHERS } {
            return None;
        }
        let border = source.border(readings);
        if !bytes {
            let mut texels = Vec::with_capacity(count as usize + 1);
            for k in 0..source.levels() {
                if source.decode_depths(k, readings, &mut texels) {
                    continue;
                }
                let [width, height, layers] = source.size(k);
                for layer in 0..layers {
                    for y in 0..height {
                        let texel = |x| source.texel(k, [x, y, layer], readings);
                        texels.extend((0..width).map(texel));
                    }
                }
            }
            texels.push(border);
            return Some(Self::Decoded(texels));
        }
        // A channel is a constant or the value of one byte.
        let select = source.selected();
        let mut meaning = Box::new([[0.0; 4]; 256]);
        for (byte, meaning) in meaning.iter_mut().enumerate() {
            *meaning = source.of_raw(byte as u128 * 0x0101_0101, readings);
        }
        let constant = [0, 1, 2, 3].map(|c| meaning.iter().all(|all| all[c] == meaning[0][c]));
        // A constant is 1 or 0.
        let shift = select.map(|byte| 8 * (byte as u32 & 3));
        let kept = constant.map(|constant| if constant { 0 } else { 0xff });
        let always = (0..4).filter(|&c| constant[c] && meaning[0][c] != 0.0);
        let always = always.fold(0, |bits, c| bits | 0xff << (8 * c));
        let mut texels = Vec::with_capacity(count as usize);
        for k in 0..source.levels() {
            source.for_each_row(k, |row| {
                texels.extend(row.iter().map(|bytes| {
                    let dword = u32::from_le_bytes(*bytes);
                    let byte = |c: usize| ((dword >> shift[c]) & kept[c]) << (8 * c);
                    byte(0) | byte(1) | byte(2) | byte(3) | always
                }));
            });
        }
        let unorm = (0..4).all(|c| {
            let is = |(k, all): (usize, &[f32; 4])| all[c] == k as f32 / 255.0;
            constant[c] || meaning.iter().enumerate().all(is)
        });
        let bytes = Bytes { texels, values: meaning, border };
        if count > Self::DECODED {
            return Some(match unorm {
                true => Self::Unorm(Unorm { texels: bytes.texels, border }),
                false => Self::Bytes(bytes),
            });
        }
        Some(Self::Decoded((0..=count as u32).map(|index| bytes.texel(index)).collect()))
    }

    /// Returns the colour of a texel by its number.
    pub(super) fn at(&self, index: u32) -> [f32; 4] {
        match self {
            Self::Decoded(texels) => texels.texel(index),
            Self::Bytes(texels) => texels.texel(index),
            Self::Unorm(texels) => texels.texel(index),
        }
    }

    /// Returns the number of the border colour.
    #[inline(always)]
    pub(super) fn border(&self) -> u32 {
        match self {
            Self::Decoded(texels) => texels.len() as u32 - 1,
            Self::Bytes(Bytes { texels, .. }) | Self::Unorm(Unorm { texels, .. }) => {
                texels.len() as u32
            }
        }
    }

    /// Returns the sources of the channels of decoded texels, without the border colour.
    pub(super) fn channels(&self) -> [ChannelSource; 4] {
        match self {
            Self::Decoded(texels) => {
                ChannelSource::of(texels.split_last().map_or(&[], |(_, all)| all))
            }
            Self::Bytes(_) | Self::Unorm(_) => ChannelSource::DISTINCT,
        }
    }

    /// Returns whether filters can underflow: some texel is below 2^-24, so that its last place is below 2^-47.
    /// Only float32 has such numbers.
    pub(super) fn may_underflow(&self) -> bool {
        const SMALLEST: f32 = 1.0 / (1 << 24) as f32;
        let Self::Decoded(texels) = self else { return false };
        texels.iter().flatten().any(|x| *x != 0.0 && x.abs() < SMALLEST)
    }
}

impl Texel for [[f32; 4]] {
    #[inline(always)]
    fn texel(&self, index: u32) -> [f32; 4] {
        self[index as usize]
    }
}

impl Texel for Bytes {
    #[inline(always)]
    fn texel(&self, index: u32) -> [f32; 4] {
        let Some(texel) = self.texels.get(index as usize) else {
            return self.border;
        };
        let [r, g, b, a] = texel.to_le_bytes();
        [
            self.values[usize::from(r)][0],
            self.values[usize::from(g)][1],
            self.values[usize::from(b)][2],
            self.values[usize::from(a)][3],
        ]
    }
}

impl Texel for Unorm {
    #[inline(always)]
    fn texel(&self, index: u32) -> [f32; 4] {
        match self.texels.get(index as usize) {
            Some(texel) => {
                let bytes = texel.to_le_bytes();
                [unorm(bytes[0]), unorm(bytes[1]), unorm(bytes[2]), unorm(bytes[3])]
            }
            None => self.border,
        }
    }
}

/// Returns k / 255, correctly rounded. 1/255 is split in two parts: products with the first are exact, those
/// with the second so small that only the rounding of the sum matters (the test covers every k).
#[inline(always)]
fn unorm(k: u8) -> f32 {
    const FIRST: f32 = f32::from_bits(0x3b80_8000);
    const SECOND: f32 = (1.0 / 255.0 - FIRST as f64) as f32;
    let k = f32::from(k);
    k * FIRST + k * SECOND
}

#[cfg(test)]
mod tests {
    use super::unorm;

    #[test]
    fn unorm_equals_division_by_255_for_every_byte() {
        for k in 0..=255 {
            assert_eq!(unorm(k).to_bits(), (f32::from(k) / 255.0).to_bits(), "{k}");
        }
    }
}
