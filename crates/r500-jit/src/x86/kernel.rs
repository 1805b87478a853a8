//! CompiledKernel code as a step of the fast engine.

use std::io;
use std::time::Duration;

use r500_exec::RunError;
use r500_exec::output::color::PixelEncoding;
use r500_fast::Simd;
use r500_fast::codegen::{
    AdjacentBatches, Batch, Capabilities, CompileUnit, Kernel, run_one_by_one,
};

use crate::lower::supports_encoding;
use crate::x86::compile::{Assembly, CompiledForms, Level, compile_forms};
use crate::x86::contest::{Contest, Form, timed};
#[cfg(feature = "emulator")]
use crate::x86::emulated::EmulatedCode;
use crate::x86::exec_memory::ExecMemory;
use crate::x86::perf_map::PerfMap;
use crate::{Effort, Groups, Settings, Unavailable};

/// Makes machine code of units.
#[derive(Debug)]
pub(crate) struct Backend {
    level: Level,
    groups: Groups,
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
            groups: settings.groups,
            perf_map,
            #[cfg(feature = "emulator")]
            emulated: settings.is_emulated(),
        })
    }

    /// Returns whether code can store colours as a surface holds them.
    pub(crate) fn supports_encoding(&self, encoding: &PixelEncoding, discards: bool) -> bool {
        #[cfg(feature = "emulator")]
        if self.emulated {
            return supports_encoding(encoding, discards);
        }
        // Every processor with AVX2 has them, but a virtual machine may not.
        is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && supports_encoding(encoding, discards)
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
        let forms = compile_forms(unit, self.level, effort, self.groups);
        debug_assert!(forms.is_ok(), "{forms:?}");
        let Ok(CompiledForms { usual, rival }) = forms else { return Ok(None) };
        let code = self.load(&usual, unit)?;
        let rival = match rival {
            Some(rival) => {
                Some(Rival { code: self.load(&rival, unit)?, contest: Contest::default() })
            }
            None => None,
        };
        Ok(Some(CompiledKernel { code, rival, fuel_checked: unit.fuel_checked }))
    }

    /// Returns code ready to run.
    ///
    /// # Errors
    /// What the system says of executable memory.
    fn load(&self, assembly: &Assembly, unit: &CompileUnit<'_>) -> io::Result<Code> {
        #[cfg(feature = "emulator")]
        if self.emulated {
            return Ok(Code::Emulated(Box::new(EmulatedCode::new(assembly, unit))));
        }
        let pages = ExecMemory::new(assembly, unit, self.level)?;
        if let Some(map) = &self.perf_map {
            map.add(pages.code(), &assembly.lines);
        }
        Ok(Code::Native(pages))
    }
}

/// The machine code of a unit.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    /// The only form, or the usual one.
    code: Code,
    rival: Option<Rival>,
    fuel_checked: bool,
}

/// The other form of a unit's code.
#[derive(Debug)]
struct Rival {
    code: Code,
    contest: Contest,
}

/// Where code runs.
#[derive(Debug)]
enum Code {
    Native(ExecMemory),
    #[cfg(feature = "emulator")]
    Emulated(Box<EmulatedCode>),
}

impl Code {
    /// Bytes of code.
    fn size(&self) -> usize {
        match self {
            Self::Native(pages) => pages.code().len(),
            #[cfg(feature = "emulator")]
            Self::Emulated(code) => code.size(),
        }
    }

    /// Runs over the chunks from one to before another. Returns the instructions that it counted and the address of the
    /// last of them.
    fn call(
        &self,
        batch: &mut Batch<'_, '_>,
        run: (usize, usize),
        fuel_checked: bool,
    ) -> Result<(u64, u32), RunError> {
        match self {
            Self::Native(pages) => pages.call(batch, run, fuel_checked),
            #[cfg(feature = "emulator")]
            Self::Emulated(code) => code.call(batch, run, fuel_checked),
        }
    }
}

impl CompiledKernel {
    /// Bytes of code.
    pub(crate) fn size(&self) -> usize {
        self.code.size() + self.rival.as_ref().map_or(0, |rival| rival.code.size())
    }

    /// Returns the code that draws everything; `None` while forms of it compete.
    fn settled(&self) -> Option<&Code> {
        match &self.rival {
            None => Some(&self.code),
            Some(rival) => rival.contest.winner().map(|form| self.form(form, rival)),
        }
    }

    fn form<'k>(&'k self, form: Form, rival: &'k Rival) -> &'k Code {
        match form {
            Form::Usual => &self.code,
            Form::Rival => &rival.code,
        }
    }

    /// Runs over chunks with the form that is faster, or with both to find out which one is.
    fn call(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(u64, u32), RunError> {
        if let Some(code) = self.settled() {
            return code.call(batch, run, self.fuel_checked);
        }
        let rival = self.rival.as_ref().expect("only forms that compete are not settled");
        let Rival { contest, .. } = rival;
        let Some(halves) = contest.round(run) else {
            return self.code.call(batch, run, self.fuel_checked);
        };
        let mut used = (0, 0);
        let mut laps = [(Form::Usual, 0, Duration::ZERO); 2];
        for ((form, half), lap) in halves.into_iter().zip(&mut laps) {
            let (counted, time) =
                timed(|| self.form(form, rival).call(batch, half, self.fuel_checked));
            *lap = (form, half.1 - half.0, time);
            // As of one call: the most that a group used, and the last address that is known.
            let (instructions, address) = counted?;
            used.0 = instructions.max(used.0);
            if address != 0 {
                used.1 = address;
            }
        }
        contest.add(laps);
        Ok(used)
    }
}

impl Kernel for CompiledKernel {
    fn run_adjacent(
        &self,
        batch: &mut Batch<'_, '_>,
        adjacent: AdjacentBatches,
    ) -> Result<(), RunError> {
        match self.settled() {
            Some(Code::Native(pages)) if !self.fuel_checked => {
                pages.call_adjacent(batch, adjacent);
                Ok(())
            }
            _ => run_one_by_one(self, batch, adjacent),
        }
    }

    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError> {
        let (instructions, address) = self.call(batch, run)?;
        if self.fuel_checked {
            // A batch is charged for the pixels that execute most.
            batch.fuel.consume(instructions, address)?;
        }
        Ok(())
    }
}
