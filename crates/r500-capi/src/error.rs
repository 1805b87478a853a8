//! Error reporting of C functions: a failure value, and a text per thread.

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
    // When the thread ends, the text no longer exists.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Runs the body of a C function. After an error or a panic it returns the default value and stores the text.
pub(crate) fn guarded<T: Default>(body: impl FnOnce() -> Result<T, String>) -> T {
    or_else(T::default, body)
}

/// Does the same as [`guarded`] for values without a default.
pub(crate) fn or_else<T>(
    failed: impl FnOnce() -> T,
    body: impl FnOnce() -> Result<T, String>,
) -> T {
    // A panic can leave only the caller's handle partly modified, and all its states are valid.
    let result = catch_unwind(AssertUnwindSafe(body));
    let text = match result {
        Ok(Ok(value)) => return value,
        Ok(Err(text)) => text,
        Err(_) => "internal error: please report it".to_owned(),
    };
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // When the thread ends, the text no longer exists.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
    failed()
}

/// Returns the text of an error.
pub(crate) fn text(error: impl Display) -> String {
    error.to_string()
}
