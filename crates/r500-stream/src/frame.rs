//! Frame buffers: conversion of pixels as in the display controller.

use std::time::Instant;

use r500_chip::tiling;
use r500_chip::values::MicroTile;

use crate::capture::Picture;
use crate::{Buffer, OutOfTime, Tiling};

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

/// Limit of the width and height of a frame in pixels.
pub const MAX_SIDE: u32 = 4096;

/// Why a frame buffer is not a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// An unknown pixel format, by its DRM code.
    #[error("a frame of the unknown pixel format {0:#010x}")]
    Format(u32),
    /// No pixels, or more than a screen has.
    #[error("a frame of {width}x{height} pixels; a screen has 1x1 to {MAX_SIDE}x{MAX_SIDE}")]
    Size {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// There is no memory for the picture.
    #[error("there is no memory for a frame of {width}x{height} pixels")]
    Memory {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The deadline has passed.
    #[error(transparent)]
    Time(#[from] OutOfTime),
}

/// Returns the pixels of a frame buffer in rows from the top: 8-bit red, green and blue. Tiled buffers are converted. Fails
/// if it is not done at the deadline.
pub fn frame_rgb(
    buffer: &Buffer,
    picture: &Picture,
    tiling: Tiling,
    deadline: Option<Instant>,
) -> Result<Vec<u8>, FrameError> {
    let format =
        PixelFormat::from_code(picture.format).ok_or(FrameError::Format(picture.format))?;
    let &Picture { width, height, .. } = picture;
    if [width, height].iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
        return Err(FrameError::Size { width, height });
    }
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
    let mut out = Vec::new();
    out.try_reserve_exact(width as usize * height as usize * 3)
        .map_err(|_| FrameError::Memory { width, height })?;
    for y in 0..height {
        OutOfTime::check(deadline)?;
        for x in 0..width {
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
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

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
        let rgb = frame_rgb(&buffer, &picture, Tiling::default(), None).unwrap();
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
        let rgb = frame_rgb(&buffer, &picture, tiling, None).unwrap();
        let blue: Vec<u8> = rgb.chunks(3).map(|pixel| pixel[2]).collect();
        assert_eq!(blue, [0, 1, 2, 3, 8, 9, 4, 5, 6, 7, 12, 13]);
    }

    /// Sizes of a capture may be anything.
    #[test]
    fn frames_have_the_size_of_a_screen() {
        let buffer = Buffer::zeroed(BufferId(1), 64);
        let format = PixelFormat::XRGB8888.code();
        let picture = |width, height, pitch| Picture {
            buffer: BufferId(1),
            width,
            height,
            pitch,
            offset: u32::MAX,
            format,
        };
        let rgb = |picture, deadline| frame_rgb(&buffer, &picture, Tiling::default(), deadline);
        for [width, height] in [[0, 1], [1, 0], [MAX_SIDE + 1, 1], [u32::MAX, u32::MAX]] {
            let error = rgb(picture(width, height, 4), None).unwrap_err();
            assert_eq!(error, FrameError::Size { width, height });
        }
        let last = rgb(picture(1, MAX_SIDE, u32::MAX), None).unwrap();
        assert!(last.iter().all(|byte| *byte == 0));
        let late = rgb(picture(1, 1, 4), Some(Instant::now()));
        assert_eq!(late, Err(FrameError::Time(OutOfTime)));
    }
}
