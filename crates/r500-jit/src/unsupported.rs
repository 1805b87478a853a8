//! The back end of targets without machine code.

use std::io;

use r500_exec::RunError;
use r500_exec::output::color::PixelEncoding;
use r500_fast::Simd;
use r500_fast::codegen::{Batch, CompileUnit, Kernel};

use crate::{Effort, Settings, Unavailable};

/// Cannot be constructed.
#[derive(Debug)]
pub(crate) enum Backend {}

/// Cannot be constructed.
#[derive(Debug)]
pub(crate) enum CompiledKernel {}

impl Backend {
    pub(crate) fn new(_: Simd, _: Settings) -> Result<Self, Unavailable> {
        Err(if cfg!(target_arch = "aarch64") {
            Unavailable::System
        } else {
            Unavailable::Architecture
        })
    }

    pub(crate) fn supports_encoding(&self, _: &PixelEncoding, _: bool) -> bool {
        match *self {}
    }

    pub(crate) fn make(
        &self,
        _: &CompileUnit<'_>,
        _: Effort,
    ) -> io::Result<Option<CompiledKernel>> {
        match *self {}
    }
}

impl CompiledKernel {
    pub(crate) fn size(&self) -> usize {
        match *self {}
    }
}

impl Kernel for CompiledKernel {
    fn run(&self, _: &mut Batch<'_, '_>, _: (usize, usize)) -> Result<(), RunError> {
        match *self {}
    }
}
