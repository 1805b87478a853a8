//! Transcendental functions: lowering as a builder of the [kernels](r500_numerics::branchless).

use r500_numerics::branchless::{self, KernelBuilder};
use r500_numerics::kernels::SINE;

use super::Lower;
use crate::{Opcode, Relation, Rounding, VReg};

impl Lower<'_> {
    /// Emits 2^x: the [kernel](branchless::ex2), without the special cases if x is an exponent (`is_exponent`).
    pub(super) fn power_of_two(&mut self, x: VReg, is_exponent: bool) -> VReg {
        let power = match is_exponent {
            _ if self.caps.fixups => self.scaled_power_of_two(x),
            true => branchless::ex2_of_exponent(self, x),
            false => branchless::ex2(self, x),
        };
        self.function.magnitude_bounds.insert(power, -126);
        power
    }

    /// Emits the logarithm of x to base 2: the [kernel](branchless::ln2), without the special cases if x is positive.
    pub(super) fn logarithm(&mut self, x: VReg, is_positive: bool) -> VReg {
        if is_positive { branchless::ln2_of_positive(self, x) } else { branchless::ln2(self, x) }
    }

    /// Emits the sine of f turns, f from 0 to 1 or NaN: the [kernel](branchless::sin), with a range reduction that needs no rounding to
    /// integer.
    ///
    /// The kernel reduces f to w quarters of a turn. This reduction gives v = w/4 turns, the same bits except for the exponent: f up to
    /// 1/4, then 1/2 - f, then f - 1. The result is the median of the three. Only 1/2 - f for f less than 1/4 is rounded, and there it is
    /// not the median.
    pub(super) fn sine_of_fraction(&mut self, f: VReg) -> VReg {
        let (half, one) = (self.float(0.5), self.float(1.0));
        let down = self.op(Opcode::Sub, &[half, f]);
        let up = self.op(Opcode::Sub, &[f, one]);
        let v = self.op(Opcode::Min, &[f, down]);
        let v = self.op(Opcode::Max, &[v, up]);
        self.sine_of_turns(v)
    }

    /// Emits the cosine of f turns, f from 0 to 1 or NaN: the [kernel](branchless::cos), likewise. v is 1/4 - f up to one half, then f -
    /// 3/4: the maximum of the two.
    pub(super) fn cosine_of_fraction(&mut self, f: VReg) -> VReg {
        let (quarter, three) = (self.float(0.25), self.float(0.75));
        let down = self.op(Opcode::Sub, &[quarter, f]);
        let up = self.op(Opcode::Sub, &[f, three]);
        let v = self.op(Opcode::Max, &[down, up]);
        self.sine_of_turns(v)
    }

    /// Emits the sine of v turns, v from -1/4 to 1/4: the kernel's w + w * s, for w = 4v and the polynomial s at w^2.
    ///
    /// Powers of two factor out: the polynomial at v^2 is 4s, v * 4s is w * s, and 4v + w * s is rounded once. If the square is subnormal
    /// here but not in the kernel, it does not change the sum with the polynomial's constant term.
    fn sine_of_turns(&mut self, v: VReg) -> VReg {
        let square = self.op(Opcode::Mul, &[v, v]);
        let s = branchless::horner(self, &SINE_OF_TURNS, square);
        let product = self.op(Opcode::Mul, &[v, s]);
        let four = self.float(4.0);
        self.op(Opcode::MulAdd, &[v, four, product])
    }

    /// Emits 2^x with AVX-512: the kernel's polynomial and VSCALEFPS.
    ///
    /// The bits are the same: the remainder is the kernel's (exact, for the same integer), and `p * 2^n` for the polynomial p is exact if
    /// it is normal, subnormal (flushed to +0) if x is less than -126, and infinite if x is 128 or more. An infinite x has the remainder 0;
    /// a NaN gives itself.
    fn scaled_power_of_two(&mut self, x: VReg) -> VReg {
        let f = self.op(Opcode::Remainder, &[x]);
        // Exact, with a shorter latency than rounding.
        let n = self.op(Opcode::Sub, &[x, f]);
        let p = branchless::ex2_polynomial(self, f);
        self.op(Opcode::Scale, &[p, n])
    }
}

/// The coefficients of [`SINE`] for turns instead of quarters of a turn: `4s` of a square that is a sixteenth. All are scaled by powers of
/// two.
const SINE_OF_TURNS: [f32; SINE.len()] = {
    let mut coefficients = SINE;
    let (mut n, mut scale) = (0, 4.0);
    while n < coefficients.len() {
        coefficients[n] *= scale;
        scale *= 16.0;
        n += 1;
    }
    coefficients
};

