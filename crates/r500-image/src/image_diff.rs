//! Difference of two pictures.

use crate::picture::Picture;

/// Default tolerance: the greatest difference of a channel that counts as equal.
pub const TOLERANCE: f64 = 2.0 / 255.0;
/// Default limit of the share of differing pixels.
pub const SHARE: f64 = 0.002;

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of pixels that differ by more than the tolerance in some channel.
    pub differing: usize,
    /// Number of all pixels.
    pub pixels: usize,
    /// Greatest difference of any channel, in 255ths.
    pub worst: u8,
    /// Column and row (from the bottom) of the first pixel with that difference; `None` if all
    /// are equal.
    pub worst_pixel: Option<[u32; 2]>,
    /// Mean square difference of the channels, in 255ths squared.
    pub mean_square: f64,
    /// The difference as a picture.
    pub difference: Picture,
}

/// Two pictures of different sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pictures differ in size: {}x{} and {}x{}", a[0], a[1], b[0], b[1])]
pub struct SizeError {
    /// Width and height of one.
    pub a: [u32; 2],
    /// Width and height of the other.
    pub b: [u32; 2],
}

impl Comparison {
    /// Compares two pictures of the same size. `tolerance` is a share of the full range, 0 to 1.
    ///
    /// The difference picture shows pixels that differ by more than the tolerance in a channel as the difference in
    /// each colour, brightened eightfold (a difference in alpha alone is grey), and other pixels as the picture itself,
    /// faintly.
    ///
    /// # Errors
    /// [`SizeError`] if the sizes differ.
    pub fn new(drawn: &Picture, wanted: &Picture, tolerance: f64) -> Result<Self, SizeError> {
        let (a, b) = ([drawn.width, drawn.height], [wanted.width, wanted.height]);
        if a != b {
            return Err(SizeError { a, b });
        }
        // A small margin for tolerances such as 2/255 that are not exact binary fractions.
        let limit = tolerance * 255.0 + 1e-6;
        let mut found = Self {
            differing: 0,
            pixels: drawn.pixels.len(),
            worst: 0,
            worst_pixel: None,
            mean_square: 0.0,
            difference: Picture { width: a[0], height: a[1], pixels: Vec::new() },
        };
        let mut squares = 0u64;
        for (i, (p, q)) in drawn.pixels.iter().zip(&wanted.pixels).enumerate() {
            let delta: [u8; 4] = std::array::from_fn(|c| p[c].abs_diff(q[c]));
            squares += delta.iter().map(|&d| u64::from(d) * u64::from(d)).sum::<u64>();
            let most = delta.into_iter().max().unwrap_or(0);
            if most > found.worst {
                found.worst = most;
                // The index is below width * height, so both casts are lossless.
                let row = (i / a[0] as usize) as u32;
                found.worst_pixel = Some([(i % a[0] as usize) as u32, a[1] - 1 - row]);
            }
            let differs = f64::from(most) > limit;
            found.differing += usize::from(differs);
            found.difference.pixels.push(if differs {
                let base = if delta[..3] == [0; 3] { delta[3] } else { 0 };
                let bright = |d: u8| d.max(base).saturating_mul(8).max(32 * u8::from(d > 0));
                [bright(delta[0]), bright(delta[1]), bright(delta[2]), 255]
            } else {
                let grey = ((u16::from(q[0]) + u16::from(q[1]) + u16::from(q[2])) / 24) as u8;
                [grey, grey, grey, 255]
            });
        }
        found.mean_square = squares as f64 / (found.pixels.max(1) * 4) as f64;
        Ok(found)
    }

    /// Returns the share of pixels that differ, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.differing as f64 / self.pixels.max(1) as f64
    }

    /// Returns whether at most `share` (0 to 1) of the pixels differ.
    #[must_use]
    pub fn passes(&self, share: f64) -> bool {
        self.share() <= share
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn picture(greys: &[u8]) -> Picture {
        let pixels = greys.iter().map(|&g| [g, 0, 0, 255]).collect();
        Picture { width: 2, height: greys.len() as u32 / 2, pixels }
    }

    #[test]
    fn two_steps_pass_three_do_not() {
        let wanted = picture(&[10, 10, 10, 10]);
        let found = Comparison::new(&picture(&[12, 8, 13, 10]), &wanted, TOLERANCE).unwrap();
        assert_eq!((found.differing, found.pixels, found.worst), (1, 4, 3));
        // The third pixel from the top left of 2x2 is in the bottom row, y = 0.
        assert_eq!(found.worst_pixel, Some([0, 0]));
        assert!(found.passes(0.25) && !found.passes(0.24));
        // (4 + 4 + 9) / 16 channels.
        assert!((found.mean_square - 17.0 / 16.0).abs() < 1e-12);
        assert_eq!(found.difference.pixels[2], [32, 0, 0, 255]);
    }

    #[test]
    fn alpha_counts() {
        let a = Picture { width: 1, height: 1, pixels: vec![[1, 2, 3, 0]] };
        let b = Picture { width: 1, height: 1, pixels: vec![[1, 2, 3, 255]] };
        let found = Comparison::new(&a, &b, TOLERANCE).unwrap();
        assert_eq!(found.differing, 1);
        assert_eq!(found.difference.pixels[0], [255; 4]);
    }

    #[test]
    fn sizes_must_agree() {
        let error = Comparison::new(&picture(&[0; 4]), &picture(&[0; 6]), 0.0).unwrap_err();
        assert_eq!(error.to_string(), "the pictures differ in size: 2x2 and 2x3");
    }
}
