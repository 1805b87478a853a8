//! The functions that a WebAssembly host calls: it requests a buffer, writes a request there, runs
//! it, and reads the answer. Texts are at [`text`], with the length that the previous call
//! returned.
//!
//! The only import is a clock, which WebAssembly does not have.

#![allow(unsafe_code, reason = "names exported to the host, and one function imported from it")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::request;

/// The request, then the answer.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

// SAFETY: the host provides a function of this type (otherwise the module does not load), which
// accesses no memory.
#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Seconds since some time.
    safe fn now() -> f64;
}

/// Returns a buffer for a request of `length` bytes.
// SAFETY: no other function has this name; a second one would cause a link error.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|panic| *memory() = panic.to_string().into_bytes()));
    let mut memory = memory();
    *memory = vec![0; length];
    memory.as_mut_ptr()
}

/// Answers the request in the buffer. Returns the length of the answer, negated for an error
/// message.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn answer() -> isize {
    let request = std::mem::take(&mut *memory());
    let answer = request::answer(&request, &|| now());
    let failed = answer.is_err();
    let text = answer.unwrap_or_else(|error| error).into_bytes();
    let length = isize::try_from(text.len()).unwrap_or(0);
    *memory() = text;
    if failed { -length } else { length }
}

/// Returns the address of the answer, valid until the next call.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    memory().as_ptr()
}

/// Returns the length of the text, for a host whose call of [`answer`] trapped: a panic's message.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn length() -> usize {
    memory().len()
}

/// Returns the text. There is one thread, and no guard lives longer than a statement.
fn memory() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}
