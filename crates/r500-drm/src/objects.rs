//! Buffer objects and their handles.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, Weak};

use r500_stream::{Buffer, Tiling};

use crate::Errno;
use crate::capture::Capture;
use crate::memory::SharedMemory;

/// A buffer object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) buffer: Buffer,
    pub(crate) memory: Arc<SharedMemory>,
    pub(crate) domain: AtomicU32,
    pub(crate) tiling: Mutex<Tiling>,
    /// Whether it has a descriptor with which other processes may use it.
    pub(crate) shared: AtomicBool,
    /// Fence of the last submission that uses it.
    pub(crate) fence: AtomicU64,
    pub(crate) capture: Arc<Capture>,
}

impl Drop for Object {
    fn drop(&mut self) {
        self.capture.record(|recorder| recorder.close(self.buffer.id()));
    }
}

/// The buffers of all files.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) last_id: u32,
    pub(crate) by_id: HashMap<u32, Weak<Object>>,
}

/// The handles of one file.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    last: u32,
    pub(crate) objects: HashMap<u32, Arc<Object>>,
}

impl Handles {
    /// The buffer of a handle.
    pub(crate) fn get(&self, handle: u32) -> Result<Arc<Object>, Errno> {
        self.objects.get(&handle).cloned().ok_or(Errno::NOENT)
    }

    pub(crate) fn add(&mut self, object: Arc<Object>) -> u32 {
        self.last += 1;
        self.objects.insert(self.last, object);
        self.last
    }
}
