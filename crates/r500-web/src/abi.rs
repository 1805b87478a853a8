//! What the page's workers call: ask for room, write a request there, have it answered, read the
//! answer at [`text`]. Imported are the functions by which `r500-jit` has the host make machine code.

#![allow(unsafe_code, reason = "names exported to the host")]

use std::cell::RefCell;

use crate::Session;

thread_local! {
    /// The request, then the answer.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Room for a request of that many bytes.
// SAFETY: no other function has this name; a second one would not link.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    // The message of a panic is left where the host finds it after the trap.
    std::panic::set_hook(Box::new(|panic| put(panic.to_string().into_bytes())));
    put(vec![0; length]);
    TEXT.with_borrow_mut(Vec::as_mut_ptr)
}

/// Answers the request that was written into the room. The length of the answer; negative if it is
/// an error's text.
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

/// Where the answer is, until the next call.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    TEXT.with_borrow(Vec::as_ptr)
}

/// Length of the text, for a host whose call of [`answer`] trapped: a panic's message.
// SAFETY: as `room`.
#[unsafe(no_mangle)]
extern "C" fn length() -> usize {
    TEXT.with_borrow(Vec::len)
}

fn put(text: Vec<u8>) {
    TEXT.set(text);
}
