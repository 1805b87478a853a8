//! State that every draw needs, and programs.
//!
//! Registers keep their values from one submission to the next, and other programs leave theirs set: a stream sets all
//! that it depends on.

use r500_chip::Mapped;
use r500_chip::values::*;
use r500_chip::{cp, ga, gb, rb3d, sc, su, vap, zb};
use r500_isa::state::{
    FgAlphaFunc, FgDepthSrc, FgFogBlend, GaUsVectorData, GaUsVectorIndex, RsInstCount, UsCodeAddr,
    UsCodeOffset, UsCodeRange, UsConfig, UsFcCtrl, UsOutFmt, UsPixsize, UsWFmt,
};
use r500_isa::texture::TxEnable;
use r500_isa::values::{OutFormat, OutSel, VectorType};
use r500_stream::StreamWriter;

/// What does not change from draw to draw: no depth, no blending, no culling, no clip rectangles, one sample.
pub(crate) fn set_defaults(stream: &mut StreamWriter) {
    stream
        .set(vap::VapPvsStateFlushReg(0))
        .set(
            vap::VapCntl(0)
                .with(vap::VapCntl::PVS_NUM_SLOTS, 10)
                .with(vap::VapCntl::PVS_NUM_CNTLRS, 5)
                .with(vap::VapCntl::PVS_NUM_FPUS, 5)
                .with(vap::VapCntl::VF_MAX_VTX_NUM, 12),
        )
        .set(vap::VapVtxStateCntl(0x5555))
        .set(vap::VapIndexOffset(0))
        .set(vap::VapVfMinVtxIndx(0))
        .set(vap::VapVfMaxVtxIndx(0xff_ffff))
        .set(vap::VapPvsFlowCntlOpc(0))
        .set(gb::GbEnable(0))
        .set(gb::GbSelect(0))
        .set(gb::GbAaConfig(0))
        // Six samples at the pixel's centre, 6/12 from its edges.
        .set(gb::GbMspos0(0x6666_6666))
        .set(gb::GbMspos1(0x0666_6666))
        // Smooth colours.
        .set(ga::GaColorControl(0x0003_aaaa))
        .set(ga::GaPolyMode(0))
        .set(ga::GaRoundMode(0x31))
        .set(ga::GaOffset(0))
        .set(su::SuCullMode(0))
        .set(su::SuTexWrap(0))
        .set(su::SuPolyOffsetEnable(0))
        // 24-bit depth, though no test reads it here.
        .set(su::SuDepthScale(16_777_215_f32.to_bits()))
        .set(su::SuDepthOffset(0))
        // Samples on a left or top edge are inside.
        .set(sc::ScEdgerule(0x2da4_9525))
        // Whatever clip rectangles a sample is in, it is drawn.
        .set(sc::ScClipRule(0xffff))
        .set(sc::ScScreendoor(0x00ff_ffff))
        .set(FgFogBlend(0))
        .set(FgAlphaFunc(0))
        .set(FgDepthSrc(0))
        .set(UsWFmt(0))
        .set(TxEnable(0))
        .set(zb::ZbCntl(0))
        .set(zb::ZbBwCntl(0))
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

/// Draws into a buffer of 8-bit components, red in the lowest byte: entry `relocation` of the list.
pub(crate) fn set_target(stream: &mut StreamWriter, relocation: u32, size: u32, tiled: bool) {
    use rb3d::Rb3dColorpitch;
    let micro = if tiled { MicroTile::TILED } else { MicroTile::LINEAR };
    stream
        // The kernel adds the buffer's address to the register before the NOP.
        .set(rb3d::Rb3dColoroffset(0))
        .relocation(relocation)
        .set(
            Rb3dColorpitch(0)
                .with(Rb3dColorpitch::COLORPITCH, (size / 2) as u16)
                .with(Rb3dColorpitch::COLORTILE, tiled)
                .with(Rb3dColorpitch::COLORMICROTILE, micro)
                .with(Rb3dColorpitch::COLORFORMAT, ColorFormat::ARGB8888),
        )
        .relocation(relocation)
        .set(
            UsOutFmt(0)
                .with(UsOutFmt::OUT_FMT, OutFormat::C4_8)
                .with(UsOutFmt::C0_SEL, OutSel::R)
                .with(UsOutFmt::C1_SEL, OutSel::G)
                .with(UsOutFmt::C2_SEL, OutSel::B)
                .with(UsOutFmt::C3_SEL, OutSel::A),
        )
        .set(sc::ScScissor0(0))
        .set(
            sc::ScScissor1(0)
                .with(sc::ScScissor1::XS1, (size - 1) as u16)
                .with(sc::ScScissor1::YS1, (size - 1) as u16),
        );
}

/// Uploads a fragment program, written in the language of `r500 asm`, and its constants.
pub(crate) fn set_fragment_program(stream: &mut StreamWriter, source: &str) {
    let assembly = r500_asm::assemble(source.as_bytes(), r500_asm::Options::default());
    assert!(assembly.is_ok(), "{:?}", assembly.errors().collect::<Vec<_>>());
    let code = assembly.job.program.code;
    let last = (code.len() - 1) as u16;
    let dwords: Vec<u32> = code.iter().flat_map(|instruction| instruction.0).collect();
    stream
        .set(UsConfig(0).with(UsConfig::ZERO_TIMES_ANYTHING_EQUALS_ZERO, true))
        .set(UsPixsize(0).with(UsPixsize::PIX_SIZE, 3))
        .set(UsFcCtrl(0))
        .set(UsCodeRange(0).with(UsCodeRange::CODE_SIZE, last))
        .set(UsCodeOffset(0))
        .set(UsCodeAddr(0).with(UsCodeAddr::END_ADDR, last))
        .set(GaUsVectorIndex(0).with(GaUsVectorIndex::TYPE, VectorType::INST));
    stream.write_one(GaUsVectorData::MAPPING.address, &dwords);
    stream.set(RsInstCount(0));
}

/// Ends a pass: what was drawn is in memory before anything that follows.
pub(crate) fn flush(stream: &mut StreamWriter) {
    stream
        .set(
            rb3d::Rb3dDstcacheCtlstat(0)
                .with(rb3d::Rb3dDstcacheCtlstat::DC_FLUSH, CacheFlush::FLUSH)
                .with(rb3d::Rb3dDstcacheCtlstat::DC_FREE, CacheFree::FREE),
        )
        .set(cp::WaitUntil(0).with(cp::WaitUntil::WAIT_3D_IDLECLEAN, true));
}

/// The first dword of a draw packet.
pub(crate) fn draw(primitives: PrimType, vertices: PrimWalk, count: u32) -> u32 {
    use vap::VapVfCntl;
    VapVfCntl(0)
        .with(VapVfCntl::PRIM_TYPE, primitives)
        .with(VapVfCntl::PRIM_WALK, vertices)
        .with(VapVfCntl::NUM_VERTICES, count as u16)
        .bits()
}

/// Both elements of a register with all components as they are in memory.
pub(crate) fn all_components() -> vap::VapProgStreamCntlExt {
    use vap::VapProgStreamCntlExt as Ext;
    Ext(0)
        .with(Ext::SWIZZLE_SELECT_X_0, StreamSwizzle::X)
        .with(Ext::SWIZZLE_SELECT_Y_0, StreamSwizzle::Y)
        .with(Ext::SWIZZLE_SELECT_Z_0, StreamSwizzle::Z)
        .with(Ext::SWIZZLE_SELECT_W_0, StreamSwizzle::W)
        .with(Ext::WRITE_ENA_0, 0xf)
        .with(Ext::SWIZZLE_SELECT_X_1, StreamSwizzle::X)
        .with(Ext::SWIZZLE_SELECT_Y_1, StreamSwizzle::Y)
        .with(Ext::SWIZZLE_SELECT_Z_1, StreamSwizzle::Z)
        .with(Ext::SWIZZLE_SELECT_W_1, StreamSwizzle::W)
        .with(Ext::WRITE_ENA_1, 0xf)
}
