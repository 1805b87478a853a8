//! The engines by name. This crate is the lowest that has them all.

use std::sync::LazyLock;

use r500_exec::reference::Reference;
use r500_exec::{Engine, EngineName};
use r500_fast::{Fast, Simd, VertexEngine};

use crate::{Jit, Settings};

/// Returns a new engine. Level and settings are for those that they concern.
#[must_use]
pub fn engine(name: EngineName, simd: Simd, settings: Settings) -> Box<dyn Engine + Send> {
    match name {
        EngineName::Reference => Box::new(Reference),
        EngineName::Fast => Box::new(Fast::with(simd)),
        EngineName::Jit => Box::new(Jit::with(simd, settings)),
    }
}

/// Returns a new engine that compiles vertex programs; `None` for an engine that leaves them to the interpreter.
#[must_use]
pub fn vertex_engine(
    name: EngineName,
    simd: Simd,
    settings: Settings,
) -> Option<Box<dyn VertexEngine>> {
    match name {
        EngineName::Reference | EngineName::Fast => None,
        EngineName::Jit => Some(Box::new(Jit::with(simd, settings))),
    }
}

/// Returns the engine that all users in this process share, and with it one cache of programs, with the best vector instructions.
#[must_use]
pub fn shared_engine(name: EngineName) -> &'static dyn Engine {
    static FAST: LazyLock<Fast> = LazyLock::new(Fast::new);
    static JIT: LazyLock<Jit> = LazyLock::new(Jit::new);
    match name {
        EngineName::Reference => &Reference,
        EngineName::Fast => &*FAST,
        EngineName::Jit => &*JIT,
    }
}

/// Returns the engine for pictures if none is named: jit where it compiles for this level, else fast.
#[must_use]
pub fn usual_engine(simd: Simd) -> EngineName {
    if Jit::compiles(simd) { EngineName::Jit } else { EngineName::Fast }
}
