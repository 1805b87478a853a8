//! Mode-setting requests (KMS): one connector with one screen.

use std::sync::atomic::Ordering;

use bytemuck::Zeroable;
use r500_stream::capture::Picture;
use r500_stream::{PixelFormat, frame_rgb};

use crate::abi::{
    CardResources, Connector, CreateDumb, Crtc, Encoder, FrameBuffer, FrameBuffer2, PageFlip,
};
use crate::display::Fb;
use crate::frame_link::{Frame, MAX_SIDE};
use crate::lock::locked;
use crate::mode_objects::{CONNECTOR, CRTC, ENCODER, exists, list};
use crate::properties;
use crate::screen::write_png;
use crate::{Errno, File, Program, log};

/// Bits of a pixel and its colour bits, with the format that they denote.
const DEPTHS: [((u32, u32), PixelFormat); 5] = [
    ((32, 24), PixelFormat::XRGB8888),
    ((32, 32), PixelFormat::ARGB8888),
    ((32, 30), PixelFormat::XRGB2101010),
    ((16, 16), PixelFormat::RGB565),
    ((16, 15), PixelFormat::XRGB1555),
];

impl File {
    pub(crate) fn get_resources(
        &self,
        program: &Program,
        resources: &mut CardResources,
    ) -> Result<(), Errno> {
        let mut fbs: Vec<u32> = locked(&self.device.display).fbs.keys().copied().collect();
        fbs.sort_unstable();
        let r = resources;
        list(program, &fbs, r.fbs, &mut r.count_fbs)?;
        list(program, &[CRTC], r.crtcs, &mut r.count_crtcs)?;
        list(program, &[CONNECTOR], r.connectors, &mut r.count_connectors)?;
        list(program, &[ENCODER], r.encoders, &mut r.count_encoders)?;
        (r.min_width, r.max_width, r.min_height, r.max_height) = (1, MAX_SIDE, 1, MAX_SIDE);
        Ok(())
    }

    pub(crate) fn get_crtc(&self, crtc: &mut Crtc) -> Result<(), Errno> {
        exists(crtc.id, CRTC)?;
        let display = locked(&self.device.display);
        (crtc.fb, crtc.x, crtc.y, crtc.gamma_size) = (display.shown, 0, 0, 256);
        (crtc.mode_valid, crtc.mode) = (u32::from(display.shown != 0), display.mode);
        Ok(())
    }

    pub(crate) fn set_crtc(&self, crtc: &Crtc) -> Result<(), Errno> {
        exists(crtc.id, CRTC)?;
        let mut display = locked(&self.device.display);
        if crtc.mode_valid == 0 || crtc.fb == 0 {
            display.shown = 0;
            return Ok(());
        }
        let sides = [crtc.mode.hdisplay, crtc.mode.vdisplay];
        if sides.iter().any(|side| !(1..=MAX_SIDE).contains(&(*side).into())) {
            return Err(Errno::INVAL);
        }
        display.mode = crtc.mode;
        drop(display);
        self.show(crtc.fb)
    }

    pub(crate) fn get_encoder(&self, encoder: &mut Encoder) -> Result<(), Errno> {
        /// `DRM_MODE_ENCODER_TMDS`
        const TMDS: u32 = 2;
        exists(encoder.id, ENCODER)?;
        *encoder =
            Encoder { id: ENCODER, kind: TMDS, crtc: CRTC, possible_crtcs: 1, possible_clones: 0 };
        Ok(())
    }