/// The responses of [`Opcode::FixUp`] to a class of operands.
#[derive(Clone, Copy)]
enum Fix {
    /// The destination, unchanged.
    Keep = 0,
    /// The source operand, a NaN, made quiet.
    Quiet = 2,
    Nan = 3,
    MinusInfinity = 4,
    Infinity = 5,
}

impl KernelBuilder for Lower<'_> {
    type Value = VReg;
    type Mask = VReg;

    fn bits(&mut self, bits: u32) -> VReg {
        Lower::bits(self, bits)
    }

    fn add(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::Add, &[a, b])
    }

    fn sub(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::Sub, &[a, b])
    }

    fn mul(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::Mul, &[a, b])
    }

    fn min(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::Min, &[a, b])
    }

    fn max(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::Max, &[a, b])
    }

    fn rint(&mut self, a: VReg) -> VReg {
        self.op(Opcode::Round(Rounding::Nearest), &[a])
    }

    fn and(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::And, &[a, b])
    }

    fn or(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::Or, &[a, b])
    }

    fn int_add(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::IntAdd, &[a, b])
    }

    fn int_sub(&mut self, a: VReg, b: VReg) -> VReg {
        self.op(Opcode::IntSub, &[a, b])
    }

    fn exponent_from_int(&mut self, a: VReg) -> VReg {
        self.op(Opcode::Shl(23), &[a])
    }

    fn exponent_to_float(&mut self, a: VReg) -> VReg {
        let a = self.op(Opcode::Sar(23), &[a]);
        self.op(Opcode::ToFloat, &[a])
    }

    fn lt(&mut self, a: VReg, b: VReg) -> VReg {
        self.compare(Relation::Lt, a, b)
    }

    fn ge(&mut self, a: VReg, b: VReg) -> VReg {
        self.compare(Relation::Ge, a, b)
    }

    fn is_zero(&mut self, a: VReg) -> VReg {
        let zero = self.bits(0);
        self.compare(Relation::Eq, a, zero)
    }

    fn select(&mut self, mask: VReg, a: VReg, b: VReg) -> VReg {
        self.choose(mask, a, b)
    }

    fn ln2_of_special(&mut self, x: VReg, logarithm: VReg) -> VReg {
        if !self.caps.fixups {
            return branchless::ln2_of_special(self, x, logarithm);
        }
        // By class of x: quiet and signalling NaN; zero; one; -inf; +inf; other negative, other positive numbers.
        let table = [Fix::Quiet, Fix::Quiet, Fix::MinusInfinity, Fix::Keep, Fix::Nan]
            .into_iter()
            .chain([Fix::Infinity, Fix::Nan, Fix::Keep]);
        let bits =
            table.enumerate().fold(0, |bits, (class, fix)| bits | (fix as u32) << (4 * class));
        let table = self.bits(bits);
        self.op(Opcode::FixUp, &[logarithm, x, table])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_numerics::kernels;

    /// As the code computes it; `f32::mul_add` rounds once.
    fn sine_of_turns(v: f32) -> f32 {
        let square = flushed(v * v);
        let s = SINE_OF_TURNS.iter().rev().copied().reduce(|sum, c| flushed(sum * square) + c);
        v.mul_add(4.0, flushed(v * s.unwrap_or_default()))
    }

    fn flushed(x: f32) -> f32 {
        if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
    }

    fn min(a: f32, b: f32) -> f32 {
        if a < b { a } else { b }
    }

    fn max(a: f32, b: f32) -> f32 {
        if a > b { a } else { b }
    }

    #[test]
    fn sines_of_fractions_are_the_kernels() {
        // `R500_STEP=1` tests all values.
        let one = 1.0_f32.to_bits();
        let step = std::env::var("R500_STEP").ok().and_then(|step| step.parse().ok());
        let grid = (f32::MIN_POSITIVE.to_bits()..=one).step_by(step.unwrap_or(997));
        for bits in grid.chain([0, one - 1, one]) {
            let f = f32::from_bits(bits);
            let sine = sine_of_turns(max(min(f, 0.5 - f), f - 1.0));
            assert_eq!(sine.to_bits(), kernels::sin(f).to_bits(), "sine of {f:e}");
            let cosine = sine_of_turns(max(0.25 - f, f - 0.75));
            assert_eq!(cosine.to_bits(), kernels::cos(f).to_bits(), "cosine of {f:e}");
        }
    }
}
