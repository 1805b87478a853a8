//! Machine code as a step of the fast engine.

use std::io;

use r500_exec::RunError;
use r500_exec::native::{Budget, Chunk, Kernel, Segment};

use crate::compile::{Assembly, Level};
use crate::pages::Pages;

/// The machine code of a segment.
#[derive(Debug)]
pub(crate) struct Machine {
    pages: Pages,
    metered: bool,
}

impl Machine {
    /// Code ready to run.
    ///
    /// # Errors
    /// What the system says of executable memory.
    pub(crate) fn new(
        assembly: &Assembly,
        segment: &Segment<'_>,
        level: Level,
    ) -> io::Result<Self> {
        let pages = Pages::new(assembly, segment, level)?;
        Ok(Self { pages, metered: segment.metered })
    }

    /// Bytes of code.
    pub(crate) fn size(&self) -> usize {
        self.pages.code().len()
    }

    /// Where the code is.
    pub(crate) fn code(&self) -> &[u8] {
        self.pages.code()
    }
}

impl Kernel for Machine {
    fn run(
        &self,
        slots: &mut [Chunk],
        run: (usize, usize),
        budget: &mut Budget<'_>,
    ) -> Result<(), RunError> {
        if !self.metered {
            return self.pages.call(slots, run, None).map(|_| ());
        }
        // A batch is charged for the pixels that execute most.
        let (instructions, address) = self.pages.call(slots, run, Some(budget))?;
        budget.spend(instructions, address)
    }
}
