//! Fuel: the instruction limit, time limit and cancellation of a draw, checked by batch.

use r500_exec::{Draw, RunError};

/// The fuel of a batch: its remaining instructions.
pub struct Fuel<'a> {
    /// `None` for a run of vertices: it has a limit, but cannot be cancelled.
    draw: Option<&'a Draw<'a>>,
    limit: u64,
    pub(super) spent: u64,
    pub(super) pixel: [u32; 2],
}

/// Instructions between two checks of the clock, as in the reference engine.
const CLOCK: u64 = 1024;

impl<'a> Fuel<'a> {
    /// Returns the full limit of a draw, for the batch with this lower left pixel.
    #[must_use]
    pub fn new(draw: &'a Draw<'a>, pixel: [u32; 2]) -> Self {
        Self { draw: Some(draw), limit: draw.options.limits.instructions, spent: 0, pixel }
    }

    /// Returns fuel for a run of vertices, with a limit of instructions.
    #[must_use]
    pub fn limited(limit: u64) -> Self {
        Self { draw: None, limit, spent: 0, pixel: [0, 0] }
    }

    /// Returns the remaining instructions.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }

    /// Counts instructions, the first of which is at an address.
    ///
    /// # Errors
    /// [`RunError::Instructions`] if the limit is exceeded; the errors of [`check`](Self::check), which is
    /// called every 1024 instructions.
    #[inline(always)]
    pub fn consume(&mut self, instructions: u64, address: u32) -> Result<(), RunError> {
        let spent = self.spent.saturating_add(instructions);
        if self.spent / CLOCK != spent / CLOCK || self.spent == 0 {
            self.check()?;
        }
        self.spent = spent;
        if spent > self.limit {
            return Err(self.exceeded(address));
        }
        Ok(())
    }

    /// Checks the time limit and cancellation.
    ///
    /// # Errors
    /// [`RunError::Time`] and [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        self.draw.map_or(Ok(()), Draw::check)
    }

    /// Returns the error of a program that continues at an address without fuel.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn exceeded(&self, address: u32) -> RunError {
        RunError::Instructions { address, pixel: self.pixel, limit: self.limit }
    }
}
