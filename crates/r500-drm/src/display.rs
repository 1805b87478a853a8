//! The state of the display: its one mode, the frame buffers, and which of them is shown.

use std::collections::HashMap;
use std::sync::Arc;

use bytemuck::Zeroable;
use r500_stream::capture::Picture;

use crate::abi::ModeInfo;
use crate::objects::Object;

/// The first id of frame buffers.
const FIRST_FB: u32 = 100;

/// The screen and the frame buffers.
#[derive(Debug)]
pub(crate) struct Display {
    pub(crate) mode: ModeInfo,
    pub(crate) last_fb: u32,
    pub(crate) fbs: HashMap<u32, Fb>,
    /// Id of the displayed frame buffer; 0 for none.
    pub(crate) shown: u32,
    pub(crate) frames: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Fb {
    pub(crate) object: Arc<Object>,
    pub(crate) picture: Picture,
}

impl Display {
    pub(crate) fn new([width, height]: [u16; 2]) -> Self {
        let mut mode = ModeInfo {
            hdisplay: width,
            hsync_start: width.saturating_add(16),
            hsync_end: width.saturating_add(32),
            htotal: width.saturating_add(160),
            vdisplay: height,
            vsync_start: height.saturating_add(3),
            vsync_end: height.saturating_add(6),
            vtotal: height.saturating_add(30),
            vrefresh: 60,
            // PREFERRED | DRIVER
            kind: 1 << 3 | 1 << 6,
            ..ModeInfo::zeroed()
        };
        mode.clock = u32::from(mode.htotal) * u32::from(mode.vtotal) * mode.vrefresh / 1000;
        let name = format!("{width}x{height}");
        mode.name[..name.len()].copy_from_slice(name.as_bytes());
        Self { mode, last_fb: FIRST_FB - 1, fbs: HashMap::new(), shown: 0, frames: 0 }
    }

    /// Returns the number of displayed frames.
    pub(crate) fn frames(&self) -> u32 {
        self.frames
    }
}
