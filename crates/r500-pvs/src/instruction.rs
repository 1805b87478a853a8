//! Vertex instructions: views of four dwords.

use r500_chip::pvs::{Dst, DualMath, Op, Src, Swizzle};

/// A vertex instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Instruction(pub [u32; 4]);

impl Instruction {
    /// Returns the operation and the destination.
    #[must_use]
    pub const fn dst(self) -> Dst {
        Dst(self.0[0])
    }

    /// Returns the three sources; the third is a second instruction if [`Instruction::dual_math`] is `Some`.
    #[must_use]
    pub const fn sources(self) -> [Src; 3] {
        [Src(self.0[1]), Src(self.0[2]), Src(self.0[3])]
    }

    /// Returns the second instruction of a dual instruction.
    #[must_use]
    pub fn dual_math(self) -> Option<DualMath> {
        self.dst().dual_math_op().then_some(DualMath(self.0[3]))
    }

    /// Returns the operation.
    #[must_use]
    pub fn op(self) -> Op {
        self.dst().op()
    }

    /// Returns the sources that the instruction reads, including that of its second operation.
    #[must_use]
    pub fn read_sources(self) -> [Option<Src>; 3] {
        let count = self.op().sources();
        let [a, b, c] = self.sources();
        let first = |n: usize, src| (count > n).then_some(src);
        match (self.dual_math(), self.op()) {
            (Some(dual), _) => [first(0, a), first(1, b), Some(dual.source())],
            // The second source of a power is not read.
            (None, Op::Math(_)) if count == 3 => [Some(a), None, Some(c)],
            (None, _) => [first(0, a), first(1, b), first(2, c)],
        }
    }
}

/// Returns whether some component of a source selects the register.
pub(crate) fn reads_register(src: &Src) -> bool {
    src.swizzle().iter().any(|swizzle| !matches!(*swizzle, Swizzle::ZERO | Swizzle::ONE))
}
