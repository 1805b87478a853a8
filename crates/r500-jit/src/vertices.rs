//! Vertex functions as machine code.

use r500_fast::{VertexCode, VertexEngine};
use r500_lift::VertexFunction;

use crate::Jit;

impl VertexEngine for Jit {
    fn vertex_engine(&self) -> &'static str {
        match self.compiler() {
            Some(_) => "jit",
            None => self.fast().vertex_engine(),
        }
    }

    /// Compiles a function on this thread. Where there is no machine code, the fast engine compiles it.
    fn compile_vertices(&self, function: &VertexFunction) -> VertexCode {
        match self.compiler() {
            Some(compiler) => compiler.compile_vertices(function),
            None => self.fast().compile_vertices(function),
        }
    }
}
