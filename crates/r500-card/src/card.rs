//! The card: persistent state, and execution of submissions.

use std::fmt;
use std::time::Instant;

use r500_chip::Mapped;
use r500_chip::fg::FgZbregDest;
use r500_chip::ga::{GaPolyMode, GaRoundMode};
use r500_chip::gb::{GbMspos0, GbMspos1};
use r500_chip::sc::{ScClipRule, ScScreendoor};
use r500_chip::su::SuRegDest;
use r500_chip::vap::{VapGbHorzClipAdj, VapGbVertClipAdj, VapVfMaxVtxIndx};
use r500_chip::zb::{ZbZpassAddr, ZbZpassData};
use r500_exec::{Engine, EngineName};
use r500_fast::{Fast, VertexEngine};
use r500_isa::texture::TxInvalTags;
use r500_stream::{CommandProcessor, Effect, State, Submission};

use crate::cp::{self, Context};
use crate::draw_inputs::DrawInputs;
use crate::draw_time::{Clock, DrawTime};
use crate::limits::{Budget, CardError, Limits};
use crate::reading::{ReadingError, Readings};
use crate::recording::{DrawJob, Recording};
use crate::report::{Note, Report};
use crate::shading::QuadMemory;
use crate::target_picture::TargetPicture;
use crate::texture_cache::TextureCache;
use crate::texture_store::TextureStore;
use crate::vap::programs::VertexEngines;

/// A virtual R500.
///
/// ```
/// use r500_card::Card;
/// use r500_stream::Submission;
///
/// let mut card = Card::new();
/// card.submit(&Submission::default())?;
/// assert_eq!(card.report().statistics.submissions, 1);
/// # Ok::<(), r500_card::CardError>(())
/// ```
pub struct Card {
    state: State,
    engine: Box<dyn Engine + Send>,
    readings: Readings,
    exec_readings: r500_exec::Readings,
    limits: Limits,
    deadline: Option<Instant>,
    report: Report,
    /// Number of samples that passed since `ZB_ZPASS_DATA` was written.
    zpass: u32,
    /// The draw to record, as a value of [`Statistics::draws`](crate::Statistics::draws).
    wanted: Option<u64>,
    recorded: Option<DrawJob>,
    /// The draw whose inputs to keep, counted alike.
    wanted_inputs: Option<u64>,
    inputs: Option<DrawInputs>,
    texture_cache: TextureCache,
    textures: TextureStore,
    /// What runs vertex programs.
    vertex_engines: VertexEngines,
    /// Memory for the primitives and quads of a draw.
    quads: [QuadMemory; 2],
    rules_only: bool,
    /// The times of draws that were not taken; `None` if they are not measured.
    draw_times: Option<Vec<DrawTime>>,
}

impl Default for Card {
    fn default() -> Self {
        Self::new()
    }
}

impl Card {
    /// The engine for fragment programs of a card for which none is named: most programs of a card draw too little to pay for machine code.
    pub const USUAL_ENGINE: EngineName = EngineName::Fast;

    /// Returns a card in the state that the kernel's driver sets up, with the fast engine for fragment programs.
    #[must_use]
    pub fn new() -> Self {
        Self::with_engine(Box::new(Fast::new()))
    }

    /// Returns a card that runs fragment programs on this engine.
    #[must_use]
    pub fn with_engine(engine: Box<dyn Engine + Send>) -> Self {
        Self {
            state: initial_state(),
            engine,
            readings: Readings::default(),
            exec_readings: r500_exec::Readings::default(),
            limits: Limits::default(),
            deadline: None,
            report: Report::default(),
            zpass: 0,
            wanted: None,
            recorded: None,
            wanted_inputs: None,
            inputs: None,
            texture_cache: TextureCache::default(),
            textures: TextureStore::default(),
            vertex_engines: VertexEngines::new(None),
            quads: <[QuadMemory; 2]>::default(),
            rules_only: false,
            draw_times: None,
        }
    }

    /// Sets the engine that compiles vertex programs whose draws have enough vertices to pay for it. Initially there is none: the
    /// interpreter, which computes the same bits, runs all vertex programs.
    pub fn set_vertex_engine(&mut self, engine: Option<Box<dyn VertexEngine>>) {
        self.vertex_engines.set_engine(engine);
    }

