//! Frame buffers: conversion of pixels as in the display controller.

use r500_chip::tiling;
use r500_chip::values::MicroTile;

use crate::capture::Picture;
use crate::{Buffer, Tiling};

/// A pixel format of a frame buffer, with DRM's name: components from the highest bit down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelFormat {
    code: u32,
    bytes: usize,
    /// Lowest bit and width of red, green, blue.
    fields: [(u32, u32); 3],
}

impl PixelFormat {
    /// `XR24`.
    pub const XRGB8888: Self = Self::new(b"XR24", 4, [(16, 8), (8, 8), (0, 8)]);
    /// `AR24`.
    pub const ARGB8888: Self = Self::new(b"AR24", 4, [(16, 8), (8, 8), (0, 8)]);
    /// `XB24`.
    pub const XBGR8888: Self = Self::new(b"XB24", 4, [(0, 8), (8, 8), (16, 8)]);
    /// `AB24`.
    pub const ABGR8888: Self = Self::new(b"AB24", 4, [(0, 8), (8, 8), (16, 8)]);
    /// `XR30`.
    pub const XRGB2101010: Self = Self::new(b"XR30", 4, [(20, 10), (10, 10), (0, 10)]);
    /// `RG16`.
    pub const RGB565: Self = Self::new(b"RG16", 2, [(11, 5), (5, 6), (0, 5)]);
    /// `XR15`.
    pub const XRGB1555: Self = Self::new(b"XR15", 2, [(10, 5), (5, 5), (0, 5)]);

    /// All of them.
    pub const ALL: [Self; 7] = [
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

    /// Returns the format of a DRM code (`fourcc`).
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.code == code)
    }

    /// Its DRM code.
    pub fn code(self) -> u32 {
        self.code
    }

    /// Bytes of a pixel.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Converts a pixel to 8-bit red, green and blue, rounded to nearest.
    fn rgb(self, pixel: u32) -> [u8; 3] {
        self.fields.map(|(low, width)| {
            let max = (1 << width) - 1;
            (((pixel >> low & max) * 255 + max / 2) / max) as u8
        })
    }
}

/// Returns the pixels of a frame buffer in rows from the top: 8-bit red, green and blue. Tiled buffers are converted.
/// `None` for an unknown format.
pub fn frame_rgb(buffer: &Buffer, picture: &Picture, tiling: Tiling) -> Option<Vec<u8>> {
    let format = PixelFormat::from_code(picture.format)?;
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
    Some(out)
}

#[cfg(test)]
mod tests {
    use crate::BufferId;

    use super::*;

    #[test]
    fn formats_give_the_colours_of_their_names() {
        let orange = [(PixelFormat::XRGB8888, 0x00ff_8000), (PixelFormat::XBGR8888, 0xff00_80ff)];
        for (format, pixel) in orange {
            assert_eq!(format.rgb(pixel), [255, 128, 0]);
        }
        assert_eq!(PixelFormat::RGB565.rgb(31 << 11 | 32 << 5), [255, 130, 0]);
        assert_eq!(PixelFormat::XRGB1555.rgb(31 << 10 | 16 << 5), [255, 132, 0]);
        assert_eq!(PixelFormat::XRGB2101010.rgb(0x3ff << 20 | 0x200 << 10), [255, 128, 0]);
        assert_eq!(PixelFormat::from_code(PixelFormat::RGB565.code()), Some(PixelFormat::RGB565));
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
            format: PixelFormat::XRGB8888.code(),
        };
        let rgb = frame_rgb(&buffer, &picture, Tiling::default()).unwrap_or_default();
        assert_eq!(rgb, [1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 5, 6]);
    }

    /// A micro tile of 32-bit pixels has 4 x 2 pixels, 32 bytes; with a pitch of 8 pixels the second follows the first.
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
            format: PixelFormat::XRGB8888.code(),
        };
        let tiling = Tiling { flags: Tiling::MICRO, pitch: 32 };
        let rgb = frame_rgb(&buffer, &picture, tiling).unwrap_or_default();
        let blue: Vec<u8> = rgb.chunks(3).map(|pixel| pixel[2]).collect();
        assert_eq!(blue, [0, 1, 2, 3, 8, 9, 4, 5, 6, 7, 12, 13]);
    }
}
