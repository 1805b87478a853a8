//! Where there is no machine code.

use r500_exec::fast::Simd;
use r500_exec::{Draw, Prepared, ir};

use crate::{CacheUse, Settings, Unavailable};

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
