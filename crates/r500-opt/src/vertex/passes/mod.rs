//! Passes over blocks. A rewrite is kept if all instructions can still read what they need.
//!
//! | pass | textbook name |
//! | --- | --- |
//! | [`dead`] | dead-code elimination |
//! | [`common`] | common subexpressions |
//! | [`copies`] | copy propagation, and coalescing with outputs |
//! | [`tables`] | folding of numbers, and of what depends on one truth value |
//! | [`sums`] | formation of multiply-adds and dot products |
//! | [`pack`] | vectorisation: lanes of several operations in one |

pub(super) mod common;
pub(super) mod copies;
pub(super) mod dead;
pub(super) mod pack;
pub(super) mod sums;
pub(super) mod tables;

use super::ir::{Block, Part, Value};
use super::lower;

/// Rewrites a block, if all instructions can still read what they need. Returns whether it did.
fn attempt(block: &mut Block, rewrite: impl FnOnce(&mut Block)) -> bool {
    // A long search ends with what it has found.
    if !block.burn() {
        return false;
    }
    let mut trial = block.clone();
    rewrite(&mut trial);
    dead::remove(&mut trial);
    if lower::instructions(&trial).is_none() {
        return false;
    }
    *block = trial;
    true
}

/// Replaces a part of a source.
fn replace_value(parts: &mut [Part], value: Value, by: Part) {
    for part in parts.iter_mut().filter(|part| part.value() == Some(value)) {
        *part = part.applied_to(by);
    }
}
