//! A function with the bindings of a draw.

use std::sync::Arc;

use r500_exec::Draw;
use r500_fast::codegen::{Compiler, ResourceLayout};
use r500_fast::{NativeCode, Simd};
use r500_ir::Function;

/// A function, the values of its uniforms, and the layout of its resources.
#[derive(Clone, Debug)]
pub(crate) struct BoundFunction {
    pub(crate) function: Arc<Function>,
    /// In the order of the function's uniforms.
    pub(crate) uniforms: Vec<f32>,
    pub(crate) resources: ResourceLayout,
}

impl BoundFunction {
    /// Returns the function of a draw with its bindings.
    pub(crate) fn new(function: Arc<Function>, draw: &Draw<'_>) -> Self {
        let uniforms = function.uniform_values(draw.bindings.constants());
        let resources =
            ResourceLayout::of(&function, draw.bindings, &draw.options.readings.texture());
        Self { function, uniforms, resources }
    }

    /// Compiles the function.
    pub(crate) fn compile(&self, simd: Simd, compiler: &dyn Compiler) -> NativeCode {
        NativeCode::compile(&self.function, &self.uniforms, &self.resources, simd, compiler)
    }
}
