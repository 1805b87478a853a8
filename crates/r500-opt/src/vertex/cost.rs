//! Cost model of vertex programs.

use r500_pvs::{Addressing, DstType, Instruction, Op, SrcType};

/// The cost of a program. The order of the fields is the order of comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Instructions.
    pub instructions: usize,
    /// Clocks of all instructions, each executed once: macros take two.
    pub clocks: usize,
    /// Temporaries: the highest number that is named, plus one.
    pub temporaries: usize,
    /// Alternate temporaries, likewise. They may be more than in the original: second operations write them.
    pub alternates: usize,
}

impl Cost {
    /// Returns the cost of instructions.
    #[must_use]
    pub fn of(code: &[Instruction]) -> Self {
        let macros = code.iter().filter(|inst| matches!(inst.op(), Op::Macro(_))).count();
        let (mut temporaries, mut alternates) = (0, 0);
        for inst in code {
            let dst = inst.dst();
            let written = dst.write_mask() != [false; 4];
            match dst.reg_type() {
                DstType::TEMPORARY if written => {
                    temporaries = temporaries.max(usize::from(dst.offset()) + 1)
                }
                DstType::ALT_TEMPORARY if written => {
                    alternates = alternates.max(usize::from(dst.offset()) + 1)
                }
                _ => {}
            }
            if let Some(dual) = inst.dual_math() {
                alternates = alternates.max(usize::from(dual.dst_offset()) + 1);
            }
            for src in inst.read_sources().into_iter().flatten() {
                let is_read = src.swizzle().iter().any(|swizzle| swizzle.code() < 4);
                if !is_read || src.addressing() != Addressing::Absolute {
                    continue;
                }
                match src.reg_type() {
                    SrcType::TEMPORARY => {
                        temporaries = temporaries.max(usize::from(src.offset()) + 1)
                    }
                    SrcType::ALT_TEMPORARY => {
                        alternates = alternates.max(usize::from(src.offset()) + 1)
                    }
                    _ => {}
                }
            }
        }
        Self { instructions: code.len(), clocks: code.len() + macros, temporaries, alternates }
    }

    /// Returns whether it has no more instructions, clocks or temporaries than `other`.
    #[must_use]
    pub fn no_worse_than(&self, other: &Self) -> bool {
        self.instructions <= other.instructions
            && self.clocks <= other.clocks
            && self.temporaries <= other.temporaries
    }

    /// Returns whether it is [no worse](Self::no_worse_than) than `other`, and less in one of them.
    #[must_use]
    pub fn improves(&self, other: &Self) -> bool {
        let of = |cost: &Self| (cost.instructions, cost.clocks, cost.temporaries);
        self.no_worse_than(other) && of(self) != of(other)
    }
}
