//! Conversion of pointers from C to references.
//!
//! The contract of every function in the header: a pointer that is not null points to memory of its type and size, which nothing else
//! changes during the call; a text was returned by a function of this library and was not freed. Violations are undefined behaviour, as
//! with any C library. What can be checked is checked here; handles are in `handle.rs`, texts in `text.rs`.

use std::ffi::{CStr, c_char};

use crate::error::Error;

/// Returns a reference to a structure that is read.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Error> {
    // SAFETY: null is checked; the rest is the contract of the module.
    unsafe { pointer.as_ref() }.ok_or_else(|| Error::argument(format!("{what} is NULL")))
}

/// Returns a mutable reference to a value.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Error> {
    // SAFETY: as above.
    unsafe { pointer.as_mut() }.ok_or_else(|| Error::argument(format!("{what} is NULL")))
}

/// Checks an array: not null unless empty, aligned, and not larger than a Rust slice may be.
fn check<T>(pointer: *const T, count: usize, what: &str) -> Result<(), Error> {
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|size| isize::try_from(size).is_ok());
    if !fits {
        return Err(Error::argument(format!("{what}: {count} elements are more than memory has")));
    }
    if pointer.is_null() && count != 0 {
        return Err(Error::argument(format!("{what} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Error::argument(format!("{what} is not aligned")));
    }
    Ok(())
}

/// Returns an array that is read.
pub(crate) unsafe fn slice<'a, T>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<&'a [T], Error> {
    check(pointer, count, what)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, aligned, of a valid size; the rest is the contract of the module.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Returns an array that is written.
pub(crate) unsafe fn slice_mut<'a, T>(
    pointer: *mut T,
    count: usize,
    what: &str,
) -> Result<&'a mut [T], Error> {
    check(pointer, count, what)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

/// Returns a UTF-8 text; `None` for null.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    what: &str,
) -> Result<Option<&'a str>, Error> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; the terminating zero is part of the contract of the module.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(Some).map_err(|_| Error::argument(format!("{what} is not UTF-8")))
}
