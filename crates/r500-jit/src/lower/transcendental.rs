//! Transcendental functions: the code generator as a builder of the [kernels](r500_numerics::branchless).

use r500_numerics::branchless::{self, KernelBuilder};

use super::Lower;
use crate::lir::{Opcode, Relation, Rounding, VReg};

impl Lower<'_> {
    /// 2^x: the [kernel](branchless::ex2), without special cases if x is none.
    pub(super) fn power_of_two(&mut self, x: VReg, is_exponent: bool) -> VReg {
        let power = match is_exponent {
            _ if self.caps.fixups => self.scaled_power_of_two(x),
            true => branchless::ex2_of_exponent(self, x),
            false => branchless::ex2(self, x),
        };
        self.function.magnitude_bounds.insert(power, -126);
        power
    }

    /// The logarithm of x to base 2: the [kernel](branchless::ln2), without special cases if x is none.
    pub(super) fn logarithm(&mut self, x: VReg, is_positive: bool) -> VReg {
        if is_positive { branchless::ln2_of_positive(self, x) } else { branchless::ln2(self, x) }
    }

    /// 2^x with AVX-512: the kernel's polynomial and an instruction that scales.
    ///
    /// The bits are the same: the remainder is the kernel's (exact, of the same integer), and `p * 2^n` of the polynomial p
    /// is exact where it is normal, tiny (so flushed to +0) where x is less than -126, and infinite where x is 128 or more.
    /// An infinite x has the remainder 0; a NaN is its own result.
    fn scaled_power_of_two(&mut self, x: VReg) -> VReg {
        let f = self.op(Opcode::Remainder, &[x]);
        // Exact, and sooner than rounding.
        let n = self.op(Opcode::Sub, &[x, f]);
        let p = branchless::ex2_polynomial(self, f);
        self.op(Opcode::Scale, &[p, n])
    }
}

/// What [`Opcode::FixUp`] gives for a class of numbers.
#[derive(Clone, Copy)]
enum Fix {
    /// The first operand.
    Keep = 0,
    /// The number itself, a NaN, which becomes quiet.
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
