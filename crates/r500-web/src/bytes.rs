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
