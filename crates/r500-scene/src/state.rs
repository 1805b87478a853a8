//! Registers that every draw sets: a stream depends on nothing that was set before it.

use r500::chip::values::{CacheFlush, CacheFree, ColorFormat};
use r500::chip::values::{CompareFunc, DepthFormat, MicroTile};
use r500::chip::{Mapped, cp, ga, gb, rb3d, sc, su, vap, zb};
use r500::isa::state::{
    FgAlphaFunc, FgDepthSrc, FgFogBlend, RsCount, RsInst, RsInstCount, RsIp, UsOutFmt, UsWFmt,
};
use r500::isa::texture::TxEnable;
use r500::isa::values::{OutFormat, OutSel};
use r500_stream::StreamWriter;

use crate::TargetFormat;

/// Sets what no statement of a scene sets: no blending, no culling, no clip rectangles, one sample.
pub(crate) fn defaults(stream: &mut StreamWriter) {
    stream
        .set(vap::VapPvsStateFlushReg(0))
        .set(
            vap::VapCntl(0)
                .with(vap::VapCntl::PVS_NUM_SLOTS, 10)
                .with(vap::VapCntl::PVS_NUM_CNTLRS, 5)
                .with(vap::VapCntl::PVS_NUM_FPUS, 5)
                .with(vap::VapCntl::VF_MAX_VTX_NUM, 12),
        )
        .set(vap::VapCntlStatus(0))
        .set(vap::VapVtxStateCntl(0x5555))
        .set(vap::VapIndexOffset(0))
        .set(vap::VapVfMinVtxIndx(0))
        .set(vap::VapVfMaxVtxIndx(0xff_ffff))
        .set(vap::VapClipCntl(0))
        .set(gb::GbEnable(0))
        .set(gb::GbSelect(0))
        .set(gb::GbAaConfig(0))
        // The samples are at the pixel's centre, 6/12 from its edges.
        .set(gb::GbMspos0(0x6666_6666))
        .set(gb::GbMspos1(0x0666_6666))
        // Smooth colours.
        .set(ga::GaColorControl(0x0003_aaaa))
        .set(ga::GaPolyMode(0))
        .set(ga::GaRoundMode(0x31))
        .set(ga::GaOffset(0))
        // Points and lines of one pixel.
        .set(ga::GaPointSize(0x0006_0006))
        .set(ga::GaLineCntl(6 | 2 << 16))
        .set(su::SuCullMode(0))
        .set(su::SuTexWrap(0))
        .set(su::SuPolyOffsetEnable(0))
        .set(su::SuDepthScale(16_777_215_f32.to_bits()))
        .set(su::SuDepthOffset(0))
        // Samples on a left or top edge are inside.
        .set(sc::ScEdgerule(0x2da4_9525))
        // A sample is drawn whatever clip rectangles it is in.
        .set(sc::ScClipRule(0xffff))
        .set(sc::ScScreendoor(0x00ff_ffff))
        .set(FgFogBlend(0))
        .set(FgAlphaFunc(0))
        .set(FgDepthSrc(0))
        .set(UsWFmt(0))
        .set(TxEnable(0))
        .set(zb::ZbBwCntl(0))
        .set(zb::ZbZtop(0))
        .set(rb3d::Rb3dCctl(0))
        .set(rb3d::Rb3dBlendcntl(0))
        .set(rb3d::Rb3dAblendcntl(0))
        .set(rb3d::Rb3dRopcntl(0))
        .set(rb3d::Rb3dDitherCtl(0))
        .set(rb3d::Rb3dAaresolveCtl(0))
        .set(rb3d::Rb3dColorChannelMask(0xf));
    for target in 1..4 {
        stream.set_member(target, UsOutFmt(0).with(UsOutFmt::OUT_FMT, OutFormat::UNUSED));
    }
}

/// A colour buffer, and a depth buffer, as entries of the relocation list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surfaces {
    pub(crate) color: u32,
    pub(crate) depth: Option<u32>,
    pub(crate) size: [u32; 2],
    pub(crate) format: TargetFormat,
    /// Pixels from row to row.
    pub(crate) pitch: u32,
}

