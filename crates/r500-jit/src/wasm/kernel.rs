//! A module as a kernel of the fast engine.

use std::io;

use r500_exec::RunError;
use r500_exec::output::color::PixelEncoding;
use r500_fast::Simd;
use r500_fast::codegen::{Batch, CompileUnit, Kernel};

use super::host::Installed;
use super::module::module;
use crate::{Effort, Settings, Unavailable};

/// The back end: compiles units to modules.
#[derive(Debug)]
pub(crate) struct Backend {}

impl Backend {
    /// # Errors
    /// None: a host that cannot compile fails for each module.
    pub(crate) fn new(_: Simd, _: Settings) -> Result<Self, Unavailable> {
        Ok(Self {})
    }

    /// Returns false: the fast engine stores colours.
    pub(crate) fn supports_encoding(&self, _: &PixelEncoding, _: bool) -> bool {
        false
    }

    /// Compiles a unit; `None` if it cannot be encoded.
    ///
    /// # Errors
    /// If the host rejects the module.
    pub(crate) fn make(
        &self,
        unit: &CompileUnit<'_>,
        effort: Effort,
    ) -> io::Result<Option<CompiledKernel>> {
        let Some(bytes) = module(unit, effort) else { return Ok(None) };
        let size = bytes.len();
        let installed = Installed::new(&bytes, unit)
            .ok_or_else(|| io::Error::other("the host takes no modules"))?;
        Ok(Some(CompiledKernel { installed, size, fuel_checked: unit.fuel_checked }))
    }
}

/// The code of a unit.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    installed: Installed,
    size: usize,
    fuel_checked: bool,
}

impl CompiledKernel {
    /// Returns the approximate size of the code in bytes: the host's code is several times the size of the
    /// module.
    pub(crate) fn size(&self) -> usize {
        self.size * 8
    }
}

impl Kernel for CompiledKernel {
    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError> {
        let (instructions, address) = self.installed.call(batch, run, self.fuel_checked)?;
        if self.fuel_checked {
            // A batch is charged for the group that executed most.
            batch.fuel.consume(instructions, address)?;
        }
        Ok(())
    }
}
