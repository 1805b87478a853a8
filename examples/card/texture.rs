//! Two passes on the card, without Mesa: a ring of vertices in a buffer is drawn into a tiled texture, and that texture onto
//! a square that a vertex program turns in perspective.
//!
//! ```sh
//! cargo build -p r500-cli -p r500-preload --examples
//! target/debug/r500 card target/debug/examples/card-texture texture.png
//! ```
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "the programs are here")]

#[path = "device.rs"]
mod device;
#[path = "picture.rs"]
mod picture;
#[path = "state.rs"]
mod state;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use r500_chip::{Mapped, pm4, pvs, values::*, vap};
use r500_isa::state::{RsCount, RsInst, RsIp};
use r500_isa::texture::{
    TxEnable, TxFilter0, TxFilter1, TxFormat0, TxFormat1, TxFormat2, TxInvalTags, TxOffset,
};
use r500_isa::values::{ClampMode, TexelFilter, TxFormat, TxSel};
use r500_stream::StreamWriter;

use device::{Buffer, Card};

const SIZE: u32 = 256;
const TEXTURE_SIZE: u32 = 128;
/// Vertices of the ring: pairs of an inner and an outer one.
const RING: u32 = 2 * (24 + 1);
/// Dwords of a vertex: position (x, y), coordinate or colour (4).
const VERTEX_DWORDS: u32 = 6;

/// Both passes: the second attribute as texture coordinate 0, in whichever way the fragment program takes it.
const COPY: &str = "
    out[1].xyzw = VE_ADD input[1].xyzw input[1].0000
    out[0].xyzw = VE_ADD input[0].xyzw input[0].0000
";

/// Rows of a matrix, in constants 0 to 3: four dot products make the position.
const TRANSFORM: &str = "
    out[1].xyzw = VE_ADD input[1].xyzw input[1].0000
    out[0].x = VE_DOT const[0].xyzw input[0].xyzw
    out[0].y = VE_DOT const[1].xyzw input[0].xyzw
    out[0].z = VE_DOT const[2].xyzw input[0].xyzw
    out[0].w = VE_DOT const[3].xyzw input[0].xyzw
";

const FRAGMENT_COLOR: &str = "
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
        out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
";

const FRAGMENT_TEXTURE: &str = "
    TEX TEX_SEM_WAIT TEX_SEM_ACQUIRE temp[0].rgba = LD tex[0].rgba temp[0].rgba ;
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
        out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
";

