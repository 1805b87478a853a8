//! Gzip compression of any format.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use crate::ReadError;
use crate::error::ReadErrorKind;

/// Returns whether bytes begin with a gzip header: magic number, deflate, no reserved flag.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, 8, flags, ..] if flags & 0xe0 == 0)
}

/// Returns the decompressed data of `input`: one member, or several, as in concatenated shards.
pub(crate) fn reader(input: impl BufRead) -> impl BufRead {
    BufReader::with_capacity(64 << 10, Damaged(MultiGzDecoder::new(input)))
}

/// Marks errors of decompression.
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
