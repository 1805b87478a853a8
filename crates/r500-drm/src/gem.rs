//! GEM requests: buffer objects, and sharing them between files and processes.

use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use r500_stream::{Buffer, BufferId, Tiling};

use crate::abi::{
    GemBusy, GemClose, GemCreate, GemFlink, GemInfo, GemMmap, GemOp, GemOpen, GemSetDomain,
    GemTiling, GemWaitIdle, PrimeHandle,
};
use crate::lock::locked;
use crate::memory::{PAGE, SharedMemory};
use crate::objects::Object;
use crate::{Errno, File, Program};

/// Size of the card's own memory in bytes, as reported to the program.
pub(crate) const VRAM_BYTES: u64 = 256 << 20;
/// Size of the system memory for the card in bytes, as reported to the program.
pub(crate) const GART_BYTES: u64 = 512 << 20;

/// `RADEON_GEM_DOMAIN_GTT`
const DOMAIN_GTT: u32 = 2;
/// `RADEON_GEM_DOMAIN_VRAM`
const DOMAIN_VRAM: u32 = 4;

/// The part of a memory file for a mapping.
#[derive(Debug)]
pub struct Mapping {
    memory: Arc<SharedMemory>,
    /// Byte offset in the file.
    pub offset: u64,
}

impl AsFd for Mapping {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.file()
    }
}

/// Returns the offset of a buffer in the address space of the node, for `mmap`.
fn node_offset(id: BufferId) -> u64 {
    u64::from(id.0) << 32
}

impl File {
    pub(crate) fn object(&self, handle: u32) -> Result<Arc<Object>, Errno> {
        locked(&self.handles).get(handle)
    }

    /// Returns the mapping for `mmap` of the node at an offset.
    pub fn mapping(&self, offset: u64, length: u64) -> Result<Mapping, Errno> {
        let id = (offset >> 32) as u32;
        let object = locked(&self.device.objects).by_id.get(&id).and_then(Weak::upgrade);
        let object = object.ok_or(Errno::INVAL)?;
        let offset = offset & 0xffff_ffff;
        let end = offset.checked_add(length).ok_or(Errno::INVAL)?;
        if end > object.memory.size() {
            return Err(Errno::INVAL);
        }
        self.device.capture.record(|recorder| recorder.map(object.buffer.id()));
        Ok(Mapping { memory: Arc::clone(&object.memory), offset })
    }

    pub(crate) fn gem_info(info: &mut GemInfo) {
        *info = GemInfo { gart_size: GART_BYTES, vram_size: VRAM_BYTES, vram_visible: VRAM_BYTES };
    }

    pub(crate) fn gem_create(&self, create: &mut GemCreate) -> Result<(), Errno> {
        let domain = create.domain & (DOMAIN_GTT | DOMAIN_VRAM);
        create.handle = self.new_buffer(create.size, domain)?;
        Ok(())
    }

    /// Creates a zeroed buffer. Returns its handle.
    pub(crate) fn new_buffer(&self, size: u64, domain: u32) -> Result<u32, Errno> {
        let size = size.max(1).checked_next_multiple_of(PAGE).ok_or(Errno::NOMEM)?;
        if self.device.used() + size > VRAM_BYTES + GART_BYTES {
            return Err(Errno::NOMEM);
        }
        let object = self.device.adopt(SharedMemory::new(size)?, domain);
        Ok(locked(&self.handles).add(object))
    }

    pub(crate) fn gem_close(&self, close: &GemClose) -> Result<(), Errno> {
        let object = locked(&self.handles).objects.remove(&close.handle);
        object.map(drop).ok_or(Errno::INVAL)
    }

    pub(crate) fn gem_mmap(&self, mmap: &mut GemMmap) -> Result<(), Errno> {
        mmap.address = node_offset(self.object(mmap.handle)?.buffer.id());
        Ok(())
    }

    /// Returns the offset of a buffer for `mmap` of the node.
    pub(crate) fn offset_of(&self, handle: u32) -> Result<u64, Errno> {
        Ok(node_offset(self.object(handle)?.buffer.id()))
    }

    pub(crate) fn gem_set_domain(&self, set: &GemSetDomain) -> Result<(), Errno> {
        let object = self.object(set.handle)?;
        self.wait_for(&object);
        Ok(())
    }

    pub(crate) fn gem_wait_idle(&self, wait: &GemWaitIdle) -> Result<(), Errno> {
        let object = self.object(wait.handle)?;
        self.wait_for(&object);
        Ok(())
    }

    pub(crate) fn gem_busy(&self, busy: &mut GemBusy) -> Result<(), Errno> {
        let object = self.object(busy.handle)?;
        busy.domain = object.domain.load(Ordering::Relaxed);
        let done = self.device.worker.is_done(object.fence.load(Ordering::Acquire));
        if done { Ok(()) } else { Err(Errno::BUSY) }
    }

    /// Waits until the card has finished with a buffer.
    pub(crate) fn wait_for(&self, object: &Object) {
        let (worker, fence) = (&self.device.worker, object.fence.load(Ordering::Acquire));
        if !worker.is_done(fence) {
            self.device.timed("wait", || worker.wait(fence));
        }
        self.device.capture.record(|recorder| recorder.wait(object.buffer.id()));
    }

