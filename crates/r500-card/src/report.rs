//! The report: statistics, the engines that ran fragment programs, and requests that no block implements.

use std::collections::BTreeMap;
use std::fmt;

use r500_exec::{AnotherEngine, ProgramUse, RunInfo};
use r500_stream::{StreamErrorKind, counted};

use crate::texture_cache::StaleTexels;

/// The notes and statistics of a card.
#[derive(Clone, Debug, Default)]
pub struct Report {
    notes: BTreeMap<Note, u64>,
    engines: BTreeMap<EngineChoice, u64>,
    vertex_engines: BTreeMap<EngineChoice, u64>,
    stale_texels: Vec<StaleTexels>,
    programs: Option<ProgramUse>,
    /// Statistics.
    pub statistics: Statistics,
}

/// A request that is executed differently from a real card.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Note {
    /// A register of a draw with a value that no block implements: its name and value.
    Register {
        /// Documented name.
        name: String,
        /// Its value.
        value: u32,
        /// The field with an effect, and the missing effect.
        about: &'static str,
    },
    /// A texture that cannot be sampled; its unit acts as a disabled one.
    Texture {
        /// The unit.
        unit: usize,
        /// The reason.
        why: String,
    },
    /// A draw without a runnable fragment program, which draws nothing.
    Program {
        /// The reason.
        why: String,
    },
    /// A render target with an unsupported format.
    Target {
        /// The target, 0 to 3.
        target: usize,
        /// The reason.
        why: String,
    },
    /// An unsupported primitive type or vertex source.
    Draw {
        /// The reason.
        why: String,
    },
    /// An invalid packet, which is skipped.
    Stream {
        /// The reason.
        why: String,
    },
}

/// The engine that ran a fragment program, or a vertex program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineChoice {
    /// The engine.
    pub engine: &'static str,
    /// Why it is not the engine of the card.
    pub fallback_reason: Option<String>,
}

/// Statistics of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of submissions.
    pub submissions: u64,
    /// Number of draws.
    pub draws: u64,
    /// Number of fetched and transformed vertices.
    pub vertices: u64,
    /// Number of points, lines and triangles after assembly.
    pub primitives: u64,
    /// Number of shaded quads of pixels.
    pub quads: u64,
    /// Number of these quads that were tested and stored many at a time, on the path for common states.
    pub quads_by_lanes: u64,
    /// Number of samples that passed depth and stencil tests.
    pub samples: u64,
    /// Number of draws that read texels which were written after the last `TX_INVALTAGS`.
    pub stale_draws: u64,
}

impl Report {
    /// Returns the notes and how often each occurred.
    pub fn notes(&self) -> impl Iterator<Item = (&Note, u64)> {
        self.notes.iter().map(|(note, count)| (note, *count))
    }

    /// Returns which engines ran the fragment programs of draws, why it was not the engine of the card, and for how many draws. Draws that
    /// shade nothing are not counted. A draw of several pictures counts once, for another engine if one ran any of them.
    pub fn engines(&self) -> impl Iterator<Item = (&EngineChoice, u64)> {
        self.engines.iter().map(|(choice, draws)| (choice, *draws))
    }

    /// Returns which engines ran vertex programs, why it was the interpreter where a program cannot be compiled, and for how many vertices.
    /// The interpreter also runs draws of few vertices, and programs whose compilation would not pay yet.
    pub fn vertex_engines(&self) -> impl Iterator<Item = (&EngineChoice, u64)> {
        self.vertex_engines.iter().map(|(choice, vertices)| (choice, *vertices))
    }

    /// Returns how often the engine prepared fragment programs and reused them; `None` if it prepares none. A draw may consist of several
    /// pictures, each of which counts.
    #[must_use]
    pub fn programs(&self) -> Option<ProgramUse> {
        self.programs
    }

    pub(crate) fn set_programs(&mut self, programs: Option<ProgramUse>) {
        self.programs = programs;
    }

    /// Checks that an engine ran the fragment program of every draw. Returns the number of these draws.
    ///
    /// # Errors
    /// [`AnotherEngine`] if another one ran any.
    pub fn drawn_by(&self, engine: &str) -> Result<u64, AnotherEngine> {
        for EngineChoice { engine: other, fallback_reason } in self.engines.keys() {
            if *other != engine {
                let reason = fallback_reason.clone();
                return Err(AnotherEngine { wanted: engine.to_owned(), engine: other, reason });
            }
        }
        Ok(self.engines.values().sum())
    }

