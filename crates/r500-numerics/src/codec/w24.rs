//! `W24_FP`: the 24-bit float of `US_W_FMT` and of the texture format `TX_FMT_W24_FP`.
//!
//! **The layout is this project's choice.** The documents say that it is a 24-bit floating-point format and
//! that its codes, compared as integers, sort like its values; they give no bits. The choice is the format
//! known as 20e4: no sign, four bits of exponent (bias 15), twenty of mantissa, denormals below 2^-14,
//! neither infinity nor NaN. The reasons:
//!
//! * It is the 24-bit floating depth of the console processor that the same company designed in the same
//!   years (its D24FS8), whose bits are public knowledge. The depth unit of this card has a similar 16-bit
//!   float, 13E3: three bits of exponent, no sign.
//! * Without a sign, codes sort as documented with no further logic. The company's older 24-bit float (a
//!   sign, seven bits of exponent, sixteen of mantissa) does not sort.
//! * Depth is in 0..1, so exponents above 2^0 would be wasted. Up to 1, 20e4 is nowhere coarser than 2^-21
//!   and at 0 as fine as 2^-34: "higher precision", in the documents' words.
//!
//! Mesa's driver never uses it, so no capture is evidence.

use super::minifloat;

/// The mantissa bits of a float32 that the format lacks.
const CUT: u32 = 23 - 20;

/// All 24 bits set: 2 - 2^-20, the largest number.
const MAX: u32 = 0xff_ffff;

/// Encodes `x`, rounded to nearest even. Numbers below the range (all negative ones) and NaN give 0, numbers
/// above it 0xffffff.
#[must_use]
#[inline]
pub fn from_f32(x: f32) -> u32 {
    if x > 0.0 { minifloat::encode(x.to_bits(), CUT).min(MAX) } else { 0 }
}

/// Decodes the lowest 24 bits of `code`, exactly.
#[must_use]
#[inline]
pub fn to_f32(code: u32) -> f32 {
    minifloat::decode(code & MAX, CUT)
}

#[cfg(test)]
mod tests {
    use super::{from_f32, to_f32};

    #[test]
    fn known_codes() {
        // 1 is exponent code 15 (2^0), mantissa 0; 1/2 one exponent less; 1.5 half the mantissa.
        for (x, code) in [
            (0.0, 0),
            (1.0, 0xf0_0000),
            (0.5, 0xe0_0000),
            (1.5, 0xf8_0000),
            (2_f32.powi(-14), 0x10_0000),
            (2_f32.powi(-15), 0x08_0000),
            (2_f32.powi(-34), 1),
            (2.0 - 2_f32.powi(-20), 0xff_ffff),
        ] {
            assert_eq!(from_f32(x), code, "{x}");
            assert_eq!(to_f32(code), x, "{code:#x}");
        }
    }

    #[test]
    fn codes_sort_like_their_values_and_come_back() {
        let mut below = -1.0;
        for code in 0..1 << 24 {
            let value = to_f32(code);
            assert!(value > below, "{code:#x}");
            assert_eq!(from_f32(value), code);
            below = value;
        }
    }

    #[test]
    fn the_nearest_code_is_taken() {
        // In 1..2 codes are 2^-20 apart: midpoints at odd multiples of 2^-21.
        let step = 2_f32.powi(-21);
        assert_eq!(from_f32(1.0 + step), 0xf0_0000);
        assert_eq!(from_f32((1.0 + step).next_up()), 0xf0_0001);
        assert_eq!(from_f32(1.0 + 3.0 * step), 0xf0_0002);
        // Denormals are 2^-34 apart.
        assert_eq!(from_f32(2_f32.powi(-35)), 0);
        assert_eq!(from_f32(2_f32.powi(-35).next_up()), 1);
        assert_eq!(from_f32(1.5 * 2_f32.powi(-34)), 2);
    }

    #[test]
    fn outside_the_range() {
        assert_eq!(from_f32(2.0), 0xff_ffff);
        assert_eq!(from_f32(2.0_f32.next_down()), 0xff_ffff);
        assert_eq!(from_f32(f32::INFINITY), 0xff_ffff);
        assert_eq!(from_f32(f32::MAX), 0xff_ffff);
        assert_eq!(from_f32(-0.0), 0);
        assert_eq!(from_f32(-1.0), 0);
        assert_eq!(from_f32(f32::NEG_INFINITY), 0);
        assert_eq!(from_f32(f32::from_bits(1)), 0);
        assert_eq!(from_f32(f32::NAN), 0);
        assert_eq!(from_f32(-f32::NAN), 0);
        assert_eq!(to_f32(0xab00_0001), to_f32(1));
    }
}
