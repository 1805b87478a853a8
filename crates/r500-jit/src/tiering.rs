//! Tiered compilation: draws move from bytecode to machine code.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use r500_exec::output::color::PixelEncoding;
use r500_exec::process::ProcessId;
use r500_exec::{
    Band, BandStats, Draw, PixelRect, PreparedDraw, PreparedQuads, ProgramUse, QuadStream,
    RunError, RunInfo, SurfacePainter,
};
use r500_fast::{FastDraw, FastQuads, NativeCode, Simd, VertexCode, quad_function};
use r500_ir::{Function, Stmt};
use r500_isa::TARGETS;
use r500_isa::state::UsOutFmt;
use r500_lift::{
    LiftError, LiftInput, PreparedProgram, ProgramCache, SymbolicConstants, VertexFunction,
};

use crate::background::{Task, Worker};
use crate::bound_function::BoundFunction;
use crate::cache::{Cache, CompileOnMiss, LookupOnly};
use crate::progress::Progress;
use crate::target::Backend;
use crate::{CacheUse, Constants, Effort, Settings, Unavailable, When};

/// The compiler of an engine: program cache, code cache and background thread.
#[derive(Debug)]
pub(crate) struct TieredCompiler {
    simd: Simd,
    when: When,
    constants: Constants,
    cache: Arc<Cache>,
    programs: ProgramCache<TieredProgram>,
    worker: Arc<Worker>,
    process: ProcessId,
}

impl TieredCompiler {
    /// Returns a compiler for bytecode of the level `simd` and machine code of the level `compiled`.
    pub(crate) fn new(simd: Simd, compiled: Simd, settings: Settings) -> Result<Self, Unavailable> {
        let cache = Arc::new(Cache::new(Backend::new(compiled, settings)?));
        let worker = Arc::new(Worker::new(simd, Arc::clone(&cache)));
        let Settings { when, constants, .. } = settings;
        Ok(Self {
            simd,
            when,
            constants,
            cache,
            programs: ProgramCache::new(),
            worker,
            process: ProcessId::current(),
        })
    }

    /// Returns whether its threads exist: not in the child of a `fork` of its process.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process.is_current()
    }

    pub(crate) fn program_use(&self) -> ProgramUse {
        self.programs.counts()
    }

    pub(crate) fn cache_use(&self) -> CacheUse {
        self.cache.counts()
    }

    #[cfg(all(feature = "emulator", x86_code))]
    pub(crate) fn emulated_instructions(&self) -> u64 {
        self.cache.emulated_instructions()
    }

    /// Compiles a vertex function on this thread; with full effort, unless the settings have another.
    pub(crate) fn compile_vertices(&self, function: &VertexFunction) -> VertexCode {
        let effort = match self.when {
            When::Before(effort) => effort,
            When::Background => Effort::Full,
        };
        let compiler = CompileOnMiss { cache: &self.cache, effort };
        VertexCode::native(function, self.simd, &compiler)
    }

    /// Prepares a draw.
    ///
    /// # Errors
    /// [`LiftError`] if the draw has no function.
    pub(crate) fn prepare(&self, draw: &Draw<'_>) -> Result<Box<dyn PreparedDraw>, LiftError> {
        let program = self.program(draw)?;
        let function = Arc::clone(&program.function);
        let (tier, code) = self.tier(function, &program.compiled, &program.compiled.bytecode, draw);
        let batches = FastDraw::new(draw, code, self.simd).with_uniforms(
            program.symbolic.clone(),
            &tier.function.function,
            draw,
        );
        let [width, height] =
            draw.options.area.map_or(draw.bindings.size(), |a| [a.width, a.height]);
        tier.expect_pixels(u64::from(width) * u64::from(height));
        Ok(Box::new(TieredDraw { tier, batches, surfaces: SurfaceTier::default() }))
    }

    /// Prepares a draw of quads.
    ///
    /// # Errors
    /// [`LiftError`] if the draw has no function.
    pub(crate) fn prepare_quads(
        &self,
        draw: &Draw<'_>,
    ) -> Result<Box<dyn PreparedQuads>, LiftError> {
        let program = self.program(draw)?;
        let compiled = &program.compiled;
        let function = compiled.quads.get_or_init(|| Arc::new(quad_function(&program.function)));
        let (tier, code) = self.tier(Arc::clone(function), compiled, &compiled.quad_bytecode, draw);
        let batches = FastQuads::new(&program.function, code, self.simd);
        tier.expect_pixels(0);
        Ok(Box::new(TieredQuads { tier, batches }))
    }

    /// Returns the function of a draw's program.
    fn program(&self, draw: &Draw<'_>) -> Result<Arc<PreparedProgram<TieredProgram>>, LiftError> {
        let symbolic = match self.constants {
            Constants::Specialized => SymbolicConstants::none(),
            Constants::Symbolic => SymbolicConstants::all(),
        };
        let input = LiftInput::of_draw(draw)?;
        self.programs.get(&input, &symbolic, |_, last| TieredProgram::new(last))
    }

    /// Returns the first tier of a function of a program, and its code.
    fn tier(
        &self,
        function: Arc<Function>,
        compiled: &TieredProgram,
        bytecode: &OnceLock<NativeCode>,
        draw: &Draw<'_>,
    ) -> (Tier, NativeCode) {
        let simd = self.simd;
        let function = Arc::new(BoundFunction::new(function, draw));
        let (code, effort) = match self.when {
            When::Before(effort) => {
                let filling = CompileOnMiss { cache: &self.cache, effort };
                (function.compile(simd, &filling), Some(Effort::Full))
            }
            When::Background => find(&function, simd, &self.cache).map_or_else(
                || (bound_bytecode(bytecode, &function, simd), None),
                |(code, effort)| (code, Some(effort)),
            ),
        };
        let (_, operations) = code.coverage();
        let tier = Tier {
            state: Mutex::new(State { share: code.coverage(), effort, task: None }),
            function,
            simd,
            when: self.when,
            cache: Arc::clone(&self.cache),
            worker: Arc::clone(&self.worker),
            operations: operations as u64,
            progress: Arc::clone(&compiled.progress),
            process: self.process,
        };
        (tier, code)
    }
}

