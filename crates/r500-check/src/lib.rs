//! Know before it runs: what can be said of an R500 fragment program without running it.
//!
//! [`check`] finds what is wrong or odd, each finding with a stable [`LintCode`], a place, a reason with
//! its evidence, and, where that can be said, a fix. A program without errors gets [`Facts`]: what
//! engines may rely on. Underneath, and for other users:
//!
//! - [`graph`]: where a group of pixels can go; basic blocks, loops; statements recovered from jumps,
//! - [`dataflow`]: liveness and definitions, channel by channel, along the paths of a pixel,
//! - [`Stats`]: what a program is made of and what it may cost,
//! - [`diff`]: which instructions two programs share and how others differ,
//! - [`draw`]: flow graphs as DOT and SVG.
//!
//! Nothing here runs a program, and nothing fails: any dwords can be checked.
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
mod facts;
mod lint;
mod lint_code;
mod stats;

pub use check::{Analysis, Assumptions, Report, analyze, analyze_errors, check, check_job};
pub use facts::{Facts, Verdict};
pub use lint::{Edit, EditTarget, Fix, Lint, Location, Severity};
pub use lint_code::{LintCode, LintInfo};
pub use stats::Stats;
