//! Recording of captures, with change detection.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::atomic::Ordering;

use super::hash::{BLOCK_WORDS, block_hash, combined, copy_words, words_to_bytes};
use super::{Info, NamedRelocation, Picture, Record, Writer};
use crate::{Buffer, BufferId, Submission, Tiling};

/// Records the operations of a program on its buffers.
///
/// It keeps a copy of each buffer in the state of a [`Player`](super::Player) of the capture, so that it writes only
/// differences.
#[derive(Debug)]
pub struct Recorder<W> {
    writer: Writer<W>,
    copies: HashMap<BufferId, Vec<Block>>,
}

/// A block in the state of the capture.
#[derive(Debug, Clone, Default)]
struct Block {
    /// Its dwords; `None` while all are 0.
    words: Option<Box<[u32]>>,
    /// Its hash, if it was computed since it changed.
    hash: Option<u64>,
}

impl<W: Write> Recorder<W> {
    /// Starts a capture.
    pub fn new(sink: W, info: Info) -> io::Result<Self> {
        let mut writer = Writer::new(sink)?;
        writer.write(&Record::Info(info))?;
        Ok(Self { writer, copies: HashMap::new() })
    }

    /// Records a new buffer. Its contents are written at the first submission with it.
    pub fn create(&mut self, buffer: &Buffer, domain: u32) -> io::Result<()> {
        let blocks = buffer.words().len().div_ceil(BLOCK_WORDS);
        self.copies.insert(buffer.id(), vec![Block::default(); blocks]);
        self.write(Record::Create { buffer: buffer.id(), size: buffer.size() as u64, domain })
    }

    /// Records that the program closed a buffer.
    pub fn close(&mut self, buffer: BufferId) -> io::Result<()> {
        self.copies.remove(&buffer);
        self.write(Record::Close { buffer })
    }

    /// Records that the program mapped a buffer.
    pub fn map(&mut self, buffer: BufferId) -> io::Result<()> {
        self.write(Record::Map { buffer })
    }

    /// Records a change of a buffer's tiling.
    pub fn tiling(&mut self, buffer: BufferId, tiling: Tiling) -> io::Result<()> {
        self.write(Record::Tiling { buffer, tiling })
    }

    /// Records that the program waited for a buffer.
    pub fn wait(&mut self, buffer: BufferId) -> io::Result<()> {
        self.write(Record::Wait { buffer })
    }

    /// Records that a buffer was shown on the screen.
    pub fn flip(&mut self, picture: Picture) -> io::Result<()> {
        self.write(Record::Flip(picture))
    }

    /// Records a submission before its execution, after the changes of its buffers.
    pub fn submission(&mut self, submission: &Submission) -> io::Result<()> {
        for buffer in submission.buffers() {
            for changed in self.refresh(buffer) {
                let Some(words) = &self.copies[&buffer.id()][changed].words else { continue };
                let (buffer, block) = (buffer.id(), changed as u32);
                let bytes = words_to_bytes(words);
                self.write(Record::Contents { buffer, block, bytes })?;
            }
        }
        let relocations = submission.relocations.iter().map(|r| NamedRelocation {
            buffer: r.id(),
            read_domains: r.read_domains,
            write_domain: r.write_domain,
            flags: r.flags,
        });
        self.write(Record::Submission {
            flags: submission.flags,
            words: submission.words.clone(),
            relocations: relocations.collect(),
        })
    }

    /// Records the hashes of a submission's buffers after its execution. The card's writes are not stored, because a
    /// replay repeats them.
    pub fn executed(&mut self, submission: &Submission) -> io::Result<()> {
        let mut hashes = Vec::new();
        for buffer in submission.buffers() {
            self.refresh(buffer);
            let Some(blocks) = self.copies.get_mut(&buffer.id()) else { continue };
            let lengths = buffer.words().chunks(BLOCK_WORDS).map(<[_]>::len);
            let hash = combined(blocks.iter_mut().zip(lengths).map(|(block, length)| {
                *block.hash.get_or_insert_with(|| match &block.words {
                    Some(words) => block_hash(words),
                    None => block_hash(&vec![0; length]),
                })
            }));
            hashes.push((buffer.id(), hash));
        }
        self.write(Record::Hashes(hashes))
    }

    /// Flushes the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    /// The sink.
    pub fn into_inner(self) -> W {
        self.writer.into_inner()
    }

    fn write(&mut self, record: Record) -> io::Result<()> {
        self.writer.write(&record)
    }

    /// Updates the copy of a buffer. Returns the changed blocks.
    fn refresh(&mut self, buffer: &Buffer) -> Vec<usize> {
        let Some(blocks) = self.copies.get_mut(&buffer.id()) else { return Vec::new() };
        let mut changed = Vec::new();
        for (at, (shared, block)) in
            buffer.words().chunks(BLOCK_WORDS).zip(blocks.iter_mut()).enumerate()
        {
            let same = match &block.words {
                Some(words) => {
                    shared.iter().zip(words).all(|(s, w)| s.load(Ordering::Relaxed) == *w)
                }
                None => shared.iter().all(|s| s.load(Ordering::Relaxed) == 0),
            };
            if !same {
                let mut copy = Vec::with_capacity(shared.len());
                copy_words(shared, &mut copy);
                *block = Block { words: Some(copy.into_boxed_slice()), hash: None };
                changed.push(at);
            }
        }
        changed
    }
}
