//! Interpolated inputs: plane equations at pixel centres.
//!
//! Open: the rasteriser's rounding is not documented; pictures agree to their accuracy. Interpolation is not ALU
//! arithmetic, so denormals are kept.

/// Evaluates the plane c + du * u + dv * v at (u, v), in the unit of c: two products and two sums, each rounded,
/// from left to right, without flushing.
#[inline]
#[must_use]
pub fn plane(c: f32, du: f32, dv: f32, u: f32, v: f32) -> f32 {
    (c + du * u) + dv * v
}

/// Returns the centre of a pixel as a fraction of an axis of `size` pixels: (pixel + 0.5) / size. Pixels past the
/// end give more than 1, because planes are evaluated there, too; a size of 0 gives infinity.
#[inline]
#[must_use]
pub fn centre(pixel: u32, size: u32) -> f32 {
    (pixel as f32 + 0.5) / size as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_of_pixels() {
        assert_eq!(centre(0, 4), 0.125);
        assert_eq!(centre(3, 4), 0.875);
        assert_eq!(centre(4, 4), 1.125);
        assert_eq!(centre(65_535, 65_536), 1.0 - 1.0 / 131_072.0);
    }

    #[test]
    fn planes_are_summed_from_the_left() {
        // 1 + 2^-24 is a tie and rounds to 1, twice; if the two steps were added to each other first, the sum
        // would be 1 + 2^-23.
        let step = 1.0 / 16_777_216.0;
        assert_eq!(plane(1.0, step, step, 1.0, 1.0), 1.0);
        assert_eq!(plane(0.25, 1.0, -2.0, 0.5, 0.125), 0.5);
    }

    #[test]
    fn planes_flush_nothing() {
        let denormal = f32::from_bits(3);
        assert_eq!(plane(denormal, 0.0, 0.0, 0.5, 0.5).to_bits(), 3);
        assert_eq!(plane(0.0, denormal, 0.0, 1.0, 0.5).to_bits(), 3);
    }
}
