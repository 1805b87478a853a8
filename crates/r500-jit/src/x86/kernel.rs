//! Machine code as a kernel of the fast engine.

use std::io;
#[cfg(feature = "emulator")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use r500_exec::RunError;
use r500_exec::output::color::PixelEncoding;
use r500_fast::Simd;
use r500_fast::codegen::{AdjacentBatches, Batch, CompileUnit, Kernel, LANES, run_one_by_one};

use crate::memory_bounds::MemoryBounds;
use crate::x86::compile::{Assembly, CompiledForms, Level, PendingForm, compile_forms};
use crate::x86::contest::{Contest, Variant, timed};
#[cfg(feature = "emulator")]
use crate::x86::emulated::EmulatedCode;
use crate::x86::exec_memory::ExecMemory;
use crate::x86::perf_map::PerfMap;
use crate::{Effort, Groups, Settings, Unavailable};
use r500_lir::supports_encoding;

/// The back end: compiles units.
#[derive(Debug)]
pub(crate) struct Backend {
    level: Level,
    groups: Groups,
    perf_map: Option<Arc<PerfMap>>,
    /// The number of machine instructions that the emulator has executed; `None` if the processor runs the code.
    #[cfg(feature = "emulator")]
    emulated: Option<Arc<AtomicU64>>,
}

impl Backend {
    /// # Errors
    /// If there is no machine code for these instructions.
    pub(crate) fn new(simd: Simd, settings: Settings) -> Result<Self, Unavailable> {
        let level = Level::of(simd).ok_or(Unavailable::Level)?;
        let perf_map = settings.perf_map.then(PerfMap::open).and_then(Result::ok).map(Arc::new);
        Ok(Self {
            level,
            groups: settings.groups,
            perf_map,
            #[cfg(feature = "emulator")]
            emulated: settings.is_emulated().then(Arc::default),
        })
    }

    /// Returns the number of machine instructions that the emulator has executed.
    #[cfg(feature = "emulator")]
    pub(crate) fn emulated_instructions(&self) -> u64 {
        self.emulated.as_ref().map_or(0, |executed| executed.load(Ordering::Relaxed))
    }

    /// Returns whether code can store a pixel encoding.
    pub(crate) fn supports_encoding(&self, encoding: &PixelEncoding, discards: bool) -> bool {
        #[cfg(feature = "emulator")]
        if self.emulated.is_some() {
            return supports_encoding(encoding, discards);
        }
        // Every processor with AVX2 has FMA and F16C, but a virtual machine may not.
        is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && supports_encoding(encoding, discards)
    }

    /// Compiles a unit; `None` if it has no machine code.
    ///
    /// # Errors
    /// The system's error if it refuses executable memory.
    pub(crate) fn make(
        &self,
        unit: &CompileUnit<'_>,
        effort: Effort,
    ) -> io::Result<Option<CompiledKernel>> {
        let forms = compile_forms(unit, self.level, effort, self.groups);
        debug_assert!(forms.is_ok(), "{forms:?}");
        let Ok(CompiledForms { baseline, challengers }) = forms else { return Ok(None) };
        let code = self.load(&baseline, unit)?;
        let challengers = challengers.into_iter().map(|form| self.challenger(form, unit)).collect();
        Ok(Some(CompiledKernel { code, challengers, fuel_checked: unit.fuel_checked }))
    }

    /// Copies code to executable memory or to the emulator.
    ///
    /// # Errors
    /// The system's error if it refuses executable memory.
    fn load(&self, assembly: &Assembly, unit: &CompileUnit<'_>) -> io::Result<Code> {
        #[cfg(feature = "emulator")]
        if let Some(executed) = &self.emulated {
            let code = EmulatedCode::new(assembly, unit, Arc::clone(executed));
            return Ok(Code::Emulated(Box::new(code)));
        }
        load_native(assembly, MemoryBounds::of(unit), self.level, self.perf_map.as_deref())
    }

    /// Returns a form that is compiled later.
    fn challenger(&self, form: PendingForm, unit: &CompileUnit<'_>) -> Challenger {
        let mut challenger = Challenger {
            pending: Mutex::default(),
            code: OnceLock::new(),
            drawn: AtomicUsize::new(0),
            contest: Contest::default(),
            after: form.after,
        };
        #[cfg(feature = "emulator")]
        if self.emulated.is_some() {
            let code = form.compile().map(|form| self.load(&form, unit));
            challenger.code = OnceLock::from(code.ok().and_then(Result::ok));
            return challenger;
        }
        let (bounds, perf_map) = (MemoryBounds::of(unit), self.perf_map.clone());
        challenger.pending =
            Mutex::new(Some(Pending { form, bounds, level: self.level, perf_map }));
        challenger
    }
}

/// Copies code to executable memory.
///
/// # Errors
/// The system's error if it refuses executable memory.
fn load_native(
    assembly: &Assembly,
    bounds: MemoryBounds,
    level: Level,
    perf_map: Option<&PerfMap>,
) -> io::Result<Code> {
    let pages = ExecMemory::new(assembly, bounds, level)?;
    if let Some(map) = perf_map {
        map.add(pages.code(), &assembly.lines);
    }
    Ok(Code::Native(pages))
}

/// Chunks that the baseline form draws before another form is compiled: those of a picture of 256x256, which may be all that is drawn.
const FIRST_PICTURE: usize = 256 * 256 / LANES;

