//! A draw: the arguments of an engine.

use std::time::Instant;

use crate::available::check_available;
use crate::{Bindings, Cancel, Options, RunError, Shader};

/// A draw: all data that an engine reads. [`Draw::new`] checks its limits.
#[derive(Clone, Copy)]
pub struct Draw<'a> {
    /// The program.
    pub shader: &'a Shader,
    /// The data that the program reads.
    pub bindings: &'a Bindings,
    /// The options of the run.
    pub options: &'a Options<'a>,
    /// The time at which it stops with [`RunError::Time`].
    deadline: Option<Instant>,
}

/// Bytes that the reference engine keeps for each pixel of a group, rounded up.
pub(crate) const LANE_BYTES: u64 = 2560;
/// Bytes that engines keep for each column of a picture, rounded up.
const COLUMN_BYTES: u64 = 8;
/// Bytes that engines keep for each row of a picture.
const ROW_BYTES: u64 = 16;

impl<'a> Draw<'a> {
    /// Returns the draw of a recording, without a time limit; its limits were checked when the recording was created.
    pub(crate) fn recorded(
        shader: &'a Shader,
        bindings: &'a Bindings,
        options: &'a Options<'a>,
    ) -> Self {
        Self { shader, bindings, options, deadline: None }
    }

    /// Starts a draw; its time limit counts from here.
    ///
    /// # Errors
    /// [`RunError::OddGroup`], and [`RunError::Memory`] if a group or the coordinates of the picture's columns and rows
    /// take more than the limit.
    pub fn new(
        shader: &'a Shader,
        bindings: &'a Bindings,
        options: &'a Options<'a>,
    ) -> Result<Self, RunError> {
        let [width, height] = options.group;
        if width == 0 || height == 0 || (width | height) & 1 != 0 {
            return Err(RunError::OddGroup { width, height });
        }
        let limit = options.limits.memory;
        let bytes = (u64::from(width) * u64::from(height)).saturating_mul(LANE_BYTES);
        if bytes > limit {
            let what = format!("a group of {width}x{height} pixels");
            return Err(RunError::Memory { what, bytes, limit });
        }
        check_available(bytes, || format!("a group of {width}x{height} pixels"))?;
        let [columns, rows] = bindings.size();
        let bytes = u64::from(columns) * COLUMN_BYTES + u64::from(rows) * ROW_BYTES;
        if bytes > limit {
            let what = format!("the coordinates of {columns} columns and {rows} rows");
            return Err(RunError::Memory { what, bytes, limit });
        }
        check_available(bytes, || format!("the coordinates of {columns} columns and {rows} rows"))?;
        let deadline = options.limits.time.and_then(|limit| Instant::now().checked_add(limit));
        Ok(Self { shader, bindings, options, deadline })
    }

    /// Returns the time at which the draw stops.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns the same draw with the deadline of the larger draw that it is part of.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Returns the same draw with other bindings, of the same size.
    pub(crate) fn with_bindings<'b>(&self, bindings: &'b Bindings) -> Draw<'b>
    where
        'a: 'b,
    {
        Draw { bindings, ..*self }
    }

    /// Checks the time limit and cancellation.
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
