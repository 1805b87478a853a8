//! Change detection: buffers to the records that bring a copy of them up to date.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::atomic::Ordering;

use super::hash::{BLOCK_WORDS, block_hash, combined, copy_words, words_to_bytes};
use super::{Info, NamedRelocation, Picture, Record, Writer};
use crate::{Buffer, BufferId, Submission, Tiling};

/// Records what a program does with its buffers.
///
/// It keeps a copy of each buffer as a [`Player`](super::Player) of the capture would hold it, so
/// that only differences are written.
#[derive(Debug)]
pub struct Recorder<W> {
    writer: Writer<W>,
    copies: HashMap<BufferId, Vec<Block>>,
}

/// A block as the capture has it.
#[derive(Debug, Clone, Default)]
struct Block {
    /// Its dwords; `None` while all are 0.
    words: Option<Box<[u32]>>,
    /// Its hash, if it was computed since it changed.
    hash: Option<u64>,
}

impl<W: Write> Recorder<W> {
    /// Begins a capture.
    pub fn new(sink: W, info: Info) -> io::Result<Self> {
        let mut writer = Writer::new(sink)?;
        writer.write(&Record::Info(info))?;
        Ok(Self { writer, copies: HashMap::new() })
    }

    /// A new buffer, whose contents are written when a submission names it.
    pub fn create(&mut self, buffer: &Buffer, domain: u32) -> io::Result<()> {
        let blocks = buffer.words().len().div_ceil(BLOCK_WORDS);
        self.copies.insert(buffer.id(), vec![Block::default(); blocks]);
        self.write(Record::Create { buffer: buffer.id(), size: buffer.size() as u64, domain })
    }

    /// The program gave up a buffer.
    pub fn close(&mut self, buffer: BufferId) -> io::Result<()> {
        self.copies.remove(&buffer);
        self.write(Record::Close { buffer })
    }

    /// The program mapped a buffer.
    pub fn map(&mut self, buffer: BufferId) -> io::Result<()> {
        self.write(Record::Map { buffer })
    }

    /// The program set a buffer's tiling.
    pub fn tiling(&mut self, buffer: BufferId, tiling: Tiling) -> io::Result<()> {
        self.write(Record::Tiling { buffer, tiling })
    }

    /// The program waited for a buffer.
    pub fn wait(&mut self, buffer: BufferId) -> io::Result<()> {
        self.write(Record::Wait { buffer })
    }

    /// A buffer went to the screen.
    pub fn flip(&mut self, picture: Picture) -> io::Result<()> {
        self.write(Record::Flip(picture))
    }

    /// A submission that is about to be executed: first what changed in its buffers.
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

    /// The same submission after it was executed: hashes of its buffers. What the card wrote is
    /// not written to the capture, for a replay writes it again.
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

    /// Hands all to the system.
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

    /// Brings the copy of a buffer up to date. Returns the blocks that changed.
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
