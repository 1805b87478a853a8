//! Inline constants: a seven-bit float in a source address.

/// The seven-bit unsigned float of a source address whose bit 7 is set and whose `CONST` bit is
/// not (`ADDRn` of `US_ALU_RGB_ADDR` and `US_ALU_ALPHA_ADDR`).
///
/// It has four exponent bits (bias 7) above three mantissa bits. Exponent 0 is denormal; there are
/// no infinities and no NaN. The values are zero and 2^-9 to 480.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InlineConst(u8);

impl InlineConst {
    /// Returns the constant with a code; bit 7 is ignored.
    #[must_use]
    pub const fn new(code: u8) -> Self {
        Self(code & 0x7f)
    }

    /// Returns the code, 0 to 127.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns the exact value.
    ///
    /// ```
    /// use r500_isa::InlineConst;
    /// assert_eq!(InlineConst::new(0x01).value(), 1.0 / 512.0);
    /// assert_eq!(InlineConst::new(0x30).value(), 0.5);
    /// assert_eq!(InlineConst::new(0x7f).value(), 480.0);
    /// ```
    #[must_use]
    pub const fn value(self) -> f32 {
        let (exponent, mantissa) = ((self.0 >> 3) as u32, (self.0 & 7) as u32);
        if exponent == 0 {
            mantissa as f32 / 512.0
        } else {
            f32::from_bits((exponent + 120) << 23 | mantissa << 20)
        }
    }

    /// Returns the constant with exactly this value, if there is one (-0 has none).
    #[must_use]
    pub fn exact(value: f32) -> Option<Self> {
        (0..128).map(Self).find(|c| c.value().to_bits() == value.to_bits())
    }

    /// Returns the greatest constant not above `value` and the least not below it, if they exist.
    #[must_use]
    pub fn nearest(value: f32) -> (Option<Self>, Option<Self>) {
        // Codes ascend with their values.
        let below = (0..128).rev().map(Self).find(|c| c.value() <= value);
        let above = (0..128).map(Self).find(|c| c.value() >= value);
        (below, above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_found_again() {
        for code in 0..128 {
            let constant = InlineConst::new(code);
            assert_eq!(InlineConst::exact(constant.value()), Some(constant));
            assert!(code == 0 || InlineConst::new(code - 1).value() < constant.value());
        }
    }

    #[test]
    fn neighbours_of_three_tenths() {
        // 0.3 lies between 1.125 * 2^-2 and 1.25 * 2^-2: exponent 5, mantissas 1 and 2.
        assert_eq!(
            InlineConst::nearest(0.3),
            (Some(InlineConst::new(41)), Some(InlineConst::new(42)))
        );
        assert_eq!(InlineConst::nearest(-1.0).0, None);
        assert_eq!(InlineConst::nearest(481.0).1, None);
    }
}
