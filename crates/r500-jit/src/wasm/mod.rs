//! Machine code by way of the host, in WebAssembly with SIMD128.
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ LirFunction ──watch, code, module──▶ bytes ──host──▶ CompiledKernel
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | a function of the host's as a step of the fast engine |
//! | `host` | what is asked of the host, and the call: all that is `unsafe` |
//! | `module` | the bytes of a module |
//! | `emit` | instructions |
//! | `guards` | which values are watched for what the law would flush |
//! | `ftz_analysis` | and why the others need not be |

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
