//! Display transform: the mapping from a target's values to the 8-bit picture that is shown.

use r500::picture::{Picture, eight_bit};
use serde::Deserialize;

/// A display transform.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Look {
    /// Channels to show, red in bit 0. One alone is shown as grey; without alpha the picture is opaque.
    pub channels: u8,
    /// The values that become 0 and 1.
    pub range: [f32; 2],
}

const ALPHA: u8 = 8;

impl Default for Look {
    /// Red, green and blue unchanged, opaque.
    fn default() -> Self {
        Self { channels: 0b0111, range: [0.0, 1.0] }
    }
}

impl Look {
    /// Returns the picture of colours, which are stored row by row from the bottom.
    #[must_use]
    pub fn of_colors(&self, width: u32, colors: &[[f32; 4]]) -> Picture {
        let mut picture = if self.range == [0.0, 1.0] {
            Picture::from_colors(width, colors)
        } else {
            let ranged: Vec<[f32; 4]> = colors
                .iter()
                .map(|&[r, g, b, a]| [self.map(r), self.map(g), self.map(b), a])
                .collect();
            Picture::from_colors(width, &ranged)
        };
        self.select(&mut picture);
        picture
    }

    /// Returns the picture of single values (such as depth), which are stored row by row from the bottom.
    #[must_use]
    pub fn of_values(&self, width: u32, values: &[f32]) -> Picture {
        if self.range == [0.0, 1.0] {
            return Picture::from_values(width, values);
        }
        let ranged: Vec<f32> = values.iter().map(|&value| self.map(value)).collect();
        Picture::from_values(width, &ranged)
    }

    /// Returns the picture of colours as bytes: four floats each, row by row from the bottom.
    #[must_use]
    pub fn of_bytes(&self, width: u32, bytes: &[u8]) -> Picture {
        let floats = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let floats: Vec<f32> = floats.collect();
        self.of_colors(width, floats.as_chunks::<4>().0)
    }

    fn map(&self, value: f32) -> f32 {
        let [from, to] = self.range;
        (value - from) / (to - from)
    }

    fn select(&self, picture: &mut Picture) {
        let channels = self.channels & 0b1111;
        if channels == 0b0111 {
            return picture.set_alpha(255);
        }
        let pixels = picture.pixels.iter_mut();
        match channels {
            0b1111 => {}
            1 | 2 | 4 | ALPHA => {
                let channel = channels.trailing_zeros() as usize;
                pixels.for_each(|pixel| {
                    let grey = pixel[channel];
                    *pixel = [grey, grey, grey, 255];
                });
            }
            _ => pixels.for_each(|pixel| {
                for (channel, value) in pixel.iter_mut().enumerate().take(3) {
                    *value *= channels >> channel & 1;
                }
                if channels & ALPHA == 0 {
                    pixel[3] = eight_bit(1.0);
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_ranges() {
        let colors = [[1.0, 0.0, 0.2, 0.0]];
        let shown = |channels, range| Look { channels, range }.of_colors(1, &colors).pixels[0];
        assert_eq!(shown(0b0111, [0.0, 1.0]), [255, 0, 51, 255], "alpha 0 is still seen");
        assert_eq!(shown(0b1111, [0.0, 1.0]), [255, 0, 51, 0]);
        assert_eq!(shown(0b0100, [0.0, 1.0]), [51, 51, 51, 255]);
        assert_eq!(shown(0b1000, [0.0, 1.0]), [0, 0, 0, 255]);
        assert_eq!(shown(0b0110, [0.0, 1.0]), [0, 0, 51, 255]);
        assert_eq!(shown(0b0111, [0.0, 2.0]), [128, 0, 26, 255]);
        let depth = Look { range: [0.5, 0.75], ..Look::default() }.of_values(1, &[0.75, 0.5]);
        assert_eq!(depth.pixels, [[0, 0, 0, 255], [255, 255, 255, 255]]);
    }
}
