//! The state of the display: its modes, the frame buffers, and which of them is shown.

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
    /// The mode that the program has set; before, the preferred one.
    pub(crate) mode: ModeInfo,
    /// The modes that it may choose from.
    pub(crate) modes: Vec<ModeInfo>,
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
    /// Returns a screen whose preferred mode has a size. Smaller common sizes follow, for programs that choose one.
    pub(crate) fn new(size: [u16; 2]) -> Self {
        let kinds = std::iter::once(PREFERRED | DRIVER).chain(std::iter::repeat(DRIVER));
        let modes = mode_sizes(size).into_iter().zip(kinds).map(|(size, kind)| mode(size, kind));
        let modes: Vec<ModeInfo> = modes.collect();
        Self {
            mode: mode(size, PREFERRED | DRIVER),
            modes,
            last_fb: FIRST_FB - 1,
            fbs: HashMap::new(),
            shown: 0,
            frames: 0,
        }
    }

    /// Returns the number of displayed frames.
    pub(crate) fn frames(&self) -> u32 {
        self.frames
    }
}

/// Common sizes in pixels.
const COMMON: [[u16; 2]; 6] =
    [[1920, 1080], [1280, 1024], [1280, 720], [1024, 768], [800, 600], [640, 480]];

/// Returns the sizes of the modes of a screen: its own, which is preferred, then smaller common ones.
pub fn mode_sizes(size: [u16; 2]) -> Vec<[u16; 2]> {
    let fits = |other: &[u16; 2]| *other != size && other.iter().zip(&size).all(|(a, b)| a <= b);
    std::iter::once(size).chain(COMMON.into_iter().filter(fits)).collect()
}

/// `DRM_MODE_TYPE_PREFERRED`
const PREFERRED: u32 = 1 << 3;
/// `DRM_MODE_TYPE_DRIVER`
const DRIVER: u32 = 1 << 6;

/// Returns a mode of a size, with 60 vertical blanks a second.
fn mode([width, height]: [u16; 2], kind: u32) -> ModeInfo {
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
        kind,
        ..ModeInfo::zeroed()
    };
    mode.clock = u32::from(mode.htotal) * u32::from(mode.vtotal) * mode.vrefresh / 1000;
    let name = format!("{width}x{height}");
    mode.name[..name.len()].copy_from_slice(name.as_bytes());
    mode
}
