//! Textures that draws have read: converted to row order and bound once, for as long as their bytes in memory stay the same.
//!
//! Bytes are compared with a copy at the first use in a submission, because programs write buffers between submissions, and after
//! each draw that wrote some of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use r500_exec::texture::Sampler;
use r500_program::Texture;
use r500_stream::{Buffer, BufferId};

use crate::texture_cache::LevelRead;

/// A texture with its sampler.
#[derive(Debug)]
pub(crate) struct BoundTexture {
    pub(crate) texture: Texture,
    pub(crate) sampler: Sampler,
    /// The levels that filters use; of unit 0.
    pub(crate) reads: Vec<LevelRead>,
    /// Bytes of all levels in memory.
    pub(crate) bytes: u64,
}

/// What a texture depends on besides the bytes of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextureKey {
    pub(crate) buffer: BufferId,
    /// The registers of the unit.
    pub(crate) registers: [u32; 8],
    /// The size that scales coordinates.
    pub(crate) scale: Option<u32>,
    /// Whether sizes of cube maps are rounded up.
    pub(crate) rounds_cubes: bool,
}

/// The textures of a card.
#[derive(Debug, Default)]
pub(crate) struct TextureStore {
    entries: HashMap<TextureKey, Entry>,
    /// Bytes that the entries keep, roughly.
    kept: u64,
    /// Counts lookups.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    texture: Arc<BoundTexture>,
    /// The buffer's bytes that the texture was read from, and where they are.
    copy: Box<[u32]>,
    range: Range<u64>,
    /// Whether the bytes are known to be those of the copy.
    current: bool,
    used: u64,
}

/// Limit of the bytes of copies and texels.
const MOST: u64 = 256 << 20;

impl TextureStore {
    /// Starts a submission: the program may have written its buffers.
    pub(crate) fn begin_submission(&mut self) {
        self.entries.values_mut().for_each(|entry| entry.current = false);
    }

    /// Notes that a draw wrote bytes of a buffer.
    pub(crate) fn written(&mut self, buffer: BufferId, bytes: &Range<u64>) {
        for (key, entry) in &mut self.entries {
            if key.buffer == buffer
                && entry.range.start < bytes.end
                && bytes.start < entry.range.end
            {
                entry.current = false;
            }
        }
    }

    /// Returns a texture that is kept, if the bytes in its buffer are the same.
    pub(crate) fn get(&mut self, key: &TextureKey, buffer: &Buffer) -> Option<Arc<BoundTexture>> {
        self.clock += 1;
        let entry = self.entries.get_mut(key)?;
        entry.current = entry.current || same(buffer, &entry.range, &entry.copy);
        if !entry.current {
            let entry = self.entries.remove(key)?;
            self.kept -= entry.kept();
            return None;
        }
        entry.used = self.clock;
        Some(Arc::clone(&entry.texture))
    }

    /// Keeps a texture. `range` has its bytes in the buffer, which were copied before the texture was read.
    pub(crate) fn keep(
        &mut self,
        key: TextureKey,
        texture: Arc<BoundTexture>,
        copy: Box<[u32]>,
        range: Range<u64>,
    ) {
        let entry = Entry { texture, copy, range, current: true, used: self.clock };
        let bytes = entry.kept();
        if bytes > MOST {
            return;
        }
        while self.kept + bytes > MOST {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some((&oldest, _)) = oldest else { break };
            if let Some(entry) = self.entries.remove(&oldest) {
                self.kept -= entry.kept();
            }
        }
        self.kept += bytes;
        if let Some(entry) = self.entries.insert(key, entry) {
            self.kept -= entry.kept();
        }
    }
}

impl Entry {
    /// Returns the bytes that the entry keeps, roughly: texels are decoded to up to 16 bytes each.
    fn kept(&self) -> u64 {
        self.copy.len() as u64 * 4 + self.texture.bytes * 4
    }
}

/// Copies the dwords of a range of bytes of a buffer; those outside are left out.
pub(crate) fn copy(buffer: &Buffer, range: &Range<u64>) -> Box<[u32]> {
    dwords(buffer, range).iter().map(|word| word.load(Ordering::Relaxed)).collect()
}

/// Returns whether the dwords of a range of bytes of a buffer are those of a copy.
fn same(buffer: &Buffer, range: &Range<u64>, copy: &[u32]) -> bool {
    let words = dwords(buffer, range);
    words.len() == copy.len()
        && words.iter().zip(copy).all(|(word, copy)| word.load(Ordering::Relaxed) == *copy)
}

fn dwords<'b>(buffer: &'b Buffer, range: &Range<u64>) -> &'b [AtomicU32] {
    let words = buffer.words();
    let at = |bytes: u64| usize::try_from(bytes / 4).map_or(words.len(), |n| n.min(words.len()));
    &words[at(range.start)..at(range.end.saturating_add(3))]
}
