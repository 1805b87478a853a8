//! Compiled functions: bytecode, with machine code for what a compiler supports.

use super::bytecode::Bytecode;
use super::codegen::{Compiler, ResourceLayout};
use super::tile::batch_width;
use super::unit_builder::UnitContext;
use r500_ir::{Function, Value};
use r500_simd::Simd;

/// A compiled function, with or without machine code.
#[derive(Clone, Debug)]
pub struct NativeCode {
    pub(super) code: Bytecode,
    pub(super) batch_width: u32,
}

impl NativeCode {
    /// Compiles to bytecode only. `uniforms` are the values of the function's uniforms, in order.
    ///
    /// # Panics
    /// If the numbers of values and uniforms differ.
    #[must_use]
    pub fn batch(function: &Function, uniforms: &[f32], simd: Simd) -> Self {
        let code = Bytecode::new(function, &bind(function, uniforms), simd);
        let batch_width = batch_width(code.slots);
        Self { code, batch_width }
    }

    /// Compiles to bytecode and machine code, as far as the compiler supports it. Machine code does not depend on the values of uniforms.
    /// The resources are those of the draw. `simd` is the level of bytecode.
    ///
    /// # Panics
    /// If the numbers of values and uniforms differ.
    #[must_use]
    pub fn compile(
        function: &Function,
        uniforms: &[f32],
        resources: &ResourceLayout,
        simd: Simd,
        compiler: &dyn Compiler,
    ) -> Self {
        let uniforms = bind(function, uniforms);
        let counted = r500_ir::optimize_for_codegen(function);
        let function = counted.as_ref().unwrap_or(function);
        let mut refused = Vec::new();
        // Refused units become ops, which changes the slots of the others.
        loop {
            let native = UnitContext { compiler, resources, refused: &refused };
            let (code, batch_width, newly_refused) =
                Bytecode::with_native(function, &uniforms, simd, &native);
            if newly_refused.is_empty() {
                return Self { code, batch_width };
            }
            refused.extend(newly_refused);
        }
    }

    /// Returns the same code for other values of the function's uniforms, in order.
    #[must_use]
    pub fn with_uniforms(&self, values: &[f32]) -> Self {
        let mut bound = self.clone();
        bound.code.set_uniforms(values);
        bound
    }

    /// Returns the number of the function's operations that are machine code, and of all operations. Fetches count if the compiler supports
    /// them.
    #[must_use]
    pub fn coverage(&self) -> (usize, usize) {
        self.code.coverage
    }
}

/// Returns the uniforms of a function with their values.
fn bind(function: &Function, uniforms: &[f32]) -> Vec<(Value, f32)> {
    assert_eq!(function.uniforms.len(), uniforms.len(), "each uniform has a value");
    function.uniforms.iter().map(|uniform| uniform.value).zip(uniforms.iter().copied()).collect()
}
