//! Pointers from C as references.
//!
//! The contract of every function of the header: a pointer that is not null points to what its type and its size say, which
//! nothing else changes during the call; a handle comes from the function that makes it and was not freed. Whatever C breaks
//! of it is undefined behaviour, as with any C library; what it can check is checked here.

use std::ffi::{CStr, CString, c_char};

/// A handle or structure that is read.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, String> {
    // SAFETY: null is checked; else the contract of the module.
    unsafe { pointer.as_ref() }.ok_or_else(|| format!("{what} is NULL"))
}

/// A handle that is changed.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, String> {
    // SAFETY: as above.
    unsafe { pointer.as_mut() }.ok_or_else(|| format!("{what} is NULL"))
}

/// Checks an array: not null unless empty, no larger than Rust's slices may be.
fn check<T>(pointer: *const T, count: usize, what: &str) -> Result<(), String> {
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|size| isize::try_from(size).is_ok());
    if !fits {
        return Err(format!("{what}: {count} elements are more than memory has"));
    }
    if pointer.is_null() && count != 0 {
        return Err(format!("{what} is NULL"));
    }
    if !pointer.is_aligned() {
        return Err(format!("{what} is not aligned"));
    }
    Ok(())
}

/// An array that is read.
pub(crate) unsafe fn slice<'a, T>(
    pointer: *const T,
    count: usize,
    what: &str,
) -> Result<&'a [T], String> {
    check(pointer, count, what)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, aligned, of a possible size; else the contract of the module.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// An array that is written.
pub(crate) unsafe fn slice_mut<'a, T>(
    pointer: *mut T,
    count: usize,
    what: &str,
) -> Result<&'a mut [T], String> {
    check(pointer, count, what)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

/// A text, UTF-8; `None` for null.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    what: &str,
) -> Result<Option<&'a str>, String> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; that it ends with a zero is the contract of the module.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(Some).map_err(|_| format!("{what} is not UTF-8"))
}

/// Hands a value to C.
pub(crate) fn give<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Takes back and drops what [`give`] gave; nothing for null.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: it comes from `give` and was not freed, by the contract of the module.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// Hands a text to C.
pub(crate) fn give_text(text: String) -> *mut c_char {
    CString::new(text.replace('\0', " ")).unwrap_or_default().into_raw()
}

/// Takes back and drops what [`give_text`] gave; nothing for null.
pub(crate) unsafe fn free_text(pointer: *mut c_char) {
    if !pointer.is_null() {
        // SAFETY: as with `free`; C does not change the text's length.
        drop(unsafe { CString::from_raw(pointer) });
    }
}
