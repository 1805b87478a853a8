//! Handles: values that C owns, with a mark by which misuse is detected.
//!
//! | misuse | every build | with debug assertions |
//! | --- | --- | --- |
//! | two threads use a drawing, a card or a capture at the same time | an error of the second call | likewise |
//! | a handle is freed while a call uses it | an error; it is not freed | likewise |
//! | a handle is freed twice, or used after that | undefined behaviour | an error |
//!
//! With debug assertions the memory of the mark is not returned to the allocator, so that its address stays that of a freed handle.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Error;
use crate::pointers;

/// The marks: words that occur in no other memory by chance.
const READY: u32 = 0x5235_0a11;
const BUSY: u32 = 0x5235_0b22;
const FREED: u32 = 0x5235_0c33;

/// The memory that a pointer of C refers to.
pub(crate) struct Handle<T> {
    mark: AtomicU32,
    /// `None` after the handle was freed.
    value: UnsafeCell<Option<Box<T>>>,
}

/// A type that the header names, which is a handle alone.
pub(crate) trait Object {
    /// The value that it refers to.
    type State;
    /// What messages call it.
    const NAME: &'static str;

    fn handle(&self) -> &Handle<Self::State>;
}

/// Makes a type of the header an [`Object`]: its state, and what messages call it.
macro_rules! object {
    ($name:ident: $state:ty, $text:literal) => {
        impl $crate::handle::Object for $name {
            type State = $state;
            const NAME: &'static str = $text;

            fn handle(&self) -> &Handle<$state> {
                &self.0
            }
        }
    };
}
pub(crate) use object;

/// Exclusive use of a handle during a call.
pub(crate) struct InUse<'a, T> {
    mark: &'a AtomicU32,
    value: &'a mut T,
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for InUse<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}

impl<T> Drop for InUse<'_, T> {
    fn drop(&mut self) {
        self.mark.store(READY, Ordering::Release);
    }
}

/// Describes a mark that does not allow the use of a handle.
fn misuse(mark: u32, what: &str) -> Error {
    Error::object(match mark {
        BUSY => format!(
            "{what} is in use by another call: only one thread at a time may use it; give each thread its own"
        ),
        FREED => format!("{what} was freed before"),
        _ => format!("{what} is not a handle of this library"),
    })
}

impl<T> Handle<T> {
    /// Returns a handle of a value.
    pub(crate) fn new(value: T) -> Self {
        Self { mark: AtomicU32::new(READY), value: UnsafeCell::new(Some(Box::new(value))) }
    }

    /// Returns the value of a handle that no call changes: any number of threads may read it.
    ///
    /// # Safety
    /// No other call frees the handle.
    pub(crate) unsafe fn shared(&self, what: &str) -> Result<&T, Error> {
        let mark = self.mark.load(Ordering::Acquire);
        if mark != READY {
            return Err(misuse(mark, what));
        }
        // SAFETY: no call of this library changes the value, except the one that frees it.
        let value = unsafe { &*self.value.get() };
        value.as_deref().ok_or_else(|| misuse(FREED, what))
    }

    /// Returns the value of a handle for exclusive use, unless another call uses it.
    pub(crate) fn exclusive(&self, what: &str) -> Result<InUse<'_, T>, Error> {
        let taken = self.mark.compare_exchange(READY, BUSY, Ordering::Acquire, Ordering::Relaxed);
        taken.map_err(|mark| misuse(mark, what))?;
        // SAFETY: the mark allows this call alone to use the value, until it is `READY` again.
        match unsafe { (*self.value.get()).as_deref_mut() } {
            Some(value) => Ok(InUse { mark: &self.mark, value }),
            None => Err(misuse(FREED, what)),
        }
    }
}

/// Returns the value of an object for exclusive use, unless another call uses it.
///
/// # Safety
/// The contract of `pointers`.
pub(crate) unsafe fn exclusive<'a, H: Object + 'a>(
    object: *mut H,
) -> Result<InUse<'a, H::State>, Error> {
    // SAFETY: the contract of this function.
    unsafe { pointers::reference(object.cast_const(), H::NAME)? }.handle().exclusive(H::NAME)
}

