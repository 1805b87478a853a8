//! The next definitions of interposed functions, which the program would have called without this library.

use std::ffi::CStr;
use std::mem::transmute_copy;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function of the libraries after this one, looked up at its first call.
pub(crate) struct Real {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// Returns the function; `None` if no library has it.
    ///
    /// # Safety
    ///
    /// `F` is the type of a pointer to a C function that is compatible with the declaration of `name`.
    pub(crate) unsafe fn get<F: Copy>(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let mut address = self.address.load(Ordering::Relaxed);
        if address == 0 {
            // SAFETY: `name` ends with 0.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
            self.address.store(address, Ordering::Relaxed);
        }
        // SAFETY: the caller guarantees the type, and the address is that of the function.
        (address != 0).then(|| unsafe { transmute_copy(&address) })
    }
}

/// Calls the next definition of a function: `real!(close(fd: c_int) -> c_int)`. If there is none, the call fails with
/// `ENOSYS` and returns -1, or the value after `else`.
macro_rules! real {
    ($name:ident($($value:ident: $type:ty),*) -> $result:ty) => {
        $crate::real::real!($name($($value: $type),*) -> $result, else -1)
    };
    ($name:ident($($value:ident: $type:ty),*) -> $result:ty, else $failure:expr) => {{
        static REAL: $crate::real::Real = $crate::real::Real::new(
            // The function name with a terminator.
            match ::std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            }
        );
        // SAFETY: the types are those of the C declaration, which this library repeats for its own definition.
        match unsafe { REAL.get::<unsafe extern "C" fn($($type),*) -> $result>() } {
            // SAFETY: the values are those that the caller passed to the interposed function.
            Some(function) => unsafe { function($($value),*) },
            None => {
                $crate::guard::set_errno(::r500_drm::Errno(::libc::ENOSYS));
                $failure
            }
        }
    }};
}
pub(crate) use real;
