//! Texts that C owns.
//!
//! A header before the characters has the length and a mark. With debug assertions a freed text is kept for a while, so that a second
//! free of it finds the mark.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_char;
#[cfg(debug_assertions)]
use std::sync::Mutex;

use crate::error::Error;

/// What precedes the characters of a text.
#[repr(C, align(16))]
struct Header {
    mark: u64,
    /// Bytes of the text with its terminating zero.
    size: usize,
}

/// The marks: words that occur in no other memory by chance.
const ALIVE: u64 = 0x5235_7465_7874_0a11;
const FREED: u64 = 0x5235_7465_7874_0c33;

/// Freed texts that are kept with debug assertions.
#[cfg(debug_assertions)]
const KEPT: usize = 64;

/// The addresses of the last freed texts, in a ring, and the next place in it.
#[cfg(debug_assertions)]
static FREED_TEXTS: Mutex<([usize; KEPT], usize)> = Mutex::new(([0; KEPT], 0));

fn layout(size: usize) -> Option<Layout> {
    let bytes = size.checked_add(size_of::<Header>())?;
    Layout::from_size_align(bytes, align_of::<Header>()).ok()
}

/// Passes ownership of a text to C.
///
/// # Errors
/// An error if there is not enough memory.
pub(crate) fn give(text: &str) -> Result<*mut c_char, Error> {
    let bytes = text.as_bytes();
    let size = bytes.len() + 1;
    let too_large =
        || Error::memory(format!("there is not enough memory for a text of {size} bytes"));
    let layout = layout(size).ok_or_else(too_large)?;
    // SAFETY: the size is not 0.
    let header = unsafe { alloc(layout) }.cast::<Header>();
    if header.is_null() {
        return Err(too_large());
    }
    // SAFETY: the memory has a header and `size` bytes after it.
    unsafe {
        header.write(Header { mark: ALIVE, size });
        let characters = header.add(1).cast::<u8>();
        characters.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        characters.add(bytes.len()).write(0);
        // A zero in the text would end it early.
        for n in (0..bytes.len()).filter(|&n| bytes[n] == 0) {
            characters.add(n).write(b' ');
        }
        Ok(characters.cast())
    }
}

/// Frees a text that [`give`] returned; does nothing for null.
///
/// # Safety
/// The pointer is null or comes from [`give`] and was not freed, with debug assertions not among the last [`KEPT`].
pub(crate) unsafe fn free(text: *mut c_char) -> Result<bool, Error> {
    if text.is_null() {
        return Ok(true);
    }
    if !text.cast::<Header>().is_aligned() {
        return Err(Error::object("text is not a text of this library"));
    }
    // SAFETY: by the contract, there is a header before the characters.
    unsafe {
        let header = text.cast::<Header>().sub(1);
        match (*header).mark {
            ALIVE => {}
            FREED => return Err(Error::object("text was freed before")),
            _ => return Err(Error::object("text is not a text of this library")),
        }
        (*header).mark = FREED;
        release(header);
    }
    Ok(true)
}

/// Returns the memory of a text to the allocator, with debug assertions that of an earlier one.
///
/// # Safety
/// The header comes from [`give`], and nothing uses the text any more.
unsafe fn release(header: *mut Header) {
    #[cfg(debug_assertions)]
    let header = {
        // In a child process the lock may stay locked; the text is then kept for ever.
        let Ok(mut freed) = FREED_TEXTS.try_lock() else { return };
        let (ring, next) = &mut *freed;
        let earlier = std::mem::replace(&mut ring[*next], header as usize);
        *next = (*next + 1) % KEPT;
        earlier as *mut Header
    };
    if header.is_null() {
        return;
    }
    // SAFETY: from `give`, with the size that it allocated.
    unsafe {
        if let Some(layout) = layout((*header).size) {
            dealloc(header.cast(), layout);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::ffi::CStr;

    use super::*;

    #[test]
    fn texts_end_with_a_zero_and_have_no_other() {
        for (text, expected) in [("", c""), ("abc", c"abc"), ("a\0b", c"a b")] {
            let given = give(text).unwrap();
            // SAFETY: from `give`.
            unsafe {
                assert_eq!(CStr::from_ptr(given), expected);
                assert_eq!(free(given), Ok(true));
            }
        }
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_freed_text_is_recognised() {
        let text = give("text").unwrap();
        // SAFETY: from `give`; the first free keeps the memory.
        unsafe {
            assert_eq!(free(text), Ok(true));
            assert_eq!(free(text), Err(Error::object("text was freed before")));
        }
        for n in 0..2 * KEPT {
            let text = give(&n.to_string()).unwrap();
            // SAFETY: from `give`.
            assert_eq!(unsafe { free(text) }, Ok(true));
        }
    }
}
