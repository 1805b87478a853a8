//! Writes to Python's byte arrays.

use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::error::error;

/// Replaces the bytes of an array by as many others.
///
/// # Errors
/// If these are more or fewer.
#[expect(unsafe_code, reason = "there is no safe way to write to an array of bytes")]
pub(crate) fn set(array: &Bound<'_, PyByteArray>, bytes: &[u8]) -> PyResult<()> {
    let (has, wants) = (array.len(), bytes.len());
    if has != wants {
        return Err(error(format!("the picture takes {wants} bytes, not {has}")));
    }
    // SAFETY: this thread holds the lock of the interpreter and runs no code of Python until the slice is dropped, so that nothing else
    // reads, writes or resizes the bytes; `bytes` is memory of Rust.
    unsafe { array.as_bytes_mut() }.copy_from_slice(bytes);
    Ok(())
}
