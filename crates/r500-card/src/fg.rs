//! `FG`: alpha test and alpha to mask, after the fragment program.

use r500_isa::state::{FgAlphaFunc, FgAlphaValue, FgDepthSrc};
use r500_isa::values::{AlphaFunc, DepthSrc};
use r500_numerics::codec::{fixed, half};
use r500_stream::State;

use crate::reading::{AlphaMask, Readings};

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
    Bits8(u8),
    Bits10(u16),
    Half(f32),
}

impl Fg {
    pub(crate) fn new(state: &State, readings: &Readings) -> Self {
        let func: FgAlphaFunc = state.registers.get();
        let value: FgAlphaValue = state.registers.get();
        let reference = if func.fp16_enable() {
            Reference::Half(half::to_f32(value.af_val()))
        } else if func.af_en_8bit() {
            Reference::Bits8(func.af_val())
        } else {
            Reference::Bits10(value.af_val() & 0x3ff)
        };
        let source: FgDepthSrc = state.registers.get();
        Self {
            test: func.af_en().then_some((func.af_func(), reference)),
            mask: func.am_en().then_some(readings.alpha_mask),
            depth_from_program: source.depth_src() == DepthSrc::SHADER,
        }
    }

    /// Returns the mask of samples of a fragment that pass. `pixel` is the position in the quad.
    pub(crate) fn samples(&self, alpha: f32, pixel: usize, count: usize) -> u8 {
        if let Some((func, reference)) = self.test
            && !passes(func, compare(alpha, reference))
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

fn compare(alpha: f32, reference: Reference) -> Option<std::cmp::Ordering> {
    match reference {
        Reference::Bits8(reference) => {
            Some(fixed::f32_to_unorm(alpha, 8).cmp(&u32::from(reference)))
        }
        Reference::Bits10(reference) => {
            Some(fixed::f32_to_unorm(alpha, 10).cmp(&u32::from(reference)))
        }
        Reference::Half(reference) => half::to_f32(half::from_f32(alpha)).partial_cmp(&reference),
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

    fn fg(func: u32, value: u32) -> Fg {
        let mut state = State::default();
        state.registers.write(0x4bd4, func);
        state.registers.write(0x4be0, value);
        Fg::new(&state, &Readings::REFERENCE)
    }

    #[test]
    fn eight_bits_compare_as_bytes() {
        // Functions in the order of the documents, reference 128: of 127, 128 and 129.
        let expected = [0b000, 0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111];
        for (code, expected) in expected.into_iter().enumerate() {
            let fg = fg(1 << 12 | 1 << 11 | (code as u32) << 8 | 128, 0);
            let passed = [127, 128, 129].map(|byte| fg.samples(byte as f32 / 255.0, 0, 1) != 0);
            assert_eq!(passed, [0, 1, 2].map(|n| expected >> n & 1 != 0), "{code}");
        }
    }

    #[test]
    fn floats_compare_as_float16() {
        // Greater than 2.0.
        let fg = fg(1 << 28 | 1 << 11 | 4 << 8, 0x4000);
        assert_eq!([2.0, 2.5, f32::NAN].map(|x| fg.samples(x, 0, 1) != 0), [false, true, false]);
    }

    #[test]
    fn alpha_to_mask_keeps_its_share_of_samples() {
        let fg = fg(1 << 16, 0);
        for (alpha, kept) in [(0.0, 0), (0.25, 1), (0.5, 2), (0.9, 4), (1.0, 4)] {
            assert_eq!((fg.samples(alpha, 0, 4) & 15).count_ones(), kept, "{alpha}");
        }
    }
}
