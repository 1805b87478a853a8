//! Records to submissions: the state of the buffers of a capture.

use std::collections::BTreeMap;

use super::{BLOCK_BYTES, Info, Picture, Record, buffer_hash};
use crate::{Buffer, BufferId, Relocation, Submission, Tiling};

/// The buffers of a capture while its records are applied, in order.
#[derive(Debug, Default)]
pub struct Player {
    limits: Limits,
    info: Info,
    bytes: u64,
    buffers: BTreeMap<BufferId, (Buffer, Tiling)>,
}

/// What a capture may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all buffers that exist at one time.
    pub bytes: u64,
}

impl Default for Limits {
    /// 2 GiB: more than the card's own and its system memory together.
    fn default() -> Self {
        Self { bytes: 2 << 30 }
    }
}

/// What a record means for the execution or printing of a capture.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// Execute this on the buffers as they are now.
    Submission(Submission),
    /// After the last submission, these buffers had these [hashes](buffer_hash).
    Hashes(Vec<(BufferId, u64)>),
    /// The program waited for the buffer.
    Wait(Buffer),
    /// The end of a frame.
    Flip {
        /// The buffer.
        buffer: Buffer,
        /// Where the picture is in it.
        picture: Picture,
        /// The buffer's tiling.
        tiling: Tiling,
    },
}

/// A record that contradicts those before it.
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
}

impl Player {
    /// No buffers yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// What the capture says of itself; empty before its first record.
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
                self.bytes -= closed.size() as u64;
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

    /// Those of the [hashes](Event::Hashes) that the buffers do not have now, with the hash that
    /// they have; `None` if there is no such buffer.
    pub fn mismatches(&self, hashes: &[(BufferId, u64)]) -> Vec<(BufferId, Option<u64>)> {
        let found =
            hashes.iter().map(|(id, wanted)| (*id, *wanted, self.buffer(*id).map(buffer_hash)));
        found
            .filter(|(_, wanted, found)| Some(*wanted) != *found)
            .map(|(id, _, f)| (id, f))
            .collect()
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
        let bytes = self.bytes.saturating_add(size).saturating_add(3);
        let size = usize::try_from(size).ok().filter(|_| bytes <= limit);
        let size = size.ok_or(PlayError::TooLarge { bytes, limit })?;
        let buffer = Buffer::zeroed(id, size);
        self.bytes += buffer.size() as u64;
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
