//! Pages of executable memory: code is copied to them once and not changed afterwards (W^X), and processors fetch what was copied.
//!
//! | system | protection | caches |
//! | --- | --- | --- |
//! | Linux | writable pages become executable, and not writable again | by the instructions for cache maintenance |
//! | macOS | pages of `MAP_JIT`, which a thread can either write or execute: `pthread_jit_write_protect_np` switches that thread | `sys_icache_invalidate` |
//!
//! The part for macOS is compiled in CI and has not been run.

#![allow(
    unsafe_code,
    reason = "memory is mapped and caches are maintained by the system and by instructions"
)]

#[cfg(target_os = "linux")]
pub(super) use linux::CodePages;
#[cfg(target_os = "macos")]
pub(super) use macos::CodePages;

#[cfg(target_os = "linux")]
mod linux {
    use std::arch::asm;
    use std::io;
    use std::ops::Deref;

    use memmap2::{Mmap, MmapMut};

    /// Executable pages, which begin with the code.
    #[derive(Debug)]
    pub(in crate::aarch64) struct CodePages(Mmap);

    impl CodePages {
        /// Copies code to executable pages.
        ///
        /// # Errors
        /// The system's error if it has no memory or forbids execution.
        pub(in crate::aarch64) fn new(code: &[u8]) -> io::Result<Self> {
            let mut memory = MmapMut::map_anon(code.len().max(1))?;
            memory[..code.len()].copy_from_slice(code);
            let memory = memory.make_exec()?;
            synchronize_instructions(&memory);
            Ok(Self(memory))
        }
    }

    impl Deref for CodePages {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            &self.0
        }
    }

    /// Makes caches coherent: cleans the data cache to the point of unification and invalidates the instruction cache, line by line.
    fn synchronize_instructions(code: &[u8]) {
        let types: u64;
        // SAFETY: the register has the line sizes, and Linux lets programs read it.
        unsafe {
            asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags));
        }
        let (instructions, data) = (4_usize << (types & 15), 4_usize << (types >> 16 & 15));
        let (start, end) = (code.as_ptr().addr(), code.as_ptr().addr() + code.len());
        // SAFETY: each address is in a line with a byte of `code`, which is mapped; the operations change no memory. The barriers wait until
        // all processors observe the preceding operations.
        unsafe {
            for line in (start / data * data..end).step_by(data) {
                asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
            }
            asm!("dsb ish", options(nostack, preserves_flags));
            for line in (start / instructions * instructions..end).step_by(instructions) {
                asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
            }
            asm!("dsb ish", "isb", options(nostack, preserves_flags));
        }
    }
}

#[cfg(target_os = "macos")]
mod macos {
    use std::ffi::c_void;
    use std::io;
    use std::ops::Deref;
    use std::ptr::{NonNull, null_mut};

    use libc::{MAP_ANON, MAP_FAILED, MAP_JIT, MAP_PRIVATE, PROT_EXEC, PROT_READ, PROT_WRITE};

    // SAFETY: the declaration is that of `libkern/OSCacheControl.h`, in libSystem, which every program links.
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *mut c_void, length: usize);
    }

    /// Executable pages, which begin with the code.
    #[derive(Debug)]
    pub(in crate::aarch64) struct CodePages {
        start: NonNull<u8>,
        length: usize,
    }

    // SAFETY: the pages belong to this value alone, are not changed after `new`, and any thread may read, execute and unmap them.
    unsafe impl Send for CodePages {}
    // SAFETY: as above; a shared reference only reads.
    unsafe impl Sync for CodePages {}

    impl CodePages {
        /// Copies code to executable pages.
        ///
        /// # Errors
        /// The system's error if it has no memory or forbids execution, as it does for hardened programs without the entitlement for
        /// code that is made at run time.
        pub(in crate::aarch64) fn new(code: &[u8]) -> io::Result<Self> {
            let length = code.len().max(1);
            let protection = PROT_READ | PROT_WRITE | PROT_EXEC;
            let flags = MAP_PRIVATE | MAP_ANON | MAP_JIT;
            // SAFETY: a new mapping, at an address that the system chooses; it affects no other memory.
            let start = unsafe { libc::mmap(null_mut(), length, protection, flags, -1, 0) };
            let start = NonNull::new(start.cast::<u8>()).filter(|_| start != MAP_FAILED);
            let pages = Self { start: start.ok_or_else(io::Error::last_os_error)?, length };
            // SAFETY: the mapping has room for the code and is not part of it, and nothing else has its address yet. This thread may write
            // between the two switches, in which it executes no generated code, and nothing in between panics or returns.
            // `sys_icache_invalidate` takes any mapped range.
            unsafe {
                libc::pthread_jit_write_protect_np(0);
                pages.start.copy_from_nonoverlapping(NonNull::from(code).cast(), code.len());
                libc::pthread_jit_write_protect_np(1);
                sys_icache_invalidate(pages.start.as_ptr().cast(), length);
            }
            Ok(pages)
        }
    }

    impl Deref for CodePages {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            // SAFETY: `length` bytes are mapped at `start` for as long as `self` lives, initialised by the system or by `new`, and are not
            // changed after it.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
        }
    }

    impl Drop for CodePages {
        fn drop(&mut self) {
            // SAFETY: the mapping of `new`, to which no reference is left. A failure leaves it mapped, which harms nothing.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        }
    }
}
