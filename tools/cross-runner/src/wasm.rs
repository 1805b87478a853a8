//! What a WebAssembly host calls: it asks for room, writes a request there, has it answered, and
//! reads the answer. Texts are at [`text`] with the length that the call before returned.
//!
//! Nothing is imported but a clock: WebAssembly has none.

#![allow(unsafe_code, reason = "names exported to the host, and one function imported from it")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::request;

/// The request, then the answer.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

// SAFETY: the host gives a function of this type (the module does not load otherwise), which
// touches no memory.
#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Seconds since some time.
    safe fn now() -> f64;
}

/// Room for a request of that many bytes.
// SAFETY: no other function has this name; a second one would not link.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|panic| *memory() = panic.to_string().into_bytes()));
    let mut memory = memory();
    *memory = vec![0; length];
    memory.as_mut_ptr()
}

/// Answers the request that was written into the room. The length of the answer; negative if it is
/// an error's text.
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

/// Where the answer is, until the next call.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    memory().as_ptr()
}

/// Length of the text, for a host whose call of [`answer`] trapped: a panic's message.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn length() -> usize {
    memory().len()
}

/// Returns the text. There is one thread, and no one holds it for longer than a statement.
fn memory() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}
