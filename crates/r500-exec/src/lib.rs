//! The R500 fragment machine.

pub mod numerics;
