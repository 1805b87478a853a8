//! Chunks of a submission, as `DRM_RADEON_CS` takes them.

use crate::{Buffer, Relocation, Submission, Tiling};

/// What a chunk contains, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKind {
    /// The relocation list: entries of [`ChunkKind::ENTRY_DWORDS`] dwords.
    Relocations,
    /// The indirect buffer.
    IndirectBuffer,
    /// The flags of the submission.
    Flags,
    /// An indirect buffer for constants, which only later chips have.
    ConstantIndirectBuffer,
    /// An id that the kernel does not look at.
    Other,
}

impl ChunkKind {
    /// Dwords of an entry of the relocation list: buffer, read domains, write domain, flags.
    pub const ENTRY_DWORDS: usize = 4;

    /// Returns the kind of an id.
    pub fn from_id(id: u32) -> Self {
        match id {
            1 => Self::Relocations,
            2 => Self::IndirectBuffer,
            3 => Self::Flags,
            4 => Self::ConstantIndirectBuffer,
            _ => Self::Other,
        }
    }
}

/// Why a chunk is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError<E> {
    /// The chips of this family have no indirect buffers for constants.
    #[error("a chunk has an indirect buffer for constants (id 4), which these chips do not have")]
    ConstantIndirectBuffer,
    /// An entry of the relocation list names a buffer that does not exist.
    #[error("entry {entry} of the relocation list names buffer {name}: {error}")]
    Buffer {
        /// The entry.
        entry: usize,
        /// The name that it has.
        name: u32,
        /// Why there is no such buffer.
        error: E,
    },
}

impl Submission {
    /// Adds a chunk; a later one of the same kind replaces it. `buffer` returns the buffer of a name in the relocation list, and its tiling.
    /// Dwords after the last whole entry of that list are ignored, as the kernel does.
    ///
    /// # Errors
    /// [`ChunkError`]; the submission is as before.
    pub fn add_chunk<E>(
        &mut self,
        kind: ChunkKind,
        dwords: Vec<u32>,
        mut buffer: impl FnMut(u32) -> Result<(Buffer, Tiling), E>,
    ) -> Result<(), ChunkError<E>> {
        match kind {
            ChunkKind::IndirectBuffer => self.words = dwords,
            ChunkKind::Flags => self.flags = dwords.first().copied().unwrap_or(0),
            ChunkKind::ConstantIndirectBuffer => return Err(ChunkError::ConstantIndirectBuffer),
            ChunkKind::Other => {}
            ChunkKind::Relocations => {
                let entries = dwords.as_chunks::<{ ChunkKind::ENTRY_DWORDS }>().0;
                let relocation = |(entry, &[name, read_domains, write_domain, flags]): (
                    usize,
                    &[u32; ChunkKind::ENTRY_DWORDS],
                )| {
                    let found = buffer(name);
                    let (buffer, tiling) =
                        found.map_err(|error| ChunkError::Buffer { entry, name, error })?;
                    Ok(Relocation { buffer, read_domains, write_domain, flags, tiling })
                };
                self.relocations =
                    entries.iter().enumerate().map(relocation).collect::<Result<_, _>>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use crate::BufferId;

    use super::*;

    fn add(
        submission: &mut Submission,
        id: u32,
        dwords: &[u32],
    ) -> Result<(), ChunkError<&'static str>> {
        submission.add_chunk(ChunkKind::from_id(id), dwords.to_vec(), |name| match name {
            7 => Ok((Buffer::zeroed(BufferId(70), 16), Tiling { flags: 1, pitch: 64 })),
            _ => Err("there is none"),
        })
    }

    /// The numbers are those of `radeon_drm.h`.
    #[test]
    fn chunks_become_a_submission() {
        let mut submission = Submission::default();
        for (id, dwords) in
            [(2, [5, 6].as_slice()), (3, &[1, 9]), (1, &[7, 2, 4, 15, 7]), (77, &[0])]
        {
            assert_eq!(add(&mut submission, id, dwords), Ok(()));
        }
        assert_eq!((submission.words.as_slice(), submission.flags), ([5, 6].as_slice(), 1));
        let [relocation] = submission.relocations.as_slice() else { panic!("{submission:?}") };
        assert_eq!(relocation.id(), BufferId(70));
        assert_eq!(
            (relocation.read_domains, relocation.write_domain, relocation.flags),
            (2, 4, 15)
        );
        assert_eq!(relocation.tiling, Tiling { flags: 1, pitch: 64 });
    }

    #[test]
    fn what_the_kernel_refuses_changes_nothing() {
        let mut submission = Submission::default();
        assert_eq!(add(&mut submission, 1, &[7, 0, 0, 0]), Ok(()));
        let missing = ChunkError::Buffer { entry: 1, name: 8, error: "there is none" };
        assert_eq!(add(&mut submission, 1, &[7, 0, 0, 0, 8, 0, 0, 0]), Err(missing));
        assert_eq!(add(&mut submission, 4, &[]), Err(ChunkError::ConstantIndirectBuffer));
        assert_eq!(submission.relocations.len(), 1);
    }
}
