//! The card: state that lasts from submission to submission.

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
use r500_exec::Engine;
use r500_fast::Fast;
use r500_stream::{CommandProcessor, Effect, State, Submission};

use crate::cp::{self, Context};
use crate::limits::{Budget, CardError, Limits};
use crate::reading::{ReadingError, Readings};
use crate::recording::{DrawJob, Recording};
use crate::report::{Note, Report};
use crate::target_picture::TargetPicture;

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
    /// Samples that passed since `ZB_ZPASS_DATA` was written.
    zpass: u32,
    /// The draw to record, by [`Statistics::draws`](crate::Statistics::draws) before it.
    wanted: Option<u64>,
    recorded: Option<DrawJob>,
}

impl Default for Card {
    fn default() -> Self {
        Self::new()
    }
}

impl Card {
    /// Returns a card as the kernel's driver starts it, with the fast engine for fragment programs.
    #[must_use]
    pub fn new() -> Self {
        Self::with_engine(Box::new(Fast::new()))
    }

    /// Returns a card whose fragment programs run on this engine.
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
        }
    }

    /// Records a draw when it comes: draws count from 0 over all submissions.
    pub fn record(&mut self, draw: u64) {
        self.wanted = Some(draw);
    }

    /// Takes the recorded draw as a job; `None` if it has not come yet or shaded nothing.
    pub fn take_recorded(&mut self) -> Option<DrawJob> {
        self.recorded.take()
    }

    /// Sets the choices for rules that documents leave open.
    pub fn set_readings(&mut self, readings: Readings) {
        self.readings = readings;
    }

    /// Returns the choices for rules that documents leave open.
    #[must_use]
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Sets the choices for open rules of the fragment processor and the texture units.
    pub fn set_fragment_readings(&mut self, readings: r500_exec::Readings) {
        self.exec_readings = readings;
    }

    /// Sets the choice for an open rule by its name, of this crate's or of the fragment processor's readings.
    ///
    /// # Errors
    /// [`ReadingError`] if neither has such a reading or value.
    pub fn set_reading(&mut self, name: &str, value: &str) -> Result<(), ReadingError> {
        match self.readings.set(name, value) {
            Err(ReadingError::Name { .. }) => self.exec_readings.set(name, value),
            result => result,
        }
    }

    /// Sets bounds for each submission.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Sets the time at which submissions end with [`CardError::Time`]; none at first.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Returns the registers and memories as the submissions so far leave them.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns what could not be done as a real card does it, and counts.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Executes a submission to its end. Packets that are wrong are noted and left out.
    ///
    /// # Errors
    /// [`CardError`] if a limit ends it; what was drawn before stays.
    pub fn submit(&mut self, submission: &Submission) -> Result<(), CardError> {
        self.execute(submission, None).map(drop)
    }

    /// Executes a submission up to a draw, that one included: draws count from 0 over all submissions. Returns whether the
    /// draw came; if not, all of the submission is executed.
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

    /// Returns what a render target, 0 to 3, holds, with the registers as the submissions so far leave them; `None` if no
    /// buffer is bound or the format is not modelled.
    #[must_use]
    pub fn target(&self, n: usize) -> Option<TargetPicture> {
        TargetPicture::new(&self.state, &self.readings, n)
    }

    /// Executes a submission to its end or to the draw `last`. Returns whether it came to that draw.
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
        } = self;
        report.statistics.submissions += 1;
        let mut budget = Budget::new(*limits).until(*deadline);
        let mut cp = CommandProcessor::new(state, submission);
        while let Some(effect) = cp.next_effect() {
            match effect {
                Ok(Effect::Draw(call)) => {
                    let number = report.statistics.draws;
                    let record = *wanted == Some(number);
                    let mut recording = record.then(Recording::default);
                    let mut context = Context {
                        engine: engine.as_ref(),
                        readings,
                        exec_readings: *exec_readings,
                        report,
                        budget: &mut budget,
                        zpass,
                        recording: recording.as_mut(),
                    };
                    cp::draw(cp.state(), &call, &mut context)?;
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

/// Returns whether the depth unit that counts is among those that writes of `ZB` registers reach. The card has one unit, the
/// first; others, whose counts programs add to its own, have counted nothing.
fn counts_here(state: &State) -> bool {
    let registers = &state.registers;
    let pipes =
        !registers.is_written::<SuRegDest>() || registers.get::<SuRegDest>().select() & 1 != 0;
    let units = !registers.is_written::<FgZbregDest>()
        || registers.get::<FgZbregDest>().pipe_select() & 1 != 0;
    pipes && units
}

/// The registers as programs find them: what the kernel's radeon driver writes when it starts a chip of this family, and
/// values that leave the picture alone where programs rely on what was there (open).
fn initial_state() -> State {
    let mut state = State::default();
    let values = [
        (GbMspos0::MAPPING, 0x6666_6666),
        (GbMspos1::MAPPING, 0x0666_6666),
        // Both faces filled; positions and colours to nearest.
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