    pub(crate) fn count_engine(&mut self, ran: RunInfo) {
        let RunInfo { engine, fallback_reason, .. } = ran;
        count(&mut self.engines, EngineChoice { engine, fallback_reason }, 1);
    }

    pub(crate) fn count_vertices(&mut self, choice: EngineChoice, vertices: u64) {
        count(&mut self.vertex_engines, choice, vertices);
    }

    /// Limit of different notes, because a stream of random values has no end of them.
    const MOST: usize = 1000;

    pub(crate) fn note(&mut self, note: Note) {
        if self.notes.len() < Self::MOST || self.notes.contains_key(&note) {
            *self.notes.entry(note).or_default() += 1;
        }
    }

    /// Returns the reads of texels that were written after the last `TX_INVALTAGS`, up to the first thousand: a
    /// chip's texture cache may hold older ones. The pictures of this card do not depend on it.
    #[must_use]
    pub fn stale_texels(&self) -> &[StaleTexels] {
        &self.stale_texels
    }

    /// Returns a line about these reads; `None` if there are none.
    #[must_use]
    pub fn stale_texels_note(&self) -> Option<String> {
        let first = self.stale_texels.first()?;
        Some(match self.statistics.stale_draws {
            1 => format!("a card may show older texels: {first}"),
            draws => format!("a card may show older texels: {draws} draws, the first is: {first}"),
        })
    }

    /// Adds the reads of a draw.
    pub(crate) fn stale(&mut self, reads: Vec<StaleTexels>) {
        self.statistics.stale_draws += u64::from(!reads.is_empty());
        let room = Self::MOST.saturating_sub(self.stale_texels.len());
        self.stale_texels.extend(reads.into_iter().take(room));
    }

    /// Returns a line for everything that a user should know of the pictures: what was not drawn as a card does it, draws that the
    /// reference engine took over, and reads of stale texels. None if a card draws the same.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let notes = self.notes().map(|(note, count)| {
            format!("not drawn as a card does: {note} ({})", counted(count, "time"))
        });
        let aside = self.engines().filter(|(choice, _)| choice.steps_aside());
        let aside = aside.map(|(choice, draws)| format!("{} by {choice}", counted(draws, "draw")));
        notes.chain(aside).chain(self.stale_texels_note())
    }

    pub(crate) fn stream(&mut self, kind: &StreamErrorKind) {
        self.note(Note::Stream { why: kind.to_string() });
    }
}

/// Adds to the count of an engine. The number of different reasons is limited.
fn count(engines: &mut BTreeMap<EngineChoice, u64>, mut choice: EngineChoice, more: u64) {
    if engines.len() >= Report::MOST && !engines.contains_key(&choice) {
        choice.fallback_reason = Some("other reasons".to_owned());
    }
    *engines.entry(choice).or_default() += more;
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register { name, value, about } => write!(f, "{name} = {value:#010x}: {about}"),
            Self::Texture { unit, why } => write!(f, "texture unit {unit}: {why}"),
            Self::Program { why } => write!(f, "fragment program: {why}"),
            Self::Target { target, why } => write!(f, "render target {target}: {why}"),
            Self::Draw { why } => write!(f, "draw: {why}"),
            Self::Stream { why } => write!(f, "stream: {why}"),
        }
    }
}

impl EngineChoice {
    /// Returns whether the reference engine, which is slow, ran draws in place of another one.
    #[must_use]
    pub fn steps_aside(&self) -> bool {
        self.engine == "reference" && self.fallback_reason.is_some()
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} engine", self.engine)?;
        match &self.fallback_reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            submissions,
            draws,
            vertices,
            primitives,
            quads,
            quads_by_lanes,
            samples,
            stale_draws: _,
        } = *self;
        write!(
            f,
            "{}, {}, {}, {}, {} ({quads_by_lanes} on the path for common states), {} passed",
            counted(submissions, "submission"),
            counted(draws, "draw"),
            counted(vertices, "vertex"),
            counted(primitives, "primitive"),
            counted(quads, "quad"),
            counted(samples, "sample")
        )
    }
}