/// The machine code of a unit.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    /// The only form, or the baseline.
    code: Code,
    /// Further forms, in the order in which they are measured.
    challengers: Vec<Challenger>,
    fuel_checked: bool,
}

/// Another form of a unit's code, compiled when enough is drawn to pay for it.
#[derive(Debug)]
struct Challenger {
    /// The input of compilation; `None` once a thread has started it.
    pending: Mutex<Option<Pending>>,
    /// The code; `Some(None)` if compilation failed.
    code: OnceLock<Option<Code>>,
    /// Chunks drawn before compilation.
    drawn: AtomicUsize,
    contest: Contest,
    /// The winner of the previous contest, if there was one, that makes this form worth measuring.
    after: Variant,
}

/// The input of compilation.
#[derive(Debug)]
struct Pending {
    form: PendingForm,
    bounds: MemoryBounds,
    level: Level,
    perf_map: Option<Arc<PerfMap>>,
}

impl Challenger {
    /// Counts chunks that are about to be drawn; compiles the form if there have been enough.
    fn count(&self, chunks: usize) {
        if self.code.get().is_none()
            && self.drawn.fetch_add(chunks, Ordering::Relaxed) >= FIRST_PICTURE
        {
            self.compile();
        }
    }

    /// Compiles the form, unless another thread does or has.
    fn compile(&self) {
        let pending = self.pending.try_lock().ok().and_then(|mut pending| pending.take());
        let Some(Pending { form, bounds, level, perf_map }) = pending else { return };
        let assembly = form.compile();
        debug_assert!(assembly.is_ok(), "{assembly:?}");
        // If the system refuses more executable memory, the baseline form draws everything.
        let code = assembly
            .ok()
            .and_then(|assembly| load_native(&assembly, bounds, level, perf_map.as_deref()).ok());
        self.code.set(code).expect("the form was taken once");
    }
}

/// Code, natively or in the emulator.
#[derive(Debug)]
enum Code {
    Native(ExecMemory),
    #[cfg(feature = "emulator")]
    Emulated(Box<EmulatedCode>),
}

impl Code {
    /// Returns the size of the code in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Native(pages) => pages.code().len(),
            #[cfg(feature = "emulator")]
            Self::Emulated(code) => code.size(),
        }
    }

    /// Runs over a range of chunks. Returns the number of counted instructions and the address of the last of them.
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

/// The code that draws.
enum Forms<'k> {
    /// One form.
    Settled(&'k Code),
    /// The best form so far and another one, which are measured against each other.
    Competing(&'k Contest, [&'k Code; 2]),
}

impl CompiledKernel {
    /// Returns the size of the code in bytes, with an estimate for forms that are compiled later: twice and four times the first.
    pub(crate) fn size(&self) -> usize {
        self.code.size() * ((2 << self.challengers.len()) - 1)
    }

    /// Returns the form that draws everything, or the two that compete.
    fn forms(&self) -> Forms<'_> {
        let (best, next) = self.current_best();
        match next.map(|challenger| (&challenger.contest, challenger.code.get())) {
            Some((contest, Some(Some(code)))) => Forms::Competing(contest, [best, code]),
            _ => Forms::Settled(best),
        }
    }

    /// Returns the best form so far, and the one that is measured next.
    fn current_best(&self) -> (&Code, Option<&Challenger>) {
        let (mut best, mut last) = (&self.code, None);
        for challenger in &self.challengers {
            if last.is_some_and(|winner| winner != challenger.after) {
                break;
            }
            last = challenger.contest.winner();
            match (last, challenger.code.get()) {
                (Some(Variant::Challenger), Some(Some(code))) => best = code,
                (Some(_), _) => {}
                (None, _) => return (best, Some(challenger)),
            }
        }
        (best, None)
    }

    /// Counts chunks that are about to be drawn, for the form that is measured next.
    fn count(&self, chunks: usize) {
        if let (_, Some(next)) = self.current_best() {
            next.count(chunks);
        }
    }

    /// Runs over chunks with the best form, or with both competing forms to measure them.
    fn call(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(u64, u32), RunError> {
        self.count(run.1 - run.0);
        let (contest, [best, challenger]) = match self.forms() {
            Forms::Settled(code) => return code.call(batch, run, self.fuel_checked),
            Forms::Competing(contest, codes) => (contest, codes),
        };
        let Some(halves) = contest.round(run) else {
            return best.call(batch, run, self.fuel_checked);
        };
        let mut used = (0, 0);
        let mut laps = [(Variant::Baseline, 0, Duration::ZERO); 2];
        for ((form, half), lap) in halves.into_iter().zip(&mut laps) {
            let code = match form {
                Variant::Baseline => best,
                Variant::Challenger => challenger,
            };
            let (counted, time) = timed(|| code.call(batch, half, self.fuel_checked));
            *lap = (form, half.1 - half.0, time);
            // As of one call: the maximum over the groups, and the last known address.
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
        match self.forms() {
            Forms::Settled(Code::Native(pages)) if !self.fuel_checked => {
                self.count(adjacent.chunks * adjacent.count);
                pages.call_adjacent(batch, adjacent);
                Ok(())
            }
            _ => run_one_by_one(self, batch, adjacent),
        }
    }

    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError> {
        let (instructions, address) = self.call(batch, run)?;
        if self.fuel_checked {
            // A batch is charged for the group that executed most.
            batch.fuel.consume(instructions, address)?;
        }
        Ok(())
    }
}