    pub(crate) fn gem_set_tiling(&self, set: &GemTiling) -> Result<(), Errno> {
        let object = self.object(set.handle)?;
        let tiling = Tiling { flags: set.flags, pitch: set.pitch };
        *locked(&object.tiling) = tiling;
        self.device.capture.record(|recorder| recorder.tiling(object.buffer.id(), tiling));
        Ok(())
    }

    pub(crate) fn gem_get_tiling(&self, get: &mut GemTiling) -> Result<(), Errno> {
        let Tiling { flags, pitch } = *locked(&self.object(get.handle)?.tiling);
        *get = GemTiling { handle: get.handle, flags, pitch };
        Ok(())
    }

    pub(crate) fn gem_op(&self, op: &mut GemOp) -> Result<(), Errno> {
        const GET_INITIAL_DOMAIN: u32 = 0;
        const SET_INITIAL_DOMAIN: u32 = 1;
        let object = self.object(op.handle)?;
        match op.op {
            GET_INITIAL_DOMAIN => op.value = object.domain.load(Ordering::Relaxed).into(),
            SET_INITIAL_DOMAIN => {
                object
                    .domain
                    .store(op.value as u32 & (DOMAIN_GTT | DOMAIN_VRAM), Ordering::Relaxed);
            }
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    /// Gives a buffer a name for other files of this process. Another process has no buffer of that name: names of different processes
    /// differ by their keys.
    pub(crate) fn gem_flink(&self, flink: &mut GemFlink) -> Result<(), Errno> {
        flink.name = self.object(flink.handle)?.buffer.id().0 ^ self.device.name_key;
        Ok(())
    }

    pub(crate) fn gem_open(&self, open: &mut GemOpen) -> Result<(), Errno> {
        let id = open.name ^ self.device.name_key;
        let object = locked(&self.device.objects).by_id.get(&id).and_then(Weak::upgrade);
        let object = object.ok_or(Errno::NOENT)?;
        open.size = object.memory.size();
        open.handle = locked(&self.handles).add(object);
        Ok(())
    }

    /// Exports a buffer as a dma-buf: its memory file.
    pub(crate) fn prime_handle_to_fd(&self, prime: &mut PrimeHandle) -> Result<(), Errno> {
        let object = self.object(prime.handle)?;
        object.shared.store(true, Ordering::Release);
        prime.fd = object.memory.file().try_clone_to_owned()?.into_raw_fd();
        Ok(())
    }

    /// Imports a dma-buf. A buffer has one handle in a file, however it was imported.
    pub(crate) fn prime_fd_to_handle(
        &self,
        program: &Program,
        prime: &mut PrimeHandle,
    ) -> Result<(), Errno> {
        let object = self.device.import(&program.descriptor(prime.fd)?)?;
        let mut handles = locked(&self.handles);
        let known = handles.objects.iter().find(|(_, other)| Arc::ptr_eq(other, &object));
        let known = known.map(|(handle, _)| *handle);
        prime.handle = known.unwrap_or_else(|| handles.add(object));
        Ok(())
    }
}

impl crate::Device {
    /// Returns the total size of all buffers in bytes.
    pub(crate) fn used(&self) -> u64 {
        let objects = locked(&self.objects);
        objects.by_id.values().filter_map(Weak::upgrade).map(|object| object.memory.size()).sum()
    }

    /// Creates a buffer object for a memory.
    fn adopt(&self, memory: SharedMemory, domain: u32) -> Arc<Object> {
        let memory = Arc::new(memory);
        let mut objects = locked(&self.objects);
        objects.last_id += 1;
        let id = BufferId(objects.last_id);
        let buffer = Buffer::new(id, Arc::clone(&memory) as _);
        let object = Arc::new(Object {
            buffer,
            memory,
            domain: AtomicU32::new(domain),
            tiling: Mutex::default(),
            shared: AtomicBool::new(false),
            fence: AtomicU64::new(0),
            capture: Arc::clone(&self.capture),
        });
        objects.by_id.retain(|_, object| object.strong_count() > 0);
        objects.by_id.insert(id.0, Arc::downgrade(&object));
        drop(objects);
        self.capture.record(|recorder| recorder.create(&object.buffer, domain));
        object
    }

    /// Returns the buffer of a memory file, created by this or another process.
    fn import(&self, file: &OwnedFd) -> Result<Arc<Object>, Errno> {
        match self.known(file.as_fd())? {
            Some(object) => Ok(object),
            None => {
                let object = self.adopt(SharedMemory::import(file.as_fd())?, DOMAIN_GTT);
                object.shared.store(true, Ordering::Release);
                Ok(object)
            }
        }
    }

    /// Returns the buffer of a memory file, if it is known.
    fn known(&self, file: BorrowedFd<'_>) -> Result<Option<Arc<Object>>, Errno> {
        let identity =
            |file: BorrowedFd<'_>| rustix::fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino));
        let wanted = identity(file)?;
        let objects: Vec<_> =
            locked(&self.objects).by_id.values().filter_map(Weak::upgrade).collect();
        for object in objects {
            if identity(object.memory.file())? == wanted {
                return Ok(Some(object));
            }
        }
        Ok(None)
    }

    /// Waits until the card has finished with a dma-buf. Returns whether the file is a buffer of this card.
    pub fn synchronise(&self, file: BorrowedFd<'_>) -> bool {
        let Ok(Some(object)) = self.known(file) else { return false };
        self.worker.wait(object.fence.load(Ordering::Acquire));
        true
    }
}
