//! Gzip, around any format.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::ReadError;
use crate::error::ReadErrorKind;

/// Returns whether these bytes begin as gzip does: magic number, deflate, no reserved flag.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, 8, flags, ..] if flags & 0xe0 == 0)
}

/// Returns what is compressed in `input`: one member or, as shards are concatenated, several.
pub(crate) fn reader(input: impl BufRead) -> impl BufRead {
    BufReader::with_capacity(64 << 10, Damaged(MultiGzDecoder::new(input)))
}

/// Says of errors that are the compression's that they are.
struct Damaged<R>(R);

impl<R: Read> Read for Damaged<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        self.0.read(buffer).map_err(|error| match error.kind() {
            InvalidData | InvalidInput | UnexpectedEof => io::Error::other(
                ReadError::new(ReadErrorKind::Gzip(error))
                    .with_help("fetch or compress the file again"),
            ),
            _ => error,
        })
    }
}
