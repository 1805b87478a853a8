//! Which registers a program may write, and what the kernel follows of them.

use r500_chip::Mapped;
use r500_chip::fg::FgZbregDest;
use r500_chip::gb::GbZPeqConfig;
use r500_chip::rb3d::{
    Rb3dAaresolveCtl, Rb3dAaresolveOffset, Rb3dAaresolvePitch, Rb3dBlendcntl, Rb3dCctl,
    Rb3dColorChannelMask, Rb3dColoroffset, Rb3dColorpitch,
};
use r500_chip::sc::{ScHyperzEn, ScScissor1};
use r500_chip::vap::{VapAltNumVertices, VapVfCntl, VapVfMaxVtxIndx, VapVtxSize};
use r500_chip::zb::{
    ZbBwCntl, ZbCntl, ZbDepthoffset, ZbDepthpitch, ZbFormat, ZbHizOffset, ZbHizPitch, ZbZpassAddr,
};
use r500_isa::texture::{TxEnable, TxFilter0, TxFormat0, TxFormat1, TxFormat2, TxOffset};

use super::rejection::Needed;

/// The last register of the kernel's table; higher ones are forbidden.
pub(super) const LAST: u32 = 0x6d40;

/// What happens to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing is checked.
    Free,
    /// It is refused.
    Forbidden,
    /// It is refused but on the RV530.
    Rv530,
    /// It is an address, of this, and needs a relocation.
    Address(&'static str),
    /// It is a pitch, which needs a relocation unless the stream has its own tiling bits.
    Pitch,
    /// Its value counts for draws.
    Followed,
    /// Values with these bits need HyperZ.
    HyperZ(u32),
    /// The kernel checks more than this checker does.
    Unchecked(Needed),
}

/// Registers that programs may write as they like: first and last of a range.
const FREE: [(u32, u32); 68] = [
    (0x1434, 0x143c),
    (0x146c, 0x146c),
    (0x1474, 0x1484),
    (0x1598, 0x1598),
    (0x15c0, 0x15cc),
    (0x15d8, 0x15dc),
    (0x1600, 0x1608),
    (0x16c0, 0x16c0),
    (0x16cc, 0x16d0),
    (0x16e8, 0x16f4),
    (0x1714, 0x1714),
    (0x1720, 0x1720),
    (0x172c, 0x172c),
    (0x1d98, 0x1dac),
    (0x2080, 0x2080),
    (0x208c, 0x2094),
    (0x20b0, 0x20b0),
    (0x2138, 0x2138),
    (0x2140, 0x2140),
    (0x2150, 0x216c),
    (0x2180, 0x21c4),
    (0x21dc, 0x2208),
    (0x2218, 0x226c),
    (0x2284, 0x2288),
    (0x2290, 0x22dc),
    (0x2500, 0x257c),
    (0x342c, 0x342c),
    (0x4000, 0x4008),
    (0x4010, 0x4014),
    (0x401c, 0x4024),
    (0x4074, 0x40b0),
    (0x4100, 0x4100),
    (0x4114, 0x4120),
    (0x4200, 0x420c),
    (0x4214, 0x4214),
    (0x421c, 0x421c),
    (0x4230, 0x4238),
    (0x4250, 0x4258),
    (0x4260, 0x4268),
    (0x4278, 0x4280),
    (0x4288, 0x4298),
    (0x42a0, 0x42b8),
    (0x42c0, 0x42c8),
    (0x4300, 0x4304),
    (0x4320, 0x435c),
    (0x43a8, 0x43a8),
    (0x43b0, 0x43d0),
    (0x43e0, 0x43e0),
    (0x43e8, 0x43e8),
    (0x4440, 0x447c),
    (0x4580, 0x4604),
    (0x4620, 0x4624),
    (0x4630, 0x4638),
    (0x4640, 0x467c),
    (0x46a4, 0x46b4),
    (0x4bc0, 0x4bd8),
    (0x4be0, 0x4be0),
    (0x4c00, 0x4dfc),
    (0x4e08, 0x4e08),
    (0x4e10, 0x4e24),
    (0x4e48, 0x4e7c),
    (0x4ea0, 0x4ea4),
    (0x4ef8, 0x4efc),
    (0x4f04, 0x4f08),
    (0x4f14, 0x4f18),
    (0x4f28, 0x4f28),
    (0x4f58, 0x4f58),
    (0x4fd4, 0x4fd4),
];

/// Returns the address of a register that is one of a kind.
const fn only<R: Mapped>() -> u32 {
    R::MAPPING.address_of(0)
}

/// Returns which member of a set of registers an address is. The members of the sets here are one dword apart.
pub(super) fn member<R: Mapped>(address: u32) -> Option<usize> {
    let (first, last) = (R::MAPPING.address_of(0), R::MAPPING.address_of(R::MAPPING.count - 1));
    debug_assert_eq!(last - first, (R::MAPPING.count - 1) * 4, "members are apart");
    (first..=last).contains(&address).then(|| (address - first) as usize / 4)
}