/// Returns the value of an object that no call changes.
///
/// # Safety
/// The contract of `pointers`; no other call frees the object.
pub(crate) unsafe fn shared<'a, H: Object + 'a>(object: *const H) -> Result<&'a H::State, Error> {
    // SAFETY: the contract of this function.
    unsafe { pointers::reference(object, H::NAME)?.handle().shared(H::NAME) }
}

/// Passes ownership of an object to C.
pub(crate) fn give<H: Object>(handle: H) -> *mut H {
    Box::into_raw(Box::new(handle))
}

/// Frees a handle that [`give`] returned; does nothing for null.
///
/// # Safety
/// The pointer is null or comes from [`give`]; without debug assertions it was not freed.
pub(crate) unsafe fn free<H: Object>(pointer: *mut H) -> Result<bool, Error> {
    if pointer.is_null() {
        return Ok(true);
    }
    {
        // SAFETY: by the contract it is alive, or with debug assertions its memory is at least not reused.
        let handle = unsafe { &*pointer }.handle();
        let taken =
            handle.mark.compare_exchange(READY, FREED, Ordering::Acquire, Ordering::Relaxed);
        taken.map_err(|mark| misuse(mark, H::NAME))?;
        // SAFETY: the mark allows no call to use the value.
        drop(unsafe { (*handle.value.get()).take() });
    }
    #[cfg(debug_assertions)]
    keep(pointer as usize);
    #[cfg(not(debug_assertions))]
    // SAFETY: by the contract, the pointer comes from `give` and was not freed.
    drop(unsafe { Box::from_raw(pointer) });
    Ok(true)
}

/// Keeps the address of a freed handle, so that a checker of leaks finds its memory in use.
#[cfg(debug_assertions)]
fn keep(address: usize) {
    static FREED: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());
    // In a child process the lock may stay locked; a checker may then report the memory.
    if let Ok(mut freed) = FREED.try_lock() {
        freed.push(address);
    }
}

// SAFETY: the mark orders all accesses to the value; a shared value is only read.
unsafe impl<T: Send + Sync> Sync for Handle<T> {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    struct Number(Handle<u32>);

    impl Object for Number {
        type State = u32;
        const NAME: &'static str = "number";

        fn handle(&self) -> &Handle<u32> {
            &self.0
        }
    }

    #[test]
    fn a_handle_in_use_is_neither_used_nor_freed() {
        let number = give(Number(Handle::new(7)));
        // SAFETY: from `give`, and freed only below.
        let handle = unsafe { &*number }.handle();
        let mut use_of_it = handle.exclusive("number").unwrap();
        *use_of_it += 1;
        assert!(
            handle.exclusive("number").err().unwrap().text().contains("in use by another call")
        );
        // SAFETY: as above; freeing fails.
        unsafe {
            assert!(handle.shared("number").unwrap_err().text().contains("in use by another call"));
            assert!(free(number).unwrap_err().text().contains("in use by another call"));
        }
        drop(use_of_it);
        // SAFETY: as above.
        unsafe {
            assert_eq!(handle.shared("number"), Ok(&8));
            assert_eq!(free(number), Ok(true));
        }
    }

    #[cfg(debug_assertions)]
    #[test]
    fn a_freed_handle_is_recognised() {
        let number = give(Number(Handle::new(7)));
        // SAFETY: from `give`; with debug assertions the memory of the mark stays.
        unsafe {
            assert_eq!(free(number), Ok(true));
            assert_eq!(free(number), Err(Error::object("number was freed before")));
            assert_eq!((*number).0.shared("number"), Err(Error::object("number was freed before")));
            assert!((*number).0.exclusive("number").is_err());
        }
    }

    #[test]
    fn null_is_freed_without_an_error() {
        // SAFETY: null.
        assert_eq!(unsafe { free(std::ptr::null_mut::<Number>()) }, Ok(true));
    }
}
