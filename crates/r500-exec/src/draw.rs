//! One draw: what an engine reads.

use std::time::Instant;

use crate::{Bindings, Cancel, Options, RunError, Shader};

/// One drawing: everything an engine reads.
#[derive(Clone, Copy)]
pub struct Draw<'a> {
    /// The program.
    pub shader: &'a Shader,
    /// The data that the program reads.
    pub bindings: &'a Bindings,
    /// How to run it.
    pub options: &'a Options<'a>,
    /// When to stop with [`RunError::Time`].
    pub deadline: Option<Instant>,
}

impl<'a> Draw<'a> {
    /// Starts a drawing; its time limit counts from here.
    ///
    /// # Errors
    /// [`RunError::OddGroup`].
    pub fn new(
        shader: &'a Shader,
        bindings: &'a Bindings,
        options: &'a Options<'a>,
    ) -> Result<Self, RunError> {
        let [width, height] = options.group;
        if width == 0 || height == 0 || (width | height) & 1 != 0 {
            return Err(RunError::OddGroup { width, height });
        }
        let deadline = options.limits.time.and_then(|limit| Instant::now().checked_add(limit));
        Ok(Self { shader, bindings, options, deadline })
    }

    /// Checks the time limit and the cancellation.
    ///
    /// # Errors
    /// [`RunError::Time`] and [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        if self.options.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(RunError::Cancelled);
        }
        match (self.deadline, self.options.limits.time) {
            (Some(deadline), Some(limit)) if Instant::now() > deadline => {
                Err(RunError::Time { limit })
            }
            _ => Ok(()),
        }
    }
}
