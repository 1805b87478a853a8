//! Where there is no machine code.

use std::io;

use r500_exec::RunError;
use r500_fast::Simd;
use r500_fast::codegen::{Batch, Capabilities, CompileUnit, Kernel};

use crate::{Effort, Settings, Unavailable};

/// There is none.
#[derive(Debug)]
pub(crate) enum Maker {}

/// There is none.
#[derive(Debug)]
pub(crate) enum Machine {}

impl Maker {
    pub(crate) const ABILITIES: Capabilities =
        Capabilities { fetches: false, kills: false, inputs: false, colors: false };

    pub(crate) fn new(_: Simd, _: Settings) -> Result<Self, Unavailable> {
        Err(Unavailable::Architecture)
    }

    pub(crate) fn make(&self, _: &CompileUnit<'_>, _: Effort) -> io::Result<Option<Machine>> {
        match *self {}
    }
}

impl Machine {
    pub(crate) fn size(&self) -> usize {
        match *self {}
    }
}

impl Kernel for Machine {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        match *self {}
    }
}
