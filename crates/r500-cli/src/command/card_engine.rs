//! The engines that run fragment and vertex programs on the virtual card.

use clap::ValueEnum;
use r500::exec::Engine;
use r500::exec::reference::Reference;
use r500::fast::{Fast, Simd, VertexEngine};
use r500::jit::{Effort, Jit, Settings, When};

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CardEngine {
    /// Defines the results; one pixel group after the other
    Reference,
    /// Many pixels at a time
    Fast,
    /// Machine code; for programs that draw enough to pay for it
    Jit,
}

impl CardEngine {
    /// Returns a new engine for a replay, which compares engines: machine code draws from the first picture of a program on.
    pub(super) fn engine(self) -> Box<dyn Engine + Send> {
        let settings = Settings { when: When::Before(Effort::Quick), ..Settings::default() };
        match self {
            Self::Reference => Box::new(Reference),
            Self::Fast => Box::new(Fast::new()),
            Self::Jit => Box::new(Jit::with(Simd::detect(), settings)),
        }
    }

    /// Returns a new engine that compiles vertex programs; `None` if the interpreter runs them.
    pub(super) fn vertex_engine(self) -> Option<Box<dyn VertexEngine>> {
        match self {
            Self::Jit => Some(Box::new(Jit::new())),
            Self::Reference | Self::Fast => None,
        }
    }

    /// Returns the name by which the library of the card knows the engine.
    #[cfg(target_os = "linux")]
    pub(super) fn name(self) -> r500_drm::EngineName {
        match self {
            Self::Reference => r500_drm::EngineName::Reference,
            Self::Fast => r500_drm::EngineName::Fast,
            Self::Jit => r500_drm::EngineName::Jit,
        }
    }
}