/// Two attributes from memory: two floats, then four.
fn set_vertex_path(stream: &mut StreamWriter, size: u32) {
    use vap::{VapOutVtxFmt0, VapProgStreamCntl, VapVteCntl};
    let half = (size as f32 / 2.0).to_bits();
    stream
        .set(
            VapProgStreamCntl(0)
                .with(VapProgStreamCntl::DATA_TYPE_0, DataType::FLOAT_2)
                .with(VapProgStreamCntl::DST_VEC_LOC_0, 0)
                .with(VapProgStreamCntl::DATA_TYPE_1, DataType::FLOAT_4)
                .with(VapProgStreamCntl::DST_VEC_LOC_1, 1)
                .with(VapProgStreamCntl::LAST_VEC_1, true),
        )
        // A position of two floats is (x, y, 0, 1).
        .set(
            state::all_components()
                .with(vap::VapProgStreamCntlExt::SWIZZLE_SELECT_Z_0, StreamSwizzle::ZERO)
                .with(vap::VapProgStreamCntlExt::SWIZZLE_SELECT_W_0, StreamSwizzle::ONE),
        )
        .set(VapOutVtxFmt0(0).with(VapOutVtxFmt0::VTX_POS_PRESENT, true))
        .set(vap::VapOutVtxFmt1(0).with(vap::VapOutVtxFmt1::TEX_0_COMP_CNT, 4))
        .set(
            vap::VapVsmVtxAssm(0)
                .with(vap::VapVsmVtxAssm::POS, true)
                .with(vap::VapVsmVtxAssm::TC0, true),
        )
        .set(vap::VapClipCntl(0))
        // Where clip coordinates exceed w, primitives are cut.
        .write(vap::VapGbVertClipAdj::MAPPING.address, &[1_f32.to_bits(); 4])
        // From -1..1 to pixels. Row 0 is at the top.
        .set(vap::VapVportXscale(half))
        .set(vap::VapVportXoffset(half))
        .set(vap::VapVportYscale(half))
        .set(vap::VapVportYoffset(half))
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

/// Uploads a vertex program without flow control, a line an instruction, that writes the position last.
fn set_vertex_program(stream: &mut StreamWriter, source: &str, constants: &[[f32; 4]]) {
    use vap::{VapPvsCodeCntl0, VapPvsCodeCntl1};
    let lines = source.lines().map(str::trim).filter(|line| !line.is_empty());
    let code: Vec<r500_pvs::Instruction> =
        lines.map(|line| line.parse().expect("an instruction a line")).collect();
    let last = (code.len() - 1) as u16;
    let dwords: Vec<u32> = code.iter().flat_map(|instruction| instruction.0).collect();
    let values: Vec<u32> = constants.iter().flatten().map(|value| value.to_bits()).collect();
    stream
        .set(vap::VapCntlStatus(0))
        .set(
            VapPvsCodeCntl0(0)
                .with(VapPvsCodeCntl0::PVS_XYZW_VALID_INST, last)
                .with(VapPvsCodeCntl0::PVS_LAST_INST, last),
        )
        .set(VapPvsCodeCntl1(0).with(VapPvsCodeCntl1::PVS_LAST_VTX_SRC_INST, last))
        .set(vap::VapPvsConstCntl(0).with(vap::VapPvsConstCntl::PVS_MAX_CONST_ADDR, 3));
    let data = vap::VapPvsVectorDataReg128::MAPPING.address;
    for (start, dwords) in [(0, dwords), (pvs::CONSTANT_BASE as u32, values)] {
        if !dwords.is_empty() {
            stream.set(vap::VapPvsVectorIndxReg(start)).write_one(data, &dwords);
        }
    }
}

/// Texture coordinate 0 goes to `temp[0]` of the fragment program.
fn set_interpolants(stream: &mut StreamWriter) {
    stream
        .set(RsCount(0).with(RsCount::IT_COUNT, 4).with(RsCount::HIRES_EN, true))
        .set(
            RsIp(0)
                .with(RsIp::TEX_PTR_S, 0)
                .with(RsIp::TEX_PTR_T, 1)
                .with(RsIp::TEX_PTR_R, 2)
                .with(RsIp::TEX_PTR_Q, 3),
        )
        .set(RsInst(0).with(RsInst::TEX_CN, true).with(RsInst::TEX_ADDR, 0));
}

/// Draws vertices of a buffer, entry `relocation` of the list, from a byte offset on.
fn draw_array(
    stream: &mut StreamWriter,
    primitives: PrimType,
    relocation: u32,
    offset: u32,
    count: u32,
) {
    // One array: as many dwords a vertex as from vertex to vertex.
    let sizes = VERTEX_DWORDS | VERTEX_DWORDS << 8;
    stream.command(pm4::Opcode::LOAD_VBPNTR, &[1, sizes, offset]).relocation(relocation).command(
        pm4::Opcode::DRAW_VBUF_2,
        &[state::draw(primitives, PrimWalk::VERTEX_LIST, count)],
    );
}

/// Binds a tiled picture of 8-bit components, red in the lowest byte, as texture 0.
fn set_texture(stream: &mut StreamWriter, relocation: u32) {
    let last = (TEXTURE_SIZE - 1) as u16;
    stream
        .set(TxInvalTags(0))
        .set(TxEnable(1))
        .set(
            TxFilter0(0)
                .with(TxFilter0::CLAMP_S, ClampMode::CLAMP)
                .with(TxFilter0::CLAMP_T, ClampMode::CLAMP)
                .with(TxFilter0::MAG_FILTER, TexelFilter::LINEAR)
                .with(TxFilter0::MIN_FILTER, TexelFilter::LINEAR),
        )
        .set(TxFilter1(0))
        .set(TxFormat0(0).with(TxFormat0::TXWIDTH, last).with(TxFormat0::TXHEIGHT, last))
        .set(
            TxFormat1(0)
                .with(TxFormat1::TXFORMAT, TxFormat::X8_8_8_8)
                .with(TxFormat1::SEL_RED, TxSel::C0)
                .with(TxFormat1::SEL_GREEN, TxSel::C1)
                .with(TxFormat1::SEL_BLUE, TxSel::C2)
                .with(TxFormat1::SEL_ALPHA, TxSel::C3),
        )
        .set(TxFormat2(0))
        .set(TxOffset(0).with(TxOffset::MACRO_TILE, true).with(TxOffset::MICRO_TILE, 1))
        .relocation(relocation);
}

/// Fills the vertex buffer: the ring, then the square.
fn fill(buffer: &Buffer<'_>) {
    let mut vertices: Vec<[f32; VERTEX_DWORDS as usize]> = Vec::new();
    for i in 0..RING {
        let (step, radius) = (i / 2, if i % 2 == 0 { 0.45 } else { 0.95 });
        let angle = step as f32 * std::f32::consts::TAU / 24.0;
        let (sin, cos) = angle.sin_cos();
        let color = [0.5 + 0.5 * cos, 0.5 + 0.5 * sin, if i % 2 == 0 { 1.0 } else { 0.2 }, 1.0];
        vertices.push([radius * cos, radius * sin, color[0], color[1], color[2], color[3]]);
    }
    for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        vertices.push([x, y, x * 0.5 + 0.5, y * 0.5 + 0.5, 0.0, 1.0]);
    }
    for (word, value) in buffer.words().iter().zip(vertices.iter().flatten()) {
        word.store(value.to_bits(), Ordering::Relaxed);
    }
}

