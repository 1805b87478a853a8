//! Float16 (IEEE binary16), the registers' "S10E5": a sign, five bits of exponent, ten of mantissa.
//!
//! Denormal halves are converted like other numbers, in both directions: the flush rule concerns
//! the arithmetic of the processor, whose floats have normal numbers far below 2^-24. That the card
//! keeps them is open.

use super::minifloat;
use crate::CANONICAL_NAN;

/// The NaN that is stored for every NaN: float32's canonical one, truncated.
const NAN: u16 = 0x7e00;

const INFINITY: u16 = 0x7c00;

/// The mantissa bits of a float32 that a half lacks.
const CUT: u32 = 23 - 10;

/// Returns the half nearest to `x`, ties to even. Magnitudes of 65520 and more give infinity, of
/// 2^-25 and less zero, of the same sign; every NaN gives 0x7e00.
#[must_use]
#[inline]
pub fn from_f32(x: f32) -> u16 {
    if x.is_nan() {
        return NAN;
    }
    let sign = ((x.to_bits() >> 16) & 0x8000) as u16;
    let magnitude = minifloat::encode(x.abs().to_bits(), CUT).min(INFINITY.into()) as u16;
    sign | magnitude
}

/// Returns the number that a half represents, exactly; every NaN becomes the canonical one.
#[must_use]
#[inline]
pub fn to_f32(code: u16) -> f32 {
    let magnitude = match code & 0x7fff {
        INFINITY => f32::INFINITY,
        nan if nan > INFINITY => return CANONICAL_NAN,
        finite => minifloat::decode(finite.into(), CUT),
    };
    if code & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::{from_f32, to_f32};

    /// Decodes a half by the definition of IEEE 754, in doubles, which represent all halves
    /// exactly.
    fn by_definition(code: u16) -> f64 {
        let sign = if code >> 15 == 0 { 1.0 } else { -1.0 };
        let exponent = i32::from(code >> 10 & 31);
        let mantissa = f64::from(code & 1023);
        sign * match exponent {
            0 => mantissa * 2_f64.powi(-24),
            31 if mantissa == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            e => (1024.0 + mantissa) * 2_f64.powi(e - 25),
        }
    }

    #[test]
    fn every_half_is_its_definition_and_comes_back() {
        for code in 0..=u16::MAX {
            let (value, want) = (to_f32(code), by_definition(code));
            if want.is_nan() {
                assert_eq!(value.to_bits(), 0x7fc0_0000, "{code:#06x}");
                assert_eq!(from_f32(value), 0x7e00, "{code:#06x}");
            } else {
                assert_eq!(f64::from(value).to_bits(), want.to_bits(), "{code:#06x}");
                assert_eq!(from_f32(value), code);
            }
        }
    }

    /// The midpoint of two neighbours rounds to the even code, and the floats next to it to the
    /// nearer one. Floats have 13 bits more, so the midpoint is a float.
    #[test]
    fn between_neighbours_the_nearer_wins() {
        for code in 0..0x7bff_u16 {
            let middle = ((by_definition(code) + by_definition(code + 1)) / 2.0) as f32;
            let even = code + (code & 1);
            for sign in [0, 0x8000] {
                let at = |x: f32| from_f32(if sign == 0 { x } else { -x });
                assert_eq!(at(middle), sign | even, "{code:#06x}");
                assert_eq!(at(middle.next_down()), sign | code, "{code:#06x}");
                assert_eq!(at(middle.next_up()), sign | (code + 1), "{code:#06x}");
            }
        }
    }

    #[test]
    fn smallest_and_largest_halves_convert() {
        // 65504 is the largest half; 65536 would follow, and 65520 is the midpoint.
        assert_eq!(from_f32(65504.0), 0x7bff);
        assert_eq!(from_f32(65519.996), 0x7bff);
        assert_eq!(from_f32(65520.0), 0x7c00);
        assert_eq!(from_f32(f32::MAX), 0x7c00);
        assert_eq!(from_f32(-65519.996), 0xfbff);
        assert_eq!(from_f32(-65520.0), 0xfc00);
        assert_eq!(from_f32(f32::INFINITY), 0x7c00);
        assert_eq!(from_f32(f32::NEG_INFINITY), 0xfc00);
        // The smallest is 2^-24. 2^-25, the midpoint to 0, rounds to the even 0; the next float
        // does not.
        assert_eq!(from_f32(2_f32.powi(-24)), 1);
        assert_eq!(from_f32(2_f32.powi(-25)), 0);
        assert_eq!(from_f32(2_f32.powi(-25).next_up()), 1);
        assert_eq!(from_f32(-2_f32.powi(-25)), 0x8000);
        // A denormal half: 3 * 2^-24.
        assert_eq!(from_f32(3.0 * 2_f32.powi(-24)), 3);
        // Float32's denormals are far too small.
        assert_eq!(from_f32(f32::MIN_POSITIVE.next_down()), 0);
        assert_eq!(from_f32(-f32::from_bits(1)), 0x8000);
        assert_eq!(from_f32(-0.0), 0x8000);
        // NaN, with sign and payload and without.
        assert_eq!(from_f32(f32::NAN), 0x7e00);
        assert_eq!(from_f32(f32::from_bits(0xff80_0001)), 0x7e00);
    }
}
