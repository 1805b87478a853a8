//! KTX2 files without supercompression.

use r500_isa::values::{CoordType, TxFormat, TxFormatMsb};

use super::FileError;
use super::dds::expand_rgb;
use super::image::Texels;
use super::texel_format::{BGRA, C0, C1, C2, C3, Components, ONE, Pixels, RGBA, ZERO};

pub(super) const MAGIC: &[u8] = b"\xabKTX 20\xbb\r\n\x1a\n";

const ABGR: Components = [C3, C2, C1, C0];

/// Byte offsets of the header.
mod at {
    pub(super) const FORMAT: usize = 12;
    pub(super) const WIDTH: usize = 20;
    pub(super) const HEIGHT: usize = 24;
    pub(super) const DEPTH: usize = 28;
    pub(super) const LAYERS: usize = 32;
    pub(super) const FACES: usize = 36;
    pub(super) const LEVELS: usize = 40;
    pub(super) const SUPERCOMPRESSION: usize = 44;
    pub(super) const LEVEL_INDEX: usize = 80;
}

/// Decodes a KTX2 file. Texels keep their layout, except that three bytes a texel become four.
///
/// # Errors
/// [`FileError`] if it is truncated, inconsistent, supercompressed, or in a format that the card does not support.
pub fn decode_ktx2(bytes: &[u8]) -> Result<Texels, FileError> {
    if !bytes.starts_with(MAGIC) {
        return Err(FileError::Unknown);
    }
    let word = |at: usize| word(bytes, at).ok_or(FileError::Truncated("the KTX2 header"));
    if word(at::SUPERCOMPRESSION)? != 0 {
        return Err(FileError::Header(
            "the texels are supercompressed; write the file without zstd, zlib or BasisLZ",
        ));
    }
    if word(at::LAYERS)? > 1 {
        return Err(FileError::Header("texture arrays do not exist on this card"));
    }
    let (pixels, expand) = vulkan(word(at::FORMAT)?)?;
    let depth = word(at::DEPTH)?;
    let shape = match (word(at::FACES)?, depth) {
        (1, 0) => CoordType::D2,
        (1, _) => CoordType::D3,
        (6, 0) => CoordType::CUBE,
        _ => return Err(FileError::Header("there are neither one nor six faces")),
    };
    let size = [word(at::WIDTH)?, word(at::HEIGHT)?.max(1), depth.max(1)];
    let mut texels = Texels { pixels, shape, size, levels: Vec::new() };
    for level in 0..word(at::LEVELS)?.clamp(1, 16) {
        let entry = at::LEVEL_INDEX + level as usize * 24;
        let long = |at| Ok(u64::from(word(at)?) | u64::from(word(at + 4)?) << 32);
        let (start, length) = (long(entry)?, long(entry + 8)?);
        let size = texels.level_size(level);
        let wanted = if expand {
            size.iter().fold(3u64, |n, &m| n.saturating_mul(u64::from(m)))
        } else {
            texels.pixels.level_bytes(size)
        };
        if length != wanted {
            return Err(FileError::Header("a level is longer or shorter than its size says"));
        }
        let texture = usize::try_from(start)
            .ok()
            .zip(usize::try_from(length).ok())
            .and_then(|(start, length)| bytes.get(start..start.checked_add(length)?))
            .ok_or(FileError::Truncated("its texels"))?;
        let texture = if expand { expand_rgb(texture) } else { texture.to_vec() };
        texels.push_level(size, texture);
    }
    Ok(texels)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Returns the format of a `VkFormat`, and whether three bytes a texel must become four.
fn vulkan(code: u32) -> Result<(Pixels, bool), FileError> {
    let (format, components) = match code {
        2 => (TxFormat::X4_4_4_4, ABGR),
        3 => (TxFormat::X4_4_4_4, [C1, C2, C3, C0]),
        4 => (TxFormat::X5_6_5, [C2, C1, C0, ONE]),
        5 => (TxFormat::X5_6_5, [C0, C1, C2, ONE]),
        8 => (TxFormat::X1_5_5_5, BGRA),
        9 | 10 | 15 => (TxFormat::X8, [C0, ZERO, ZERO, ONE]),
        16 | 17 | 22 => (TxFormat::X8_8, [C0, C1, ZERO, ONE]),
        23 | 29 => (TxFormat::X8_8_8_8, [C0, C1, C2, ONE]),
        30 | 36 => (TxFormat::X8_8_8_8, [C2, C1, C0, ONE]),
        37 | 38 | 43 | 51 | 52 | 57 => (TxFormat::X8_8_8_8, RGBA),
        44 | 50 => (TxFormat::X8_8_8_8, BGRA),
        58 => (TxFormat::X2_10_10_10, BGRA),
        64 => (TxFormat::X2_10_10_10, RGBA),
        70 | 71 => (TxFormat::X16, [C0, ZERO, ZERO, ONE]),
        76 => (TxFormat::F16, [C0, ZERO, ZERO, ONE]),
        77 | 78 => (TxFormat::X16_16, [C0, C1, ZERO, ONE]),
        83 => (TxFormat::F16_16, [C0, C1, ZERO, ONE]),
        91 | 92 => (TxFormat::X16_16_16_16, RGBA),
        97 => (TxFormat::F16_16_16_16, RGBA),
        100 => (TxFormat::F32, [C0, ZERO, ZERO, ONE]),
        103 => (TxFormat::F32_32, [C0, C1, ZERO, ONE]),
        109 => (TxFormat::F32_32_32_32, RGBA),
        131..=134 => (TxFormat::DXT1, RGBA),
        135 | 136 => (TxFormat::DXT3, RGBA),
        137 | 138 => (TxFormat::DXT5, RGBA),
        139 | 140 => {
            let mut pixels = Pixels::msb(TxFormatMsb::ATI1N, [C0, ZERO, ZERO, ONE]);
            pixels.signed = code == 140;
            return Ok((pixels, false));
        }
        141 | 142 => (TxFormat::ATI2N, [C0, C1, ZERO, ONE]),
        _ => {
            let advice = "convert it to a BC, plain RGB or float format";
            return Err(FileError::Format(format!("VkFormat {code}"), advice));
        }
    };
    let mut pixels = Pixels::new(format, components);
    pixels.srgb = matches!(code, 15 | 22 | 29 | 36 | 43 | 50 | 57 | 132 | 134 | 136 | 138);
    pixels.signed = matches!(code, 10 | 17 | 38 | 52 | 71 | 78 | 92 | 142);
    Ok((pixels, matches!(code, 23 | 29 | 30 | 36)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Returns a file in the layout of the specification; levels follow the index.
    fn file(format: u32, size: [u32; 3], faces: u32, levels: &[&[u8]]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let count = levels.len() as u32;
        for word in [format, 1, size[0], size[1], size[2], 0, faces, count, 0, 0, 0, 0, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([0; 16]);
        assert_eq!(bytes.len(), at::LEVEL_INDEX);
        let mut start = (bytes.len() + levels.len() * 24) as u64;
        for level in levels {
            let length = level.len() as u64;
            for long in [start, length, length] {
                bytes.extend(long.to_le_bytes());
            }
            start += length;
        }
        levels.iter().for_each(|level| bytes.extend(*level));
        bytes
    }

    #[test]
    fn levels_are_found_through_the_index() {
        let file = file(43, [2, 2, 0], 1, &[&[1; 16], &[2; 4]]);
        let texels = decode_ktx2(&file).unwrap();
        assert_eq!(texels.pixels.format, TxFormat::X8_8_8_8);
        assert!(texels.pixels.srgb);
        assert_eq!(texels.levels.len(), 2);
        assert_eq!(texels.levels[1].bytes, [2; 4]);
        for length in [0, 11, 40, 81, 120, file.len() - 1] {
            assert!(decode_ktx2(&file[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn cubes_volumes_and_blocks() {
        let cube = decode_ktx2(&file(9, [1, 1, 0], 6, &[&[1, 2, 3, 4, 5, 6]])).unwrap();
        assert_eq!((cube.shape, cube.levels[0].layers), (CoordType::CUBE, 6));
        let volume = decode_ktx2(&file(9, [2, 1, 2], 1, &[&[1, 2, 3, 4], &[9]])).unwrap();
        assert_eq!((volume.shape, volume.levels[1].layers), (CoordType::D3, 1));
        let blocks = decode_ktx2(&file(137, [5, 1, 0], 1, &[&[7; 32]])).unwrap();
        assert_eq!(blocks.pixels.format, TxFormat::DXT5);
        let rgb = decode_ktx2(&file(23, [1, 1, 0], 1, &[&[1, 2, 3]])).unwrap();
        assert_eq!(rgb.levels[0].bytes, [1, 2, 3, 255]);
    }

    #[test]
    fn inconsistent_headers_are_refused() {
        let short = decode_ktx2(&file(37, [2, 2, 0], 1, &[&[0; 15]]));
        assert!(matches!(short, Err(FileError::Header(_))));
        let huge = decode_ktx2(&file(23, [u32::MAX; 3], 1, &[&[0; 15]]));
        assert!(matches!(huge, Err(FileError::Header(_))));
        let odd = decode_ktx2(&file(37, [1, 1, 0], 5, &[&[0; 4]]));
        assert!(matches!(odd, Err(FileError::Header(_))));
        let error = decode_ktx2(&file(157, [1, 1, 0], 1, &[&[0; 4]])).unwrap_err();
        assert!(error.to_string().starts_with("the format VkFormat 157"));
    }
}
