//! Playback of captures: from records to submissions on buffers.

use std::collections::BTreeMap;
use std::time::Instant;

use super::hash::buffer_hash_until;
use super::{BLOCK_BYTES, Info, Picture, Record};
use crate::{Buffer, BufferId, OutOfTime, Relocation, Submission, Tiling};

/// The buffers of a capture while its records are applied, in order.
#[derive(Debug, Default)]
pub struct Player {
    limits: Limits,
    info: Info,
    bytes: u64,
    buffers: BTreeMap<BufferId, (Buffer, Tiling)>,
}

/// Limits of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all buffers that exist at one time. Each counts as at least [`LEAST`](Self::LEAST).
    pub bytes: u64,
}

impl Limits {
    /// Bytes of the smallest buffer object: a page.
    pub const LEAST: u64 = 4096;
}

impl Default for Limits {
    /// Returns 2 GiB: more than the card's own and its system memory together.
    fn default() -> Self {
        Self { bytes: 2 << 30 }
    }
}

/// The effect of a record on the execution or printing of a capture.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A submission to execute on the current buffers.
    Submission(Submission),
    /// The [hashes](super::buffer_hash) of these buffers after the last submission.
    Hashes(Vec<(BufferId, u64)>),
    /// The program waited for the buffer.
    Wait(Buffer),
    /// The end of a frame.
    Flip {
        /// The buffer.
        buffer: Buffer,
        /// Its location in the buffer.
        picture: Picture,
        /// The buffer's tiling.
        tiling: Tiling,
    },
}

/// A record that contradicts earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A buffer that does not exist (any more).
    #[error("buffer {} does not exist", .0.0)]
    NoBuffer(BufferId),
    /// A buffer that exists already.
    #[error("buffer {} exists already", .0.0)]
    Exists(BufferId),
    /// Contents outside a buffer.
    #[error("block {block} with {bytes} bytes is not a block of buffer {}", .buffer.0)]
    Block {
        /// The buffer.
        buffer: BufferId,
        /// The block.
        block: u32,
        /// How many bytes it has.
        bytes: usize,
    },
    /// Buffers above [`Limits::bytes`].
    #[error("the buffers have {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// Bytes with the buffer that is to be created.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A buffer that cannot be allocated.
    #[error("there is no memory for buffer {} with {bytes} bytes", .buffer.0)]
    Memory {
        /// The buffer.
        buffer: BufferId,
        /// Its size.
        bytes: u64,
    },
}

impl Player {
    /// Returns a player without buffers.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Returns the information on card and program; empty before the first record.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// A buffer that exists now.
    pub fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.buffers.get(&id).map(|(buffer, _)| buffer)
    }

    /// Applies one record.
    pub fn apply(&mut self, record: Record) -> Result<Option<Event>, PlayError> {
        match record {
            Record::Info(info) => self.info = info,
            Record::Create { buffer, size, domain: _ } => self.create(buffer, size)?,
            Record::Close { buffer } => {
                let (closed, _) =
                    self.buffers.remove(&buffer).ok_or(PlayError::NoBuffer(buffer))?;
                self.bytes -= counted_bytes(closed.size() as u64);
            }
            Record::Map { buffer } => drop(self.existing(buffer)?),
            Record::Tiling { buffer, tiling } => {
                self.buffers.get_mut(&buffer).ok_or(PlayError::NoBuffer(buffer))?.1 = tiling;
            }
            Record::Contents { buffer, block, bytes } => self.contents(buffer, block, &bytes)?,
            Record::Submission { flags, words, relocations } => {
                let relocations = relocations.into_iter().map(|r| {
                    let (buffer, tiling) = self.existing(r.buffer)?;
                    Ok(Relocation {
                        buffer,
                        tiling,
                        read_domains: r.read_domains,
                        write_domain: r.write_domain,
                        flags: r.flags,
                    })
                });
                let relocations = relocations.collect::<Result<_, PlayError>>()?;
                return Ok(Some(Event::Submission(Submission { words, flags, relocations })));
            }
            Record::Hashes(hashes) => return Ok(Some(Event::Hashes(hashes))),
            Record::Wait { buffer } => return Ok(Some(Event::Wait(self.existing(buffer)?.0))),
            Record::Flip(picture) => {
                let (buffer, tiling) = self.existing(picture.buffer)?;
                return Ok(Some(Event::Flip { buffer, picture, tiling }));
            }
            Record::Unknown { .. } => {}
        }
        Ok(None)
    }

    /// Returns those of the [hashes](Event::Hashes) that differ from the current buffers, with the current hash; `None`
    /// if there is no such buffer. Fails if it is not done at the deadline.
    pub fn mismatches(
        &self,
        hashes: &[(BufferId, u64)],
        deadline: Option<Instant>,
    ) -> Result<Vec<(BufferId, Option<u64>)>, OutOfTime> {
        let mut different = Vec::new();
        for &(id, wanted) in hashes {
            OutOfTime::check(deadline)?;
            let buffer = self.buffer(id);
            let found = buffer.map(|buffer| buffer_hash_until(buffer, deadline)).transpose()?;
            if found != Some(wanted) {
                different.push((id, found));
            }
        }
        Ok(different)
    }

    fn existing(&self, id: BufferId) -> Result<(Buffer, Tiling), PlayError> {
        self.buffers.get(&id).cloned().ok_or(PlayError::NoBuffer(id))
    }

    fn create(&mut self, id: BufferId, size: u64) -> Result<(), PlayError> {
        if self.buffers.contains_key(&id) {
            return Err(PlayError::Exists(id));
        }
        let limit = self.limits.bytes;
        // Sizes are rounded up to a dword.
        let bytes = self.bytes.saturating_add(counted_bytes(size.saturating_add(3)));
        let whole = usize::try_from(size).ok().filter(|_| bytes <= limit);
        let whole = whole.ok_or(PlayError::TooLarge { bytes, limit })?;
        let buffer =
            Buffer::try_zeroed(id, whole).ok_or(PlayError::Memory { buffer: id, bytes: size })?;
        self.bytes += counted_bytes(buffer.size() as u64);
        self.buffers.insert(id, (buffer, Tiling::default()));
        Ok(())
    }

    fn contents(&self, id: BufferId, block: u32, bytes: &[u8]) -> Result<(), PlayError> {
        let (buffer, _) = self.existing(id)?;
        let offset = block as usize * BLOCK_BYTES;
        let size = buffer.size().saturating_sub(offset).min(BLOCK_BYTES);
        if size == 0 || bytes.len() != size {
            return Err(PlayError::Block { buffer: id, block, bytes: bytes.len() });
        }
        buffer.write(offset, bytes);
        Ok(())
    }
}

/// Returns the bytes that a buffer counts as.
fn counted_bytes(size: u64) -> u64 {
    size.max(Limits::LEAST)
}
