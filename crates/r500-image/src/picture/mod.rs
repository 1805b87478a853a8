//! Pictures of 8 bits a channel, and their file formats.
//!
//! The first row of a [`Picture`] is the top one. Frames, textures and raw files begin with the bottom row, y = 0.

#[cfg(feature = "exr")]
mod exr;
#[cfg(feature = "gif")]
mod gif;
#[cfg(feature = "png")]
mod png;

#[cfg(feature = "exr")]
pub use exr::{ExrLayer, encode_exr, write_exr};
#[cfg(feature = "gif")]
pub use gif::{GifWriter, encode_gif};
#[cfg(feature = "png")]
pub use png::{
    ApngWriter, PngCompression, PngWriter, decode_png, encode_apng, encode_png, encode_png_with,
    png_size,
};
pub use r500_exec::output::color::eight_bit;
use r500_exec::output::color::eight_bits;

/// A picture with the top row first, straight alpha, 8 bits a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue, alpha of each pixel, row by row from the top.
    pub pixels: Vec<[u8; 4]>,
}

/// Why a picture cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// A PNG file that cannot be decoded.
    #[cfg(feature = "png")]
    #[error("not a readable PNG: {0}")]
    PngRead(#[from] ::png::DecodingError),
    /// A picture that a PNG file cannot store.
    #[cfg(feature = "png")]
    #[error("PNG: {0}")]
    PngWrite(#[source] ::png::EncodingError),
    /// A picture that a GIF file cannot store.
    #[cfg(feature = "gif")]
    #[error("GIF: {0}")]
    Gif(#[source] ::gif::EncodingError),
    /// A picture that an OpenEXR file cannot store.
    #[cfg(feature = "exr")]
    #[error("OpenEXR: {0}")]
    Exr(#[source] ::exr::error::Error),
    /// The output failed: a full disk, a closed pipe.
    #[error("{0}")]
    Output(#[from] std::io::Error),
    /// A format whose Cargo feature is disabled.
    #[error("this build does not read {format} (feature `{feature}` of the crate r500)")]
    NotBuilt {
        /// The format.
        format: &'static str,
        /// The Cargo feature that adds it.
        feature: &'static str,
    },
    /// A picture above the size limit of its format.
    #[error("{width}x{height} pixels are too many for {format}, which ends at {limit}")]
    TooLarge {
        /// The format.
        format: &'static str,
        /// Width of the picture.
        width: u32,
        /// Height of the picture.
        height: u32,
        /// Greatest width and height.
        limit: u32,
    },
    /// An animation without frames, or with frames of different sizes.
    #[error("an animation needs at least one frame, all of the same size")]
    Frames,
}

#[cfg(feature = "png")]
impl From<::png::EncodingError> for PictureError {
    fn from(error: ::png::EncodingError) -> Self {
        match error {
            ::png::EncodingError::IoError(error) => Self::Output(error),
            error => Self::PngWrite(error),
        }
    }
}

#[cfg(feature = "gif")]
impl From<::gif::EncodingError> for PictureError {
    fn from(error: ::gif::EncodingError) -> Self {
        match error {
            ::gif::EncodingError::Io(error) => Self::Output(error),
            error => Self::Gif(error),
        }
    }
}

#[cfg(feature = "exr")]
impl From<::exr::error::Error> for PictureError {
    fn from(error: ::exr::error::Error) -> Self {
        match error {
            ::exr::error::Error::Io(error) => Self::Output(error),
            error => Self::Exr(error),
        }
    }
}

impl Picture {
    /// Builds a picture from colours in rows of `width`, bottom row first.
    #[must_use]
    pub fn from_colors(width: u32, colors: &[[f32; 4]]) -> Self {
        let height = rows(width, colors.len());
        let mut pixels = vec![[0; 4]; width as usize * height as usize];
        let row = (width as usize).max(1);
        let upright = colors.chunks_exact(row).rev();
        for (to, from) in pixels.chunks_exact_mut(row).zip(upright) {
            eight_bits(from, to);
        }
        Self { width, height, pixels }
    }

    /// Sets the alpha of all pixels.
    pub fn set_alpha(&mut self, alpha: u8) {
        for pixel in &mut self.pixels {
            pixel[3] = alpha;
        }
    }

    /// Builds an opaque grey picture from single values (such as depth), bottom row first.
    #[must_use]
    pub fn from_values(width: u32, values: &[f32]) -> Self {
        let grey = |value| {
            let grey = eight_bit(value);
            [grey, grey, grey, 255]
        };
        let pixels = upright(width, values).map(grey).collect();
        Self { width, height: rows(width, values.len()), pixels }
    }

    /// Returns the pixel in column `x` of row `y` from the top; transparent black outside of the picture.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        if x >= self.width {
            return [0; 4];
        }
        let index = y as usize * self.width as usize + x as usize;
        self.pixels.get(index).copied().unwrap_or_default()
    }

    /// Returns the `width` x `height` pixels whose lower left pixel is in column `x` of row `y` from the bottom; `None`
    /// if they exceed the picture.
    #[must_use]
    pub fn crop(&self, x: u32, y: u32, width: u32, height: u32) -> Option<Self> {
        let inside = x.checked_add(width)? <= self.width && y.checked_add(height)? <= self.height;
        if !inside {
            return None;
        }
        let top = self.height - y - height;
        let pixels = (top..top + height)
            .flat_map(|row| (x..x + width).map(move |column| self.pixel(column, row)))
            .collect();
        Some(Self { width, height, pixels })
    }
}

/// Reverses the order of rows: from bottom first to top first.
pub(crate) fn upright<T: Copy>(width: u32, values: &[T]) -> impl Iterator<Item = T> + '_ {
    values.chunks_exact((width as usize).max(1)).rev().flatten().copied()
}

fn rows(width: u32, pixels: usize) -> u32 {
    u32::try_from(pixels.checked_div(width as usize).unwrap_or(0)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn eight_bits_round_half_to_even() {
        assert_eq!(eight_bit(0.0), 0);
        assert_eq!(eight_bit(-1.0), 0);
        assert_eq!(eight_bit(f32::NAN), 0);
        assert_eq!(eight_bit(f32::INFINITY), 255);
        assert_eq!(eight_bit(1.0), 255);
        // 0.5 * 255 = 127.5 and 0.1 * 255 = 25.5000004 (0.1 is a little above one tenth).
        assert_eq!(eight_bit(0.5), 128);
        assert_eq!(eight_bit(0.1), 26);
        // 85/170 = 1/2 apart from rounding: 76.5/255 = 0.3, whose float is above it.
        assert_eq!(eight_bit(0.3), 77);
        // 0.7 as a float lies below 178.5/255.
        assert_eq!(eight_bit(0.7), 178);
    }

    /// Compares with the rounding of the standard library, at every float around each half and each integer.
    #[test]
    fn eight_bits_are_rounded_exactly() {
        for half in 0..=510u32 {
            let near = (f64::from(half) / 510.0) as f32;
            for bits in near.to_bits().saturating_sub(3)..near.to_bits() + 4 {
                let value = f32::from_bits(bits);
                let wanted = (f64::from(value.min(1.0)) * 255.0).round_ties_even() as u8;
                assert_eq!(eight_bit(value), wanted, "{value}");
            }
        }
    }

    #[test]
    fn the_first_row_of_a_frame_is_the_bottom_one() {
        let (red, blue) = ([1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.5]);
        let picture = Picture::from_colors(2, &[red, red, blue, blue]);
        assert_eq!((picture.width, picture.height), (2, 2));
        assert_eq!(picture.pixel(0, 0), [0, 0, 255, 128]);
        assert_eq!(picture.pixel(1, 1), [255, 0, 0, 255]);
    }

    #[test]
    fn a_crop_counts_from_the_lower_left() {
        let values: Vec<f32> = (0..12).map(|i| i as f32 / 255.0).collect();
        let picture = Picture::from_values(4, &values);
        let part = picture.crop(1, 0, 2, 2).unwrap();
        let greys: Vec<u8> = part.pixels.iter().map(|p| p[0]).collect();
        assert_eq!(greys, [5, 6, 1, 2]);
        assert_eq!(picture.crop(3, 0, 2, 1), None);
        assert_eq!(picture.crop(0, 2, 1, 2), None);
    }
}