fn main() -> io::Result<()> {
    let path =
        std::env::args_os().nth(1).map_or_else(|| PathBuf::from("texture.png"), PathBuf::from);
    let card = Card::open()?;
    let target = card.create((SIZE * SIZE * 4) as usize)?;
    let texture = card.create((TEXTURE_SIZE * TEXTURE_SIZE * 4) as usize)?;
    let vertices = card.create(4096)?;
    fill(&vertices);
    // The places of the buffers in the relocation list.
    let (target_at, texture_at, vertices_at) = (0, 1, 2);

    let mut stream = StreamWriter::default();
    state::set_defaults(&mut stream);
    set_interpolants(&mut stream);

    // The ring, into the texture.
    state::set_target(&mut stream, texture_at, TEXTURE_SIZE, true);
    set_vertex_path(&mut stream, TEXTURE_SIZE);
    set_vertex_program(&mut stream, COPY, &[]);
    state::set_fragment_program(&mut stream, FRAGMENT_COLOR);
    draw_array(&mut stream, PrimType::TRIANGLE_STRIP, vertices_at, 0, RING);
    state::flush(&mut stream);

    // The texture, onto a square turned about the x axis; w grows with the distance.
    let (sin, cos) = 0.9_f32.sin_cos();
    let matrix = [
        [1.4, 0.0, 0.0, 0.0],
        [0.0, 1.4 * cos, 0.0, 0.0],
        [0.0, 0.5 * sin, 0.0, 0.0],
        [0.0, -sin, 0.0, 1.8],
    ];
    state::set_target(&mut stream, target_at, SIZE, false);
    set_vertex_path(&mut stream, SIZE);
    set_vertex_program(&mut stream, TRANSFORM, &matrix);
    set_texture(&mut stream, texture_at);
    state::set_fragment_program(&mut stream, FRAGMENT_TEXTURE);
    draw_array(&mut stream, PrimType::TRIANGLE_FAN, vertices_at, RING * VERTEX_DWORDS * 4, 4);
    state::flush(&mut stream);

    card.submit(&stream.into_words(), &[&target, &texture, &vertices])?;
    target.wait()?;
    picture::write_png(&path, target.words(), SIZE)
}