    /// Sets from how much work on the vertex engine compiles a program, in instructions times vertices; the default is some milliseconds of
    /// the interpreter. With 0, it runs all draws, also those of few vertices.
    pub fn set_vertex_compilation(&mut self, work: u64) {
        self.vertex_engines.set_pays_at(work);
    }

    /// Requests the recording of a draw. Draws count from 0 over all submissions.
    pub fn record(&mut self, draw: u64) {
        self.wanted = Some(draw);
    }

    /// Returns the recorded draw as a job; `None` if it has not been executed or shaded nothing.
    pub fn take_recorded(&mut self) -> Option<DrawJob> {
        self.recorded.take()
    }

    /// Requests that the inputs of a draw are kept before it is executed. Draws count from 0 over all submissions.
    pub fn keep_inputs(&mut self, draw: u64) {
        self.wanted_inputs = Some(draw);
    }

    /// Returns the inputs of the draw; `None` if it has not been executed or cannot be drawn.
    pub fn take_inputs(&mut self) -> Option<DrawInputs> {
        self.inputs.take()
    }

    /// Sets the readings: choices for rules that the documents leave open.
    pub fn set_readings(&mut self, readings: Readings) {
        self.readings = readings;
    }

    /// Returns the readings.
    #[must_use]
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Sets the readings of the fragment processor and the texture units.
    pub fn set_fragment_readings(&mut self, readings: r500_exec::Readings) {
        self.exec_readings = readings;
    }

    /// Sets a reading by name, of this crate or of the fragment processor.
    ///
    /// # Errors
    /// [`ReadingError`] if neither has such a reading or value.
    pub fn set_reading(&mut self, name: &str, value: &str) -> Result<(), ReadingError> {
        match self.readings.set(name, value) {
            Err(ReadingError::Name { .. }) => self.exec_readings.set(name, value),
            result => result,
        }
    }

    /// Sets whether every pixel goes through the rules of each block, one after the other, also in states for which there is a faster path, and
    /// every vertex through the interpreter.
    /// Both leave the same bits; initially faster paths are taken.
    pub fn set_rules_only(&mut self, rules_only: bool) {
        self.rules_only = rules_only;
        self.vertex_engines.set_rules_only(rules_only);
    }

    /// Sets whether to measure how long each block takes for each draw; initially not. The caller
    /// [takes](Self::take_draw_times) the times after each submission.
    pub fn set_draw_times(&mut self, measured: bool) {
        self.draw_times = measured.then(Vec::new);
    }

