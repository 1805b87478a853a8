//! Comparisons of programs with the evaluator: numbers for them, when two results are the same, and what is reported if they are not.

use std::fmt;

use r500_glsl::Diagnostic;
use r500_glsl::tree::Shader;
use r500_glsl::types::Base;

/// Returns the error in place of a program that is wrong, which is not given.
pub(crate) fn wrong_program(shader: &Shader, mismatch: &dyn fmt::Display) -> Diagnostic {
    let message = format!("the compiler made a wrong program: {mismatch}");
    let error = Diagnostic::error(shader.functions[shader.main].span, message);
    error.help("this is an error of r500, not of the shader; please report it")
}

/// Returns whether results are the same: zeros of both signs are, and NaNs; tiny numbers are written as zeros.
pub(crate) fn same(a: f32, b: f32) -> bool {
    let flat = |value: f32| if value.is_subnormal() { 0.0 } else { value };
    a.to_bits() == b.to_bits() || flat(a) == flat(b) || a.is_nan() && b.is_nan()
}

/// Xorshift with a multiplication (Vigna 2016).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// A number as shaders get them, sometimes one that is special.
    pub(crate) fn number(&mut self) -> f32 {
        const SPECIAL: [f32; 8] = [0.0, 1.0, -1.0, 0.5, 2.0, 100.0, -3.5, 1.0e-3];
        match self.below(6) {
            0 => SPECIAL[self.below(SPECIAL.len() as u64) as usize],
            1 => (self.unit() - 0.5) * 20.0,
            2 => self.unit() * 2.0 - 1.0,
            _ => self.unit(),
        }
    }

    /// A value of a uniform.
    pub(crate) fn uniform(&mut self, base: Base) -> f32 {
        match base {
            Base::Float => self.number(),
            Base::Int => self.below(9) as f32 - 2.0,
            Base::Bool => self.below(2) as f32,
        }
    }
}
