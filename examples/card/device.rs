//! The graphics device without any library: open, buffers, submissions.
//!
//! Requests and structures are those of the kernel's headers `drm.h` and `radeon_drm.h`; a program like this runs on a
//! real card, too, if its user may open the node.

#![allow(clippy::disallowed_methods, reason = "a program for the card, which has no part of r500")]
#![allow(unsafe_code, reason = "system calls with structures")]

use std::ffi::{c_int, c_ulong};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::AtomicU32;

/// Buffers in the card's own memory. The other domain, 2, is system memory that the card can reach.
const VRAM: u32 = 4;

/// `_IOWR('d', 0x5d, struct drm_radeon_gem_create)`
const GEM_CREATE: c_ulong = 0xc020_645d;
/// `_IOWR('d', 0x5e, struct drm_radeon_gem_mmap)`
const GEM_MMAP: c_ulong = 0xc020_645e;
/// `_IOW('d', 0x64, struct drm_radeon_gem_wait_idle)`
const GEM_WAIT_IDLE: c_ulong = 0x4008_6464;
/// `_IOWR('d', 0x66, struct drm_radeon_cs)`
const CS: c_ulong = 0xc020_6466;

#[repr(C)]
#[derive(Default)]
struct GemCreate {
    size: u64,
    alignment: u64,
    handle: u32,
    initial_domain: u32,
    flags: u32,
    padding: u32,
}

#[repr(C)]
#[derive(Default)]
struct GemMmap {
    handle: u32,
    padding: u32,
    offset: u64,
    size: u64,
    addr_ptr: u64,
}

#[repr(C)]
struct GemWaitIdle {
    handle: u32,
    padding: u32,
}

#[repr(C)]
struct CsChunk {
    chunk_id: u32,
    length_dw: u32,
    chunk_data: u64,
}

#[repr(C)]
#[derive(Default)]
struct Cs {
    num_chunks: u32,
    cs_id: u32,
    chunks: u64,
    gart_limit: u64,
    vram_limit: u64,
}

/// The open device.
pub(crate) struct Card(File);

/// A buffer: a handle of the device, and its memory in this program.
pub(crate) struct Buffer<'c> {
    card: &'c Card,
    handle: u32,
    words: &'static [AtomicU32],
}

impl Card {
    /// Opens the node that does not need the screen.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(OpenOptions::new().read(true).write(true).open("/dev/dri/renderD128")?))
    }

    fn request<T>(&self, number: c_ulong, argument: &mut T) -> io::Result<()> {
        // SAFETY: the number says how long the structure is, and each caller passes that structure.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), number, ptr::from_mut(argument)) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Creates a buffer of zeros and maps it.
    pub(crate) fn create(&self, bytes: usize) -> io::Result<Buffer<'_>> {
        let size = bytes.next_multiple_of(4096);
        let mut create = GemCreate {
            size: size as u64,
            alignment: 4096,
            initial_domain: VRAM,
            ..GemCreate::default()
        };
        self.request(GEM_CREATE, &mut create)?;
        // The kernel gives an offset at which the device itself is to be mapped.
        let mut map = GemMmap { handle: create.handle, size: size as u64, ..GemMmap::default() };
        self.request(GEM_MMAP, &mut map)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let fd: c_int = self.0.as_raw_fd();
        // SAFETY: a new mapping, which stays until the program ends.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                access,
                libc::MAP_SHARED,
                fd,
                map.addr_ptr as libc::off_t,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping has that many dwords; the card writes them while this program reads, so they are atomics.
        let words = unsafe { std::slice::from_raw_parts(address.cast::<AtomicU32>(), size / 4) };
        Ok(Buffer { card: self, handle: create.handle, words })
    }

    /// Submits a stream. A relocation NOP in it names a buffer by its place in the list.
    pub(crate) fn submit(&self, stream: &[u32], buffers: &[&Buffer<'_>]) -> io::Result<()> {
        const CHUNK_RELOCS: u32 = 1;
        const CHUNK_IB: u32 = 2;
        const CHUNK_FLAGS: u32 = 3;
        /// The stream itself says how textures and targets are tiled.
        const KEEP_TILING_FLAGS: u32 = 1;

        // Handle, domains that are read, domain that is written, flags.
        let relocations: Vec<[u32; 4]> =
            buffers.iter().map(|b| [b.handle, VRAM, VRAM, 0]).collect();
        let flags = [KEEP_TILING_FLAGS, 0];
        let chunk = |chunk_id, length: usize, data: *const u32| CsChunk {
            chunk_id,
            length_dw: length as u32,
            chunk_data: data as u64,
        };
        let chunks = [
            chunk(CHUNK_IB, stream.len(), stream.as_ptr()),
            chunk(CHUNK_RELOCS, relocations.len() * 4, relocations.as_ptr().cast()),
            chunk(CHUNK_FLAGS, flags.len(), flags.as_ptr()),
        ];
        let addresses = chunks.each_ref().map(|chunk| ptr::from_ref(chunk) as u64);
        let mut cs = Cs {
            num_chunks: addresses.len() as u32,
            chunks: addresses.as_ptr() as u64,
            ..Cs::default()
        };
        self.request(CS, &mut cs)
    }
}

impl Buffer<'_> {
    /// Its memory. What the card writes is there after [`wait`](Self::wait).
    pub(crate) fn words(&self) -> &[AtomicU32] {
        self.words
    }

    /// Waits until the card is done with it.
    pub(crate) fn wait(&self) -> io::Result<()> {
        self.card.request(GEM_WAIT_IDLE, &mut GemWaitIdle { handle: self.handle, padding: 0 })
    }
}
