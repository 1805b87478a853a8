//! Error reporting of C functions: a failure value, and a code and a text per thread.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use r500::exec::{BindError, RunError};

/// No call of this thread has failed yet.
pub const R500_OK: u32 = 0;
/// An argument is NULL, or not a value that the function takes.
pub const R500_ERROR_ARGUMENT: u32 = 1;
/// An object was freed, is in use by another call, or is none of this library.
pub const R500_ERROR_OBJECT: u32 = 2;
/// The bytes of a program or a capture are damaged or of an unknown format, or the program cannot be drawn.
pub const R500_ERROR_INPUT: u32 = 3;
/// The kernel's radeon driver would refuse the submission with EINVAL; it was not executed.
pub const R500_ERROR_REFUSED: u32 = 4;
/// A limit of time, work or memory ended a picture or a submission; what was drawn before stays.
pub const R500_ERROR_LIMIT: u32 = 5;
/// Memory cannot be allocated.
pub const R500_ERROR_MEMORY: u32 = 6;
/// A file cannot be opened or read.
pub const R500_ERROR_FILE: u32 = 7;
/// A fault of the library.
pub const R500_ERROR_INTERNAL: u32 = 8;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
    static LAST_CODE: Cell<u32> = const { Cell::new(R500_OK) };
}

/// Why a call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Error {
    code: u32,
    text: String,
}

impl Error {
    fn new(code: u32, text: impl Display) -> Self {
        Self { code, text: text.to_string() }
    }

    /// An argument that the function does not take.
    pub(crate) fn argument(text: impl Display) -> Self {
        Self::new(R500_ERROR_ARGUMENT, text)
    }

    /// An object that cannot be used.
    pub(crate) fn object(text: impl Display) -> Self {
        Self::new(R500_ERROR_OBJECT, text)
    }

    /// Bytes that are damaged, or a program that cannot be drawn.
    pub(crate) fn input(text: impl Display) -> Self {
        Self::new(R500_ERROR_INPUT, text)
    }

    /// A submission that the kernel refuses.
    pub(crate) fn refused(text: impl Display) -> Self {
        Self::new(R500_ERROR_REFUSED, text)
    }

    /// A limit that ended the work.
    pub(crate) fn limit(text: impl Display) -> Self {
        Self::new(R500_ERROR_LIMIT, text)
    }

    /// Memory that is not there.
    pub(crate) fn memory(text: impl Display) -> Self {
        Self::new(R500_ERROR_MEMORY, text)
    }

    /// A file that cannot be read.
    pub(crate) fn file(text: impl Display) -> Self {
        Self::new(R500_ERROR_FILE, text)
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Self {
        Self::argument(error)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::TooLarge { .. }
            | RunError::Memory { .. }
            | RunError::Instructions { .. }
            | RunError::Time { .. }
            | RunError::Cancelled => Self::limit(error),
            RunError::Allocation { .. } => Self::memory(error),
            _ => Self::argument(error),
        }
    }
}

/// Returns why the last call on this thread that failed did so, in English. Valid until the next call on this thread; empty
/// if none failed yet.
#[unsafe(no_mangle)]
pub extern "C" fn r500_last_error() -> *const c_char {
    // When the thread ends, the text no longer exists.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the kind of error of the last call on this thread that failed: R500_ERROR_ARGUMENT and so on; R500_OK if none failed yet. Later
/// versions may add kinds.
#[unsafe(no_mangle)]
pub extern "C" fn r500_last_error_code() -> u32 {
    LAST_CODE.try_with(Cell::get).unwrap_or(R500_ERROR_INTERNAL)
}

/// Runs the body of a C function. After an error or a panic it returns the default value and stores code and text.
pub(crate) fn guarded<T: Default>(body: impl FnOnce() -> Result<T, Error>) -> T {
    or_else(T::default, body)
}

/// Does the same as [`guarded`] for values without a default.
pub(crate) fn or_else<T>(failed: impl FnOnce() -> T, body: impl FnOnce() -> Result<T, Error>) -> T {
    // A panic can leave only the caller's handle partly modified, and all its states are valid.
    let result = catch_unwind(AssertUnwindSafe(body));
    let error = match result {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(_) => Error::new(R500_ERROR_INTERNAL, "internal error: please report it"),
    };
    let text = CString::new(error.text.replace('\0', " ")).unwrap_or_default();
    // When the thread ends, the text no longer exists.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
    let _ = LAST_CODE.try_with(|last| last.set(error.code));
    failed()
}
