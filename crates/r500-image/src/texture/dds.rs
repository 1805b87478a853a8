//! DDS files: header, legacy pixel formats, the DX10 extension.

use r500_isa::values::{CoordType, TxFormat, TxFormatMsb};

use super::FileError;
use super::image::Texels;
use super::texel_format::{BGRA, C0, C1, C2, Components, ONE, Pixels, RGBA, ZERO};

pub(super) const MAGIC: &[u8] = b"DDS ";

/// Byte offsets within the file, magic included.
mod at {
    pub(super) const HEIGHT: usize = 12;
    pub(super) const WIDTH: usize = 16;
    pub(super) const DEPTH: usize = 24;
    pub(super) const LEVELS: usize = 28;
    pub(super) const PIXEL_FLAGS: usize = 80;
    pub(super) const FOUR_CC: usize = 84;
    pub(super) const BITS: usize = 88;
    pub(super) const MASKS: usize = 92;
    pub(super) const CAPS2: usize = 112;
    pub(super) const DATA: usize = 128;
    pub(super) const DXGI: usize = 128;
    pub(super) const DIMENSION: usize = 132;
    pub(super) const MISC: usize = 136;
    pub(super) const ARRAY: usize = 140;
    pub(super) const DX10_DATA: usize = 148;
}

/// Decodes a DDS file. Texels keep their layout, except that three bytes a texel become four.
///
/// # Errors
/// [`FileError`] if it is truncated, inconsistent, or in a format that the card does not support.
pub fn decode_dds(bytes: &[u8]) -> Result<Texels, FileError> {
    if !bytes.starts_with(MAGIC) {
        return Err(FileError::Unknown);
    }
    let word = |at: usize| word(bytes, at).ok_or(FileError::Truncated("the DDS header"));
    if word(4)? != 124 || word(76)? != 32 {
        return Err(FileError::Header("the DDS header gives a wrong size of itself"));
    }
    let (flags, four_cc, caps2) = (word(at::PIXEL_FLAGS)?, word(at::FOUR_CC)?, word(at::CAPS2)?);
    let dx10 = flags & 4 != 0 && four_cc == u32::from_le_bytes(*b"DX10");
    let (mut cube, mut volume) = (caps2 & 0x200 != 0, caps2 & 0x20_0000 != 0);
    let (format, data) = if dx10 {
        volume = word(at::DIMENSION)? == 4;
        cube = word(at::MISC)? & 4 != 0;
        if word(at::ARRAY)? > 1 {
            return Err(FileError::Header("texture arrays do not exist on this card"));
        }
        (dxgi(word(at::DXGI)?)?, at::DX10_DATA)
    } else {
        if cube && caps2 & 0xfc00 != 0xfc00 {
            return Err(FileError::Header("a cube texture needs all its six faces"));
        }
        let format = if flags & 4 != 0 {
            legacy(four_cc)?
        } else {
            let masks: [u32; 4] = [
                word(at::MASKS)?,
                word(at::MASKS + 4)?,
                word(at::MASKS + 8)?,
                if flags & 3 != 0 { word(at::MASKS + 12)? } else { 0 },
            ];
            masked(flags, word(at::BITS)?, masks)?
        };
        (format, at::DATA)
    };
    let shape = match (cube, volume) {
        (true, true) => return Err(FileError::Header("it calls itself both a cube and a volume")),
        (true, false) => CoordType::CUBE,
        (false, true) => CoordType::D3,
        (false, false) => CoordType::D2,
    };
    let depth = if volume { word(at::DEPTH)? } else { 1 };
    let size = [word(at::WIDTH)?, word(at::HEIGHT)?, depth];
    let levels = word(at::LEVELS)?.clamp(1, 16);
    let mut texels = Texels { pixels: format.pixels, shape, size, levels: Vec::new() };
    let mut rest = bytes.get(data..).ok_or(FileError::Truncated("the DDS header"))?;
    let layers = texels.level_size(0)[2];
    let truncated = FileError::Truncated("its texels");
    if shape == CoordType::CUBE {
        // One face after the other, each with all its levels.
        let mut faces = Vec::new();
        for _ in 0..layers {
            faces.push(take_levels(&texels, levels, 1, format.expand, &mut rest)?);
        }
        for level in 0..levels as usize {
            let bytes = faces.iter().flat_map(|face| &face[level]).copied().collect();
            texels.push_level(texels.level_size(level as u32), bytes);
        }
    } else {
        let all = take_levels(&texels, levels, u32::MAX, format.expand, &mut rest)?;
        for (level, bytes) in all.into_iter().enumerate() {
            texels.push_level(texels.level_size(level as u32), bytes);
        }
    }
    if texels.levels.is_empty() { Err(truncated) } else { Ok(texels) }
}