/// What is kept of a program between its draws, next to the function.
#[derive(Debug)]
struct TieredProgram {
    /// The work of all draws of the program.
    progress: Arc<Progress>,
    /// The bytecode, for some values of the uniforms.
    bytecode: OnceLock<NativeCode>,
    /// The function for quads, and its bytecode.
    quads: OnceLock<Arc<Function>>,
    quad_bytecode: OnceLock<NativeCode>,
}

impl TieredProgram {
    /// Returns that of a new function. `last`: that of the program's last function.
    fn new(last: Option<&Self>) -> Self {
        Self {
            progress: last.map_or_else(Arc::default, |last| Arc::clone(&last.progress)),
            bytecode: OnceLock::new(),
            quads: OnceLock::new(),
            quad_bytecode: OnceLock::new(),
        }
    }
}

/// Returns the bytecode of a function, with its values.
fn bound_bytecode(
    bytecode: &OnceLock<NativeCode>,
    BoundFunction { function, uniforms, .. }: &BoundFunction,
    simd: Simd,
) -> NativeCode {
    let bytecode = bytecode.get_or_init(|| NativeCode::batch(function, uniforms, simd));
    bytecode.with_uniforms(uniforms)
}

/// The work from which on compilation pays, in operations times pixels: some milliseconds of the fast engine.
const TIER_UP_THRESHOLD: u64 = 16_000_000;

/// Returns the code of a function and its effort, if all of it is in the cache.
fn find(function: &BoundFunction, simd: Simd, cache: &Cache) -> Option<(NativeCode, Effort)> {
    let finding = LookupOnly::new(cache);
    let code = function.compile(simd, &finding);
    finding.effort().map(|effort| (code, effort))
}

/// A draw that moves from bytecode to machine code.
struct TieredDraw {
    tier: Tier,
    batches: FastDraw,
    /// Code that stores to surfaces.
    surfaces: SurfaceTier,
}

/// A draw of quads that moves from bytecode to machine code.
struct TieredQuads {
    tier: Tier,
    batches: FastQuads,
}

/// A function that moves from bytecode to machine code.
struct Tier {
    function: Arc<BoundFunction>,
    simd: Simd,
    when: When,
    cache: Arc<Cache>,
    worker: Arc<Worker>,
    state: Mutex<State>,
    /// Operations per pixel.
    operations: u64,
    /// Work of all draws of the function.
    progress: Arc<Progress>,
    /// The process whose threads compile.
    process: ProcessId,
}

