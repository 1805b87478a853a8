//! Names that drivers have for registers which the register documents call something else.
//!
//! Source: r300_reg.h of Mesa's r300 driver and radeon_reg.h of xf86-video-ati. Names that differ from the documents' by a prefix alone are
//! not here ([`crate::without_prefix`]).

/// A driver's name without prefix, and the address of the register; of its first member if `count` is above 1. Members of a set are named
/// with an underscore and their index.
pub(crate) struct DriverName {
    pub(crate) name: &'static str,
    pub(crate) address: u32,
    pub(crate) count: u32,
    /// Bytes from a member to the next.
    pub(crate) stride: u32,
}

const fn one(name: &'static str, address: u32) -> DriverName {
    DriverName { name, address, count: 1, stride: 4 }
}

const fn set(name: &'static str, address: u32, count: u32, stride: u32) -> DriverName {
    DriverName { name, address, count, stride }
}

pub(crate) const NAMES: &[DriverName] = &[
    one("SE_VPORT_XSCALE", 0x1d98),
    one("SE_VPORT_XOFFSET", 0x1d9c),
    one("SE_VPORT_YSCALE", 0x1da0),
    one("SE_VPORT_YOFFSET", 0x1da4),
    one("SE_VPORT_ZSCALE", 0x1da8),
    one("SE_VPORT_ZOFFSET", 0x1dac),
    set("VAP_OUTPUT_VTX_FMT", 0x2090, 2, 4),
    one("VAP_PVS_UPLOAD_DATA", 0x2208),
    one("TX_FILTER_4", 0x4110),
    one("SC_HYPERZ", 0x43a4),
    set("SC_CLIPRECT_TL", 0x43b0, 4, 8),
    set("SC_CLIPRECT_BR", 0x43b4, 4, 8),
    one("SC_SCISSORS_TL", 0x43e0),
    one("SC_SCISSORS_BR", 0x43e4),
    set("US_FORMAT0", 0x4640, 16, 4),
    one("RB3D_CBLEND", 0x4e04),
    one("RB3D_ABLEND", 0x4e08),
    one("RB3D_BLEND_COLOR", 0x4e10),
    one("RB3D_ZCNTL", 0x4f00),
    one("RB3D_ZSTENCILCNTL", 0x4f04),
    one("RB3D_ZTOP", 0x4f14),
    one("RB3D_ZCACHE_CTLSTAT", 0x4f18),
    one("RB3D_BW_CNTL", 0x4f1c),
];
