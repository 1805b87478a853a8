//! The report: what a card was asked that no block implements, and counts.

use std::collections::BTreeMap;
use std::fmt;

use r500_stream::{StreamErrorKind, counted};

/// What a card has met and counted.
#[derive(Clone, Debug, Default)]
pub struct Report {
    notes: BTreeMap<Note, u64>,
    /// Counts.
    pub statistics: Statistics,
}

/// Something that was asked and not done as a real card does it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Note {
    /// A register of a draw holds a value that no block implements: its name and value.
    Register {
        /// Documented name.
        name: String,
        /// What it holds.
        value: u32,
        /// The field that matters and what it would do.
        about: &'static str,
    },
    /// A texture that cannot be sampled; its unit returns what a disabled one does.
    Texture {
        /// The unit.
        unit: usize,
        /// Why.
        why: String,
    },
    /// A draw without a fragment program that can run, which draws nothing.
    Program {
        /// Why.
        why: String,
    },
    /// A render target of a format that cannot be written.
    Target {
        /// The target, 0 to 3.
        target: usize,
        /// Why.
        why: String,
    },
    /// A primitive type or a source of vertices that cannot be drawn.
    Draw {
        /// Why.
        why: String,
    },
    /// A packet that is wrong; the stream continues after it.
    Stream {
        /// Why.
        why: String,
    },
}

/// Counts of a card's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Submissions.
    pub submissions: u64,
    /// Draws.
    pub draws: u64,
    /// Vertices that were fetched and transformed.
    pub vertices: u64,
    /// Points, lines and triangles after assembly.
    pub primitives: u64,
    /// Quads of pixels that were shaded.
    pub quads: u64,
    /// Samples that passed depth and stencil tests.
    pub samples: u64,
}

impl Report {
    /// Returns what was not done as a real card does it, and how often.
    pub fn notes(&self) -> impl Iterator<Item = (&Note, u64)> {
        self.notes.iter().map(|(note, count)| (note, *count))
    }

    /// Most different notes that are kept: a stream of random values has no end of them.
    const MOST: usize = 1000;

    pub(crate) fn note(&mut self, note: Note) {
        if self.notes.len() < Self::MOST || self.notes.contains_key(&note) {
            *self.notes.entry(note).or_default() += 1;
        }
    }

    pub(crate) fn stream(&mut self, kind: &StreamErrorKind) {
        self.note(Note::Stream { why: kind.to_string() });
    }
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

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { submissions, draws, vertices, primitives, quads, samples } = *self;
        write!(
            f,
            "{}, {}, {}, {}, {}, {} passed",
            counted(submissions, "submission"),
            counted(draws, "draw"),
            counted(vertices, "vertex"),
            counted(primitives, "primitive"),
            counted(quads, "quad"),
            counted(samples, "sample")
        )
    }
}