/// Sets where a draw goes: blue in the lowest byte, or red as the first float; row 0 at the top.
pub(crate) fn target(stream: &mut StreamWriter, surfaces: Surfaces) {
    use rb3d::Rb3dColorpitch;
    let [width, height] = surfaces.size;
    let (color, output, [c0, c1, c2, c3]) = match surfaces.format {
        TargetFormat::Bytes => {
            (ColorFormat::ARGB8888, OutFormat::C4_8, [OutSel::B, OutSel::G, OutSel::R, OutSel::A])
        }
        TargetFormat::Floats => (
            ColorFormat::ARGB32323232,
            OutFormat::C4_32_FP,
            [OutSel::R, OutSel::G, OutSel::B, OutSel::A],
        ),
    };
    stream
        .set(rb3d::Rb3dColoroffset(0))
        .relocation(surfaces.color)
        .set(
            Rb3dColorpitch(0)
                .with(Rb3dColorpitch::COLORPITCH, (surfaces.pitch / 2) as u16)
                .with(Rb3dColorpitch::COLORMICROTILE, MicroTile::LINEAR)
                .with(Rb3dColorpitch::COLORFORMAT, color),
        )
        .relocation(surfaces.color)
        .set(
            UsOutFmt(0)
                .with(UsOutFmt::OUT_FMT, output)
                .with(UsOutFmt::C0_SEL, c0)
                .with(UsOutFmt::C1_SEL, c1)
                .with(UsOutFmt::C2_SEL, c2)
                .with(UsOutFmt::C3_SEL, c3),
        )
        .set(sc::ScScissor0(0))
        .set(
            sc::ScScissor1(0)
                .with(sc::ScScissor1::XS1, (width - 1) as u16)
                .with(sc::ScScissor1::YS1, (height - 1) as u16),
        );
    stream.set(zb::ZbFormat(0).with(zb::ZbFormat::DEPTHFORMAT, DepthFormat::Z24S8));
    let Some(depth) = surfaces.depth else {
        stream.set(zb::ZbCntl(0)).set(zb::ZbZstencilcntl(0));
        return;
    };
    stream
        .set(zb::ZbDepthoffset(0))
        .relocation(depth)
        .set(zb::ZbDepthpitch(0).with(zb::ZbDepthpitch::DEPTHPITCH, (surfaces.pitch / 4) as u16))
        .relocation(depth)
        .set(zb::ZbCntl(0).with(zb::ZbCntl::Z_ENABLE, true).with(zb::ZbCntl::ZWRITEENABLE, true))
        .set(zb::ZbZstencilcntl(0).with(zb::ZbZstencilcntl::ZFUNC, CompareFunc::LESS));
}

/// Sets the viewport: -1..1 to the pixels of a target, y up, and depth to 0..1.
pub(crate) fn viewport(stream: &mut StreamWriter, [width, height]: [u32; 2]) {
    use vap::VapVteCntl;
    let half = |size: u32| size as f32 / 2.0;
    stream
        // Primitives are cut where clip coordinates exceed w.
        .write(vap::VapGbVertClipAdj::MAPPING.address, &[1_f32.to_bits(); 4])
        .set(vap::VapVportXscale(half(width).to_bits()))
        .set(vap::VapVportXoffset(half(width).to_bits()))
        .set(vap::VapVportYscale((-half(height)).to_bits()))
        .set(vap::VapVportYoffset(half(height).to_bits()))
        .set(vap::VapVportZscale(0.5_f32.to_bits()))
        .set(vap::VapVportZoffset(0.5_f32.to_bits()))
        .set(
            VapVteCntl(0)
                .with(VapVteCntl::VPORT_X_SCALE_ENA, true)
                .with(VapVteCntl::VPORT_X_OFFSET_ENA, true)
                .with(VapVteCntl::VPORT_Y_SCALE_ENA, true)
                .with(VapVteCntl::VPORT_Y_OFFSET_ENA, true)
                .with(VapVteCntl::VPORT_Z_SCALE_ENA, true)
                .with(VapVteCntl::VPORT_Z_OFFSET_ENA, true)
                .with(VapVteCntl::VTX_W0_FMT, true),
        );
}

/// Sets the interpolation of `count` texture coordinates of four components, coordinate n to temporary n of the fragment program.
pub(crate) fn interpolants(stream: &mut StreamWriter, count: usize) {
    let coordinates = count as u8;
    stream
        .set(
            RsCount(0)
                .with(RsCount::IT_COUNT, coordinates * 4)
                // At least one interpolant: a colour that no instruction takes.
                .with(RsCount::IC_COUNT, u8::from(count == 0))
                .with(RsCount::HIRES_EN, true),
        )
        .set(RsInstCount(0).with(RsInstCount::INST_COUNT, coordinates.saturating_sub(1)));
    if count == 0 {
        stream.set(RsIp(0)).set(RsInst(0));
    }
    for n in 0..coordinates {
        stream
            .set_member(
                n.into(),
                RsIp(0)
                    .with(RsIp::TEX_PTR_S, n * 4)
                    .with(RsIp::TEX_PTR_T, n * 4 + 1)
                    .with(RsIp::TEX_PTR_R, n * 4 + 2)
                    .with(RsIp::TEX_PTR_Q, n * 4 + 3),
            )
            .set_member(
                n.into(),
                RsInst(0)
                    .with(RsInst::TEX_ID, n)
                    .with(RsInst::TEX_CN, true)
                    .with(RsInst::TEX_ADDR, n),
            );
    }
}

/// Ends a draw: what was drawn is in memory before anything that follows.
pub(crate) fn flush(stream: &mut StreamWriter) {
    stream
        .set(
            rb3d::Rb3dDstcacheCtlstat(0)
                .with(rb3d::Rb3dDstcacheCtlstat::DC_FLUSH, CacheFlush::FLUSH)
                .with(rb3d::Rb3dDstcacheCtlstat::DC_FREE, CacheFree::FREE),
        )
        .set(cp::WaitUntil(0).with(cp::WaitUntil::WAIT_3D_IDLECLEAN, true));
}
