//! The boundary to C: panics and error numbers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use r500_drm::{Errno, log};

/// Runs the body of an interposed function. A panic becomes `EIO` and the failure value.
pub(crate) fn guarded<T>(failure: T, answer: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(answer)) {
        Ok(value) => value,
        Err(_) => {
            log::print_once(
                "a fault of the virtual card (its message is above): a call failed with EIO",
            );
            set_errno(Errno(libc::EIO));
            failure
        }
    }
}

/// Does the same as [`guarded`] for bodies that return an error number or a value.
pub(crate) fn answered<T>(failure: T, answer: impl FnOnce() -> Result<T, Errno>) -> T
where
    T: Copy,
{
    guarded(failure, || {
        answer().unwrap_or_else(|errno| {
            set_errno(errno);
            failure
        })
    })
}

pub(crate) fn set_errno(Errno(number): Errno) {
    // SAFETY: the C library gives the address of this thread's `errno`.
    unsafe { *libc::__errno_location() = number };
}
