//! Fuel: counting and limiting of the instructions that machine code executes.
//!
//! Code receives a grant of fuel for each group of pixels. When it is used up, the code asks for more, and the meter charges the fuel of
//! the draw.

use r500_exec::RunError;
use r500_fast::codegen::Fuel;

/// The grant, in instructions: code asks for more after some milliseconds at most.
const GRANT: u64 = 10_000;

/// Returns the grant if `left` instructions may still be executed.
pub(crate) fn grant(left: u64) -> i64 {
    left.min(GRANT).try_into().unwrap_or(i64::MAX)
}

/// Accounts for the fuel of a call of native code.
pub(crate) struct FuelMeter<'m> {
    fuel: Option<&'m Fuel<'m>>,
    /// The initial fuel of each group of pixels.
    grant: i64,
    stopped: Option<RunError>,
}

impl<'m> FuelMeter<'m> {
    pub(crate) fn new(fuel: Option<&'m Fuel<'m>>, grant: i64) -> Self {
        Self { fuel, grant, stopped: None }
    }

    /// Returns whether the code had to stop.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Returns the fuel to add for a group that has `left` (less than 0) and was given `added` beyond its grant; `None` if there is none,
    /// with the reason stored. Does not panic.
    pub(crate) fn refill(&mut self, left: i64, added: i64, address: u32) -> Option<i64> {
        let Some(fuel) = self.fuel else { return Some(i64::MAX.saturating_sub(left)) };
        let used = self.used(added.saturating_sub(left));
        let result = match used > fuel.remaining() {
            true => Err(fuel.exceeded(address)),
            false => fuel.check(),
        };
        match result {
            Ok(()) => Some(grant(fuel.remaining() - used).saturating_sub(left)),
            Err(error) => {
                self.stopped = Some(error);
                None
            }
        }
    }

    /// Returns the instructions of the group that executed most, given the maximum of its use beyond the grant.
    ///
    /// # Errors
    /// The reason why the code had to stop.
    pub(crate) fn finish(self, most: i64) -> Result<u64, RunError> {
        let used = self.used(most);
        match self.stopped {
            Some(error) => Err(error),
            None => Ok(used),
        }
    }

    fn used(&self, beyond: i64) -> u64 {
        // `i64::MIN` if no group executed.
        self.grant.saturating_add(beyond).max(0).cast_unsigned()
    }
}