    pub(crate) fn get_connector(
        &self,
        program: &Program,
        connector: &mut Connector,
    ) -> Result<(), Errno> {
        /// `DRM_MODE_CONNECTOR_DVID`
        const DVI_D: u32 = 3;
        const CONNECTED: u32 = 1;
        const SUBPIXEL_UNKNOWN: u32 = 1;
        exists(connector.id, CONNECTOR)?;
        let modes = locked(&self.device.display).modes.clone();
        // The screen has the size of its preferred mode.
        let mode = modes.first().copied().ok_or(Errno::IO)?;
        let c = connector;
        list(program, &modes, c.modes, &mut c.count_modes)?;
        list(program, &[ENCODER], c.encoders, &mut c.count_encoders)?;
        properties::of_object(program, CONNECTOR, [c.props, c.prop_values], &mut c.count_props)?;
        (c.encoder, c.kind, c.kind_index) = (ENCODER, DVI_D, 1);
        (c.connection, c.subpixel) = (CONNECTED, SUBPIXEL_UNKNOWN);
        // For a screen with 96 pixels an inch.
        (c.mm_width, c.mm_height) =
            (u32::from(mode.hdisplay) * 254 / 960, u32::from(mode.vdisplay) * 254 / 960);
        Ok(())
    }

    pub(crate) fn add_fb(&self, fb: &mut FrameBuffer) -> Result<(), Errno> {
        let wanted = (fb.bpp, fb.depth);
        let format = DEPTHS.iter().find(|(known, _)| *known == wanted).ok_or(Errno::INVAL)?.1;
        fb.id = self.add(fb.handle, [fb.width, fb.height, fb.pitch, 0], format)?;
        Ok(())
    }

    pub(crate) fn add_fb2(&self, fb: &mut FrameBuffer2) -> Result<(), Errno> {
        let format = PixelFormat::from_code(fb.format).ok_or(Errno::INVAL)?;
        let shape = [fb.width, fb.height, fb.pitches[0], fb.offsets[0]];
        fb.id = self.add(fb.handles[0], shape, format)?;
        Ok(())
    }

    /// Describes a frame buffer, with a new handle of its memory.
    pub(crate) fn get_fb(&self, fb: &mut FrameBuffer) -> Result<(), Errno> {
        let Fb { object, picture } = self.fb(fb.id)?;
        let format = PixelFormat::from_code(picture.format).ok_or(Errno::INVAL)?;
        let (bpp, depth) = DEPTHS.iter().find(|(_, known)| *known == format).ok_or(Errno::INVAL)?.0;
        let handle = locked(&self.handles).add(object);
        let Picture { width, height, pitch, .. } = picture;
        *fb = FrameBuffer { id: fb.id, width, height, pitch, bpp, depth, handle };
        Ok(())
    }

    /// As [`get_fb`](Self::get_fb), for all formats.
    pub(crate) fn get_fb2(&self, fb: &mut FrameBuffer2) -> Result<(), Errno> {
        let Fb { object, picture } = self.fb(fb.id)?;
        let handle = locked(&self.handles).add(object);
        let Picture { width, height, pitch, offset, format, .. } = picture;
        *fb = FrameBuffer2 { id: fb.id, width, height, format, ..FrameBuffer2::zeroed() };
        (fb.handles[0], fb.pitches[0], fb.offsets[0]) = (handle, pitch, offset);
        Ok(())
    }

    fn fb(&self, id: u32) -> Result<Fb, Errno> {
        locked(&self.device.display).fbs.get(&id).cloned().ok_or(Errno::NOENT)
    }

    fn add(
        &self,
        handle: u32,
        [width, height, pitch, offset]: [u32; 4],
        format: PixelFormat,
    ) -> Result<u32, Errno> {
        let object = self.object(handle)?;
        let row = u64::from(width) * format.bytes() as u64;
        let end = u64::from(offset) + u64::from(pitch) * u64::from(height.max(1) - 1) + row;
        let sides = [width, height].iter().all(|side| (1..=MAX_SIDE).contains(side));
        if !sides || u64::from(pitch) < row || end > object.buffer.size() as u64 {
            return Err(Errno::INVAL);
        }
        let buffer = object.buffer.id();
        let picture = Picture { buffer, width, height, pitch, offset, format: format.code() };
        let mut display = locked(&self.device.display);
        display.last_fb += 1;
        let id = display.last_fb;
        display.fbs.insert(id, Fb { object, picture });
        Ok(id)
    }

