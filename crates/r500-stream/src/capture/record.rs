//! The records of a capture, and their payloads as bytes.

use crate::{BufferId, Tiling};

/// One record of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// The card and the program. The first record.
    Info(Info),
    /// A new buffer of zeros.
    Create {
        /// Its name.
        buffer: BufferId,
        /// Its size in bytes.
        size: u64,
        /// The requested domain: 2 GTT, 4 VRAM.
        domain: u32,
    },
    /// The program closed a buffer.
    Close {
        /// Its name.
        buffer: BufferId,
    },
    /// The program mapped the buffer.
    Map {
        /// Its name.
        buffer: BufferId,
    },
    /// A change of the buffer's tiling.
    Tiling {
        /// Its name.
        buffer: BufferId,
        /// The argument of `SET_TILING`.
        tiling: Tiling,
    },
    /// The contents of a block that the program changed, detected at the next submission.
    Contents {
        /// Its name.
        buffer: BufferId,
        /// The block: byte offset / [`BLOCK_BYTES`](super::BLOCK_BYTES).
        block: u32,
        /// All bytes of the block, fewer in the last block of a buffer.
        bytes: Vec<u8>,
    },
    /// A submission.
    Submission {
        /// See [`Submission::flags`](crate::Submission::flags).
        flags: u32,
        /// The indirect buffer.
        words: Vec<u32>,
        /// The relocation list.
        relocations: Vec<NamedRelocation>,
    },
    /// [Hashes](super::buffer_hash) of the buffers of the last submission after its execution. Missing in captures
    /// without drawing.
    Hashes(Vec<(BufferId, u64)>),
    /// The program waited until the card has finished with a buffer, and may read it.
    Wait {
        /// Its name.
        buffer: BufferId,
    },
    /// A buffer was shown on the screen: the end of a frame.
    Flip(Picture),
    /// A record with an unknown tag.
    Unknown {
        /// Its tag.
        tag: u8,
        /// Its payload.
        bytes: Vec<u8>,
    },
}

/// Information on the card and the program of a capture.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    /// The PCI device id that the program saw, which names the chip.
    pub chip: u32,
    /// The producer of the capture: name and version.
    pub driver: String,
    /// The program's command line.
    pub program: String,
    /// The readings of the capture, as NAME=VALUE: those that differ from the defaults.
    pub readings: Vec<String>,
}

/// A [`Relocation`](crate::Relocation) in a capture: its buffer by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedRelocation {
    /// The buffer.
    pub buffer: BufferId,
    /// See [`Relocation::read_domains`](crate::Relocation::read_domains).
    pub read_domains: u32,
    /// See [`Relocation::write_domain`](crate::Relocation::write_domain).
    pub write_domain: u32,
    /// See [`Relocation::flags`](crate::Relocation::flags).
    pub flags: u32,
}

/// A picture in a buffer, as a frame buffer object describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture {
    /// The buffer.
    pub buffer: BufferId,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes from a row to the next.
    pub pitch: u32,
    /// Byte offset of the first row.
    pub offset: u32,
    /// DRM format code (`fourcc`) of a pixel.
    pub format: u32,
}

/// Tags of the records.
mod tag {
    pub(super) const INFO: u8 = 1;
    pub(super) const CREATE: u8 = 2;
    pub(super) const CLOSE: u8 = 3;
    pub(super) const MAP: u8 = 4;
    pub(super) const TILING: u8 = 5;
    pub(super) const CONTENTS: u8 = 6;
    pub(super) const SUBMISSION: u8 = 7;
    pub(super) const HASHES: u8 = 8;
    pub(super) const WAIT: u8 = 9;
    pub(super) const FLIP: u8 = 10;
}

impl Record {
    /// Its tag in a file.
    pub fn tag(&self) -> u8 {
        match self {
            Self::Info(_) => tag::INFO,
            Self::Create { .. } => tag::CREATE,
            Self::Close { .. } => tag::CLOSE,
            Self::Map { .. } => tag::MAP,
            Self::Tiling { .. } => tag::TILING,
            Self::Contents { .. } => tag::CONTENTS,
            Self::Submission { .. } => tag::SUBMISSION,
            Self::Hashes(_) => tag::HASHES,
            Self::Wait { .. } => tag::WAIT,
            Self::Flip(_) => tag::FLIP,
            Self::Unknown { tag, .. } => *tag,
        }
    }

