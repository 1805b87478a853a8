//! Frames as PNG files.

use std::fs;
use std::io::BufWriter;
use std::path::Path;

use r500_chip::tiling;
use r500_chip::values::MicroTile;
use r500_stream::capture::Picture;
use r500_stream::{Buffer, Tiling};

/// A pixel format of a frame buffer, named as DRM names it: components from the highest bit down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    code: u32,
    bytes: usize,
    /// Lowest bit and width of red, green, blue.
    fields: [(u32, u32); 3],
}

impl Format {
    pub(crate) const XRGB8888: Self = Self::new(b"XR24", 4, [(16, 8), (8, 8), (0, 8)]);
    pub(crate) const ARGB8888: Self = Self::new(b"AR24", 4, [(16, 8), (8, 8), (0, 8)]);
    pub(crate) const XBGR8888: Self = Self::new(b"XB24", 4, [(0, 8), (8, 8), (16, 8)]);
    pub(crate) const ABGR8888: Self = Self::new(b"AB24", 4, [(0, 8), (8, 8), (16, 8)]);
    pub(crate) const XRGB2101010: Self = Self::new(b"XR30", 4, [(20, 10), (10, 10), (0, 10)]);
    pub(crate) const RGB565: Self = Self::new(b"RG16", 2, [(11, 5), (5, 6), (0, 5)]);
    pub(crate) const XRGB1555: Self = Self::new(b"XR15", 2, [(10, 5), (5, 5), (0, 5)]);

    const ALL: [Self; 7] = [
        Self::XRGB8888,
        Self::ARGB8888,
        Self::XBGR8888,
        Self::ABGR8888,
        Self::XRGB2101010,
        Self::RGB565,
        Self::XRGB1555,
    ];

    const fn new(code: &[u8; 4], bytes: usize, fields: [(u32, u32); 3]) -> Self {
        Self { code: u32::from_le_bytes(*code), bytes, fields }
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.code == code)
    }

    pub(crate) fn code(self) -> u32 {
        self.code
    }

    /// Bytes of a pixel.
    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }

    /// Red, green and blue of 8 bits, nearest.
    fn rgb(self, pixel: u32) -> [u8; 3] {
        self.fields.map(|(low, width)| {
            let max = (1 << width) - 1;
            (((pixel >> low & max) * 255 + max / 2) / max) as u8
        })
    }
}

/// Writes the picture in a buffer.
pub(crate) fn write_png(
    path: &Path,
    buffer: &Buffer,
    picture: &Picture,
    tiling: Tiling,
) -> std::io::Result<()> {
    let format = Format::from_code(picture.format)
        .ok_or_else(|| std::io::Error::other("a frame of a format without a name"))?;
    let rgb = rgb(buffer, picture, tiling, format);
    let mut encoder =
        png::Encoder::new(BufWriter::new(fs::File::create(path)?), picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(())
}

/// The pixels of a frame buffer row by row, 3 bytes a pixel. As the display controller does, it reads tiled buffers.
fn rgb(buffer: &Buffer, picture: &Picture, tiling: Tiling, format: Format) -> Vec<u8> {
    let has = |flag| tiling.flags & flag != 0;
    let layout = tiling::Tiling {
        log2_bytes: format.bytes.trailing_zeros() as u8,
        macro_tiled: has(Tiling::MACRO),
        micro: match (has(Tiling::MICRO), has(Tiling::MICRO_SQUARE)) {
            (_, true) => MicroTile::SQUARE,
            (true, false) => MicroTile::TILED,
            (false, false) => MicroTile::LINEAR,
        },
    };
    let is_linear = !layout.macro_tiled && layout.micro == MicroTile::LINEAR;
    let pitch = picture.pitch / format.bytes as u32;
    let mut out = Vec::with_capacity(picture.width as usize * picture.height as usize * 3);
    for y in 0..picture.height {
        for x in 0..picture.width {
            let offset = if is_linear {
                // The pitch of a linear frame buffer may be any number of bytes.
                u64::from(y) * u64::from(picture.pitch) + u64::from(x) * format.bytes as u64
            } else {
                layout.offset(pitch, [x, y])
            };
            let mut pixel = [0; 4];
            buffer.read(picture.offset as usize + offset as usize, &mut pixel[..format.bytes]);
            out.extend(format.rgb(u32::from_le_bytes(pixel)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use r500_stream::BufferId;

    use super::*;

    #[test]
    fn formats_give_the_colours_of_their_names() {
        let orange = [(Format::XRGB8888, 0x00ff_8000), (Format::XBGR8888, 0xff00_80ff)];
        for (format, pixel) in orange {
            assert_eq!(format.rgb(pixel), [255, 128, 0]);
        }
        assert_eq!(Format::RGB565.rgb(31 << 11 | 32 << 5), [255, 130, 0]);
        assert_eq!(Format::XRGB1555.rgb(31 << 10 | 16 << 5), [255, 132, 0]);
        assert_eq!(Format::XRGB2101010.rgb(0x3ff << 20 | 0x200 << 10), [255, 128, 0]);
        assert_eq!(Format::from_code(Format::RGB565.code()), Some(Format::RGB565));
    }

    #[test]
    fn rows_follow_the_pitch() {
        let buffer = Buffer::zeroed(BufferId(1), 64);
        buffer.store(8, 0x0001_0203);
        buffer.store(8 + 16 + 4, 0x0004_0506);
        let picture = Picture {
            buffer: BufferId(1),
            width: 2,
            height: 2,
            pitch: 16,
            offset: 8,
            format: Format::XRGB8888.code(),
        };
        let rgb = rgb(&buffer, &picture, Tiling::default(), Format::XRGB8888);
        assert_eq!(rgb, [1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 5, 6]);
    }

    /// Of 32-bit pixels a micro tile holds 4 x 2, 32 bytes; of a pitch of 8 pixels the second follows the first.
    #[test]
    fn micro_tiles_are_read_as_they_lie() {
        let buffer = Buffer::zeroed(BufferId(1), 64);
        for pixel in 0..16 {
            buffer.store(pixel * 4, pixel as u32);
        }
        let picture = Picture {
            buffer: BufferId(1),
            width: 6,
            height: 2,
            pitch: 32,
            offset: 0,
            format: Format::XRGB8888.code(),
        };
        let tiling = Tiling { flags: Tiling::MICRO, pitch: 32 };
        let rgb = rgb(&buffer, &picture, tiling, Format::XRGB8888);
        let blue: Vec<u8> = rgb.chunks(3).map(|pixel| pixel[2]).collect();
        assert_eq!(blue, [0, 1, 2, 3, 8, 9, 4, 5, 6, 7, 12, 13]);
    }
}
