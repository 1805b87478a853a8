//! `FG`: alpha test and alpha to mask, after the fragment program.

use r500_isa::state::{FgAlphaFunc, FgAlphaValue, FgDepthSrc, UsOutFmt};
use r500_isa::values::{AlphaFunc, DepthSrc, OutFormat, OutSel};
use r500_numerics::codec::{fixed, half};
use r500_stream::State;

use crate::reading::{AlphaMask, AlphaTest, Readings};

/// State of the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fg {
    test: Option<(AlphaFunc, Reference)>,
    /// Alpha to mask: converts alpha to a sample mask.
    mask: Option<AlphaMask>,
    /// Whether depth comes from the fragment program.
    pub(crate) depth_from_program: bool,
}

/// The reference value for alpha, in the format of the comparison.
#[derive(Clone, Copy, Debug)]
enum Reference {
    /// Code and bits of a fixed-point number.
    Fixed(u32, u32, FixedAlpha),
    Half(f32),
}

/// The bits of a fragment that the test of 8 or 10 bits compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FixedAlpha {
    /// The program's alpha, rounded.
    Program,
    /// A component of a pixel with four components of up to 10 bits: its channel and sign.
    Component { channel: usize, signed: bool },
    /// The upper bits of the first dword of a pixel with larger components.
    Dword(UpperBits),
}

/// What the upper half of the first dword of a pixel holds. A component is a channel of the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpperBits {
    /// Nothing: the pixel is shorter.
    Zero,
    Unorm16(usize),
    Snorm16(usize),
    Half(usize),
    /// A float that fills the dword.
    Float(usize),
}

impl FixedAlpha {
    fn new(out_fmt: UsOutFmt, reading: AlphaTest) -> Self {
        use OutFormat as F;
        let selects = [out_fmt.c0_sel(), out_fmt.c1_sel(), out_fmt.c2_sel(), out_fmt.c3_sel()];
        let channel = |component: usize| match selects[component] {
            OutSel::R => 0,
            OutSel::G => 1,
            OutSel::B => 2,
            _ => 3,
        };
        let signed = |component: u8| out_fmt.out_sign() >> component & 1 != 0;
        match (reading, out_fmt.out_fmt()) {
            (AlphaTest::Alpha, _) | (_, F::UNUSED) => Self::Program,
            (_, F::C_16 | F::C_16_MPEG | F::C_16_FP) => Self::Dword(UpperBits::Zero),
            (_, F::C2_16 | F::C2_16_MPEG | F::C4_16) => Self::Dword(match signed(1) {
                false => UpperBits::Unorm16(channel(1)),
                true => UpperBits::Snorm16(channel(1)),
            }),
            (_, F::C2_16_FP | F::C4_16_FP) => Self::Dword(UpperBits::Half(channel(1))),
            (_, F::C_32_FP | F::C2_32_FP | F::C4_32_FP) => {
                Self::Dword(UpperBits::Float(channel(0)))
            }
            (_, F::C4_8 | F::C4_10 | F::C4_10_GAMMA) => {
                Self::Component { channel: channel(3), signed: signed(3) }
            }
            // Drivers do not use the packed formats.
            _ => Self::Program,
        }
    }

    /// Returns the compared code of `bits` bits, at most 10.
    fn code(self, color: [f32; 4], bits: u32) -> u32 {
        let ones = u32::MAX >> (32 - bits);
        match self {
            Self::Program => fixed::f32_to_unorm(color[3], bits),
            Self::Component { channel, signed: false } => fixed::f32_to_unorm(color[channel], bits),
            Self::Component { channel, signed: true } => {
                fixed::f32_to_snorm(color[channel], bits) & ones
            }
            Self::Dword(upper) => {
                let dword = match upper {
                    UpperBits::Zero => 0,
                    UpperBits::Unorm16(channel) => fixed::f32_to_unorm(color[channel], 16) << 16,
                    UpperBits::Snorm16(channel) => fixed::f32_to_snorm(color[channel], 16) << 16,
                    UpperBits::Half(channel) => u32::from(half::from_f32(color[channel])) << 16,
                    UpperBits::Float(channel) => color[channel].to_bits(),
                };
                dword >> (32 - bits)
            }
        }
    }
}

