//! Where there is no machine code.

use r500_exec::fast::Simd;
use r500_exec::{Draw, Prepared, ir};

use crate::{CacheUse, Effort, Settings, Unavailable};

/// There is none.
#[derive(Debug)]
pub(crate) enum Machinery {}

impl Machinery {
    pub(crate) fn new(_: Simd, _: Settings) -> Result<Self, Unavailable> {
        Err(Unavailable::Architecture)
    }

    pub(crate) fn prepare<'a>(&self, _: Draw<'a>, _: ir::Function) -> Box<dyn Prepared + 'a> {
        match *self {}
    }

    pub(crate) fn cache_use(&self) -> CacheUse {
        match *self {}
    }
}

/// The machine code of a function as text.
///
/// # Errors
/// There is none on this architecture.
pub fn listing(
    _: &ir::Function,
    _: Simd,
    _: Effort,
    _: &mut dyn FnMut(u32) -> Option<String>,
) -> Result<String, Unavailable> {
    Err(Unavailable::Architecture)
}
