//! Static analysis of R500 fragment programs: lints, control-flow graph, dataflow, statistics,
//! diff.
//!
//! [`check`] reports lints. Each has a stable [`LintCode`], a location, a message, the evidence for
//! the rule and, if known, a fix. A program without errors gets [`Facts`], on which engines rely.
//! The underlying analyses are public, too:
//!
//! - [`graph`]: the control-flow graph of a group of pixels, basic blocks, natural loops, and the
//!   structurizer,
//! - [`dataflow`]: liveness, reaching definitions and definite initialisation of register channels,
//! - [`Stats`]: instruction counts and estimated cost,
//! - [`diff`]: alignment of two programs and the fields that differ,
//! - [`draw`]: control-flow graphs as DOT and SVG.
//!
//! The analyses execute no program and accept any dwords.
//!
//! ```
//! use r500_check::{Assumptions, Verdict, check};
//! use r500_isa::Instruction;
//! use r500_program::Program;
//!
//! // out[0].rgb = MAD src0.rgb src0.111 src0.000, out[0].a = MAX src0.1 src0.1
//! let fine = Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000]);
//! let report = check(&Program::from_code(vec![fine]), &Assumptions::default());
//! assert!(matches!(report.verdict, Verdict::Clean(facts) if facts.structured));
//!
//! // RGB_OP 15 is reserved.
//! let bad = Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_000f]);
//! let report = check(&Program::from_code(vec![bad]), &Assumptions::default());
//! assert_eq!(
//!     report.lints[0].to_string(),
//!     "error[R5011]: address 0, RGB_OP: RGB_OP 15 is reserved",
//! );
//! ```
#![forbid(unsafe_code)]

pub mod dataflow;
pub mod diff;
pub mod draw;
pub mod graph;
pub mod limits;

mod check;
mod examples;
mod external;
mod facts;
mod lint;
mod lint_code;
mod severity;
mod stats;

pub use check::{Analysis, Assumptions, Report, analyze, analyze_errors, check, check_job};
pub use external::ExternalReads;
pub use facts::{Facts, Verdict};
pub use lint::{Edit, EditTarget, Fix, Lint, Location};
pub use lint_code::{LintCode, LintInfo};
pub use severity::Severity;
pub use stats::Stats;
