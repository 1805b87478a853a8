//! Streams and what the kernel answers, derived from its rules by hand.
#![allow(clippy::unwrap_used, clippy::panic)]

use r500_chip::pm4::Opcode;
use r500_chip::rb3d::{Rb3dCctl, Rb3dColorChannelMask, Rb3dColoroffset, Rb3dColorpitch};
use r500_chip::sc::ScScissor1;
use r500_chip::values::ColorFormat;
use r500_chip::vap::VapVtxSize;
use r500_chip::zb::{ZbBwCntl, ZbCntl};
use r500_isa::texture::{TxEnable, TxFormat0, TxFormat1, TxFormat2, TxOffset};
use r500_isa::values::TxFormat;

use super::rejection::Use;
use super::*;
use crate::{BufferId, StreamWriter, Tiling};

/// A buffer of 64x64 pixels of 4 bytes, and one of 256 bytes.
const BUFFERS: [usize; 2] = [64 * 64 * 4, 256];

fn submission(stream: StreamWriter) -> Submission {
    let relocation = |(n, size): (usize, &usize)| Relocation {
        buffer: Buffer::zeroed(BufferId(n as u32 + 1), *size),
        read_domains: 0,
        write_domain: 4,
        flags: 0,
        tiling: Tiling::default(),
    };
    Submission {
        words: stream.into_words(),
        flags: Submission::KEEP_TILING_FLAGS,
        relocations: BUFFERS.iter().enumerate().map(relocation).collect(),
    }
}

/// Sets a target of 64x`rows` pixels, without depth.
fn target(rows: u16) -> StreamWriter {
    let mut stream = StreamWriter::default();
    stream.set(Rb3dCctl(0));
    stream.set(Rb3dColorChannelMask(0xf));
    stream.set(ZbCntl(0));
    stream.set(ScScissor1::default().with(ScScissor1::YS1, rows - 1));
    stream.set_member(0, Rb3dColoroffset(0));
    stream.relocation(0);
    let pitch = Rb3dColorpitch::default().with(Rb3dColorpitch::COLORPITCH, 32);
    stream.set_member(0, pitch.with(Rb3dColorpitch::COLORFORMAT, ColorFormat::ARGB8888));
    stream
}

/// A triangle of vertices of 4 dwords in the packet.
fn draw(stream: &mut StreamWriter, dwords: usize) {
    stream.set(VapVtxSize(4));
    let mut body = vec![0x0003_0034];
    body.resize(1 + dwords, 0);
    stream.command(Opcode::DRAW_IMMD_2, &body);
}

fn reason(stream: StreamWriter) -> Result<Accepted, Reason> {
    check(&submission(stream), Rights::default()).map_err(|rejection| rejection.reason)
}

#[test]
fn a_draw_that_fits_is_accepted() {
    let mut stream = target(64);
    draw(&mut stream, 12);
    assert_eq!(reason(stream), Ok(Accepted::default()));
}

#[test]
fn targets_must_hold_the_rows_of_the_scissor() {
    let mut stream = target(65);
    draw(&mut stream, 12);
    match reason(stream) {
        Err(Reason::TooSmall { used: Use::Target(0), needs, has, .. }) => {
            assert_eq!((needs, has), (64 * 65 * 4, 64 * 64 * 4));
        }
        other => panic!("{other:?}"),
    }
    // What a submission does not set is as large as can be.
    let mut stream = StreamWriter::default();
    stream.set(Rb3dColorChannelMask(0xf));
    draw(&mut stream, 12);
    assert_eq!(reason(stream), Err(Reason::Unbound(Use::Target(0))));
    // Without channels that are written, the target does not count, but the depth buffer does.
    let mut stream = StreamWriter::default();
    draw(&mut stream, 12);
    assert_eq!(reason(stream), Err(Reason::Unbound(Use::Depth)));
}

#[test]
fn vertices_in_the_packet_have_the_size_that_is_set() {
    let mut stream = target(64);
    draw(&mut stream, 11);
    assert_eq!(reason(stream), Err(Reason::Immediate { has: 11, vertices: 3, size: 4 }));
}

