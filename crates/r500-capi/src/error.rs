//! Errors of C functions: a value that says so, and a text per thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns why the last call on this thread that failed did so, in English. Valid until the next call on this thread; empty
/// if none failed yet.
#[unsafe(no_mangle)]
pub extern "C" fn r500_last_error() -> *const c_char {
    // During the thread's end there is no text any more.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Runs the body of a C function. An error, or a panic, becomes the default value, and is remembered.
pub(crate) fn guarded<T: Default>(body: impl FnOnce() -> Result<T, String>) -> T {
    or_else(T::default, body)
}

/// As [`guarded`], for values without a default.
pub(crate) fn or_else<T>(
    failed: impl FnOnce() -> T,
    body: impl FnOnce() -> Result<T, String>,
) -> T {
    // What a panic may leave half changed belongs to the caller's handle, all of whose states are valid.
    let result = catch_unwind(AssertUnwindSafe(body));
    let text = match result {
        Ok(Ok(value)) => return value,
        Ok(Err(text)) => text,
        Err(_) => "internal error: please report it".to_owned(),
    };
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // At the end of the thread the text is gone already.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
    failed()
}

/// The text of an error.
pub(crate) fn text(error: impl Display) -> String {
    error.to_string()
}
