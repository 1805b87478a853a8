//! Fuel: the limits of a draw, as a batch meets them.

use r500_exec::{Draw, RunError};

/// The fuel of a batch: the instructions that it may still execute.
pub struct Fuel<'a> {
    draw: &'a Draw<'a>,
    pub(super) spent: u64,
    pub(super) pixel: [u32; 2],
}

/// Instructions between two readings of the clock, as in the reference engine.
const CLOCK: u64 = 1024;

impl<'a> Fuel<'a> {
    /// All of a drawing's limit, for the batch whose lower left pixel is given.
    #[must_use]
    pub fn new(draw: &'a Draw<'a>, pixel: [u32; 2]) -> Self {
        Self { draw, spent: 0, pixel }
    }

    /// Instructions left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.draw.options.limits.instructions.saturating_sub(self.spent)
    }

    /// Counts instructions that begin at an address.
    ///
    /// # Errors
    /// [`RunError::Instructions`] if these were too many; what [`check`](Self::check) says, which is
    /// asked now and then.
    #[inline(always)]
    pub fn consume(&mut self, instructions: u64, address: u32) -> Result<(), RunError> {
        let spent = self.spent.saturating_add(instructions);
        if self.spent / CLOCK != spent / CLOCK || self.spent == 0 {
            self.check()?;
        }
        self.spent = spent;
        if spent > self.draw.options.limits.instructions {
            return Err(self.exceeded(address));
        }
        Ok(())
    }

    /// Checks the time limit and cancellation.
    ///
    /// # Errors
    /// [`RunError::Time`] and [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        self.draw.check()
    }

    /// The error of a program that continues at an address without fuel.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn exceeded(&self, address: u32) -> RunError {
        let limit = self.draw.options.limits.instructions;
        RunError::Instructions { address, pixel: self.pixel, limit }
    }
}
