//! Structures of the requests, as the Linux headers lay them out, and the numbers of requests.

use bytemuck::{Pod, Zeroable};

/// Declares structures of plain numbers without padding, which `Pod` checks.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Pod, Zeroable)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }
    )*};
}

structures! {
    /// `drm_version`
    Version {
        major: i32, minor: i32, patch: i32, padding: u32,
        name_len: u64, name: u64, date_len: u64, date: u64, desc_len: u64, desc: u64,
    }
    /// `drm_unique`
    Unique { length: u64, text: u64 }
    /// `drm_auth`
    Auth { magic: u32 }
    /// `drm_client`
    Client { index: i32, authenticated: i32, pid: u64, uid: u64, magic: u64, requests: u64 }
    /// `drm_stats`: how many counters follow, and the counters
    Stats { count: u64, data: [[u64; 2]; 15] }
    /// `drm_set_version`
    SetVersion { di_major: i32, di_minor: i32, dd_major: i32, dd_minor: i32 }
    /// `drm_gem_close`
    GemClose { handle: u32, padding: u32 }
    /// `drm_gem_flink`
    GemFlink { handle: u32, name: u32 }
    /// `drm_gem_open`
    GemOpen { name: u32, handle: u32, size: u64 }
    /// `drm_get_cap`, `drm_set_client_cap`
    Cap { capability: u64, value: u64 }
    /// `drm_prime_handle`
    PrimeHandle { handle: u32, flags: u32, fd: i32 }

    /// `drm_radeon_gem_info`
    GemInfo { gart_size: u64, vram_size: u64, vram_visible: u64 }
    /// `drm_radeon_gem_create`
    GemCreate { size: u64, alignment: u64, handle: u32, domain: u32, flags: u32, padding: u32 }
    /// `drm_radeon_gem_mmap`
    GemMmap { handle: u32, padding: u32, offset: u64, size: u64, address: u64 }
    /// `drm_radeon_gem_set_domain`
    GemSetDomain { handle: u32, read_domains: u32, write_domain: u32 }
    /// `drm_radeon_gem_wait_idle`
    GemWaitIdle { handle: u32, padding: u32 }
    /// `drm_radeon_gem_busy`
    GemBusy { handle: u32, domain: u32 }
    /// `drm_radeon_gem_set_tiling`, `drm_radeon_gem_get_tiling`
    GemTiling { handle: u32, flags: u32, pitch: u32 }
    /// `drm_radeon_gem_op`
    GemOp { handle: u32, op: u32, value: u64 }
    /// `drm_radeon_info`
    Info { request: u32, padding: u32, value: u64 }
    /// `drm_radeon_cs`
    CommandStream { num_chunks: u32, id: u32, chunks: u64, gart_limit: u64, vram_limit: u64 }
    /// `drm_radeon_cs_chunk`
    Chunk { id: u32, dwords: u32, data: u64 }

    /// `drm_mode_card_res`
    CardResources {
        fbs: u64, crtcs: u64, connectors: u64, encoders: u64,
        count_fbs: u32, count_crtcs: u32, count_connectors: u32, count_encoders: u32,
        min_width: u32, max_width: u32, min_height: u32, max_height: u32,
    }
    /// `drm_mode_modeinfo`
    ModeInfo {
        clock: u32,
        hdisplay: u16, hsync_start: u16, hsync_end: u16, htotal: u16, hskew: u16,
        vdisplay: u16, vsync_start: u16, vsync_end: u16, vtotal: u16, vscan: u16,
        vrefresh: u32, flags: u32, kind: u32, name: [u8; 32],
    }
    /// `drm_mode_crtc`
    Crtc {
        connectors: u64, count_connectors: u32, id: u32, fb: u32, x: u32, y: u32,
        gamma_size: u32, mode_valid: u32, mode: ModeInfo,
    }
    /// `drm_mode_get_encoder`
    Encoder { id: u32, kind: u32, crtc: u32, possible_crtcs: u32, possible_clones: u32 }
    /// `drm_mode_get_connector`
    Connector {
        encoders: u64, modes: u64, props: u64, prop_values: u64,
        count_modes: u32, count_props: u32, count_encoders: u32,
        encoder: u32, id: u32, kind: u32, kind_index: u32, connection: u32,
        mm_width: u32, mm_height: u32, subpixel: u32, padding: u32,
    }
    /// `drm_mode_fb_cmd`
    FrameBuffer { id: u32, width: u32, height: u32, pitch: u32, bpp: u32, depth: u32, handle: u32 }
    /// `drm_mode_fb_cmd2`
    FrameBuffer2 {
        id: u32, width: u32, height: u32, format: u32, flags: u32,
        handles: [u32; 4], pitches: [u32; 4], offsets: [u32; 4], padding: u32, modifiers: [u64; 4],
    }
    /// The id of a frame buffer, for `RMFB`
    FrameBufferId { id: u32 }
    /// `drm_mode_fb_dirty_cmd`
    FrameBufferDirty { id: u32, flags: u32, color: u32, count_clips: u32, clips: u64 }
    /// `drm_mode_crtc_page_flip`
    PageFlip { crtc: u32, fb: u32, flags: u32, reserved: u32, user_data: u64 }
    /// `drm_mode_create_dumb`
    CreateDumb { height: u32, width: u32, bpp: u32, flags: u32, handle: u32, pitch: u32, size: u64 }
    /// `drm_mode_map_dumb`
    MapDumb { handle: u32, padding: u32, offset: u64 }
    /// `drm_mode_destroy_dumb`
    DestroyDumb { handle: u32 }
    /// `drm_mode_get_plane_res`
    PlaneResources { planes: u64, count: u32, padding: u32 }
    /// `drm_mode_obj_get_properties`
    ObjectProperties { props: u64, values: u64, count: u32, object: u32, kind: u32, padding: u32 }
    /// `drm_mode_get_property`
    GetProperty {
        values: u64, enums: u64, id: u32, flags: u32, name: [u8; 32], count_values: u32,
        count_enums: u32,
    }
    /// `drm_mode_connector_set_property`
    SetProperty { value: u64, id: u32, connector: u32 }
    /// `drm_mode_obj_set_property`
    SetObjectProperty { value: u64, id: u32, object: u32, kind: u32, padding: u32 }
    /// `drm_mode_get_plane`
    Plane {
        id: u32, crtc: u32, fb: u32, possible_crtcs: u32, gamma_size: u32, count_formats: u32,
        formats: u64,
    }
    /// `drm_mode_set_plane`
    SetPlane { id: u32, crtc: u32, fb: u32, flags: u32, crtc_area: [u32; 4], source: [u32; 4] }
    /// `drm_wait_vblank`: in what is passed in, `data` is `signal`; in the answer, two numbers of a time
    WaitVblank { kind: u32, sequence: u32, data: [u64; 2] }
    /// `drm_crtc_get_sequence`
    GetSequence { crtc: u32, active: u32, sequence: u64, nanoseconds: u64 }
    /// `drm_crtc_queue_sequence`
    QueueSequence { crtc: u32, flags: u32, sequence: u64, user_data: u64 }
    /// `drm_event_crtc_sequence`
    SequenceEvent { kind: u32, length: u32, user_data: u64, nanoseconds: u64, sequence: u64 }
    /// `drm_event_vblank`
    VblankEvent {
        kind: u32, length: u32, user_data: u64, seconds: u32, microseconds: u32, sequence: u32,
        crtc: u32,
    }
}

