//! Buffers as memory files: mapped here for the machine, mapped by the program, and shared with other processes as
//! dma-bufs.

#![allow(unsafe_code, reason = "memory shared with other mappings is atomics over raw pages")]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU32;

use memmap2::{MmapOptions, MmapRaw};
use r500_stream::Memory;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::Errno;

/// Page size: sizes are multiples of it.
pub(crate) const PAGE: u64 = 4096;

/// A mapped memory file that is sealed against shrinking.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    file: OwnedFd,
    map: MmapRaw,
}

impl SharedMemory {
    /// Creates zeroed memory. `size` is a multiple of [`PAGE`], not 0.
    pub(crate) fn new(size: u64) -> Result<Self, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = out_of_the_way(rustix::fs::memfd_create("r500 buffer", flags)?);
        rustix::fs::ftruncate(&file, size)?;
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
        Self::map(file, size)
    }

    /// Imports memory that this or another process created with [`new`](Self::new).
    pub(crate) fn import(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let seals = rustix::fs::fcntl_get_seals(file)?;
        let size = rustix::fs::fstat(file)?.st_size as u64;
        if !seals.contains(SealFlags::SHRINK) || size == 0 || !size.is_multiple_of(PAGE) {
            return Err(Errno::INVAL);
        }
        Self::map(out_of_the_way(file.try_clone_to_owned()?), size)
    }

    fn map(file: OwnedFd, size: u64) -> Result<Self, Errno> {
        let size = usize::try_from(size).map_err(|_| Errno::NOMEM)?;
        let map = MmapOptions::new().len(size).map_raw(&file)?;
        Ok(Self { file, map })
    }

    /// The file, for mappings and for export.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Its size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.map.len() as u64
    }
}

impl Memory for SharedMemory {
    fn words(&self) -> &[AtomicU32] {
        // SAFETY: the mapping is readable and writable, page-aligned, and lives as long as `self`. All
        // its pages are in the file, which is sealed against shrinking, so no access faults. This
        // process makes no other reference to it; other mappings of the file are written by the
        // program, which atomics allow for: a dword is always some value that was stored.
        unsafe {
            std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU32>(), self.map.len() / 4)
        }
    }
}

/// Lower descriptors are left to the program, because `select` supports no greater ones.
const FIRST_DESCRIPTOR: u32 = 1024;

/// Moves a descriptor above those for the program, if the limits of the process permit.
pub(crate) fn out_of_the_way(file: OwnedFd) -> OwnedFd {
    let wanted = u64::from(FIRST_DESCRIPTOR) * 16;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        // Without a higher limit, buffers share the descriptors with the program's files.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    rustix::io::fcntl_dupfd_cloexec(&file, FIRST_DESCRIPTOR as i32).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn two_mappings_are_the_same_memory() {
        let first = SharedMemory::new(2 * PAGE).unwrap();
        let second = SharedMemory::import(first.file()).unwrap();
        assert_eq!(first.words().len(), 2048);
        assert!(first.words().iter().all(|w| w.load(Ordering::Relaxed) == 0));
        first.words()[2047].store(7, Ordering::Relaxed);
        assert_eq!(second.words()[2047].load(Ordering::Relaxed), 7);
        drop(first);
        assert_eq!(second.words()[2047].load(Ordering::Relaxed), 7);
    }

    #[test]
    fn files_that_may_shrink_are_refused() {
        let file = rustix::fs::memfd_create("test", MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&file, PAGE).unwrap();
        assert_eq!(SharedMemory::import(file.as_fd()).unwrap_err(), Errno::INVAL);
        let ordinary = std::fs::File::open("/dev/null").unwrap();
        assert!(SharedMemory::import(ordinary.as_fd()).is_err());
    }
}
