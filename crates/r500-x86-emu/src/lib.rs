//! An instruction-set emulator for the x86-64 code that `r500-jit` emits, with every memory access checked.
//!
//! It lets tests run code for AVX-512 and AVX2 on any machine. [`Program::decode`] turns machine code into
//! decoded instructions once; [`Program::run`] interprets them over a [`Machine`] (general, vector and
//! opmask registers, flags, MXCSR) and a [`Memory`] of declared regions. Its instruction set is exactly
//! the one that the code generator uses: any other instruction is a [`DecodeError`]. An access outside of
//! the regions or against their permissions, a misaligned access of an instruction that wants alignment, and
//! a breach of the calling convention is a [`Fault`] that names the instruction.
//!
//! | module | job |
//! | --- | --- |
//! | `decode`, `op` | from bytes to decoded instructions |
//! | `registers` | the state of the processor |
//! | `run` | the interpreter: control flow, integers, the calling convention |
//! | `vector` | vector and opmask instructions |
//! | `float` | IEEE 754 single precision as MXCSR asks for it |
//! | `memory` | regions, their permissions, refused accesses |
//!
//! Not modelled: exception flags of MXCSR (they stay as they were loaded), the parity and adjust flags, time.
//! The rounding mode is to the nearest even, and all floating-point exceptions are masked: loading anything
//! else into MXCSR is a fault.
//!
//! Every instruction is compared with the processor in `tests/processor.rs`, where the processor has it.
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
