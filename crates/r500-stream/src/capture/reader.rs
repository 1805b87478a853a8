//! Reading of captures.

use std::io::{self, Read};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::{CaptureError, CaptureErrorKind, MAGIC, Record, VERSION};

/// Size limit of a record in bytes: the longest submission has 4 Mi dwords in its indirect buffer and as many in its
/// relocation list, as the device accepts them. Its other contents are much shorter.
const RECORD_BYTES: u32 = (32 << 20) + 4096;

/// Reads a capture, record by record. Memory grows with the contents of the file, not with the sizes that it declares.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    offset: u64,
    version: u16,
    truncated: bool,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the head of a capture.
    pub fn new(mut source: R) -> Result<Self, CaptureError> {
        let error = |kind| CaptureError { offset: 0, kind };
        let mut head = [0; 12];
        let count = read_some(&mut source, &mut head).map_err(|e| error(e.into()))?;
        if count < head.len() || head[..8] != MAGIC {
            return Err(error(CaptureErrorKind::NotACapture));
        }
        let version = u16::from_le_bytes([head[8], head[9]]);
        if version == 0 || version > VERSION {
            return Err(error(CaptureErrorKind::Version(version)));
        }
        Ok(Self { source, offset: 12, version, truncated: false, ended: false })
    }

    /// The version of the format.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Returns whether the file ended inside a record, which is left out. Valid after the end of the iterator.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    fn record(&mut self) -> Result<Option<Record>, CaptureErrorKind> {
        let mut head = [0; 16];
        let count = read_some(&mut self.source, &mut head)?;
        if count < head.len() {
            self.truncated = count > 0;
            return Ok(None);
        }
        let [tag, encoding, ..] = head;
        let [stored, length, checksum] = [4, 8, 12]
            .map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        let wrong = |what| CaptureErrorKind::Record { tag, what };
        if stored > RECORD_BYTES || length > RECORD_BYTES {
            return Err(wrong("is longer than any record"));
        }
        let mut bytes = Vec::new();
        (&mut self.source).take(stored.into()).read_to_end(&mut bytes)?;
        if bytes.len() < stored as usize {
            self.truncated = true;
            return Ok(None);
        }
        let mut crc = Crc::new();
        crc.update(&bytes);
        if crc.sum() != checksum {
            return Err(CaptureErrorKind::Checksum { tag, stored: checksum, found: crc.sum() });
        }
        let payload = match encoding {
            0 => bytes,
            1 => inflated(&bytes, length).map_err(|_| wrong("does not decompress"))?,
            _ => return Err(wrong("is of an unknown encoding")),
        };
        if payload.len() != length as usize {
            return Err(wrong("is not as long as it says"));
        }
        let record = Record::decode(tag, payload).map_err(wrong)?;
        self.offset += 16 + u64::from(stored);
        Ok(Some(record))
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let record = self.record();
        self.ended = !matches!(record, Ok(Some(_)));
        record.map_err(|kind| CaptureError { offset: self.offset, kind }).transpose()
    }
}

/// Reads until `out` is full or the source ends.
fn read_some(source: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < out.len() {
        match source.read(&mut out[done..]) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// Decompresses, but at most slightly more than `length` bytes.
fn inflated(bytes: &[u8], length: u32) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    DeflateDecoder::new(bytes).take(u64::from(length) + 1).read_to_end(&mut out)?;
    Ok(out)
}
