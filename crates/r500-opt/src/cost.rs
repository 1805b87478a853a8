//! What a program costs: the numbers that a result must not make worse.

use r500_check::Stats;
use r500_program::{Program, WindowError};

/// The cost of a program, in the order in which costs are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Issue cycles of the longest path, by the model of [`Stats`]; 0 where the program is not structured.
    pub cycles: u64,
    /// Instruction slots.
    pub slots: u64,
    /// Temporaries: one more than the highest that is used.
    pub temporaries: u64,
    /// Instructions with NOP.
    pub nops: u64,
}

impl Cost {
    /// Returns the cost of a program.
    ///
    /// # Errors
    /// [`WindowError`] where nothing can run.
    pub fn of(program: &Program) -> Result<Self, WindowError> {
        let stats = Stats::of(program)?;
        Ok(Self {
            cycles: stats.cycles,
            slots: program.code.len() as u64,
            temporaries: stats.temporaries,
            nops: stats.nops,
        })
    }

    /// Returns whether this is worse than `other` in none of the numbers.
    #[must_use]
    pub fn no_worse_than(&self, other: &Self) -> bool {
        self.cycles <= other.cycles
            && self.slots <= other.slots
            && self.temporaries <= other.temporaries
            && self.nops <= other.nops
    }

    /// Returns whether this is worse than `other` in none of the numbers, and better in one.
    #[must_use]
    pub fn improves(&self, other: &Self) -> bool {
        self.no_worse_than(other) && self != other
    }
}
