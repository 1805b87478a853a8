//! Who pays for instructions that machine code executes.
//!
//! Code gets fuel for each group of pixels. When it has used that up it asks for more, and the budget
//! says whether there is any.

use r500_exec::RunError;
use r500_fast::codegen::Fuel;

/// Instructions after which code that counts has to ask: some milliseconds at most.
const GRANT: u64 = 10_000;

/// Fuel for code that may execute so many instructions.
pub(crate) fn grant(left: u64) -> i64 {
    left.min(GRANT).try_into().unwrap_or(i64::MAX)
}

/// A budget that code asks for fuel.
pub(crate) struct FuelMeter<'m> {
    fuel: Option<&'m Fuel<'m>>,
    /// What each group of pixels begins with.
    grant: i64,
    stopped: Option<RunError>,
}

impl<'m> FuelMeter<'m> {
    pub(crate) fn new(fuel: Option<&'m Fuel<'m>>, grant: i64) -> Self {
        Self { fuel, grant, stopped: None }
    }

    /// Whether code had to stop.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The fuel to continue with, for a group that has so much left (less than 0) and was given so much
    /// beyond its grant; `None` if there is none, and why is noted. Does nothing that could panic.
    pub(crate) fn refill(&mut self, left: i64, added: i64, address: u32) -> Option<i64> {
        let Some(fuel) = self.fuel else { return Some(i64::MAX) };
        let used = self.used(added.saturating_sub(left));
        let result = match used > fuel.left() {
            true => Err(fuel.exceeded(address)),
            false => fuel.check(),
        };
        match result {
            Ok(()) => Some(grant(fuel.left() - used)),
            Err(error) => {
                self.stopped = Some(error);
                None
            }
        }
    }

    /// Instructions of the group that executed most, by what it used beyond its grant.
    ///
    /// # Errors
    /// Why code had to stop.
    pub(crate) fn finish(self, most: i64) -> Result<u64, RunError> {
        let used = self.used(most);
        match self.stopped {
            Some(error) => Err(error),
            None => Ok(used),
        }
    }

    fn used(&self, beyond: i64) -> u64 {
        u64::try_from(self.grant.saturating_add(beyond)).unwrap_or(0)
    }
}
