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
//! A draw without a [`Function`](r500_ir::Function) runs on the [reference engine](mod@r500_exec::reference), for the reason in
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
mod batch_draw;
mod batch_io;
mod bytecode;
mod bytecode_gen;
mod chunk_stores;
mod code_version;
#[doc(hidden)]
pub mod codegen;
mod direct;
mod dispatch;
mod draw;
mod fuel;
mod fusion;
mod interp;
mod interpolants;
pub(crate) mod lanes;
mod linearizer;
mod live_ranges;
mod native_code;
mod output_lines;
mod reg_file;
mod render_targets;
mod surface_draw;
mod tile;
mod uniforms;
mod unit_builder;

use batch_draw::BatchDraw;
use r500_exec::reference::Reference;
use r500_exec::{Draw, DrawKey, Engine, Fallback, PreparedDraw};
use r500_lift::{LiftInput, ProgramAnalysis, SymbolicConstants, lift_symbolic};

pub use r500_simd::Simd;

// For native compilers and their tests, not for embedders.
#[doc(hidden)]
pub use draw::FastDraw;
#[doc(hidden)]
pub use native_code::NativeCode;

/// The fast engine.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    simd: Simd,
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
        Self { simd: if simd.is_available() { simd } else { Simd::Portable } }
    }

    /// Returns its vector instructions.
    #[must_use]
    pub fn simd(self) -> Simd {
        self.simd
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
        let lifted = LiftInput::of_draw(&draw).and_then(|input| {
            let analysis = ProgramAnalysis::new(&input)?;
            Ok((lift_symbolic(&input, &analysis, &SymbolicConstants::none())?, analysis))
        });
        match lifted {
            Ok((function, analysis)) => {
                let optimized = r500_ir::optimize_for_codegen(&function);
                let function = optimized.unwrap_or(function);
                let code = NativeCode::batch(&function, &[], self.simd);
                Box::new(BatchDraw::new(FastDraw::new(&draw, code, self.simd), analysis, self.simd))
            }
            Err(reason) => Box::new(Fallback {
                prepared: Reference.prepare(draw),
                key: DrawKey::of(&draw),
                reason: reason.to_string(),
            }),
        }
    }
}