/// The pixel encodings of surfaces, by target.
type Encodings = [Option<PixelEncoding>; TARGETS];

/// The tier of a draw to surfaces.
#[derive(Default)]
struct SurfaceTier {
    /// The function specialised for the pixel encodings of the surfaces.
    function: Option<(Encodings, Arc<BoundFunction>)>,
    /// The effort of the last code.
    effort: Option<Effort>,
    /// Whether the last code can draw.
    ready: bool,
    /// How many units of how many the last code has as machine code.
    share: (usize, usize),
    /// Whether the last draw was one to surfaces, by that code.
    drew: AtomicBool,
    /// The pending compilation.
    task: Option<Arc<Task>>,
}

impl SurfaceTier {
    /// Returns better code than the last, if there is any. If there is no code and it `pays`, starts compilation.
    fn better_code(
        &mut self,
        simd: Simd,
        when: When,
        cache: &Cache,
        worker: &Worker,
        pays: bool,
    ) -> Option<NativeCode> {
        let (_, function) = self.function.as_ref()?;
        if self.effort == Some(Effort::Full) {
            return None;
        }
        if let When::Before(effort) = when {
            self.effort = Some(Effort::Full);
            return Some(function.compile(simd, &CompileOnMiss { cache, effort }));
        }
        match &self.task {
            Some(task) if task.done() <= self.effort => return None,
            Some(_) => {}
            // Another draw may have started compilation.
            None if pays => self.task = Some(worker.compile(function)),
            None => return None,
        }
        let (code, effort) = find(function, simd, cache)?;
        self.effort = Some(effort);
        Some(code)
    }
}

/// Returns whether a function discards pixels.
fn discards(function: &Function) -> bool {
    let mut discards = |stmt: &Stmt| matches!(stmt, Stmt::Discard(_));
    function.body.iter().any(|stmt| stmt.any(&mut discards))
}

/// The tier of a draw.
struct State {
    /// Operations that are machine code, and all operations.
    share: (usize, usize),
    /// The effort of the current code; `None` if there is none.
    effort: Option<Effort>,
    /// The pending compilation.
    task: Option<Arc<Task>>,
}

impl TieredDraw {
    /// Returns the pixel encodings of surfaces of these formats; `None` if machine code cannot store all of them, or a target is not
    /// written by the program.
    fn encodings(&self, formats: &[Option<UsOutFmt>; TARGETS]) -> Option<Encodings> {
        let function = &self.tier.function.function;
        let encodings = formats.map(|format| format.and_then(PixelEncoding::of));
        let discards = discards(function);
        let stored = encodings.iter().zip(&function.colors).all(|(encoding, color)| {
            encoding.as_ref().is_none_or(|encoding| {
                color.is_some() && self.tier.cache.supports_encoding(encoding, discards)
            })
        });
        (stored && encodings.iter().any(Option::is_some)).then_some(encodings)
    }
}

impl Tier {
    /// Starts compilation, unless the code is optimised or being compiled.
    fn begin(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.effort < Some(Effort::Full) && state.task.is_none() {
            let task = self.worker.compile(&self.function);
            self.progress.keep(Arc::<Task>::clone(&task));
            state.task = Some(task);
        }
    }

    /// Returns new code if compilation has progressed, through `replace`.
    fn try_tier_up(&self, replace: impl FnOnce(NativeCode)) {
        // One thread switches; the others continue with the current code.
        let Ok(mut state) = self.state.try_lock() else { return };
        let Some(task) = &state.task else { return };
        let done = task.done();
        if done <= state.effort {
            return;
        }
        if let Some((code, effort)) = find(&self.function, self.simd, &self.cache) {
            state.effort = Some(effort);
            state.share = code.coverage();
            replace(code);
        }
        if done == Some(Effort::Full) {
            state.effort = done;
            state.task = None;
        }
    }

    /// Starts compilation if this many pixels [pay](Self::pays) for it: a large picture alone, small ones if there have been many.
    fn expect_pixels(&self, pixels: u64) {
        if self.pays(pixels) {
            self.begin();
        }
    }

    /// Returns whether this many pixels pay for compilation, with all that were drawn before.
    fn pays(&self, pixels: u64) -> bool {
        self.progress.work().saturating_add(pixels * self.operations) >= TIER_UP_THRESHOLD
    }

