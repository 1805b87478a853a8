//! The fast engine: a batch interpreter of the IR, and the interface to a native compiler.
//!
//! Each draw [lifts](mod@r500_lift) its program to operations on single channels, which are compiled to bytecode over slots. An op is a loop
//! over some hundred pixels, whose values are contiguous, sixteen to a chunk. The loops are plain Rust, compiled for each level of vector
//! instructions and selected at run time ([`Simd`]); the slots in use fit the processor's cache.
//!
//! ```text
//! Function ──linearizer, live_ranges──▶ Bytecode ──interp──▶ Band
//!     └──────codegen──▶ kernels (machine code) ───────┘
//! ```
//!
//! A native compiler ([`codegen`]) compiles parts of a function, which become ops that call its code.
//!
//! A draw without a [`Function`] runs on the [reference engine](mod@r500_exec::reference), for the reason in
//! [`RunInfo::fallback_reason`](r500_exec::RunInfo::fallback_reason).
//!
//! This crate uses the IR (`r500-ir`), the lift (`r500-lift`), the engine interface (`r500-exec`), the batch fetches of `r500-texture` and the levels of
//! `r500-simd`.

#![allow(
    clippy::expect_used,
    reason = "a broken invariant of a function is a bug that must stop loudly"
)]

mod arg;
mod band_target;
mod batch_io;
mod bytecode;
mod bytecode_gen;
mod chunk_stores;
mod code_version;
#[doc(hidden)]
pub mod codegen;
mod constant_load;
mod direct;
mod dispatch;
mod draw;
mod fuel;
mod fusion;
mod interp;
mod interpolants;
mod linearizer;
mod live_ranges;
mod native_code;
mod output_lines;
mod quads;
mod reg_file;
mod render_targets;
mod surface_draw;
mod tile;
mod uniforms;
mod unit_builder;
mod vertices;

use std::sync::Arc;

use r500_exec::reference::Reference;
use r500_exec::{
    Draw, DrawKey, Engine, Fallback, PreparedDraw, PreparedQuads, ProgramUse, ReferenceQuads,
};
use r500_ir::Function;
use r500_lift::{LiftError, LiftInput, PreparedProgram, ProgramCache, SymbolicConstants};

pub use r500_simd::Simd;
pub use vertices::{VertexBatch, VertexCode, VertexEngine, VertexLimit};

// For native compilers and their tests, not for embedders.
#[doc(hidden)]
pub use draw::FastDraw;
#[doc(hidden)]
pub use native_code::NativeCode;
#[doc(hidden)]
pub use quads::{FastQuads, quad_function};

/// The fast engine.
///
/// It keeps the programs that it has prepared, in a cache of limited size that its clones share: another draw of the same program with other
/// constants, inputs or textures of the same kind needs no preparation.
#[derive(Clone, Debug)]
pub struct Fast {
    simd: Simd,
    programs: Arc<ProgramCache<NativeCode>>,
    quad_programs: Arc<ProgramCache<NativeCode>>,
}

impl Fast {
    /// Returns the engine with the best vector instructions of this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Simd::detect())
    }

    /// Returns the engine with the given vector instructions, or with the portable ones if this machine lacks them.
    #[must_use]
    pub fn with(simd: Simd) -> Self {
        let simd = if simd.is_available() { simd } else { Simd::Portable };
        Self { simd, programs: Arc::default(), quad_programs: Arc::default() }
    }

    /// Returns its vector instructions.
    #[must_use]
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Returns a draw's program, and its code with the draw's constants. Code that the cache lacks is compiled from the function, or from what
    /// `form` makes of it.
    fn program(
        &self,
        cache: &ProgramCache<NativeCode>,
        draw: &Draw<'_>,
        form: impl Fn(&Function) -> Option<Function>,
    ) -> Result<(Arc<PreparedProgram<NativeCode>>, NativeCode), LiftError> {
        let input = LiftInput::of_draw(draw)?;
        let program = cache.get(&input, &SymbolicConstants::none(), |function, _| {
            let other = form(function);
            let function = other.as_ref().unwrap_or(function);
            let optimized = r500_ir::optimize_for_codegen(function);
            let function = optimized.as_ref().unwrap_or(function);
            let values = function.uniform_values(input.constants);
            NativeCode::batch(function, &values, self.simd)
        })?;
        let values = program.function.uniform_values(draw.bindings.constants());
        let code = program.compiled.with_uniforms(&values);
        Ok((program, code))
    }
}

impl Default for Fast {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine for Fast {
    fn name(&self) -> &'static str {
        "fast"
    }

    fn prepare(&self, draw: Draw<'_>) -> Box<dyn PreparedDraw> {
        let prepared = self.program(&self.programs, &draw, |_| None);
        match prepared {
            Ok((program, code)) => {
                let prepared = FastDraw::new(&draw, code, self.simd);
                let symbolic = program.symbolic.clone();
                Box::new(prepared.with_uniforms(symbolic, &program.function, &draw))
            }
            Err(reason) => Box::new(Fallback {
                prepared: Reference.prepare(draw),
                key: DrawKey::of(&draw),
                reason: reason.to_string(),
            }),
        }
    }

    fn prepare_quads(&self, draw: Draw<'_>) -> Box<dyn PreparedQuads> {
        let prepared =
            self.program(&self.quad_programs, &draw, |function| Some(quad_function(function)));
        match prepared {
            Ok((program, code)) => Box::new(FastQuads::new(&program.function, code, self.simd)),
            Err(reason) => Box::new(ReferenceQuads { fallback_reason: Some(reason.to_string()) }),
        }
    }

    fn program_use(&self) -> Option<ProgramUse> {
        Some(self.programs.counts() + self.quad_programs.counts())
    }
}
