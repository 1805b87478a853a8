//! Versions of a draw's code, with the scratch memory of the threads that run them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bytecode::Bytecode;
use super::interp::Scratch;
use super::native_code::NativeCode;
use super::render_targets::TARGETS;
use r500_exec::output::color::PixelEncoding;
use r500_simd::Simd;

/// A version of the code. It may be replaced between two bands.
pub(super) struct CodeVersion {
    pub(super) simd: Simd,
    pub(super) code: Bytecode,
    /// Columns of chunks per batch.
    pub(super) batch_width: u32,
    /// Unused scratch memory: allocating it for each band would take longer than a short program.
    pub(super) scratch_pool: Mutex<Vec<Scratch>>,
}

/// Code that stores colours in the formats of surfaces.
pub(super) struct SurfaceCode {
    pub(super) encodings: [Option<PixelEncoding>; TARGETS],
    pub(super) version: CodeVersion,
}

impl CodeVersion {
    /// Sets the values of uniforms, also in the slots of scratch memory.
    pub(super) fn set_uniforms(&mut self, values: &[f32]) {
        self.code.set_uniforms(values);
        let scratch = self.scratch_pool.get_mut().unwrap_or_else(PoisonError::into_inner);
        scratch.iter_mut().for_each(|scratch| scratch.set_uniforms(&self.code));
    }

    pub(super) fn new(NativeCode { code, batch_width }: NativeCode, simd: Simd) -> Self {
        Self { simd, code, batch_width, scratch_pool: Mutex::default() }
    }
}

/// Locks a mutex, even if it is poisoned.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