    /// Returns the times of the draws since the last call, in order; empty if they are not measured.
    pub fn take_draw_times(&mut self) -> Vec<DrawTime> {
        self.draw_times.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Sets the limits of each submission.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Sets the time after which submissions end with [`CardError::Time`]; initially none.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Returns the registers and memories after the submissions so far.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the statistics, and what was executed differently from a real card.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Executes a submission. Invalid packets are noted and skipped.
    ///
    /// # Errors
    /// [`CardError`] if a limit ends it; earlier draws stay.
    pub fn submit(&mut self, submission: &Submission) -> Result<(), CardError> {
        self.execute(submission, None).map(drop)
    }

    /// Executes a submission up to and including a draw. Draws count from 0 over all submissions. Returns whether the
    /// draw was reached; if not, all of the submission is executed.
    ///
    /// # Errors
    /// [`CardError`] if a limit ends it.
    pub fn submit_through(
        &mut self,
        submission: &Submission,
        draw: u64,
    ) -> Result<bool, CardError> {
        self.execute(submission, Some(draw))
    }

    /// Returns the contents of render target `n`, 0 to 3, by the current registers; `None` if no buffer is bound or the
    /// format is not modelled.
    #[must_use]
    pub fn target(&self, n: usize) -> Option<TargetPicture> {
        TargetPicture::new(&self.state, &self.readings, n)
    }

    /// Executes a submission to its end or to the draw `last`. Returns whether it reached that draw.
    fn execute(&mut self, submission: &Submission, last: Option<u64>) -> Result<bool, CardError> {
        let Self {
            state,
            engine,
            readings,
            exec_readings,
            limits,
            deadline,
            report,
            zpass,
            wanted,
            recorded,
            wanted_inputs,
            inputs,
            texture_cache,
            textures,
            vertex_engines,
            quads,
            rules_only,
            draw_times,
        } = self;
        report.statistics.submissions += 1;
        textures.begin_submission();
        let mut budget = Budget::new(*limits).until(*deadline);
        let mut cp = CommandProcessor::new(state, submission);
        while let Some(effect) = cp.next_effect() {
            match effect {
                Ok(Effect::Draw(call)) => {
                    let number = report.statistics.draws;
                    if *wanted_inputs == Some(number) {
                        *inputs = DrawInputs::new(cp.state(), &call, readings, *exec_readings)?;
                    }
                    let record = *wanted == Some(number);
                    let mut recording = record.then(Recording::default);
                    let before = report.statistics;
                    let mut context = Context {
                        engine: engine.as_ref(),
                        readings,
                        exec_readings: *exec_readings,
                        report,
                        budget: &mut budget,
                        zpass,
                        recording: recording.as_mut(),
                        texture_cache,
                        textures,
                        rules_only: *rules_only,
                        clock: draw_times.is_some().then(|| Clock::begin(before)),
                    };
                    let drawn = cp::draw(cp.state(), &call, vertex_engines, quads, &mut context);
                    let clock = context.clock;
                    if let (Some(times), Some(clock)) = (draw_times.as_mut(), clock) {
                        times.push(clock.end(report.statistics));
                    }
                    report.set_programs(engine.program_use());
                    drawn?;
                    if let Some(recording) = recording {
                        *recorded = recording.finish()?;
                    }
                    if last == Some(number) {
                        return Ok(true);
                    }
                }
                Ok(Effect::Trigger { register, value, .. }) => {
                    if register.mapping.address == ZbZpassData::MAPPING.address {
                        *zpass = value;
                    } else if register.mapping.address == TxInvalTags::MAPPING.address {
                        texture_cache.invalidate();
                    } else if register.mapping.address == ZbZpassAddr::MAPPING.address
                        && let Some(binding) = cp.state().binding::<ZbZpassAddr>()
                    {
                        let count = if counts_here(cp.state()) { *zpass } else { 0 };
                        binding.buffer.store(value as usize & !3, count);
                    }
                }
                Ok(Effect::Clear { opcode, .. }) => {
                    let name = opcode.describe().map_or("a clear", |value| value.name);
                    report.note(Note::Stream {
                        why: format!("{name} clears memory that is not modelled"),
                    });
                }
                Ok(_) => {}
                Err(error) => report.stream(&error.kind),
            }
        }
        Ok(false)
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Card")
            .field("engine", &self.engine.name())
            .field("readings", &self.readings)
            .field("limits", &self.limits)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

/// Returns whether writes of `ZB` registers reach the depth unit that counts. The card has one unit, the first;
/// programs add the counts of the others, which are 0.
fn counts_here(state: &State) -> bool {
    let registers = &state.registers;
    let pipes =
        !registers.is_written::<SuRegDest>() || registers.get::<SuRegDest>().select() & 1 != 0;
    let units = !registers.is_written::<FgZbregDest>()
        || registers.get::<FgZbregDest>().pipe_select() & 1 != 0;
    pipes && units
}

/// Returns the initial registers: those that the kernel's radeon driver writes when it starts a chip of this family,
/// and neutral values where programs rely on previous state (open).
fn initial_state() -> State {
    let mut state = State::default();
    let values = [
        (GbMspos0::MAPPING, 0x6666_6666),
        (GbMspos1::MAPPING, 0x0666_6666),
        // Both faces filled; positions and colours rounded to nearest.
        (GaPolyMode::MAPPING, 2 << 4 | 2 << 7),
        (GaRoundMode::MAPPING, 1 | 1 << 2),
        (VapVfMaxVtxIndx::MAPPING, 0xff_ffff),
        (VapGbHorzClipAdj::MAPPING, 1_f32.to_bits()),
        (VapGbVertClipAdj::MAPPING, 1_f32.to_bits()),
        (ScClipRule::MAPPING, 0xffff),
        (ScScreendoor::MAPPING, 0xff_ffff),
    ];
    for (mapping, value) in values {
        state.registers.write(mapping.address, value);
    }
    state
}
