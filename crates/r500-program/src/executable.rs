//! The part of a program that flow control and register addresses depend on.

use r500_isa::state::{UsFcBoolConst, UsFcIntConst};
use r500_isa::{INT_CONSTANTS, Instruction};

use crate::{CodeWindow, Program, WindowError};

/// The part of a program that decides which instructions run and which registers they name: no
/// floats, inputs or textures.
///
/// It comes from a [`Program`], or from what an engine decoded a program to.
#[derive(Clone, Copy, Debug)]
pub struct Executable<'a> {
    /// The instructions, from the one at `US_CODE_OFFSET`.
    pub code: &'a [Instruction],
    /// The instructions that can run.
    pub window: CodeWindow,
    /// `US_FC_CTRL.FULL_FC_EN`.
    pub full_fc: bool,
    /// `US_PIXSIZE.PIX_SIZE`, if given.
    pub pixsize: Option<u8>,
    /// The boolean constants, if given.
    pub bool_constants: Option<UsFcBoolConst>,
    /// The integer constants that are given.
    pub int_constants: [Option<UsFcIntConst>; INT_CONSTANTS],
}

impl<'a> Executable<'a> {
    /// Returns this part of a program. Flow control is full unless the program says otherwise.
    ///
    /// # Errors
    /// [`WindowError`] if no instruction can run.
    pub fn of(program: &'a Program) -> Result<Self, WindowError> {
        let state = &program.state;
        Ok(Self {
            code: &program.code,
            window: CodeWindow::of(program)?,
            full_fc: state.fc_ctrl.is_none_or(|register| register.full_fc_en()),
            pixsize: state.pixsize.map(|register| register.pix_size()),
            bool_constants: state.fc_bool_const,
            int_constants: state.fc_int_const,
        })
    }
}
