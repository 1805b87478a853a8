//! Buffer objects: the memory that a program and the card share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The id of a buffer object in one card or capture. Never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

/// Storage of a buffer object.
///
/// Other threads and processes may write it at any time: dwords are accessed atomically (relaxed), and two reads of one
/// dword may differ.
pub trait Memory: fmt::Debug + Send + Sync {
    /// The storage, in dwords as the card sees them. Its length never changes.
    fn words(&self) -> &[AtomicU32];
}

impl Memory for Vec<AtomicU32> {
    fn words(&self) -> &[AtomicU32] {
        self
    }
}

/// A buffer object: shared storage with an id. Clones are the same buffer.
///
/// Byte `n` of a buffer is bits `8 * (n % 4)` of dword `n / 4`. Accesses outside have no effect.
#[derive(Debug, Clone)]
pub struct Buffer {
    id: BufferId,
    memory: Arc<dyn Memory>,
}

impl Buffer {
    /// Returns a buffer with the given storage.
    pub fn new(id: BufferId, memory: Arc<dyn Memory>) -> Self {
        Self { id, memory }
    }

    /// Returns a zeroed buffer in ordinary memory, its size in bytes rounded up to a dword. As for a [`Vec`], the process
    /// aborts if the memory cannot be allocated: for sizes that come from an input there is
    /// [`try_zeroed`](Self::try_zeroed).
    pub fn zeroed(id: BufferId, size: usize) -> Self {
        Self::new(id, Arc::new(bytemuck::zeroed_vec::<AtomicU32>(size.div_ceil(4))))
    }

    /// Returns a zeroed buffer in ordinary memory, its size in bytes rounded up to a dword; `None` if the memory cannot be
    /// allocated. The system provides its pages when they are first used.
    pub fn try_zeroed(id: BufferId, size: usize) -> Option<Self> {
        let words = bytemuck::try_zeroed_vec::<AtomicU32>(size.div_ceil(4)).ok()?;
        Some(Self::new(id, Arc::new(words)))
    }

    /// Its name.
    pub fn id(&self) -> BufferId {
        self.id
    }

    /// Its size in bytes, a multiple of 4.
    pub fn size(&self) -> usize {
        self.words().len() * 4
    }

    /// Returns all dwords, for loops that compute addresses themselves.
    pub fn words(&self) -> &[AtomicU32] {
        self.memory.words()
    }

    /// Reads the dword at a byte offset, whose two lowest bits are ignored.
    pub fn load(&self, offset: usize) -> Option<u32> {
        Some(self.words().get(offset / 4)?.load(Ordering::Relaxed))
    }

    /// Reads the dword at a byte offset as the card does: 0 outside of the buffer.
    pub fn dword(&self, offset: usize) -> u32 {
        self.load(offset).unwrap_or(0)
    }

    /// Writes the dword at a byte offset, whose two lowest bits are ignored. Returns whether it is
    /// inside.
    pub fn store(&self, offset: usize, value: u32) -> bool {
        match self.words().get(offset / 4) {
            Some(word) => {
                word.store(value, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// Copies bytes from an offset. Returns how many are inside; the rest of `out` is unchanged.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> usize {
        let words = self.words();
        let count = out.len().min((words.len() * 4).saturating_sub(offset));
        let mut done = 0;
        if offset.is_multiple_of(4) && count > 0 {
            let (whole, _) = out[..count].as_chunks_mut::<4>();
            for (bytes, word) in whole.iter_mut().zip(&words[offset / 4..]) {
                *bytes = word.load(Ordering::Relaxed).to_le_bytes();
            }
            done = count & !3;
        }
        while done < count {
            let at = offset + done;
            let bytes = words[at / 4].load(Ordering::Relaxed).to_le_bytes();
            let part = &bytes[at % 4..];
            let part = &part[..part.len().min(count - done)];
            out[done..done + part.len()].copy_from_slice(part);
            done += part.len();
        }
        count
    }

    /// Copies bytes to an offset. Returns how many are inside; the rest is dropped. Partially written dwords are read,
    /// modified and written.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> usize {
        let words = self.words();
        let count = bytes.len().min((words.len() * 4).saturating_sub(offset));
        let mut done = 0;
        while done < count {
            let at = offset + done;
            let word = &words[at / 4];
            let part = (4 - at % 4).min(count - done);
            let mut value =
                if part == 4 { [0; 4] } else { word.load(Ordering::Relaxed).to_le_bytes() };
            value[at % 4..at % 4 + part].copy_from_slice(&bytes[done..done + part]);
            word.store(u32::from_le_bytes(value), Ordering::Relaxed);
            done += part;
        }
        count
    }

    /// Returns a copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        self.words().iter().flat_map(|w| w.load(Ordering::Relaxed).to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_equal_those_of_a_slice() {
        arbtest::arbtest(|u| {
            let size = u.int_in_range(0..=40)?;
            let buffer = Buffer::zeroed(BufferId(0), size);
            let mut expected = vec![0; size.next_multiple_of(4)];
            for _ in 0..4 {
                let offset = u.int_in_range(0..=48)?;
                let bytes: Vec<u8> = u.arbitrary()?;
                let inside = bytes.len().min(expected.len().saturating_sub(offset));
                assert_eq!(buffer.write(offset, &bytes), inside);
                if inside > 0 {
                    expected[offset..offset + inside].copy_from_slice(&bytes[..inside]);
                }
                assert_eq!(buffer.to_vec(), expected);
                let offset = u.int_in_range(0..=48)?;
                let mut out = vec![0xaa; u.int_in_range(0..=16)?];
                let count = buffer.read(offset, &mut out);
                assert_eq!(count, out.len().min(expected.len().saturating_sub(offset)));
                if count > 0 {
                    assert_eq!(out[..count], expected[offset..offset + count]);
                }
                assert!(out[count..].iter().all(|b| *b == 0xaa));
            }
            Ok(())
        });
    }

    #[test]
    fn memory_that_is_not_there_is_no_abort() {
        assert!(Buffer::try_zeroed(BufferId(1), isize::MAX as usize).is_none());
    }

    #[test]
    fn dwords_outside_are_not_there() {
        let buffer = Buffer::zeroed(BufferId(3), 6);
        assert_eq!(buffer.size(), 8);
        assert!(buffer.store(4, 0x0403_0201));
        assert_eq!(buffer.load(7), Some(0x0403_0201));
        assert!(!buffer.store(8, 1));
        assert_eq!((buffer.load(8), buffer.dword(8), buffer.dword(4)), (None, 0, 0x0403_0201));
        assert_eq!(buffer.to_vec(), [0, 0, 0, 0, 1, 2, 3, 4]);
    }
}
