//! The WebAssembly back end, with SIMD128: the host compiles modules.
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ LirFunction ──guards, emit, module──▶ bytes ──host──▶ CompiledKernel
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | modules as kernels of the fast engine |
//! | `host` | the interface to the host, and calls: all `unsafe` |
//! | `module` | encoding of a module |
//! | `emit` | code emission |
//! | `guards` | guard placement: which values are checked for subnormals |
//! | `ftz_analysis` | flush-to-zero analysis: why other values need no check |

mod emit;
mod ftz_analysis;
mod guards;
#[cfg(target_arch = "wasm32")]
mod host;
#[cfg(target_arch = "wasm32")]
mod kernel;
mod module;

#[cfg(target_arch = "wasm32")]
pub(crate) use kernel::{Backend, CompiledKernel};

#[cfg(test)]
mod tests;