/// Registers of the 2D engine, the screen and the memory of compressed depth, which the chip's tables do not have.
const DST_PITCH_OFFSET: u32 = 0x142c;
const SRC_PITCH_OFFSET: u32 = 0x1428;
const CRTC_GUI_TRIG_VLINE: u32 = 0x0218;
const D1MODE_VLINE_START_END: u32 = 0x6538;
const GB_Z_PEQ_CONFIG: u32 = only::<GbZPeqConfig>();
const SC_HYPERZ_EN: u32 = only::<ScHyperzEn>();
const FG_ZBREG_DEST: u32 = only::<FgZbregDest>();
const ZB_ZMASK_OFFSET: u32 = 0x4f30;
const ZB_ZMASK_PITCH: u32 = 0x4f34;
const ZB_HIZ_OFFSET: u32 = only::<ZbHizOffset>();
const ZB_HIZ_PITCH: u32 = only::<ZbHizPitch>();

/// Returns what happens to a write of a register.
pub(super) fn access(address: u32) -> Access {
    let after = FREE.partition_point(|(first, _)| *first <= address);
    if after.checked_sub(1).is_some_and(|n| address <= FREE[n].1) {
        return Access::Free;
    }
    match address {
        DST_PITCH_OFFSET | SRC_PITCH_OFFSET => {
            return Access::Address("a surface of the 2D engine");
        }
        CRTC_GUI_TRIG_VLINE | D1MODE_VLINE_START_END => {
            return Access::Unchecked(Needed::ScreenLine);
        }
        // Enables hierarchical depth; the kernel clears the bit for programs without HyperZ.
        SC_HYPERZ_EN => return Access::Free,
        GB_Z_PEQ_CONFIG | ZB_ZMASK_OFFSET | ZB_ZMASK_PITCH | ZB_HIZ_OFFSET | ZB_HIZ_PITCH => {
            return Access::HyperZ(u32::MAX);
        }
        FG_ZBREG_DEST => return Access::Rv530,
        _ => {}
    }
    if member::<Rb3dColoroffset>(address).is_some() {
        return Access::Address("a render target");
    }
    if member::<TxOffset>(address).is_some() {
        return Access::Address("a texture");
    }
    if member::<Rb3dColorpitch>(address).is_some() || address == only::<ZbDepthpitch>() {
        return Access::Pitch;
    }
    if address == only::<ZbDepthoffset>() {
        return Access::Address("the depth buffer");
    }
    if address == only::<Rb3dAaresolveOffset>() {
        return Access::Address("the target of a resolve");
    }
    if address == only::<ZbZpassAddr>() {
        return Access::Address("the place of an occlusion count");
    }
    const FOLLOWED: [u32; 14] = [
        only::<VapVfCntl>(),
        only::<VapVtxSize>(),
        only::<VapVfMaxVtxIndx>(),
        only::<VapAltNumVertices>(),
        only::<ScScissor1>(),
        only::<Rb3dCctl>(),
        only::<Rb3dBlendcntl>(),
        only::<Rb3dColorChannelMask>(),
        only::<Rb3dAaresolvePitch>(),
        only::<Rb3dAaresolveCtl>(),
        only::<ZbCntl>(),
        only::<ZbFormat>(),
        only::<ZbBwCntl>(),
        only::<TxEnable>(),
    ];
    let is_texture = member::<TxFormat0>(address).is_some()
        || member::<TxFormat1>(address).is_some()
        || member::<TxFormat2>(address).is_some()
        || member::<TxFilter0>(address).is_some();
    match is_texture || FOLLOWED.contains(&address) {
        true => Access::Followed,
        false => Access::Forbidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_order_and_apart() {
        assert!(FREE.iter().all(|(first, last)| first <= last && first % 4 == 0 && last % 4 == 0));
        assert!(FREE.windows(2).all(|pair| pair[0].1 + 4 < pair[1].0));
    }

    #[test]
    fn registers_are_where_the_kernel_has_them() {
        for (address, wanted) in [
            (0x0700, Access::Forbidden),
            (0x2080, Access::Free),
            (0x2084, Access::Followed),
            (0x4e28, Access::Address("a render target")),
            (0x4e34, Access::Address("a render target")),
            (0x4540, Access::Address("a texture")),
            (0x4e3c, Access::Pitch),
            (0x4f24, Access::Pitch),
            (0x4f5c, Access::Address("the place of an occlusion count")),
            (0x44fc, Access::Followed),
            (0x4be8, Access::Rv530),
            (0x4f44, Access::HyperZ(u32::MAX)),
            (0x2134, Access::Followed),
        ] {
            assert_eq!(access(address), wanted, "{address:04x}");
        }
    }
}
