//! Coherence of the texture cache: finds draws that read texels which were written after the cache was last emptied.
//!
//! The texture cache of a chip does not observe writes. After a render target, a resolve or the CPU has changed a texture,
//! a draw may get old texels from the cache until `TX_INVALTAGS` is written. This card has no such cache: draws read current
//! texels. It reports the draws whose texels may be older on a chip, because the driver did not empty the cache.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use r500_stream::BufferId;

/// A draw that reads texels which were written after the last `TX_INVALTAGS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaleTexels {
    /// The number of the draw.
    pub draw: u64,
    /// The texture unit.
    pub unit: usize,
    /// The buffer of the texture.
    pub buffer: BufferId,
    /// The last draw that wrote the texture; `None` if the CPU wrote it.
    pub writer: Option<u64>,
}

impl fmt::Display for StaleTexels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draw, unit, buffer, writer } = *self;
        write!(
            f,
            "draw {draw} reads texels written since the last TX_INVALTAGS: unit {unit}, buffer {}, written by ",
            buffer.0
        )?;
        match writer {
            Some(draw) => write!(f, "draw {draw}"),
            None => f.write_str("the CPU"),
        }
    }
}

/// A level of a texture that a draw reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelRead {
    pub(crate) unit: usize,
    pub(crate) buffer: BufferId,
    /// Its bytes in the buffer.
    pub(crate) bytes: Range<u64>,
    /// A hash of its texels.
    pub(crate) hash: u64,
}

/// Reads and writes since the cache was emptied.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextureCache {
    written: HashMap<BufferId, Vec<Write>>,
    /// Hashes of levels at their last read, by buffer and bytes.
    read: HashMap<(BufferId, Range<u64>), u64>,
}

/// Bytes of a buffer that a draw wrote.
#[derive(Clone, Debug)]
struct Write {
    bytes: Range<u64>,
    draw: u64,
}

/// Limit of remembered ranges of a buffer, and of remembered levels.
const MOST: usize = 4096;

impl TextureCache {
    /// Empties the cache, as a write of `TX_INVALTAGS` does.
    pub(crate) fn invalidate(&mut self) {
        self.written.clear();
        self.read.clear();
    }

    /// Notes that a draw wrote bytes of a buffer: the smallest range that has all of them.
    pub(crate) fn write(&mut self, buffer: BufferId, bytes: Range<u64>, draw: u64) {
        let writes = self.written.entry(buffer).or_default();
        writes.retain(|write| write.bytes.start < bytes.start || write.bytes.end > bytes.end);
        if writes.len() < MOST {
            writes.push(Write { bytes, draw });
        }
    }

    /// Notes the levels that a draw reads. Returns those with texels that were written since the cache was emptied, once
    /// for a unit.
    pub(crate) fn read(&mut self, levels: Vec<LevelRead>, draw: u64) -> Vec<StaleTexels> {
        let mut stale: Vec<StaleTexels> = Vec::new();
        for LevelRead { unit, buffer, bytes, hash } in levels {
            let writes = self.written.get(&buffer).into_iter().flatten();
            let overlapping = writes
                .filter(|write| write.bytes.start < bytes.end && bytes.start < write.bytes.end);
            let writer = overlapping.map(|write| write.draw).max();
            let key = (buffer, bytes);
            // The CPU's writes are found where it changed texels that a draw read before.
            let changed = self.read.get(&key).is_some_and(|before| *before != hash);
            if self.read.len() < MOST || self.read.contains_key(&key) {
                self.read.insert(key, hash);
            }
            if (writer.is_some() || changed) && stale.last().is_none_or(|last| last.unit != unit) {
                stale.push(StaleTexels { draw, unit, buffer, writer });
            }
        }
        stale
    }
}

/// Returns a hash of texels, for comparison within a run.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    // Four chains, so that the products of one do not wait for another.
    let (blocks, rest) = bytes.as_chunks::<32>();
    let mut chains = [bytes.len() as u64, 1, 2, 3];
    for block in blocks {
        for (chain, word) in chains.iter_mut().zip(block.as_chunks().0) {
            *chain = step(*chain, u64::from_le_bytes(*word));
        }
    }
    let rest = rest.iter().map(|byte| u64::from(*byte));
    chains.into_iter().chain(rest).fold(0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTURE: BufferId = BufferId(7);

    fn level(bytes: Range<u64>, hash: u64) -> Vec<LevelRead> {
        vec![LevelRead { unit: 2, buffer: TEXTURE, bytes, hash }]
    }

    fn writers(stale: &[StaleTexels]) -> Vec<Option<u64>> {
        stale.iter().map(|stale| stale.writer).collect()
    }

    #[test]
    fn a_draw_that_reads_what_a_draw_wrote_is_found() {
        let mut cache = TextureCache::default();
        cache.write(TEXTURE, 64..128, 3);
        cache.write(TEXTURE, 128..192, 4);
        // The bytes before and after, and another buffer.
        assert_eq!(cache.read(level(0..64, 1), 5), []);
        assert_eq!(cache.read(level(192..256, 1), 5), []);
        cache.write(BufferId(8), 0..1024, 5);
        let stale = cache.read(level(0..100, 1), 6);
        assert_eq!(writers(&stale), [Some(3)]);
        assert_eq!(
            stale[0].to_string(),
            "draw 6 reads texels written since the last TX_INVALTAGS: unit 2, buffer 7, written by draw 3"
        );
        assert_eq!(writers(&cache.read(level(0..200, 1), 7)), [Some(4)]);
        cache.invalidate();
        assert_eq!(cache.read(level(0..200, 1), 8), []);
    }

    #[test]
    fn texels_that_the_cpu_changes_between_two_reads_are_found() {
        let mut cache = TextureCache::default();
        assert_eq!(cache.read(level(0..64, 1), 0), []);
        assert_eq!(cache.read(level(0..64, 1), 1), []);
        let stale = cache.read(level(0..64, 2), 2);
        assert_eq!(writers(&stale), [None]);
        assert!(stale[0].to_string().ends_with("written by the CPU"));
        // Emptied between write and read.
        cache.invalidate();
        assert_eq!(cache.read(level(0..64, 3), 3), []);
    }

    #[test]
    fn hashes_depend_on_each_byte_and_the_length() {
        let bytes: Vec<u8> = (0..21).collect();
        for n in 0..bytes.len() {
            let mut other = bytes.clone();
            other[n] ^= 0x80;
            assert_ne!(hash(&other), hash(&bytes), "{n}");
        }
        assert_ne!(hash(&[0; 8]), hash(&[0; 16]));
    }
}
