//! The exceptions of the package.

use std::io;
use std::path::Path;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use r500_card::{HostError, PlaybackError};

pyo3::create_exception!(r500, Error, PyException, "What is wrong, and how to fix it.");
pyo3::create_exception!(
    r500,
    Refused,
    Error,
    "A submission that the kernel's radeon driver would answer with EINVAL. Nothing was executed."
);

pub(crate) fn error(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// Returns the exception of a file that cannot be read: one of Python's own kinds of OSError, where there is one.
pub(crate) fn of_file(path: &Path, refused: io::Error) -> PyErr {
    match refused.raw_os_error() {
        Some(_) => PyErr::from(refused),
        None => error(format!("{}: {refused}", path.display())),
    }
}

pub(crate) fn of_host(refused: HostError) -> PyErr {
    match refused {
        HostError::Refused(_) => Refused::new_err(refused.to_string()),
        _ => error(refused),
    }
}

pub(crate) fn of_playback(why: PlaybackError) -> PyErr {
    match why {
        PlaybackError::Host(refused) => of_host(refused),
        why => error(why),
    }
}
