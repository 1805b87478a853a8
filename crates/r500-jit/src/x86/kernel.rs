//! CompiledKernel code as a step of the fast engine.

use std::io;

use r500_exec::RunError;
use r500_fast::Simd;
use r500_fast::codegen::{
    AdjacentBatches, Batch, Capabilities, CompileUnit, Kernel, run_one_by_one,
};

use crate::x86::compile::{Assembly, Level, compile};
#[cfg(feature = "emulator")]
use crate::x86::emulated::EmulatedCode;
use crate::x86::exec_memory::ExecMemory;
use crate::x86::perf_map::PerfMap;
use crate::{Effort, Settings, Unavailable};

/// Makes machine code of units.
#[derive(Debug)]
pub(crate) struct Backend {
    level: Level,
    perf_map: Option<PerfMap>,
    #[cfg(feature = "emulator")]
    emulated: bool,
}

impl Backend {
    /// What its code does.
    pub(crate) const CAPABILITIES: Capabilities = Capabilities::ALL;

    /// # Errors
    /// If there is no machine code of such instructions.
    pub(crate) fn new(simd: Simd, settings: Settings) -> Result<Self, Unavailable> {
        let level = Level::of(simd).ok_or(Unavailable::Level)?;
        let perf_map = settings.perf_map.then(PerfMap::open).and_then(Result::ok);
        Ok(Self {
            level,
            perf_map,
            #[cfg(feature = "emulator")]
            emulated: settings.is_emulated(),
        })
    }

    /// The machine code of a unit, ready to run; `None` if it cannot be made.
    ///
    /// # Errors
    /// What the system says of executable memory.
    pub(crate) fn make(
        &self,
        unit: &CompileUnit<'_>,
        effort: Effort,
    ) -> io::Result<Option<CompiledKernel>> {
        let assembly = compile(unit, self.level, effort);
        debug_assert!(assembly.is_ok(), "{assembly:?}");
        let Ok(assembly) = assembly else { return Ok(None) };
        #[cfg(feature = "emulator")]
        if self.emulated {
            return Ok(Some(CompiledKernel::emulated(&assembly, unit)));
        }
        let machine = CompiledKernel::new(&assembly, unit, self.level)?;
        if let (Some(map), Code::Native(pages)) = (&self.perf_map, &machine.code) {
            map.add(pages.code(), &assembly.lines);
        }
        Ok(Some(machine))
    }
}

/// The machine code of a unit.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    code: Code,
    fuel_checked: bool,
}

/// Where code runs.
#[derive(Debug)]
enum Code {
    Native(ExecMemory),
    #[cfg(feature = "emulator")]
    Emulated(Box<EmulatedCode>),
}

impl CompiledKernel {
    /// Code ready to run.
    ///
    /// # Errors
    /// What the system says of executable memory.
    pub(crate) fn new(
        assembly: &Assembly,
        unit: &CompileUnit<'_>,
        level: Level,
    ) -> io::Result<Self> {
        let pages = ExecMemory::new(assembly, unit, level)?;
        Ok(Self { code: Code::Native(pages), fuel_checked: unit.fuel_checked })
    }

    /// Code to run in the emulator.
    #[cfg(feature = "emulator")]
    pub(crate) fn emulated(assembly: &Assembly, unit: &CompileUnit<'_>) -> Self {
        let code = Box::new(EmulatedCode::new(assembly, unit));
        Self { code: Code::Emulated(code), fuel_checked: unit.fuel_checked }
    }

    /// Bytes of code.
    pub(crate) fn size(&self) -> usize {
        match &self.code {
            Code::Native(pages) => pages.code().len(),
            #[cfg(feature = "emulator")]
            Code::Emulated(code) => code.size(),
        }
    }
}

impl Kernel for CompiledKernel {
    fn run_adjacent(
        &self,
        batch: &mut Batch<'_, '_>,
        adjacent: AdjacentBatches,
    ) -> Result<(), RunError> {
        match &self.code {
            Code::Native(pages) if !self.fuel_checked => {
                pages.call_adjacent(batch, adjacent);
                Ok(())
            }
            _ => run_one_by_one(self, batch, adjacent),
        }
    }

    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError> {
        let (instructions, address) = match &self.code {
            Code::Native(pages) => pages.call(batch, run, self.fuel_checked),
            #[cfg(feature = "emulator")]
            Code::Emulated(code) => code.call(batch, run, self.fuel_checked),
        }?;
        if self.fuel_checked {
            // A batch is charged for the pixels that execute most.
            batch.fuel.consume(instructions, address)?;
        }
        Ok(())
    }
}
