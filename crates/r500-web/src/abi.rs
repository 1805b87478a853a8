//! The exported functions of the WebAssembly module: the page's workers call [`room`] for a request buffer, [`answer`]
//! to process the request, and [`text`] for the answer. The imports are the functions with which `r500-jit` lets the
//! host compile modules.

#![allow(unsafe_code, reason = "names exported to the host")]

use std::cell::RefCell;

#[cfg(feature = "page")]
use crate::Session;
#[cfg(not(feature = "page"))]
use crate::on_demand::OnDemandSession as Session;

thread_local! {
    /// The request, then the answer.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Returns a buffer of `length` bytes for a request.
// SAFETY: no other function has this name; a second one would cause a link error.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    // Stores the message of a panic, which the host reads after the trap.
    std::panic::set_hook(Box::new(|panic| put(panic.to_string().into_bytes())));
    put(vec![0; length]);
    TEXT.with_borrow_mut(Vec::as_mut_ptr)
}

/// Processes the request in the buffer of [`room`]. Returns the length of the answer, negated for an error message.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn answer() -> isize {
    let request = TEXT.take();
    let answer = SESSION.with_borrow_mut(|session| session.answer(&request));
    let failed = answer.is_err();
    let text = answer.unwrap_or_else(|error| error).into_bytes();
    let length = isize::try_from(text.len()).unwrap_or(0);
    put(text);
    if failed { -length } else { length }
}

/// Returns the address of the answer, valid until the next call.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    TEXT.with_borrow(Vec::as_ptr)
}

/// Returns the length of the text; after a call of [`answer`] that trapped, the text is the panic's message.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn length() -> usize {
    TEXT.with_borrow(Vec::len)
}

fn put(text: Vec<u8>) {
    TEXT.set(text);
}
