//! The device nodes of the card.

use std::ffi::CStr;

/// The nodes of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Primary,
    Render,
}

impl Node {
    pub(crate) const ALL: [Self; 2] = [Self::Primary, Self::Render];

    /// Major number of graphics devices.
    pub(crate) const MAJOR: u32 = 226;

    pub(crate) fn path(self) -> &'static CStr {
        match self {
            Self::Primary => c"/dev/dri/card0",
            Self::Render => c"/dev/dri/renderD128",
        }
    }

    pub(crate) fn minor(self) -> u32 {
        match self {
            Self::Primary => 0,
            Self::Render => 128,
        }
    }
}
