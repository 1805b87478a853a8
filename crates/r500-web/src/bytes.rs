//! Byte ranges in the memory of the module.

use serde::Serialize;

/// Bytes in this module's memory, until the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bytes {
    /// Address.
    pub at: usize,
    /// Length.
    pub length: usize,
}
