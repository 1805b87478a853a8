//! Cost model.

use r500_check::Stats;
use r500_program::{Program, WindowError};

/// The cost of a program. The order of the fields is the order of comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Issue cycles of the longest path, by the model of [`Stats`]; 0 for an unstructured program.
    pub cycles: u64,
    /// Instruction slots.
    pub slots: u64,
    /// Temporaries: the highest index that is used, plus one.
    pub temporaries: u64,
    /// Instructions with the NOP bit.
    pub nops: u64,
}

impl Cost {
    /// Returns the cost of a program.
    ///
    /// # Errors
    /// [`WindowError`] if the code window contains no instruction that can run.
    pub fn of(program: &Program) -> Result<Self, WindowError> {
        let stats = Stats::of(program)?;
        Ok(Self {
            cycles: stats.cycles,
            slots: program.code.len() as u64,
            temporaries: stats.temporaries,
            nops: stats.nops,
        })
    }

    /// Returns whether no component exceeds that of `other`.
    #[must_use]
    pub fn no_worse_than(&self, other: &Self) -> bool {
        self.cycles <= other.cycles
            && self.slots <= other.slots
            && self.temporaries <= other.temporaries
            && self.nops <= other.nops
    }

    /// Returns the greater one of each component.
    #[must_use]
    pub fn most(&self, other: &Self) -> Self {
        Self {
            cycles: self.cycles.max(other.cycles),
            slots: self.slots.max(other.slots),
            temporaries: self.temporaries.max(other.temporaries),
            nops: self.nops.max(other.nops),
        }
    }

    /// Returns whether no component exceeds that of `other`, and one is less.
    #[must_use]
    pub fn improves(&self, other: &Self) -> bool {
        self.no_worse_than(other) && self != other
    }
}