/// The type byte of all requests to a graphics device.
pub(crate) const DRM_TYPE: u32 = b'd' as u32;

/// A request number, taken apart: direction, size of its structure, type and number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestNumber(pub(crate) u32);

impl RequestNumber {
    /// The number that names the request.
    pub(crate) fn number(self) -> u32 {
        self.0 & 0xff
    }

    /// The kind of device.
    pub(crate) fn kind(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Bytes of the structure that the argument points to.
    pub(crate) fn size(self) -> usize {
        (self.0 >> 16 & 0x3fff) as usize
    }

    /// Returns whether the program passes the structure in.
    pub(crate) fn passes_in(self) -> bool {
        self.0 >> 30 & 1 != 0
    }

    /// Returns whether the program gets the structure back.
    pub(crate) fn passes_out(self) -> bool {
        self.0 >> 31 & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row checks a structure against the size in the request's number as the C compiler computes it from
    /// the headers of libdrm 2.4.114 on x86-64.
    macro_rules! check {
        ($($number:literal => $type:ty,)*) => {$(
            let number = RequestNumber($number);
            assert_eq!(number.kind(), DRM_TYPE);
            assert_eq!(number.size(), size_of::<$type>(), stringify!($type));
        )*};
    }

    #[test]
    #[rustfmt::skip]
    fn structures_are_as_long_as_the_headers_say() {
        check! {
            0xc0406400 => Version, // DRM_IOCTL_VERSION
            0xc0106401 => Unique, // DRM_IOCTL_GET_UNIQUE
            0x80046402 => Auth, // DRM_IOCTL_GET_MAGIC
            0xc0286405 => Client, // DRM_IOCTL_GET_CLIENT
            0x80f86406 => Stats, // DRM_IOCTL_GET_STATS
            0xc018643a => WaitVblank, // DRM_IOCTL_WAIT_VBLANK
            0xc018643b => GetSequence, // DRM_IOCTL_CRTC_GET_SEQUENCE
            0xc018643c => QueueSequence, // DRM_IOCTL_CRTC_QUEUE_SEQUENCE
            0xc04064aa => GetProperty, // DRM_IOCTL_MODE_GETPROPERTY
            0xc01064ab => SetProperty, // DRM_IOCTL_MODE_SETPROPERTY
            0xc02064b6 => Plane, // DRM_IOCTL_MODE_GETPLANE
            0xc03064b7 => SetPlane, // DRM_IOCTL_MODE_SETPLANE
            0xc01864ba => SetObjectProperty, // DRM_IOCTL_MODE_OBJ_SETPROPERTY
            0xc0106407 => SetVersion, // DRM_IOCTL_SET_VERSION
            0x40086409 => GemClose, // DRM_IOCTL_GEM_CLOSE
            0xc008640a => GemFlink, // DRM_IOCTL_GEM_FLINK
            0xc010640b => GemOpen, // DRM_IOCTL_GEM_OPEN
            0xc010640c => Cap, // DRM_IOCTL_GET_CAP
            0xc00c642d => PrimeHandle, // DRM_IOCTL_PRIME_HANDLE_TO_FD
            0xc018645c => GemInfo, // DRM_IOCTL_RADEON_GEM_INFO
            0xc020645d => GemCreate, // DRM_IOCTL_RADEON_GEM_CREATE
            0xc020645e => GemMmap, // DRM_IOCTL_RADEON_GEM_MMAP
            0xc00c6463 => GemSetDomain, // DRM_IOCTL_RADEON_GEM_SET_DOMAIN
            0x40086464 => GemWaitIdle, // DRM_IOCTL_RADEON_GEM_WAIT_IDLE
            0xc008646a => GemBusy, // DRM_IOCTL_RADEON_GEM_BUSY
            0xc00c6468 => GemTiling, // DRM_IOCTL_RADEON_GEM_SET_TILING
            0xc010646c => GemOp, // DRM_IOCTL_RADEON_GEM_OP
            0xc0106467 => Info, // DRM_IOCTL_RADEON_INFO
            0xc0206466 => CommandStream, // DRM_IOCTL_RADEON_CS
            0xc04064a0 => CardResources, // DRM_IOCTL_MODE_GETRESOURCES
            0xc06864a1 => Crtc, // DRM_IOCTL_MODE_GETCRTC
            0xc01464a6 => Encoder, // DRM_IOCTL_MODE_GETENCODER
            0xc05064a7 => Connector, // DRM_IOCTL_MODE_GETCONNECTOR
            0xc01c64ae => FrameBuffer, // DRM_IOCTL_MODE_ADDFB
            0xc06864b8 => FrameBuffer2, // DRM_IOCTL_MODE_ADDFB2
            0xc00464af => FrameBufferId, // DRM_IOCTL_MODE_RMFB
            0xc01864b1 => FrameBufferDirty, // DRM_IOCTL_MODE_DIRTYFB
            0xc01864b0 => PageFlip, // DRM_IOCTL_MODE_PAGE_FLIP
            0xc02064b2 => CreateDumb, // DRM_IOCTL_MODE_CREATE_DUMB
            0xc01064b3 => MapDumb, // DRM_IOCTL_MODE_MAP_DUMB
            0xc00464b4 => DestroyDumb, // DRM_IOCTL_MODE_DESTROY_DUMB
            0xc01064b5 => PlaneResources, // DRM_IOCTL_MODE_GETPLANERESOURCES
            0xc02064b9 => ObjectProperties, // DRM_IOCTL_MODE_OBJ_GETPROPERTIES
        }
    }
}
