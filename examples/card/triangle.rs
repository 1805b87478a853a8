//! A triangle on the card, without Mesa: one submission, vertices in the packet, no vertex program.
//!
//! ```sh
//! cargo build -p r500-cli -p r500-preload --examples
//! target/debug/r500 card target/debug/examples/card-triangle triangle.png
//! ```
#![cfg(target_os = "linux")]

#[path = "device.rs"]
mod device;
#[path = "picture.rs"]
mod picture;
#[path = "state.rs"]
mod state;

use std::io;
use std::path::PathBuf;

use r500_chip::{pm4, values::*, vap};
use r500_isa::state::{RsCount, RsInst, RsIp};
use r500_isa::values::ColCn;
use r500_stream::StreamWriter;

use device::Card;

const SIZE: u32 = 256;

/// Colour 0 as it comes. `MAX` of a value with itself copies it, denormals and all.
const FRAGMENT_PROGRAM: &str = "
    OUT TEX_SEM_WAIT LAST src0.rgb = temp[0], src0.a = temp[0] :
        out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.a src0.a ;
";

/// Position in the window (x, y, depth, 1/w), then colour.
const VERTICES: [[f32; 8]; 3] = [
    [20.0, 230.0, 0.5, 1.0, 1.0, 0.0, 0.0, 1.0],
    [236.0, 200.0, 0.5, 1.0, 0.0, 1.0, 0.0, 1.0],
    [110.0, 16.0, 0.5, 1.0, 0.0, 0.0, 1.0, 1.0],
];

/// Vertices go to the rasteriser as they are: there is no vertex program, no clipping, no viewport.
fn set_vertex_path(stream: &mut StreamWriter) {
    use vap::{VapClipCntl, VapCntlStatus, VapOutVtxFmt0, VapProgStreamCntl, VapVteCntl};
    // Without a program, inputs are outputs: vector 0 is the position, vector 2 colour 0.
    stream
        .set(VapCntlStatus(0).with(VapCntlStatus::PVS_BYPASS, true))
        .set(
            VapProgStreamCntl(0)
                .with(VapProgStreamCntl::DATA_TYPE_0, DataType::FLOAT_4)
                .with(VapProgStreamCntl::DST_VEC_LOC_0, 0)
                .with(VapProgStreamCntl::DATA_TYPE_1, DataType::FLOAT_4)
                .with(VapProgStreamCntl::DST_VEC_LOC_1, 2)
                .with(VapProgStreamCntl::LAST_VEC_1, true),
        )
        .set(state::all_components())
        .set(
            VapOutVtxFmt0(0)
                .with(VapOutVtxFmt0::VTX_POS_PRESENT, true)
                .with(VapOutVtxFmt0::VTX_COLOR_0_PRESENT, true),
        )
        .set(vap::VapOutVtxFmt1(0))
        .set(
            vap::VapVsmVtxAssm(0)
                .with(vap::VapVsmVtxAssm::POS, true)
                .with(vap::VapVsmVtxAssm::COLOR, true),
        )
        .set(VapClipCntl(0).with(VapClipCntl::CLIP_DISABLE, true))
        .set(VapVteCntl(0).with(VapVteCntl::VTX_XY_FMT, true).with(VapVteCntl::VTX_Z_FMT, true));
}

/// Colour 0 of the triangle goes to `temp[0]` of the fragment program.
fn set_interpolants(stream: &mut StreamWriter) {
    stream
        .set(RsCount(0).with(RsCount::IC_COUNT, 1).with(RsCount::HIRES_EN, true))
        .set(RsIp(0).with(RsIp::COL_PTR, 0))
        .set(RsInst(0).with(RsInst::COL_CN, ColCn::COLOR).with(RsInst::COL_ADDR, 0));
}

/// Draws vertices that the packet itself holds.
fn draw_immediate(stream: &mut StreamWriter, primitives: PrimType, vertices: &[&[f32]]) {
    let size = vertices[0].len() as u32;
    let mut body = vec![state::draw(primitives, PrimWalk::VERTEX_DATA, vertices.len() as u32)];
    body.extend(vertices.iter().copied().flatten().map(|value| value.to_bits()));
    stream.set(vap::VapVtxSize(size)).command(pm4::Opcode::DRAW_IMMD_2, &body);
}

fn main() -> io::Result<()> {
    let path =
        std::env::args_os().nth(1).map_or_else(|| PathBuf::from("triangle.png"), PathBuf::from);
    let card = Card::open()?;
    let target = card.create((SIZE * SIZE * 4) as usize)?;

    let mut stream = StreamWriter::default();
    state::set_defaults(&mut stream);
    state::set_target(&mut stream, 0, SIZE, false);
    set_vertex_path(&mut stream);
    set_interpolants(&mut stream);
    state::set_fragment_program(&mut stream, FRAGMENT_PROGRAM);
    let vertices: Vec<&[f32]> = VERTICES.iter().map(<[f32; 8]>::as_slice).collect();
    draw_immediate(&mut stream, PrimType::TRIANGLES, &vertices);
    state::flush(&mut stream);

    card.submit(&stream.into_words(), &[&target])?;
    target.wait()?;
    picture::write_png(&path, target.words(), SIZE)
}
