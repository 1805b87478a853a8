//! The code window: the instructions that can run, the start and the end of the program.
//!
//! It is defined by `US_CODE_OFFSET`, `US_CODE_RANGE` and `US_CODE_ADDR`.

use core::fmt;

use crate::Program;

/// The instructions that can run, as indices into [`Program::code`].
///
/// A register that is not given defaults to all instructions of the program, from the first to the
/// last. Absolute address = index + `US_CODE_OFFSET` (documented).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeWindow {
    /// `US_CODE_OFFSET`: absolute address of instruction 0.
    pub offset: u32,
    /// First index that can run.
    pub first: usize,
    /// Last index that can run.
    pub last: usize,
    /// Index of the first executed instruction.
    pub start: usize,
    /// Index of the last instruction of the program; `None` if `END_ADDR` names none that can run.
    pub end: Option<usize>,
    /// Absolute address of `END_ADDR`.
    pub end_address: u32,
}

/// The reason why no instruction can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowError {
    /// There are no instructions.
    Empty,
    /// `US_CODE_RANGE` and the given instructions have no address in common.
    EmptyWindow {
        /// First absolute address of the window.
        first: u32,
        /// Last absolute address of the window.
        last: u32,
        /// `US_CODE_OFFSET`.
        offset: u32,
    },
    /// The program would start outside the window.
    StartOutside {
        /// Absolute address of the start.
        start: u32,
        /// First absolute address that can run.
        first: u32,
        /// Last absolute address that can run.
        last: u32,
    },
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the program has no instructions"),
            Self::EmptyWindow { first, last, offset } => write!(
                f,
                "the code window {first}..={last} holds none of the instructions, which start at address {offset}"
            ),
            Self::StartOutside { start, first, last } => write!(
                f,
                "the program starts at address {start}, outside the instructions that can run ({first}..={last})"
            ),
        }
    }
}

impl core::error::Error for WindowError {}

impl CodeWindow {
    /// Computes the window of a program.
    ///
    /// # Errors
    /// [`WindowError`] if no instruction can run.
    pub fn of(program: &Program) -> Result<Self, WindowError> {
        let state = &program.state;
        let Some(last) = program.code.len().checked_sub(1) else { return Err(WindowError::Empty) };
        let last = u32::try_from(last).unwrap_or(u32::MAX / 2);
        let base = state.base_address();
        let offset = u32::from(base);
        let given = (offset, offset + last);
        let window = state.code_range.map_or(given, |range| {
            let first = u32::from(range.code_addr());
            (first, first + u32::from(range.code_size()))
        });
        let (first, last) = (given.0.max(window.0), given.1.min(window.1));
        if first > last {
            return Err(WindowError::EmptyWindow { first: window.0, last: window.1, offset });
        }
        let (start, end) =
            state.code_addr.map_or(given, |addr| addr.absolute(base).map(u32::from).into());
        let inside = first..=last;
        if !inside.contains(&start) {
            return Err(WindowError::StartOutside { start, first, last });
        }
        let index = |address: u32| (address - offset) as usize;
        Ok(Self {
            offset,
            first: index(first),
            last: index(last),
            start: index(start),
            end: inside.contains(&end).then(|| index(end)),
            end_address: end,
        })
    }

    /// Returns the index of an absolute address, if the instruction there can run.
    #[must_use]
    pub fn index(&self, address: u32) -> Option<usize> {
        let index = address.checked_sub(self.offset)? as usize;
        (self.first..=self.last).contains(&index).then_some(index)
    }

    /// Returns the first and the last absolute address that can run.
    #[must_use]
    pub fn addresses(&self) -> (u32, u32) {
        (self.address(self.first), self.address(self.last))
    }

    /// Returns the absolute address of an index.
    #[must_use]
    pub fn address(&self, index: usize) -> u32 {
        self.offset + u32::try_from(index).unwrap_or(u32::MAX / 2)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::vec;

    use r500_isa::Instruction;
    use r500_isa::state::{UsCodeAddr, UsCodeOffset, UsCodeRange};

    use super::*;

    fn program(count: usize, offset: u16, range: (u16, u16), addr: (u16, u16)) -> Program {
        let mut program = Program::from_code(vec![Instruction::default(); count]);
        let state = &mut program.state;
        state.code_offset = Some(UsCodeOffset(0).with(UsCodeOffset::OFFSET_ADDR, offset));
        state.code_range = Some(
            UsCodeRange(0)
                .with(UsCodeRange::CODE_ADDR, range.0)
                .with(UsCodeRange::CODE_SIZE, range.1),
        );
        state.code_addr = Some(
            UsCodeAddr(0).with(UsCodeAddr::START_ADDR, addr.0).with(UsCodeAddr::END_ADDR, addr.1),
        );
        program
    }

    #[test]
    fn addresses_are_relative_to_the_offset() {
        // Ten instructions at 100; the window is 102..=105; start 103, end 105.
        let window = CodeWindow::of(&program(10, 100, (102, 3), (3, 5))).unwrap();
        assert_eq!(
            window,
            CodeWindow { offset: 100, first: 2, last: 5, start: 3, end: Some(5), end_address: 105 }
        );
        assert_eq!(
            (window.index(102), window.index(101), window.index(106)),
            (Some(2), None, None)
        );
        assert_eq!(window.address(3), 103);
        assert_eq!(window.addresses(), (102, 105));
    }

    #[test]
    fn empty_programs_and_windows_are_rejected() {
        assert_eq!(CodeWindow::of(&Program::default()), Err(WindowError::Empty));
        let outside = CodeWindow::of(&program(2, 10, (0, 9), (0, 1)));
        assert_eq!(outside, Err(WindowError::EmptyWindow { first: 0, last: 9, offset: 10 }));
        let start = CodeWindow::of(&program(2, 0, (0, 1), (2, 1)));
        assert_eq!(start, Err(WindowError::StartOutside { start: 2, first: 0, last: 1 }));
        assert_eq!(CodeWindow::of(&program(2, 0, (0, 1), (0, 2))).unwrap().end, None);
    }
}