impl Fg {
    pub(crate) fn new(state: &State, readings: &Readings) -> Self {
        let func: FgAlphaFunc = state.registers.get();
        let value: FgAlphaValue = state.registers.get();
        // Several targets: the colour of the first is tested.
        let compared = FixedAlpha::new(state.registers.get(), readings.alpha_test);
        let reference = if func.fp16_enable() {
            Reference::Half(half::to_f32(value.af_val()))
        } else if func.af_en_8bit() {
            Reference::Fixed(func.af_val().into(), 8, compared)
        } else {
            Reference::Fixed((value.af_val() & 0x3ff).into(), 10, compared)
        };
        let source: FgDepthSrc = state.registers.get();
        Self {
            test: func.af_en().then_some((func.af_func(), reference)),
            mask: func.am_en().then_some(readings.alpha_mask),
            depth_from_program: source.depth_src() == DepthSrc::SHADER,
        }
    }

    /// Returns whether samples may fail.
    pub(crate) fn tests(&self) -> bool {
        self.test.is_some() || self.mask.is_some()
    }

    /// Returns the mask of samples of a fragment that pass. `color` is the program's colour A, `pixel` the position in the
    /// quad.
    pub(crate) fn samples(&self, color: [f32; 4], pixel: usize, count: usize) -> u8 {
        let alpha = color[3];
        if let Some((func, reference)) = self.test
            && !passes(func, compare(color, reference))
        {
            return 0;
        }
        match self.mask {
            None => u8::MAX,
            // Without multisampling, alpha to mask has no effect.
            Some(_) if count == 1 => u8::MAX,
            Some(reading) => alpha_mask(alpha, reading, pixel, count),
        }
    }
}

fn compare(color: [f32; 4], reference: Reference) -> Option<std::cmp::Ordering> {
    match reference {
        Reference::Fixed(reference, bits, alpha) => Some(alpha.code(color, bits).cmp(&reference)),
        // Open for other outputs than float16; drivers use it for four components of float16.
        Reference::Half(reference) => {
            half::to_f32(half::from_f32(color[3])).partial_cmp(&reference)
        }
    }
}

/// Returns whether a comparison holds; NaN is neither less, equal nor greater.
fn passes(func: AlphaFunc, order: Option<std::cmp::Ordering>) -> bool {
    match func {
        AlphaFunc::NEVER => false,
        AlphaFunc::LESS => order.is_some_and(std::cmp::Ordering::is_lt),
        AlphaFunc::EQUAL => order.is_some_and(std::cmp::Ordering::is_eq),
        AlphaFunc::LE => order.is_some_and(std::cmp::Ordering::is_le),
        AlphaFunc::GREATER => order.is_some_and(std::cmp::Ordering::is_gt),
        AlphaFunc::NOTEQUAL => !order.is_some_and(std::cmp::Ordering::is_eq),
        AlphaFunc::GE => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => true,
    }
}

