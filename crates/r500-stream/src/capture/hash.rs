//! Hashes of buffers, block by block.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use twox_hash::XxHash3_64;

use crate::{Buffer, OutOfTime};

/// Bytes of a block: the unit of change detection.
pub const BLOCK_BYTES: usize = 64 << 10;

/// Dwords of a block.
pub(super) const BLOCK_WORDS: usize = BLOCK_BYTES / 4;

/// Returns XXH3 of the XXH3 hashes of a buffer's blocks (64 bits each, little-endian, in order), so that updating the
/// hash after a change costs one block.
pub fn buffer_hash(buffer: &Buffer) -> u64 {
    let mut copy = Vec::with_capacity(BLOCK_WORDS);
    combined(buffer.words().chunks(BLOCK_WORDS).map(|block| block_hash_of(block, &mut copy)))
}

/// Returns the same hash, or an error if it is not complete at the deadline.
pub(super) fn buffer_hash_until(
    buffer: &Buffer,
    deadline: Option<Instant>,
) -> Result<u64, OutOfTime> {
    let mut copy = Vec::with_capacity(BLOCK_WORDS);
    let mut hashes = Vec::new();
    for block in buffer.words().chunks(BLOCK_WORDS) {
        OutOfTime::check(deadline)?;
        hashes.extend(block_hash_of(block, &mut copy).to_le_bytes());
    }
    Ok(XxHash3_64::oneshot(&hashes))
}

fn block_hash_of(block: &[AtomicU32], copy: &mut Vec<u32>) -> u64 {
    copy_words(block, copy);
    block_hash(copy)
}

/// Combines the hashes of a buffer's blocks.
pub(super) fn combined(blocks: impl Iterator<Item = u64>) -> u64 {
    let bytes: Vec<u8> = blocks.flat_map(u64::to_le_bytes).collect();
    XxHash3_64::oneshot(&bytes)
}

/// The hash of one block.
pub(super) fn block_hash(words: &[u32]) -> u64 {
    XxHash3_64::oneshot(&words_to_bytes(words))
}

/// Returns dwords as bytes in memory order.
pub(super) fn words_to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Copies shared memory with one read of each dword.
pub(super) fn copy_words(shared: &[AtomicU32], out: &mut Vec<u32>) {
    out.clear();
    out.extend(shared.iter().map(|word| word.load(Ordering::Relaxed)));
}
