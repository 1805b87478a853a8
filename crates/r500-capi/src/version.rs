//! Versions: of the header that a program was compiled with, and of the library that it runs with.

use std::ffi::{CStr, c_char};

/// First number of the version of this header. While it is 0, a change of the second number may change functions.
pub const R500_VERSION_MAJOR: u32 = 0;
/// Second number of the version of this header.
pub const R500_VERSION_MINOR: u32 = 1;
/// Third number of the version of this header.
pub const R500_VERSION_PATCH: u32 = 0;

/// Returns the library's version, as text. The macros R500_VERSION_MAJOR, _MINOR and _PATCH are the version of the header.
#[unsafe(no_mangle)]
pub extern "C" fn r500_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_macros_are_the_version_of_the_package() {
        let macros = format!("{R500_VERSION_MAJOR}.{R500_VERSION_MINOR}.{R500_VERSION_PATCH}");
        // A preview has a suffix.
        assert_eq!(env!("CARGO_PKG_VERSION").split('-').next(), Some(macros.as_str()));
        // SAFETY: a constant with a terminating zero.
        let version = unsafe { CStr::from_ptr(r500_version()) };
        assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    }
}