fn alpha_mask(alpha: f32, reading: AlphaMask, pixel: usize, count: usize) -> u8 {
    let kept =
        (f64::from(r500_numerics::Arith::REFERENCE.clamp01(alpha)) * count as f64).round() as usize;
    let first = match reading {
        AlphaMask::Lowest => 0,
        AlphaMask::Rotated => pixel,
    };
    (0..kept).fold(0, |mask, n| mask | 1 << ((first + n) % count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: fn(f32) -> [f32; 4] = |alpha| [1.0, 1.0, 1.0, alpha];

    fn fg_for(out_fmt: u32, func: u32, value: u32, readings: &Readings) -> Fg {
        let mut state = State::default();
        state.registers.write(0x46a4, out_fmt);
        state.registers.write(0x4bd4, func);
        state.registers.write(0x4be0, value);
        Fg::new(&state, readings)
    }

    /// Eight bits a component in the order B, G, R, A.
    fn fg(func: u32, value: u32) -> Fg {
        fg_for(BGRA, func, value, &Readings::REFERENCE)
    }

    const BGRA: u32 = 3 << 8 | 2 << 10 | 1 << 12;
    const RGBA: u32 = 1 << 8 | 2 << 10 | 3 << 12;

    #[test]
    fn eight_bits_compare_as_bytes() {
        // Functions in the order of the documents, reference 128: of 127, 128 and 129.
        let expected = [0b000, 0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111];
        for (code, expected) in expected.into_iter().enumerate() {
            let fg = fg(1 << 12 | 1 << 11 | (code as u32) << 8 | 128, 0);
            let passed =
                [127, 128, 129].map(|byte| fg.samples(ALPHA(byte as f32 / 255.0), 0, 1) != 0);
            assert_eq!(passed, [0, 1, 2].map(|n| expected >> n & 1 != 0), "{code}");
        }
    }

    #[test]
    fn floats_compare_as_float16() {
        // Greater than 2.0.
        let fg = fg(1 << 28 | 1 << 11 | 4 << 8, 0x4000);
        let passed = [2.0, 2.5, f32::NAN].map(|x| fg.samples(ALPHA(x), 0, 1) != 0);
        assert_eq!(passed, [false, true, false]);
    }

    /// The tests that piglit's fbo-alphatest-formats draws in white with an alpha, as the driver sets them up: functions by
    /// their code, alpha, reference, and whether OpenGL draws. Returns whether the results are OpenGL's.
    fn alphatest_formats_passes(out_fmt: u32, float16: bool, reading: AlphaTest) -> bool {
        const TESTS: [(u32, f32, f32, bool); 8] = [
            (1, 0.2, 0.25, true),
            (3, 0.96, 0.92, false),
            (4, 0.6, 0.55, true),
            (4, 0.9, 0.1, true),
            (6, 0.35, 0.4, false),
            (2, 0.4, 0.4, true),
            (5, 0.8, 0.8, false),
            (0, 0.3, 1.0, false),
        ];
        TESTS.into_iter().all(|(code, alpha, reference, drawn)| {
            let bits = (reference * 255.0).round() as u32;
            let func = 1 << 11 | code << 8 | bits | if float16 { 1 << 28 } else { 1 << 12 };
            let value = half::from_f32(reference).into();
            let readings = Readings { alpha_test: reading, ..Readings::REFERENCE };
            let fg = fg_for(out_fmt, func, value, &readings);
            (fg.samples(ALPHA(alpha), 0, 1) != 0) == drawn
        })
    }

    #[test]
    fn alpha_tests_fail_for_the_formats_for_which_they_fail_on_cards() {
        const SIGNED: u32 = 15 << 16;
        const LA: u32 = 1 << 8;
        // US_OUT_FMT as Mesa's driver writes it, and the result in the lists of an RV515 and an RV530 (Mesa 22.3 and 24.0).
        for (name, out_fmt, passes) in [
            ("RGBA8, RGB8, RGB5_A1, RGBA4", BGRA, true),
            ("R8, LUMINANCE8, INTENSITY8", 1 << 12, true),
            ("RG8", 2 << 8 | 1 << 12, true),
            ("LUMINANCE8_ALPHA8", 1 << 12, true),
            ("RGB10_A2", 1 | BGRA, true),
            ("R16, LUMINANCE12, LUMINANCE16, INTENSITY12, INTENSITY16", 3 | RGBA, false),
            ("RG16", 4 | RGBA, false),
            ("LUMINANCE12_ALPHA12, LUMINANCE16_ALPHA16", 4 | LA, true),
            ("RGB12, RGB16, RGBA12, RGBA16", 5 | RGBA, false),
            ("R16F, LUMINANCE16F, INTENSITY16F", 16 | RGBA, false),
            ("RG16F", 17 | RGBA, false),
            ("LUMINANCE_ALPHA16F", 17 | LA, false),
            ("R32F, LUMINANCE32F, INTENSITY32F", 19 | RGBA, false),
            ("RG32F", 20 | 1 << 8 | 2 << 12, false),
            ("LUMINANCE_ALPHA32F", 20 | LA, false),
            ("RGB32F, RGBA32F", 21 | RGBA, false),
            ("R8_SNORM, LUMINANCE8_SNORM, INTENSITY8_SNORM", SIGNED | 1 << 12, false),
            ("RG8_SNORM", SIGNED | 2 << 8 | 1 << 12, false),
            ("RGB8_SNORM, RGBA8_SNORM", SIGNED | RGBA, false),
            ("R16_SNORM, LUMINANCE16_SNORM, INTENSITY16_SNORM", SIGNED | 3 | RGBA, false),
            ("RG16_SNORM", SIGNED | 4 | RGBA, false),
            ("LUMINANCE16_ALPHA16_SNORM", SIGNED | 4 | LA, false),
            ("RGB16_SNORM, RGBA16_SNORM", SIGNED | 5 | RGBA, false),
        ] {
            let result = alphatest_formats_passes(out_fmt, false, AlphaTest::Packed);
            assert_eq!(result, passes, "{name}");
            assert!(alphatest_formats_passes(out_fmt, false, AlphaTest::Alpha), "{name}");
        }
        // RGB16F and RGBA16F.
        assert!(alphatest_formats_passes(18 | RGBA, true, AlphaTest::Packed));
    }

    #[test]
    fn alpha_to_mask_keeps_its_share_of_samples() {
        let fg = fg(1 << 16, 0);
        for (alpha, kept) in [(0.0, 0), (0.25, 1), (0.5, 2), (0.9, 4), (1.0, 4)] {
            assert_eq!((fg.samples(ALPHA(alpha), 0, 4) & 15).count_ones(), kept, "{alpha}");
        }
    }
}