    /// Counts pixels that were drawn, and starts compilation if that pays.
    fn count_pixels(&self, pixels: u64) {
        if self.progress.add(pixels * self.operations, TIER_UP_THRESHOLD) {
            self.begin();
        }
    }

    /// Returns which engine draws, given what the fast engine says.
    fn run_info(&self, run_info: RunInfo) -> RunInfo {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (compiled, all) = state.share;
        if compiled > 0 || (all == 0 && state.effort.is_some()) {
            return RunInfo { engine: "jit", compiled: Some([compiled, all]), ..run_info };
        }
        let reason = match (self.cache.forbidden(), state.effort) {
            (Some(error), _) => format!("the system gives no executable memory: {error}"),
            (None, None) if state.task.is_some() => "machine code was not ready".to_owned(),
            (None, None) => "too little to draw for machine code to pay".to_owned(),
            (None, Some(_)) => "no part of it was compiled".to_owned(),
        };
        RunInfo { fallback_reason: Some(reason), ..run_info }
    }
}

impl PreparedQuads for TieredQuads {
    fn draw_quads(
        &self,
        draw: &Draw<'_>,
        count: usize,
        stream: &mut dyn QuadStream,
    ) -> Result<BandStats, RunError> {
        self.tier.try_tier_up(|code| self.batches.replace_code(code, self.tier.simd));
        let stats = self.batches.draw_quads(draw, count, stream);
        self.tier.count_pixels(4 * count as u64);
        stats
    }

    fn run_info(&self) -> RunInfo {
        self.tier.run_info(self.batches.run_info())
    }
}

impl PreparedDraw for TieredDraw {
    fn band_rows(&self) -> u32 {
        self.batches.band_rows()
    }

    fn accepts(&self, draw: &Draw<'_>) -> bool {
        self.tier.process.is_current() && self.batches.accepts(draw)
    }

    fn update(&mut self, draw: &Draw<'_>) -> bool {
        // In the child of a `fork` the draw is prepared again: its compilation thread does not exist there.
        self.tier.process.is_current() && self.batches.update(draw)
    }

    fn draw_band(&self, draw: &Draw<'_>, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        self.surfaces.drew.store(false, Ordering::Relaxed);
        self.tier.try_tier_up(|code| self.batches.replace_code(code, self.tier.simd));
        let report = self.batches.draw_band(draw, band);
        let PixelRect { width, height, .. } = band.rect();
        self.tier.count_pixels(u64::from(width) * u64::from(height));
        report
    }

    fn surface_painter(
        &mut self,
        draw: &Draw<'_>,
        formats: &[Option<UsOutFmt>; TARGETS],
    ) -> Option<&dyn SurfacePainter> {
        let encodings = self.encodings(formats)?;
        if self.surfaces.function.as_ref().is_none_or(|(of, _)| *of != encodings) {
            let BoundFunction { function, uniforms, resources } = (*self.tier.function).clone();
            let resources = resources.with_encodings(encodings);
            let function = BoundFunction { function, uniforms, resources };
            self.surfaces = SurfaceTier {
                function: Some((encodings, Arc::new(function))),
                ..SurfaceTier::default()
            };
        }
        let [width, height] =
            draw.options.area.map_or(draw.bindings.size(), |area| [area.width, area.height]);
        let pixels = u64::from(width) * u64::from(height);
        let pays = self.tier.pays(pixels);
        let Self { tier: Tier { simd, when, cache, worker, .. }, batches, surfaces } = self;
        if let Some(code) = surfaces.better_code(*simd, *when, cache, worker, pays) {
            if code.stores_surfaces() {
                surfaces.share = code.coverage();
                batches.set_surface_code(encodings, code, *simd);
                surfaces.ready = true;
            } else {
                surfaces.effort = Some(Effort::Full);
            }
        }
        if !self.surfaces.ready {
            return None;
        }
        self.tier.progress.add(pixels * self.tier.operations, TIER_UP_THRESHOLD);
        self.surfaces.drew.store(true, Ordering::Relaxed);
        Some(&self.batches)
    }

    fn run_info(&self) -> RunInfo {
        let run_info = self.batches.run_info();
        if self.surfaces.drew.load(Ordering::Relaxed) {
            let (compiled, all) = self.surfaces.share;
            return RunInfo { engine: "jit", compiled: Some([compiled, all]), ..run_info };
        }
        self.tier.run_info(run_info)
    }
}