/// A format, and whether three bytes a texel must become four.
struct Stored {
    pixels: Pixels,
    expand: bool,
}

/// Takes the levels that follow, with at most `layers` layers each.
fn take_levels(
    texels: &Texels,
    levels: u32,
    layers: u32,
    expand: bool,
    rest: &mut &[u8],
) -> Result<Vec<Vec<u8>>, FileError> {
    let mut taken = Vec::new();
    for level in 0..levels {
        let [width, height, all] = texels.level_size(level);
        let size = [width, height, all.min(layers)];
        let wanted = if expand {
            size.iter().fold(3u64, |n, &m| n.saturating_mul(u64::from(m)))
        } else {
            texels.pixels.level_bytes(size)
        };
        let (bytes, behind) = usize::try_from(wanted)
            .ok()
            .and_then(|wanted| rest.split_at_checked(wanted))
            .ok_or(FileError::Truncated("its texels"))?;
        *rest = behind;
        taken.push(if expand { expand_rgb(bytes) } else { bytes.to_vec() });
    }
    Ok(taken)
}

/// Expands three bytes a texel to four; the fourth is 255.
pub(super) fn expand_rgb(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks_exact(3).flat_map(|t| [t[0], t[1], t[2], 255]).collect()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn plain(format: TxFormat, components: Components) -> Result<Stored, FileError> {
    Ok(Stored { pixels: Pixels::new(format, components), expand: false })
}

const CONVERT: &str = "convert it to a DXT, ATI or plain RGB format";

/// Returns the format of a `DXGI_FORMAT` value.
fn dxgi(code: u32) -> Result<Stored, FileError> {
    let mut stored = match code {
        2 => plain(TxFormat::F32_32_32_32, RGBA),
        10 => plain(TxFormat::F16_16_16_16, RGBA),
        11 | 13 => plain(TxFormat::X16_16_16_16, RGBA),
        16 => plain(TxFormat::F32_32, [C0, C1, ZERO, ONE]),
        24 => plain(TxFormat::X2_10_10_10, RGBA),
        28 | 29 | 31 => plain(TxFormat::X8_8_8_8, RGBA),
        34 => plain(TxFormat::F16_16, [C0, C1, ZERO, ONE]),
        35 | 37 => plain(TxFormat::X16_16, [C0, C1, ZERO, ONE]),
        41 => plain(TxFormat::F32, [C0, ZERO, ZERO, ONE]),
        49 | 51 => plain(TxFormat::X8_8, [C0, C1, ZERO, ONE]),
        54 => plain(TxFormat::F16, [C0, ZERO, ZERO, ONE]),
        56 | 58 => plain(TxFormat::X16, [C0, ZERO, ZERO, ONE]),
        61 | 63 => plain(TxFormat::X8, [C0, ZERO, ZERO, ONE]),
        65 => plain(TxFormat::X8, [ZERO, ZERO, ZERO, C0]),
        71 | 72 => plain(TxFormat::DXT1, RGBA),
        74 | 75 => plain(TxFormat::DXT3, RGBA),
        77 | 78 => plain(TxFormat::DXT5, RGBA),
        80 | 81 => ati1n(),
        83 | 84 => plain(TxFormat::ATI2N, [C0, C1, ZERO, ONE]),
        85 => plain(TxFormat::X5_6_5, [C2, C1, C0, ONE]),
        86 => plain(TxFormat::X1_5_5_5, BGRA),
        87 | 91 => plain(TxFormat::X8_8_8_8, BGRA),
        88 | 93 => plain(TxFormat::X8_8_8_8, [C2, C1, C0, ONE]),
        115 => plain(TxFormat::X4_4_4_4, BGRA),
        _ => return Err(FileError::Format(format!("DXGI {code}"), CONVERT)),
    }?;
    stored.pixels.srgb = matches!(code, 29 | 72 | 75 | 78 | 91 | 93);
    stored.pixels.signed = matches!(code, 13 | 31 | 37 | 51 | 58 | 63 | 81 | 84);
    Ok(stored)
}

fn ati1n() -> Result<Stored, FileError> {
    let pixels = Pixels::msb(TxFormatMsb::ATI1N, [C0, ZERO, ZERO, ONE]);
    Ok(Stored { pixels, expand: false })
}

/// Returns the format of a `dwFourCC`: four letters, or a number of Direct3D 9.
fn legacy(code: u32) -> Result<Stored, FileError> {
    match &code.to_le_bytes() {
        b"DXT1" => plain(TxFormat::DXT1, RGBA),
        b"DXT2" | b"DXT3" => plain(TxFormat::DXT3, RGBA),
        b"DXT4" | b"DXT5" => plain(TxFormat::DXT5, RGBA),
        b"ATI1" | b"BC4U" => ati1n(),
        b"ATI2" | b"BC5U" => plain(TxFormat::ATI2N, [C0, C1, ZERO, ONE]),
        _ => match code {
            36 => plain(TxFormat::X16_16_16_16, RGBA),
            111 => plain(TxFormat::F16, [C0, ZERO, ZERO, ONE]),
            112 => plain(TxFormat::F16_16, [C0, C1, ZERO, ONE]),
            113 => plain(TxFormat::F16_16_16_16, RGBA),
            114 => plain(TxFormat::F32, [C0, ZERO, ZERO, ONE]),
            115 => plain(TxFormat::F32_32, [C0, C1, ZERO, ONE]),
            116 => plain(TxFormat::F32_32_32_32, RGBA),
            _ => {
                let name = String::from_utf8_lossy(&code.to_le_bytes()).into_owned();
                Err(FileError::Format(format!("`{}`", name.escape_default()), CONVERT))
            }
        },
    }
}

/// Returns the format for masks of red, green, blue, alpha.
fn masked(flags: u32, bits: u32, [r, g, b, a]: [u32; 4]) -> Result<Stored, FileError> {
    let luminance = flags & 0x2_0000 != 0;
    match (bits, r, g, b, a) {
        (8, 0xff, _, _, 0) if luminance => plain(TxFormat::X8, [C0, C0, C0, ONE]),
        (8, 0x0f, _, _, 0xf0) if luminance => plain(TxFormat::X4_4, [C0, C0, C0, C1]),
        (16, 0xff, _, _, 0xff00) if luminance => plain(TxFormat::X8_8, [C0, C0, C0, C1]),
        (16, 0xffff, _, _, 0) if luminance => plain(TxFormat::X16, [C0, C0, C0, ONE]),
        (8, _, _, _, 0xff) => plain(TxFormat::X8, [ZERO, ZERO, ZERO, C0]),
        (8, 0xe0, 0x1c, 3, 0) => plain(TxFormat::X3_3_2, [C2, C1, C0, ONE]),
        (16, 0xf800, 0x7e0, 0x1f, 0) => plain(TxFormat::X5_6_5, [C2, C1, C0, ONE]),
        (16, 0x7c00, 0x3e0, 0x1f, 0x8000) => plain(TxFormat::X1_5_5_5, BGRA),
        (16, 0x7c00, 0x3e0, 0x1f, 0) => plain(TxFormat::X1_5_5_5, [C2, C1, C0, ONE]),
        (16, 0xf00, 0xf0, 0xf, 0xf000) => plain(TxFormat::X4_4_4_4, BGRA),
        (16, 0xf00, 0xf0, 0xf, 0) => plain(TxFormat::X4_4_4_4, [C2, C1, C0, ONE]),
        (32, 0xff, 0xff00, 0xff_0000, 0xff00_0000) => plain(TxFormat::X8_8_8_8, RGBA),
        (32, 0xff, 0xff00, 0xff_0000, 0) => plain(TxFormat::X8_8_8_8, [C0, C1, C2, ONE]),
        (32, 0xff_0000, 0xff00, 0xff, 0xff00_0000) => plain(TxFormat::X8_8_8_8, BGRA),
        (32, 0xff_0000, 0xff00, 0xff, 0) => plain(TxFormat::X8_8_8_8, [C2, C1, C0, ONE]),
        (32, 0x3ff, 0xf_fc00, 0x3ff0_0000, 0xc000_0000) => plain(TxFormat::X2_10_10_10, RGBA),
        (32, 0xffff, 0xffff_0000, 0, 0) => plain(TxFormat::X16_16, [C0, C1, ZERO, ONE]),
        (24, 0xff_0000, 0xff00, 0xff, 0) => {
            let pixels = Pixels::new(TxFormat::X8_8_8_8, [C2, C1, C0, ONE]);
            Ok(Stored { pixels, expand: true })
        }
        _ => {
            let name = format!("of {bits} bits with masks {r:#x}, {g:#x}, {b:#x}, {a:#x}");
            Err(FileError::Format(name, CONVERT))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Returns a header in dwords, as the format's specification defines it.
    fn header(size: [u32; 3], levels: u32, pixel: [u32; 7], caps2: u32) -> Vec<u8> {
        let [width, height, depth] = size;
        let mut words = vec![124, 0x1007, height, width, 0, depth, levels];
        words.extend([0; 11]);
        words.push(32);
        words.extend(pixel);
        words.extend([0x1000, caps2, 0, 0, 0]);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        assert_eq!(bytes.len(), 128);
        bytes
    }

    const DXT1: [u32; 7] = [4, u32::from_le_bytes(*b"DXT1"), 0, 0, 0, 0, 0];
    const RGB24: [u32; 7] = [0x40, 0, 24, 0xff_0000, 0xff00, 0xff, 0];

    #[test]
    fn blocks_pass_through() {
        let mut file = header([8, 4, 0], 2, DXT1, 0);
        file.extend(0..24);
        let texels = decode_dds(&file).unwrap();
        assert_eq!(texels.pixels.format, TxFormat::DXT1);
        assert_eq!(texels.size, [8, 4, 1]);
        assert_eq!(texels.levels[0].bytes, (0..16).collect::<Vec<u8>>());
        assert_eq!((texels.levels[1].width, texels.levels[1].height), (4, 2));
        assert_eq!(texels.levels[1].bytes, (16..24).collect::<Vec<u8>>());
        for length in [0, 3, 60, 127, 128, 151] {
            assert!(decode_dds(&file[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn three_bytes_become_four() {
        let mut file = header([2, 1, 0], 0, RGB24, 0);
        file.extend([1, 2, 3, 4, 5, 6]);
        let texels = decode_dds(&file).unwrap();
        assert_eq!(texels.levels[0].bytes, [1, 2, 3, 255, 4, 5, 6, 255]);
        // The file's bytes are blue, green, red.
        assert_eq!(texels.pixels.components, [C2, C1, C0, ONE]);
    }

    #[test]
    fn the_faces_of_a_cube_come_together_by_level() {
        let mut file = header([2, 2, 0], 2, [0x20000, 0, 8, 0xff, 0, 0, 0], 0xfe00);
        for face in 0..6u8 {
            file.extend([face; 4]);
            file.push(100 + face);
        }
        let texels = decode_dds(&file).unwrap();
        assert_eq!(texels.shape, CoordType::CUBE);
        assert_eq!(texels.levels[0].layers, 6);
        assert_eq!(texels.levels[0].bytes[20..], [5; 4]);
        assert_eq!(texels.levels[1].bytes, [100, 101, 102, 103, 104, 105]);
    }

    #[test]
    fn the_extension_names_formats_by_number() {
        let dx10 = [4, u32::from_le_bytes(*b"DX10"), 0, 0, 0, 0, 0];
        let mut file = header([1, 1, 2], 1, dx10, 0);
        for word in [10u32, 4, 0, 1, 0] {
            file.extend(word.to_le_bytes());
        }
        file.extend([0; 16]);
        let texels = decode_dds(&file).unwrap();
        assert_eq!(texels.pixels.format, TxFormat::F16_16_16_16);
        assert_eq!((texels.shape, texels.size), (CoordType::D3, [1, 1, 2]));
        file[128] = 98;
        let error = decode_dds(&file).unwrap_err().to_string();
        assert!(error.starts_with("the format DXGI 98"), "{error}");
    }

    #[test]
    fn absurd_sizes_are_cut_off_not_allocated() {
        let file = header([u32::MAX, u32::MAX, 0], 16, DXT1, 0);
        assert_eq!(decode_dds(&file), Err(FileError::Truncated("its texels")));
        let file = header([u32::MAX, u32::MAX, u32::MAX], 1, RGB24, 0x20_0000);
        assert_eq!(decode_dds(&file), Err(FileError::Truncated("its texels")));
    }
}
