//! The device nodes of the card, and of its keyboard and mouse.

use std::ffi::CStr;

use r500_drm::InputDevice;

/// The nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Primary,
    Render,
    Keyboard,
    Mouse,
}

impl Node {
    /// The nodes of the card.
    pub(crate) const CARD: [Self; 2] = [Self::Primary, Self::Render];

    /// The event devices.
    pub(crate) const INPUTS: [Self; 2] = [Self::Keyboard, Self::Mouse];

    pub(crate) const ALL: [Self; 4] = [Self::Primary, Self::Render, Self::Keyboard, Self::Mouse];

    /// Major number of graphics devices.
    pub(crate) const GRAPHICS: u32 = 226;

    /// Major number of input devices.
    const INPUT: u32 = 13;

    pub(crate) fn path(self) -> &'static CStr {
        match self {
            Self::Primary => c"/dev/dri/card0",
            Self::Render => c"/dev/dri/renderD128",
            Self::Keyboard => c"/dev/input/event0",
            Self::Mouse => c"/dev/input/event1",
        }
    }

    pub(crate) fn major(self) -> u32 {
        match self {
            Self::Primary | Self::Render => Self::GRAPHICS,
            Self::Keyboard | Self::Mouse => Self::INPUT,
        }
    }

    pub(crate) fn minor(self) -> u32 {
        match self {
            Self::Primary => 0,
            Self::Render => 128,
            Self::Keyboard => 64,
            Self::Mouse => 65,
        }
    }

    /// Returns the event device of the node.
    pub(crate) fn input(self) -> Option<InputDevice> {
        match self {
            Self::Keyboard => Some(InputDevice::Keyboard),
            Self::Mouse => Some(InputDevice::Mouse),
            Self::Primary | Self::Render => None,
        }
    }
}