    pub(crate) fn remove_fb(&self, id: u32) -> Result<(), Errno> {
        let mut display = locked(&self.device.display);
        if display.shown == id {
            display.shown = 0;
        }
        let removed = display.fbs.remove(&id);
        drop(display);
        removed.map(drop).ok_or(Errno::NOENT)
    }

    /// Flips. The flip is complete when the request returns, and its event can be read.
    pub(crate) fn page_flip(&self, flip: &PageFlip) -> Result<(), Errno> {
        /// `DRM_MODE_PAGE_FLIP_EVENT`
        const WANTS_EVENT: u32 = 1;
        /// `DRM_EVENT_FLIP_COMPLETE`
        const FLIP_COMPLETE: u32 = 2;
        exists(flip.crtc, CRTC)?;
        let number = self.device.vblank.wait_for_flip()?;
        self.show(flip.fb)?;
        if flip.flags & WANTS_EVENT != 0 {
            self.send_vblank(FLIP_COMPLETE, flip.user_data, number);
        }
        Ok(())
    }

    /// Shows a frame buffer, after all draws to it.
    pub(crate) fn show(&self, id: u32) -> Result<(), Errno> {
        let device = &self.device;
        let (fb, number) = {
            let mut display = locked(&device.display);
            let fb = display.fbs.get(&id).cloned().ok_or(Errno::NOENT)?;
            display.shown = id;
            display.frames += 1;
            (fb, display.frames - 1)
        };
        self.wait_for(&fb.object);
        device.capture.record(|recorder| recorder.flip(fb.picture));
        self.show_picture(&fb, number);
        Ok(())
    }

    /// Shows a picture in the window and writes it, with the overlay if there is one. The program's buffer stays as it is.
    fn show_picture(&self, Fb { object, picture }: &Fb, number: u32) {
        let device = &self.device;
        if device.window.is_none() && device.settings.frames.is_none() {
            if let Some(profile) = &device.profile {
                profile.frame(number, picture, &mut []);
            }
            return;
        }
        let tiling = *locked(&object.tiling);
        let mut rgb = frame_rgb(&object.buffer, picture, tiling, None);
        if let (Some(profile), Ok(rgb)) = (&device.profile, &mut rgb) {
            profile.frame(number, picture, rgb);
        }
        let Picture { width, height, .. } = *picture;
        if let (Some(window), Ok(rgb)) = (&device.window, &rgb) {
            let pixel = |&[r, g, b]: &[u8; 3]| u32::from_be_bytes([0, r, g, b]);
            let pixels = rgb.as_chunks().0.iter().map(pixel).collect();
            window.show(&Frame { width, height, pixels });
        }
        if let Some(directory) = &device.settings.frames {
            let path = directory.join(format!("frame-{number:05}.png"));
            let rgb = rgb.map_err(std::io::Error::other);
            if let Err(error) = rgb.and_then(|rgb| write_png(&path, [width, height], &rgb)) {
                device.failed.store(true, Ordering::Relaxed);
                log::print_once(&format!("cannot write {}: {error}", path.display()));
            }
        }
    }

    /// Creates a dumb buffer, for pictures that the program draws itself.
    pub(crate) fn create_dumb(&self, dumb: &mut CreateDumb) -> Result<(), Errno> {
        let row = u64::from(dumb.width) * u64::from(dumb.bpp.div_ceil(8));
        let pitch = row.next_multiple_of(256);
        dumb.size = pitch.checked_mul(dumb.height.into()).ok_or(Errno::INVAL)?;
        dumb.pitch = u32::try_from(pitch).map_err(|_| Errno::INVAL)?;
        dumb.handle = self.new_buffer(dumb.size, 4)?;
        Ok(())
    }
}
