//! Debugging of R500 programs, over the recorded runs of [`r500_exec::record`].
//!
//! | module | content |
//! | --- | --- |
//! | [`expression`] | conditions and watched values as text |
//! | [`breakpoint`] | a breakpoint: where it stops, its condition, hit count and message |
//! | [`breakpoints`] | the breakpoints of a run, and runs to the nearest one in both directions |
//! | [`vertex_run`] | the run of a vertex as a machine that is recorded |

#![forbid(unsafe_code)]

pub mod breakpoint;
pub mod breakpoints;
pub mod expression;
pub mod vertex_run;
