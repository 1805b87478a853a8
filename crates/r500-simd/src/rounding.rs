//! Round to the nearest integer, ties to even.

/// How a level rounds to the nearest integer, ties to even.
pub trait Rint {
    /// Returns the nearest integer, with the sign of `x`.
    fn rint(x: f32) -> f32;
}

/// Rounds by an instruction of the level.
pub struct NativeRound;

impl Rint for NativeRound {
    #[inline(always)]
    fn rint(x: f32) -> f32 {
        x.round_ties_even()
    }
}

/// Rounds without such an instruction: adding 2^23 shifts the fraction out, subtracting it restores
/// the magnitude.
pub struct MagicRound;

impl Rint for MagicRound {
    #[inline(always)]
    fn rint(x: f32) -> f32 {
        const FRACTIONLESS: f32 = 8_388_608.0;
        let size = x.abs();
        let rounded = (size + FRACTIONLESS) - FRACTIONLESS;
        (if size < FRACTIONLESS { rounded } else { size }).copysign(x)
    }
}
