//! Access to memory of the program by address.

#![allow(unsafe_code, reason = "requests hold addresses")]

use std::os::fd::{BorrowedFd, OwnedFd};

use bytemuck::Pod;

use crate::Errno;

/// The program that makes a request: permission to access the addresses that it passes.
///
/// As with the kernel, addresses are numbers. The kernel checks whether the memory exists; this crate cannot, and a
/// wrong address faults in the program.
#[derive(Debug)]
pub struct Program(());

impl Program {
    /// The caller of a request.
    ///
    /// # Safety
    ///
    /// While requests are answered with this value, each address in them, or in what they point to,
    /// is null or that of memory of the size that the request says, readable if it is
    /// passed in, writable if it is to be filled, and not changed by another thread.
    pub unsafe fn trusted() -> Self {
        Self(())
    }

    /// Copies the first `size` bytes of a structure in; the rest of it is zero.
    pub(crate) fn read_prefix<T: Pod>(&self, address: u64, size: usize) -> Result<T, Errno> {
        let mut value = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut value);
        let size = size.min(bytes.len());
        self.copy_in(address, &mut bytes[..size])?;
        Ok(value)
    }

    /// Copies the first `size` bytes of a structure out.
    pub(crate) fn write_prefix<T: Pod>(
        &self,
        address: u64,
        value: &T,
        size: usize,
    ) -> Result<(), Errno> {
        let bytes = bytemuck::bytes_of(value);
        self.copy_out(address, &bytes[..size.min(bytes.len())])
    }

    /// Copies an array in, whose length the program chose: at most `limit` elements.
    pub(crate) fn read_array<T: Pod>(
        &self,
        address: u64,
        count: usize,
        limit: usize,
    ) -> Result<Vec<T>, Errno> {
        if count > limit {
            return Err(Errno::INVAL);
        }
        let mut values = vec![T::zeroed(); count];
        self.copy_in(address, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// Copies an array out.
    pub(crate) fn write_array<T: Pod>(&self, address: u64, values: &[T]) -> Result<(), Errno> {
        self.copy_out(address, bytemuck::cast_slice(values))
    }

    /// Duplicates a descriptor of the program.
    pub(crate) fn descriptor(&self, descriptor: i32) -> Result<OwnedFd, Errno> {
        if descriptor < 0 {
            return Err(Errno(libc::EBADF));
        }
        // SAFETY: the number is borrowed for one call, which fails if no descriptor is open there.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        Ok(borrowed.try_clone_to_owned()?)
    }

    fn copy_in(&self, address: u64, out: &mut [u8]) -> Result<(), Errno> {
        if out.is_empty() {
            return Ok(());
        }
        if address == 0 {
            return Err(Errno::FAULT);
        }
        // SAFETY: `trusted` was promised that the memory is there and readable, and it is not that of
        // `out`, which was allocated or put on the stack after the program made the request.
        unsafe {
            std::ptr::copy_nonoverlapping(address as *const u8, out.as_mut_ptr(), out.len());
        }
        Ok(())
    }

    fn copy_out(&self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.is_empty() {
            return Ok(());
        }
        if address == 0 {
            return Err(Errno::FAULT);
        }
        // SAFETY: `trusted` was promised that the memory is there and writable; `bytes` are this
        // crate's own, so the two do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len());
        }
        Ok(())
    }
}