#[test]
fn textures_must_hold_their_levels() {
    let texture = |side: u16, levels: u8, relocation: u32| {
        let mut stream = target(64);
        stream.set(TxEnable(1));
        let size = TxFormat0::default().with(TxFormat0::TXWIDTH, side - 1);
        let size = size.with(TxFormat0::TXHEIGHT, side - 1).with(TxFormat0::NUM_LEVELS, levels - 1);
        stream.set_member(0, size);
        stream.set_member(0, TxFormat1(TxFormat::X8_8_8_8.code().into()));
        stream.set_member(0, TxFormat2(0));
        stream.set_member(0, TxOffset(0));
        stream.relocation(relocation);
        draw(&mut stream, 12);
        reason(stream)
    };
    assert_eq!(texture(8, 1, 1), Ok(Accepted::default()));
    // 8x8 and 4x4 texels: 320 bytes.
    match texture(8, 2, 1) {
        Err(Reason::TooSmall { used: Use::Texture(0), needs: 320, has: 256, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(texture(64, 1, 0).is_ok() && texture(65, 1, 0).is_err());
}

#[test]
fn registers_and_commands_are_those_of_the_kernel() {
    let mut stream = StreamWriter::default();
    stream.write(0x0700, &[1]);
    assert_eq!(reason(stream), Err(Reason::Register { address: 0x0700 }));
    // The last of a run of registers.
    let mut stream = StreamWriter::default();
    stream.write(0x22dc, &[0, 0]);
    assert_eq!(reason(stream), Err(Reason::Register { address: 0x22e0 }));
    let mut stream = StreamWriter::default();
    stream.write(0x7000, &[0]);
    assert_eq!(reason(stream), Err(Reason::Register { address: 0x7000 }));
    let mut stream = StreamWriter::default();
    stream.command(Opcode::new(0x77), &[0]);
    assert_eq!(reason(stream), Err(Reason::Command { opcode: 0x77 }));
    // A register that only one chip has.
    let mut stream = StreamWriter::default();
    stream.write(0x4be8, &[0]);
    let stream = submission(stream);
    assert!(check(&stream, Rights::default()).is_ok());
    assert!(check(&stream, Rights { chip: Chip::R580, ..Rights::default() }).is_err());
}

#[test]
fn addresses_need_relocations() {
    let mut stream = StreamWriter::default();
    stream.set_member(0, Rb3dColoroffset(0));
    stream.set(ZbCntl(0));
    match check(&submission(stream), Rights::default()) {
        Err(Rejection { at: 1, reason: Reason::Address { expected: 2, because, .. } }) => {
            assert_eq!(*because, Reason::NoRelocation);
        }
        other => panic!("{other:?}"),
    }
    let mut stream = StreamWriter::default();
    stream.set_member(0, Rb3dColoroffset(0));
    stream.relocation(2);
    match reason(stream) {
        Err(Reason::Address { because, .. }) => {
            assert_eq!(*because, Reason::RelocationIndex { dword: 8, entries: 2 });
        }
        other => panic!("{other:?}"),
    }
    // The pitch needs one only where tiling is that of the buffer.
    let mut stream = StreamWriter::default();
    stream.set_member(0, Rb3dColorpitch(6 << 21));
    let mut stream = submission(stream);
    assert!(check(&stream, Rights::default()).is_ok());
    stream.flags = 0;
    assert!(check(&stream, Rights::default()).is_err());
}

#[test]
fn packets_end_in_the_stream() {
    let words = |words: &[u32]| Submission { words: words.to_vec(), ..Submission::default() };
    let reason = |dwords: &[u32]| {
        check(&words(dwords), Rights::default()).map_err(|rejection| rejection.reason)
    };
    assert_eq!(reason(&[0x8000_0000; 3]), Ok(Accepted::default()));
    assert_eq!(reason(&[]), Err(Reason::NoPacket { dwords: 0 }));
    assert_eq!(
        reason(&[0x0001_13c0, 0]),
        Err(Reason::PacketEnd { header: 0x0001_13c0, needs: 2, has: 1 })
    );
    assert_eq!(reason(&[0x4000_0000, 0, 0]), Err(Reason::PacketType { header: 0x4000_0000 }));
    assert_eq!(reason(&[0xc000_3400, 0x0003_0034]), Err(Reason::Unbound(Use::Depth)));
    assert_eq!(
        reason(&[0xc000_3300, 0]),
        Err(Reason::Address {
            what: "indices",
            expected: 2,
            because: Box::new(Reason::NoRelocationList),
        })
    );
}

#[test]
fn compression_needs_its_memory() {
    let mut stream = StreamWriter::default();
    stream.set(ZbBwCntl(1));
    let stream = submission(stream);
    let rejection = check(&stream, Rights::default()).unwrap_err();
    assert_eq!(rejection, Rejection { at: 1, reason: Reason::Owner(Needed::HyperZ) });
    let unknown = Rights { hyperz: Owned::Unknown, ..Rights::default() };
    assert_eq!(check(&stream, unknown).unwrap().needs, [(1, Needed::HyperZ)]);
    let owner = Rights { hyperz: Owned::Yes, ..Rights::default() };
    assert_eq!(check(&stream, owner), Ok(Accepted::default()));
}

#[test]
fn dwords_without_buffers_are_checked_as_far_as_they_go() {
    let rights = Rights { without_buffers: true, ..Rights::default() };
    let mut stream = target(4000);
    draw(&mut stream, 12);
    let bare =
        |stream: StreamWriter| Submission { words: stream.into_words(), ..Submission::default() };
    let accepted = check(&bare(stream), rights).unwrap();
    assert_eq!(
        accepted.needs.iter().map(|(_, needed)| *needed).collect::<Vec<_>>(),
        [Needed::Buffers]
    );
    let mut stream = target(64);
    draw(&mut stream, 11);
    assert!(matches!(
        check(&bare(stream), rights),
        Err(Rejection { reason: Reason::Immediate { .. }, .. })
    ));
    let mut stream = StreamWriter::default();
    stream.set_member(0, Rb3dColoroffset(0));
    assert!(check(&bare(stream), rights).is_err());
}
