//! Optimiser of R500 fragment programs, and of [vertex programs](vertex).
//!
//! [`optimize`] returns a [better](Cost::improves) program with bit-identical results in every pixel, for all
//! constants, inputs and textures, as the reference engine defines them; or the given program if it finds none. It does
//! not reassociate, and keeps `x*0`, `x-x` and the operand order of MIN.
//!
//! | module | textbook name |
//! | --- | --- |
//! | [`pipeline`](self) | the ordered list of passes |
//! | `flow` | branch simplification |
//! | `predicates` | if-conversion |
//! | `segment` | the machine-level IR of straight code: [half operations](self#the-ir) over values |
//! | `segment::copies`, `segment::compares`, `segment::dead` | copy propagation and value numbering, comparison folding, dead-code elimination |
//! | `segment::kills` | merging of TEXKILLs |
//! | `segment::mads` | fusion of products and sums |
//! | `segment::coalesce` | copy coalescing, with output modifiers and clamps |
//! | `segment::presubs` | operand selection for the presubtract unit |
//! | `segment::selects` | select folding |
//! | `segment::schedule` | list scheduling with co-issue |
//! | `segment::allocate` | register assignment |
//! | `segment::encode` | assignment of source addresses |
//! | `sync` | NOPs and texture semaphores, by the rules of the checker |
//! | `layout` | relocation: jump addresses and the code window |
//!
//! # The IR
//!
//! Straight code between leaders becomes operations of one half (RGB with up to three lanes, alpha) or of both, over
//! values in static single assignment. A value that is live after its segment keeps its register; all others may move.
//! Instructions that the IR cannot express (predicates, relative addresses, `WRITE_INACTIVE`, MDH and MDV, reserved
//! codes) end a segment and stay as they are.
//!
//! ```
//! use r500_isa::Instruction;
//! use r500_program::Program;
//!
//! // out[0].rgb = MAD src0.rgb src0.111 src0.000, out[0].a = MAX src0.1 src0.1
//! let program =
//!     Program::from_code(vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])]);
//! let optimized = r500_opt::optimize(&program, &r500_opt::Options::default());
//! assert_eq!(optimized.program, program);
//! assert!(optimized.changes.is_empty());
//! ```
#![forbid(unsafe_code)]

mod cost;
mod flow;
mod layout;
mod pipeline;
mod predicates;
mod segment;
mod sync;
pub mod vertex;

pub use cost::Cost;
pub use pipeline::{Allowance, Change, Level, Optimized, Options, PassInfo, optimize, passes};
