//! Writing of captures.

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{MAGIC, Record, VERSION};

/// Smaller payloads are not compressed.
const COMPRESS_FROM: usize = 256;

/// Writes a capture, record by record. Each record is written with one call of the sink.
#[derive(Debug)]
pub struct Writer<W> {
    sink: W,
    payload: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a capture.
    pub fn new(mut sink: W) -> io::Result<Self> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.extend_from_slice(&[0; 2]);
        sink.write_all(&head)?;
        Ok(Self { sink, payload: Vec::new() })
    }

    /// Appends a record.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.payload.clear();
        record.encode(&mut self.payload);
        let length = u32::try_from(self.payload.len())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a record of 4 GiB"))?;
        let compressed = match &self.payload {
            payload if payload.len() < COMPRESS_FROM => None,
            payload => Some(deflated(payload)?).filter(|short| short.len() < payload.len()),
        };
        let stored = compressed.as_ref().unwrap_or(&self.payload);
        let mut crc = Crc::new();
        crc.update(stored);

        let mut bytes = Vec::with_capacity(16 + stored.len());
        bytes.extend_from_slice(&[record.tag(), u8::from(compressed.is_some()), 0, 0]);
        for number in [stored.len() as u32, length, crc.sum()] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(stored);
        self.sink.write_all(&bytes)
    }

    /// Flushes the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// The sink.
    pub fn into_inner(self) -> W {
        self.sink
    }
}

fn deflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}
