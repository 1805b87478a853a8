//! An instruction-set emulator for the x86-64 code that `r500-jit` emits, with every memory access checked.
//!
//! It lets tests run code for AVX-512 and AVX2 on any machine. [`Program::decode`] decodes machine code once;
//! [`Program::run`] interprets the instructions over a [`Machine`] (general, vector and opmask registers, flags, MXCSR)
//! and a [`Memory`] of declared regions. The instruction set is exactly that of the code generator: any other
//! instruction is a [`DecodeError`]. An access outside of the regions or against their permissions, a misaligned access
//! of an instruction that requires alignment, and a violation of the calling convention are a [`Fault`] that names the
//! instruction.
//!
//! | module | contents |
//! | --- | --- |
//! | `decode`, `op` | from bytes to decoded instructions |
//! | `registers` | the state of the processor |
//! | `run` | the interpreter: control flow, integers, the calling convention |
//! | `vector` | vector and opmask instructions |
//! | `float` | IEEE 754 single precision under the control of MXCSR |
//! | `memory` | regions, their permissions, access errors |
//!
//! Not modelled: the exception flags of MXCSR (they keep their loaded values), the parity and adjust flags, and timing.
//! The rounding mode is to nearest even, and all floating-point exceptions are masked: loading any other setting into
//! MXCSR is a fault.
//!
//! `tests/processor.rs` compares every instruction with the processor, if the processor has it.
#![forbid(unsafe_code)]

mod decode;
mod fault;
mod float;
mod memory;
mod op;
mod registers;
mod run;
mod vector;

pub use decode::Program;
pub use fault::{DecodeError, Fault, FaultKind};
pub use memory::{AccessError, AccessKind, Memory, Name, ReadOnly, Refusal, RegionBytes};
pub use registers::{Flags, Lanes, Machine};
pub use run::{Environment, Host};
