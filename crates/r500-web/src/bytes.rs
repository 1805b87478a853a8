//! Byte ranges in the memory of the module.

use serde::Serialize;

/// Bytes in this module's memory, until the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "Uint8Array<ArrayBuffer>"))]
pub struct Bytes {
    /// Address.
    pub at: usize,
    /// Length.
    pub length: usize,
}

/// Keeps bytes until the next request. Returns their range.
pub(crate) fn keep(kept: &mut Vec<Vec<u8>>, bytes: Vec<u8>) -> Bytes {
    let place = Bytes { at: bytes.as_ptr() as usize, length: bytes.len() };
    kept.push(bytes);
    place
}
