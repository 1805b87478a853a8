//! Depth encoding by `US_W_FMT`: the format in which depth leaves for the depth unit.

use r500_isa::state::UsWFmt;
use r500_isa::values::WFormat;

use r500_numerics::codec::{fixed, w24};

/// Returns the code of depth `w`, at most 24 bits.
///
/// | `W_FMT` | code | evidence |
/// | --- | --- | --- |
/// | `W0` | 0 | documented |
/// | `W24` | 24-bit [fixed point](fixed): 0 is 0, 1 is 0xffffff | documented; drivers rely on the range 0..1; the rounding is open |
/// | `W24_FP` | the [24-bit float](w24) | documented to exist; the layout is this project's choice |
/// | 3, reserved | 0, as `W0` | open |
///
/// NaN and values below the range give 0, values above it the largest code. `W_SRC` selects the source of `w`,
/// the program or the rasteriser; the caller passes the selected value.
#[must_use]
pub fn store_depth(fmt: UsWFmt, w: f32) -> u32 {
    match fmt.w_fmt() {
        WFormat::W24 => fixed::f32_to_unorm(w, 24),
        WFormat::W24_FP => w24::from_f32(w),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::store_depth;
    use r500_isa::state::UsWFmt;
    use r500_isa::values::{WFormat, WSource};

    fn stored(format: WFormat, w: f32) -> u32 {
        let fmt = UsWFmt(0).with(UsWFmt::W_FMT, format);
        let code = store_depth(fmt, w);
        assert_eq!(store_depth(fmt.with(UsWFmt::W_SRC, WSource::RAS), w), code);
        code
    }

    const ODD: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5, 2.5, -0.0];

    #[test]
    fn w0_is_zero() {
        for w in [0.0, 0.5, 1.0].into_iter().chain(ODD) {
            assert_eq!(stored(WFormat::W0, w), 0);
            assert_eq!(stored(WFormat::new(3), w), 0);
        }
    }

    #[test]
    fn w24_is_fixed_point() {
        assert_eq!(stored(WFormat::W24, 0.0), 0);
        assert_eq!(stored(WFormat::W24, 1.0), 0xff_ffff);
        // 16777215 / 2 = 8388607.5, a tie: 8388608 is even. A quarter is 4194303.75.
        assert_eq!(stored(WFormat::W24, 0.5), 0x80_0000);
        assert_eq!(stored(WFormat::W24, 0.25), 0x40_0000);
        // 3/4: 12582911.25.
        assert_eq!(stored(WFormat::W24, 0.75), 0xbf_ffff);
        // The product with 2^-25 is just below one half.
        assert_eq!(stored(WFormat::W24, 2_f32.powi(-25)), 0);
        assert_eq!(stored(WFormat::W24, 2_f32.powi(-24)), 1);
        assert_eq!(ODD.map(|w| stored(WFormat::W24, w)), [0, 0xff_ffff, 0, 0, 0xff_ffff, 0]);
    }

    #[test]
    fn w24_fp_is_a_float() {
        assert_eq!(stored(WFormat::W24_FP, 0.0), 0);
        assert_eq!(stored(WFormat::W24_FP, 1.0), 0xf0_0000);
        // 0.75 = 1.5 * 2^-1: exponent code 14, half the mantissa.
        assert_eq!(stored(WFormat::W24_FP, 0.75), 0xe8_0000);
        assert_eq!(ODD.map(|w| stored(WFormat::W24_FP, w)), [0, 0xff_ffff, 0, 0, 0xff_ffff, 0]);
    }
}