    /// Appends its payload.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Info(info) => {
                put(out, &[info.chip]);
                for text in [&info.driver, &info.program].into_iter().chain(&info.readings) {
                    put(out, &[text.len() as u32]);
                    out.extend_from_slice(text.as_bytes());
                }
            }
            Self::Create { buffer, size, domain } => {
                put(out, &[buffer.0, *domain, *size as u32, (*size >> 32) as u32]);
            }
            Self::Close { buffer } | Self::Map { buffer } | Self::Wait { buffer } => {
                put(out, &[buffer.0]);
            }
            Self::Tiling { buffer, tiling } => put(out, &[buffer.0, tiling.flags, tiling.pitch]),
            Self::Contents { buffer, block, bytes } => {
                put(out, &[buffer.0, *block]);
                out.extend_from_slice(bytes);
            }
            Self::Submission { flags, words, relocations } => {
                put(out, &[*flags, words.len() as u32]);
                put(out, words);
                for r in relocations {
                    put(out, &[r.buffer.0, r.read_domains, r.write_domain, r.flags]);
                }
            }
            Self::Hashes(hashes) => {
                for (buffer, hash) in hashes {
                    put(out, &[buffer.0, *hash as u32, (*hash >> 32) as u32]);
                }
            }
            Self::Flip(p) => {
                put(out, &[p.buffer.0, p.width, p.height, p.pitch, p.offset, p.format]);
            }
            Self::Unknown { bytes, .. } => out.extend_from_slice(bytes),
        }
    }

    /// Decodes the payload of a tag.
    pub(super) fn decode(tag: u8, payload: Vec<u8>) -> Result<Self, &'static str> {
        let mut rest = Cursor(&payload);
        let record = match tag {
            tag::INFO => {
                let (chip, driver, program) = (rest.u32()?, rest.text()?, rest.text()?);
                let mut readings = Vec::new();
                while !rest.0.is_empty() {
                    readings.push(rest.text()?);
                }
                Self::Info(Info { chip, driver, program, readings })
            }
            tag::CREATE => {
                let (buffer, domain) = (rest.buffer()?, rest.u32()?);
                Self::Create { buffer, domain, size: rest.u64()? }
            }
            tag::CLOSE => Self::Close { buffer: rest.buffer()? },
            tag::MAP => Self::Map { buffer: rest.buffer()? },
            tag::TILING => Self::Tiling {
                buffer: rest.buffer()?,
                tiling: Tiling { flags: rest.u32()?, pitch: rest.u32()? },
            },
            tag::CONTENTS => {
                let (buffer, block) = (rest.buffer()?, rest.u32()?);
                Self::Contents { buffer, block, bytes: std::mem::take(&mut rest.0).to_vec() }
            }
            tag::SUBMISSION => {
                let (flags, count) = (rest.u32()?, rest.u32()? as usize);
                let words = rest.words(count)?;
                let mut relocations = Vec::with_capacity(rest.0.len() / 16);
                while !rest.0.is_empty() {
                    relocations.push(NamedRelocation {
                        buffer: rest.buffer()?,
                        read_domains: rest.u32()?,
                        write_domain: rest.u32()?,
                        flags: rest.u32()?,
                    });
                }
                Self::Submission { flags, words, relocations }
            }
            tag::HASHES => {
                let mut hashes = Vec::with_capacity(rest.0.len() / 12);
                while !rest.0.is_empty() {
                    hashes.push((rest.buffer()?, rest.u64()?));
                }
                Self::Hashes(hashes)
            }
            tag::WAIT => Self::Wait { buffer: rest.buffer()? },
            tag::FLIP => Self::Flip(Picture {
                buffer: rest.buffer()?,
                width: rest.u32()?,
                height: rest.u32()?,
                pitch: rest.u32()?,
                offset: rest.u32()?,
                format: rest.u32()?,
            }),
            tag => return Ok(Self::Unknown { tag, bytes: payload }),
        };
        if rest.0.is_empty() { Ok(record) } else { Err("is longer than its contents") }
    }
}

/// Appends numbers.
fn put(out: &mut Vec<u8>, numbers: &[u32]) {
    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

/// The rest of a payload.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    const SHORT: &'static str = "is shorter than its contents";

    fn u32(&mut self) -> Result<u32, &'static str> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Self::SHORT)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*head))
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        let (low, high) = (self.u32()?, self.u32()?);
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    fn buffer(&mut self) -> Result<BufferId, &'static str> {
        self.u32().map(BufferId)
    }

    fn words(&mut self, count: usize) -> Result<Vec<u32>, &'static str> {
        let bytes = count.checked_mul(4).ok_or(Self::SHORT)?;
        let (head, rest) = self.0.split_at_checked(bytes).ok_or(Self::SHORT)?;
        self.0 = rest;
        Ok(head.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn text(&mut self) -> Result<String, &'static str> {
        let length = self.u32()? as usize;
        let (head, rest) = self.0.split_at_checked(length).ok_or(Self::SHORT)?;
        self.0 = rest;
        String::from_utf8(head.to_vec()).map_err(|_| "has a text that is not UTF-8")
    }
}
