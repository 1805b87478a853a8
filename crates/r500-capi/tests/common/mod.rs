//! What tests of the C interface share.
#![allow(dead_code, unsafe_code, reason = "each test uses some of it")]

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

use r500_c::*;

/// Returns the code and the text of the last error.
pub(crate) fn error() -> (u32, String) {
    // SAFETY: the text lives until the next call.
    let text = unsafe { CStr::from_ptr(r500_last_error()) }.to_string_lossy().into_owned();
    (r500_last_error_code(), text)
}

/// Returns a text and frees it.
pub(crate) fn take(text: *mut c_char) -> String {
    assert!(!text.is_null(), "{:?}", error());
    // SAFETY: a text of the library, freed once.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        assert!(r500_text_free(text));
        copy
    }
}

/// Returns where a whole picture of four bytes a pixel goes: colours only, without coverage.
pub(crate) fn colors(bytes: &mut [u8], width: usize) -> Surfaces {
    let none = Surface { bytes: null_mut(), size: 0, pitch: 0, format: 0 };
    let (size, pitch) = (bytes.len(), width * 4);
    let color = Surface { bytes: bytes.as_mut_ptr(), size, pitch, format: R500_RGBA8 };
    Surfaces {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
        colors: [color, none, none, none],
        depth: null_mut(),
        depth_size: 0,
        depth_pitch: 0,
        coverage: null_mut(),
        coverage_size: 0,
        coverage_pitch: 0,
    }
}
